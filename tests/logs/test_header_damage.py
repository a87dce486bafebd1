"""One thing damaged at a time: nothing of a damaged unit is in the script, all others are, and the
finding says where the damage lies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.errors import InputError, UsageError
from replay.logs.logmaster.layouts import LLDF
from replay.output.bundle import Bundle
from sqlgen.choices import Assertion
from sqlgen.render_options import RenderOptions
from tests.support.few import few
from tests.support.logbuilder import (
    ACCT,
    LogBuilder,
    Tab,
    acct,
    frame,
    lrsn,
    rba,
    text_of,
    unframe,
    units_of,
)

OTHER = Tab("OTHER", ACCT.columns, obid=2)
MIDDLE = 4


def unit_log() -> LogBuilder:
    """Three units; record ``MIDDLE`` lies in the middle of the second one, which has five."""
    log = LogBuilder((ACCT, OTHER))
    first, second, third = log.unit(), log.unit(), log.unit(member=2)
    first.insert(ACCT, acct(1))
    first.delete(OTHER, acct(2))
    second.insert(ACCT, acct(3))
    second.delete(OTHER, acct(4))
    second.update(ACCT, acct(5), acct(5, "NEW", "99.00"))
    second.insert(OTHER, acct(6))
    second.delete(ACCT, acct(7))
    third.insert(ACCT, acct(8))
    third.update(OTHER, acct(9), acct(9, None))
    return log


class Copy:
    """A copy of a log whose records a test may change."""

    def __init__(self, control: bytes, records: list[bytes], folder: Path) -> None:
        self.control, self.records, self.folder = control, records, folder
        self.runs = 0

    def run(
        self,
        records: list[bytes] | None = None,
        mode: str = "redo",
        raw: bytes | None = None,
        strict: bool = False,
        where: str | None = None,
    ) -> Bundle:
        """An undo finds rows by their old values too, and counts none, as it does by itself where
        units are set aside."""
        self.runs += 1
        render = RenderOptions(where_columns=where or ("guard" if mode == "undo" else "key"))
        control, data = self.folder / "d.ctl", self.folder / "d.dat"
        control.write_bytes(self.control)
        data.write_bytes(
            frame(self.records if records is None else records, "rdw") if raw is None else raw
        )
        return replay.write_script(
            control,
            [data],
            self.folder / f"out{self.runs}",
            mode=mode,
            options=ScriptOptions(render=render, strict=strict, asserts=Assertion.NONE),
        )


@pytest.fixture
def tiny(tmp_path: Path) -> Copy:
    log = unit_log()
    return Copy(frame(log.control_records(), "rdw"), log.records(), tmp_path)


def small_in(sakila_small: Path, folder: Path) -> Copy:
    return Copy(
        (sakila_small / "small.ctl").read_bytes(),
        unframe((sakila_small / "small.dat").read_bytes()),
        folder,
    )


@pytest.fixture
def small(sakila_small: Path, tmp_path: Path) -> Copy:
    return small_in(sakila_small, tmp_path)


@pytest.fixture(scope="module")
def sound(
    sakila_small: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., dict[str, str]]:
    """The units of the small log without damage, by what is given to :meth:`Copy.run`."""
    log = small_in(sakila_small, tmp_path_factory.mktemp("sound"))
    return cache(lambda **how: units_of(log.run(**how)))


def unit_of(record: bytes) -> str:
    return f"{record[172:182].hex().upper()}/{int.from_bytes(record[97:99], 'big')}"


def place_of(records: list[bytes], number: int) -> int:
    """The offset of a record's first byte after its descriptor."""
    return sum(len(record) + 4 for record in records[:number]) + 4


