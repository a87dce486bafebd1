"""What pg_recvlogical recorded of a real PostgreSQL (scripts/record_events.py), by pgoutput's
protocol 1 and, each change at once, by its protocol 4: the same work as Debezium recorded, so the
same rows are the truth."""

from __future__ import annotations

import gzip
import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from replay.cli.main import main
from replay.logs.pgoutput.framing import Connection, Reader
from tests.logs.events.test_recorded import FOLDER, KEYS_ALONE, ROWS, SCHEMA, prepared, rows

LOG = str(FOLDER / "pgoutput.gz")
RAW = gzip.decompress((FOLDER / "pgoutput.gz").read_bytes())
PREPARED, STREAMED = (
    gzip.decompress((FOLDER / f"{name}.gz").read_bytes()) for name in ("prepared", "streamed")
)
#: Tables that some statement makes another one in a way that the log does not tell: structure.
APART = ("app.grown",)
#: Its text depends on the server's settings, so its values are not exact.
MONEY = ("--exclude-columns", "app.kinds.m")
LEAVE_OUT = [word for name in APART for word in ("--exclude-table", name)]


def script(folder: Path, mode: str, *words: str) -> tuple[int, bytes]:
    """(exit code, script) of a run over the recording."""
    out = folder / f"out-{mode}"
    code = main([mode, LOG, "--dialect", "postgres", "--out", str(out), *words])
    return code, b"\n".join(path.read_bytes() for path in sorted(out.glob("*.sql")))


@pytest.mark.live
def test_redo_makes_the_database_that_the_source_became(
    fresh_database: str, tmp_path: Path
) -> None:
    apart = (*APART, "app.odd")
    words = [*LEAVE_OUT, "--exclude-table", "app.odd", "--schema", SCHEMA, *MONEY]
    code, text = script(tmp_path, "redo", *words)
    assert code in (0, 4)
    with prepared(fresh_database) as connection:
        # PostgreSQL numbers such rows by itself, unless a statement says that it has the number
        connection.execute("ALTER TABLE app.kinds ALTER id ADD GENERATED ALWAYS AS IDENTITY")
        connection.execute(text)
        found = rows(connection)
    assert {name: found[name] for name in found if name not in apart} == {
        name: [row.replace('"$1,234.56"', "") for row in ROWS[name]]
        for name in ROWS
        if name not in apart
    }


@pytest.mark.live
def test_undo_makes_the_database_that_was_there_before(fresh_database: str, tmp_path: Path) -> None:
    left_out = (*KEYS_ALONE, "app.grown", "app.odd", "app.plain")
    apart = [word for name in left_out for word in ("--exclude-table", name)]
    words = [*apart, "--schema", SCHEMA, *MONEY]
    with prepared(fresh_database) as connection:
        connection.execute("ALTER TABLE app.emp DROP CONSTRAINT emp_dept_fkey")
        before = rows(connection)
        connection.execute(script(tmp_path, "redo", *words)[1])
        assert rows(connection) != before
        code, text = script(tmp_path, "undo", *words, "--exclude-columns", "app.kinds.j")
        assert code in (0, 4)
        connection.execute(text)
        assert rows(connection) == before


def test_undo_of_keys_alone_is_refused_by_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script(tmp_path, "undo")[0] == 8
    said = capsys.readouterr().err
    assert "LR3002" in said
    for name in ("app.dept", "app.doc", "app.zeros"):
        assert f"ALTER TABLE {name} REPLICA IDENTITY FULL" in said
    assert "app.emp" not in said


def test_what_is_not_exact_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = script(tmp_path, "redo", "--table", "app.odd")
    assert code == 8
    said = "".join(capsys.readouterr())
    for column in ("iv", "tz", "vb", "pt", "ia", "dt", "ts", "tstz", "nn"):
        assert f"in column {column}" in said


def run(folder: Path, raw: bytes, *words: str) -> int:
    (folder / "log").write_bytes(raw)
    words = ("--source", "events", "--dialect", "postgres", "--table", "app.emp", *words)
    return main(["redo", str(folder / "log"), "--out", str(folder / "out"), *words])


def units() -> list[bytes]:
    """The bytes of each transaction."""
    parts = [part for part in RAW.split(b"\nB\0\0\0\0") if part]
    return [parts[0] + b"\n", *[b"B\0\0\0\0" + part + b"\n" for part in parts[1:]]]


