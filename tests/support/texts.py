"""Every character that UTF-8 can say, as texts."""

from __future__ import annotations


def every_character(size: int, nul: bool) -> list[str]:
    """All code points but surrogates (and X'00', unless ``nul``) in texts of ``size``
    characters."""
    codes = [code for code in range(0 if nul else 1, 0x110000) if not 0xD800 <= code < 0xE000]
    return ["".join(map(chr, codes[at : at + size])) for at in range(0, len(codes), size)]
