"""``--after``: a bundle that goes on where another one ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.cli.main import main
from replay.errors import InputError, LogReplayError, UsageError
from replay.logs import LogPair
from replay.output.bundle import Bundle
from sqlgen.schema import Constraints
from tests.support.cutlogs import with_end, write_pair
from tests.support.logbuilder import ACCT, LogBuilder, acct, frame, lrsn

_NO_KEYS = Constraints(complete=True)


def words(pairs: Sequence[LogPair]) -> list[str]:
    """The options that name pairs."""
    return [w for p in pairs for w in ("--control", p.control, "--data", *p.data)]


def redo(out: Path, *more: Any) -> int:
    return main(["redo", "--schema", "none", "--out", str(out), *map(str, more)])


def manifest(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return read


def write(out: Path, pairs: Sequence[LogPair], after: Path | str | None = None) -> Bundle:
    controls, data = [pair.control for pair in pairs], [pair.data for pair in pairs]
    with replay.open_log(control=controls, data=data, gaps="warn", continues=True) as log:
        wanted = log.select().redo("postgres", schema=_NO_KEYS)
        return wanted.write(out, after=after, adjoining=True)


def log_of(folder: Path, name: str, log: LogBuilder, end: int) -> LogPair:
    """Write the changes of a log as one that ends at a tick, and forget them."""
    raw = frame(log.control_records(), "rdw")
    pair = write_pair(folder, name, raw, log.records(), lrsn(end))
    Path(pair.control).write_bytes(with_end(raw, lrsn(end)))
    log.changes.clear()
    return pair


def test_a_unit_that_is_open_at_the_end_waits_in_a_chain_of_extracts(tmp_path: Path) -> None:
    """It was copied in part and counted as taken, so that its other changes never came."""
    log = LogBuilder()
    log.unit(commit=90).insert(ACCT, acct(1))
    unit = log.unit(commit=350)
    unit.insert(ACCT, acct(2))
    log.unit(commit=370, INCOMPLETETRANS="Y").insert(ACCT, acct(3))
    one = log_of(tmp_path, "a", log, 300)
    log.changes.clear()
    unit.insert(ACCT, acct(4))
    log.clock = 330
    log.unit(commit=370).insert(ACCT, acct(3))
    two = log_of(tmp_path, "b", log, 800)
    after: Path | str = "none"
    for name, pairs in (("one", [one]), ("two", [one, two])):
        go = ["extract", *words(pairs), "--after", str(after), "--out", str(tmp_path / name)]
        assert main(go) in (0, 4)
        after = tmp_path / name
    copies = [w for name in ("one", "two") for w in ("--control", f"{tmp_path / name}/extract.ctl",
              "--data", f"{tmp_path / name}/extract.dat")]  # fmt: skip
    assert redo(tmp_path / "out", *copies) == 0
    texts = "".join(path.read_text() for path in sorted((tmp_path / "out").glob("*.sql")))
    assert texts.count("INSERT") == 4


def test_a_later_log_repeats_a_unit_whose_records_are_in_two_others(tmp_path: Path) -> None:
    """The last unit that was taken: each log before had some of its records, this one has all."""
    log = LogBuilder()
    unit = log.unit(commit=350)
    unit.insert(ACCT, acct(1))
    first = [*log.changes]
    one = log_of(tmp_path, "a", log, 300)
    log.clock = 310
    unit.insert(ACCT, acct(2))
    second = [*log.changes]
    two = log_of(tmp_path, "b", log, 400)
    log.changes = [*first, *second]
    log.clock = 500
    log.unit(commit=590).insert(ACCT, acct(3))
    three = log_of(tmp_path, "c", log, 800)
    after: Path | str = "none"
    for name, pairs in (("1", [one]), ("2", [one, two]), ("3", [one, two, three])):
        assert redo(tmp_path / name, *words(pairs), "--after", after) in (0, 4)
        after = tmp_path / name
    assert manifest(tmp_path / "3")["statements"] == 1


def test_a_unit_of_a_member_whose_log_lags_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It commits before the end of the log that lacks it. The chain begins anew where it says."""
    log = LogBuilder()
    log.unit(member=1, commit=90).insert(ACCT, acct(1))
    log.unit(member=1, commit=300).insert(ACCT, acct(2))
    one = log_of(tmp_path, "a", log, 400)
    assert redo(tmp_path / "one", *words([one])) == 0
    log.clock = 450
    log.unit(member=2, commit=200, start=100).insert(ACCT, acct(3))
    log.unit(member=2, commit=500).insert(ACCT, acct(4))
    two = log_of(tmp_path, "b", log, 800)
    after = [*words([one, two]), "--after", tmp_path / "one"]
    capsys.readouterr()
    assert redo(tmp_path / "two", *after) == 12
    message = capsys.readouterr().err
    assert "LR2039" in message
    assert "b.dat, record 1" in message
    assert "start over from before them: --after none, with all logs since" in message
    assert redo(tmp_path / "again", *words([one, two]), "--after", "none") == 0
    assert manifest(tmp_path / "again")["statements"] == 4


@pytest.mark.parametrize("start", [1, 80])
def test_units_that_commit_at_the_same_position(tmp_path: Path, start: int) -> None:
    """They are in the order of their ids, which is that in which they began."""
    log = LogBuilder()
    log.unit(member=2, commit=90, start=40).insert(ACCT, acct(1))
    one = log_of(tmp_path, "a", log, 90)
    assert redo(tmp_path / "one", *words([one])) == 0
    log.unit(member=1, commit=90, start=start, UORCOMMITPOINT=lrsn(91)).insert(ACCT, acct(2))
    two = log_of(tmp_path, "b", log, 200)
    behind = start > 40
    code = redo(tmp_path / "two", *words([one, two]), "--after", tmp_path / "one")
    assert code == (0 if behind else 12)
    if behind:
        assert manifest(tmp_path / "two")["statements"] == 1


