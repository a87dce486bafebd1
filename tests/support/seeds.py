"""Seeds of drawn tests: some that stay, and some of the day, which other days do not try again.

A day is repeated with ``LOGREPLAY_SEEDS_DATE=YYYY-MM-DD``; the ids of tests show it.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from datetime import UTC, date, datetime
from typing import Any

import pytest

DATE = "LOGREPLAY_SEEDS_DATE"
FIXED, OF_THE_DAY = 3, 2


def set_day(environment: MutableMapping[str, str] = os.environ) -> date:
    """The day, kept where the processes that this one starts find it: all of a run have one."""
    return date.fromisoformat(environment.setdefault(DATE, datetime.now(UTC).date().isoformat()))


def seeds(fixed: int = FIXED, of_the_day: int = OF_THE_DAY, long: int = 0) -> list[Any]:
    """Parameters of a test: ``fixed`` seeds from 0 on, those ``of_the_day``, and ``long`` more that
    stay, for the long suite."""
    day = set_day()
    return [
        *(pytest.param(seed, id=f"{seed}") for seed in range(fixed)),
        *(
            pytest.param(day.toordinal() * 100 + number, id=f"{day}-{number}")
            for number in range(of_the_day)
        ),
        *(
            pytest.param(seed, id=f"{seed}", marks=pytest.mark.long)
            for seed in range(fixed, fixed + long)
        ),
    ]