def test_what_is_sent_again_is_taken_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, *others = units()
    begun = second[: second.index(b"\nU") + 1]
    assert run(tmp_path, RAW) == 4
    script_of = (tmp_path / "out" / "0000-redo.sql").read_bytes()
    capsys.readouterr()
    again = b"".join([first, begun, second, first, *others]).removesuffix(b"\n")
    assert run(tmp_path, again, "--overwrite") == 4
    assert (tmp_path / "out" / "0000-redo.sql").read_bytes() == script_of
    assert "repeated by another read session" in capsys.readouterr().out


@pytest.mark.parametrize("cut", [1, 20, 40, 200, len(RAW) // 2])
def test_a_message_that_was_cut_is_refused(
    cut: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, RAW[:-cut]) in (8, 12, 4)
    said = capsys.readouterr().err
    whole = RAW[:-cut].endswith(b"\n") and "LR2006" not in said
    assert whole or "LR2006" in said


def test_a_file_that_begins_inside_a_connection_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, b"".join(units()[3:])) == 8
    assert "Give the file before, too" in capsys.readouterr().err


def messages_of(raw: bytes) -> list[bytes]:
    """The messages of a recording, each with its line end."""
    reader = Reader(np.frombuffer(raw, np.uint8), "", Connection())
    sizes = np.array([size for _, size in reader.entries()])
    ends = np.cumsum(sizes[sizes > 0]).tolist()
    return [raw[begin:end] for begin, end in pairwise([0, *ends])]


def scripts_of(folder: Path, *files: bytes) -> bytes:
    """The redo of a log in some files."""
    folder.mkdir()
    paths = [folder / f"{number}" for number in range(len(files))]
    for path, raw in zip(paths, files, strict=True):
        path.write_bytes(raw)
    logs = [word for path in paths for word in ("--log", str(path))]
    words = ["--source", "events", "--dialect", "postgres", "--schema", SCHEMA]
    out = folder / "out"
    assert main(["redo", *logs, *words, "--out", str(out)]) in (4, 8)
    return b"".join(path.read_bytes() for path in sorted(out.glob("*.sql")))


@pytest.mark.parametrize(("raw", "kinds"), [(STREAMED, b"SEcApK"), (PREPARED, b"BbPKr")])
def test_what_is_sent_before_it_commits_is_the_same_work(
    raw: bytes, kinds: bytes, tmp_path: Path
) -> None:
    """Each change at once, with subtransactions that are rolled back, and prepared transactions; in
    one file, or in two of one connection; and what was sent is sent again after a connection ended
    amid a transaction, or by another slot."""
    expected = scripts_of(tmp_path / "plain", RAW)
    messages = messages_of(raw)
    assert {message[0] for message in messages} >= {*kinds}
    assert scripts_of(tmp_path / "once", raw) == expected
    assert scripts_of(tmp_path / "slots", RAW, raw) == expected
    for cut in (17, len(messages) - 9):
        first = b"".join(messages[:cut])
        assert scripts_of(tmp_path / f"files{cut}", first, raw[len(first) :]) == expected
        assert scripts_of(tmp_path / f"again{cut}", first, raw) == expected


def test_a_table_that_a_prepared_transaction_describes_is_known_though_it_is_rolled_back(
    tmp_path: Path,
) -> None:
    """It is described once: others do without."""
    messages = [
        b"b" + struct.pack(">QQqI", 1000, 1040, 5, 7) + b"lost\0",
        described(),
        changed(b"1"),
        b"P" + struct.pack(">BQQqI", 0, 1000, 1040, 5, 7) + b"lost\0",
        b"r" + struct.pack(">BQQqqI", 0, 1040, 1100, 5, 6, 7) + b"lost\0",
        b"B" + struct.pack(">QqI", 2000, 8, 8),
        changed(b"2"),
        b"C" + struct.pack(">BQQq", 0, 2000, 2040, 8),
        b"",
    ]
    assert run(tmp_path, b"\n".join(messages)) in (0, 4)
    text = (tmp_path / "out" / "0000-redo.sql").read_text()
    assert text.count("INSERT") == 1
    assert r"'\x32'::bytea" in text


@pytest.mark.parametrize("kind", [b"c", b"K"])
def test_a_commit_of_what_was_not_sent_is_refused(
    kind: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = messages_of(STREAMED)
    at = next(n for n, message in enumerate(messages) if message[:1] == kind)
    first = next(n for n, message in enumerate(messages[at:], at) if message[:1] == b"S")
    assert run(tmp_path, b"".join([*messages[first:], messages[at]])) == 8
    said = capsys.readouterr().err
    assert "LR3020" in said
    assert "Give the file before, too" in said


@pytest.mark.parametrize("goes_on", [b"S", b"c"])
def test_what_was_cut_and_is_not_sent_again_is_refused(
    goes_on: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A connection ends amid a transaction; what follows has its rest and another transaction."""
    messages = messages_of(STREAMED)
    xid = next(message[1:5] for message in messages if message[:1] == b"S")
    end = next(n for n, one in enumerate(messages) if one[:1] == b"E")
    commit = next(one for one in messages if one[:1] == b"c" and one[1:5] == xid)
    rest = [b"S" + xid + b"\0\n", b"E\n", commit] if goes_on == b"S" else [commit]
    other = inserted(rb"\x")
    paths = [tmp_path / name for name in ("first", "second")]
    paths[0].write_bytes(b"".join(messages[: end - 1]))
    paths[1].write_bytes(other + b"".join(rest))
    words = ["--schema", "none", "--dialect", "postgres", "--out", str(tmp_path / "out")]
    assert main(["redo", *map(str, paths), *words]) == 8
    said = capsys.readouterr().err
    assert "LR3020" in said
    assert "Give the file before, too" in said


def test_the_commit_of_a_prepared_transaction_may_come_again(tmp_path: Path) -> None:
    (commit,) = (message for message in messages_of(STREAMED) if message[:1] == b"K")
    once = scripts_of(tmp_path / "once", STREAMED)
    assert scripts_of(tmp_path / "twice", STREAMED, commit) == once


def test_what_had_not_committed_is_no_work_and_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = messages_of(STREAMED)
    at = max(n for n, message in enumerate(messages) if message[:1] == b"c")
    assert run(tmp_path, b"".join(messages[:at])) == 4
    assert "1 transaction(s) had sent changes and neither committed" in capsys.readouterr().err
    assert run(tmp_path, STREAMED, "--overwrite") == 4
    assert "had sent changes" not in capsys.readouterr().err


TEXT = struct.pack(">Ii", 25, -1)


def described() -> bytes:
    """A message that describes app.emp, with a bytea."""
    column = struct.pack(">Ii", 17, -1)
    return b"R" + struct.pack(">I", 1) + b"app\0emp\0d" + struct.pack(">H", 1) + b"\0b\0" + column


def changed(value: bytes, form: bytes = b"t") -> bytes:
    """A message of a row of it that is inserted."""
    row = form + struct.pack(">I", len(value)) + value
    return b"I" + struct.pack(">I", 1) + b"N" + struct.pack(">H", 1) + row


def inserted(value: bytes, form: bytes = b"t") -> bytes:
    """A file whose one transaction inserts a row."""
    return b"\n".join(
        [
            b"B" + struct.pack(">QqI", 1000, 5, 7),
            described(),
            changed(value, form),
            b"C" + struct.pack(">BQQq", 0, 1000, 1040, 5),
            b"",
        ]
    )


@pytest.mark.parametrize(
    ("written", "digits"),
    [
        (rb"\x", ""),
        (rb"\x00ff0a", "00ff0a"),
        (rb"\000\377\\x ~", "00ff5c78207e"),
        (b"\\x" + b"ab" * 3000, "ab" * 3000),
    ],
)
def test_bytes_are_read_in_both_forms(written: bytes, digits: str, tmp_path: Path) -> None:
    assert run(tmp_path, inserted(written)) in (0, 4)
    assert f"'\\x{digits}'::bytea" in (tmp_path / "out" / "0000-redo.sql").read_text()


@pytest.mark.parametrize("written", [rb"\x0", rb"\400", b"\\", rb"\00", "é".encode()])
def test_what_is_no_bytea_sets_its_unit_aside(
    written: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, inserted(written)) == 8
    assert "LR2015" in capsys.readouterr().out


@pytest.mark.parametrize("ends", [(1001, 1040), (1000, 999)])
def test_a_commit_that_its_begin_contradicts_is_refused(
    ends: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = inserted(rb"\x")
    other = raw.replace(struct.pack(">QQ", 1000, 1040), struct.pack(">QQ", *ends))
    assert raw != other
    assert run(tmp_path, other) == 12
    assert "LR2006" in capsys.readouterr().err


def test_values_that_are_no_text_are_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, inserted(b"\0\xff", b"b")) == 8
    said = capsys.readouterr().err
    assert "LR3020" in said
    assert "(binary)" in said


def test_a_zero_in_a_text_is_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, inserted(b"a\0b")) in (8, 12)
    assert "LR2006" in capsys.readouterr().err


def test_a_text_that_stands_for_no_value_elsewhere_is_a_text(tmp_path: Path) -> None:
    told = inserted(b"__debezium_unavailable_value").replace(struct.pack(">Ii", 17, -1), TEXT)
    assert run(tmp_path, told) in (0, 4)
    script = (tmp_path / "out" / "0000-redo.sql").read_text()
    assert "VALUES ('__debezium_unavailable_value')" in script


BEGUN, ENDED = struct.pack(">QqI", 1000, 5, 7), struct.pack(">BQQq", 0, 1000, 1040, 5)
NEXT = b"B" + struct.pack(">QqI", 1020, 6, 8) + b"\n"


@pytest.mark.parametrize(
    ("written", "other"),
    [
        (ENDED, struct.pack(">BQQq", 0, 1000, 1040, 9)),  # another time
        (ENDED + b"\n", ENDED + b"\nB" + struct.pack(">QqI", 1 << 63, 6, 8) + b"\n"),
        (ENDED + b"\n", ENDED + b"\n" + NEXT),  # the next one commits inside of this one
        (b"emp\0d", b"emp\0f"),  # old rows are whole, and one has its key alone
    ],
)
def test_messages_that_contradict_each_other_are_refused(
    written: bytes, other: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = b"t" + struct.pack(">I", 2) + rb"\x" + b"\nC"
    old = b"D" + struct.pack(">I", 1) + b"K" + struct.pack(">H", 1) + value
    raw = inserted(rb"\x").replace(b"C" + ENDED, old + ENDED)
    assert run(tmp_path, raw) in (0, 4)
    capsys.readouterr()
    assert raw.count(written) == 1
    assert run(tmp_path, raw.replace(written, other), "--overwrite") in (8, 12)
    assert "LR2006" in capsys.readouterr().err


@pytest.mark.parametrize("name", [(b"emp\0", b"Emp\0"), (b"\0b\0", b"\0B\0")])
def test_names_with_capitals_are_kept_in_the_database_of_the_log(
    name: tuple[bytes, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Folded, a name is another table's or column's there; another database has new names."""
    (tmp_path / "log").write_bytes(inserted(rb"\x00").replace(*name))
    log = str(tmp_path / "log")
    kept = f'"{name[1].strip(bytes(1)).decode()}"'

    def text(*words: str) -> str:
        assert main([*words[:1], log, *words[1:], "--out", "-"]) in (0, 4)
        return capsys.readouterr().out

    for command in (["redo"], ["undo"], ["ddl"], ["redo", "--names", "exact"]):
        assert kept in text(*command), command
    for command in (["redo", "--dialect", "duckdb"], ["redo", "--names", "lower"]):
        assert kept not in text(*command), command
        assert kept.lower().strip('"') in text(*command), command


def test_a_key_that_a_schema_states_is_of_neither_of_two_tables_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would be taken for that of the other one, whose rows it does not tell apart."""
    log, schema = tmp_path / "log", tmp_path / "schema.sql"
    schema.write_text("CREATE TABLE app.emp (b bytea NOT NULL UNIQUE)", encoding="utf-8")
    row = changed(rb"\x00")
    other = described().replace(b"\0\0\0\1app\0emp", b"\0\0\0\2app\0Emp")
    both = b"\n".join([row, other, row.replace(b"I\0\0\0\1", b"I\0\0\0\2")])
    for found, refused in ((row, False), (both, True)):
        log.write_bytes(inserted(rb"\x00").replace(row, found))
        code = main(["undo", str(log), "--schema", str(schema), "--out", "-"])
        assert code == (4 if refused else 0)
        said = capsys.readouterr().err
        assert ("have no key" in said) is refused
        note = "unique keys of APP.EMP are not considered: several tables have that name"
        assert (note in said) is refused
