"""A small log of one table with a column of each type, for what a target may do by itself."""

from __future__ import annotations

from pathlib import Path

from tests.support.logbuilder import Col, LogBuilder, Row, Tab
from tests.support.servers import of_kind

#: All columns, with types of Db2: INTEGER, DECIMAL(9,2), VARCHAR(10), CHAR(5), DATE, TIMESTAMP(6),
#: DOUBLE, REAL, BIGINT, SMALLINT, VARCHAR(6) FOR BIT DATA, TIME.
COLUMNS = (
    Col("K", "INT", 4, key=1),
    Col("N", "DEC", 5, scale=2),
    Col("T", "VCHR", 10),
    Col("C", "CHAR", 5),
    Col("D", "DATE", 10),
    Col("TS", "DTTM", 26, nulls="Y"),
    Col("F", "FLOT", 8),
    Col("R", "FLOT", 4),
    Col("B", "INT", 8),
    Col("S", "INT", 2),
    Col("X", "VCHR", 6, subtype="B"),
    Col("C2", "TIME", 8),
)
TABLE = Tab("THINGS", COLUMNS)
#: Its types in each dialect, in the order of COLUMNS.
TYPES = {
    "postgres": (
        "integer", "numeric(9,2)", "varchar(10)", "char(5)", "date", "timestamp(6)",
        "double precision", "real", "bigint", "smallint", "bytea", "time(0)",
    ),
    "duckdb": (
        "INTEGER", "DECIMAL(9,2)", "VARCHAR", "VARCHAR", "DATE", "TIMESTAMP", "DOUBLE", "FLOAT",
        "BIGINT", "SMALLINT", "BLOB", "TIME",
    ),
    "sqlite": (
        "INTEGER", "NUMERIC", "TEXT", "TEXT", "TEXT", "TEXT", "REAL", "REAL", "INTEGER", "INTEGER",
        "BLOB", "TEXT",
    ),
    "mariadb": (
        "int", "decimal(9,2)", "varchar(10) COLLATE utf8mb4_bin", "char(5) COLLATE utf8mb4_bin",
        "date", "datetime(6)", "double", "float", "bigint", "smallint", "varbinary(6)", "time",
    ),
}  # fmt: skip
FIRST: Row = (
    1, "1.25", "abc", "ab", "2024-03-15", "2024-03-15 10:00:00.123456", 0.5, 0.25, 10, 1, b"\x01",
    "10:00:00",
)  # fmt: skip
SECOND: Row = (
    2, "1234567.89", "longer one", "abcde", "2024-03-16", None, 0.1, 1.5, 2**60, 300, b"\x02\x03",
    "11:00:00",
)  # fmt: skip


def write_log(folder: Path, key: bool = True, text: str = "abcd", number: int = 1) -> list[str]:
    """A log that inserts two rows, changes the first and deletes the second; the options that name
    it. ``key``: whether the log knows a key of the table; ``text``: what its column T becomes;
    ``number``: its key."""
    columns = COLUMNS if key else tuple(Col("K", "INT", 4) if c.key else c for c in COLUMNS)
    table = Tab("THINGS", columns)
    log = LogBuilder((table,))
    unit = log.unit()
    first = (number, *FIRST[1:])
    unit.insert(table, first)
    unit.insert(table, SECOND)
    unit = log.unit()
    unit.update(table, first, (number, "2.50", text, *FIRST[3:]))
    unit = log.unit()
    unit.delete(table, SECOND)
    return _written(log, folder)


def text_key_log(folder: Path, key: bool = True, new: str = "") -> list[str]:
    """A log that changes V of the row 'a' of a table N, V from 1 to 2; or inserts a ``new`` row."""
    table = Tab("NAMES", (Col("N", "VCHR", 10, key=int(key)), Col("V", "INT", 4)))
    log = LogBuilder((table,))
    if new:
        log.unit().insert(table, (new, 2))
    else:
        log.unit().update(table, ("a", 1), ("a", 2))
    return _written(log, folder)


def _written(log: LogBuilder, folder: Path) -> list[str]:
    control, data = log.write(folder, seed=1)
    return ["--control", str(control), "--data", str(data[0]), "--engine", "local"]


def table_of(dialect: str, changed: dict[str, str], key: str = ", PRIMARY KEY (k)") -> str:
    """What stands between the parentheses of the table's CREATE, with other types of columns."""
    names = [column.name.lower() for column in COLUMNS]
    types = {**dict(zip(names, of_kind(TYPES, dialect), strict=True)), **changed}
    return ", ".join(f"{name} {types[name]}" for name in names) + key


