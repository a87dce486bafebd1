"""The collector of Db2 LUW logs, compiled against what it uses of a client's headers and run with a
stand-in for the client."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from replay.logs import Inputs
from replay.logs.db2luw.reader import open_log
from tests.support.luwbuilder import Col, LogBuilder, Tab, catalog_csv
from tests.support.places import ROOT

TABLE = Tab(2, 5, "DB2INST1", "NOTE", (Col("ID", "INTEGER", key=1), Col("TEXT", "VARCHAR", 32000)))


def compiled(path: Path, *more: str) -> Path:
    """The collector, with a stand-in for the client."""
    compiler = shutil.which("cc")
    assert compiler is not None, (
        "found no C compiler; on Debian or Ubuntu: apt-get install gcc libc6-dev"
    )
    sources = [
        ROOT / "scripts" / "collect_db2luw.c",
        ROOT / "tests" / "support" / "db2client" / "client.c",
    ]
    flags = [
        *more,
        "-std=c99",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        f"-I{ROOT / 'tests' / 'support' / 'db2client'}",
    ]
    subprocess.run([compiler, *flags, "-o", path, *sources], check=True)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("collector") / "collect_db2luw")


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collector for a client of Db2 11.5.8."""
    flags = ["-DSTART_TIME", "-DREADLOG_VERSION=db2Version1158"]
    return compiled(tmp_path_factory.mktemp("timed") / "collect_db2luw", *flags)


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """What a server sends: records with 56 bytes of framing."""
    log = LogBuilder("v10", False, "flt56")
    unit = log.begin()
    for number in range(1000):
        unit.insert(TABLE, (number, "x" * 20_000), (number, 1))
    unit.commit()
    path = tmp_path / "served"
    path.write_bytes(log.bytes())
    return path


def run(
    program: Path, served: Path, *words: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    known = {
        "DB2USER": "reader",
        "DB2PASSWORD": "secret",
        "DB2_RECORDS": str(served),
        "DB2_AT_ONCE": "700",
    }
    return subprocess.run(
        [program, *words],
        env=os.environ | known | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_collected_log_is_read(program: Path, served: Path, tmp_path: Path) -> None:
    out, catalog = tmp_path / "sample.log", tmp_path / "catalog.csv"
    done = run(program, served, "SAMPLE", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"1001 records in {out}; go on from 1:0:{served.stat().st_size}\n"
    assert out.read_bytes()[16:] == served.read_bytes()
    catalog.write_text(catalog_csv([TABLE]), encoding="utf-8")
    log = open_log(Inputs(log=(str(out),), catalog=str(catalog), scratch=str(tmp_path)))
    assert str(log.files[0].shape) == "framing flt56, little-endian, dialect v10"
    assert log.files[0].shape.start == 16


def test_two_files_are_one_log(program: Path, served: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "1.log", tmp_path / "2.log"
    raw = served.read_bytes()
    record = 56 + int.from_bytes(raw[56:60], "little")
    cut = tmp_path / "cut"
    cut.write_bytes(raw[: 10 * record])
    said = run(program, cut, "SAMPLE", str(first)).stdout
    place = re.search(r"go on from (\S+)", said)
    assert place is not None
    assert run(program, served, "SAMPLE", str(second), place[1]).returncode == 0
    assert first.read_bytes()[16:] + second.read_bytes()[16:] == raw


def test_a_log_is_collected_from_a_time_on(timed: Path, served: Path, tmp_path: Path) -> None:
    raw, time = served.read_bytes(), "2026-05-01-10.30.00.5"
    record = 56 + int.from_bytes(raw[56:60], "little")
    out = tmp_path / "late.log"
    at = {"DB2_TIME": time, "DB2_TIME_AT": str(5 * record), "DB2_AT_ONCE": "300"}
    done = run(timed, served, "SAMPLE", str(out), time, **at)
    assert (done.returncode, done.stderr) == (0, "")
    assert out.read_bytes()[16:] == raw[5 * record :]
    done = run(timed, served, "SAMPLE", str(out), "2026-05-01-10.30.01", **at)
    assert (done.returncode, "SQLCODE -2650" in done.stderr) == (8, True)
    assert run(timed, served, "SAMPLE", str(out), "1:0:0").returncode == 0


@pytest.mark.parametrize(
    ("words", "environment", "code", "message"),
    [
        ((), {}, 12, "usage: collect_db2luw DATABASE FILE"),
        (("SAMPLE", "{out}", "12"), {}, 12, "found 12; expected TYPE:PART1:PART2"),
        (("SAMPLE", "{out}", "1:2:3x"), {}, 12, "found 1:2:3x"),
        (("SAMPLE", "{out}", "2026-05-01-10.30.00"), {}, 12, "compiled without START_TIME"),
        (("SAMPLE", "{out}", "2026-05-01-10.30.0"), {}, 12, "found 2026-05-01-10.30.0;"),
        (("SAMPLE", "{out}/no/such"), {}, 12, "cannot write"),
        (("OTHER", "{out}"), {}, 8, "cannot connect to OTHER: SQLSTATE 08001"),
        (
            ("SAMPLE", "{out}"),
            {"DB2_FAIL_AT": "500000"},
            8,
            "reading the log: SQLCODE -2651, SQLSTATE 57019, no log",
        ),
    ],
)
def test_what_goes_wrong(
    program: Path,
    served: Path,
    tmp_path: Path,
    words: tuple[str, ...],
    environment: dict[str, str],
    code: int,
    message: str,
) -> None:
    out = tmp_path / "sample.log"
    done = run(program, served, *(word.format(out=out) for word in words), **environment)
    assert done.returncode == code
    assert message in done.stderr
    assert "secret" not in done.stderr
    assert list(tmp_path.glob("sample*")) == []
