"""Which logs that have arrived are still needed, and which of them hold what is set aside."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.changes.choices import Gaps
from replay.changes.position import Position, UnitId
from replay.logs import LogFile, LogPair
from replay.logs.arrivals import places_held, still_needed
from replay.logs.logmaster.set_opening import open_set
from replay.pipeline.late import digest_of_log
from replay.pipeline.pending_logs import logs_of_pending
from tests.support.cutlogs import with_end
from tests.support.logbuilder import ACCT, LogBuilder, acct, frame, lrsn


def at(*clock: int | None) -> list[Position | None]:
    return [None if moment is None else Position(lrsn(moment)) for moment in clock]


@pytest.mark.parametrize(
    ("ends", "position", "held", "needed"),
    [
        ((10, 20, 30, 40), 30, [], [2, 3]),
        ((10, 20, 30, 40), 30, [1], [1, 2, 3]),
        ((10, 20, 30, 40), 30, [3], [2, 3]),
        ((10, 20, 30, 40), 30, [3, 0], [0, 1, 2, 3]),
        ((40, 20, 10, 20), 40, [3], [0, 1, 3]),  # whatever the order, and all with that end
        ((10, None, 30, 40), 40, [], [1, 3]),
        ((10, None, 30, 40), 40, [1], [0, 1, 2, 3]),  # which are before it is not known
        ((10, 20, 30, 40), 30, None, [0, 1, 2, 3]),
        ((10, 20, 30, 40), None, [], [0, 1, 2, 3]),
        ((10, 20), 5, [], [0, 1]),
        ((), 5, [], []),
    ],
)
def test_what_is_needed(
    ends: tuple[int | None, ...], position: int | None, held: list[int] | None, needed: list[int]
) -> None:
    (where,) = at(position)
    found = still_needed(at(*ends), where, held)
    assert [place for place, need in enumerate(found) if need] == needed


def test_where_what_is_set_aside_lies() -> None:
    digests = ["a", "b", "c"]
    assert places_held(digests, False, None) == []
    assert places_held(digests, True, None) is None
    assert places_held(digests, True, frozenset("bc")) == [1, 2]
    assert places_held(digests, True, frozenset("bx")) is None  # one is gone
    assert places_held(digests, True, frozenset()) is None


class Logs:
    """Logs of one unit each, of which some have a DEPENDENTRBA that ``dependent`` names."""

    def __init__(self, folder: Path, dependent: dict[int, int], again: dict[int, int]) -> None:
        log, self.units, self.pairs = LogBuilder(), [], []
        written: list[list[bytes]] = []
        for number in range(4):
            log.clock = 100 * number
            unit = log.unit(commit=100 * number + 90)
            unit.insert(ACCT, acct(number))
            self.units.append(UnitId(unit.more["UORID"] + b"\0\1"))
            records = log.records()
            if number in again:
                records = [*written[again[number]], *records]
            written.append(records)
            log.changes.clear()
            raw = with_end(
                frame(log.control_records(), "rdw"),
                lrsn(100 * (number + 1)),
                lrsn(dependent[number]) if number in dependent else b"\xff" * 10,
            )
            control, data = folder / f"n{number}.ctl", folder / f"n{number}.dat"
            control.write_bytes(raw)
            data.write_bytes(frame(records, "rdw"))
            self.pairs.append(LogPair(str(control), (str(data),)))
        self.names = [digest_of_log(pair.control) for pair in self.pairs]
        self.folder = folder

    def named(
        self,
        given: list[int],
        pending: list[int],
        named: list[int] | None = None,
        read: list[int] | None = None,
    ) -> list[int] | None:
        log: LogFile = open_set([self.pairs[place] for place in given], gaps=Gaps.ALLOW)
        splits = [split for split, _, _ in log.splits(1 << 20)]
        before, known = (
            None if places is None else frozenset(self.names[place] for place in places)
            for places in (named, read)
        )
        units = [self.units[place] for place in pending]
        found = logs_of_pending(log, splits, units, before, known)
        return None if found is None else sorted(self.names.index(name) for name in found)


def test_which_logs_hold_what_is_set_aside(tmp_path: Path) -> None:
    logs = Logs(tmp_path, {}, {3: 1})
    assert logs.named([0, 1, 2, 3], [], None) == []
    assert logs.named([0, 1, 2, 3], [2], []) == [2]
    assert logs.named([0, 1, 2, 3], [1], []) == [1, 3]
    assert logs.named([2, 3], [1, 2], [0, 1, 2]) == [0, 1, 2, 3]  # of those not given, all stay
    assert logs.named([0, 2, 3], [2], [0, 1, 2]) == [1, 2]
    assert logs.named([0, 1, 2, 3], [2], None) is None
    assert logs.named([0, 1, 2, 3], [2], None, [0, 1]) == [2]
    assert logs.named([1, 2, 3], [2], None, [0, 1]) is None
    assert logs.named([2, 3], [0], []) is None  # a unit that no log has


def test_logs_that_lack_records_count(tmp_path: Path) -> None:
    dependent = {0: 0, 1: 100}
    logs = Logs(tmp_path, dependent, {2: 1})
    assert logs.named([0, 1, 2, 3], [3], []) == [0, 3]  # what 1 owes is in 2
    assert logs.named([0, 1, 2, 3], [], []) == []
