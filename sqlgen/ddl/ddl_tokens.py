"""DDL scripts of any database, taken apart into statements, and these into tokens.

A script holds more than SQL: lines for the client that ran it (``\\connect``, ``GO``, ``PROMPT``,
``DELIMITER``, ``ECHO``), data between its statements (``COPY … FROM stdin``), bodies of routines
with semicolons of their own, code in comments (``/*!40101 … */``), the JCL of a z/OS job, sequence
numbers in columns 73 to 80. What is special about a database's scripts is data here
(:class:`Lexis`). A script is cut in one pass; only statements that are asked for become tokens.

Facts about Db2 are those of the command reference of Db2 LUW 11.5 (``db2``, ``db2look``), of the
application programming guide of Db2 12 for z/OS (SPUFI, DSNTEP2, DSNTIAD) and of z/OS MVS JCL.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from sqlgen.errors import SqlgenError, did_you_mean

#: Words that state or change keys: each is accounted for, or named.
KEY_WORDS = frozenset({"PRIMARY", "UNIQUE", "REFERENCES", "RENAME", "DROP", "PARTITION"})
#: Words of keys that a slip may hide where only words that are known may stand.
_OFTEN_MISSPELT = ("PRIMARY", "UNIQUE", "REFERENCES", "FOREIGN", "CONSTRAINT")


class Token(NamedTuple):
    """One token: its ``kind`` (word, text, name, other), its text, where it lies in the script;
    ``upper``: the text as it compares (a quoted thing is never a keyword)."""

    kind: str
    text: str
    upper: str
    start: int
    end: int

    @property
    def identifier(self) -> str:
        """The name that a word or a quoted name is, without quotes and blanks at its end."""
        if self.kind == "word":
            return self.text
        closing = self.text[-1]
        return self.text[1:-1].replace(closing * 2, closing).rstrip()


@dataclass(frozen=True)
class Lexis:
    """What is special about a database's scripts. ``names``: what opens and closes quoted names;
    ``texts``: what else than apostrophes stands around texts; ``backslash``: it escapes in texts;
    ``comments``: what begins one that lasts to the end of its line; ``nested``: bracketed comments
    hold others; ``code``: comments that hold code; ``dollar``: texts in ``$tag$``; ``ends``: a line
    that ends a statement or batch; ``client``: how a line begins that is for the client alone,
    where a statement may begin; ``ends_bodies``: only ``ends`` ends a routine; ``no_terminator``:
    what begins a statement at the beginning of a line without any terminator before it; ``is_db2``:
    JCL, ``--#SET TERMINATOR``, and a terminator of one's own that ends a line."""

    names: tuple[tuple[str, str], ...] = (('"', '"'), ("`", "`"))
    texts: str = ""
    backslash: bool = False
    comments: str = "--"
    nested: bool = True
    code: str = ""
    dollar: bool = False
    ends: str = ""
    client: str = ""
    ends_bodies: bool = False
    no_terminator: str = ""
    is_db2: bool = False

    @cached_property
    def parts(self) -> str:
        """A comment, a text or a quoted name."""
        escaped = r"|\\." if self.backslash else ""
        text = rf"'(?:[^'{chr(92) * 2 if self.backslash else ''}]|''{escaped})*'"
        own = [rf"(?:\b[Nn]|\b[XxBbGgUu]{{1,2}})?{text}", r"\b[Ee]'(?:[^'\\]|''|\\.)*'"]
        own += [rf"{mark}(?:[^{mark}\\]|\\.|{mark}{mark})*{mark}" for mark in self.texts]
        own += [r"\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"] if self.dollar else []
        names = [
            rf"{re.escape(a)}(?:[^{re.escape(b)}]|{re.escape(b * 2)})*{re.escape(b)}"
            for a, b in self.names
        ]
        return (
            (rf"(?P<space>{self.code}|\*/)|" if self.code else "")
            + rf"(?P<comment>(?:{self.comments})[^\n]*|/\*)"
            + rf"|(?P<text>{'|'.join(own)})|(?P<name>{'|'.join(names)})"
        )

    @cached_property
    def token(self) -> re.Pattern[str]:
        """One token, or a comment between two."""
        return re.compile(
            rf"{self.parts}|(?P<word>[^\W\d][\w@#$]*|[@#$][\w@#$]+|\d[\w.]*)|(?P<other>\S)",
            re.DOTALL,
        )

    @lru_cache  # noqa: B019 (there are as many as dialects)
    def marks(self, terminator: str, routine: bool) -> re.Pattern[str]:
        """What tells where a statement ends: its terminator, what hides one, blocks of a
        routine."""
        end = re.escape(terminator)
        if self.is_db2 and terminator != ";":
            end = rf"{end}(?=[ \t]*(?:--[^\n]*)?(?:\n|\Z))"
        marks = [*([rf"(?P<batch>{self.ends})"] if self.ends else []), self.parts]
        marks += [rf"(?P<end>{end})"] + ([r"(?P<semicolon>;)"] if terminator != ";" else [])
        if routine:
            marks += [r"(?i:(?P<inner>\bEND\s+(?:IF|WHILE|FOR|LOOP|REPEAT)\b))"]
            marks += [r"(?i:(?P<closes>\bEND\b(?:\s+CASE\b)?)|(?P<opens>\b(?:BEGIN|CASE)\b))"]
        elif self.no_terminator:
            marks += [rf"(?P<begins>^[ \t]*(?={self.no_terminator}))|(?P<bracket>[()])"]
        marks += [r"(?P<open>['\"])"]
        return re.compile("|".join(marks), re.DOTALL | re.MULTILINE)


