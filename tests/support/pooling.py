"""A pool of connections to a PostgreSQL, as pgbouncer makes one: clients get a session of the
server for a transaction (``transaction``; there is one), or as long as they stay (``session``)."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

import psycopg

_SSL, _GSS = 80877103, 80877104


class _Server:
    """The one connection to the server, past its start, and what it said then."""

    def __init__(self, url: str) -> None:
        self.driver = psycopg.connect(url, autocommit=True)
        self.socket = socket.socket(fileno=socket.dup(self.driver.pgconn.socket))
        self.socket.setblocking(True)
        self.parameters = {
            name: self.driver.info.parameter_status(name) or ""
            for name in ("server_version", "client_encoding", "standard_conforming_strings")
        }
        self.free = threading.Lock()


@contextmanager
def pool(url: str, mode: str) -> Iterator[str]:
    """The URL of a pool in front of the server of ``url``."""
    servers = [_Server(url) for _ in range(1 if mode == "transaction" else 4)]
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_serve, args=(client, servers, mode), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with closing(listener):
        parts = urlsplit(url)
        port = listener.getsockname()[1]
        yield urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}"))
    for server in servers:
        server.socket.close()
        server.driver.close()


def _serve(client: socket.socket, servers: list[_Server], mode: str) -> None:
    with client, suppress(OSError, EOFError):
        _welcome(client, servers[0])
        held: _Server | None = None
        try:
            while True:
                kind, body = _message(client)
                if kind == b"X":
                    return
                if held is None:
                    held = _take(servers)
                held.socket.sendall(kind + (len(body) + 4).to_bytes(4, "big") + body)
                if kind not in (b"Q", b"S"):
                    continue
                if _answer(held.socket, client) == b"I" and mode == "transaction":
                    held.free.release()
                    held = None
        finally:
            if held is not None:
                held.free.release()


def _take(servers: list[_Server]) -> _Server:
    while True:
        for server in servers:
            if server.free.acquire(timeout=0.01):
                return server


def _welcome(client: socket.socket, server: _Server) -> None:
    """Start a client's session: anybody may come in, and the process is none of the server's."""
    while True:
        body = _exactly(client, int.from_bytes(_exactly(client, 4), "big") - 4)
        if int.from_bytes(body[:4], "big") not in (_SSL, _GSS):
            break
        client.sendall(b"N")
    said = b"R" + (8).to_bytes(4, "big") + bytes(4)
    for name, value in server.parameters.items():
        pair = f"{name}\0{value}\0".encode()
        said += b"S" + (len(pair) + 4).to_bytes(4, "big") + pair
    said += b"K" + (12).to_bytes(4, "big") + (7).to_bytes(4, "big") + bytes(4)
    client.sendall(said + b"Z" + (5).to_bytes(4, "big") + b"I")


def _answer(server: socket.socket, client: socket.socket) -> bytes:
    """Pass an answer on; whether the server is in a transaction after it."""
    while True:
        kind, body = _message(server)
        client.sendall(kind + (len(body) + 4).to_bytes(4, "big") + body)
        if kind == b"Z":
            return body


def _message(source: socket.socket) -> tuple[bytes, bytes]:
    kind = _exactly(source, 1)
    return kind, _exactly(source, int.from_bytes(_exactly(source, 4), "big") - 4)


def _exactly(source: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        piece = source.recv(count - len(found))
        if not piece:
            raise EOFError
        found += piece
    return found
