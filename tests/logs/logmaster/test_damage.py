"""Damaged input: every kind ends in a clear message or a unit set aside; nothing of a damaged unit
reaches a script, and all else does."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.errors import InputError, LogReplayError, Refusal, UsageError
from replay.logs.logmaster.layouts import CONTROL, LLDF
from replay.output.bundle import Bundle
from sqlgen.choices import Assertion
from sqlgen.constraints import Constraints
from sqlgen.render_options import RenderOptions

#: The text of each unit of recovery in a script.
Units = dict[str, str]

FIELD = {name: (field.offset, field.end) for name, field in LLDF.names.items()}


class Log:
    """The small log in memory: records that a test may change, and a control file."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.scratch = scratch
        self.control = (folder / "small.ctl").read_bytes()
        self.records = split((folder / "small.dat").read_bytes())

    def write(
        self,
        mode: str = "redo",
        raw: bytes | None = None,
        options: ScriptOptions | None = None,
        selection: Selection | None = None,
    ) -> Bundle:
        data, control = self.scratch / "x.dat", self.scratch / "x.ctl"
        data.write_bytes(join(self.records) if raw is None else raw)
        control.write_bytes(self.control)
        out = self.scratch / f"out-{len(list(self.scratch.iterdir()))}"
        if options is None and mode == "undo":
            # as an undo does by itself where units are set aside: rows are found by their old
            # values too, and may be missing
            options = ScriptOptions(
                render=RenderOptions(where_columns="guard"), asserts=Assertion.NONE
            )
        return replay.write_script(
            control,
            [data],
            out,
            mode=mode,
            constraints=Constraints(),
            options=options,
            selection=selection,
        )

    def get(self, number: int, field: str) -> bytes:
        low, high = FIELD[field]
        return self.records[number][low:high]

    def set(self, number: int, field: str, value: bytes) -> None:
        low, high = FIELD[field]
        record = self.records[number]
        self.records[number] = (
            record[:low] + value.ljust(high - low, b"\x40")[: high - low] + record[high:]
        )

    def unit(self, number: int) -> str:
        member = int.from_bytes(self.get(number, "MEMBERID"), "big")
        return f"URID={self.get(number, 'UORID').hex().upper()} member={member} "

    def one_of_many(self, change: str = "UB") -> int:
        """A committed, unsegmented record of a unit that has several."""
        units = [self.get(n, "UORID") for n in range(len(self.records))]
        for number in range(len(self.records)):
            sound = self.get(number, "UORDISP") + self.get(number, "LOGRECDISP") == "CC".encode(
                "cp037"
            )
            alone = self.get(number, "TOTALSEGS") == b"\0\1"
            if (
                sound
                and alone
                and self.get(number, "CHANGE TYPE") == change.ljust(2).encode("cp037")
                and units.count(units[number]) > 3
            ):
                return number
        raise AssertionError("the log has no such record")


def split(raw: bytes) -> list[bytes]:
    records, place = [], 0
    while place < len(raw):
        size = int.from_bytes(raw[place : place + 2], "big")
        records.append(raw[place + 4 : place + size])
        place += size
    return records


def join(records: list[bytes]) -> bytes:
    return b"".join((len(record) + 4).to_bytes(2, "big") + b"\0\0" + record for record in records)


def units_of(bundle: Bundle) -> dict[str, str]:
    """The text of each unit in a bundle's scripts, by its comment's first words."""
    text = "".join(path.read_text() for path in sorted(bundle.folder.glob("*.sql")))
    found = {}
    for block in re.split(r"(?m)^(?=-- unit )", text)[1:]:
        key = re.match(r"-- unit (URID=\S+ member=\d+ )", block)
        assert key
        found[key[1]] = block
    return found


class SoundLog(Log):
    """The log that tests damage; what it says before that is the same for all of them."""

    def __init__(self, folder: Path, scratch: Path, sound: Callable[[str], Units]) -> None:
        super().__init__(folder, scratch)
        self._sound = sound

    def sound(self, mode: str = "redo") -> Units:
        """The units of the log without damage."""
        return self._sound(mode)


@pytest.fixture(scope="module")
def units_before(
    sakila_small: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Units]:
    log = Log(sakila_small, tmp_path_factory.mktemp("sound"))
    return cache(lambda mode: units_of(log.write(mode)))


