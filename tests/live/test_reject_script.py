"""``status --rejects F.sql``: what a replay left out is a script that the database's client runs,
where a row that has changed since stops it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.errors import TargetError
from replay.targets import target_named
from tests.support.logbuilder import Col, LogBuilder, Tab, Unit
from tests.support.small_target import run, session_of

ITEM = Tab("ITEM", (Col("N", "INT", 4, key=1), Col("A", "INT", 4), Col("B", "INT", 4)), "SHOP")
SKIP = tuple(
    word
    for condition in ("no-row", "duplicate-key", "foreign-key", "other")
    for word in ("--on", f"{condition}=skip")
)
Row = tuple[int, int, int]


class Place:
    """An empty database with the log's table."""

    def __init__(self, kind: str, url: str, folder: Path) -> None:
        self.kind, self.url, self.folder = kind, url, folder
        self.target = target_named(kind)
        self.words = list[str]()
        with session_of(url) as session:
            session.make_schema("shop")
        self.sql("CREATE TABLE shop.item (n integer PRIMARY KEY, a integer, b integer)")

    def sql(self, *statements: str) -> None:
        run(self.url, *statements)

    def insert(self, *rows: Row) -> None:
        self.sql(*(f"INSERT INTO shop.item VALUES {row}" for row in rows))

    def log(self, *units: Callable[[Unit], None]) -> None:
        log = LogBuilder((ITEM,))
        for write in units:
            write(log.unit())
        control, data = log.write(self.folder)
        self.words = ["--control", str(control), "--data", *map(str, data)]

    def replay(self, *words: str) -> int:
        how = ["--to", self.url, "--engine", "local", "--schema", "none", "--apply"]
        return main(["replay", *self.words, *how, *words])

    def back(self) -> int:
        return self.replay("--until-position", "0" * 20)

    def rows(self) -> list[Row]:
        with session_of(self.url) as session:
            return session.query("SELECT n, a, b FROM shop.item ORDER BY n")  # type: ignore[return-value]

    def left(self) -> tuple[int, int]:
        """How many rejects there are, and how many the position counts."""
        with session_of(self.url) as session:
            rejects = session.query(f"SELECT count(*) FROM {session.own('reject')}")
            counted = session.query(f"SELECT rejected FROM {session.own('position')}")
            return int(rejects[0][0]), int(counted[0][0])

    def script(self) -> str:
        path = self.folder / "rejects.sql"
        assert main(["status", "--to", self.url, "--rejects", str(path)]) == 0
        return path.read_text(encoding="utf-8")

    def run(self) -> None:
        self.target.run_scripts(self.url, [self.folder / "rejects.sql"])


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, postgres: str, tmp_path: Path) -> Iterator[Place]:
    server = postgres if request.param == "postgres" else None
    with target_named(request.param).scratch(server) as url:
        yield Place(request.param, url, tmp_path)


@pytest.fixture
def skipped(place: Place) -> Place:
    """Of row 1 both changes were skipped, of row 2 one, and 3 is there as the log says."""

    def one(unit: Unit) -> None:
        unit.update(ITEM, (1, 10, 0), (1, 11, 0))
        unit.insert(ITEM, (2, 20, 0))
        unit.insert(ITEM, (3, 30, 0))

    place.log(one, lambda two: two.update(ITEM, (1, 11, 0), (1, 12, 0)))
    place.insert((1, 99, 0), (2, 0, 7))
    assert place.replay(*SKIP) == 4
    assert place.rows() == [(1, 99, 0), (2, 0, 7), (3, 30, 0)]
    assert place.left() == (3, 3)
    return place


def commands(script: str) -> Sequence[str]:
    """The lines of a script that are run."""
    return [line for line in script.splitlines() if line and not line.startswith("--")]


def test_the_cause_is_gone_and_the_script_brings_the_same(skipped: Place) -> None:
    text = skipped.script()
    assert "3 changes not in" in text
    reason = r"\n-- statement 1 \(no-row, skip\): the update in SHOP.ITEM touched 0 rows.*\n[^-]"
    assert len(re.findall(reason, text)) == 2
    assert re.search(r"\n-- statement 2 \(duplicate-key, skip\): the insert in SHOP.ITEM", text)
    skipped.sql("UPDATE shop.item SET a = 10 WHERE n = 1", "DELETE FROM shop.item WHERE n = 2")
    skipped.run()
    assert skipped.rows() == [(1, 12, 0), (2, 20, 0), (3, 30, 0)]
    assert skipped.left() == (0, 0)
    assert "0 changes not in" in skipped.script()
    assert skipped.replay() == 0
    assert skipped.back() == 0
    assert skipped.rows() == [(1, 10, 0)]


def test_it_is_applied_once(skipped: Place) -> None:
    skipped.script()
    skipped.sql("UPDATE shop.item SET a = 10 WHERE n = 1", "DELETE FROM shop.item WHERE n = 2")
    skipped.run()
    skipped.sql("UPDATE shop.item SET a = 10 WHERE n = 1", "DELETE FROM shop.item WHERE n = 2")
    with pytest.raises(TargetError, match="statement 1 (finds|touched) 0 rows"):
        skipped.run()
    assert skipped.rows() == [(1, 10, 0), (3, 30, 0)]
    assert skipped.left() == (0, 0)


