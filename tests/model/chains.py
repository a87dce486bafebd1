"""Logs of all families that arrive in many files.

The log of a history is cut at drawn places: files adjoin, or begin within the one before: by a
record, by half a unit, by units; of Log Master between two segments of a change, too. After each
file that arrives (some are repeated, torn or damaged first, or a later one comes first) a chain of
redo scripts, a target, a growing export, a follower and a chain of extracts go on, by the command
that a refusal names where one does, and must hold the units whose commits have arrived, each once.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path

from tests.independent.luw_records import HEADER
from tests.independent.zos_headers import NO_POSITION
from tests.independent.zos_records import framed
from tests.model.case import Answer, Case, Verdict
from tests.model.compare import Failed, difference, make_sqlite, rows_of_sqlite, run
from tests.model.histories import draw_story
from tests.model.sites import Files, LogMasterSite, LuwSite, Site, SolidSite, luw_form

#: Kinds of histories whose rows can be compared as they are.
KINDS = ("plain", "shift", "swap", "composite", "unique", "cascade", "keyless", "link", "takeover")
#: With changes in several records, which a log is also cut between.
SEGMENTED = ("segments",)
RECEIVERS_OF = {
    "logmaster": ("redo", "replay", "grow", "follow", "extract"),
    "db2luw": ("redo", "replay", "grow", "follow"),
    "soliddb": ("redo", "replay", "grow", "follow"),
}
FAULTS = ("plain", "plain", "repeated", "overlapping", "torn", "torn between", "damaged")
#: What may happen to a log that is made of control file and data anew each time.
MADE_ANEW = ("plain", "plain", "repeated", "overlapping", "later first")
#: What becomes of units that are open at the end of such a log.
MODES = ("rest", "completed", "flagged")


def kinds_of(family: str) -> tuple[str, ...]:
    return KINDS + SEGMENTED * (family == "logmaster")


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
    beside: str = ""
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

    def given(self, rng: random.Random, files: Sequence[Path] | None = None) -> list[str]:
        """How the command is told of the files, or of some."""
        files = self.files if files is None else files
        return [word for path in files for word in ("--log", str(path))]

    def copied(self, path: Path, name: str) -> Path:
        """The same file under another name."""
        for suffix in {path.suffix, self.beside or path.suffix}:
            shutil.copy(path.with_suffix(suffix), path.with_name(f"{name}{suffix}"))
        return path.with_name(f"{name}{path.suffix}")

    @property
    def folder(self) -> list[str]:
        """How it is told of the folder that they are in."""
        return ["--logs", str(self.case.folder / "logs")]

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
class MadeAnew(Pieces):
    """A log of Log Master: an empty piece is where a unit commits, which its headers say. A file is
    a control file, that says how far it goes, with data. ``mode``: units that are open at its end
    are not in it (completed), or flagged as incomplete, and the next log has them from their
    beginning; or it goes on with their next change (rest). ``places``: by number of the piece the
    moment, the unit and the records; ``ends``: the piece at which each unit ends, rolled back
    too."""

    places: list[tuple[int, int, list[bytes]]] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)
    mode: str = "rest"

    def write(
        self,
        name: str,
        low: int,
        high: int,
        spoil: Callable[[bytes], bytes] = bytes,
        folder: str = "logs",
    ) -> Path:
        site, path = self.case.site, self.case.folder / folder / f"{name}.ctl"
        assert isinstance(site, LogMasterSite)
        path.parent.mkdir(exist_ok=True)
        records = list[bytes]()
        for number, (_, unit, some) in enumerate(self.places[:high]):
            ends = self.ends.get(unit, len(self.pieces))
            if ends >= high and (self.mode == "completed" or folder == "uncut"):
                continue
            if number >= low or (self.mode != "rest" and ends >= low):
                is_open = self.mode == "flagged" and ends >= high
                records += map(self._flagged, some) if is_open else some
        site.rng.shuffle(records)
        moment = self.places[high - 1][0] if high else 0
        site.log.pick = random.Random(f"{self.case.seed}")  # the same fields are described
        parts = site.log.control_of(site._generations(), site.number(moment) + 3000, NO_POSITION)
        path.write_bytes(framed(parts, site.form.framing, site.rng))
        path.with_suffix(".dat").write_bytes(framed(records, site.form.framing, site.rng))
        return path

    def _flagged(self, record: bytes) -> bytes:
        site = self.case.site
        assert isinstance(site, LogMasterSite)
        at = next(at for name, at, *_ in site.log.headers.fields if name == "INCOMPLETETRANS")
        return record[:at] + "Y".encode("cp037") + record[at + 1 :]

    def given(self, rng: random.Random, files: Sequence[Path] | None = None) -> list[str]:
        files = self.files if files is None else files
        some = rng.sample(files, len(files))
        return [
            word
            for path in some
            for word in ("--control", str(path), "--data", str(path.with_suffix(".dat")))
        ]

    def before(self, low: int, rng: random.Random) -> int:
        return max(0, low - rng.choice((1, 1, 2, 3, 8)))


def made_anew(case: Case, rng: random.Random) -> MadeAnew:
    site, events = case.site, list[tuple[int, int, list[bytes]]]()
    assert isinstance(site, LogMasterSite)
    ended = [record for record in case.history.records if not record.unit.open]
    for record, change in zip(ended, site.log.changes, strict=True):
        events += [(record.moment, record.unit.number, [part]) for part in site.log.records(change)]
    units = {unit.number: unit for unit in case.history.units if not unit.open}
    events += [(unit.commit, number, []) for number, unit in units.items()]
    events.sort(key=lambda event: event[0])
    ends = {unit: number for number, (_, unit, piece) in enumerate(events) if not piece}
    return MadeAnew(
        case,
        [],
        [b"".join(records) for *_, records in events],
        {piece: unit for unit, piece in ends.items() if not units[unit].aborted},
        ".ctl",
        places=events,
        ends=ends,
        beside=".dat",
        mode=rng.choice(MODES),
    )


@dataclass
class Receiver:
    """What goes on from file to file."""

    kind: str
    log: Pieces
    bundle: str = "none"
    whole: dict[int, Counter[tuple[str, str]]] = field(default_factory=dict)
    #: The bundles of a chain with their scripts.
    bundles: dict[str, list[str]] = field(default_factory=dict)
    compared: int = 0

    def __post_init__(self) -> None:
        case = self.log.case
        self.path = case.folder / "target.db"
        self.url = f"sqlite:///{self.path}?schema=test"
        make_sqlite(case.tables, case.initial, self.path)

    def take(self, *more: str) -> Answer:
        case = self.log.case
        case.site.source = [*self.log.words, *self.log.given(case.site.rng)]
        if self.kind == "replay":
            return case.replayed(self.url, *more)
        if self.kind == "follow":
            case.site.source = [*self.log.words, *self.log.folder]
            how = ("--once", "--arrival", "rename", "--on-trouble", "stop")
            return case.said("follow", "--to", self.url, *how)
        if self.kind == "grow":
            out = str(case.folder / "grown")
            words = ("--format", "jsonl", "--grow", *self._schema(), "--out", out)
            return case.said("export", *words, *more)
        if self.kind == "extract":
            answer = case.again("extract", "--after", self.bundle)
        else:
            words = ("--dialect", "sqlite", "--after", self.bundle, *self._schema())
            answer = case.again("redo", *words)
        if answer.written:
            self.bundle = str(case.folder / f"out{case.runs}")
            self.bundles[self.bundle] = answer.scripts
        return answer

    def start_over(self, refusal: Answer, read: Sequence[Path]) -> Answer:
        """What the command does that a refusal names; ``read``: the logs that were read before."""
        case, said = self.log.case, refusal.text
        if self.kind == "grow":
            (number,) = re.findall(r"--back-to (\d+)", said)
            return self.take("--back-to", number)
        if self.kind in ("replay", "follow"):
            (until,) = re.findall(r"--until-position (\w+)", said)
            case.site.source = [*self.log.words, *self.log.given(case.site.rng, read)]
            back = case.replayed(self.url, "--until-position", until)
            at = re.findall(r"(--at-position) (\w+)", said)
            again = self.kind
            self.kind = "replay"
            answer = self.take(*chain(*at)) if back.code in (0, 4, 8) else back
            self.kind = again
            return answer
        (self.bundle,) = re.findall(r"--after (\S+?),? ", said)
        kept = [*self.bundles][: [*self.bundles, "none"].index(self.bundle) + 1]
        self.bundles = {name: self.bundles[name] for name in kept if self.bundle != "none"}
        return self.take()

    def wrong(self, end: int) -> str:
        """How what is there differs from what the units leave that commit before a piece."""
        case = self.log.case
        self.compared += 1
        if self.kind == "grow":
            return self._grown(end)
        if self.kind in ("replay", "follow"):
            found = rows_of_sqlite(case.tables, self.path)
        else:
            scripts = [script for some in self.bundles.values() for script in some]
            if self.kind == "extract" and self.bundles:
                case.site.source = [
                    word
                    for folder in self.bundles
                    for word in ("--control", f"{folder}/extract.ctl",
                                 "--data", f"{folder}/extract.dat")
                ]  # fmt: skip
                answer = case.again("redo", "--dialect", "sqlite", *self._schema())
                if answer.code not in (0, 4):
                    return f"redo of the extracts: {answer.code}: {answer.reason}"
                scripts = answer.scripts
            try:
                found = run(case.tables, case.initial, scripts, "keys")
            except Failed as failure:
                return f"the scripts fail: {failure}"
        return difference(case.tables, self.log.due(end), found)

    def _grown(self, end: int) -> str:
        """An export in one go of a log that was never cut."""
        case = self.log.case
        if not end:
            self.whole[end] = Counter()
        if end not in self.whole:
            path = self.log.write("whole", 0, end, folder="uncut")
            held, self.log.files = self.log.files, [path]
            case.site.source = [*self.log.words, *self.log.given(case.site.rng)]
            self.log.files = held
            answer = case.again("export", *self._schema(), "--format", "jsonl")
            assert answer.code < 9, answer.text
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
    """All verdicts of a history that is cut: one for each comparison that holds."""
    rng = random.Random(f"chain {kind} {seed} {family}")
    digits = 9 if family == "soliddb" else 6
    story = draw_story(rng, kind, steps=rng.choice((8, 14)), digits=digits)
    history = story.history

    def make(folder: Path) -> Site:
        if family == "logmaster":
            return LogMasterSite(history, rng, folder, None, True, story.cut)
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
        log = (
            made_anew(case, rng)
            if family == "logmaster"
            else (solid_pieces if family == "soliddb" else luw_pieces)(case)
        )
        if len(log.pieces) < 6:
            return []
        to = Receiver(receiver, log)
        bad = [*_chain(log, to, rng)]
        return [*bad, *[Verdict(receiver, "ok")] * (to.compared - len(bad))]
    finally:
        case.close()


def _chain(log: Pieces, receiver: Receiver, rng: random.Random) -> Iterator[Verdict]:
    """What is wrong behind one of the files, and which came how."""
    told, early = "", 0
    files = [*pairwise(log.cuts(rng))]
    for number, (low, high) in enumerate(files):
        if low < early:  # it came before the one before it
            continue
        fault = rng.choice(MADE_ANEW if isinstance(log, MadeAnew) else FAULTS)
        if fault == "later first" and number + 1 < len(files):
            early = files[number + 1][1]
        told += f" {fault} {low}-{high};"
        for answer, end, sound in _arrive(log, receiver, rng, fault, number, low, high, early):
            # what cannot be trusted may be refused; or units of it are set aside, which is said
            # and a position that damage moved ahead is no place to go on from
            late = "damaged" in told and "LR2039" in answer.text
            if "LR3012" in answer.text and not any(table.foreign for table in log.case.tables):
                return  # as checks.exchanged has it
            if "LR3022" in answer.text:
                return  # a few records do not show a layout, so there is no copy, which is said
            codes = (0, 4) if sound and not late else (0, 4, 8, 12)
            if isinstance(log, MadeAnew) and "LR2013" in answer.text and end < len(log.pieces):
                codes = (0, 4, 8)  # a change goes on in the next log, and its unit waits for that
                if answer.code == 12:  # a target waits with all
                    continue
            if answer.code not in codes:
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
    early: int,
) -> Iterator[tuple[Answer, int, bool]]:
    """Each run that a file is the cause of, with the piece up to which all has arrived, and whether
    what is there is sound."""
    name = f"s{number:03}"
    if early > high:  # what a log without the one before it leaves is not looked at
        log.files.append(log.write(f"s{number + 1:03}", high, early))
        receiver.take()
        read = [*log.files]
        log.files.append(log.write(name, low, high))
        answer = receiver.take()
        again = "LR2039" in answer.text
        yield receiver.start_over(answer, read) if again else answer, early, True
        return
    if fault == "repeated" and number:
        log.files.append(log.copied(rng.choice(log.files), f"t{number:03}"))
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
