"""Logs of Db2 LUW and solidDB that arrive in many files.

The log of a history is cut at drawn places. After each file that arrives (some are repeated, torn
or damaged first, or begin within the one before) a chain of redo scripts, a target and a growing
export go on, and must hold the units whose commits have arrived, each once.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tests.independent.luw_records import HEADER
from tests.model.case import Answer, Case, Verdict
from tests.model.compare import difference, make_sqlite, rows_of_sqlite, target
from tests.model.histories import draw_story
from tests.model.sites import Files, LuwSite, Site, SolidSite, luw_form

#: Kinds of histories whose rows can be compared as they are.
KINDS = ("plain", "shift", "swap", "composite", "unique", "cascade", "keyless", "link")
RECEIVERS = ("redo", "replay", "grow")
FAULTS = ("plain", "plain", "repeated", "overlapping", "torn", "torn between", "damaged")


@dataclass
class Pieces:
    """A log in pieces (records, or rows). ``commits``: by number of the piece that commits it, the
    number of each unit."""

    case: Case
    words: list[str]
    pieces: list[bytes]
    commits: dict[int, int]
    suffix: str
    head: bytes = b""
    #: The bytes of a piece that are damaged.
    header: Sequence[int] = range(20)
    files: list[Path] = field(default_factory=list)

    def write(
        self,
        name: str,
        low: int,
        high: int,
        spoil: Callable[[bytes], bytes] = bytes,
        folder: str = "logs",
    ) -> Path:
        path = self.case.folder / folder / f"{name}{self.suffix}"
        path.parent.mkdir(exist_ok=True)
        pieces = self.pieces[low:high]
        if self.head:  # rows of a read session count from 0
            pieces = [b"%d,%s" % (n, piece.partition(b",")[2]) for n, piece in enumerate(pieces)]
        path.write_bytes(self.head + spoil(b"".join(pieces)))
        return path

    def cuts(self, rng: random.Random) -> list[int]:
        """Where files begin and end: of solidDB, behind commits."""
        last = len(self.pieces)
        places = [n + 1 for n in self.commits if n + 1 < last] if self.head else range(1, last)
        some = rng.sample(sorted(places), min(len(places), rng.randrange(2, 6)))
        return [0, *sorted(some), last]

    def before(self, low: int, rng: random.Random) -> int:
        """Where a file may begin that overlaps what comes before a piece."""
        if not self.head:
            return max(0, low - rng.randrange(1, 6))
        return rng.choice([0, *(n + 1 for n in self.commits if n + 1 <= low)])

    def due(self, end: int) -> dict[str, list[dict[str, object]]]:
        """The rows of the units that commit before a piece."""
        late = {unit for piece, unit in self.commits.items() if piece >= end}
        return self.case.history.without(late).state()


def luw_pieces(case: Case) -> Pieces:
    site = case.site
    assert isinstance(site, LuwSite)
    at, end = site.source.index("--log"), site.source.index("--catalog")
    commits = {
        number: of.number
        for number, (what, of) in enumerate(site.events)
        if what == "end" and not of.aborted
    }
    records = site.log.records
    frame = len(records[0].framing)
    header = [*range(frame)]
    for place, length, name in HEADER[site.form.release]:
        # a record of another unit, or of a temporary table, and a commit that is none are no damage
        if name not in ("type", "flags", "tid"):
            header += range(frame + place, frame + place + length)
    words = site.source[:at] + site.source[end:]
    return Pieces(case, words, [r.bytes for r in records], commits, ".log", header=header)


def solid_pieces(case: Case) -> Pieces:
    site = case.site
    assert isinstance(site, SolidSite)
    (path,) = case.folder.glob("syslog*")
    head, *rows = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    site.write([])
    path.unlink()
    words = ["--source", "soliddb", "--catalog", str(case.folder), "--framing", site.form.name]
    commits = {place: number for number, place in site.ends.items()}
    return Pieces(case, [*words, "--log-option", "gaps=accept"], rows, commits, ".csv", head)


@dataclass
class Receiver:
    """What goes on from file to file."""

    kind: str
    log: Pieces
    bundle: str = "none"
    scripts: list[str] = field(default_factory=list)
    whole: dict[int, Counter[tuple[str, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        case = self.log.case
        self.path = case.folder / "target.db"
        make_sqlite(case.tables, case.initial, self.path)

    def take(self) -> Answer:
        case = self.log.case
        case.site.source = [*self.log.words]
        for path in self.log.files:
            case.site.source += ["--log", str(path)]
        if self.kind == "replay":
            return case.replayed(f"sqlite:///{self.path}?schema=test")
        if self.kind == "grow":
            out = str(case.folder / "grown")
            words = ("--format", "jsonl", "--grow", *self._schema(), "--out", out)
            return case.said("export", *words)
        words = ("--dialect", "sqlite", "--after", self.bundle, *self._schema())
        answer = case.again("redo", *words)
        if answer.written:
            self.bundle = str(case.folder / f"out{case.runs}")
            self.scripts += answer.scripts
        return answer

    def wrong(self, end: int) -> str:
        """How what is there differs from what the units leave that commit before a piece."""
        case = self.log.case
        if self.kind == "grow":
            return self._grown(end)
        if self.kind == "replay":
            found = rows_of_sqlite(case.tables, self.path)
        else:
            found = target("sqlite").run(case.tables, case.initial, self.scripts, "keys")
        return difference(case.tables, self.log.due(end), found)

    def _grown(self, end: int) -> str:
        """An export in one go of a log that was never cut."""
        case = self.log.case
        if not end:
            self.whole[end] = Counter()
        if end not in self.whole:
            path = self.log.write("whole", 0, end, folder="uncut")
            case.site.source = [*self.log.words, "--log", str(path)]
            answer = case.again("export", *self._schema(), "--format", "jsonl")
            assert answer.code < 9
            self.whole[end] = exported(case.folder / f"out{case.runs}")
        found, done = exported(case.folder / "grown"), self.whole[end]
        more, less = found - done, done - found
        return f"too many {[*more][:2]}, missing {[*less][:2]}" if more or less else ""

    def _schema(self) -> list[str]:
        case = self.log.case
        return ["--schema", str(case.schema)] if case.has_more_keys else []


def exported(folder: Path) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for path in folder.glob("test.*/**/*.jsonl"):
        table = path.relative_to(folder).parts[0]
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            row = json.loads(line)
            kept = {name: row[name] for name in ("op", "before", "after")}
            found[table, json.dumps(kept, sort_keys=True)] += 1
    return found


def run_case(family: str, receiver: str, kind: str, seed: int) -> list[Verdict]:
    """All verdicts of a history that is cut."""
    rng = random.Random(f"chain {kind} {seed} {family}")
    digits = 9 if family == "soliddb" else 6
    history = draw_story(rng, kind, steps=rng.choice((8, 14)), digits=digits).history

    def make(folder: Path) -> Site:
        if family == "soliddb":
            return SolidSite(history, rng, folder, files=Files())
        # files without positions cannot overlap, and a log with gaps may lack any record
        form = luw_form(rng, gaps=False)
        while form.framing == "raw":
            form = luw_form(rng, gaps=False)
        return LuwSite(history, rng, folder, form, files=1, told=True)

    case = Case(seed, kind, history, make)
    try:
        if not case.effective:
            return []
        log = solid_pieces(case) if family == "soliddb" else luw_pieces(case)
        if len(log.pieces) < 6:
            return []
        return [*_chain(log, Receiver(receiver, log), rng)] or [Verdict(receiver, "ok")]
    finally:
        case.close()


def _chain(log: Pieces, receiver: Receiver, rng: random.Random) -> Iterator[Verdict]:
    """What is wrong behind one of the files, and which came how."""
    told = ""
    for number, (low, high) in enumerate(pairwise(log.cuts(rng))):
        fault = rng.choice(FAULTS)
        told += f" {fault} {low}-{high};"
        for answer, end, sound in _arrive(log, receiver, rng, fault, number, low, high):
            # what cannot be trusted may be refused; or units of it are set aside, which is said
            # and a position that damage moved ahead is no place to go on from
            late = "damaged" in told and "LR2039" in answer.text
            if answer.code not in ((0, 4) if sound and not late else (0, 4, 8, 12)):
                yield Verdict(receiver.kind, "refused", f"{told} {answer.code}: {answer.reason}")
                return
            if late:
                return
            ends = [end] if sound else sorted({low, end, *range(low, high + 1)})
            if sound or answer.code == 0:
                wrong = [receiver.wrong(one) for one in ends]
                if all(wrong):
                    detail = f"{told} exit {answer.code}: {wrong[-1]}"
                    yield Verdict(receiver.kind, "wrong", detail)
                    return


def _arrive(
    log: Pieces,
    receiver: Receiver,
    rng: random.Random,
    fault: str,
    number: int,
    low: int,
    high: int,
) -> Iterator[tuple[Answer, int, bool]]:
    """Each run that a file is the cause of, with the piece up to which all has arrived, and whether
    what is there is sound."""
    name = f"s{number:03}"
    if fault == "repeated" and number:
        again = rng.choice(log.files)
        copy = again.with_name(f"t{number:03}{again.suffix}")
        copy.write_bytes(again.read_bytes())
        log.files.append(copy)
        yield receiver.take(), low, True
    start = log.before(low, rng) if fault == "overlapping" else low
    if fault in ("torn", "torn between", "damaged"):
        end = rng.randrange(low, high) + 1 if fault == "torn between" else high

        def spoil(data: bytes) -> bytes:
            if fault == "torn":
                return data[: rng.randrange(1, len(data))]
            if fault == "damaged":
                place = sum(map(len, log.pieces[low : rng.randrange(low, high)]))
                place = min(place + rng.choice(log.header), len(data) - 1)
                harmed = bytes([data[place] ^ rng.randrange(1, 256)])
                return data[:place] + harmed + data[place + 1 :]
            return data

        path = log.write(name, low, end, spoil)
        log.files.append(path)
        answer = receiver.take()
        yield answer, end, fault == "torn between"
        log.files.remove(path)
    log.files.append(log.write(name, start, high))
    yield receiver.take(), high, True
