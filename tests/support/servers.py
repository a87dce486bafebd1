"""Kinds of databases that need a server, which the tests run in containers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import pytest

_T = TypeVar("_T")

IN_CONTAINERS = ("mariadb", "mysql")


def kinds(*names: str, each: bool = False) -> list[Any]:
    """Parameters of tests; of MariaDB also of MySQL, in the long suite but for ``each``."""
    found = []
    for name in names:
        for kind in ("mariadb", "mysql") if name == "mariadb" else (name,):
            marks = [pytest.mark.containers] if kind in IN_CONTAINERS else []
            marks += [pytest.mark.long] if kind == "mysql" and not each else []
            found.append(pytest.param(kind, marks=marks))
    return found


ONLY_MARIADB = [pytest.param("mariadb", marks=pytest.mark.containers)]
ONLY_MYSQL = [pytest.param("mysql", marks=pytest.mark.containers)]


def server_of(request: pytest.FixtureRequest, kind: str, use: str = "container") -> str | None:
    """The URL of a server of a kind, for a ``use``; None for kinds that need none."""
    return request.getfixturevalue(f"{use}_{kind}") if kind in IN_CONTAINERS else None


def of_kind(cases: Mapping[str, _T], kind: str) -> _T:
    """What is told of a kind; of MySQL what is told of MariaDB, unless it has its own."""
    return cases[kind] if kind in cases or kind != "mysql" else cases["mariadb"]
