"""What is large around a replay: a message that a network takes in parts, a unit of recovery larger
than memory."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from replay.logs.logmaster.layouts import LLDF
from replay.targets import embedded
from replay.targets.postgres import POSTGRES as postgres
from tests.support import encoders
from tests.support.logbuilder import Col, LogBuilder, Tab, frame, rba
from tests.support.places import ROOT
from tests.support.replayed import position, rows


def pass_on(listener: socket.socket, server: tuple[str, int]) -> None:
    """Pass the next connection on to a server."""
    client, _ = listener.accept()
    with client, socket.create_connection(server) as behind:
        while True:
            for ready in select.select([client, behind], [], [])[0]:
                data = ready.recv(8192)
                if not data:
                    return
                (behind if ready is client else client).sendall(data)


@contextmanager
def proxied(url: str, buffer: int) -> Iterator[str]:
    """The URL of a database by way of a proxy, which takes about so many bytes at a time."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        given = listener, (parts.hostname, parts.port)
        threading.Thread(target=pass_on, args=given, daemon=True).start()
        yield url.replace(f":{parts.port}/", f":{listener.getsockname()[1]}/")


def test_a_network_that_takes_a_message_in_parts(database: str) -> None:
    """A message is larger than what a socket takes at once, and the server does not answer before
    it has all of it."""
    found: list[int] = []
    with proxied(database, buffer=4096) as url, closing(postgres.connect(url)) as session:
        number = os.dup(session.connection.pgconn.socket)
        own = socket.socket(fileno=number)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        own.close()
        asked = threading.Thread(
            target=lambda: found.extend(session.run(b"SELECT 1;" * 50_000).counts), daemon=True
        )
        asked.start()
        asked.join(300)
        assert len(found) == 50_000


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
