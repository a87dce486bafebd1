"""LOAD files by hand: what they may look like, and what is refused or set aside by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.errors import InputError
from replay.logs.logmaster_load.control import FieldCondition, read_control

NAMES = (
    "#URIDBEGINPOINT #URIDMEMBERID #URIDTIMESTAMP #COMMITLRSN #LOGRBA #RECORD_TYPE ID NAME".split()
)
DDL = "CREATE TABLE APP.T (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(20));"


def control(names: Sequence[str] = NAMES, encoding: str = "UNICODE") -> str:
    fields = ", ".join(f'"{name}" CHAR(40)' for name in names)
    return f"LOAD DATA INDDN SYSREC {encoding} FORMAT DELIMITED INTO TABLE APP.T ({fields})"


def line(action: str, *values: str, unit: str = "A1", commit: str = "B1", rba: str = "") -> str:
    """A record of unit ``unit``; ``rba`` is its own place."""
    place = rba or unit
    info = (unit, "0", "2024-05-01-10.00.00.000000", commit, place)
    digits = [text.zfill(20) if number != 1 else text for number, text in enumerate(info)]
    digits[2] = info[2]
    return ",".join([*digits, action, *values])


class Log:
    """A LOAD file of table APP.T."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def run(
        self,
        *lines: str,
        raw: bytes | None = None,
        options: Sequence[str] = (),
        statement: str = "",
        encoding: str = "utf-8",
        ddl: str = DDL,
        mode: str = "redo",
    ) -> tuple[int, str]:
        """(exit code, script and messages)."""
        out = self.folder / "out"
        made = "".join(one + "\n" for one in lines).encode(encoding)
        (self.folder / "t.csv").write_bytes(made if raw is None else raw)
        (self.folder / "load.ctl").write_text(statement or control(), encoding="utf-8")
        (self.folder / "t.sql").write_text(ddl, encoding="utf-8")
        files = {"--control": "load.ctl", "--data": "t.csv", "--catalog": "t.sql"}
        named = [word for name, file in files.items() for word in (name, str(self.folder / file))]
        self.capsys.readouterr()
        code = main(
            [
                *(mode, "--source", "logmaster-load", *named, "--schema", "none"),
                *("--log-option", "dispositions=committed", "--engine", "local"),
                *("--out", str(out), "--overwrite", *options),
            ]
        )
        said = self.capsys.readouterr()
        text = "".join(path.read_text(encoding="utf-8") for path in sorted(out.glob("*.sql")))
        return code, text + said.out + said.err


@pytest.fixture
def log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Log:
    return Log(tmp_path, capsys)


def test_nulls_empty_text_quotes_and_line_ends(log: Log) -> None:
    code, text = log.run(
        line("I", "1", "", rba="1"),
        line("I", "2", '""', rba="2"),
        line("I", "3", '"a ""b"", c\nd"', rba="3"),
    )
    assert code == 0, text
    assert "VALUES (1, NULL)" in text
    assert "VALUES (2, '')" in text
    assert "VALUES (3, E'a \"b\", c\\nd')" in text


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_the_last_record_counts_however_the_file_ends(end: str, log: Log) -> None:
    """A null at the end of a line leaves nothing behind the last delimiter."""
    lines = line("I", "1", "x", rba="1"), line("D", "2", "", rba="2")
    _, text = log.run(raw=("\n".join(lines) + end).encode())
    assert "DELETE FROM app.t WHERE id = 2" in text
    assert log.run(raw=("\ufeff" + "\n".join(lines) + end).encode())[1] == text


def test_a_page_of_windows_and_one_of_two_bytes_a_character(log: Log) -> None:
    """Windows' page has no NL, which is looked for in EBCDIC only."""
    one = line("I", "1", "5 \u20ac", rba="1").encode("cp1252")
    code, text = log.run(raw=one, options=["--log-option", "ccsid=1252"])
    assert (code, "'5 \u20ac'" in text) == (0, True), text
    code, text = log.run(raw=one, options=["--log-option", "ccsid=1200"])
    assert code != 0
    assert "LR2015" in text
    assert "found CCSID 1200; expected one with" in text


def test_records_that_are_given_twice_set_their_unit_aside(log: Log) -> None:
    """Not neighbours: several changes of a unit may have one place."""
    lines = [line("I", "1", "x"), line("I", "2", "y"), line("I", "3", "z", unit="A2", commit="B2")]
    code, text = log.run(*lines)
    assert (code, text.count("INSERT")) == (0, 3)
    code, text = log.run(*lines, *lines[:2])
    assert (code, text.count("INSERT")) == (8, 1)
    assert "LR2017" in text
    assert "'z'" in text


