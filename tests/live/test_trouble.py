"""What goes wrong around a replay: a network that breaks in the middle of a COPY, a unit of
recovery larger than memory."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from replay.cli.main import main
from replay.logs.logmaster.layouts import LLDF
from replay.targets import embedded
from replay.targets.postgres import POSTGRES as postgres
from tests.support import encoders
from tests.support.logbuilder import Col, LogBuilder, Tab, frame, rba
from tests.support.places import ROOT
from tests.support.replayed import AT_END, PIT1, position, rows, same

#: What a client says before it sends rows into a staging table.
COPYING = b"COPY pg_temp.logreplay_"


@dataclass
class Proxy:
    """Passes connections on to a server and breaks those in which a COPY has sent ``after`` bytes,
    ``cuts`` times; negative: every time."""

    server: tuple[str, int]
    cuts: int
    after: int = 20_000
    done: int = 0
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(
                target=self._pass, args=(client, socket.create_connection(self.server)), daemon=True
            ).start()

    def _pass(self, client: socket.socket, server: socket.socket) -> None:
        copying, sent = False, 0
        with client, server:
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    try:
                        data = ready.recv(8192)
                    except ConnectionError:
                        return
                    if not data:
                        return
                    if ready is client:
                        copying |= COPYING in data
                        sent = sent + len(data) if copying else 0
                        if sent > self.after and self.done != self.cuts:
                            self.done += 1
                            return
                    with suppress(ConnectionError):
                        (server if ready is client else client).sendall(data)


@contextmanager
def proxied(url: str, cuts: int, buffer: int | None = None) -> Iterator[tuple[str, Proxy]]:
    """The URL of a database by way of a proxy; ``buffer``: bytes that it takes at a time, about."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    proxy = Proxy((parts.hostname, parts.port), cuts)
    if buffer is not None:
        proxy.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        yield url.replace(f":{parts.port}/", f":{proxy.listener.getsockname()[1]}/"), proxy
    finally:
        proxy.listener.shutdown(socket.SHUT_RDWR)
        proxy.listener.close()


def test_a_network_that_takes_a_message_in_parts(database: str) -> None:
    """A message is larger than what a socket takes at once, and the server does not answer before
    it has all of it."""
    found: list[int] = []
    proxy = proxied(database, cuts=0, buffer=4096)
    with proxy as (url, _), closing(postgres.connect(url)) as session:
        number = os.dup(session.connection.pgconn.socket)  # type: ignore[attr-defined]
        own = socket.socket(fileno=number)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        own.close()
        asked = threading.Thread(
            target=lambda: found.extend(session.run(b"SELECT 1;" * 50_000).counts), daemon=True
        )
        asked.start()
        asked.join(300)
        assert len(found) == 50_000


@pytest.mark.long
def test_the_network_breaks_in_the_middle_of_a_copy(
    database: str, sakila: Path, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with proxied(database, cuts=2) as (url, proxy):
        assert (
            main(
                [
                    "replay",
                    *log,
                    "--to",
                    url,
                    "--engine",
                    "local",
                    "--apply",
                    "--mode",
                    "bulk",
                    "--commit-statements",
                    "4000",
                ]
            )
            == 0
        )
    assert proxy.done == 2
    assert "2 transactions were tried again" in capsys.readouterr().out
    assert same(database, sakila, "final")
    assert position(database)[2:] == (*AT_END, 0)


@pytest.mark.long
def test_the_network_stays_broken(
    database: str, sakila: Path, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    go = ["replay", *log, "--engine", "local", "--apply", "--mode", "bulk"]
    assert main([*go, "--to", database, "--until-lrsn", PIT1]) == 0
    stood = position(database)
    with proxied(database, cuts=-1) as (url, proxy):
        assert main([*go, "--to", url, "--tries", "2"]) == 12
    assert proxy.done == 2
    assert "LR4003" in capsys.readouterr().err
    assert position(database) == stood
    assert same(database, sakila, "pit1")
    assert main([*go, "--to", database]) == 0
    assert same(database, sakila, "final")


#: Rows of the huge unit, and bytes of memory (heap, and everything else that is not a mapped file)
#: that its replay may take.
HUGE = 1_000_000
MEMORY = 640 << 20
BIG = Tab("BIG", (Col("K", "INT", 4, key=1), Col("T", "VCHR", 30), Col("N", "INT", 4)))


def huge_log(folder: Path) -> list[str]:
    """One unit of recovery that inserts :data:`HUGE` rows: the record of one insert, with other
    keys and positions."""
    log = LogBuilder((BIG,))
    log.unit().insert(BIG, (0, "thirty characters of any text.", 7))
    control = folder / "huge.ctl"
    control.write_bytes(frame(log.control_records(), "rdw"))
    (record,) = log.records()
    framed = np.frombuffer(frame([record], "rdw"), np.uint8)
    places = {4 + LLDF.size + 4: int.from_bytes(encoders.encode_integer(0, 4), "big")}
    places[4 + LLDF.names["LOGRBA"].offset + 6] = int.from_bytes(rba(20)[6:], "big")
    places[4 + LLDF.names["LOGLRSN"].offset + 3] = 0x10000
    with (folder / "huge.dat").open("wb") as file:
        for low in range(0, HUGE, 50_000):
            number = np.arange(low, low + 50_000)
            block = np.tile(framed, (len(number), 1))
            for place, base in places.items():
                block[:, place : place + 4] = (
                    (number + base).astype(">u4").view(np.uint8).reshape(-1, 4)
                )
            file.write(block.tobytes())
    return ["--control", str(control), "--data", str(folder / "huge.dat")]


@pytest.mark.long
def test_a_unit_of_a_million_rows_in_little_memory(tmp_path: Path) -> None:
    """The unit is one transaction of the target, whatever its size; nothing that grows with it is
    held in memory but its sort records."""
    log = huge_log(tmp_path)
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)\n"
    )
    limited += "from replay.cli.main import main; sys.exit(main(sys.argv[2:]))"
    with embedded.server() as server:
        rows(
            server,
            "CREATE SCHEMA testown; CREATE TABLE testown.big (k int PRIMARY KEY, t varchar(30), n"
            " int)",
        )
        for mode in ("bulk", "strict"):
            rows(server, "DROP SCHEMA IF EXISTS logreplay CASCADE; TRUNCATE testown.big")
            command = [
                sys.executable,
                "-c",
                limited,
                str(MEMORY),
                "replay",
                *log,
                "--to",
                server,
                "--engine",
                "local",
                "--apply",
            ]
            subprocess.run(
                [*command, "--mode", mode],
                check=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                cwd=tmp_path,
            )
            assert rows(server, "SELECT count(*), min(k), max(k), sum(n) FROM testown.big") == [
                (HUGE, 0, HUGE - 1, 7 * HUGE)
            ]
            assert position(server)[2:] == (1, HUGE, 0)
