"""Machine code that looks at all records of a log says of it what the other ways say."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.arrays import Records
from replay.decoding.machine_code import Kernel, available
from replay.logs import Inputs
from replay.logs.db2luw import chains, framing, layouts, plain_chains, reader, scan, units
from replay.logs.db2luw.layouts import RecordKind, RecordRole
from replay.logs.db2luw.scan import SCANNED
from replay.logs.long_arrays import LongArrays
from tests.independent import luw_history
from tests.independent.harm import harmed_log
from tests.logs.db2luw.test_missing import FORMS
from tests.logs.test_index_in_parts import drawn_units, outcome
from tests.support.luwbuilder import LogBuilder, catalog_csv
from tests.support.luwhistory import PLAIN


def both(monkeypatch: pytest.MonkeyPatch, inputs: Inputs) -> tuple[Any, bool]:
    """(the outcome, which is the same with machine code and without, whether the chains were found
    to have nothing odd)."""
    with monkeypatch.context() as patch:
        for module in (plain_chains, scan):
            patch.setattr(module, "once_worth", lambda *_: None)
        slow = outcome(reader.open_log, inputs)
    really, found = plain_chains.plain_chains, list[bool]()

    def noted(*given: Any) -> Any:
        result = really(*given)
        found.append(result is not None)
        return result

    def at_once(kernel: Kernel, *_: int) -> Any:
        return available(kernel)

    with monkeypatch.context() as patch:
        for module in (plain_chains, scan):
            patch.setattr(module, "once_worth", at_once)
        patch.setattr("replay.logs.db2luw.index.plain_chains", noted)
        assert outcome(reader.open_log, inputs) == slow
    return slow, any(found)


@pytest.mark.parametrize("seed", range(12))
def test_histories(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of all releases, whole, damaged, cut, and with a stretch that is missing."""
    draw = random.Random(f"quick {seed}")
    form, wants = luw_history.form_of(seed), luw_history.wants_of(seed)
    history = luw_history.History(f"quick {seed}", form, wants)
    luw_history.case_of(history, tmp_path)
    records = [record.bytes for record in history.log.records]
    one, two = sorted(draw.sample(range(1, len(records)), 2))
    files = {
        "whole": [b"".join(records)],
        "parts": [b"".join(records[:one]), b"".join(records[one:])],
        "behind": [b"".join(records[one:])],
        "gap": [b"".join(records[:one]), b"".join(records[two:])],
        **{f"harm {number}": [harmed_log(history.log, draw)[1]] for number in range(6)},
    }
    options = {"byte-order": form.order, "dialect": form.release}
    for name, parts in files.items():
        paths = [tmp_path / f"{name} {number}" for number in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            path.write_bytes(part)
        inputs = Inputs(
            log=tuple(map(str, paths)), catalog=str(tmp_path / "catalog.csv"),
            framing=form.framing, options=options,
        )  # fmt: skip
        both(monkeypatch, inputs)


@pytest.mark.parametrize(
    "big",
    [
        pytest.param(True, id="big"),
        pytest.param(False, id="little", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("form", FORMS, ids=["-".join(form) for form in FORMS])
def test_units_side_by_side(
    form: tuple[str, str], big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units of few transaction ids, some with records of another one, lost, or swapped."""
    dialect, framing = form
    (tmp_path / "catalog.csv").write_text(catalog_csv([PLAIN]))
    path, plain, odd = tmp_path / "log", 0, 0
    for seed in range(20):
        draw = random.Random(f"{form} {seed}")
        builder = LogBuilder(dialect, big, framing)
        records = drawn_units(draw, builder)
        if seed % 2:
            records = list(builder.records)
        path.write_bytes(b"".join(records))
        shape = {"byte-order": "big" if big else "little", "dialect": dialect}
        inputs = Inputs(
            log=(str(path),), catalog=str(tmp_path / "catalog.csv"), framing=framing, options=shape
        )
        _, found = both(monkeypatch, inputs)
        plain, odd = plain + (found and seed % 2), odd + (found and not seed % 2)
    # the order of positions of 6 bytes is not known on little-endian servers
    assert plain == (10 if big or dialect != "v7" else 0)
    assert odd < 10


def drawn_records(draw: random.Random, told: tuple[str, ...]) -> Records:
    """Records of a log in which nothing is odd, with some positions; ``lfs`` is in them where its
    name is. Some are of no transaction."""
    records = np.zeros(draw.randrange(12, 80), SCANNED)
    base, place, lfs = draw.choice([1, 4096, 1 << 40]), 0, 7
    last: dict[int, int] = {}
    for row in records:
        tid, kind = draw.randrange(1, 6), RecordKind.COMPONENT
        row["length"], row["header"], row["type"] = draw.randrange(40, 90), 40, 0x4E
        if draw.random() < 0.05:
            tid, kind = 0, RecordKind.IGNORED
            row["type"] = draw.choice([0x4C, 0x6F])
        elif tid in last:
            row["previous"] = last[tid]
            kind = draw.choice([kind, kind, RecordKind.COMMIT, RecordKind.ABORT])
        last[tid] = base + place
        if draw.random() < 0.1 and kind is RecordKind.COMPONENT:
            row["flags"] = layouts.SINGULAR
        if tid == 0 or row["flags"] or kind is not RecordKind.COMPONENT:
            del last[tid]
        row["tid"], row["kind"], row["role"] = tid, kind, RecordRole.INSERT
        lfs += draw.random() < 0.2
        for name in told:
            row[name] = lfs if name == "lfs" else base + place
        place += int(row["length"])
    return records


@pytest.mark.parametrize(
    "told",
    [
        *((), ("lso", "lsn", "lfs")),
        *(
            pytest.param(told, marks=pytest.mark.long)
            for told in (("lsn",), ("lsn", "lfs"), ("lfs",), ("lso",))
        ),
    ],
)
def test_drawn_records(told: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of records with nothing odd, and with numbers of other ones, or others."""
    monkeypatch.setattr(plain_chains, "once_worth", lambda kernel, *_: available(kernel))
    arrays, odd = LongArrays(None), 0
    for seed in range(300):
        draw = random.Random(f"{told} {seed}")
        records = drawn_records(draw, told)
        for _ in range(draw.choice([0, 1, 1, 2])):
            name = draw.choice([*"tid previous kind flags length type part".split(), *told])
            one, other = records[draw.randrange(len(records))], draw.choice(records)
            one[name] = draw.choice([0, int(one[name]) | 16, other[name], other[name]])
        if draw.random() < 0.1:
            records = records[draw.randrange(3) :].copy()
        plain = plain_chains.plain_chains(records)
        if plain is None:
            odd += 1
            continue
        assert units.disorder(records, arrays) is None
        holes = chains.holes(records, arrays)
        assert (holes.misplaced, len(holes.behind), holes.gone.any()) == (None, 0, False)
        assert holes.position.tolist() == plain.positions(arrays).tolist()
        splits = bool(records["previous"].any())
        result = units.resolve(records, records["tid"].copy(), splits, arrays)
        position = holes.position
        assert not units.foreign(records, records["tid"], result.unit, position, arrays).any()
        assert not chains.lacking(records, result.unit, len(result.last), holes, arrays).any()
        assert units.lost(records, arrays) == (0, -1)
    assert 50 < odd < 250


@pytest.mark.parametrize("seed", range(16))
def test_scanned_records(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of all releases, of which some have other bytes where their headers and rows begin,
    and few are left to the other way where none has."""
    draw = random.Random(f"scanned {seed}")
    form, wants = luw_history.form_of(seed), luw_history.wants_of(seed)
    history = luw_history.History(f"scanned {seed}", form, wants)
    dialect = layouts.DIALECTS[form.release]
    of = layouts.FRAMINGS[form.framing]
    shape = framing.LuwShape(of, form.order == "big", dialect)
    left: list[int] = []

    def at_once(kernel: Kernel, *_: int) -> Any:
        look = available(kernel)
        assert look is not None

        def noted(*given: Any) -> int:
            left.append(look(*given))
            return left[-1]

        return noted

    records = [record.bytes for record in history.log.records]
    for number in range(40):
        parts = [bytearray(record) for record in records]
        for part in draw.sample(parts, min(len(parts), 12)) if number else ():
            for _ in range(draw.choice([1, 1, 3])):
                at = draw.randrange(of.size + 4, min(len(part), of.size + 100))
                part[at] = draw.choice([part[at] ^ 1 << draw.randrange(8), *b"\0\1\2\4\x43\x42"])
        size = np.array([len(part) for part in parts])
        begin = np.cumsum(size) - size + of.size
        buffer = np.frombuffer(b"".join(parts), np.uint8)
        lengths, outcomes = (size - of.size).astype(np.int32), []
        for way in (at_once, lambda *_: None):
            names = {b"": 0}
            look = way(scan._KERNEL)
            found = scan._Scan(buffer, shape, 3, begin, lengths).run(names, look)
            outcomes.append((found.tobytes(), names))
        assert outcomes[0] == outcomes[1]
    assert left[0] <= len(records) // 2


@pytest.mark.parametrize("seed", range(4))
def test_every_function(seed: int) -> None:
    """Records of each component whose functions are all that there may be."""
    form, wants = luw_history.form_of(seed), luw_history.wants_of(seed)
    history = luw_history.History(f"functions {seed}", form, wants)
    dialect, of = layouts.DIALECTS[form.release], layouts.FRAMINGS[form.framing]
    shape = framing.LuwShape(of, form.order == "big", dialect)
    look = available(scan._KERNEL)
    assert look is not None
    parts = []
    for record in (record.bytes for record in history.log.records):
        size = np.array([len(record) - of.size], np.int32)
        one = scan._Scan(np.frombuffer(record, np.uint8), shape, 0, np.array([of.size]), size)
        one._look()
        told = one.records[0]
        if told["kind"] != RecordKind.COMPONENT or told["component"] not in (
            layouts.DMS,
            layouts.DOM,
        ):
            continue
        place = of.size + int(told["header"])
        parts += [
            record[:place] + bytes([component, function]) + record[place + 2 :]
            for component in (layouts.DMS, layouts.DOM, 2)
            for function in range(256)
        ]
        if len(parts) > 20_000:
            break
    length = np.array([len(part) for part in parts])
    begin, lengths = np.cumsum(length) - length + of.size, (length - of.size).astype(np.int32)
    buffer = np.frombuffer(b"".join(parts), np.uint8)
    slow, quick = (
        scan._Scan(buffer, shape, 3, begin, lengths).run({b"": 0}, way) for way in (None, look)
    )
    assert slow.tobytes() == quick.tobytes()
