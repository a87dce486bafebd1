"""What errors of MariaDB and MySQL mean, by the numbers that server and driver give them."""

from __future__ import annotations

from replay.targets import Condition, StatementFailure

#: Any statement would end in these: no room or memory, a statement that somebody or a time limit
#: ended, servers and tables that only read, files that cannot be read or written, damaged tables.
_SERVER = (
    1015, 1016, 1017, 1021, 1023, 1024, 1026, 1028, 1030, 1034, 1035, 1036, 1037, 1038, 1041, 1114,
    1135, 1180, 1194, 1195, 1206, 1290, 1317, 1637, 1792, 1836, 1969, 3024, 3170,
)  # fmt: skip
_CONDITIONS = {
    1022: Condition.DUPLICATE_KEY,
    1062: Condition.DUPLICATE_KEY,
    1586: Condition.DUPLICATE_KEY,
    1216: Condition.FOREIGN_KEY,
    1217: Condition.FOREIGN_KEY,
    1451: Condition.FOREIGN_KEY,
    1452: Condition.FOREIGN_KEY,
} | dict.fromkeys(_SERVER, Condition.SERVER)
_TRANSIENT = frozenset({1020, 1205, 1213})
#: The server goes away, says so, or does not answer any more. 0 is the driver's own: the socket is
#: closed.
_GONE = frozenset(
    {
        0,
        1053,
        1077,
        1079,
        1152,
        1158,
        1159,
        1160,
        1161,
        1184,
        1927,
        2002,
        2003,
        2006,
        2013,
        2014,
        2055,
        3169,
        4031,
    }
)


def said_by(error: Exception) -> tuple[int, str]:
    """The number of an error (0: it has none) and its message."""
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    message = str(error.args[1]) if len(error.args) > 1 and code else str(error)
    return code, message


def is_lost(error: Exception) -> bool:
    """Whether an error says that the connection is gone."""
    import pymysql

    gone = said_by(error)[0] in _GONE and not isinstance(error, pymysql.ProgrammingError)
    return gone or isinstance(error, OSError)


def is_transient(error: Exception) -> bool:
    """Whether the same transaction may well succeed when it is run again."""
    return said_by(error)[0] in _TRANSIENT


def failure_of(error: Exception) -> StatementFailure:
    """What a statement failed of, where that is its own fault."""
    code, message = said_by(error)
    return StatementFailure(_CONDITIONS.get(code, Condition.OTHER), f"error {code}", message)
