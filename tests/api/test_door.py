"""The library's door: the example of the docs on the bundled log, and the refusals that it shares
with the command line."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from datetime import datetime
from inspect import signature
from pathlib import Path

import pyarrow as pa
import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.errors import LogReplayError, Refusal, UsageError
from replay.targets import target_named
from sqlgen.errors import CodedError
from sqlgen.render_options import RenderOptions

FILM = "SAKILA.FILM"


@pytest.fixture(scope="module")
def log(sakila: Path) -> Iterator[replay.Log]:
    with replay.open_log(control=sakila / "sakila.ctl", data=sakila / "sakila.dat.gz") as opened:
        yield opened


def test_notebook(log: replay.Log, sakila: Path, tmp_path: Path) -> None:
    assert [f"{t.schema}.{t.name}" for t in log.tables][3] == FILM
    assert log.tables[3].key == ("FILM_ID",)
    assert log.describe()["source"] == "logmaster"

    work = log.select(tables="SAKILA.*", until="00DECC12CECE80900000")
    changes = work.changes().read_all()
    redo = work.redo().write(tmp_path / "redo")
    undo = work.undo(cascade="all", schema="none").write(tmp_path / "undo")
    data = work.export("parquet").write(tmp_path / "data")
    assert len(changes) == redo.tally.statements == data.tally.statements == 19_549
    assert undo.exit_code == 0
    told = log.select(units="000000000000A1B2DC19").undo().write(tmp_path / "untold")
    assert told.exit_code == 4
    assert "no foreign keys are known" in told.manifest["warnings"][0]
    with pytest.raises(UsageError, match="LR1001 --from-position is higher"):
        log.select(from_position="F" * 20, until="0" * 20)
    with pytest.raises(UsageError, match="LR1001 --from-time is later"):
        log.select(from_time="2024-03-16", until_time="2024-03-15")
    with pytest.warns(UserWarning, match=r"nothing is left .*the log goes from commit position"):
        assert log.select(until="0" * 20).changes().read_all().num_rows == 0
    with pytest.warns(UserWarning, match=r"nothing is left .*--exclude-table \* leaves out"):
        assert log.select(exclude_tables="*").changes().read_all().num_rows == 0


def test_questions_of_a_notebook(sakila_small: Path) -> None:
    """A folder names the log; words are those of the command line, and times are times."""
    eight = datetime(2024, 3, 15, 8, 1)
    with replay.open_log(sakila_small / "small.ctl") as log:
        assert repr(log) == "<Log logmaster DB2P: 1 data file, 11 tables>"
        work = log.select(user="CLERK0", until_time=eight, table="SAKILA.*")
        assert (
            work.selection
            == log.select(
                authids="CLERK0", until_time="2024-03-15 08:01:00", tables="SAKILA.*"
            ).selection
        )
        changes = work.to_arrow()
        assert 0 < len(changes) == len(work.to_polars()) == len(work.to_pandas())
        assert pa.RecordBatchReader.from_stream(work).read_all() == changes
        units = work.units().to_pylist()
        assert sum(u["changes"] for u in units if u["state"] == "committed") == len(changes)
        redo = [
            line
            for line in work.statements(dialect="db2")
            if line.startswith(("INS", "UPD", "DEL"))
        ]
        undone = work.statements("undo", cascade="non-conflicting", schema="none")
        undo = [line for line in undone if line.startswith(("INS", "UPD", "DEL"))]
        assert (len(redo), len(undo) > 0) == (len(changes), True)
        of_host = [line for line in work.statements() if line.startswith(("INS", "UPD", "DEL"))]
        assert (len(of_host), of_host[0].endswith(";")) == (len(changes), True)
        found = log.whatif(user="CLERK0", schema="none")
        assert f"undo {sakila_small}/small.ctl --user CLERK0 --cascade all" in str(found)
        assert len(log.graph(schema="none").picture["units"]["name"]) == 36
        assert "CREATE TABLE sakila.customer (" in str(log.ddl(table="CUSTOMER"))
        assert log.sql("SELECT count(*) FROM units", user="CLERK0")[0].to_pylist() == [8]
        assert "<table>" in log.report("summary", table="CUSTOMER")._repr_html_()
        assert log.state(eight).at.text == "2024-03-15 08:01:00"
        with pytest.raises(TypeError, match=r"'usr' \(did you mean user\?\)"):
            log.select(usr="CLERK0")  # type: ignore[call-arg]
        with pytest.raises(UsageError, match="found user and authids; expected one of them"):
            log.select(user="A", authids="B")
    assert {"table", "user", "from_time"} <= set(signature(replay.Log.select).parameters)
    with pytest.raises(AttributeError) as misspelt:
        replay.open_logs  # noqa: B018
    assert misspelt.value.name == "open_logs"


def test_notebook_with_a_database(sakila: Path, sakila_small: Path, tmp_path: Path) -> None:
    target = target_named("duckdb")
    control, data = sakila_small / "small.ctl", sakila_small / "small.dat"
    script, state, last = tmp_path / "tables.sql", tmp_path / "initial", tmp_path / "final"
    named = ["--control", str(control), "--data", str(data), "--out", str(script)]
    assert main(["ddl", *named, "--dialect", "duckdb"]) == 0
    with replay.open_log(control=control, data=data) as log, target.scratch(None) as url:
        target.run_scripts(url, [script])
        for folder, source in ((state, sakila / "initial"), (last, sakila_small / "final")):
            folder.mkdir()
            for table in log.tables:
                (file,) = source.glob(f"{table.name.lower()}.csv*")
                (folder / file.name).write_bytes(file.read_bytes())
        target.load_state(url, "sakila", state)
        everything = log.select()
        plan = everything.replay(url, commit_every=10)
        assert "units of recovery with" in str(plan)
        assert plan.exit_code == 0
        assert not replay.verify(url, last, target_schema="sakila")
        done = plan.apply()
        assert (done.exit_code, done.units > 0) == (0, True)
        plan.close()
        same = everything.verify(url, state)
        assert same, str(same)
        assert same.findings["same"]
        assert "backward" in str(log.select(until="0" * 20).replay(url))
        with pytest.raises(UsageError, match="LR1001 found 2 ends of a replay"):
            log.select(until="0" * 20).replay(url, until_mark="x")
        with pytest.raises(UsageError, match="LR1001 found from_position in a selection"):
            log.select(from_position="0" * 20).replay(url)
        with pytest.raises(UsageError, match="LR1001 found --ri skip"):
            log.select(ri="skip").verify(url, state)
        assert replay.verify(url, state, target_schema="sakila").exit_code == 8


def test_changes_come_in_commit_order(log: replay.Log) -> None:
    reader = log.select().changes()
    assert isinstance(reader, pa.RecordBatchReader)
    about = json.loads(reader.schema.metadata[b"logreplay"])
    table = reader.read_all()
    names = ("commit_lrsn", "urid", "member", "sequence")
    keys = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys) == 19_549
    assert about["balance"]["read"] == 22_811
    assert about["quarantined_units"] == []
    first = table.slice(0, 1).to_pylist()[0]
    assert (first["table"], first["op"]) == ("SAKILA.RENTAL", "update")
    assert json.loads(first["before"])["return_date"] is None
    assert json.loads(first["after"])["return_date"] == "2024-03-15 08:00:02.326775"


def test_changes_of_one_table_have_its_types(log: replay.Log) -> None:
    chosen = log.select(tables="SAKILA.*")
    film = chosen.changes(FILM).read_all()
    whole = chosen.changes().read_all()
    mine = whole.filter(pa.compute.equal(whole["table"], FILM))
    assert len(film) == len(mine) > 0
    assert film["log_record"] == mine["log_record"]
    after = film.schema.field("after").type
    assert after.field("film_id").type == pa.int32()
    assert pa.types.is_decimal(after.field("rental_rate").type)
    inserts = film.filter(pa.compute.equal(film["op"], "insert"))
    assert inserts["before"].null_count == len(inserts)
    with pytest.raises(UsageError, match="LR1004"):
        chosen.changes("SAKILA.NONE")


def test_memory_of_changes_does_not_grow_with_the_log(log: replay.Log) -> None:
    batches = list(log.select().changes(records_per_file=1000))
    assert max(len(batch) for batch in batches) <= 8192
    assert len(batches) > 10


#: A database that is not there: what is wrong in the words is said before anything is opened.
NOWHERE = "sqlite:///nowhere.db"

REFUSED: list[tuple[str, Callable[[replay.Log], object], list[str]]] = [
    ("LR1004", lambda log: log.select(tables="NO.*"), ["--table", "NO.*"]),
    ("LR1004", lambda log: log.select(tables=[FILM, "NO.*"]).redo(),
     ["--table", FILM, "--table", "NO.*"]),
    ("LR1004", lambda log: log.select(exclude_tables="NO.*").redo(), ["--exclude-table", "NO.*"]),
    ("LR1004", lambda log: log.select(columns="NONE").redo(), ["--columns", "NONE"]),
    ("LR1001", lambda log: log.select(from_position="0" * 19 + "2", until="0" * 19 + "1"),
     ["--from-position", "0" * 19 + "2", "--until-position", "0" * 19 + "1"]),
    ("LR1001", lambda log: log.select(from_time="2024-03-16", until_time="2024-03-15"),
     ["--from-time", "2024-03-16", "--until-time", "2024-03-15"]),
    ("LR1001", lambda log: log.select(until="0" * 40), ["--until-position", "0" * 40]),
    ("LR1003", lambda log: log.select(where="before.nothing >"), ["--where", "before.nothing >"]),
    ("LR3006", lambda log: log.select(exclude_columns="FILM_ID").redo(),
     ["--exclude-columns", "FILM_ID"]),
    ("LR3013", lambda log: log.select().redo(upsert=True), ["--upsert"]),
    ("LR1001", lambda log: log.select(ri="skip", tables=FILM).redo(upsert=True),
     ["--upsert", "--ri", "skip", "--table", FILM]),
    ("LR1001", lambda log: log.select(ri="skip").redo(dialect="duckdb"),
     ["--ri", "skip", "--dialect", "duckdb"]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "ask", "options"), REFUSED)
def test_both_doors_refuse_the_same(
    code: str,
    ask: Callable[[replay.Log], object],
    options: list[str],
    log: replay.Log,
    sakila: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(LogReplayError) as refused:
        ask(log)
    assert refused.value.code == code
    named = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    out = ["--out", str(tmp_path / "out"), "--engine", "local"]
    assert main(["redo", *named, *out, *options]) == refused.value.exit_code
    assert f"logreplay: {refused.value}\n" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda log: log.select().redo(names="upper"), "--names 'upper'; expected one of: auto"),
        (lambda log: log.select(ri="no"), "--ri 'no'; expected one of: apply, skip"),
        (lambda log: log.select(ops="merge"), "--op 'merge'; expected one of: delete"),
        (lambda log: log.select().undo(cascade="some"), "--cascade 'some'; expected one of: none"),
        (lambda log: log.select().export("avro"), "--format avro; expected one of: parquet, csv"),
        (lambda log: log.select().redo(nul="drop"), "--nul 'drop'; expected one of: refuse, strip"),
        (lambda log: log.select(until="12"), "found '12'; expected an LRSN"),
        (lambda log: log.select(until=b"123"), "found a position of 6 digits"),
        (lambda log: log.select(units=[(b"12", None)]), "found the id of a unit of 4 digits"),
        (lambda log: log.select(until=3), "found until 3; expected text or bytes or None"),
        (lambda log: log.select(include_aborted=True).changes(), "rolled-back work"),
        (lambda log: log.select().redo(records_per_file=0), "--records-per-file 0; expected a num"),
        (lambda log: log.select().redo(commit_every=-1), "--commit-every -1; expected a number"),
        (lambda log: log.select().export("csv", csv_null="a,b"), "--csv-null 'a,b'; expected text"),
        (lambda log: log.select().replay(NOWHERE, mode="zigzag"), "--mode 'zigzag'; expected one"),
        (lambda log: log.select().replay(NOWHERE, enforcement="x"), "--enforcement 'x'; expected"),
        (lambda log: log.select().replay(NOWHERE, tries="7"), "found tries '7'; expected a whole"),
        (lambda log: log.select().replay(NOWHERE, commit_statements=0), "--commit-statements 0;"),
        (lambda log: log.select().replay(NOWHERE, until="12"), "found '12'; expected an LRSN"),
    ],
)  # fmt: skip
def test_words_that_no_option_has(
    log: replay.Log, ask: Callable[[replay.Log], object], message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        ask(log)
    assert refused.value.code == "LR1001"
    assert message in refused.value.message


@pytest.mark.parametrize("ccsids", [{"Q": 37}, {"E": -1}])
def test_code_pages_are_checked(sakila: Path, ccsids: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="LR1001 found code page .* expected E, A or U"):
        replay.open_log(control=sakila / "sakila.ctl", data=(), ccsids=ccsids)


def test_a_target_is_no_file(log: replay.Log) -> None:
    """A URL that is spelled wrong is told as one: it was looked for among the files."""
    with pytest.raises(LogReplayError) as refused:
        log.select().replay("sqlite:nowhere.db")
    assert refused.value.code != "LR2001"


def test_what_is_asked_for_prints_in_a_line(log: replay.Log) -> None:
    assert len(repr(log.select(tables=FILM).redo())) < 400
    assert repr(log.select(tables=FILM)).startswith(f"<Selected of {log!r}: {{'tables': ")
    assert len(repr(log.select(tables=FILM))) < 200


def test_a_choice_that_is_spelled_wrong_has_the_right_one(log: replay.Log) -> None:
    with pytest.raises(LogReplayError, match=r"found report 'sumary'.*\(did you mean summary\?\)"):
        log.report("sumary")
    with pytest.raises(LogReplayError, match=r"\(did you mean undo\?\)"):
        list(log.select().statements("undoo"))


def test_keywords_that_nobody_knows_are_no_keywords(log: replay.Log) -> None:
    for ask in (
        lambda: log.select(tabel=FILM),
        lambda: log.select().redo(column="X"),
        lambda: log.select().replay("sqlite:///x", until_lrsn="1"),
    ):
        with pytest.raises(TypeError, match="unexpected keyword"):
            ask()


def test_write_script_checks_what_the_command_line_checks(sakila: Path, tmp_path: Path) -> None:
    control, data, out = sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], tmp_path / "out"

    def refused(code: str, **options: object) -> None:
        with pytest.raises(CodedError) as error:
            replay.write_script(control, data, out, **options)
        assert error.value.code == code
        assert not out.exists()

    refused("LR1001", mode="UNDO")
    refused("LR1004", selection=Selection(tables=("NO.*",)))
    refused("LR1004", options=ScriptOptions(render=RenderOptions(columns=("NONE",))))
    low, high = bytes(9) + b"\1", bytes(9) + b"\2"
    refused("LR1001", selection=Selection(from_position=high, until_position=low))
    refused("LR1001", selection=Selection(until_position=b"123"))
    refused("LR1001", selection=Selection(until_time=b"123"))
    short = Selection(until_position=bytes.fromhex("DECC12CECE80"))
    whole = Selection(until_position=bytes.fromhex("00DECC12CECE80000000"))
    written = replay.write_script(control, data, out, selection=short)
    again = replay.write_script(control, data, tmp_path / "again", selection=whole)
    assert written.manifest["scripts"] == again.manifest["scripts"]
    assert json.loads(json.dumps(written.manifest)) == written.manifest


def test_what_a_family_cannot_know_is_refused() -> None:
    folder = Path(__file__).resolve().parents[2] / "fixtures" / "soliddb"
    with (
        replay.open_log(source="soliddb", log=folder / "syslog.csv", catalog=folder) as log,
        pytest.raises(Refusal, match="LR3020 found --user"),
    ):
        log.select(authids="X")


def test_answers_keep_whole_numbers_and_say_what_they_lack(log: replay.Log) -> None:
    work = log.select(table="SAKILA.LOYALTY_CARD")
    frame = work.to_pandas("SAKILA.LOYALTY_CARD")
    points = [row["points"] for row in frame["after"] if row is not None]
    assert all(type(number) is int for number in points)
    assert -4611686018427387905 in points or -4611686018427387904 in points
    assert frame["after"].to_list() == work.to_arrow("SAKILA.LOYALTY_CARD")["after"].to_pylist()
    state = log.state("end")
    assert state.warnings[-1].startswith("only rows that the log knows")
    assert re.search(r"^SAKILA.CUSTOMER: \d+ rows$", str(state), re.MULTILINE)


def test_a_log_that_was_closed(sakila: Path) -> None:
    with replay.open_log(sakila / "sakila.ctl") as log:
        work = log.select()
    for ask in (work.units, work.to_arrow, work.statements, lambda: log.report("summary")):
        with pytest.raises(UsageError, match="found a log that was closed"):
            ask()


def test_units_that_are_set_aside_are_named(log: replay.Log, incomplete: Path) -> None:
    """What is missing is not missing in silence."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log.select(tables=FILM).changes()
    (control,), (data,) = incomplete.glob("*.ctl"), incomplete.glob("*.dat*")
    with replay.open_log(control=control, data=data) as other:
        with pytest.warns(UserWarning, match="96 units of recovery. Their changes") as told:
            reader = other.select().changes()
        assert told[0].filename == __file__  # where the program asked
        with pytest.warns(UserWarning, match="96 units of recovery. Their statements are not here"):
            assert list(other.select().statements())
        about = json.loads(reader.schema.metadata[b"logreplay"])
        units = {entry["unit"].partition("/")[0] for entry in about["quarantined_units"]}
        assert units
        assert not units & set(reader.read_all()["urid"].to_pylist())
