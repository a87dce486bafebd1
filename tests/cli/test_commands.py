"""The command line as a user meets it: exit codes, messages, folders, selection."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay.cli import inspect_commands, main
from tests.support import luwbuilder, solidbuilder
from tests.support.logbuilder import ACCT, LogBuilder, acct
from tests.support.places import ROOT
from tests.support.words import of_log_master

#: Nobody knows of keys, and it is known that there are none.
NO_KEYS = ["--schema", "none"]
ACCT_ROW = acct(1)
EXCEPT = ["--except", "A1B2DC19".rjust(20, "0")]

VERSIONED = """ALTER TABLE SAKILA.STAFF ADD VERSIONING USE HISTORY TABLE SAKILA.FILM_TEXT;
ALTER TABLE SAKILA.STAFF DROP VERSIONING;
ALTER TABLE SAKILA.RENTAL ADD VERSIONING USE HISTORY TABLE SAKILA.PAYMENT;"""


@pytest.fixture
def small(sakila_small: Path) -> list[str]:
    return [
        *of_log_master(sakila_small / "small.ctl", sakila_small / "small.dat"),
        "--engine",
        "local",
    ]


def statements(folder: Path) -> list[str]:
    lines = "".join(path.read_text() for path in sorted(folder.glob("*.sql"))).splitlines()
    return [line for line in lines if re.match("INSERT|UPDATE|DELETE|TRUNCATE", line)]


def manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


def test_redo_writes_a_bundle(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["redo", *small, "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "log records read" in shown
    assert re.search(r"emitted +297", shown)
    about = manifest(tmp_path / "out")
    assert about["statements"] == len(statements(tmp_path / "out"))
    assert about["balance"]["closes"]
    assert [script["name"] for script in about["scripts"]] == ["0000-redo.sql"]
    assert {entry["name"] for entry in about["inputs"]} == {"small.ctl", "small.dat"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_a_folder_in_use_is_refused(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main.main(["redo", *small, "--out", str(out)]) == 0
    assert main.main(["undo", *small, "--out", str(out)]) == 12
    assert "LR1002" in capsys.readouterr().err
    assert manifest(out)["mode"] == "redo"
    assert main.main(["undo", *small, *NO_KEYS, "--out", str(out), "--overwrite"]) == 0
    assert [path.name for path in out.glob("*.sql")] == ["0000-undo.sql"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    assert main.main(["undo", *small, "--out", str(tmp_path / "mine"), "--overwrite"]) == 12
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("manifest.json", "{}"),
        ("manifest.json", '{"program": "another 1.0"}'),
        ("manifest.json", "not JSON"),
        ("thesis.txt", "x"),
        ("0000-redo.sql/notes", "x"),
    ],
)
def test_only_a_bundle_and_nothing_but_a_bundle_is_replaced(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    """Above all not the folder that the input lies in."""
    out = tmp_path / "out"
    assert main.main(["redo", *small, "--out", str(out)]) == 0
    place = out / name
    if place.parent != out:
        place.parent.unlink()
        place.parent.mkdir()
    place.write_text(text)
    assert main.main(["undo", *small, "--out", str(out), "--overwrite"]) == 12
    assert "LR1002" in capsys.readouterr().err
    assert place.read_text() == text


@pytest.fixture
def heeded() -> Iterator[None]:
    """Ctrl-C ends what runs, as it does unless these tests were started in the background of a
    shell, which has their SIGINT ignored."""
    before = {sign: signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for sign, handler in before.items():
        signal.signal(sign, handler)


@pytest.mark.parametrize(("ended_by", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_run_that_is_ended_leaves_nothing(
    small: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ended_by: signal.Signals,
    code: int,
    heeded: None,
) -> None:
    monkeypatch.setattr("replay.output.bundle.carry_out", lambda *_: os.kill(os.getpid(), ended_by))
    assert main.main(["redo", *small, "--out", str(tmp_path / "out")]) == code
    assert "interrupted" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


IN_THE_BACKGROUND = """
import os, signal, sys
from replay.cli import main
from replay.output import bundle
carry_out = bundle.carry_out
def ended(*job):
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    return carry_out(*job)
bundle.carry_out = ended
sys.exit(main.main(sys.argv[2:]))
"""


@pytest.mark.parametrize(("ended_by", "code"), [("SIGINT", 0), ("SIGTERM", 143)])
def test_in_the_background_only_sigterm_ends_a_run(
    small: list[str], tmp_path: Path, ended_by: str, code: int
) -> None:
    """A shell has SIGINT ignored for what it runs in the background: Ctrl-C is meant for others."""
    run = subprocess.run(
        [sys.executable, "-c", IN_THE_BACKGROUND, ended_by, "redo", *small]
        + ["--out", str(tmp_path / "out")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert run.returncode == code, run.stderr
    assert ("interrupted" in run.stderr) == (code == 143)
    assert [path.name for path in tmp_path.iterdir()] == (["out"] if code == 0 else [])


def test_ranges_are_inclusive_and_meet(small: list[str], tmp_path: Path) -> None:
    assert main.main(["redo", *small, "--out", str(tmp_path / "all")]) == 0
    text = (tmp_path / "all" / "0000-redo.sql").read_text()
    commits = re.findall(r"commit-lrsn=([0-9A-F]{20})", text)
    assert commits == sorted(commits)
    middle = commits[len(commits) // 2]
    following = f"{int(middle, 16) + 1:020X}"
    assert main.main(["redo", *small, "--out", str(tmp_path / "low"), "--until-lrsn", middle]) == 0
    assert (
        main.main(["redo", *small, "--out", str(tmp_path / "high"), "--from-lrsn", following]) == 0
    )
    assert statements(tmp_path / "low") + statements(tmp_path / "high") == statements(
        tmp_path / "all"
    )
    assert manifest(tmp_path / "low")["last_commit_lrsn"] == middle
    short = middle[2:14]
    if middle == f"00{short}000000":
        assert (
            main.main(["redo", *small, "--out", str(tmp_path / "short"), "--until-lrsn", short])
            == 0
        )
        assert statements(tmp_path / "short") == statements(tmp_path / "low")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ["--ur", "A1B2DC19".rjust(20, "0") + "/2"],
            4,
            "--ur 000000000000A1B2DC19/2 leaves out 297 records",
        ),
        (["--authid", "NOPE", "--authid", "NOR"], 4, "--user NOPE NOR leaves out 297 records"),
        (["--member", "9", "--table", "*.FILM"], 4, "--member 9 leaves out"),
        (
            ["--authid", "CLERK*", "--from-time", "2030-01-01"],
            4,
            "before the range (--from-*) leaves out 297 records",
        ),
        (["--until-time", "2001-01-01"], 4, "after the range (--until-*) leaves out 297"),
        (["--until-lrsn", "0" * 20], 4, "after the range (--until-*) leaves out 297"),
        (["--table", "*.FILM", "--op", "truncate"], 4, "operation not selected (--op) leaves out"),
        (["--table", "*.FILM", "--where", "film_id = -1"], 4, "does not satisfy --where leaves"),
        (["--exclude-table", "*"], 4, "--exclude-table * leaves out 297 records"),
        (
            ["--table", "*.FILM", "--exclude-table", "*.FILM*"],
            4,
            "--table *.FILM --exclude-table *.FILM* leaves out 297 records",
        ),
    ],
)
def test_selections_that_leave_nothing(
    small: list[str], tmp_path: Path, options: list[str], code: int, said: str | None
) -> None:
    """Nothing comes of them, and the exit code says so, with the reason and what the log has."""
    for command in ("undo", "redo", "export"):
        out = tmp_path / command
        assert main.main([command, *small, *NO_KEYS, "--out", str(out), *options]) == code
        assert statements(out) == []
        (warning,) = manifest(out)["warnings"]
        assert said in warning
        assert (
            "the log goes from commit position 00DECBEAE1CD21300000 (2024-03-15 08:00:06.304275)"
            " to 00DECBEB722CB1800000 (2024-03-15 08:02:37.690648)" in warning
        )


def test_history_tables_are_left_out_and_counted(small: list[str], tmp_path: Path) -> None:
    schema = tmp_path / "db2.sql"
    schema.write_text(VERSIONED)
    keys = ["--schema", str(schema), "--schema-dialect", "db2"]
    made = {}
    for name, words in {
        "whole": keys,
        "said": [*keys, "--history", "apply"],
        "stated": [*keys, "--history", "skip"],
        "named": ["--history", "skip=payment"],
        "excluded": ["--exclude-table", "PAYMENT"],
    }.items():
        out = tmp_path / name
        code = 4 if name == "whole" else 0
        assert main.main(["redo", *small, "--out", str(out), *words]) == code
        made[name] = statements(out)
    assert made["stated"] == made["named"] == made["excluded"] != made["whole"] == made["said"]
    (warning,) = manifest(tmp_path / "whole")["warnings"]
    assert "SAKILA.PAYMENT is the history table of SAKILA.RENTAL" in warning
    others = manifest(tmp_path / "excluded")["balance"]["skipped"]["table not selected"]
    left = "row of a history table, which the database writes (--history skip)"
    assert manifest(tmp_path / "stated")["balance"]["skipped"][left] == others > 0


@pytest.mark.parametrize(
    "options",
    [
        ["--authid", "NOPE"],
        ["--until-time", "2001-01-01"],
        ["--table", "*.FILM", "--where", "film_id = -1"],
        ["--exclude-table", "*"],
    ],
)
def test_a_graph_of_nothing(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    out = tmp_path / "graph.json"
    said = ["--out", str(out), "--format", "json"]
    assert main.main(["graph", *small, *NO_KEYS, *said, *options]) == 4
    assert "nothing is left to be written" in capsys.readouterr().err
    (warning,) = json.loads(out.read_text())["warnings"]
    assert "the log goes from commit position 00DECBEAE1CD21300000" in warning


@pytest.mark.parametrize(
    "command",
    [
        ["history", "--where", "film_id = 1"],
        ["history", "--table", "FILM", "--key", "1"],
        ["state", "--at", "end"],
        ["state", "--diff", "start", "end"],
        ["report", "summary"],
        ["ddl"],
    ],
)
def test_no_table_is_left_to_look_at(
    small: list[str], capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    named = small[:4] if command == ["ddl"] else [*small, *NO_KEYS]
    assert main.main([*command, *named, "--exclude-table", "*"]) == 4
    printed = capsys.readouterr()
    assert "FILM_ID" not in printed.out.upper().replace("FILM_ID = 1", "")
    assert "nothing" in printed.out + printed.err or "leave no table" in printed.err


def test_a_replay_of_nothing(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shop.db").touch()
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    for apply in ([], ["--apply"]):
        assert main.main(["replay", *small, "--to", url, "--exclude-table", "*", *apply]) == 4
        assert "--exclude-table * leaves out 297 records" in capsys.readouterr().err


def test_all_of_a_log_without_changes_is_no_mistake(tmp_path: Path) -> None:
    log = LogBuilder([ACCT])
    log.unit(UORDISP="A").insert(ACCT, ACCT_ROW, LOGRECDISP="A")
    control, data = log.write(tmp_path)
    named = ["--control", str(control), "--data", *map(str, data), "--engine", "local"]
    assert main.main(["redo", *named, "--out", str(tmp_path / "all")]) == 0
    assert main.main(["redo", *named, "--out", str(tmp_path / "one"), "--op", "insert"]) == 4
    (warning,) = manifest(tmp_path / "one")["warnings"]
    assert "unit of recovery aborted leaves out 1 record;" in warning
    assert "the log has no committed unit" in warning


def test_except_that_excepts_nothing(small: list[str], tmp_path: Path) -> None:
    words = ["redo", *small, *NO_KEYS, "--out", str(tmp_path / "out"), "--except", "authid=NOPE"]
    assert main.main(words) == 4
    (warning,) = manifest(tmp_path / "out")["warnings"]
    assert "--except takes no change" in warning


@pytest.mark.parametrize(
    ("command", "options"),
    [("undo", []), ("undo", ["--ur", "A1B2DC19".rjust(20, "0")]), ("redo", EXCEPT)]
    + [("export", EXCEPT)],
)
def test_who_tells_of_no_foreign_keys_is_told(
    small: list[str],
    sakila_small: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: str,
    options: list[str],
) -> None:
    words = [command, *small, "--overwrite", "--out", str(tmp_path / "out"), *options]
    assert main.main(words) == 4
    assert "warning: no foreign keys are known" in capsys.readouterr().err
    assert "--schema none" in manifest(tmp_path / "out")["warnings"][0]
    for keys in (NO_KEYS, ["--schema", str(sakila_small / "schema-ri.sql")]):
        main.main([*words, *keys])
        assert "no foreign keys are known" not in capsys.readouterr().err
        assert "no foreign keys" not in " ".join(manifest(tmp_path / "out")["warnings"])


@pytest.mark.parametrize(("schema", "told"), [("schema.sql", True), ("schema-ri.sql", False)])
def test_a_schema_without_foreign_keys_is_a_note(
    small: list[str], sakila: Path, capsys: pytest.CaptureFixture[str], schema: str, told: bool
) -> None:
    words = ["whatif", *small, "--ur", "A1B2DC19", "--schema", str(sakila / schema)]
    assert main.main(words) in (0, 4)
    assert ("note: the schema (--schema) states no foreign key" in capsys.readouterr().err) is told


@pytest.mark.parametrize("command", ["undo", "redo"])
def test_a_schema_of_another_database_does_not_say_that_there_are_no_foreign_keys(
    small: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    other = tmp_path / "other.sql"
    other.write_text(
        "CREATE TABLE harbor.berth (id integer PRIMARY KEY);"
        " CREATE TABLE harbor.call (id integer PRIMARY KEY, berth integer REFERENCES harbor.berth)"
    )
    words = [command, *small, "--out", str(tmp_path / "out"), "--schema", str(other)]
    assert main.main(words) == 4
    told = capsys.readouterr().err
    assert "warning: the schema (--schema) states nothing of the tables of the log" in told
    assert "SAKILA.CUSTOMER" in told
    assert ("warning: no foreign keys are known" in told) == (command == "undo")


def test_redo_asks_for_no_foreign_keys(small: list[str], tmp_path: Path) -> None:
    assert main.main(["redo", *small, "--out", str(tmp_path / "out")]) == 0
    assert manifest(tmp_path / "out")["warnings"] == []


def test_a_graph_without_foreign_keys(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for form in ("json", "html"):
        out = tmp_path / form
        words = ["graph", *small, "--format", form, "--ur", "A1B2DC19".rjust(20, "0")]
        assert main.main([*words, "--out", str(out)]) == 4
        assert "warning: no foreign keys are known" in capsys.readouterr().err
        assert "no foreign keys are known" in out.read_text()
        assert main.main([*words, "--out", str(out), "--overwrite", *NO_KEYS]) == 0
        capsys.readouterr()
        assert "no foreign keys are known" not in out.read_text()


def test_the_same_value_twice_is_one(small: list[str], tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "out"), "--dialect", "mysql", "--dialect", "mysql"]
    assert main.main(["redo", *small, *out]) == 0


def test_files_given_several_times_all_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LogBuilder([ACCT])
    for number in range(3):
        log.unit().insert(ACCT, acct(number))
    control, data = log.write(tmp_path, files=3)
    named = ["redo", "--control", str(control), "--engine", "local"]
    together, apart = tmp_path / "together", tmp_path / "apart"
    assert main.main([*named, "--data", *map(str, data), "--out", str(together)]) == 0
    each = [word for path in data for word in ("--data", str(path))]
    assert main.main([*named, *each, "--out", str(apart)]) == 0
    assert len(statements(apart)) == 3
    assert statements(apart) == statements(together)
    again = ["--data", f"{data[0].parent}/./{data[0].name}", "--out", str(tmp_path / "again")]
    assert main.main([*named, *each, *again]) == 12
    assert "expected each file once" in capsys.readouterr().err


def test_rolled_back_work_is_shown_as_comments(small: list[str], tmp_path: Path) -> None:
    assert main.main(["redo", *small, "--out", str(tmp_path / "all")]) == 0
    assert main.main(["redo", *small, "--out", str(tmp_path / "shown"), "--include-aborted"]) == 0
    assert statements(tmp_path / "shown") == statements(tmp_path / "all")
    assert (tmp_path / "shown" / "0000-redo.sql").read_text().count(
        "-- rolled back, not applied: "
    ) > 20


@pytest.mark.parametrize("source", ["soliddb", "db2luw"])
def test_a_log_of_which_no_table_is_described_asks_for_the_catalog(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str
) -> None:
    if source == "soliddb":
        rows = solidbuilder.LogBuilder()
        unit = rows.begin()
        unit.insert(solidbuilder.CUSTOMER, (1, "Ada", None, "1.00", "2001-01-01 00:00:00", 5, None))
        unit.commit()
        files = [
            "--log",
            str(solidbuilder.write_rows(tmp_path / "log.csv", rows.rows)),
            "--catalog",
            str(tmp_path),
        ]
        solidbuilder.write_catalog(tmp_path, [])
    else:
        table = luwbuilder.Tab(2, 5, "APP", "T", (luwbuilder.Col("ID", "INTEGER"),))
        records = luwbuilder.LogBuilder()
        work = records.begin()
        work.insert(table, (1,), (4, 0))
        work.commit()
        (tmp_path / "x.log").write_bytes(records.bytes())
        files = ["--log", str(tmp_path / "x.log")]
    out = ["--out", str(tmp_path / "out"), "--engine", "local"]
    for command in (
        ["redo", *out],
        ["undo", *out],
        ["export", *out],
        ["migrate", *out],
        ["ddl"],
        ["ddl", "--changes", "redo"],
    ):
        assert main.main([command[0], "--source", source, *files, *command[1:]]) == 12
        message = capsys.readouterr().err
        assert "LR1004 found no description of any table of the log" in message
        assert "--catalog" in message
        assert "--exclude-table" not in message


def test_times(small: list[str], tmp_path: Path) -> None:
    assert main.main(["redo", *small, "--out", str(tmp_path / "all")]) == 0
    text = (tmp_path / "all" / "0000-redo.sql").read_text()
    last = re.findall(r"committed=(\S+ \S+)", text)[-1]
    assert main.main(["redo", *small, "--out", str(tmp_path / "until"), "--until-time", last]) == 0
    assert statements(tmp_path / "until") == statements(tmp_path / "all")
    assert (
        main.main(
            [
                "redo",
                *small,
                "--out",
                str(tmp_path / "day"),
                "--from-time",
                last[:10],
                "--until-time",
                last[:10],
            ]
        )
        == 0
    )
    assert statements(tmp_path / "day") == statements(tmp_path / "all")
    assert (
        main.main(["redo", *small, "--out", str(tmp_path / "minute"), "--until-time", last[:16]])
        == 0
    )
    assert statements(tmp_path / "minute") == statements(tmp_path / "all")


def test_a_reader_that_has_read_enough(sakila_small: Path) -> None:
    """Output that nobody takes any more (as behind ``| head``) is no defect, and not whole."""
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    program = "from replay.cli.main import main; raise SystemExit(main())"
    command = [sys.executable, "-c", program, "report", "audit", *log, "--engine", "local"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        said = process.stderr.read().decode()
        assert said == ("logreplay: the reader of the output closed it; the rest was not written\n")
        assert process.wait() == 12


def test_upsert_needs_keys_and_nothing_else(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "out"), "--upsert"]
    assert main.main(["redo", *small, *out]) == 12
    said = capsys.readouterr().err
    assert "LR3013 found SAKILA.KIOSK_SCAN without a key" in said
    assert "--exclude-table SAKILA.KIOSK_SCAN" in said
    for option, value in (
        ("--where-columns", "guard"),
        ("--ri", "skip"),
        ("--triggers", "skip"),
        ("--cascade", "force"),
    ):
        assert main.main(["undo", *small, *out, option, value]) == 12
        assert f"LR1001 found --upsert with {option} {value}; expected " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    shown = ["--exclude-table", "SAKILA.KIOSK_SCAN", "--include-aborted", "--trace"]
    assert main.main(["redo", *small, *out, *shown]) == 0
    lines = (tmp_path / "out" / "0000-redo.sql").read_text().splitlines()
    kinds = re.compile(
        r"(-- (logreplay|unit|rolled back, not applied: (INSERT|UPDATE|DELETE)) |SET"
        r" |BEGIN;|COMMIT;|INSERT INTO |DELETE FROM )"
    )
    assert [line for line in lines if not kinds.match(line)] == []
    assert any(
        line.startswith("-- rolled back, not applied: INSERT") and "ON CONFLICT" in line
        for line in lines
    )
    about = manifest(tmp_path / "out")
    assert about["options"]["upsert"] is True
    assert about["statements"] == len(statements(tmp_path / "out"))


def test_what_cannot_be_written_is_no_defect(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    named = small[: small.index("--engine")]
    for command in (["redo", *small], ["ddl", *named]):
        assert main.main([*command, "--out", str(tmp_path / "file" / "under")]) == 12
        said = capsys.readouterr().err
        assert re.search(f"LR1006 found .*{tmp_path}.*; expected ", said)
        assert "defect" not in said
    assert main.main(["ddl", *named, "--out", str(tmp_path / "none" / "x.sql")]) == 12
    assert "LR1006 found no folder" in capsys.readouterr().err
    assert main.main(["ddl", *named, "--out", str(tmp_path), "--overwrite"]) == 12
    assert "LR1002" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_is_no_defect(
    small: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    named = small[: small.index("--engine")]

    def full(error: OSError) -> None:
        def fail(*_: object) -> int:
            raise error

        monkeypatch.setitem(inspect_commands.COMMANDS, "inspect", fail)

    full(OSError(errno.ENOSPC, "No space left on device"))
    assert main.main(["inspect", *named]) == 12
    said = capsys.readouterr().err
    assert f"LR1006 found No space left on device: {tempfile.gettempdir()} (" in said
    assert "Make room there" in said
    full(OSError(errno.ECONNRESET, "Connection reset by peer"))
    assert main.main(["inspect", *named]) == 12
    assert "This is a defect" in capsys.readouterr().err


def test_upsert_sets_units_aside_that_touch_tables_without_key(
    sakila: Path, tmp_path: Path
) -> None:
    """A unit that is set aside is shown whole, with its changes of tables that upsert cannot put in
    place."""
    log = [*of_log_master(sakila / "sakila.ctl", sakila / "sakila.dat.gz"), "--engine", "local"]
    chosen = [
        "--upsert",
        "--exclude-table",
        "*.KIOSK_SCAN",
        "--columns",
        "*_ID",
        "--columns",
        "CARD_NO",
    ]
    assert main.main(["redo", *log, *chosen, "--out", str(tmp_path / "out")]) == 8
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert any("LR3013" in finding for finding in manifest["findings"]["shown"])
    assert manifest["quarantine"]["units"] > 0
    assert "ON CONFLICT" not in "".join(
        path.read_text() for path in (tmp_path / "out" / "quarantine").glob("*.sql")
    )
    assert "kiosk_scan" not in (tmp_path / "out" / "0000-redo.sql").read_text()
