"""Damage to logs: a bit that flips, bytes that are cut out, records lost, doubled or swapped.

Only the structure of a log is damaged, for a bit in a value of a row makes another value.
"""

from __future__ import annotations

import random
from dataclasses import replace

from tests.independent.luw_records import Form, Log, structure
from tests.independent.solid_export import DELETE, INSERT, Export, Line


def may_be(form: Form, record: str, field: str) -> bool:
    """Whether damage to a ``field`` of a record, or its loss, can be told at all. A unit that lost
    its commit is one in flight, or one that was undone, and a log may have those anywhere (they are
    counted); a log that has gaps may lack any record."""
    if record == "commit" and field in ("lost", "type"):
        return False
    return not (field == "lost" and form.gaps)


def harmed_log(log: Log, pick: random.Random) -> tuple[str, bytes]:
    """What was done, and the bytes of the log after it."""
    parts = [record.bytes for record in log.records]
    form, number = log.form, pick.randrange(len(parts))
    what = pick.choice(("bit", "bit", "bit", "cut", "lost", "doubled", "swapped"))
    record = log.records[number].what
    if what == "lost" and not may_be(form, record, what):
        what = "doubled"
    said = f"{what} {number} {record}"
    match what:
        case "bit":
            places = [
                place
                for place in structure(log)
                if may_be(form, log.records[place[0]].what, place[3])
            ]
            number, at, length, name = pick.choice(places)
            at, bit = at + pick.randrange(length), 1 << pick.randrange(8)
            part = bytearray(parts[number])
            part[at] ^= bit
            parts[number] = bytes(part)
            said = f"bit {number} {log.records[number].what} {name} byte {at} ^{bit:02X}"
        case "cut":
            data, length = b"".join(parts), pick.choice((1, 2, 4, 8, 50, 200))
            at = pick.randrange(len(data))
            return f"cut {length} at {at}", data[:at] + data[at + length :]
        case "lost":
            del parts[number]
        case "doubled":
            parts.insert(number, parts[number])
        case _:
            parts[number : number + 2] = parts[number : number + 2][::-1]
    return said, b"".join(parts)


def harmed_export(export: Export, pick: random.Random) -> tuple[str, list[Line]]:
    """What was done, and the rows of the export after it."""
    lines = [replace(line) for line in export.lines]
    number = pick.randrange(len(lines))
    line = lines[number]
    what = pick.choice(
        ("lost", "swapped", "doubled", "recid", "trx", "relid", "flags", "bit", "cut")
    )
    said = f"{what} {number} RECID {line.recid}"
    match what:
        case "lost":
            del lines[number]
        case "doubled":
            lines.insert(number, replace(line))
        case "swapped" if number + 1 < len(lines):
            lines[number : number + 2] = lines[number + 1], line
        case "recid":
            # An insert may as well be a delete, of a row that the log names once.
            same = {INSERT, DELETE} if line.recid in (INSERT, DELETE) else {line.recid}
            line.recid = pick.choice([n for n in (0, 1, 3, 4, 5, 7, 12, 2, 8) if n not in same])
        case "trx" if line.trx is not None:
            line.trx += pick.choice((1, -1, 1 << 20))
        case "relid" if line.relid is not None:
            # Rows of numbers below 10,000, the system's own tables, are passed over (and counted).
            line.relid = pick.choice((10_012, 10_019, 99_999, None))
        case "flags":
            line.flags = pick.choice((0, 2, 3, 4, 5, 64))
        case "bit" if line.data:
            data = bytearray(line.data)
            data[0] ^= 1 << pick.randrange(8)  # the first byte is none of a value
            line.data = bytes(data)
        case "cut" if line.data:
            line.data = line.data[: pick.randrange(len(line.data))]
    return said, lines
