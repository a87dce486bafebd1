"""A log whose rows come from an earlier log, or that meets rows of a later state: where no earlier
log was replayed into the target, that is the likeliest reason why a change does not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.logbuilder import LogBuilder
from tests.support.servers import kinds, server_of
from tests.support.small_target import (
    AFTER,
    BEFORE,
    TABLE,
    replay,
    run,
    small_target,
    state,
    write_log,
)

ROWS_FROM_BEFORE = "No earlier log was replayed into this target"


@pytest.fixture(params=kinds("sqlite", "duckdb"))
def empty(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a database that has the log's table, without rows."""
    with small_target(request.param, server_of(request, request.param)) as url:
        run(url, "DELETE FROM testown.t")
        yield url


def written(log: LogBuilder, folder: Path) -> list[str]:
    folder.mkdir()
    control, data = log.write(folder, seed=1)
    return ["--control", str(control), "--data", str(data[0])]


@pytest.fixture
def logs(tmp_path: Path) -> tuple[list[str], list[str]]:
    """Two logs that follow one another: the second changes rows that the first inserts."""
    first, second = LogBuilder([TABLE]), LogBuilder([TABLE])
    for number, row in enumerate([("a", "one"), ("b", "two"), ("c", "three")]):
        first.unit(start=1000 + number, commit=2000 + number).insert(TABLE, row)
    second.unit(start=2500, commit=3000).insert(TABLE, ("d", "four"))
    second.unit(start=2600, commit=3100).update(TABLE, ("a", "one"), ("a", "uno"))
    second.unit(start=2700, commit=3200).delete(TABLE, ("b", "two"))
    return written(first, tmp_path / "first"), written(second, tmp_path / "second")


def test_the_log_before_was_not_replayed(
    logs: tuple[list[str], list[str]], empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says so, at a second try too, and its way out works."""
    first, second = logs
    for _ in range(2):
        assert replay(second, empty) == 8
        said = capsys.readouterr().err
        assert "no-row" in said
        assert ROWS_FROM_BEFORE in said
        assert "If an earlier log changes them, give that one as well" in said
        assert "If its rows are those of a later point, say so with --at-position" in said
        assert said.partition("\n")[0].count("unit ") == 1  # the place has it
    assert state(empty) == [("d", "four")]
    assert replay([*first, *second], empty) == 12
    (back, at) = re.findall(r"(?:until|at)-position ([0-9A-F]{20})", capsys.readouterr().err)
    assert replay(second, empty, "--until-position", back) == 0
    assert state(empty) == []
    assert replay([*first, *second], empty, "--at-position", at) == 0
    assert state(empty) == sorted([*AFTER, ("d", "four")])


def test_a_dry_run_says_where_a_target_is_taken_to_stand(
    logs: tuple[list[str], list[str]], empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first, _ = logs
    said = "This target was never replayed: it is taken to stand before this log"
    for more, told in (([], True), (["--at-position", "end"], False)):
        assert main(["replay", *first, "--to", empty, *more]) == 0
        assert (said in capsys.readouterr().out) is told


def test_the_log_before_was_replayed(
    logs: tuple[list[str], list[str]], empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then somebody took the row away."""
    first, second = logs
    assert replay(first, empty) == 0
    run(empty, "DELETE FROM testown.t WHERE k = 'a'")
    assert replay(second, empty, "--adjoining") == 8
    said = capsys.readouterr().err
    assert ROWS_FROM_BEFORE not in said
    assert "Find out who changed the row" in said


def test_the_rows_are_of_a_later_state(
    logs: tuple[list[str], list[str]], empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(empty, "INSERT INTO testown.t VALUES ('a', 'one')")
    assert replay(logs[0], empty) == 8
    said = capsys.readouterr().err
    assert "duplicate-key" in said
    assert ROWS_FROM_BEFORE in said
    assert "--at-position" in said


@pytest.mark.parametrize("point", ["end", "DONE", "2024-03-16"])
def test_where_the_data_stand_is_any_point_of_the_log(
    point: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `state --at` takes it. What is taken back was there before."""
    log = write_log(tmp_path)
    assert main(["mark", "DONE", *log]) == 0
    with small_target("sqlite", None) as url:
        assert replay(log, url, "--at-position", "start", "--until-position", "0" * 20) == 0
        assert "Nothing was undone" in capsys.readouterr().out
        run(
            url,
            "UPDATE testown.t SET v = 'uno' WHERE k = 'a'",
            "DELETE FROM testown.t WHERE k = 'b'",
        )
        assert replay(log, url, "--at-position", "nowhere") == 12
        assert "expected a commit position (20 digits), a time" in capsys.readouterr().err
        assert replay(log, url, "--at-position", point, "--until-position", "0" * 20) == 0
        assert state(url) == BEFORE
        capsys.readouterr()
        assert main(["status", "--to", url]) == 0
        said = capsys.readouterr().out
        assert "2 units and 2 statements that it held before the first replay are undone" in said
        assert "options: selection (ri apply" in said
