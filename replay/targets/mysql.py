"""MariaDB and MySQL as targets: ``mariadb://user@host:3306/`` or ``mysql://…``. A schema is a database of the server.

The password comes from the URL, the environment (``MYSQL_PWD``), or an option file (``?defaults-file=~/.my.cnf``); ``?socket=/path`` connects by a
Unix socket, ``?ca=FILE`` demands TLS and a certificate of that authority. A database in the URL limits the search for triggers to it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit, urlunsplit

import pyarrow as pa

from replay.errors import TargetError, UsageError, Where
from replay.targets import DUPLICATE_KEY, FOREIGN_KEY, OTHER, ConnectionLost, Difference, Failure, Outcome, Session, TableFacts, Transient
from replay.targets.states import state_rows, state_tables

if TYPE_CHECKING:
    import pymysql

_PORT, _CONNECT_SECONDS = 3306, 30
#: Text of a script that is sent at once, up to the end of a statement.
_SCRIPT_BYTES = 1 << 20
#: Rows that are inserted by one statement.
_LOAD_ROWS = 500
_LOCK = "logreplay"
#: As scripts set them; and no locks on gaps between rows, which several sessions would wait for.
_SETTINGS = (
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION default_storage_engine = InnoDB",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)
_CONDITIONS = {
    1022: DUPLICATE_KEY,
    1062: DUPLICATE_KEY,
    1586: DUPLICATE_KEY,
    1216: FOREIGN_KEY,
    1217: FOREIGN_KEY,
    1451: FOREIGN_KEY,
    1452: FOREIGN_KEY,
}
_TRANSIENT = frozenset({1020, 1205, 1213})
#: The server goes away, says so, or does not answer any more. 0 is the driver's own: the socket is closed.
_GONE = frozenset({0, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2002, 2003, 2006, 2013, 2014, 2055, 3169, 4031})
_OWN_DATABASES = ("information_schema", "mysql", "performance_schema", "sys")
_ACTIONS = ("CASCADE", "SET NULL", "SET DEFAULT")
_BINARY = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit"})

T = TypeVar("T")


@dataclass(frozen=True)
class Server:
    """Implements :class:`replay.targets.Target` for one of the two dialects."""

    dialect: str

    def connect(self, url: str) -> Session:
        """A session; ConnectionLost (LR4003) when the server cannot be reached."""
        return MysqlSession(url, self.dialect)

    def shown(self, url: str) -> str:
        """The URL without its password."""
        return _shown(url)

    @contextmanager
    def scratch(self, url: str | None) -> Iterator[str]:
        """The server that ``url`` names, emptied afterwards: tables keep the names of their databases. Raises UsageError (LR1001) when there is none,
        and TargetError (LR4003) when it holds databases already."""
        if url is None:
            raise UsageError(
                "LR1001",
                f"a {self.dialect} needs a server of its own for this",
                hint=f"Name an empty one: --scratch {self.dialect}://user@host:port/",
            )
        with closing(MysqlSession(url, self.dialect)) as session:
            if found := session.databases():
                message = f"{_shown(url)} is not empty: found the databases {', '.join(found)}"
                raise TargetError("LR4003", message, hint="What is there would be lost; name a server without databases")
        try:
            yield url
        finally:
            with closing(MysqlSession(url, self.dialect)) as session:
                session.execute("SET foreign_key_checks = 0")
                for name in session.databases():
                    session.execute(f"DROP DATABASE {_name(name)}")

    def state_tables(self, folder: Path) -> dict[str, Path]:
        """The files of a state by table; InputError (LR2001) when there are none."""
        return state_tables(folder)

    def run_scripts(self, url: str, scripts: Iterable[Path]) -> None:
        """Run scripts in the given order; TargetError (LR4001) with the script's name when a statement fails."""
        with closing(MysqlSession(url, self.dialect)) as session:
            for script in scripts:
                for text in _pieces(script):
                    failure = session.run(text).failure
                    if failure is not None:
                        raise TargetError("LR4001", f"{failure.sqlstate}: {failure.message}", Where(file=script.name))

    def load_state(self, url: str, schema: str, folder: Path) -> int:
        """Put the rows of a state into existing tables of ``schema``, foreign keys unchecked; the number of rows."""
        with closing(MysqlSession(url, self.dialect)) as session:
            session.execute("SET foreign_key_checks = 0")
            session.begin()
            count = sum(session.load(_name(schema, table), schema, table, path) for table, path in state_tables(folder).items())
            session.commit()
        return count

    def compare_states(self, url: str, schema: str, folder: Path, overlay: Path | None = None) -> list[Difference]:
        """The tables of ``schema`` whose rows are not those of the state ``folder`` (duplicates count); an empty list when all are equal.

        Tables of ``overlay`` replace those of ``folder``. Raises TargetError (LR4002) when an expected table or column does not exist.
        """
        expected = state_tables(folder) | (state_tables(overlay) if overlay is not None else {})
        with closing(MysqlSession(url, self.dialect)) as session:
            found = [session.difference(schema, table, path) for table, path in sorted(expected.items())]
        return [difference for difference in found if difference is not None]

    def keys(self, url: str, tables: Sequence[str]) -> str:
        """DDL of the unique keys and foreign keys of tables with these names, in any schema and case."""
        known = {table.lower() for table in tables}
        lines = []
        with closing(MysqlSession(url, self.dialect)) as session:
            for schema, table in session.query(_TABLES):
                if table.lower() not in known:
                    continue
                texts = [f"UNIQUE ({_standard_list(key)})" for key in session.unique_keys(schema, table)]
                for parent_schema, parent, columns, parent_columns, on_delete, _ in session.foreign_keys(schema, table):
                    text = f"FOREIGN KEY ({_standard_list(columns)}) REFERENCES {_standard(parent_schema, parent)} ({_standard_list(parent_columns)})"
                    texts.append(f"{text} ON DELETE {on_delete}")
                lines += [f"ALTER TABLE {_standard(schema, table)} ADD CONSTRAINT k{n} {text};" for n, text in enumerate(texts)]
        return "\n".join(lines)


