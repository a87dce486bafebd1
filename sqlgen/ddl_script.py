"""DDL scripts of any database, taken apart into tokens and statements.

A script holds more than SQL: lines for the client that ran it (``\\connect``, ``GO``, ``PROMPT``,
``DELIMITER``), data between its statements (``COPY … FROM stdin``), bodies of routines with
semicolons of their own, code in comments (``/*!40101 … */``). What is special about a database's
scripts is data here (:class:`Lexis`); Db2's are read by :mod:`sqlgen.db2.script_file`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class ScriptToken:
    """One token: its ``kind`` (word, text, name, other), where it lies in the script, its text."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        """The text as it compares: a quoted thing is never a keyword."""
        return self.text.upper() if self.kind == "word" else self.text


@dataclass(frozen=True)
class Statement:
    """A statement: its text without the terminator, the line of the script (from 1) it begins in,
    its tokens without comments."""

    text: str
    line: int
    pieces: tuple[ScriptToken, ...]

    def head(self, words: int = 6) -> str:
        """The first words, in upper case, with single blanks between them."""
        return " ".join(piece.upper for piece in self.pieces[:words])

    def of(self, pieces: Sequence[ScriptToken]) -> str:
        """The text of some of its tokens, as it stands there."""
        base = self.pieces[0].start
        return self.text[pieces[0].start - base : pieces[-1].end - base] if pieces else ""

    def line_of(self, piece: ScriptToken) -> int:
        """The line of the script that a token of it begins in."""
        return self.line + self.text.count("\n", 0, piece.start - self.pieces[0].start)


def close_of(pieces: Sequence[ScriptToken], start: int) -> int:
    """The place of the bracket that closes the one at ``start``, or the last place."""
    depth = 0
    for place in range(start, len(pieces)):
        depth += (pieces[place].text == "(") - (pieces[place].text == ")")
        if depth == 0:
            return place
    return len(pieces) - 1


def closes(pieces: Sequence[ScriptToken]) -> bool:
    """Whether as many brackets close as open."""
    return sum((piece.text == "(") - (piece.text == ")") for piece in pieces) == 0


def listed(pieces: Sequence[ScriptToken], start: int) -> Iterator[Sequence[ScriptToken]]:
    """The entries of the list in brackets that begins at ``start``."""
    yield from entries(pieces[start + 1 : close_of(pieces, start)])


def entries(pieces: Sequence[ScriptToken]) -> Iterator[Sequence[ScriptToken]]:
    """What stands between commas outside of brackets."""
    begin, depth = 0, 0
    for place, piece in enumerate(pieces):
        if piece.text == "," and depth == 0:
            if begin < place:
                yield pieces[begin:place]
            begin = place + 1
        depth += (piece.text == "(") - (piece.text == ")")
    if begin < len(pieces):
        yield pieces[begin:]


def after_name(pieces: Sequence[ScriptToken], start: int) -> int:
    """The place after a name of several parts that begins at ``start``."""
    place = start + 1
    while place + 1 < len(pieces) and pieces[place].text == ".":
        place += 2
    return min(place, len(pieces))


@dataclass(frozen=True)
class Lexis:
    """What is special about a database's scripts. ``names``: what opens and closes quoted names;
    ``texts``: what else than apostrophes stands around texts; ``backslash``: it escapes in texts;
    ``comments``: what begins one that lasts to the end of its line; ``code``: comments that hold
    code; ``dollar``: texts in ``$tag$``; ``ends``: a line that ends a batch of statements;
    ``client``: how a line begins that is for the client alone, where a statement may begin;
    ``ends_bodies``: only ``ends`` ends a routine; ``no_terminator``: what begins a statement at the
    beginning of a line without any terminator before it."""

    names: tuple[tuple[str, str], ...] = (('"', '"'), ("`", "`"))
    texts: str = ""
    backslash: bool = False
    comments: str = "--"
    code: str = ""
    dollar: bool = False
    ends: str = ""
    client: str = ""
    ends_bodies: bool = False
    no_terminator: str = ""

    @cached_property
    def token(self) -> re.Pattern[str]:
        """One token, or what lies between two."""
        escaped = r"|\\." if self.backslash else ""
        text = rf"[NnXxBb]?'(?:[^'{chr(92) * 2 if self.backslash else ''}]|''{escaped})*'"
        own = [text, r"[Ee]'(?:[^'\\]|''|\\.)*'"]
        own += [rf"{mark}(?:[^{mark}\\]|\\.|{mark}{mark})*{mark}" for mark in self.texts]
        own += [r"\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"] if self.dollar else []
        names = [
            rf"{re.escape(a)}(?:[^{re.escape(b)}]|{re.escape(b * 2)})*{re.escape(b)}"
            for a, b in self.names
        ]
        space = rf"\s+|{self.code}|\*/" if self.code else r"\s+"
        return re.compile(
            rf"(?P<space>{space})|(?P<comment>(?:{self.comments})[^\n]*|/\*)"
            rf"|(?P<text>{'|'.join(own)})|(?P<name>{'|'.join(names)})"
            r"|(?P<word>[^\W\d][\w@#$]*|[@#$][\w@#$]+|\d[\w.]*)|(?P<other>.)",
            re.DOTALL,
        )


_QUOTES = (('"', '"'),)
_BACKTICKS = (("`", "`"),)
_MYSQL = Lexis(
    names=_BACKTICKS,
    texts='"',
    backslash=True,
    comments=r"--(?=\s|\Z)|#",
    code=r"/\*M?!\d*",
    client=r"(?i:DELIMITER|SOURCE)\b|\\",
)
_POSTGRES = Lexis(names=_QUOTES, dollar=True, client=r"\\")
_TSQL = Lexis(
    names=(*_QUOTES, ("[", "]")),
    ends=r"(?im)^[ \t]*GO(?:[ \t]+\d+)?[ \t]*(?:--.*)?$",
    client=r":",
    ends_bodies=True,
    no_terminator=r"(?i)(CREATE|ALTER(?!\s+COLUMN)|DROP\s+(TABLE|VIEW|INDEX|TRIGGER|PROC\w*|FUNCTION"
    r"|SCHEMA|TYPE|USER|ROLE|DATABASE)|EXEC|EXECUTE|IF|ELSE|BEGIN|END|PRINT|USE|INSERT|DECLARE"
    r"|GRANT|DENY|REVOKE|RAISERROR|SET(?!\s+(NULL|DEFAULT)))\b",
)
_ORACLE = Lexis(
    names=_QUOTES,
    ends=r"(?m)^[ \t]*/[ \t]*$",
    client=r"(?i:PROMPT|REM|REMARK|SPOOL|WHENEVER|HOST|SHOW|DEFINE|UNDEFINE|CLEAR|EXIT|QUIT|CONN"
    r"|CONNECT|SET(?=\s+(?!ROLE|TRANSACTION|CONSTRAINT))|COLUMN|COL|TTITLE)\b|@",
    ends_bodies=True,
)
_OTHER = Lexis(dollar=True)
#: By dialect; the others have what most have.
LEXIS = {
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "singlestore": _MYSQL,
    "doris": _MYSQL,
    "starrocks": _MYSQL,
    "postgres": _POSTGRES,
    "redshift": _POSTGRES,
    "materialize": _POSTGRES,
    "risingwave": _POSTGRES,
    "tsql": _TSQL,
    "fabric": _TSQL,
    "oracle": _ORACLE,
    "sqlite": Lexis(names=(*_QUOTES, *_BACKTICKS, ("[", "]")), client=r"\."),
    "bigquery": Lexis(names=_BACKTICKS, texts='"', backslash=True),
    "spark": Lexis(names=_BACKTICKS, texts='"', backslash=True),
    "databricks": Lexis(names=_BACKTICKS, texts='"', backslash=True),
    "hive": Lexis(names=_BACKTICKS, texts='"', backslash=True),
}

#: Kinds of object with a body, and those that may have such a word in their names or columns.
_WITH_BODY = frozenset({"FUNCTION", "PROCEDURE", "PROC", "TRIGGER", "PACKAGE", "BODY", "EVENT"})
_WITHOUT_BODY = frozenset({"TABLE", "INDEX", "ON", "(", "AS"})
_TRANSACTION = frozenset({"", ";", "TRAN", "TRANSACTION", "WORK", "IMMEDIATE", "DEFERRED"})
_ENDS_OF = frozenset({"IF", "WHILE", "FOR", "LOOP", "REPEAT"})
_BRACKETS = re.compile(r"/\*|\*/")
_DATA_ENDS = re.compile(r"(?m)^\\\.[ \t]*$")
_HEAD = 12


def is_routine(pieces: Sequence[ScriptToken], lexis: Lexis = Lexis()) -> bool:
    """Whether what begins so may hold other statements in its body."""
    first = pieces[0].upper if pieces else ""
    if first not in ("CREATE", "ALTER") or (first == "ALTER" and not lexis.no_terminator):
        begins = first == "DECLARE" or (
            first == "BEGIN" and "".join(p.upper for p in pieces[1:2]) not in _TRANSACTION
        )
        return begins and not lexis.no_terminator
    for piece in pieces[1:_HEAD]:
        if piece.upper in _WITH_BODY or (piece.upper == "VIEW" and lexis.no_terminator):
            return True
        if piece.upper in _WITHOUT_BODY:
            return False
    return False


def statements(text: str, dialect: str) -> Iterator[Statement]:
    """The statements of a script, in its order; left out are comments, the client's own lines and
    data between statements."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    line, counted = 1, 0
    for pieces in _Cut(text, LEXIS.get(dialect, _OTHER)).statements():
        line += text.count("\n", counted, pieces[0].start)
        counted = pieces[0].start
        yield Statement(text[counted : pieces[-1].end], line, tuple(pieces))


