"""The parts of a log have the rows of an export, and a condition reads less without changing
them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import replay
from replay.changes.envelope import ENVELOPE
from replay.errors import InputError, LogReplayError
from replay.frames import batch
from replay.frames.batch import REPORT, Prepared, Pushed, prepared, schema_for
from replay.frames.options import RowKind, read_options
from replay.output.change_batches import ORDERED_BY
from tests.support import family_logs
from tests.support.family_logs import SMALL, FamilyLog
from tests.support.logbuilder import Col, LogBuilder, Tab

#: Values that a frame might hold otherwise than a file.
VALUES = Tab(
    "VALUES",
    (
        Col("ID", "INT", 4, key=1),
        Col("AMOUNT", "DEC", 3, 2, nulls="Y"),
        Col("AT", "TIME", 8, nulls="Y"),
        Col("MOMENT", "DTTM", 26, nulls="Y"),
        Col("RAW", "CHAR", 4, nulls="Y", subtype="B"),
        Col("NAME", "VCHR", 20, nulls="Y", subtype="S"),
    ),
)
ROW = (1, "-123.45", "24:00:00", "2024-03-15 10:20:30.123456", b"\0\xff\1\2", "Grün")
NULLS = (2, None, None, None, None, None)
EVERY = Pushed()


def rows_of(found: Prepared, condition: Pushed = EVERY) -> pa.Table:
    batches = [one for part in found.parts(condition) for one in found.read(part, condition)]
    return pa.Table.from_batches(batches, schema=found.schema)


def sorted_rows(rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in ORDERED_BY])


def exported(log: FamilyLog, out: Path) -> pa.Table:
    """The rows of the table's Parquet files."""
    with replay.open_log(**log.opened) as opened:
        bundle = opened.select(tables=log.table).export("parquet").write(out)
    names = [
        file["name"]
        for dataset in bundle.manifest["datasets"]
        if dataset.get("table") == log.table
        for file in dataset["files"]
    ]
    return sorted_rows(pa.concat_tables([pq.ParquetFile(out / name).read() for name in names]))


def read(log: FamilyLog, work: Path, **more: str) -> Prepared:
    work.mkdir(exist_ok=True)
    return prepared(read_options({**log.options, "table": log.table, **more}), str(work))


def built(folder: Path, log: LogBuilder, table: str) -> FamilyLog:
    control, data = log.write(folder)
    files = {"control": str(control), "data": str(data[0])}
    return FamilyLog(files, files, table)


def values_log(*others: Tab) -> LogBuilder:
    """A log that begins with an update, which tells how its images are to be read."""
    log = LogBuilder([VALUES, *others])
    log.unit(commit=1 << 20).update(VALUES, (0, *ROW[1:]), NULLS)
    return log


def many_units(folder: Path) -> FamilyLog:
    """60 units in commit order, of 5 rows each; every tenth has a delete."""
    log = values_log()
    for number in range(60):
        unit = log.unit(commit=(1 << 24) + number * 1000)
        for place in range(5):
            row = (number * 10 + place, *ROW[1:])
            unit.insert(VALUES, row)
            if number % 10 == 0 and place == 2:
                unit.delete(VALUES, row)
    return built(folder, log, "TESTOWN.VALUES")


FAMILIES = [
    family_logs.logmaster,
    family_logs.logmaster_load,
    pytest.param(family_logs.soliddb, marks=pytest.mark.long),
    pytest.param(family_logs.db2luw, marks=pytest.mark.long),
]


@pytest.mark.parametrize("make", FAMILIES)
def test_rows_are_those_of_an_export(make: Callable[[Path], FamilyLog], tmp_path: Path) -> None:
    log = make(tmp_path)
    files = exported(log, tmp_path / "out")
    rows = rows_of(read(log, tmp_path / "work", recordsPerPartition="40"))
    assert len(files) > 3
    assert rows["table"].unique().to_pylist() == [log.table]
    assert sorted_rows(rows).drop_columns(["table"]).equals(files)
    assert rows.equals(sorted_rows(rows))  # parts are in commit order, and rows in them


