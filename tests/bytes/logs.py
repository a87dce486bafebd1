"""The logs of the matrix, each as the options that name it.

This is the only module of the folder that knows the builders of the tests and the fixtures.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tests.independent import luw_history as drawn_luw
from tests.independent import luw_records
from tests.support import (
    history,
    logbuilder,
    luwbuilder,
    luwsakila,
    solidbuilder,
    solidsakila,
)

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SAKILA = FIXTURES / "sakila"

EMPX = luwbuilder.Tab(
    2,
    5,
    "DB2INST1",
    "EMPX",
    (
        luwbuilder.Col("ID", "INTEGER", key=1),
        luwbuilder.Col("NAME", "VARCHAR", 20, null=True),
        luwbuilder.Col("SALARY", "DECIMAL", 9, 2, null=True),
        luwbuilder.Col("HIRED", "DATE"),
        luwbuilder.Col("TS", "TIMESTAMP", scale=6, null=True),
        luwbuilder.Col("CODE", "CHARACTER", 3),
    ),
)
RESUME = luwbuilder.Tab(
    2,
    5,
    "DB2INST1",
    "EMP_RESUME",
    (
        luwbuilder.Col("EMPNO", "CHARACTER", 6, key=1),
        luwbuilder.Col("RESUME_FORMAT", "VARCHAR", 10, key=2),
        luwbuilder.Col("RESUME", "CLOB", 5120, null=True),
    ),
)
NOTE = logbuilder.Tab(
    "NOTE",
    (
        logbuilder.Col("ID", "INT", 4, key=1),
        logbuilder.Col("TEXT", "CLOB", 4, nulls="L"),
        logbuilder.Col("SIZE", "INT", 4),
    ),
)
#: Parts of examples.txt that make one unit of recovery.
WHOLE_UNIT = ("insert", "update", "insert2", "undoinsert2", "delete", "commit")
PUBLISHED = [f"published-RV{number}" for number in range(6)]
INCOMPLETE = "incomplete/log/incomplete"


def logmaster(control: Path, *data: Path) -> list[str]:
    """The options that name a log of Log Master."""
    return ["--control", str(control), "--data", *map(str, data)]


def other(source: str, log: Path, catalog: Path) -> list[str]:
    """The options that name a log of another family."""
    return ["--source", source, "--log", str(log), "--catalog", str(catalog)]


# -- Log Master ----------------------------------------------------------------------------------


def fixture(control: str, data: str, _: Path) -> list[str]:
    """A log that is bundled."""
    return logmaster(FIXTURES / control, FIXTURES / data)


def kin(folder: Path, incomplete: bool = False) -> list[str]:
    """Units that build on each other, with the keys that say so in ``schema.sql``."""
    (folder / "schema.sql").write_text(history.SCHEMA, encoding="utf-8")
    made = history.Maker(11, 40).history
    marked = (frozenset({7}), frozenset({8, 9, 10})) if incomplete else (frozenset(), frozenset())
    control, data = made.log(folder, *marked, seed=3)
    return logmaster(control, *data)


def bank(folder: Path, framing: str = "rdw", files: int = 1, **how: Any) -> list[str]:
    """Every kind of change of one table, and rows in segments."""
    table, row = logbuilder.ACCT, logbuilder.acct
    log = logbuilder.LogBuilder(**how)
    first = log.unit()
    first.insert(table, row(1), cuts=(9,))
    first.insert(table, row(2, None, None))
    second = log.unit(member=2, AUTHID="AUDITOR", PLAN="PLANB")
    second.update(table, row(1), row(1, "it's", "0.01"), cuts=(5, 31))
    second.update(table, row(2, None, None), row(3, "ÄÖ\\n", "999.99"))
    aborted = log.unit(UORDISP="A")
    aborted.insert(table, row(4, "GONE"), LOGRECDISP="A")
    last = log.unit()
    last.delete(table, row(3, "ÄÖ\\n", "999.99"))
    last.insert(table, row(5, "BACK"), LOGRECDISP="S")
    control, data = log.write(folder, framing, files, seed=5)
    return logmaster(control, *data)


def damaged(folder: Path) -> list[str]:
    """A unit that cannot be trusted, one that is whole, and one that changed the first's row."""
    table, row = logbuilder.ACCT, logbuilder.acct
    log = logbuilder.LogBuilder()
    log.unit().insert(table, row(1))
    log.unit(SQLTYPE="Q").update(table, row(1), row(1, "WRONG"))
    log.unit().insert(table, row(2, "NUL\0"))
    log.unit().insert(table, row(3))
    control, data = log.write(folder)
    return logmaster(control, *data)


def generations(folder: Path) -> list[str]:
    """A table of which a second generation has a column more."""
    old = logbuilder.Tab("ITEM", (logbuilder.Col("ID", "INT", 4, key=1),))
    more = (*old.columns, logbuilder.Col("MORE", "VCHR", 9, nulls="Y"))
    new = logbuilder.generation(old, 2, columns=more, obid=4)
    log = logbuilder.LogBuilder((old, new))
    log.unit().insert(old, (1,))
    log.unit().insert(new, (2, "x"))
    log.unit().update(new, (2, "x"), (2, None))
    control, data = log.write(folder)
    return logmaster(control, *data)


