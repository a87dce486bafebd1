"""How the command line behaves: examples, completion, short words on mistakes, ``--out -``, quiet
Java, and hints how to look at what a message is about."""

from __future__ import annotations

import io
import json
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import replay
from replay.cli.main import main
from replay.cli.parser import parse
from replay.cli.request import LogInput
from replay.cli.terminal import Bar
from replay.options.command_options import options_of
from replay.options.command_table import BY_NAME, GROUPS
from tests.support.places import ROOT


def named(folder: Path, name: str) -> list[str]:
    files = ["--control", str(folder / f"{name}.ctl"), "--data", str(folder / f"{name}.dat")]
    return [*files, "--engine", "local"]


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    return capsys.readouterr().out


#: What a short help of a command leaves to the long one, though it is common elsewhere.
_IN_FULL_ONLY = {
    name: {"--job", "--plan"} for name in ("sql", "migrate", "replay", "verify", "follow")
}


@pytest.mark.parametrize("command", BY_NAME)
def test_every_help_has_examples_that_are_understood(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the short one fits a screen; those of a bundled log can be pasted, so its files are
    there."""
    long = help_of(command, capsys)
    with pytest.raises(SystemExit):
        main([command, "-h"])
    short = capsys.readouterr().out
    assert len(short.splitlines()) <= 30
    assert not re.search(" …$", short, re.MULTILINE)
    listed = short.partition("options:\n")[2]
    assert all(len(line) <= 80 for line in listed.splitlines())
    known = {option.name for option in options_of(command)}
    expected = {"LOG", "--job", "--plan"} & known - _IN_FULL_ONLY.get(command, set())
    assert expected <= {line.split()[0] for line in listed.splitlines() if line.strip()}
    assert "--dialect" in short or command not in ("redo", "undo", "ddl", "migrate")
    for words in BY_NAME[command].examples:
        for text in (short, long):
            assert f"logreplay {command} {words}".rstrip() in re.sub(r" \\\n +", " ", text)
        line = shlex.split(words.partition("|")[0].partition(">")[0])
        assert parse([command, *line]).command.name == command
        assert all((ROOT / word).exists() for word in line if word.startswith("fixtures/"))


def test_commands_stand_in_groups_and_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert re.findall(r"^(\w+): ", text, re.MULTILINE) == list(GROUPS)
    assert {line.split()[0] for line in text.splitlines() if re.match("  \\w", line)} == set(
        BY_NAME
    )
    shown = re.findall(r"^  (\w+) +(.*(?:\n {4,}.*)*)", text, re.MULTILINE)
    said = {name: " ".join(what.split()) for name, what in shown}
    assert said == {one.name: one.summary for one in BY_NAME.values()}
    assert main(["help", "redo"]) == 0
    assert capsys.readouterr().out == help_of("redo", capsys)


#: Command lines (``C`` and ``D``: control and data file of a log), exit codes, and what is said.
MISTAKES = """
redoo | 2 | did you mean redo?
redo --tabel X | 2 | did you mean --table?
replay | 2 | arguments are required: --to
report sumary | 2 | did you mean summary?
redo --names lowr | 2 | did you mean lower?
graph --nul strip | 2 | unrecognized arguments: --nul
report audit --max-open 3 | 12 | found --max-open with report audit; expected report
inspect --hex | 12 | found --hex without --record
export --csv-null x --out o | 12 | expected --format csv
redo C --csv-null x --out o | 2 | (an option of export, follow)
extract C --columns x --out o | 2 | records are copied whole, byte for byte; see logreplay export
redo C --dialect postgrs --out o | 2 | did you mean postgres?
who C --group-by usr | 2 | did you mean user?
report summary C --group-by user,our | 2 | did you mean hour?
redo C --from-time yesterday --out o | 2 | expected YYYY-MM-DD
redo C --from-time 2024-03-15T08:00:00Z --out o | 12 | without a zone: times are those of the log
redo C --from-time 2024-03-15T08:00:00+02:00 --out o | 2 | without a zone or with Z for UTC
redo --out o | 12 | found no log; expected its files or its folder, as in logreplay COMMAND LOG
redo --control D --data C --out o | 12 | Are --control and --data swapped?
redo --control C --out o | 12 | found no --data; expected
redo --control . --data D --out o | 12 | the file cannot be read: Is a directory
redo . --out o | 12 | found no log in .: text.txt (not known); expected a control file
redo text.txt --out o | 12 | found no log in text.txt: text.txt (not known)
redo C text.txt.gz --out o | 12 | found no file or folder text.txt.gz
redo --control C --data text.txt --out o | 12 | expected a data record of subsystem 'DB2P'
redo C --catalog x --out o | 12 | found --catalog with --source logmaster
redo C --out . | 12 | . is not empty. Name another folder, or use --overwrite
redo C --out text.txt | 12 | text.txt is a file; --out names a folder
report summary C --out nowhere/x.txt | 12 | found no folder nowhere; expected one for x.txt
replay C --to postgresq://app@h/x | 12 | did you mean postgresql?
replay C --to postgresql://app:bad@127.0.0.1:1/x | 12 | Check host, port, database and user
replay C --to sqlite:///none.db | 12 | found no such file. Three slashes before a relative path
replay C --to postgresql:/app@h/x | 12 | begins with postgresql: without two slashes
redo C --schema postgresql:/app@h/x --out o | 12 | begins with postgresql: without two slashes
replay C --to shop | 12 | expected a URL such as postgresql://user@host/database
history C --ur FFFF | 12 | (sql LOG 'SELECT unit FROM units' shows them)
history C --table CUSTOMR --key 1 | 12 | (did you mean CUSTOMER?)
redo C --columns EMAIL --table CUSTOMER --out o | 12 | Name key columns in --columns too
redo C --schema text.txt --out o | 12 | line 1: CREATE TABLE SAKILA.CUSTOMER (ID INT PRIMRY KEY
state C --at nowhere --out o | 12 | expected a commit position (20 digits), a time
whatif C | 12 | For example --ur URID, --user NAME
whatif C --user CLERKX --schema none | 12 | report summary LOG --group-by user,job shows
sql C --query 'select x from units' | 12 | without a query lists relations and columns
sql C 'selct 1' | 12 | found a query that cannot be parsed
sql C 'drop table units' | 12 | expected one SELECT
sql 'select 1' C | 12 | LOG comes first: logreplay sql LOG 'SELECT …'
who C --changed E_MAIL | 12 | did you mean EMAIL?
who tex.txt | 12 | did you mean text.txt?
sql C -f | 2 | argument --file/-f: expected one argument
explain 4 | 12 | Exit codes: 0 done, 4 done with warnings
redo --outs x | 2 | unrecognized arguments: --outs (did you mean --out?)
redo --no-such=1 | 2 | unrecognized arguments: --no-such=1
redo --contr a | 2 | one of the arguments --out --dry-run is required
graph --until-positio=x --bac | 2 | expected an LRSN
--no-such | 2 | unrecognized arguments: --no-such
replay --to x --until_time 9:00 --aply | 2 | --aply (did you mean --until-time, --apply?)
follow --logs l --export o --metrics-port=65536 | 2 | --metrics-port: found '65536'; expected a
follow --logs l --export o --metrics-port=-1 | 2 | --metrics-port: found '-1'; expected a
redo C --from-lrsn 12 --out o | 2 | found '12'
redo C --ur xyz --out o | 2 | found 'xyz'
redo C --commit-every 0 --out o | 2 | found '0'
redo C --ccsid X=1 --out o | 2 | found 'X=1'
export C --format csv --csv-null , --out o | 2 | without commas, quotes and control characters
export C --format csv --csv-null 'a"' --out o | 2 | without commas, quotes and control
redo --control no.ctl --data no.dat --out o | 12 | LR2001
redo C --where '' --out o | 12 | an empty --where; expected a condition
export C --where '' --out o | 12 | an empty --where; expected a condition
export C --exclude-columns NOPE --out o | 12 | --exclude-columns NOPE
redo C --columns SAKILA.FILM.* --columns FILM.NOPE --out o | 12 | --columns FILM.NOPE
redo C --where 'film_id >' --out o | 12 | LR1003
redo C --where 'nonsense = 1' --out o | 12 | LR1003
redo C --where 'film_id IN (SELECT 1)' --out o | 12 | LR1003
redo C --table NO.SUCH --out o | 12 | LR1004
redo C --from-lrsn FFFFFFFFFFFF --until-lrsn 000000000000 --out o | 12 | LR1001 --from-
undo C --from-time 2024-03-16 --until-time 2024-03-15 --out o | 12 | LR1001 --from-
export C --from-time 2024-03-16 --until-time 2024-03-15 --out o | 12 | LR1001 --from-
graph C --from-lrsn FFFFFFFFFFFF --until-lrsn 000000000000 --out o | 12 | LR1001 --from-
migrate C --from-time 2024-03-16 --until-time 2024-03-15 --out o | 12 | LR1001 --from-
redo --control C --data D --control x --out o | 12 | 2 control files and 1 data files
redo C --schema a --schema b --out o | 12 | LR1001 found --schema twice, with a and b
redo C --mapping a --mapping b --out o | 12 | --mapping twice
redo C --where 'a = 1' --where 'b = 2' --out o | 12 | --where twice
redo C --catalog a --catalog b --out o | 12 | --catalog twice
redo C --out a --out b | 12 | --out twice
redo C --dialect mysql --dialect oracle --out o | 12 | --dialect twice
redo C --from-lrsn 000000000000 --from-position 111111111111 --out o | 12 | twice, with 000
redo C --ccsid E=37 --ccsid E=1140 --out o | 12 | --ccsid E twice
redo C --log-option a=1 --log-option a=2 --out o | 12 | --log-option a twice
redo C --conf a=1 --conf a=2 --out o | 12 | --conf a twice
redo C --history skip --out o | 12 | no schema (--schema) states a history table
redo C --history skip=NOPE --out o | 12 | LR1004 found --history NOPE
redo C --history none --out o | 12 | LR1001 found --history none;
redo C --history skip= --out o | 12 | LR1001 found --history skip=;
redo C --history apply=T --out o | 12 | LR1001 found --history apply=T;
replay C --to sqlite:///. | 12 | found a folder without a database (*.db); expected a file
history C --table FILM --key STORE_ID=1 | 12 | --key VALUE, or --key FILM_ID=VALUE
inspect C --record 7 --json | 12 | LR1001
explain LR9999 | 12 | logreplay explain lists all
"""


@pytest.mark.parametrize("line", [line for line in MISTAKES.split("\n") if line])
def test_mistakes_are_answered_in_a_line_with_a_way_out(
    line: str,
    sakila_small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And nothing is written. Beside it stand where options are listed, or how to look."""
    monkeypatch.chdir(tmp_path)
    text = "CREATE TABLE SAKILA.CUSTOMER (ID INT PRIMRY KEY, (;\n" if "--schema" in line else "-\n"
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    given, code, said = (part.strip() for part in line.split(" | "))
    files = {"C": str(sakila_small / "small.ctl"), "D": str(sakila_small / "small.dat")}
    try:
        ended: object = main([files.get(word, word) for word in shlex.split(given)])
    except SystemExit as end:
        ended = end.code
    lines = [one for one in capsys.readouterr().err.splitlines() if not one.startswith("note: ")]
    assert (str(ended), said in lines[0], len(lines) < 3) == (code, True, True), lines
    assert re.fullmatch(
        r"See: logreplay( \w+)? --help|record \d+: logreplay .*|", "".join(lines[1:])
    )
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


@pytest.mark.parametrize("command", BY_NAME)
def test_lines_of_a_help_end_between_words(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever looks for an option, or copies the name of a file, finds it in one piece."""
    monkeypatch.setenv("COLUMNS", "100")
    lines = help_of(command, capsys).split("\n")
    assert [line for line in lines if len(line) > 100] == []
    assert [line for line in lines if line.endswith("-")] == []


def test_rolled_back_work_is_offered_where_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """A graph took the option, and had the same units with it."""
    offered = {name for name in BY_NAME if "--include-aborted" in help_of(name, capsys)}
    assert offered == {"redo", "undo", "migrate", "export", "history", "report", "sql"}


def test_postgresql_has_two_spellings() -> None:
    for name in ("postgres", "postgresql", "PostgreSQL"):
        assert parse(["redo", "--out", "x", "--dialect", name]).dialect == "postgres"
        assert parse(["check", "--schema-dialect", name]).schema_dialect == "postgres"


def test_values_that_begin_with_a_minus(capsys: pytest.CaptureFixture[str]) -> None:
    """Keys with numbers below zero need no ``=``; a word could be an option, and is told so."""
    words = ["history", "--table", "A.B", "--key"]
    for key in ("-9", "-9,5", "-.5,x", "-1.5", "-2024-03-15"):
        with pytest.raises(SystemExit) as raised:
            main([*words, key, "--colour"])
        assert (raised.value.code, "--colour" in capsys.readouterr().err) == (2, True)
    with pytest.raises(SystemExit):
        main([*words, "-x,5"])
    assert "--key=-A" in capsys.readouterr().err


def completed(line: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    program = f"{script}\nCOMP_WORDS=({' '.join(map(shlex.quote, words))})\n"
    program += f'COMP_CWORD={len(words) - 1}\n_logreplay\necho "${{COMPREPLY[@]}}"'
    ended = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    return ended.stdout.split()


def test_completion(capsys: pytest.CaptureFixture[str]) -> None:
    assert completed("logreplay hi", capsys) == ["history"]
    assert completed("logreplay report qu", capsys) == ["quiet"]
    assert completed("logreplay redo --names ", capsys) == ["auto", "lower", "exact"]
    assert "--until-position" in completed("logreplay undo --un", capsys)
    for shell, first in (("zsh", "#compdef logreplay"), ("fish", "complete -c logreplay")):
        assert main(["completion", shell]) == 0
        assert capsys.readouterr().out.startswith(first)


def test_python_m_replay() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "replay", "--version"], capture_output=True, text=True, check=True
    )
    assert ended.stdout.startswith("logreplay ")


def test_output_that_is_printed(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = named(sakila_small, "small")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "replay", *words, *log, "--out", "-"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert main(["redo", *log, "--out", str(tmp_path / "redo")]) == 0
    printed = run("redo")
    script = (tmp_path / "redo" / "0000-redo.sql").read_text(encoding="utf-8")
    assert (printed.returncode, printed.stdout) == (0, script)
    assert "log records read" in printed.stderr
    assert "manifest.json" not in printed.stderr  # no folder is named that is gone
    lines = run("export", "--format", "jsonl").stdout.splitlines()
    assert len(lines) == len([line for line in lines if json.loads(line)["op"]])
    assert run("export").returncode == 12
    capsys.readouterr()
    graph = ["graph", *log, "--format", "json", "--authid", "CLERK*", "--schema", "none"]
    assert main([*graph, "--out", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["units"]["name"]
    assert main(["ddl", *log[:-2], "--out", "-"]) == 0
    assert "CREATE TABLE" in capsys.readouterr().out


def test_a_dash_is_standard_output_wherever_a_file_is_named(
    sakila_small: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    log = named(sakila_small, "small")
    files = log[: log.index("--data") + 2]
    assert main(["doctor", *files, "--out", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["source"] == "logmaster"
    assert main(["doctor", *files, "--out", "-", "--sign-key", "key.pem"]) == 12
    assert main(["status", "--to", f"sqlite:///{new_database(tmp_path)}", "--rejects", "-"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Nothing was replayed into it" in printed.err
    assert main(["verify", "--certificate", "-"]) == 12
    assert "expected a file" in capsys.readouterr().err
    assert not Path("-").exists()


def new_database(folder: Path) -> Path:
    """An empty SQLite file."""
    path = folder / "new.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (n integer)")
        connection.commit()
    return path


def test_messages_say_how_to_look(
    sakila: Path, incomplete: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = named(incomplete, "incomplete")
    assert main(["redo", *log, "--out", str(tmp_path / "redo")]) == 4
    line = capsys.readouterr().out.rstrip("\n").split("\n")[-1]
    command = line.partition(": ")[2]
    assert main(shlex.split(command)[1:]) == 4
    assert "[quarantined]" in capsys.readouterr().out
    files = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    words = [*files, "--engine", "local", "--schema", "none", "--ur", "000000000000A1B6D835"]
    assert main(["undo", *words, "--out", str(tmp_path / "undo")]) == 8
    line = capsys.readouterr().err.rstrip("\n").split("\n")[-1]
    assert line.startswith("To see what unit 000000000000A1BAE6AF/1 did: logreplay history ")


def test_commands_that_are_proposed_run_where_the_first_one_did(tmp_path: Path) -> None:
    words = ["--control", "C", "--data", "D", "--engine", "spark", "--work", str(tmp_path)]
    words += ["--conf", "spark.executorEnv.KEY=secret", "--table", "T"]
    master = "spark://master:7077"
    proposed = LogInput.of(parse(["history", *words, "--master", master])).words()
    assert proposed[-4:] == ("--master", master, "--work", str(tmp_path))
    assert "secret" not in " ".join(proposed)


def test_a_record_that_is_named_can_be_looked_at(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytearray((sakila_small / "small.dat").read_bytes())
    damaged = tmp_path / "small.dat"
    damaged.write_bytes(data[:-10])
    words = ["--control", str(sakila_small / "small.ctl"), "--data", str(damaged)]
    assert main(["redo", *words, "--engine", "local", "--out", str(tmp_path / "out")]) == 12
    text = capsys.readouterr().err
    assert "LR2006" in text
    if "record " in text.partition(":")[0]:
        assert "logreplay inspect" in text


@pytest.mark.long
def test_spark_is_quiet(sakila: Path) -> None:
    command = [sys.executable, "-m", "replay", "report", "summary", *_spark(sakila)]
    whole = subprocess.run(command, capture_output=True, text=True, check=True)
    assert whole.stderr == ""


def _spark(log: Path) -> list[str]:
    files = ["--control", str(log / "sakila.ctl"), "--data", str(log / "sakila.dat.gz")]
    return [*files, "--engine", "spark"]


_LETS_GO = """
import signal, time, weakref
from replay.cli import stopping
class Held: pass
def let_go(_):
    signal.raise_signal(signal.SIGTERM)
    time.sleep(0)
stopping.interruptible()
held = Held()
watched = weakref.ref(held, let_go)
try:
    del held
    print("went on", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", stopping.interrupted())
"""


def test_an_end_that_comes_while_an_object_goes_is_not_lost() -> None:
    """Python can raise nothing there; it would say so on stderr, and the run would go on."""
    run = subprocess.run(
        [sys.executable, "-c", _LETS_GO], capture_output=True, text=True, timeout=50, check=False
    )
    assert (run.stdout, run.stderr) == ("went on\ninterrupted True\n", "")


_SIGNALS_AT_EACH_WORD = """
import atexit, io, signal, sys, time
from replay.cli import stopping
from replay.cli.main import main
if sys.argv[1] == "later":
    stopping._TOGETHER = 0.0
class Signals(io.StringIO):
    def __init__(self, stream):
        super().__init__()
        self.stream = stream
    def write(self, text):
        self.stream.write(text)
        signal.raise_signal(signal.SIGTERM)
        time.sleep(0)
sys.stdout, sys.stderr = Signals(sys.stdout), Signals(sys.stderr)
atexit.register(signal.raise_signal, signal.SIGTERM)
sys.argv = ["logreplay", "explain", "LR2011"]
sys.exit(main())
"""


@pytest.mark.parametrize("when", ["together", "later"])
def test_signals_that_come_one_after_another(when: str) -> None:
    """``timeout`` sends two, one to the process and one to its group; and whoever is impatient
    sends a second one while the run says that the first one came."""
    run = subprocess.run(
        [sys.executable, "-c", _SIGNALS_AT_EACH_WORD, when],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert run.returncode == 143
    assert run.stderr.strip() == "logreplay: interrupted; nothing was published"


def test_what_cleans_up_is_not_interrupted_by_the_same_end() -> None:
    stops = (
        "import signal, time; from replay.cli import stopping; stopping.interruptible()\n"
        "end = lambda: (signal.raise_signal(signal.SIGTERM), time.sleep(0))\n"
        "try:\n    end()\n"
        "except KeyboardInterrupt:\n    end(); print('cleaned up')\n"
        "stopping._TOGETHER = 0\n"
        "try:\n    end()\n"
        "except KeyboardInterrupt:\n    print('again')\n"
        "stopping.interruptible()\n"
        "try:\n    end()\n"
        "except KeyboardInterrupt:\n    print('another run')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", stops], capture_output=True, text=True, timeout=50, check=False
    )
    assert (run.stdout, run.stderr) == ("cleaned up\nagain\nanother run\n", "")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_has_bytes_and_a_time_to_go_and_leaves_nothing() -> None:
    stream = _Terminal()
    with Bar(stream) as progress:
        progress("reading", 0, 64 << 20)
        progress("reading", 32 << 20, 64 << 20)
    text = stream.getvalue()
    assert "32" in text.replace("33.6M", "32")
    assert "B/s" in text
    assert text.rstrip(" ").endswith("\r")
    silent = io.StringIO()
    with Bar(silent) as progress:
        progress("reading", 1, 2)
    assert silent.getvalue() == ""


def test_a_position_that_is_given_as_a_unit_is_named(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A commit or a record's own: it ended in "nothing is left"."""
    log = str(sakila_small / "small.ctl")
    with replay.open_log(log) as opened:
        change = opened.select().changes().read_all().to_pylist()[100]
    unit = f"{change['urid']}/{change['member']}"
    for name, words, number in (
        ("who", "", "commit_lrsn"),
        ("whatif", "--schema none", "log_position"),
        ("undo", f"--out {tmp_path}/undo", "commit_lrsn"),
    ):
        assert main([name, log, *words.split(), "--ur", change[number]]) in (4, 12)
        said = capsys.readouterr().err
        assert re.search(rf"no unit .* id {change[number]} .* of unit {unit} is there", said)
    out = ["--out", str(tmp_path / "redo")]
    assert main(["redo", log, "--except", f"ur={'FF' * 10}", *out]) == 4
    assert f"has the id {'FF' * 10} (--ur)\n" in capsys.readouterr().err
    assert main(["who", log, "--ur", unit, "--user", "NOBODY"]) == 4
    assert "has the id" not in capsys.readouterr().err
    out = ["--out", str(tmp_path / "some")]  # of two units one is there
    assert main(["redo", log, "--ur", unit, "--ur", "FF" * 10, *out]) == 4
    assert f"has the id {'FF' * 10} (--ur)\n" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["report page", "report summary --format html"])
def test_a_page_is_not_printed_on_a_terminal(
    sakila_small: Path,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command, terminal = [*words.split(), str(sakila_small / "small.ctl")], _Terminal()
    assert main(command) in (0, 4)
    assert capsys.readouterr().out.startswith("<!doctype html>")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(command) == 12
    assert "on a terminal; expected --out FILE.html" in capsys.readouterr().err
    assert terminal.getvalue() == ""
