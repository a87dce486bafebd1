"""Read sessions of solidDB in many files: whatever order they are named in, and with copies, they
are read in the order of their commits; generations of a table are told by the order of changes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

import replay
from replay.errors import InputError
from tests.logs.soliddb.test_structure import ID, MORE, NAME, NEW, OLD, VERSION, Tab, unit
from tests.support.few import few
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
            source="soliddb", log=files, catalog=self.path, options={"gaps": "accept"}
        ) as log:
            bundle = (
                log.select()
                .redo("postgres", schema="none")
                .write(self.path / f"out-{next(self.runs)}")
            )
        lines = [
            line
            for script in sorted(Path(bundle.folder).glob("*.sql"))
            for line in script.read_text(encoding="utf-8").splitlines()
            if line.startswith(("INSERT", "UPDATE", "DELETE", "DROP", "CREATE"))
        ]
        return lines, [text for text in bundle.manifest["warnings"] if "in the order of" in text]


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_sessions_whose_rows_are_counted_on_come_in_any_order(
    tmp_path: Path, order: Sequence[int]
) -> None:
    log = LogBuilder()
    for number in range(3):
        unit(log, lambda made, number=number: made.insert(OLD, (number, "a")))
    rows = [{**row, "SEQ": place, "SESSION": place // 3} for place, row in enumerate(log.rows)]
    files = [
        write_rows(tmp_path / f"session-{number}.csv", rows[3 * number : 3 * number + 3])
        for number in range(3)
    ]
    lines, warnings = Sessions(tmp_path, OLD).lines([files[number] for number in order])
    assert lines == [f"INSERT INTO dba.t (id, name) VALUES ({n}, 'a');" for n in range(3)]
    assert len(warnings) == (tuple(order) != (0, 1, 2))


@pytest.mark.filterwarnings("ignore::UserWarning")  # sessions do not chain
def test_a_transaction_and_its_copy_have_one_name(tmp_path: Path) -> None:
    site = Sessions(tmp_path, OLD)
    unit(site.log, lambda made: made.insert(OLD, (1, "a")))
    name = f"{site.log.rows[0]['TRXID']:012X}"
    files = [site.session("one")]
    unit(site.log, lambda made: made.insert(OLD, (2, "a")))
    files += [site.session("two"), tmp_path / "again.csv"]
    files[2].write_bytes(files[0].read_bytes())
    gaps = {"gaps": "accept"}
    with replay.open_log(source="soliddb", log=files, catalog=tmp_path, options=gaps) as log:
        lines = [*log.select(ur=name).statements("redo", "postgres", schema="none")]
    assert [line for line in lines if "INSERT" in line] == [
        "INSERT INTO dba.t (id, name) VALUES (1, 'a');"
    ]


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


@pytest.mark.parametrize(
    "part", few([slice(0, 1), slice(1, 3), slice(1, 4), slice(0, 2)], slice(0, 1), slice(1, 4))
)
def test_a_copy_of_what_came_before_a_table_was_created_again(tmp_path: Path, part: slice) -> None:
    """Rows that another session has too do not count for which generation comes first."""
    site = Sessions(tmp_path, OLD, AGAIN)
    ends = []
    for number in (1, 2):
        unit(site.log, lambda made, number=number: made.insert(OLD, (number, "old")))
        ends.append(len(site.log.rows))
    unit(site.log, lambda made: made.ddl(17, "T", OLD.relid, "DROP TABLE T"))
    ends.append(len(site.log.rows))
    create = "CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(20), MORE INTEGER)"
    unit(site.log, lambda made: made.ddl(45, "SHOP.DBA.T", AGAIN.relid, create))
    ends.append(len(site.log.rows))
    unit(site.log, lambda made: made.insert(AGAIN, (1, "new", 7)))
    rows = site.log.rows[:]
    first = site.session("a")
    cuts = [0, *ends]
    copied = rows[cuts[part.start] : cuts[part.stop]]
    site.log.rows[:] = [{**row, "SEQ": seq} for seq, row in enumerate(copied)]
    copy = site.session("b")
    whole, _ = site.lines([first])
    assert len(whole) == 5
    assert site.lines([first, copy])[0] == whole
    assert site.lines([copy, first])[0] == whole


def test_a_copy_of_what_the_system_tables_know_of(tmp_path: Path) -> None:
    """They are older than an ALTER TABLE in the log, whatever is there a second time behind it."""
    site = Sessions(tmp_path)
    unit(site.log, lambda made: made.insert(OLD, (1, "old")))
    rows, at = site.log.rows[:], site.log.commits[-1].hex()
    write_catalog(tmp_path, [OLD], {"metadata_logaddr": at})
    text = "ALTER TABLE T ADD COLUMN MORE INTEGER"
    unit(site.log, lambda made: made.ddl(22, "T", OLD.relid, text))
    unit(site.log, lambda made: made.insert(NEW, (2, "new", 7)))
    first = site.session("a")
    site.log.rows[:] = rows
    copy = site.session("b")
    whole, _ = site.lines([first])
    assert whole[-1] == "INSERT INTO dba.t (id, name, more) VALUES (2, 'new', 7);"
    assert site.lines([first, copy])[0] == whole