def set_aside(
    copy: Copy,
    sound: dict[str, str],
    records: list[bytes],
    number: int,
    code: str,
    field: str,
    mode: str,
) -> None:
    """Run with record ``number`` damaged: its unit is out, the others are as before, and the
    finding names the record."""
    bundle = copy.run(records, mode)
    unit = unit_of(copy.records[number])
    assert units_of(bundle) == {key: text for key, text in sound.items() if key != unit}
    assert unit in sound
    assert bundle.exit_code == bundle.manifest["exit_code"] == 8
    assert bundle.manifest["balance"]["closes"]
    assert [entry["unit"] for entry in bundle.manifest["quarantined_units"]] == [unit]
    size = sum(unit_of(record) == unit for record in copy.records)
    assert bundle.tally.failed + bundle.tally.quarantined == size
    offset = place_of(records, number)
    shown = [
        line
        for line in bundle.manifest["findings"]["shown"]
        if code in line and f"d.dat, record {number + 1}, offset " in line
    ]
    assert shown, bundle.manifest["findings"]["shown"]
    within = [int(line.split("offset ")[1].split()[0]) for line in shown]
    assert all(offset <= place < offset + len(records[number]) for place in within)
    assert any(f"field {field}" in line for line in shown), shown
    assert all("found " in line and "expected " in line for line in shown)
    with pytest.raises(InputError) as raised:
        copy.run(records, mode, strict=True)
    assert raised.value.exit_code == 12
    assert not (copy.folder / f"out{copy.runs}").exists()


# -- what tells units apart
# -------------------------------------------------------------------------------------------------


def test_unit_id_that_becomes_another_units(tiny: Copy) -> None:
    """A record that claims to be of a unit that exists: it differs from that unit in its commit, so
    both are suspect."""
    stranger = tiny.records[MIDDLE]
    first = tiny.records[0]
    records = list(tiny.records)
    records[MIDDLE] = stranger[:172] + first[172:182] + stranger[182:]
    bundle = tiny.run(records)
    assert bundle.exit_code == 8
    assert units_of(bundle).keys() == {unit_of(tiny.records[7])}
    records[MIDDLE] = stranger[:192] + first[192:202] + stranger[202:]
    bundle = tiny.run(records)
    assert bundle.exit_code == 8
    assert unit_of(stranger) not in units_of(bundle)


# -- kinds of damage, on the Sakila log
# -------------------------------------------------------------------------------------------------


def committed(copy: Copy, table: str, change: str, several: bool = True) -> int:
    """A committed whole record of a table, of a unit with several."""
    sizes = Counter(unit_of(record) for record in copy.records)
    for number, record in enumerate(copy.records):
        kind = record[40:58].decode("cp037").strip(), record[104:106].decode("cp037").strip()
        if (
            kind == (table, change)
            and record[161] == record[107] == 0xC3
            and record[184:186] == b"\0\1"
            and (sizes[unit_of(record)] > 1) >= several
        ):
            return number
    raise AssertionError(f"no such record: {table} {change}")


def put(place: int, value: bytes) -> Callable[[bytes], bytes]:
    return lambda record: record[:place] + value + record[place + len(value) :]


KINDS: list[tuple[str, str, str, Callable[[bytes], bytes], str, str]] = [
    ("header length", "RENTAL", "UB", put(1, b"\x21"), "LR2010", "LENGTH"),
    ("outer length", "RENTAL", "UB", lambda r: put(289, bytes([r[289] ^ 1]))(r), "LR2014", "DATA"),
    ("image length", "RENTAL", "UB", lambda r: put(291, bytes([r[291] ^ 4]))(r), "LR2014", "DATA"),
    ("change type", "RENTAL", "UB", put(104, "XX".encode("cp037")), "LR2012", "CHANGE TYPE"),
    ("insert called update", "PAYMENT", "I", put(104, "UB".encode("cp037")), "LR2014", "DATA"),
    ("update called insert", "RENTAL", "UB", put(104, "I ".encode("cp037")), "LR2014", "DATA"),
    ("unknown table", "RENTAL", "UB", put(10, b"\x7e\x7e"), "LR2011", "TBOBID"),
    ("unknown database", "RENTAL", "UB", put(6, b"\x7e\x7e"), "LR2011", "TBOBID"),
    ("packed digit", "PAYMENT", "I", put(292 + 17, b"\xa0"), "LR2015", "AMOUNT"),
    ("packed sign", "PAYMENT", "I", put(292 + 19, b"\x09"), "LR2015", "AMOUNT"),
    ("null byte", "RENTAL", "UB", put(292 + 38, b"\x7f"), "LR2014", "RETURN_DATE"),
    ("date text", "RENTAL", "I", put(292 + 4, b"\xc1"), "LR2015", "RENTAL_DATE"),
    ("cut off within the image", "PAYMENT", "I", lambda r: r[:-3], "LR2010", "SEGLEN"),
    ("longer than its image", "PAYMENT", "I", lambda r: r + b"\0\0\0", "LR2010", "SEGLEN"),
    ("header alone", "PAYMENT", "I", lambda r: r[:288], "LR2010", "SEGLEN"),
]  # fmt: skip


