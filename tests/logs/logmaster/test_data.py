"""DATA: its three readings settled from the records, segments cut anywhere and lying anywhere,
expanded columns, with and without data sharing."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import replay
from replay.changes.envelope import Change
from replay.errors import InputError
from replay.logs.logmaster.data import (
    Reading,
    find_images,
    settle_reading,
)
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from tests.support.logbuilder import (
    ACCT,
    Col,
    LogBuilder,
    Tab,
    acct,
    lrsn,
    rba,
    statements,
    text_of,
    units_of,
)

NAMES = Tab("NAMES", (Col("NAME", "VCHR", 200, subtype="S"),), obid=7)


def insert(log: LogBuilder) -> None:
    log.unit().insert(ACCT, acct(1))


def update(log: LogBuilder) -> None:
    log.unit().update(ACCT, acct(1), acct(1, None, "1.00"))


def delete(log: LogBuilder) -> None:
    log.unit().delete(ACCT, acct(1))


def opened(log: LogBuilder, folder: Path) -> LogmasterLog:
    return open_log(*log.write(folder))


# -- readings
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", ["A", "B", "B'"])
@pytest.mark.parametrize(
    "changes", [(insert,), (delete,), (update,), (insert, update, delete), (insert, delete) * 20]
)
def test_the_reading_is_settled_from_the_records(
    tmp_path: Path, reading: str, changes: tuple[Callable[[LogBuilder], None], ...]
) -> None:
    """Also when all changes have one image, whose lengths close under A and B alike: then the
    columns decide."""
    plain, log = LogBuilder(), LogBuilder(reading=reading)
    for change in changes:
        change(plain)
        change(log)
    assert opened(log, tmp_path).reading is Reading(reading)
    bundle = log.script(tmp_path)
    assert bundle.exit_code == 0
    assert text_of(bundle) == text_of(plain.script(tmp_path))


@pytest.mark.parametrize("reading", list(Reading))
def test_bounds_of_images(reading: Reading) -> None:
    log = LogBuilder(reading=reading.value)
    unit = log.unit()
    unit.update(ACCT, acct(1), acct(1, None, None))
    data = np.frombuffer(log.records()[0][288:], np.uint8)
    bounds = find_images(data, np.array([0]), np.array([len(data)]), Change.UPDATE, reading, True)
    assert not bounds.bad.any()
    assert bounds.second is not None
    images = [
        bytes(data[int(low[0]) : int(high[0])]) for low, high in (bounds.first, bounds.second)
    ]
    assert images == [ACCT.image(acct(1)), ACCT.image(acct(1, None, None))]
    for wrong in (len(data) - 1, len(data) + 1):
        other = find_images(data, np.array([0]), np.array([wrong]), Change.UPDATE, reading, True)
        assert other.bad.tolist() == [True]
        assert other.reason(0)[1] == "lengths that fill DATA exactly"


def test_a_few_damaged_records_do_not_change_the_reading(tmp_path: Path) -> None:
    log = LogBuilder()
    for number in range(10):
        log.unit().insert(ACCT, acct(number))
    control, (data,) = log.write(tmp_path)
    raw = bytearray(data.read_bytes())
    size = len(raw) // 10
    for number in (0, 3, 4, 9):
        raw[number * size + 4 + 288 + 1] ^= 0x55
    data.write_bytes(raw)
    assert open_log(control, [data]).reading is Reading.A


def test_no_reading_is_an_error(tmp_path: Path) -> None:
    log = LogBuilder()
    update(log)
    control, (data,) = log.write(tmp_path)
    raw = bytearray(data.read_bytes())
    raw[4 + 288 + 2 : 4 + 288 + 4] = b"\1\1"
    data.write_bytes(raw)
    with pytest.raises(
        InputError,
        match=r"LR2018 .*field DATA: found row images that close in 0 of 1 under reading A",
    ) as raised:
        open_log(control, [data])
    assert raised.value.where.file == str(data)


def test_lengths_and_columns_that_allow_two_readings_are_an_error(tmp_path: Path) -> None:
    """One varying column: its own length looks like that of an image, so nothing in the log tells A
    from B. Never guess."""
    log = LogBuilder((NAMES,), reading="B")
    for name in ("A", "BB", "\0\1X"):
        log.unit().insert(NAMES, (name,))
    start, end, buffer = [], [], b""
    for record in log.records():
        start.append(len(buffer))
        buffer += record[288:]
        end.append(len(buffer))
    places = (np.array(start), np.array(end), np.zeros(3, bool))
    with pytest.raises(InputError, match="3 of 3 under reading A, 3 of 3 under reading B, 0 of 3"):
        settle_reading(np.frombuffer(buffer, np.uint8), *places, "x.dat")
    with pytest.raises(InputError, match="LR2018"):
        settle_reading(np.frombuffer(buffer, np.uint8), *places, "x.dat", lambda reading: 3)
    assert (
        settle_reading(
            np.frombuffer(buffer, np.uint8),
            *places,
            "x.dat",
            lambda reading: 3 - (reading is Reading.A),
        )
        is Reading.B
    )
    assert opened(log, tmp_path).reading is Reading.B, (
        "here the columns tell: a row without its length has no length to read"
    )


@pytest.mark.parametrize(("reading", "place"), [(Reading.A, "4"), (Reading.B, "2")])
def test_where_the_first_column_lies_decides_last(
    tmp_path: Path, reading: Reading, place: str
) -> None:
    """One varying column with values that fit both ways: LLCOLUMNPOS counts the lengths before
    it."""
    log = LogBuilder((NAMES,), reading=reading.value)
    log.unit().insert(NAMES, ("\0\1X",))
    control, data = log.write(tmp_path)
    with pytest.raises(InputError, match="1 of 1 under reading A, 1 of 1 under reading B"):
        open_log(control, data)
    control.write_bytes(
        control.read_bytes().replace("-1   ".encode("cp037"), place.ljust(5).encode("cp037"))
    )
    assert open_log(control, data).reading is reading


def test_no_records_with_images(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().event(ACCT, "CM")
    assert opened(log, tmp_path).reading is Reading.A
    assert log.script(tmp_path).manifest["balance"]["skipped"] == {"Db2 command (CM)": 1}


# -- segments
# -------------------------------------------------------------------------------------------------

LONG = Tab(
    "LONG",
    (
        Col("ID", "INT", 4, key=1),
        *(Col(f"T{n}", "VCHR", 4000, nulls="Y", subtype="S") for n in range(4)),
    ),
    obid=9,
)


def texts(seed: int) -> list[str | None]:
    dice = random.Random(seed)
    return [
        (
            None
            if dice.random() < 0.2
            else "".join(dice.choice("abcXYZ0 ") for _ in range(dice.randrange(300)))
        )
        for _ in range(4)
    ]


def segmented(own: bool, cuts: tuple[int, ...], reading: str = "A") -> LogBuilder:
    log = LogBuilder((ACCT, LONG), own_lengths=own, reading=reading)
    first, second = log.unit(), log.unit(member=2)
    first.insert(ACCT, acct(1))
    first.insert(LONG, (1, *texts(1)), cuts)
    second.update(LONG, (2, *texts(2)), (2, *texts(3)), cuts)
    second.update(ACCT, acct(2), acct(2, "N"))
    first.delete(LONG, (3, *texts(4)), cuts)
    return log


def test_a_segment_that_begins_with_its_size_by_chance(tmp_path: Path) -> None:
    """The only later segment of a log is the end of a number, X'0002', and has no length of its
    own."""
    small = Tab("SMALL", (Col("ID", "INT", 4, key=1), Col("N", "INT", 4)), obid=9)
    whole, cut = (LogBuilder((small,), own_lengths=False) for _ in range(2))
    whole.unit().insert(small, (1, 2))
    whole.unit().insert(small, (3, 2))
    unit = cut.unit()
    unit.insert(small, (1, 2))
    cut.unit().insert(small, (3, 2), (len(unit.log.changes[0].images[0]),))
    expected = text_of(whole.script(tmp_path))
    assert text_of(cut.script(tmp_path)) == expected
    assert opened(cut, tmp_path).later_segments_have_length is False


CUTS = [(1,), (2,), (3,), (1, 2, 3, 4, 5, 6, 7), (100,), (60, 61, 200), tuple(range(10, 300, 7))]


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize("own", [True, False], ids=["each with a length", "first with a length"])
def test_segments_cut_anywhere(tmp_path: Path, own: bool, cuts: tuple[int, ...]) -> None:
    """Inside a length, a null byte or a value; in the log's order, shuffled, and spread over
    files."""
    expected = text_of(segmented(True, ()).script(tmp_path))
    log = segmented(own, cuts)
    assert text_of(log.script(tmp_path)) == expected
    assert opened(log, tmp_path).later_segments_have_length is own
    for how in (
        {"seed": 1},
        {"seed": 2, "files": 2},
        {"seed": 3, "files": 5},
        {"seed": 4, "framing": "bdw"},
        {"seed": 5, "framing": "ftp"},
    ):
        bundle = log.script(tmp_path, **how)
        assert (text_of(bundle), bundle.exit_code) == (expected, 0), how
        balance = bundle.manifest["balance"]
        assert balance["read"] == balance["emitted"] == 2 + 3 * (len(cuts) + 1)


@pytest.mark.parametrize("reading", ["B", "B'"])
def test_segments_under_the_other_readings(tmp_path: Path, reading: str) -> None:
    expected = text_of(segmented(True, ()).script(tmp_path))
    assert text_of(segmented(False, (5, 90), reading).script(tmp_path, seed=6, files=2)) == expected


def lose(records: list[bytes], number: int) -> list[bytes]:
    return [
        record
        for record in records
        if not (record[184:186] != b"\0\1" and record[186:188] == number.to_bytes(2, "big"))
    ]


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_missing_segment_takes_its_unit_along(tmp_path: Path, missing: int) -> None:
    log = LogBuilder((ACCT, LONG))
    good, hurt = log.unit(), log.unit()
    good.insert(ACCT, acct(1))
    hurt.insert(ACCT, acct(2))
    hurt.insert(LONG, (1, *texts(1)), (60, 61))
    hurt.delete(ACCT, acct(3))
    expected = units_of(log.script(tmp_path))
    log.records = lambda: lose(LogBuilder.records(log), missing)  # type: ignore[method-assign]
    bundle = log.script(tmp_path)
    unit = f"{log.changes[1].fields['UORID'].hex().upper()}/1"
    assert units_of(bundle) == {key: text for key, text in expected.items() if key != unit}
    assert len(units_of(bundle)) == 1
    assert bundle.exit_code == 8
    seen = ", ".join(str(number) for number in (1, 2, 3) if number != missing)
    (shown,) = bundle.manifest["findings"]["shown"]
    assert f"found segments {seen} of TOTALSEGS 3; expected each of 1 to 3 once" in shown
    assert bundle.manifest["balance"] == {
        "read": 5,
        "emitted": 1,
        "skipped": {},
        "quarantined": 2,
        "failed": 2,
        "closes": True,
    }


@pytest.mark.parametrize("twice", [1, 2, 3])
def test_a_segment_that_comes_twice_takes_its_unit_along(tmp_path: Path, twice: int) -> None:
    log = LogBuilder((ACCT, LONG))
    log.unit().insert(ACCT, acct(1))
    log.unit().insert(LONG, (1, *texts(1)), (60, 61))
    records = LogBuilder.records(log)
    log.records = lambda: [*records, records[twice]]  # type: ignore[method-assign]
    for seed in range(3):
        bundle = log.script(tmp_path, seed=seed)
        assert len(statements(bundle)) == 1
        assert bundle.exit_code == 8
        assert bundle.manifest["balance"]["failed"] == 4


def test_a_segment_whose_own_length_is_wrong(tmp_path: Path) -> None:
    log = LogBuilder((ACCT, LONG))
    log.unit().insert(ACCT, acct(1))
    log.unit().insert(LONG, (1, *texts(1)), (60, 61))
    records = LogBuilder.records(log)
    records[2] = records[2][:289] + bytes([records[2][289] ^ 1]) + records[2][290:]
    log.records = lambda: records  # type: ignore[method-assign]
    bundle = log.script(tmp_path)
    assert len(statements(bundle)) == 1
    assert "LR2014" in bundle.manifest["findings"]["shown"][0]


def test_segments_counted_from_zero(tmp_path: Path) -> None:
    log = segmented(True, (60, 61))
    records = [
        (
            record
            if record[184:186] == b"\0\1"
            else record[:186]
            + (int.from_bytes(record[186:188], "big") - 1).to_bytes(2, "big")
            + record[188:]
        )
        for record in LogBuilder.records(log)
    ]
    expected = text_of(log.script(tmp_path))
    log.records = lambda: records  # type: ignore[method-assign]
    assert text_of(log.script(tmp_path, seed=3)) == expected


def test_unsegmented_records_may_say_zero_segments(tmp_path: Path) -> None:
    log = LogBuilder()
    for change in (insert, update, delete):
        change(log)
    expected = text_of(log.script(tmp_path))
    records = [record[:184] + bytes(4) + record[188:] for record in LogBuilder.records(log)]
    log.records = lambda: records  # type: ignore[method-assign]
    assert text_of(log.script(tmp_path)) == expected


# -- expanded columns and positions
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", ["A", "B", "B'"])
def test_expanded_columns(tmp_path: Path, reading: str) -> None:
    logs = LogBuilder((ACCT, LONG)), LogBuilder((ACCT, LONG), reading=reading, expanded=True)
    for log in logs:
        unit = log.unit()
        unit.insert(ACCT, acct(1, "AB"))
        unit.update(ACCT, acct(1, "AB"), acct(1, ""))
        unit.update(ACCT, acct(1, ""), acct(1, None))
        unit.insert(LONG, (1, "", None, "x y ", "z" * 4000))
        unit.delete(ACCT, acct(1, None))
    sizes = {
        len(record)
        for record in logs[1].records()
        if record[10:12] == b"\0\3" and record[104:105] in (b"\xc9", b"\xc4")
    }
    assert len(sizes) == 1, "all images of a table have one size"
    expected, bundle = (log.script(tmp_path) for log in logs)
    assert bundle.exit_code == 0
    assert text_of(bundle) == text_of(expected)
    assert "name = ''" in text_of(bundle)
    assert "name = NULL" in text_of(bundle)


@pytest.mark.parametrize("sharing", [False, None], ids=["RBAs in LRSN fields", "commit LRSN zero"])
@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_without_data_sharing(tmp_path: Path, sharing: bool | None, mode: str) -> None:
    """Order by commit is the same; one unit interleaved with another, committed first."""
    logs = LogBuilder(), LogBuilder(sharing=sharing)
    for log in logs:
        late, early = log.unit(commit=5000), log.unit(commit=4000)
        for number in range(6):
            (late, early)[number % 2].insert(ACCT, acct(number))
    expected, bundle = (log.script(tmp_path, mode, seed=5, files=2) for log in logs)
    assert statements(bundle) == statements(expected)
    assert len(statements(bundle)) == 6
    log = opened(logs[1], tmp_path)
    assert log.uses_lrsn() is False
    assert opened(logs[0], tmp_path).uses_lrsn() is True


def test_same_unit_id_and_commit_on_two_members(tmp_path: Path) -> None:
    """Equal LRSNs and equal URIDs of two members: two units, each whole."""
    log = LogBuilder()
    one, two = (
        log.unit(1, commit=900, start=50),
        log.unit(2, commit=900, start=50, UORCOMMITPOINT=rba(77)),
    )
    for number in range(4):
        (one, two)[number % 2].insert(ACCT, acct(number))
    bundle = log.script(tmp_path, seed=1)
    assert bundle.exit_code == 0
    parts = units_of(bundle)
    assert list(parts) == [f"{rba(50).hex().upper()}/1", f"{rba(50).hex().upper()}/2"]
    assert [text.count("INSERT") for text in parts.values()] == [2, 2]


def test_a_record_that_comes_again_as_segment_0_is_no_other_change(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1))
    control, (data,) = log.write(tmp_path)
    raw = bytearray(data.read_bytes())
    number = log.header.names["SEGNUM"]
    at = 4 + number.offset  # behind the record descriptor word
    assert raw[at : at + number.length] == b"\0\1"
    raw[at + 1] = 0
    again = tmp_path / "again.dat"
    again.write_bytes(raw)
    bundle = replay.write_script(control, [data, again], tmp_path / "out")
    assert (bundle.exit_code, statements(bundle)) == (8, [])


def test_equal_positions_of_different_members_are_no_duplicates(tmp_path: Path) -> None:
    log = LogBuilder()
    one, two = log.unit(1), log.unit(2)
    one.insert(ACCT, acct(1), LOGRBA=rba(1), LOGLRSN=lrsn(1), RID=bytes(5))
    two.insert(ACCT, acct(2), LOGRBA=rba(1), LOGLRSN=lrsn(1), RID=bytes(5))
    assert log.script(tmp_path).exit_code == 0


def test_key_columns_come_from_keyseq(tmp_path: Path) -> None:
    columns = tuple(
        replace(column, key={"NAME": 1, "OPEN_DT": 2}.get(column.name, 0))
        for column in ACCT.columns
    )
    table = replace(ACCT, columns=columns)
    log = LogBuilder((table,))
    log.unit().delete(table, acct(1))
    assert statements(log.script(tmp_path)) == [
        "DELETE FROM testown.acct WHERE name = 'ABCDE' AND open_dt = '2024-03-15';"
    ]


@pytest.mark.parametrize("reading", list(Reading))
@pytest.mark.parametrize("kind", [Change.INSERT, Change.UPDATE])
def test_a_record_without_data_does_not_speak_of_the_next_one(
    reading: Reading, kind: Change
) -> None:
    start = np.array([4], np.int64)
    found = find_images(np.full(40, 1, np.uint8), start, start, kind, reading, True)
    assert found.bad.all()
    assert found.reason(0) == ("a record without DATA", "DATA with the images of the change")