def test_a_manifest_says_where_it_begins_and_ends(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit(commit=90).insert(ACCT, acct(1))
    one = log_of(tmp_path, "a", log, 400)
    log.unit(commit=590).insert(ACCT, acct(2))
    two = log_of(tmp_path, "b", log, 800)
    assert redo(tmp_path / "one", *words([one]), "--after", "none") == 0
    assert redo(tmp_path / "two", *words([one, two]), "--after", tmp_path / "one") == 0
    first, second = (manifest(tmp_path / name)["positions"] for name in ("one", "two"))
    assert first["before"] is None
    assert second["before"]["bundle"] == "one"
    for name in ("source", "position", "unit", "reaches"):
        assert second["before"][name] == first["after"][name]
    assert second["after"]["position"] == lrsn(590).hex().upper()
    assert set(first["after"]["logs"]) < set(second["after"]["logs"])
    assert len(second["after"]["logs"]) == 2


@pytest.fixture
def first(tmp_path: Path) -> LogPair:
    """A log of which a bundle ``one`` was written."""
    log = LogBuilder()
    log.unit(commit=90).insert(ACCT, acct(1))
    pair = log_of(tmp_path, "a", log, 400)
    assert redo(tmp_path / "one", *words([pair])) == 0
    return pair


@pytest.mark.parametrize(
    ("more", "name"),
    [
        (["--dialect", "mariadb"], "dialect"),
        (["--table", "TESTOWN.ACCT"], "tables"),
        (["--trace"], "trace"),
        (["--ri", "skip"], "ri"),
    ],
)
def test_other_options_are_refused(
    tmp_path: Path, first: LogPair, more: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    out = tmp_path / "two"
    assert redo(out, *words([first]), "--after", tmp_path / "one", *more) == 12
    message = capsys.readouterr().err
    assert f"found {name} " in message
    assert "as in the output folder before" in message
    assert not out.exists()


MASKED = """
[schemas]
TESTOWN = "shop"
[tables."TESTOWN.ACCT"]
name = "account"
columns = { OPEN_DT = "opened" }
types = { BAL = "numeric(12, 2)" }
exclude = ["NAME"]
mask = ["ID"]
"""


def test_a_chain_with_a_mapping(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It goes on with the same mapping, and with no other one or another key for masks."""
    log = LogBuilder()
    log.unit(commit=90).insert(ACCT, acct(1))
    one = log_of(tmp_path, "a", log, 400)
    log.unit(commit=500).insert(ACCT, acct(2))
    two = log_of(tmp_path, "b", log, 800)
    for name, text in (("map", MASKED), ("other", MASKED.replace("NAME", "RATE"))):
        (tmp_path / f"{name}.toml").write_text(text)
    for name in ("key", "else"):
        (tmp_path / name).write_text(name * 16)

    def mapped(mapping: str, key: str) -> list[Any]:
        return ["--mapping", tmp_path / mapping, "--mask-key-file", tmp_path / key]

    assert redo(tmp_path / "one", *words([one]), *mapped("map.toml", "key")) == 0
    after = [*words([one, two]), "--after", tmp_path / "one"]
    for mapping, key in (("other.toml", "key"), ("map.toml", "else")):
        assert redo(tmp_path / "two", *after, *mapped(mapping, key)) == 12, (mapping, key)
        assert "as in the output folder before" in capsys.readouterr().err
    assert redo(tmp_path / "two", *after, *mapped("map.toml", "key")) == 0
    assert manifest(tmp_path / "two")["statements"] == 1


def test_a_gap_is_refused(
    tmp_path: Path, first: LogPair, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LogBuilder()
    log.clock = 1000
    log.unit(commit=1090).insert(ACCT, acct(3))
    later = log_of(tmp_path, "c", log, 1400)
    capsys.readouterr()
    after = ["--after", tmp_path / "one" / "manifest.json"]
    assert redo(tmp_path / "two", *words([later]), *after) == 12
    assert "LR2037" in capsys.readouterr().err
    assert redo(tmp_path / "two", *words([first, later]), *after) == 0
    assert redo(tmp_path / "three", *words([later]), *after, "--gaps", "allow") == 0


def test_a_bundle_of_another_source_or_kind_is_refused(tmp_path: Path, first: LogPair) -> None:
    log = LogBuilder(system="DB3P")
    log.unit(commit=90).insert(ACCT, acct(1))
    other = log_of(tmp_path, "x", log, 400)
    with pytest.raises(UsageError, match="expected one of logmaster DB2P"):
        write(tmp_path / "two", [other], tmp_path / "one")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        write(tmp_path / "two", [first], tmp_path / "broken.json")
    with replay.open_log(control=first.control, data=first.data) as opened:
        undo = opened.select().undo("postgres", schema=_NO_KEYS)
        undo.write(tmp_path / "undo")
        with pytest.raises(LogReplayError, match="no position at which the output folder ended"):
            opened.select().redo("postgres", schema=_NO_KEYS).write(
                tmp_path / "t", after=tmp_path / "undo"
            )
        with pytest.raises(UsageError, match="found --after with undo"):
            undo.write(tmp_path / "two", after=tmp_path / "one")