@pytest.mark.parametrize("mode", few(["redo", "undo"], "redo"))
@pytest.mark.parametrize(
    ("table", "change", "damage", "code", "field"),
    [kind[1:] for kind in KINDS],
    ids=[kind[0] for kind in KINDS],
)
def test_kinds(
    small: Copy,
    table: str,
    change: str,
    damage: Callable[[bytes], bytes],
    code: str,
    field: str,
    mode: str,
    sound: Callable[..., dict[str, str]],
) -> None:
    number = committed(small, table, change)
    records = list(small.records)
    records[number] = damage(records[number])
    if mode == "undo" and change == "I" and code == "LR2015":
        # what takes an insert back needs its key only
        assert units_of(small.run(records, mode, where="key")) == sound(mode=mode, where="key")
    set_aside(small, sound(mode=mode), records, number, code, field, mode)


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize(("place", "field"), [(144, "UORCOMMITTIMESTAMP"), (161, "UORDISP")])
def test_a_header_that_cannot_be_trusted_stops_the_run(
    small: Copy, place: int, field: str, mode: str
) -> None:
    """A field that no header can have: the record may be of any unit, so none can be known to be
    whole."""
    number = committed(small, "RENTAL", "UB")
    records = list(small.records)
    records[number] = put(place, b"\xfe")(records[number])
    with pytest.raises(InputError, match="no unit can be trusted") as raised:
        small.run(records, mode)
    where = raised.value.where
    assert (raised.value.code, where.record, where.offset, where.field) == (
        "LR2010",
        number + 1,
        place_of(records, number) + place,
        field,
    )
    assert not list(small.folder.glob("out*"))


def test_a_record_that_comes_twice(small: Copy, sound: Callable[..., dict[str, str]]) -> None:
    number = committed(small, "PAYMENT", "I")
    for place in (0, number, len(small.records)):
        records = [*small.records[:place], small.records[number], *small.records[place:]]
        bundle = small.run(records)
        unit = unit_of(small.records[number])
        expected = sound(mode="redo").items()
        assert units_of(bundle) == {key: text for key, text in expected if key != unit}
        assert bundle.exit_code == 8
        assert bundle.manifest["balance"]["closes"]
        assert bundle.manifest["balance"]["read"] == len(small.records) + 1
        assert any(
            "LR2017" in line and "field LOGRBA" in line
            for line in bundle.manifest["findings"]["shown"]
        )


def test_the_same_file_twice(small: Copy) -> None:
    small.run()
    data, copy = small.folder / "d.dat", small.folder / "copy.dat"
    with pytest.raises(UsageError, match="LR1001"):
        replay.write_script(small.folder / "d.ctl", [data, data], small.folder / "twice")
    copy.write_bytes(data.read_bytes())
    bundle = replay.write_script(small.folder / "d.ctl", [data, copy], small.folder / "twice")
    assert (text_of(bundle), bundle.exit_code) == ("", 8)
    assert bundle.manifest["balance"]["read"] == 2 * len(small.records)
    assert bundle.manifest["balance"]["closes"]
    assert {line[:6] for line in bundle.manifest["findings"]["shown"]} <= {"LR2017", "LR2013"}


