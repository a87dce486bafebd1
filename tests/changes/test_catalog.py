"""Which generation of a table a record belongs to."""

from __future__ import annotations

import numpy as np
import pytest

from replay.changes.catalog import Catalog, RowFormat, TableVersion
from sqlgen.schema import Table


def version(index: int, obid: int, created: int, dropped: int, psid: int = 2) -> TableVersion:
    def position(number: int) -> bytes:
        return b"\xff" * 10 if number < 0 else number.to_bytes(10, "big")

    table = Table("T", f"V{index}", (), ())
    return TableVersion(
        index,
        table,
        1,
        psid,
        obid,
        index + 1,
        0,
        position(created),
        position(dropped),
        "T",
        "V",
        RowFormat(()),
    )


def lookup(catalog: Catalog, *records: tuple[int, int, int, int]) -> list[int]:
    """(DBID, PSID, OBID, position) of records -> indexes."""
    columns = np.array(records, np.int64).reshape(-1, 4).T
    places = np.array(
        [list(int(record[3]).to_bytes(10, "big")) for record in records], np.uint8
    ).reshape(-1, 10)
    return catalog.lookup(columns[0], columns[1], columns[2], lambda: places).tolist()


def test_generations_meet_without_overlap() -> None:
    """CREATERBA is within, DROPRBA is not."""
    catalog = Catalog((version(0, 3, 100, 200), version(1, 3, 200, 300), version(2, 3, 400, 0)))
    places = (99, 100, 199, 200, 299, 300, 399, 400, 10**18)
    assert lookup(catalog, *((1, 2, 3, place) for place in places)) == [
        -1,
        0,
        0,
        1,
        1,
        -1,
        -1,
        2,
        2,
    ]


@pytest.mark.parametrize("still", [0, -1], ids=["zero", "all ones"])
def test_both_forms_of_not_dropped(still: int) -> None:
    catalog = Catalog((version(0, 3, 0, 50), version(1, 3, 50, still)))
    assert lookup(catalog, (1, 2, 3, 49), (1, 2, 3, 50), (1, 2, 3, 10**18)) == [0, 1, 1]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_without_drops_the_last_one_created_counts(order: tuple[int, int]) -> None:
    """Whatever the order of the control records."""
    created = (100, 200)
    catalog = Catalog(
        tuple(version(index, 3, created[which], 0) for index, which in enumerate(order))
    )
    assert lookup(catalog, (1, 2, 3, 99), (1, 2, 3, 150), (1, 2, 3, 250)) == [
        -1,
        order.index(0),
        order.index(1),
    ]


def test_the_only_generation_is_taken_whatever_the_position() -> None:
    catalog = Catalog((version(0, 3, 100, 200), version(1, 4, 100, 200)))
    assert lookup(catalog, (1, 2, 3, 5), (1, 2, 4, 500)) == [0, 1]

    def nobody_asks() -> np.ndarray:
        raise AssertionError

    one = np.array([1], np.int64)
    assert catalog.lookup(one, one * 2, one * 3, nobody_asks).tolist() == [0]


def test_all_three_ids_count() -> None:
    catalog = Catalog((version(0, 3, 0, 0, psid=2), version(1, 3, 0, 0, psid=9)))
    found = lookup(
        catalog,
        (1, 2, 3, 0),
        (1, 9, 3, 0),
        (2, 2, 3, 0),
        (1, 2, 4, 0),
        (1, 3, 3, 0),
        (0xFFFF, 0xFFFF, 0xFFFF, 0),
    )
    assert found == [0, 1, -1, -1, -1, -1]
    assert lookup(Catalog(()), (1, 2, 3, 0)) == [-1]
    assert lookup(catalog) == []


def test_large_ids_do_not_run_into_each_other() -> None:
    high = version(0, 0xFFFF, 0, 0, psid=0xFFFF)
    assert lookup(Catalog((high,)), (1, 0xFFFF, 0xFFFF, 0), (2, 0, 0xFFFF, 0)) == [0, -1]
