"""A script of Db2's command line processor, SPUFI, DSNTEP2 or DSNTIAD, taken apart into statements.

What ``db2look`` and the generators for z/OS write holds more than SQL: another terminator
(``--#SET TERMINATOR @``), commands of the processor (``CONNECT TO``, ``!command``, ``ECHO``), JCL
around the statements, sequence numbers in columns 73 to 80, bodies of routines with semicolons of
their own (``BEGIN ATOMIC … END``; ``db2look`` writes ``;--`` there). Facts are those of the command
reference of Db2 LUW 11.5 (``db2``, ``db2look``) and of the application programming guide of Db2 12
for z/OS (SPUFI, DSNTEP2, DSNTIAD).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlgen.ddl_script import ScriptToken, Statement

#: Words, numbers, quoted texts and names, comments, and single other characters.
_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*)|(?P<text>'(?:[^']|'')*')|(?P<name>"(?:[^"]|"")*")"""
    r"""|(?P<word>[^\W\d][\w@#$]*|[@#$][\w@#$]+|\d[\w.]*)|(?P<space>\s+)|(?P<other>.)""",
    re.DOTALL,
)
_SET_TERMINATOR = re.compile(r"--#SET\s+TERMINATOR\s*(\S)", re.I)
_BRACKETS = re.compile(r"/\*|\*/")
#: What is used as terminator beside the semicolon, and is no letter of a statement's end.
_TERMINATORS = frozenset("@!%#$^~?&|/")
_ROUTINE = re.compile(
    r"(CREATE( OR REPLACE)?( [A-Z]+)? (FUNCTION|PROCEDURE|TRIGGER|METHOD|MODULE|PACKAGE|TYPE BODY)"
    r"|ALTER MODULE|BEGIN|DECLARE|\S+ : BEGIN)\b"
)
#: Kinds of tokens that may end a statement: a semicolon; one that stands in a routine's body
#: (``;--``, or where the script uses another terminator); a terminator of another kind.
SEMICOLON, BODY_SEMICOLON, TERMINATOR = "semicolon", "body semicolon", "terminator"
_LINE_COMMANDS = frozenset({"ECHO", "!"})
_ENDS_OF = frozenset({"IF", "WHILE", "FOR", "LOOP", "REPEAT"})
#: What may stand inside CREATE SCHEMA, and begins a statement of its own there.
_ELEMENTS = re.compile(r"CREATE (TABLE|VIEW|INDEX|UNIQUE)|COMMENT ON|GRANT")
_SEQUENCE_NUMBER = re.compile(r"\d{8}\s*\Z")


def statements(text: str) -> list[Statement]:
    """The statements of a script, in its order; nothing but comments, JCL and sequence numbers is
    left out."""
    script = _Script(_plain_lines(text))
    return [part for statement in script.statements() for part in _schema_elements(statement)]


