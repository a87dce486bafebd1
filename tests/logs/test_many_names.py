"""Control files find their data files by name, among many as among few."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest

from replay.logs.arrivals import stated_end
from replay.logs.named import fitting
from tests.support.cutlogs import cut_log
from tests.support.family_logs import SMALL

_REST = re.compile(r"[-_.]?(?:part)?[-_.]?\d*", re.IGNORECASE)


def one_by_one(controls: list[str], data: list[str]) -> dict[str, list[str]]:
    """As :func:`fitting`, each data file with each control file."""
    found: dict[str, list[str]] = {control: [] for control in controls}
    for path in data:
        stem = os.path.basename(path).partition(".")[0]
        fits = [
            (os.path.dirname(one) == os.path.dirname(path), len(name), one)
            for one in controls
            if stem.startswith(name := os.path.basename(one).partition(".")[0])
            and _REST.fullmatch(stem[len(name) :])
        ]
        near = [fit for fit in fits if fit[0]] or fits
        best = [fit for fit in near if fit[1] == max(fit[1] for fit in near)]
        if len(best) == 1:
            found[best[0][2]].append(path)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_names(seed: int) -> None:
    draw = random.Random(seed)

    def name(end: str) -> str:
        folder = draw.choice(["", "a/", "b/"])
        stem = draw.choice(["n", "n1", "n-1", "night", "night-0"])
        return folder + stem + draw.choice(["", "1", "-2", ".part3", "_part-4", "x"]) + end

    controls = sorted({name(".ctl") for _ in range(12)})
    data = sorted({name(".dat") for _ in range(40)})
    found = fitting(controls, data)
    assert found == one_by_one(controls, data)
    assert 0 < sum(map(len, found.values())) < len(data)


def test_tables_that_logs_tell_alike_are_read_once(tmp_path: Path) -> None:
    pairs = cut_log(SMALL / "small.ctl", SMALL / "small.dat", tmp_path / "cut", 6, 1)
    known: dict[bytes, object] = {}
    ends = {stated_end(pair.control, known) for pair in pairs}  # type: ignore[arg-type]
    assert len(ends) == 6
    assert len(known) == 1
