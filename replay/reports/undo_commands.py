"""The undo commands that history, who, what-if and the page propose: all are made here, so that
each runs as it is printed. An undo that does not say what becomes of later work is refused."""

from __future__ import annotations

import glob
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from replay.changes.choices import CascadeMode

#: Stands in a command of the page for the options that name what is undone.
CHOSEN = "{chosen}"
#: Options of a job, and the fields of a change that they select.
_JOB = (("--user", "authid"), ("--plan", "plan"), ("--job", "correlation_id"))


def undo_words(
    chosen: Sequence[str], out: str, cascade: CascadeMode = CascadeMode.NON_CONFLICTING
) -> tuple[str, ...]:
    """An undo of the changes that some options choose, into the folder ``out``, as a command and
    its words."""
    return ("undo", *chosen, "--cascade", cascade.value, "--out", out)


def job_words(facts: Mapping[str, Any]) -> list[str]:
    """The options that choose all changes of the job that made one change."""
    return [
        word for option, name in _JOB if facts[name] for word in (option, glob.escape(facts[name]))
    ]


def after_history(
    command: Callable[..., str], unit: str, row: Sequence[str], facts: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """What a history proposes for its last change: of the ``unit`` that made it, which changed a
    ``row`` (options that name it; none: it has no key). What each does, and the command."""
    of_unit = ("--ur", unit)
    proposed = [("first see what depends on it:", command("whatif", *of_unit))]
    if row:
        words = undo_words([*of_unit, *row], "undo-row")
        proposed.append(("what its unit did to this row:", command(*words)))
    proposed.append(("its whole unit:", command(*undo_words(of_unit, "undo-unit"))))
    if job := job_words(facts):
        proposed.append(("all that this job did:", command(*undo_words(job, "undo-job"))))
    return proposed


def of_page() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """What the page proposes for one unit, for the marked ones, and for the job of a unit: what
    each does, and the command with its words, :data:`CHOSEN` among them."""
    left = "but for what later units changed"
    chosen = (CHOSEN,)
    return {
        "unit": [
            ("what depends on this unit", ("whatif", CHOSEN)),
            (f"undo this unit, {left}", undo_words(chosen, "undo-unit")),
            (
                "undo this unit and everything that depends on it",
                undo_words(chosen, "undo-all", CascadeMode.ALL),
            ),
        ],
        "marked": [(f"undo the marked units, {left}", undo_words(chosen, "undo-units"))],
        "job": [
            (
                "undo all that this job did, but for what others changed later",
                undo_words(chosen, "undo-job"),
            )
        ],
    }
