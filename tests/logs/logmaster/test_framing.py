"""What precedes each record: recognised from the first bytes, walked exactly, and every damage
named by file, record and offset."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.errors import InputError
from replay.logs.logmaster import framing
from replay.logs.logmaster.framing import Framing, RecordShape, detect_control, detect_data
from tests.support.logbuilder import frame, unframe
from tests.support.places import FIXTURES

DB2P = "DB2P".encode("cp037")
SHAPE = RecordShape(288, DB2P)
LEADS = {"rdw": 4, "bdw": 8, "ftp": 3, "none": 0}
every_framing = pytest.mark.parametrize("name", LEADS)


def record(size: int = 0, fill: int = 0x5A, lead: bytes = b"") -> bytes:
    """A header of nothing but LENGTH and SYSTEMID, and DATA of ``size`` bytes that begins with its
    length."""
    data = lead + bytes([fill]) * (size - 2 - len(lead))
    return SHAPE.pattern + bytes(282) + ((size.to_bytes(2, "big") + data) if size else b"")


def walked(raw: bytes, kind: Framing, block: int = framing.BLOCK_BYTES) -> list[bytes]:
    found = []
    expected = 1
    for part in framing.blocks(np.frombuffer(raw, np.uint8), kind, SHAPE, "x.dat", block):
        assert part.first_record == expected
        expected += len(part.offsets)
        found += [
            raw[at : at + size]
            for at, size in zip(part.offsets.tolist(), part.lengths.tolist(), strict=True)
        ]
    return found


@pytest.fixture(scope="module")
def small(request: pytest.FixtureRequest) -> tuple[list[bytes], list[bytes]]:
    """(control records, data records) of the bundled small log."""
    folder = FIXTURES / "sakila" / "small"
    return unframe((folder / "small.ctl").read_bytes()), unframe(
        (folder / "small.dat").read_bytes()
    )


# -- recognised
# -------------------------------------------------------------------------------------------------


@every_framing
def test_detected_and_walked(small: tuple[list[bytes], list[bytes]], name: str) -> None:
    control, data = (frame(records, name) for records in small)
    assert detect_control(control[:16], "x.ctl") is Framing(name)
    assert detect_data(data[:64], DB2P, "x.dat") is Framing(name)
    assert walked(data, Framing(name)) == small[1]


@every_framing
@pytest.mark.parametrize("block", [1, 1000, 5000, 1 << 20])
def test_blocks_begin_and_end_at_records(
    small: tuple[list[bytes], list[bytes]], name: str, block: int
) -> None:
    assert walked(frame(small[1], name), Framing(name), block) == small[1]


def test_ftp_block_mode_may_end_with_an_empty_block() -> None:
    records = [record(40), record(60)]
    raw = b"".join(b"\x80" + len(entry).to_bytes(2, "big") + entry for entry in records)
    assert walked(raw + b"\x40\0\0", Framing.FTP) == records


def test_long_blocks_of_the_extended_form() -> None:
    records = [record(400)] * 3
    inner = frame(records, "rdw")
    assert walked((0x80000000 | len(inner) + 4).to_bytes(4, "big") + inner, Framing.BDW) == records


# -- in parallel
# -------------------------------------------------------------------------------------------------


def many(seed: int, count: int = 4000, lead: bytes = b"") -> list[bytes]:
    dice = random.Random(seed)
    return [
        record(
            dice.choice((12, 64, dice.randrange(20, 900))),
            dice.randrange(256),
            lead if dice.random() < 0.02 else b"",
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("name", ["rdw", "none"])
def test_what_looks_like_a_record_inside_a_row_is_not_one(name: str) -> None:
    """The six bytes that every record begins with, inside row data, where the parallel walk looks
    for a place to begin."""
    wide = framing.GUESS_BYTES
    records = [record(wide, 0, SHAPE.pattern * (wide // 6 - 1)) for _ in range(300)]
    raw = frame(records, name)
    assert len(raw) > 1 << 20
    assert walked(raw, Framing(name)) == records
    mixed = many(2, lead=SHAPE.pattern)
    assert walked(frame(mixed, name), Framing(name)) == mixed


def test_a_whole_false_chain_inside_a_row() -> None:
    """Row data that is itself a file of records with descriptors, longer than the distance between
    two chains."""
    inner = frame([record(100)] * 80, "rdw")[:31_000]
    records = [record(len(inner) + 2, lead=inner) for _ in range(60)]
    assert walked(frame(records, "rdw"), Framing.RDW) == records


@pytest.mark.parametrize("name", ["rdw", "none"])
def test_records_without_data_stand_alone(name: str) -> None:
    """Header-only records (mass delete, commands) one after the other: none may swallow the
    next."""
    records = [record(40), record(), record(), record(), record(60), record(), record()]
    assert walked(frame(records, name), Framing(name)) == records
    several = records * 200
    raw = frame(several, name)
    assert len(raw) > 4 * framing.CHAIN_BYTES
    assert walked(raw, Framing(name)) == several


@given(st.binary(max_size=400), st.sampled_from(list(Framing)))
def test_rubbish_is_an_input_error_or_records_within_the_file(raw: bytes, kind: Framing) -> None:
    try:
        found, problem = walked(raw, kind), None
    except InputError as error:
        found, problem = [], error
    if problem is None:
        assert sum(map(len, found)) <= len(raw)
        return
    assert problem.code in ("LR2005", "LR2006", "LR2010")
    assert problem.where.record is not None
    assert problem.where.offset is not None
    assert problem.where.offset <= len(raw)


# -- damaged
# -------------------------------------------------------------------------------------------------


def fails(
    action: Callable[[], object], code: str, *, number: int | None, offset: int | None, says: str
) -> InputError:
    with pytest.raises(InputError) as raised:
        action()
    error = raised.value
    assert (error.code, error.where.record, error.where.offset) == (code, number, offset)
    assert says in error.message
    assert error.exit_code == 12
    text = str(error)
    assert (error.where.file or "-") in text
    assert offset is None or f"offset {offset} (X'{offset:X}')" in text
    assert number is None or f"record {number}" in text
    return error


RECORDS = [record(40), record(50), record(60)]
THIRD = {name: len(frame(RECORDS[:2], name)) for name in LEADS}


@pytest.mark.parametrize(
    ("name", "wrong", "code", "says"),
    [
        ("rdw", b"\0\0\0\0", "LR2005", "found length 0; expected more than the 4 bytes"),
        ("rdw", b"\0\4\0\0", "LR2005", "found length 4"),
        ("rdw", b"\1\x60\0\1", "LR2005", "found X'01600001'; expected a length and two zero bytes"),
        ("rdw", b"\1\x60\2\0", "LR2005", "found X'01600200'"),
        (
            "rdw",
            b"\x7f\xff\0\0",
            "LR2006",
            "expected the record that begins here to go on to 33441",
        ),
        ("ftp", b"\x80\0\0", "LR2005", "found length 0"),
        ("ftp", b"\x00\1\x5c", "LR2005", "found descriptor X'00'"),
        ("ftp", b"\x80\x7f\xff", "LR2006", "expected the record that begins here to go on"),
    ],
)
def test_impossible_descriptors(name: str, wrong: bytes, code: str, says: str) -> None:
    raw = bytearray(frame(RECORDS, name))
    place = THIRD[name]
    raw[place : place + len(wrong)] = wrong
    error = fails(
        lambda: walked(bytes(raw), Framing(name)), code, number=3, offset=place, says=says
    )
    assert "ransfer" in error.hint


@pytest.mark.parametrize("wrong", [b"\0\0\0\0", b"\0\x08\0\0", b"\1\x00\0\1", b"\x80\0\0\x08"])
def test_impossible_block_descriptors(wrong: bytes) -> None:
    raw = frame(RECORDS[:2], "bdw", 100) + wrong + frame(RECORDS[2:], "rdw")
    fails(
        lambda: walked(raw, Framing.BDW),
        "LR2005",
        number=3,
        offset=len(frame(RECORDS[:2], "bdw", 100)),
        says=f"X'{wrong.hex().upper()}'",
    )


def test_a_record_that_leaves_its_block() -> None:
    inner = bytearray(frame(RECORDS, "rdw"))
    inner[1] += 4
    raw = (len(inner[: THIRD["rdw"]]) + 4).to_bytes(2, "big") + b"\0\0" + bytes(inner)
    place = 4 + int.from_bytes(inner[:2], "big")
    fails(lambda: walked(raw, Framing.BDW), "LR2005", number=2, offset=place, says="found X'")
    inner = bytearray(frame(RECORDS[:2], "rdw"))
    inner[len(frame(RECORDS[:1], "rdw")) + 1] += 9
    raw = (len(inner) + 4).to_bytes(2, "big") + b"\0\0" + bytes(inner) + bytes(20)
    fails(
        lambda: walked(raw, Framing.BDW),
        "LR2005",
        number=2,
        offset=4 + len(frame(RECORDS[:1], "rdw")),
        says="within its block",
    )


@every_framing
def test_every_truncation_is_seen(name: str) -> None:
    """Cut off anywhere but between two records (or blocks), a file is an error that names the
    record that is cut."""
    raw = frame(RECORDS, name, 100)
    ends = {len(frame(RECORDS[:count], name, 100)): count for count in range(4)}
    for size in range(1, len(raw)):
        if size in ends:
            assert walked(raw[:size], Framing(name)) == RECORDS[: ends[size]]
            continue
        whole = max(end for end in ends if end < size)
        if name == "none" and size == whole + 288:
            continue  # a header alone is a record
        with pytest.raises(InputError) as raised:
            walked(raw[:size], Framing(name))
        assert raised.value.code == "LR2006"
        assert raised.value.where.record == ends[whole] + 1
        assert raised.value.where.offset in (whole, whole + 4)
        assert f"found the end of the file at {size}" in raised.value.message


def test_damage_deep_in_a_large_file_is_named_exactly() -> None:
    records = many(3)
    raw = bytearray(frame(records, "rdw"))
    place = len(frame(records[:3456], "rdw"))
    raw[place : place + 2] = b"\0\3"
    fails(
        lambda: walked(bytes(raw), Framing.RDW),
        "LR2005",
        number=3457,
        offset=place,
        says="found length 3",
    )
    bare = bytearray(frame(records, "none"))
    place = len(frame(records[:3456], "none"))
    bare[place] ^= 1
    with pytest.raises(InputError) as raised:
        walked(bytes(bare), Framing.NONE)
    assert (raised.value.code, raised.value.where.record) == (
        "LR2005",
        3456,
    ), "the record before, after which none begins"


def test_length_without_descriptors() -> None:
    raw = record(40)
    wrong = b"\1\x21" + raw[2:]
    error = fails(
        lambda: walked(wrong + raw, Framing.NONE),
        "LR2010",
        number=1,
        offset=0,
        says="found 289; expected 288",
    )
    assert "no way to find the next record" in error.hint
    fails(
        lambda: walked(raw[:288] + b"\0\x29" + raw[290:] + raw, Framing.NONE),
        "LR2005",
        number=1,
        offset=288,
        says="DATA length 41",
    )


# -- not these files
# -------------------------------------------------------------------------------------------------


def test_empty_files() -> None:
    fails(
        lambda: detect_control(b"", "x.ctl"), "LR2002", number=None, offset=None, says="empty file"
    )
    fails(
        lambda: detect_data(b"", DB2P, "x.dat"),
        "LR2002",
        number=None,
        offset=None,
        says="empty file",
    )
    assert walked(b"", Framing.RDW) == []


@every_framing
def test_text_mode(small: tuple[list[bytes], list[bytes]], name: str) -> None:
    control, data = (frame(records, name).decode("cp037").encode("latin-1") for records in small)
    lead = LEADS[name]
    error = fails(
        lambda: detect_control(control[:16], "x.ctl"),
        "LR2003",
        number=None,
        offset=lead,
        says="ASCII text XTYP",
    )
    assert "binary" in error.hint
    error = fails(
        lambda: detect_data(data[:64], DB2P, "x.dat"),
        "LR2003",
        number=1,
        offset=None,
        says="SYSTEMID DB2P in ASCII",
    )
    assert "binary" in error.hint


@every_framing
def test_swapped_files(small: tuple[list[bytes], list[bytes]], name: str) -> None:
    control, data = (frame(records, name) for records in small)
    error = fails(
        lambda: detect_control(data[:16], "x.dat"),
        "LR2007",
        number=1,
        offset=0,
        says="found a data record",
    )
    assert "swapped" in error.hint
    error = fails(
        lambda: detect_data(control[:64], DB2P, "x.ctl"),
        "LR2007",
        number=1,
        offset=0,
        says="XTYP record of a control file",
    )
    assert "swapped" in error.hint


@every_framing
def test_wrong_subsystem(small: tuple[list[bytes], list[bytes]], name: str) -> None:
    data = frame(small[1], name)
    other = "DB9X".encode("cp037")
    offset = LEADS[name] + 2
    says = "found SYSTEMID 'DB2P'; expected 'DB9X'"
    error = fails(
        lambda: detect_data(data[:64], other, "x.dat"), "LR2007", number=1, offset=offset, says=says
    )
    assert error.where.field == "SYSTEMID"


@every_framing
def test_control_file_without_its_first_record(
    small: tuple[list[bytes], list[bytes]], name: str
) -> None:
    raw = frame(small[0][1:], name)
    tag = small[0][1][:4].decode("cp037")
    fails(
        lambda: detect_control(raw[:16], "x.ctl"),
        "LR2008",
        number=1,
        offset=LEADS[name],
        says=f"found a {tag} record",
    )


@pytest.mark.parametrize(
    "raw", [bytes(64), bytes(range(64)), b"\xff" * 64, b"%PDF-1.7" * 8, b"\xe7"], ids=repr
)
def test_rubbish_is_not_recognised(raw: bytes) -> None:
    says = f"found X'{raw[:12].hex().upper()}'"
    fails(lambda: detect_control(raw[:16], "x.ctl"), "LR2004", number=1, offset=0, says=says)
    fails(lambda: detect_data(raw, DB2P, "x.dat"), "LR2004", number=1, offset=0, says=says)
