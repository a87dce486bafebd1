"""Units that come late in logs of Db2 LUW and solidDB, and in overlapping logs of all families."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from tests.support import cutlogs, logbuilder, luwbuilder, solidbuilder
from tests.support.few import few

LUW = luwbuilder.Tab(
    2,
    5,
    "TESTOWN",
    "T",
    (
        luwbuilder.Col("K", "INTEGER", key=1),
        luwbuilder.Col("V", "INTEGER"),
    ),
)


class LuwSite:
    """Writes files of a Db2 LUW log, unit by unit."""

    name = "db2luw"

    def __init__(self, folder: Path, **how: Any) -> None:
        self.folder = folder
        self.log = luwbuilder.LogBuilder(**how)
        self.rid = 0
        (folder / "catalog.csv").write_text(luwbuilder.catalog_csv([LUW]), encoding="utf-8")

    def unit(self, *keys: int, tid: int | None = None) -> None:
        unit = self.begin(tid)
        for key in keys:
            self.insert(unit, key)
        unit.commit()

    def begin(self, tid: int | None = None) -> luwbuilder.Transaction:
        unit = self.log.begin()
        unit.tid = unit.tid if tid is None else tid
        return unit

    def insert(self, unit: luwbuilder.Transaction, key: int) -> None:
        self.rid += 1
        unit.insert(LUW, (key, key), (1, self.rid))

    def file(self, number: int, mark: int = 0) -> Path:
        """The records since the last file (or from ``mark`` on) as a file."""
        path = self.folder / f"S{number:07d}.LOG"
        path.write_bytes(self.log.bytes())
        self.log.records.clear()
        return path

    def words(self) -> list[str]:
        return ["--source", "db2luw", "--catalog", str(self.folder / "catalog.csv")]


class Receiver:
    """Bundles, a growing export, or a target: each brought up to some files."""

    def __init__(self, kind: str, folder: Path, words: Sequence[str]) -> None:
        self.kind, self.folder, self.words, self.number = kind, folder, list(words), 0
        self.said = ""

    def take(self, files: Sequence[Path], *more: str) -> int:
        """Bring it up to what some files have."""
        logs = [*self.words, *(word for file in files for word in ("--log", str(file))), *more]
        out, self.number = self.folder / f"out-{self.number + 1}", self.number + 1
        if self.kind == "redo":
            after = "none" if self.number == 1 else str(self._last())
            code = main(["redo", *logs, "--schema", "none", "--after", after, "--out", str(out)])
            if code not in (0, 4):
                self.number -= 1
            return code
        if self.kind == "target":
            if self.number == 1:
                with closing(sqlite3.connect(self.folder / "testown.db")) as database:
                    database.execute("create table t (k integer primary key, v integer)")
                    database.commit()
            url = f"sqlite:///{self.folder / 'testown.db'}"
            return main(["replay", *logs, "--to", url, "--apply"])
        how = ["--format", "jsonl", "--grow", "--schema", "none"]
        return main(["export", *logs, *how, "--out", str(self.folder / "out")])

    def _last(self) -> Path:
        return self.folder / f"out-{self.number - 1}"

    def keys(self) -> list[int]:
        """The keys that were inserted, in their order; twice what was inserted twice."""
        if self.kind == "redo":
            texts = [
                line
                for number in range(1, self.number + 1)
                for path in sorted((self.folder / f"out-{number}").glob("*.sql"))
                for line in path.read_text().splitlines()
            ]
            values = [line.split("VALUES (")[1] for line in texts if "VALUES (" in line]
            return sorted(int(value.split(",")[0]) for value in values)
        if self.kind == "target":
            with closing(sqlite3.connect(self.folder / "testown.db")) as database:
                return sorted(key for (key,) in database.execute("select k from t"))
        found = [
            json.loads(line)["after"]["k"]
            for path in (self.folder / "out").glob("**/*.jsonl")
            for line in path.read_text().splitlines()
        ]
        return sorted(map(int, found))


class SolidSite:
    """Writes files of a solidDB log, unit by unit, as its read sessions bring them."""

    table = solidbuilder.Tab(
        10_001,
        "TESTOWN",
        "T",
        (
            solidbuilder.Col("K", "INTEGER"),
            solidbuilder.Col("V", "INTEGER"),
        ),
        ("K",),
    )

    def __init__(self, folder: Path) -> None:
        self.folder, self.log, self.done = folder, solidbuilder.LogBuilder(), 0
        solidbuilder.write_catalog(folder, [self.table])

    def unit(self, key: int) -> None:
        unit = self.log.begin()
        unit.insert(self.table, (key, key))
        unit.commit()

    def file(self, number: int) -> Path:
        """The rows since the last file as a read session of its own."""
        path = self.folder / f"part-{number:02d}.parquet"
        rows = self.log.rows[self.done :]
        solidbuilder.write_rows(path, [{**row, "SEQ": seq} for seq, row in enumerate(rows)])
        self.done = len(self.log.rows)
        return path

    def words(self) -> list[str]:
        gaps = ["--log-option", "gaps=accept"]
        return ["--source", "soliddb", "--catalog", str(self.folder), *gaps]


KINDS = ("redo", "grow", "target")


@pytest.mark.long
@pytest.mark.parametrize("family", [LuwSite, SolidSite])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_comes_behind_a_later_one_is_refused_until_told(
    kind: str,
    family: Callable[[Path], LuwSite | SolidSite],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    site = family(tmp_path)
    site.unit(1)
    first = site.file(1)
    site.unit(2)
    second = site.file(2)
    site.unit(3)
    third = site.file(3)
    receiver = Receiver(kind, tmp_path, site.words())
    assert receiver.take([first]) in (0, 4)
    assert receiver.take([first, third]) in (0, 4)
    assert receiver.keys() == [1, 3]
    capsys.readouterr()
    files = [first, second, third]
    assert receiver.take(files) == 12
    told = capsys.readouterr().err
    assert "LR2039" in told
    assert second.name in told
    assert receiver.take(files, "--late", "take") in (0, 4)
    assert receiver.keys() == [1, 2, 3]
    assert receiver.take(files) in (0, 4)
    assert receiver.keys() == [1, 2, 3]


@pytest.mark.parametrize("kind", few(KINDS, "redo", "target"))
def test_units_that_count_as_taken_are_not_asked_about_again(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = LuwSite(tmp_path)
    files = []
    for number in (1, 2, 3):
        site.unit(number)
        files.append(site.file(number))
    receiver = Receiver(kind, tmp_path, site.words())
    assert receiver.take([files[0], files[2]]) in (0, 4)
    site.unit(4)
    files.append(site.file(4))
    capsys.readouterr()
    assert receiver.take(files, "--late", "skip") in (0, 4)
    assert "1 unit(s) that come late count as in the target" in capsys.readouterr().out
    assert receiver.take(files) in (0, 4)
    assert "late" not in capsys.readouterr().out
    assert receiver.keys() == [1, 3, 4]


@pytest.mark.parametrize("kind", few(KINDS, "grow"))
def test_a_unit_whose_commit_alone_comes_late(kind: str, tmp_path: Path) -> None:
    """Its changes are in a file that was read, so that no new record has one."""
    site = LuwSite(tmp_path)
    site.unit(1)
    open_one = site.begin()
    site.insert(open_one, 2)
    first = site.file(1)
    open_one.commit()
    second = site.file(2)
    site.unit(3)
    third = site.file(3)
    receiver = Receiver(kind, tmp_path, site.words())
    assert receiver.take([first, third]) in (0, 4)
    assert receiver.keys() == [1, 3]
    assert receiver.take([first, second, third]) == 12
    assert receiver.take([first, second, third], "--late", "take") in (0, 4)
    assert receiver.keys() == [1, 2, 3]


@pytest.mark.parametrize("kind", ["redo", "grow"])
def test_an_id_that_was_used_in_files_that_are_not_given_any_more(
    kind: str, tmp_path: Path
) -> None:
    """Ids of transactions count how often they were used; in fewer files that is less."""
    site = LuwSite(tmp_path)
    site.unit(1, tid=77)
    first = site.file(1)
    site.unit(2, tid=77)
    second = site.file(2)
    site.unit(3)
    third = site.file(3)
    receiver = Receiver(kind, tmp_path, site.words())
    assert receiver.take([first, second]) in (0, 4)
    assert receiver.take([second, third]) in (0, 4)
    assert receiver.keys() == [1, 2, 3]


def test_a_new_file_in_front_of_known_ones_moves_positions_that_are_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without LSNs, a commit is known by its place in the files: those behind would come twice."""
    site = LuwSite(tmp_path, framing="raw")
    files = []
    for number in (1, 2, 3):
        site.unit(number)
        files.append(site.file(number))
    receiver = Receiver("redo", tmp_path, site.words())
    assert receiver.take([files[0], files[2]]) in (0, 4)
    capsys.readouterr()
    assert receiver.take(files) == 12
    told = capsys.readouterr().err
    assert "LR2039" in told
    assert "S0000003.LOG" in told
    site.unit(4)
    assert receiver.take([files[0], files[2], site.file(4)]) in (0, 4)
    assert receiver.keys() == [1, 3, 4]


