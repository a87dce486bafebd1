"""Statements in the form of a client: readers of the manuals say what they read, and it is what was
meant."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.decoding.encoding import encoding_named
from replay.errors import UsageError
from sqlgen.clients import CLIENTS, client_named
from sqlgen.clients.breaking import Lines, broken_comment, broken_statement, tokens_of
from sqlgen.clients.form import ScriptForm, utf8
from sqlgen.errors import SqlgenError
from tests.support.client_readers import (
    INVARIANT,
    lines_of_sqlplus,
    outside_literals,
    records_of,
    statements_of,
    statements_of_solsql,
    words_of,
    words_of_soliddb,
)

ROOT = Path(__file__).parents[2]
#: What programs that read scripts take for something else than text.
HOSTILE = [
    "'", "''", '"', ";", ";;", "%", "?", "--", "/*", "*/", "&", ":x", "$", "\\", "@", "#", "!", "|",
    "||", "CONCAT", "(", ")", ",", " ", "  ", "--#SET TERMINATOR #", "/", "-", "a", "Zebra", "0",
    "COMMIT;", "\x85", "é", "ß", "¬", "^", "[", "]",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(HOSTILE), max_size=60).map("".join)
WIDE = st.lists(st.sampled_from([*HOSTILE, "€", "ש", "漢", "字", "\U0001f600"]), max_size=40).map(
    "".join
)
JAPANESE = st.lists(
    st.sampled_from([*HOSTILE, *"漢字かなカナｶﾅ、。ー　〜−—‖¦", "\U0001f600"]), max_size=40
).map("".join)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def update(text: str, data: bytes, number: int) -> str:
    return (
        f"UPDATE SHOP.ITEM SET NAME = {quoted(text)}, \"a;b\" = -{number}, DATA = BX'{data.hex()}',"
        f" BITS = X'{data.hex()}' WHERE (ID = {number} OR ID IN (1,2,3)) AND RATE <> 1.5E-3;"
    )


def form(client: str, encoding: str = "ibm037", terminator: str = "") -> ScriptForm:
    chosen = client_named(client)
    return ScriptForm(chosen, terminator or chosen.terminator, encoding_named(encoding))


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.binary(max_size=60), st.integers(0, 9999))
@pytest.mark.parametrize("client", ["dsntep2", "spufi"])
def test_records_say_what_the_statement_says(
    client: str, text: str, data: bytes, number: int
) -> None:
    statement = update(text, data, number)
    script = f"-- unit URID=1 of 'nobody'\n{statement}\nCOMMIT;\n".encode()
    records = records_of(form(client)(script), "cp037")
    assert all(record[71] == " " for record in records)
    for between in ("", " "):
        found, commit = statements_of(records, between)
        assert words_of(found) == words_of(statement[:-1])
        assert not set(outside_literals(found)) - INVARIANT
        assert commit == "COMMIT"


@settings(max_examples=150, deadline=None)
@given(WIDE, st.integers(0, 9999))
def test_characters_that_the_code_page_lacks_are_utf_16(text: str, number: int) -> None:
    statement = update(text, b"\x01", number)
    records = records_of(form("dsntep4")(f"{statement}\n".encode()), "cp037")
    for between in ("", " "):
        (found,) = statements_of(records, between)
        assert words_of(found) == words_of(statement[:-1])


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.binary(max_size=40), st.integers(0, 99), st.integers(20, 80))
def test_any_width_is_kept(text: str, data: bytes, number: int, width: int) -> None:
    statement = update(text, data, number)
    tokens, comment = tokens_of(statement[:-1])
    assert not comment
    lines = list(broken_statement(tokens, Lines(width, len, "CONCAT"), ";"))
    assert max(map(len, lines)) <= width
    assert all(line.startswith(" ") for line in lines[1:])
    for between in ("", " "):
        joined = between.join(line.ljust(width + 1) for line in lines).rstrip()
        assert words_of(joined[:-1]) == words_of(statement[:-1])


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(20, 80))
def test_comments_stay_comments(text: str, width: int) -> None:
    lines = list(broken_comment(f"-- {text}".rstrip(), Lines(width, len)))
    assert all(line.startswith("--") and not line.startswith("--#") for line in lines)
    assert max(map(len, lines)) <= width
    said = "".join(line.removeprefix("-- ") for line in lines)
    assert "".join(said.split()).strip("-") == "".join(text.split()).strip("-")


@settings(max_examples=100, deadline=None)
@given(TEXTS.map(lambda text: text * 60))
def test_lines_of_sqlplus(text: str) -> None:
    statement = f"INSERT INTO T (A, B) VALUES ({quoted(text)}, 1)"
    data = form("sqlplus", "utf-8")(f"{statement}; -- from here -\n".encode())
    (found,) = lines_of_sqlplus(data.decode())
    assert words_of(found) == words_of(statement)


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.binary(max_size=40), st.integers(0, 9999))
def test_statements_of_solsql(text: str, data: bytes, number: int) -> None:
    statement = (
        f"UPDATE SHOP.ITEM SET NAME = {quoted(text)}, DATA = CAST('{data.hex()}' AS VARBINARY)"
        f" WHERE ID = {number} AND RATE <> 1.5E-3"
    )
    script = f"-- unit URID=1 of 'no;body'\n{statement}; -- behind; it\nCOMMIT WORK;\n".encode()
    if ";" in text:
        with pytest.raises(SqlgenError, match="each character that can end it"):
            form("solsql", "utf-8")(script)
        return
    found, commit = statements_of_solsql(form("solsql", "utf-8")(script).decode())
    assert words_of_soliddb(found) == words_of_soliddb(statement)
    assert commit == "COMMIT WORK"


@pytest.mark.programs
@settings(max_examples=60, deadline=None)
@given(JAPANESE, st.binary(max_size=40), st.integers(0, 9999))
def test_the_c_library_reads_the_statements_of_japanese_records(
    text: str, data: bytes, number: int
) -> None:
    """Another table of CCSID 939 than the one that writes."""
    statement = update(text, data, number)
    script = form("dsntep2", "ibm939")(f"{statement}\nCOMMIT;\n".encode())
    assert len(script) % 80 == 0
    lines = b"\x1c".join(script[place : place + 72] for place in range(0, len(script), 80))
    read = subprocess.run(
        ["iconv", "-f", "IBM939", "-t", "UTF-8"], input=lines, stdout=subprocess.PIPE, check=True
    )
    for between in ("", " "):
        found, commit = statements_of(read.stdout.decode().split("\x1c"), between)
        assert words_of(found) == words_of(statement[:-1])
        assert commit == "COMMIT"


def test_double_bytes_are_shifted_on_each_line() -> None:
    encoding = encoding_named("ibm939")
    data = ScriptForm(client_named("spufi"), ";", encoding)(
        f"UPDATE T SET A = '{'漢字a' * 40}';\n".encode()
    )
    records = [data[start : start + 80] for start in range(0, len(data), 80)]
    assert all(record.count(0x0E) == record.count(0x0F) for record in records)
    assert all(record[71:] == b"\x40" * 9 for record in records)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("UPDATE T SET A = (('漢' CONCAT CHR(9)) CONCAT ('b')) WHERE B = 'x'",
         "UPDATE T SET A = (UX'6F2200090062') WHERE B = 'x'"),
        ("INSERT INTO T (A) VALUES (('a' CONCAT CHR(9)) CONCAT '漢')",
         "INSERT INTO T (A) VALUES (UX'006100096F22')"),
        ("INSERT INTO T (A, B) VALUES ('a', ('b' CONCAT '漢'))",
         "INSERT INTO T (A, B) VALUES ('a', (UX'00626F22'))"),
    ],
)  # fmt: skip
def test_a_text_of_groups_of_pieces_is_of_one_kind(text: str, wanted: str) -> None:
    (found,) = statements_of(records_of(form("dsntep2")(f"{text};\n".encode()), "cp037"), " ")
    assert " ".join(found.split()) == wanted


def test_a_comment_behind_a_statement_stands_before_it() -> None:
    data = form("dsntep2", "utf-8")(b"DELETE FROM T WHERE A = 1; -- lrsn=00; rba='1\n")
    assert data == b"-- lrsn=00  rba='1\nDELETE FROM T WHERE A = 1;\n"


@pytest.mark.parametrize(
    ("client", "statement", "code", "words"),
    [
        ("dsntiad", "UPDATE T SET A = 'x;y';", "LR3003", "each character that can end it"),
        ("solsql", "UPDATE T SET A = 'x;y';", "LR3003", "each character that can end it"),
        ("spufi", "UPDATE T SET A = ';%?&:+/*';", "LR3003", "statement without ; or % or"),
        ("spufi", f'UPDATE T SET "{"a" * 80}" = 1;', "LR3003", "cannot be broken"),
        ("spufi", f"CREATE TABLE T (A CHAR(99) DEFAULT '{'a' * 80}');", "LR3003", "cannot be"),
        ("spufi", f"UPDATE T SET A = DATE '{'1' * 80}';", "LR3003", "cannot be broken"),
        ("spufi", 'UPDATE T SET "é漢" = 1;', "LR3001", "characters of ibm037"),
        ("spufi", f"UPDATE T SET A = '{'漢' * 9000}';", "LR3001", "at most 32,704"),
    ],
)
def test_what_cannot_be_read_is_refused(client: str, statement: str, code: str, words: str) -> None:
    with pytest.raises(SqlgenError, match=words) as caught:
        form(client)(f"-- unit URID=00A1 member=1\n{statement}\n".encode())
    assert caught.value.code == code
    assert "in unit URID=00A1" in caught.value.message


def test_another_terminator_is_set_at_the_head() -> None:
    chosen = form("dsntep2", "utf-8", "%")
    assert chosen.head("-- a script\n") == b"-- a script\n--#SET TERMINATOR %\n"
    assert chosen(b"COMMIT;\n") == b"COMMIT%\n"
    assert form("dsntiad", "utf-8", "%")(b"UPDATE T SET A = 'x;y';\n") == (
        b"UPDATE T SET A = 'x;y'%\n"
    )


@pytest.mark.parametrize("name", sorted(CLIENTS))
def test_each_fact_has_its_page(name: str) -> None:
    client = client_named(name)
    missing = client.facts().keys() - client.pages.keys() - {"terminators"}
    assert not missing
    assert all(page.startswith("https://") for page in client.pages.values())


@pytest.mark.parametrize("name", ["ibm9999", "latin", "ibm850", "300"])
def test_an_encoding_that_is_none(name: str) -> None:
    with pytest.raises(UsageError, match="found --encoding"):
        encoding_named(name)


def test_utf_8_leaves_room_for_any_code_page() -> None:
    assert utf8().measure("aé漢") == 9


def test_the_page_of_clients_names_each() -> None:
    page = (ROOT / "replay" / "docs" / "reference" / "clients.md").read_text(encoding="utf-8")
    for name in CLIENTS:
        client = client_named(name)
        rows = [line for line in page.splitlines() if line.startswith("|") and f"`{name}`" in line]
        assert len(rows) == 1, name
        assert all(f"`{dialect}`" in rows[0] for dialect in client.dialects)
