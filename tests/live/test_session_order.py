"""The order of ``--sessions``: from what units and readers saw of lists follows that nobody saw
what commit order forbids; and a scheduler that is broken on purpose is caught."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psycopg
import pytest

from replay.cli.main import main
from replay.live.parallel import Partitioner, Share
from replay.targets import embedded
from tests.conftest import database_on
from tests.support.append_history import Items, Seen, anomalies, decoded, items_of
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.replayed import rows

LISTS = Tab("LISTS", (Col("ID", "INT", 4, key=1), Col("ITEMS", "VCHR", 2000)))
#: Histories in which a wrong scheduler must be caught.
ATTEMPTS = 10
SLOT = "SELECT pg_create_logical_replication_slot('order', 'test_decoding')"
DECODED = "SELECT data FROM pg_logical_slot_get_changes('order', NULL, NULL)"
KEYS, UNITS = 12, 150


@pytest.fixture(scope="module")
def decoding_server() -> Iterator[str]:
    """An embedded server that keeps a record of its transactions, old rows in full."""
    settings = {"wal_level": "logical", "max_wal_senders": "4", "max_replication_slots": "4"}
    settings["synchronous_commit"] = "on"  # what is not written out yet is not decoded
    with embedded.server(**settings) as url:
        yield url


@pytest.fixture
def lists(decoding_server: str) -> Iterator[str]:
    """A database with empty lists, all changes of which are recorded."""
    for url in database_on(decoding_server):
        rows(
            url,
            "CREATE SCHEMA testown; CREATE TABLE testown.lists (id integer PRIMARY KEY, items"
            f" text); INSERT INTO testown.lists SELECT n, '' FROM generate_series(1, {KEYS}) n;"
            " ALTER TABLE testown.lists REPLICA IDENTITY FULL",
        )
        rows(url, SLOT)
        yield url
        rows(url, "SELECT pg_drop_replication_slot('order')")


def appending(seed: int, folder: Path) -> tuple[dict[int, set[int]], list[str]]:
    """(the lists that each unit appends its number to, the options that name their log)."""
    rng = random.Random(seed)
    log = LogBuilder((LISTS,))
    state = dict.fromkeys(range(1, KEYS + 1), "")
    appended: dict[int, set[int]] = {}
    for number in range(1, UNITS + 1):
        unit = log.unit()
        appended[number] = set(rng.sample(range(1, KEYS + 1), rng.choice([1, 1, 2, 3])))
        for key in sorted(appended[number], key=lambda _: rng.random()):
            after = f"{state[key]} {number}".strip()
            unit.update(LISTS, (key, state[key]), (key, after))
            state[key] = after
    control, (data,) = log.write(folder, seed=seed)
    return appended, ["--control", str(control), "--data", str(data), "--engine", "local"]


@contextmanager
def reading(url: str) -> Iterator[list[dict[int, Items]]]:
    """What somebody sees who reads all lists again and again."""
    seen: list[dict[int, Items]] = []
    done = threading.Event()

    def read() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while not done.is_set():
                found = connection.execute("SELECT id, items FROM testown.lists").fetchall()
                seen.append({key: items_of(text) for key, text in found})

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def history(url: str, seed: int, folder: Path, *more: str) -> list[str]:
    """What was wrong with the order in which several sessions applied a log."""
    appended, log = appending(seed, folder)
    pace = ["--sessions", "3", "--commit-statements", "4", "--where-columns", "key"]
    with reading(url) as seen:
        assert main(["replay", *log, "--to", url, "--apply", *pace, *more]) == 0
    units = decoded(text for (text,) in rows(url, DECODED))
    final = {k: items_of(t) for k, t in rows(url, "SELECT id, items FROM testown.lists")}
    assert len(units) == UNITS
    assert seen
    return anomalies(appended, units, seen, final)


def some_history(url: str, seed: int, folder: Path, *wanted: str) -> set[str]:
    """Which of the ``wanted`` words some histories from ``seed`` on bring about: how sessions meet
    is up to the machine, so what a wrong scheduler does need not show the first time."""
    caught: set[str] = set()
    for attempt in range(ATTEMPTS):
        if attempt:
            rows(url, "DROP SCHEMA logreplay CASCADE; UPDATE testown.lists SET items = ''")
            rows(url, DECODED)
        part = folder / str(attempt)
        part.mkdir()
        lines = history(url, seed + 100 * attempt, part)
        caught |= {words for words in wanted if any(words in line for line in lines)}
        if caught == set(wanted):
            break
    return caught


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nobody_saw_what_commit_order_forbids(lists: str, tmp_path: Path, seed: int) -> None:
    assert history(lists, seed, tmp_path) == []


def test_a_scheduler_that_knows_no_rows_is_caught(
    lists: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units of the same row go to different sessions; what the statements find is not checked."""
    monkeypatch.setattr(Partitioner, "_labels", lambda _, units: np.arange(len(units)))
    caught = some_history(lists, 4, tmp_path, "commit order makes it", "a circle")
    assert caught == {"commit order makes it", "a circle"}


