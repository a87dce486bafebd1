"""Several sessions side by side: the same end as one session in commit order, exactly once, killed
or not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.history import SCHEMA, Maker
from tests.support.replayed import (
    AT_END,
    PIT1,
    START,
    position,
    rows,
    same,
    statements_of,
)

Replay = Callable[..., int]
SEEDS = 20


@pytest.mark.parametrize("count", ["2", "5"])
def test_every_point(
    replay: Replay, database: str, sakila: Path, count: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for point in json.loads((sakila / "manifest.json").read_text())["points_in_time"]:
        assert (
            replay(
                "--sessions",
                count,
                "--commit-statements",
                "200",
                "--until-lrsn",
                point["commit_lrsn"],
            )
            == 0
        )
        assert same(database, sakila, point["dir"])
    assert replay("--sessions", count) == 0
    assert same(database, sakila, "final")
    assert position(database)[2:] == (*AT_END, 0)
    assert rows(database, "SELECT * FROM logreplay.ahead") == []
    assert "in strict order:" not in capsys.readouterr().out
    assert replay("--until-lrsn", START) == 0
    assert same(database, sakila, "initial")


@pytest.mark.parametrize("size", ["3", "10000"])
def test_random_histories(
    fresh_database: str, tmp_path: Path, size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unique keys and foreign keys enforced: no transaction of one session ever fails for what
    another one does."""
    for seed in range(SEEDS):
        history = Maker(seed, 80, spread=60).history
        folder = tmp_path / str(seed)
        folder.mkdir()
        rows(fresh_database, f"DROP SCHEMA IF EXISTS testown, logreplay CASCADE; {SCHEMA}")
        control, data = history.log(folder, seed=seed)
        arguments = [
            "--control",
            str(control),
            "--data",
            str(data[0]),
            "--engine",
            "local",
            "--apply",
            "--sessions",
            "3",
        ]
        assert (
            main(["replay", *arguments, "--to", fresh_database, "--commit-statements", size]) == 0
        )
        found = {
            name: sorted(rows(fresh_database, f"SELECT * FROM testown.{name}"))
            for name in ("parent", "child", "loose")
        }
        assert found == history.state()
        said = capsys.readouterr().out
        assert position(fresh_database)[2:] == (80, statements_of(said, history), 0)
        assert re.search(r"in strict order:", said) is None


def test_a_row_that_somebody_changed(
    replay: Replay, database: str, sakila: Path, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named as in strict order. Independent units that come later are in the target already,
    ahead of its position: not to be done again, and nothing can be done that would not know of
    them."""
    rows(database, "CREATE TABLE public.saved AS SELECT * FROM sakila.film WHERE film_id = 819")
    rows(database, "UPDATE sakila.film SET last_update = '1999-01-01' WHERE film_id = 819")
    assert replay("--sessions", "3", "--commit-statements", "300") == 8
    said = capsys.readouterr().err
    for part in (
        "LR4006",
        "no-row",
        "in SAKILA.FILM touched 0 rows",
        "before image: {'FILM_ID': '819'",
    ):
        assert part in said
    ahead = sum(
        len(keys.split()) for (keys,) in rows(database, "SELECT unit_keys FROM logreplay.ahead")
    )
    assert ahead > 0
    assert main(["status", "--to", database]) == 0
    assert f"{ahead:,} units are in it ahead of that position" in capsys.readouterr().out
    assert replay("--until-lrsn", START) == 8
    assert f"left {ahead:,} units in the target ahead of its position" in capsys.readouterr().err
    assert (
        main(
            [
                "verify",
                *log,
                "--to",
                database,
                "--expected",
                str(sakila / "initial"),
                "--engine",
                "local",
            ]
        )
        == 8
    )
    assert "LR4007" in capsys.readouterr().err
    rows(
        database,
        "UPDATE sakila.film AS f SET last_update = s.last_update FROM public.saved AS s WHERE"
        " f.film_id = 819",
    )
    assert replay() == 0
    assert same(database, sakila, "final")
    assert position(database)[2:] == (*AT_END, 0)
    assert rows(database, "SELECT * FROM logreplay.ahead") == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--until-lrsn", START], "found --sessions for a replay backward"),
        (["--ri", "skip"], "found --ri skip with --sessions"),
        (["--mode", "bulk"], "found --mode bulk with --sessions"),
        (["--mode", "merged"], "found --mode merged with --sessions"),
    ],
)
def test_what_several_sessions_refuse(
    replay: Replay, capsys: pytest.CaptureFixture[str], options: Sequence[str], said: str
) -> None:
    if options[0] == "--until-lrsn":
        assert replay("--until-lrsn", PIT1) == 0
    assert replay("--sessions", "2", *options) == 8
    shown = capsys.readouterr().err
    assert "LR4009" in shown
    assert said in shown
