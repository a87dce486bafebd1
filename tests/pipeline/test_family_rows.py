"""Machine code reads the rows of Db2 LUW and solidDB as their own walks do: the same statements,
outcomes and findings of any row, and the same scripts of whole logs, whatever wrote them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import replay
from replay.arrays import Bytes, Index
from replay.changes.catalog import Catalog, RowFormat, TableVersion
from replay.changes.envelope import Change
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.decoding.plain_rows import PlainRows
from replay.engine import local
from replay.errors import LogReplayError
from replay.logs import Images, Walk
from replay.logs.db2luw import rows as luw_rows
from replay.logs.db2luw import tables as luw_tables
from replay.logs.db2luw.layouts import DIALECTS
from replay.logs.soliddb import rows as solid_rows
from replay.logs.soliddb import tables as solid_tables
from replay.logs.soliddb.layouts import FRAMINGS, InternalType
from replay.native import fast_path
from replay.native.fast_program import OPS
from replay.output.delete_and_reinsert import values_differ
from replay.output.jobs import write
from replay.output.steps import Script, scripts_of_folder
from replay.pipeline import partition
from replay.pipeline.copy_lines import CopyLines
from replay.pipeline.mixed_rows import MixedRows
from replay.pipeline.plan import Mode, Plan, make_plan
from replay.pipeline.row_batch import whole_rows
from replay.pipeline.rows import RowDecoder
from sqlgen.dialects import BUILT_IN, profile_named
from sqlgen.literals import Policy
from sqlgen.mapping import TableMap, TableMapping
from sqlgen.masking import cannot_mask
from sqlgen.render.staged_merge import Merging, NotPlain
from sqlgen.render_options import RenderOptions
from sqlgen.rows import Op
from sqlgen.rows import Rows as LoadedRows
from sqlgen.schema import Table
from tests.pipeline.test_fast_path import assert_same
from tests.support import luwbuilder, solidbuilder

ROWS = 50
LETTERS = "abcXYZ 0123456789'" * 4 + "é€𝄞\u0301ß"
#: Texts that few dialects write as they are.
ODD = ("", " ", "a\nb", "back\\slash", "\0", "'" * 9, "é" * 40)


def text(pick: random.Random, most: int) -> str:
    """A text of at most so many characters."""
    if pick.random() < 0.03:
        return pick.choice(ODD)[:most]
    return "".join(pick.choices(LETTERS, k=pick.randrange(most + 1)))


def moment(pick: random.Random, kind: str, digits: int) -> str:
    """A date, a time or a timestamp with so many digits of a fraction; few of them are none."""
    day = pick.choice(("0001-01-01", "1900-02-28", "2024-02-29", "9999-12-31", "1988-07-06"))
    if pick.random() < 0.02:
        day = pick.choice(("2023-02-29", "0000-01-01", "2024-00-10", "2024-01-00", "2024-13-01"))
    hour = f"{pick.randrange(24):02}:{pick.randrange(60):02}:{pick.randrange(60):02}"
    hour = pick.choice(("24:00:00", "23:60:00")) if pick.random() < 0.02 else hour
    if kind != "TIMESTAMP":
        return day if kind == "DATE" else hour
    fraction = pick.choice(("", "", "123456", "123456789012", "5"))[:digits].ljust(digits, "0")
    return f"{day} {hour}.{fraction}" if digits else f"{day} {hour}"


def number(pick: random.Random, digits: int, scale: int) -> str:
    """A decimal number of at most so many digits."""
    most = 10 ** (digits - scale)
    whole = pick.choice((0, most // 3, most - 1, pick.randrange(most)))
    fraction = pick.choice((0, pick.randrange(10**scale)))
    return f"{pick.choice(('', '-'))}{whole}" + (f".{fraction:0{scale}}" if scale else "")


def integer(pick: random.Random, octets: int) -> int:
    """A whole number in two's complement."""
    least = -(1 << 8 * octets - 1)
    return pick.choice((least, -least - 1, 0, -1, pick.randrange(least, -least)))


