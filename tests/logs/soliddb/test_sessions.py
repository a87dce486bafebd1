"""Read sessions of solidDB in many files: whatever order they are named in, and with copies, they
are read in the order of their commits; generations of a table are told by the order of changes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

import replay
from replay.errors import InputError
from tests.logs.soliddb.test_structure import ID, MORE, NAME, OLD, VERSION, Tab, unit
from tests.support.solidbuilder import LogBuilder, write_catalog, write_rows

AGAIN = Tab(10_301, "DBA", "T", (ID, NAME, VERSION, MORE), key=("ID",))


class Sessions:
    """Writes the sessions of a log, one file each, and redo scripts of them."""

    def __init__(self, path: Path, *tables: Tab) -> None:
        self.path = path
        self.log = LogBuilder()
        write_catalog(path, tables)
        self.runs = itertools.count()

    def session(self, name: str) -> Path:
        """What the log has had since the last session."""
        file = write_rows(self.path / f"{name}.csv", self.log.rows)
        self.log.rows.clear()
        return file

    def lines(self, files: Sequence[Path]) -> tuple[list[str], list[str]]:
        """(the statements of a redo, its warnings)."""
        with replay.open_log(
            "soliddb", log=files, catalog=self.path, options={"gaps": "accept"}
        ) as log:
            bundle = log.select().redo(schema="none").write(self.path / f"out-{next(self.runs)}")
        lines = [
            line
            for script in sorted(Path(bundle.folder).glob("*.sql"))
            for line in script.read_text(encoding="utf-8").splitlines()
            if line.startswith(("INSERT", "UPDATE", "DELETE", "DROP", "CREATE"))
        ]
        return lines, [text for text in bundle.manifest["warnings"] if "in the order of" in text]


def test_sessions_are_read_in_the_order_of_their_commits(tmp_path: Path) -> None:
    site = Sessions(tmp_path, OLD)
    files = []
    for number in range(3):
        before = (1, str(number - 1))
        unit(
            site.log,
            lambda made, number=number, before=before: (
                made.update(OLD, before, (1, str(number))) if number else made.insert(OLD, (1, "0"))
            ),
        )
        files.append(site.session(f"session-{number}"))
    copy = tmp_path / "again.csv"
    copy.write_bytes(files[1].read_bytes())
    true = [
        "INSERT INTO dba.t (id, name) VALUES (1, '0');",
        "UPDATE dba.t SET name = '1' WHERE id = 1;",
        "UPDATE dba.t SET name = '2' WHERE id = 1;",
    ]
    assert site.lines(files) == (true, [])
    for order in itertools.permutations([copy, *files]):
        found, warnings = site.lines(order)
        assert found == true, order
        places = [int(path.read_bytes() != files[0].read_bytes()) for path in order]
        if places[0]:
            assert len(warnings) == 1, order
            assert "not as they are named" in warnings[0]


def test_a_table_that_is_dropped_and_created_again(tmp_path: Path) -> None:
    """The system tables are those of both times: its old lines were kept."""
    site = Sessions(tmp_path, OLD, AGAIN)
    unit(site.log, lambda made: made.insert(OLD, (1, "a")))
    unit(site.log, lambda made: made.delete(OLD, (1, "a")))
    unit(site.log, lambda made: made.ddl(17, "T", OLD.relid, "DROP TABLE T"))
    text = "CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(20), MORE INTEGER)"
    unit(site.log, lambda made: made.ddl(45, "SHOP.DBA.T", AGAIN.relid, text))
    unit(site.log, lambda made: made.insert(AGAIN, (1, "b", 2)))
    lines, _ = site.lines([site.session("all")])
    assert [" ".join(line.split()[:3]) for line in lines] == [
        "INSERT INTO dba.t",
        "DELETE FROM dba.t",
        "DROP TABLE dba.t;",
        "CREATE TABLE dba.t",
        "INSERT INTO dba.t",
    ]


def test_tables_of_one_name_that_are_changed_by_turns_are_refused(tmp_path: Path) -> None:
    site = Sessions(tmp_path, OLD, AGAIN)
    unit(site.log, lambda made: made.insert(OLD, (1, "a")))
    unit(site.log, lambda made: made.insert(AGAIN, (1, "b", 2)))
    unit(site.log, lambda made: made.insert(OLD, (2, "a")))
    with pytest.raises(InputError, match=r"LR2031.*by turns"):
        site.lines([site.session("all")])