@pytest.fixture
def log(sakila_small: Path, tmp_path: Path, units_before: Callable[[str], Units]) -> SoundLog:
    return SoundLog(sakila_small, tmp_path, units_before)


def check_quarantined(
    log: SoundLog, sound: dict[str, str], unit: str, code: str, mode: str = "redo"
) -> Bundle:
    bundle = log.write(mode)
    assert bundle.exit_code == 8
    assert bundle.manifest["balance"]["closes"]
    assert bundle.manifest["balance"]["failed"] + bundle.manifest["balance"]["quarantined"] >= 1
    shown = bundle.manifest["findings"]["shown"]
    assert any(
        code in line
        and "x.dat" in line
        and "record " in line
        and "offset " in line
        and "found " in line
        for line in shown
    ), shown
    left = units_of(bundle)
    assert unit not in left
    assert left == {key: text for key, text in sound.items() if key != unit}
    assert bundle.manifest["quarantined_units"]
    return bundle


HEADER_DAMAGE = [
    ("LENGTH", b"\x01\x21", "LR2010"),
    ("CHANGE TYPE", "ZZ".encode("cp037"), "LR2012"),
    ("LOGRECDISP", "X".encode("cp037"), "LR2010"),
    ("SQLSRCTYPE", "Q".encode("cp037"), "LR2010"),
    ("SQLTYPE", "Q".encode("cp037"), "LR2010"),
    ("TBOBID", b"\x7f\x7f", "LR2011"),
    ("SEGNUM", b"\x00\x09", "LR2010"),
    ("UORIDLRSN", b"\x00\xde\xcb\xea\xff\xff\xff\xff\x00\x00", "LR2016"),
    ("UORCOMMITLRSN", b"\x00\xde\xcb\xea\xff\xff\xff\xff\x00\x00", "LR2016"),
    ("UORCOMMITTIMESTAMP", bytes.fromhex("2024031510203012345600000000000000"), "LR2016"),
]


@pytest.mark.long
@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize(
    ("field", "value", "code"), HEADER_DAMAGE, ids=[field for field, _, _ in HEADER_DAMAGE]
)
def test_damaged_header_quarantines_its_unit(
    log: SoundLog, field: str, value: bytes, code: str, mode: str
) -> None:
    sound = log.sound(mode)
    number = log.one_of_many()
    log.set(number, field, value)
    check_quarantined(log, sound, log.unit(number), code, mode)


def test_flipped_unit_id_leaves_no_half_unit(log: SoundLog) -> None:
    """A record that claims another unit with the same commit: both that unit and the one it left
    are suspect, and neither is emitted whole."""
    sound = log.sound()
    number = log.one_of_many()
    unit = log.unit(number)
    raw = bytearray(log.get(number, "UORID"))
    raw[-1] ^= 0x10
    log.set(number, "UORID", bytes(raw))
    bundle = log.write()
    left = units_of(bundle)
    assert bundle.exit_code == 8
    assert "LR2016" in "".join(bundle.manifest["findings"]["shown"])
    assert unit not in left
    assert all(text == sound[key] for key, text in left.items())


def test_image_that_does_not_close(log: SoundLog) -> None:
    sound = log.sound()
    number = log.one_of_many("I")
    record = bytearray(log.records[number])
    record[290:292] = (int.from_bytes(record[290:292], "big") - 1).to_bytes(2, "big")
    log.records[number] = bytes(record)
    check_quarantined(log, sound, log.unit(number), "LR2014")


def test_bad_null_byte(log: SoundLog) -> None:
    """An inserted RENTAL row: RETURN_DATE's null byte stands after two integers and a timestamp."""
    sound = log.sound()
    rental = [
        n for n in range(len(log.records))
        if log.get(n, "TABLENAME").decode("cp037").strip() == "RENTAL" and log.get(n,
            "CHANGE TYPE") == "UB".encode("cp037")
        and log.get(n, "LOGRECDISP") == "C".encode("cp037") and log.get(n,
            "UORDISP") == "C".encode("cp037")
    ]  # fmt: skip
    number = rental[0]
    record = bytearray(log.records[number])
    place = 292 + 4 + 26 + 4 + 4
    assert record[place] in (0x00, 0xFF)
    record[place] = 0x41
    log.records[number] = bytes(record)
    bundle = check_quarantined(log, sound, log.unit(number), "LR2014")
    assert "RETURN_DATE" in "".join(bundle.manifest["findings"]["shown"])