def test_units_come_in_the_order_of_their_commits(log: Log) -> None:
    _, text = log.run(
        line("I", "1", "late", unit="A1", commit="B2"),
        line("I", "2", "early", unit="A2", commit="B1"),
    )
    assert text.index("'early'") < text.index("'late'")


def test_short_positions_are_widened(log: Log) -> None:
    member = line("I", "1", "x").replace(",0,", ",1,", 1).split(",")
    member[0], member[3], member[4] = "0000000000A1", "CA670FBBF3D3", "0000000000A2"
    _, text = log.run(",".join(member))
    assert "URID=000000000000000000A1 member=1" in text
    assert "commit-lrsn=00CA670FBBF3D3000000" in text
    member[1] = "0"
    _, text = log.run(",".join(member))
    assert "commit-lrsn=00000000CA670FBBF3D3" in text


def test_an_ebcdic_file(log: Log) -> None:
    code, text = log.run(
        line("I", "1", '"Ärger, [x]"'), statement=control(encoding="EBCDIC CCSID(273,0,0)"),
        encoding="cp273",
    )  # fmt: skip
    assert code == 0, text
    assert "VALUES (1, 'Ärger, [x]')" in text


def test_marks_in_hexadecimal_digits_are_octets_of_the_file(log: Log) -> None:
    """As Db2's manual has them: of an EBCDIC file X'6B' is the comma."""
    marks = "FORMAT DELIMITED COLDEL X'5E' CHARDEL X'7D' DECPT X'4B'"
    text = control(encoding="EBCDIC CCSID(37,0,0)").replace("FORMAT DELIMITED", marks)
    code, text = log.run(
        line("I", "1", "'it''s'").replace(",", ";"), statement=text, encoding="cp037"
    )
    assert code == 0, text
    assert "VALUES (1, 'it''s')" in text


def test_null_where_a_delimited_field_has_a_value(log: Log) -> None:
    text = control().replace('"NAME" CHAR(40)', """"NAME" CHAR(40) NULLIF(NAME = '?')""")
    _, text = log.run(line("I", "1", "?", rba="1"), line("I", "2", "x?", rba="2"), statement=text)
    assert "VALUES (1, NULL)" in text
    assert "VALUES (2, 'x?')" in text


def test_columns_of_other_names(log: Log) -> None:
    names = ["#ACT" if name == "#RECORD_TYPE" else name for name in NAMES]
    code, text = log.run(line("I", "1", "x"), statement=control(names))
    assert code == 12
    assert "LR2008" in text
    assert "--log-option action=#NAME" in text
    options = ["--log-option", "action=#ACT"]
    code, text = log.run(line("I", "1", "x"), statement=control(names), options=options)
    assert (code, "VALUES (1, 'x')" in text) == (0, True)


def test_time_in_place_of_commits_is_told_of(log: Log) -> None:
    names = [name for name in NAMES if name != "#COMMITLRSN"]
    record = line("I", "1", "x").split(",")
    del record[3]
    code, text = log.run(
        ",".join(record),
        statement=control(names),
        options=["--log-option", "commit=#URIDTIMESTAMP"],
    )
    assert code == 4
    assert "commit-lrsn=20240501100000000000" in text
    assert "not documented to be that of the commit" in text


DAMAGED = {
    "no such action": (line("X", "2", "no"), "LR2012"),
    "an update without its image before": (line("U", "2", "no"), "without the row as it was"),
    "too many fields": (line("I", "2", "no", "3"), "LR2014"),
    "no number": (line("I", "two", "no"), "LR2015"),
    "a number out of range": (line("I", "2147483648", "no"), "LR2015"),
    "no value of a column that has one": (line("I", "", "no"), "the column is NOT NULL"),
    "text that is too long": (line("I", "2", "no" * 11), "at most 20 characters"),
}


