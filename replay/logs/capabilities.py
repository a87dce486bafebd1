"""Which facts about changes a command needs: what a log family cannot know is refused by name,
before anything is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from replay.changes.selection import Selection, is_id
from replay.errors import Refusal
from replay.logs import FACTS, Family, LogFile, TellsLess

#: Field of :class:`replay.changes.selection.Selection`, the value that needs something (None: any
#: limit), the option it came from, the fact.
_SELECTION: tuple[tuple[str, str | None, str, str], ...] = (
    ("from_time", None, "--from-time", "commit times"),
    ("until_time", None, "--until-time", "commit times"),
    ("authids", None, "--user", "authorization ids"),
    ("plans", None, "--plan", "plans"),
    ("correlations", None, "--job", "correlation ids"),
    ("connections", None, "--connection", "connections"),
    ("members", None, "--member", "members"),
    ("luws", None, "--luw", "logical units of work"),
    ("databases", None, "--database", "databases"),
    ("tablespaces", None, "--tablespace", "table spaces"),
    ("partitions", None, "--partition", "partitions"),
    ("pages", None, "--page", "pages"),
    ("rids", None, "--rid", "row identifiers"),
    ("ri", "skip", "--ri skip", "origins"),
    ("triggers", "skip", "--triggers skip", "origins"),
    ("incomplete", "dependentrba", "--incomplete dependentrba", "incomplete units"),
    ("include_aborted", None, "--include-aborted", "rolled-back work"),
    ("from_recovery_point", None, "--from-recovery-point", "recovery sets"),
)


def needed(mode: str, selection: Selection) -> Iterator[tuple[str, str]]:
    """(option or command, fact it needs) of a run."""
    if mode == "undo":
        yield "undo", "before images"
    if mode == "structure":
        yield "ddl --changes", "structure"
    for field, value, option, fact in _SELECTION:
        given = getattr(selection, field)
        if given == value if value is not None else given:
            yield option, fact
    for name in selection.tablespaces:
        if not is_id(name):
            yield f"--tablespace {name}", "table space names"
        if "." in name:
            yield f"--tablespace {name}", "databases"
    if selection.excepted is not None:
        yield from (
            (f"--except {option.removeprefix('--')}", fact)
            for option, fact in needed("redo", selection.excepted)
        )


def check_needs(family: Family, mode: str, selection: Selection) -> None:
    """Refusal LR3020 when a run needs a fact that the logs of ``family`` cannot give."""
    _refuse(mode, selection, f"a {family.title}", family.capabilities.unknown)


def check_told(log: LogFile, mode: str, selection: Selection) -> None:
    """Refusal LR3020 when a run needs a fact that this log lacks, whatever others of its family
    hold."""
    if isinstance(log, TellsLess):
        _refuse(mode, selection, "this log", log.untold())


def _refuse(mode: str, selection: Selection, what: str, unknown: Mapping[str, str]) -> None:
    for option, fact in needed(mode, selection):
        if fact in unknown:
            message = (
                f"found {option}, which needs to know {FACTS[fact]}; expected what {what}"
                f" can tell: {unknown[fact]}"
            )
            raise Refusal("LR3020", message, hint="logreplay inspect lists what cannot be known")
