"""Script text: what stands at its head, and the comment before each unit of recovery."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.dialects import Profile
from sqlgen.literals import octets

#: Everything that could end a comment line, turn its direction or not be seen in it, first and last code point: controls, soft hyphen, Arabic
#: letter mark, zero-width and bidirectional characters, line and paragraph separators, byte order mark, annotations, tags. A table and not a
#: Unicode category, because the same log must give the same bytes whatever the version of Unicode.
_HIDDEN = (
    (0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F),
    (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xE0000, 0xE007F),
)  # fmt: skip
_HIDDEN_PATTERN = "[" + "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in _HIDDEN) + "]"
_ESCAPES = {code: f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}" for first, last in _HIDDEN for code in range(first, last + 1)}


def script_prologue(profile: Profile, mode: str) -> str:
    """The first lines of a script. Pure SQL, no words of a client; the same for every script of a mode."""
    title = f"-- logreplay {mode} script for {profile.name}. Stop at the first error, for example: {profile.client}"
    return "\n".join([title, *profile.session, ""])


def escape_comment(text: pa.Array) -> pa.Array:
    """Text that is safe in a one-line comment: hidden characters as ``\\uXXXX``, null as nothing. Vectorised where there are none to hide,
    which is nearly always."""
    text = pc.fill_null(text, "")
    raw = octets(text)
    if not ((raw < 0x20) | (raw >= 0x7F)).any():
        return text
    wild = pc.match_substring_regex(text, _HIDDEN_PATTERN)
    rows = np.flatnonzero(wild.to_numpy(zero_copy_only=False))
    if not len(rows):
        return text
    made = [text[int(row)].as_py().translate(_ESCAPES) for row in rows]
    return pc.replace_with_mask(text, wild, pa.array(made, pa.string()))


def unit_comments(fields: Mapping[str, pa.Array]) -> pa.Array:
    """``-- unit URID=… member=… …``: one line for each unit, from the columns of ``fields`` in their order."""
    parts: list[object] = ["-- unit"]
    for name, text in fields.items():
        parts += [f" {name}=", escape_comment(text)]
    return pc.binary_join_element_wise(*parts, "")