@dataclass(frozen=True)
class Rows:
    """A table in a test: how its rows lie, and what makes an image of one."""

    version: TableVersion
    plain: PlainRows | None
    walk: Callable[[RowFormat, Bytes, Index, Index], Walk]
    image: Callable[[Sequence[Any]], bytes]
    values: Callable[[random.Random], list[Any]]

    def images(self, pick: random.Random, kind: Change) -> Images:
        """The images of some changes, anywhere in a buffer; few are damaged."""
        buffer, bounds = pick.randbytes(9), np.zeros((4, ROWS), np.int64)
        for row in range(ROWS):
            values = self.values(pick)
            sides = list(range(2 if kind is Change.UPDATE else 1))
            pick.shuffle(sides)
            for side in sides:
                image = damaged(pick, self.image(values))
                bounds[2 * side : 2 * side + 2, row] = len(buffer), len(buffer) + len(image)
                buffer += image + pick.randbytes(pick.randrange(3))
                fresh = self.values(pick)
                values = [
                    new if pick.random() < 0.2 else old
                    for old, new in zip(values, fresh, strict=True)
                ]
        one, two = (bounds[0], bounds[1]), (bounds[2], bounds[3])
        before = None if kind is Change.INSERT else one
        after = None if kind is Change.DELETE else two if kind is Change.UPDATE else one
        bad = np.array([pick.random() < 0.02 for _ in range(ROWS)])
        words = "row", "bad bounds", "good ones"
        return Images(np.frombuffer(buffer, np.uint8), before, after, bad, lambda row: words)


def damaged(pick: random.Random, image: bytes) -> bytes:
    """An image, once in a while with another byte, or shorter, or longer."""
    place = pick.randrange(len(image))
    if pick.random() < 0.04:
        return image[:place] + pick.choice((b"\0", b"\1", b"\xff", pick.randbytes(1))) + (
            image[place + 1 :]
        )  # fmt: skip
    if pick.random() < 0.02:
        return image[:place]
    return image + b"\0" if pick.random() < 0.01 else image


def version_of(columns: Sequence[Any], keys: int) -> TableVersion:
    """A table of columns as the log describes them, of which the first are its key."""
    table = Table(
        "S", "T", tuple(entry.column for entry in columns),
        tuple(entry.column.name for entry in columns[:keys]),
    )  # fmt: skip
    fmt = RowFormat(tuple(columns))
    return TableVersion(0, table, 0, 2, 3, 0, 0, bytes(10), bytes(10), "S", "T", fmt)


# -- Db2 LUW
# -------------------------------------------------------------------------------------------------

LUW_KINDS = (
    luwbuilder.Col("", "SMALLINT"),
    luwbuilder.Col("", "INTEGER"),
    luwbuilder.Col("", "BIGINT"),
    luwbuilder.Col("", "DECIMAL", 9, 2),
    luwbuilder.Col("", "DECIMAL", 10, 3),
    luwbuilder.Col("", "DECIMAL", 25, 25),
    luwbuilder.Col("", "DATE"),
    luwbuilder.Col("", "TIME"),
    luwbuilder.Col("", "TIMESTAMP", scale=0),
    luwbuilder.Col("", "TIMESTAMP", scale=3),
    luwbuilder.Col("", "TIMESTAMP", scale=6),
    luwbuilder.Col("", "TIMESTAMP", scale=12),
    luwbuilder.Col("", "CHARACTER", 9),
    luwbuilder.Col("", "CHARACTER", 4, page=819),
    luwbuilder.Col("", "VARCHAR", 60),
    luwbuilder.Col("", "VARCHAR", 60, page=819),
    luwbuilder.Col("", "GRAPHIC", 6),
    luwbuilder.Col("", "VARGRAPHIC", 30),
)


def luw_value(pick: random.Random, column: luwbuilder.Col) -> Any:
    """A value of a column."""
    if column.null and pick.random() < 0.2:
        return None
    octets = {"SMALLINT": 2, "INTEGER": 4, "BIGINT": 8}.get(column.type)
    if octets:
        return integer(pick, octets)
    if column.type == "DECIMAL":
        # of an even number of digits, there is room for one more
        more = column.length % 2 == 0 and pick.random() < 0.1
        return number(pick, column.length + more, column.scale)
    if column.type in ("DATE", "TIME", "TIMESTAMP"):
        return moment(pick, column.type, column.scale)
    value = text(pick, column.length)
    if "GRAPHIC" in column.type:  # of two units each, at most
        return value.replace("𝄞", "")
    while len(value.encode()) > column.length:
        value = value[:-1]
    return value


