"""Named marks in a file beside a log."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import replay
from replay import storage
from replay.changes.position import Position
from replay.cli.main import main
from replay.errors import InputError, UsageError
from replay.logs.marks import Mark, add_mark, read_marks
from replay.logs.named import MARKS_BESIDE
from replay.targets import target_named
from sqlgen.schema import Constraints
from tests.support.logbuilder import ACCT, LogBuilder, acct, lrsn, rba, statements

_NO_KEYS = Constraints(complete=True)
_SOURCE = "logmaster DB2P"


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    """Six units that insert a row each, committing at ticks 100, 200, … of the log."""
    builder = LogBuilder()
    for number in range(6):
        builder.unit(commit=100 * (number + 1)).insert(ACCT, acct(number))
    control, data = builder.write(tmp_path)
    return ["--control", str(control), "--data", *map(str, data)]


def at(tick: int) -> str:
    """The commit position of a tick."""
    return lrsn(tick).hex().upper()


def opened(log: list[str]) -> replay.Log:
    return replay.open_log(control=log[1], data=log[3])


def numbers(log: list[str], out: Path, *more: str) -> list[int]:
    """The rows that a redo inserts."""
    words = ["redo", *log, "--schema", "none", "--out", str(out), *more]
    assert main(words) in (0, 4)
    text = "".join(path.read_text() for path in sorted(out.glob("*.sql")))
    return [number for number in range(6) if f"VALUES ({number}," in text]


def mark(name: str, tick: int, **more: str) -> Mark:
    return Mark(name, Position(lrsn(tick)), _SOURCE, "LRSN", **more)


# -- the command
# -------------------------------------------------------------------------------------------------


def test_marks_are_made_and_listed(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mark", "NIGHT", *log, "--position", at(200), "--by", "ann"]) == 0
    assert f"mark NIGHT: LRSN {at(200)}" in capsys.readouterr().out
    urid = rba(3 * 16 + 2 * 16).hex()  # of the third unit: two ticks for each before it
    assert main(["mark", "UNIT", *log, "--ur", urid, "--note", "who did that?"]) == 0
    assert main(["mark", "NIGHT", *log]) == 0
    capsys.readouterr()
    assert main(["mark", *log, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(entry["name"], entry["position"]) for entry in told] == [
        ("NIGHT", at(200)),
        ("UNIT", at(300)),
        ("NIGHT", at(600)),
    ]
    assert told[0]["by"] == "ann"
    assert told[1]["note"] == "who did that?"
    assert told[1]["unit"] == urid.upper()
    assert told[2]["committed"] == "2024-03-15 10:21:00.500000"
    assert {entry["source"] for entry in told} == {_SOURCE}
    assert (tmp_path / MARKS_BESIDE).read_text().count("\n") == 3
    assert main(["mark", *log]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"3 marks in {tmp_path / MARKS_BESIDE}"
    assert [line.split()[0] for line in lines[2:]] == ["NIGHT", "UNIT", "NIGHT"]
    assert main(["mark", "--marks", str(tmp_path / MARKS_BESIDE)]) == 0
    assert "who did that?" in capsys.readouterr().out


def test_a_time_is_the_last_commit_up_to_it(sakila_small: Path, tmp_path: Path) -> None:
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    place = tmp_path / "m.jsonl"
    assert main(["mark", "T", *log, "--marks", str(place), "--time", "2024-03-15 08:00:10"]) == 0
    (made,) = read_marks(place)
    with replay.open_log(control=log[1], data=log[3]) as whole:
        changes = whole.select().changes().read_all()
    commits = changes["commit_lrsn"].to_pylist()
    times = list(map(str, changes["commit_time"].to_pylist()))
    before = [c for c, t in zip(commits, times, strict=True) if t <= "2024-03-15 08:00:10"]
    assert made.position.hexadecimal == max(before)
    assert made.committed == max(t for t in times if t <= "2024-03-15 08:00:10")


def test_a_mark_is_taken_back(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / MARKS_BESIDE
    for name, tick in (("B", 100), ("A", 200), ("B", 300), ("B", 400)):
        add_mark(place, mark(name, tick))
    place.chmod(0o640)
    assert main(["mark", "--delete", "B(-1)", *log]) == 0
    assert f"it was LRSN {at(300)}" in capsys.readouterr().out
    assert numbers(log, tmp_path / "third", "--until-mark", "B.3") == [0, 1, 2, 3]
    assert main(["mark", "--delete", "B", "--marks", str(place)]) == 0
    assert [(one.name, one.position.hexadecimal) for one in read_marks(place)] == [
        ("B", at(100)),
        ("A", at(200)),
    ]
    assert place.stat().st_mode & 0o777 == 0o640
    assert numbers(log, tmp_path / "out", "--until-mark", "B") == [0]
    for words in (["B(-1)", *log], ["C", "--marks", str(place)], ["C", "--marks", "none.jsonl"]):
        assert main(["mark", "--delete", *words]) == 12
        assert "LR1004" in capsys.readouterr().err
    for words in (["B", "NAME", *log], ["B"], ["B", *log, "--note", "why"], ["B", *log, "--json"]):
        assert main(["mark", "--delete", *words]) == 12
    assert len(read_marks(place)) == 2


def test_a_mark_is_made_while_another_is_taken_back(tmp_path: Path) -> None:
    place = tmp_path / "m.jsonl"
    code = (
        "import sys; from pathlib import Path; from replay.logs.marks import *;"
        "from replay.changes.position import Position; place = Path(sys.argv[1])\n"
        "for n in range(60):\n"
        "    add_mark(place, Mark(f'{sys.argv[2]}{n}', Position(bytes(10)), 's', 'LRSN'))\n"
        "    if n % 2: remove_mark(place, f'{sys.argv[2]}{n}')\n"
    )
    add_mark(place, mark("FIRST", 1))
    runs = [subprocess.Popen([sys.executable, "-c", code, str(place), who]) for who in "abc"]
    assert [run.wait(120) for run in runs] == [0, 0, 0]
    names = {one.name for one in read_marks(place)}
    assert names == {"FIRST", *(f"{who}{n}" for who in "abc" for n in range(0, 60, 2))}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--until-mark", "B"], [0, 1, 2, 3]),
        (["--from-mark", "B"], [4, 5]),
        (["--until-mark", "B(-1)"], [0, 1]),
        (["--from-mark", "B(-2)", "--until-mark", "B(0)"], [1, 2, 3]),
        (["--from-mark", "B.1", "--until-mark", "B.3"], [1, 2, 3]),
        (["--from-mark", "B (-1)", "--until-position", at(500)], [2, 3, 4]),
    ],
)
def test_marks_bound_a_redo(
    log: list[str], tmp_path: Path, words: list[str], expected: list[int]
) -> None:
    for tick in (100, 200, 400):
        add_mark(tmp_path / MARKS_BESIDE, mark("B", tick))
    assert numbers(log, tmp_path / "out", *words) == expected


def test_two_parts_at_a_mark_have_every_change_once(sakila_small: Path, tmp_path: Path) -> None:
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    marks = ["--marks", str(tmp_path / "m.jsonl")]
    assert main(["mark", "HERE", *log, *marks, "--position", "00DECBEAE9A1E3400000"]) == 0
    counts = []
    for name, end in (("one", "--until-mark"), ("two", "--from-mark"), ("all", "")):
        words = [*([*marks, end, "HERE"] if end else []), "--out", str(tmp_path / name)]
        assert main(["export", *log, *words]) == 0
        counts.append(json.loads((tmp_path / name / "manifest.json").read_text())["changes"])
    assert counts[0] + counts[1] == counts[2]
    assert min(counts) > 0


def test_every_command_with_positions_takes_marks(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for tick in (200, 400):
        add_mark(tmp_path / MARKS_BESIDE, mark("B", tick))
    part = ["--from-mark", "B(-1)", "--until-mark", "B"]
    out = ["--out", str(tmp_path / "undo"), "--schema", "none"]
    assert main(["undo", *log, "--from-mark", "B", *out]) == 0
    told = capsys.readouterr()
    assert f"note: after mark B: commit position {at(400)}" in told.err
    assert "2 statements" in told.out
    assert main(["extract", *log, *part, "--out", str(tmp_path / "copy")]) == 0
    assert "2 changes" in capsys.readouterr().out
    assert main(["history", *log, *part, "--table", "TESTOWN.ACCT", "--key", "2", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["versions"]) == 1
    assert main(["history", *log, *part, "--table", "TESTOWN.ACCT", "--key", "1"]) == 4
    capsys.readouterr()
    assert main(["report", "summary", *log, *part, "--json"]) == 0
    assert '"inserts": 2' in capsys.readouterr().out
    assert main(["report", "open", *log, "--at", "B(-1)"]) in (0, 4)
    assert at(200) in capsys.readouterr().out
    assert main(["graph", *log, *part, "--format", "json", "--out", str(tmp_path / "g")]) in (0, 4)
    assert len(json.loads((tmp_path / "g").read_text())["units"]["name"]) == 2
    capsys.readouterr()
    assert main(["state", *log, "--at", "B(-1)"]) == 4
    assert len(capsys.readouterr().out.splitlines()) == 3  # a heading and two rows
    assert main(["state", *log, "--diff", "B(-1)", "B", "--json"]) == 0
    assert capsys.readouterr().out.count('"insert"') >= 2


def test_the_library_takes_marks(log: list[str], tmp_path: Path) -> None:
    place = tmp_path / "elsewhere.jsonl"
    add_mark(place, mark("B", 200))
    with opened(log) as whole:
        part = whole.select(from_mark="B", marks=str(place))
        assert part.changes().read_all().num_rows == 4
        bundle = part.redo("postgres", schema=_NO_KEYS).write(tmp_path / "out")
        assert len(statements(bundle)) == 4
        assert bundle.manifest["selection"]["from_position"] == f"{int(at(200), 16) + 1:020X}"
        assert "marks" not in bundle.manifest["selection"]
        with pytest.raises(UsageError, match="from-mark with --from-position"):
            whole.select(from_mark="B", from_position=at(100), marks=str(place))
        with pytest.raises(
            UsageError, match="--from-mark B and --until-mark B, which select nothing"
        ):
            whole.select(from_mark="B", until_mark="B", marks=str(place))


def test_a_folder_of_logs_has_its_marks_beside_them(log: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in (log[1], log[3]):
        shutil.copy(name, folder)
    assert main(["mark", "B", "--logs", str(folder), "--position", at(300)]) == 0
    assert (folder / MARKS_BESIDE).is_file()
    assert numbers(["--logs", str(folder)], tmp_path / "out", "--until-mark", "B") == [0, 1, 2]


# -- live databases
# -------------------------------------------------------------------------------------------------


def test_a_replay_goes_to_a_mark_and_back(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with target_named("duckdb").scratch(None) as url:
        assert main(["ddl", *log, "--dialect", "duckdb", "--out", str(tmp_path / "t.sql")]) == 0
        session = target_named("duckdb").connect(url)
        session.run((tmp_path / "t.sql").read_bytes())
        session.close()
        add_mark(tmp_path / MARKS_BESIDE, mark("B", 200))
        add_mark(tmp_path / MARKS_BESIDE, mark("B", 400))
        words = ["replay", *log, "--to", url, "--engine", "local", "--apply"]
        for name, tick in (("B", 400), ("B(-1)", 200)):
            assert main([*words, "--until-mark", name]) == 0
            capsys.readouterr()
            assert main(["status", "--to", url]) == 0
            assert at(tick) in capsys.readouterr().out
        assert main(["mark", "B", "--to", url]) == 0
        assert main(["mark", "--to", url, "--json"]) == 0
        assert json.loads(capsys.readouterr().out.partition("\n")[2]) == {"B": at(200)}
        assert main([*words, "--until-mark", "B"]) == 12
        assert f"at {at(200)} in the target, and at {at(400)}" in capsys.readouterr().err
        assert main([*words, "--until-mark", "B(0)"]) == 0
        assert main([*words, "--until-mark", "C"]) == 12
        told = capsys.readouterr().err
        assert "LR1004 found no mark 'C' in the target, nor in" in told
        assert "Marks: B" in told


# -- what is refused, and said
# -------------------------------------------------------------------------------------------------


def test_unknown_names_list_those_that_there_are(log: list[str], tmp_path: Path) -> None:
    with opened(log) as whole:
        with pytest.raises(UsageError, match=r"no mark 'B' .*Marks: none"):
            whole.select(until_mark="B").redo("postgres")
        for name in ("A", "B", "B"):
            add_mark(tmp_path / MARKS_BESIDE, mark(name, 200))
        with pytest.raises(UsageError, match=r"LR1004 .*no mark 'C' .*Marks: A, B \(2\)"):
            whole.select(until_mark="C").redo("postgres")
        with pytest.raises(UsageError, match=r"'B\(-2\)', and 2 mark"):
            whole.select(until_mark="B(-2)").redo("postgres")
        add_mark(tmp_path / MARKS_BESIDE, mark("B.1", 300))
        with pytest.raises(UsageError, match=r"LR1001 found 'B.1', .*B.1\(0\)"):
            whole.select(until_mark="B.1").redo("postgres")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("CREATE TABLE t (a int);", "expected an object of JSON"),
        ("[1, 2]", 'expected an object with "mark"'),
        ('{"event": "x"}', 'expected an object with "mark"'),
        ('{"mark": "B", "position": "12", "source": "s"}', "expected 20 hexadecimal digits"),
        ('{"mark": "B", "position": "@"}', "found no source"),
        ('{"mark": "B", "position": "@", "source": 5}', '"source": 5'),
        ('{"mark": "B", "position": "@", "source": "s", "x": "y"}', "\"x\": 'y'"),
        ('{"mark": "B", "position": "@", "sour', "expected an object of JSON"),
    ],
)
def test_other_files_are_refused_by_line(
    log: list[str], tmp_path: Path, line: str, found: str
) -> None:
    place = tmp_path / MARKS_BESIDE
    add_mark(place, mark("B", 200))
    with place.open("a") as file:
        file.write(line.replace("@", at(1)) + "\n")
    was = place.read_bytes()
    with pytest.raises(InputError) as caught:
        read_marks(place)
    assert caught.value.code == "LR2040"
    assert caught.value.where.record == 2
    assert found in caught.value.message
    with pytest.raises(InputError):
        add_mark(place, mark("C", 300))
    assert place.read_bytes() == was
    assert main(["redo", *log, "--until-mark", "B", "--out", str(tmp_path / "out")]) == 12


def test_a_line_without_an_end_is_no_mark(tmp_path: Path) -> None:
    place = tmp_path / "m.jsonl"
    place.write_text(mark("B", 200).line()[:-1])
    with pytest.raises(InputError, match="a line without an end"):
        add_mark(place, mark("C", 300))


def test_marks_of_another_log_are_refused(log: list[str], tmp_path: Path) -> None:
    place = tmp_path / MARKS_BESIDE
    add_mark(place, Mark("A", Position(lrsn(200)), "logmaster DB2Q", "LRSN"))
    add_mark(place, Mark("B", Position(rba(200)), _SOURCE, "RBA"))
    with opened(log) as whole:
        with pytest.raises(UsageError, match=r"'A' of another log \(logmaster DB2Q\)"):
            whole.select(until_mark="A").redo("postgres")
        with pytest.raises(UsageError, match=r"'B' of positions of another kind \(RBA\)"):
            whole.select(until_mark="B").redo("postgres")


@pytest.mark.parametrize(
    "name", ["", "end", "2024-03-15", "A(-1)", "DEADBEEFCAFE", "x" * 65, "a\n"]
)
def test_names_that_mean_something_else_are_refused(
    log: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mark", name, *log]) == 12
    assert "LR1001 found the name" in capsys.readouterr().err


def test_a_mark_outside_of_the_log_is_said(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mark", "LATE", *log, "--position", at(5000)]) == 0
    assert "note: nothing commits there" in capsys.readouterr().err
    assert numbers(log, tmp_path / "out", "--until-mark", "LATE") == list(range(6))
    assert "lies outside of the log: the log goes from commit position" in capsys.readouterr().err
    assert main(["mark", *log]) == 0
    assert f"note: LATE ({at(5000)}) lies outside" in capsys.readouterr().err


def test_units_that_share_a_commit_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = LogBuilder()
    for member in (1, 2):
        builder.unit(member=member, commit=100).insert(ACCT, acct(member))
    control, data = builder.write(tmp_path)
    assert main(["mark", "B", "--control", str(control), "--data", *map(str, data)]) == 0
    assert "2 units of recovery commit there" in capsys.readouterr().err


def test_what_a_mark_needs(log: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for words, code in (
        (["mark", "B"], "LR1001"),
        (["mark"], "LR1001"),
        (["mark", "B", *log, "--to", "sqlite:///x.db"], "LR1001"),
        (["mark", "B", *log, "--ur", "F" * 20], "LR1004"),
        (["mark", "B", *log, "--note", "x" * 1001], "LR1001"),
        (["mark", "B", *log, "--marks", str(Path(log[1]).parent)], "LR1002"),
    ):
        assert main(words) == 12, words
        assert code in capsys.readouterr().err


# -- stores
# -------------------------------------------------------------------------------------------------


def test_marks_in_a_store(log: list[str], tmp_path: Path) -> None:
    place = "memory://marks/of/m.jsonl"
    for tick in (200, 400):
        assert main(["mark", "B", *log, "--marks", place, "--position", at(tick)]) == 0
    assert [made.position.hexadecimal for made in read_marks(storage.at(place))] == [
        at(200),
        at(400),
    ]
    assert numbers(log, tmp_path / "out", "--until-mark", "B(-1)", "--marks", place) == [0, 1]
    assert main(["mark", "--delete", "B(-1)", "--marks", place]) == 0
    (left,) = read_marks(storage.at(place))
    assert (left.position.hexadecimal, left.number) == (at(400), 2)
    storage.put((mark("C", 100).line() + mark("D", 200).line()).encode(), storage.at(place))
    assert main(["mark", "--delete", "C", "--marks", place]) == 0
    assert [made.name for made in read_marks(storage.at(place))] == ["D", "B"]
