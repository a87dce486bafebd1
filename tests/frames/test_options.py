"""The options of sources and those of the command line: what one has, the other has too, or it is
said here why not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replay.changes.notation import choice_of
from replay.cli.manual import commands_of, described_parser
from replay.errors import LogReplayError
from replay.frames.batch import Prepared
from replay.frames.options import _NAMES, read_options
from replay.logs import LogPair
from tests.dependencies.test_proof import Suspects, database, name, unloaded
from tests.frames.test_parts import notes_of, prepared, rows_of
from tests.frames.test_stream import Follower
from tests.support.family_logs import SMALL
from tests.support.logbuilder import ACCT, acct

#: What options of ``export`` are called in sources, where that is another name.
CALLED = {
    "--ur": "units",
    "--until-position": "until",
    "--until-lrsn": "until",
    "--from-lrsn": "from_position",
}
#: Options of ``export`` that a source has none of, and why.
NOT_OF_A_SOURCE = {
    "--help": "of the command line",
    "--config": "of the command line: a program has its options where it likes",
    "--selection": "of the command line",
    "--out": "rows go into a frame",
    "--overwrite": "rows go into a frame",
    "--grow": "rows go into a frame; a stream goes on from its checkpoint",
    "--after": "a stream goes on from its checkpoint",
    "--format": "Spark writes frames in its own formats",
    "--merge": "merge_batch",
    "--initial": "merge_batch goes on from a table that is there",
    "--parquet-types": "types of a frame are those of portable Parquet",
    "--csv-null": "Spark writes CSV itself",
    "--csv-formulas": "Spark writes CSV itself",
    "--schemas": "of Debezium events",
    "--engine": "Spark is the engine",
    "--master": "of the session",
    "--conf": "of the session",
    "--executor-timeout": "of the session",
    "--task-timeout": "of the session",
    "--log-json": "Spark's own pages show tasks",
    "--log-option": "logOption.NAME",
}


def test_options_of_sources_are_those_of_the_command_line() -> None:
    export = commands_of(described_parser())["export"]
    options = {
        option
        for action in export._actions
        for option in action.option_strings
        if option.startswith("--")
    }
    assert set(NOT_OF_A_SOURCE) <= options
    for option in options - set(NOT_OF_A_SOURCE):
        words = CALLED.get(option, option[2:]).replace("-", "").replace("_", "")
        assert {words, f"{words}s"} & set(_NAMES), f"no source has {option}"


def test_options_of_streams_are_those_of_follow() -> None:
    """How logs arrive, but for what is about a service or a target."""
    follow = commands_of(described_parser())["follow"]
    here = {action.dest for action in follow._actions}
    assert {"arrival", "settle", "late", "gaps"} <= here
    assert {"arrival", "settle", "late", "gaps"} <= set(_NAMES.values())


# -- baseline
# -------------------------------------------------------------------------------------------------


def suspects_of(folder: Path) -> tuple[dict[str, str], Any, Any]:
    """A log with two units that may depend on an incomplete one."""
    suspects = Suspects()
    same, other = suspects.flagged(), suspects.flagged()
    same.update(ACCT, acct(1), acct(1, "NEW"))
    other.update(ACCT, acct(2), acct(2, "NEW"))
    suspects.finish()
    control, data = suspects.log.write(folder, seed=1)
    return {"control": str(control), "data": str(data[0])}, same, other


def found_of(folder: Path, **options: str) -> Prepared:
    folder.mkdir()
    return prepared(read_options({"rows": "changes", "schema": "none", **options}), str(folder))


@pytest.mark.parametrize("make", [unloaded, database])
def test_a_baseline_releases_what_it_proves(make: Callable[..., Any], tmp_path: Path) -> None:
    log, same, other = suspects_of(tmp_path)
    without = found_of(tmp_path / "without", **log)
    assert rows_of(without).num_rows == 0
    state = str(make(tmp_path, {"ACCT": [acct(1), acct(2, "OTHER")]}))
    found = found_of(tmp_path / "with", **log, baseline=state)
    assert [f"{row['urid']}/{row['member']}" for row in rows_of(found).to_pylist()] == [name(same)]
    assert name(other) in {note["unit"] for note in notes_of(found, "unit")}
    assert any("acct/2" in note["text"] for note in notes_of(found, "warning"))
    if make is unloaded:  # a state that is another one by now is looked at again
        unloaded(tmp_path, {"ACCT": [acct(1), acct(2)], "LOOSE": []})
        options = {"rows": "changes", "schema": "none", **log, "baseline": state}
        assert rows_of(prepared(read_options(options), str(tmp_path / "with"))).num_rows == 2


# -- except
# -------------------------------------------------------------------------------------------------

LOG = {"control": str(SMALL / "small.ctl"), "data": str(SMALL / "small.dat")}


def test_units_are_left_out_with_what_builds_on_them(tmp_path: Path) -> None:
    rows = rows_of(found_of(tmp_path / "all", **LOG)).to_pylist()
    first = f"{rows[0]['urid']}/{rows[0]['member']}"
    found = found_of(tmp_path / "work", **LOG, **{"except": f"{first}, ur=0000000000000000FFFF"})
    left = {f"{row['urid']}/{row['member']}" for row in rows_of(found).to_pylist()}
    assert first not in left
    assert left < {f"{row['urid']}/{row['member']}" for row in rows}


@pytest.mark.parametrize("text", ["color=red", "authid=", "12"])
def test_what_names_no_unit_is_refused(text: str) -> None:
    with pytest.raises(LogReplayError, match="LR1001"):
        choice_of(text)
    with pytest.raises(LogReplayError, match="LR1001"):
        read_options({**LOG, "except": text})


def test_a_baseline_speaks_for_the_first_batch_of_a_stream(tmp_path: Path) -> None:
    log, same, _ = suspects_of(tmp_path)
    state = str(unloaded(tmp_path, {"ACCT": [acct(1), acct(2, "OTHER")]}))
    for baseline, units in (({}, set()), ({"baseline": state}, {name(same)})):
        place = tmp_path / f"stream-{len(baseline)}"
        place.mkdir()
        follower = Follower(place, schema="none", **baseline)
        follower.arrive(LogPair(log["control"], (log["data"],)))
        rows = follower.rest()
        assert {f"{row['urid']}/{row['member']}" for row in rows} == units
