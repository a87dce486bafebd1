"""Damaged exports of SYS_LOG; see :mod:`tests.model.luw_damage`."""

from __future__ import annotations

import argparse
import copy
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.model.luw_damage import Tally, base_history
from tests.model.solid_checks import told, written
from tests.model.solid_encoder import COMMIT, START, Form, Line, SolidLog

FORMS = (("len32", 0, 20), ("va", 0, 28), ("ind0", 2, 20), ("len16", 0, 20))


def steps_of(lines: list[Line]) -> Iterator[tuple[str, str, list[Line]]]:
    """(step, where, the rows of the damaged export)."""
    for n, line in enumerate(lines):
        kind = {START: "start", COMMIT: "commit"}.get(line.recid, "row")
        where = f"{n} RECID {line.recid}"
        yield f"drop {kind}", where, lines[:n] + lines[n + 1 :]
        yield f"duplicate {kind}", where, lines[: n + 1] + lines[n:]
        if n + 1 < len(lines):
            swapped = lines[:n] + [lines[n + 1], line] + lines[n + 2 :]
            yield "swap", f"{where}, {lines[n + 1].recid}", swapped
            yield "cut between rows", where, lines[: n + 1]
        for name, values in (
            ("recid", (1, 3, 4, 5, 7, 12, 9)),
            ("flags", (0, 3, 65, 129)),
            ("trxid", (0, (line.trxid or 0) + 1, (line.trxid or 0) + 256)),
            ("stmt", (0, (line.stmt or 0) + 1, (line.stmt or 0) + 256)),
            ("relid", (10_005, 10_006, 10_007, 99)),
        ):
            for value in values:
                if getattr(line, name) in (value, None):
                    continue
                yield f"field {name}", f"{where} {name} {value}", altered(lines, n, name, value)
        for at in range(len(line.address)):
            for mask in (0x01, 0xFF):
                data = bytearray(line.address)
                data[at] ^= mask
                where_at = f"{where} byte {at}"
                yield "field logaddr", where_at, altered(lines, n, "address", bytes(data))
        if line.data:
            yield "shorten data", where, altered(lines, n, "data", line.data[:-1])
            yield "no data", where, altered(lines, n, "data", None)
            for at in range(len(line.data)):
                data = bytearray(line.data)
                data[at] ^= 0x01
                yield "bit in data", f"{where} byte {at}", altered(lines, n, "data", bytes(data))


def altered(lines: list[Line], number: int, name: str, value: object) -> list[Line]:
    line = copy.copy(lines[number])
    setattr(line, name, value)
    return [*lines[:number], line, *lines[number + 1 :]]


def damage(form: Form, seed: int, every: int, folder: Path, each: int = 1) -> Tally:
    """All steps (or each n-th) on one export; every n-th of the changed fields and bytes."""
    rng = random.Random(f"damage {seed}")
    history = base_history(rng)
    log, names = written(history, form, rng)
    case = told(history, log, names, folder)
    sound = case.run("redo", "--dialect", "sqlite")
    if sound.code != 0:
        raise AssertionError(sound.brief())
    every_step = [*steps_of(log.lines)]
    steps = [s for s in every_step if not s[0].startswith(("field", "bit"))][::each]
    fields = [s for s in every_step if s[0].startswith(("field", "bit"))]
    steps += fields[rng.randrange(every) :: every]
    result = Tally()
    for step, where, lines in steps:
        SolidLog(form, rng, lines).write(folder)
        outcome = case.run("redo", "--dialect", "sqlite")
        result.runs[step] += 1
        if "unexpected" in outcome.text:
            result.crashes[step] += 1
            result.examples.setdefault(step, f"{where}: {outcome.brief()[:150]}")
        elif outcome.code == 0 and outcome.statements != sound.statements:
            result.passes[step] += 1
            result.examples.setdefault(step, where)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="only every n-th field and byte")
    args = parser.parse_args()
    whole = Tally()
    for profile, count, address in FORMS:
        result = Tally()
        for seed in range(args.seeds):
            with tempfile.TemporaryDirectory() as scratch:
                nul = profile in ("va", "len32z")
                form = Form(profile, count, nul, address=address)
                result.add(damage(form, seed, args.every, Path(scratch)))
        sys.stdout.write(f"{form}: " + "\n".join(result.lines()) + "\n")
        sys.stdout.flush()
        whole.add(result)
    sys.stdout.write("all: " + "\n".join(whole.lines()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