FUNCTION = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; "
#: What stands before statements that want the table in partitions.
PARTITIONED = "CREATE TABLE testown.leaf PARTITION OF testown.things FOR VALUES FROM (0) TO (100); "
_CHILD = "CREATE TABLE testown.child () INHERITS (testown.things); "
_OTHER = "CREATE TABLE testown.other (k int {0} testown.{1} (k) ON {2}); "
#: What is made in a PostgreSQL beside the table -> code and words of the refusal.
POSTGRES_ACTS = {
    "a trigger": (
        FUNCTION + "CREATE TRIGGER w AFTER UPDATE ON testown.things FOR EACH ROW EXECUTE"
        " FUNCTION f()",
        "trigger",
        "triggers of the target would fire again: w.",
    ),
    "a trigger of a partition": (
        PARTITIONED
        + FUNCTION
        + "CREATE TRIGGER w AFTER UPDATE ON testown.leaf FOR EACH ROW EXECUTE FUNCTION f()",
        "trigger",
        "w on testown.leaf",
    ),
    "a trigger of a child": (
        FUNCTION
        + _CHILD
        + "CREATE TRIGGER w AFTER UPDATE ON testown.child FOR EACH ROW EXECUTE FUNCTION f()",
        "trigger",
        "w on testown.child",
    ),
    "an action on a partition": (
        PARTITIONED + _OTHER.format("REFERENCES", "leaf", "DELETE CASCADE"),
        "foreign-key-action",
        "other_k_fkey of testown.other (ON DELETE CASCADE)",
    ),
    "an action on a child": (
        _CHILD
        + "ALTER TABLE testown.child ADD PRIMARY KEY (k);"
        + _OTHER.format("REFERENCES", "child", "UPDATE SET NULL"),
        "foreign-key-action",
        "other_k_fkey of testown.other (ON UPDATE SET NULL)",
    ),
    "a rule that does more": (
        "CREATE TABLE testown.log (k int); CREATE RULE also AS ON INSERT TO testown.things DO ALSO"
        " INSERT INTO testown.log VALUES (NEW.k)",
        "rule",
        "rules of the target would do something else, or more: also",
    ),
    "a rule that does another thing": (
        "CREATE RULE never AS ON DELETE TO testown.things DO INSTEAD NOTHING",
        "rule",
        "never",
    ),
    "a computed column": (
        "ALTER TABLE testown.things DROP s; ALTER TABLE testown.things ADD s smallint GENERATED"
        " ALWAYS AS (k * 2) STORED",
        "generated",
        "the target computes its column s, and the log has values for it",
    ),
    "an exclusion constraint": (
        "ALTER TABLE testown.things ADD CONSTRAINT apart EXCLUDE USING gist"
        " (int4range(k, k + 1) WITH &&)",
        "exclusion",
        "apart",
    ),
    "a table that inherits": (
        "CREATE TABLE testown.heir () INHERITS (testown.things)",
        "inherited",
        "a key which one of these holds comes twice: testown.heir",
    ),
    "a collation that ignores case": (
        # servers without ICU make no such collation
        'CREATE COLLATION testown.ci FROM "C"; UPDATE pg_collation SET collisdeterministic = false'
        " WHERE collname = 'ci'; ALTER TABLE testown.things ALTER t TYPE varchar(10) COLLATE"
        " testown.ci",
        "comparison",
        "its column t takes different texts for equal (collation ci)",
    ),
    "an unlogged table": (
        "ALTER TABLE testown.things SET UNLOGGED",
        "unlogged",
        "testown.things is UNLOGGED",
    ),
    "an unlogged child": (
        "CREATE UNLOGGED TABLE testown.child () INHERITS (testown.things)",
        "unlogged",
        "testown.child is UNLOGGED",
    ),
    "a publication": (
        "ALTER TABLE testown.things DROP CONSTRAINT things_pkey; CREATE UNIQUE INDEX u ON"
        " testown.things (k); CREATE PUBLICATION told FOR ALL TABLES;"
        " CREATE PUBLICATION more FOR TABLE testown.things WITH (publish = 'update');"
        " CREATE PUBLICATION others FOR TABLE testown.things WITH (publish = 'insert')",
        "published",
        "without a replica identity: testown.things in more, told. ALTER TABLE … REPLICA",
    ),
    "a column without a default": (
        "ALTER TABLE testown.things ADD COLUMN extra int NOT NULL",
        "required",
        "rows are inserted, and its column extra is NOT NULL and has no default",
    ),
    "a domain that is not null": (
        "CREATE DOMAIN testown.needed AS int NOT NULL;"
        " ALTER TABLE testown.things ADD COLUMN extra testown.needed",
        "required",
        "its column extra is NOT NULL",
    ),
    "a domain over one that is not null": (
        "CREATE DOMAIN testown.needed AS int NOT NULL;"
        " CREATE DOMAIN testown.over AS testown.needed;"
        " CREATE DOMAIN testown.twice AS testown.over;"
        " ALTER TABLE testown.things ADD COLUMN extra testown.twice",
        "required",
        "its column extra is NOT NULL",
    ),
    "a domain over one of citext": (
        "CREATE EXTENSION citext; CREATE DOMAIN testown.folds AS citext;"
        " CREATE DOMAIN testown.over AS testown.folds;"
        " CREATE DOMAIN testown.twice AS testown.over;"
        " ALTER TABLE testown.things ALTER t TYPE testown.twice",
        "comparison",
        "its column t takes different texts for equal (citext",
    ),
    "a partition's column": (
        PARTITIONED + "ALTER TABLE testown.things ADD COLUMN extra int;"
        " ALTER TABLE testown.leaf ALTER extra SET NOT NULL",
        "required",
        "its column extra is NOT NULL",
    ),
    "a publication of the root": (
        PARTITIONED + "CREATE TABLE testown.second PARTITION OF testown.things DEFAULT;"
        " ALTER TABLE testown.leaf REPLICA IDENTITY NOTHING; CREATE PUBLICATION told FOR TABLE"
        " testown.things WITH (publish_via_partition_root)",
        "published",
        "testown.leaf in told",
    ),
}
