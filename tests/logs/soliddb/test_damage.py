"""SYS_LOG exports that are cut off, reordered, spliced, copied twice or flipped: clear errors, and
never rows of half a unit of recovery."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from replay.changes.selection import Selection
from replay.cli.main import main
from replay.errors import InputError, LogReplayError, Refusal, UsageError
from replay.logs import Inputs, source_named
from replay.logs.soliddb.reader import SolidLog, open_log
from replay.output.bundle import Bundle
from sqlgen.errors import SqlgenError
from tests.support.few import few
from tests.support.scripted import opened_solid, script
from tests.support.solidbuilder import (
    CUSTOMER,
    Col,
    Framing,
    LogBuilder,
    Tab,
    Unit,
    write_catalog,
    write_rows,
)
from tests.support.words import of_family

ITEM = Tab(
    10014, "DBA", "ITEM",
    (Col("ID", "INTEGER", null=False), Col("NAME", "VARCHAR", 40), Col("PRICE", "DECIMAL", 10, 2),
        Col("AT", "DATE")), key=("ID",),
)  # fmt: skip
KEYLESS = Tab(10015, "DBA", "KEYLESS", ITEM.columns)


def row(number: int, name: str = "Ann") -> tuple[Any, ...]:
    return number, name, "1.50", "2001-02-03"


opened = partial(opened_solid, tables=(ITEM, KEYLESS, CUSTOMER))


def statements(log: SolidLog, folder: Path, mode: str = "redo") -> list[str]:
    return [line for line in script(log, folder, mode)[1] if not line.startswith("--")]


def finding(bundle: Bundle) -> str:
    shown = bundle.manifest["findings"]["shown"]
    assert shown
    return str(shown[0])


def two_units(log: LogBuilder) -> LogBuilder:
    unit = log.begin()
    unit.insert(ITEM, row(1))
    unit.update(ITEM, row(1), row(1, "Bea"))
    unit.commit()
    unit = log.begin()
    unit.insert(ITEM, row(2))
    unit.delete(ITEM, row(1, "Bea"))
    unit.commit()
    return log


def many_units(log: LogBuilder, count: int = 12) -> LogBuilder:
    for number in range(1, count + 1):
        unit = log.begin()
        unit.insert(ITEM, row(number))
        unit.update(ITEM, row(number), row(number, f"name {number}"))
        if number % 3 == 0:
            unit.delete(ITEM, row(number, f"name {number}"))
        unit.commit()
    return log


def renumbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as an exporter would have numbered them."""
    return [{**entry, "SEQ": number} for number, entry in enumerate(rows)]


# -- cut, reordered, spliced
# -------------------------------------------------------------------------------------------------


def test_a_manifest_knows_what_is_cut_off(tmp_path: Path) -> None:
    log = many_units(LogBuilder())
    manifest = {
        "sessions": [
            {
                "start_logaddr": "00" * 20,
                "last_commit_logaddr": log.commits[-1].hex(),
                "ended_by": "nop",
            }
        ]
    }
    assert len(statements(opened(tmp_path, log, manifest=manifest), tmp_path)) == 28
    with pytest.raises(
        InputError,
        match=r"LR2006.*as the last commit of session 0; expected .*as the manifest says",
    ):
        opened(tmp_path, log.rows[:-6], manifest=manifest)


@pytest.mark.parametrize("seed", range(9))
def test_reordered_dropped_and_doubled_rows_are_refused(tmp_path: Path, seed: int) -> None:
    """With SEQ, whatever is changed about the order of rows is seen."""
    pick = random.Random(seed)
    rows = list(many_units(LogBuilder()).rows)
    one, other = sorted(pick.sample(range(1, len(rows) - 1), 2))
    if seed % 3 == 0:
        rows[one], rows[other] = rows[other], rows[one]
    elif seed % 3 == 1:
        del rows[one]
    else:
        rows.insert(other, rows[one])
    with pytest.raises(
        InputError, match=r"LR2030.*field SEQ: found SEQ .*every row once, in fetch order"
    ):
        opened(tmp_path, rows)


def test_files_of_a_session_are_put_in_order_and_refused_twice(tmp_path: Path) -> None:
    rows = many_units(LogBuilder()).rows
    first, second = rows[:20], rows[20:]
    true = statements(opened(tmp_path, first, second), tmp_path / "true")
    assert len(true) == 28
    assert statements(opened(tmp_path, second, first), tmp_path / "turned") == true
    for files in ((first, first), (first, second, second)):
        with pytest.raises(
            LogReplayError,
            match=r"LR2030.*Give the files in the order in which they were exported|LR2034",
        ):
            opened(tmp_path, *files)


