"""A history of solidDB's DDL on PostgreSQL, and back: what is there after each step is what was
there when the step was first reached."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from replay.cli.main import main
from sqlgen.ddl.expressions import Place
from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.schema import Table
from sqlgen.soliddb.history import History
from sqlgen.structure import StructureChange, statements
from tests.logs.soliddb.test_structure import ID, MORE, NAME, NEW, OLD, VERSION, Tab, unit
from tests.support.places import GOLDEN
from tests.support.solidbuilder import Col, LogBuilder, write_catalog, write_rows

HISTORY = (GOLDEN / "soliddb.ddl.sql").read_text(encoding="utf-8").splitlines()
POSTGRES = profile_named("postgres")
#: What a database with these schemas holds, but for the numbers that PostgreSQL gives and the order
#: of columns, which no statement brings back.
SHOWN = """
    SELECT 'column', table_schema, table_name, column_name, data_type, character_maximum_length,
           numeric_precision, numeric_scale, is_nullable, column_default
           FROM information_schema.columns WHERE table_schema IN ('dba', 'other')
    UNION ALL SELECT 'index', schemaname, tablename, indexname, indexdef,
              NULL, NULL, NULL, NULL, NULL
              FROM pg_indexes WHERE schemaname IN ('dba', 'other')
    UNION ALL SELECT 'constraint', n.nspname, r.relname, c.conname, pg_get_constraintdef(c.oid),
              NULL, NULL, NULL, NULL, NULL
              FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid JOIN pg_namespace n ON
              n.oid = r.relnamespace
              WHERE n.nspname IN ('dba', 'other') AND c.contype <> 'n'
    UNION ALL SELECT 'sequence', schemaname, sequencename, start_value::text, increment_by::text,
              NULL, NULL, NULL, NULL, NULL FROM pg_sequences
    UNION ALL SELECT 'view', schemaname, viewname, '', definition, NULL, NULL, NULL, NULL, NULL
              FROM pg_views WHERE schemaname IN ('dba', 'other')
    ORDER BY 1, 2, 3, 4, 5
"""


def run(connection: psycopg.Connection, change: StructureChange) -> None:
    for statement in statements(change, POSTGRES, "lower"):
        connection.execute(statement.encode())


def test_history_and_back(fresh_database: str) -> None:
    history = History(Place("DBA", "SHOP"))
    done: list[tuple[StructureChange, list[tuple[object, ...]]]] = []
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA dba")
        connection.execute("CREATE SCHEMA other")
        for text in HISTORY:
            change = history.change(text, Table("DBA", "T", ()))
            before = connection.execute(SHOWN).fetchall()
            try:
                run(connection, change)
            except SqlgenError:
                assert connection.execute(SHOWN).fetchall() == before
            else:
                done.append((change, before))
        assert len(done) == len(HISTORY) - 4
        for change, before in reversed(done):
            inverse = change.inverse(values=False)
            if inverse is None:
                assert change.source[0].text.startswith("TRUNCATE")
            else:
                run(connection, inverse)
            assert connection.execute(SHOWN).fetchall() == before, change.source[0].text
        assert connection.execute(SHOWN).fetchall() == []


def test_a_drop_of_a_table_whose_schema_nobody_knows_is_noted(
    fresh_database: str, tmp_path: Path
) -> None:
    log = LogBuilder()
    other = Tab(10_301, "DBA", "U", (ID, NAME, VERSION), key=("ID",))
    unit(log, lambda made: made.ddl(17, "T", OLD.relid, "DROP TABLE T"))
    unit(log, lambda made: made.insert(other, (3, "c")))
    write_catalog(tmp_path, [other])
    path = write_rows(tmp_path / "syslog.parquet", log.rows)
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA dba")
        connection.execute("CREATE TABLE dba.u (id integer PRIMARY KEY, name varchar(20))")
        where = ["--source", "soliddb", "--log", str(path), "--catalog", str(tmp_path)]
        assert main(["replay", *where, "--to", fresh_database, "--apply"]) == 4
        assert connection.execute("SELECT id, name FROM dba.u").fetchall() == [(3, "c")]


def create_text(table: Tab) -> str:
    sized = {"VARCHAR": "VARCHAR(20)"}
    columns = [
        f"{c.name} {sized.get(c.type, c.type)}{'' if c.null else ' NOT NULL'}"
        for c in table.columns
        if not c.attr
    ]
    return f"CREATE TABLE T ({', '.join(columns)}, PRIMARY KEY ({', '.join(table.key)}))"


CODE = Col("CODE", "INTEGER", null=False)
RENAMED = Tab(OLD.relid, "DBA", "T", (CODE, NAME, VERSION), key=("CODE",))
AGAIN = Tab(10_302, "DBA", "T", (CODE, MORE, VERSION), key=("CODE",))
KEYED = Col("NAME", "VARCHAR", 20, null=False)
SAME = Tab(10_302, "DBA", "T", (Col("ID", "INTEGER"), KEYED, VERSION), key=("NAME",))


@pytest.mark.parametrize(
    ("texts", "later", "key"),
    [
        (("ALTER TABLE T RENAME COLUMN ID CODE",), RENAMED, "id"),
        (("DROP TABLE T", create_text(AGAIN)), AGAIN, "id"),
        (("DROP TABLE T", create_text(SAME)), SAME, "id"),
        (("ALTER TABLE T ADD COLUMN MORE INTEGER",), NEW, ""),
    ],
)
def test_what_identifies_rows_of_later_forms_is_not_asked_of_the_target(
    texts: tuple[str, ...],
    later: Tab,
    key: str,
    fresh_database: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = LogBuilder()
    first = unit(log, lambda made: made.insert(OLD, (1, "a"))).hex().upper()
    kinds = {"ALTER": 22, "DROP": 17, "CREATE": 45}
    for text in texts:
        kind = kinds[text.split()[0]]
        relid = later.relid if kind == 45 else OLD.relid
        name = "CAT.DBA.T" if kind == 45 else "T"
        unit(log, lambda made, k=kind, n=name, r=relid, t=text: made.ddl(k, n, r, t))
    rows = {RENAMED: (2, "b"), AGAIN: (2, 5), SAME: (2, "b"), NEW: (2, "b", 5)}
    unit(log, lambda made: made.insert(later, rows[later]))
    dropped = [OLD] if later.relid != OLD.relid else []
    manifest = {"dropped_tables": {str(table.relid): first for table in dropped}}
    write_catalog(tmp_path, [later, *dropped], manifest)
    path = write_rows(tmp_path / "syslog.parquet", log.rows)
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA dba")
        connection.execute("CREATE TABLE dba.t (id integer NOT NULL, name varchar(20))")
        if key:
            connection.execute("ALTER TABLE dba.t ADD PRIMARY KEY (id)")
        where = ["--source", "soliddb", "--log", str(path), "--catalog", str(tmp_path)]
        code = main(["replay", *where, "--to", fresh_database, "--apply"])
        said = capsys.readouterr().out
        if not key:
            assert code == 8
            assert "DBA.T: no unique key of the target lies within id" in said
            return
        assert code == 0
        assert connection.execute("SELECT * FROM dba.t").fetchall()[-1] == rows[later]
