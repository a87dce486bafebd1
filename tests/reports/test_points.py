"""Points that the log does not reach: nobody knows what committed between."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replay.changes.notation import first_of_time, time_of
from replay.cli.main import main

FIRST, LAST = "00DECBEAE1CD21300000", "00DECBEB722CB1800000"
#: Before all of the small log, behind it, and within: from 08:00:06 to 08:02:37.
OUTSIDE = ("2019-01-01", "2024-03-15 08:00:05", "2024-03-15 08:03", "00DECBEB722CB1800001",
           "00DECBEAE1CD212FFFFE")  # fmt: skip
WITHIN = ("start", "2024-03-15 08:00", "2024-03-15 08:02", "2024-03-15", FIRST, LAST,
          "00DECBEAE1CD212FFFFF", "end")  # fmt: skip


@pytest.fixture
def log(sakila_small: Path) -> list[str]:
    return [str(sakila_small / "small.ctl"), "--engine", "local"]


@pytest.mark.parametrize("at", [*OUTSIDE, *WITHIN])
def test_a_point_outside_of_the_log_is_warned_of(
    at: str, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    said = f"{at} lies outside of the log: the log goes from commit position {FIRST} (2024-03-15"
    outside = at in OUTSIDE
    main(["state", *log, "--table", "CUSTOMER", "--at", at])
    assert (f"warning: {said}" in capsys.readouterr().err) is outside
    code = main(["state", *log, "--table", "CUSTOMER", "--diff", FIRST, at])
    told = capsys.readouterr()
    assert (f"warning: {said}" in told.out + told.err) is outside
    assert "the same" not in told.out
    assert code == 4 or not outside
    code = main(["report", "open", *log, "--at", at, "--json"])
    report = json.loads(capsys.readouterr().out)
    assert any(line.startswith(said) for line in report["warnings"]) is outside
    assert code == 4 or not outside


def test_a_whole_state_outside_of_the_log_ends_with_4(
    sakila_small: Path, log: list[str], tmp_path: Path
) -> None:
    words = ["state", *log, "--table", "CUSTOMER", "--format", "csv"]
    before = str(tmp_path / "before")
    assert main([*words, "--at", "start", "--out", before]) == 4
    for at, code in ((LAST, 0), ("2024-03-15 08:02", 0), ("2024-03-16", 4), ("2019-01-01", 4)):
        out = tmp_path / "out"
        more = ["--initial", before, "--initial-at", "before", "--overwrite"]
        assert main([*words, "--at", at, "--out", str(out), *more]) == code
        warnings = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["warnings"]
        assert bool(warnings) == (code == 4)


def test_a_replay_to_a_point_outside_of_the_log(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path}/shop.db?schema=sakila"
    assert main(["state", *log, "--at", "start", "--to", url]) == 4
    words = ["replay", *log, "--to", url]
    capsys.readouterr()
    for end, code in (
        (["--until-time", "2024-03-14"], 4),
        (["--until-time", "2024-03-16"], 4),
        (["--until-position", "00DECBEB722CB1800001"], 4),
        (["--until-position", LAST], 0),
        (["--until-time", "2024-03-15 08:02"], 0),
        (["--until-time", "2024-03-16", "--apply"], 4),
        (["--until-time", "2024-03-16"], 4),
        (["--until-position", "00DECBEAE1CD212FFFFF"], 0),
        ([], 0),
    ):
        assert main([*words, *end]) == code, end
        assert ("lies outside of the log" in "".join(capsys.readouterr())) is (code == 4), end


@pytest.mark.parametrize(
    "text", ["2024-03-15", "2024-03-15 23:59", "2024-03-15 10:15", "2024-03-15 10:15:07.25"]
)
def test_the_first_moment_of_a_time_whose_last_is_known(text: str) -> None:
    day = "2024-03-15" if text.endswith("23:59") else text  # the last minute may mean the day
    assert first_of_time(time_of(text, last=True)) <= time_of(day, last=False)
    assert first_of_time(time_of(text, last=False)) == time_of(text, last=False)
