"""Exchanges of a table with its clone: from then on both have other rows, so
what was known of a row of either is known no more."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.logs.logmaster.data import clone_of
from tests.support.logbuilder import Col, LogBuilder, Tab, Unit

_COLUMNS = (Col("ID", "INT", 4, key=1), Col("A", "INT", 4))
BASE, CLONE, OTHER = (
    Tab(name, _COLUMNS, obid=20 + number, psid=2 + number)
    for number, name in enumerate(("BASE", "CLONE", "OTHER"))
)


#: What DATA of an exchange holds, each behind its length (6.1); the builder puts the length of all
#: before them (6.2).
CLONED = ("TESTOWN", "CLONE")


def exchange(unit: Unit, names: tuple[str, ...]) -> None:
    unit._add(BASE, "E ", [name.encode("cp037") for name in names], (), {})


class Case:
    """An incomplete unit, a row that is inserted, an exchange, and a flagged unit that changes the
    row later."""

    def __init__(self, folder: Path, table: Tab, names: tuple[str, ...] | None, seed: int) -> None:
        pick = random.Random(f"exchange {seed}")
        log = LogBuilder((BASE, CLONE, OTHER))
        key, old, new = pick.randrange(1000), pick.randrange(9), pick.randrange(10, 19)
        log.unit(INCOMPLETETRANS="Y").insert(OTHER, (1, 1))
        log.unit().insert(table, (key, old))
        if names is not None:
            exchange(log.unit(), names)
        self.flagged = log.unit(INCOMPLETEDEP="Y")
        self.flagged.update(table, (key, old), (key, new))
        control, (path,) = log.write(folder)
        self.words = ["--control", str(control), "--data", str(path), "--engine", "local"]

    def held(self, out: Path) -> bool:
        """Whether the flagged unit is set aside in a script that begins behind the exchange."""
        behind = ["--from-position", self.flagged.more["UORCOMMITLRSN"].hex()]
        words = [*self.words, "--schema", "none", *behind, "--out", str(out)]
        assert main(["redo", *words]) in (0, 4)
        return bool(json.loads((out / "manifest.json").read_text())["quarantined_units"])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("table", "names", "held"),
    [
        (BASE, None, False),
        (BASE, CLONED, True),
        (CLONE, None, False),
        (CLONE, CLONED, True),
        (CLONE, ("TESTOWN", "ELSE"), False),
        (OTHER, CLONED, False),
        (OTHER, ("DAMAGE",), True),
        (CLONE, (), True),
    ],
)
def test_what_was_known_before_an_exchange_proves_nothing(
    tmp_path: Path, table: Tab, names: tuple[str, ...] | None, held: bool, seed: int
) -> None:
    assert Case(tmp_path, table, names, seed).held(tmp_path / "out") == held


@pytest.mark.parametrize("mode", ["redo", "undo", "export"])
@pytest.mark.parametrize(
    ("left", "refused"),
    [([], True), (["BASE"], True), (["CLONE"], True), (["BASE", "CLONE"], False)],
)
def test_an_exchange_is_refused_for_either_table(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    mode: str,
    left: list[str],
    refused: bool,
) -> None:
    """To leave one of them out leaves changes of rows that came from it."""
    case = Case(tmp_path, CLONE, CLONED, 1)
    words = [word for name in left for word in ("--exclude-table", f"*.{name}")]
    form = ["--format", "jsonl"] if mode == "export" else []
    out = tmp_path / "out"
    code = main([mode, *case.words, "--schema", "none", *words, *form, "--out", str(out)])
    assert (code == 8) == refused
    if refused:
        said = capsys.readouterr().err
        assert "both tables" in said or (mode == "undo" and "LR3010" in said)


def test_rows_before_an_exchange_contradict_none_behind_it(tmp_path: Path) -> None:
    log = LogBuilder((BASE, CLONE))
    log.unit().insert(CLONE, (1, 1))
    exchange(log.unit(), CLONED)
    log.unit().update(CLONE, (1, 5), (1, 6))
    control, (path,) = log.write(tmp_path)
    assert main(["check", "--control", str(control), "--data", str(path)]) == 0


@pytest.mark.parametrize("own_length", [None, 0, 2])
def test_names_with_the_length_of_all_or_without(own_length: int | None) -> None:
    data = b"".join(len(n).to_bytes(2, "big") + n.encode("cp037") for n in CLONED)
    head = b"" if own_length is None else (len(data) + own_length).to_bytes(2, "big")
    assert clone_of(head + data) == "TESTOWN.CLONE"
    assert clone_of(head + data[:-1]) is None
    assert clone_of(head + data + b"\0") is None
