"""Files of a Db2 LUW log that repeat one another, wholly or in part: each record counts once."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import replay
from replay.errors import InputError
from tests.support.luwbuilder import Col, LogBuilder, Tab, catalog_csv

TABLE = Tab(2, 5, "S", "T", (Col("K", "INTEGER", key=1), Col("V", "INTEGER")))
SHAPES = [
    ("v7", True, "lsn6"),
    ("v7", False, "lsn6"),
    ("v97", False, "flt16"),
    ("v97", True, "lsn8"),
    ("v97", False, "raw"),
    ("v10", False, "flt56"),
    ("v10", True, "raw"),
]


def records_of(dialect: str, big: bool, framing: str) -> list[bytes]:
    """The framed records of 60 units that insert, update and delete 30 rows."""
    builder, draw = LogBuilder(dialect, big, framing), random.Random(5)
    rows: dict[int, tuple[int, int]] = {}
    for number in range(60):
        unit = builder.begin()
        for _ in range(draw.randrange(1, 5)):
            key = draw.randrange(30)
            before, rid = rows.get(key), (1, key)
            if before is None:
                rows[key] = (key, number)
                unit.insert(TABLE, rows[key], rid)
            elif draw.random() < 0.4:
                unit.delete(TABLE, rows.pop(key), rid)
            else:
                rows[key] = (key, 100 * number + draw.randrange(100))
                unit.update(TABLE, before, rows[key], rid)
        unit.commit()
    return builder.records


class Folder:
    """Writes files of a log and redo scripts of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.catalog = path / "catalog.csv"
        self.catalog.write_text(catalog_csv([TABLE]), encoding="utf-8")

    def file(self, name: str, records: Sequence[bytes]) -> Path:
        """A file of some records."""
        file = self.path / f"{name}.LOG"
        file.write_bytes(b"".join(records))
        return file

    def statements(self, name: str, files: Sequence[Path]) -> tuple[list[str], replay.Bundle]:
        """The statements of a redo of some files."""
        with replay.open_log(source="db2luw", log=files, catalog=self.catalog) as log:
            bundle = log.select().redo("postgres", schema="none").write(self.path / f"out-{name}")
        lines = [
            line
            for script in sorted(Path(bundle.folder).glob("*.sql"))
            for line in script.read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("--")
        ]
        return lines, bundle


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "big", "framing"), SHAPES)
def test_what_a_file_repeats_counts_once(
    tmp_path: Path, dialect: str, big: bool, framing: str
) -> None:
    folder, records = Folder(tmp_path), records_of(dialect, big, framing)
    count = len(records)
    one, two = count // 3, 2 * count // 3
    whole = folder.file("whole", records)
    first = folder.file("S1", records[:one])
    second = folder.file("S2", records[one:two])
    third = folder.file("S3", records[two:])
    again = folder.file("again", records[one:two])
    earlier = folder.file("earlier", records[one - 7 : two])
    longer = folder.file("longer", records[one:])
    cut = folder.path / "cut.LOG"
    cut.write_bytes(second.read_bytes()[:-9])
    true, _ = folder.statements("true", [whole])
    assert len(true) > 100
    for name, files, wholly in (
        ("last", (first, second, third, again), again),
        ("next", (first, second, again, third), again),
        ("earlier", (first, earlier, third), None),
        ("longer", (first, second, longer), None),
        ("inside", (first, longer, second), second),
        ("part", (whole, second), second),
        ("cut", (first, cut, second, third), None),
    ):
        found, bundle = folder.statements(name, files)
        assert found == true, name
        balance = bundle.manifest["balance"]
        assert balance["closes"]
        assert balance["skipped"]["in another file of the log too"] > 0
        told = [text for text in bundle.manifest["warnings"] if "taken once" in text]
        assert [text.partition(":")[0] for text in told] == ([str(wholly)] if wholly else []), name


@pytest.mark.long
@pytest.mark.parametrize(
    "shape",
    [SHAPES[0], *(pytest.param(SHAPES[n], marks=pytest.mark.long) for n in (2, 3, 5))],
)
def test_files_are_read_in_the_order_of_their_positions(
    tmp_path: Path, shape: tuple[str, bool, str]
) -> None:
    folder, records = Folder(tmp_path), records_of(*shape)
    whole = folder.file("whole", records)
    true, _ = folder.statements("true", [whole])
    files = [
        folder.file("S0", records[:40]),
        folder.file("longer", records[30:90]),
        folder.file("again", records[40:80]),
        folder.file("S2", records[80:]),
    ]
    for number, order in enumerate(itertools.permutations(files)):
        found, bundle = folder.statements(str(number), order)
        assert found == true, order
        moved = [text for text in bundle.manifest["warnings"] if "not as they are named" in text]
        assert len(moved) == (order != tuple(files)), order


def test_files_without_positions_are_refused_out_of_order(tmp_path: Path) -> None:
    folder, records = Folder(tmp_path), records_of("v97", False, "raw")
    files = [folder.file("S1", records[80:]), folder.file("S0", records[:80])]
    with pytest.raises(InputError, match="LR2030"):
        folder.statements("found", files)


def test_files_that_do_not_repeat_octet_by_octet_are_refused(tmp_path: Path) -> None:
    folder, records = Folder(tmp_path), records_of("v97", False, "flt16")
    first = folder.file("S1", records)
    other = bytearray(b"".join(records[40:80]))
    other[-12] ^= 1  # within the last record
    second = folder.path / "S2.LOG"
    second.write_bytes(other)
    with pytest.raises(InputError, match="LR2030"):
        folder.statements("found", [first, second])