def test_commits_out_of_order_are_refused(tmp_path: Path) -> None:
    log = many_units(LogBuilder())
    ends = [number for number, entry in enumerate(log.rows) if entry["RECID"] == 12]
    rows = [
        *log.rows[: ends[0] + 1],
        *log.rows[ends[1] + 1 : ends[2] + 1],
        *log.rows[ends[0] + 1 : ends[1] + 1],
        *log.rows[ends[2] + 1 :],
    ]
    with pytest.raises(
        InputError, match=r"LR2030.*field LOGADDR: found a commit at .* after .*in log order"
    ):
        opened(tmp_path, renumbered(rows))


def test_several_files_need_numbers(tmp_path: Path) -> None:
    write_catalog(tmp_path, [ITEM])
    rows = two_units(LogBuilder()).rows
    plain = [name for name in rows[0] if name != "SEQ"]
    paths = [str(write_rows(tmp_path / f"{number}.csv", rows, plain)) for number in range(2)]
    assert len(statements(open_log(Inputs(log=(paths[0],), catalog=str(tmp_path))), tmp_path)) == 4
    with pytest.raises(InputError, match="LR2030.*no SEQ"):
        open_log(Inputs(log=tuple(paths), catalog=str(tmp_path)))
    lone = write_rows(tmp_path / "x.parquet", rows, plain)
    with pytest.raises(InputError, match="LR2008.*no column SEQ"):
        open_log(Inputs(log=(str(lone),), catalog=str(tmp_path)))


# -- units
# -------------------------------------------------------------------------------------------------


def test_rows_outside_of_transactions(tmp_path: Path) -> None:
    log = two_units(LogBuilder())
    bundle, lines = script(opened(tmp_path, renumbered(log.rows[2:])), tmp_path)
    assert [line.split()[0] for line in lines] == ["INSERT", "DELETE"]
    assert bundle.manifest["balance"]["skipped"]["unit of recovery begins before the log"] == 2
    assert any(
        "the first whole one begins at record 4" in warning
        for warning in opened(tmp_path, renumbered(log.rows[2:])).warnings([])
    )
    ends = next(number for number, entry in enumerate(log.rows) if entry["RECID"] == 12)
    stray = [*log.rows[: ends + 1], log.rows[1], *log.rows[ends + 1 :]]
    with pytest.raises(InputError, match=r"LR2030.*record 6.*outside of any transaction"):
        opened(tmp_path, renumbered(stray))


def test_a_lost_commit_sets_its_unit_aside(tmp_path: Path) -> None:
    log = two_units(LogBuilder())
    ends = next(number for number, entry in enumerate(log.rows) if entry["RECID"] == 12)
    bundle, lines = script(
        opened(tmp_path, renumbered([*log.rows[:ends], *log.rows[ends + 1 :]])), tmp_path
    )
    assert lines == []  # the second unit deletes what the first inserted
    assert "LR2016" in finding(bundle)
    assert "without its commit" in finding(bundle)


def test_one_image_of_an_update_alone_sets_the_unit_aside(tmp_path: Path) -> None:
    rows = two_units(LogBuilder()).rows
    for gone in (2, 3):
        bundle, lines = script(
            opened(tmp_path, renumbered(rows[:gone] + rows[gone + 1 :])), tmp_path / str(gone)
        )
        assert lines == []
        assert finding(bundle).startswith("LR2013")


@pytest.mark.parametrize("turned", [False, True])
def test_updates_pair_in_both_orders(tmp_path: Path, turned: bool) -> None:
    for table in (ITEM, KEYLESS):
        log = LogBuilder()
        unit = log.begin()
        unit.next_statement()
        for number in range(3):
            for recid, values in (
                ((3, row(number, "new")), (5, row(number)))
                if turned
                else ((5, row(number)), (3, row(number, "new")))
            ):
                unit.one(recid, table, values)
        unit.commit()
        lines = statements(opened(tmp_path, log), tmp_path / table.name)
        assert len(lines) == 3
        assert all("SET name = 'new'" in line for line in lines)


def test_updates_pair_by_key_where_they_are_apart(tmp_path: Path) -> None:
    log = LogBuilder()
    unit = log.begin().next_statement()
    for recid, name in ((5, "Ann"), (3, "new")):
        for number in (1, 2, 3):
            unit.one(recid, ITEM, row(number, name))
    unit.commit()
    assert len(statements(opened(tmp_path, log), tmp_path)) == 3
    for entry in log.rows:
        entry["RELID"] = KEYLESS.relid if entry["RELID"] else None
    bundle, lines = script(opened(tmp_path, log), tmp_path / "keyless")
    assert (lines, finding(bundle)[:6]) == ([], "LR2013")


