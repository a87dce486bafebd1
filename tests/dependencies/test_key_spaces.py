"""Key spaces of tables that nothing ties to others are made when they are asked for, and are those
that would be made of all tables at once."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace

import numpy as np
import pytest

from replay.changes.catalog import Catalog, ColumnFormat, RowFormat, TableVersion, VersionColumns
from replay.dependencies import key_spaces
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.links import row_spaces
from replay.dependencies.preconditions import SpaceRoles
from sqlgen.constraints import Constraints, ForeignKey
from sqlgen.schema import Column, SqlType, Table

COLUMNS = (
    Column("ID", SqlType.INTEGER, False),
    Column("CODE", SqlType.DECIMAL, False, 9),
    Column("NAME", SqlType.VARCHAR, True, 20),
    Column("OTHER", SqlType.INTEGER, True),
)


def drawn(seed: int) -> tuple[Catalog, Constraints]:
    """Tables of which some have generations, other names, keys, parents, or none of these."""
    chance = random.Random(seed)
    versions: list[TableVersion] = []
    for number in range(chance.randrange(1, 30)):
        again = versions and chance.random() < 0.2
        name = chance.choice(versions).table.name if again else f"t{number}"
        columns = COLUMNS[: chance.randrange(1, 5)]
        key = chance.choice([(), ("ID",), tuple(column.name for column in columns[:2])])
        same_id = versions and chance.random() < 0.1
        psid, obid = (chance.choice(versions).psid, 7) if same_id else (number * 2, number * 3)
        ids = (0, 0, 0) if chance.random() < 0.2 else (1, psid, obid)
        entries = tuple(
            ColumnFormat(column, "INT", 4) for column in chance.sample(columns, len(columns))
        )
        versions.append(
            TableVersion(
                number, Table("T", name, columns, key), *ids, 1, 0, bytes(10), bytes(10), "T", name,
                RowFormat(entries),
            )
        )  # fmt: skip
    names = [version.name.upper() for version in versions]
    keys = tuple((name, ("ID", "NAME")) for name in names if chance.random() < 0.1)
    foreign = tuple(
        ForeignKey(f"F{child}", child, ("OTHER",), parent, chance.choice([(), ("ID",)]))
        for child in names
        if chance.random() < 0.1
        for parent in [chance.choice([*names, "T.ELSEWHERE"])]
    )
    return Catalog(tuple(versions)), Constraints(keys, foreign)


@pytest.mark.parametrize("travels", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_they_are_those_of_all_at_once(
    seed: int, travels: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog, constraints = drawn(seed)
    with monkeypatch.context() as patch:
        tied = key_spaces.tied_tables

        def all_tied(
            names: list[str], ids: list[tuple[int, int, int]], stated: Constraints
        ) -> tuple[dict[int, str], list[int]]:
            more = replace(stated, keys=(*stated.keys, *((name, ("?",)) for name in names)))
            return tied(names, ids, more)

        patch.setattr(key_spaces, "tied_tables", all_tied)
        whole = KeySpaces(catalog, constraints)
    found = KeySpaces(catalog, constraints)
    if travels:
        found = pickle.loads(pickle.dumps(found))
    assert [*found.spaces] == [*whole.spaces]
    assert [*found.uses] == [*whole.uses]
    assert [*found.forms] == [*whole.forms]
    assert [*found.column_places] == [*whole.column_places]
    assert found.table_space == whole.table_space
    assert found.several_forms() == whole.several_forms()
    for number in range(len(whole.uses)):
        assert found.row_space(number) == whole.row_space(number)
        assert found.generations(number) == whole.table_space.count(whole.table_space[number])
    for name, mask in vars(whole.kinds).items():
        assert np.array_equal(getattr(found.kinds, name), mask), name
    evented = frozenset(random.Random(seed).sample(whole.table_space, 1))
    emptied = {whole.spaces[number].table for number in evented}
    assert row_spaces(found, evented).tolist() == [
        space.kind == "row" and space.table not in emptied for space in whole.spaces
    ]
    roles, several = SpaceRoles.of(found, evented), whole.several_forms()
    unsure = emptied | {whole.spaces[number].table for number in several}
    assert roles.emptied.tolist() == [space.table in emptied for space in whole.spaces]
    assert roles.unsure.tolist() == [space.table in unsure for space in whole.spaces]
    tables = {whole.spaces[number].table: number for number in whole.table_space}
    assert found.kinds.table.tolist() == [tables[space.table] for space in whole.spaces]
    for number in range(len(whole.spaces)):
        users = [
            index
            for index, uses in enumerate(whole.uses)
            if any(use.space == number for use in uses)
        ]
        assert set(users) <= set(found.versions_of(number))


def test_only_tables_that_are_asked_for_are_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = tuple(
        TableVersion(
            number, Table("T", f"T{number}", COLUMNS, ("ID",)), 1, 2, number + 1, 1, 0, bytes(10),
            bytes(10), "T", "T", RowFormat(tuple(ColumnFormat(one, "INT", 4) for one in COLUMNS)),
        )
        for number in range(1000)
    )  # fmt: skip
    keys = (("T.T5", ("ID", "NAME")),)
    catalog, spaces = pickle.loads(
        pickle.dumps((Catalog(versions), KeySpaces(Catalog(versions), Constraints(keys))))
    )
    made: list[int] = []
    whole = VersionColumns.version
    monkeypatch.setattr(
        VersionColumns,
        "version",
        lambda columns, index: made.append(index) or whole(columns, index),
    )
    assert spaces.uses[700][0].columns == ("ID",)
    assert KeySpaces(catalog, Constraints(keys)).uses[5][1].columns == ("ID", "NAME")
    assert made == [5]
