"""The embedded server: starts under every kind of account, and is gone afterwards, however the
process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from replay.errors import TargetError
from replay.targets import embedded
from tests.support.places import FIXTURES, ROOT
from tests.support.states import compare_states

pytestmark = pytest.mark.live


def folders(parent: Path) -> list[Path]:
    return sorted(parent.glob("logreplay-pg-*"))


@pytest.fixture
def private_tmp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own for temporary files, which other accounts may pass through (pytest's own
    are closed to them)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield folder


def test_it_speaks_utf8_in_the_same_way_on_every_machine(postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        row = connection.execute(
            "SELECT upper('é'), current_setting('server_encoding'), current_setting('TimeZone')"
        ).fetchone()
    assert row == ("É", "UTF8", "UTC")


def test_nobody_gets_in_without_the_password(postgres: str) -> None:
    address, _, rest = postgres.partition("@")
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"{address.rpartition(':')[0]}:wrong@{rest}")


def test_it_is_stopped_and_removed_when_the_block_ends_with_an_error(private_tmp: Path) -> None:
    seen: list[str] = []

    def fail_inside() -> None:
        with embedded.server() as url:
            seen.extend([url, *map(str, folders(private_tmp))])
            raise KeyError

    with pytest.raises(KeyError):
        fail_inside()
    url, folder = seen

    assert not Path(folder).exists()
    with pytest.raises(TargetError) as raised:
        compare_states(url, "s", FIXTURES / "sakila" / "log" / "final")
    assert raised.value.code == "LR4003"
    assert url.split(":")[2].split("@")[0] not in str(raised.value)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_it_is_stopped_and_removed_when_the_process_is_killed(
    tmp_path: Path, sign: signal.Signals
) -> None:
    program = (
        "from replay.targets import embedded\nwith embedded.server() as url:\n print(url,"
        " flush=True); input()"
    )
    environment = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": str(ROOT),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    url = process.stdout.readline().decode().strip()
    psycopg.connect(url).close()
    process.send_signal(sign)
    process.communicate()

    limit = time.monotonic() + 120
    while folders(tmp_path) and time.monotonic() < limit:
        time.sleep(0.05)
    assert folders(tmp_path) == []
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


@pytest.mark.parametrize("readable", [True, False])
def test_where_user_namespaces_are_forbidden_root_becomes_nobody(
    private_tmp: Path, monkeypatch: pytest.MonkeyPatch, readable: bool
) -> None:
    """``readable`` False: the programs lie where nobody may not look, as in root's home. Who is not
    root stays who he is, and needs no copy."""
    root = os.geteuid() == 0
    starts = embedded._Account.works
    monkeypatch.setattr(
        embedded._Account,
        "works",
        lambda account: not account.prefix and readable and starts(account),
    )

    with embedded.server(max_connections="7") as url, psycopg.connect(url) as connection:
        assert connection.execute("SHOW max_connections").fetchone() == ("7",)
        assert folders(private_tmp)[0].stat().st_uid == (embedded.NOBODY if root else os.geteuid())
        assert (folders(private_tmp)[0] / "programs").exists() is (root and not readable)
    assert folders(private_tmp) == []


def test_a_server_that_does_not_start_says_why(private_tmp: Path) -> None:
    with (
        pytest.raises(TargetError, match="max_connections") as raised,
        embedded.server(max_connections="none"),
    ):
        pass

    assert raised.value.code == "LR4003"
    assert folders(private_tmp) == []
