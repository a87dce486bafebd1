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
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile

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
_CSV = "Have Log Master write the LOAD file with FORMAT CSV"


@dataclass(frozen=True)
class FieldCondition:
    """A field ``name`` that must hold ``value``."""

    value: str
    name: str


@dataclass(frozen=True)
class LoadField:
    """One field, and when it is null."""

    name: str
    null_if: FieldCondition | None = None


@dataclass(frozen=True)
class IntoTable:
    """INTO TABLE: its name (the schema may be empty), the fields in order, and which records of
    the file are of it (all, without conditions)."""

    schema: str
    name: str
    fields: tuple[LoadField, ...]
    when: tuple[FieldCondition, ...] = ()

    @property
    def given(self) -> str:
        """The table as the LOAD statement names it."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @cached_property
    def info(self) -> int:
        """How many of the fields are informational columns: those at the beginning with a name
        that begins with ``#``."""
        return sum(1 for _ in takewhile(lambda one: one.name.startswith("#"), self.fields))


@dataclass(frozen=True)
class LoadStatement:
    """LOAD DATA: the name of its input, CCSID of the text, the two delimiters, and its tables.
    ``file``: what a comment ``--file NAME`` before it says its input is called, as ``export
    --format load`` writes it."""

    inddn: str
    tables: tuple[IntoTable, ...]
    ccsid: int | None = None
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
        """What the bytes of ``X'…'`` are in the character set of the statement's file."""
        octets = np.frombuffer(bytes.fromhex(text[2:-1]), np.uint8)
        values, bad = codecs.decode_text(octets, np.array([0, len(octets)]), self.ccsid)
        if bad is not None:
            raise self._fail(
                text,
                f"bytes of CCSID {self.ccsid}",
                "EBCDIC, ASCII or UNICODE, with CCSID, must be those of the file",
            )
        return str(values[0])

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
                tables.append(self._into())
            else:
                self._option(options)
        if not tables:
            raise self._fail("a LOAD statement without INTO TABLE", "one at least")
        if len(tables) > 1 and not all(table.when for table in tables):
            raise self._fail(
                "several INTO TABLE without WHEN, so that each record is of all of them",
                "WHEN for each, or a LOAD statement for each file",
            )
        if not options.delimited:
            found = "a LOAD statement without FORMAT, of fields at fixed positions (SDF)"
            raise self._fail(found, "FORMAT DELIMITED", _CSV)
        marks = {word: self._mark(word, place) for word, place in options.characters.items()}
        return LoadStatement(
            options.inddn,
            tuple(tables),
            options.ccsid,
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
                raise self._fail(f"FORMAT {self._word()}", "FORMAT DELIMITED", _CSV)
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
        what its bytes are."""
        behind, self.at = self.at, place
        mark = self._literal()
        self.at = place
        if len(mark) != 1:
            raise self._fail(f"{word} of several characters", "one character")
        if word == "DECPT" and mark != ".":
            raise self._fail(f"DECPT {mark}", "a point: DECPT '.'")
        self.at = behind
        return mark

    def _into(self) -> IntoTable:
        schema, name = "", self._identifier()
        if self._take("."):
            schema, name = name, self._identifier()
        when: list[FieldCondition] = []
        while self._word() != "(":
            if self.at >= len(self.tokens):
                raise self._fail(f"no fields of table {name}", "a list of fields")
            if self._take("WHEN", "("):
                when.append(self._named())
                while self._take("AND"):
                    when.append(self._named())
                self._expect(")")
            else:
                self.at += 1
        self._expect("(")
        fields: list[LoadField] = []
        while True:
            fields.append(self._field())
            if self._take(")"):
                break
            self._expect(",")
        names = [one.name for one in fields]
        for one in fields:
            if one.null_if is not None and one.null_if.name not in names:
                raise self._fail(
                    f"NULLIF of field {one.name} about {one.null_if.name}", "a field of this list"
                )
        return IntoTable(schema, name, tuple(fields), tuple(when))

    def _named(self) -> FieldCondition:
        if self._word().isdecimal():
            raise self._fail("a condition about bytes of a delimited record", "one about a field")
        name = self._identifier()
        self._expect("=")
        return FieldCondition(self._literal(), name)

    def _field(self) -> LoadField:
        """A field; what its type and position say is of no account in a delimited record."""
        name, null_if = self._identifier(), None
        while self._word() not in (",", ")", ""):
            if self._take("NULLIF"):
                null_if = self._null_if()
            elif self._word() == "DEFAULTIF":
                raise self._fail("DEFAULTIF", "NULLIF: LOAD would make values up")
            elif self._word() == "(":
                self._list()
            else:
                self.at += 1
        return LoadField(name, null_if)

    def _null_if(self) -> FieldCondition:
        in_brackets = self._take("(")
        condition = self._named()
        if in_brackets:
            self._expect(")")
        return condition


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
