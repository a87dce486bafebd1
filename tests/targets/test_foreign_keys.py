"""Rows of a unit that refer to each other in a circle, into tables of which the target checks the
foreign keys, at once or at the end of a transaction, or does not check them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.targets import Target, target_named
from tests.support.logbuilder import Col, LogBuilder, Tab, Unit
from tests.support.servers import kinds, server_of

NODE = Tab("NODE", (Col("K", "INT", 4, key=1), Col("P", "INT", 4, nulls="Y")))
ROWS = [(1, None), (2, 1)]


def insert(unit: Unit) -> None:
    """Each of two rows refers to the other."""
    unit.insert(NODE, (5, 6))
    unit.insert(NODE, (6, 5))


def move(unit: Unit) -> None:
    """A row gets another key, and what refers to it follows."""
    unit.update(NODE, (1, None), (3, None))
    unit.update(NODE, (2, 1), (2, 3))


CIRCLES: dict[str, tuple[Callable[[Unit], None], list[tuple[Any, ...]]]] = {
    "insert": (insert, [*ROWS, (5, 6), (6, 5)]),
    "move": (move, [(2, 3), (3, None)]),
}


@dataclass
class Place:
    """A database with the table, whose foreign key ends as told."""

    target: Target
    url: str
    folder: Path

    def make(self, end: str = "") -> None:
        with closing(self.target.connect(self.url)) as session:
            session.make_schema("testown")
            parent = "node" if self.target.dialect == "sqlite" else "testown.node"
            session.execute(
                "CREATE TABLE testown.node (k integer NOT NULL PRIMARY KEY, p integer,"
                f" FOREIGN KEY (p) REFERENCES {parent} (k) {end})"
            )
            for row in ROWS:
                session.execute("INSERT INTO testown.node VALUES (%s, %s)", row)

    def replay(self, log: LogBuilder, *more: str) -> int:
        control, data = log.write(self.folder)
        words = ["replay", "--control", str(control), "--data", str(data[0]), "--engine", "local"]
        return main([*words, "--to", self.url, "--apply", *more])

    def rows(self) -> list[tuple[Any, ...]]:
        with closing(self.target.connect(self.url)) as session:
            return sorted(session.query("SELECT k, p FROM testown.node"))


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    target = target_named(request.param)
    with target.scratch(server_of(request, request.param)) as url:
        yield Place(target, url, tmp_path)


def of(*names: str) -> Any:
    return pytest.mark.parametrize("place", kinds(*names), indirect=True)


@pytest.mark.long
@pytest.mark.parametrize("circle", CIRCLES)
@of("sqlite", "mariadb")
def test_foreign_keys_that_do_not_act_need_no_order(
    place: Place, capsys: pytest.CaptureFixture[str], circle: str
) -> None:
    """The refusal names a way out, which is one."""
    changes, expected = CIRCLES[circle]
    log = LogBuilder((NODE,))
    changes(log.unit())
    place.make()
    assert place.replay(log) == 8
    told = capsys.readouterr().err
    assert "LR3012" in told
    assert "--enforcement off" in told
    assert place.replay(log, "--enforcement", "off") == 0
    assert place.rows() == expected


@of("duckdb")
def test_a_database_whose_foreign_keys_cannot_be_kept_from_acting(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LogBuilder((NODE,))
    insert(log.unit())
    place.make()
    assert place.replay(log, "--enforcement", "off") == 8
    assert "Make its tables without them" in capsys.readouterr().err


@of("sqlite", "duckdb", "mariadb")
def test_a_key_that_this_transaction_made_is_a_duplicate(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """The databases have words of their own for those, and for keys that were there."""
    log = LogBuilder((NODE,))
    unit = log.unit()
    for _ in range(2):
        unit.insert(NODE, (8, None))
    log.unit().insert(NODE, (1, None))
    place.make()
    assert place.replay(log) == 8
    assert "duplicate-key: the insert in TESTOWN.NODE failed" in capsys.readouterr().err


@pytest.mark.parametrize("circle", CIRCLES)
@of("sqlite")
def test_foreign_keys_that_wait_for_the_end_of_a_transaction(place: Place, circle: str) -> None:
    changes, expected = CIRCLES[circle]
    log = LogBuilder((NODE,))
    changes(log.unit())
    place.make("DEFERRABLE INITIALLY DEFERRED")
    assert place.replay(log) == 0
    assert place.rows() == expected


@of("sqlite")
def test_what_only_looks_like_waiting(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    log = LogBuilder((NODE,))
    insert(log.unit())
    place.make("NOT  DEFERRABLE INITIALLY DEFERRED /* DEFERRABLE INITIALLY DEFERRED */")
    assert place.replay(log) == 8
    assert "LR3012" in capsys.readouterr().err


@of("sqlite")
def test_which_of_several_waits(place: Place) -> None:
    with closing(place.target.connect(place.url)) as session:
        session.make_schema("testown")
        session.execute("CREATE TABLE testown.p (a integer, b integer, UNIQUE (a), UNIQUE (b))")
        session.execute(
            "CREATE TABLE testown.c (x integer REFERENCES p (a), y integer REFERENCES p (b)"
            " DEFERRABLE INITIALLY DEFERRED, z integer REFERENCES p (a) DEFERRABLE)"
        )
    ddl = place.target.keys(place.url, ["C"])
    assert [line for line in ddl.splitlines() if "DEFERRABLE" in line] == [
        next(line for line in ddl.splitlines() if 'FOREIGN KEY ("y")' in line)
    ]


@of("sqlite")
def test_a_row_without_its_parent_where_the_check_waits(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """The unit is named, the units before it are applied, and nothing of it is."""
    log = LogBuilder((NODE,))
    log.unit().insert(NODE, (7, None))
    orphan = log.unit()
    orphan.insert(NODE, (8, 99))
    log.unit().insert(NODE, (9, None))
    place.make("DEFERRABLE INITIALLY DEFERRED")
    assert place.replay(log, "--on", "foreign-key=skip") == 8
    told = capsys.readouterr().err
    assert "LR4006" in told
    assert orphan.more["UORID"].hex().upper() in told
    assert "the check at the end of the unit failed" in told
    assert "say what to do with --on" not in told
    assert "--enforcement off" in told
    assert place.rows() == [*ROWS, (7, None)]
    assert place.replay(log, "--enforcement", "off") == 0
    assert place.rows() == [*ROWS, (7, None), (8, 99), (9, None)]


ITEM = Tab("ITEM", (Col("K", "INT", 4, key=1), Col("U", "INT", 4), Col("P", "INT", 4, nulls="Y")))


@of("postgres", "mariadb")
def test_rows_that_others_refer_to_exchange_a_second_key(place: Place) -> None:
    """None is removed for a moment: one of them gets a value in between that no row has."""
    with closing(place.target.connect(place.url)) as session:
        session.make_schema("testown")
        session.execute(
            "CREATE TABLE testown.item (k integer NOT NULL PRIMARY KEY, u integer NOT NULL UNIQUE,"
            " p integer, FOREIGN KEY (p) REFERENCES testown.item (k))"
        )
        for row in ((1, 10, None), (2, 20, 1), (3, 30, 2)):
            session.execute("INSERT INTO testown.item VALUES (%s, %s, %s)", row)
    log = LogBuilder((ITEM,))
    two, three = log.unit(), log.unit()
    two.update(ITEM, (1, 10, None), (1, 20, None))
    two.update(ITEM, (2, 20, 1), (2, 10, 1))
    three.update(ITEM, (1, 20, None), (1, 30, None))
    three.update(ITEM, (3, 30, 2), (3, 10, 2))
    three.update(ITEM, (2, 10, 1), (2, 20, 1))
    assert place.replay(log) == 0
    with closing(place.target.connect(place.url)) as session:
        rows = sorted(session.query("SELECT k, u, p FROM testown.item"))
    assert rows == [(1, 30, None), (2, 20, 1), (3, 10, 2)]