def test_an_insert_and_a_delete_of_a_statement_that_was_taken_back_cancel_out(
    tmp_path: Path,
) -> None:
    log = LogBuilder()
    unit = log.begin().next_statement()
    for recid, number in ((4, 1), (1, 2), (4, 2), (1, 1)):
        unit.one(recid, ITEM, row(number))
    unit.commit()
    bundle, lines = script(opened(tmp_path, log), tmp_path)
    assert lines == []
    assert bundle.manifest["balance"]["skipped"] == {
        "control record of the log": 2,
        "inserted and deleted by one statement": 2,
        "update changes nothing": 2,
    }


def test_what_is_left_of_a_statement_is_in_an_order_that_keys_allow(tmp_path: Path) -> None:
    log = LogBuilder()
    unit = log.begin().next_statement()
    for recid, values in ((1, row(5)), (4, row(5)), (1, row(7, "x")), (4, row(7, "y"))):
        unit.one(recid, ITEM, values)
    unit.commit()
    unit = log.begin().next_statement()
    for recid, values in (
        (1, row(9, "x")), (4, row(9, "x")), (1, row(9, "y")), (4, row(9, "z")),
    ):  # fmt: skip
        unit.one(recid, ITEM, values)
    unit.commit()
    unit = log.begin().next_statement()  # a row that a trigger changes before it goes
    unit.one(1, ITEM, row(8))
    unit.one(5, ITEM, row(8))
    unit.one(3, ITEM, row(8, "x"))
    unit.one(4, ITEM, row(8, "x"))
    unit.commit()
    unit = log.begin().next_statement()  # another row takes the key of one that moves on
    unit.one(4, ITEM, row(1, "a"))
    unit.one(1, ITEM, row(2, "a"))
    unit.one(5, ITEM, row(2, "a"))
    unit.one(3, ITEM, row(2, "b"))
    unit.one(4, ITEM, row(2, "c"))
    unit.one(1, ITEM, row(3, "c"))
    unit.commit()
    lines = [shown(line) for line in statements(opened(tmp_path, log), tmp_path)]
    assert lines[:2] == ["UPDATE 7", "UPDATE 9"]
    assert lines[2:5] == ["INSERT 8", "UPDATE 8", "DELETE 8"]
    assert lines[5:] == ["DELETE 1", "UPDATE 2", "UPDATE 2", "INSERT 3"]


def shown(line: str) -> str:
    """The word of a statement and the key that it is about."""
    found = re.search(r"VALUES \((\d+)|WHERE id = (\d+)", line)
    assert found
    return f"{line.split()[0]} {found[1] or found[2]}"


@pytest.mark.parametrize(
    "work",
    [
        lambda unit: (unit.insert(ITEM, row(1)), unit.insert(ITEM, row(1))),
        lambda unit: (unit.delete(ITEM, row(1)), unit.delete(ITEM, row(1))),
        lambda unit: (unit.delete(ITEM, row(1)), unit.update(ITEM, row(1), row(1, "x"))),
        lambda unit: (unit.update(ITEM, row(1), row(1, "x")), unit.delete(ITEM, row(1))),
        lambda unit: (unit.insert(ITEM, row(1)), unit.update(ITEM, row(1, "y"), row(1, "z"))),
    ],
)
def test_images_that_contradict_set_the_unit_aside(
    tmp_path: Path, work: Callable[[Unit], Any]
) -> None:
    log = LogBuilder()
    unit = log.begin()
    work(unit)
    unit.commit()
    bundle, lines = script(opened(tmp_path, log), tmp_path)
    assert lines == []
    assert "contradicts record" in finding(bundle)
    assert bundle.exit_code == 8


def test_several_transactions_in_one_bracket(tmp_path: Path) -> None:
    log = LogBuilder()
    unit = log.begin()
    unit.insert(ITEM, row(1))
    unit.id += 100
    unit.insert(ITEM, row(2))
    unit.commit()
    bundle, lines = script(opened(tmp_path, log), tmp_path)
    assert lines == []
    assert "several transaction ids" in finding(bundle)
    found = opened(tmp_path, log, manifest={"batch_size": 5})
    assert len(statements(found, tmp_path / "batch")) == 2
    assert any("1 batch(es)" in warning for warning in found.warnings([]))