@pytest.mark.parametrize(("byte", "what"), [(0xAB, "digit"), (0x00, "sign")])
def test_bad_packed_decimal(log: SoundLog, byte: int, what: str) -> None:
    """AMOUNT of an inserted PAYMENT: three packed bytes after three integers and a nullable one."""
    sound = log.sound()
    number = next(
        n for n in range(len(log.records))
        if log.get(n, "TABLENAME").decode("cp037").strip() == "PAYMENT" and log.get(n,
            "CHANGE TYPE") == "I ".encode("cp037")
        and log.get(n, "LOGRECDISP") == "C".encode("cp037") and log.get(n,
            "UORDISP") == "C".encode("cp037")
    )  # fmt: skip
    record = bytearray(log.records[number])
    place = 292 + 4 + 4 + 4 + 5 + (0 if what == "digit" else 2)
    record[place] = byte
    log.records[number] = bytes(record)
    bundle = check_quarantined(log, sound, log.unit(number), "LR2015")
    assert "AMOUNT" in "".join(bundle.manifest["findings"]["shown"])


def segmented(log: SoundLog) -> list[int]:
    found = [
        n
        for n in range(len(log.records))
        if log.get(n, "TOTALSEGS") > b"\0\1" and log.get(n, "UORDISP") == "C".encode("cp037")
    ]
    first = log.get(found[0], "LOGRBA")
    return [n for n in found if log.get(n, "LOGRBA") == first]


def test_missing_segment(log: SoundLog) -> None:
    sound = log.sound()
    numbers = segmented(log)
    unit = log.unit(numbers[0])
    del log.records[numbers[0]]
    check_quarantined(log, sound, unit, "LR2013")


def test_duplicate_segment_and_duplicate_record(log: SoundLog) -> None:
    sound = log.sound()
    numbers = segmented(log)
    log.records.append(log.records[numbers[-1]])
    check_quarantined(log, sound, log.unit(numbers[0]), "LR2013")
    log.records.pop()
    number = log.one_of_many()
    log.records.append(log.records[number])
    check_quarantined(log, sound, log.unit(number), "LR2017")


def test_segments_in_any_order_and_any_file(log: SoundLog, tmp_path: Path) -> None:
    sound = log.sound()
    random.Random(7).shuffle(log.records)
    assert units_of(log.write()) == sound
    half = len(log.records) // 2
    paths = [tmp_path / "a.dat", tmp_path / "b.dat"]
    for path, part in zip(paths, (log.records[:half], log.records[half:]), strict=True):
        path.write_bytes(join(part))
    bundle = replay.write_script(tmp_path / "x.ctl", paths, tmp_path / "two")
    assert units_of(bundle) == sound


def test_the_same_file_twice(log: SoundLog, tmp_path: Path) -> None:
    log.write()
    data, copy = tmp_path / "x.dat", tmp_path / "copy.dat"
    with pytest.raises(UsageError, match="LR1001"):
        replay.write_script(tmp_path / "x.ctl", [data, data], tmp_path / "twice")
    copy.write_bytes(data.read_bytes())
    bundle = replay.write_script(tmp_path / "x.ctl", [data, copy], tmp_path / "twice")
    assert bundle.exit_code == 8
    assert units_of(bundle) == {}
    assert "LR2017" in bundle.manifest["findings"]["shown"][-1]


def test_several_changes_of_one_place_in_a_file_that_is_given_twice(
    log: SoundLog, tmp_path: Path
) -> None:
    """Records that are the same do not stand beside each other then."""
    sound = log.sound()
    number = log.one_of_many()
    unit = log.unit(number)
    for other in range(len(log.records)):
        if log.unit(other) == unit:
            log.set(other, "LOGRBA", log.get(number, "LOGRBA"))
    assert units_of(log.write()).keys() == sound.keys()
    (tmp_path / "copy.dat").write_bytes((tmp_path / "x.dat").read_bytes())
    paths = [tmp_path / "x.dat", tmp_path / "copy.dat"]
    bundle = replay.write_script(tmp_path / "x.ctl", paths, tmp_path / "twice")
    assert (bundle.exit_code, units_of(bundle)) == (8, {})


def test_strict_stops(log: SoundLog) -> None:
    number = log.one_of_many()
    log.set(number, "CHANGE TYPE", "ZZ".encode("cp037"))
    with pytest.raises(InputError, match="LR2012"):
        log.write(options=ScriptOptions(strict=True))
    assert not [path for path in log.scratch.iterdir() if path.name.startswith("out")]


