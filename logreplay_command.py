"""The command ``logreplay``: it starts only where ``replay`` and ``sqlgen`` are this program's own.

Other projects on the public index install packages of these names. A module of one name of its own
can say so, where an import error or another program's code would be all there is.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

# more is imported where it is used: Ctrl-C amid imports up here ends in a traceback

#: Our packages, and how the text of each begins.
OURS = {
    "replay": '"""logreplay: reads database change logs and turns them into redo and undo SQL.',
    "sqlgen": '"""SQL from row images: tables, rows, literals and statements. Pure: knows no logs,',
}
EXIT_UNUSABLE, EXIT_INTERRUPTED = 12, 130
#: Modules that list what of theirs is not cleared away as a process ends, on stderr.
_COUNTS_WHAT_IS_LEFT = {"_duckdb"}


def foreign_packages() -> list[tuple[str, str]]:
    """(name, where it lies) of packages that are not ours, or that are not there."""
    from importlib.util import find_spec

    found = []
    for name, beginning in OURS.items():
        spec = find_spec(name)
        origin = spec.origin if spec is not None else None
        if not origin or not _is_ours(origin, beginning):
            places = list(spec.submodule_search_locations or ()) if spec is not None else []
            place = os.path.dirname(origin) if origin else ", ".join(places) or "nowhere"
            found.append((name, place))
    return found


def _is_ours(origin: str, beginning: str) -> bool:
    """Wherever it lies: an installation that points to a clone has its packages there."""
    try:
        with open(origin, encoding="utf-8") as file:
            return file.read(len(beginning)) == beginning
    except (OSError, UnicodeDecodeError):
        return False


def _run(argv: Sequence[str] | None) -> int:
    from replay.cli.main import main as run

    return run(argv)


def _own_process() -> int:
    """Run the program with the words of the process, which ends with it."""
    gc.disable()  # modules are no garbage; the program says when it has some
    # nothing here multiplies matrices; each of these threads would wait busily for that
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return _run(None)
    finally:
        if not _COUNTS_WHAT_IS_LEFT & sys.modules.keys():
            gc.freeze()  # else all modules are looked through once more, a tenth of a small command


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program (``argv``: its words, those of the process unless given), or say which other
    package is in its way; the exit code."""
    try:
        if foreign := foreign_packages():
            return _refuse(foreign)
        return _own_process() if argv is None else _run(argv)
    except KeyboardInterrupt:  # before the program hears of signals
        print("logreplay: interrupted; nothing was published", file=sys.stderr)
        return EXIT_INTERRUPTED


def _refuse(foreign: list[tuple[str, str]]) -> int:
    """Say which packages are in the way, and what to do."""
    from importlib.metadata import packages_distributions

    owners = packages_distributions()
    for name, place in foreign:
        others = [owner for owner in owners.get(name, ()) if owner != "logreplay-sql"]
        whose = f", of {', '.join(others)}" if others else ""
        print(
            f"logreplay: found a package {name} in {place}{whose}; expected logreplay's own in"
            f" {os.path.dirname(os.path.realpath(__file__))}",
            file=sys.stderr,
        )
    print(
        "Give logreplay an environment of its own (python3 -m venv, pip install logreplay-sql), or"
        " take the other package out of it and off PYTHONPATH and install logreplay-sql again",
        file=sys.stderr,
    )
    return EXIT_UNUSABLE


if __name__ == "__main__":
    sys.exit(main())
