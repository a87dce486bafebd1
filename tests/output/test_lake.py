"""Tables of a lake follow a log: exactly once, whole, and with the columns of all generations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import deltalake
import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyiceberg.catalog.sql import SqlCatalog

from replay.cli.main import main
from replay.errors import UsageError
from replay.leftovers import alone_in
from replay.output.lake import RUNS, LakeMark
from replay.output.lake_delta import DeltaFolder
from tests.support.exported import export, rows
from tests.support.few import few
from tests.support.logbuilder import ACCT, Col, LogBuilder, Tab, acct, lrsn

KINDS = ("delta", "iceberg")
FACTS = "op, commit_lrsn, urid, sequence"


def words(folder: Path, builder: LogBuilder, name: str = "t") -> list[str]:
    control, data = builder.write(folder, name=name)
    return ["--control", str(control), "--data", *map(str, data), "--engine", "local"]


def lake(log: Sequence[str], out: Path, kind: str, *more: str) -> int:
    given = ["--schema", "none", "--format", kind, "--out", str(out)]
    return main(["export", *log, *given, *more])


def table(out: Path, kind: str, schema: str, name: str) -> pa.Table:
    if kind == "delta":
        return DeltaTable(str(out / f"{schema}.{name}")).to_pyarrow_table()
    with SqlCatalog("logreplay", uri=f"sqlite:///{out / 'catalog.db'}") as catalog:
        return catalog.load_table((schema, name)).scan().to_arrow()


def values(found: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    return sorted(zip(*(found[name].to_pylist() for name in columns), strict=True), key=str)


def small(folder: Path) -> list[str]:
    return [
        *("--control", str(folder / "small.ctl"), "--data", str(folder / "small.dat")),
        *("--engine", "local"),
    ]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_changes_are_there_once(kind: str, sakila_small: Path, tmp_path: Path) -> None:
    log, out = small(sakila_small), tmp_path / "lake"
    middle = "00DECBEB4C2B7B300000"
    assert lake(log, out, kind, "--until-position", middle, "--table", "SAKILA.*") == 0
    assert lake(log, out, kind) == 0
    assert lake(log, out, kind) == 0
    export([*log, "--schema", "none"], tmp_path / "once")
    for name in ("rental", "film"):
        expected = rows(tmp_path / "once", f"sakila.{name}", FACTS)
        found = table(out, kind, "sakila", name)
        assert values(found, *FACTS.split(", ")) == sorted(map(tuple, expected), key=str)
    after = table(out, kind, "sakila", "rental")["after"].to_pylist()
    numbers = rows(tmp_path / "once", "sakila.rental", "after.rental_id")
    assert {row["rental_id"] for row in after if row} == {one for (one,) in numbers if one}
    assert len(list((out / RUNS).iterdir())) == 3
    manifest = json.loads((out / RUNS / "000003" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["lake"] == []


def test_the_position_is_a_property_of_the_table(sakila_small: Path, tmp_path: Path) -> None:
    log, last = small(sakila_small), "00DECBEB67354F200000"
    for kind in KINDS:
        assert lake(log, tmp_path / kind, kind, "--table", "SAKILA.FILM") == 0
    of_delta = DeltaTable(str(tmp_path / "delta" / "sakila.film"))
    assert of_delta.metadata().configuration["logreplay.position"] == last
    assert of_delta.history(3)[1]["logreplay"] == last
    uri = f"sqlite:///{tmp_path / 'iceberg' / 'catalog.db'}"
    with SqlCatalog("logreplay", uri=uri) as catalog:
        assert catalog.load_table(("sakila", "film")).properties["logreplay.position"] == last


def test_a_run_that_was_not_committed_leaves_no_mark(tmp_path: Path) -> None:
    builder, out = LogBuilder(), tmp_path / "lake"
    builder.unit().insert(ACCT, acct(1))
    assert lake(words(tmp_path, builder), out, "delta") == 0
    place = DeltaFolder(out).table("testown", "acct")
    before, schema = place.mark(), place.schema
    assert before is not None
    assert schema is not None
    place._announced(schema, replace(before, position="F" * 20))  # and then the power fails
    assert DeltaFolder(out).table("testown", "acct").mark() == before
    builder.unit().insert(ACCT, acct(2))
    assert lake(words(tmp_path, builder, "u"), out, "delta") == 0
    assert len(table(out, "delta", "testown", "acct")) == 2


@pytest.mark.parametrize("kind", few(KINDS, "delta"))
def test_units_that_were_set_aside_come_later(kind: str, tmp_path: Path) -> None:
    def log(name: str, flag: str) -> list[str]:
        builder = LogBuilder()
        builder.unit(INCOMPLETETRANS=flag).insert(ACCT, acct(1))
        builder.unit().insert(ACCT, acct(2))
        return words(tmp_path, builder, name)

    out = tmp_path / "lake"
    assert lake(log("a", "Y"), out, kind) == 4
    assert len(table(out, kind, "testown", "acct")) == 1
    assert lake(log("b", "N"), out, kind) == 0
    assert lake(log("b", "N"), out, kind) == 0
    found = table(out, kind, "testown", "acct")
    assert sorted(row["id"] for row in found["after"].to_pylist()) == [1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_merged_tables_are_those_of_the_source(kind: str, tmp_path: Path) -> None:
    initial = tmp_path / "initial"
    initial.mkdir()
    head = "id,bal,open_dt,name,rate,upd"
    line = "{},-123.45,2024-03-15,ABCDE,1,2024-03-15 10:20:30.123456"
    (initial / "acct.csv").write_text(
        "\n".join([head, *(line.format(number) for number in (1, 2, 3, 4))]) + "\n",
        encoding="utf-8",
    )
    builder, out = LogBuilder(), tmp_path / "lake"
    shift = builder.unit()  # K = K + 10 of two rows whose keys follow one another
    shift.update(ACCT, acct(1), acct(2))
    shift.update(ACCT, acct(2), acct(12))
    builder.unit().insert(ACCT, acct(5))
    given = ["--merge", "--initial", str(initial)]
    assert lake(words(tmp_path, builder), out, kind, *given) == 0
    assert values(table(out, kind, "testown", "acct"), "id") == [(12,), (2,), (3,), (4,), (5,)]
    last = builder.unit()
    last.delete(ACCT, acct(3))
    last.update(ACCT, acct(5), acct(5, "other", None))
    last.update(ACCT, acct(4), acct(14))
    for _ in range(2):
        assert lake(words(tmp_path, builder, "u"), out, kind, *given) == 0
        found = table(out, kind, "testown", "acct")
        assert values(found, "id", "name") == [
            (12, "ABCDE"),
            (14, "ABCDE"),
            (2, "ABCDE"),
            (5, "other"),
        ]
    assert found.filter(pa.compute.equal(found["id"], 5))["bal"].to_pylist() == [None]
    builder.unit().event(ACCT, "DT")
    builder.unit().insert(ACCT, acct(7))
    assert lake(words(tmp_path, builder, "v"), out, kind, *given) == 0
    assert values(table(out, kind, "testown", "acct"), "id") == [(7,)]


def test_engines_read_the_past_and_what_each_commit_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")
    builder = LogBuilder()
    unit = builder.unit()
    for number in (1, 2, 3):
        unit.insert(ACCT, acct(number))
    for kind in KINDS:
        assert lake(words(tmp_path, builder), tmp_path / kind, kind, "--merge") == 0
    place = tmp_path / "delta" / "testown.acct"
    uri = f"sqlite:///{tmp_path / 'iceberg' / 'catalog.db'}"
    version = DeltaTable(str(place)).version()
    with SqlCatalog("logreplay", uri=uri) as catalog:
        then = catalog.load_table(("testown", "acct")).current_snapshot()
    later = builder.unit()
    later.delete(ACCT, acct(1))
    later.update(ACCT, acct(2), acct(2, "other"))
    later.insert(ACCT, acct(4))
    for kind in KINDS:
        assert lake(words(tmp_path, builder, "u"), tmp_path / kind, kind, "--merge") == 0

    past = pl.read_delta(str(place), version=version)
    assert past.select("id", "name").sort("id").rows() == [(n, "ABCDE") for n in (1, 2, 3)]
    assert sorted(pl.read_delta(str(place))["id"]) == [2, 3, 4]
    feed = pa.table(DeltaTable(str(place)).load_cdf(starting_version=version + 1))
    assert values(feed, "_change_type", "id", "name") == [
        ("delete", 1, "ABCDE"),
        ("insert", 4, "ABCDE"),
        ("update_postimage", 2, "other"),
        ("update_preimage", 2, "ABCDE"),
    ]
    with SqlCatalog("logreplay", uri=uri) as catalog:
        iceberg = catalog.load_table(("testown", "acct"))
        assert then is not None
        before = pl.scan_iceberg(iceberg, snapshot_id=then.snapshot_id).collect()
        assert (
            before.select("id", "name").sort("id").rows()
            == past.select("id", "name").sort("id").rows()
        )
        assert sorted(pl.scan_iceberg(iceberg).collect()["id"]) == [2, 3, 4]


def test_a_state_that_is_not_that_before_the_log_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "initial").mkdir()
    head = "id,bal,open_dt,name,rate,upd\n"
    (tmp_path / "initial" / "acct.csv").write_text(head, encoding="utf-8")
    builder = LogBuilder()
    builder.unit().delete(ACCT, acct(1))
    given = ["--merge", "--initial", str(tmp_path / "initial")]
    assert lake(words(tmp_path, builder), tmp_path / "lake", "delta", *given) == 8
    assert "LR2036" in capsys.readouterr().err
    assert not (tmp_path / "lake" / "testown.acct").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_later_generations_are_added(kind: str, tmp_path: Path) -> None:
    first = Tab("T", (Col("ID", "INT", 4, key=1), Col("A", "INT", 2)))
    second = replace(
        first,
        columns=(*first.columns, Col("B", "VCHR", 9, nulls="Y", subtype="S")),
        sequence=2,
        created=lrsn(1000),
    )
    builder, out = LogBuilder(tables=(replace(first, dropped=lrsn(1000)), second)), tmp_path / "l"
    builder.unit().insert(first, (1, 10))
    assert lake(words(tmp_path, builder), out, kind) == 4
    builder.clock = 2000
    builder.unit().insert(second, (2, 20, "new"))
    assert lake(words(tmp_path, builder, "u"), out, kind) == 4
    merged = tmp_path / "m"
    assert lake(words(tmp_path, builder, "u"), merged, kind, "--merge") == 4
    found = table(out, kind, "testown", "t").sort_by("commit_lrsn")["after"].to_pylist()
    assert found == [{"id": 1, "a": 10, "b": None}, {"id": 2, "a": 20, "b": "new"}]
    assert values(table(merged, kind, "testown", "t"), "id", "a", "b") == [
        (1, 10, None),
        (2, 20, "new"),
    ]


@pytest.mark.parametrize("kind", few(KINDS, "delta"))
def test_names_are_no_words_of_the_engines(kind: str, tmp_path: Path) -> None:
    """A column that is called as a sum of ours, names with quotes, and a dot that begins a path to
    Arrow; of tables, what an URL would spell otherwise."""
    names = ("BALANCE", "BALANCE_SUM", "PLACE", 'Q"T', ".DOT", "A.B", "__LOGREPLAY_GONE", "IT'S")
    columns = (Col(names[3], "INT", 4, key=1), Col(names[4], "INT", 4, key=2))
    columns += tuple(Col(name, "INT", 4) for name in names if name not in names[3:5])
    odd = Tab("T'X#1%", columns, owner="A.B")
    builder, out = LogBuilder(tables=(odd,)), tmp_path / "lake"
    rest = (0,) * 6
    unit = builder.unit()
    unit.insert(odd, (1, 1, *rest))
    unit.insert(odd, (2, 2, *rest))
    assert lake(words(tmp_path, builder), out, kind, "--merge") == 0
    unit = builder.unit()
    unit.update(odd, (1, 1, *rest), (1, 3, 7, *rest[1:]))
    unit.delete(odd, (2, 2, *rest))
    builder.unit().insert(odd, (4, 4, *rest))
    assert lake(words(tmp_path, builder, "u"), out, kind, "--merge") == 0
    spelled = ("a%2Eb", "t%27x%231%25") if kind == "iceberg" else ("a=2Eb", "t=27x=231=25")
    found = values(table(out, kind, *spelled), *(name.lower() for name in names))
    assert found == [(0, 0, 0, 4, 4, 0, 0, 0), (7, 0, 0, 1, 3, 0, 0, 0)]


@pytest.mark.parametrize("name", few(["50%25", "[a]", "a^b", "a\\b", "a\nb"], "50%25", "[a]"))
def test_a_path_that_the_library_would_not_find_again_is_refused(name: str, tmp_path: Path) -> None:
    builder = LogBuilder()
    builder.unit().insert(ACCT, acct(1))
    log, out = words(tmp_path, builder), tmp_path / name
    refused(out, log, "LR1002")
    assert not out.exists()
    assert lake(log, out, "iceberg") == (12 if "%" in name else 0)


@pytest.mark.parametrize("merge", [True, False])
def test_columns_that_differ_in_case_only_are_none_of_delta(merge: bool, tmp_path: Path) -> None:
    twins = Tab("T", (Col("ID", "INT", 4, key=1), Col("V", "INT", 4), Col("v", "INT", 4)))
    builder = LogBuilder(tables=(twins,))
    builder.unit().insert(twins, (1, 2, 3))
    how = ["--names", "exact", *(["--merge"] if merge else [])]
    refused(tmp_path / "lake", words(tmp_path, builder), "LR3005", *how)


def test_a_table_that_a_user_names_is_not_renamed(tmp_path: Path) -> None:
    """As ``merge_batch`` names it: what the library would take for another path is refused."""
    assert DeltaFolder(tmp_path).table("", "a b").path == tmp_path / "a b"
    with pytest.raises(UsageError, match="%27"):
        DeltaFolder(tmp_path).table("", "a%27b")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (DeltaError("Unable to copy: No space left on device (os error 28)"), "No space left on"),
        (OSError("Generic LocalFileSystem error: Denied (os error 13)"), "Permission denied: "),
        (PermissionError(13, "Cannot create directory '/x'"), "Cannot create directory '/x'; "),
    ],
)
def test_an_error_of_the_system_is_none_of_ours(
    error: Exception, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Libraries tell of a full disk by texts of their own."""
    builder, out = LogBuilder(), tmp_path / "lake"
    builder.unit().insert(ACCT, acct(1))
    log = words(tmp_path, builder)

    def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(deltalake, "write_deltalake", fails)
    refused(out, log, f"LR1006 found {told}")
    monkeypatch.undo()
    assert lake(log, out, "delta") == 0