class _Cut:
    """Where the statements of a script end."""

    def __init__(self, text: str, lexis: Lexis) -> None:
        self.text = text
        self.lexis = lexis
        self.terminator = ";"
        #: Lines that end a batch: start -> end.
        self.batches = (
            {found.start(): found.end() for found in re.finditer(lexis.ends, text)}
            if lexis.ends
            else {}
        )
        self.batch_starts = sorted(self.batches)
        self.client = re.compile(lexis.client) if lexis.client else None
        self.begins = re.compile(lexis.no_terminator) if lexis.no_terminator else None

    def statements(self) -> Iterator[list[ScriptToken]]:
        at = 0
        while at < len(self.text):
            pieces, at = self._one(at)
            if pieces:
                yield pieces
                at = self._after_data(pieces, at)

    def _one(self, at: int) -> tuple[list[ScriptToken], int]:
        """The tokens of the statement that begins at ``at``, none where there is none, and where
        the next may begin."""
        text, pieces = self.text, list[ScriptToken]()
        first: tuple[int, int] | None = None  # of a body: tokens before its first semicolon
        depth = 0  # of blocks in a body
        brackets, routine = 0, False
        while at < len(text):
            begins_line = at == 0 or text[at - 1] == "\n"
            if begins_line and at in self.batches:
                return pieces, self.batches[at]
            if self.terminator != ";" and text.startswith(self.terminator, at):
                return pieces, at + len(self.terminator)
            token = self.lexis.token.match(text, at)
            assert token is not None, "the last alternative takes any character"
            kind, start = str(token.lastgroup if token.lastgroup != "tag" else "text"), at
            if kind in ("space", "comment"):
                at = self._after_space(token)
                continue
            if not pieces and self.client and self.client.match(text, at):
                return [], self._client_line(at)
            if len(pieces) <= _HEAD:
                routine = is_routine(pieces, self.lexis)
            if pieces and self._begins_another(start, brackets, routine):
                return pieces, at
            at = token.end()
            if token[0] == ";" and self.terminator == ";" and kind == "other":
                if not routine or (depth == 0 and not self._in_batch(start)):
                    return pieces, at
                first = first or (len(pieces), at)
            pieces.append(ScriptToken(kind, token[0], start, at))
            brackets += (token[0] == "(") - (token[0] == ")")
            if routine or len(pieces) == 1:
                depth += _nesting(pieces)
        if first is not None and depth > 0 and not self.lexis.ends_bodies:
            return pieces[: first[0]], first[1]  # a body that nothing closes
        return pieces, at

    def _in_batch(self, at: int) -> bool:
        """Whether only the end of a batch ends a routine here, and there is one."""
        if not self.lexis.ends_bodies:
            return False
        last = bisect_left(self.batch_starts, at) == len(self.batch_starts)
        return self.begins is not None or not last

    def _begins_another(self, at: int, brackets: int, routine: bool) -> bool:
        """Whether another statement begins here although nothing ended the last."""
        if self.begins is None or brackets or routine:
            return False
        before = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return not before.strip() and self.begins.match(self.text, at) is not None

    def _after_space(self, token: re.Match[str]) -> int:
        """Where blanks or a comment end; a line's end alone, so that the next line is looked at."""
        if token[0] == "/*":
            depth = 1
            for bracket in _BRACKETS.finditer(self.text, token.end()):
                depth += 1 if bracket[0] == "/*" else -1
                if depth == 0 or self.lexis.code:  # MySQL's do not nest
                    return bracket.end()
            return len(self.text)
        if token.lastgroup == "space" and (line := token[0].find("\n")) >= 0:
            return token.start() + line + 1
        return token.end()

    def _client_line(self, at: int) -> int:
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end + 1
        words = self.text[at:end].split()
        if words[0].upper() == "DELIMITER" and len(words) > 1:
            self.terminator = words[1]
        return end

    def _after_data(self, pieces: list[ScriptToken], at: int) -> int:
        """Where data ends that follows a statement (PostgreSQL's COPY)."""
        if pieces[0].upper != "COPY" or "STDIN" not in {piece.upper for piece in pieces}:
            return at
        end = _DATA_ENDS.search(self.text, at)
        return at if end is None else end.end()


def _nesting(pieces: list[ScriptToken]) -> int:
    """1 if the last token opens a block of a routine's body, -1 if it closes one."""
    word = pieces[-1].upper
    before = pieces[-2].upper if len(pieces) > 1 else ""
    if before == "END" and word in _ENDS_OF:
        return 1  # END IF closes what did not count
    if word == "END":
        return -1
    if word == "CASE":
        return 0 if before == "END" else 1
    return int(word == "BEGIN")
