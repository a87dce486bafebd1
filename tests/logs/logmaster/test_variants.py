"""The same log in other clothes: framings, an older header, other readings of DATA, expanded
columns, no data sharing. The scripts stay the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import replay
from replay.decoding.layout import Field, FieldKind
from replay.errors import InputError
from replay.logs.logmaster.layouts import CONTROL, LLDF, XHDF


def split(raw: bytes) -> list[bytes]:
    records, place = [], 0
    while place < len(raw):
        size = int.from_bytes(raw[place : place + 2], "big")
        records.append(raw[place + 4 : place + size])
        place += size
    return records


def descriptor(size: int) -> bytes:
    return size.to_bytes(2, "big") + b"\0\0"


def rdw(records: list[bytes]) -> bytes:
    return b"".join(descriptor(len(record) + 4) + record for record in records)


def bdw(records: list[bytes]) -> bytes:
    blocks, block = [], b""
    for record in records:
        if block and len(block) + len(record) > 20_000:
            blocks.append(block)
            block = b""
        block += descriptor(len(record) + 4) + record
    return b"".join(descriptor(len(block) + 4) + block for block in [*blocks, block])


def ftp(records: list[bytes]) -> bytes:
    last = len(records) - 1
    return b"".join(
        bytes([0xC0 if n == last else 0x80]) + len(record).to_bytes(2, "big") + record
        for n, record in enumerate(records)
    )


def statements(folder: Path) -> list[str]:
    text = "".join(path.read_text() for path in sorted(folder.glob("*.sql")))
    return re.findall(r"(?m)^(?:INSERT|UPDATE|DELETE) .*$", text)


@pytest.fixture
def files(sakila_small: Path) -> tuple[list[bytes], list[bytes]]:
    """(control records, data records) of the small log."""
    return split((sakila_small / "small.ctl").read_bytes()), split(
        (sakila_small / "small.dat").read_bytes()
    )


@pytest.fixture
def expected(sakila_small: Path, tmp_path: Path) -> list[str]:
    return statements(
        replay.write_script(
            sakila_small / "small.ctl", [sakila_small / "small.dat"], tmp_path / "expected"
        ).folder
    )


def written(tmp_path: Path, control: bytes, data: bytes) -> list[str]:
    (tmp_path / "v.ctl").write_bytes(control)
    (tmp_path / "v.dat").write_bytes(data)
    bundle = replay.write_script(tmp_path / "v.ctl", [tmp_path / "v.dat"], tmp_path / "out")
    assert bundle.exit_code == 0, bundle.manifest["findings"]
    return statements(bundle.folder)


@pytest.mark.parametrize("frame", [rdw, bdw, ftp])
def test_framings(
    files: tuple[list[bytes], list[bytes]],
    expected: list[str],
    tmp_path: Path,
    frame: Callable[[list[bytes]], bytes],
) -> None:
    assert written(tmp_path, frame(files[0]), frame(files[1])) == expected


def old_layout() -> list[tuple[Field, int, bytes]]:
    """Each header field as a release before 11.1 has it: (new field, length, XHDF type)."""
    fields = []
    for field in LLDF.names.values():
        length = {FieldKind.POSITION: 6, FieldKind.PACKED_TIME: 26}.get(field.kind, field.length)
        fields.append(
            (
                field,
                length,
                b"DTTM" if length == 26 else b"CHAR" if field.kind is FieldKind.TEXT else b"BIN ",
            )
        )
    return fields


def old_value(field: Field, raw: bytes) -> bytes:
    if field.kind is FieldKind.PACKED_TIME:
        d = raw.hex()
        return f"{d[:4]}-{d[4:6]}-{d[6:8]}-{d[8:10]}.{d[10:12]}.{d[12:14]}.{d[14:20]}".encode(
            "cp037"
        )
    if field.kind is FieldKind.POSITION:
        return raw[4:] if field.name in ("LOGRBA", "UORID", "UORCOMMITPOINT") else raw[1:7]
    return raw


@pytest.mark.parametrize("base", [0, 1])
def test_header_before_v11_1(
    files: tuple[list[bytes], list[bytes]], expected: list[str], tmp_path: Path, base: int
) -> None:
    """6-byte positions and 26-character timestamps, found by the XHDF records, whose positions
    count from 0 or from 1."""
    described, place = [], base
    for field, length, kind in old_layout():
        described.append(
            XHDF.build(
                CNTLRECORDTYPE="XHDF",
                HEADFIELDNAME=field.name,
                HEADFIELDTYPE=kind.decode(),
                HEADFIELDLEN=length,
                HEADFIELDPOS=place,
            )
        )
        place += length
    size = place - base
    control = [record for record in files[0] if record[:4] != "XHDF".encode("cp037")]
    control[1:1] = reversed(described)
    data = []
    for record in files[1]:
        header = b"".join(
            old_value(field, record[field.offset : field.end]) for field, _, _ in old_layout()
        )
        data.append(size.to_bytes(2, "big") + header[2:] + record[288:])
    assert written(tmp_path, rdw(control), rdw(data)) == expected


def test_an_older_header_without_its_description_is_refused(
    files: tuple[list[bytes], list[bytes]], tmp_path: Path
) -> None:
    control = [record for record in files[0] if record[:4] != "XHDF".encode("cp037")]
    data = [(200).to_bytes(2, "big") + record[2:200] + record[288:] for record in files[1]]
    with pytest.raises(InputError, match=r"LR2010.*found header length 200"):
        written(tmp_path, rdw(control), rdw(data))


def test_longer_header_of_a_newer_release(
    files: tuple[list[bytes], list[bytes]], expected: list[str], tmp_path: Path
) -> None:
    data = [
        (300).to_bytes(2, "big") + record[2:288] + bytes(12) + record[288:] for record in files[1]
    ]
    assert written(tmp_path, rdw(files[0]), rdw(data)) == expected


def images(record: bytes) -> list[bytes]:
    """The row images of an unsegmented record under reading A."""
    place, found = 290, []
    while place < len(record):
        size = int.from_bytes(record[place : place + 2], "big")
        found.append(record[place + 2 : place + 2 + size])
        place += 2 + size
    return found


@pytest.mark.parametrize("inclusive", [2, 0], ids=["reading B", "reading B'"])
def test_other_readings_of_data(
    files: tuple[list[bytes], list[bytes]], tmp_path: Path, inclusive: int, sakila_small: Path
) -> None:
    """DATA without the outer length, each image with its own length, inclusive or exclusive.
    Segmented changes are left out."""
    whole = [record for record in files[1] if record[184:186] == b"\0\1"]
    expected = written(tmp_path, rdw(files[0]), rdw(whole))
    data = [
        record[:288]
        + b"".join((len(image) + inclusive).to_bytes(2, "big") + image for image in images(record))
        for record in whole
    ]
    (tmp_path / "b.dat").write_bytes(rdw(data))
    bundle = replay.write_script(tmp_path / "v.ctl", [tmp_path / "b.dat"], tmp_path / "b")
    assert bundle.exit_code == 0
    assert statements(bundle.folder) == expected


def test_only_the_first_segment_has_a_length(
    files: tuple[list[bytes], list[bytes]], expected: list[str], tmp_path: Path
) -> None:
    data = [
        record[:288] + record[290:] if int.from_bytes(record[186:188], "big") > 1 else record
        for record in files[1]
    ]
    assert written(tmp_path, rdw(files[0]), rdw(data)) == expected


def test_expanded_columns(
    files: tuple[list[bytes], list[bytes]], tmp_path: Path, sakila_small: Path
) -> None:
    """EXPANDVAR = Y: varying columns padded to their full length, the prefix keeping the true
    one."""
    from replay.logs.logmaster.control import read_control

    catalog = read_control((sakila_small / "small.ctl").read_bytes(), "small.ctl", None, {}).catalog
    formats = {
        (v.dbid, v.psid, v.obid): v.format
        for v in catalog.versions
        if not any(c.code == "VGRF" for c in v.format.columns)
    }
    whole = [record for record in files[1] if record[184:186] == b"\0\1" and key(record) in formats]
    expected = written(tmp_path, rdw(files[0]), rdw(whole))
    data = []
    for record in whole:
        padded = [pad(formats[key(record)], image) for image in images(record)]
        body = b"".join(len(image).to_bytes(2, "big") + image for image in padded)
        data.append(record[:288] + (len(body) + 2).to_bytes(2, "big") + body)
    place = CONTROL["DLDS"].names["EXPANDVAR"].offset
    control = [
        r[:place] + "Y".encode("cp037") + r[place + 1 :] if r[:4] == "DLDS".encode("cp037") else r
        for r in files[0]
    ]
    (tmp_path / "e.ctl").write_bytes(rdw(control))
    (tmp_path / "e.dat").write_bytes(rdw(data))
    bundle = replay.write_script(tmp_path / "e.ctl", [tmp_path / "e.dat"], tmp_path / "e")
    assert bundle.exit_code == 0, bundle.manifest["findings"]
    assert statements(bundle.folder) == expected


def key(record: bytes) -> tuple[int, int, int]:
    dbid, psid, obid = (int.from_bytes(record[place : place + 2], "big") for place in (6, 8, 10))
    return dbid, psid, obid


def pad(fmt: object, image: bytes) -> bytes:
    place, out = 0, b""
    for column in fmt.columns:  # type: ignore[attr-defined]
        if column.nullable:
            out += image[place : place + 1]
            place += 1
        if column.variable:
            size = int.from_bytes(image[place : place + 2], "big")
            out += image[place : place + 2 + size] + b"\x40" * (column.length - size)
            place += 2 + size
        else:
            out += image[place : place + column.length]
            place += column.length
    assert place == len(image)
    return out


def test_without_data_sharing(files: tuple[list[bytes], list[bytes]], tmp_path: Path) -> None:
    """Member 0, LRSN fields holding RBAs; and the same with commit LRSNs of zero, where
    UORCOMMITPOINT orders."""
    member = [record for record in files[1] if int.from_bytes(record[97:99], "big") == 1]
    as_rba, as_zero = [], []
    for record in member:
        changed = bytearray(record)
        changed[97:99] = bytes(2)
        changed[77:87] = record[87:97]
        changed[162:172] = record[172:182]
        changed[192:202] = record[202:212]
        as_rba.append(bytes(changed))
        changed[192:202] = bytes(10)
        as_zero.append(bytes(changed))
    expected = written(tmp_path, rdw(files[0]), rdw(member))
    for name, data in (("rba", as_rba), ("zero", as_zero)):
        (tmp_path / f"{name}.dat").write_bytes(rdw(data))
        bundle = replay.write_script(
            tmp_path / "v.ctl", [tmp_path / f"{name}.dat"], tmp_path / name
        )
        assert bundle.exit_code == 0
        assert statements(bundle.folder) == expected


def test_generations_of_a_table(
    files: tuple[list[bytes], list[bytes]], expected: list[str], tmp_path: Path
) -> None:
    """A second generation of every table, created later than the log, must not be taken; one
    created and dropped around it must."""
    last = bytes.fromhex("00FFFFFFFFFFFF000000")
    control = []
    for record in files[0]:
        tag = record[:4].decode("cp037")
        if tag not in ("DTBI", "DLCI"):
            control.append(record)
            continue
        number = CONTROL[tag].names["SEQUENCENUMBER"]
        second = record[: number.offset] + "002".encode("cp037") + record[number.end :]
        if tag == "DTBI":
            record = record[:42] + bytes(10) + record[52:54] + last + record[64:]
            second = second[:42] + last + second[52:54] + bytes(10) + second[64:]
        else:
            name = CONTROL[tag].names["COLUMNNAME"]
            second = second[: name.offset] + "X".encode("cp037") + second[name.offset + 1 :]
        control += [record, second]
    (tmp_path / "g.ctl").write_bytes(rdw(control))
    (tmp_path / "g.dat").write_bytes(rdw(files[1]))
    bundle = replay.write_script(tmp_path / "g.ctl", [tmp_path / "g.dat"], tmp_path / "g")
    (warning,) = bundle.manifest["warnings"]
    assert bundle.exit_code == 4
    assert "the log has several generations" in warning
    assert statements(bundle.folder) == expected
