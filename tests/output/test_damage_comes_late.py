"""Damage that a later run of a chain meets: in the commit position of a record, which then seems to
have been taken, and in another copy of a unit that was taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Tab, lrsn

STOCK = Tab("STOCK", (Col("ID", "INT", 4, key=1), Col("V", "INT", 4)))
PRICED = Tab("PRICED", (Col("ID", "INT", 4, key=1), Col("V", "DEC", 3)))


def words(folder: Path, builder: LogBuilder, stem: str) -> list[str]:
    (folder / stem).mkdir(exist_ok=True)
    control, (data,) = builder.write(folder / stem)
    return ["--control", str(control), "--data", str(data), "--schema", "none"]


def two(low: str | None) -> LogBuilder:
    """Two units behind the first log; a record of the first one, whose unit has two or one, says
    that it commits where ``low`` says."""
    builder = LogBuilder((STOCK,))
    builder.clock += 0x1000
    one, other = builder.unit(), builder.unit()
    change = one.update(STOCK, (1, 10), (1, 11))
    if low != "alone":
        one.insert(STOCK, (2, 20))
    other.insert(STOCK, (3, 30))
    if low is not None:
        change.fields["UORCOMMITLRSN"] = lrsn(0)
    return builder


@pytest.mark.parametrize("low", ["among others", "alone"])
@pytest.mark.parametrize("command", ["redo", "export"])
def test_a_record_whose_commit_position_seems_taken(tmp_path: Path, low: str, command: str) -> None:
    first = LogBuilder((STOCK,))
    first.unit().insert(STOCK, (1, 10))
    given = words(tmp_path, first, "first")
    assert main([command, *given, "--after", "none", "--out", str(tmp_path / "0")]) == 0
    damaged = [*words(tmp_path, two(low), "second"), "--after", str(tmp_path / "0")]
    assert main([command, *damaged, "--out", str(tmp_path / "1")]) == 12
    assert not (tmp_path / "1").exists()


def thrice(damaged: bool, more: bool) -> LogBuilder:
    """A unit with a row, one that builds on it; and, with ``more``, another one. Of a damaged row
    the key can be told."""
    builder = LogBuilder((PRICED,))
    one, other = builder.unit(), builder.unit()
    change = one.insert(PRICED, (1, "10"))
    other.update(PRICED, (1, "10"), (1, "11"))
    if more:
        builder.unit().insert(PRICED, (2, "20"))
    if damaged:
        change.images = [image[:4] + b"\xfa" * (len(image) - 4) for image in change.images]
    return builder


def test_a_unit_that_is_there_does_not_come_again(tmp_path: Path) -> None:
    """Though another copy of its log is damaged."""
    out = tmp_path / "out"
    for damaged, more, code in ((False, False, 0), (True, True, 0), (False, True, 0)):
        given = words(tmp_path, thrice(damaged, more), f"log{damaged}{more}")
        how = ["--format", "jsonl", "--grow", "--out", str(out)]
        assert main(["export", *given, *how]) == code
    lines = "".join(path.read_text() for path in sorted(out.rglob("part-*.jsonl")))
    ops = [json.loads(line)["op"] for line in lines.splitlines()]
    assert ops == ["insert", "update", "insert"]
