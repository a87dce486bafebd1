"""What reaches a terminal, a log or the list of processes: no password in any spelling, and nothing
that a terminal would obey."""

from __future__ import annotations

import io
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.cli.terminal import Shown
from replay.redaction import public, secrets_of
from tests.support.places import ROOT

#: Parts of the passwords below.
PARTS = re.compile(r"S3cret|hidden|W0rd")
URLS = [
    "postgresql://u:S3cret@127.0.0.1:1/db",
    "postgresql://u:S3cret%2FW0rd@127.0.0.1:1/db",
    "postgresql://u:S3cret/W0rd@127.0.0.1:1/db",
    "postgresql://u:S3cret?W0rd=hidden@127.0.0.1:1/db",
    "postgresql://u:S3cret#W0rd@127.0.0.1:1/db",
    "postgresql://u:S3cret@W0rd@127.0.0.1:1/db",
    "postgresql://u:S3cret:W0rd@127.0.0.1:1/db",
    "postgresql://u:[S3cret@127.0.0.1:1/db",
    "postgresql://u@127.0.0.1:1/db?password=S3cret",
    "postgresql://u@127.0.0.1:1/db?p%61ssword=S3cret%20W0rd&sslmode=disable",
    "postgresql://u@127.0.0.1:1/db?sslpassword=S3cret&connect_timeout=1",
    "postgresql://u@127.0.0.1:1/db?passwort=S3cret",
    "postgresql:///db?host=127.0.0.1&port=1&user=u@x&password=S3cret@W0rd",
    "postgres://u:S3cret@127.0.0.1:1,127.0.0.1:2/db",
    "host=127.0.0.1 port=1 user=u password=S3cret",
    "host=127.0.0.1 port=1 password = 'S3cret W0rd\\'hidden' user=u",
    "password=S3cret",
    "mysql://u:S3cret@127.0.0.1:1/",
    "mariadb://u:S3cret/W0rd@127.0.0.1:1/",
    "mariadb://u@127.0.0.1:1/?password=S3cret",
    "postgresql:///u:S3cret@127.0.0.1:1/db",
    "mysql:////u:S3cret@127.0.0.1",
    "sqlite:///none.db?key=S3cret",
    "duckdb:///none.db?encryption_key=S3cret",
    "oracle://u:S3cret@h/db",
]


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("command", [["status", "--to"], ["verify", "--expected", "x", "--to"]])
def test_no_message_shows_a_password(
    command: list[str], url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*command, url])
    told = capsys.readouterr()
    assert code in (8, 12)
    assert "Traceback" not in told.err
    assert "unexpected" not in told.err
    assert PARTS.search(told.out + told.err) is None
    assert PARTS.search(public(url)) is None


@pytest.mark.parametrize("words", [["--tu", "{}"], ["--tu={}"]])
def test_nor_does_one_about_a_slip_of_the_pen(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["status", *(word.format(URLS[0]) for word in words), "--to", URLS[0]])
    told = capsys.readouterr()
    assert "unrecognized arguments" in told.err
    assert PARTS.search(told.out + told.err) is None


def test_nor_does_one_about_a_database_in_the_place_of_a_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["status", URLS[0], "--to", URLS[0]]) == 12
    told = capsys.readouterr()
    assert PARTS.search(told.out + told.err) is None


@pytest.mark.parametrize(
    ("setting", "hidden"),
    [
        ("spark.kubernetes.authenticate.oauthToken=S3cretW0rd", True),
        ("spark.executorEnv.AWS_SECRET_ACCESS_KEY=S3cretW0rd", True),
        ("spark.kubernetes.authenticate.oauthTokenFile=S3cretW0rd", False),
        ("spark.kubernetes.executor.secretKeyRef.KEY=S3cretW0rd:key", False),
        ("spark.app.name=S3cretW0rd", False),
    ],
)
def test_secret_settings_of_spark(
    setting: str, hidden: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a message would repeat shows them as little as a password."""
    for words in (["--conf", setting], [f"--conf={setting}"]):
        with pytest.raises(SystemExit):
            main(["redo", *words, "--out", "x", "--nonsense", setting.partition("=")[2]])
        assert (PARTS.search(capsys.readouterr().err) is None) is hidden


def test_what_is_meant_is_known_too() -> None:
    assert secrets_of("postgresql://u:a%2Fb+c@h/db") == {"a%2Fb+c", "a/b+c", "a/b c"}
    assert public("postgresql://app@h1:5432,h2/shop?sslmode=require") == (
        "postgresql://app@h1:5432,h2/shop?sslmode=require"
    )
    assert public("postgresql://h/db?passfile=/home/a/.pgpass") == (
        "postgresql://h/db?passfile=/home/a/.pgpass"
    )
    assert secrets_of("sqlite:////data/a:b@c.db") == set()


def test_the_list_of_processes() -> None:
    """The command line is overwritten before the database is asked for."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://u:S3cretW0rd@127.0.0.1:{silent.getsockname()[1]}/db"
        command = [sys.executable, "-m", "replay.cli.main", "status", f"--to={url}"]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
            silent.accept()[0].close()
            line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
            process.kill()
    assert b"status" in line
    assert b"postgresql://u:" in line
    assert b"S3cret" not in line


def test_what_a_terminal_would_obey(sakila_small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = ["--control", str(sakila_small / "none\x1b[2J"), "--data", "x\x07"]
    assert main(["redo", *log, "--engine", "local", "--out", "x\x07\u202e", "--overwrite"]) == 12
    told = capsys.readouterr().err
    assert "none\\u001B[2J" in told
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", told)


def test_data_goes_to_files_as_it_is() -> None:
    for whole, shown in ((True, "a\\u001Bb\tc\n***"), (False, "a\x1bb\tc\n***")):
        raw = io.StringIO()
        print("a\x1bb\tc\nsecret", end="", file=Shown(raw, frozenset({"secret"}), whole))  # type: ignore[arg-type]
        assert raw.getvalue() == shown


@pytest.mark.parametrize("ignored", [False, True])
def test_a_terminal_that_closes(tmp_path: Path, ignored: bool) -> None:
    """Ends a run as SIGTERM does, with nothing left; but for one that was started with nohup."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/db"
        code = (
            "import sys, signal, tempfile; from replay.cli.main import main;"
            f" signal.signal(signal.SIGHUP, signal.SIG_{'IGN' if ignored else 'DFL'});"
            " sys.exit(main(sys.argv[1:]))"
        )
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        with subprocess.Popen(
            [sys.executable, "-c", code, "status", "--to", url],
            cwd=ROOT, env=environment, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            connection = silent.accept()[0]
            time.sleep(0.3)
            process.send_signal(signal.SIGHUP)
            time.sleep(0.3)
            running = process.poll() is None
            connection.close()
            silent.close()
            said = process.communicate(timeout=300)[1].decode()
    assert running or not ignored
    assert ("interrupted" in said) is not ignored
    assert process.returncode == (12 if ignored else 129)


def test_nothing_of_what_a_process_leaves() -> None:
    """DuckDB, which --where asks, lists its types on stderr where they are not cleared away."""
    small = ROOT / "fixtures" / "sakila" / "small"
    words = ["history", "--control", str(small / "small.ctl"), "--data", str(small / "small.dat")]
    words += ["--table", "FILM", "--where", "after.film_id > 0", "--engine", "local"]
    run = subprocess.run(
        [sys.executable, str(ROOT / "logreplay_command.py"), *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert run.stdout.startswith("FILM after.film_id > 0: ")
    assert run.stderr == ""