def luw_columns(pick: random.Random) -> tuple[luwbuilder.Col, ...]:
    """A key, and some columns of any kinds."""
    kinds = pick.choices(LUW_KINDS, k=pick.randrange(1, 7))
    others = [
        replace(kind, name=f"C{place}", null=pick.random() < 0.5)
        for place, kind in enumerate(kinds, 1)
    ]
    return luwbuilder.Col("C0", "INTEGER", key=1), *others


def luw(pick: random.Random) -> Rows:
    """A table of Db2 LUW."""
    columns, big = luw_columns(pick), pick.random() < 0.5
    table = luwbuilder.Tab(2, 3, "S", "T", columns, compressed=pick.random() < 0.1)
    formats, offset = [], 0
    for column in columns:
        formats.append(
            luw_tables.column_format(
                column.name, column.type, column.catalog_length, column.scale, column.null,
                column.page, offset,
            )
        )  # fmt: skip
        offset += column.fixed + column.null
    version, dialect = version_of(formats, 1), DIALECTS[pick.choice(("v97", "v10"))]
    return Rows(
        version,
        luw_rows.plain_rows(version.format, big, dialect),
        lambda *given: luw_rows.walk(*given, big, dialect),
        lambda values: table.row(values, big),
        lambda pick: [luw_value(pick, column) for column in columns],
    )


# -- solidDB
# -------------------------------------------------------------------------------------------------

SOLID_KINDS = (
    solidbuilder.Col("", "TINYINT"),
    solidbuilder.Col("", "SMALLINT"),
    solidbuilder.Col("", "INTEGER"),
    solidbuilder.Col("", "BIGINT"),
    solidbuilder.Col("", "DECIMAL", 12, 2),
    solidbuilder.Col("", "NUMERIC", 16, 0),
    solidbuilder.Col("", "DATE"),
    solidbuilder.Col("", "TIME"),
    solidbuilder.Col("", "TIMESTAMP"),
    solidbuilder.Col("", "CHAR", 9),
    solidbuilder.Col("", "VARCHAR", 300),
    solidbuilder.Col("", "WCHAR", 9),
    solidbuilder.Col("", "WVARCHAR", 40),
)
DECIMALS = ("12.", "-.5", "+7", "00.50", "###", "", ".", "-0", "1.234567", "9" * 53, "1 ")


def solid_value(pick: random.Random, column: solidbuilder.Col) -> Any:
    """A value of a column, or none where there should be one, or octets that may be none."""
    if pick.random() < (0.2 if column.null else 0.02):
        return None
    if pick.random() < 0.01:
        return pick.randbytes(pick.randrange(12))
    kind = solidbuilder.TYPES[column.type][1]
    if kind in (1, 8):
        small = pick.choice((-129, -128, 0, 1, 255, 256, 65_535, 65_536))
        return small if pick.random() < 0.3 else integer(pick, 4 if kind == 1 else 8)
    if kind == 4:
        return moment(pick, column.type, 9)
    if kind == 5:
        odd = pick.random() < 0.1
        return pick.choice(DECIMALS) if odd else number(pick, column.length, column.scale or 0)
    return text(pick, column.length)


