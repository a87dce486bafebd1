"""No output shows a secret: what is printed, each file that is written, and what a target keeps, of
every command, with a secret in each of its options."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from replay.cli import terminal
from replay.cli.main import main
from replay.options.command_options import options_of
from replay.options.command_table import BY_NAME
from replay.options.option import Option
from replay.redaction import hidden
from replay.targets import target_named
from tests.conftest import database_on
from tests.support.few import few
from tests.support.places import FIXTURES

#: A password and spellings of it, each of which has one of the parts.
PASSWORD = "Qz7Xk/mW@8 Jv3Hb"
PARTS = re.compile(r"Qz7Xk|Jv3Hb|%51z7Xk|Jv3H%62", re.IGNORECASE)
SPELLED = ("Qz7Xk%2FmW%408%20Jv3Hb", "Qz7Xk%2fmW%408%20Jv3Hb", "%51z7Xk%2FmW%408%20Jv3H%62")
#: URLs of a server that is there.
THERE = (
    "postgresql://secretive:{0}@{place}",
    "postgresql://secretive@{place}?password={1}",
    "postgresql://secretive@{place}?sslmode=disable&p%61ssword={2}&connect_timeout=9",
)
#: What names nothing that is there, or cannot be read.
ELSEWHERE = (
    "postgresql://u:{2}@127.0.0.1:1/db",
    "postgresql://u@127.0.0.1:1/db?sslpassword={0}&connect_timeout=1",
    "mysql://u:{1}@127.0.0.1:1/",
    "mariadb://u@127.0.0.1:1/?password={0}",
    "sqlite:///none.db?key={0}",
    "duckdb:///none.db?encryption_key={0}",
    "oracle://u:{0}@h/db",
    "host=127.0.0.1 port=1 user=u password=Qz7Xk",
    "user=u password = 'Qz7Xk Jv3Hb' sslpassword=Jv3Hb",
    "s3://u:{0}@bucket/place",
    "s3://bucket/place?X-Amz-Signature=Qz7Xk",
    "abfss://c@a/place?sv=1&sig=Qz7Xk",
    "https://u:{0}@h/place?token=Jv3Hb",
    "file://u:{0}@h/place",
    "sc://127.0.0.1:1/;user_id=u;token=Qz7Xk",
    "spark.x=postgresql://u:{0}@127.0.0.1:1/db",
    "spark.x.password=Qz7Xk",
    "export:s3://u:{0}@bucket/place",
    "E=postgresql://u:{0}@h/db",
)
#: What options and arguments are where they are needed and not the one that is tried.
GIVEN = {
    "out": ("--out", "out"),
    "to": ("--to", "{to}"),
    "expected": ("--expected", "final"),
    "logs": ("--logs", "."),
    "at": ("--at", "end"),
    "user": ("--user", "*"),
    "table": ("--table", "SAKILA.FILM"),
    "kind": ("page",),
    "code": ("LR1001",),
    "shell": ("bash",),
    "folder": (".",),
    "name": ("NIGHT",),
    "query": ("--query", "SELECT 1 AS n"),
    "invert": ("--invert", "mapping.toml"),
}
#: Commands with what they need beside a log; ``demo`` takes a server of its own.
NEEDS = {
    **dict.fromkeys(("inspect", "check", "docs"), ()),
    **dict.fromkeys(("graph", "doctor", "extract", "ddl", "migrate"), ("out",)),
    **dict.fromkeys(("redo", "undo", "export"), ("out",)),
    **dict.fromkeys(("replay", "prepare", "status"), ("to",)),
    **dict.fromkeys(("pause", "resume"), ("folder",)),
    "whatif": ("user", "out"),
    "who": ("table", "out"),
    "sql": ("query", "out"),
    "mapping": ("invert", "out"),
    "history": ("table", "out"),
    "state": ("at", "out"),
    "report": ("kind", "out"),
    "explain": ("code",),
    "completion": ("shell",),
    "verify": ("to", "expected"),
    "follow": ("logs", "to"),
    "mark": ("name",),
}
#: What else they are told.
WORDS = {
    "graph": ("--format", "html"),
    "replay": ("--apply",),
    "follow": ("--drain",),
    "prepare": ("--print",),
}
#: What options say of their values that name places.
PLACE = re.compile(r"URL|PATH|DIR|FILE|^F(?![a-z])|MANIFEST|VALUE|K=V|master|name|'A'")
#: Options of which each tells what others are of, so that they are not given together.
OF_LOG = ("control", "data", "log", "logs", "config")


@pytest.fixture(scope="module")
def place(postgres: str) -> Iterator[str]:
    """Host and name of a database with the tables of the log, for a user with the password."""
    target = target_named("postgres")
    for url in database_on(postgres):
        with closing(target.connect(url)) as session:
            session.execute("DROP ROLE IF EXISTS secretive")
            session.execute(f"CREATE ROLE secretive SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
            session.commit()
        target.run_scripts(url, [FIXTURES / "sakila" / "small" / "schema.sql"])
        yield url.rpartition("@")[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log, in which this process is, and an environment with the password, and
    nothing that hides by value what it should not have been told."""
    for name in ("small.ctl", "small.dat"):
        shutil.copy(FIXTURES / "sakila" / "small" / name, tmp_path)
    (tmp_path / "mapping.toml").write_text('[schemas]\nSAKILA = "shop"\n', encoding="utf-8")
    (tmp_path / "final").mkdir()
    for path in (FIXTURES / "sakila" / "small" / "final").glob("film.csv*"):
        shutil.copy(path, tmp_path / "final")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(terminal, "hidden", lambda text, _: text)
    for name in ("PGPASSWORD", "MYSQL_PWD", "PGSSLPASSWORD", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, PASSWORD)
    return tmp_path