def test_values(tmp_path: Path) -> None:
    log = LogBuilder([VALUES])
    unit = log.unit()
    unit.insert(VALUES, ROW)
    unit.update(VALUES, (2, *ROW[1:]), NULLS)
    source = built(tmp_path, log, "TESTOWN.VALUES")
    rows = rows_of(read(source, tmp_path / "work"))
    assert rows.drop_columns(["table"]).equals(exported(source, tmp_path / "out"))
    assert str(rows.schema.field("after").type.field("amount").type) == "decimal128(5, 2)"
    first, second = rows["after"].to_pylist()
    assert str(first["amount"]) == "-123.45"
    assert first["at"] == "24:00:00"
    assert first["raw"] == b"\0\xff\1\2"
    assert first["name"] == "Grün"
    assert list(second.values()) == [2, None, None, None, None, None]
    assert rows["before"].to_pylist()[0] is None


def test_a_table_that_got_a_column(tmp_path: Path) -> None:
    source = family_logs.two_forms(tmp_path)
    rows = rows_of(read(source, tmp_path / "work"))
    tiers = [row and row["tier"] for row in rows["after"].to_pylist()]
    assert None in tiers
    assert any(tiers)
    assert rows["op"].unique().to_pylist() == ["insert", "update", "delete"]
    options = {**source.options, "rows": "changes", "tables": source.table}
    rows = rows_of(prepared(read_options(options), str(tmp_path)))
    assert "tier" in rows["after"].to_pylist()[-1]
    assert "schema" in rows["op"].to_pylist()


def test_images_of_all_tables_are_text(tmp_path: Path) -> None:
    source = family_logs.logmaster(tmp_path)
    found = prepared(read_options({**source.options, "rows": "changes"}), str(tmp_path))
    with replay.open_log(**source.opened) as log:
        expected = log.select().changes().read_all()
    assert sorted_rows(rows_of(found)).equals(expected.replace_schema_metadata(None))


# -- reading less
# -------------------------------------------------------------------------------------------------


def small_splits(log: FamilyLog, work: Path) -> Prepared:
    options = read_options({**log.options, "table": log.table, "recordsPerPartition": "64"})
    return prepared(replace(options, split_bytes=4000), str(work))


def size_of(found: Prepared, condition: Pushed) -> int:
    return sum(part.size(found.plan) for part in found.parts(condition))


def test_a_range_of_commits_reads_its_splits(tmp_path: Path) -> None:
    found = small_splits(many_units(tmp_path), tmp_path)
    every = rows_of(found)
    commits = every["commit_lrsn"].unique().to_pylist()
    low, high = commits[20], commits[24]
    condition = Pushed(bytes.fromhex(low), bytes.fromhex(high))
    assert len(found.places) >= 4
    assert len(found.parts(condition)) < len(found.places) / 2
    assert size_of(found, condition) < size_of(found, EVERY) / 2
    asked = pc.and_(
        pc.greater_equal(every["commit_lrsn"], low), pc.less_equal(every["commit_lrsn"], high)
    )
    assert rows_of(found, condition).equals(every.filter(asked))
    assert found.parts(Pushed(high=bytes(10))) == []


def test_an_operation_reads_the_images_of_its_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = small_splits(many_units(tmp_path), tmp_path)
    every, images = rows_of(found), list[int]()
    kind = type(found.log)
    original = kind.images

    def counted(self: Any, records: Any, heads: Any, *rest: Any) -> Any:
        images.append(len(heads))
        return original(self, records, heads, *rest)

    monkeypatch.setattr(kind, "images", counted)
    rows_of(found)
    whole = sum(images)
    images.clear()
    condition = Pushed(ops=frozenset(["delete"]))
    rows = rows_of(found, condition)
    assert whole == 307
    assert sum(images) == 6 * 6
    deletes = pc.equal(rows["op"], "delete")
    assert rows.filter(deletes).equals(every.filter(pc.equal(every["op"], "delete")))
    assert rows.filter(deletes)["sequence"].unique().to_pylist() == [4]
    assert found.parts(Pushed(ops=frozenset(["truncate"]))) == []


