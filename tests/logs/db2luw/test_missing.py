"""Db2 LUW units without a beginning, and files in the wrong order: said, not guessed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from replay.errors import InputError
from tests.logs.db2luw.test_damage import opened, row
from tests.support.few import few
from tests.support.luwbuilder import PLAIN, LogBuilder
from tests.support.scripted import script

FORMS = [
    ("v7", "raw"),
    ("v7", "lsn6"),
    ("v97", "raw"),
    ("v97", "flt16"),
    ("v10", "raw"),
    ("v10", "lsn8"),
    ("v10", "flt56"),
]


def three_units(builder: LogBuilder) -> list[bytes]:
    """Two rows that one unit inserts; one that another updates; one that a third inserts."""
    first = builder.begin()
    first.insert(PLAIN, row(1), (1, 1))
    first.insert(PLAIN, row(2), (1, 2))
    first.commit()
    second = builder.begin()
    second.update(PLAIN, row(2), row(2, "Bea"), (1, 2))
    second.commit()
    third = builder.begin()
    third.insert(PLAIN, row(3), (1, 3))
    third.commit()
    return builder.records


@pytest.mark.parametrize("big", few([True, False], True))
@pytest.mark.parametrize(("dialect", "framing"), FORMS)
def test_a_unit_without_its_beginning_is_named_and_set_aside(
    tmp_path: Path, dialect: str, framing: str, big: bool
) -> None:
    records = three_units(LogBuilder(dialect, big, framing))
    shape = {"byte-order": "big" if big else "little", "dialect": dialect}
    log = opened(tmp_path, b"".join(records[1:]), framing=framing, options=shape)
    assert log.units()["incomplete"].tolist() == [True, False, False]
    assert any("1 unit of recovery, TID 000000000A1F, with a begin" in w for w in log.warnings([]))
    bundle, lines = script(log, tmp_path)
    assert len(lines) == 1
    assert "VALUES (3," in lines[0]
    assert bundle.exit_code == 4
    shape["headless"] = "apply"
    log = opened(tmp_path, b"".join(records[1:]), framing=framing, options=shape)
    bundle, lines = script(log, tmp_path / "applied")
    assert len(lines) == 3
    assert any("000000000A1F" in warning for warning in log.warnings([]))


@pytest.mark.parametrize(("dialect", "framing"), [("v97", "flt16"), ("v10", "flt56")])
def test_what_a_filter_left_out_within_a_file_is_not_missing(
    tmp_path: Path, dialect: str, framing: str
) -> None:
    builder = LogBuilder(dialect, False, framing)
    records = three_units(builder)
    del records[3]
    log = opened(tmp_path, b"".join(records))
    assert not log.units()["incomplete"].any()


@pytest.mark.parametrize(("dialect", "framing"), FORMS)
def test_a_unit_with_records_between_two_files_is_set_aside(
    tmp_path: Path, dialect: str, framing: str
) -> None:
    builder = LogBuilder(dialect, True, framing)
    unit = builder.begin()
    for number in range(3):
        unit.insert(PLAIN, row(number), (1, number + 1))
    unit.commit()
    records = builder.records
    shape = {"byte-order": "big", "dialect": dialect}
    files = b"".join(records[:2]), b"".join(records[3:])
    log = opened(tmp_path, *files, framing=framing, options=shape)
    assert log.units()["incomplete"].tolist() == [True]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("framing", ["raw", "lsn6"])
def test_v7_files_of_little_endian_servers_have_an_order(
    tmp_path: Path, framing: str, turned: bool
) -> None:
    """Whichever byte order their positions have."""

    class Builder(LogBuilder):
        def six(self, value: int) -> bytes:
            return value.to_bytes(6, "big" if turned else "little")

    builder = Builder("v7", False, framing)
    first = b"".join(three_units(builder))
    builder.records.clear()
    second = b"".join(three_units(builder))
    shape = {"byte-order": "little", "dialect": "v7"}
    opened(tmp_path, first, second, framing=framing, options=shape)
    with pytest.raises(InputError, match="LR2030"):
        opened(tmp_path, second, first, framing=framing, options=shape)


RAW = [("v7", "raw"), ("v97", "raw"), ("v10", "raw"), ("v10", "lsn8")]


def many_units(builder: LogBuilder) -> list[bytes]:
    """Five units that begin one in the other, each with three changes of rows of its own."""
    units = [builder.begin() for _ in range(5)]
    for number, unit in enumerate(units):
        for at in range(2):
            unit.insert(PLAIN, row(10 * number + at), (number + 1, at + 1))
    for number, unit in enumerate(units):
        unit.update(PLAIN, row(10 * number), row(10 * number, "Bea"), (number + 1, 1))
        unit.commit()
    return builder.records


@pytest.mark.parametrize(
    ("dialect", "framing"),
    few([*RAW, ("v7", "lsn6"), ("v10", "flt56")], RAW[0], ("v10", "flt56")),
)
def test_a_record_that_is_lost_in_a_whole_file_is_told(
    tmp_path: Path, dialect: str, framing: str
) -> None:
    """Positions go on further than the records are long, and the unit names what is not there."""
    shape = {"byte-order": "big", "dialect": dialect}
    records = many_units(LogBuilder(dialect, True, framing))
    whole = opened(tmp_path, b"".join(records), framing=framing, options=shape)
    assert not whole.units()["incomplete"].any()
    assert not whole.warnings([])
    # of the first record without a position, nothing tells which one it is
    for lost in range(2, len(records) - 1):
        rest = b"".join(records[:lost] + records[lost + 1 :])
        log = opened(tmp_path, rest, framing=framing, options=shape)
        units = log.units()
        sound = (units["disposition"] == ord("C")) & ~units["incomplete"]
        # a commit that is lost may look like what the next unit lacks
        assert sound.sum() in ((3, 4) if "raw" in framing or framing == "lsn8" else (4,)), lost
        assert any("missing" in text or "begin before" in text for text in log.warnings([])), lost


@pytest.mark.parametrize(("dialect", "framing"), RAW)
@pytest.mark.parametrize("units", [3, 6])
def test_any_record_is_missed_whatever_its_length(
    tmp_path: Path, dialect: str, framing: str, units: int
) -> None:
    """What is lost is longer than the record before it in one unit, shorter in another."""
    builder = LogBuilder(dialect, False, framing)
    for number in range(units):
        unit = builder.begin()
        unit.insert(PLAIN, row(number), (1, number))
        unit.insert(PLAIN, row(100 + number), (2, number))
        unit.update(PLAIN, row(number), row(number, "Bea" * number), (1, number))
        unit.commit()
    records = builder.records
    for lost in range(4, len(records) - 1):
        rest = b"".join(records[:lost] + records[lost + 1 :])
        options = {"dialect": dialect, "byte-order": "little"}
        with suppress(InputError):
            log = opened(tmp_path, rest, framing=framing, options=options)
            cut = lost // 4
            assert lost % 4 == 3 or log.units()["incomplete"][cut], lost
            assert log.warnings([]), lost


@pytest.mark.parametrize(("dialect", "framing"), RAW)
def test_records_that_are_twice_or_swapped_are_told_without_positions(
    tmp_path: Path, dialect: str, framing: str
) -> None:
    shape = {"byte-order": "big", "dialect": dialect}
    records = many_units(LogBuilder(dialect, True, framing))
    for at in range(1, len(records) - 1):
        for wrong in (
            [*records[: at + 1], *records[at:]],
            [*records[:at], records[at + 1], records[at], *records[at + 2 :]],
        ):
            with suppress(InputError):  # it is refused, or
                log = opened(tmp_path, b"".join(wrong), framing=framing, options=shape)
                assert log.units()["incomplete"].any(), at


@pytest.mark.parametrize(("dialect", "framing"), RAW)
def test_a_commit_of_another_transaction_is_damage(
    tmp_path: Path, dialect: str, framing: str
) -> None:
    records = many_units(LogBuilder(dialect, True, framing))
    at = len(records) - 3
    body = bytearray(records[at])
    body[{"v7": 19, "v97": 21, "v10": 37}[dialect] + (8 if framing == "lsn8" else 0)] ^= 0x40
    records[at] = bytes(body)
    shape = {"byte-order": "big", "dialect": dialect}
    log = opened(tmp_path, b"".join(records), framing=framing, options=shape)
    bundle, _ = script(log, tmp_path)
    assert bundle.exit_code == 8
    assert "LR2030" in str(bundle.manifest["findings"])


def test_a_compensation_with_the_type_of_a_backout_free_record_is_damage(tmp_path: Path) -> None:
    builder = LogBuilder()
    unit = builder.begin()
    unit.undo(unit.insert(PLAIN, row(1), (1, 1)))
    unit.commit()
    parts = [bytearray(record) for record in builder.records]
    kind = next(at for at in range(len(parts[1])) if parts[1][at] == 0x43)
    parts[1][kind] = 0x42
    bundle, lines = script(opened(tmp_path, b"".join(map(bytes, parts))), tmp_path)
    assert (lines, bundle.exit_code) == ([], 8)


@pytest.mark.parametrize(("dialect", "framing"), [*RAW, ("v97", "flt16"), ("v10", "flt56")])
def test_a_file_that_is_missing_in_the_middle_is_told(
    tmp_path: Path, dialect: str, framing: str
) -> None:
    """All units of the missing file are whole in it, so that only positions show it."""
    shape = {"byte-order": "big", "dialect": dialect}
    builder = LogBuilder(dialect, True, framing)
    files = []
    for number in range(3):
        start = len(builder.records)
        unit = builder.begin()
        for at in range(5):
            unit.insert(PLAIN, row(10 * number + at), (number + 1, at + 1))
        unit.commit()
        files.append(b"".join(builder.records[start:]))
    log = opened(tmp_path, *files, framing=framing, options=shape)
    assert not log.warnings([])
    log = opened(tmp_path, files[0], files[2], framing=framing, options=shape)
    assert any("1 place where records are missing" in text for text in log.warnings([]))


@pytest.mark.parametrize("big", few([True, False], True))
@pytest.mark.parametrize(("dialect", "framing"), FORMS)
def test_a_load_names_its_table(tmp_path: Path, dialect: str, framing: str, big: bool) -> None:
    builder = LogBuilder(dialect, big, framing)
    unit = builder.begin()
    for space, table in ((PLAIN.space, PLAIN.id), (9, 77), (PLAIN.space, PLAIN.id)):
        unit.add(0x4A, builder.pack("IHHB", 5, space, table, 0) + bytes(3))
    unit.insert(PLAIN, row(1), (1, 1))
    unit.commit()
    shape = {"byte-order": "big" if big else "little", "dialect": dialect}
    log = opened(tmp_path, builder.bytes(), framing=framing, options=shape)
    assert [text for text in log.opening_warnings if "load" in text] == [
        "3 loads began, of APP.PLAIN, TS9.T77; rows that a load brings are not in the log, so"
        " copy the tables again"
    ]
