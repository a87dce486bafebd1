"""Comments of a script: one line each, whatever is in them."""

from __future__ import annotations

import unicodedata

import pyarrow as pa
import pytest

from sqlgen.script import escape_comment, unit_comments


def test_a_missing_field_is_empty_and_not_a_missing_line() -> None:
    comments = unit_comments(
        {"authid": pa.array(["SCOTT", None]), "plan": pa.array([None, "P\nX"], pa.string())}
    )
    assert comments.to_pylist() == ["-- unit authid=SCOTT plan=", "-- unit authid= plan=P\\u000AX"]
    assert comments.null_count == 0


@pytest.mark.parametrize(
    "character",
    ["\0", "\n", "\r", "\x7f", "\x85", "\u061c", "\u200b", "\u2028", "\u202e", "\u2066", "\ufeff"],
)
def test_hidden_characters_are_shown(character: str) -> None:
    assert escape_comment(pa.array([f"a{character}b"])).to_pylist() == [
        f"a\\u{ord(character):04X}b"
    ]


def test_beyond_the_basic_plane() -> None:
    assert escape_comment(pa.array(["\U000e0041", "\U0001f600"])).to_pylist() == [
        "\\U000E0041",
        "\U0001f600",
    ]


@pytest.mark.long
def test_no_control_separator_or_direction_passes() -> None:
    every = [chr(code) for code in range(0x11_0000) if not 0xD800 <= code < 0xE000]
    passed = escape_comment(pa.array(every)).to_pylist()
    kept = [character for character, shown in zip(every, passed, strict=True) if character == shown]
    assert not [
        character for character in kept if unicodedata.category(character) in ("Cc", "Zl", "Zp")
    ]
    turned = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN")
    plain = [
        character
        for character in kept
        if unicodedata.bidirectional(character) in turned
        and unicodedata.category(character) == "Cf"
    ]
    assert {unicodedata.name(character).split()[0] for character in plain} <= {
        "MUSICAL",
        "SHORTHAND",
    }
    assert all(
        shown.isprintable()
        for character, shown in zip(every, passed, strict=True)
        if character != shown
    )