LOGMASTER = logbuilder.Tab(
    "T", (logbuilder.Col("K", "INT", 4, key=1), logbuilder.Col("V", "INT", 4))
)


def logmaster_log(
    folder: Path, name: str, units: Mapping[int, int], end: int, begins: Mapping[int, int] = {}
) -> list[str]:
    """The words that name a log with units that insert a key each, by commit, and end at a tick;
    ``begins``: where units begin, by key."""
    log = logbuilder.LogBuilder(tables=(LOGMASTER,))
    for commit, key in units.items():
        begin = begins.get(key, commit - 20)
        log.clock = begin - 10
        log.unit(commit=commit, start=begin).insert(LOGMASTER, (key, key))
    raw = logbuilder.frame(log.control_records(), "rdw")
    pair = cutlogs.write_pair(folder, name, raw, log.records(), logbuilder.lrsn(end))
    return ["--control", pair.control, "--data", *pair.data]


@pytest.mark.long
@pytest.mark.parametrize("late", ["refuse", "take", "skip"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_unit_that_comes_late_in_a_log_that_overlaps_what_was_taken(
    kind: str, late: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log has units that were taken, the last one too, so it is not known by itself."""
    receiver = Receiver(kind, tmp_path, [])
    first = logmaster_log(tmp_path, "a", {100: 1, 200: 2, 300: 3}, 400)
    assert receiver.take([], *first) in (0, 4)
    again = logmaster_log(tmp_path, "b", {200: 2, 300: 3, 500: 4}, 600)
    assert receiver.take([], *again) in (0, 4)
    assert receiver.keys() == [1, 2, 3, 4]
    longer = logmaster_log(tmp_path, "c", {300: 3, 450: 5, 500: 4, 700: 6}, 800)
    capsys.readouterr()
    code = receiver.take([], *longer, "--late", late)
    if late == "refuse":
        assert code == 12
        assert "found 1 unit(s)" in capsys.readouterr().err
        assert receiver.keys() == [1, 2, 3, 4]
        return
    assert code in (0, 4)
    expected = [1, 2, 3, 4, *([5] if late == "take" else []), 6]
    assert receiver.keys() == expected
    more = logmaster_log(tmp_path, "d", {300: 3, 450: 5, 500: 4, 700: 6, 900: 7}, 1000)
    assert receiver.take([], *more) in (0, 4)
    assert receiver.keys() == [*expected, 7]


@pytest.mark.long
@pytest.mark.parametrize("late", ["refuse", "take", "skip"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_data_file_that_was_read_before_it_was_whole(
    kind: str, late: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ended between two records of a unit, which is no damage that the log could show."""
    log = logbuilder.LogBuilder(tables=(LOGMASTER,))
    log.unit(commit=90, start=80).insert(LOGMASTER, (0, 0))
    torn = log.unit(commit=200, start=100)
    for key in (2, 22):
        torn.insert(LOGMASTER, (key, key))
    log.unit(commit=300, start=110).insert(LOGMASTER, (3, 3))
    log.unit(commit=150, start=120).insert(LOGMASTER, (1, 1))
    raw = logbuilder.frame(log.control_records(), "rdw")
    records, end = log.records(), logbuilder.lrsn(400)
    receiver = Receiver(kind, tmp_path, [])
    words: list[str] = []
    for part in (records[:2], records):
        pair = cutlogs.write_pair(tmp_path, "a", raw, part, end)
        words = ["--control", pair.control, "--data", *pair.data]
        if part is not records:
            assert receiver.take([], *words) in (0, 4)
            assert receiver.keys() == [0, 2]
    capsys.readouterr()
    code = receiver.take([], *words, "--late", late)
    if late == "refuse":
        assert code == 12
        sizes = [f"{len(logbuilder.frame(part, 'rdw')):,}" for part in (records, records[:2])]
        said = capsys.readouterr().err
        assert f"a.dat: found {sizes[0]} bytes, which begin with those that were read" in said
        assert f"expected {sizes[1]}: this log was cut then" in said
        assert receiver.keys() == [0, 2]
        return
    assert code in (0, 4)
    assert receiver.keys() == ([0, 1, 2, 3] if late == "take" else [0, 2, 3])
    assert receiver.take([], *words) in (0, 4)
    assert receiver.keys() == ([0, 1, 2, 3] if late == "take" else [0, 2, 3])


@pytest.mark.parametrize("kind", few(KINDS, "redo", "grow"))
def test_logs_that_overlap_and_whose_control_files_are_alike(kind: str, tmp_path: Path) -> None:
    """A one-time scan names no end, so control files of two scans may be the same; the second data
    file does not begin as the first one."""
    log = logbuilder.LogBuilder(tables=(LOGMASTER,))
    for key in range(1, 5):
        log.unit(commit=100 * key, start=100 * key - 50).insert(LOGMASTER, (key, key))
    raw = logbuilder.frame(log.control_records(), "rdw")
    receiver = Receiver(kind, tmp_path, [])
    for part in (log.records()[:2], log.records()[1:]):
        pair = cutlogs.write_pair(tmp_path, "a", raw, part, logbuilder.lrsn(900))
        words = ["--control", pair.control, "--data", *pair.data]
        assert receiver.take([], *words) in (0, 4)
    assert receiver.keys() == [1, 2, 3, 4]


def test_units_are_known_one_by_one_as_far_back_as_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A manifest stays as large as it is, however many bundles were before."""
    monkeypatch.setattr("replay.pipeline.taken.KEPT", 6)
    sizes = []
    receiver = Receiver("redo", tmp_path, [])
    for number in range(1, 12):
        units = {1000 * number + place: 100 * number + place for place in (100, 200, 300)}
        log = logmaster_log(tmp_path, f"n{number}", units, 1000 * number + 900)
        assert receiver.take([], *log, "--gaps", "warn") in (0, 4)
        ended = json.loads((tmp_path / f"out-{number}" / "manifest.json").read_text())
        sizes.append(len(json.dumps(ended["continuation"]["taken"])))
    assert sizes[1] > sizes[0]
    assert len(set(sizes[3:])) == 1


@pytest.mark.long
@pytest.mark.parametrize("late", ["refuse", "take"])
@pytest.mark.parametrize("kind", ["redo", "grow"])
def test_of_a_large_run_the_newest_units_are_known_one_by_one(
    kind: str, late: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver of a run with many files hears of the units in the newest ones only. Those before
    count as taken, and none is taken twice."""
    monkeypatch.setattr("replay.pipeline.plan.MOST", 1)
    small = ["--records-per-file", "64", "--late", late]
    units = {100 * number: number for number in range(1, 2561)}
    receiver = Receiver(kind, tmp_path, [])
    assert receiver.take([], *logmaster_log(tmp_path, "a", units, 256_050), *small) in (0, 4)
    units |= {256_100: 2561}
    longer = logmaster_log(tmp_path, "b", units, 256_150)
    assert receiver.take([], *longer, *small) in (0, 4)
    assert receiver.keys() == [*range(1, 2562)]
    units |= {255_950: 2562, 256_200: 2563}
    again = logmaster_log(tmp_path, "c", dict(sorted(units.items())), 256_250)
    code = receiver.take([], *again, *small)
    assert code == 12 if late == "refuse" else code in (0, 4)
    assert receiver.keys() == [*range(1, 2562 if late == "refuse" else 2564)]
    if late == "refuse":
        return
    # the files of this log have moved on, and the unit that comes late lies before those named
    units |= {256_200 + 100 * number: 2563 + number for number in range(1, 641)}
    units |= {181_050: 4000}
    units = dict(sorted(units.items()))
    moved = logmaster_log(tmp_path, "d", units, 330_000)
    assert receiver.take([], *moved, *small) in (0, 4)
    units |= {330_100: 3204}
    overlapping = logmaster_log(tmp_path, "e", units, 330_200)
    assert receiver.take([], *overlapping, *small[:2], "--late", "refuse") in (0, 4)
    assert receiver.keys() == [*range(1, 3205), 4000]


@pytest.mark.long
@pytest.mark.parametrize("first", ["whole", "damaged"])
@pytest.mark.parametrize("late", ["refuse", "take", "skip"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_unit_of_one_record_whose_commit_position_is_damaged(
    kind: str, late: str, first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its position is one that a unit may have, so only its id tells that it was taken."""
    receiver = Receiver(kind, tmp_path, [])
    whole, damaged = {100: 1, 200: 2, 300: 3}, {100: 1, 350: 2, 300: 3}
    before, again = (whole, damaged) if first == "whole" else (damaged, whole)
    begins = {2: 180}
    words = logmaster_log(tmp_path, "a", before, 400, begins)
    assert receiver.take([], *words) in (0, 4)
    more = logmaster_log(tmp_path, "b", {**again, 500: 4}, 600, begins)
    capsys.readouterr()
    code = receiver.take([], *more, "--late", late)
    if first == "damaged" and late == "skip":  # the unit is there
        assert code in (0, 4)
        assert receiver.keys() == [1, 2, 3, 4]
        return
    assert code == 12
    said = capsys.readouterr().err
    assert "LR2010" in said
    assert "expected it to commit where it did when it was taken" in said
    assert receiver.keys() == [1, 2, 3]
    mended = logmaster_log(tmp_path, "c", {**before, 500: 4}, 600, begins)
    assert receiver.take([], *mended) in (0, 4)
    assert receiver.keys() == [1, 2, 3, 4]
