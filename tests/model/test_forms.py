"""Every form of a log of Db2 LUW and of an export of solidDB, with one history of the model."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.independent.luw_history import ORDERS
from tests.independent.luw_history import Form as LuwForm
from tests.independent.luw_records import FRAMINGS
from tests.model.case import Case, Options
from tests.model.checks import check_redo
from tests.model.histories import draw_story
from tests.model.rows import History
from tests.model.sites import LuwSite, Site


def is_read(history: History, make: Callable[[Path], Site]) -> None:
    case = Case(0, "plain", history, make)
    try:
        assert not [one for one in check_redo(case, Options()) if one.bad], case.describe()
    finally:
        case.close()


@pytest.mark.parametrize(
    ("release", "framing"), [(r, f) for r, all in FRAMINGS.items() for f in all]
)
@pytest.mark.parametrize("told", [True, False], ids=["told", "found"])
def test_logs_of_db2_luw(release: str, framing: str, told: bool) -> None:
    history = draw_story(random.Random(7), "plain").history
    for order in ORDERS:
        for turned in (False, True):
            form = LuwForm(release, order, framing, turned=turned and order == "little")
            is_read(history, lambda folder, form=form: LuwSite(  # type: ignore[misc]
                history, random.Random(1), folder, form, files=2, told=told
            ))  # fmt: skip