def test_a_record_without_a_unit_ends_the_run(log: SoundLog) -> None:
    number = log.one_of_many()
    log.set(number, "SYSTEMID", b"\0\0\0\0")
    with pytest.raises(InputError, match=r"LR2007.*no unit can be trusted") as raised:
        log.write()
    assert raised.value.exit_code == 12


Damage = Callable[[bytes], bytes]
FILES: list[tuple[str, Damage, str]] = [
    ("truncated", lambda raw: raw[:-7], "LR2006"),
    ("descriptor zero", lambda raw: raw + bytes(8), "LR2005"),
    ("descriptor too long", lambda raw: raw + b"\x7f\xff\0\0" + bytes(40), "LR2006"),
    ("descriptor with rubbish", lambda raw: raw + b"\0\x40\1\1" + bytes(60), "LR2005"),
    ("empty", lambda raw: b"", "LR2002"),
    ("text mode", lambda raw: raw.decode("cp037").encode("latin-1"), "LR2003"),
    (
        "other subsystem",
        lambda raw: raw.replace("DB2P".encode("cp037"), "DB2X".encode("cp037")),
        "LR2007",
    ),
    ("rubbish", lambda raw: bytes(range(256)) * 10, "LR2004"),
]


@pytest.mark.parametrize(
    ("damage", "code"), [entry[1:] for entry in FILES], ids=[entry[0] for entry in FILES]
)
def test_damaged_files(log: SoundLog, damage: Damage, code: str) -> None:
    with pytest.raises(InputError) as raised:
        log.write(raw=damage(join(log.records)))
    assert raised.value.code == code
    assert raised.value.exit_code == 12
    assert "x.dat" in str(raised.value)
    assert raised.value.hint or code == "LR2002"
    assert not [path for path in log.scratch.iterdir() if path.name.startswith("out")]


def test_swapped_files(log: SoundLog, tmp_path: Path) -> None:
    log.write()
    with pytest.raises(InputError, match=r"LR2007.*swapped"):
        replay.write_script(tmp_path / "x.dat", [tmp_path / "x.ctl"], tmp_path / "out")


CONTROLS: list[tuple[str, Callable[[list[bytes]], list[bytes]], str]] = [
    ("no XTYP", lambda records: records[1:], "LR2008"),
    ("no DTBI", lambda records: [r for r in records if r[:4] != "DTBI".encode("cp037")], "LR2008"),
    ("one DTBI missing", lambda records: without(records, "DTBI", 1), "LR2008"),
    ("one DLCI missing", lambda records: without(records, "DLCI", 5), "LR2008"),
    ("no header length", lambda records: without(records, "XHDF", 0), "LR2008"),
    ("bad id", lambda records: [change(r, "DLCI", "DBID", b"\0\0\0\0") for r in records], "LR2009"),
    (
        "bad encoding",
        lambda records: [change(r, "DTBI", "ENCODINGSCHEME", b"\xe9") for r in records],
        "LR2009",
    ),
    (
        "bad position",
        lambda records: [
            change(r, "DLCI", "LLCOLUMNPOS", "00007".encode("cp037")) for r in records
        ],
        "LR2009",
    ),
]


def without(records: list[bytes], tag: str, number: int) -> list[bytes]:
    places = [place for place, record in enumerate(records) if record[:4] == tag.encode("cp037")]
    return [record for place, record in enumerate(records) if place != places[number]]


def change(record: bytes, tag: str, field: str, value: bytes) -> bytes:
    if record[:4] != tag.encode("cp037"):
        return record
    entry = CONTROL[tag].names[field]
    return record[: entry.offset] + value + record[entry.end :]


@pytest.mark.parametrize(
    ("damage", "code"), [entry[1:] for entry in CONTROLS], ids=[entry[0] for entry in CONTROLS]
)
def test_damaged_control_file(
    log: SoundLog, damage: Callable[[list[bytes]], list[bytes]], code: str
) -> None:
    log.control = join(damage(split(log.control)))
    with pytest.raises(InputError) as raised:
        log.write()
    assert raised.value.code == code
    assert "x.ctl" in str(raised.value)


def test_unknown_control_records_are_kept(log: SoundLog) -> None:
    records = split(log.control)
    log.control = join([records[0], "ZZZZ something new".encode("cp037"), *records[1:]])
    assert log.write().exit_code == 0


