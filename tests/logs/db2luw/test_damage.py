"""Db2 LUW logs that are cut off, reordered, spliced, copied twice or flipped: clear errors, and
never rows of half a unit of recovery."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.errors import InputError, Refusal, UsageError
from replay.logs import Inputs, source_named
from replay.logs.db2luw.reader import open_log
from sqlgen.render_options import RenderOptions
from tests.support.luwbuilder import PLAIN, LogBuilder, Tab, Transaction, catalog_csv
from tests.support.scripted import opened_luw, script
from tests.support.words import of_family

#: What a row of PLAIN has behind its number and its name.
REST = ("1.500", "2001-02-03", "2001-02-03 04:05:06.000007", "A", 0.5, "note")


def row(number: int, name: str = "Ann") -> tuple[Any, ...]:
    return (number, name, *REST)


opened = partial(opened_luw, tables=(PLAIN,))


def written(work: Callable[[LogBuilder, Transaction], None], **shape: Any) -> bytes:
    builder = LogBuilder(**shape)
    work(builder, builder.begin())
    return builder.bytes()


def in_turns(count: int, **shape: Any) -> list[bytes]:
    """So many records of units side by side, each of which inserts three rows and updates them."""
    builder, units, key = LogBuilder(**shape), list[Transaction](), 0
    while len(builder.records) < count:
        units += [builder.begin() for _ in range(3 - len(units))]
        key += 1
        units[key % 3].insert(PLAIN, row(key), (1 + key // 40, 1 + key % 40))
        units[key % 3].update(PLAIN, row(key), row(key, "Bea"), (1 + key // 40, 1 + key % 40))
        if not key % 5:
            units.pop(key % 3).commit()
    return builder.records[:count]


def two_units(builder: LogBuilder, unit: Transaction) -> None:
    unit.insert(PLAIN, row(1), (1, 1))
    unit.update(PLAIN, row(1), row(1, "Bea"), (1, 1))
    unit.commit()
    other = builder.begin()
    other.insert(PLAIN, row(2), (1, 2))
    other.delete(PLAIN, row(1, "Bea"), (1, 1))
    other.commit()


@pytest.mark.parametrize(
    "shape",
    [
        {"framing": "flt16"},
        {"framing": "raw"},
        {"dialect": "v7", "big": True, "framing": "raw"},
        {"dialect": "v10", "framing": "flt56"},
    ],
)
def test_files_in_the_wrong_order_or_spliced_are_refused(
    tmp_path: Path, shape: dict[str, Any]
) -> None:
    records = in_turns(150, **shape)
    first, second = b"".join(records[:60]), b"".join(records[60:])
    opened(tmp_path, first, second)
    spliced = b"".join([*records[60:80], *records[40:60], *records[80:]])
    if shape["framing"] != "raw":  # positions tell the order
        assert len(opened(tmp_path, second, first).opening_warnings) == 1
    wrong = [(first, spliced)] if shape["framing"] != "raw" else [(second, first), (first, spliced)]
    for files in wrong:
        with pytest.raises(
            InputError,
            match=r"LR2030.*offset.*log order.*in the order in which they were collected"
            r"|LR2010.*offset.*does not fit",  # positions that fall within a file
        ):
            opened(tmp_path, *files)


def test_files_that_do_not_repeat_byte_by_byte_are_refused(tmp_path: Path) -> None:
    """Those that do count once (tests/model/test_chains.py)."""
    records = in_turns(150)
    other = bytearray(b"".join(records[40:80]))
    other[-12] ^= 1  # within the last record
    with pytest.raises(InputError, match="LR2030"):
        opened(tmp_path, b"".join(records), bytes(other))


def test_files_of_different_servers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="LR2007"):
        opened(tmp_path, written(two_units), written(two_units, big=True))


def test_a_length_that_cannot_be_names_its_place(tmp_path: Path) -> None:
    records = in_turns(600)
    broken = list(records)
    broken[300] = broken[300][:16] + b"\xff\xff\xff\x7f" + broken[300][20:]
    place = sum(map(len, records[:300])) + 16
    with pytest.raises(
        InputError, match=rf"LR2005.*record 301, offset {place} .*found record length 2147483647"
    ):
        opened(tmp_path, b"".join(broken))


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"LR2004.*--framing"):
        opened(tmp_path, bytes(random.Random(1).randbytes(5000)))
    with pytest.raises(InputError, match="LR2002"):
        opened(tmp_path, b"")
    with pytest.raises(InputError, match="LR2001"):
        open_log(Inputs(log=(str(tmp_path / "none"),)))


def test_a_damaged_record_early_in_a_file_names_its_place(tmp_path: Path) -> None:
    records = in_turns(200)
    broken = [*records[:40], records[40][:20] + b"\x00\x77" + records[40][22:], *records[41:]]
    with pytest.raises(
        InputError,
        match=(
            rf"LR2010.*offset {sum(map(len, records[:40])) + 16} .*flt16, little-endian,"
            r" dialect v97"
        ),
    ):
        opened(tmp_path, b"".join(broken))


def test_a_row_that_does_not_fit_sets_its_unit_aside(tmp_path: Path) -> None:
    data = bytearray(written(two_units))
    place = data.index(b"Ann") - 7
    data[data.index((8 + PLAIN.fixed + 7).to_bytes(2, "little") + b"\1\0", 40) + 4] ^= (
        4  # the fixed length of the first row
    )
    assert place > 0
    bundle, lines = script(opened(tmp_path, bytes(data)), tmp_path)
    assert bundle.exit_code == 8
    assert (
        len(bundle.manifest["quarantined_units"]) == 2
    )  # the second one deletes the row that the first inserts
    assert lines == []
    assert "LR2014" in bundle.manifest["findings"]["shown"][0]


def test_a_compensation_without_its_change_sets_the_unit_aside(tmp_path: Path) -> None:
    def work(builder: LogBuilder, unit: Transaction) -> None:
        unit.insert(PLAIN, row(1), (1, 1))
        logged = unit.insert(PLAIN, row(2), (1, 2))
        unit.undo(logged)
        unit.commit()

    builder = LogBuilder()
    work(builder, builder.begin())
    del builder.records[1]
    bundle, lines = script(opened(tmp_path, builder.bytes()), tmp_path)
    assert lines == []
    assert "LR2032" in bundle.manifest["findings"]["shown"][0]


def test_open_units_are_reported_and_not_written(tmp_path: Path) -> None:
    def work(builder: LogBuilder, unit: Transaction) -> None:
        unit.insert(PLAIN, row(1), (1, 1))
        doubt = builder.begin()
        doubt.insert(PLAIN, row(2), (1, 2))
        doubt.prepare()

    log = opened(tmp_path, written(work))
    bundle, lines = script(log, tmp_path)
    assert lines == []
    skipped = bundle.manifest["balance"]["skipped"]
    assert skipped["unit of recovery in flight at the end of the log"] == 1
    assert skipped["unit of recovery in doubt (prepared)"] == 1
    described = source_named("db2luw").description(log).values
    assert [(unit["state"], unit["changes"]) for unit in described["units"]["not_ended"]] == [
        ("in flight", 1),
        ("in doubt", 1),
    ]


@pytest.mark.parametrize(
    ("closes", "reason"), [(True, "unit of recovery aborted"), (False, "unit of recovery aborted")]
)
def test_rollback_with_and_without_its_record(tmp_path: Path, closes: bool, reason: str) -> None:
    def work(builder: LogBuilder, unit: Transaction) -> None:
        unit.insert(PLAIN, row(1), (1, 1))
        unit.rollback_to(0)
        if closes:
            unit.abort()

    bundle, lines = script(opened(tmp_path, written(work)), tmp_path)
    assert lines == []
    assert bundle.manifest["balance"]["skipped"][reason] == 1


def structure(builder: LogBuilder, unit: Transaction) -> None:
    late = Tab(3, 300, "APP", "LATE", PLAIN.columns[:4])
    unit.create(late)
    unit.commit()
    for number, work in enumerate(
        (
            lambda u: u.insert(late, row(1)[:4], (9, 1)),
            lambda u: u.truncate(PLAIN),
            lambda u: u.reorg(PLAIN),
            lambda u: u.drop(late),
        )
    ):
        following = builder.begin()
        work(following)
        following.commit(1_000_000_000 + number)


def test_changes_of_structure_stand_in_the_script_in_order(tmp_path: Path) -> None:
    log = opened(
        tmp_path, written(structure), tables=(PLAIN, Tab(3, 300, "APP", "LATE", PLAIN.columns[:4]))
    )
    lines = script(log, tmp_path)[1]
    assert [" ".join(line.split()[:3]) for line in lines] == [
        "CREATE TABLE app.late", "INSERT INTO app.late", "TRUNCATE TABLE app.plain;",
        "-- APP.PLAIN: reorganised", "DROP TABLE app.late;",
    ]  # fmt: skip


def test_an_upsert_script_changes_no_structure(tmp_path: Path) -> None:
    late = Tab(3, 300, "APP", "LATE", PLAIN.columns[:4])
    log = opened(tmp_path, written(structure), tables=(PLAIN, late))
    put = ScriptOptions(render=RenderOptions(upsert=True))
    with pytest.raises(
        Refusal,
        match=r"LR3003.*APP\.LATE.*a committed create table.*2 such changes.*without --upsert",
    ):
        script(log, tmp_path, options=put)
    lines = script(log, tmp_path, selection=Selection(tables=("APP.PLAIN",)), options=put)[1]
    assert lines == ["TRUNCATE TABLE app.plain;", "-- APP.PLAIN: reorganised"]


def test_undo_refuses_what_it_cannot_bring_back(tmp_path: Path) -> None:
    late = Tab(3, 300, "APP", "LATE", PLAIN.columns[:4])
    log = opened(tmp_path, written(structure), tables=(PLAIN, late))
    with pytest.raises(Refusal, match=r"LR3002.*APP\.LATE.*a committed drop table"):
        script(log, tmp_path, "undo", Selection(tables=("APP.LATE",)))
    with pytest.raises(Refusal, match=r"LR3002.*APP\.PLAIN.*a committed truncate"):
        script(log, tmp_path, "undo", Selection(tables=("APP.PLAIN",)))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda text: text.replace(",COLNAME", ",NAME"), "without COLNAME"),
        (
            lambda text: text.replace("3,8,APP  ,PLAIN,Y,1,", "3,8,APP  ,PLAIN,Y,x,"),
            "found 'x'; expected a number",
        ),
        (
            lambda text: text.replace("3,8,APP  ,PLAIN,Y,1,", "3,8,APP  ,PLAIN,Y,--1,"),
            "found '--1'; expected a number",
        ),
        (
            lambda text: text.replace("3,8,APP  ,PLAIN,Y,1,", "3,8,APP  ,PLAIN,Y,\u00b2,"),
            "found '\u00b2'; expected a number",
        ),
        (
            lambda text: text.replace("3,8,APP  ,PLAIN,Y,1,", "3,8,APP  ,PLAIN,Y,9,"),
            "every column of the table",
        ),
        (
            lambda text: text.replace("3,8,APP  ,PLAIN,Y,1,", "3,8,APP  ,OTHER,Y,1,"),
            "one table for each pair of ids",
        ),
        (lambda text: text.replace(",N,0,1,,N", ",?,0,1,,N"), r"found '\?'; expected Y or N"),
    ],
)
def test_an_unusable_catalog_export_is_refused(
    tmp_path: Path, change: Callable[[str], str], found: str
) -> None:
    text = catalog_csv([PLAIN])
    assert change(text) != text
    (tmp_path / "x.log").write_bytes(written(two_units))
    (tmp_path / "catalog.csv").write_text(change(text))
    with pytest.raises(InputError, match=f"LR2031.*{found}"):
        open_log(Inputs(log=(str(tmp_path / "x.log"),), catalog=str(tmp_path / "catalog.csv")))


@pytest.mark.parametrize("option", ["byte-order=middle", "dialect=v11", "codepage=klingon"])
def test_unusable_settings_are_refused(tmp_path: Path, option: str) -> None:
    with pytest.raises(UsageError, match="LR1001"):
        opened(tmp_path, written(two_units), options=dict([option.split("=")]))


def test_a_collected_file_says_what_it_is(tmp_path: Path) -> None:
    header = b"DB2RLOG1" + bytes([2, 3, 4]) + bytes(5)
    log = opened(tmp_path, header + written(two_units))
    assert str(log.files[0].shape) == "framing flt16, little-endian, dialect v97"
    assert len(script(log, tmp_path)[1]) == 4
    with pytest.raises(InputError, match=r"LR2004.*found code 9 in the file header"):
        opened(tmp_path, b"DB2RLOG1" + bytes([2, 9, 4]) + bytes(5) + written(two_units))


def test_inspect_shows_a_log_and_its_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.log").write_bytes(written(two_units))
    (tmp_path / "catalog.csv").write_text(catalog_csv([PLAIN]))
    named = of_family("db2luw", tmp_path / "x.log", tmp_path / "catalog.csv")
    assert main(["inspect", *named]) == 0
    assert "whether a change was made by a foreign key or a trigger" in capsys.readouterr().out
    assert main(["inspect", *named, "--record", "2", "--hex"]) == 0
    assert "NAME: Bea" in capsys.readouterr().out


def test_positions_select(tmp_path: Path) -> None:
    log = opened(tmp_path, written(two_units))
    commits = sorted(bytes(commit) for commit in log.units()["commit"])
    low = Selection(until_position=log.placed(commits[0][:8], True))
    high = Selection(from_position=log.placed(commits[1][:8], False))
    assert [
        len(script(log, tmp_path / str(number), selection=chosen)[1])
        for number, chosen in enumerate((low, high))
    ] == [2, 2]


@pytest.mark.parametrize("dialect", ["v7", "v97", "v10"])
def test_a_log_without_previous_positions_is_grouped_by_transaction_id(
    tmp_path: Path, dialect: str
) -> None:
    """Where no record names the one before it, none can be told to begin a unit of recovery."""

    def unchained(builder: LogBuilder, unit: Transaction) -> None:
        for number in (1, 2, 3):
            unit.previous = 0
            unit.insert(PLAIN, row(number), (1, number))
        unit.previous = 0
        unit.commit()

    log = opened(
        tmp_path,
        written(
            unchained,
            dialect=dialect,
            big=True,
            framing={"v7": "lsn6", "v97": "flt16", "v10": "flt56"}[dialect],
        ),
    )
    assert len(script(log, tmp_path)[1]) == 3
    assert log.warnings([]) == []


def test_a_transaction_id_that_comes_again_without_an_end_is_told(tmp_path: Path) -> None:
    def again(builder: LogBuilder, unit: Transaction) -> None:
        unit.insert(PLAIN, row(1), (1, 1))
        unit.previous = 0
        unit.insert(PLAIN, row(2), (1, 2))
        unit.commit()

    log = opened(tmp_path, written(again))
    assert len(script(log, tmp_path)[1]) == 1
    assert any(
        "1 unit of recovery without an end, though the transaction id comes again" in warning
        for warning in log.warnings([])
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda records: records.insert(6, records[3]),
        lambda records: records.insert(1, records.pop(2)),
    ],
)
def test_positions_without_an_order_tell_copies_and_swaps(
    tmp_path: Path, change: Callable[[list[bytes]], Any]
) -> None:
    """Positions of 6 bytes on a little-endian server can be the same or not, and nothing more is
    known of them."""
    builder = LogBuilder(dialect="v7", framing="lsn6")
    two_units(builder, builder.begin())
    change(builder.records)
    with pytest.raises(InputError, match="LR2030"):
        opened(tmp_path, builder.bytes())


def test_a_record_of_an_unknown_type_is_passed_over_by_its_length(tmp_path: Path) -> None:
    def work(builder: LogBuilder, unit: Transaction) -> None:
        unit.insert(PLAIN, row(1), (1, 1))
        unit.add(0x99, bytes(20))
        unit.insert(PLAIN, row(2), (1, 2))
        unit.commit()

    log = opened(tmp_path, written(work))
    assert len(script(log, tmp_path)[1]) == 2
    assert "skipped by length: 1 record of unknown types" in log.warnings([])


def test_a_row_under_another_component_sets_its_unit_aside(tmp_path: Path) -> None:
    builder = LogBuilder()
    two_units(builder, builder.begin())
    place = 16 + 24
    assert builder.records[1][place : place + 2] == b"\x01\xa3"
    for component in (3, 5):
        damaged = [*builder.records]
        damaged[1] = damaged[1][:place] + bytes([component]) + damaged[1][place + 1 :]
        bundle, _ = script(opened(tmp_path, b"".join(damaged)), tmp_path / str(component))
        assert bundle.exit_code == 8
        assert "LR2010" in bundle.manifest["findings"]["shown"][0]
