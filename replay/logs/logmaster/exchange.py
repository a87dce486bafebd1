"""What a record of an exchange says of the other table, the clone (format notes, section 6.1)."""

from __future__ import annotations

_PAGE = "cp037"


def clone_of(data: bytes) -> str | None:
    """OWNER.NAME of the clone that DATA names, behind the halfword of its own length or without
    one; None where it cannot be told."""
    size = int.from_bytes(data[:2], "big")
    forms = [data]
    if size in (len(data), len(data) - 2):
        forms.insert(0, data[2:])
    for form in forms:
        owner, rest = _item(form)
        name, rest = _item(rest)
        if owner and name and not rest:
            text = f"{owner}.{name}"
            return text if text.isascii() and text.isprintable() else None
    return None


def _item(data: bytes) -> tuple[str, bytes]:
    """A name behind its length, and what follows; ('', data) where there is none."""
    end = 2 + int.from_bytes(data[:2], "big")
    if len(data) < 3 or not 2 < end <= len(data):
        return "", data
    return data[2:end].decode(_PAGE).rstrip(), data[end:]
