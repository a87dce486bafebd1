"""What inspect says of the bundled logs, held against their manifests, and of copies that were
damaged on purpose."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.errors import UsageError, counted
from replay.logs.logmaster import dump, inspect, reader
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog


def described(log: LogmasterLog) -> dict[str, Any]:
    return dict(inspect.describe(log).values)


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return content


@pytest.fixture(scope="module")
def large(sakila: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    scratch = tmp_path_factory.mktemp("scratch")
    return described(open_log(sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=scratch))


@pytest.fixture(scope="module")
def small(sakila_small: Path) -> LogmasterLog:
    return open_log(sakila_small / "small.ctl", [sakila_small / "small.dat"])


def test_the_counts_are_those_of_the_manifest(large: dict[str, Any], sakila: Path) -> None:
    known = manifest(sakila)
    records, units = large["records"], large["units"]
    assert records["count"] == known["physical_records"]
    assert (records["changes"], records["other"]) == (
        known["changes"],
        known["other_records_CM_SC_CO"],
    )
    assert records["segmented_changes"] == known["segmented_changes"]
    assert (units["count"], units["committed"], units["aborted"]) == (
        known["units"],
        known["units_committed"],
        known["units_aborted"],
    )
    assert (units["contradictory"], units["incomplete"], units["possibly_dependent"]) == (0, 0, 0)
    assert list(large["members"]) == [str(member) for member in known["members"]]
    assert sum(large["members"].values()) == known["physical_records"]


def test_changes_by_table_are_those_of_the_manifest(large: dict[str, Any], sakila: Path) -> None:
    known = manifest(sakila)
    found = {
        table["name"].partition(".")[2].lower(): table["changes_by_disposition"]
        for table in large["tables"]
    }
    assert found == known["changes_by_table_type_disposition"]
    origins, dispositions = Counter[str](), Counter[str]()
    for pair, count in known["changes_by_source_disposition"].items():
        origins[pair.partition("/")[0]] += count
        dispositions[pair.partition("/")[2]] += count
    assert large["records"]["origins"] == origins
    assert large["records"]["dispositions"] == dispositions


def test_the_range_is_that_of_the_manifest(large: dict[str, Any], sakila: Path) -> None:
    ranges = large["ranges"]
    assert ranges["commit"]["last"] == manifest(sakila)["last_commit_lrsn"]
    assert ranges["commit time"] == {
        "first": "2024-03-15 08:00:06.304233",
        "last": "2024-03-15 10:58:43.805193",
    }
    assert ranges["positions_are"].startswith("LRSN")


def test_what_the_control_file_says(large: dict[str, Any]) -> None:
    control = large["control"]
    assert control["XTYP"]["CNTLFILESYSID"] == "DB2P"
    assert control["DLGE"]["ENDTIME"] == "2024-03-15 10:58:48.805193"
    assert (control["records"]["DTBI"], control["unknown_records"]) == (11, {})
    assert control["header"]["described_by"] == "XHDF records"
    assert control["dependent_position"] is None
    (stock,) = (table for table in large["tables"] if table["name"] == "SAKILA.FILM_STOCK")
    assert (stock["dbid"], stock["key"]) == ("0112", ["FILM_ID", "STORE_ID"])
    assert stock["columns"][2] == {
        "name": "ON_HAND", "type": "SMALLINT", "code": "INT", "length": 2, "scale": 0,
        "nullable": False, "ccsid": None, "key": None,
    }  # fmt: skip


def test_ddl_and_a_missing_key_are_notes(large: dict[str, Any]) -> None:
    assert [(entry["table"], entry["warning"]) for entry in large["limits"]] == [
        (None, False),
        ("SAKILA.KIOSK_SCAN", False),
    ]
    assert large["exit_code"] == 0
    assert json.loads(json.dumps(large)) == large


@pytest.mark.parametrize(("name", "framing"), [("small", "rdw"), ("small-nordw", "none")])
def test_small_logs_have_no_warnings(sakila_small: Path, name: str, framing: str) -> None:
    found = described(open_log(sakila_small / f"{name}.ctl", [sakila_small / f"{name}.dat"]))
    known = manifest(sakila_small)
    assert found["exit_code"] == 0
    assert found["files"][0]["framing"] == framing
    assert (found["records"]["count"], found["units"]["count"]) == (
        known["physical_records"],
        known["units"],
    )
    assert found["records"]["segmented_changes"] == known["segmented_changes"]


def test_batches_make_no_difference(small: LogmasterLog, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = described(small)
    monkeypatch.setattr(reader, "_BATCH", 7)
    monkeypatch.setattr(reader, "_BLOCK", 10_000)
    assert described(small) == whole


def test_incomplete_units_are_a_warning(incomplete: Path) -> None:
    log = open_log(incomplete / "incomplete.ctl", [incomplete / "incomplete.dat"])
    found = described(log)
    known = json.loads((incomplete / "dependencies.json").read_text(encoding="utf-8"))
    assert found["units"]["incomplete"] == len(known["incomplete"])
    assert found["units"]["possibly_dependent"] >= len(known["really_dependent"])
    assert found["units"]["from_dependent_position"] > found["units"]["possibly_dependent"]
    assert found["control"]["dependent_position"] == known["dependentrba"]
    assert found["exit_code"] == 4
    assert (
        f"warning: {counted(len(known['incomplete']), 'incomplete unit')}"
        in inspect.describe(log).text()
    )


# -- damaged copies
# -------------------------------------------------------------------------------------------------


def records_of(log: LogmasterLog) -> tuple[list[int], list[int]]:
    """Offsets and lengths of the records of the first file."""
    found = [(offsets.tolist(), lengths.tolist()) for _, offsets, lengths in log.splits(1 << 30)]
    return found[0]


def number_of(log: LogmasterLog, chosen: Callable[[Any], Any]) -> int:
    """The number of the first record whose header satisfies ``chosen``."""
    offsets, lengths = records_of(log)
    envelope = log.envelope(0, np.array(offsets), np.array(lengths, np.int32))
    return int(np.flatnonzero(chosen(envelope))[0]) + 1


def whole(code: str) -> Callable[[Any], Any]:
    """Committed changes of this type in one record."""
    number = ord(code[0]) << 8 | ord(code[1])
    return lambda envelope: (
        (envelope.change_type() == number)
        & (envelope.segments() <= 1)
        & (envelope.unit_disposition() == 67)
        & (envelope.disposition() == 67)
    )


def changed(log: LogmasterLog, folder: Path, *changes: tuple[int, int, bytes]) -> LogmasterLog:
    """A copy of the log in which ``(record, offset in the record, bytes)`` are written over."""
    raw = bytearray(log.buffer(0).tobytes())
    offsets, _ = records_of(log)
    for number, place, data in changes:
        at = offsets[number - 1] + place
        raw[at : at + len(data)] = data
    copy = folder / "damaged.dat"
    copy.write_bytes(raw)
    return open_log(log.control_path, [copy])


def test_damaged_records_are_counted_and_named(small: LogmasterLog, tmp_path: Path) -> None:
    update = number_of(small, whole("UB"))
    damaged = changed(small, tmp_path, (2, 104, b"\xe7\xe7"), (update, 288 + 2, b"\x7f\xff"))
    found = described(damaged)
    assert found["exit_code"] == 8
    assert found["damaged"]["count"] == 2
    one, other = sorted(found["damaged"]["findings"])
    assert one.startswith(f"LR2012 {damaged.files[0].name}, record 2,")
    assert "field CHANGE TYPE" in one
    assert other.startswith(f"LR2014 {damaged.files[0].name}, record {update},")
    assert "Damaged\n  count: 2\n  findings\n    LR2012" in inspect.describe(damaged).text()


def test_damaged_records_are_shown_as_far_as_they_can_be_read(
    small: LogmasterLog, tmp_path: Path
) -> None:
    update, insert = number_of(small, whole("UB")), number_of(small, whole("I "))
    damaged = changed(
        small,
        tmp_path,
        (2, 104, b"\x01\xe7"),
        (update, 288 + 2, b"\x7f\xff"),
        (insert, 8, b"\xee\xee"),
    )
    shown = "\n".join(dump.dump_record(damaged, 2, with_hex=True))
    assert "*** damaged: LR2012" in shown
    assert "*** unknown" in shown
    assert "*** what lies here is unknown" in shown
    assert all(line.isprintable() for line in shown.split("\n"))
    shown = "\n".join(dump.dump_record(damaged, update))
    assert "*** found segment length" in shown
    assert "of its bytes lie outside the record" in shown
    assert "DATA as it is" in shown
    shown = "\n".join(dump.dump_record(damaged, insert))
    assert "table unknown" in shown
    assert "*** the table is unknown, and with it the columns" in shown


def test_a_committed_mass_delete_cannot_be_undone(small: LogmasterLog, tmp_path: Path) -> None:
    delete = number_of(small, whole("D "))
    found = described(changed(small, tmp_path, (delete, 104, "DM".encode("cp037"))))
    (limit,) = (entry for entry in found["limits"] if entry["warning"])
    assert limit["what"] == "1 committed mass delete"
    assert limit["table"].startswith("SAKILA.")
    assert (found["exit_code"], found["damaged"]["count"]) == (4, 0)


def test_what_lies_before_damaged_framing_is_counted(sakila: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.dat"
    cut.write_bytes(gzip.decompress((sakila / "sakila.dat.gz").read_bytes())[:-100])
    log = open_log(sakila / "sakila.ctl", [cut])
    found = described(log)
    assert found["exit_code"] == 12
    assert found["records"]["count"] == manifest(sakila)["physical_records"] - 1
    assert found["damaged"]["unreadable"][0].startswith("LR2006")
    assert "unreadable\n    LR2006" in inspect.describe(log).text()
    assert dump.dump_record(log, found["records"]["count"])


# -- one record
# -------------------------------------------------------------------------------------------------


def test_an_update_is_shown_with_both_images(small: LogmasterLog) -> None:
    number = number_of(small, whole("UB"))
    lines = dump.dump_record(small, number, with_hex=True)
    offsets, lengths = records_of(small)
    assert lines[1].startswith(
        f"offset {offsets[number - 1]} (X'{offsets[number - 1]:X}'), {lengths[number - 1]} bytes,"
        " framing rdw"
    )
    shown = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert "C4C2F2D7" in shown["SYSTEMID"]
    assert shown["SYSTEMID"].endswith("DB2P")
    assert shown["UORCOMMITTIMESTAMP"].endswith(tuple("0123456789"))
    assert " 2024-03-15 08:0" in shown["UORCOMMITTIMESTAMP"]
    assert shown["LOGRECDISP"].endswith("C: committed")
    assert any(line.startswith("before image: ") for line in lines)
    assert any(line.startswith("after image: ") for line in lines)
    assert not any("***" in line for line in lines)
    assert "C4C2F2D7" not in "\n".join(dump.dump_record(small, number))


def test_the_columns_of_an_image_fill_it(small: LogmasterLog) -> None:
    """Each column begins where the one before ends, up to the end of the record."""
    number = number_of(small, whole("I "))
    lines = dump.dump_record(small, number, with_hex=True)
    begin = next(
        place
        for place, line in enumerate(lines)
        if line.startswith("after image (the row inserted): ")
    )
    digits = "".join(
        line[line.index("'", line.index("X'") + 2) + 1 :].split()[0]
        for line in lines[begin + 1 :]
        if "X'" in line
    )
    offsets, lengths = records_of(small)
    image = small.buffer(0)[
        offsets[number - 1] + 292 : offsets[number - 1] + lengths[number - 1]
    ].tobytes()
    assert digits == image.hex().upper()


def test_a_segment_is_shown_as_bytes(small: LogmasterLog) -> None:
    number = number_of(small, lambda envelope: envelope.segment() == 2)
    shown = "\n".join(dump.dump_record(small, number))
    assert "segment 2 of 2 of a change" in shown
    offsets, lengths = records_of(small)
    last = small.buffer(0)[
        offsets[number - 1] + lengths[number - 1] - 2 : offsets[number - 1] + lengths[number - 1]
    ]
    assert shown.endswith(last.tobytes().hex().upper())


def test_a_record_that_is_not_there(small: LogmasterLog) -> None:
    with pytest.raises(UsageError, match=r"LR1004 .*record 338.*1 to 337"):
        dump.dump_record(small, 338)
    with pytest.raises(UsageError, match=r"LR1004 .*--file 2"):
        dump.dump_record(small, 1, 2)
