"""What a dialect's DDL can say beyond tables, columns and keys, as data. What is not here, a target
cannot say, and asking for it raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, eq=False)
class Abilities:
    """* ``constraints`` that a new table may have (``check``, ``unique``, ``foreign key``);
    ``added``: those that ALTER TABLE can add by name.
    * ``on_delete``, ``on_update``: the rules of foreign keys beside NO ACTION; ``parent_columns``:
      a foreign key must name the columns it refers to.
    * ``default``: how a column of a new table says its default value, '' where it cannot.
      ``add_column``: what a column that is added may have (``default``, ``not null``, or ``not null
      with default``).
    * ``identity``: how a column says that the database numbers it where no value is given ({start},
      {step}, and {bounds} where the database would not begin at {start} by itself), '' where it
      cannot; ``identity_decimal``: so do columns of type DECIMAL without places after the point;
      ``identity_after``: the statement that moves it beyond the last value ({table}, {column},
      {step}, and {last}, MAX or MIN; {place} and {name} are table and column inside a text).
    * ``sequences``; ``check_option``: views may have WITH CHECK OPTION; ``drop_constraints``: what
      makes DROP TABLE drop the foreign keys that refer to the table, and nothing else ('' where
      nothing does that: PostgreSQL's CASCADE takes views along).
    * ``alter``: whole statements by what they do: ``type``, ``set not null``, ``drop not null``,
      ``set default``, ``drop default``, ``schema``, ``drop constraint``. Places: {table}, {name}
      (the table's without schema), {schema}, {column}, {type}, {default}, {constraint}, and what
      needs to know the column as it is: {definition} (type, default and nullability, all but the
      name) and {null} (NULL or NOT NULL).
    """

    constraints: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    on_delete: frozenset[str] = frozenset()
    on_update: frozenset[str] = frozenset()
    parent_columns: bool = False
    default: str = ""
    identity: str = ""
    identity_decimal: bool = False
    identity_after: str = ""
    add_column: frozenset[str] = frozenset()
    sequences: bool = False
    check_option: bool = False
    drop_constraints: str = ""
    alter: Mapping[str, str] = field(default_factory=dict)


ALL = frozenset({"check", "unique", "foreign key"})
RULES = frozenset({"CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT"})
ANY_COLUMN = frozenset({"default", "not null"})

DEFAULT = "DEFAULT {default}"
AUTO_INCREMENT = "AUTO_INCREMENT"
#: Some take anything but plain literals in parentheses only.
DEFAULT_EXPRESSION = "DEFAULT ({default})"

#: ALTER COLUMN as PostgreSQL has it, and others after it.
POSTGRES_ALTER: Mapping[str, str] = {
    "type": "ALTER TABLE {table} ALTER COLUMN {column} TYPE {type}",
    "set not null": "ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL",
    "drop not null": "ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL",
    "set default": "ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT {default}",
    "drop default": "ALTER TABLE {table} ALTER COLUMN {column} DROP DEFAULT",
    "drop constraint": "ALTER TABLE {table} DROP CONSTRAINT {constraint}",
}