MARIADB, MYSQL = Server("mariadb"), Server("mysql")


class MysqlSession:
    """Implements :class:`replay.targets.Session`. Texts of many statements travel as one message; the server answers each of them. Constraints are
    checked by each statement; none waits."""

    forget = "DROP DATABASE logreplay"
    types: Mapping[str, str] = {"text": "longtext", "timestamp": "datetime"}
    savepoints = True
    prepares = False
    merges = False
    parallel = True
    alters = False

    def __init__(self, url: str, dialect: str) -> None:
        import pymysql
        from pymysql.constants import CLIENT

        self.dialect, self.shown = dialect, _shown(url)
        self.database = unquote(urlsplit(url).path.strip("/"))
        self._parted = False
        try:
            self.connection: pymysql.Connection[Any] = pymysql.connect(
                **_arguments(url),
                charset="utf8mb4",
                autocommit=True,
                client_flag=CLIENT.FOUND_ROWS | CLIENT.MULTI_STATEMENTS,
                connect_timeout=_CONNECT_SECONDS,
                program_name="logreplay",
            )
        except (pymysql.MySQLError, OSError) as error:
            raise ConnectionLost("LR4003", f"cannot connect to {self.shown}: {error}") from error
        for statement in _SETTINGS:
            self.execute(statement)

    def own(self, table: str) -> str:
        return f"logreplay.{table}"

    def make_home(self) -> None:
        self.execute("CREATE DATABASE IF NOT EXISTS logreplay CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")

    def has_home(self) -> bool:
        return bool(self.query("SELECT 1 FROM information_schema.tables WHERE table_schema = 'logreplay' AND table_name = 'position'"))

    def lock(self) -> bool:
        return bool(self.query("SELECT GET_LOCK(%s, 0)", (_LOCK,))[0][0] == 1)

    def enforce(self, on: bool) -> None:
        if not on:
            where = "trigger_schema = %s" if self.database else "trigger_schema NOT IN ('mysql', 'sys')"
            query = f"SELECT trigger_schema, trigger_name FROM information_schema.triggers WHERE {where} ORDER BY 1, 2"
            if found := self.query(query, (self.database,) if self.database else ()):
                names = ", ".join(f"{schema}.{name}" for schema, name in found)
                raise TargetError("LR4001", f"a {self.dialect} cannot keep triggers from firing, and this one has some: {names}")
        self.execute(f"SET SESSION foreign_key_checks = {int(on)}")

    def begin(self) -> None:
        self._parted = False
        self.execute("START TRANSACTION")

    def durable(self) -> None:
        """How commits reach the disk is for the server to say (``innodb_flush_log_at_trx_commit``), not for a session."""

    def settle(self) -> Failure | None:
        return None

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        self.execute("ROLLBACK")

    def savepoint(self) -> None:
        if self._parted:
            self.execute("RELEASE SAVEPOINT part")
        self.execute("SAVEPOINT part")
        self._parted = True

    def back_to_savepoint(self) -> None:
        self.execute("ROLLBACK TO SAVEPOINT part")

    def prepare(self, shapes: Mapping[str, str]) -> None:
        """Texts are statements in full."""

    def run(self, text: bytes) -> Outcome:
        import pymysql

        counts: list[int] = []
        try:
            with self.connection.cursor() as cursor:
                counts.append(int(cursor.execute(text)))
                while cursor.nextset():
                    counts.append(int(cursor.rowcount))
        except (pymysql.MySQLError, OSError) as error:
            return Outcome(counts, self._failure(error))
        return Outcome(counts)

    def copy(self, statement: str, text: bytes) -> Outcome:
        raise TargetError("LR4001", f"a {self.dialect} reads no rows from a client's stream")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._do(lambda cursor: int(cursor.execute(statement, tuple(values) or None)))

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        def rows(cursor: Any) -> list[tuple[Any, ...]]:
            cursor.execute(statement, tuple(values) or None)
            return list(cursor.fetchall())

        return self._do(rows)

    def databases(self) -> list[str]:
        """The databases that users made."""
        return sorted(name for (name,) in self.query("SHOW DATABASES") if name.lower() not in _OWN_DATABASES)

    def unique_keys(self, schema: str, table: str) -> list[tuple[str, ...]]:
        """The unique keys over whole columns, the primary key first."""
        rows = self.query(_KEYS, (schema, table))
        keys = [[(column, part) for _, column, part in group] for _, group in groupby(rows, key=lambda row: row[0])]
        return [tuple(column for column, _ in key) for key in keys if all(column is not None and part is None for column, part in key)]

    def foreign_keys(self, schema: str, table: str) -> list[tuple[str, str, list[str], list[str], str, str]]:
        """(the parent's schema, parent, columns, the parent's columns, ON DELETE, ON UPDATE) of the foreign keys of a table."""
        found: dict[str, tuple[str, str, list[str], list[str], str, str]] = {}
        for name, parent_schema, parent, column, parent_column, on_delete, on_update in self.query(_FOREIGN_KEYS, (schema, table)):
            entry = found.setdefault(name, (parent_schema, parent, [], [], on_delete, on_update))
            entry[2].append(column)
            entry[3].append(parent_column)
        return list(found.values())

    def facts(self, schema: str, table: str) -> TableFacts | None:
        engines = [engine for name, engine in self.query(_ENGINE, (schema, table)) if name == table]
        if not engines:
            return None
        columns = self.query(_COLUMNS, (schema, table))
        unfit = [f"its engine {engines[0]} has no transactions (ALTER TABLE … ENGINE = InnoDB)"] * (engines[0] != "InnoDB")
        unfit += [
            f"its column {name} changes by itself with every UPDATE (take ON UPDATE away from it first)"
            for name, *_, extra in columns
            if "on update" in extra.lower()
        ]
        return TableFacts(
            tuple(name for name, *_ in columns),
            tuple(name for name, _, _, _, _, generated, _ in columns if generated),
            (),
            tuple(self.unique_keys(schema, table)),
            tuple(name for (name,) in self.query(_TRIGGERS, (schema, table))),
            tuple(self._cascades(schema, table)),
            types=tuple(kind for _, kind, *_ in columns),
            unfit=tuple(unfit),
        )

    def _cascades(self, schema: str, table: str) -> Iterator[str]:
        for child_schema, child in self.query(_RELATED, (schema, table, schema, table)):
            for parent_schema, parent, columns, _, on_delete, on_update in self.foreign_keys(child_schema, child):
                acts = [f"ON DELETE {on_delete}"] * (on_delete in _ACTIONS) + [f"ON UPDATE {on_update}"] * (on_update in _ACTIONS)
                if acts and (schema, table) in ((child_schema, child), (parent_schema, parent)):
                    yield f"{child} ({', '.join(columns)}) to {parent} ({', '.join(acts)})"

    def move_sequences(self, schema: str, table: str) -> list[str]:
        return []  # AUTO_INCREMENT follows the highest value by itself

    # -- comparing ----------------------------------------------------------------------------------------------------------------------

    def version(self) -> str:
        return f"{self.dialect} {self.query('SELECT VERSION()')[0][0]}"

    def snapshot(self) -> None:
        self.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        self.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")

    def make_schema(self, schema: str) -> None:
        self.execute(f"CREATE DATABASE IF NOT EXISTS {_name(schema)} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")

    def definition(self, schema: str, table: str) -> list[str]:
        columns = []
        for name, _, kind, collation, null, _, _ in self.query(_COLUMNS, (schema, table)):
            spelled = f"CHARACTER SET {collation.partition('_')[0]} COLLATE {collation}" if collation else ""
            columns.append(f"{_name(name)} {kind} {spelled} {'NULL' if null == 'YES' else 'NOT NULL'}")
        keys = [f"UNIQUE KEY ({_list(key)})" for key in self.unique_keys(schema, table)]
        return [f"CREATE TABLE {_name(schema, table)} ({', '.join([*columns, *keys])}) ENGINE = InnoDB"]

    def count(self, schema: str, table: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {_name(schema, table)}")[0][0])

    def hashes(self, schema: str, table: str, columns: Sequence[str], key: Sequence[str], buckets: int) -> dict[int, tuple[int, str]]:
        part, row = self._bucket(schema, table, key, buckets), _hash(self._texts(schema, table, columns), 15)
        query = f"SELECT {part}, count(*), CAST(sum({row}) AS CHAR) FROM {_name(schema, table)} GROUP BY 1"
        return {int(bucket): (count, str(total)) for bucket, count, total in self.query(query)}

    def bucket(
        self, schema: str, table: str, columns: Sequence[str], key: Sequence[str], bucket: int, buckets: int
    ) -> list[tuple[Any, ...]]:
        texts = ", ".join(self._texts(schema, table, columns))
        return self.query(f"SELECT {texts} FROM {_name(schema, table)} WHERE {self._bucket(schema, table, key, buckets)} = {bucket}")

    def _bucket(self, schema: str, table: str, key: Sequence[str], buckets: int) -> str:
        return f"({_hash(self._texts(schema, table, key), 7)} MOD {buckets})"

    def _texts(self, schema: str, table: str, columns: Sequence[str]) -> list[str]:
        """Expressions for columns as text that is equal where the values are."""
        kinds = {name: kind.lower() for name, kind, *_ in self.query(_COLUMNS, (schema, table))}
        forms = dict.fromkeys(_BINARY, "HEX({0})") | {"float": "CAST({0} + 0e0 AS CHAR)"}  # a float alone is shown with six digits
        return [forms.get(kinds[name], "CAST({0} AS CHAR)").format(_name(name)) for name in columns]

    def load(self, into: str, schema: str, table: str, path: Path) -> int:
        """Insert the rows of a state's file; the number of rows. TargetError (LR4002) when the table or a column does not exist."""
        kinds = {name: kind.lower() for name, kind, *_ in self.query(_COLUMNS, (schema, table))}
        rows = state_rows(path)
        if missing := [name for name in rows.column_names if name not in kinds]:
            what = f"column {missing[0]}" if kinds else "the table"
            raise TargetError("LR4002", f"the database lacks what the state has: {what}", Where(table=f"{schema}.{table}"))
        values = zip(*(_values(column, kinds[name]) for name, column in zip(rows.column_names, rows.columns, strict=True)), strict=True)
        statement = f"INSERT INTO {into} ({_list(rows.column_names)}) VALUES ({', '.join(['%s'] * rows.num_columns)})"
        self._do(lambda cursor: cursor.executemany(statement, list(values)) if rows.num_rows else 0)
        return int(rows.num_rows)

    def difference(self, schema: str, table: str, path: Path) -> Difference | None:
        """How a table differs from a state's file; None when it does not."""
        columns = [name for name, *_ in self.query(_COLUMNS, (schema, table))]
        home = _name(schema, "logreplay expected")
        if columns:
            self.execute(f"DROP TEMPORARY TABLE IF EXISTS {home}")
            self.execute(f"CREATE TEMPORARY TABLE {home} LIKE {_name(schema, table)}")
        self.load(home, schema, table, path)
        texts = ", ".join(self._texts(schema, table, columns))
        found, wanted = (Counter(self.query(f"SELECT {texts} FROM {name}")) for name in (_name(schema, table), home))
        self.execute(f"DROP TEMPORARY TABLE {home}")
        extra, lost = found - wanted, wanted - found
        if not extra and not lost:
            return None
        examples = (str(min(rows, key=repr)) if rows else None for rows in (extra, lost))
        return Difference(f"{schema}.{table}", extra.total(), lost.total(), *examples)

    def close(self) -> None:
        import pymysql

        with suppress(pymysql.MySQLError, OSError):
            self.connection.close()

    # -- errors -------------------------------------------------------------------------------------------------------------------------

    def _failure(self, error: Exception) -> Failure:
        """What a statement failed of; raises what is not the statement's fault."""
        import pymysql

        code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        message = str(error.args[1]) if len(error.args) > 1 and code else str(error)
        if isinstance(error, OSError) or (code in _GONE and not isinstance(error, pymysql.ProgrammingError)):
            with suppress(pymysql.MySQLError, OSError):
                self.connection.close()
            raise ConnectionLost("LR4003", f"the connection to {self.shown} was lost: {message or type(error).__name__}") from error
        if code in _TRANSIENT:
            raise Transient("LR4001", f"error {code}: {message}") from error
        return Failure(_CONDITIONS.get(code, OTHER), f"error {code}", message)

    def _do(self, action: Callable[[Any], T]) -> T:
        import pymysql

        try:
            with self.connection.cursor() as cursor:
                return action(cursor)
        except (pymysql.MySQLError, OSError) as error:
            failure = self._failure(error)
            raise TargetError("LR4001", f"{failure.sqlstate}: {failure.message}") from error


def _arguments(url: str) -> dict[str, Any]:
    """What the driver wants to know."""
    parts = urlsplit(url)
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    found: dict[str, Any] = {"host": parts.hostname or "localhost", "port": parts.port or _PORT}
    if parts.username:
        found["user"] = unquote(parts.username)
    password = unquote(parts.password) if parts.password is not None else os.environ.get("MYSQL_PWD")
    if password is not None:
        found["password"] = password
    spelled = {"socket": "unix_socket", "ca": "ssl_ca", "defaults-file": "read_default_file"}
    if unknown := sorted(options.keys() - spelled):
        raise UsageError("LR1001", f"found the option {unknown[0]!r} in {_shown(url)}; expected one of: {', '.join(sorted(spelled))}")
    found |= {spelled[name]: str(Path(value).expanduser()) for name, value in options.items()}
    return found | ({"ssl_verify_cert": True, "ssl_verify_identity": True} if "ca" in options else {})


def _shown(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    user, host = parts.netloc.rsplit("@", 1)
    return urlunsplit(parts._replace(netloc=f"{user.split(':', 1)[0]}:***@{host}"))


def _pieces(script: Path) -> Iterator[bytes]:
    """The text of a script, in pieces that end with a statement."""
    held: list[bytes] = []
    size = 0
    with script.open("rb") as lines:
        for line in lines:
            held.append(line)
            size += len(line)
            if size >= _SCRIPT_BYTES and line.endswith(b";\n"):
                yield b"".join(held)
                held, size = [], 0
    if any(line.strip() and not line.startswith(b"--") for line in held):
        yield b"".join(held)


def _values(column: pa.ChunkedArray, kind: str) -> list[Any]:
    """Texts of a state as the driver takes them for a column of this type."""
    texts: list[Any] = column.to_pylist()
    if kind in _BINARY:
        return [None if text is None else bytes.fromhex(text.removeprefix("\\x")) for text in texts]
    if kind == "tinyint":
        return [{"t": "1", "f": "0"}.get(text, text) for text in texts]
    return texts


def _hash(texts: Sequence[str], digits: int) -> str:
    """So many hexadecimal digits of the digest of a row of texts, as a number; NULL is like no text."""
    parts = ", ".join(f"COALESCE(CONCAT(LENGTH({text}), ':', {text}), '-')" for text in texts)
    return f"CAST(CONV(LEFT(MD5(CONCAT({parts})), {digits}), 16, 10) AS UNSIGNED)"


def _name(*names: str) -> str:
    return ".".join("`" + name.replace("`", "``") + "`" for name in names)


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(_name, names))


def _standard(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def _standard_list(names: Sequence[str]) -> str:
    return ", ".join(map(_standard, names))


_TABLES = """SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'
AND table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys', 'logreplay') ORDER BY 1, 2"""
_ENGINE = """SELECT table_name, engine FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema = %s AND table_name = %s"""
_COLUMNS = """SELECT column_name, data_type, column_type, collation_name, is_nullable, coalesce(generation_expression, '') <> '', extra
FROM information_schema.columns WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"""
_KEYS = """SELECT index_name, column_name, sub_part FROM information_schema.statistics
WHERE table_schema = %s AND table_name = %s AND non_unique = 0 ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index"""
_FOREIGN_KEYS = """SELECT k.constraint_name, k.referenced_table_schema, k.referenced_table_name, k.column_name, k.referenced_column_name,
r.delete_rule, r.update_rule FROM information_schema.key_column_usage k JOIN information_schema.referential_constraints r
ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name AND r.table_name = k.table_name
WHERE k.table_schema = %s AND k.table_name = %s AND k.referenced_table_name IS NOT NULL ORDER BY k.constraint_name, k.ordinal_position"""
_RELATED = """SELECT DISTINCT table_schema, table_name FROM information_schema.key_column_usage WHERE referenced_table_name IS NOT NULL
AND ((table_schema = %s AND table_name = %s) OR (referenced_table_schema = %s AND referenced_table_name = %s)) ORDER BY 1, 2"""
_TRIGGERS = """SELECT trigger_name FROM information_schema.triggers WHERE event_object_schema = %s AND event_object_table = %s ORDER BY 1"""