def urls(place: str, of: Sequence[str]) -> list[str]:
    return [text.format(*SPELLED, place=place) for text in of]


def takes(command: str) -> list[Option]:
    """The options of a command that take a value which is not one of a few."""
    return [
        one
        for one in options_of(command)
        if one.kind.words and not one.kind.choices and not one.kind.shown
    ]


def words_for(command: str, option: str, url: str) -> list[str]:
    """A command that would run, but for the option."""
    known = {name for one in options_of(command) for name in one.names}
    words = [command]
    for name in NEEDS[command]:
        words += [] if name == option else [word.format(to=url) for word in GIVEN[name]]
    if "--control" in known and option not in OF_LOG and "logs" not in NEEDS[command]:
        words += ["--control", "small.ctl", "--data", "small.dat"]
    if "--engine" in known:
        words += ["--engine", "local"]
    return [*words, *WORDS.get(command, ())]


def text_of(path: Path) -> str:
    """All that is in a file."""
    octets = path.read_bytes()
    if octets.startswith(b"PAR1"):
        return f"{pq.read_metadata(path).metadata}{pq.read_table(path).to_pylist()}"
    if octets.startswith(b"\x1f\x8b"):
        octets = gzip.decompress(octets)
    return octets.decode("latin-1")


def shown(words: Sequence[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """All that a command shows, and writes into a folder; what it wrote goes."""
    before = {path for path in folder.rglob("*") if path.is_file()}
    try:
        main(["--debug", *words])
        said = capsys.readouterr()
    except SystemExit:  # an option is not understood, and repeated as it was typed
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(terminal, "hidden", hidden)
            capsys.readouterr()
            with suppress(SystemExit):
                main(list(words))
            said = capsys.readouterr()
    found = [said.out, said.err]
    for path in sorted({path for path in folder.rglob("*") if path.is_file()} - before):
        found.append(text_of(path))
        path.unlink()
    shutil.rmtree(folder / "out", ignore_errors=True)
    return "\n".join(found)


def tried(command: str, place: str, every: bool) -> Iterator[tuple[Option, str]]:
    """The options of a command that take a value, with what each is tried with. Spellings take
    turns: from option to option, and from command to command. Options that name no place are tried
    by a third of the commands, unless ``every`` one is."""
    there, elsewhere = urls(place, THERE), urls(place, ELSEWHERE)
    first = list(NEEDS).index(command)
    for number, option in enumerate(takes(command), first):
        if PLACE.search(f"{option.takes}{option.dest}"):
            yield option, there[number % len(there)]
            yield option, elsewhere[(5 * number) % len(elsewhere)]
        elif every or number % 3 == 0:
            yield option, elsewhere[number % len(elsewhere)]


def test_all_commands_are_tried() -> None:
    assert {*NEEDS, "demo"} == set(BY_NAME)


@pytest.mark.parametrize(
    ("command", "every"), few(product(NEEDS, [False, True]), *product(NEEDS, [False]))
)
def test_of_every_option(
    command: str, every: bool, place: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong: dict[str, list[str]] = {}
    for option, value in tried(command, place, every):
        words = words_for(command, option.dest, urls(place, THERE)[0])
        words += [option.names[-1], value] if option.names else [value]
        words += [value] if option.kind.words == 2 else []
        lines = shown(words, folder, capsys).splitlines()
        if found := [line for line in lines if PARTS.search(line)]:
            wrong[" ".join(words)] = [line[:200] for line in found]
    assert wrong == {}


@pytest.mark.parametrize("words", [("report", "page"), ("graph", "--format", "html")])
def test_a_page_names_the_database_and_its_user(
    words: Sequence[str], place: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = ("--control", "small.ctl", "--data", "small.dat", "--engine", "local")
    for url in urls(place, THERE):
        said = shown([*words, *log, "--schema", url, "--out", "page.html"], folder, capsys)
        assert f"postgresql://secretive@{place}" in said
        assert PARTS.search(said) is None