def test_undecidable_data_layout(log: SoundLog) -> None:
    log.records = [
        record[:288] + record[288:].replace(record[288:292], b"\x7f\x7f\x7f\x7f", 1)
        for record in log.records
    ]
    with pytest.raises(InputError, match="LR2018"):
        log.write()


def event(log: SoundLog, change_type: str, partition: int = 0) -> None:
    """Turn one record into an event of its whole table, without row images."""
    number = log.one_of_many()
    log.set(number, "CHANGE TYPE", change_type.encode("cp037"))
    log.set(number, "PARTNUM", partition.to_bytes(2, "big"))
    log.records[number] = log.records[number][:288]


@pytest.mark.parametrize(
    ("change_type", "statement"),
    [
        ("DM", "DELETE FROM sakila."),
        ("DT", "TRUNCATE TABLE sakila."),
        ("DR", "TRUNCATE TABLE sakila."),
    ],
)
def test_table_events(log: SoundLog, change_type: str, statement: str) -> None:
    event(log, change_type)
    lines = "".join(units_of(log.write()).values()).splitlines()
    assert [line for line in lines if line.startswith(statement) and " WHERE " not in line]
    with pytest.raises(Refusal, match="LR3002"):
        log.write("undo")


def test_a_trace_of_nothing(log: SoundLog) -> None:
    """Nothing is left to trace where every unit is set aside."""
    log.records = [
        log.records[
            next(
                n
                for n in range(len(log.records))
                if log.get(n, "LOGRECDISP") == "C".encode("cp037")
            )
        ]
    ]
    log.set(0, "LOGRECDISP", "A".encode("cp037"))
    bundle = log.write(options=ScriptOptions(trace=True))
    assert bundle.manifest["scripts"] == []
    assert bundle.manifest["balance"]["failed"] == 1


def test_what_a_statement_cannot_repeat_is_refused(log: SoundLog) -> None:
    event(log, "DM", partition=3)
    with pytest.raises(Refusal, match="LR3003"):
        log.write()
    with pytest.raises(
        Refusal, match=r"LR3002.*expected changes whose row images are in the log\. Undo only"
    ):  # one change, counted once
        log.write("undo")


def test_exchange_is_refused_and_can_be_left_out(log: SoundLog) -> None:
    event(log, "E ")
    with pytest.raises(Refusal, match=r"LR3003.*exchange"):
        log.write()
    with pytest.raises(Refusal, match="LR3002"):
        log.write("undo")
    table = next(
        n for n in range(len(log.records)) if log.get(n, "CHANGE TYPE") == "E ".encode("cp037")
    )
    name = log.get(table, "TABLENAME").decode("cp037").strip()
    left_out = Selection(exclude_tables=(f"*.{name}",))
    with pytest.raises(Refusal):  # any table may be the clone
        log.write("undo", selection=left_out)
    names = [part.encode("cp037") for part in ("SAKILA", "CLONE")]
    log.records[table] += b"".join(len(part).to_bytes(2, "big") + part for part in names)
    assert log.write("undo", selection=left_out).exit_code == 0


@pytest.mark.long
def test_random_flips_never_pass_unseen_outside_values(log: SoundLog) -> None:
    """One byte changed anywhere: an error, a finding, or a script that differs in nothing but the
    unit of that record."""
    sound = log.sound()
    dice = np.random.default_rng(20_261_120)
    original = list(log.records)
    outcomes = {"error": 0, "finding": 0, "same": 0, "value": 0}
    for _ in range(120):
        log.records = list(original)
        number = int(dice.integers(len(original)))
        record = bytearray(original[number])
        record[int(dice.integers(len(record)))] ^= 1 << int(dice.integers(8))
        log.records[number] = bytes(record)
        try:
            bundle = log.write()
        except LogReplayError:
            outcomes["error"] += 1
            continue
        assert bundle.manifest["balance"]["closes"]
        left = units_of(bundle)
        touched = {log.unit(number)}
        log.records = original
        touched.add(log.unit(number))
        different = {key for key in sound.keys() | left.keys() if sound.get(key) != left.get(key)}
        if bundle.exit_code == 8:
            outcomes["finding"] += 1
        else:
            outcomes["value" if different else "same"] += 1
            assert different <= touched, different
    assert outcomes["finding"] > 20
    assert min(outcomes.values()) > 0
