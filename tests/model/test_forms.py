"""Every form of a log of Db2 LUW and of an export of solidDB, with one history of the model."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.independent.luw_history import ORDERS
from tests.independent.luw_history import Form as LuwForm
from tests.independent.luw_records import FRAMINGS
from tests.independent.solid_export import ALWAYS_NUL, COUNTS, PROFILES, Form
from tests.model.case import Case, Options
from tests.model.checks import check_redo
from tests.model.histories import draw_story
from tests.model.rows import History
from tests.model.sites import Files, LuwSite, Site, SolidSite


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


@pytest.mark.parametrize("profile", PROFILES)
def test_exports_of_soliddb(profile: str) -> None:
    history = draw_story(random.Random(7), "plain", digits=9).history
    for number, count in enumerate(COUNTS):
        form = Form(profile, count, profile in ALWAYS_NUL or number == 1, (20, 28)[number % 2])
        is_read(history, lambda folder, form=form, number=number: SolidSite(  # type: ignore[misc]
            history, random.Random(1), folder, form,
            Files(("csv", "jsonl.gz", "parquet")[number], 1 + number, 2, number == 2),
        ))  # fmt: skip