_QUOTES = (('"', '"'),)
_BACKTICKS = (("`", "`"),)
_MYSQL = Lexis(
    names=_BACKTICKS,
    texts='"',
    backslash=True,
    comments=r"--(?=\s|\Z)|#",
    nested=False,
    code=r"/\*M?!\d*",
    client=r"(?i:DELIMITER|SOURCE)\b|\\",
)
_POSTGRES = Lexis(names=_QUOTES, dollar=True, client=r"\\")
_TSQL = Lexis(
    names=(*_QUOTES, ("[", "]")),
    ends=r"^[ \t]*(?i:GO)(?:[ \t]+\d+)?[ \t]*(?:--[^\n]*)?$",
    client=r":",
    ends_bodies=True,
    no_terminator=r"(?i:(?:CREATE|ALTER(?!\s+COLUMN)|DROP\s+(?:TABLE|VIEW|INDEX|TRIGGER|PROC\w*"
    r"|FUNCTION|SCHEMA|TYPE|USER|ROLE|DATABASE)|EXEC|EXECUTE|IF|ELSE|BEGIN|END|PRINT|USE|INSERT"
    r"|DECLARE|GRANT|DENY|REVOKE|RAISERROR|SET(?!\s+(?:NULL|DEFAULT)))\b)",
)
_ORACLE = Lexis(
    names=_QUOTES,
    nested=False,
    ends=r"^[ \t]*/[ \t]*$",
    client=r"(?i:PROMPT|REM|REMARK|SPOOL|WHENEVER|HOST|SHOW|DEFINE|UNDEFINE|CLEAR|EXIT|QUIT|CONN"
    r"|CONNECT|SET(?=\s+(?!ROLE|TRANSACTION|CONSTRAINT))|COLUMN|COL|TTITLE)\b|@",
    ends_bodies=True,
)
_DB2 = Lexis(names=_QUOTES, ends=r"^[ \t]*/[ \t]*$", client=r"(?i:ECHO)\b|!", is_db2=True)
_OTHER = Lexis(dollar=True)
_SPARK = Lexis(names=_BACKTICKS, texts='"', backslash=True)
#: By dialect; the others have what most have.
LEXIS = {
    **dict.fromkeys(("mysql", "mariadb", "singlestore", "doris", "starrocks"), _MYSQL),
    **dict.fromkeys(("postgres", "redshift", "materialize", "risingwave"), _POSTGRES),
    **dict.fromkeys(("tsql", "fabric"), _TSQL),
    **dict.fromkeys(("bigquery", "spark", "databricks", "hive"), _SPARK),
    "oracle": _ORACLE,
    "db2": _DB2,
    "sqlite": Lexis(names=(*_QUOTES, *_BACKTICKS, ("[", "]")), nested=False, client=r"\."),
}