@pytest.mark.parametrize(
    ("wrong", "code"), [(b"\0\0", "LR2005"), (b"\0\3", "LR2005"), (b"\xff\xff", "LR2006")]
)
def test_damaged_descriptors(small: Copy, wrong: bytes, code: str) -> None:
    number = len(small.records) - 5
    place = place_of(small.records, number) - 4
    raw = bytearray(frame(small.records, "rdw"))
    raw[place : place + 2] = wrong
    with pytest.raises(InputError) as raised:
        small.run(raw=bytes(raw))
    assert (raised.value.code, raised.value.where.record, raised.value.where.offset) == (
        code,
        number + 1,
        place,
    )
    assert not list(small.folder.glob("out*"))


# -- what the headers of a log have in common
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("others", [1, 3])
def test_units_that_commit_at_rbas_among_lrsns_have_no_order(tmp_path: Path, others: int) -> None:
    log = LogBuilder()
    for _ in range(others):
        log.unit().insert(ACCT, acct(1))
    odd = log.unit(member=0, UORCOMMITLRSN=bytes(10))
    odd.insert(ACCT, acct(2))
    if others == 1:
        with pytest.raises(InputError, match="LR2007 .*UORCOMMITLRSN of zero in 1 of 2"):
            log.script(tmp_path)
    else:
        assert odd.name in str(log.script(tmp_path).manifest["quarantined_units"])


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("LOGRBA", rba(0), "at least UORID, within the unit"),
        ("UORCOMMITLRSN", bytes(10), "the LRSN of the commit, as other records have it"),
        ("SEGLEN", bytes(2), "the length of the segment"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ("LOGRBA", rba(1 << 30), "at most UORCOMMITPOINT, within the unit"),
                ("LOGLRSN", lrsn(-(1 << 30)), "at least UORIDLRSN, within the unit"),
                ("LOGLRSN", lrsn(1 << 30), "at most UORCOMMITLRSN, within the unit"),
                ("UORCOMMITLRSN", lrsn(-(1 << 30)), "at most UORCOMMITLRSN, within the unit"),
            )
        ),
    ],
)
def test_a_unit_with_a_header_unlike_the_others_is_set_aside(
    tmp_path: Path, field: str, value: bytes, expected: str
) -> None:
    """Of a unit with one record, too, which nothing else in the log contradicts."""
    log = unit_log()
    log.unit().insert(ACCT, acct(10))
    tiny = Copy(frame(log.control_records(), "rdw"), log.records(), tmp_path)
    entry = LLDF.names[field]
    for number in (MIDDLE, 9):
        records = list(tiny.records)
        record = records[number]
        records[number] = record[: entry.offset] + value + record[entry.end :]
        bundle = tiny.run(records)
        assert bundle.exit_code == 8
        assert unit_of(record) not in units_of(bundle)
        assert len(units_of(bundle)) == 3
        findings = str(bundle.manifest)
        assert field in findings
        if number == 9:
            assert expected in findings


@pytest.mark.parametrize(
    ("field", "said"),
    [("UORID", "LR2010.*UORID"), ("SYSTEMID", "LR2007.*no unit can be trusted")],
)
def test_a_record_without_a_unit_ends_the_run(tiny: Copy, field: str, said: str) -> None:
    entry = LLDF.names[field]
    records = list(tiny.records)
    blank = bytes(entry.length)
    records[8] = records[8][: entry.offset] + blank + records[8][entry.end :]
    with pytest.raises(InputError, match=said):
        tiny.run(records)


def test_rules_that_a_log_does_not_keep_are_not_asked(tmp_path: Path) -> None:
    """Another product's idea of a commit point, or of SEGLEN, is no damage."""
    log = LogBuilder()
    for number in range(4):
        unit = log.unit(UORCOMMITPOINT=rba(1))
        unit.insert(ACCT, acct(number))
    assert log.script(tmp_path).exit_code == 0
