"""Certificates that are checked again, and what a comparison follows beside plain rows: selections,
emptied tables, tables without a key, states that do not fit the log."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

import replay
from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Tab, generation, lrsn

ITEM = Tab(
    "ITEM",
    (
        Col("ID", "INT", 4, key=1),
        Col("A", "INT", 4),
        Col("B", "VCHR", 8, nulls="Y", subtype="S"),
    ),
    obid=5,
)
LOOSE = Tab("LOOSE", (Col("T", "VCHR", 8, subtype="S"), Col("N", "INT", 4)), obid=6)


@pytest.fixture
def shop(tmp_path: Path) -> tuple[str, list[str], Path]:
    """A database in the state before a log, the options that name the log, and the state."""
    log = LogBuilder((ITEM, LOOSE))
    unit = log.unit(AUTHID="ANN")
    unit.update(ITEM, (1, 10, "one"), (1, 11, "one"))
    unit.insert(LOOSE, ("x", 1))
    unit = log.unit(AUTHID="BOB")
    unit.update(ITEM, (1, 11, "one"), (1, 11, "eins"))
    unit.delete(LOOSE, ("x", 1))
    unit.insert(ITEM, (3, 30, None))
    unit = log.unit(AUTHID="ANN")
    unit.update(ITEM, (1, 11, "eins"), (1, 12, "eins"))
    unit.insert(LOOSE, ("x", 2))
    control, (data,) = log.write(tmp_path)
    state = tmp_path / "state"
    state.mkdir()
    (state / "item.csv").write_text("id,a,b\n1,10,one\n2,20,\n")
    (state / "loose.csv").write_text("t,n\nx,1\nx,1\n")
    path = tmp_path / "testown.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE item (id integer PRIMARY KEY, a integer, b text);"
            "CREATE TABLE loose (t text, n integer); CREATE TABLE other (x integer);"
            "INSERT INTO item VALUES (1, 10, 'one'), (2, 20, NULL);"
            "INSERT INTO loose VALUES ('x', 1), ('x', 1);"
        )
    arguments = ["--control", str(control), "--data", str(data), "--engine", "local"]
    return f"sqlite:///{path}", arguments, state


def execute(url: str, statement: str) -> None:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.execute(statement)
        connection.commit()


def test_what_is_not_compared_is_said(
    shop: tuple[str, list[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    url, log, state = shop
    assert main(["replay", *log, "--to", url, "--apply"]) == 0
    (state / "loose.csv").unlink()
    (state / "item.csv").write_text("id,b\n1,one\n2,\n")
    capsys.readouterr()
    assert main(["verify", *log, "--to", url, "--expected", str(state)]) == 0
    said = capsys.readouterr().out
    assert "not compared: column item.a: item.csv lacks it" in said
    assert f"not compared: table loose: {state} has no file of it (the log has changes" in said
    assert f"not compared: table other: {state} has no file of it (the log does not)" in said
    assert "not compared: how SQLite stores values: 1, 1.0 and '1' count as the same" in said


def test_a_state_alone_finds_its_schema_and_one_after_the_log_is_told(
    shop: tuple[str, list[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    url, log, state = shop
    alone = ["verify", "--to", url, "--expected", str(state)]
    assert main(alone) == 0
    assert "SAME" in capsys.readouterr().out
    given = ["verify", *log, "--to", url, "--expected", str(state)]
    assert main(given) == 8
    assert "the target has the rows of --expected as they are" in capsys.readouterr().err
    execute(url, "UPDATE item SET a = 7")
    assert main(given) == 8
    assert "as they are" not in capsys.readouterr().err
    (state / "item.csv").rename(state / "none.csv")
    (state / "loose.csv").unlink()
    assert main(alone) == 12
    assert "found no schemas to compare; expected one" in capsys.readouterr().err


def test_a_part_of_the_changes_is_followed_by_column(
    shop: tuple[str, list[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Bob changed another column between Ann's changes, and is left out: the rows before and after
    Ann's changes are none that the target ever had."""
    url, log, state = shop
    mine = [*log, "--authid", "ANN", "--to", url]
    assert main(["replay", *mine, "--apply"]) == 0
    verify = ["verify", *mine, "--expected", str(state)]
    assert main(verify) == 0, capsys.readouterr().out
    execute(url, "UPDATE item SET b = 'eins' WHERE id = 1")
    execute(url, "DELETE FROM loose WHERE n = 2")
    assert main(verify) == 8
    said = capsys.readouterr().out
    assert "id = 1: b: expected 'one', found 'eins'" in said
    assert "t = x, n = 2: row missing" in said