#: Kinds of object with a body, and those that may have such a word in their names or columns.
_WITH_BODY = frozenset("FUNCTION PROCEDURE PROC TRIGGER PACKAGE BODY EVENT METHOD MODULE".split())
_WITHOUT_BODY = frozenset({"TABLE", "INDEX", "ON", "(", "AS"})
_TRANSACTION = frozenset({"", ";", "TRAN", "TRANSACTION", "WORK", "IMMEDIATE", "DEFERRED"})
_BRACKETS = re.compile(r"/\*|\*/")
_DATA_ENDS = re.compile(r"(?m)^\\\.[ \t]*$")
_HEAD = 12
_SET_TERMINATOR = re.compile(r"--#SET\s+TERMINATOR\s*(\S)", re.I)
#: What Db2's scripts use as terminator beside the semicolon.
_TERMINATORS = frozenset("@!%#$^~?&|/")
#: What may stand inside CREATE SCHEMA, and begins a statement of its own there.
_ELEMENTS = re.compile(r"CREATE (TABLE|VIEW|INDEX|UNIQUE)|COMMENT ON|GRANT")
_SEQUENCE_NUMBER = re.compile(r"\d{8}\s*\Z")
_JOB = re.compile(r"(?m)^//(\*|\s|[A-Z@#$])")
#: JCL, JES2's control statements, and the end of data.
_JCL = re.compile(
    r"//|/\*(\s*\Z|(JOBPARM|MESSAGE|NETACCT|NOTIFY|OUTPUT|PRIORITY|ROUTE|SETUP|SIGNOFF|SIGNON|XEQ"
    r"|XMIT|\$\w+)\b)"
)


class Statement:
    """A statement of a script, without its terminator; ``start`` and ``end``: where it lies;
    ``words``: the first of it, as they compare, with ``;`` where it has no more."""

    def __init__(self, script: DdlScript, start: int, end: int, words: Sequence[str]) -> None:
        self.script = script
        self.start = start
        self.end = end
        self.words = words

    @property
    def text(self) -> str:
        """The statement as it stands in the script."""
        return self.script.text[self.start : self.end].rstrip()

    @cached_property
    def tokens(self) -> Sequence[Token]:
        """Its tokens, without comments."""
        return tuple(self.script.tokens(self.start, self.end))

    def of_keys(self, place: int) -> bool:
        """Whether a token is a word of keys; PARTITION is none where it says how rows are
        divided."""
        word = self.tokens[place].upper
        if word == "PARTITION":
            return [token.upper for token in self.tokens[place + 1 : place + 2]] == ["OF"]
        return word in KEY_WORDS

    def line(self, at: int = 0) -> int:
        """The line of the script (from 1) of a token of it."""
        start = self.tokens[at].start if at < len(self.tokens) else self.start
        return self.script.text.count("\n", 0, start) + 1

    def said(self, begin: int, end: int, length: int = 80) -> str:
        """How some of its tokens begin, on one line, without comments."""
        tokens, text = self.tokens[begin:end], self.script.text
        words = [
            (" " if place and tokens[place - 1].end < token.start else "") + token.text
            for place, token in enumerate(tokens[: length + 1])
        ]
        said = " ".join("".join(words).split()) if tokens else text[self.start : self.end][:length]
        return f"{said[:length]}{'…' if len(said) > length else ''}"

    def source(self, begin: int, end: int) -> str:
        """The text of some of its tokens, as it stands in the script."""
        if begin >= end:
            return ""
        return self.script.text[self.tokens[begin].start : self.tokens[end - 1].end]


def is_slip(word: str) -> bool:
    """Whether a word that is not known is nearly one of keys."""
    return did_you_mean(word, _OFTEN_MISSPELT, 0.8) != ""


class NotUnderstood(Exception):
    """A clause that may state a key and is not understood."""


