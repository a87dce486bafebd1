"""Ongoing scans of Log Master, replayed into PostgreSQL log by log: units that could not be
completed, those that may depend on them, and DEPENDENTRBA, which says what the next log has again.

After each step the rows are those of the units that the target should have by then: all up to the
point, but for those that are said to be set aside.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.independent import live_rows
from tests.independent.tables import Column, Table
from tests.independent.test_log_master import named
from tests.independent.zos_headers import NO_POSITION, UnitFacts
from tests.independent.zos_history import History, Wants, form_of
from tests.independent.zos_records import write

#: Of the first ones one had a unit that was set aside though the target had it.
SEEDS = (0, 1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 15)))
WAYS = ((), (), ("--mode", "bulk"))
CHOICES = ("resolve", "resolve", "quarantine", "dependentrba")


class Live(History):
    """A history of types that PostgreSQL holds."""

    def _column(self, name: str, table: Table) -> Column:
        column = super()._column(name, table)
        if "TIMESTAMP" in column.kind:
            column = replace(column, kind="TIMESTAMP", scale=min(column.scale, 6))
        return column


class Scans:
    """The logs of a history, each of which has what committed since the one before, and what that
    one could not be sure of."""

    def __init__(self, made: History, folder: Path, pick: random.Random) -> None:
        self.made, self.folder, self.pick = made, folder, pick
        commits = sorted({change.unit.commit_lrsn for change in made.log.changes})
        inner = sorted(pick.sample(commits[:-1], min(len(commits) - 1, pick.randint(1, 3))))
        self.edges = list(pairwise([0, *inner, commits[-1]]))

    def logs(self) -> Iterator[tuple[tuple[str, ...], set[int], int]]:
        """How the command is told of each log, the units in it, and up to where it goes."""
        made, pick, since = self.made, self.pick, None
        for number, (start, end) in enumerate(self.edges):

            def has(
                unit: UnitFacts, start: int = start, end: int = end, since: int | None = since
            ) -> bool:
                again = since is not None and unit.lrsn >= since
                return unit.commit_lrsn <= end and (again or unit.commit_lrsn > start)

            units = {at for at, unit in enumerate(made.done) if has(unit.facts)}
            able = [at for at in sorted(units) if made.done[at].effects]
            last, torn = number == len(self.edges) - 1, set[int]()
            if able and not last and pick.random() < 0.85:
                torn = set(pick.sample(able, min(len(able), pick.choice((1, 1, 2)))))
            first = min((made.done[at].facts for at in torn), key=lambda f: f.lrsn, default=None)
            since = None if first is None else first.lrsn
            changes = [change for change in made.log.changes if has(change.unit)]
            with self._torn(torn, since):
                dependent = NO_POSITION if first is None else self._position(first)
                where = made.end if last else end
                name = f"log{number}"
                made_log = made.log, made.tables, self.folder, where, name, changes, dependent
                yield write(*made_log), units, end

    @contextmanager
    def _torn(self, torn: set[int], since: int | None) -> Iterator[None]:
        """Units that could not be completed, some of them with an image of something else."""
        pick, kept = self.pick, []
        for at, unit in enumerate(self.made.done):
            unit.facts.incomplete = at in torn
            unit.facts.depends = since is not None and at not in torn and unit.facts.lrsn >= since
            updates = [effect.change for effect in unit.effects if len(effect.change.images) == 2]
            if at in torn and updates:
                change = pick.choice(updates)
                kept.append((change, change.images))
                old, new = change.images
                change.images = pick.choice(
                    ((new, new), (pick.randbytes(len(old)), new), (old[:2], new), (old, new))
                )
        try:
            yield
        finally:
            for change, images in kept:
                change.images = images

    def _position(self, unit: UnitFacts) -> bytes:
        """DEPENDENTRBA."""
        form, head = self.made.form, self.made.log.headers
        if form.header == "old" and not form.sharing:
            return b"\0" + head.rba(unit.urid)[4:] + bytes(3)
        return head.rba(unit.urid) if form.zero_lrsn else head.lrsn(unit.lrsn)

    def commit(self, unit: UnitFacts) -> str:
        """Where a unit commits, as it is given to the command."""
        form, head = self.made.form, self.made.log.headers
        found = head.rba(unit.commit_rba) if form.zero_lrsn else head.lrsn(unit.commit_lrsn)
        if form.header == "old" and not form.sharing and not form.zero_lrsn:
            found = b"\0" + found[4:] + bytes(3)
        return found.hex().upper()


@pytest.mark.parametrize("seed", SEEDS)
def test_ongoing_scans_in_a_target(
    seed: int, fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pick = random.Random(f"ongoing {seed}")
    form = replace(form_of(seed), ordervalue=False)  # it counts the records of one log
    wants = Wants(pick.choice((30, 60, 120)), pick.choice((1, 2, 3)))
    made = Live(f"ongoing {seed}", form, wants)
    live_rows.fill(fresh_database, made.tables, made.before)
    choice, way = pick.choice(CHOICES), pick.choice(WAYS)
    pace = ("--commit-every", str(pick.choice((1, 2, 5, 1000))))
    at = [unit.facts.commit_lrsn for unit in made.done]
    scans, given, applied = Scans(made, tmp_path, pick), list[tuple[str, ...]](), set[int]()
    delivered = dict[tuple[str, ...], set[int]]()

    def replay(words: list[str], *more: str) -> tuple[int, str]:
        fixed = ["--engine", "local", "--schema", "none", "--reals", "double", "--adjoining"]
        named_so = [*words, "--to", fresh_database, "--apply", "--incomplete", choice, *pace]
        code = main(["replay", *named_so, *fixed, *more])
        out, err = capsys.readouterr()
        return code, out + err

    for log, units, end in scans.logs():
        given.append(log)
        delivered[log] = units
        chosen = given[-2:] if pick.random() < 0.3 else given
        words = [word for one in chosen for word in one]
        points: list[UnitFacts | None] = [None]
        if units and pick.random() < 0.6:
            points.insert(0, made.done[pick.choice(sorted(units))].facts)
        if units and pick.random() < 0.4:
            points.append(made.done[pick.choice(sorted(units))].facts)
        for point in points:
            until = () if point is None else ("--until-position", scans.commit(point))
            code, said = replay(words, *way, *until)
            if "LR4009" in said and "backward" in said:
                code, said = replay(words, *until)
            if code == 8 and choice != "resolve":
                assert "LR4006" in said or "LR4007" in said, said
                return  # what builds on what flags alone set aside does not fit
            assert code in (0, 4), said
            aside = set(re.findall(r"quarantined: unit ([0-9A-F]+)/(\d+): LR", said))
            to = end if point is None else point.commit_lrsn
            came = set[int]() if "Direction: backward" in said else set().union(
                *(delivered[one] for one in chosen)
            )  # fmt: skip
            came -= {number for number in came if named(made, made.done[number]) in aside}
            applied = {number for number in applied | came if at[number] <= to}
            rows = made.without(set(range(len(made.done))) - applied)
            assert live_rows.difference(fresh_database, made.tables, rows) is None, (point, said)
    words = [word for one in given for word in one]
    code, said = replay(words, "--until-position", "00" * 10)
    assert code in (0, 4), said
    assert live_rows.difference(fresh_database, made.tables, made.before) is None
