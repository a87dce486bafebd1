"""Modules that are imported when they are first used: what a run does not need costs it nothing."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from typing import Any


class LazyModule:
    """Stands for a module and imports it when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


class _Package:
    """What ``from PACKAGE import MODULE`` takes such modules from."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, module: str) -> LazyModule:
        return LazyModule(f"{self._name}.{module}")


#: Held while a block is read: there is one ``__import__`` for all threads.
_READING = RLock()


@contextmanager
def when_used() -> Iterator[None]:
    """``with when_used():`` at the head of a module: what is imported there (``from PACKAGE import
    MODULE`` or ``import MODULE``; modules alone) is a :class:`LazyModule`. Type checkers see plain
    imports."""
    own = sys._getframe(2).f_globals

    def late(
        name: str,
        importer: Mapping[str, Any] | None = None,
        scope: Mapping[str, Any] | None = None,
        wanted: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if importer is not own:
            return usual(name, importer, scope, wanted or (), level)
        return _Package(name) if wanted else LazyModule(name)

    with _READING:
        usual = builtins.__import__
        builtins.__import__ = late  # type: ignore[assignment]
        try:
            yield
        finally:
            builtins.__import__ = usual


with when_used():  # sqlglot's own import takes longer than a look into a small log
    import sqlglot
    from sqlglot import errors
    from sqlglot import expressions as exp

__all__ = ["LazyModule", "errors", "exp", "sqlglot", "when_used"]
