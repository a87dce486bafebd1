"""``logreplay check``: what a sound log may do, and what damage is found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import replay
from replay.cli import main
from replay.dependencies.log_check import Agreement
from tests.logs.db2luw.test_damage import row as luw_row
from tests.support import luwbuilder
from tests.support.logbuilder import ACCT, Col, LogBuilder, Tab, acct, generation, lrsn, rba

PAIR = Tab("PAIR", (Col("ID", "INT", 4, key=1), Col("NAME", "CHAR", 5)), obid=7)
LOOSE = Tab("LOOSE", (Col("ID", "INT", 4), Col("NAME", "CHAR", 5)), obid=8)


def checked(log: LogBuilder, folder: Path) -> Agreement:
    control, data = log.write(folder, seed=1)
    with replay.open_log(control=control, data=data) as opened:
        return opened.check()


def history() -> LogBuilder:
    """A sound log: rows that are inserted, changed, deleted and inserted again, keys that shift."""
    log = LogBuilder((ACCT, PAIR, LOOSE))
    one = log.unit()
    for number in range(1, 6):
        one.insert(PAIR, (number, f"N{number}"))
        one.insert(ACCT, acct(number))
    two = log.unit()
    for number in range(1, 6):  # K = K + 1, lowest first
        two.update(PAIR, (number, f"N{number}"), (number + 1, f"N{number}"))
    three = log.unit()
    three.update(PAIR, (2, "N1"), (3, "N1"))  # a swap
    three.update(PAIR, (3, "N2"), (2, "N2"))
    three.update(ACCT, acct(1), acct(1, "B"))
    three.update(ACCT, acct(1, "B"), acct(1, "C"))
    four = log.unit()
    four.delete(ACCT, acct(1, "C"))
    four.insert(ACCT, acct(1, "D"))
    four.update(PAIR, (2, "N2"), (2, "X"))
    four.insert(LOOSE, (1, "A"))
    five = log.unit()
    five.update(ACCT, acct(1, "D"), acct(1, "E"))
    five.delete(PAIR, (3, "N1"))
    log.unit().event(PAIR, "DM")
    log.unit().insert(PAIR, (2, "NEW"))
    return log


def test_a_sound_log_agrees(tmp_path: Path) -> None:
    found = checked(history(), tmp_path)
    assert found.count == 0, str(found)
    assert found
    assert found.exit_code == 0
    assert found.counts["records"] == found.counts["changes"] == len(history().changes)
    assert found.counts["units"] == 7
    assert found.counts["compared"] == 12
    assert found.unchecked["emptied"] == found.unchecked["keyless"] == 1


def test_rows_from_before_the_log_are_counted(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().update(ACCT, acct(1), acct(1, "B"))
    found = checked(log, tmp_path)
    assert (found.count, found.unchecked["first"], found.counts["compared"]) == (0, 1, 0)


def _image(change: int, image: int, at: int) -> Callable[[LogBuilder], None]:
    def damage(log: LogBuilder) -> None:
        data = bytearray(log.changes[change].images[image])
        data[at] ^= 1
        log.changes[change].images[image] = bytes(data)

    return damage


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda log: log.changes.pop(17), "a before image other than"),
        (lambda log: log.changes.pop(19), "an insert of a row that is there (ID 1)"),
        (lambda log: log.changes.append(log.changes[20]), "do not follow one another (ID 1)"),
        (_image(23, 0, 7), "a before image other than the row's last after image (ID 1)"),
        (_image(20, 0, 7), "a before image other than the row's last after image (ID 1)"),
    ],
    ids=["update lost", "delete lost", "twice", "before", "after"],
)
def test_damage_of_rows_is_found(
    tmp_path: Path, damage: Callable[[LogBuilder], object], words: str
) -> None:
    log = history()
    damage(log)
    found = checked(log, tmp_path)
    assert found.count >= 1
    assert words in str(found)
    assert found.exit_code == 8


def test_the_last_line_says_what_no_check_finds(tmp_path: Path) -> None:
    log = LogBuilder((ACCT,))
    unit = log.unit()
    unit.insert(ACCT, acct(1))
    unit.insert(ACCT, acct(2))
    del log.changes[1]  # no later change finds its row, and nothing counts records
    *_, end, last = str(checked(log, tmp_path)).splitlines()
    assert end.startswith("The last commit is ")
    assert last.startswith("No inconsistencies found. A whole record that is missing shows only")


def test_one_value_written_in_two_ways_agrees(tmp_path: Path) -> None:
    """+123.45 as X'000012345C' in one image, and as X'000012345F' in the next."""
    log = LogBuilder((ACCT,))
    log.unit().insert(ACCT, acct(1, balance="123.45"))
    log.unit().update(ACCT, acct(1, balance="123.45"), acct(1, "B", balance="123.45"))
    log.unit().update(ACCT, acct(1, "B", balance="123.45"), acct(1, "C", balance="123.45"))
    for change, image in ((1, 0), (1, 1)):
        assert log.changes[change].images[image][9] == 0x5C
        log.changes[change].images[image] = _with(log.changes[change].images[image], 9, 0x5F)
    found = checked(log, tmp_path)
    assert (found.count, found.counts["compared"]) == (0, 2), str(found)
    log.changes[2].images[0] = _with(log.changes[2].images[0], 9, 0x5D)
    assert "a before image other than the row's last after image" in str(checked(log, tmp_path))


def _with(image: bytes, at: int, byte: int) -> bytes:
    return image[:at] + bytes([byte]) + image[at + 1 :]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"LOGRBA": rba(1)}, "at least UORID, within the unit"),
        ({"LOGRBA": rba(1 << 26)}, "at most UORCOMMITPOINT, within the unit"),
        ({"LOGLRSN": lrsn(1)}, "at least UORIDLRSN, within the unit"),
        ({"LOGLRSN": lrsn(1 << 26)}, "at most UORCOMMITLRSN, within the unit"),
        ({"UORCOMMITLRSN": lrsn((1 << 24) + 1)}, "LR2016"),
    ],
)
def test_damage_of_positions_is_found(tmp_path: Path, fields: dict[str, bytes], words: str) -> None:
    log = history()
    log.changes[12].fields.update(fields)
    found = checked(log, tmp_path)
    assert words in str(found)
    assert found.exit_code == 8


@pytest.mark.parametrize(
    ("place", "value", "code", "field"),
    [
        (1, b"\x00\x00\x00\x00\xaa", "LR2015", "field BAL"),
        (2, "2024-13-15".encode("cp037"), "LR2015", "field OPEN_DT"),
        (5, "2024-03-15-10.20.61.123456".encode("cp037"), "LR2015", "field UPD"),
        (0, b"\x80\x00\x00", "LR2014", "table TESTOWN.ACCT"),
    ],
)
def test_what_cannot_be_read_is_named_though_nothing_is_compared_with_it(
    tmp_path: Path, place: int, value: bytes, code: str, field: str
) -> None:
    log = history()
    row = list(acct(77))
    row[place] = value
    log.unit().insert(ACCT, row)
    found = checked(log, tmp_path)
    assert found.count == 1
    assert found.unchecked["unreadable"] == 1
    (finding,) = map(str, found.findings)
    assert finding.startswith(code)
    assert "t0.dat, record" in finding
    assert field in finding
    assert found.exit_code == 8


def test_a_real_of_db2_beyond_the_range_of_singles_is_sound(tmp_path: Path) -> None:
    table = Tab("R", (Col("ID", "INT", 4, key=1), Col("R", "FLOT", 4)))
    log = LogBuilder((table,))
    log.unit().insert(table, (1, b"\x7f\xff\xff\xff"))
    assert checked(log, tmp_path).exit_code == 0


def test_a_row_written_backwards(tmp_path: Path) -> None:
    log = LogBuilder()
    two, one = log.unit(commit=(1 << 24) + 900), log.unit(commit=(1 << 24) + 100)
    two.update(ACCT, acct(1, "B"), acct(1, "C"))
    one.update(ACCT, acct(1), acct(1, "B"))
    assert "positions that rise" in str(checked(log, tmp_path))


def test_segments(tmp_path: Path) -> None:
    log = LogBuilder()
    log.unit().insert(ACCT, acct(1), cuts=(10, 20))
    log.unit().update(ACCT, acct(1), acct(1, "B"), cuts=(10,))
    log.unit().update(ACCT, acct(1, "X"), acct(1, "C"), cuts=(10,))
    found = checked(log, tmp_path)
    assert (found.count, found.counts["compared"]) == (1, 2), str(found)
    assert "(ID 1)" in str(found)
    records = log.records()
    log.records = lambda: [*records[:1], *records[2:]]  # type: ignore[method-assign]
    found = checked(log, tmp_path)
    assert "segments 1, 3; expected each of 1 to 3 once" in str(found)


def test_generations_are_not_compared(tmp_path: Path) -> None:
    first = Tab("T", PAIR.columns, created=lrsn(1), dropped=lrsn(1000))
    second = generation(first, 2, created=lrsn(1000), dropped=bytes(10))
    log = LogBuilder((first, second))
    log.unit().insert(first, (1, "A"))
    log.clock = 1008
    log.unit().insert(second, (1, "B"))
    found = checked(log, tmp_path)
    assert (found.count, found.unchecked["generation"]) == (0, 1)


@pytest.mark.parametrize("seed", range(20))
def test_every_flipped_bit_of_a_value_that_is_read_again_is_found(
    seed: int, tmp_path: Path
) -> None:
    """Each image of a row but the last one stands in the log twice."""
    random_ = random.Random(seed)
    missed = []
    for _ in range(2):
        log = history()
        change = random_.choice([23, 20, 19, 18, 17])
        image = random_.randrange(len(log.changes[change].images))
        if (change, image) == (23, 1):
            continue
        at = random_.randrange(len(log.changes[change].images[image]))
        data = bytearray(log.changes[change].images[image])
        data[at] ^= 1 << random_.randrange(8)
        log.changes[change].images[image] = bytes(data)
        if not checked(log, tmp_path).count:
            missed.append((change, image, at))
    assert missed == []


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = history()
    log.changes.pop(19)
    control, data = log.write(tmp_path)
    inputs = ["--control", str(control), "--data", str(data[0]), "--engine", "local"]
    assert main.main(["check", *inputs]) == 8
    assert "LR2036" in capsys.readouterr().out
    assert main.main(["check", *inputs, "--json"]) == 8
    assert json.loads(capsys.readouterr().out)["contradictions"] == 1
    assert main.main(["inspect", *inputs, "--deep", "--json"]) == 8
    assert json.loads(capsys.readouterr().out)["agreement"]["contradictions"] == 1
    assert main.main(["inspect", *inputs, "--deep"]) == 8
    assert "an insert of a row that is there" in capsys.readouterr().out


def test_units_of_luw_that_lack_records_are_no_contradiction(tmp_path: Path) -> None:
    builder = luwbuilder.LogBuilder("v97", False, "flt16")
    first = builder.begin()
    first.insert(luwbuilder.PLAIN, luw_row(1), (1, 1))
    first.update(luwbuilder.PLAIN, luw_row(1), luw_row(1, "Bea"), (1, 1))
    first.update(luwbuilder.PLAIN, luw_row(1, "Bea"), luw_row(1, "Cora"), (1, 1))
    first.commit()
    second = builder.begin()
    second.update(luwbuilder.PLAIN, luw_row(1, "Dora"), luw_row(1, "Eva"), (1, 1))
    second.commit()
    log, catalog = tmp_path / "part.log", tmp_path / "catalog.csv"
    catalog.write_text(luwbuilder.catalog_csv((luwbuilder.PLAIN,)), encoding="utf-8")
    log.write_bytes(b"".join(builder.records))
    with replay.open_log(source="db2luw", log=log, catalog=catalog) as whole:
        assert whole.check().count == 1
    log.write_bytes(b"".join(builder.records[1:]))  # without the first record
    with replay.open_log(source="db2luw", log=log, catalog=catalog) as part:
        found = part.check()
    assert (found.count, len(found.incomplete), found.exit_code) == (0, 1, 4)
    assert found.unchecked["incomplete"] == 1
    assert "1 unit lacks records" in str(found)
    outcome = tmp_path / "out"
    with replay.open_log(source="db2luw", log=log, catalog=catalog) as part:
        manifest = part.select().redo().write(outcome).manifest
    reasons = str(manifest["quarantined_units"]) + str(manifest["balance"])
    assert "LR2041" in reasons
    assert "INCOMPLETETRANS" not in reasons
    assert "LOGRECDISP" not in reasons
