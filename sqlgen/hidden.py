"""Characters that nobody is meant to see, and how they are shown."""

from __future__ import annotations

#: Everything that could end a comment line, turn its direction or not be seen in it, first and last
#: code point: controls, soft hyphen, Arabic letter mark, zero-width and bidirectional characters,
#: line and paragraph separators, byte order mark, annotations, tags. A table and not a Unicode
#: category, because the same log must give the same bytes whatever the version of Unicode.
_HIDDEN = (
    (0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200F),
    (0x2028, 0x202E), (0x2060, 0x206F),
    (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xE0000, 0xE007F),
)  # fmt: skip
#: What matches one of them.
HIDDEN_PATTERN = "[" + "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in _HIDDEN) + "]"
#: Their code points, as they are shown.
ESCAPES = {
    code: f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
    for first, last in _HIDDEN
    for code in range(first, last + 1)
}


def visible(text: str, kept: str = "") -> str:
    """Text whose hidden characters are shown as ``\\uXXXX``, but for those ``kept``."""
    return text.translate(
        {code: escape for code, escape in ESCAPES.items() if chr(code) not in kept}
    )
