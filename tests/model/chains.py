"""Logs of Db2 LUW and solidDB that arrive in many files: ``python -m tests.model.chains``.

The log of a history is cut at drawn places. After each file that arrives (some are repeated, torn
or damaged first, or begin within the one before) a chain of redo scripts, a target and a growing
export go on, and must hold the units whose commits have arrived, each once.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tests.model import solid_checks, solid_encoder
from tests.model.luw_encoder import Form as LuwForm
from tests.model.luw_encoder import write_catalog
from tests.model.luw_histories import tid_of, written
from tests.model.luw_model import HISTORIES, History, State
from tests.model.luw_run import (
    Case,
    Lite,
    Options,
    Outcome,
    Verdict,
    command,
    difference,
    invoke,
    wanted,
    write_schema,
)

#: Kinds of histories whose rows can be compared as they are.
KINDS_BY_DEFAULT = ("plain", "shift", "swap", "composite", "unique", "cascade", "keyless", "link")
FAMILIES = ("db2luw", "soliddb")
RECEIVERS = ("redo", "replay", "grow")


@dataclass
class Site:
    """A log in pieces (records, or rows) and how files are made of them. ``commits``: by number of
    the piece that commits it, the number of each unit."""

    history: History
    folder: Path
    words: list[str]
    pieces: list[bytes]
    commits: dict[int, int]
    suffix: str
    digits: int
    head: bytes = b""
    header: int = 20
    files: list[Path] = field(default_factory=list)

    def write(
        self,
        name: str,
        low: int,
        high: int,
        spoil: Callable[[bytes], bytes] = bytes,
        folder: str = "logs",
    ) -> Path:
        path = self.folder / folder / f"{name}{self.suffix}"
        path.parent.mkdir(exist_ok=True)
        pieces = self.pieces[low:high]
        if self.head:  # rows of a read session count from 0
            pieces = [
                b"%d,%s" % (seq, piece.partition(b",")[2]) for seq, piece in enumerate(pieces)
            ]
        path.write_bytes(self.head + spoil(b"".join(pieces)))
        return path

    def cuts(self, rng: random.Random) -> list[int]:
        """Where files begin and end: of solidDB, behind commits."""
        last = len(self.pieces)
        places = [n + 1 for n in self.commits if n + 1 < last] if self.head else range(1, last)
        places = sorted(places)
        return [0, *sorted(rng.sample(places, min(len(places), rng.randrange(2, 6)))), last]

    def before(self, low: int, rng: random.Random) -> int:
        """Where a file may begin that overlaps what comes before a piece."""
        if not self.head:
            return max(0, low - rng.randrange(1, 6))
        return rng.choice([0, *(n + 1 for n in self.commits if n + 1 <= low)])

    def due(self, end: int) -> State:
        """The rows of the units that commit before a piece."""
        there = {unit for piece, unit in self.commits.items() if piece < end}
        return self.history.only(u for u in self.history.committed if u.number in there)


def luw_site(kind: str, rng: random.Random, folder: Path) -> Site:
    history = HISTORIES[kind](rng)
    form = LuwForm.drawn(rng)
    while form.framing == "raw":  # files without positions cannot overlap
        form = LuwForm.drawn(rng)
    log = written(history, form, rng)
    catalog = write_catalog(folder / "catalog.csv", history.tables)
    words = ["--source", "db2luw", "--catalog", str(catalog), "--framing", form.framing]
    words += ["--log-option", f"dialect={form.dialect}"]
    words += ["--log-option", f"byte-order={'big' if form.big else 'little'}"]
    last = {record.tid: number for number, record in enumerate(log.records)}
    commits = {
        last[tid_of(unit)]: unit.number for unit in history.committed if tid_of(unit) in last
    }
    pieces = [record.bytes for record in log.records]
    header = len(log.records[0].framing) + log.records[0].header if log.records else 20
    return Site(history, folder, words, pieces, commits, ".log", 6, header=header)


def solid_site(kind: str, rng: random.Random, folder: Path) -> Site:
    history = HISTORIES[kind](rng)
    form = solid_encoder.Form.drawn(rng, files=1, sessions=1, file="csv")
    log, names = solid_checks.written(history, form, rng)
    (path,) = log.write(folder)
    head, *rows = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    solid_encoder.write_meta(folder, history.tables, form, [])
    ends = [n for n, line in enumerate(log.lines) if line.recid == solid_encoder.COMMIT]
    numbers = [unit.number for unit in history.units if not unit.aborted]
    words = ["--source", "soliddb", "--catalog", str(folder), "--framing", form.framing]
    words += ["--log-option", "gaps=accept"]
    commits = dict(zip(ends, numbers, strict=True))
    assert len(names) == len(numbers)
    return Site(history, folder, words, rows, commits, ".csv", 9, head)


@dataclass
class Receiver:
    """What goes on from file to file."""

    kind: str
    site: Site
    runs: int = 0
    base: Lite | None = None
    whole: dict[int, Counter[tuple[str, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        history, folder = self.site.history, self.site.folder
        if self.kind == "replay":
            path = folder / "target.db"
            path.unlink(missing_ok=True)
            Lite(history.tables, history.initial, True, path, digits=self.site.digits).close()
        if self.kind == "redo":
            self.base = Lite(history.tables, history.initial, True, digits=self.site.digits)

    def take(self, *more: str) -> Outcome:
        site = self.site
        logs = [word for path in site.files for word in ("--log", str(path))]
        words = [*site.words, *logs, "--engine", "local", *more]
        words += self._schema() if self.kind != "replay" else []
        folder = site.folder / f"chain-{self.runs + 1}"
        if self.kind == "redo":
            after = "none" if not self.runs else str(site.folder / f"chain-{self.runs}")
            words += ["--dialect", "sqlite", "--after", after, "--out", str(folder)]
        elif self.kind == "replay":
            url = f"sqlite:///{site.folder / 'target.db'}?schema=app"
            words += ["--to", url, "--apply"]
        else:
            words += ["--format", "jsonl", "--grow", "--out", str(site.folder / "grown")]
        name = {"redo": "redo", "replay": "replay", "grow": "export"}[self.kind]
        outcome = invoke([name, *words], folder)
        if self.kind == "redo" and folder.exists():
            self.runs += 1
            assert self.base is not None
            error = self.base.apply(outcome.statements)
            if error:
                outcome.text += f"\nscript stops: {error}"
                outcome.code = 99
        return outcome

    def wrong(self, end: int) -> str | None:
        """How what is there differs from what the units leave that commit before a piece."""
        site, history = self.site, self.site.history
        if self.kind == "grow":
            return self._grown(end)
        base = self.base
        if base is None:
            base = Lite.__new__(Lite)
            base.tables, base.base = history.tables, sqlite3.connect(":memory:")
            base.base.execute(f"ATTACH '{site.folder / 'target.db'}' AS app")
        found = base.rows()
        if base is not self.base:
            base.base.close()
        return difference(found, wanted(history, site.due(end)))

    def _grown(self, end: int) -> str | None:
        """An export in one go of a log that was never cut."""
        if end not in self.whole:
            site = self.site
            log = site.write("whole", 0, end, folder="uncut")
            out = site.folder / f"uncut-{end}"
            words = [*site.words, "--log", str(log), *self._schema(), "--engine", "local"]
            invoke(["export", *words, "--format", "jsonl", "--out", str(out)])
            self.whole[end] = _exported(out)
        found, done = _exported(self.site.folder / "grown"), self.whole[end]
        more, less = found - done, done - found
        return f"too many {[*more][:2]}, missing {[*less][:2]}" if more or less else None

    def _schema(self) -> list[str]:
        site = self.site
        if not site.history.schema or site.head:
            return []
        return ["--schema", str(write_schema(site.history.tables, site.folder))]


def _exported(folder: Path) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for path in folder.glob("app.*/**/*.jsonl"):
        table = path.relative_to(folder).parts[0]
        for line in path.read_text().splitlines():
            row = json.loads(line)
            kept = {name: row[name] for name in ("op", "before", "after")}
            found[table, json.dumps(kept, sort_keys=True)] += 1
    return found


FAULTS = ("plain", "plain", "repeated", "overlapping", "torn", "torn between", "damaged")


def run_case(
    seed: int, kind: str, checks: Sequence[str], options: Options
) -> tuple[list[Verdict], str]:
    """All verdicts of a history in both families, and the history where one is bad."""
    verdicts: list[Verdict] = []
    text = ""
    for family in FAMILIES:
        for receiver in RECEIVERS:
            if checks and not {family, receiver} <= set(checks) and set(checks) != set(CHECKS):
                continue
            with tempfile.TemporaryDirectory() as scratch:
                rng = random.Random(f"chain {kind} {seed} {family}")
                make = luw_site if family == "db2luw" else solid_site
                site = make(kind, rng, Path(scratch))
                if len(site.pieces) < 6:
                    continue
                found = list(_chain(site, Receiver(receiver, site), rng, f"{family} {receiver}"))
                verdicts += found or [Verdict(f"{family} {receiver}", "ok")]
                if found:
                    text += Case(site.history, site.folder, site.words, "", str, str).describe()
    return verdicts, text


def _chain(site: Site, receiver: Receiver, rng: random.Random, name: str) -> Iterator[Verdict]:
    """What is wrong behind one of the files, and which came how."""
    told = ""
    for number, (low, high) in enumerate(pairwise(site.cuts(rng))):
        fault = rng.choice(FAULTS)
        told += f" {fault} {low}-{high};"
        for outcome, end, sound in _arrive(site, receiver, rng, fault, number, low, high):
            # what cannot be trusted may be refused; or units of it are set aside, which is said
            good = outcome.code in (0, 4) if sound else outcome.code in (0, 4, 8, 12)
            if not good:
                yield Verdict(f"{name}", "refused", f"{told} exit {outcome.brief()}")
                return
            ends = [end] if sound else sorted({low, end, *range(low, high + 1)})
            if sound or outcome.code == 0:
                wrong = [receiver.wrong(one) for one in ends]
                if all(wrong):
                    yield Verdict(f"{name}", "wrong", f"{told} exit {outcome.code}: {wrong[-1]}")
                    return


def _arrive(
    site: Site,
    receiver: Receiver,
    rng: random.Random,
    fault: str,
    number: int,
    low: int,
    high: int,
) -> Iterator[tuple[Outcome, int, bool]]:
    """Each run that a file is the cause of, with the piece up to which all has arrived, and whether
    what is there is sound."""
    name = f"s{number:03}"
    if fault == "repeated" and number:
        again = rng.choice(site.files)
        copy = again.with_name(f"t{number:03}{again.suffix}")
        copy.write_bytes(again.read_bytes())
        site.files.append(copy)
        yield receiver.take(), low, True
    start = site.before(low, rng) if fault == "overlapping" else low
    if fault in ("torn", "torn between", "damaged"):
        end = rng.randrange(low, high) + 1 if fault == "torn between" else high

        def spoil(data: bytes) -> bytes:
            if fault == "torn":
                return data[: rng.randrange(1, len(data))]
            if fault == "damaged":
                place = sum(map(len, site.pieces[low : rng.randrange(low, high)]))
                place += rng.randrange(site.header)
                place = min(place, len(data) - 1)
                return (
                    data[:place] + bytes([data[place] ^ rng.randrange(1, 256)]) + data[place + 1 :]
                )
            return data

        path = site.write(name, low, end, spoil)
        site.files.append(path)
        outcome = receiver.take()
        yield outcome, end, fault == "torn between"
        site.files.remove(path)
    site.files.append(site.write(name, start, high))
    yield receiver.take(), high, True


CHECKS = dict.fromkeys((*FAMILIES, *RECEIVERS))
ALL_CHECKS = CHECKS
KINDS = dict.fromkeys(KINDS_BY_DEFAULT, "")

if __name__ == "__main__":
    sys.exit(command(sys.modules[__name__], __doc__ or ""))
