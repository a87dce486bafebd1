"""Forms of a SYS_LOG export that the format notes allow beside the usual one: manifests, read
sessions, system tables, values, DDL records."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from replay.errors import InputError, Refusal, UsageError
from replay.logs import Inputs
from replay.logs.soliddb import ddl
from replay.logs.soliddb.reader import open_log
from tests.logs.soliddb.test_damage import (
    ITEM,
    KEYLESS,
    many_units,
    opened,
    row,
    statements,
    two_units,
)
from tests.support.scripted import script
from tests.support.solidbuilder import Col, Framing, LogBuilder, Tab, write_catalog, write_rows


@pytest.mark.parametrize("name", ["DBA.KEYLESS", "shop.dba.keyless", "10015"])
@pytest.mark.parametrize("key", [["ID"], "ID"])
def test_a_manifest_names_tables_in_full_or_by_id(tmp_path: Path, name: str, key: Any) -> None:
    log = LogBuilder()
    unit = log.begin()
    unit.delete(KEYLESS, row(1))
    unit.commit()
    assert statements(opened(tmp_path, log, manifest={"primary_keys": {name: key}}), tmp_path) == [
        "DELETE FROM dba.keyless WHERE id = 1;"
    ]


@pytest.mark.parametrize("framing", ["auto", "va"])
def test_a_manifest_names_profiles_or_leaves_them_open(tmp_path: Path, framing: str) -> None:
    found = opened(tmp_path, two_units(LogBuilder(Framing("va"))), manifest={"framing": framing})
    assert str(found.shape.framing) == "va"


@pytest.mark.parametrize(
    "manifest",
    [
        {"char_encoding": "Raw:latin1"},
        {"char_encoding": "Raw", "charset": "ISO-8859-1"},
        {"char_encoding": {"mode": "Raw", "charset": "ISO_8859-1"}},
    ],
)
def test_character_sets_by_their_usual_names(tmp_path: Path, manifest: dict[str, Any]) -> None:
    log = LogBuilder(charset="latin-1")
    unit = log.begin()
    unit.insert(ITEM, row(1, "Åsa"))
    unit.commit()
    assert "'Åsa'" in statements(opened(tmp_path, log, manifest=manifest), tmp_path)[0]


@pytest.mark.parametrize("found", ["EBCDIC", "latin-1", 5, {"mode": "EBCDIC"}, "EBCDIC:latin-1"])
def test_an_encoding_that_is_none_is_refused_though_all_text_is_utf8(
    tmp_path: Path, found: Any
) -> None:
    log = two_units(LogBuilder())
    with pytest.raises(
        UsageError, match=r"LR1001 found char_encoding .*; expected UTF8, Raw:NAME.*latin-1"
    ):
        opened(tmp_path, log, manifest={"char_encoding": found})


def told(log: LogBuilder, *bounds: tuple[int | None, int]) -> dict[str, Any]:
    """A manifest with a read session from behind one commit up to another, for each pair of their
    numbers."""
    return {
        "sessions": [
            {
                "start_logaddr": None if low is None else log.commits[low].hex(),
                "last_commit_logaddr": log.commits[high].hex(),
                "ended_by": "nop",
            }
            for low, high in bounds
        ]
    }


def test_read_sessions_that_only_the_manifest_tells_apart(tmp_path: Path) -> None:
    log = many_units(LogBuilder())
    whole = statements(opened(tmp_path / "w", log), tmp_path / "w")
    assert (
        statements(
            opened(tmp_path / "chain", log, manifest=told(log, (None, 4), (4, 11))),
            tmp_path / "chain",
        )
        == whole
    )
    with pytest.raises(Refusal, match=r"LR2034.*session 1 begins at .*gaps=accept"):
        opened(tmp_path, log, manifest=told(log, (None, 4), (5, 11)))
    with pytest.raises(InputError, match="LR2006.*as the last commit of session 1"):
        opened(tmp_path, log, manifest=told(log, (None, 4), (4, 10)))
    missing = told(log, (None, 4), (4, 11))
    missing["sessions"][0]["last_commit_logaddr"] = "EE" * 20
    with pytest.raises(InputError, match="LR2006.*no commit at EEEE.*in the manifest"):
        opened(tmp_path, log, manifest=missing)


def test_an_overlap_that_only_the_manifest_tells(tmp_path: Path) -> None:
    log = many_units(LogBuilder())
    whole = statements(opened(tmp_path / "w", log), tmp_path / "w")
    ends = [number for number, entry in enumerate(log.rows) if entry["RECID"] == 12]
    twice = [dict(entry) for entry in (*log.rows[: ends[5] + 1], *log.rows[ends[3] + 1 :])]
    for number, entry in enumerate(twice):
        entry["SEQ"] = number
    assert (
        statements(
            opened(tmp_path / "o", twice, manifest=told(log, (None, 5), (3, 11))), tmp_path / "o"
        )
        == whole
    )
    with pytest.raises(InputError, match="LR2030.*expected commits in log order"):
        opened(tmp_path, twice)


def test_read_sessions_without_commits_break_no_chain(tmp_path: Path) -> None:
    log = many_units(LogBuilder())
    whole = statements(opened(tmp_path / "w", log), tmp_path / "w")
    manifest = told(log, (None, 4), (4, 4), (4, 11), (11, 11))
    assert (
        statements(opened(tmp_path / "quiet", log, manifest=manifest), tmp_path / "quiet") == whole
    )
    log.shutdown()
    log.nop()
    assert statements(opened(tmp_path / "nop", log), tmp_path / "nop") == whole


def test_a_commit_without_its_beginning_at_the_head_is_told(tmp_path: Path) -> None:
    log = two_units(LogBuilder())
    first = next(number for number, entry in enumerate(log.rows) if entry["RECID"] == 12)
    found = opened(tmp_path, log.rows[first:])
    assert any(
        "begins with the commit of a transaction" in warning for warning in found.warnings([])
    )


def test_positions_compare_as_whole_addresses(tmp_path: Path) -> None:
    log = two_units(LogBuilder())
    found = opened(tmp_path, log)
    first, second = log.commits
    beside = first[:8] + bytes(12)  # below the first commit, though its counter is the same
    assert found.placed(beside, True) < found.placed(first, True) < found.placed(second, True)
    assert found.placed(beside, False) == found.placed(first, False)
    assert found.placed(first[:8] + b"\xff" * 12, False) == found.placed(second, False)
    assert found.placed(bytes(20), True) == bytes(10)
    assert found.placed(b"\xff" * 20, False) == b"\xff" * 10


def test_hidden_columns_need_no_sql_type(tmp_path: Path) -> None:
    tab = Tab(
        10040,
        "DBA",
        "HID",
        (Col("ID", "INTEGER", null=False), Col("RS_ANAME_TUPLE_VERSION", "BIGINT", attr=2)),
        key=("ID",),
    )
    log = LogBuilder()
    unit = log.begin()
    unit.insert(tab, (1,))
    unit.commit()
    write_catalog(tmp_path, [tab])
    path = tmp_path / "meta" / "sys_columns.csv"
    text = path.read_text().replace("RS_ANAME_TUPLE_VERSION,1,BIGINT,-5,8,", ",1,,,8,")
    assert ",1,,,8," in text
    path.write_text(text)
    found = open_log(
        Inputs(log=(str(write_rows(tmp_path / "x.parquet", log.rows)),), catalog=str(tmp_path))
    )
    assert statements(found, tmp_path) == ["INSERT INTO dba.hid (id) VALUES (1);"]


@pytest.mark.parametrize(
    ("kind", "values", "warning"),
    [
        (
            "REAL",
            (struct.pack(">d", 0.1), struct.pack(">d", 0.123456789)),
            "1 value of REAL with more digits than single precision",
        ),
        (
            "SMALLINT",
            (struct.pack(">i", 40_000), struct.pack(">i", -5)),
            "1 value above the signed range of SMALLINT",
        ),
        (
            "TIME",
            (bytes(11), b"\x80" + bytes(10)),
            "zeros only in 1 value, where others have the year's bias",
        ),
    ],
)
def test_values_that_users_are_told_of(
    tmp_path: Path, kind: str, values: tuple[bytes, bytes], warning: str
) -> None:
    tab = Tab(10030, "DBA", "ONE", (Col("ID", "INTEGER", null=False), Col("V", kind)), key=("ID",))
    log = LogBuilder()
    unit = log.begin()
    for number, raw in enumerate(values):
        log.add(
            1,
            unit.id,
            unit.id,
            tab.relid,
            1,
            log.framing.row([struct.pack(">i", number), raw], [1, 1]),
        )
    unit.commit()
    found = opened(tmp_path, log, tables=(tab,), framing="len32")
    assert len(script(found, tmp_path)[1]) == 2
    assert [entry for entry in found.warnings([]) if warning in entry]


@pytest.mark.parametrize("info", ["SHOP.DBA.my-view", "DBA.my-view", "my-view"])
def test_names_in_ddl_records_are_as_stored(info: str) -> None:
    event = ddl.read(struct.pack(">iI", 46, len(info)) + info.encode(), 1208, None)
    assert event is not None
    assert event.name.name == "my-view"


def test_a_statement_behind_its_length() -> None:
    text = b"DROP TABLE T"
    event = ddl.read(
        struct.pack(">iI", 17, 1) + b"T" + struct.pack(">I", len(text)) + text, 1208, None
    )
    assert event is not None
    assert event.text == text.decode()


@pytest.mark.parametrize("relid", [None, 0])
def test_nops_with_zeros_for_nulls(tmp_path: Path, relid: int | None) -> None:
    log = two_units(LogBuilder())
    whole = statements(opened(tmp_path / "w", log), tmp_path / "w")
    log.add(0, relid, relid, relid, 0, None)
    rows = [*log.rows[:2], log.rows[-1], *log.rows[2:-1]]
    for number, entry in enumerate(rows):
        entry["SEQ"] = number
    assert statements(opened(tmp_path / "n", rows), tmp_path / "n") == whole


def test_system_tables_in_files_with_upper_case_names(tmp_path: Path) -> None:
    write_catalog(tmp_path, [ITEM])
    for path in (tmp_path / "meta").iterdir():
        path.rename(path.with_name(f"{path.stem.upper()}.csv"))
    path = write_rows(tmp_path / "x.parquet", two_units(LogBuilder()).rows)
    assert len(statements(open_log(Inputs(log=(str(path),), catalog=str(tmp_path))), tmp_path)) == 4


def test_rows_missing_before_the_first_are_told(tmp_path: Path) -> None:
    log = two_units(LogBuilder())
    first = next(number for number, entry in enumerate(log.rows) if entry["RECID"] == 12)
    assert not opened(tmp_path / "w", log).warnings([])
    found = opened(tmp_path, log.rows[first + 1 :])
    assert found.warnings([]) == [
        f"the rows begin with SEQ {first + 1}; those before it are not in the files that were given"
    ]


@pytest.mark.parametrize("name", ["batch_size", "transaction_batch_size"])
def test_batches_by_either_name(tmp_path: Path, name: str) -> None:
    log = two_units(LogBuilder())
    log.rows = [
        entry
        for number, entry in enumerate(log.rows)
        if not 0 < number < len(log.rows) - 1 or entry["RECID"] not in (7, 12)
    ]
    for number, entry in enumerate(log.rows):
        entry["SEQ"] = number
    found = opened(tmp_path, log, manifest={name: 2})
    assert len(statements(found, tmp_path)) == 4
    assert any(
        "1 batch(es) of several transactions are kept as one unit" in warning
        for warning in found.warnings([])
    )
