"""A script in the form that a client reads: its lines broken, its terminators set, its characters
in the client's encoding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sqlgen.clients import Client
from sqlgen.clients.breaking import (
    Lexeme,
    Lines,
    Measure,
    broken_comment,
    broken_statement,
    plain_lines,
    tokens_of,
)
from sqlgen.errors import SqlgenError

_UNIT = re.compile(r"-- unit (\S+)")
#: What a script has when it comes.
_TERMINATOR = ";"
#: Digits of a literal of UTF-16
#: (https://www.ibm.com/docs/SSEPEK_13.0.0/sqlref/src/tpc/db2z_graphicstringconstants.html).
MOST_DIGITS = 32704
#: Characters of a statement in a message.
_SHOWN = 60


@dataclass(frozen=True)
class Encoding:
    """How text becomes bytes. ``encode``: SqlgenError (LR3001) for a character that it lacks;
    ``measure``: how many bytes a text takes at most wherever it is read; ``lacks``: the first
    character of a text that it has not, or ''. ``plain``: lines end with a line feed, even where
    the client's records have a length of their own."""

    name: str
    encode: Callable[[str], bytes]
    measure: Measure
    lacks: Callable[[str], str]
    plain: bool


def utf8() -> Encoding:
    """UTF-8. Whatever it is converted to: a character beyond ASCII takes no more than four bytes,
    shifts to double bytes and back among them."""

    def measure(text: str) -> int:
        return len(text) if text.isascii() else sum(1 if ord(c) < 128 else 4 for c in text)

    return Encoding("utf-8", str.encode, measure, lambda text: "", plain=True)


