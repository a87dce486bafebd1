"""States of a table whose columns became wider within the log: the same value is another text
then, and a column that is not there is none that is null."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Row, Tab, generation, lrsn

ID = Col("ID", "INT", 4, key=1)
OLD = (Col("N", "DEC", 3, scale=1), Col("W", "INT", 4), Col("A", "CHAR", 4), Col("T", "DTTM", 19))
NEW = (
    Col("N", "DEC", 5, scale=3),
    Col("W", "DEC", 5, scale=2),
    Col("A", "VCHR", 9),
    Col("T", "DTTM", 23),
)
MORE = Col("MORE", "INT", 4, nulls="Y")
WAS = "2024-05-01-10.00.00"
#: Values of :data:`OLD`, and the same as :data:`NEW` has them; as files have either.
LESS, WIDE = ("1.5", 7, "AB", WAS), ("1.500", "7.00", "AB  ", f"{WAS}.000")
SHORT = "1.5,7,AB,2024-05-01 10:00:00"
LONG = "1.500,7.00,AB  ,2024-05-01 10:00:00.000"


@dataclass
class Grown:
    """A table that had the columns ``old`` and, from position 1000 on, ``new`` beside its key, and
    its rows before the log."""

    folder: Path
    capsys: pytest.CaptureFixture[str]
    old: Sequence[Col] = OLD
    new: Sequence[Col] = NEW

    def __post_init__(self) -> None:
        self.first = Tab("T", (ID, *self.old), created=lrsn(1), dropped=lrsn(1000))
        columns = (ID, *self.new)
        self.second = generation(
            self.first, 2, columns=columns, created=lrsn(1000), dropped=bytes(10)
        )
        self.log = LogBuilder((self.first, self.second))

    def altered(self) -> None:
        self.log.clock = 1008

    def rows(self, at: str, *initial: str) -> tuple[int, str, list[str]]:
        """(exit code, messages, rows) of a state; ``initial``: the rows in the old form."""
        control, data = self.log.write(self.folder, seed=1)
        state = self.folder / "initial"
        state.mkdir(exist_ok=True)
        names = ",".join(column.name.lower() for column in (ID, *self.old))
        (state / "t.csv").write_text("\n".join([names, *initial, ""]), encoding="utf-8")
        words = ["--control", str(control), "--data", *map(str, data), "--engine", "local"]
        self.capsys.readouterr()
        code = main(["state", *words, "--at", at, "--initial", str(state), "--format", "csv"])
        said = self.capsys.readouterr()
        return code, said.err, said.out.splitlines()[1:]


@pytest.fixture
def grown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Grown:
    return Grown(tmp_path, capsys)


def row(key: int, values: Row) -> Row:
    return (key, *values)


def test_values_of_wider_columns(grown: Grown) -> None:
    """Rows from before and behind the change follow from one another, whichever the log shows
    first, and have the form of the point."""
    unit = grown.log.unit()
    unit.insert(grown.first, row(1, LESS))
    grown.altered()
    unit = grown.log.unit()
    unit.update(grown.second, row(1, WIDE), row(1, ("2.125", "8.00", "AB", f"{WAS}.500")))
    unit.delete(grown.second, row(2, WIDE))
    known = [f"2,{SHORT}", f"3,{SHORT}"]
    code, said, rows = grown.rows("end", *known)
    assert code == 4, said
    assert rows == ["1,2.125,8.00,AB,2024-05-01 10:00:00.500", f"3,{LONG}"]
    code, said, rows = grown.rows("start", *known)
    assert code == 4, said
    assert rows == known


def test_a_column_that_is_dropped_was_not_null(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grown = Grown(tmp_path, capsys, (*OLD, MORE), OLD)
    grown.log.unit().insert(grown.first, row(1, (*LESS, 5)))
    grown.altered()
    grown.log.unit().delete(grown.second, row(1, LESS))
    code, said, rows = grown.rows("start")
    assert (code, rows) == (8, [])
    assert "LR3002 found rows of TESTOWN.T from when it had other columns (MORE)" in said
    assert grown.rows("end")[0] == 4


def test_a_column_that_rows_from_before_got_values_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ALTER TABLE … ADD MORE INTEGER WITH DEFAULT: the log does not say it."""
    grown = Grown(tmp_path, capsys, OLD, (*OLD, MORE))
    grown.log.unit().insert(grown.first, row(1, LESS))
    grown.altered()
    grown.log.unit().update(grown.second, row(1, (*LESS, 0)), row(1, (*LESS, 8)))
    code, said, _ = grown.rows("end")
    assert code == 8
    assert "LR3002" in said
    assert "without MORE, which got values" in said


def test_a_form_that_comes_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Changes in the same form before and behind another one are not put together."""
    grown = Grown(tmp_path, capsys, OLD, (*OLD, MORE))
    third = generation(grown.first, 3, created=lrsn(2000), dropped=bytes(10))
    grown.second = generation(grown.second, 2, dropped=lrsn(2000))
    log = grown.log = LogBuilder((grown.first, grown.second, third))
    log.unit().insert(grown.first, row(1, LESS))
    grown.altered()
    other = ("9.5", *LESS[1:])
    log.unit().update(grown.second, row(1, (*LESS, None)), row(1, (*other, None)))
    log.clock = 2008
    log.unit().update(third, row(1, other), row(1, ("3.5", *LESS[1:])))
    code, said, rows = grown.rows("end")
    assert code == 4, said
    assert rows == [f"1,{SHORT.replace('1.5', '3.5')}"]