def test_nops_and_shutdown(tmp_path: Path) -> None:
    log = LogBuilder()
    log.nop()
    unit = log.begin()
    log.nop()
    unit.insert(ITEM, row(1))
    log.nop()
    unit.commit()
    unit = log.begin()
    unit.insert(ITEM, row(2))
    log.shutdown()
    bundle, lines = script(opened(tmp_path, log), tmp_path)
    assert len(lines) == 1
    assert (
        bundle.manifest["balance"]["skipped"]["unit of recovery in flight at the end of the log"]
        == 1
    )


def test_system_tables_and_shadows_are_left_out(tmp_path: Path) -> None:
    shadow = Tab(10099, "DBA", "_SYNCHIST_ITEM", ITEM.columns, type="SYNCHIST TABLE")
    log = LogBuilder()
    unit = log.begin()
    unit.insert(ITEM, row(1))
    unit.insert(Tab(8001, "_SYSTEM", "SYS_X", ITEM.columns), row(9))
    unit.insert(shadow, row(8))
    unit.commit()
    bundle, lines = script(opened(tmp_path, log, tables=(ITEM, shadow)), tmp_path)
    assert len(lines) == 1
    assert bundle.manifest["balance"]["skipped"]["catalog change, not a row"] == 2


def test_unknown_tables_and_kinds_are_named(tmp_path: Path) -> None:
    bundle, lines = script(opened(tmp_path, two_units(LogBuilder()), tables=(CUSTOMER,)), tmp_path)
    assert lines == []
    assert "LR2011" in finding(bundle)
    assert "RELID 10014" in finding(bundle)
    log = two_units(LogBuilder())
    log.rows[1] = {**log.rows[1], "RECID": 2, "RECNAME": "DBE_LOGREADER_LOG_REC_DELETE"}
    bundle, lines = script(opened(tmp_path, log), tmp_path / "kind")
    assert finding(bundle).startswith("LR2012")
    assert lines == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"FLAGS": 64}, "LR2010.*field FLAGS"),
        ({"DATA": None}, "LR2010.*field FLAGS"),
        ({"RELID": None}, "LR2010.*field FLAGS"),
        ({"RECNAME": "DBE_LOGREADER_LOG_REC_DELETE_FULL"}, "LR2010.*field RECNAME"),
    ],
)
def test_headers_that_contradict_themselves(
    tmp_path: Path, change: dict[str, Any], found: str
) -> None:
    log = two_units(LogBuilder())
    log.rows[1] = log.rows[1] | change
    bundle, lines = script(opened(tmp_path, log), tmp_path)
    assert lines == []
    assert re.match(found, finding(bundle))


def test_unpublished_flags_are_told(tmp_path: Path) -> None:
    log = two_units(LogBuilder())
    log.rows[1]["FLAGS"] |= 0x10
    assert any("X'10'" in warning for warning in opened(tmp_path, log).warnings([]))


# -- capture
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (None, ["INSERT"]),
        ("apply", ["INSERT", "DELETE", "INSERT"]),
        ("skip-deletes", ["INSERT", "INSERT"]),
        ("skip-all", ["INSERT"]),
    ],
)
def test_capture_off(tmp_path: Path, policy: str | None, expected: list[str]) -> None:
    log = LogBuilder()
    unit = log.begin()
    unit.insert(ITEM, row(1))
    unit.commit()
    unit = log.begin(0x41)
    unit.delete(ITEM, row(7))
    unit.insert(ITEM, row(8))
    unit.commit()
    bundle, lines = script(
        opened(tmp_path, log, options={"capture-off": policy} if policy else {}), tmp_path
    )
    assert [line.split()[0] for line in lines] == expected
    if policy is None:
        assert "LR2033" in finding(bundle)
        assert "--log-option capture-off=apply" in finding(bundle)
    else:
        assert bundle.manifest["balance"]["skipped"].get(
            "not to be propagated (CAPTURE_OFF)", 0
        ) == 3 - len(expected)


def test_a_changed_key_is_not_split_by_capture_off(tmp_path: Path) -> None:
    log = LogBuilder()
    unit = log.begin(0x41)
    unit.update(ITEM, row(1), (2, *row(1)[1:]))
    unit.commit()
    bundle, lines = script(opened(tmp_path, log, options={"capture-off": "skip-deletes"}), tmp_path)
    assert lines == []
    assert "LR2033" in finding(bundle)


# -- sessions
# -------------------------------------------------------------------------------------------------


