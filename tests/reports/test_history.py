"""Histories of rows on the Sakila log, against lives that plain Python puts together from all
changes."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.cli.main import main
from replay.errors import UsageError


@pytest.fixture(scope="module")
def log(sakila: Path) -> Iterator[replay.Log]:
    with replay.open_log(control=sakila / "sakila.ctl", data=sakila / "sakila.dat.gz") as opened:
        yield opened


def named(sakila: Path) -> list[str]:
    files = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    return [*files, "--engine", "local"]


def changes_of(log: replay.Log, table: str) -> list[dict[str, Any]]:
    rows = log.select(tables=table).changes().read_all().to_pylist()
    for row in rows:
        row["before"] = json.loads(row["before"]) if row["before"] else None
        row["after"] = json.loads(row["after"]) if row["after"] else None
    return rows


def lives_of(changes: list[dict[str, Any]], key: str) -> list[list[int]]:
    """The changes of each row, as numbers: rows are told apart by whole images, so that keys may
    shift within a statement."""
    lives: list[list[int]] = []
    held: dict[str, list[tuple[int, Any]]] = defaultdict(list)
    for number, change in enumerate(changes):
        old, new = change["before"], change["after"]
        life = None
        if old is not None:
            rows = held[old[key]]
            place = [at for at, (_, image) in enumerate(rows) if image == old]
            if place:
                life = rows.pop(place[0])[0]
        if life is None:
            life = len(lives)
            lives.append([])
        lives[life].append(number)
        if new is not None:
            held[new[key]].append((life, new))
    return lives


def position(change: dict[str, Any]) -> tuple[str, int]:
    return change["log_file"], change["log_record"]


@pytest.mark.parametrize(
    ("table", "column", "keys"),
    [
        ("SAKILA.CUSTOMER", "customer_id", ["511", "355", "525", "774"]),
        ("SAKILA.LOYALTY_CARD", "card_no", ["SWAP", "K 13", "LC002261", "N91"]),
    ],
)
def test_a_history_is_the_life_of_each_row_that_had_the_key(
    log: replay.Log, table: str, column: str, keys: list[str]
) -> None:
    changes = changes_of(log, table)
    lives = lives_of(changes, column)
    for key in keys:
        wanted = []
        for life in lives:
            values = {
                str(image[column])
                for number in life
                for image in (changes[number]["before"], changes[number]["after"])
                if image is not None
            }
            if key in values:
                wanted.append([position(changes[number]) for number in life])
        history = log.history(table, key)
        shown: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for version in history.versions:
            shown[version.row].append((version.facts["log_file"], version.facts["log_record"]))
            assert version.fate == "committed"
        assert sorted(shown.values()) == sorted(wanted)
        assert history.exit_code == 0


def test_who_emptied_these_addresses(log: replay.Log) -> None:
    changes = changes_of(log, "SAKILA.CUSTOMER")
    emptied = {
        position(change)
        for change in changes
        if change["before"] and change["before"]["email"] is not None and change["after"]
        and change["after"]["email"] is None
    }  # fmt: skip
    where = "before.email is not null and after.email is null and after.customer_id > 0"
    history = log.history("CUSTOMER", where=where)
    rows = {
        version.row
        for version in history.versions
        if (version.facts["log_file"], version.facts["log_record"]) in emptied
    }
    shown = {
        (version.facts["log_file"], version.facts["log_record"])
        for version in history.versions
        if "EMAIL" in version.changed and version.changed["EMAIL"][1] is None
    }
    assert emptied == shown
    assert rows == {version.row for version in history.versions}
    clerk = log.history("CUSTOMER", where=where, authids="CLERK3")
    assert 0 < len(clerk.versions) < len(history.versions)
    assert {version.facts["authid"] for version in clerk.versions} == {"CLERK3"}


def test_rolled_back_versions_are_named_and_shown_on_request(log: replay.Log) -> None:
    shown = log.history("LOYALTY_CARD", "SWAP")
    assert any("rolled back to savepoint" in note for note in shown.notes)
    every = log.history("LOYALTY_CARD", "SWAP", include_aborted=True)
    fates = {version.fate for version in every.versions}
    assert {"committed", "aborted"} < fates
    committed = [v.facts["log_record"] for v in every.versions if v.fate == "committed"]
    # rows that had the key only in work that was taken back are shown as well
    assert {version.facts["log_record"] for version in shown.versions} <= set(committed)


def test_what_a_unit_did(log: replay.Log) -> None:
    history = log.history(units="000000000000A1B2E38C")
    assert [(v.table, v.facts["origin"]) for v in history.versions] == [
        ("SAKILA.RENTAL", "direct"),
        ("SAKILA.FILM_STOCK", "trigger"),
    ]
    assert history.versions[1].changed == {"ON_HAND": (2, 3)}
    assert history.versions[1].key == {"FILM_ID": 819, "STORE_ID": 1}
    commands = dict(history.commands)
    assert "--ur 000000000000A1B2E38C/1" in commands["its whole unit:"]
    assert "--user CLERK0 --plan DISTSERV --job SAKILA04" in commands["all that this job did:"]


def test_the_command_line(sakila: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["history", *named(sakila), "--table", "SAKILA.FILM_STOCK"]
    assert main([*words, "--key", "819,1"]) == 0
    text = capsys.readouterr().out
    assert "ON_HAND  2 -> 3" in text
    assert f"logreplay undo {' '.join(named(sakila))} --ur " in text
    assert main([*words, "--key", "store_id=1,film_id=819", "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["versions"][0]["changed"] == {"ON_HAND": [2, 3]}
    out = tmp_path / "history.csv"
    assert main([*words, "--key", "819,1", "--format", "csv", "--out", str(out)]) == 0
    lines = list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))
    assert len(lines) == len(described["versions"])
    assert lines[0]["unit"] == "000000000000A1B2E38C/1"
    assert main([*words, "--key", "819,1", "--out", str(out)]) == 12
    capsys.readouterr()
    assert main([*words, "--key", "999999,1"]) == 4
    assert "nothing found: none of 2,076 committed changes" in capsys.readouterr().out
    assert main([*words, "--key", "819"]) == 12
    assert "expected 2: FILM_ID=…,STORE_ID=…" in capsys.readouterr().err
    assert main([*words, "--key", "x,1"]) == 12
    assert "expected a whole number" in capsys.readouterr().err


def test_the_commands_of_a_history_work(
    sakila: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["history", *named(sakila), "--table", "CUSTOMER", "--key", "511", "--json"]
    assert main([*words, "--schema", "none"]) == 0
    monkeypatch.chdir(tmp_path)
    for entry in json.loads(capsys.readouterr().out)["take_back"]:
        assert main(shlex.split(entry["command"])[1:]) in (0, 4)
        capsys.readouterr()
    script = (tmp_path / "undo-row" / "0000-undo.sql").read_text(encoding="utf-8")
    assert "active = 'N'" in script
    assert script.count("UPDATE sakila.customer SET") == 1


def test_rows_without_a_key_are_told_by_their_content(log: replay.Log) -> None:
    with pytest.raises(UsageError, match="LR1001 found --key for SAKILA.KIOSK_SCAN"):
        log.history("KIOSK_SCAN", "1")
    changes = changes_of(log, "SAKILA.KIOSK_SCAN")
    first = next(change for change in changes if change["op"] == "update")
    unit = first["urid"]
    history = log.history("KIOSK_SCAN", units=unit)
    assert len(history.versions) == sum(change["urid"] == unit for change in changes)
    with pytest.raises(UsageError, match="LR1001 found neither --key nor --where"):
        log.history("KIOSK_SCAN")
    with pytest.raises(UsageError, match="LR1001 found --key without --table"):
        log.history(key="1")
