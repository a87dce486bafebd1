"""Db2 LUW against the model: ``python -m tests.model.luw_checks --kinds shift --seeds 50``.

All kinds hold in every run of the tests, for a few seeds; the command line takes more.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.model.luw_encoder import Form
from tests.model.luw_histories import written
from tests.model.luw_model import HISTORIES
from tests.model.luw_run import CHECKS, LIVE, Case, Options, Verdict, asked, checked, command
from tests.model.luw_special import SPECIAL, told

ALL_CHECKS = {**CHECKS, **LIVE}

CHECKS_BY_DEFAULT = tuple(CHECKS)

KINDS: dict[str, str] = {
    name: (make.__doc__ or "").strip().split("\n")[0]
    for name, make in {**HISTORIES, **SPECIAL}.items()
}

KINDS_BY_DEFAULT = tuple(KINDS)


def case_of(kind: str, seed: int, folder: Path, **fixed: object) -> Case:
    """The log of a seed, in one to three files."""
    rng = random.Random(f"luw {kind} {seed}")
    history = HISTORIES[kind](rng)
    form = Form.drawn(rng, **fixed)
    log = written(history, form, rng)
    parts = log.split(rng.choice([1, 1, 2, 3])) if len(log.records) > 4 else [log.records]
    return told(history, form, parts, folder)


def run_case(
    seed: int, kind: str, checks: Sequence[str], options: Options
) -> tuple[list[Verdict], str]:
    """All verdicts of a case, and the case in words where one of them is bad."""
    with tempfile.TemporaryDirectory() as scratch:
        if kind in SPECIAL:
            case = SPECIAL[kind](seed, Path(scratch))
            if case is None:
                return [], ""
            if not case.verdicts:
                case.good(kind)
        else:
            case = case_of(kind, seed, Path(scratch))
            checked(case, asked(checks, options))
        bad = any(v.bad for v in case.verdicts)
        return case.verdicts, case.describe() if bad else ""


if __name__ == "__main__":
    sys.exit(command(sys.modules[__name__], __doc__ or ""))