def sessions(
    start: bytes | None, overlap: int = 0
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    """Two read sessions, the second from ``start`` on, with the last ``overlap`` units of the first
    again."""
    log = many_units(LogBuilder())
    ends = [number for number, entry in enumerate(log.rows) if entry["RECID"] == 12]
    first = log.rows[: ends[5] + 1]
    second = renumbered(log.rows[ends[5 - overlap] + 1 :])
    begin = log.commits[5 - overlap] if start is None else start
    told = [
        {
            "start_logaddr": "00" * 20,
            "last_commit_logaddr": log.commits[5].hex(),
            "ended_by": "limit",
        },
        {
            "start_logaddr": begin.hex(),
            "last_commit_logaddr": log.commits[-1].hex(),
            "ended_by": "nop",
        },
    ]
    return first, second, {"sessions": told}


def test_sessions_that_chain(tmp_path: Path) -> None:
    whole = statements(opened(tmp_path / "w", many_units(LogBuilder())), tmp_path / "w")
    first, second, manifest = sessions(None)
    assert statements(opened(tmp_path, first, second, manifest=manifest), tmp_path) == whole
    first, second, manifest = sessions(None, overlap=2)
    bundle, lines = script(opened(tmp_path, first, second, manifest=manifest), tmp_path / "overlap")
    assert lines == whole
    assert bundle.manifest["balance"]["skipped"]["repeated by another read session"] == 7
    changed = [dict(entry) for entry in second]
    changed[1]["DATA"] = changed[1]["DATA"].replace(b"Ann", b"Bob")
    with pytest.raises(InputError, match="LR2017.*twice, with different rows"):
        opened(tmp_path, first, changed, manifest=manifest)


def test_sessions_that_do_not_chain(tmp_path: Path) -> None:
    first, second, manifest = sessions((0x400).to_bytes(8, "big") + bytes(12))
    for told in (manifest, None):
        with pytest.raises(Refusal, match=r"LR2034.*session 1 begins at .*gaps=accept") as raised:
            opened(tmp_path / str(told is None), first, second, manifest=told)
        assert raised.value.exit_code == 8
    found = opened(
        tmp_path / "accepted", first, second, manifest=manifest, options={"gaps": "accept"}
    )
    assert len(statements(found, tmp_path / "accepted")) == 28
    assert any("changes may be missing" in warning for warning in found.warnings([]))


def test_addresses_of_two_lengths_are_refused(tmp_path: Path) -> None:
    log = two_units(LogBuilder())
    log.rows[-1]["LOGADDR"] += bytes(8)
    with pytest.raises(InputError, match="LR2010.*field LOGADDR: found 20 and 28 bytes"):
        opened(tmp_path, log)
    log.rows[-1]["LOGADDR"] = bytes(21)
    with pytest.raises(
        InputError, match="LR2010.*field LOGADDR: found 21 bytes; expected 20 or 28"
    ):
        opened(tmp_path, log)


def test_addresses_whose_beginning_stays_the_same(tmp_path: Path) -> None:
    """Then positions are rows of this very export, which the log's name says, so that no other log
    goes on from them."""
    log = two_units(LogBuilder())
    for entry in log.rows:
        entry["LOGADDR"] = bytes([0, 0, 0, 0, 0, 0, 0, 9]) + entry["LOGADDR"][8:]
    found = opened(tmp_path, log)
    assert not found.by_address
    assert len(found.source) > len("soliddb:")
    assert len(statements(found, tmp_path)) == 4
    until = Selection(
        until_position=found.placed(log.rows[0]["LOGADDR"][:8] + log.commits[0][8:], True)
    )
    assert len(script(found, tmp_path / "until", selection=until)[1]) == 2
    with pytest.raises(UsageError, match="LR1004.*do not tell its commits apart"):
        found.placed(log.commits[0][:8], True)


# -- files
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.csv", "", "LR2002"),
        ("x.csv", "RECID,FLAGS\n7,1\n", "LR2008.*without TRXID"),
        ("x.csv", "SEQ,RECID,TRXID,STMTTRXID,RELID,FLAGS,LOGADDR,DATA\n", "LR2002.*found no rows"),
        (
            "x.csv",
            "SEQ,RECID,TRXID,STMTTRXID,RELID,FLAGS,LOGADDR,DATA\n0,seven,1,1,,1,,\n",
            "LR2010.*record 1, field RECID: found 'seven'",
        ),
        (
            "x.csv",
            "SEQ,RECID,TRXID,STMTTRXID,RELID,FLAGS,LOGADDR,DATA\n0,7,1,1,,1,0G,\n",
            "LR2010.*field LOGADDR: found '0G'",
        ),
        (
            "x.csv",
            "SEQ,RECID,TRXID,STMTTRXID,RELID,FLAGS,LOGADDR,DATA\n0,7,1,1,,1,,ABC\n",
            "LR2010.*field DATA: found 'ABC'",
        ),
        ("x.csv", "\ufeffS,R\n1,2\n", "LR2008"),
        ("x.jsonl", "{", "LR2001"),
        ("x.parquet", "PAR1", "LR2001"),
        ("x.log", "abc", "LR2001.*name does not say"),
    ],
)
def test_files_that_are_no_export(tmp_path: Path, name: str, content: str, found: str) -> None:
    write_catalog(tmp_path, [ITEM])
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=found):
        open_log(Inputs(log=(str(tmp_path / name),), catalog=str(tmp_path)))


