"""The framing detector on random tables: it may ask, and it never reads a value that was not
written."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from replay.errors import InputError
from replay.logs.soliddb import layouts
from replay.logs.soliddb.detect import SolidShape, TableImages, settle
from replay.logs.soliddb.rows import walk
from replay.logs.soliddb.tables import Attribute, column_format
from tests.support.solidbuilder import TYPES, Col, Framing, LogBuilder, Tab

ALL = [Framing(f.lengths.name, f.count, f.nul) for f in layouts.framings()]


def value(pick: random.Random, column: Col) -> Any:
    if column.null and pick.random() < 0.2:
        return None
    kind = TYPES[column.type][1]
    return {
        0: lambda: "".join(pick.choice("ab Z9é") for _ in range(pick.choice((0, 1, 3, 30)))),
        1: lambda: pick.choice((0, 1, -1, pick.randrange(-(2**31), 2**31))),
        3: lambda: pick.choice((0.0, 1.5, -2e300)),
        4: lambda: (
            f"{pick.randrange(1, 9999):04d}-{pick.randrange(1, 13):02d}-{pick.randrange(1, 29):02d}"
        ),
        5: lambda: f"{pick.randrange(-999, 999)}.{pick.randrange(100):02d}",
        6: lambda: pick.randbytes(pick.choice((0, 1, 2, 9))) + pick.choice((b"", b"\0")),
        7: lambda: "".join(pick.choice("ab Z9é") for _ in range(pick.choice((0, 1, 3, 30)))),
        8: lambda: pick.randrange(-(2**63), 2**63),
    }[kind]()


def table(pick: random.Random, number: int, text: bool) -> Tab:
    kinds = [
        "INTEGER",
        "BIGINT",
        "DOUBLE PRECISION",
        "DATE",
        "DECIMAL",
        "VARBINARY",
        "VARCHAR",
        "WVARCHAR",
    ][: 8 if text else 6]
    columns = [
        Col(f"C{place}", pick.choice(kinds), 40, 2, null=pick.random() < 0.7)
        for place in range(pick.randrange(1, 8))
    ]
    return Tab(
        10_000 + number,
        "S",
        f"T{number}",
        tuple([Col("T", "VARCHAR", 9, null=False)] * text + columns),
    )


def groups_of(
    pick: random.Random, framing: Framing, tables: int, rows: int, text: bool
) -> tuple[list[TableImages], np.ndarray[Any, Any]]:
    log, data, groups = LogBuilder(framing, bias=pick.random() < 0.5), b"", []
    for number in range(tables):
        made = table(pick, number, text)
        images = [
            log.image(made, [value(pick, column) for column in made.columns]) for _ in range(rows)
        ]
        ends = len(data) + np.cumsum([len(image) for image in images])
        attributes = tuple(
            Attribute(
                place,
                0,
                column_format(
                    c.name,
                    TYPES[c.type][0],
                    layouts.InternalType(TYPES[c.type][1]),
                    40,
                    10,
                    2,
                    c.null,
                    1208,
                    place,
                ),
            )
            for place, c in enumerate(made.columns)
        )
        start = ends - [len(image) for image in images]
        groups.append(
            TableImages(
                made.name,
                attributes,
                start.astype(np.int64),
                ends.astype(np.int64),
                np.arange(rows),
            )
        )
        data += b"".join(images)
    return groups, np.frombuffer(data, np.uint8)


def reads_alike(groups: list[TableImages], data: Any, shape: SolidShape, framing: Framing) -> bool:
    true = next(f for f in layouts.framings() if Framing(f.lengths.name, f.count, f.nul) == framing)
    for group in groups:
        one, other = (
            walk(group.format("A"), data, group.start, group.end, f) for f in (shape.framing, true)
        )
        assert not other.bad.any()
        for mine, theirs in zip(one.columns, other.columns, strict=True):
            if any(
                (getattr(mine, name) != getattr(theirs, name)).any()
                for name in ("place", "length", "null")
            ):
                return False
    return True


@pytest.mark.long
@pytest.mark.parametrize(
    ("tables", "rows", "text"),
    [(1, 1, False), (1, 1, True), (1, 5, False), (3, 5, False), (3, 5, True)],
)
def test_no_value_is_read_that_was_not_written(tables: int, rows: int, text: bool) -> None:
    pick = random.Random(tables * 100 + rows * 10 + text)
    asked = 0
    for _ in range(60):
        framing = pick.choice(ALL)
        groups, data = groups_of(pick, framing, tables, rows, text)
        try:
            shape, _ = settle(groups, data, "log")
        except InputError as error:
            assert error.code == "LR2018", error  # noqa: PT017
            asked += 1
            continue
        assert reads_alike(groups, data, shape, framing), (framing, shape)
    if tables > 1 and text:
        assert asked == 0
