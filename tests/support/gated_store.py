"""An S3 server in this process whose requests a test may hold up, or answer itself."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from pyarrow import fs
from werkzeug.serving import make_server

from tests.support.endpoints import asking

#: Gets a request as WSGI has it, and how its answer begins; gives the answer, None: the server's.
Gate = Callable[[dict[str, Any], Any], Any]


@contextmanager
def gated_store(prefix: str, gate: Gate) -> Iterator[tuple[fs.FileSystem, str]]:
    """(the store, a bucket of this test's own), to which the environment leads; ``gate`` sees each
    request first, in a thread of its own. All servers of a process have the same buckets."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app: Any = DomainDispatcherApplication(create_backend_app)

    def gated(environ: dict[str, Any], start: Any) -> Any:
        answer = gate(environ, start)
        return app(environ, start) if answer is None else answer

    server = make_server("127.0.0.1", 0, gated, True, request_handler=MotoRequestHandler)
    server.daemon_threads = True  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with asking(f"http://127.0.0.1:{server.server_port}"):
        bucket = f"{prefix}-{secrets.token_hex(8)}"
        system, _ = fs.FileSystem.from_uri(f"s3://{bucket}/?allow_bucket_creation=true")
        system.create_dir(bucket)
        yield system, bucket
    server.shutdown()