def test_text_of_another_character_set(tmp_path: Path) -> None:
    log = LogBuilder(charset="latin-1")
    unit = log.begin()
    unit.insert(ITEM, row(1, "Åsa"))
    unit.commit()
    with pytest.raises(
        InputError, match=r"LR2015.*DBA.ITEM.NAME: found X'C57361'.*charset=latin-1"
    ):
        opened(tmp_path, log, framing="len32")
    for settings in (
        {"options": {"charset": "latin-1"}},
        {"manifest": {"char_encoding": "Raw:latin-1"}},
    ):
        (line,) = statements(
            opened(tmp_path, log, framing="len32", **settings), tmp_path / str(len(str(settings)))
        )
        assert "'Åsa'" in line


def test_wide_text_with_swapped_bytes_is_refused(tmp_path: Path) -> None:
    log = LogBuilder()
    unit = log.begin()
    for number in range(25):
        swapped = "Lovelace".encode("utf-16-le").decode("utf-16-be")
        unit.insert(CUSTOMER, (number, "a", swapped, "1.00", "2001-01-01 00:00:00", 5, None))
    unit.commit()
    with pytest.raises(InputError, match="LR2015.*bytes swapped"):
        opened(tmp_path, log)


@pytest.mark.parametrize(
    ("name", "change", "found"),
    [
        ("sys_columns", lambda text: text.replace("COLUMN_NAME", "NAME"), "without COLUMN_NAME"),
        (
            "sys_columns",
            lambda text: text.replace(",ID,0,INTEGER,4,1,", ",ID,0,INTEGER,4,9,"),
            "DATA_TYPE_NUMBER 9",
        ),
        (
            "sys_columns",
            lambda text: text.replace(",ID,0,INTEGER,4,1,", ",ID,0,INTEGER,4,5,"),
            "types 4 and 5",
        ),
        (
            "sys_columns",
            lambda text: text.replace(",NAME,1,", ",NAME,0,"),
            "a COLUMN_NUMBER twice in DBA.ITEM",
        ),
        (
            "sys_columns",
            lambda text: text.replace(",NAME,1,", ",NAME,x,"),
            "found 'x'; expected a number",
        ),
        (
            "sys_keys",
            lambda text: text.replace("YES,YES,2", "YES,YES,7"),
            "1 parts of key 15014 of table 10014, whose KEY_NREF is 7",
        ),
        (
            "sys_keyparts",
            lambda text: text.replace("15014,1,100140,0", "15014,1,5,55"),
            "a key part of table 10014 without a column",
        ),
    ],
)
def test_an_unusable_export_of_system_tables(
    tmp_path: Path, name: str, change: Callable[[str], str], found: str
) -> None:
    write_catalog(tmp_path, [ITEM])
    path = tmp_path / "meta" / f"{name}.csv"
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))
    rows = write_rows(tmp_path / "x.parquet", two_units(LogBuilder()).rows)
    with pytest.raises(InputError, match=f"LR2031.*{found}"):
        open_log(Inputs(log=(str(rows),), catalog=str(tmp_path)))
    path.unlink()
    with pytest.raises(InputError, match=f"LR2031.*found no {name}"):
        open_log(Inputs(log=(str(rows),), catalog=str(tmp_path)))


@pytest.mark.parametrize(
    ("manifest", "found"),
    [
        ("{", "cannot be read"),
        ("[]", "no JSON object"),
        ('{"sessions": 5}', "a list of objects"),
        ('{"metadata_logaddr": "AB"}', "40 or 56"),
        (
            '{"framing": {"profile": "len32"}}',
            "found framing {'profile': 'len32'}; expected a name",
        ),
        ('{"batch_size": "many"}', "found batch_size 'many'; expected a number"),
        (
            '{"primary_keys": {"DBA.NONE": ["ID"]}}',
            "primary_keys of DBA.NONE, of which SYS_TABLES knows nothing",
        ),
    ],
)
def test_an_unusable_manifest(tmp_path: Path, manifest: str, found: str) -> None:
    write_catalog(tmp_path, [ITEM])
    (tmp_path / "manifest.json").write_text(manifest)
    rows = write_rows(tmp_path / "x.parquet", two_units(LogBuilder()).rows)
    with pytest.raises(InputError, match=f"LR2031.*{found}"):
        open_log(Inputs(log=(str(rows),), catalog=str(tmp_path / "meta")))


