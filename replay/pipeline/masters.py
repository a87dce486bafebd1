"""Kinds of Spark masters, as their URLs tell them apart."""

from __future__ import annotations

import re


def is_local(master: str) -> bool:
    """Whether the tasks of a master run in processes that share everything with this one."""
    return re.fullmatch(r"local(\[.*\])?", master) is not None
