"""A PostgreSQL of another release than the wheel's, started as the wheel's is."""

from __future__ import annotations

from pathlib import Path

#: Releases before 17 have no locales of their own; the C library's is the same here.
INITDB = """#!/bin/sh
for word do
    shift
    case $word in
    --locale-provider=builtin) continue ;;
    --builtin-locale=*) word=--locale=${{word#*=}} ;;
    esac
    set -- "$@" "$word"
done
exec {initdb} "$@"
"""


def as_programs(folder: Path, made: Path) -> Path:
    """The programs in ``folder``, as :func:`replay.targets.embedded.programs` gives them."""
    made.chmod(0o755)
    for program in folder.iterdir():
        (made / program.name).symlink_to(program.resolve())
    initdb = made / "initdb"
    initdb.unlink()
    initdb.write_text(INITDB.format(initdb=(folder / "initdb").resolve()), encoding="utf-8")
    initdb.chmod(0o755)
    return made
