"""Times as people write them."""

from __future__ import annotations

import pytest

from replay.changes.notation import time_of, time_text
from replay.errors import UsageError


@pytest.mark.parametrize(
    ("text", "last", "meant"),
    [
        ("2024-02-29", False, "2024-02-29 00:00:00.000000"),
        ("2024-02-29", True, "2024-02-29 23:59:59.999999"),
        ("2024-02-29T07:05", False, "2024-02-29 07:05:00.000000"),
        ("2024-12-31-24.00.00", False, "2024-12-31 24:00:00.000000"),
        ("9999-12-31 23:59:59.5", False, "9999-12-31 23:59:59.500000"),
    ],
)
def test_a_time_that_there_is(text: str, last: bool, meant: str) -> None:
    assert time_text(time_of(text, last)) == meant


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-30",
        "2023-02-29 00:00",
        "2024-04-31",
        "2024-13-01",
        "2024-00-10",
        "0000-01-01",
        "2024-02-28 24:01",
        "2024-02-28 25:00",
        "2024-02-28 12:60",
        "2024-02-28 12:00:60",
    ],
)
def test_a_time_that_there_is_not(text: str) -> None:
    with pytest.raises(UsageError, match="expected a real date and time"):
        time_of(text, last=False)