class Cursor:
    """Reads some tokens of a statement from the left; ``taken``, which all cursors of a statement
    share, are the places of the words that were understood."""

    def __init__(self, statement: Statement, begin: int, end: int, taken: set[int]) -> None:
        self.statement = statement
        self.at = self.begin = begin
        self.end = end
        self.taken = taken

    def __bool__(self) -> bool:
        return self.at < self.end

    def token(self, ahead: int = 0) -> Token | None:
        """The token that comes next, or later."""
        place = self.at + ahead
        return self.statement.tokens[place] if self.begin <= place < self.end else None

    def peek(self, ahead: int = 0) -> str:
        """The same as it compares, "" where there is none."""
        token = self.token(ahead)
        return "" if token is None else token.upper

    def words(self) -> list[str]:
        """All that is left, as it compares."""
        return [token.upper for token in self.statement.tokens[self.at : self.end]]

    def skip(self, count: int = 1) -> None:
        """Take what comes next, whatever it is."""
        self.taken.update(range(self.at, min(self.at + count, self.end)))
        self.at = min(self.at + count, self.end)

    def take(self, *words: str) -> bool:
        """Take some words, if they come next."""
        if any(self.peek(place) != word for place, word in enumerate(words)):
            return False
        self.skip(len(words))
        return True

    def take_any(self, words: frozenset[str]) -> str:
        """Take one of some words, if one comes next; else ""."""
        word = self.peek()
        if word not in words:
            return ""
        self.skip()
        return word

    def if_exists(self) -> None:
        """Take IF [NOT] EXISTS, if it comes next."""
        self.take("IF", "EXISTS") or self.take("IF", "NOT", "EXISTS")

    def is_name(self, ahead: int = 0) -> bool:
        """Whether a name may come next."""
        token = self.token(ahead)
        return token is not None and token.kind in ("word", "name", "text")

    def name(self) -> tuple[str, ...]:
        """Take a name of one part or several. NotUnderstood."""
        parts = list[str]()
        while self.is_name():
            token = self.token()
            assert token is not None
            parts.append(token.identifier)
            self.skip()
            if self.peek() != ".":
                return tuple(parts)
            self.skip()
        raise NotUnderstood

    def to(self, end: int) -> Cursor:
        """A cursor over what comes up to a place, which is taken."""
        part = Cursor(self.statement, self.at, end, self.taken)
        self.at = end
        return part

    def group(self) -> Cursor:
        """What stands in the brackets that come next, which are taken. NotUnderstood where there
        are none, or none that close."""
        if self.peek() != "(":
            raise NotUnderstood
        depth = 0
        for place in range(self.at, self.end):
            text = self.statement.tokens[place].text
            depth += (text == "(") - (text == ")")
            if depth == 0:
                self.at += 1
                inside = self.to(place)
                self.at += 1
                return inside
        raise NotUnderstood

    def parts(self) -> Iterator[Cursor]:
        """What stands between the commas outside of brackets; all is taken."""
        depth, begin = 0, self.at
        for place in range(self.at, self.end):
            text = self.statement.tokens[place].text
            if text == "," and depth == 0:
                if self.at < place:
                    yield self.to(place)
                self.at = place + 1
            depth += (text == "(") - (text == ")")
        if self:
            yield self.to(self.end)
        self.begin = min(self.begin, begin)

    def source(self, begin: int) -> str:
        """The text from a place up to here."""
        return self.statement.source(begin, self.at)

    def states_key(self) -> bool:
        """Whether a word of keys that was not understood is left."""
        return any(self.statement.of_keys(place) for place in range(self.at, self.end))


def is_routine(words: Sequence[str], lexis: Lexis = _OTHER) -> bool:
    """Whether what begins with some words may hold other statements in its body."""
    first = words[0] if words else ""
    if first in ("CREATE", "ALTER") and (first == "CREATE" or lexis.no_terminator or lexis.is_db2):
        for word in words[1:_HEAD]:
            if word in _WITH_BODY or (word == "VIEW" and lexis.no_terminator):
                return first == "CREATE" or bool(lexis.no_terminator) or word == "MODULE"
            if word in _WITHOUT_BODY:
                return False
        return False
    begins = first == "DECLARE" or list(words[1:3]) == [":", "BEGIN"]
    begins |= first == "BEGIN" and "".join(words[1:2]) not in _TRANSACTION
    return begins and not lexis.no_terminator


def statements(text: str, dialect: str) -> Iterator[Statement]:
    """The statements of a script, in its order; left out are comments, the client's own lines and
    data between statements."""
    yield from DdlScript(text, dialect).statements()