@pytest.mark.parametrize(("damaged", "said"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_records_set_their_unit_aside(damaged: str, said: str, log: Log) -> None:
    good = line("I", "1", "yes", unit="A9", commit="B9")
    code, text = log.run(damaged, line("I", "5", "no", rba="A5"), good)
    assert code == 8
    assert said in text
    assert "'yes'" in text
    assert "'no'" not in text


REFUSED = {
    "a position that is none": ([line("I", "1", "x", commit="what")], "LR2010"),
    "two commits of a unit": (
        [line("I", "1", "x"), line("I", "2", "x", commit="B2", rba="A2")],
        "LR2016",
    ),
    "a value without end": ([line("I", "1", '"x')], "LR2006"),
}


@pytest.mark.parametrize(("lines", "said"), REFUSED.values(), ids=REFUSED)
def test_what_gives_no_order_ends_the_run(lines: list[str], said: str, log: Log) -> None:
    code, text = log.run(*lines)
    assert code == 12
    assert said in text


def test_a_mass_delete_may_be_of_a_partition(log: Log) -> None:
    code, text = log.run(line("DM", "0", ""))
    assert code == 8, text
    assert "TRUNCATE" not in text
    assert "DELETE" not in text


def test_the_control_file_of_a_logical_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.ctl", "a.csv", "a.sql"):
        (tmp_path / name).write_bytes("XTYP".encode("cp037"))
    files = {"--control": "a.ctl", "--data": "a.csv", "--catalog": "a.sql"}
    words = [word for name, file in files.items() for word in (name, str(tmp_path / file))]
    assert main(["inspect", "--source", "logmaster-load", *words]) == 12
    assert "a logical log is read with --source logmaster" in capsys.readouterr().err


def test_a_table_that_the_ddl_does_not_define(log: Log) -> None:
    code, text = log.run(line("I", "1", "x"), ddl=DDL.replace("APP.T", "APP.U"))
    assert code == 12
    assert "found 0 definitions of APP.T" in text


def test_a_key_column_that_the_file_lacks(log: Log) -> None:
    names = [name for name in NAMES if name != "ID"]
    code, text = log.run(line("I", "x"), statement=control(names))
    assert code == 12
    assert "no columns of the primary key: ID" in text


def test_columns_that_the_file_lacks_are_told_of(log: Log) -> None:
    ddl = DDL.replace("NAME VARCHAR(20)", "NAME VARCHAR(20), MORE DATE")
    code, text = log.run(line("D", "1", "x"), ddl=ddl, mode="undo")
    assert code == 4
    assert "lacks 1 of its columns" in text


def test_rolled_back_work_is_not_told_apart(log: Log) -> None:
    code, text = log.run(line("I", "1", "x"), options=["--log-option", "dispositions=unknown"])
    assert code != 0
    assert "LR1001" in text or "do not say whether work was committed" in text


CONTROLS = {
    "no statement": ("TEMPLATE A DSN(B)", "LR2008"),
    "fixed positions": (
        "LOAD DATA INTO TABLE A.T (ID POSITION(1:4) CHAR(4))",
        "fixed positions.*FORMAT CSV",
    ),
    "an internal format": ("LOAD DATA FORMAT UNLOAD INTO TABLE A.T (ID INTEGER)", "LR2009"),
    "a decimal comma": ("LOAD DATA FORMAT DELIMITED DECPT ',' INTO TABLE A.T (I INTEGER)", "DECPT"),
    "default values": ("LOAD DATA INTO TABLE A.T (I CHAR(4) DEFAULTIF(1)='?')", "DEFAULTIF"),
    "no fields": ("LOAD DATA INTO TABLE A.T", "no fields"),
    "records of several lines": ("LOAD DATA CONTINUEIF(1)='X' INTO TABLE A.T (I CHAR(4))", "CONTI"),
    "lines put together": ("LOAD DATA CONCATENATE 2 INTO TABLE A.T (I CHAR(4))", "CONCATENATE"),
    "tables without WHEN": (
        "LOAD DATA INTO TABLE A.T (I CHAR(4)) INTO TABLE A.U (I CHAR(4))",
        "without WHEN",
    ),
    "positions of a delimited field": (
        "LOAD DATA FORMAT DELIMITED INTO TABLE A.T (I CHAR(4) NULLIF(9)='?')",
        "bytes of a delimited record",
    ),
    "bytes that are no text": (
        "LOAD DATA UNICODE FORMAT DELIMITED INTO TABLE A.T (I CHAR(4) NULLIF(I=X'FF'))",
        "X'FF'",
    ),
}


@pytest.mark.parametrize(("text", "said"), CONTROLS.values(), ids=CONTROLS)
def test_control_files_that_cannot_be_used(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_control("x.ctl", text)


def test_fields_and_conditions() -> None:
    statement = read_control(
        "x.ctl",
        "-- by LOGSCAN\nLOAD DATA INDDN IN1 EBCDIC FORMAT DELIMITED INTO TABLE A.T PART 3"
        " WHEN (A = 'T1') (A POSITION(1) CHAR(8), B POSITION(*) DATE EXTERNAL NULLIF(B='?'),"
        ' "c""d" POSITION(20:29) DECIMAL EXTERNAL(10) NULLIF(A=X\'6F\'))',
    )[0]
    assert (statement.inddn, statement.ccsid) == ("IN1", 37)
    table = statement.tables[0]
    assert [one.name for one in table.fields] == ["A", "B", 'c"d']
    assert table.when == (FieldCondition("T1", "A"),)
    nulls = [one.null_if for one in table.fields]
    assert nulls == [None, FieldCondition("?", "B"), FieldCondition("?", "A")]
