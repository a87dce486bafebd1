"""A statement in lines of a limited width: broken where a blank may stand, and a literal that is
longer than a line in pieces that are joined again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sqlgen.errors import SqlgenError

#: How much of a line a text takes.
Measure = Callable[[str], int]

_NAME = r'(?:"(?:[^"]|"")*"|[^\W\d][\w@#$]*|[@#$][\w@#$]*)'
_TOKEN = re.compile(
    rf"""(\s*)(?:
    (?P<comment>--[^\n]*)
    | (?P<literal>[A-Za-z]{{0,2}}'(?:[^']|'')*')
    | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>{_NAME}(?:\.{_NAME})*)
    | (?P<other><>|<=|>=|\|\||\S))""",
    re.VERBOSE,
)
#: Statements in which an expression may stand wherever a literal may.
_EXPRESSIONS = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "SELECT", "WITH", "VALUES"})
#: Words that make one literal with the one behind them.
_TYPED = frozenset({"DATE", "TIME", "TIMESTAMP", "INTERVAL"})
#: Digits that belong together in literals of hexadecimal digits, by what stands before these.
_DIGITS = {"X": 2, "BX": 2, "GX": 4, "UX": 4}

#: Where they are; and what breaks nowhere.
_HEXADECIMAL = re.compile("[xX]'")
_QUOTED, _QUOTES = re.compile("'[^']*'|\"[^\"]*\""), re.compile("['\"]")

#: How the first half of a character of UTF-16 begins that has two.
_FIRST_HALVES = frozenset({"D8", "D9", "DA", "DB"})


class Lexeme(NamedTuple):
    """A piece of a statement; ``kind``: literal, number, name or other. ``apart``: a blank stands
    before it."""

    kind: str
    text: str
    apart: bool


@dataclass(frozen=True)
class Lines:
    """What lines are like: their ``width``, how much of it a text takes, and what a line does not
    end with. ``concat`` joins the pieces of a literal ('': literals stay whole)."""

    width: int
    measure: Measure
    concat: str = ""
    no_end: str = ""

    def takes(self, text: str) -> bool:
        """Whether a line takes a text."""
        return self.measure(text) <= self.width


def tokens_of(text: str) -> tuple[list[Lexeme], str]:
    """The tokens of a statement, and the comment at its end."""
    tokens: list[Lexeme] = []
    behind, comment = False, ""  # a comment
    for found in _TOKEN.finditer(text):
        kind = str(found.lastgroup)
        blank, piece = found.group(1, kind)
        if kind == "comment":
            comment = f"{comment} {piece}".strip()
        else:
            tokens.append(Lexeme(kind, piece, bool(tokens) and (behind or blank != "")))
        behind = kind == "comment"
    return tokens, comment


def plain_lines(text: str, lines: Lines, end: str) -> list[str] | None:
    """What :func:`broken_statement` makes of a statement of ASCII, without looking at its tokens;
    None where only these tell: comments, digits, what no line may end with, and what is longer than
    a line."""
    ends = lines.no_end
    if not text.isascii() or "--" in text or _HEXADECIMAL.search(text) or "\n" in text:
        return None
    # what stands in quotes breaks nowhere
    shown = _QUOTED.sub(lambda found: "x" * len(found[0]), text) if _QUOTES.search(text) else text
    if "  " in shown or (ends and _ends_with(ends).search(shown)) or text != text.strip():
        return None
    made, start, begin = [], 0, ""
    while len(begin) + len(text) - start > lines.width:
        cut = start + lines.width - len(begin)
        cut = max(
            shown.rfind(" ", start, cut + 1),
            shown.rfind("(", start, cut) + 1,
            shown.rfind(",", start, cut) + 1,
            shown.rfind(")", start + 1, cut + 1),
        )
        if cut <= start:
            return None
        made.append(begin + text[start : cut - (shown[cut - 1] == " ")])
        start, begin = cut + (shown[cut] == " "), " "
    line = begin + text[start:]
    return [*made, line + end] if len(line + end) <= lines.width else [*made, line, f" {end}"]


@lru_cache
def _ends_with(end: str) -> re.Pattern[str]:
    """Where something stands behind which a line may end."""
    return re.compile(rf"{re.escape(end)}(?=[ )]|$)|(?<=[(,]){re.escape(end)}")


def broken_statement(tokens: list[Lexeme], lines: Lines, end: str) -> Iterator[str]:
    """A statement in lines; ``end`` is its terminator. Each line but the first begins with a blank,
    so that it is no comment and no command of anything that reads it.

    SqlgenError LR3003 for what cannot be broken and is longer than a line.
    """
    line = ""
    expressions = bool(tokens) and tokens[0].text.upper() in _EXPRESSIONS
    before = ""
    for unit in _units(tokens):
        text = "".join(token.text for token in unit)
        joined = f"{line} {text}" if unit[0].apart and line else line + text
        if lines.takes(joined) and not (lines.no_end and joined.endswith(lines.no_end)):
            line = joined
        elif lines.takes(f" {text}"):
            yield from _checked(line, lines)
            line = f" {text}"
        else:
            yield from _checked(line, lines)
            typed = before.upper() in _TYPED
            *whole, line = _in_pieces(unit, lines, expressions and not typed)
            yield from whole
        before = unit[-1].text
    if not lines.takes(line + end):
        yield from _checked(line, lines)
        line = " "
    yield line + end


def broken_comment(text: str, lines: Lines) -> Iterator[str]:
    """A comment in lines, each of which is one."""
    if lines.no_end and text.endswith(lines.no_end):
        text += " ."
    while not lines.takes(text):
        cut = _longest(text, lines, "")
        blank = text.rfind(" ", len("-- ") + 1, cut)
        cut = blank if blank > 0 else cut
        if cut <= len("-- "):
            raise too_narrow("a comment", lines)
        yield text[:cut].rstrip()
        text = f"-- {text[cut:].lstrip()}"
    yield text.rstrip()


def too_narrow(what: str, lines: Lines) -> SqlgenError:
    """SqlgenError LR3003: something does not fit into a line."""
    return SqlgenError(
        "LR3003",
        f"found {what}, which cannot be broken; expected at most {lines.width} bytes, as much as"
        " the client reads of a line",
        "Choose a client that reads longer lines (--client), or leave the column or table out"
        " (--exclude-columns, --exclude-table)",
    )


def _checked(line: str, lines: Lines) -> Iterator[str]:
    """A line that is whole, unless it is empty."""
    if not line:
        return
    if lines.no_end and line.endswith(lines.no_end):
        raise too_narrow(f"a line that ends with {lines.no_end}", lines)
    yield line


def _units(tokens: list[Lexeme]) -> Iterator[list[Lexeme]]:
    """Tokens that stay on one line: those without a blank between them, but that after a
    parenthesis or comma, and before a closing one, a blank may come."""
    unit: list[Lexeme] = []
    for token in tokens:
        if unit and (token.apart or unit[-1].text in ("(", ",") or token.text == ")"):
            yield unit
            unit = []
        unit.append(token)
    if unit:
        yield unit


def _in_pieces(unit: list[Lexeme], lines: Lines, expressions: bool) -> Iterator[str]:
    """Lines of a unit of which one literal is longer than a line."""
    place = next((i for i, token in enumerate(unit) if token.kind == "literal"), None)
    if place is None or not (lines.concat and expressions):
        raise too_narrow("".join(token.text for token in unit)[:60], lines)
    if place:
        before = " " + "".join(token.text for token in unit[:place])
        if not lines.takes(before):
            raise too_narrow(before.strip(), lines)
        yield from _checked(before, lines)
    pieces = list(_pieces(unit[place].text, lines))
    for number, piece in enumerate(pieces):
        opening = " (" if number == 0 else " "
        closing = f" {lines.concat}" if number < len(pieces) - 1 else ")"
        line = f"{opening}{piece}{closing}"
        if number < len(pieces) - 1:
            yield line
    behind = "".join(token.text for token in unit[place + 1 :])
    if behind and not lines.takes(line + behind):
        yield line
        line = " "
        if not lines.takes(line + behind):
            raise too_narrow(behind[:60], lines)
    yield line + behind


def _pieces(literal: str, lines: Lines) -> Iterator[str]:
    """A literal as several, each of which fits into a line with what stands around it."""
    opening = literal[: literal.index("'") + 1]
    body = literal[len(opening) : -1]
    around = f" ({opening}' {lines.concat})"
    digits = _DIGITS.get(opening[:-1].upper(), 0)
    if opening != "'" and not digits:
        raise too_narrow(literal[:60], lines)
    while body:
        cut = _longest(body, lines, around)
        if digits:
            cut -= cut % digits
            if digits == 4 and body[cut - 4 : cut - 2] in _FIRST_HALVES:
                cut -= digits
        elif cut < len(body):
            quotes = len(body[:cut]) - len(body[:cut].rstrip("'"))
            cut -= quotes % 2
        if cut <= 0:
            raise too_narrow(literal[:60], lines)
        yield f"{opening}{body[:cut]}'"
        body = body[cut:]


def _longest(text: str, lines: Lines, around: str) -> int:
    """How many characters of a text fit into a line with others around them."""
    low, high = 0, min(len(text), lines.width)
    while low < high:
        middle = (low + high + 1) // 2
        fits = lines.measure(around + text[:middle]) <= lines.width
        low, high = (middle, high) if fits else (low, middle - 1)
    return low