def solid(pick: random.Random) -> Rows:
    """A table of solidDB."""
    kinds = pick.choices(SOLID_KINDS, k=pick.randrange(1, 7))
    others = [
        replace(kind, name=f"C{place}", null=pick.random() < 0.5)
        for place, kind in enumerate(kinds, 1)
    ]
    columns = (solidbuilder.Col("C0", "INTEGER", null=False), *others)
    charset, how = pick.choice((1208, 1208, 819)), ("utf-8", True)
    formats = []
    for place, column in enumerate(columns):
        sql, kind = solidbuilder.TYPES[column.type]
        formats.append(
            solid_tables.column_format(
                column.name, sql, InternalType(kind), column.length, column.length, column.scale,
                column.null, charset, place,
            )
        )  # fmt: skip
    framing = FRAMINGS[pick.choice(sorted(FRAMINGS))]
    builder = solidbuilder.Framing(framing.lengths.name, framing.count, framing.nul)
    codes = [solidbuilder.TYPES[column.type][1] for column in columns]

    def image(values: Sequence[Any]) -> bytes:
        encoded = [
            value if value is None or isinstance(value, bytes) else column.encode(value, *how)
            for column, value in zip(columns, values, strict=True)
        ]
        return builder.row(encoded, codes)

    version = version_of(formats, 1)
    return Rows(
        version,
        solid_rows.plain_rows(version.format, framing),
        lambda *given: solid_rows.walk(*given, framing),
        image,
        lambda pick: [solid_value(pick, column) for column in columns],
    )


# -- any row
# -------------------------------------------------------------------------------------------------


