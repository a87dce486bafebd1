"""Units that commit up to where a bundle, a growing export or a target is, and were not taken: they
are refused by name, and the way to start over that is said works."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.targets import ConnectionLost
from replay.targets.sqlite import SqliteSession
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

    def take(self, files: Sequence[Path], *more: str, after: str | None = None) -> int:
        """Bring it up to what some files have; ``after``: from another bundle than the last."""
        logs = [*self.words, *(word for file in files for word in ("--log", str(file))), *more]
        out, self.number = self.folder / f"out-{self.number + 1}", self.number + 1
        if self.kind == "redo":
            after = after or ("none" if self.number == 1 else str(self._last()))
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

    def start_over(self, said: str, read: Sequence[Path], files: Sequence[Path], *more: str) -> int:
        """Do what a message says: with the logs that were ``read``, and then with all."""
        (way,) = re.findall(r"start over from before them: (.*)", said)
        words = [word.rstrip(",;") for word in shlex.split(way)]
        if self.kind == "redo":
            begin = words[words.index("--after") + 1]
            self.number = 0 if begin == "none" else int(begin.rpartition("-")[2])
            for folder in self.folder.glob("out-*"):
                if int(folder.name.rpartition("-")[2]) > self.number:
                    shutil.rmtree(folder)
            return self.take(files, *more, after=begin)
        if self.kind == "grow":
            return self.take(files, *more, *words[words.index("--back-to") :][:2])
        back = words[words.index("--until-position") + 1]
        assert self.take(read, "--until-position", back) in (0, 4)
        at = ["--at-position", words[-1]] if "--at-position" in words else []
        return self.take(files, *more, *at)

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
            change["after"]["k"]
            for path in (self.folder / "out").glob("testown.t/**/*.jsonl")
            for change in map(json.loads, path.read_text().splitlines())
            if change["op"] == "insert"
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


@pytest.mark.parametrize("family", [LuwSite, SolidSite])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_comes_behind_a_later_one_is_refused(
    kind: str,
    family: Callable[[Path], LuwSite | SolidSite],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    site = family(tmp_path)
    files = []
    for number in (1, 2, 3):
        site.unit(number)
        files.append(site.file(number))
    first, second, third = files
    receiver = Receiver(kind, tmp_path, site.words())
    assert receiver.take([first]) in (0, 4)
    assert receiver.take([first, third]) in (0, 4)
    assert receiver.keys() == [1, 3]
    capsys.readouterr()
    assert receiver.take(files) == 12
    said = capsys.readouterr().err
    assert "LR2039" in said
    assert "found 1 unit " in said
    assert second.name in said
    assert receiver.keys() == [1, 3]
    assert receiver.start_over(said, [first, third], files) in (0, 4)
    assert receiver.keys() == [1, 2, 3]
    assert receiver.take(files) in (0, 4)
    assert receiver.keys() == [1, 2, 3]


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_that_begins_before_what_was_read_and_has_it_too(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of each unit the copy counts that comes first; that is in the new session."""
    site = SolidSite(tmp_path)
    site.unit(1)
    first = site.file(1)
    site.unit(2)
    second = site.file(2)
    receiver = Receiver(kind, tmp_path, site.words())
    assert receiver.take([first]) in (0, 4)
    assert receiver.take([first, second]) in (0, 4)
    site.unit(3)
    site.done = 0
    whole = site.file(3)
    assert receiver.take([second, whole]) == 12
    assert "found 1 unit " in capsys.readouterr().err
    assert receiver.take([first, second, whole]) in (0, 4)
    assert receiver.keys() == [1, 2, 3]


