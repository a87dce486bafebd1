"""Changes of table structure as statements."""

from __future__ import annotations

import pytest
import sqlglot

from sqlgen.dialects import profile_named
from sqlgen.schema import Column, SqlType, Table
from sqlgen.structure import Action, StructureChange, statements

POSTGRES = profile_named("postgres")
COLUMNS = (
    Column("ID", SqlType.INTEGER, False),
    Column("ORDER", SqlType.VARCHAR, True, 20),
    Column("PRICE", SqlType.DECIMAL, True, 9, 2),
    Column("AT", SqlType.TIMESTAMP, False, 6),
    Column("RAW", SqlType.VARBINARY, True, 5),
    Column("SHARE", SqlType.DOUBLE),
)
TABLE = Table("S", "T", COLUMNS, ("ID",))


@pytest.mark.parametrize(
    ("action", "columns", "text"),
    [
        (
            Action.CREATE_TABLE,
            (),
            [
                'CREATE TABLE s.t (id INTEGER NOT NULL, "order" VARCHAR(20), price DECIMAL(9, 2),'
                " at TIMESTAMP(6) NOT NULL, raw BYTEA, share DOUBLE PRECISION, PRIMARY KEY (id));"
            ],
        ),
        (Action.DROP_TABLE, (), ["DROP TABLE s.t;"]),
        (
            Action.ADD_COLUMNS,
            COLUMNS[1:4],
            [
                'ALTER TABLE s.t ADD COLUMN "order" VARCHAR(20);',
                "ALTER TABLE s.t ADD COLUMN price DECIMAL(9, 2);",
                "ALTER TABLE s.t ADD COLUMN at TIMESTAMP(6);",
            ],
        ),
        (
            Action.DROP_COLUMNS,
            COLUMNS[1:3],
            ['ALTER TABLE s.t DROP COLUMN "order";', "ALTER TABLE s.t DROP COLUMN price;"],
        ),
    ],
)
def test_statements(action: Action, columns: tuple[Column, ...], text: list[str]) -> None:
    shown = statements(StructureChange(action, TABLE, columns), POSTGRES, "lower")
    assert shown == text
    assert all(len(sqlglot.parse(one, dialect="postgres")) == 1 for one in shown)


def test_a_note_is_a_comment() -> None:
    assert statements(
        StructureChange(Action.NOTE, TABLE, note="reorganised"), POSTGRES, "lower"
    ) == ["-- S.T: reorganised"]


def test_rows_that_are_gone_do_not_come_back() -> None:
    assert StructureChange(Action.TRUNCATE, TABLE).inverse() is None


@pytest.mark.parametrize(
    "action",
    sorted(set(Action) - {Action.TRUNCATE, Action.STATEMENT}, key=lambda action: action.value),
    ids=lambda action: action.value,
)
def test_the_inverse_of_the_inverse_is_the_change(action: Action) -> None:
    change = StructureChange(
        action,
        TABLE,
        COLUMNS[:1],
        old_name="ID" if action is Action.RENAME_COLUMN else TABLE.name,
        new_name="NEW",
    )
    inverse = change.inverse()
    assert inverse is not None
    assert inverse.inverse() == change
    assert StructureChange(action, TABLE, reversible=False).inverse() is None
