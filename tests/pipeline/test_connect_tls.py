"""A server of Spark Connect behind TLS, which wants a token."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest

from replay.cli.main import main
from replay.pipeline.java import java_home
from tests.support.certificates import certificate_of
from tests.support.networks import SHORT_LIVED, stop
from tests.support.places import FIXTURES, ROOT

TOKEN = "never-in-a-message"


@dataclass(frozen=True)
class Server:
    """The port of TLS, and the certificate that is to be trusted."""

    port: int
    certificate: Path


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError, ssl.SSLError):
        while block := await source.read(1 << 16):
            target.write(block)
            await target.drain()
    target.close()


async def _serve(context: ssl.SSLContext, behind: int, ready: list[int]) -> None:
    """End TLS, and pass on what is within it."""

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", behind)
        await asyncio.gather(_pass_on(reader, back), _pass_on(there, writer))

    server = await asyncio.start_server(one, "127.0.0.1", 0, ssl=context)
    ready.append(server.sockets[0].getsockname()[1])
    await server.serve_forever()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("connect")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.authenticate.token": TOKEN,
        "spark.ui.enabled": "false",
        "spark.local.dir": str(place),
    }
    words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    home = Path(pyspark.__file__).parent
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(str(home / "bin" / "spark-class"), "org.apache.spark.deploy.SparkSubmit"),
                *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
                *("--master", "local[2]", "--driver-memory", "800m", *words, "spark-internal"),
            ],
            cwd=place,
            env={
                **os.environ,
                "JAVA_HOME": str(java_home()),
                "JDK_JAVA_OPTIONS": " ".join(SHORT_LIVED),
                "SPARK_HOME": str(home),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable,
            },
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    try:
        end = time.monotonic() + 300
        while "Spark Connect server started" not in (said := (place / "log").read_text()):
            assert process.poll() is None, said[-2000:]
            assert time.monotonic() < end, said[-2000:]
            time.sleep(0.2)
        certificate, key = certificate_of("127.0.0.1", place)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["h2"])
        ready: list[int] = []
        call = _serve(context, port, ready)
        threading.Thread(target=asyncio.run, args=(call,), daemon=True).start()
        while not ready:
            time.sleep(0.05)
        yield Server(ready[0], certificate)
    finally:
        stop(process)


WORDS = ["redo", *(f"--{part}={FIXTURES}/incomplete/log/incomplete.{end}"
                   for part, end in (("control", "ctl"), ("data", "dat")))]  # fmt: skip


def redo(server: Server, out: Path, token: str, trusted: bool) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    if trusted:
        environment["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] = str(server.certificate)
    master = f"--master=sc://127.0.0.1:{server.port}/;use_ssl=true;token={token}"
    return subprocess.run(
        [
            *(sys.executable, "-m", "replay", *WORDS, f"--out={out}", "--engine=spark", master),
            f"--executor-timeout={120 if trusted else 10}",
        ],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def digests(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file()
    }


@pytest.mark.spark
@pytest.mark.long
def test_the_same_bytes_through_tls(server: Server, tmp_path: Path) -> None:
    run = redo(server, tmp_path / "there", TOKEN, True)
    code = main([*WORDS, f"--out={tmp_path / 'here'}", "--engine=local"])
    assert run.returncode == code, run.stderr
    assert digests(tmp_path / "there") == digests(tmp_path / "here")
    assert TOKEN not in run.stdout + run.stderr


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize(
    ("token", "trusted", "said"),
    [
        ("another-token", True, "gives no session"),
        (TOKEN, False, "found no answer of"),
    ],
    ids=["token", "certificate"],
)
def test_who_is_not_let_in(
    server: Server, tmp_path: Path, token: str, trusted: bool, said: str
) -> None:
    run = redo(server, tmp_path / "there", token, trusted)
    assert run.returncode == 12, run.stderr
    assert "LR1005 found" in run.stderr
    assert said in run.stderr
    assert "Traceback" not in run.stderr
    assert token not in run.stdout + run.stderr
    assert not (tmp_path / "there").exists()