def test_a_table_leaves_out_parts_and_splits(tmp_path: Path) -> None:
    other = replace(VALUES, name="OTHER", obid=4)
    log = values_log(other)
    for number in range(40):
        unit = log.unit(commit=(1 << 24) + number * 1000)
        for place in range(5):
            unit.insert(VALUES if number < 20 else other, (number * 10 + place, *ROW[1:]))
    source = built(tmp_path, log, "")
    options = read_options({**source.options, "rows": "changes", "recordsPerPartition": "64"})
    found = prepared(replace(options, split_bytes=4000), str(tmp_path))
    condition = Pushed(tables=frozenset(["TESTOWN.OTHER"]))
    assert 0 < size_of(found, condition) < size_of(found, EVERY)
    rows = rows_of(found, condition)
    assert rows.filter(pc.equal(rows["table"], "TESTOWN.OTHER")).num_rows == 100
    envelope = prepared(
        replace(read_options(dict(source.options)), split_bytes=4000), str(tmp_path)
    )
    assert envelope.schema == ENVELOPE
    condition = Pushed(names=frozenset(["OTHER"]), kinds=frozenset(["I"]))
    assert 0 < size_of(envelope, condition) < size_of(envelope, EVERY)
    rows = rows_of(envelope, condition)
    assert rows.filter(pc.equal(rows["table_name"], "OTHER")).num_rows == 100
    assert size_of(envelope, Pushed(kinds=frozenset(["D"]))) == 0


# -- what stays out
# -------------------------------------------------------------------------------------------------


def damaged(folder: Path) -> FamilyLog:
    raw = bytearray((SMALL / "small.dat").read_bytes())
    raw[raw.find("UB".encode("cp037"))] = 0xE9
    (folder / "damaged.dat").write_bytes(raw)
    files = {"control": str(SMALL / "small.ctl"), "data": str(folder / "damaged.dat")}
    return FamilyLog(files, files, "SAKILA.RENTAL")


def notes_of(found: Prepared, kind: str) -> list[dict[str, Any]]:
    report = replace(found, options=replace(found.options, rows=RowKind.REPORT), schema=REPORT)
    return [row for row in rows_of(report).to_pylist() if row["kind"] == kind]


def test_damage_is_set_aside_and_reported(tmp_path: Path) -> None:
    source = damaged(tmp_path)
    found = read(source, tmp_path / "work", tables="*")
    every = prepared(read_options({**source.options, "rows": "changes"}), str(tmp_path))
    with (
        pytest.warns(UserWarning, match="set aside"),
        replay.open_log(**source.opened) as log,
    ):
        expected = log.select().changes().read_all()
    assert sorted_rows(rows_of(every)).equals(expected.replace_schema_metadata(None))
    (unit,) = notes_of(every, "unit")
    assert unit["unit"] in str(expected.schema.metadata)
    assert notes_of(every, "finding")[0]["code"] == "LR2012"
    assert notes_of(found, "balance")[0]["count"] == 337


def test_damage_ends_a_query_where_that_is_asked_for(tmp_path: Path) -> None:
    log = values_log()
    log.unit().insert(VALUES, ROW)
    log.unit().insert(VALUES, (2, *ROW[1:]))
    source = built(tmp_path, log, "TESTOWN.VALUES")
    data = Path(source.options["data"])
    raw = data.read_bytes()
    place = raw.find(b"\x00\x12\x34\x5d")  # the packed decimal -123.45, behind its null byte
    data.write_bytes(raw[: place + 1] + b"\xaa\xbb\xcc" + raw[place + 4 :])
    aside = read(source, tmp_path / "work")
    assert rows_of(aside).num_rows == 1  # a later unit builds on the damaged one
    assert [note["code"] for note in notes_of(aside, "finding")] == ["LR2015"]
    failing = read(source, tmp_path / "work", damage="fail")
    with pytest.raises(InputError, match="damage = set-aside"):
        rows_of(failing)