@pytest.mark.parametrize(
    "option", ["columns=D", "charset=klingon", "capture-off=maybe", "gaps=maybe"]
)
def test_unusable_settings_are_refused(tmp_path: Path, option: str) -> None:
    with pytest.raises(UsageError, match="LR1001"):
        opened(tmp_path, two_units(LogBuilder()), options=dict([option.split("=")]))


def test_inspect_shows_a_log_and_its_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_catalog(tmp_path, [ITEM])
    write_rows(tmp_path / "syslog.csv", two_units(LogBuilder()).rows)
    named = of_family("soliddb", tmp_path / "syslog.csv", tmp_path)
    assert main(["inspect", *named]) == 0
    shown = capsys.readouterr().out
    for word in ("framing len32, columns A", "DBA.ITEM: key ID, relid 10014"):
        assert word in shown
    assert main(["inspect", *named, "--record", "2", "--hex"]) == 0
    assert "NAME: Ann" in capsys.readouterr().out
    assert main(["inspect", *named, "--record", "99"]) == 12


def test_what_inspect_says_of_damage(tmp_path: Path) -> None:
    rows = two_units(LogBuilder()).rows
    rows[1]["DATA"] = rows[1]["DATA"][:-1]
    found = opened(tmp_path, rows, framing="len32")
    described = source_named("soliddb").description(found).values
    assert described["exit_code"] == 8
    assert described["damaged"]["count"] >= 1
    assert any("LR2014" in text and "record 2" in text for text in described["damaged"]["findings"])


@pytest.mark.parametrize(
    "suffix", few(["parquet", "csv", "csv.gz", "jsonl", "jsonl.gz"], "parquet", "jsonl")
)
def test_large_objects_in_every_format(tmp_path: Path, suffix: str) -> None:
    large = Tab(
        10_016,
        "DBA",
        "LARGE",
        (Col("ID", "INTEGER", null=False), Col("T", "LONG VARCHAR"), Col("B", "LONG VARBINARY")),
        key=("ID",),
    )
    log = LogBuilder()
    for number, size in enumerate((1 << 20, 70_000, 300)):
        unit = log.begin()
        unit.insert(large, (number, "ä" * size, (bytes(range(256)) * 4096)[:size]))
        unit.commit()
    line, *others = statements(opened(tmp_path, log, tables=(large,), suffix=suffix), tmp_path)
    assert "ä" * (1 << 20) in line
    assert (bytes(range(256)).hex() * 4096).upper() in line.upper()
    assert [text.count("ä") for text in others] == [70_000, 300]


def test_lengths_that_speak_for_a_cut_value_are_told(tmp_path: Path) -> None:
    log = LogBuilder()
    unit = log.begin()
    unit.insert(CUSTOMER, (1, "a", "b", "1.00", "2001-01-01 00:00:00", 5, "n" * (256 + 13)))
    unit.commit()
    assert any(
        "DBA.CUSTOMER.NOTE: 1 value as long as one of which only the beginning" in text
        for text in opened(tmp_path, log).warnings([])
    )


def test_a_value_of_which_a_part_is_elsewhere_is_refused(tmp_path: Path) -> None:
    log = two_units(LogBuilder(Framing("va")))
    rows = [dict(entry) for entry in log.rows]
    rows[1]["DATA"] = rows[1]["DATA"].replace(b"\4Ann\0", b"\xff\4\0\0\0Ann\0")
    bundle, lines = script(opened(tmp_path, rows, framing="va"), tmp_path)
    assert lines == []
    assert "LR2014" in finding(bundle)
    assert "only a part" in finding(bundle)


def test_unpublished_kinds_outside_of_transactions_are_told(tmp_path: Path) -> None:
    log = two_units(LogBuilder())
    log.add(9, None, None, None, 1, None)
    found = opened(tmp_path, log)
    assert len(statements(found, tmp_path)) == 4
    assert any("RECID 9" in warning for warning in found.warnings([]))
    log.add(9, None, None, ITEM.relid, 1, b"x")
    with pytest.raises(InputError, match="LR2030.*outside of any transaction"):
        opened(tmp_path, log)


