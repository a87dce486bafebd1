"""Which generation of a table a record belongs to."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from replay.changes.catalog import (
    Catalog,
    ColumnFormat,
    RowFormat,
    TableVersion,
    VersionColumns,
)
from sqlgen.schema import Column, SqlType, Table


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


def many(count: int) -> tuple[TableVersion, ...]:
    """Tables that share their columns, each third one without a key, and two generations of one."""
    columns = (Column("ID", SqlType.INTEGER, False), Column("NAME", SqlType.VARCHAR, True, 20))
    shared = RowFormat(tuple(ColumnFormat(column, "INT", 4) for column in columns))
    return tuple(
        TableVersion(
            index,
            Table("T", f"V{index}", columns, ("ID",) if index % 3 else ()),
            1 + index % 7,
            2,
            index if index else 1,
            index + 1,
            index % 2,
            index.to_bytes(10, "big"),
            b"\xff" * 10,
            shared if index % 5 else replace(shared, date_format="SAS"),
            "V" if index % 4 else "F",
            "EDIT" * (index == 8),
            (f"IX{index}",) if index % 2 else (),
            index % 3,
        )
        for index in range(count)
    )


def test_catalogs_travel_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """What arrives is what was sent, and versions that nobody asks for are not made."""
    versions = many(40)
    sent = Catalog(versions)
    arrived = pickle.loads(pickle.dumps(sent))
    made: list[int] = []
    whole = VersionColumns.version

    def noted(columns: VersionColumns, index: int) -> TableVersion:
        made.append(index)
        return whole(columns, index)

    monkeypatch.setattr(VersionColumns, "version", noted)
    assert arrived.versions[7] == versions[7]
    records = [(one.dbid, one.psid, one.obid, 10**18) for one in versions]
    assert lookup(arrived, *records) == lookup(sent, *records)
    assert arrived.versions[7] is arrived.versions[7]
    assert len(arrived.versions) == 40
    assert made == [7]
    assert arrived.versions[-1:] == versions[-1:]
    assert arrived.versions == versions
    assert arrived == sent
    assert sorted(made) == list(range(40))
    assert arrived.versions[1].format is arrived.versions[2].format
    assert pickle.loads(pickle.dumps(arrived)) == sent
    with pytest.raises(IndexError):
        arrived.versions[40]


def test_versions_of_a_subclass_do_not_travel() -> None:
    """What it adds would be lost."""

    class Richer(TableVersion):
        pass

    with pytest.raises(TypeError, match="expected TableVersion"):
        pickle.dumps(Catalog((Richer(**vars(many(1)[0])),)))