@pytest.mark.long
def test_incomplete_units_stay_out(incomplete: Path, tmp_path: Path) -> None:
    files = {
        "control": str(incomplete / "incomplete.ctl"),
        "data": str(incomplete / "incomplete.dat"),
    }
    source = FamilyLog(files, files, "SAKILA.CUSTOMER")
    found = read(source, tmp_path / "work")
    failing = read(source, tmp_path / "work", damage="fail")
    assert (
        sorted_rows(rows_of(found))
        .drop_columns(["table"])
        .equals(exported(source, tmp_path / "out"))
    )
    assert rows_of(failing).equals(rows_of(found))
    held = notes_of(found, "unit")
    assert held
    assert {note["code"] for note in held} <= {"LR3004", "LR3011", "LR3014"}


@pytest.mark.parametrize(
    ("host", "said"),
    [("here", "as it was when the log was opened"), ("elsewhere", "stays as it is")],
)
def test_another_log_under_the_same_name_is_noticed(
    host: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the times of its files here, and by counts elsewhere."""
    log = values_log()
    for _ in range(2):
        log.unit().insert(VALUES, ROW)
    source = built(tmp_path, log, "TESTOWN.VALUES")
    found = read(source, tmp_path / "work")
    control, data = tmp_path / "other", Path(source.options["data"])
    control.mkdir()
    log.changes[2].fields["UORDISP"] = "A"
    shutil.copyfile(log.write(control)[1][0], data)
    if host == "elsewhere":
        monkeypatch.setattr(batch.socket, "gethostname", lambda: "another")
    with pytest.raises(InputError, match=said):
        rows_of(found)
    assert rows_of(read(source, tmp_path / "work")).num_rows == 2


def test_what_was_found_out_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = many_units(tmp_path)
    first = rows_of(read(source, tmp_path / "work"))
    monkeypatch.setattr(batch, "try_export", None)
    assert rows_of(read(source, tmp_path / "work")).equals(first)
    with pytest.raises(TypeError):
        read(source, tmp_path / "work", ops="insert")


# -- options
# -------------------------------------------------------------------------------------------------

REFUSED: list[tuple[Mapping[str, str], str]] = [
    ({"tabel": "x"}, "LR1001 found option 'tabel'"),
    ({"table": "SAKILA.NOPE"}, "LR1004 found --table SAKILA.NOPE"),
    ({"table": "SAKILA.RENTAL", "excludeTables": "SAKILA.*"}, "LR1004 .* not selected"),
    ({"rows": "lines"}, "LR1001 found rows 'lines'; expected one of: changes, envelope, report"),
    ({"rows": "envelope", "ops": "insert"}, "LR1001 found ops with rows = envelope"),
    ({"rows": "changes", "includeAborted": "true"}, "LR1001 found rolled-back work"),
    ({"includeAborted": "maybe"}, "expected true or false"),
    ({"maxUnitsPerBatch": "0"}, "expected 1 or more"),
    ({"members": "x"}, "expected a whole number"),
    ({"settle": "soon"}, "expected seconds"),
    ({"ccsid": "Q=5"}, "found ccsid 'Q=5'"),
    ({"logs": "x", "path": "y"}, "found a path"),
    ({"source": "db2luw", "table": "A.B"}, "LR1001 found --control with --source db2luw"),
    ({"table": "SAKILA.RENTAL", "columns": "NOPE"}, "LR1004"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[str(one) for one, _ in REFUSED])
def test_refused(options: Mapping[str, str], message: str, tmp_path: Path) -> None:
    source = family_logs.logmaster(tmp_path)
    with pytest.raises(LogReplayError, match=message):
        schema_for(read_options({**source.options, **options}), str(tmp_path))


def test_columns_that_are_not_asked_for_are_not_read(tmp_path: Path) -> None:
    source = family_logs.logmaster(tmp_path)
    found = read(source, tmp_path / "work", columns="RENTAL_ID, STAFF_ID")
    assert [kind.name for kind in found.schema.field("after").type] == ["rental_id", "staff_id"]
    (note,) = [note for note in notes_of(found, "balance") if "excluded columns" in note["text"]]
    assert note["count"] > 0