class Log:
    """As much of a log as a decoder asks for."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.catalog = rows, Catalog((rows.version,))

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> Walk:
        return self.rows.walk(self.catalog.versions[version].format, buffer, start, end)

    def plain_rows(self, version: int) -> PlainRows | None:
        return self.rows.plain


def plan_of(pick: random.Random, table: Table) -> Plan:
    """A plan in any dialect and direction; some have masks."""
    render = RenderOptions(
        where_columns=pick.choice(("key", "guard", "all")),
        exclude_columns=pick.choice(((), (), ("C2",))),
        upsert=pick.random() < 0.3,
        policy=Policy(
            char_padding=pick.choice(("strip", "keep")),
            empty_text=pick.choice(("refuse", "null", "space")),
        ),
    )
    render = replace(render, where_columns="key") if render.upsert else render
    dialect = pick.choice(sorted(BUILT_IN))
    mapping = None
    if pick.random() < 0.1:
        masks = tuple(column.name for column in table.columns if not cannot_mask(column))
        entry = TableMapping(mask=masks[pick.randrange(2) :: 2])
        mapping = TableMap({}, {f"{table.schema}.{table.name}": entry}, bytes(range(32)))
    options = ScriptOptions(dialect, render=render, mapping=mapping)
    nothing, ones = np.zeros(0, np.uint64), np.ones(1, bool)
    return Plan(pick.choice(("redo", "undo")), Selection(), options, (), nothing, ones)


@pytest.mark.parametrize("family", [luw, solid], ids=["Db2 LUW", "solidDB"])
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, 4))]
)
def test_both_ways_say_the_same_of_any_row(
    family: Callable[[random.Random], Rows], part: int
) -> None:
    told: Counter[str] = Counter()
    for seed in range(40 * part, 40 * part + 40):
        pick = random.Random(seed)
        rows, kind = family(pick), pick.choice(list(OPS))
        image, plan = rows.images(pick, kind), plan_of(pick, rows.version.table)
        made = []
        for expected in (fast_path.WORTH, -1):
            log: Any = Log(rows)
            decoder = RowDecoder(plan, log, profile_named(plan.options.dialect), expected)
            made.append(decoder.statements(0, kind, image))
            if decoder.shortcut is not None and rows.plain is not None:
                found = decoder.shortcut.statements(rows.version, OPS[kind], image, rows.plain)
                told["tables"] += found is not None
                told["rows"] += 0 if found is None else ROWS - len(found.odd)
        assert_same(*made)
    assert told["tables"] >= 20
    assert told["rows"] > 20 * ROWS // 2


# -- whole logs
# -------------------------------------------------------------------------------------------------


def luw_log(folder: Path, pick: random.Random) -> dict[str, Any]:
    """A log of Db2 LUW: interleaved transactions, some of them aborted, and rows that moved."""
    dialect, framing = pick.choice((("v7", "lsn6"), ("v97", "flt16"), ("v10", "raw")))
    log = luwbuilder.LogBuilder(dialect, pick.random() < 0.5, framing)
    tables = [
        luwbuilder.Tab(2, number, "SHOP", f"T{number}", luw_columns(pick), pick.random() < 0.2)
        for number in range(3, 7)
    ]
    place = 0
    for _ in range(60):
        unit, kept = log.begin(), 0
        for _ in range(pick.randrange(1, 9)):
            table, place = pick.choice(tables), place + 1
            one, other = ([luw_value(pick, column) for column in table.columns] for _ in range(2))
            if pick.random() < 0.4:
                mixed = [pick.choice(pair) for pair in zip(one, other, strict=True)]
                other = mixed if pick.random() < 0.1 else [one[0], *mixed[1:]]
                if pick.random() < 0.2:
                    unit.insert(table, other, (1 << 20, place), outer=4)
                    unit.update(table, table.row(one, log.big), unit.pointer(), (place, 1))
                else:
                    unit.update(table, one, other, (place, 1))
            else:
                pick.choice((unit.insert, unit.delete))(table, one, (place, 1))
        if pick.random() < 0.1:
            unit.rollback_to(kept)
        unit.abort() if pick.random() < 0.1 and unit.rollback_to(0) is None else unit.commit()
    (folder / "luw.log").write_bytes(log.bytes())
    (folder / "catalog.csv").write_text(luwbuilder.catalog_csv(tables), encoding="utf-8")
    catalog = str(folder / "catalog.csv")
    return {"source": "db2luw", "log": str(folder / "luw.log"), "catalog": catalog}


def solid_log(folder: Path, pick: random.Random) -> dict[str, Any]:
    """A log of solidDB."""
    framing = FRAMINGS[pick.choice(sorted(FRAMINGS))]
    log = solidbuilder.LogBuilder(
        solidbuilder.Framing(framing.lengths.name, framing.count, framing.nul)
    )
    tables = []
    for number in range(4):
        kinds = pick.choices(SOLID_KINDS, k=pick.randrange(1, 7))
        others = (replace(kind, name=f"C{place}") for place, kind in enumerate(kinds, 1))
        hidden = solidbuilder.Col("RS_ANAME_TUPLE_VERSION", "BIGINT", attr=2)
        columns = (solidbuilder.Col("C0", "INTEGER"), *others, hidden)
        tables.append(solidbuilder.Tab(10_001 + number, "SHOP", f"T{number}", columns, ("C0",)))
    for _ in range(60):
        unit = log.begin()
        for _ in range(pick.randrange(1, 9)):
            table = pick.choice(tables)
            one, other = ([solid_row(pick, column) for column in table.user()] for _ in range(2))
            if pick.random() < 0.5:
                mixed = [pick.choice(pair) for pair in zip(one, other, strict=True)]
                unit.update(table, one, mixed if pick.random() < 0.1 else [one[0], *mixed[1:]])
            else:
                pick.choice((unit.insert, unit.delete))(table, one)
        unit.commit()
    solidbuilder.write_catalog(folder / "catalog", tables)
    solidbuilder.write_rows(folder / "syslog.parquet", log.rows)
    catalog = {"catalog": str(folder / "catalog"), "framing": str(framing)}
    return {"source": "soliddb", "log": str(folder / "syslog.parquet"), **catalog}


def solid_row(pick: random.Random, column: solidbuilder.Col) -> Any:
    """A value of a column; one of its type, for the log is refused where many are not."""
    if column.name == "C0":
        return pick.randrange(10**6)
    kind, most = solidbuilder.TYPES[column.type][1], 2**31 - 1
    if column.null and pick.random() < 0.2:
        return None
    if kind in (1, 8):
        return pick.randrange(0, {"TINYINT": 256, "SMALLINT": 65_536}.get(column.type, most))
    if kind == 5:
        return number(pick, column.length, column.scale or 0)
    if kind == 4:
        return {"DATE": "2024-02-29", "TIME": "12:34:56"}.get(
            column.type, f"2024-02-29 01:02:03.{pick.choice(('000000000', '123456000'))}"
        )
    return text(pick, column.length)


def bundle(opened: dict[str, Any], out: Path, mode: str, options: dict[str, Any]) -> dict[str, Any]:
    """The scripts by name and what the manifest says of them, or why there are none."""
    try:
        with replay.open_log(**opened) as log:
            selected = log.select(where=options.get("where"))
            written = {name: value for name, value in options.items() if name != "where"}
            (selected.undo if mode == "undo" else selected.redo)(**written).write(out)
    except LogReplayError as error:
        return {"refused": str(error).replace(out.name, "")}
    told = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    said = {name: told[name] for name in ("balance", "findings", "statements")}
    return {path.name: path.read_bytes() for path in out.rglob("*.sql")} | said


@pytest.mark.long
@pytest.mark.parametrize("make", [luw_log, solid_log], ids=["Db2 LUW", "solidDB"])
@pytest.mark.parametrize("seed", range(2))
def test_scripts_are_the_same(
    make: Callable[[Path, random.Random], dict[str, Any]], seed: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pick = random.Random(seed)
    opened = make(tmp_path, pick)
    monkeypatch.setattr(partition, "CHUNK", 100)
    monkeypatch.setattr(fast_path, "WORTH", 1)
    settled: list[int] = []
    real = MixedRows.statements

    def told(self: MixedRows, changes: Any) -> Any:
        for made in real(self, changes):
            settled.append(int(made.settled.sum()))
            yield made

    monkeypatch.setattr(MixedRows, "statements", told)
    options: list[dict[str, Any]] = [
        {"dialect": "oracle", "empty_text": "space"},
        {"dialect": "mariadb", "where_columns": "guard", "asserts": "none"},
        {"upsert": True, "where": "C0 % 3 > 0"},
        {"where": "C1 IS NOT NULL"},
        {},
        {"upsert": True},
    ][seed::2]
    made = []
    for fast in (True, False):
        if not fast:
            monkeypatch.setattr(fast_path, "compiled", lambda: None)
        for mode in ("redo", "undo"):
            for number, how in enumerate(options):
                out = tmp_path / f"{mode}-{number}-{fast}"
                made.append(bundle(opened, out, mode, how))
    fast_ones, others = made[: len(made) // 2], made[len(made) // 2 :]
    assert fast_ones == others
    assert sum("refused" not in one for one in others) > len(others) // 2
    assert sum(settled) > 300


@pytest.mark.parametrize("make", [luw_log, solid_log], ids=["Db2 LUW", "solidDB"])
@pytest.mark.parametrize("seed", range(3))
def test_loads_are_those_of_values(
    make: Callable[[Path, random.Random], dict[str, Any]], seed: int, tmp_path: Path
) -> None:
    pick = random.Random(seed)
    opened = make(tmp_path, pick)
    render = RenderOptions(
        where_columns=pick.choice(("key", "guard", "all")),
        policy=Policy(char_padding=pick.choice(("strip", "keep"))),
    )
    postgres, plain = profile_named("postgres"), 0
    with replay.open_log(**opened) as asked:
        log = asked.opened.log
        plan = make_plan(log, Mode.REDO, Selection(), ScriptOptions(render=render))
        (tmp_path / "out").mkdir()
        write(local.ENGINE, replace(plan, steps=True), log, tmp_path / "out")
        for script in map(Script, scripts_of_folder(tmp_path / "out")):
            every, head = script.records_of(np.arange(len(script.steps)))
            weight = script.steps["weight"].astype(np.int64)
            records = every[head]
            groups = sorted({(int(one["version"]), int(one["change"])) for one in records})
            for version, kind in groups:
                rows = (records["version"] == version) & (records["change"] == kind)
                args = every, head[rows], weight[rows], version, Change(kind)
                found = CopyLines(log, postgres, render).rows(*args)
                if found is None:
                    continue
                parts = list(whole_rows(log, *args))
                if len(parts) > 1:
                    continue
                types = {name.lower(): "text" for name in found.before | found.after}
                merging = Merging(postgres, render, types)
                try:
                    load = merging.load(found, 1)
                except NotPlain:
                    continue
                assert load == merging.load(with_changes(parts[0][1]), 1)
                plain += found.count
    assert plain > 30


def with_changes(rows: LoadedRows) -> LoadedRows:
    """Rows with which columns of them changed."""
    if rows.op is not Op.UPDATE:
        return rows
    names = [column.name for column in rows.table.columns]
    masks = {name: values_differ(rows.before[name], rows.after[name], False) for name in names}
    shown = {name: pa.array(mask) for name, mask in masks.items() if mask.any()}
    return replace(rows, changed=shown)