def test_a_scheduler_that_turns_the_order_round_is_caught(
    lists: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units that hang together stay in one transaction, the last of them first."""
    shares = Partitioner.shares

    def turned(self: Partitioner, units: object) -> list[Share]:
        return [Share(share.units[::-1]) for share in shares(self, units)]  # type: ignore[arg-type]

    monkeypatch.setattr(Partitioner, "shares", turned)
    assert some_history(lists, 5, tmp_path, "a circle") == {"a circle"}


# -- the checker itself
# -------------------------------------------------------------------------------------------------

APPENDED = {1: {1, 2}, 2: {1}, 3: {2}}
WHOLE = {
    1: Seen({1: (), 2: ()}, {1: (1,), 2: (1,)}),
    2: Seen({1: (1,)}, {1: (1, 2)}),
    3: Seen({2: (1,)}, {2: (1, 3)}),
}
FINAL = {1: (1, 2), 2: (1, 3)}


def test_a_history_that_can_be() -> None:
    """Unit 3 may be there before unit 2, with which it has nothing to do."""
    readers: list[dict[int, Items]] = [{1: (), 2: ()}, {1: (1,), 2: (1, 3)}, {1: (1, 2), 2: (1,)}]
    assert anomalies(APPENDED, WHOLE, readers[:2], FINAL) == []
    assert anomalies(APPENDED, WHOLE, readers[2:], FINAL) == []


@pytest.mark.parametrize(
    ("readers", "said"),
    [
        ([{1: (1,), 2: ()}], "a circle"),
        ([{1: (2,), 2: (1,)}], "saw (2,) in list 1, which is no part of its history"),
        ([{1: (1, 2), 2: (1,)}, {1: (1,), 2: (1, 3)}], "a circle"),
    ],
)
def test_readers_that_saw_what_cannot_be(readers: list[dict[int, Items]], said: str) -> None:
    """Half a unit; a later version without an earlier one; two units in two orders."""
    assert any(said in line for line in anomalies(APPENDED, WHOLE, readers, FINAL))


def test_units_that_saw_what_cannot_be() -> None:
    lost = {**WHOLE, 2: Seen({1: ()}, {1: (2,)})}
    found = anomalies(APPENDED, lost, [], {1: (2,), 2: (1, 3)})
    assert "list 1 ended as (2,); commit order makes it (1, 2)" in found
    late = {
        1: Seen({1: (2,), 2: ()}, {1: (2, 1), 2: (1,)}),
        2: Seen({1: ()}, {1: (2,)}),
        3: WHOLE[3],
    }
    assert any("a circle" in x for x in anomalies(APPENDED, late, [], {1: (2, 1), 2: (1, 3)}))
    assert "unit 3 appended to []; expected [2]" in anomalies(
        APPENDED, {1: WHOLE[1], 2: WHOLE[2]}, [], FINAL
    )
    assert "unit 9 is of no log" in anomalies(APPENDED, {**WHOLE, 9: WHOLE[3]}, [], FINAL)