@pytest.mark.parametrize("kind", few(KINDS, "grow"))
def test_a_unit_whose_commit_alone_comes_behind(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    capsys.readouterr()
    assert receiver.take([first, second, third]) == 12
    said = capsys.readouterr().err
    assert receiver.start_over(said, [first, third], [first, second, third]) in (0, 4)
    assert receiver.keys() == [1, 2, 3]


@pytest.mark.parametrize("lost", [2, 3, 4])
def test_a_unit_that_was_set_aside_comes_though_the_connection_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    """Its id counts how often it was used in the files that are given; the target knows it by where
    it commits."""
    site = LuwSite(tmp_path)
    site.unit(1)
    files = [site.file(1)]
    open_one = site.begin()
    site.insert(open_one, 2)
    files.append(site.file(2))
    site.unit(3)
    files.append(site.file(3))
    open_one.commit()
    site.unit(4)
    files.append(site.file(4))
    receiver = Receiver("target", tmp_path, site.words())
    assert receiver.take(files[:1]) in (0, 4)
    assert receiver.take(files[2:], "--adjoining", "--gaps", "warn") == 4
    assert receiver.keys() == [1, 3, 4]
    commit, number = SqliteSession.commit, count(1)

    def losing(session: SqliteSession) -> None:
        if next(number) == lost:
            session.rollback()
            raise ConnectionLost("LR4003", "the connection was lost")
        commit(session)

    monkeypatch.setattr(SqliteSession, "commit", losing)
    assert receiver.take(files) in (0, 4)
    assert receiver.keys() == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", KINDS)
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
    assert receiver.take(files[1:]) in (0, 4)
    capsys.readouterr()
    assert receiver.take(files) == 12
    told = capsys.readouterr().err
    assert "LR2039" in told
    assert "S0000001.LOG as number 1 of the files; expected the files that were read" in told
    site.unit(4)
    assert receiver.take([*files[1:], site.file(4)]) in (0, 4)
    assert receiver.keys() == [2, 3, 4]


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


@pytest.mark.parametrize("kind", few(KINDS, "redo", "target"))
def test_a_log_that_overlaps_what_was_taken(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the log that was read, units of both are taken once, and others are refused; alone,
    nothing tells the ones from the others."""
    receiver = Receiver(kind, tmp_path, [])
    first = logmaster_log(tmp_path, "a", {100: 1, 200: 2, 300: 3}, 400)
    assert receiver.take([], *first) in (0, 4)
    again = logmaster_log(tmp_path, "b", {200: 2, 300: 3, 500: 4}, 600)
    capsys.readouterr()
    assert receiver.take([], *again) == 12
    said = capsys.readouterr().err
    assert "found 1 unit " in said  # the last one that was taken is known
    assert "give that one too" in said
    assert receiver.take([], *first, *again) in (0, 4)
    assert receiver.keys() == [1, 2, 3, 4]
    longer = logmaster_log(tmp_path, "c", {300: 3, 450: 5, 500: 4, 700: 6}, 800)
    assert receiver.take([], *first, *again, *longer) == 12
    said = capsys.readouterr().err
    assert "found 1 unit " in said
    assert "c.dat, record 2" in said
    assert receiver.keys() == [1, 2, 3, 4]
    last = logmaster_log(tmp_path, "d", {300: 3, 500: 4, 700: 6}, 800)
    assert receiver.take([], *first, *again, *last) in (0, 4)
    assert receiver.keys() == [1, 2, 3, 4, 6]


@pytest.mark.parametrize("kind", KINDS)
def test_a_data_file_that_was_read_before_it_was_whole(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ended between two records of a unit, which is no damage that the log could show."""
    log = logbuilder.LogBuilder(tables=(LOGMASTER,))
    log.unit(commit=90, start=80).insert(LOGMASTER, (0, 0))
    torn = log.unit(commit=200, start=100)
    for key in (2, 22):
        torn.insert(LOGMASTER, (key, key))
    log.unit(commit=300, start=110).insert(LOGMASTER, (3, 3))
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
    assert receiver.take([], *words) == 12
    said = capsys.readouterr().err
    assert "LR2039" in said
    assert "a.dat, record 1" in said
    assert receiver.keys() == [0, 2]
    if kind == "target":
        way = shlex.split(re.findall(r"start over from before them: (.*)", said)[0])
        cutlogs.write_pair(tmp_path, "a", raw, records[:2], end)
        back = way[way.index("--until-position") + 1]
        assert receiver.take([], *words, "--until-position", back) in (0, 4)
        cutlogs.write_pair(tmp_path, "a", raw, records, end)
        assert receiver.take([], *words) in (0, 4)
    else:
        assert receiver.start_over(said, [], [], *words) in (0, 4)
    assert receiver.keys() == [0, 2, 3, 22]


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_last_unit_of_a_data_file_that_was_read_before_it_was_whole(
    kind: str, beside: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing else of the file tells that it is another one; nor does a log beside it."""
    log = logbuilder.LogBuilder(tables=(LOGMASTER,))
    torn = log.unit(commit=200, start=100)
    for key in (2, 22):
        torn.insert(LOGMASTER, (key, key))
    raw = logbuilder.frame(log.control_records(), "rdw")
    records, end = log.records(), logbuilder.lrsn(400)
    receiver = Receiver(kind, tmp_path, [])
    cut = cutlogs.write_pair(tmp_path, "a", raw, records[:1], end)
    assert receiver.take([], "--control", cut.control, "--data", *cut.data) in (0, 4)
    whole = cutlogs.write_pair(tmp_path, "b" if beside else "a", raw, records, end)
    capsys.readouterr()
    pairs = [cut, whole] if beside else [whole]
    words = [word for pair in pairs for word in ("--control", pair.control, "--data", *pair.data)]
    assert receiver.take([], *words) == 12
    said = capsys.readouterr().err
    assert "LR2039" in said
    assert "found 1 unit of recovery with a commit at or below" in said
    assert receiver.keys() == [2]


@pytest.mark.parametrize("kind", few(KINDS, "redo", "grow"))
def test_logs_that_overlap_and_whose_control_files_are_alike(kind: str, tmp_path: Path) -> None:
    """A one-time scan names no end, so control files of two scans may be the same; their sizes tell
    them apart."""
    log = logbuilder.LogBuilder(tables=(LOGMASTER,))
    for key in range(1, 5):
        log.unit(commit=100 * key, start=100 * key - 50).insert(LOGMASTER, (key, key))
    raw = logbuilder.frame(log.control_records(), "rdw")
    receiver = Receiver(kind, tmp_path, [])
    words: list[str] = []
    for name, part in (("a", log.records()[:2]), ("b", log.records()[1:])):
        pair = cutlogs.write_pair(tmp_path, name, raw, part, logbuilder.lrsn(900))
        words += ["--control", pair.control, "--data", *pair.data]
        assert receiver.take([], *words) in (0, 4)
    assert receiver.keys() == [1, 2, 3, 4]


@pytest.mark.parametrize("way", [*KINDS, "back"])
def test_a_log_that_comes_longer_after_part_of_it_was_taken(way: str, tmp_path: Path) -> None:
    """Its sum was that of the part, or of more than the way back has left."""
    receiver = Receiver("target" if way == "back" else way, tmp_path, [])
    units = {100: 1, 200: 2, 300: 3}
    until = ["--until-position", logbuilder.lrsn(200).hex().upper()]
    for more in [[], until] if way == "back" else [until, []]:
        assert receiver.take([], *logmaster_log(tmp_path, "a", units, 400), *more) in (0, 4)
    assert receiver.keys() == ([1, 2] if way == "back" else [1, 2, 3])
    longer = logmaster_log(tmp_path, "a", {**units, 500: 4}, 600)
    assert receiver.take([], *longer) in (0, 4)
    assert receiver.keys() == [1, 2, 3, 4]
    assert receiver.take([], *logmaster_log(tmp_path, "a", {**units, 500: 4, 700: 5}, 800)) == 0
    assert receiver.keys() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_that_is_as_long_as_another_of_the_same_control_file(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing but what is in them tells the data of one-time scans apart."""
    log = logbuilder.LogBuilder(tables=(LOGMASTER,))
    for key in range(1, 4):
        log.unit(commit=100 * key, start=100 * key - 50).insert(LOGMASTER, (key, key))
    raw = logbuilder.frame(log.control_records(), "rdw")
    words = list[list[str]]()
    for key, record in enumerate(log.records(), 1):
        pair = cutlogs.write_pair(tmp_path, f"log{key}", raw, [record], logbuilder.lrsn(900))
        words.append(["--control", pair.control, "--data", *pair.data])
    assert len({Path(one[-1]).stat().st_size for one in words}) == 1
    first, second, third = words
    receiver = Receiver(kind, tmp_path, [])
    assert receiver.take([], *first) in (0, 4)
    assert receiver.take([], *first, *third) in (0, 4)
    capsys.readouterr()
    assert receiver.take([], *first, *second, *third) == 12
    said = capsys.readouterr().err
    assert "LR2039" in said
    assert "found 1 unit of recovery" in said
    assert "log2.dat, record 1" in said
    assert receiver.keys() == [1, 3]


@pytest.mark.parametrize("sharing", [True, False])
@pytest.mark.parametrize("kind", few(KINDS, "redo", "grow"))
def test_a_late_log_with_more_of_a_unit_that_was_taken(
    kind: str, sharing: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing says that a log is missing between two, so the unit seems to be whole. Without data
    sharing LOGLRSN may be zero, and LOGRBA tells records apart."""
    log = logbuilder.LogBuilder(tables=(LOGMASTER,))
    more = {} if sharing else {"LOGLRSN": bytes(10)}
    unit, later = log.unit(commit=1500), log.unit(commit=3000)
    for key, one in ((1, unit), (2, unit), (3, later)):
        one.insert(LOGMASTER, (key, key), **more)
    raw = logbuilder.frame(log.control_records(), "rdw")
    ends = (1000, 2000, 4000)
    pairs = [
        cutlogs.write_pair(tmp_path, f"night{place}", raw, [record], logbuilder.lrsn(end))
        for place, (record, end) in enumerate(zip(log.records(), ends, strict=True))
    ]
    first, middle, last = (["--control", one.control, "--data", *one.data] for one in pairs)
    receiver = Receiver(kind, tmp_path, [])
    assert receiver.take([], *first) in (0, 4)
    assert receiver.take([], *first, *last) in (0, 4)
    capsys.readouterr()
    assert receiver.take([], *first, *middle, *last) == 12
    said = capsys.readouterr().err
    assert "LR2039" in said
    assert "night1.dat, record 1" in said


@pytest.mark.long
@pytest.mark.parametrize("first", ["whole", "damaged"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_unit_of_one_record_whose_commit_position_is_damaged(
    kind: str, first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its position is one that a unit may have, so only its id tells that it was taken."""
    receiver = Receiver(kind, tmp_path, [])
    whole, damaged = {100: 1, 200: 2, 300: 3}, {100: 1, 350: 2, 300: 3}
    before, again = (whole, damaged) if first == "whole" else (damaged, whole)
    begins = {2: 180}
    words = logmaster_log(tmp_path, "a", before, 400, begins)
    assert receiver.take([], *words) in (0, 4)
    more = logmaster_log(tmp_path, "b", {**again, 500: 4}, 600, begins)
    assert receiver.take([], *more) == 12
    capsys.readouterr()
    code = receiver.take([], *words, *more)
    if first == "damaged":  # the unit is there
        assert code in (0, 4)
        assert receiver.keys() == [1, 2, 3, 4]
        return
    assert code == 12
    said = capsys.readouterr().err
    assert "LR2010" in said
    assert "expected it to commit where it did when it was taken" in said
    assert receiver.keys() == [1, 2, 3]
    mended = logmaster_log(tmp_path, "c", {**before, 500: 4}, 600, begins)
    assert receiver.take([], *words, *mended) in (0, 4)
    assert receiver.keys() == [1, 2, 3, 4]


class OpenUnit:
    """A file whose last unit is open, and the one in which it commits; ``overlap``: that begins
    with the last record of the first one. A later unit updates the row of the open one."""

    def __init__(self, folder: Path, overlap: bool, both: bool, **how: Any) -> None:
        self.site = LuwSite(folder, **how)
        site = self.site
        site.unit(2)
        open_one = site.begin()
        site.insert(open_one, 1)
        other = site.begin()
        site.insert(other, 5)
        other.commit()
        last = list(site.log.records[-1:])
        self.first = site.file(1)
        if overlap:
            site.log.records[:0] = last
        if both:
            site.insert(open_one, 7)
        open_one.commit()
        later = site.begin()
        later.update(LUW, (1, 1), (1, 9), (1, 2))
        later.insert(LUW, (3, 3), (1, 30))
        later.commit()
        self.second = site.file(2)
        self.keys = [1, 2, 3, 5, *([7] if both else [])]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_unit_that_is_open_at_the_end_of_a_file(
    kind: str,
    overlap: bool,
    both: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of the second file alone it is named and set aside, with all that may build on it, and how to
    get it is said; with both files it comes."""
    logs = OpenUnit(tmp_path, overlap, both)
    receiver = Receiver(kind, tmp_path, logs.site.words())
    assert receiver.take([logs.first]) in (0, 4)
    assert receiver.keys() == [2, 5]
    capsys.readouterr()
    adjoining = ["--adjoining"] if kind == "target" else []
    code = receiver.take([logs.second], *adjoining, *([] if adjoining else ["--gaps", "warn"]))
    said = capsys.readouterr()
    assert "LR2041" in said.out + said.err
    assert "give the files where it began too" in said.out + said.err
    assert receiver.keys() == [2, 5]
    assert code == (8 if kind == "target" else 4)  # the later unit finds no row
    assert receiver.take([logs.first, logs.second]) in (0, 4)
    assert receiver.keys() == logs.keys
    assert receiver.take([logs.first, logs.second]) in (0, 4)
    assert receiver.keys() == logs.keys


def test_a_file_that_begins_with_the_only_unit_of_the_one_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row that is missing is not laid to a log before this one: that was replayed."""
    site = LuwSite(tmp_path)
    open_one = site.begin()
    site.insert(open_one, 1)
    site.unit(5)
    last = list(site.log.records[-1:])
    first = site.file(1)
    site.log.records[:0] = last
    open_one.commit()
    later = site.begin()
    later.update(LUW, (1, 1), (1, 9), (1, 2))
    later.commit()
    receiver = Receiver("target", tmp_path, site.words())
    assert receiver.take([first]) in (0, 4)
    assert receiver.take([site.file(2)], "--adjoining") == 8
    assert "which log in between was not replayed" in capsys.readouterr().err


@pytest.mark.parametrize("kind", few(KINDS, "redo", "target"))
def test_a_unit_of_which_a_file_without_positions_has_the_end(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such files are read together, so the one in which it begins is asked for."""
    logs = OpenUnit(tmp_path, True, False, framing="raw", dialect="v7")
    receiver = Receiver(kind, tmp_path, logs.site.words())
    assert receiver.take([logs.first]) in (0, 4)
    capsys.readouterr()
    assert receiver.take([logs.second], *(["--adjoining"] if kind == "target" else [])) == 12
    assert "LR2039" in capsys.readouterr().err
    assert receiver.take([logs.first, logs.second]) in (0, 4)
    assert receiver.keys() == logs.keys


@pytest.mark.parametrize("kind", few(KINDS, "grow", "target"))
def test_a_log_that_has_the_rest_of_a_unit_alone(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing in a logical log marks it, but the unit is among those that were set aside."""
    log = logbuilder.LogBuilder(tables=(LOGMASTER,))
    log.unit(commit=90).insert(LOGMASTER, (1, 1))
    torn = log.unit(start=100, commit=500)
    torn.insert(LOGMASTER, (2, 2))
    first = len(log.records())
    log.clock = 420
    torn.insert(LOGMASTER, (3, 3))
    log.clock = 600
    log.unit(commit=690).insert(LOGMASTER, (4, 4))
    words = []
    for name, part, end in (
        ("a", log.records()[:first], 400),
        ("b", log.records()[first:], 800),
    ):
        raw = cutlogs.with_end(logbuilder.frame(log.control_records(), "rdw"), logbuilder.lrsn(end))
        pair = cutlogs.write_pair(tmp_path, name, raw, part, logbuilder.lrsn(end))
        Path(pair.control).write_bytes(raw)
        words.append(["--control", pair.control, "--data", *pair.data])
    receiver = Receiver(kind, tmp_path, [])
    assert receiver.take([], *words[0]) == 4
    more = ["--adjoining"] if kind == "target" else []
    capsys.readouterr()
    assert receiver.take([], *words[1], "--gaps", "warn", *more) == 12
    assert "LR2041" in capsys.readouterr().err
    assert receiver.keys() == [1]
    assert receiver.take([], *words[0], *words[1]) == 0
    assert receiver.keys() == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", few(KINDS, "redo"))
def test_a_read_session_that_begins_within_a_unit(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = SolidSite(tmp_path)
    site.unit(1)
    torn = site.log.begin()
    torn.insert(site.table, (2, 2))
    first = site.file(1)
    torn.commit()
    site.unit(4)
    receiver = Receiver(kind, tmp_path, site.words())
    assert receiver.take([first]) in (0, 4)
    capsys.readouterr()
    more = ["--adjoining"] if kind == "target" else ["--gaps", "warn"]
    assert receiver.take([site.file(2)], *more) == 12
    said = capsys.readouterr().err
    assert "LR2041" in said
    assert "Export the log again" in said
    assert receiver.keys() == [1]
