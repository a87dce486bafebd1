"""How many examples a property of the tests tries."""

from __future__ import annotations

import os

#: Of properties that say nothing; LOGREPLAY_EXAMPLES: of all, at most.
MOST = int(os.environ.get("LOGREPLAY_EXAMPLES", "100"))


def limited() -> bool:
    """Whether somebody limits the examples, who only asks whether a property fails."""
    return "LOGREPLAY_EXAMPLES" in os.environ


def examples(count: int) -> int:
    """``count`` examples, or as many as are allowed."""
    return min(count, MOST) if limited() else count