def test_tables_of_one_name_in_two_catalogs(tmp_path: Path) -> None:
    other = Tab(10_017, "DBA", "ITEM", ITEM.columns, key=("ID",), catalog="ARCHIVE")
    log = two_units(LogBuilder())
    unit = log.begin()
    unit.insert(other, row(9))
    unit.commit()
    with pytest.raises(
        InputError, match=r"LR2031.*SHOP\.DBA\.ITEM and of ARCHIVE\.DBA\.ITEM.*catalog=SHOP"
    ):
        opened(tmp_path, log, tables=(ITEM, other))
    bundle, lines = script(
        opened(tmp_path, log, tables=(ITEM, other), options={"catalog": "shop"}), tmp_path
    )
    assert len(lines) == 4
    assert (
        bundle.manifest["balance"]["skipped"]["table of another catalog (--log-option catalog)"]
        == 1
    )
    bundle, lines = script(
        opened(tmp_path, log, tables=(ITEM, other), options={"catalog": "ARCHIVE"}),
        tmp_path / "other",
    )
    assert len(lines) == 1
    assert (
        len(
            statements(
                opened(tmp_path, two_units(LogBuilder()), tables=(ITEM, other)), tmp_path / "one"
            )
        )
        == 4
    )


def test_a_log_of_nothing(tmp_path: Path) -> None:
    log = LogBuilder()
    log.nop()
    log.nop()
    found = opened(tmp_path, log)
    bundle, lines = script(found, tmp_path)
    assert (lines, bundle.exit_code) == ([], 0)
    description = source_named("soliddb").description(found)
    described = description.values
    assert (described["exit_code"], described["commits"]) == (0, None)
    assert "Units: count 0" in description.text()


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files_are_refused_or_read_and_nothing_else(tmp_path: Path, seed: int) -> None:
    """Whatever byte of whatever file is wrong: an error with a code, or units as they were or set
    aside."""
    pick = random.Random(seed)
    log = two_units(LogBuilder())
    names = ["syslog.csv", "syslog.jsonl", "syslog.parquet", "syslog.csv.gz"]
    last = log.commits[-1].hex()
    manifest = {
        "sessions": [{"start_logaddr": "00" * 20, "last_commit_logaddr": last, "ended_by": "nop"}],
        "metadata_logaddr": last,
    }
    write_catalog(tmp_path, [ITEM], manifest)
    path = write_rows(tmp_path / pick.choice(names), log.rows)
    target = pick.choice(
        [path, path, *sorted((tmp_path / "meta").iterdir()), tmp_path / "manifest.json"]
    )
    raw = bytearray(target.read_bytes())
    place = pick.randrange(len(raw))
    if seed % 4 == 0:
        raw[place] = pick.randrange(256)
    elif seed % 4 == 1:
        del raw[place : place + pick.randrange(1, 20)]
    elif seed % 4 == 2:
        raw[place:place] = bytes(
            pick.choice(b'0123456789,"\n-{}[]xX') for _ in range(pick.randrange(1, 5))
        )
    else:
        del raw[place:]
    target.write_bytes(bytes(raw))
    try:
        found = open_log(
            Inputs(log=(str(path),), catalog=str(tmp_path), framing=pick.choice((None, "len32")))
        )
        bundle, _ = script(found, tmp_path)
    except (LogReplayError, SqlgenError) as error:
        assert error.code.startswith("LR")  # noqa: PT017
        return
    assert bundle.exit_code in (0, 4, 8)


def test_addresses_that_rise_tell_of_lost_and_moved_rows(tmp_path: Path) -> None:
    log = LogBuilder()
    for unit_number in range(3):
        unit = log.begin()
        for number in range(5):
            unit.insert(ITEM, row(10 * unit_number + number))
        unit.commit()
    for number, entry in enumerate(log.rows, 1):
        entry["LOGADDR"] = number.to_bytes(8, "big") + entry["LOGADDR"][8:]
    bundle, lines = script(opened(tmp_path / "whole", log), tmp_path / "out")
    assert (len(lines), bundle.exit_code) == (15, 0)
    inside = [at for at, entry in enumerate(log.rows) if entry["RECID"] == 1]
    for at in (inside[0], inside[7], inside[-1]):
        moved = [*log.rows[:at], log.rows[at + 1], log.rows[at], *log.rows[at + 2 :]]
        lost = [*log.rows[:at], *log.rows[at + 1 :]]
        for name, rows in (("moved", moved), ("lost", lost)):
            if rows is moved and log.rows[at + 1]["RECID"] != 1:
                continue
            for number, entry in enumerate(rows := [dict(entry) for entry in rows]):
                entry["SEQ"] = number
            bundle, lines = script(
                opened(tmp_path / f"{name}{at}", rows), tmp_path / f"o{name}{at}"
            )
            assert (len(lines), bundle.exit_code) == (10, 8)
            assert "LR2030" in finding(bundle)
            assert "LOGADDR" in finding(bundle)
