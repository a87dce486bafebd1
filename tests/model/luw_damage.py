"""Damaged logs: every structural step and every header byte, and what the program makes of them.

``python -m tests.model.luw_damage`` damages Db2 LUW logs, ``python -m tests.model.solid_damage``
solidDB's. Counted is, for each step and field, how often a run ends with exit code 0 and other SQL
than that of the sound log ("passes"). All places take about 15 minutes of one processor;
``--every``, ``--each`` and ``--sample`` try a part and say which.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.model.luw_encoder import Form, Record
from tests.model.luw_histories import written
from tests.model.luw_model import History, Maker, copied, keyed, mixed
from tests.model.luw_run import Case
from tests.model.luw_special import told

FORMS = (
    ("v7", True, "raw"),
    ("v7", False, "lsn6"),
    ("v97", False, "raw"),
    ("v97", True, "flt16"),
    ("v10", False, "raw"),
    ("v10", True, "lsn8"),
    ("v10", False, "flt56"),
)

#: Fields of the log manager's header: first byte -> name.
HEADERS = {
    "v7": {0: "length", 4: "type", 6: "flags", 8: "previous", 14: "tid", 20: "undo"},
    "v97": {0: "length", 4: "type", 6: "flags", 8: "previous", 16: "tid", 22: "pad", 24: "undo"},
    "v10": {
        0: "length",
        4: "type",
        6: "flags",
        8: "lsn",
        16: "flush",
        24: "previous",
        32: "tid",
        38: "stream",
        40: "undo",
    },
}

PREFIX = {
    "v7": {0: "function", 2: "table", 6: "pad", 8: "rid", 12: "row length", 14: "space, offset"},
    "v97": {
        0: "function",
        2: "table",
        6: "pad",
        8: "row length",
        10: "free",
        12: "rid",
        18: "offset",
    },
}
PREFIX["v10"] = PREFIX["v97"]


@dataclass
class Tally:
    """What became of damaged logs, by step."""

    runs: Counter = field(default_factory=Counter)
    passes: Counter = field(default_factory=Counter)
    crashes: Counter = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        self.runs.update(other.runs)
        self.passes.update(other.passes)
        self.crashes.update(other.crashes)
        for step, text in other.examples.items():
            self.examples.setdefault(step, text)

    def lines(self) -> list[str]:
        rows = []
        for step in sorted(self.runs):
            text = f"  {step}: {self.passes[step]} of {self.runs[step]} pass"
            text += f", {self.crashes[step]} crash" if self.crashes[step] else ""
            rows.append(text + (f"; {self.examples[step]}" if step in self.examples else ""))
        total = f"{sum(self.passes.values())} of {sum(self.runs.values())} pass"
        return [f"{total}, {sum(self.crashes.values())} crash", *rows]


def base_history(rng: random.Random) -> History:
    """Some units on two tables, all rows touched twice."""
    tables = [keyed(rng, "T", 5), keyed(rng, "S", 6)]
    maker = Maker(rng, tables)
    for table in tables:
        maker.fill(table, 3)
    initial = copied(maker.state)
    for number in range(4):
        maker.begin(authid="DB2INST1")
        for _ in range(2):
            mixed(maker, tables[number % 2], 1)
        point = maker.savepoint()
        if number == 1:
            mixed(maker, tables[0], 1)
            maker.back_to(point)
        maker.end()
    return maker.history("damage", initial)


def structural(records: list[Record]) -> Iterator[tuple[str, str, bytes]]:
    """(step, where, the log's bytes)."""
    parts = [r.bytes for r in records]
    for n, record in enumerate(records):
        kind = "commit" if record.what.startswith("commit") else "row"
        yield f"drop {kind}", f"{n} {record.what}", b"".join(parts[:n] + parts[n + 1 :])
        yield f"duplicate {kind}", f"{n} {record.what}", b"".join(parts[: n + 1] + parts[n:])
        if n + 1 < len(parts):
            swapped = parts[:n] + [parts[n + 1], parts[n]] + parts[n + 2 :]
            yield "swap", f"{n} {record.what}, {records[n + 1].what}", b"".join(swapped)
            yield "cut between records", f"behind {n}", b"".join(parts[: n + 1])
        yield "cut in a record", f"{n} {record.what}", b"".join([*parts[:n], parts[n][:-3]])
        yield "shorten a record", f"{n}", b"".join([*parts[:n], parts[n][:-2], *parts[n + 1 :]])
    for low in range(0, len(parts) - 2, 3):
        yield "drop three", f"{low}", b"".join(parts[:low] + parts[low + 3 :])


def header_bytes(records: list[Record], dialect: str) -> Iterator[tuple[str, str, bytes]]:
    """Every byte of framing, header and row prefix, flipped in two ways."""
    parts = [r.bytes for r in records]
    for n, record in enumerate(records):
        frame = len(record.framing)
        rows = record.what[:2] in ("I ", "D ", "U ")
        end = frame + record.header + (20 if rows else 0)
        for at in range(min(end, len(parts[n]))):
            step = name_of(at - frame, record.header, dialect)
            for mask in (0x01, 0xFF):
                body = bytearray(parts[n])
                body[at] ^= mask
                where = f"{n} {record.what} byte {at} ^{mask:02X}"
                yield step, where, b"".join([*parts[:n], bytes(body), *parts[n + 1 :]])


def name_of(at: int, header: int, dialect: str) -> str:
    if at < 0:
        return "framing"
    fields = HEADERS[dialect] if at < header else PREFIX[dialect]
    place = at if at < header else at - header
    start = max(first for first in fields if first <= place)
    return ("header " if at < header else "prefix ") + fields[start]


def damage(
    form: Form, seed: int, every: int, folder: Path, each: int = 1, sample: int = 0
) -> Tally:
    """All steps (or each n-th) on one log; every n-th header byte from one on that ``sample``
    draws."""
    rng = random.Random(f"damage {seed}")
    history = base_history(rng)
    log = written(history, form, rng)
    case = told(history, form, [log.records], folder)
    path = Path(case.source[case.source.index("--log") + 1])
    sound = case.run("redo", "--dialect", "sqlite")
    if sound.code != 0:
        raise AssertionError(sound.brief())
    steps = [*structural(log.records)][::each]
    flips = [*header_bytes(log.records, form.dialect)]
    first = random.Random(f"{sample} {form} {seed}").randrange(every)
    steps += flips[first::every]
    return tally(case, path, sound.statements, steps)


def tally(case: Case, path: Path, sound: list[str], steps: list[tuple[str, str, bytes]]) -> Tally:
    result = Tally()
    for step, where, data in steps:
        path.write_bytes(data)
        outcome = case.run("redo", "--dialect", "sqlite")
        result.runs[step] += 1
        if "unexpected" in outcome.text:
            result.crashes[step] += 1
            result.examples.setdefault(step, f"{where}: {outcome.brief()[:150]}")
        elif outcome.code == 0 and not as_sound(step, outcome.statements, sound):
            result.passes[step] += 1
            result.examples.setdefault(step, where)
    return result


def part_of(every: int, each: int, sample: int) -> str:
    """Which part of all places was tried, in words."""
    if every == each == 1:
        return "all"
    return f"one structural step of {each}, one byte of {every} (sample {sample})"


def as_sound(step: str, statements: list[str], sound: list[str]) -> bool:
    """Whether the SQL is that of the sound log; of a log that ends earlier, its first part."""
    if step == "cut between records":
        return statements == sound[: len(statements)]
    return statements == sound


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="only every n-th header byte")
    parser.add_argument("--each", type=int, default=1, help="only every n-th structural step")
    parser.add_argument("--sample", type=int, default=0, help="which of these bytes")
    args = parser.parse_args()
    whole = Tally()
    for dialect, big, framing in FORMS:
        result = Tally()
        for seed in range(args.seeds):
            with tempfile.TemporaryDirectory() as scratch:
                form = Form(dialect, big, framing)
                given = (args.every, Path(scratch), args.each, args.sample)
                result.add(damage(form, seed, *given))
        sys.stdout.write(f"{form}: " + "\n".join(result.lines()) + "\n")
        sys.stdout.flush()
        whole.add(result)
    sys.stdout.write(f"{part_of(args.every, args.each, args.sample)}: ")
    sys.stdout.write("\n".join(whole.lines()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
