"""The LOAD statements beside a LOAD file: which tables its records are of, and where their fields
lie. Published: the informational columns come first, in the order of these statements, and the
statements describe the image after an update only (BMC, layout of records in load files).

Published of the informational columns, where we could read it (BMC, additional informational
columns in load files): that they come first in each record, and the names and meanings of the first
nine. The names of the others are ours, which ``export --format load`` writes; ``--log-option
ROLE=#NAME`` names those of a site, as its LOAD control file has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from replay.decoding import codecs
from replay.errors import InputError, Where

_FILE = re.compile(r"^--file (.+)$", re.M)
_TOKEN = re.compile(
    r"""\s*(?:--[^\n]*\n\s*)*(?:(?P<name>"(?:[^"]|"")*")|(?P<hex>X'[0-9A-F]*')"""
    r"""|(?P<text>'(?:[^']|'')*')|(?P<word>[^\s"'(),=:.]+)|(?P<sign>[(),=:.]))""",
    re.I,
)
#: Encodings by word, and the place of the CCSID of single-byte text in CCSID(...).
_ENCODINGS = {"EBCDIC": (37, 0), "ASCII": (819, 0), "UNICODE": (1208, 1)}
#: That of a statement without such a word.
DEFAULT_CCSID = 1208
#: Types whose fields are text in a file of fixed positions.
_CHARACTERS = ("CHAR", "CHARACTER")
#: Text of moments that states no length.
_MOMENTS = {"DATE": 10, "TIME": 8, "TIMESTAMP": 26}


@dataclass(frozen=True)
class FieldCondition:
    """A field, or the octets ``start:stop`` of a record (from 0), that must hold ``value``."""

    value: str
    name: str = ""
    start: int = 0
    stop: int = 0


@dataclass(frozen=True)
class LoadField:
    """One field: ``start:stop`` in octets of a record (from 0) where positions are fixed, and when
    it is null."""

    name: str
    start: int
    stop: int
    null_if: FieldCondition | None = None


@dataclass(frozen=True)
class IntoTable:
    """INTO TABLE: its name (the schema may be empty), the fields in order, and which records of
    the file are of it (all, without conditions)."""

    schema: str
    name: str
    fields: tuple[LoadField, ...]
    when: tuple[FieldCondition, ...] = ()


@dataclass(frozen=True)
class LoadStatement:
    """LOAD DATA: the name of its input, CCSID of the text, the two delimiters (``delimited``; else
    positions are fixed), and its tables. ``file``: what a comment ``--file NAME`` before it says
    its input is called, as ``export --format load`` writes it."""

    inddn: str
    tables: tuple[IntoTable, ...]
    ccsid: int | None = None
    delimited: bool = False
    column: str = ","
    character: str = '"'
    file: str = ""


@dataclass
class _Options:
    """``characters``: where among the tokens each delimiter stands."""

    inddn: str = "SYSREC"
    ccsid: int | None = None
    delimited: bool = False
    characters: dict[str, int] = field(default_factory=dict)


def read_control(name: str, text: str) -> list[LoadStatement]:
    """The LOAD statements of a control file. InputError LR2008 where there is none, LR2009 for a
    clause that cannot be used."""
    reader = _Reader(name, text)
    statements = reader.statements()
    files = _FILE.findall(text)
    if len(files) == len(statements):
        statements = [
            replace(one, file=file.strip()) for one, file in zip(statements, files, strict=True)
        ]
    if not statements:
        raise InputError(
            "LR2008",
            "found no LOAD DATA statement; expected the LOAD control file of Log Master",
            Where(name),
        )
    return statements