def _plain_lines(text: str) -> str:
    """The text without JCL and sequence numbers, line by line, so that line numbers stay."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").split("\n")
    if any(line.startswith("//") for line in lines):
        lines = ["" if line.startswith("//") or line.rstrip() == "/*" else line for line in lines]
    filled = [line for line in lines if line.strip()]
    if filled and all(
        len(line) > 72 and len(line.rstrip()) <= 80 and _SEQUENCE_NUMBER.match(line, 72)
        for line in filled
    ):
        lines = [line[:72].rstrip() for line in lines]
    return "\n".join(lines)


class _Script:
    """The tokens of a script, and where its statements end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.terminator = _last_character(text)
        self.pieces = list(self._scan())

    def _scan(self) -> Iterator[ScriptToken]:
        at, begins, text = 0, True, self.text
        while at < len(text):
            token = _TOKEN.match(text, at)
            assert token is not None, "the last alternative takes any character"
            kind, start, at = str(token.lastgroup), at, token.end()
            if kind == "comment":
                if token[0] == "/*":
                    at = self._end_of_comment(at)
                elif setting := _SET_TERMINATOR.match(token[0]):
                    self.terminator = setting[1]
            elif kind == "other" and token[0] == ";":
                glued = text.startswith("--", at)
                body = self.terminator != ";" or glued
                yield ScriptToken(BODY_SEMICOLON if body else SEMICOLON, ";", start, at)
            elif self._ends_statement(kind, token[0], start, at):
                if at - start > 1:
                    yield ScriptToken(kind, text[start : at - 1], start, at - 1)
                yield ScriptToken(TERMINATOR, text[at - 1], at - 1, at)
            elif kind != "space":
                yield ScriptToken(kind, token[0], start, at)
                if begins and token[0].upper() in _LINE_COMMANDS:
                    start, at = at, _end_of_line(text, at)
                    yield ScriptToken("other", text[start:at], start, at)
                    yield ScriptToken(TERMINATOR, "", at, at)
            if kind not in ("space", "comment"):
                begins = text[at - 1] == ";" or self._ends_statement(kind, token[0], start, at)

    def _ends_statement(self, kind: str, token: str, start: int, end: int) -> bool:
        """Whether a terminator other than the semicolon stands here: last in its line."""
        if kind not in ("word", "other"):
            return False
        rest = self.text[end : _end_of_line(self.text, end)].strip()
        if token == "/" and not rest and self._begins_line(start):
            return True
        last = self.terminator != ";" and token.endswith(self.terminator)
        return last and (not rest or rest.startswith("--"))

    def _begins_line(self, at: int) -> bool:
        return not self.text[self.text.rfind("\n", 0, at) + 1 : at].strip()

    def _end_of_comment(self, at: int) -> int:
        """Where a bracketed comment ends, which may hold others."""
        depth = 1
        for bracket in _BRACKETS.finditer(self.text, at):
            depth += 1 if bracket[0] == "/*" else -1
            if depth == 0:
                return bracket.end()
        return len(self.text)

    def statements(self) -> Iterator[Statement]:
        begin, line, counted = 0, 1, 0
        while begin < len(self.pieces):
            end = self._end(begin)
            pieces = tuple(self.pieces[begin:end])
            if pieces:
                line += self.text.count("\n", counted, pieces[0].start)
                counted = pieces[0].start
                yield Statement(self.text[counted : pieces[-1].end], line, pieces)
            begin = end + 1

    def _end(self, begin: int) -> int:
        """The place of the terminator of the statement that begins here."""
        head = " ".join(piece.upper for piece in self.pieces[begin : begin + 6])
        routine = _ROUTINE.match(head) is not None
        depth, first = 0, len(self.pieces)
        for place in range(begin, len(self.pieces)):
            piece = self.pieces[place]
            if piece.kind == TERMINATOR:
                return place
            if piece.kind in (SEMICOLON, BODY_SEMICOLON):
                if not routine or (depth == 0 and piece.kind == SEMICOLON):
                    return place
                first = min(first, place)
            elif routine:
                depth += self._nesting(place)
        # A body that nothing closes costs no more than its first statement.
        return first if depth > 0 else len(self.pieces)

    def _nesting(self, place: int) -> int:
        """1 for a word that opens a block of a routine's body, -1 for one that closes it."""
        word = self.pieces[place].upper
        if word == "END":
            following = self.pieces[place + 1 : place + 2]
            return -1 if not following or following[0].upper not in _ENDS_OF else 0
        if word not in ("BEGIN", "CASE"):
            return 0
        before = [piece.upper for piece in self.pieces[max(place - 2, 0) : place]]
        if word == "CASE":
            return 0 if before[-1:] == ["END"] else 1
        return 0 if before == ["AS", "ROW"] else 1  # a column AS ROW BEGIN


def _last_character(text: str) -> str:
    """The terminator that a script seems to use: what its last line, no comment, ends with."""
    for line in reversed(text.split("\n")):
        said = line.partition("--")[0].rstrip()
        if said:
            return said[-1] if said[-1] in _TERMINATORS else ";"
    return ";"


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _schema_elements(statement: Statement) -> Iterator[Statement]:
    """CREATE SCHEMA apart from the statements that stand inside it."""
    pieces = statement.pieces
    if statement.head(2) != "CREATE SCHEMA":
        yield statement
        return
    starts = [0]
    for place in range(2, len(pieces)):
        words = " ".join(piece.upper for piece in pieces[place : place + 2])
        if _ELEMENTS.match(words) and pieces[place - 1].upper not in ("SCHEMA", "AUTHORIZATION"):
            starts.append(place)
    base = pieces[0].start
    for start, end in zip(starts, [*starts[1:], len(pieces)], strict=True):
        own = pieces[start:end]
        text = statement.text[own[0].start - base : own[-1].end - base]
        before = statement.text[: own[0].start - base].count("\n")
        yield Statement(text, statement.line + before, own)
