"""Readers of scripts, written from the manuals of the programs that run them. They know nothing of
what writes scripts; each takes a script apart into statements, and a statement into what it says.

SPUFI and the sample programs (message DSNE601I: columns 1 to 72 of records of 80 bytes are
scanned; "Setting the SQL terminator character in a SPUFI input data set": ``--#SET TERMINATOR``
counts for what follows, and the character is one that is not used within the statement). So a
terminator ends a statement wherever it stands, also within a literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Characters of the syntactic character set, which all EBCDIC code pages have at one place (CCSID
#: 640): what may stand outside literals and delimited names.
INVARIANT = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 +<=>%&'()*,-./:;?_\""
)
_FORBIDDEN = " ,\"()'_"


def records_of(data: bytes, codec: str, length: int = 80) -> list[str]:
    """The scanned columns of records of a data set."""
    assert len(data) % length == 0
    records = [data[start : start + length] for start in range(0, len(data), length)]
    return [record.decode(codec)[:72].ljust(72) for record in records]


def statements_of(records: list[str], between: str) -> Iterator[str]:
    """The statements of an input data set. ``between``: what stands between two records; no page
    says, so a script has to mean the same with a blank and with nothing."""
    terminator, waiting = ";", ""
    for record in records:
        if record.startswith("--#SET TERMINATOR "):
            assert not waiting.strip(), "a terminator is set within a statement"
            terminator = record[len("--#SET TERMINATOR ")]
            assert terminator not in _FORBIDDEN
            continue
        if record.lstrip().startswith("--"):
            assert not waiting.strip(), "a comment stands within a statement"
            continue
        assert not record.startswith(("*", "/", "!")), record
        rest = waiting + record
        while terminator in rest:
            statement, rest = rest.split(terminator, 1)
            assert statement.strip(), "DSNE606E: a terminator ends nothing"
            yield statement.strip()
            assert not rest.strip(), "something follows a terminator"
        waiting = rest + between if rest.strip() else ""
    assert not waiting.strip(), f"a statement does not end: {waiting!r}"


def words_of(statement: str) -> list[object]:
    """What a statement says: its words and signs as text, and values that it spells (a literal, or
    several that are joined) as ``("text", …)`` and ``("bytes", …)``. Values in parentheses are the
    values alone."""
    words: list[object] = list(_words(statement))
    while True:
        joined = _joined(words)
        if joined == words:
            return words
        words = joined


def _joined(words: list[object]) -> list[object]:
    made: list[object] = []
    place = 0
    while place < len(words):
        some = words[place : place + 4]
        if some[:2] == ["CHR", "("] and len(some) == 4 and some[3] == ")":
            made.append(("text", chr(int(str(some[2])))))
            place += 4
        elif some[:1] == ["("] and len(some) > 2 and isinstance(some[1], tuple) and some[2] == ")":
            if made and isinstance(made[-1], str) and made[-1] in ("VALUES", "CHR"):
                made.append("(")
                place += 1
                continue
            made.append(some[1])
            place += 3
        elif (
            len(some) > 2
            and isinstance(some[0], tuple)
            and some[1] == "CONCAT"
            and isinstance(some[2], tuple)
        ):
            assert some[0][0] == some[2][0], "a text is joined to bytes"
            made.append((some[0][0], some[0][1] + some[2][1]))
            place += 3
        else:
            made.append(words[place])
            place += 1
    return made


def _words(statement: str) -> Iterator[object]:
    place = 0
    while place < len(statement):
        character = statement[place]
        if character == " " or character == "\n":
            place += 1
            continue
        if character == '"':
            end = _closing(statement, place)
            yield statement[place:end]
            place = end
            continue
        word = ""
        while place < len(statement) and (
            statement[place].isalnum() or statement[place] in "_.#@$"
        ):
            word += statement[place]
            place += 1
        if place < len(statement) and statement[place] == "'":
            end = _closing(statement, place)
            yield _value(word.upper(), statement[place + 1 : end - 1])
            place = end
        elif word:
            yield word
        elif statement[place : place + 2] in ("<>", "<=", ">=", "||"):
            sign = statement[place : place + 2]
            yield "CONCAT" if sign == "||" else sign
            place += 2
        else:
            yield character
            place += 1


def _closing(statement: str, place: int) -> int:
    """Where what begins with a quote ends; two quotes are one in it."""
    quote = statement[place]
    place += 1
    while True:
        place = statement.index(quote, place) + 1
        if statement[place : place + 1] != quote:
            return place
        place += 1


def _value(prefix: str, body: str) -> tuple[str, object]:
    if prefix in ("X", "BX"):
        assert len(body) % 2 == 0
        assert len(body) <= 32704
        return "bytes", bytes.fromhex(body)
    if prefix == "UX":
        assert len(body) % 4 == 0
        assert len(body) <= 32704
        assert body == body.upper()
        return "text", bytes.fromhex(body).decode("utf-16-be")
    assert prefix == "", prefix
    return "text", body.replace("''", "'")


def outside_literals(statement: str) -> str:
    """A statement without its literals and delimited names."""
    return re.sub(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", "", statement)


def lines_of_sqlplus(script: str) -> Iterator[str]:
    """The statements of a script of SQL*Plus: a line of 2,500 characters is passed over, a hyphen
    at the end of a line continues it, a semicolon at the end of a line ends a statement, a slash
    alone runs what came before."""
    waiting: list[str] = []
    commands = ("WHENEVER", "SET DEFINE")
    for line in script.split("\n"):
        assert len(line) < 2500
        assert not line.endswith("-")
        if not waiting and (not line or line.startswith(("--", *commands))):
            continue
        assert line.strip(), "a blank line ends a statement"
        assert line.strip() not in (".", "/") or not waiting
        waiting.append(line)
        if line.endswith(";"):
            yield "\n".join(waiting)[:-1]
            waiting = []
    assert not waiting


def statements_of_clp(script: str, terminator: str) -> Iterator[str]:
    """The statements of ``db2 -t``: one ends where a line ends with the terminator ("Command line
    processor options": -t, -tdx); a line that begins with two hyphens is a comment. What is longer
    than 2 MB is none ("SQL and XML limits")."""
    waiting: list[str] = []
    for line in script.split("\n"):
        if not waiting and (not line.strip() or line.lstrip().startswith("--")):
            continue
        waiting.append(line)
        if line.rstrip().endswith(terminator):
            statement = "\n".join(waiting).rstrip()[: -len(terminator)]
            assert len(statement.encode()) <= 2_097_152
            yield statement
            waiting = []
    assert not waiting, f"a statement does not end: {waiting!r}"


def inlined_compound(statement: str) -> tuple[str, str, str] | None:
    """What an inlined compound statement of Db2 for LUW runs, and the SQLSTATE and message that it
    signals where that touches another number of rows than one; None for another statement.

    Its parts are those of the syntax diagrams: "Compound SQL (inlined)" (BEGIN ATOMIC, declarations
    of variables, statements, each with a semicolon, END), "GET DIAGNOSTICS", "IF", "SIGNAL".
    """
    if not statement.startswith("BEGIN"):
        return None
    parts = list(_parts(statement.removeprefix("BEGIN ATOMIC ")))
    assert len(parts) == 6
    declared, run, counted, signalled, end_if, end = parts
    variable = re.fullmatch(r"DECLARE (\w+) INTEGER", declared)
    assert variable is not None
    assert re.match(r"(UPDATE|DELETE|INSERT|MERGE) ", run)
    assert counted == f"GET DIAGNOSTICS {variable[1]} = ROW_COUNT"
    signal = re.fullmatch(
        r"IF (\w+) <> 1 THEN SIGNAL SQLSTATE '(\w{5})' SET MESSAGE_TEXT = '((?:[^']|'')*)'",
        signalled,
    )
    assert signal is not None
    assert signal[1] == variable[1]
    # neither a completion nor a warning; what stands before 7 and I is Db2's own
    assert signal[2][0] in "789IJKLMNOPQRSTUVWXYZ"
    assert (end_if, end) == ("END IF", "END")
    return run, signal[2], signal[3].replace("''", "'")[:70]


def _parts(text: str) -> Iterator[str]:
    """What stands between semicolons that are in no literal and no delimited name."""
    start = place = 0
    while place < len(text):
        if text[place] in "'\"":
            place = _closing(text, place)
            continue
        if text[place] == ";":
            yield text[start:place].strip()
            start = place + 1
        place += 1
    if text[start:].strip():
        yield text[start:].strip()


def words_of_soliddb(statement: str) -> list[object]:
    """What a statement of solidDB says, as :func:`words_of` says it: bytes are a cast of
    hexadecimal digits to VARBINARY ("BLOBs (or binary data types)"), text stands in single
    quotation marks ("Data type formats")."""
    words = words_of(statement)
    made: list[object] = []
    place = 0
    while place < len(words):
        some = words[place : place + 6]
        if some[:2] == ["CAST", "("] and len(some) == 6 and some[3] == "AS" and some[5] == ")":
            kind, text = some[2] if isinstance(some[2], tuple) else ("", "")
            assert kind == "text"
            assert some[4] in ("VARBINARY", "DECIMAL")
            made.append(("bytes", bytes.fromhex(text)) if some[4] == "VARBINARY" else some[2])
            place += 6
        else:
            made.append(words[place])
            place += 1
    return made


def statements_of_solsql(script: str) -> Iterator[str]:
    """The statements of a script of solsql. That a semicolon ends one is on a page ("SQL
    statements"); what a semicolon in a literal or a comment does, how a statement goes on in the
    next line, and which lines are commands is on none. So each of them ends one, a statement has
    one line, and that begins with a word."""
    for line in script.split("\n"):
        if not line or line.startswith("--"):
            assert ";" not in line
            continue
        assert line.index(";") == len(line) - 1
        assert line[0].isalpha()
        yield line[:-1]


#: What a program takes for a command of its own where a line begins with it: sqlcmd ("sqlcmd
#: commands"), snowsql ("Using SnowSQL"), the clients of MariaDB and MySQL ("mysql commands"),
#: duckdb and sqlite3 ("Dot commands"), psql (a backslash anywhere outside quotes), trino.
COMMANDS: dict[str, tuple[str, ...]] = {
    "sqlcmd": (":", "!!", "go", "exit", "quit", "reset", "ed"),
    "snowsql": ("!",),
    "mariadb": ("delimiter", "\\", "source", "use"),
    "mysql": ("delimiter", "\\", "source", "use"),
    "duckdb": (".",),
    "sqlite3": (".",),
    "psql": ("\\",),
    "trino": ("quit", "exit", "clear", "help", "use"),
    "bq": (),
    "spark-sql": ("!", "source", "quit", "exit"),
}
#: Those whose databases take a backslash in a text for the begin of an escape.
BACKSLASH = frozenset({"mariadb", "mysql", "bq", "spark-sql", "snowsql"})


def statements_at_semicolons(script: str, client: str) -> Iterator[str]:
    """The statements of a script for a program that ends one at a semicolon outside quotes and
    comments, and takes some lines for commands of its own (a line of the head may be one)."""
    lines = script.split("\n")
    commands = COMMANDS[client]
    text = "\n".join(line for line in lines if not line.startswith(("--", ".bail", "\\set")))
    for line in text.split("\n"):
        assert not (commands and line.lower().startswith(commands)), line
        assert client != "sqlcmd" or not re.match(r"(?i)\s*go\s*(\d+\s*)?$", line)
    start = place = 0
    while place < len(text):
        character = text[place]
        if character in "'\"`":
            place = _quoted(text, place, client in BACKSLASH)
        elif text.startswith("--", place):
            place = (text.find("\n", place) + 1) or len(text)
        elif character == ";":
            yield text[start:place].strip()
            start = place = place + 1
        else:
            place += 1
    assert not text[start:].strip()


def _quoted(text: str, place: int, backslash: bool) -> int:
    """Where what begins with a quote ends."""
    quote = text[place]
    escape = text[place - 1 : place] in ("E", "e")  # of PostgreSQL
    place += 1
    while text[place] != quote or text[place + 1 : place + 2] == quote:
        doubled = text[place] == quote or ((backslash or escape) and text[place] == "\\")
        place += 2 if doubled else 1
    return place + 1
