"""Script text: what stands at its head, and the comment before each unit of recovery."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.dialects import Profile
from sqlgen.hidden import ESCAPES, HIDDEN_PATTERN
from sqlgen.literals import as_bytes

#: How many of the columns that a comment says tell units apart.
NAMING = 2


def script_prologue(profile: Profile, mode: str, asserts: bool = False, command: str = "") -> str:
    """The first lines of a script. Pure SQL, no words of a client; the same for every script of a
    mode. ``asserts``: its statements are followed by checks. ``command``: how the client runs it
    that the script is for, '' where it is for any."""
    title = (
        f"-- logreplay {mode} script for {profile.name}."
        f" {command or f'Stop at the first error, for example: {profile.client}'}"
    )
    rows = _of_rows(profile, asserts)
    return "\n".join([title, *rows, *search_path(profile), *profile.session, ""])


def _of_rows(profile: Profile, asserts: bool) -> list[str]:
    """What the head of a script says of the rows that its statements touch."""
    check = profile.row_check
    if check is None:
        return [f"-- {profile.name} has no SQL to check that a statement touches one row."]
    if not asserts:
        return []
    note = f" ({check.note})" if check.note else ""
    return [
        "-- A statement that does not touch exactly one row stops the script and names its unit and"
        f" itself{note}."
    ]


def search_path(profile: Profile) -> list[str]:
    """The statement that keeps what others put into their schemas from being taken for what the
    database has itself (an operator of theirs would run with the rights of whoever runs the
    script); nothing where the dialect finds nothing that way. Every name is qualified."""
    return [profile.search_path] if profile.search_path else []


def escape_comment(text: pa.Array) -> pa.Array:
    """Text that is safe in a one-line comment: hidden characters as ``\\uXXXX``, null as nothing.
    Vectorised where there are none to hide, which is nearly always."""
    text = pc.fill_null(text, "")
    raw = as_bytes(text)
    if not ((raw < 0x20) | (raw >= 0x7F)).any():
        return text
    wild = pc.match_substring_regex(text, HIDDEN_PATTERN)
    rows = np.flatnonzero(wild.to_numpy(zero_copy_only=False))
    if not len(rows):
        return text
    escaped = [text[int(row)].as_py().translate(ESCAPES) for row in rows]
    return pc.replace_with_mask(text, wild, pa.array(escaped, pa.string()))


def unit_comments(fields: Mapping[str, pa.Array]) -> pa.Array:
    """``-- unit URID=… member=… …``: one line for each unit, from the columns of ``fields`` in
    their order."""
    parts: list[object] = ["-- unit"]
    for name, text in fields.items():
        parts += [f" {name}=", escape_comment(text)]
    return pc.binary_join_element_wise(*parts, "")


def unit_names(fields: Mapping[str, pa.Array]) -> pa.Array:
    """``URID=… member=…``: what tells units apart, the first columns (:data:`NAMING` at most) of
    those that :func:`unit_comments` takes. Digits only, so it may stand in a literal."""
    named = [
        pc.binary_join_element_wise(f"{name}=", text, "")
        for name, text in [*fields.items()][:NAMING]
    ]
    return named[0] if len(named) == 1 else pc.binary_join_element_wise(*named, " ")
