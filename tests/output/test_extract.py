"""``extract``: a part of a log, or of a set of logs, as one log again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.cli.main import main
from replay.errors import InputError, Refusal, UsageError
from replay.logs import LogPair
from replay.logs.logmaster.control import ControlFile, read_control
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import Bundle
from sqlgen.schema import Constraints
from tests.support.cutlogs import cut_log, with_end, write_pair
from tests.support.logbuilder import (
    ACCT,
    OLD_HEADER,
    LogBuilder,
    acct,
    frame,
    generation,
    lrsn,
    statements,
    text_of,
    unframe,
)

_NO_KEYS = Constraints(complete=True)
_INCOMPLETE = slice(274, 276)


def given(pairs: Sequence[LogPair]) -> dict[str, Any]:
    """Arguments of :func:`replay.open_log` for pairs."""
    return {"control": [pair.control for pair in pairs], "data": [pair.data for pair in pairs]}


def extract(out: Path, selection: dict[str, Any] | None = None, **log: Any) -> Bundle:
    how = log.pop("how", {})
    with replay.open_log(**log) as opened:
        return opened.select(**(selection or {})).extract(schema=_NO_KEYS, **how).write(out)


def copy_of(out: Path) -> dict[str, Any]:
    """Arguments of :func:`replay.open_log` for what an extract wrote."""
    return {"control": out / "extract.ctl", "data": out / "extract.dat"}


def control_of(path: Path) -> ControlFile:
    return read_control(path.read_bytes(), path.name, None, {})


def script(out: Path, mode: str, log: dict[str, Any], **selection: Any) -> Bundle:
    with replay.open_log(**log) as opened:
        selected = opened.select(**selection)
        wanted = selected.redo if mode == "redo" else selected.undo
        how = {} if mode == "redo" else {"cascade": "force"}
        return wanted("postgres", schema=_NO_KEYS, **how).write(out)


def written(folder: Path) -> tuple[list[bytes], list[bytes]]:
    """The control and the data records of an extract."""
    return tuple(  # type: ignore[return-value]
        unframe((folder / f"extract.{end}").read_bytes()) for end in ("ctl", "dat")
    )


# -- the whole log
# -------------------------------------------------------------------------------------------------


def test_every_record_and_every_control_record_is_passed_on_as_it_is(
    sakila_small: Path, tmp_path: Path
) -> None:
    control, data = sakila_small / "small.ctl", sakila_small / "small.dat"
    extract(tmp_path / "copy", control=control, data=data)
    facts, records = written(tmp_path / "copy")
    assert sorted(records) == sorted(unframe(data.read_bytes()))
    assert (tmp_path / "copy" / "extract.ctl").read_bytes() == control.read_bytes()
    assert facts[0][:4].decode("cp037") == "XTYP"


@pytest.mark.parametrize("framing", ["bdw", "ftp", "none"])
def test_records_of_other_framings_get_descriptor_words(tmp_path: Path, framing: str) -> None:
    log = LogBuilder()
    for number in range(5):
        unit = log.unit()
        unit.insert(ACCT, acct(number))
        unit.update(ACCT, acct(number), acct(number, "MORE"), cuts=(30, 60))
    control, data = log.write(tmp_path, framing, files=2, seed=3)
    extract(tmp_path / "copy", control=control, data=[data])
    assert written(tmp_path / "copy")[1] == log.records()


# -- a part of it
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "selection",
    [
        {"tables": "SAKILA.CUSTOMER*"},
        {"exclude_tables": "SAKILA.RENTAL"},
        {"ops": "update", "authids": "CLERK0"},
        {"where": "after.customer_id < 300"},
        {"members": (1,), "triggers": "skip"},
    ],
    ids=lambda selection: "-".join(selection),
)
def test_a_copy_of_a_part_gives_the_redo_of_that_part(
    sakila_small: Path, tmp_path: Path, selection: dict[str, Any]
) -> None:
    log = {"control": sakila_small / "small.ctl", "data": sakila_small / "small.dat"}
    bundle = extract(tmp_path / "copy", selection, **log)
    assert bundle.manifest["balance"]["closes"]
    assert 0 < bundle.manifest["balance"]["emitted"] < bundle.manifest["balance"]["read"]
    whole = script(tmp_path / "one", "redo", log, **selection)
    assert text_of(whole) == text_of(script(tmp_path / "two", "redo", copy_of(tmp_path / "copy")))
    assert statements(whole)


def test_the_control_file_of_a_part_says_what_is_in_it(sakila: Path, tmp_path: Path) -> None:
    log = {"control": sakila / "sakila.ctl", "data": sakila / "sakila.dat.gz"}
    selection = {"tables": "SAKILA.CUSTOMER", "until_time": "2024-03-15 09:00"}
    bundle = extract(tmp_path / "copy", selection, **log)
    control = control_of(tmp_path / "copy" / "extract.ctl")
    assert [version.name for version in control.catalog.versions] == ["SAKILA.CUSTOMER"]
    assert control.counts["DTBI"] == control.counts["DIXI"] == control.counts["DICL"] == 1
    flags = ("SEGMENTED", "DDLOBJECTS", "MERGED", "CMDSINCLUDED")
    assert [control.data_set[name] for name in flags] == ["N"] * 4
    assert control.end["ENDRBA"].hex().upper() == bundle.manifest["reach"]
    assert control.filters == ("until_time 2024-03-15 09:00:59.999999; tables SAKILA.CUSTOMER",)


def test_a_position_is_the_end_of_the_copy(sakila_small: Path, tmp_path: Path) -> None:
    log = {"control": sakila_small / "small.ctl", "data": sakila_small / "small.dat"}
    until = "00DECBEAE9A1E3400000"
    extract(tmp_path / "copy", {"until": until}, **log)
    end = control_of(tmp_path / "copy" / "extract.ctl").end
    assert end["ENDRBA"].hex().upper() == until
    rest = extract(tmp_path / "rest", {"from_position": f"{int(until, 16) + 1:020X}"}, **log)
    both = [
        LogPair(str(tmp_path / name / "extract.ctl"), (str(tmp_path / name / "extract.dat"),))
        for name in ("copy", "rest")
    ]
    one = script(tmp_path / "one", "redo", log)
    assert text_of(script(tmp_path / "two", "redo", given(both))) == text_of(one)
    assert rest.manifest["reach"] is None


def test_rolled_back_work_stays_until_it_is_left_out(sakila_small: Path, tmp_path: Path) -> None:
    log = {"control": sakila_small / "small.ctl", "data": sakila_small / "small.dat"}
    part = {"tables": "*"}
    extract(tmp_path / "all", part, **log)
    bundle = extract(tmp_path / "done", part, how={"committed_only": True}, **log)
    kept, done = (written(tmp_path / name)[1] for name in ("all", "done"))
    codes = {record[107:108] + record[161:162] for record in done}
    assert codes == {"CC".encode("cp037")}
    assert len(kept) - len(done) == sum(
        count
        for reason, count in bundle.manifest["balance"]["skipped"].items()
        if "abort" in reason or "LOGRECDISP" in reason
    )
    assert len(kept) > len(done)


def test_units_come_in_part_or_whole(sakila_small: Path, tmp_path: Path) -> None:
    log = {"control": sakila_small / "small.ctl", "data": sakila_small / "small.dat"}
    part = {"tables": "SAKILA.FILM_STOCK"}
    extract(tmp_path / "part", part, **log)
    extract(tmp_path / "whole", part, how={"whole_units": True}, **log)
    all_records = unframe((sakila_small / "small.dat").read_bytes())
    part_records, whole = (written(tmp_path / name)[1] for name in ("part", "whole"))

    def unit(record: bytes) -> bytes:
        return record[97:99] + record[172:182]

    wanted = {unit(record) for record in part_records}
    assert sorted(whole) == sorted(
        record
        for record in all_records
        if unit(record) in wanted and record[104:106] != b"\xc3\xd4"
    )
    assert len(whole) > len(part_records)


def test_units_come_whole_where_a_value_chose_them(tmp_path: Path) -> None:
    log = LogBuilder()
    one, other = log.unit(), log.unit()
    for number in (1, 2):
        one.insert(ACCT, acct(number))
    other.insert(ACCT, acct(3))
    control, data = log.write(tmp_path)
    how = {"whole_units": True}
    bundle = extract(tmp_path / "c", {"where": "after.id = 2"}, control=control, data=data, how=how)
    assert written(tmp_path / "c")[1] == log.records()[:2]
    assert bundle.manifest["balance"]["skipped"] == {"does not satisfy --where": 1}


def test_a_part_without_records_is_an_empty_log(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1))
    control, data = log.write(tmp_path)
    bundle = extract(tmp_path / "c", {"authids": "NOBODY"}, control=control, data=data)
    assert bundle.exit_code == 4
    assert "user NOBODY leaves out 1 record;" in bundle.manifest["warnings"][0].replace("--", "")
    assert (tmp_path / "c" / "extract.dat").read_bytes() == b""
    both = [
        LogPair(str(tmp_path / "c" / "extract.ctl"), (str(tmp_path / "c" / "extract.dat"),)),
        LogPair(str(control), tuple(map(str, data))),
    ]
    assert len(statements(script(tmp_path / "r", "redo", given(both)))) == 1


# -- several logs
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [12, 40])
def test_a_log_in_pieces_becomes_one_again(sakila_small: Path, tmp_path: Path, count: int) -> None:
    control, data = sakila_small / "small.ctl", sakila_small / "small.dat"
    pairs = cut_log(control, data, tmp_path / "cut", count, 7, repeated=4)
    bundle = extract(tmp_path / "copy", **given(pairs))
    _, records = written(tmp_path / "copy")
    assert sorted(records) == sorted(unframe(data.read_bytes()))
    assert bundle.manifest["balance"]["skipped"]["in another log of the set too"] > 0
    found, original = control_of(tmp_path / "copy" / "extract.ctl"), control_of(control)
    assert found.data_set == {**original.data_set, "MERGED": "Y"}
    assert (found.catalog, found.end["ENDRBA"]) == (original.catalog, original.end["ENDRBA"])
    one = script(tmp_path / "one", "redo", {"control": control, "data": data})
    assert text_of(one) == text_of(script(tmp_path / "two", "redo", copy_of(tmp_path / "copy")))


def pair_of(
    folder: Path, name: str, log: LogBuilder, end: int, dependent: int | None = None
) -> LogPair:
    """Write what a log holds as one of a set, and empty it."""
    raw = frame(log.control_records(), "rdw")
    pair = write_pair(folder, name, raw, log.records(), lrsn(end))
    position = b"\xff" * 10 if dependent is None else lrsn(dependent)
    Path(pair.control).write_bytes(with_end(raw, lrsn(end), position))
    log.changes.clear()
    return pair


def test_a_unit_that_a_later_log_has_whole_comes_from_there(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit(commit=90).insert(ACCT, acct(1))
    start = log.tick()
    log.unit(start=start, commit=350, INCOMPLETETRANS="Y").insert(ACCT, acct(2, "HALF"))
    one = pair_of(tmp_path, "a", log, 400, start)
    log.clock = start
    log.unit(start=start, commit=350).insert(ACCT, acct(2, "WHOLE"))
    last = log.records()
    two = pair_of(tmp_path, "b", log, 800)
    bundle = extract(tmp_path / "copy", **given([one, two]))
    assert written(tmp_path / "copy")[1][1:] == last
    assert bundle.manifest["balance"]["emitted"] == 2
    assert control_of(tmp_path / "copy" / "extract.ctl").dependent_position is None


def test_a_unit_of_two_logs_is_incomplete_in_all_of_its_records(tmp_path: Path) -> None:
    log = LogBuilder()
    start = log.tick()
    log.unit(start=start, commit=900).insert(ACCT, acct(1))
    one = pair_of(tmp_path, "a", log, 100)
    log.clock = 200
    log.unit(start=start, commit=900, INCOMPLETETRANS="Y").insert(ACCT, acct(2))
    two = pair_of(tmp_path, "b", log, 1000, start)
    extract(tmp_path / "copy", **given([one, two]))
    flags = [record[_INCOMPLETE].decode("cp037") for record in written(tmp_path / "copy")[1]]
    assert flags == ["YN", "YN"]
    assert control_of(tmp_path / "copy" / "extract.ctl").dependent_position == lrsn(start)


def test_generations_of_several_logs_keep_apart(tmp_path: Path) -> None:
    first = generation(ACCT, 1, dropped=lrsn(500))
    second = generation(ACCT, 1, created=lrsn(500), columns=ACCT.columns[:2])
    log = LogBuilder(tables=[generation(ACCT, 1)])
    log.unit(commit=90).insert(first, acct(1))
    one = pair_of(tmp_path, "a", log, 400)
    log = LogBuilder(tables=[first, generation(second, 2)], clock=600)
    log.unit(commit=700).insert(second, acct(2)[:2])
    two = pair_of(tmp_path, "b", log, 800)
    log = LogBuilder(tables=[second], clock=900)
    log.unit(commit=950).insert(second, acct(3)[:2])
    three = pair_of(tmp_path, "c", log, 1200)
    pairs = [one, two, three]
    extract(tmp_path / "copy", **given(pairs))
    copy = open_log(tmp_path / "copy" / "extract.ctl", [tmp_path / "copy" / "extract.dat"])
    assert [(v.sequence, len(v.table.columns)) for v in copy.catalog.versions] == [(1, 6), (2, 2)]
    assert copy.catalog.versions[0].dropped == lrsn(500)
    whole = script(tmp_path / "one", "redo", given(pairs))
    again = script(tmp_path / "two", "redo", copy_of(tmp_path / "copy"))
    assert text_of(again) == text_of(whole)
    assert len(statements(whole)) == 3


@pytest.mark.parametrize(
    ("more", "what"),
    [({"expanded": True}, "EXPANDVAR"), ({"reading": "B"}, "reading of DATA")],
)
def test_logs_of_two_layouts_are_no_one_log(
    tmp_path: Path, more: dict[str, Any], what: str
) -> None:
    pairs = []
    for name, options in (("a", {}), ("b", more)):
        log = LogBuilder(**options, clock=1000 * len(pairs))
        for number in range(4):
            unit = log.unit(commit=log.clock + 100)
            unit.update(ACCT, acct(number), acct(number, "MORE"))
        pairs.append(pair_of(tmp_path, name, log, log.clock + 200))
    with pytest.raises(Refusal, match=what) as caught:
        extract(tmp_path / "copy", **given(pairs))
    assert caught.value.code == "LR3022"
    assert not (tmp_path / "copy").exists()


def test_headers_of_an_older_release_stay_as_they_are(tmp_path: Path) -> None:
    log = LogBuilder(header=OLD_HEADER, base=1)
    unit = log.unit()
    unit.insert(ACCT, acct(1))
    unit.update(ACCT, acct(1), acct(1, "MORE"))
    control, data = log.write(tmp_path, seed=1)
    extract(tmp_path / "copy", control=control, data=data)
    facts, records = written(tmp_path / "copy")
    assert records == log.records()
    kept = [record for record in log.control_records() if record[:4] != "DLDS".encode("cp037")]
    assert [record for record in facts if record in kept] == kept


# -- incomplete units
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["resolve", "quarantine", "dependentrba"])
def test_incomplete_units_stay_as_they_are_flagged(
    incomplete: Path, tmp_path: Path, how: str
) -> None:
    log = {"control": incomplete / "incomplete.ctl", "data": incomplete / "incomplete.dat"}
    extract(tmp_path / "copy", **log)
    one = script(tmp_path / "one", "redo", log, incomplete=how)
    other = script(tmp_path / "two", "redo", copy_of(tmp_path / "copy"), incomplete=how)
    assert text_of(one) == text_of(other)
    assert one.manifest["balance"] == other.manifest["balance"]
    left = extract(tmp_path / "left", how={"incomplete": how}, **log)
    assert left.exit_code == 4
    named, redone = (
        {entry["unit"] for entry in bundle.manifest["quarantined_units"]} for bundle in (left, one)
    )
    assert redone <= named  # which has units too that were rolled back
    clean = script(tmp_path / "three", "redo", copy_of(tmp_path / "left"), incomplete=how)
    assert text_of(clean) == text_of(one)
    assert clean.exit_code == 0


def test_a_part_says_that_it_may_lack_what_links_units(incomplete: Path, tmp_path: Path) -> None:
    """A redo of the part takes a unit that builds on an incomplete one by another table."""
    log = {"control": incomplete / "incomplete.ctl", "data": incomplete / "incomplete.dat"}
    part = {"tables": ("*.CUSTOMER",)}
    kept = extract(tmp_path / "kept", part, **log)
    assert any("what links others to them" in text for text in kept.manifest["warnings"])
    assert kept.exit_code == 4
    resolved = extract(tmp_path / "resolved", part, how={"incomplete": "resolve"}, **log)
    assert not any("what links" in text for text in resolved.manifest["warnings"])
    wanted = text_of(script(tmp_path / "one", "redo", log, **part))
    assert text_of(script(tmp_path / "two", "redo", copy_of(tmp_path / "resolved"))) == wanted
    assert text_of(script(tmp_path / "three", "redo", copy_of(tmp_path / "kept"))) != wanted


def test_only_a_copy_keeps_them(incomplete: Path, tmp_path: Path) -> None:
    log = {"control": incomplete / "incomplete.ctl", "data": incomplete / "incomplete.dat"}
    with pytest.raises(UsageError, match="incomplete keep"):
        script(tmp_path / "one", "redo", log, incomplete="keep")


# -- damage, and what is refused
# -------------------------------------------------------------------------------------------------


def test_damage_is_passed_on_and_named(sakila_small: Path, tmp_path: Path) -> None:
    control = sakila_small / "small.ctl"
    records = unframe((sakila_small / "small.dat").read_bytes())
    rows = [n for n, record in enumerate(records) if record[104:106] == "UB".encode("cp037")]
    hurt = bytearray(records[rows[3]])
    hurt[10:12] = b"\xee\xee"  # TBOBID of no table
    records[rows[3]] = bytes(hurt)
    records.append(records[rows[9]])  # a change twice
    data = tmp_path / "hurt.dat"
    data.write_bytes(frame(records, "rdw"))
    log = {"control": control, "data": data}
    bundle = extract(tmp_path / "copy", **log)
    assert bundle.exit_code == 8
    assert bundle.manifest["findings"]["count"] == 2
    assert {text[:6] for text in bundle.manifest["findings"]["shown"]} == {"LR2011", "LR2017"}
    balance = bundle.manifest["balance"]
    assert (balance["read"], balance["closes"]) == (balance["emitted"], True)
    assert sorted(written(tmp_path / "copy")[1]) == sorted(records)
    one = script(tmp_path / "one", "redo", log)
    other = script(tmp_path / "two", "redo", copy_of(tmp_path / "copy"))
    assert text_of(one) == text_of(other)
    assert one.manifest["quarantined_units"] == other.manifest["quarantined_units"] != []
    with pytest.raises(InputError, match=r"LR2011|LR2017"):
        extract(tmp_path / "strict", how={"strict": True}, **log)
    assert not (tmp_path / "strict").exists()


def test_an_image_that_a_condition_cannot_read_stays(tmp_path: Path) -> None:
    log = LogBuilder()
    for number in range(4):
        log.unit().insert(ACCT, acct(number))
    records = log.records()
    records[2] = records[2][:300] + b"\xee" * 8 + records[2][308:]
    control, _ = log.write(tmp_path)
    data = tmp_path / "hurt.dat"
    data.write_bytes(frame(records, "rdw"))
    bundle = extract(tmp_path / "c", {"where": "after.bal = 0"}, control=control, data=data)
    assert bundle.exit_code == 8
    assert written(tmp_path / "c")[1] == records[2:3]


def test_a_record_without_a_unit_ends_the_run(tmp_path: Path) -> None:
    log = LogBuilder()
    for number in range(3):
        log.unit().insert(ACCT, acct(number))
    records = log.records()
    records[1] = records[1][:161] + b"\0" + records[1][162:]
    control, _ = log.write(tmp_path)
    data = tmp_path / "hurt.dat"
    data.write_bytes(frame(records, "rdw"))
    with pytest.raises(InputError, match="no unit can be trusted"):
        extract(tmp_path / "copy", control=control, data=data)
    assert not (tmp_path / "copy").exists()


def test_other_families_are_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for family in ("db2luw", "soliddb", "logmaster-load"):
        words = ["extract", "--source", family, "--log", "L", "--out", str(tmp_path / "out")]
        assert main(words) == 8
        told = capsys.readouterr().err
        assert f"LR3020 found --source {family}; expected logmaster" in told
        assert "logreplay export" in told


def test_the_command_says_what_it_wrote(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    out = ["--out", str(tmp_path / "copy"), "--name", "SMALL", "--committed-only"]
    assert main(["extract", *log, *out]) == 0
    told = capsys.readouterr().out
    assert "log records read" in told
    assert f"SMALL.ctl, SMALL.dat and manifest.json in {tmp_path / 'copy'}" in told
    assert main(["extract", *log, *out]) == 12  # it is there
    assert main(["extract", *log, *out, "--overwrite"]) == 0
    assert main(["redo", "--logs", str(tmp_path / "copy"), "--out", str(tmp_path / "r")]) == 0
    capsys.readouterr()
    for wrong in (["--name", "a/b"], ["--out", "-"]):
        assert main(["extract", *log, "--out", str(tmp_path / "x"), *wrong]) == 12
        assert "LR1001" in capsys.readouterr().err