def large_objects(folder: Path) -> list[str]:
    """A column whose values are not in the log."""
    one = b"\x00\x00\x00\x01"
    log = logbuilder.LogBuilder((NOTE,))
    log.unit().insert(NOTE, (1, one, 10))
    log.unit().insert(NOTE, (2, None, 20))
    log.unit().update(NOTE, (3, one, 30), (3, one, 31))
    log.unit().delete(NOTE, (4, one, 50))
    control, data = log.write(folder)
    return logmaster(control, *data)


def mass_delete(folder: Path) -> list[str]:
    """All rows of a table go at once, without row images."""
    log = logbuilder.LogBuilder()
    log.unit().insert(logbuilder.ACCT, logbuilder.acct(1))
    log.unit().event(logbuilder.ACCT, "DM")
    control, data = log.write(folder)
    return logmaster(control, *data)


# -- Db2 LUW -------------------------------------------------------------------------------------


def luw(folder: Path, data: bytes, tables: Sequence[luwbuilder.Tab]) -> list[str]:
    """A log of Db2 LUW and its catalog."""
    log, catalog = folder / "x.log", folder / "catalog.csv"
    log.write_bytes(data)
    catalog.write_text(luwbuilder.catalog_csv(tables), encoding="utf-8")
    return other("db2luw", log, catalog)


def luw_history(release: str, order: luw_records.Order, framing: str, folder: Path) -> list[str]:
    """A random history, whose log says how tables were made."""
    wants = drawn_luw.Wants(60, moves=True, compressed=release != "v7", described=True)
    made = drawn_luw.History(7, luw_records.Form(release, order, framing), wants)
    return [*drawn_luw.case_of(made, folder).source]


def luw_rows(folder: Path) -> list[str]:
    """A random history of rows only."""
    form = luw_records.Form("v10", "little", "flt56")
    made = drawn_luw.History(10, form, drawn_luw.Wants(60, short=True))
    return [*drawn_luw.case_of(made, folder).source]


def luw_structure(folder: Path) -> list[str]:
    """A table is made, gets columns, and goes."""
    late = luwbuilder.LATE
    wide = replace(late, columns=late.columns + luwbuilder.ADDED)
    log = luwbuilder.LogBuilder("v97", False, "flt16")
    works: tuple[Callable[[luwbuilder.Transaction], object], ...] = (
        lambda unit: unit.create(late),
        lambda unit: unit.insert(late, (1, "Ann", "1.500", "2001-02-03"), (4, 1)),
        lambda unit: unit.add_columns(wide, len(late.columns)),
        lambda unit: unit.insert(wide, (2, "Bob", None, "2001-02-03", 5, "why"), (4, 2)),
        lambda unit: unit.drop(wide),
    )
    for number, work in enumerate(works):
        unit = log.begin()
        work(unit)
        unit.commit(1_000_000_000 + number)
    return luw(folder, log.bytes(), (luwbuilder.PLAIN,))


def luw_examples(names: Sequence[str], table: luwbuilder.Tab, folder: Path) -> list[str]:
    """Records of the fixture that were put together by hand."""
    text = (FIXTURES / "db2luw" / "examples.txt").read_text(encoding="ascii")
    known = dict(re.findall(r"\[([\w-]+)\]\n([0-9A-F\n]+)", text))
    return luw(folder, b"".join(bytes.fromhex(known[name]) for name in names), (table,))


def small_sakila(folder: Path) -> Path:
    """The small log under the names that the encoders look for."""
    (folder / "sakila.ctl").write_bytes((SAKILA / "small" / "small.ctl").read_bytes())
    raw = (SAKILA / "small" / "small.dat").read_bytes()
    (folder / "sakila.dat.gz").write_bytes(gzip.compress(raw, mtime=0))
    return folder


def luw_sakila(dialect: str, big: bool, framing: str, folder: Path) -> list[str]:
    """The small Sakila log in the words of Db2 LUW."""
    made = luwsakila.encode(small_sakila(folder), dialect, big, framing)
    return luw(folder, made.data, made.tables)


# -- solidDB -------------------------------------------------------------------------------------


def solid(
    folder: Path, log: solidbuilder.LogBuilder, tables: Sequence[solidbuilder.Tab], suffix: str
) -> list[str]:
    """An export of SYS_LOG and its system tables."""
    solidbuilder.write_catalog(folder, tables)
    plain = solidbuilder.write_rows(folder / f"syslog{suffix.removesuffix('.gz')}", log.rows)
    if not suffix.endswith(".gz"):
        return other("soliddb", plain, folder)
    packed = folder / f"syslog{suffix}"
    packed.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()
    return other("soliddb", packed, folder)


