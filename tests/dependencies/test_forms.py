"""Dependencies across generations of a table: with the same key, another one, and none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.changes.selection import Selection
from replay.dependencies import links
from replay.errors import Refusal
from replay.output.bundle import Bundle
from tests.support.logbuilder import Col, LogBuilder, Row, Tab, Unit, generation, lrsn, statements

ID, CODE = Col("ID", "INT", 4, key=1), Col("CODE", "INT", 4)
NAME, MORE = Col("NAME", "CHAR", 5), Col("MORE", "INT", 4, nulls="Y")


def plain(column: Col) -> Col:
    return replace(column, key=0)


def generations(old: tuple[Col, ...], new: tuple[Col, ...], **changed: Any) -> tuple[Tab, Tab]:
    """Two generations of TESTOWN.T; the second from position 1000 on."""
    first = Tab("T", old, created=lrsn(1), dropped=lrsn(1000))
    changed = {"columns": new, "created": lrsn(1000), "dropped": bytes(10), **changed}
    return first, generation(first, 2, **changed)


def undo(log: LogBuilder, folder: Path, unit: Unit, cascade: str = "none") -> Bundle:
    control, data = log.write(folder, seed=1)
    with replay.open_log(control=control, data=data) as opened:
        chosen = opened.take(Selection(units=(unit.key,)))
        return chosen.undo("postgres", cascade=cascade).write(folder / "out", overwrite=True)


def conflicts(log: LogBuilder, folder: Path, unit: Unit) -> list[str]:
    found = undo(log, folder, unit, cascade="force").manifest["consequences"]["conflicts"]
    return [f"{entry['unit']} {entry['link']}" for entry in found]


def later(log: LogBuilder) -> Unit:
    """A unit after the table has its second form."""
    log.clock = max(log.clock, 1008)
    return log.unit()


def built_on(
    tables: tuple[Tab, Tab], old: Row, before: Row, after: Row, other: Row
) -> tuple[LogBuilder, list[Unit]]:
    """A row inserted in the first form, updated in the second, and another row inserted there."""
    log = LogBuilder(tables)
    units = [log.unit()]
    units[0].insert(tables[0], old)
    units += [later(log), log.unit()]
    units[1].update(tables[1], before, after)
    units[2].insert(tables[1], other)
    return log, units


@pytest.mark.parametrize(
    ("old", "new", "rows", "coarse"),
    [
        ((ID, NAME), (ID, NAME, MORE), ((1, "A"), (1, "A", None), (1, "B", 7), (2, "C", 0)), False),
        ((ID, NAME), (NAME, ID), ((1, "A"), ("A", 1), ("B", 1), ("C", 2)), False),
        (
            (ID, NAME),
            (replace(ID, code="DEC", length=5), NAME),
            ((1, "A"), ("1", "A"), ("1", "B"), ("2", "B")),
            False,
        ),
        (
            (ID, CODE),
            (plain(ID), replace(CODE, key=1)),
            ((1, 9), (1, 9), (2, 9), (3, 8)),
            True,
        ),
        ((ID, CODE), (plain(ID), CODE), ((1, 9), (1, 9), (2, 9), (3, 8)), True),
        ((plain(ID), CODE), (ID, CODE), ((1, 9), (1, 9), (2, 9), (3, 8)), True),
        (
            (plain(ID), NAME),
            (plain(ID), NAME, MORE),
            ((1, "A"), (1, "A", None), (1, "B", 7), (2, "C", 0)),
            True,
        ),
        (
            (ID, NAME),
            (replace(ID, code="FLOT", length=8), NAME),
            ((1, "A"), (1.0, "A"), (1.0, "B"), (2.0, "B")),
            True,
        ),
    ],
    ids=[
        "column added",
        "columns turned",
        "decimals",
        "key changed",
        "key dropped",
        "key added",
        "no key",
        "floats",
    ],
)
def test_a_row_is_followed_into_the_next_form(
    tmp_path: Path, old: tuple[Col, ...], new: tuple[Col, ...], rows: tuple[Row, ...], coarse: bool
) -> None:
    log, (one, two, three) = built_on(generations(old, new), *rows)
    link = "form" if coarse else "row"
    everybody = [f"{two.name} {link}", *([f"{three.name} form"] if coarse else [])]
    assert conflicts(log, tmp_path, one) == everybody
    assert conflicts(log, tmp_path, two) == []
    with pytest.raises(Refusal, match="LR3010"):
        undo(log, tmp_path, one)


def test_a_column_is_followed_to_its_new_place(tmp_path: Path) -> None:
    """Beside two columns that only the new form has."""
    last = replace(MORE, name="LAST")
    tables = generations((ID, NAME, CODE), (MORE, CODE, ID, NAME, last))
    log = LogBuilder(tables)
    named, coded = log.unit(), log.unit()
    named.update(tables[0], (1, "A", 5), (1, "B", 5))
    coded.update(tables[0], (1, "B", 5), (1, "B", 6))
    again = later(log)
    again.update(tables[1], (None, 6, 1, "B", None), (None, 6, 1, "C", None))
    assert conflicts(log, tmp_path, named) == [f"{again.name} row"]
    assert conflicts(log, tmp_path, coded) == []


def test_a_column_under_a_new_name_is_the_same(tmp_path: Path) -> None:
    tables = generations((ID, NAME, CODE), (ID, replace(NAME, name="TITLE"), CODE))
    log = LogBuilder(tables)
    named = log.unit()
    named.update(tables[0], (1, "A", 5), (1, "B", 5))
    again = later(log)
    again.update(tables[1], (1, "B", 5), (1, "C", 5))
    assert conflicts(log, tmp_path, named) == [f"{again.name} row"]


def test_a_table_under_a_new_name_is_the_same(tmp_path: Path) -> None:
    tables = generations((ID, NAME), (ID, NAME), name="S")
    log, (one, two, _) = built_on(tables, (1, "A"), (1, "A"), (1, "B"), (2, "C"))
    assert conflicts(log, tmp_path, one) == [f"{two.name} row"]


@pytest.mark.parametrize("recreated", [{"obid": 9}, {"psid": 8, "obid": 9}])
def test_rows_of_a_table_that_was_created_anew(tmp_path: Path, recreated: dict[str, int]) -> None:
    """The undo of the one would find rows of the other, whatever their keys."""
    tables = generations((ID, NAME), (ID, NAME, MORE), **recreated)
    log, (one, *_) = built_on(tables, (1, "A"), (1, "A", None), (1, "B", 7), (2, "C", 0))
    with pytest.raises(Refusal, match=r"LR3002 .* which was dropped at \w+ and made again"):
        conflicts(log, tmp_path, one)


def test_many_changes_are_tied_through_the_first_in_the_new_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "_PAIRS", 1)
    tables = generations((plain(ID), NAME), (plain(ID), NAME, MORE))
    log = LogBuilder(tables)
    units = [log.unit() for _ in range(3)]
    for number, unit in enumerate(units):
        unit.insert(tables[0], (number, "A"))
    after = [later(log) for _ in range(3)]
    for number, unit in enumerate(after):
        unit.insert(tables[1], (10 + number, "A", None))
    bundle = undo(log, tmp_path, units[1], cascade="all")
    assert bundle.manifest["consequences"]["units"] == [unit.name for unit in after]
    assert len(statements(bundle)) == 4


def test_a_part_of_a_unit_is_tied_too(tmp_path: Path) -> None:
    """Of a table that is emptied, any change of a unit may be the one that was asked for."""
    table = Tab("T", (ID, NAME))
    log = LogBuilder((table,))
    one, two = log.unit(), log.unit()
    one.insert(table, (1, "A"))
    one.delete(table, (2, "B"))
    two.event(table, "DM")
    control, data = log.write(tmp_path)
    with replay.open_log(control=control, data=data) as opened:
        chosen = opened.take(Selection(units=(one.key,), ops=("delete",)))
        with pytest.raises(Refusal, match=two.name):
            chosen.undo("postgres").write(tmp_path / "out")
