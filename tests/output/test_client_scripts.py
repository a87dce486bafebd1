"""Scripts for a client: what its reader finds in them are the statements of the plain script."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import docker
import pyspark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay import open_log
from replay.cli.main import main
from replay.engine.spark_start import java_home
from replay.errors import Refusal, UsageError
from replay.logs.families import FAMILIES, source_named
from replay.targets.embedded import client_environment, psql_path
from sqlgen.clients import client_named, jcl
from sqlgen.clients.breaking import Lines, broken_statement, plain_lines, tokens_of
from tests.bytes import logs
from tests.support.client_readers import (
    COMMANDS,
    INVARIANT,
    inlined_compound,
    lines_of_sqlplus,
    outside_literals,
    records_of,
    statements_at_semicolons,
    statements_of,
    statements_of_clp,
    words_of,
    words_of_soliddb,
)
from tests.support.few import few
from tests.support.logbuilder import Col, LogBuilder, Tab

FIXTURES = Path(__file__).parents[2] / "fixtures"
SAKILA = FIXTURES / "sakila" / "log" / "sakila.ctl"
BITS = Tab(
    "BITS",
    (
        Col("N", "INT", 4, key=1),
        Col("B", "CHAR", 4, subtype="B"),
        Col("T", "VCHR", 200, subtype="S"),
    ),
    "SHOP",
)


def log_of_bits(folder: Path, *texts: str) -> tuple[str, ...]:
    log = LogBuilder((BITS,))
    unit = log.unit()
    for number, text in enumerate(texts):
        unit.insert(BITS, (number, b"\xab\xcd\xef\x01", text))
    control, data = log.write(folder)
    return str(control), *map(str, data)


def opened(log: tuple[str, ...]) -> Any:
    return open_log(control=log[0], data=log[1:]).select()


def written(log: Any, mode: str, out: Path, dialect: str, **how: Any) -> bytes:
    getattr(log, mode)(dialect, **how).write(out)
    return b"".join(path.read_bytes() for path in sorted(out.glob("*.sql")))


def plain(script: bytes) -> list[str]:
    """The statements of a script that has one on each line."""
    lines = script.decode().splitlines()
    return [line.removesuffix(";") for line in lines if not line.startswith("--")]


#: What programs that read scripts take for something else than text.
TRAPS = (
    *("\\", "\\'", "';", "--x", "/* '", "$(x)", "${x}", "&x &&y", ":x", "!exit", "@f", "#", "%s"),
    *("a\nGO\nb", "a\n.exit", "a\n\\q", "a\ndelimiter //", "\\g", "\x1a", '"', "`", "é"),
)


@pytest.mark.parametrize("client", sorted(COMMANDS))
def test_each_client_finds_the_statements_of_the_plain_script(tmp_path: Path, client: str) -> None:
    log = opened(log_of_bits(tmp_path, *TRAPS))
    (dialect, *_) = client_named(client).dialects
    for mode in ("redo", "undo"):
        wanted = plain(written(log, mode, tmp_path / f"{mode}-plain", dialect))
        script = written(log, mode, tmp_path / mode, dialect, client=client).decode()
        assert client_named(client).command in script.splitlines()[0]
        assert list(statements_at_semicolons(script, client)) == wanted


@pytest.mark.parametrize(
    ("client", "dialect"), [("mysql", "mysql"), ("clp", "db2"), ("dsntep2", "db2zos")]
)
def test_a_statement_that_is_too_long_for_its_client(
    tmp_path: Path, client: str, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = opened(log_of_bits(tmp_path, "a", "b" * 100))
    monkeypatch.setitem(vars(client_named(client)), "longest", 99)
    with pytest.raises(Refusal, match=r"unit URID=.*expected at most 99, as much as a state"):
        written(log, "redo", tmp_path / "out", dialect, client=client)
    assert not (tmp_path / "out").exists()


def test_a_script_that_is_too_long_for_its_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = opened(log_of_bits(tmp_path, "a", "b"))
    monkeypatch.setitem(vars(client_named("bq")), "longest_script", 120)
    with pytest.raises(UsageError, match=r"0000-redo.sql of \d+ bytes; expected at most 120"):
        written(log, "redo", tmp_path / "out", "bigquery", client="bq")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_a_log_of_soliddb_in_its_own_words(tmp_path: Path, mode: str) -> None:
    log = logs.solid_sakila(tmp_path)
    # which have control characters, and no key
    less = ["--exclude-columns", "REMARK", "--exclude-table", "*.KIOSK_SCAN"]
    scripts = []
    for dialect, how in (("soliddb", []), ("db2", ["--assert", "none"])):
        out = tmp_path / dialect
        words = [*log, *less, "--dialect", dialect, *how, "--schema", "none", "--out", str(out)]
        assert main([mode, *words]) == 0
        scripts.append((out / f"0000-{mode}.sql").read_bytes())
    own, wanted = map(plain, scripts)
    assert {one for one in own if one.startswith("COMMIT")} == {"COMMIT WORK"}
    found = [words_of_soliddb(one.replace("COMMIT WORK", "COMMIT")) for one in own]
    assert found == list(map(words_of, wanted))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (["--upsert"], "found --upsert with --dialect soliddb"),
        (["--assert", "rows"], "found --assert rows with --dialect soliddb"),
    ],
)
def test_what_soliddb_has_no_words_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], how: list[str], words: str
) -> None:
    log = logs.solid_fixture(tmp_path)
    out = str(tmp_path / "out")
    assert (
        main(["undo", *log, "--dialect", "soliddb", *how, "--schema", "none", "--out", out]) == 12
    )
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("mode", few(["redo", "undo"], "undo"))
def test_the_sakila_log_in_ebcdic(tmp_path: Path, mode: str) -> None:
    log = open_log(control=SAKILA, data=SAKILA.with_name("sakila.dat.gz")).select()
    wanted = plain(written(log, mode, tmp_path / "plain", "db2", asserts="none"))
    script = written(log, mode, tmp_path / "records", "db2zos", client="dsntep2", encoding="ibm037")
    records = records_of(script, "cp037")
    found = list(statements_of(records, ""))
    apart = list(statements_of(records, " "))
    assert len(found) == len(apart) == len(wanted)
    assert list(map(words_of, found)) == list(map(words_of, apart)) == list(map(words_of, wanted))
    assert not set("".join(map(outside_literals, found))) - INVARIANT


def test_bit_data_and_controls(tmp_path: Path) -> None:
    log = opened(log_of_bits(tmp_path, "plain", "a\nb;", "it's -- /* 'x'"))
    script = written(log, "redo", tmp_path / "out", "db2zos", client="spufi")
    found = list(statements_of(records_of(script, "cp037"), ""))
    assert found[0].startswith("INSERT INTO SHOP.BITS (N, B, T) VALUES (0, X'ABCDEF01'")
    wanted = plain(written(log, "redo", tmp_path / "plain", "db2"))
    assert [words_of(one) for one in found] == [words_of(one) for one in wanted]


def test_sqlplus(tmp_path: Path) -> None:
    log = opened(log_of_bits(tmp_path, "R&D -", "a\nb"))
    script = written(log, "undo", tmp_path / "out", "oracle", client="sqlplus").decode()
    assert "\nWHENEVER SQLERROR EXIT FAILURE ROLLBACK\nSET DEFINE OFF\n" in script
    assert any(
        line.startswith("DELETE") for line in lines_of_sqlplus(script.replace("\n/\n", "\n"))
    )


def test_the_command_line_processor(tmp_path: Path) -> None:
    log = opened(log_of_bits(tmp_path, "a@b;"))
    script = written(log, "redo", tmp_path / "out", "db2", client="clp").decode()
    assert script.splitlines()[0].endswith("db2 +c -s -td@ -vf FILE || db2 rollback")
    assert script.endswith("'a@b;')@\nCOMMIT@\n")


@pytest.mark.parametrize(("client", "terminator"), [("clp", "@"), (None, ";")])
def test_checks_stand_around_the_statements_of_an_undo(
    tmp_path: Path, client: str | None, terminator: str
) -> None:
    log = open_log(control=SAKILA, data=SAKILA.with_name("sakila.dat.gz")).select()
    wanted = plain(written(log, "undo", tmp_path / "plain", "db2", asserts="none"))
    script = written(log, "undo", tmp_path / "out", "db2", client=client).decode()
    read = list(statements_of_clp(script, terminator))
    found = list(map(inlined_compound, read))
    inner = [one[0] if one else text for one, text in zip(found, read, strict=True)]
    assert list(map(words_of, inner)) == list(map(words_of, wanted))
    bare = {text.split()[0] for one, text in zip(found, read, strict=True) if one is None}
    assert bare == {"INSERT", "COMMIT"}
    assert {one[1] for one in found if one} == {"75001"}
    assert all(one[2].endswith(": not 1 row") for one in found if one)


def test_the_code_page_is_that_of_the_log(tmp_path: Path) -> None:
    log = opened(log_of_bits(tmp_path, "a"))
    assert "in ibm037" in written(log, "redo", tmp_path / "z", "db2zos").decode("cp037")
    text = written(log, "redo", tmp_path / "u", "db2zos", encoding="utf-8").decode()
    assert text.endswith("\nCOMMIT;\n")


@pytest.mark.parametrize(
    ("dialect", "how", "words"),
    [
        ("db2", {"client": "dsntep2"}, "found --client dsntep2 with --dialect db2; expected one"),
        ("postgres", {"client": "spufi"}, "expected one of: psql"),
        ("trino", {"client": "spufi"}, "expected one of: trino"),
        ("db2zos", {"client": "spuffi"}, "did you mean spufi"),
        ("db2zos", {"asserts": "rows"}, "found --assert rows with --client dsntep2"),
        ("db2zos", {"terminator": "#"}, "found --terminator '#'"),
        ("db2zos", {"terminator": ","}, "found --terminator ','"),
        ("db2zos", {"terminator": "-"}, "found --terminator '-'"),
        ("db2", {"client": "clp", "terminator": "-"}, "found --terminator '-'"),
        ("oracle", {"client": "sqlplus", "terminator": "@"}, "expected ;"),
        ("oracle", {"client": "sqlplus", "encoding": "ibm037"}, "expected utf-8"),
        ("postgres", {"encoding": "ibm037"}, "--encoding without --client"),
        ("postgres", {"jcl": True}, "--jcl without --client"),
        ("db2zos", {"client": "spufi", "jcl": True}, "found --jcl with --client spufi"),
        ("db2zos", {"encoding": "ibm4711"}, "found --encoding 'ibm4711'"),
    ],
)
def test_what_does_not_go_together(
    tmp_path: Path, dialect: str, how: dict[str, Any], words: str
) -> None:
    log = opened(log_of_bits(tmp_path, "a"))
    with pytest.raises(UsageError, match=words):
        written(log, "redo", tmp_path / "out", dialect, **how)
    assert not (tmp_path / "out").exists()


def test_a_value_that_cannot_be_said_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = log_of_bits(tmp_path, "fine", "x;y")
    options = ["--dialect", "db2zos", "--client", "dsntiad"]
    assert main(["redo", *log, *options, "--out", str(tmp_path / "out")]) == 8
    assert "LR3003 in unit URID=" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    options += ["--terminator", "%"]
    assert main(["redo", *log, *options, "--out", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize("client", ["dsntep4", "dsntiad"])
def test_the_job_has_a_step_for_each_script(tmp_path: Path, client: str) -> None:
    log = opened(log_of_bits(tmp_path, "a", "b"))
    scripts = written(
        log, "redo", tmp_path / "out", "db2zos", client=client, jcl=True, terminator="%"
    )
    job = records_of((tmp_path / "out" / "run.jcl").read_bytes(), "cp037")
    lines = [line.rstrip() for line in job]
    assert lines[0].startswith("//LRREDO  JOB ")
    assert all(line[:1] in ("/", " ") and len(line) < 72 for line in lines)
    assert f"//*  S0000  0000-redo.sql: {len(scripts) // 80} RECORDS, SPACE=(CYL,1)" in lines
    parameters = " PARMS('SQLTERM(%)')" * (client == "dsntiad")
    program = client.upper()
    assert f"  RUN PROGRAM({program}) PLAN({program}){parameters}" in lines
    assert not any("IF (RC" in line for line in lines)


def test_the_way_back_to_zos(tmp_path: Path) -> None:
    """Events tell no subsystem: the user names its code page, and sets its name in the job."""
    back, out = tmp_path / "back.toml", tmp_path / "out"
    mapping = str(FIXTURES / "sakila" / "shop.toml")
    assert main(["mapping", "--invert", mapping, "--out", str(back)]) == 4
    events = [str(FIXTURES / "events" / "day.jsonl.gz"), "--log-option", "identity=full"]
    events += ["--log-option", "replayed=skip", "--mapping", str(back), "--schema", "none"]
    words = ["--dialect", "db2zos", "--client", "dsntep2", "--encoding", "1140", "--jcl"]
    assert main(["redo", *events, *words, "--out", str(out)]) == 0
    records = records_of((out / "0000-redo.sql").read_bytes(), "cp1140")
    assert not any(record[71:].strip() for record in records)
    found = [words_of(statement) for statement in statements_of(records, "")]
    assert found == [words_of(statement) for statement in statements_of(records, " ")]
    assert (len(found), found.count(["COMMIT"])) == (81, 9)
    (made,) = [words for words in found if words[:3] == ["INSERT", "INTO", "SAKILA.CUSTOMER"]]
    assert made[made.index(("text", "ZOË")) :][:3] == [("text", "ZOË"), ",", ("text", "O'HARA")]
    job = records_of((out / "run.jcl").read_bytes(), "cp1140")
    assert [line.rstrip() for line in job if "DSN SYSTEM" in line] == ["  DSN SYSTEM(SSID)"]


def test_a_step_of_a_job_needs_those_before_it() -> None:
    scripts = [jcl.JobScript(f"{number}.sql", 20_000) for number in range(3)]
    lines = jcl.job(client_named("dsntep2"), ";", "undo", "DB2P", scripts)
    steps = [number for number, line in enumerate(lines) if " EXEC PGM=" in line]
    guards = [number for number, line in enumerate(lines) if line.endswith("IF (RC = 0) THEN")]
    assert [number - 1 for number in steps[1:]] == guards
    assert sum("ENDIF" in line for line in lines) == 2
    assert "SPACE=(CYL,2)" in lines[5]
    assert "  DSN SYSTEM(DB2P)" in lines


def test_a_migration_is_for_no_client(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = log_of_bits(tmp_path, "a")
    out = str(tmp_path / "out")
    assert main(["migrate", *log, "--dialect", "db2zos", "--out", out]) != 0
    assert "found migrate with --dialect db2zos" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("as_a_user")
def test_a_script_is_for_the_database_that_wrote_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = log_of_bits(tmp_path, "a")
    assert main(["redo", *log, "--out", str(tmp_path / "redo")]) == 0
    said = capsys.readouterr().out
    assert "Client dsntep2, in ibm037: " in said
    assert "records of 80 bytes without line ends: transfer in binary" in said
    assert "--encoding utf-8 writes lines that can be read here" in said
    script = (tmp_path / "redo" / "0000-redo.sql").read_bytes()
    assert len(script) % 80 == 0
    assert b"INSERT" not in script
    # of which the printed one is a text, for a terminal
    assert main(["redo", *log, "--out", "-"]) == 0
    assert "INSERT INTO SHOP.BITS" in capsys.readouterr().out
    # and it is said that nobody checks what it does
    assert main(["undo", *log, "--schema", "none", "--out", str(tmp_path / "undo")]) == 0
    assert "note: scripts for db2zos have no checks: " in capsys.readouterr().err
    # a copy of the log beside it is in no dialect
    also = ["--also", f"extract:{tmp_path / 'copy'}"]
    assert main(["redo", *log, "--out", str(tmp_path / "both"), *also]) == 0


def test_each_family_names_the_dialect_of_its_databases() -> None:
    found = {name: source_named(name).dialect for name in FAMILIES}
    assert found == {
        "logmaster": "db2zos",
        "logmaster-load": "db2zos",
        "db2luw": "db2",
        "soliddb": "soliddb",
        "events": "postgres",
    }


def ran(*words: str, script: Path | None = None) -> int:
    with (script or Path("/dev/null")).open("rb") as given:
        return subprocess.run(
            words, stdin=given, capture_output=True, check=False, env=client_environment()
        ).returncode


class InContainer:
    """The program of a server, in the container where that runs."""

    def __init__(self, url: str) -> None:
        self.place, self.kind = urlsplit(url), urlsplit(url).scheme
        with closing(docker.from_env()) as engine:
            self.found = next(
                one.id
                for one in engine.containers.list()
                for ports in one.ports.values()
                if {"HostIp": "0.0.0.0", "HostPort": str(self.place.port)} in (ports or ())
            )

    def run(self, script: bytes) -> tuple[int, str]:
        """The exit code of a script, and what is printed, by the command of its head."""
        command = client_named(self.kind).command.replace("FILE", "/tmp/script.sql")
        program, rest = command.split(" ", 1)
        packed = BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            entry = tarfile.TarInfo("script.sql")
            entry.size = len(script)
            tar.addfile(entry, BytesIO(script))
        with closing(docker.from_env()) as engine:
            server = engine.containers.get(self.found)
            server.put_archive("/tmp", packed.getvalue())
            where = f"-h{self.place.hostname} -P{self.place.port}"
            place = f"{where} -uroot -p{self.place.password}"
            words = f"{program} {place} {rest} 2>&1 | grep -v Warning; exit ${{PIPESTATUS[0]}}"
            code, said = server.exec_run(["bash", "-c", words])
        return int(code), said.decode()


@pytest.fixture(params=["mariadb", "mysql"])
def server(request: pytest.FixtureRequest) -> InContainer:
    """A server whose program is beside it."""
    return InContainer(request.getfixturevalue(f"container_{request.param}"))


def test_mariadb_and_mysql_stop_at_the_first_error(tmp_path: Path, server: InContainer) -> None:
    log = opened(log_of_bits(tmp_path, *TRAPS))
    script = written(log, "redo", tmp_path / "out", server.kind, client=server.kind)
    made = (
        "DROP DATABASE IF EXISTS shop; CREATE DATABASE shop; CREATE TABLE shop.bits"
        " (n INT PRIMARY KEY, b VARBINARY(9), t VARCHAR(99)) CHARACTER SET utf8mb4;"
    )
    assert server.run(made.encode()) == (0, "")
    assert server.run(script) == (0, "")
    _, said = server.run(b"SELECT n, HEX(t) FROM shop.bits ORDER BY n;")
    rows = [line.split("\t") for line in said.splitlines() if line[:1].isdigit()]
    assert [(int(n), bytes.fromhex(text).decode()) for n, text in rows] == list(enumerate(TRAPS))
    # the second one fails at its second statement, and the first is gone with it
    server.run(b"DELETE FROM shop.bits WHERE n = 0;")
    assert server.run(script)[0] == 1
    assert "\n0\t" not in server.run(b"SELECT n, 1 FROM shop.bits ORDER BY n;")[1]


def test_duckdb_stops_at_the_first_error(tmp_path: Path) -> None:
    log = opened(log_of_bits(tmp_path, *TRAPS))
    written(log, "redo", tmp_path / "out", "duckdb", client="duckdb")
    (script,) = (tmp_path / "out").glob("*.sql")
    assert ".bail on" in script.read_text().splitlines()
    program = str(Path(sys.executable).with_name("duckdb"))
    made = tmp_path / "made.sql"
    made.write_text(
        "CREATE SCHEMA shop; CREATE TABLE shop.bits (n INT PRIMARY KEY, b BLOB, t TEXT);"
    )
    place = str(tmp_path / "rows.db")
    assert ran(program, place, script=made) == 0
    assert ran(program, place, script=script) == 0
    count = [program, place, "-csv", "-noheader", "-c"]
    text = "SELECT string_agg(hex(t), ',' ORDER BY n) FROM shop.bits"
    said = subprocess.run([*count, text], capture_output=True, check=True, text=True).stdout
    assert [bytes.fromhex(one).decode() for one in said.strip().strip('"').split(",")] == [*TRAPS]
    subprocess.run([*count, "DELETE FROM shop.bits WHERE n = 0"], check=True, capture_output=True)
    assert ran(program, place, script=script) == 1
    left = [*count, "SELECT count(*) FROM shop.bits"]
    said = subprocess.run(left, capture_output=True, check=True, text=True).stdout
    assert int(said) == len(TRAPS) - 1


@pytest.mark.long
def test_spark_sql_stops_at_the_first_error(tmp_path: Path) -> None:
    log = opened(log_of_bits(tmp_path, *TRAPS))
    script = written(log, "redo", tmp_path / "out", "spark", client="spark-sql").decode()
    made = "CREATE SCHEMA shop; CREATE TABLE shop.bits (n INT, b BINARY, t STRING) USING parquet;"
    asked = "SELECT CONCAT('row ', n, ' ', HEX(t)) FROM shop.bits ORDER BY n;"
    stops = "INSERT INTO shop.bits VALUES ('x'); SELECT 'reached';"
    file = tmp_path / "all.sql"
    file.write_text("\n".join([made, script, asked, stops]))
    place = Path(sys.executable).with_name("spark-sql")
    words = [place, "--master", "local[1]", "--conf", "spark.ui.enabled=false", "-f", file]
    spark = {**os.environ, "SPARK_HOME": str(Path(pyspark.__file__).parent)}
    done = subprocess.run(
        words, capture_output=True, check=False, cwd=tmp_path, text=True, env=spark
    )
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("row ")]
    found = [(int(n), bytes.fromhex(text).decode()) for _, n, text in rows]
    assert found == list(enumerate(TRAPS))
    assert done.returncode == 1
    assert "reached" not in done.stdout


@pytest.mark.spark
def test_ij_runs_a_script_for_db2(tmp_path: Path) -> None:
    texts = ["it's; -- 'x", "/* c", '"d;"']
    script = written(opened(log_of_bits(tmp_path, *texts)), "redo", tmp_path / "out", "db2")
    place = tmp_path / "all.sql"
    place.write_text(
        "CONNECT 'jdbc:derby:memory:ij;create=true'; AUTOCOMMIT OFF; CREATE TABLE SHOP.BITS"
        " (N INTEGER, B VARCHAR(9) FOR BIT DATA, T VARCHAR(99));\n"
        + script.decode().replace("BX'", "X'")
        + "ROLLBACK; SELECT T FROM SHOP.BITS;\n"
    )
    derby = [str(Path(pyspark.__file__).parent / "jars" / "*"), "org.apache.derby.tools.ij"]
    words = [java_home() / "bin" / "java", "-cp", *derby, place]
    done = subprocess.run(words, capture_output=True, check=True, cwd=tmp_path, text=True)
    assert "ERROR" not in done.stdout
    assert set(texts) <= {line.rstrip() for line in done.stdout.splitlines()}


@pytest.mark.long
def test_sqlite3_stops_at_the_first_error(tmp_path: Path) -> None:
    log = opened(log_of_bits(tmp_path, "a", "\\;'--"))
    written(log, "redo", tmp_path / "out", "sqlite", client="sqlite3")
    (script,) = (tmp_path / "out").glob("*.sql")
    program = shutil.which("sqlite3")
    assert program is not None, "sqlite3 is missing: install it"
    place = tmp_path / "rows.db"
    attached = tmp_path / "attached.sql"
    attached.write_text(f"ATTACH '{place}' AS shop;\n{script.read_text()}")
    with sqlite3.connect(place) as database:
        database.execute("CREATE TABLE bits (n INTEGER PRIMARY KEY, b BLOB, t TEXT)")
    assert ran(program, ":memory:", script=attached) == 0
    assert ran(program, ":memory:", script=attached) == 1
    with sqlite3.connect(place) as database:
        assert database.execute("SELECT t FROM bits ORDER BY n").fetchall() == [
            ("a",), ("\\;'--",)
        ]  # fmt: skip
        database.execute("DELETE FROM bits WHERE n = 0")
    assert ran(program, ":memory:", script=attached) == 1
    with sqlite3.connect(place) as database:
        assert database.execute("SELECT COUNT(*) FROM bits").fetchone() == (1,)


def test_psql_stops_at_the_first_error(fresh_database: str, tmp_path: Path) -> None:
    log = opened(log_of_bits(tmp_path, "a", "b :x \\q"))
    written(log, "redo", tmp_path / "out", "postgres", client="psql")
    (script,) = (tmp_path / "out").glob("*.sql")
    psql = [str(psql_path()), "-X", "-d", fresh_database]
    made = "CREATE SCHEMA shop; CREATE TABLE shop.bits (n int PRIMARY KEY, b bytea, t text)"
    assert ran(*psql, "-c", made) == 0
    assert ran(*psql, "-f", str(script)) == 0
    assert ran(*psql, "-f", str(script)) == 3


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text("ab9(),-; =.", max_size=30), max_size=3),
    st.text("a9(),-=. xX'", max_size=40),
    st.integers(20, 80),
    st.sampled_from(["", "-"]),
)
def test_lines_of_a_plain_statement_are_those_of_its_tokens(
    texts: list[str], other: str, width: int, no_end: str
) -> None:
    statement = f"INSERT INTO A.T (A, B) VALUES ({', '.join(map(repr, texts))}) {other}"
    lines = Lines(width, len, "CONCAT", no_end)
    plain = plain_lines(statement, lines, ";")
    if plain is not None:
        assert plain == list(broken_statement(tokens_of(statement)[0], lines, ";"))
    plain = plain_lines("UPDATE A SET A = -1, B = 'a ''b' WHERE C = (2)", Lines(20, len), "@")
    assert plain == ["UPDATE A SET A = -1,", " B = 'a ''b' WHERE C", " = (2)@"]
