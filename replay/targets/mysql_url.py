"""The URL of a MariaDB or MySQL as arguments of its driver."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from replay.targets.states import parameters_of

_PORT = 3306


def connect_arguments(url: str) -> dict[str, Any]:
    """What the driver wants to know."""
    parts = urlsplit(url)
    spelled = {"socket": "unix_socket", "ca": "ssl_ca", "defaults-file": "read_default_file"}
    options = parameters_of(url, spelled)
    settings: dict[str, Any] = {"host": parts.hostname or "localhost", "port": parts.port or _PORT}
    if parts.username:
        settings["user"] = unquote(parts.username)
    password = (
        unquote(parts.password) if parts.password is not None else os.environ.get("MYSQL_PWD")
    )
    if password is not None:
        settings["password"] = password
    settings |= {spelled[name]: str(Path(value).expanduser()) for name, value in options.items()}
    return settings | (
        {"ssl_verify_cert": True, "ssl_verify_identity": True} if "ca" in options else {}
    )