def test_a_row_that_has_changed_since_stops_it(skipped: Place) -> None:
    """In a column that the change does not touch: nothing of its unit is applied."""
    skipped.script()
    skipped.sql(
        "UPDATE shop.item SET a = 10, b = 1 WHERE n = 1", "DELETE FROM shop.item WHERE n = 2"
    )
    with pytest.raises(TargetError, match=r"unit 0.*/1: statement 1 (finds|touched) 0 rows"):
        skipped.run()
    assert skipped.rows() == [(1, 10, 1), (3, 30, 0)]
    assert skipped.left() == (3, 3)


def test_a_later_change_that_was_applied_stops_it(place: Place) -> None:
    """Rows were found by their key alone, so the later one was applied without the first."""
    place.log(
        lambda one: one.update(ITEM, (1, 10, 0), (1, 11, 0)),
        lambda two: two.update(ITEM, (1, 11, 0), (1, 12, 0)),
    )
    place.sql("DROP TABLE shop.item")
    place.sql(
        "CREATE TABLE shop.item (n integer PRIMARY KEY, a integer CHECK (a <> 11), b integer)"
    )
    place.insert((1, 10, 0))
    assert place.replay(*SKIP, "--where-columns", "key") == 4
    assert place.rows() == [(1, 12, 0)]
    place.script()
    with pytest.raises(TargetError, match="statement 1 (finds|touched) 0 rows"):
        place.run()
    assert (place.rows(), place.left()) == ([(1, 12, 0)], (1, 1))


def test_what_the_target_has_already_is_a_comment(place: Place) -> None:
    """A row that was gone came again later: the delete that was left out is not to be run then."""

    def again(unit: Unit) -> None:
        unit.delete(ITEM, (1, 10, 0))
        unit.insert(ITEM, (1, 10, 0))

    place.log(again, lambda two: two.insert(ITEM, (2, 20, 0)))
    place.insert((2, 20, 0))
    assert place.replay(*SKIP) == 4
    assert place.rows() == [(1, 10, 0), (2, 20, 0)]
    text = place.script()
    assert text.count("-- not run: the target was as this change leaves it") == 2
    assert not [line for line in commands(text) if "item" in line]
    place.run()
    assert place.rows() == [(1, 10, 0), (2, 20, 0)]
    uncommented = re.sub(r"(?m)^-- (UPDATE|SELECT|DELETE|INSERT)", r"\1", text)
    (place.folder / "rejects.sql").write_text(uncommented, encoding="utf-8")
    place.sql("DELETE FROM shop.item WHERE n = 2")
    place.run()
    assert (place.rows(), place.left()) == ([(2, 20, 0)], (0, 0))


def test_what_was_overwritten_is_a_comment(place: Place) -> None:
    place.log(
        lambda one: one.update(ITEM, (1, 10, 0), (1, 11, 0)),
        lambda two: two.insert(ITEM, (2, 20, 0)),
    )
    place.insert((1, 10, 0), (2, 0, 7))
    assert place.replay("--on", "duplicate-key=overwrite") == 4
    text = place.script()
    assert "-- not run: the log's row was put in the place" in text
    assert not [line for line in commands(text) if "item" in line]
    assert place.back() == 8  # what it overwrote cannot be brought back


def test_what_was_skipped_on_a_way_back_is_a_comment(place: Place) -> None:
    place.log(lambda one: one.update(ITEM, (1, 10, 0), (1, 11, 0)))
    place.insert((1, 10, 0))
    assert place.replay() == 0
    place.sql("UPDATE shop.item SET a = 12")
    assert place.replay("--until-position", "0" * 20, *SKIP) == 4
    text = place.script()
    assert "-- not run: it was to be undone" in text
    assert not [line for line in commands(text) if "item" in line]


def test_triggers_act_as_in_the_replay(place: Place) -> None:
    """Replayed with --enforcement off, the script keeps foreign keys from acting, too."""
    place.sql("CREATE TABLE shop.parent (n integer PRIMARY KEY)", "DROP TABLE shop.item")
    parent = "parent" if place.kind == "sqlite" else "shop.parent"
    place.sql(
        "CREATE TABLE shop.item (n integer PRIMARY KEY, a integer, b integer REFERENCES"
        f" {parent} (n))"
    )
    place.log(lambda one: one.update(ITEM, (1, 10, 0), (1, 11, 5)))
    with session_of(place.url) as session:
        session.enforce(False)
        session.execute("INSERT INTO shop.item VALUES (1, 99, 0)")
    assert place.replay(*SKIP, "--enforcement", "off") == 4
    place.script()
    with session_of(place.url) as session:
        session.enforce(False)
        session.execute("UPDATE shop.item SET a = 10")
    place.run()
    assert (place.rows(), place.left()) == ([(1, 11, 5)], (0, 0))


def test_a_target_without_rejects(place: Place) -> None:
    assert "0 changes not in" in place.script()
    place.run()
