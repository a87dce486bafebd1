"""What tables of a lake are to the runs that move them, whatever library writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from replay.errors import UsageError


@dataclass(frozen=True)
class LakeMark:
    """What a table of a lake holds of a log: all changes up to the commit ``position``
    (hexadecimal) of logs of ``source``, taken as ``what`` says, but those of the units
    ``set_aside``."""

    position: str
    source: str
    what: str
    set_aside: tuple[str, ...] = ()

    def text(self) -> str:
        """As it is kept in the table's properties."""
        return json.dumps(
            {
                "position": self.position,
                "source": self.source,
                "what": self.what,
                "set_aside": list(self.set_aside),
            }
        )

    @classmethod
    def of(cls, text: str) -> LakeMark:
        """The inverse of :meth:`text`."""
        found = json.loads(text)
        return cls(found["position"], found["source"], found["what"], tuple(found["set_aside"]))


class LakeTable(Protocol):
    """A table of a lake that may not be there yet. Raises the errors of its library, which name the
    table, where it cannot be read or written; then nothing of a commit is there."""

    @property
    def schema(self) -> pa.Schema | None:
        """Its columns; None where it is not there."""
        ...

    def mark(self) -> LakeMark | None:
        """What it holds of a log; None where nobody noted it."""
        ...

    def rows_of(self, keys: pa.Table) -> pa.Table:
        """Its rows that may have one of some keys; others may be among them."""
        ...

    def append(self, rows: pa.Table, mark: LakeMark) -> None:
        """Append rows, whose schema holds all columns of the table, and note ``mark``, in one
        commit."""
        ...

    def merge(
        self, rows: pa.Table, gone: pa.Table, key: Sequence[str], empty: bool, mark: LakeMark
    ) -> None:
        """Put ``rows`` in place of those with the same ``key``, remove those with the keys
        ``gone``, and note ``mark``, in one commit. ``empty``: remove all rows before."""
        ...


class Lake(Protocol):
    """A folder of tables. Raises the errors of its library where it cannot be read."""

    #: Whether it has whole numbers of 16 bits.
    small_integers: bool

    def table(self, schema: str, name: str) -> LakeTable:
        """One of its tables."""
        ...

    def close(self) -> None:
        """Let go of what is open for all tables."""
        ...


def check_path(folder: Path, strange: str, whose: str) -> None:
    """UsageError (LR1002) for a path that has what matches ``strange``, which the library of a kind
    of lake takes otherwise."""
    path = str(folder.absolute())
    if found := re.search(strange, path):
        raise UsageError(
            "LR1002",
            f"found {found[0]!r} in the path {path}; expected one without",
            hint=f"The library for {whose} does not take that in a path as it is",
        )
