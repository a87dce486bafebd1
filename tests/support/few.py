"""Which of many forms of one thing judge each commit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def few(forms: Iterable[Any], *kept: Any) -> list[Any]:
    """Arguments of a test, of which those that are ``kept`` judge each commit; all others are of
    the long suite. ValueError where one that is kept is none of them."""
    known = list(forms)
    if lost := [form for form in kept if form not in known]:
        raise ValueError(f"found {lost}; expected some of {known}")
    return [
        form
        if form in kept
        else pytest.param(*(form if isinstance(form, tuple) else (form,)), marks=pytest.mark.long)
        for form in known
    ]
