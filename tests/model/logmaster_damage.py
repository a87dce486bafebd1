"""Damaged Log Master logs; see :mod:`tests.model.luw_damage`. What passes is given to ``check``.

All places of the logs of :data:`WHOLE` take about 20 minutes of one processor.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.model import logmaster_log as log
from tests.model.logmaster_checks import Case
from tests.model.luw_damage import Tally, as_sound, part_of

#: A record descriptor word.
FRAME = 4
#: Small logs that have inserts, updates and deletes between them: what a step costs grows with the
#: log, and so does the number of steps. The shifts are of keys, one with a net change.
WHOLE = (("plain", 35), ("segments", 9), ("shift", 11), ("shift", 25))


def structural(parts: list[bytes]) -> Iterator[tuple[str, str, bytes]]:
    """(step, where, the data file's bytes)."""
    for n, part in enumerate(parts):
        yield "drop", f"{n}", b"".join(parts[:n] + parts[n + 1 :])
        yield "duplicate", f"{n}", b"".join(parts[: n + 1] + parts[n:])
        if n + 1 < len(parts):
            swapped = parts[:n] + [parts[n + 1], part] + parts[n + 2 :]
            yield "swap", f"{n}", b"".join(swapped)
            yield "cut between records", f"behind {n}", b"".join(parts[: n + 1])
        yield "cut in a record", f"{n}", b"".join([*parts[:n], part[:-3]])
        yield "shorten a record", f"{n}", b"".join([*parts[:n], part[:-2], *parts[n + 1 :]])


def header_bytes(parts: list[bytes]) -> Iterator[tuple[str, str, bytes]]:
    """Every byte of descriptor word, header and length of the data, flipped in two ways."""
    names = ["framing"] * FRAME
    for name, _, length in log.HEADER:
        names += [f"header {name}"] * length
    names += ["length of DATA"] * 2
    for n, part in enumerate(parts):
        for at, step in enumerate(names):
            for mask in (0x01, 0xFF):
                body = bytearray(part)
                body[at] ^= mask
                where = f"{n} byte {at} ^{mask:02X}"
                yield step, where, b"".join([*parts[:n], bytes(body), *parts[n + 1 :]])


def image_bits(parts: list[bytes], rng: random.Random) -> Iterator[tuple[str, str, bytes]]:
    """A bit of every byte of the row images."""
    for n, part in enumerate(parts):
        for at in range(FRAME + log.HEADER_LENGTH + 2, len(part)):
            body = bytearray(part)
            body[at] ^= 1 << rng.randrange(8)
            yield (
                "bit in data",
                f"{n} byte {at}",
                b"".join([*parts[:n], bytes(body), *parts[n + 1 :]]),
            )


def damage(
    kind: str, seed: int, every: int, each: int = 1, sample: int = 0
) -> tuple[Tally, Counter[str]]:
    """All steps (or each n-th) on one log, every n-th byte from one on that ``sample`` draws; and
    of those that pass, by step, how many ``check`` finds."""
    case, rng = Case(seed, kind), random.Random(f"damage {kind} {seed}")
    try:
        form = log.Form(shuffled=False, cut=case.story.cut)
        case.control, case.data = log.write_log(case.history, form, rng, case.folder)
        path = Path(case.data[0])
        parts = log.data_records(case.history, form, random.Random(1))
        parts = [(len(p) + FRAME).to_bytes(2, "big") + b"\0\0" + p for p in parts]
        path.write_bytes(b"".join(parts))
        sound = told(case)
        if sound[0] != 0:
            raise AssertionError(sound)
        steps = [*structural(parts)][::each]
        flips = [*header_bytes(parts), *image_bits(parts, rng)]
        first = random.Random(f"{sample} {kind} {seed}").randrange(every)
        steps += flips[first::every]
        tally, found = Tally(), Counter[str]()
        for step, where, data in steps:
            path.write_bytes(data)
            code, text, statements = told(case)
            tally.runs[step] += 1
            if code == 99 or "defect" in text:
                tally.crashes[step] += 1
                tally.examples.setdefault(step, f"{where}: {text[-150:]}")
            elif code == 0 and not as_sound(step, statements, sound[2]):
                tally.passes[step] += 1
                tally.examples.setdefault(step, f"{kind} {seed}: {where}")
                checked = case.said("check")
                found[step] += checked.code == 8
        return tally, found
    finally:
        case.close()


def told(case: Case) -> tuple[int, str, list[str]]:
    """(exit code, what was said, the changes of the script) of a redo."""
    out = ("--out", str(case.folder / "out"), "--overwrite", "--dialect", "sqlite")
    answer = case.said("redo", *out, "--schema", "none")
    lines = [line for script in answer.scripts for line in script.splitlines()]
    words = ("INSERT", "UPDATE", "DELETE")
    return answer.code, answer.text, [line for line in lines if line.startswith(words)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every n-th byte")
    parser.add_argument("--each", type=int, default=1, help="only every n-th structural step")
    parser.add_argument("--sample", type=int, default=0, help="which of these bytes")
    args = parser.parse_args()
    whole, found = Tally(), Counter[str]()
    for kind, seed in WHOLE:
        tally, checked = damage(kind, seed, args.every, args.each, args.sample)
        sys.stdout.write(f"{kind} {seed}: " + "\n".join(tally.lines()) + "\n")
        sys.stdout.flush()
        whole.add(tally)
        found.update(checked)
    sys.stdout.write(f"{part_of(args.every, args.each, args.sample)}: ")
    sys.stdout.write("\n".join(whole.lines()) + "\n")
    sys.stdout.write(f"check finds {found.total()} of those that pass: {dict(found)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
