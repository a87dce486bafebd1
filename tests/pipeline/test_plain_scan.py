"""The quick way of the scan against the rules: the same sort records, buckets, counts and findings,
whatever the headers, the damage and the selection."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.arrays import Bytes
from replay.changes.balance import Tally
from replay.changes.choices import Incomplete
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.logs.logmaster.layouts import LLDF
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from replay.native.kernels import SCAN_PLAIN
from replay.native.machine_code import available
from replay.pipeline import plain_scan, scan
from replay.pipeline.packed_records import unpacked
from replay.pipeline.plain_scan import PlainScan
from replay.pipeline.plan import Plan, make_plan
from tests.support.logbuilder import OLD_HEADER, Col, LogBuilder, Tab, generation

TABLES = (
    Tab("T", (Col("K", "INT", 4, key=1), Col("V", "VCHR", 90)), obid=5),
    Tab("OTHER", (Col("K", "INT", 4, key=1), Col("X", "INT", 4, nulls="Y")), obid=6),
)
#: Values of header fields that are not those of most records.
UNUSUAL: tuple[dict[str, Any], ...] = (
    {"LOGRECDISP": "S"},
    {"LOGRECDISP": "?"},
    {"SQLTYPE": "R"},
    {"SQLSRCTYPE": "R"},
    {"SQLSRCTYPE": "T"},
    {"INCOMPLETETRANS": "Y"},
    {"INCOMPLETEDEP": "Y"},
    {"CHANGE TYPE": "DM"},
    {"TBOBID": 99},
    {"LOGRBA": bytes(10)},
    {"UORID": bytes(10)},
)


def log_of(folder: Path, seed: int, damage: int = 0, **how: Any) -> LogmasterLog:
    """A log of units of all kinds; ``damage``: octets of headers that are others."""
    pick, log = random.Random(seed), LogBuilder(**{"tables": TABLES, **how})
    for number in range(70):
        of_unit = {"UORDISP": "A", "LOGRECDISP": "A"} if not number % 9 else {}
        unit = log.unit(member=pick.choice((1, 2, 300)), **of_unit)
        for _ in range(pick.randrange(1, 8)):
            more = pick.choice(UNUSUAL) if pick.random() < 0.04 else {}
            table = pick.choice(log.tables[:2])
            row = (pick.randrange(99), pick.choice(("a" * 80, "b")))
            row = row if len(table.columns) == 2 and table.columns[1].code == "VCHR" else (1, None)
            cuts = (9, 40) if row[1] == "a" * 80 and pick.random() < 0.2 else ()
            match pick.randrange(3):
                case 0:
                    unit.insert(table, row, cuts, **more)
                case 1:
                    unit.delete(table, row, cuts, **more)
                case _:
                    unit.update(table, row, row, cuts, **more)
    control, paths = log.write(folder, seed=seed)
    opened = open_log(control, paths)
    (split,) = (split for split, _, _ in opened.splits(1 << 30))
    offsets = np.concatenate([part for _, part, _ in opened.records(split, 1 << 20)])
    octets = bytearray(paths[0].read_bytes())
    for _ in range(damage):
        place = int(pick.choice(offsets)) + pick.randrange(log.header.size)
        octets[place] = pick.choice((0, 0x40, 0xC1, 0xFF, octets[place] ^ 1))
    paths[0].write_bytes(octets)
    return opened


def scanned(plan: Plan, log: LogmasterLog) -> tuple[dict[int, list[bytes]], Tally]:
    """The sort records of each bucket in some order of their own, and the tally."""
    tally, found = Tally(), defaultdict(list)
    for split in plan.splits:
        for bucket, block in scan.scan_split(plan, log, split, tally):
            found[bucket] += [row.tobytes() for row in unpacked(block)]
    return {bucket: sorted(rows) for bucket, rows in found.items()}, tally


def both(
    monkeypatch: pytest.MonkeyPatch, log: LogmasterLog, selection: Selection, mode: str = "redo"
) -> tuple[int, int]:
    """How many records the quick way took, and how many it left."""
    options = ScriptOptions(records_per_file=64)
    plan = make_plan(log, mode, selection, options, 60_000)  # type: ignore[arg-type]
    assert plan.buckets > 1 or not log.uses_lrsn()
    monkeypatch.setattr(scan, "BATCH", 60)
    by_rules = scanned(plan, log)
    monkeypatch.setattr(plain_scan, "WORTH", 0)
    monkeypatch.setattr(plain_scan, "_LEARNED_FROM", 20)
    assert available(SCAN_PLAIN) is not None
    seen: list[tuple[int, int]] = []
    take = PlainScan.take

    def told(self: PlainScan, *arguments: Any) -> Any:
        blocks, left = take(self, *arguments)
        seen.append((sum(len(unpacked(block)) for _, block in blocks), len(left)))
        return blocks, left

    monkeypatch.setattr(PlainScan, "take", told)
    assert scanned(plan, log) == by_rules
    return sum(taken for taken, _ in seen), sum(left for _, left in seen)


@pytest.mark.parametrize("sharing", [True, False, None], ids=["members", "one Db2", "no LRSN"])
@pytest.mark.parametrize("seed", range(2))
def test_both_say_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, sharing: bool | None
) -> None:
    log = log_of(tmp_path, seed, sharing=sharing)
    monkeypatch.setattr(scan, "_QUICK", 4 if seed else 1)
    taken, left = both(monkeypatch, log, Selection())
    assert taken > left > 10


@pytest.mark.parametrize("seed", range(8))
def test_both_say_the_same_of_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    log = log_of(tmp_path, seed, damage=80, sharing=seed % 4 > 0)
    taken, left = both(monkeypatch, log, Selection())
    assert taken > 40
    assert left > 20


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize(
    "how",
    [
        {"tables": ("*.T",)},
        {"exclude_tables": ("*.T",)},
        {"ops": ("insert",)},
        {"include_aborted": True},
        {"from_recovery_point": True},
        {"incomplete": "keep"},
        {"incomplete": "quarantine"},
    ],
    ids=str,
)
def test_both_say_the_same_of_selections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any], mode: str
) -> None:
    taken, left = both(monkeypatch, log_of(tmp_path, 5), Selection(**how), mode)
    assert taken > 30
    assert left > 10


@pytest.mark.parametrize(
    "how",
    [
        {"from_position": bytes(10)},
        {"until_time": bytes(17)},
        {"authids": ("X",)},
        {"members": (1,)},
        {"pages": ((1, 2),)},
        {"incomplete": Incomplete.DEPENDENTRBA},
        {"ri": "skip"},
        {"ops": ("insert", "delete")},
    ],
    ids=str,
)
def test_what_is_asked_of_more_than_classes_is_left_to_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    log = log_of(tmp_path, 5)
    plan = make_plan(log, "redo", Selection(), ScriptOptions())
    monkeypatch.setattr(plain_scan, "WORTH", 0)
    found = []
    for selection in (Selection(), Selection(**how)):
        chosen = Plan("redo", selection, plan.options, (), plan.bounds, plan.version_taken)
        found.append(plain_scan.plain_scan(chosen, log, plan.splits[0], lambda *_: None))  # type: ignore[arg-type,return-value]
    assert found[0] is not None
    assert found[1] is None


def test_headers_of_other_forms_are_left_to_the_rules(tmp_path: Path) -> None:
    later = generation(TABLES[1], 2, created=b"\xff" * 10, obid=6)
    assert log_of(tmp_path, 1).plain_headers() is not None
    assert log_of(tmp_path, 1, tables=(*TABLES, later)).plain_headers() is None
    assert log_of(tmp_path, 1, header=OLD_HEADER, base=0).plain_headers() is None


def test_more_classes_than_are_kept_are_left_to_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_scan, "_MOST", 3)
    assert both(monkeypatch, log_of(tmp_path, 2), Selection())[0] == 0


def test_words_hold_what_is_judged(tmp_path: Path) -> None:
    headers = log_of(tmp_path, 1).plain_headers()
    assert headers is not None
    places, masks = plain_scan._words(headers)
    held: Bytes = np.zeros(headers.size, np.uint8)
    for place, mask in zip(places.tolist(), masks.tolist(), strict=True):
        held[place : place + 8] |= np.frombuffer(mask.to_bytes(8, "little"), np.uint8)
    judged = {place + more for place, size in headers.judged for more in range(size)}
    assert set(np.flatnonzero(held).tolist()) == judged
    assert headers.size >= LLDF.size
