"""Which keys count of tables and their generations, and what changes did to them, whole ones and
damaged ones, as text to be read. Hashes are shown as letters: equal ones alone have the same.
``REWRITE_GOLDEN=1`` writes the file again; look at the difference before you keep it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from replay.changes.envelope import RECORD, Change
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.passes import EdgeJob
from replay.dependencies.write_sets import TOUCH, ChangeBatch, KeyRole, WriteSets
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Constraints, ForeignKey
from tests.support.history import CHILD, LOOSE, PARENT
from tests.support.logbuilder import Col, LogBuilder, Tab, generation, lrsn

GOLDEN = Path(__file__).parent / "write_sets.txt"

ID, CODE = Col("ID", "INT", 4, key=1), Col("CODE", "INT", 4)
DECIMAL, DATE = Col("ID", "DEC", 5, key=1), Col("ID", "DATE", 10, key=1)
NAME, MORE = Col("NAME", "CHAR", 5), Col("MORE", "INT", 4, nulls="Y")
TEXT = Col("TEXT", "CLOB", 4, nulls="L")


def plain(column: Col) -> Col:
    return replace(column, key=0)


def generations(old: tuple[Col, ...], new: tuple[Col, ...], **changed: object) -> tuple[Tab, Tab]:
    """Two generations of TESTOWN.T."""
    first = Tab("T", old, created=lrsn(1), dropped=lrsn(1000))
    later = {"columns": new, "created": lrsn(1000), "dropped": bytes(10), **changed}
    return first, generation(first, 2, **later)


def foreign(
    name: str, columns: tuple[str, ...], parent: str, to: tuple[str, ...] = ()
) -> ForeignKey:
    return ForeignKey(name, f"TESTOWN.{name}", columns, f"TESTOWN.{parent}", to)


FAMILY = Constraints(
    keys=(
        ("TESTOWN.PARENT", ("CODE",)),
        ("TESTOWN.PARENT", ("ID",)),
        ("TESTOWN.PARENT", ("B", "A")),
        ("TESTOWN.LOOSE", ("N", "NOPE")),
        ("TESTOWN.OTHER", ("ID",)),
    ),
    foreign_keys=(
        foreign("CHILD", ("PID",), "PARENT"),
        foreign("CHILD", ("X", "PID"), "PARENT", ("B", "A")),
        foreign("CHILD", ("PID", "X"), "PARENT"),
        foreign("CHILD", ("PID", "NOPE"), "PARENT", ("A", "B")),
        foreign("CHILD", ("PID",), "NOWHERE"),
        foreign("PARENT", ("A",), "PARENT", ("ID",)),
    ),
)
OF_T = Constraints(
    keys=(("TESTOWN.T", ("CODE",)), ("TESTOWN.SOFT", ("MORE",))),
    foreign_keys=(foreign("T", ("CODE",), "T", ("ID",)),),
)
#: A key whose columns are in another order than their names.
TURNED = Tab("TURNED", (Col("A", "INT", 4, key=2), Col("B", "INT", 4, key=1)), obid=12)
OF_TURNED = Constraints(foreign_keys=(foreign("CHILD", ("PID", "X"), "TURNED", ("B", "A")),))
#: What it is about, the tables, what is known of their keys.
CATALOGS: list[tuple[str, tuple[Tab, ...], Constraints]] = [
    ("no more than primary keys", (PARENT, CHILD, LOOSE), Constraints()),
    ("unique and foreign keys", (PARENT, CHILD, LOOSE), FAMILY),
    ("a child that comes before its parent", (CHILD, PARENT), FAMILY),
    ("a child before the key that it refers to", (CHILD, TURNED), OF_TURNED),
    ("a unique key for a row", (LOOSE,), Constraints(keys=(("TESTOWN.LOOSE", ("T", "N")),))),
    ("a column added", generations((ID, NAME), (ID, NAME, MORE)), Constraints()),
    ("columns turned", generations((ID, NAME), (NAME, ID)), Constraints()),
    ("columns turned, no key", generations((plain(ID), NAME), (NAME, plain(ID))), Constraints()),
    ("integers, then decimals", generations((ID, CODE), (DECIMAL, CODE)), OF_T),
    (
        "decimals, then integers, elsewhere too",
        generations((CODE, plain(ID)), (CODE, plain(DECIMAL))),
        Constraints(keys=(("TESTOWN.T", ("CODE", "ID")),)),
    ),
    (
        "integers, then floats",
        generations((ID, CODE), (replace(ID, code="FLOT", length=8), CODE)),
        OF_T,
    ),
    ("short integers", generations((ID, CODE), (replace(ID, length=2), CODE)), OF_T),
    ("dates, then text", generations((DATE,), (replace(NAME, name="ID", key=1),)), Constraints()),
    ("another key", generations((ID, CODE), (plain(ID), replace(CODE, key=1))), OF_T),
    ("a key dropped", generations((ID, CODE), (plain(ID), CODE)), OF_T),
    ("a unique key that is gone", generations((ID, CODE), (ID, NAME)), OF_T),
    ("another name", generations((ID, CODE), (ID, CODE), name="U"), OF_T),
]  # fmt: skip


def key_spaces(spaces: KeySpaces, log: LogmasterLog) -> Iterator[str]:
    for space in spaces.spaces:
        yield f"  {space.number} {space.kind} {space.table} {' '.join(space.columns)}"
    for number, version in enumerate(log.catalog.versions):
        uses = " ".join(
            f"{use.how}:{use.space}({','.join(use.in_order)}"
            f"{' as decimals ' + ','.join(sorted(use.textual)) if use.textual else ''})"
            for use in spaces.uses[number]
        )
        assert spaces.row_space(number) is spaces.spaces[spaces.uses[number][0].space]
        yield (
            f"  {version.name}: {uses} table:{spaces.table_space[number]}"
            f" forms:{spaces.forms[number]} places:{spaces.column_places[number]}"
        )


def cut(image: bytes) -> bytes:
    return image[:-1]


def whole_log() -> LogBuilder:
    """Rows with keys, nulls and the same values again."""
    log = LogBuilder((PARENT, CHILD, LOOSE))
    one, two = log.unit(), log.unit()
    one.insert(PARENT, (1, "A", 2, 3), cuts=(7,))
    one.insert(PARENT, (2, None, 2, 2))
    one.insert(CHILD, (1, 1, 2))
    one.insert(CHILD, (2, None, 2))
    one.insert(LOOSE, ("A", 1))
    two.update(PARENT, (1, "A", 2, 3), (1, "B ", 2, 3))
    two.update(PARENT, (1, "B ", 2, 3), (1, "B", 1, 3))
    two.update(PARENT, (2, None, 2, 2), (3, None, 2, 2), cuts=(9, 20))
    two.update(CHILD, (1, 1, 2), (1, None, 2))
    two.update(CHILD, (2, None, 2), (2, 3, 2))
    two.update(LOOSE, ("A", 1), ("A", 2))
    two.delete(LOOSE, ("A", 2))
    two.delete(CHILD, (2, 3, 2))
    two.event(CHILD, "DM")
    two.insert(CHILD, (2, 3, 2))
    return log


def damaged_log() -> LogBuilder:
    """Images that cannot be read, on one side and on both, and values of keys that are none."""
    log = LogBuilder((PARENT, LOOSE, Tab("DEC", (DECIMAL, CODE), obid=9)))
    one = log.unit()
    for before, after in ((1, 2), (3, 3), (4, 5), (6, 7)):
        one.update(PARENT, (before, "A", 0, 0), (after, "A", 0, 1))
    one.update(LOOSE, ("A", 1), ("A", 2))
    one.insert(PARENT, (8, "B", 0, 0))
    one.delete(PARENT, (8, "B", 0, 0))
    updates = [change for change in log.changes if len(change.images) == 2]
    for change, sides in zip(updates, ((0,), (1,), (0, 1), (), (0,)), strict=True):
        for side in sides:
            change.images[side] = cut(change.images[side])
    for change in log.changes[-2:]:
        change.images[0] = cut(change.images[0])
    dec = log.tables[2]
    for number, bad in ((1, 0), (2, 1), (3, 2)):
        change = one.update(dec, (str(number), 0), (str(number), 1))
        for side in range(2):
            if bad in (side, 2):
                change.images[side] = b"\xaa" * 5 + change.images[side][5:]
    one.insert(dec, ("1", 5))
    one.update(PARENT, (7, "A", 0, 1), (8, "A", 0, 1))
    return log


def generations_log() -> LogBuilder:
    """A row in two forms, integers first and decimals later on; large objects; a key that goes; a
    unique key with nulls."""
    old, new = generations((ID, CODE), (DECIMAL, CODE, MORE))
    note = Tab("NOTE", (ID, TEXT, CODE), obid=8)
    keyed, bare = (
        replace(table, name="BARE", obid=10)
        for table in generations((ID, CODE), (plain(ID), CODE, MORE))
    )
    soft = Tab("SOFT", (MORE, CODE), obid=11)
    log = LogBuilder((old, new, note, keyed, bare, soft))
    one = log.unit()
    one.insert(soft, (None, 1))
    one.update(soft, (None, 1), (None, 2))
    one.update(soft, (None, 2), (5, 2))
    for number in (1, 2):
        one.insert(keyed, (number, 5))
    one.insert(old, (1, 5))
    one.update(old, (1, 5), (1, 6))
    one.insert(note, (1, None, 3))
    one.update(note, (1, None, 3), (1, None, 4))
    log.clock = max(log.clock, 1008)
    two = log.unit()
    two.update(new, ("1", 6, None), ("1", 7, None))
    two.update(new, ("1", 7, None), ("2", 7, 1))
    two.insert(new, ("3", 7, 1))
    two.update(bare, (1, 5, None), (1, 5, 1))
    for number in (2, 3):
        two.delete(bare, (number, 5, None))
    return log


OPTIONS: tuple[tuple[str, dict[str, bool]], ...] = (
    ("as they are", {}),
    ("by value, with forms", {"by_value": True, "with_forms": True}),
    ("keys alone, with forms of each", {"with_images": False, "with_forms": True, "each": True}),
)
LOGS = (
    ("whole", whole_log, FAMILY),
    ("damaged", damaged_log, FAMILY),
    ("forms", generations_log, OF_T),
)


def batch_of(log: LogmasterLog, spaces: KeySpaces) -> ChangeBatch:
    """All changes, with their segments side by side."""
    job = EdgeJob(spaces, frozenset(), np.zeros(0, RECORD))
    ((split, _, _),) = log.splits(1 << 20)
    ((records, _, change, version),) = job.batches(log, split)
    head = np.flatnonzero(records["segment"] <= 1)
    weight = np.diff(np.append(head, len(records)))
    return ChangeBatch(records, head, weight, change[head], version[head])


def touches(found: np.ndarray, units: list[bytes]) -> Iterator[str]:  # type: ignore[type-arg]
    """In the order of changes, spaces and roles; letters for hashes in this order."""
    letters: dict[int, str] = {0: "-"}

    def letter(value: int) -> str:
        return letters.setdefault(value, f"h{len(letters)}")

    pairs = {(entry["space"], entry["key"], entry["check"]) for entry in found}
    for side in (1, 2):
        assert len({(pair[0], pair[side]) for pair in pairs}) == len(pairs), "as one, so the other"
    order = np.lexsort((found["role"], found["space"], found["change"]))
    for touch in found[order]:
        yield (
            f"  change {touch['change']} of {units.index(touch['unit'].tobytes())}:"
            f" {KeyRole(touch['role']).name} space {touch['space']} key {letter(int(touch['key']))}"
            f" version {touch['version']}"
            f" {letter(int(touch['before']))} -> {letter(int(touch['after']))}"
        )


def of_log(title: str, log: LogmasterLog, constraints: Constraints) -> Iterator[str]:
    spaces = KeySpaces(log.catalog, constraints)
    batch = batch_of(log, spaces)
    units = list(dict.fromkeys(unit.tobytes() for unit in batch.records["unit"]))
    yield f"== log, {title}"
    yield from key_spaces(spaces, log)
    evented = frozenset(
        spaces.table_space[version]
        for version, entry in enumerate(log.catalog.versions)
        if entry.table.name in ("CHILD", "NOTE")
    )
    for words, options in OPTIONS:
        write_sets = WriteSets(log, spaces, evented, **options)
        for _ in range(2):  # a second batch begins anew, but counts on
            found = write_sets.touches(batch)
        assert found.dtype == TOUCH
        heads = batch.records[batch.head[found["change"]]]
        for name in ("commit", "unit", "position"):
            assert (found[name] == heads[name]).all()
        unread = sorted(np.concatenate([*write_sets.unread, [-1]]).tolist())[1:]
        yield f"- {words}: {write_sets.unreadable} unreadable, unread {unread}"
        yield from touches(found, units)
    columns = WriteSets(log, spaces)
    yield f"- changed columns {columns.changed_columns(batch)}"
    for shown in (
        None,
        RenderOptions(columns=("A", "ID", "CODE")),
        RenderOptions(where_columns="all"),
    ):
        yield f"- masks {columns.column_masks(batch, shown)}"
    every = np.arange(len(batch.head))
    told = np.isin(every, columns.touches(batch)["change"])
    for kind in (Change.INSERT, Change.UPDATE, Change.DELETE):
        for version, entry in enumerate(log.catalog.versions):
            some = every[told & (batch.change == kind) & (batch.version == version)]
            names = [column.name for column in entry.table.columns if column.name != "TEXT"]
            for side in ("before", "after") if len(some) else ():
                if (side == "before") is (kind is Change.INSERT) and kind is not Change.UPDATE:
                    continue
                values = columns.values_of_all(batch, some, side, names)
                one = [columns.values_of(batch, int(change), side, names) for change in some]
                assert one == values
                yield f"- {kind.name} {entry.name} {side} {values}"
    assert columns.values_of_all(batch, every[:1], "after", []) == [[]]
    two, all_of_them = (columns.touches(some) for some in (batch.part(every[1:3]), batch))
    assert len(two) == np.isin(all_of_them["change"], (1, 2)).sum()


def lines(folder: Path) -> Iterator[str]:
    for number, (title, tables, constraints) in enumerate(CATALOGS):
        builder, where = LogBuilder(tables), folder / f"c{number}"
        where.mkdir()
        builder.unit().insert(tables[0], row_of(tables[0]))
        log = open_log(*builder.write(where))
        yield f"== keys, {title}"
        yield from key_spaces(KeySpaces(log.catalog, constraints), log)
    for title, build, constraints in LOGS:
        (folder / title).mkdir()
        yield from of_log(title, open_log(*build().write(folder / title)), constraints)


def row_of(table: Tab) -> tuple[object, ...]:
    """Some row."""
    some = {"INT": 1, "DEC": "1", "DATE": "2024-01-01", "FLOT": 1.0}
    return tuple(some.get(column.code, "A") for column in table.columns)


def test_write_sets_are_as_reviewed(tmp_path: Path) -> None:
    text = "".join(f"{line}\n" for line in lines(tmp_path))
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text.splitlines() == GOLDEN.read_text(encoding="utf-8").splitlines()
