"""An S3 server that this process and machines of a network (:mod:`tests.support.networks`) see, and
logs of each family in it."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from moto.server import ThreadedMotoServer
from pyarrow import fs
from werkzeug.serving import make_server

from tests.support import luwsakila, solidsakila
from tests.support.endpoints import asking
from tests.support.luwbuilder import catalog_csv
from tests.support.networks import HUB, Network
from tests.support.solidbuilder import Framing, write_catalog, write_rows
from tests.support.stored import written

SECRET = "never-in-a-message"


@dataclass
class Store:
    """A bucket of an S3 server, as this process sees it, and the environment in which the machines
    of the network find it."""

    system: fs.FileSystem
    environment: dict[str, str]

    def put(self, path: Path) -> str:
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file():
                name = f"logs/in/{file.relative_to(path.parent)}"
                with self.system.open_output_stream(name, compression=None) as out:
                    out.write(file.read_bytes())
        return f"s3://logs/in/{path.name}"

    def names(self, folder: str) -> list[str]:
        selector = fs.FileSelector(f"logs/{folder}", allow_not_found=True, recursive=True)
        infos = self.system.get_file_info(selector)
        return [
            info.path.removeprefix(f"logs/{folder}/")
            for info in infos
            if info.type == fs.FileType.File
        ]

    def digests(self, folder: str) -> dict[str, str]:
        return {name: self._digest(f"logs/{folder}/{name}") for name in self.names(folder)}

    def _digest(self, path: str) -> str:
        with self.system.open_input_stream(path, compression=None) as file:
            return hashlib.sha256(file.read()).hexdigest()


@contextmanager
def store_at(wires: Network) -> Iterator[Store]:
    """A server at the hub of a network, and at this machine, while the context lasts."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    here, there = server.get_host_and_port(), wires.opened()
    app = DomainDispatcherApplication(create_backend_app)
    at_hub = make_server(HUB, 0, app, True, request_handler=MotoRequestHandler, fd=there.fileno())
    threading.Thread(target=at_hub.serve_forever, daemon=True).start()
    environment = {
        "AWS_ENDPOINT_URL": f"http://{HUB}:{there.getsockname()[1]}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with asking(f"http://{here[0]}:{here[1]}", SECRET):
        system, _ = fs.FileSystem.from_uri("s3://logs/?allow_bucket_creation=true")
        system.create_dir("logs")
        yield Store(system, environment)
    at_hub.shutdown()
    there.close()
    server.stop()


def logs_in(store: Store, sakila: Path, place: Path) -> dict[str, list[str]]:
    """The same work in the words of each family, in the store: the words of a command that name it.
    ``place``: a folder for what is made."""
    luw = luwsakila.encode(sakila, "v10", True, "raw")
    (place / "sakila.log").write_bytes(luw.data)
    (place / "catalog.csv").write_text(catalog_csv(luw.tables), encoding="utf-8")
    solid = solidsakila.encode(sakila, Framing("len32"), 20)
    write_catalog(place / "catalog", solid.tables)
    rows = Path(write_rows(place / "syslog.parquet", solid.log.rows))
    put = store.put
    return {
        "logmaster": [
            *("--control", put(sakila / "sakila.ctl"), "--data", put(sakila / "sakila.dat.gz"))
        ],
        "db2luw": [
            *("--source", "db2luw", "--log", put(place / "sakila.log")),
            *("--catalog", put(place / "catalog.csv")),
        ],
        "soliddb": [
            *("--source", "soliddb", "--log", put(rows), "--catalog", put(place / "catalog"))
        ],
    }


def locally(tmp_path: Path, words: list[str]) -> dict[str, str]:
    """What the same command writes on this machine."""
    return written(tmp_path / str(len(list(tmp_path.iterdir()))), *words)
