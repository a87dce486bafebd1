"""What a user wants of a log, and which of its tables those are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from replay.arrays import Index, Mask
from replay.errors import InputError, Where
from replay.logs.soliddb import layouts
from replay.logs.soliddb.tables import SolidTable

#: What ``capture-off`` accepts.
POLICIES = ("apply", "skip-deletes", "skip-all")


@dataclass(frozen=True)
class Settings:
    """What the user named: framing and column list (None: found out), policy for CAPTURE_OFF, CCSID
    of CHAR columns and whether it was named."""

    framing: str | None = None
    columns: str | None = None
    capture_off: str | None = None
    charset: int = 1208
    charset_named: bool = False
    batches: bool = False
    catalog: str | None = None


@dataclass(frozen=True)
class WantedTables:
    """The ``tables`` of users by id, those that are the system's ``own``, and those of catalogs
    that are left out (``elsewhere``). ``low_ids``: low ids are of the system, too, for an export
    without system tables does not tell which there are."""

    tables: Mapping[int, SolidTable]
    own: Sequence[int]
    elsewhere: Sequence[int]
    low_ids: bool

    @classmethod
    def of(cls, tables: Mapping[int, SolidTable], settings: Settings) -> WantedTables:
        """Those of the export of the system tables."""
        own = [relid for relid, entry in tables.items() if entry.shadow]
        users = {relid: entry for relid, entry in tables.items() if not entry.shadow}
        wanted = settings.catalog
        away = [
            relid
            for relid, entry in users.items()
            if wanted is not None and entry.catalog.upper() != wanted.upper()
        ]
        mine = {relid: entry for relid, entry in users.items() if relid not in away}
        return cls(mine, own, away, not any(relid < layouts.FIRST_USER_TABLE for relid in own))

    def system(self, table: Index) -> Mask:
        """Which tables are the system's own."""
        mine = np.isin(table, self.own)
        if self.low_ids:
            mine |= (table >= 0) & (table < layouts.FIRST_USER_TABLE)
        return np.asarray(mine)

    def away(self, table: Index) -> Mask:
        """Which tables are of a catalog that is left out."""
        return np.asarray(np.isin(table, self.elsewhere))

    def check_names(self, spans: Mapping[int, tuple[int, int]], file: str) -> None:
        """Tables of one name in several catalogs cannot be told apart in a target, nor can those of
        one catalog that are changed by turns; one that is changed behind the other is its next
        generation. ``spans``: the first and the last row of a committed change of each table.
        InputError LR2031 where several of them are changed."""
        changed = {relid for relid in spans if relid in self.tables}
        seen: dict[tuple[str, str], list[int]] = {}
        for relid in sorted(changed):
            entry = self.tables[relid]
            others = seen.setdefault((entry.schema.upper(), entry.name.upper()), [])
            other = next((one for one in others if not self._succeeds(one, relid, spans)), None)
            others.append(relid)
            if other is not None:
                self._refuse_names(self.tables[other], entry, file)

    def _succeeds(self, one: int, other: int, spans: Mapping[int, tuple[int, int]]) -> bool:
        """Whether all changes of one of two tables of a catalog stand behind those of the other."""
        if self.tables[one].catalog != self.tables[other].catalog:
            return False
        mine, theirs = spans[one], spans[other]
        return mine[1] < theirs[0] or theirs[1] < mine[0]

    def _refuse_names(self, other: SolidTable, entry: SolidTable, file: str) -> None:
        message = (
            f"found changes of {other.catalog}.{other.schema}.{other.name} and of"
            f" {entry.catalog}.{entry.schema}.{entry.name}"
        )
        hint = (
            f"Take one catalog at a time: --log-option catalog={other.catalog}"
            if entry.catalog != other.catalog
            else "Two tables of one name are changed by turns: export the system tables again"
        )
        raise InputError(
            "LR2031",
            f"{message}; expected tables that their schema and name tell apart",
            Where(file),
            hint,
        )