class _Reader:
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self.at = name, text, 0
        self.ccsid = DEFAULT_CCSID
        self.tokens: list[tuple[str, str]] = []
        place = 0
        while found := _TOKEN.match(text, place):
            kind = found.lastgroup or ""
            self.tokens.append((kind, found[kind]))
            place = found.end()

    def _fail(self, found: str, expected: str, hint: str = "") -> InputError:
        where = Where(self.name, field=" ".join(text for _, text in self.tokens[self.at :][:4]))
        return InputError("LR2009", f"found {found}; expected {expected}", where, hint)

    def _word(self, ahead: int = 0) -> str:
        """The next word in upper case; a sign is its own word; '' at the end or for a literal."""
        if self.at + ahead >= len(self.tokens):
            return ""
        kind, text = self.tokens[self.at + ahead]
        return text.upper() if kind in ("word", "sign") else ""

    def _take(self, *words: str) -> bool:
        """Whether the next words are these, which are then behind us."""
        if all(self._word(ahead) == word for ahead, word in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def _next(self) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            raise self._fail("the end of the file", "the rest of a LOAD statement")
        self.at += 1
        return self.tokens[self.at - 1]

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._fail(self._word() or "a literal", sign)

    def _identifier(self) -> str:
        kind, text = self._next()
        if kind == "name":
            return text[1:-1].replace('""', '"')
        if kind != "word":
            raise self._fail(text, "a name")
        return text.upper()

    def _literal(self) -> str:
        kind, text = self._next()
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "hex":
            return self._octets(text)
        raise self._fail(text, "a literal in quotes")

    def _octets(self, text: str) -> str:
        """What the octets of ``X'…'`` are in the character set of the statement's file."""
        octets = np.frombuffer(bytes.fromhex(text[2:-1]), np.uint8)
        values, bad = codecs.decode_text(octets, np.array([0, len(octets)]), self.ccsid)
        if bad is not None:
            raise self._fail(
                text,
                f"octets of CCSID {self.ccsid}",
                "EBCDIC, ASCII or UNICODE, with CCSID, must be those of the file",
            )
        return str(values[0])

    def _number(self) -> int:
        _, text = self._next()
        if not text.isdecimal():
            raise self._fail(text, "a number")
        return int(text)

    def _list(self) -> list[str]:
        """What stands in parentheses."""
        self._expect("(")
        inside: list[str] = []
        while not self._take(")"):
            inside.append(self._next()[1])
        return inside

    def statements(self) -> list[LoadStatement]:
        found: list[LoadStatement] = []
        while self.at < len(self.tokens):
            if self._take("LOAD"):
                self._take("DATA")
                found.append(self._statement())
            else:
                self.at += 1
        return found

    def _statement(self) -> LoadStatement:
        options, tables = _Options(), list[IntoTable]()
        self.ccsid = DEFAULT_CCSID
        while self.at < len(self.tokens) and self._word() != "LOAD":
            if self._take("INTO", "TABLE"):
                tables.append(self._into(options.delimited))
            else:
                self._option(options)
        if not tables:
            raise self._fail("a LOAD statement without INTO TABLE", "one at least")
        if len(tables) > 1 and not all(table.when for table in tables):
            raise self._fail(
                "several INTO TABLE without WHEN, so that each record is of all of them",
                "WHEN for each, or a LOAD statement for each file",
            )
        marks = {word: self._mark(word, place) for word, place in options.characters.items()}
        return LoadStatement(
            options.inddn,
            tuple(tables),
            options.ccsid,
            options.delimited,
            marks.get("COLDEL", ","),
            marks.get("CHARDEL", '"'),
        )

    def _option(self, options: _Options) -> None:
        word = self._word()
        if word == "INDDN":
            self.at += 1
            options.inddn = self._identifier()
        elif word == "FORMAT":
            self.at += 1
            if not self._take("DELIMITED") and not self._take("CSV"):
                raise self._fail(
                    f"FORMAT {self._word()}",
                    "FORMAT DELIMITED, or fixed positions without FORMAT",
                    "Have Log Master write the LOAD file with FORMAT CSV or SDF",
                )
            options.delimited = True
        elif word in ("COLDEL", "CHARDEL", "DECPT"):
            options.characters[word] = self.at + 1
            self.at += 2
        elif word in ("CONTINUEIF", "CONCATENATE"):
            raise self._fail(word, "records of one line each")
        elif word in _ENCODINGS:
            self.at += 1
            default, place = _ENCODINGS[word]
            options.ccsid = default
            if self._take("CCSID"):
                numbers = [int(text) for text in self._list() if text.isdecimal()]
                options.ccsid = next((n for n in (*numbers[place:], *numbers) if n), default)
            self.ccsid = options.ccsid
        else:
            self.at += 1

    def _mark(self, word: str, place: int) -> str:
        """The delimiter that stands at a place: after all options, as they may say in any order
        what its octets are."""
        behind, self.at = self.at, place
        mark = self._literal()
        self.at = place
        if len(mark) != 1:
            raise self._fail(f"{word} of several characters", "one character")
        if word == "DECPT" and mark != ".":
            raise self._fail(f"DECPT {mark}", "a point: DECPT '.'")
        self.at = behind
        return mark

    def _into(self, delimited: bool) -> IntoTable:
        schema, name = "", self._identifier()
        if self._take("."):
            schema, name = name, self._identifier()
        when: tuple[FieldCondition, ...] = ()
        while self._word() != "(":
            if self.at >= len(self.tokens):
                raise self._fail(f"no fields of table {name}", "a list of fields")
            if self._take("WHEN"):
                when = tuple(self._conditions())
            else:
                self.at += 1
        self._expect("(")
        fields: list[LoadField] = []
        while True:
            fields.append(self._field(delimited, fields[-1].stop if fields else 0))
            if self._take(")"):
                break
            self._expect(",")
        names = [one.name for one in fields]
        for one in fields:
            if one.null_if is not None and one.null_if.name not in ("", *names):
                raise self._fail(
                    f"NULLIF of field {one.name} about {one.null_if.name}", "a field of this list"
                )
        return IntoTable(schema, name, tuple(fields), when)

    def _conditions(self) -> Sequence[FieldCondition]:
        """``(name = 'v' AND …)`` or ``(a:b) = 'v'``."""
        self._expect("(")
        if self._word().isdecimal():
            start, stop = self._span()
            self._expect("=")
            return [FieldCondition(self._literal(), start=start, stop=stop)]
        conditions = [self._named()]
        while self._take("AND"):
            conditions.append(self._named())
        self._expect(")")
        return conditions

    def _named(self) -> FieldCondition:
        name = self._identifier()
        self._expect("=")
        return FieldCondition(self._literal(), name)

    def _span(self) -> tuple[int, int]:
        """``a:b)`` or ``a)`` as octets from 0, behind the parenthesis; (a - 1, a - 1) for ``a)``
        alone."""
        start = self._number() - 1
        stop = self._number() if self._take(":") else start
        self._expect(")")
        return start, stop

    def _field(self, delimited: bool, follows: int) -> LoadField:
        name, start, stop = self._identifier(), follows, 0
        if self._take("POSITION"):
            self._expect("(")
            if self._take("*"):
                self._expect(")")
            else:
                start, stop = self._span()
                stop = 0 if stop == start else stop
        kind, length, external = "", 0, False
        null_if = None
        while self._word() not in (",", ")", ""):
            word = self._word()
            if word == "EXTERNAL":
                self.at += 1
                external = True
            elif word == "NULLIF":
                self.at += 1
                null_if = self._null_if()
                if delimited and not null_if.name:
                    raise self._fail(
                        f"NULLIF of field {name} about octets of a delimited record",
                        "one about a field",
                    )
            elif word == "DEFAULTIF":
                raise self._fail("DEFAULTIF", "NULLIF: LOAD would make values up")
            elif word == "(":
                inside = self._list()
                length = int(inside[0]) if inside and inside[0].isdecimal() else length
            else:
                kind = kind or word
                self.at += 1
        if not delimited:
            if kind not in (*_CHARACTERS, *_MOMENTS) and not external:
                raise self._fail(
                    f"field {name} of type {kind or 'unknown'} at a fixed position",
                    "CHAR, EXTERNAL numbers, DATE, TIME or TIMESTAMP",
                    "Have Log Master write the LOAD file with FORMAT SDF or CSV",
                )
            stop = stop or start + (length or _MOMENTS.get(kind, 0))
            if stop <= start:
                raise self._fail(f"field {name} without length", "a length, or POSITION(a:b)")
        return LoadField(name, start, stop, null_if)

    def _null_if(self) -> FieldCondition:
        if not self._take("("):
            return self._named()
        if not self._word().isdecimal():
            condition = self._named()
            self._expect(")")
            return condition
        start, stop = self._span()
        self._expect("=")
        value = self._literal()
        return FieldCondition(value, start=start, stop=max(stop, start + len(value)))


# -- informational columns
# -------------------------------------------------------------------------------------------------

#: Role -> (the column's name, meaning). The first nine names are published.
ROLES: dict[str, tuple[str, str]] = {
    "connection-type": ("#CONNECTION_TYPE", "the kind of connection"),
    "connection": ("#CONNECTION_ID", "the connection"),
    "correlation": ("#CORRELATION_ID", "the correlation id"),
    "authid": ("#AUTH_ID", "the authorization id"),
    "plan": ("#PLAN_NAME", "the plan"),
    "begin": ("#URIDLRSN", "where the unit of recovery begins (LRSN)"),
    "unit": ("#URIDBEGINPOINT", "the unit of recovery (RBA)"),
    "member": ("#URIDMEMBERID", "the data sharing member"),
    "time": ("#URIDTIMESTAMP", "date and time of the unit of recovery"),
    "table": ("#TABLE", "the table, OWNER.NAME: held against the LOAD statement"),
    "commit": ("#COMMITLRSN", "where the unit was committed: units are ordered by it"),
    "position": ("#LOGRBA", "where the change is in the log of its member"),
    "origin": ("#SQLSRCTYPE", "whether a foreign key or a trigger made the change"),
    "action": ("#RECORD_TYPE", "what happened: I, U, D, or a CHANGE TYPE"),
}
#: Without these there is no order, and nothing to do.
NEEDED = ("unit", "commit", "position", "action")
#: What each of the others tells (see :data:`replay.logs.FACTS`).
TELLS: dict[str, str] = {
    "connection": "connections",
    "correlation": "correlation ids",
    "authid": "authorization ids",
    "plan": "plans",
    "member": "members",
    "time": "commit times",
    "origin": "origins",
}


def column_of(role: str, options: Mapping[str, str]) -> str:
    """The informational column of a role: the one that the user named, else the usual one."""
    return options.get(role, ROLES[role][0])