class DdlScript:
    """A script: its ``text`` with plain ends of lines and without JCL, line for line;
    ``open``: where a comment or a quoted thing begins that never ends."""

    def __init__(self, text: str, dialect: str) -> None:
        self.lexis = LEXIS.get(dialect, _OTHER)
        text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
        self.text = _plain_lines(text) if self.lexis.is_db2 else text
        self.terminator = _last_character(self.text) if self.lexis.is_db2 else ";"
        self.open: tuple[int, ...] = ()
        self.client = re.compile(self.lexis.client) if self.lexis.client else None
        self.batch = re.compile(self.lexis.ends, re.MULTILINE) if self.lexis.ends else None
        self.last_batch = max((found.end() for found in self._batches()), default=-1)

    def _batches(self) -> Iterator[re.Match[str]]:
        if self.batch is not None and self.lexis.ends_bodies:
            yield from self.batch.finditer(self.text)

    def tokens(self, start: int, end: int) -> Iterator[Token]:
        """The tokens between two places."""
        at = start
        while found := self.lexis.token.search(self.text, at, end):
            kind = str(found.lastgroup)
            at = found.end()
            if kind == "comment":
                at = self._after_comment(found)
            elif kind != "space":
                kind = "text" if kind == "tag" else kind
                text = found[0]
                upper = text.upper() if kind == "word" else text
                yield Token(kind, text, upper, found.start(), at)

    def _after_comment(self, found: re.Match[str]) -> int:
        """Where a comment ends; what it says of the terminator."""
        if found[0] != "/*":
            if self.lexis.is_db2 and (setting := _SET_TERMINATOR.match(found[0])):
                self.terminator = setting[1]
            return found.end()
        depth = 1
        for bracket in _BRACKETS.finditer(self.text, found.end()):
            depth += (1 if self.lexis.nested else 0) if bracket[0] == "/*" else -1
            if depth == 0:
                return bracket.end()
        self.open = (*self.open, found.start())
        return len(self.text)

    def statements(self) -> Iterator[Statement]:
        """The statements, as they are found."""
        at = 0
        while (at := self._begin(at)) < len(self.text):
            start = at
            words = self._head(at)
            end, at = self._end(at, is_routine(words, self.lexis))
            if end > start:
                statement = Statement(self, start, end, words)
                yield from self._elements(statement)
                if words[:1] == ["COPY"] and "STDIN" in statement.text.upper():
                    data = _DATA_ENDS.search(self.text, at)
                    at = at if data is None else data.end()

    def _begin(self, at: int) -> int:
        """Where the next statement begins: behind blanks, comments and lines for the client."""
        text = self.text
        while True:
            while text[at : at + 1].isspace():
                at += 1
            line = text.rfind("\n", 0, at) + 1
            if self.batch and not text[line:at].strip() and (end := self.batch.match(text, line)):
                at = end.end()
                continue
            if self.client and self.client.match(text, at):
                at = self._client_line(at)
                continue
            found = self.lexis.token.match(text, at)
            if found is None or found.lastgroup not in ("comment", "space"):
                return at
            at = self._after_comment(found) if found.lastgroup == "comment" else found.end()

    def _client_line(self, at: int) -> int:
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end + 1
        words = self.text[at:end].split()
        if words[0].upper() == "DELIMITER" and len(words) > 1:
            self.terminator = words[1]
        return end

    def _head(self, at: int) -> list[str]:
        """The first words of a statement."""
        before, words = (self.terminator, self.open), list[str]()
        for token in islice(self.tokens(at, min(at + 2000, len(self.text))), _HEAD):
            words.append(token.upper)
            if len(words) > 1 and token.upper in ("CREATE", "GO", "/", ";", before[0]):
                words[-1] = ";"
                break
        self.terminator, self.open = before  # what the next statements say comes later
        return words

    def _end(self, start: int, routine: bool) -> tuple[int, int]:
        """Where the statement that begins at ``start`` ends, and where what follows begins."""
        text, at, lexis = self.text, start, self.lexis
        depth, brackets = 0, 0
        first: tuple[int, int] | None = None  # in a body: the first semicolon
        while found := lexis.marks(self.terminator, routine).search(text, at):
            kind, begin, at = str(found.lastgroup), found.start(), found.end()
            if kind == "comment":
                at = self._after_comment(found)
            elif kind == "open":
                self.open = (*self.open, begin)
            elif kind == "batch":
                return begin, at
            elif kind == "bracket":
                brackets += 1 if found[0] == "(" else -1
            elif kind == "begins":
                if begin > start and brackets <= 0:
                    return begin, at
                at += begin == at
            elif kind in ("opens", "closes"):
                depth += 1 if kind == "opens" else -1
            elif kind in ("end", "semicolon"):
                if found[0] != ";" or not routine:
                    if lexis.is_db2 or kind == "end":
                        return begin, at
                elif kind == "end" and depth <= 0 and not self._in_body(begin, at):
                    return begin, at
                elif kind == "end" or lexis.is_db2:
                    first = first or (begin, at)
        if first is not None and depth > 0 and not lexis.ends_bodies:
            return first  # a body that nothing closes costs no more than its first statement
        return len(text), len(text)

    def _in_body(self, begin: int, end: int) -> bool:
        """Whether a semicolon between no blocks of a routine is one of its body all the same."""
        if self.lexis.is_db2:
            return self.text.startswith("--", end)  # as db2look writes it
        return self.lexis.ends_bodies and (
            bool(self.lexis.no_terminator) or begin < self.last_batch
        )

    def _elements(self, statement: Statement) -> Iterator[Statement]:
        """CREATE SCHEMA apart from the statements that stand inside it."""
        if list(statement.words[:2]) != ["CREATE", "SCHEMA"]:
            yield statement
            return
        tokens = statement.tokens
        starts = [0]
        for place in range(2, len(tokens)):
            head = " ".join(token.upper for token in tokens[place : place + 2])
            if _ELEMENTS.match(head) and tokens[place - 1].upper not in ("SCHEMA", "AUTHORIZATION"):
                starts.append(place)
        for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
            words = [token.upper for token in tokens[start : min(end, start + _HEAD)]]
            yield Statement(self, tokens[start].start, tokens[end - 1].end, [*words, ";"])


