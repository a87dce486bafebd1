"""Which values messages, reports and manifests must not tell: those of columns that a mapping
masks, which are named as OWNER.NAME.COLUMN everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Set

#: What stands in place of the values of a key.
MASKED_KEY = "(masked)"


def any_masked(masked: Set[str], table: str, columns: Iterable[str]) -> bool:
    """Whether one of some columns of a table (OWNER.NAME) is among those that are ``masked``."""
    return any(f"{table}.{column}" in masked for column in columns)


def masked_value(column: str) -> str:
    """What is said in place of a value."""
    return f"a value in {column}, which is masked"
