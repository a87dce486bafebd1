"""What a session on a MariaDB or MySQL sets, whatever the server has set; what a user lacks to
replay into it, and whether the server takes changes at all; and the URL as arguments of
the driver."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from replay.errors import TargetError
from replay.targets import ConnectionLost
from replay.targets.states import parameters_of

if TYPE_CHECKING:
    import pymysql

Query = Callable[..., list[tuple[Any, ...]]]
Execute = Callable[..., int]

#: Statements of every session, as scripts set them; the first two let queries answer at all. And
#: no locks on gaps between rows, which several sessions would wait for.
SESSION = (
    "SET SESSION sql_select_limit = 18446744073709551615",
    "SET SESSION sql_big_selects = ON",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'",
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION default_storage_engine = InnoDB",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION TRANSACTION READ WRITE",
)
#: Variables that would change results, or end what takes long: set where a server has them.
VARIABLES: Mapping[str, str] = {
    "completion_type": "NO_CHAIN",
    "sql_auto_is_null": "OFF",
    "sql_safe_updates": "OFF",
    "unique_checks": "ON",
    "max_statement_time": "0",
    "max_execution_time": "0",
    "idle_transaction_timeout": "0",
    "idle_write_transaction_timeout": "0",
    "idle_readonly_transaction_timeout": "0",
    "wait_timeout": "28800",
    "net_read_timeout": "600",
    "net_write_timeout": "600",
    "innodb_lock_wait_timeout": "60",
    "lock_wait_timeout": "60",
}

#: What texts of any character set are compared with, blanks at the end included, by dialect.
COLLATION: Mapping[str, str] = {"mariadb": "utf8mb4_nopad_bin", "mysql": "utf8mb4_0900_bin"}


def set_up(query: Query, execute: Execute) -> int:
    """Set all of it; the bytes that the server takes at once (``max_allowed_packet``)."""
    for statement in SESSION:
        execute(statement)
    names = ", ".join(f"'{name}'" for name in (*VARIABLES, "max_allowed_packet"))
    # read without SELECT: sql_select_limit may be 0
    settings: dict[str, str] = dict(
        query(f"SHOW SESSION VARIABLES WHERE Variable_name IN ({names})")
    )
    for name, value in VARIABLES.items():
        if name in settings and settings[name].upper() != value:
            execute(f"SET SESSION {name} = {value}")
    return int(settings["max_allowed_packet"])


def read_only(query: Query, execute: Execute, dialect: str) -> str:
    """Why nothing can be written to this server in a dialect; empty where something can."""
    if lacking := _lacks_collation(query, dialect):
        return lacking
    try:
        execute("START TRANSACTION READ WRITE")
        execute("ROLLBACK")
    except ConnectionLost:
        raise
    except TargetError as error:
        return f"the server takes no changes of this user: {error.message}"
    names = "'log_bin', 'binlog_format'"
    logged: dict[str, str] = dict(query(f"SHOW SESSION VARIABLES WHERE Variable_name IN ({names})"))
    if logged.get("log_bin") == "ON" and logged.get("binlog_format") == "STATEMENT":
        return (
            "the server's log would take no changes of InnoDB's tables in READ COMMITTED"
            " (binlog_format is STATEMENT: SET GLOBAL binlog_format = ROW, or MIXED)"
        )
    for name in ("innodb_read_only", "super_read_only"):
        variables = query(f"SHOW GLOBAL VARIABLES LIKE '{name}'")
        if variables and variables[0][1] == "ON":
            return f"the server takes no changes ({name} is ON)"
    return ""


def _lacks_collation(query: Query, dialect: str) -> str:
    """That a server lacks what statements of a dialect compare texts with, as one of the other
    dialect does, or an old one (a version may be set to anything); empty where it has it."""
    name = COLLATION[dialect]
    try:
        query(f"SELECT CONVERT('' USING utf8mb4) COLLATE {name}")
    except ConnectionLost:
        raise
    except TargetError:
        ((version,),) = query("SELECT VERSION()")
    else:
        return ""
    other = next(one for one in COLLATION if one != dialect)
    return (
        f"the server ({version}) lacks the collation {name}, by which texts are compared with"
        f" {dialect}://; if it is one of {other}, name it {other}://…"
    )


def missing_rights(execute: Execute, name: str, column: str) -> list[str]:
    """Rights on a table that a user lacks: the server is asked how it would carry out a statement
    of each kind, which needs the same rights and changes nothing. ``name`` and ``column`` (one that
    can be set) are quoted."""
    asked = {
        "SELECT": f"EXPLAIN SELECT {column} FROM {name} WHERE FALSE",
        "INSERT": f"EXPLAIN INSERT INTO {name} ({column}) VALUES (DEFAULT)",
        "UPDATE": f"EXPLAIN UPDATE {name} SET {column} = {column} WHERE FALSE",
        "DELETE": f"EXPLAIN DELETE FROM {name} WHERE FALSE",
    }
    return [right for right, statement in asked.items() if _denied(execute, statement)]


def parts(text: bytes, size: int) -> Iterator[bytes]:
    """A text of statements, each on a line of its own, in parts of less than ``size`` bytes; a
    statement that is larger is a part."""
    held: list[bytes] = []
    length = 0
    for line in text.split(b"\n"):
        if not line.strip() or line.startswith(b"--"):
            continue
        if held and length + len(line) >= size:
            yield b"\n".join(held)
            held, length = [], 0
        held.append(line)
        length += len(line) + 1
    if held:
        yield b"\n".join(held)


def _denied(execute: Execute, statement: str) -> bool:
    """Whether the server refuses a statement for lack of rights."""
    try:
        execute(statement)
    except ConnectionLost:
        raise
    except TargetError as error:
        return any(f"error {code}:" in error.message for code in _DENIED)
    return False


_DENIED = (1044, 1045, 1142, 1143, 1227, 1370)


# -- its URL
# -------------------------------------------------------------------------------------------------

_PORT = 3306


def connected(arguments: Mapping[str, Any]) -> pymysql.Connection[Any]:
    """A connection as the driver makes it."""
    return _connection_class()(**arguments)


@cache
def _connection_class() -> type[pymysql.Connection[Any]]:
    """The driver's own reads the certificates of all authorities that the machine knows, for each
    connection and where it checks none: half of what a connection costs."""
    import ssl

    import pymysql

    unchecked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE

    class Connection(pymysql.Connection):
        def _create_ssl_ctx(self, asked: Mapping[str, Any]) -> ssl.SSLContext:
            made: ssl.SSLContext = super()._create_ssl_ctx(asked) if asked else unchecked  # type: ignore[misc]
            return made

    return Connection


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