def decoded(raw: bytes, dialect: str, encoding: str = "") -> tuple[str, tuple[str, ...]]:
    """A script as text, and notes on how it was read: UTF-8 (or UTF-16, where it says so), else the
    code page ``encoding``, else Latin-1 where only comments and texts depend on that. SqlgenError
    LR1010 where that cannot be, or there is no such code page."""
    marked = raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    hint = (
        "Name a file of DDL statements; --schema-encoding names its code page, such as cp1252 or"
        " cp037"
    )
    for known in ("utf-16" if marked else "utf-8-sig", encoding):
        try:
            if known:
                return raw.decode(known).replace("\x85", "\n"), ()
        except UnicodeDecodeError:
            continue
        except LookupError:
            raise SqlgenError(
                "LR1010", f"found the code page {encoding}; expected one of Python's", hint
            ) from None
    text = raw.decode("latin-1")
    script = DdlScript(text, dialect)
    for token in script.tokens(0, len(script.text)):
        if encoding or (token.kind != "text" and not token.text.isascii()):
            line = script.text.count("\n", 0, token.start) + 1
            what = f"text in {encoding}" if encoding else "UTF-8, and a name depends on it"
            raise SqlgenError("LR1010", f"line {line} of the schema is no {what}", hint)
    return text, (
        "the schema is no UTF-8, and was read as Latin-1: only comments and texts differ",
    )


def _plain_lines(text: str) -> str:
    """The text without sequence numbers, and JCL as ends of statements, line by line, so that line
    numbers stay."""
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    if filled and all(
        len(line) > 72 and len(line.rstrip()) <= 80 and _SEQUENCE_NUMBER.match(line, 72)
        for line in filled
    ):
        lines = [line[:72].rstrip() for line in lines]
    if _JOB.search(text):
        lines = [";" if _JCL.match(line) else line for line in lines]  # it ends what is before
    return "\n".join(lines)


def _last_character(text: str) -> str:
    """The terminator that a script of Db2 seems to use: what its last line, no comment, ends
    with."""
    for line in reversed(text.split("\n")):
        said = line.partition("--")[0].rstrip()
        if said and said != ";":
            return said[-1] if said[-1] in _TERMINATORS else ";"
    return ";"
