"""Values of every type with what becomes of them in each dialect, under each policy, as text to be
read: the literal, or what is told of a value that has none. ``REWRITE_GOLDEN=1`` writes the file
again; look at the difference before you keep it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from sqlgen.dialects import BUILT_IN, Profile, profile_named
from sqlgen.literals import Policy, ValueProblem, literals, plain_texts
from sqlgen.schema import ARROW_TYPES, Column, SqlType

GOLDEN = Path(__file__).parent / "literals.txt"

PLAIN = Policy()
TRUNCATE, ROUND = Policy(timestamps="truncate"), Policy(timestamps="round")
NEXT = Policy(midnight="next")
T = SqlType
#: (type, length, values, policies)
CASES: list[tuple[SqlType, int, list[Any], tuple[Policy, ...]]] = [
    (T.BOOLEAN, 0, [True, False], (PLAIN,)),
    (T.SMALLINT, 0, [-(2**15)], (PLAIN,)),
    (T.BIGINT, 0, [2**63 - 1], (PLAIN,)),
    (T.DECIMAL, 9, ["-1234567.50"], (PLAIN,)),
    (T.DATE, 0, ["0001-01-01"], (PLAIN,)),
    (T.CHAR, 4, ["ab  ", "abX ", "  ", "", "a'b ", "a\nb "], (PLAIN, Policy(char_padding="keep"))),
    (
        T.VARCHAR,
        9,
        ["", "a", " a ", "o'n''e"],
        (PLAIN, Policy(empty_text="null"), Policy(empty_text="space")),
    ),
    (T.VARCHAR, 9, ["a\nb", "\x7f'", "\\", "&$%{}", "ä\r\t\x85€", "\x1b\x1b"], (PLAIN,)),
    (T.VARCHAR, 9, ["a\0b'", "\0"], (PLAIN, Policy(nul="strip"), Policy(nul="space"))),
    (T.VARCHAR, 99, ["\0" + "x" * 39, "\0" + "x" * 40], (PLAIN,)),
    (T.VARCHAR, 9000, ["a\n" * 700], (PLAIN,)),
    (T.CHAR, 9, ["\0 "], (PLAIN, Policy(nul="strip"), Policy(nul="space"))),
    (T.VARCHAR, 90_000, ["x" * 4000, "y" * 4001, "z" * 32_673], (PLAIN,)),
    (T.VARBINARY, 90_000, [b"\xaf" * 2000, b"\x01" * 2001], (PLAIN,)),
    (T.VARBINARY, 9, [b"", b"\x00\x9f"], (PLAIN,)),
    (T.BINARY, 2, [b"\x0a\xff"], (PLAIN,)),
    (T.DOUBLE, 0, [0.0, -0.0, 0.1, 1e22, 1e23, 1e-7, 9e-8, 5e-324, -1 / 3, 2.0**70], (PLAIN,)),
    (T.DOUBLE, 0, [float("inf"), float("-inf"), float("nan")], (PLAIN,)),
    (T.REAL, 0, [0.1, 1.5, 3e38, 16777216.0, float("inf"), float("nan")], (PLAIN,)),
    (T.TIME, 0, ["23:59:59", "24:00:00"], (PLAIN, NEXT)),
    (
        T.TIMESTAMP,
        6,
        ["2024-02-28 24:00:00.000000", "9999-12-31 24:00:00.000000", "2024-12-24 10:24:00.240000"],
        (PLAIN, NEXT),
    ),
    (
        T.TIMESTAMP,
        12,
        [
            "2024-02-29 10:00:00.123456000000",
            "2024-02-29 10:00:00.123456000001",
            "2024-02-29 10:00:00.123456400000",
            "2024-02-29 10:00:00.123456500000",
            "2024-02-29 10:00:00.001234567890",
            "2024-12-31 23:59:59.999999999999",
            "9999-12-31 23:59:59.999999999999",
        ],
        (PLAIN, TRUNCATE, ROUND),
    ),
    (
        T.TIMESTAMP_TZ,
        12,
        ["2024-02-29 10:00:00.123456700000+05:30", "2024-02-29 10:00:00.123456000000-12:59"],
        (PLAIN, TRUNCATE, ROUND),
    ),
    (
        T.TIMESTAMP_TZ,
        6,
        [
            *(f"2024-02-29 10:00:00.500000{zone}" for zone in ("+00:00", "-12:59", "-13:00")),
            *(f"2024-02-29 10:00:00.500000{zone}" for zone in ("+13:59", "+14:00", "+14:01")),
        ],
        (PLAIN,),
    ),
    (T.TIMESTAMP_TZ, 6, ["2024-02-29 24:00:00.000000-01:00"], (PLAIN, NEXT)),
]  # fmt: skip


def cut(text: str) -> str:
    """A text as it can be read: long stretches of a character by their number."""
    shown = ascii(text)[1:-1] if not text.isascii() or not text.isprintable() else text
    return shown if len(shown) < 200 else f"{shown[:20]}…{shown[-20:]} ({len(text):,} characters)"


def told(problems: list[ValueProblem]) -> str:
    return "; ".join(
        f"{p.code} row {p.row} {p.column}: {cut(p.found)} | {p.expected} | {p.hint}"
        for p in problems
    )


def outcome(value: Any, column: Column, profile: Profile, policy: Policy, plain: bool) -> str:
    """What becomes of a value between two that are null."""
    values = pa.array([None, value, None], ARROW_TYPES[column.type])
    texts, problems = (plain_texts if plain else literals)(values, column, profile, policy)
    before, text, after = texts.to_pylist()
    assert before == after == (None if plain else "NULL")
    return told(problems) if problems else cut(str(text))


def lines() -> Iterator[str]:
    for kind, length, values, policies in CASES:
        column = Column("C", kind, True, length, 2)
        for policy in policies:
            said = ", ".join(
                f"{k} {v.value}" for k, v in vars(policy).items() if v != vars(PLAIN)[k]
            )
            for value in values:
                shown = cut(value) if isinstance(value, str) else cut(str(value))
                yield f"== {kind.name}({length}) {shown}{f'  [{said}]' if said else ''}"
                found: dict[str, list[str]] = {}
                for dialect in BUILT_IN:
                    text = outcome(value, column, profile_named(dialect), policy, False)
                    text = text.replace(dialect, "…") if text.startswith("LR") else text
                    found.setdefault(text, []).append(dialect)
                for text, dialects in found.items():
                    yield f"{text}    -- {' '.join(dialects)}"
                copied = outcome(value, column, profile_named("postgres"), policy, True)
                yield f"COPY {copied}"


def test_literals_are_as_reviewed() -> None:
    text = "".join(f"{line}\n" for line in lines())
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text.splitlines() == GOLDEN.read_text(encoding="utf-8").splitlines()