def solid_fixture(_: Path) -> list[str]:
    """The bundled log."""
    return other("soliddb", FIXTURES / "soliddb" / "syslog.csv", FIXTURES / "soliddb")


def solid_sakila(folder: Path) -> list[str]:
    """The small Sakila log in the words of solidDB."""
    made = solidsakila.encode(small_sakila(folder), solidbuilder.Framing())
    return solid(folder, made.log, made.tables, ".csv.gz")


F = solidbuilder.Framing


def solid_ddl(framing: solidbuilder.Framing, size: int, folder: Path) -> list[str]:
    """Statements that make and drop an index, add a column and give others other names, move the
    table, and make, empty and drop another one."""
    table = solidbuilder.CUSTOMER
    log, row = solidbuilder.LogBuilder(framing, size=size), (2, "Bo", "Å", "1.00", None, 8, "x")
    first = log.begin()
    first.insert(table, (1, "Ada", "Åsa", "12.50", "2024-02-29 13:05:09", 7, None))
    first.commit()
    wide = replace(table, columns=(*table.columns, solidbuilder.Col("TIER", "SMALLINT")))
    names = tuple(replace(c, name="TITLE") if c.name == "WNAME" else c for c in wide.columns)
    last = replace(wide, name="CLIENT", columns=names)
    other = solidbuilder.Tab(10_077, "DBA", "PILE", (solidbuilder.Col("N", "INTEGER"),))
    for kind, info, of, text, after in (
        (16, "CUSTOMER_I", None, "CREATE INDEX CUSTOMER_I ON CUSTOMER (WNAME)", table),
        (22, "CUSTOMER", table, "ALTER TABLE CUSTOMER ADD COLUMN TIER SMALLINT", wide),
        (18, "CUSTOMER_I", None, "DROP INDEX CUSTOMER_I", wide),
        (22, "CUSTOMER", table, "ALTER TABLE CUSTOMER RENAME COLUMN WNAME TITLE", wide),
        (47, "SHOP.DBA.CLIENT", table, "ALTER TABLE CUSTOMER SET TABLE NAME CLIENT", last),
        (45, "SHOP.DBA.PILE", other, "CREATE TABLE PILE (N INTEGER)", other),
        (73, "PILE", other, "TRUNCATE TABLE PILE", other),
        (17, "PILE", other, "DROP TABLE PILE", last),
    ):
        unit = log.begin()
        unit.ddl(kind, info, None if of is None else of.relid, text)
        values = (log.next_id, *row[1:], *[3] * (after is not table))
        unit.insert(after, (5,) if after is other else values)
        unit.commit()
    return solid(folder, log, (last,), ".csv")


#: Name of a log -> what writes it into a folder and gives the options that name it.
LOGS: dict[str, Callable[[Path], list[str]]] = {
    "sakila": partial(fixture, "sakila/small/small.ctl", "sakila/small/small.dat"),
    "sakila-bare": partial(fixture, "sakila/small/small-nordw.ctl", "sakila/small/small-nordw.dat"),
    "sakila-whole": partial(fixture, "sakila/log/sakila.ctl", "sakila/log/sakila.dat.gz"),
    "incomplete": partial(fixture, f"{INCOMPLETE}.ctl", f"{INCOMPLETE}.dat"),
    "kin": kin,
    "kin-incomplete": partial(kin, incomplete=True),
    "bank": bank,
    "bank-bdw": partial(bank, framing="bdw", reading="B"),
    "bank-ftp": partial(bank, framing="ftp", reading="B'"),
    "bank-none": partial(bank, framing="none", expanded=True),
    "bank-files": partial(bank, files=3, own_lengths=False),
    "bank-alone": partial(bank, sharing=False),
    "bank-zeros": partial(bank, sharing=None),
    "damaged": damaged,
    "generations": generations,
    "large-objects": large_objects,
    "mass-delete": mass_delete,
    "luw-v7": partial(luw_history, "v7", "big", "lsn6"),
    "luw-v97": partial(luw_history, "v97", "little", "flt16"),
    "luw-v10": partial(luw_history, "v10", "big", "lri48"),
    "luw-raw": partial(luw_history, "v97", "little", "raw"),
    "luw-rows": luw_rows,
    "luw-structure": luw_structure,
    "luw-sakila": partial(luw_sakila, "v10", False, "lsn8"),
    "luw-example-v7": partial(luw_examples, ("v7-big-framed",), EMPX),
    "luw-example-v97": partial(luw_examples, [f"v97-little-{part}" for part in WHOLE_UNIT], EMPX),
    "luw-published": partial(luw_examples, PUBLISHED, RESUME),
    "solid": solid_fixture,
    "solid-va": partial(solid_ddl, F("va", 2), 20),
    "solid-wide": partial(solid_ddl, F("len32z"), 28),
    "solid-ind": partial(solid_ddl, F("ind0p", 4, True), 20),
    "solid-ddl": partial(solid_ddl, F(), 20),
    "solid-sakila": solid_sakila,
}
