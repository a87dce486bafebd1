"""What a session on a PostgreSQL sets, whatever server, database and role have set; and whether it
has its connection for itself."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Any

from replay.errors import Refusal
from replay.redaction import public

if TYPE_CHECKING:
    import psycopg

#: First of all: no query of ours is ended for its time; and nothing that somebody put into a schema
#: of theirs is ever called for us, not even an operator; temporary tables come last.
FIRST = ("SET statement_timeout = 0", "SET search_path = pg_catalog, pg_temp")
#: A setting that servers know on all systems, and take on some only.
_CLIENT_CHECK = "client_connection_check_interval"
#: Setting -> value. Those that a server does not know are left out there.
SETTINGS = {
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "xmloption": "content",
    "quote_all_identifiers": "off",
    "transform_null_equals": "off",
    "client_min_messages": "warning",
    # rows that this user may not see are an error, not absent
    "row_security": "off",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "default_transaction_deferrable": "off",
    # statements are short and many
    "jit": "off",
    "plan_cache_mode": "auto",
    # who waits that long for somebody else's row tries again, and says so in the end
    "lock_timeout": "60s",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "transaction_timeout": "0",
    # a statement that waits is ended where the client is gone, and the replay's lock with it
    _CLIENT_CHECK: "1s",
    # one whose machine or network is gone says nothing: its locks are given up within a minute
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
#: The same of a server that says nothing, for what a URL does not set: libpq's parameters.
KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
#: Makes all settings that there are, and lets the planner take each way that it knows by itself.
_MAKE = (
    "SELECT set_config(s.name, v.value, false) FROM pg_settings s JOIN (VALUES {}) AS v (name,"
    f" value) ON s.name = v.name WHERE s.name <> '{_CLIENT_CHECK}' OR version() LIKE '%linux%'"
    " UNION ALL SELECT set_config(name, boot_val, false) FROM pg_settings"
    " WHERE name LIKE 'enable%' AND vartype = 'bool' AND context = 'user' AND setting <> boot_val"
)

#: How often a second connection asks, and how long it waits for an answer.
_ASKED = 3
_ANSWER_SECONDS = 2.0
_NO_TRANSACTIONS = -1


def settings_statement() -> str:
    """The statement that makes all settings."""
    return _MAKE.format(", ".join(f"('{name}', '{value}')" for name, value in SETTINGS.items()))


def refuse_shared(connection: psycopg.Connection[Any], url: str) -> None:
    """Raises Refusal (LR4010) where a pooler gives the server's session to others between
    transactions: our settings, our lock and our statements would be theirs.

    Nothing is set for that. The process that a server names when it connects is its own; a pooler
    names another. Then a second connection asks for its process: one that is also ours, or an own
    one that changes, is proof.
    """
    import psycopg

    own = _process(connection)
    if own == connection.info.backend_pid:
        return
    with psycopg.connect(url, connect_timeout=30, autocommit=True) as other:
        for _ in range(_ASKED):
            theirs = _process_meanwhile(other)
            if theirs in (own, _NO_TRANSACTIONS) or _process(connection) != own:
                raise _shared(url)
            if theirs is None:  # it waits for a session of its own, so that ours is ours
                return


def _shared(url: str) -> Refusal:
    return Refusal(
        "LR4010",
        f"{public(url)} is a pool of connections (such as pgbouncer) that hands its server"
        " session to another client after each transaction; expected a session that stays"
        " with one client",
        hint="Settings and the lock of a replay would be shared with other clients. Name the"
        " server itself,"
        " or a pool in session mode (pool_mode = session)",
    )


def _process(connection: psycopg.Connection[Any]) -> int:
    """The server's process behind a connection now."""
    row = connection.execute("SELECT pg_catalog.pg_backend_pid()").fetchone()
    return int(row[0]) if row else 0


def _process_meanwhile(connection: psycopg.Connection[Any]) -> int | None:
    """The same, asked within a transaction of its own; None where no answer comes soon."""
    server = connection.pgconn
    server.send_query(b"BEGIN; SELECT pg_catalog.pg_backend_pid(); ROLLBACK")
    process = _NO_TRANSACTIONS
    while True:
        while server.is_busy():
            if not select.select([server.socket], [], [], _ANSWER_SECONDS)[0]:
                return None
            server.consume_input()
        result = server.get_result()
        if result is None:
            return process
        if result.ntuples:
            process = int(result.get_value(0, 0) or b"0")
