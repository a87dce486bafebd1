"""Script text: what stands at its head, and the comment before each unit of recovery."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.dialects import Profile

#: Everything that could end a comment line or change how it is shown: controls, line and paragraph separators, bidirectional overrides.
_HIDDEN = r"[\x00-\x1f\x7f\x{80}-\x{9f}\x{2028}\x{2029}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{feff}]"


def script_prologue(profile: Profile, mode: str) -> str:
    """The first lines of a script. Pure SQL, no words of a client; the same for every script of a mode."""
    title = f"-- logreplay {mode} script for {profile.name}. Stop at the first error, for example: psql -v ON_ERROR_STOP=1 -f this-file"
    return "\n".join([title, *profile.session, ""])


def escape_comment(text: pa.Array) -> pa.Array:
    """Text that is safe in a one-line comment: hidden characters as ``\\uXXXX``. Vectorised where there are none, which is nearly always."""
    wild = pc.fill_null(pc.match_substring_regex(text, _HIDDEN), False)
    rows = np.flatnonzero(wild.to_numpy(zero_copy_only=False))
    if not len(rows):
        return text
    hidden = _hidden_characters()
    made = ["".join(f"\\u{ord(c):04X}" if c in hidden else c for c in text[int(row)].as_py()) for row in rows]
    return pc.replace_with_mask(text, wild, pa.array(made, pa.string()))


def _hidden_characters() -> frozenset[str]:
    codes = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF]
    return frozenset(map(chr, codes))


def unit_comments(fields: Mapping[str, pa.Array]) -> pa.Array:
    """``-- unit URID=… member=… …``: one line for each unit, from the columns of ``fields`` in their order."""
    parts: list[object] = ["-- unit"]
    for name, text in fields.items():
        parts += [f" {name}=", escape_comment(text)]
    return pc.binary_join_element_wise(*parts, "")
