"""Histories of the model as logs of Db2 LUW."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from tests.model.luw_encoder import COMMITS, Form, LuwLog, write_catalog
from tests.model.luw_model import History, Unit

#: The first transaction id; the n-th unit has this plus n.
FIRST_TID = 0xA1F


def written(
    history: History,
    form: Form,
    rng: random.Random,
    kinds: bool = False,
    start: LuwLog | None = None,
    between: Callable[[Unit], None] | None = None,
) -> LuwLog:
    """The log of a history: records in the order of its tape, behind those of ``start``."""
    log = start or LuwLog(form, rng)
    places: dict[int, int] = {}
    below: dict[int, int] = {}
    rids: dict[tuple[str, int], int] = {}
    free: dict[str, list[int]] = {}
    when = 1_700_000_000
    for unit, how, change in history.tape:
        tid = tid_of(unit)
        if between is not None:
            between(unit)
        if how == "end":
            when += rng.randrange(0, 90)
            if unit.aborted:
                log.abort(tid, unit.authid)
            else:
                if kinds:
                    unit.commit = rng.choice(sorted(COMMITS))
                log.commit(tid, unit.commit, when, unit.authid)
                for (table, number), (_, after) in unit.net().items():
                    if after is None and (table, number) in rids and rng.random() < 0.5:
                        free.setdefault(table, []).append(rids[table, number])
            continue
        assert change is not None
        table = history.table(change.table)
        place = (change.table, change.row)
        if place not in rids:
            spare = free.get(change.table)
            rids[place] = spare.pop() if spare else len(rids) + 4
        if how == "do":
            below[id(change)] = log.last.get(tid, 0)
            places[id(change)] = log.change(
                tid, change.op, table, rids[place], change.before, change.after
            )
        else:
            log.compensate(
                tid,
                change.op,
                table,
                rids[place],
                change.before,
                places[id(change)],
                below[id(change)],
            )
    return log


def tid_of(unit: Unit) -> int:
    return FIRST_TID + unit.number


def catalog_of(history: History, folder: Path) -> Path:
    return write_catalog(folder / "catalog.csv", history.tables)