@dataclass(frozen=True)
class ScriptForm:
    """Puts scripts into the form of a ``client``, with its ``terminator``, in an ``encoding``."""

    client: Client
    terminator: str
    encoding: Encoding

    @property
    def command(self) -> str:
        """What the head of a script says of its client."""
        run = self.client.command.format(terminator=self.terminator)
        return f"Client {self.client.name}, in {self.encoding.name}: {run}"

    @property
    def lines(self) -> Lines:
        """What its lines are like."""
        width = self.client.width or 1 << 62
        return Lines(width, self.encoding.measure, self.client.concat, self.client.no_end)

    def head(self, prologue: str) -> bytes:
        """The head of a script, with the client's own words after its comments."""
        comments, rest = [], prologue.splitlines()
        while rest and rest[0].startswith("--"):
            comments.append(rest.pop(0))
        own = [words.format(terminator=self.terminator) for words in self.client.head]
        if self.client.set_terminator and self.terminator != self.client.terminator:
            own.append(self.client.set_terminator.format(self.terminator))
        return b"".join(
            [
                self(_text(comments)),
                self.records(own),
                self(_text(rest)),
            ]
        )

    def records(self, lines: Iterable[str]) -> bytes:
        """Lines as they are, in the client's encoding."""
        return self._records(list(lines))

    def __call__(self, data: bytes) -> bytes:
        """Whole lines of a script, as the client reads them. SqlgenError (LR3001, LR3003) names the
        unit and the statement that it cannot read."""
        longest = self.client.longest
        if self.client.reads_all and (not longest or len(data) <= longest):
            return data
        records, unit = [], ""
        for statement in _statements(data.decode()):
            named = _UNIT.match(statement)
            unit = named.group(1) if named else unit
            try:
                if not statement.startswith("--"):
                    self._check_length(statement)
                if not self.client.reads_all:
                    records.append(self._records(list(self._lines(statement))))
            except SqlgenError as error:
                place = f"in unit {unit}, " if unit else ""
                shown = f"{place}statement {statement[:_SHOWN]!r}"
                raise SqlgenError(error.code, f"{shown}: {error.message}", error.hint) from error
        return data if self.client.reads_all else b"".join(records)

    def _check_length(self, statement: str) -> None:
        longest = self.client.longest
        if longest and len(statement) * 4 > longest and len(statement.encode()) > longest:
            raise SqlgenError(
                "LR3003",
                f"found {len(statement.encode()):,} bytes; expected at most {longest:,}, as much as"
                f" a statement has for {self.client.name}",
                "Leave its large columns out (--exclude-columns)",
            )

    def _lines(self, statement: str) -> Iterator[str]:
        lines = self.lines
        if statement.startswith("--"):
            yield from self._comment(statement, lines)
            return
        plain = self._plain(statement, lines)
        if plain is not None:
            yield from plain
            return
        tokens, comment = tokens_of(statement)
        if comment:
            yield from self._comment(comment, lines)
        ends = bool(tokens) and tokens[-1].text == _TERMINATOR
        tokens = [_upper(token) for token in (tokens[:-1] if ends else tokens)]
        if self.client.unicode and self.encoding.lacks(statement):
            tokens = self._in_unicode(tokens)
        if not tokens:
            return
        terminator = self._terminator_of(tokens) if ends else ""
        changes = ends and terminator != self.terminator
        if changes:
            yield self.client.set_terminator.format(terminator)
        yield from broken_statement(tokens, lines, terminator)
        if changes:
            yield self.client.set_terminator.format(self.terminator)

    def _plain(self, statement: str, lines: Lines) -> list[str] | None:
        """The lines of a statement that has nothing to be looked at; None for another one."""
        text, client = statement.removesuffix(_TERMINATOR), self.client
        ended = self.terminator in text and (client.set_terminator or client.whole_terminator)
        if text == statement or ended or self.encoding.lacks(text):
            return None
        return plain_lines(text, lines, self.terminator)

    def _in_unicode(self, tokens: list[Lexeme]) -> list[Lexeme]:
        """A statement whose texts that the encoding lacks are literals of UTF-16: each with all
        that is joined to it, for a text is of one kind."""
        made: list[Lexeme] = []
        place = 0
        while place < len(tokens):
            text, end = self._joined_text(tokens, place)
            if end > place and self.encoding.lacks(text):
                digits = text.encode("utf-16-be").hex().upper()
                if len(digits) > MOST_DIGITS:
                    raise SqlgenError(
                        "LR3001",
                        f"found a text of {len(digits):,} digits in UTF-16; expected at most"
                        f" {MOST_DIGITS:,}",
                        "Leave the column out (--exclude-columns)",
                    )
                literal = f"{self.client.unicode}'{digits}'"
                first = tokens[place]
                unit = [Lexeme("literal", literal, first.apart)]
                if first.text == "(":  # it may be that of VALUES
                    unit = [first, unit[0]._replace(apart=False), tokens[end - 1]]
                made += unit
            else:
                end = max(end, place + 1)
                made += tokens[place:end]
            place = end
        return made

    def _joined_text(self, tokens: list[Lexeme], place: int) -> tuple[str, int]:
        """The text of the literals and characters at a place that are joined, also in parentheses,
        and where they end; nothing where none is."""
        text, end = "", place
        while place < len(tokens):
            token = tokens[place]
            words = [one.text for one in tokens[place : place + 4]]
            if token.kind == "literal" and token.text.startswith("'"):
                text, place = text + token.text[1:-1].replace("''", "'"), place + 1
            elif words[:2] == ["CHR", "("] and words[3:] == [")"] and words[2].isdigit():
                text, place = text + chr(int(words[2])), place + 4
            elif token.text == "(":
                inner, close = self._joined_text(tokens, place + 1)
                if not inner or tokens[close : close + 1] != [Lexeme("other", ")", False)]:
                    break
                text, place = text + inner, close + 1
            else:
                break
            end = place
            if place < len(tokens) and tokens[place].text == self.client.concat:
                place += 1
            else:
                break
        return text, end

    def _comment(self, text: str, lines: Lines) -> Iterator[str]:
        """A comment, without what may end a statement, and with an escape for a character that the
        encoding lacks."""
        if self.client.set_terminator or self.client.whole_terminator:
            text = text.replace(_TERMINATOR, " ").replace(self.terminator, " ")
        while lacking := self.encoding.lacks(text):
            text = text.replace(lacking, f"\\u{ord(lacking):04X}")
        yield from broken_comment(text, lines)

    def _terminator_of(self, tokens: list[Lexeme]) -> str:
        """What ends a statement, which it must not have in it."""
        client = self.client
        if not (client.set_terminator or client.whole_terminator):
            return self.terminator
        text = "".join(token.text for token in tokens)
        terminator: str
        for terminator in (self.terminator, *client.terminators):
            if terminator not in text:
                return terminator
        expected = " or ".join(dict.fromkeys([self.terminator, *client.terminators]))
        raise SqlgenError(
            "LR3003",
            f"found each character that can end it; expected a statement without {expected}",
            "Leave the column out (--exclude-columns), say what ends statements (--terminator), or"
            " choose another client (--client)",
        )

    def _records(self, lines: list[str]) -> bytes:
        width = 0 if self.encoding.plain else self.client.record
        text = "".join([line.ljust(width) if width else f"{line}\n" for line in lines])
        if text.isascii() and not self.encoding.lacks(text):
            return self.encoding.encode(text)
        return b"".join(map(self._record, lines))

    def _record(self, line: str) -> bytes:
        if lacking := self.encoding.lacks(line):
            raise SqlgenError(
                "LR3001",
                f"found {lacking!a}; expected characters of {self.encoding.name}",
                "Name another code page (--encoding), or leave the column out (--exclude-columns)",
            )
        if self.client.record and not self.encoding.plain:
            data = self.encoding.encode(line)
            return data.ljust(self.client.record, self.encoding.encode(" "))
        return self.encoding.encode(f"{line}\n")


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _statements(text: str) -> Iterator[str]:
    """The lines of a script; those of a statement that has several are one."""
    waiting: list[str] = []
    for line in text.split("\n"):
        if not waiting and (line in ("", "/") or line.startswith("--")):
            if line:
                yield line
            continue
        waiting.append(line)
        if _ends(line):
            yield "\n".join(waiting)
            waiting = []
    if waiting and any(waiting):
        yield "\n".join(waiting)


def _ends(line: str) -> bool:
    """Whether a statement ends with a line; a comment may follow it there."""
    if line.endswith(_TERMINATOR) or "--" not in line:
        return line.endswith(_TERMINATOR)
    tokens, _ = tokens_of(line)
    return bool(tokens) and tokens[-1].text == _TERMINATOR


def _upper(token: Lexeme) -> Lexeme:
    """Hexadecimal digits as capital letters, which MIXED DATA asks for
    (https://www.ibm.com/support/knowledgecenter/SSEPEK_10.0.0/sqlref/src/tpc/
    db2z_charstringconstants.html)."""
    if token.kind == "literal" and token.text[:3].upper().startswith(("X'", "BX'", "GX'", "UX'")):
        return Lexeme(token.kind, token.text.upper(), token.apart)
    return token
