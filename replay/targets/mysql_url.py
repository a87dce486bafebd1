"""The URL of a MariaDB or MySQL as arguments of its driver."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from replay.errors import UsageError
from replay.public import public

_PORT = 3306


def connect_arguments(url: str) -> dict[str, Any]:
    """What the driver wants to know."""
    parts = urlsplit(url)
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    settings: dict[str, Any] = {"host": parts.hostname or "localhost", "port": parts.port or _PORT}
    if parts.username:
        settings["user"] = unquote(parts.username)
    password = (
        unquote(parts.password) if parts.password is not None else os.environ.get("MYSQL_PWD")
    )
    if password is not None:
        settings["password"] = password
    spelled = {"socket": "unix_socket", "ca": "ssl_ca", "defaults-file": "read_default_file"}
    if unknown := sorted(options.keys() - spelled):
        raise UsageError(
            "LR1001",
            f"found the option {unknown[0]!r} in {public(url)}; expected one of:"
            f" {', '.join(sorted(spelled))}",
        )
    settings |= {spelled[name]: str(Path(value).expanduser()) for name, value in options.items()}
    return settings | (
        {"ssl_verify_cert": True, "ssl_verify_identity": True} if "ca" in options else {}
    )
