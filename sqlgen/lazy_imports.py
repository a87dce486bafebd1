"""Modules that are imported when they are first used: what a run does not need costs it nothing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class LazyModule:
    """Stands for a module and imports it when something of it is asked for. Type checkers are
    told the module itself (``if TYPE_CHECKING``)."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


if TYPE_CHECKING:
    import sqlglot as sqlglot
    from sqlglot import errors as errors
    from sqlglot import exp as exp
else:
    #: sqlglot, its errors and its nodes: the import takes longer than a look into a small log.
    sqlglot, errors, exp = (
        LazyModule(name) for name in ("sqlglot", "sqlglot.errors", "sqlglot.expressions")
    )