def test_one_run_at_a_time(tmp_path: Path) -> None:
    """Two that begin at the same marks would both append what is new."""
    builder, out = LogBuilder(), tmp_path / "lake"
    builder.unit().insert(ACCT, acct(1))
    log = words(tmp_path, builder)
    out.mkdir()
    with alone_in(out):
        refused(out, log, "LR4004")
    assert lake(log, out, "delta") == 0


def refused(folder: Path, log: list[str], code: str, *more: str) -> None:
    from _pytest.capture import MultiCapture, SysCapture

    capture = MultiCapture(in_=None, out=SysCapture(1), err=SysCapture(2))
    capture.start_capturing()
    try:
        exit_code = lake(log, folder, "delta", *more)
        text = capture.readouterr().err
    finally:
        capture.stop_capturing()
    assert exit_code in (8, 12)
    assert code in text


def test_what_a_lake_cannot_follow_is_refused(tmp_path: Path) -> None:
    builder, out = LogBuilder(), tmp_path / "lake"
    builder.unit().insert(ACCT, acct(1))
    log = words(tmp_path, builder)
    refused(out, log, "LR1001", "--merge", "--authid", "CLERK")
    refused(out, log, "LR1001", "--include-aborted")
    refused(out, log, "LR1001", "--initial", str(tmp_path))
    assert lake(log, out, "delta") == 0
    refused(out, log, "LR4005", "--merge")
    other = LogBuilder(system="DB2Q")
    other.unit().insert(ACCT, acct(1))
    refused(out, words(tmp_path, other, "o"), "LR4005")
    wide = replace(ACCT, columns=(Col("ID", "INT", 8, key=1), *ACCT.columns[1:]))
    wider = LogBuilder(tables=(wide,))
    wider.unit().insert(ACCT, acct(1))
    wider.unit().insert(wide, acct(2))
    del wider.changes[0]
    refused(out, words(tmp_path, wider, "w"), "LR4006")
    keyless = replace(ACCT, columns=(replace(ACCT.columns[0], key=0), *ACCT.columns[1:]))
    bare = LogBuilder(tables=(keyless,))
    bare.unit().insert(keyless, acct(1))
    refused(tmp_path / "bare", words(tmp_path, bare, "b"), "LR3013", "--merge")
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "notes.txt").write_text("mine", encoding="utf-8")
    refused(strange, log, "LR1002")
    assert main(["export", *log, "--merge", "--out", str(tmp_path / "x")]) == 12


def test_marks_are_read_as_they_were_written() -> None:
    mark = LakeMark("00DECBEB722CB1800000", "logmaster DB2P", "{}", ("00A1/1",))
    assert LakeMark.of(mark.text()) == mark


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_refusal_the_folder_can_be_used(tmp_path: Path, kind: str) -> None:
    """A library may have made its catalog before a table is refused."""
    keyless = replace(ACCT, columns=(replace(ACCT.columns[0], key=0), *ACCT.columns[1:]))
    bare = LogBuilder(tables=(keyless,))
    bare.unit().insert(keyless, acct(1))
    log, out = words(tmp_path, bare), tmp_path / "lake"
    assert lake(log, out, kind, "--merge") == 8
    assert lake(log, out, kind) == 0
    assert table(out, kind, "testown", "acct").num_rows == 1
