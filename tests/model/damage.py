"""Damaged logs: every structural step, every byte of headers and a bit of every value.

``python -m tests.model.damage --family db2luw`` tries all places. Counted is, for each step, how
often a run ends with exit code 0 and other SQL than that of the sound log ("passes").
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from tests.independent.luw_records import Log, structure
from tests.independent.solid_export import COMMIT, START, Form, Line
from tests.independent.zos_headers import Form as ZosForm
from tests.model.case import Answer, Case
from tests.model.histories import draw_story
from tests.model.sites import Files, LogMasterSite, LuwSite, SolidSite, luw_form

Part = TypeVar("Part")
#: What was done, where, and the log after it.
Step = tuple[str, str, Any]
#: A record descriptor word.
WORD = 4
#: Forms that all places are tried of: of Log Master the kind of a history.
FORMS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "logmaster": (("plain",), ("segments",), ("shift",)),
    "db2luw": (
        *(("v7", "big", "raw"), ("v7", "little", "lsn6"), ("v97", "little", "raw")),
        *(("v97", "big", "flt16"), ("v10", "little", "raw"), ("v10", "big", "lsn8")),
        ("v10", "little", "flt56"),
    ),
    "soliddb": (("len32", "", 20), ("va", "", 28), ("ind0", "count16", 20), ("len16", "", 20)),
}


@dataclass
class Tally:
    """What became of damaged logs, by step."""

    runs: Counter[str] = field(default_factory=Counter)
    passes: Counter[str] = field(default_factory=Counter)
    crashes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, step: str, where: str, answer: Answer, sound: list[str]) -> None:
        self.runs[step] += 1
        made = changes(answer)
        if step == "cut between":  # a log that ends earlier
            sound = sound[: len(made)]
        if answer.code == 99 or "defect" in answer.text:
            self.crashes[step] += 1
            self.examples.setdefault(step, f"{where}: {answer.text[-150:]}")
        elif answer.code == 0 and made != sound:
            self.passes[step] += 1
            self.examples.setdefault(step, where)

    def lines(self) -> list[str]:
        found = [
            f"{sum(self.passes.values())} of {sum(self.runs.values())} pass,"
            f" {sum(self.crashes.values())} crash"
        ]
        for step in sorted(self.runs):
            text = f"  {step}: {self.passes[step]} of {self.runs[step]} pass"
            found.append(f"{text}, {self.crashes[step]} crash; {self.examples.get(step, '')}")
        return found


def changes(answer: Answer) -> list[str]:
    words = ("INSERT", "UPDATE", "DELETE")
    return [line for line in answer.statements if line.startswith(words)]


def structural(
    parts: Sequence[Part], kinds: Sequence[str]
) -> Iterator[tuple[str, str, list[Part]]]:
    """Parts that are lost, doubled, swapped, or behind which the log ends."""
    for n, kind in enumerate(kinds):
        yield f"drop {kind}", f"{n}", [*parts[:n], *parts[n + 1 :]]
        yield f"duplicate {kind}", f"{n}", [*parts[: n + 1], *parts[n:]]
        if n + 1 < len(parts):
            yield "swap", f"{n} {kind}", [*parts[:n], parts[n + 1], parts[n], *parts[n + 2 :]]
            yield "cut between", f"behind {n}", [*parts[: n + 1]]
        if n % 3 == 0:
            yield "drop three", f"{n}", [*parts[:n], *parts[n + 3 :]]


def in_bytes(parts: Sequence[bytes], kinds: Sequence[str]) -> Iterator[Step]:
    for step, where, left in structural(parts, kinds):
        yield step, where, b"".join(left)
    for n, part in enumerate(parts):
        yield "cut in a record", f"{n}", b"".join([*parts[:n], part[:-3]])
        yield "shorten a record", f"{n}", b"".join([*parts[:n], part[:-2], *parts[n + 1 :]])


def flipped(parts: Sequence[bytes], number: int, at: int, mask: int) -> bytes:
    body = bytearray(parts[number])
    body[at] ^= mask
    return b"".join([*parts[:number], body, *parts[number + 1 :]])


def luw_flips(log: Log) -> Iterator[Step]:
    """Every byte of framing, headers and prefixes, flipped in two ways."""
    parts = [record.bytes for record in log.records]
    for number, start, length, name in structure(log):
        for at in range(start, start + length):
            for mask in (0x01, 0xFF):
                where = f"{number} {log.records[number].what} byte {at} ^{mask:02X}"
                yield name, where, flipped(parts, number, at, mask)


def zos_flips(parts: Sequence[bytes], site: LogMasterSite, rng: random.Random) -> Iterator[Step]:
    """Every byte of descriptor word, header and length of the data; a bit of every other one."""
    names = ["framing"] * WORD + ["between"] * site.log.headers.length + ["length of DATA"] * 2
    for name, at, size, _ in site.log.headers.fields:
        names[WORD + at : WORD + at + size] = [f"header {name}"] * size
    for number, part in enumerate(parts):
        for at in range(len(part)):
            name = names[at] if at < len(names) else "bit in data"
            masks = (0x01, 0xFF) if at < len(names) else (1 << rng.randrange(8),)
            for mask in masks:
                yield name, f"{number} byte {at} ^{mask:02X}", flipped(parts, number, at, mask)


def solid_fields(lines: list[Line]) -> Iterator[Step]:
    """Every field of a row with other values, every byte of its address, a bit of its data."""
    for n, line in enumerate(lines):
        others: list[tuple[str, Any]] = [("recid", one) for one in (1, 3, 4, 5, 7, 12, 9)]
        others += [("flags", one) for one in (0, 3, 65, 129)]
        others += [("relid", one) for one in (10_012, 10_019, 10_026, 99)]
        for name in ("trx", "statement"):
            number = getattr(line, name) or 0
            others += [(name, one) for one in (0, number + 1, number + 256)]
        for name in ("address", "data"):
            found = getattr(line, name) or b""
            for at in range(len(found)):
                for mask in (0x01, 0xFF) if name == "address" else (0x01,):
                    others.append((name, found[:at] + bytes([found[at] ^ mask]) + found[at + 1 :]))
        for name, value in others:
            if getattr(line, name) not in (value, None):
                altered = replace(line, **{name: value})
                yield f"field {name}", f"{n} {value!r}", [*lines[:n], altered, *lines[n + 1 :]]
        if line.data:
            for step, data in (("shorten data", line.data[:-1]), ("no data", None)):
                yield step, f"{n}", [*lines[:n], replace(line, data=data), *lines[n + 1 :]]


def damage(family: str, form: tuple[Any, ...], seed: int, every: int, each: int = 1) -> Tally:
    """All structural steps (or each n-th) on one log, and every n-th of the others."""
    rng = random.Random(f"damage {family} {seed}")
    kind = form[0] if family == "logmaster" else "plain"
    story = draw_story(rng, kind, False, 24, 9 if family == "soliddb" else 6)
    history = story.history

    def make(folder: Path) -> LogMasterSite | LuwSite | SolidSite:
        if family == "db2luw":
            release, order, framing = form
            given = luw_form(rng, release=release, order=order, framing=framing, gaps=False)
            return LuwSite(history, rng, folder, given, files=1, told=True)
        if family == "soliddb":
            profile, count, address = form
            return SolidSite(history, rng, folder, Form(profile, count, address=address), Files())
        return LogMasterSite(history, rng, folder, ZosForm(segments=story.cut > 0), False)

    case = Case(seed, kind, history, make)
    try:
        answer = case.again("redo", "--dialect", "sqlite", "--schema", "none")
        assert answer.code == 0, answer.text
        sound, tally = changes(answer), Tally()
        steps, flips = steps_of(case, rng)
        for step, where, log in [*steps[::each], *flips[rng.randrange(every) :: every]]:
            if isinstance(case.site, SolidSite):
                case.site.export.lines = log
                case.site.write()
            else:
                Path(case.site.source[case.site.source.index(LOGS[family]) + 1]).write_bytes(log)
            tally.add(step, where, case.again("redo", "--dialect", "sqlite", "--schema", "none"),
                      sound)  # fmt: skip
        return tally
    finally:
        case.close()


#: The option that names the log.
LOGS = {"logmaster": "--data", "db2luw": "--log"}


def steps_of(case: Case, rng: random.Random) -> tuple[list[Step], list[Step]]:
    """The structural steps, and those that change a byte or a field."""
    site = case.site
    if isinstance(site, SolidSite):
        lines = site.export.lines
        kinds = [{START: "start", COMMIT: "commit"}.get(line.recid or 0, "row") for line in lines]
        return [*structural(lines, kinds)], [*solid_fields(lines)]
    if isinstance(site, LuwSite):
        parts = [record.bytes for record in site.log.records]
        kinds = ["commit" if r.what == "commit" else "row" for r in site.log.records]
        return [*in_bytes(parts, kinds)], [*luw_flips(site.log)]
    assert isinstance(site, LogMasterSite)
    parts = [record for change in site.log.changes for record in site.log.records(change)]
    parts = [(len(part) + WORD).to_bytes(2, "big") + b"\0\0" + part for part in parts]
    site.files = 1
    path = site.folder / "model0.dat"
    site.source = [*site.source[:3], str(path)]
    return [*in_bytes(parts, ["row"] * len(parts))], [*zos_flips(parts, site, rng)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=FORMS, default="db2luw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="only every n-th byte or field")
    parser.add_argument("--each", type=int, default=1, help="only every n-th structural step")
    args = parser.parse_args()
    for form in FORMS[args.family]:
        tally = damage(args.family, form, args.seed, args.every, args.each)
        sys.stdout.write(f"{form}: " + "\n".join(tally.lines()) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
