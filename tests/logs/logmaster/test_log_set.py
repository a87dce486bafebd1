"""Log sets: many logical logs read as one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import replay
from replay.cli.main import main
from replay.errors import InputError, UsageError
from replay.logs import LogPair, source_named
from replay.logs.logmaster.opening import open_set
from replay.logs.named import listed
from replay.output.bundle import Bundle
from sqlgen.schema import Constraints
from tests.support.cutlogs import cut_log, with_end, write_pair
from tests.support.logbuilder import (
    ACCT,
    OLD_HEADER,
    Col,
    LogBuilder,
    Tab,
    Unit,
    acct,
    frame,
    generation,
    lrsn,
    statements,
    text_of,
)

_NO_KEYS = Constraints(complete=True)


def given(pairs: Sequence[LogPair], **more: object) -> dict[str, object]:
    """Arguments of :func:`replay.open_log` for pairs."""
    controls = [pair.control for pair in pairs]
    return {"control": controls, "data": [pair.data for pair in pairs], **more}


def script(out: Path, mode: str = "redo", **log: object) -> Bundle:
    with replay.open_log(**log) as opened:  # type: ignore[arg-type]
        selected = opened.select()
        wanted = selected.redo if mode == "redo" else selected.undo
        return wanted("postgres", schema=_NO_KEYS).write(out)


def builder(**more: object) -> LogBuilder:
    return LogBuilder(**more)  # type: ignore[arg-type]


def unit_of(log: LogBuilder) -> Unit:
    """A unit of recovery that commits soon."""
    return log.unit(commit=log.clock + 100)


def pair_of(
    folder: Path, name: str, log: LogBuilder, end: int, dependent: int | None = None
) -> LogPair:
    """Write what a log holds as one of a set, and empty it."""
    none = b"\xff" * 10
    pair = write_pair(folder, name, frame(log.control_records(), "rdw"), log.records(), lrsn(end))
    raw = frame(log.control_records(), "rdw")
    dependent_position = none if dependent is None else lrsn(dependent)
    Path(pair.control).write_bytes(with_end(raw, lrsn(end), dependent_position))
    log.changes.clear()
    return pair


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_log_cut_into_many_gives_the_scripts_of_one(
    sakila_small: Path, tmp_path: Path, mode: str, seed: int
) -> None:
    control, data = sakila_small / "small.ctl", sakila_small / "small.dat"
    whole = script(tmp_path / "one", mode, control=control, data=data)
    pairs = cut_log(control, data, tmp_path / "cut", 12, seed, repeated=4)
    bundle = script(tmp_path / "set", mode, **given(pairs))
    assert text_of(bundle) == text_of(whole)
    balance = bundle.manifest["balance"]
    assert balance["skipped"].pop("in another log of the set too") > 0
    assert balance["skipped"] == whole.manifest["balance"]["skipped"]
    assert balance["closes"]


def test_a_unit_that_begins_in_one_log_and_ends_in_the_next(tmp_path: Path) -> None:
    log = builder()
    unit = unit_of(log)
    unit.insert(ACCT, acct(1))
    change = unit.update(ACCT, acct(1), acct(1, "OTHER"), cuts=(40,))
    records = log.records()
    raw = frame(log.control_records(), "rdw")
    assert len(records) == 3
    pairs = [
        write_pair(tmp_path, "a", raw, records[:2], lrsn(40)),
        write_pair(tmp_path, "b", raw, records[2:], lrsn(200)),
    ]
    assert change.cuts
    bundle = script(tmp_path / "out", **given(pairs))
    assert [line.partition(" ")[0] for line in statements(bundle)] == ["INSERT", "UPDATE"]
    assert bundle.exit_code == 0


def test_a_unit_that_is_incomplete_in_one_log_and_whole_in_the_next(tmp_path: Path) -> None:
    log = builder()
    done = unit_of(log)
    done.insert(ACCT, acct(1))
    start = log.tick()
    open_unit = log.unit(start=start, commit=1500, INCOMPLETETRANS="Y")
    change = open_unit.insert(ACCT, acct(2))
    first = log.changes[:]
    one = pair_of(tmp_path, "a", log, 1000, dependent=start)
    whole = [first[1]]
    whole[0].fields["INCOMPLETETRANS"] = "N"
    log.changes = [change]
    log.unit(start=start, commit=1500).insert(ACCT, acct(3))
    two = pair_of(tmp_path, "b", log, 2000)
    alone = script(tmp_path / "alone", **given([one]))
    assert len(statements(alone)) == 1
    assert alone.exit_code == 4
    bundle = script(tmp_path / "both", **given([two, one]))
    assert len(statements(bundle)) == 3
    assert bundle.exit_code == 0
    assert open_set([one, two]).dependent_position is None
    for policy in ("quarantine", "dependentrba"):
        with replay.open_log(**given([one, two])) as opened:  # type: ignore[arg-type]
            chosen = opened.select(incomplete=policy).redo("postgres", schema=_NO_KEYS)
            assert len(statements(chosen.write(tmp_path / policy))) == 3


def test_a_unit_that_stays_incomplete_is_set_aside_as_a_whole(tmp_path: Path) -> None:
    log = builder()
    start = log.tick()
    log.unit(start=start, commit=1500, INCOMPLETETRANS="Y").insert(ACCT, acct(1))
    one = pair_of(tmp_path, "a", log, 1000, dependent=start)
    log.unit(start=start, commit=1500).insert(ACCT, acct(2))
    unit_of(log).insert(ACCT, acct(3))
    two = pair_of(tmp_path, "b", log, 2000)
    for policy in ("resolve", "quarantine"):
        with replay.open_log(**given([one, two])) as opened:  # type: ignore[arg-type]
            chosen = opened.select(incomplete=policy).redo("postgres", schema=_NO_KEYS)
            bundle = chosen.write(tmp_path / policy)
        assert len(statements(bundle)) == 1
        assert len(bundle.manifest["quarantined_units"]) == 1
    assert open_set([one, two]).dependent_position == lrsn(start)


def test_copies_of_a_change_that_differ_set_its_unit_aside(tmp_path: Path) -> None:
    log = builder()
    unit = unit_of(log)
    change = unit.insert(ACCT, acct(1))
    other = unit_of(log)
    other.insert(ACCT, acct(5))
    both = log.changes[:]
    one = pair_of(tmp_path, "a", log, 1000)
    change.images = [ACCT.image(acct(2))]
    log.changes = both
    two = pair_of(tmp_path, "b", log, 1000)
    bundle = script(tmp_path / "out", **given([one, two]))
    assert len(statements(bundle)) == 1
    assert bundle.exit_code == 8
    [warning] = [entry for entry in bundle.manifest["warnings"] if "different bytes" in entry]
    assert "a.dat record 1" in warning
    assert "b.dat record 1" in warning


@pytest.mark.parametrize("own_lengths", [True, False])
@pytest.mark.parametrize("cuts", [((), (40,)), ((30,), (40,)), ((20, 50), (40,)), ((30,), ())])
def test_copies_of_a_change_that_are_cut_at_different_places_differ(
    cuts: tuple[tuple[int, ...], ...], own_lengths: bool, tmp_path: Path
) -> None:
    log = builder(own_lengths=own_lengths)
    unit = unit_of(log)
    change = unit.update(ACCT, acct(1), acct(2), cuts[0])
    unit.insert(ACCT, acct(3), (9,))
    other = unit_of(log)
    other.insert(ACCT, acct(5), (9,))
    made = log.changes[:]
    one = pair_of(tmp_path, "a", log, 1000)
    change.cuts, log.changes = cuts[1], made[:]
    two = pair_of(tmp_path, "b", log, 1000)
    bundle = script(tmp_path / "out", **given([one, two]))
    assert len(statements(bundle)) == 1
    assert bundle.exit_code == 8
    warning = next(entry for entry in bundle.manifest["warnings"] if "different bytes" in entry)
    assert "a.dat record 1" in warning
    assert "b.dat record 1" in warning


def test_a_log_that_is_given_twice_is_told_of(tmp_path: Path) -> None:
    log = builder()
    unit_of(log).insert(ACCT, acct(1))
    unit_of(log).insert(ACCT, acct(2))
    both = log.changes[:]
    one = pair_of(tmp_path, "a", log, 1000)
    log.changes = both
    two = pair_of(tmp_path, "b", log, 1000)
    log.changes = both[1:]
    part = pair_of(tmp_path, "c", log, 1000)
    bundle = script(tmp_path / "twice", **given([two, one]))
    assert len(statements(bundle)) == 2
    assert bundle.exit_code == 4
    (warning,) = bundle.manifest["warnings"]
    assert "a.ctl" in warning
    assert "b.ctl" in warning
    assert "hold the same 2 records" in warning
    assert script(tmp_path / "part", **given([part, one])).exit_code == 0


def test_undo_sees_what_a_later_log_built_on_it(tmp_path: Path) -> None:
    log = builder()
    first = unit_of(log)
    first.insert(ACCT, acct(1))
    unit = first.more["UORID"]
    one = pair_of(tmp_path, "a", log, 1000)
    unit_of(log).update(ACCT, acct(1), acct(1, "LATER"))
    two = pair_of(tmp_path, "b", log, 2000)
    words = ["undo", "--control", one.control, "--data", *one.data, "--ur", unit.hex()]
    assert main([*words, "--schema", "none", "--out", str(tmp_path / "alone")]) == 0
    both = [*words, "--control", two.control, "--data", *two.data, "--schema", "none"]
    assert main([*both, "--out", str(tmp_path / "none")]) == 8
    assert main([*both, "--cascade", "all", "--out", str(tmp_path / "all")]) in (0, 4)
    script_text = "".join(path.read_text() for path in (tmp_path / "all").glob("*.sql"))
    assert script_text.index("UPDATE") < script_text.index("DELETE")


def test_tables_of_several_control_files_are_one_catalog(tmp_path: Path) -> None:
    old = Tab("T", (Col("A", "INT", 4, key=1),), created=lrsn(0))
    new = generation(old, 1, created=lrsn(500), columns=(*old.columns, Col("B", "INT", 4)))
    log = builder(tables=(old,))
    unit_of(log).insert(old, (1,))
    one = pair_of(tmp_path, "a", log, 400)
    log.tables, log.clock = (new,), 600
    unit_of(log).insert(new, (2, 7))
    two = pair_of(tmp_path, "b", log, 2000)
    opened = open_set([two, one])
    assert [len(version.table.columns) for version in opened.catalog.versions] == [1, 2]
    bundle = script(tmp_path / "out", **given([one, two]))
    first, second = statements(bundle)
    assert "(1)" in first
    assert "(2, 7)" in second


def test_control_files_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    table = Tab("T", (Col("A", "INT", 4, key=1),))
    log = builder(tables=(table,))
    unit_of(log).insert(table, (1,))
    one = pair_of(tmp_path, "a", log, 400)
    other = Tab("T", (Col("A", "CHAR", 4, key=1),))
    log.tables = (other,)
    unit_of(log).insert(other, ("abcd",))
    two = pair_of(tmp_path, "b", log, 800)
    with pytest.raises(InputError, match="column A") as error:
        open_set([one, two])
    assert error.value.code == "LR2038"
    assert "b.ctl" in str(error.value)
    assert "a.ctl" in str(error.value)


def test_logs_of_another_subsystem_are_refused(tmp_path: Path) -> None:
    log = builder()
    unit_of(log).insert(ACCT, acct(1))
    one = pair_of(tmp_path, "a", log, 400)
    log.system = "DB3P"
    unit_of(log).insert(ACCT, acct(2))
    two = pair_of(tmp_path, "b", log, 800)
    with pytest.raises(InputError, match="found subsystem DB3P; expected DB2P") as error:
        open_set([one, two])
    assert error.value.code == "LR2007"


def test_a_log_in_which_nothing_happened(tmp_path: Path) -> None:
    log = builder()
    unit_of(log).insert(ACCT, acct(1))
    one = pair_of(tmp_path, "a", log, 400)
    two = pair_of(tmp_path, "b", log, 800)
    assert Path(two.data[0]).read_bytes() == b""
    assert len(statements(script(tmp_path / "out", **given([two, one])))) == 1


def list_of(folder: Path, pairs: Sequence[LogPair], bounds: Sequence[tuple[int, int]]) -> Path:
    """A TOML list of logs with what each covers."""
    path = folder / "list.toml"
    path.write_text(
        "\n".join(
            f'[[log]]\ncontrol = "{Path(pair.control).name}"\ndata = "{Path(pair.data[0]).name}"\n'
            f'begin = "{lrsn(low).hex()}"\nend = "{lrsn(high).hex()}"'
            for pair, (low, high) in zip(pairs, bounds, strict=True)
        )
    )
    return path


def three(folder: Path) -> list[LogPair]:
    log = builder()
    pairs = []
    for number in range(3):
        log.clock = 400 * number
        unit_of(log).insert(ACCT, acct(number))
        pairs.append(pair_of(folder, f"night-{number}", log, 400 * (number + 1)))
    return pairs


def test_a_hole_is_refused_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = three(tmp_path)
    bounds = [(0, 400), (500, 800), (700, 1200)]
    logs = ["--logs", str(list_of(tmp_path, pairs, bounds))]
    redo = ["redo", *logs, "--out"]
    assert main([*redo, str(tmp_path / "out")]) == 12
    assert "LR2037" in (message := capsys.readouterr().err)
    assert f"{lrsn(400).hex().upper()} to {lrsn(500).hex().upper()}" in message
    assert main([*redo, str(tmp_path / "warned"), "--gaps", "warn"]) == 4
    assert "has a gap" in capsys.readouterr().err
    assert main([*redo, str(tmp_path / "allowed"), "--gaps", "allow"]) == 0
    assert main(["inspect", *logs]) == 4
    shown = capsys.readouterr().out
    assert "a gap in the log set, from" in shown
    assert "\n  *** GAP: nothing covers " in shown
    assert "overlaps" in shown


def test_the_timeline_says_how_logs_join(tmp_path: Path) -> None:
    pairs = three(tmp_path)
    path = list_of(tmp_path, pairs, [(0, 400), (400, 800), (700, 1200)])
    with replay.open_log(logs=path) as opened:
        described = opened.opened.family.description(opened.opened.log)
        assert [entry["joint"] for entry in described.values["set"]] == [
            "first",
            "joins",
            "overlaps",
        ]
        assert "night-1.ctl" in described.text()
    with replay.open_log(logs=tmp_path / "night-*.ctl") as opened:
        described = opened.describe()
        assert [entry["joint"] for entry in described["set"]] == [
            "first",
            "not told",
            "not told",
        ]


def test_headers_of_several_releases(tmp_path: Path) -> None:
    log = builder(header=OLD_HEADER, base=0)
    unit_of(log).insert(ACCT, acct(1))
    one = pair_of(tmp_path, "a", log, 400)
    later = builder()
    later.clock = 600
    unit_of(later).update(ACCT, acct(1), acct(1, "NEW"))
    two = pair_of(tmp_path, "b", later, 800)
    bundle = script(tmp_path / "out", **given([one, two]))
    assert [line.partition(" ")[0] for line in statements(bundle)] == ["INSERT", "UPDATE"]


def test_logs_that_read_data_differently(tmp_path: Path) -> None:
    log = builder(reading="B")
    for number in range(3):
        unit_of(log).insert(ACCT, acct(number))
    one = pair_of(tmp_path, "a", log, 400)
    later = builder()
    later.clock = 600
    unit_of(later).update(ACCT, acct(1), acct(1, "NEW"))
    two = pair_of(tmp_path, "b", later, 800)
    assert len(statements(script(tmp_path / "out", **given([one, two])))) == 4


def test_a_record_of_a_set_is_shown_by_its_own_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    three(tmp_path)
    words = ["inspect", "--logs", str(tmp_path), "--record", "1", "--file", "3"]
    assert main(words) == 0
    assert "night-2.dat, record 1" in capsys.readouterr().out


@pytest.mark.parametrize("pattern", ["cut-*.ctl", "cut-1.ctl", "cut-1*.ctl", "*-[12].ctl"])
def test_a_glob_takes_the_data_of_its_control_files_alone(tmp_path: Path, pattern: str) -> None:
    pairs = three(tmp_path)
    for pair, number in zip(pairs, (1, 10, 2), strict=True):
        Path(pair.control).rename(tmp_path / f"cut-{number}.ctl")
        Path(pair.data[0]).rename(tmp_path / f"cut-{number}.dat")
    taken = listed([str(tmp_path / pattern)], source_named("logmaster")).pairs
    controls = {path.name for path in tmp_path.glob(pattern)}
    assert {Path(pair.control).name for pair in taken} == controls
    assert all(pair.data == (pair.control.replace(".ctl", ".dat"),) for pair in taken)


@pytest.mark.parametrize("end", ["", "/"])
def test_a_folder_that_is_not_there_is_named(tmp_path: Path, end: str) -> None:
    place = f"{tmp_path}/logs{end}"
    with pytest.raises(UsageError, match=f"LR1004 found no file or folder {place};"):
        listed([place], source_named("logmaster"))


@pytest.mark.parametrize("form", ["folder", "glob", "words", "turns", "numbers"])
def test_ways_to_name_a_set(tmp_path: Path, form: str) -> None:
    pairs = three(tmp_path)
    controls, data = [p.control for p in pairs], [p.data[0] for p in pairs]
    words = {
        "folder": ["--logs", str(tmp_path)],
        "glob": ["--logs", str(tmp_path / "*.ctl")],
        "words": ["--control", *controls, "--data", *reversed(data)],
        "turns": [w for p in pairs for w in ("--control", p.control, "--data", *p.data)],
        "numbers": [
            *(w for control in controls for w in ("--control", control)),
            *(w for file in data for w in ("--data", file)),
        ],
    }[form]
    out = tmp_path / "out"
    assert main(["redo", *words, "--out", str(out)]) == 0
    assert len(list(out.glob("*.sql"))) == 1
    assert (out / "0000-redo.sql").read_text().count("INSERT") == 3


def test_a_list_of_logs_in_the_options_file(tmp_path: Path) -> None:
    pairs = three(tmp_path)
    config = tmp_path / "logreplay.toml"
    config.write_text(list_of(tmp_path, pairs, [(0, 400), (400, 800), (800, 1200)]).read_text())
    assert main(["redo", "--config", str(config), "--out", str(tmp_path / "out")]) == 0


def test_names_that_do_not_tell_are_refused(tmp_path: Path) -> None:
    pairs = three(tmp_path)
    odd = tmp_path / "other.dat"
    Path(pairs[0].data[0]).rename(odd)
    with pytest.raises(UsageError, match="names that do not tell"):
        replay.open_log(logs=tmp_path)
    with pytest.raises(UsageError, match="expected pairs"):
        replay.open_log(control=[p.control for p in pairs], data=[str(odd)])
    with pytest.raises(UsageError, match="no file"):
        replay.open_log(logs=tmp_path / "*.nothing")


KEYLESS = Tab("LOOSE", (Col("A", "INT", 4), Col("B", "INT", 4)), psid=8, obid=9)


def with_a_dependent(folder: Path, left: str = "") -> list[LogPair]:
    """Two logs: a unit that is incomplete in the first one and whole in the second, and in the
    first one a unit that may depend on it and changes a table without a key. ``left``: another unit
    that is incomplete, in which log."""
    log = builder(tables=(KEYLESS, ACCT))
    start, other_start = log.tick(), log.tick()
    change = log.unit(start=start, commit=800, INCOMPLETETRANS="Y").insert(KEYLESS, (1, 1))
    other = log.unit(start=other_start, commit=700, INCOMPLETETRANS="Y").insert(ACCT, acct(9))
    if not left:
        log.changes.remove(other)
    dependent = log.unit(commit=900, INCOMPLETEDEP="Y")
    dependent.delete(KEYLESS, (2, 2))
    dependent.insert(KEYLESS, (3, 3))
    one = pair_of(folder, "a", log, 1000)
    change.fields["INCOMPLETETRANS"] = "N"
    log.changes = [change, other] if left == "both" else [change]
    log.clock = 1110
    log.unit(start=1100, commit=1200).insert(ACCT, acct(2))
    return [one, pair_of(folder, "b", log, 2000)]


@pytest.mark.parametrize("policy", ["resolve", "quarantine"])
def test_a_unit_that_may_depend_on_one_that_came_whole(tmp_path: Path, policy: str) -> None:
    """Its flag names no unit; when none is incomplete any more, it says nothing."""
    pairs = with_a_dependent(tmp_path)
    with replay.open_log(**given(pairs)) as opened:  # type: ignore[arg-type]
        bundle = (
            opened.select(incomplete=policy)
            .redo("postgres", schema=_NO_KEYS)
            .write(tmp_path / policy)
        )
    assert len(statements(bundle)) == 4
    assert bundle.exit_code == 0
    alone = script(tmp_path / "alone", **given(pairs[:1]))
    assert (len(statements(alone)), alone.exit_code) == (0, 4)


@pytest.mark.parametrize("left", ["first", "both"])
def test_a_unit_that_may_depend_on_one_that_is_left(tmp_path: Path, left: str) -> None:
    bundle = script(tmp_path / "set", **given(with_a_dependent(tmp_path, left)))
    assert len(statements(bundle)) == 2
    assert len(bundle.manifest["quarantined_units"]) == 2
    assert bundle.exit_code == 4


@pytest.mark.parametrize("command", ["redo", "grow"])
def test_a_dependent_unit_comes_when_the_incomplete_one_is_whole(
    tmp_path: Path, command: str
) -> None:
    pairs, counts = with_a_dependent(tmp_path), []
    for number in (1, 2, 2):
        words = [word for pair in pairs[:number] for word in ("--control", pair.control)]
        words += ["--data", *(data for pair in pairs[:number] for data in pair.data)]
        out = tmp_path / f"out-{len(counts)}" if command == "redo" else tmp_path / "out"
        after = tmp_path / f"out-{len(counts) - 1}" if counts else "none"
        how = ["redo", "--after", str(after)] if command == "redo" else ["export", "--grow"]
        how += [] if command == "redo" else ["--format", "jsonl"]
        assert main([*how, *words, "--schema", "none", "--out", str(out)]) in (0, 4)
        if command == "redo":
            manifest = json.loads((out / "manifest.json").read_text())
            counts.append(manifest["balance"]["emitted"])
        else:
            files = (tmp_path / "out").glob("testown.*/**/*.jsonl")
            counts.append(sum(len(path.read_text().splitlines()) for path in files))
    assert counts == ([0, 4, 0] if command == "redo" else [0, 4, 4])