def test_nothing_compared_is_not_the_same(
    shop: tuple[str, list[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, log, state = shop
    for file in state.iterdir():
        file.unlink()
    (state / "stray.csv").write_text("a\n1\n")
    place = tmp_path / "certificate.json"
    words = ["--to", url, "--expected", str(state), "--certificate", str(place)]
    assert main(["verify", *log, *words]) == 8
    said = capsys.readouterr().out
    assert "not compared: table stray" in said
    assert said.endswith("\nNOTHING COMPARED\n")
    held = json.loads(place.read_text())
    assert (held["holds"], held["same"], held["tables"]) == (False, False, [])
    assert main(["verify", "--certificate", str(place)]) == 8


def test_a_state_that_does_not_fit_the_log(
    shop: tuple[str, list[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    url, log, state = shop
    assert main(["replay", *log, "--to", url, "--apply"]) == 0
    (state / "item.csv").write_text("id,a,b\n2,20,\n")
    assert main(["verify", *log, "--to", url, "--expected", str(state)]) == 8
    said = capsys.readouterr().out
    assert "id = 1: the log changes a row that the state does not have: id: '1', a: '10'" in said


def test_a_target_beyond_the_log_is_told(
    shop: tuple[str, list[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, log, state = shop
    assert main(["replay", *log, "--to", url, "--apply"]) == 0
    execute(url, "UPDATE logreplay_position SET commit_lrsn = 'FF000000000000000000'")
    assert main(["verify", *log, "--to", url, "--expected", str(state)]) == 0
    assert "note: the target stands after the last unit of this log" in capsys.readouterr().err


def test_a_table_that_was_emptied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was there before does not count, nor what the log did to it."""
    log = LogBuilder((ITEM,))
    unit = log.unit()
    unit.insert(ITEM, (5, 5, "five"))
    unit = log.unit()
    unit.insert(ITEM, (6, 6, "six"))
    unit.event(ITEM, "DT")
    unit.insert(ITEM, (7, 7, "seven"))
    options = written(log, tmp_path, item="id,a,b\n1,10,one\n")
    url = sqlite(
        tmp_path,
        "CREATE TABLE item (id integer PRIMARY KEY, a integer, b text)",
        "INSERT INTO item VALUES (7, 7, 'seven')",
    )
    verify = ["verify", *options, "--to", url]
    assert main(verify) == 0, capsys.readouterr().out
    execute(url, "INSERT INTO item VALUES (1, 10, 'one')")
    assert main(verify) == 8
    assert "id = 1: row not expected" in capsys.readouterr().out


def sqlite(folder: Path, *statements: str) -> str:
    """The URL of a database of these statements."""
    path = folder / "testown.db"
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return f"sqlite:///{path}"


def written(log: LogBuilder, folder: Path, **state: str) -> list[str]:
    """The options of a comparison with this log after this state."""
    control, (data,) = log.write(folder)
    (folder / "state").mkdir()
    for table, text in state.items():
        (folder / "state" / f"{table}.csv").write_text(text)
    arguments = ["--control", str(control), "--data", str(data), "--engine", "local"]
    return [*arguments, "--expected", str(folder / "state")]


def test_columns_that_the_log_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Large objects, columns that the target computes, and those that the user left out."""
    note = Tab(
        "NOTE",
        (
            Col("ID", "INT", 4, key=1),
            Col("TEXT", "CLOB", 4, nulls="L"),
            Col("SIZE", "INT", 4),
            Col("TWICE", "INT", 4),
            Col("MEMO", "INT", 4),
        ),
    )
    log = LogBuilder((note,))
    log.unit().update(note, (1, None, 1, 2, 3), (1, None, 2, 4, 4))
    options = written(log, tmp_path, note="id,text,size,twice,memo\n1,long,1,2,3\n")
    url = sqlite(
        tmp_path,
        "CREATE TABLE note (id integer PRIMARY KEY, text text, size integer, twice integer"
        " GENERATED ALWAYS AS (size * 2), memo integer)",
        "INSERT INTO note (id, text, size, memo) VALUES (1, 'long', 2, 3)",
    )
    assert main(["verify", *options, "--to", url, "--exclude-columns", "MEMO"]) == 0
    said = capsys.readouterr().out
    assert "not compared: column note.text: its values are not in the log" in said
    assert "not compared: column note.twice: the target computes it" in said
    assert "not compared: column note.memo: it is left out" in said
    assert main(["verify", *options, "--to", url]) == 8
    assert "id = 1: memo: expected '4', found '3'" in capsys.readouterr().out


def test_tables_that_change_their_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What all forms of a table have is compared."""
    old = generation(ITEM, 1, columns=ITEM.columns[:2], dropped=bytes(10))
    log = LogBuilder((old,))
    log.unit().insert(old, (1, 10))
    middle = log.tick()
    old = generation(old, 1, dropped=lrsn(middle))
    new = generation(ITEM, 2, created=lrsn(middle))
    log.tables = (old, new)
    log.unit().update(new, (1, 10, None), (1, 11, "eleven"))
    options = written(log, tmp_path, item="id,a,b\n2,20,two\n")
    url = sqlite(
        tmp_path,
        "CREATE TABLE item (id integer PRIMARY KEY, a integer, b text)",
        "INSERT INTO item VALUES (1, 11, 'eleven'), (2, 20, 'two')",
    )
    assert main(["verify", *options, "--to", url]) == 0
    said = capsys.readouterr().out
    assert "not compared: column item.b: not every form of the table in the log has it" in said
    sqlite(tmp_path, "UPDATE item SET a = 12 WHERE id = 1")
    assert main(["verify", *options, "--to", url]) == 8
    assert "id = 1: a: expected '11', found '12'" in capsys.readouterr().out


def test_what_the_user_chose_is_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = Tab("TIMES", (Col("ID", "INT", 4, key=1), Col("TS", "DTTM", 32)))
    log = LogBuilder((times,))
    log.unit().insert(times, (1, "2024-03-15 10:20:30.123456789012"))
    options = written(log, tmp_path, times="id,ts\n2,2024-03-15 10:20:30.1234567\n")
    path = tmp_path / "shop.duckdb"
    with closing(duckdb.connect(path)) as connection:
        connection.execute(
            "CREATE SCHEMA testown; CREATE TABLE testown.times (id integer PRIMARY KEY, ts"
            " timestamp); INSERT INTO testown.times VALUES (1, '2024-03-15 10:20:30.123457'), (2,"
            " '2024-03-15 10:20:30.123457')"
        )
    verify = ["verify", *options, "--to", f"duckdb:///{path}"]
    assert main([*verify, "--timestamps", "round"]) == 0, capsys.readouterr()
    assert main([*verify, "--timestamps", "truncate"]) == 8
    said = capsys.readouterr().out
    for at in (1, 2):
        difference = "expected '2024-03-15 10:20:30.123456', found '2024-03-15 10:20:30.123457'"
        assert f"id = {at}: ts: {difference}" in said


# -- seals
# -------------------------------------------------------------------------------------------------


@pytest.fixture
def certificate(shop: tuple[str, list[str], Path], tmp_path: Path) -> Path:
    url, log, state = shop
    assert main(["replay", *log, "--to", url, "--apply"]) == 0
    path = tmp_path / "certificate.json"
    written = ["--certificate", str(path), "--sign-key", str(keys(tmp_path)[0])]
    assert main(["verify", *log, "--to", url, "--expected", str(state), *written]) == 0
    return path


def keys(folder: Path, name: str = "key") -> tuple[Path, Path]:
    """A private and a public key."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    paths = folder / f"{name}.pem", folder / f"{name}.pub"
    if not paths[0].exists():
        key = Ed25519PrivateKey.generate()
        paths[0].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        paths[1].write_bytes(
            key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )
    return paths


def test_a_certificate_is_checked_again(
    shop: tuple[str, list[str], Path],
    certificate: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url, log, _ = shop
    public = keys(tmp_path)[1]
    check = ["verify", "--certificate", str(certificate)]
    capsys.readouterr()
    assert main(check) == 0
    assert "--public-key FILE checks whose that is" in capsys.readouterr().out
    assert main([*check, *log, "--to", url, "--public-key", str(public)]) == 0
    assert f"signed with the key of {public}\nVALID\n" in capsys.readouterr().out
    assert main([*check, "--public-key", str(keys(tmp_path, "other")[1])]) == 8
    assert "it was signed with another key" in capsys.readouterr().out
    assert replay.check_certificate(certificate, public_key=public, url=url)
    assert main([*check, *log]) == 0
    assert main([*check, *log, "--authid", "ANN"]) == 8
    assert "WRONG: it was made with other options" in capsys.readouterr().out
    other = LogBuilder((ITEM, LOOSE))
    other.unit().insert(ITEM, (9, 9, "nine"))
    (tmp_path / "other").mkdir()
    control, (data,) = other.write(tmp_path / "other")
    given = ["--control", str(control), "--data", str(data)]
    assert main([*check, *given]) == 8
    said = capsys.readouterr().out
    assert "it is of other files than t0.dat" in said
    assert "it is also of t0.dat, which was not given" in said


def test_a_certificate_that_was_changed(
    certificate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = ["verify", "--certificate", str(certificate)]
    written = json.loads(certificate.read_text())
    capsys.readouterr()
    certificate.write_text(json.dumps({**written, "position": "elsewhere"}))
    assert main(check) == 8
    said = capsys.readouterr().out
    assert "WRONG: it was changed" in said
    assert "WRONG: its signature is not one of what it says" in said
    from replay.live.certificate import sealed

    forged = {**sealed({**written, "position": "elsewhere"}), "signature": written["signature"]}
    certificate.write_text(json.dumps(forged))
    assert main(check) == 8
    said = capsys.readouterr().out
    assert "it was changed" not in said
    assert "WRONG: its signature is not one of what it says" in said
    certificate.write_text(json.dumps({k: v for k, v in written.items() if k != "signature"}))
    assert main(check) == 0
    assert "unsigned" in capsys.readouterr().out
    assert main([*check, "--public-key", str(keys(tmp_path)[1])]) == 8
    assert "WRONG: it is not signed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "value"),
    [("algorithm", "RSA"), ("more", 1), ("value", "{value}!"), ("value", "{value}AAAA")],
)
def test_a_signature_has_one_spelling(
    certificate: Path, name: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    written = json.loads(certificate.read_text())
    signature = written["signature"]
    signature[name] = value if isinstance(value, int) else value.format(**signature)
    certificate.write_text(json.dumps(written))
    assert main(["verify", "--certificate", str(certificate)]) == 8
    assert "WRONG: its signature is not one of what it says" in capsys.readouterr().out


@pytest.mark.parametrize(
    "more",
    ['"sha256": "", ', '"more": NaN, ', '"more": "\\ud800", ', f'"m": {"[" * 9999}{"]" * 9999}, '],
    ids=["twice", "nan", "half", "deep"],
)
def test_json_that_readers_take_in_different_ways_is_no_certificate(
    certificate: Path, more: str, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate.write_text("{" + more + certificate.read_text().lstrip()[1:])
    assert main(["verify", "--certificate", str(certificate)]) == 12
    assert "LR2001" in capsys.readouterr().err


def test_what_is_no_certificate_or_no_key(
    shop: tuple[str, list[str], Path],
    certificate: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    url, log, state = shop
    wrong = tmp_path / "wrong.pem"
    wrong.write_bytes(
        ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    out = tmp_path / "new.json"
    sign = ["verify", *log, "--to", url, "--expected", str(state), "--certificate", str(out)]
    for key in (wrong, state / "item.csv"):
        assert main([*sign, "--sign-key", str(key)]) == 12
        assert "LR1001 cannot use the key" in capsys.readouterr().err
        assert not out.exists()
    check = ["verify", "--certificate"]
    assert main([*check, str(certificate), "--public-key", str(wrong)]) == 12
    assert "LR1001 cannot use the key" in capsys.readouterr().err
    for none in (state / "item.csv", tmp_path / "absent"):
        assert main([*check, str(none)]) == 12
        assert "LR2001" in capsys.readouterr().err
    assert main([*check, str(certificate), "--sign-key", str(wrong)]) == 12
    assert main([*sign, "--public-key", str(keys(tmp_path)[1])]) == 12
    assert main(["verify"]) == 12
    assert main(["verify", *log, "--roundtrip", "--to", url]) == 12
    assert capsys.readouterr().err.count("LR1001") == 4


def test_the_form_of_a_states_files_is_named(
    shop: tuple[str, list[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``\\N`` without quotes, in files without names: refused by each command that reads such files
    unless their form is named."""
    url, log, state = shop
    (state / "item.csv").write_text('1,+10,"one"\n2,+20,\\N\n')
    (state / "loose.csv").write_text('"x",1\n"x",1\n')
    out = ["--out", str(tmp_path / "out"), "--overwrite"]
    before = ["state", *log, "--at", "start", "--format", "csv", *out, "--initial", str(state)]
    for words, code in (
        (["redo", *log, "--schema", "none", *out, "--baseline", str(state)], 0),
        (["migrate", *log, "--schema", "none", *out, "--initial", str(state)], 0),
        (["verify", *log, "--to", url, "--expected", str(state)], 8),
        (before, 0),
    ):
        assert main(words) == 12
        assert "item.csv, line 2, column" in (said := capsys.readouterr().err)
        assert "found \\N without quotes, which is NULL to some" in said
        assert main([*words, "--csv", "postgres"]) == code, capsys.readouterr()
    assert (tmp_path / "out" / "item.csv").read_text() == 'id,a,b\n1,10,one\n2,20,"\\N"\n'
