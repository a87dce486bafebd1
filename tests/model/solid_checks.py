"""solidDB against the model: ``python -m tests.model.solid_checks --kinds link --seeds 50``.

``KINDS_BY_DEFAULT`` hold in every run of the tests; the others are for the command line.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.model.luw_model import (
    HISTORIES,
    Column,
    History,
    Maker,
    Table,
    Unit,
    copied,
    extras,
)
from tests.model.luw_run import (
    CHECKS,
    LIVE,
    Case,
    Options,
    Verdict,
    asked,
    check_redo,
    checked,
    command,
    difference,
    wanted,
)
from tests.model.solid_encoder import COMMIT, Form, SolidLog, write_meta

PATTERN = r"TRXID=(\d+)"

ALL_CHECKS = {**CHECKS, **LIVE}

CHECKS_BY_DEFAULT = tuple(CHECKS)


def written(history: History, form: Form, rng: random.Random) -> tuple[SolidLog, dict[int, int]]:
    """The export of a history, and the TRXID of each unit; what was rolled back is not in it."""
    log = SolidLog(form, rng)
    names: dict[int, int] = {}
    tables = {table.name: table for table in history.tables}
    units = [unit for unit in history.units if not unit.aborted]
    for number, unit in enumerate(units):
        if form.sessions > 1 and number >= len(units) // 2:
            log.session = 1
        names[unit.number] = log.transaction(unit.changes, tables)
    return log, names


def told(history: History, log: SolidLog, names: dict[int, int], folder: Path) -> Case:
    """The case of an export on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    files = log.write(folder)
    write_meta(folder, history.tables, log.form, log.sessions())
    source = ["--source", "soliddb", "--log", *map(str, files), "--catalog", str(folder)]
    source += ["--framing", log.form.framing]

    def name(unit: Unit) -> str:
        return str(names.get(unit.number, -1))

    def ur(unit: Unit) -> str:
        return f"{names[unit.number]:020X}"

    return Case(history, folder, source, PATTERN, name, ur, log.form, schema_file=False, digits=9)


def case_of(kind: str, seed: int, folder: Path, **fixed: object) -> Case | None:
    rng = random.Random(f"solid {kind} {seed}")
    history = HISTORIES[kind](rng)
    form = Form.drawn(rng, **fixed)
    log, names = written(history, form, rng)
    return told(history, log, names, folder) if log.lines else None


# -- exports that are cut, repeated or oddly asked for


def detected(seed: int, folder: Path) -> Case | None:
    """The framing is found out, or the run refuses to guess."""
    case = case_of("plain", seed, folder)
    if case is None:
        return None
    case.source = case.source[: case.source.index("--framing")]
    outcome = case.run("redo", "--dialect", "sqlite")
    if outcome.code == 12 and "framing" in outcome.text:
        case.good("detected: refuses to guess")
        return case
    check_redo(case)
    return case


def again(seed: int, folder: Path) -> Case | None:
    """The second read session repeats the end of the first one."""
    rng = random.Random(f"solid again {seed}")
    history = HISTORIES["plain"](rng)
    form = Form.drawn(rng, sessions=1, nops=False)
    log, names = written(history, form, rng)
    ends = [n for n, line in enumerate(log.lines) if line.recid == COMMIT]
    if len(ends) < 3:
        return None
    first = ends[rng.randrange(1, len(ends) - 1)]
    back = rng.choice([end for end in ends if end < first])
    twice = [type(line)(**{**vars(line), "session": 1}) for line in log.lines[back + 1 :]]
    log.lines = log.lines[: first + 1] + twice
    form.sessions = 2
    case = told(history, log, names, folder)
    manifest = folder / "manifest.json"
    start = log.lines[back].address.hex().upper()
    end = log.lines[first].address.hex().upper()
    text = manifest.read_text()
    manifest.write_text(text.replace(f'"start_logaddr": "{end}"', f'"start_logaddr": "{start}"'))
    outcome = case.run("redo", "--dialect", "sqlite")
    if outcome.code == 0:
        check_redo(case)
    return case


def gap(seed: int, folder: Path) -> Case | None:
    """A transaction between two read sessions is missing: refused or said."""
    rng = random.Random(f"solid gap {seed}")
    history = HISTORIES["plain"](rng)
    form = Form.drawn(rng, sessions=2, nops=False)
    log, names = written(history, form, rng)
    ends = [n for n, line in enumerate(log.lines) if line.recid == COMMIT]
    late = [n for n in ends if log.lines[n].session == 1]
    if len(late) < 2 or len(ends) == len(late):
        return None
    start = max(n for n in ends if log.lines[n].session == 0)
    case = told(history, log, names, folder)
    asked = log.lines[late[0]].address.hex().upper()
    before = log.lines[start].address.hex().upper()
    log.lines = log.lines[: start + 1] + log.lines[late[0] + 1 :]
    for path in folder.glob("syslog*"):
        path.unlink()
    files = log.write(folder)
    at = case.source.index("--log") + 1
    case.source[at : case.source.index("--catalog")] = map(str, files)
    manifest = folder / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace(f'"start_logaddr": "{before}"', f'"start_logaddr": "{asked}"'))
    outcome = case.run("redo", "--dialect", "sqlite")
    if outcome.code == 0:
        case.bad("gap", "exit 0 although a session does not begin where the last one ended")
    return case


def head(seed: int, folder: Path) -> Case | None:
    """The export begins within a transaction: it is named, and no part of it is written."""
    rng = random.Random(f"solid head {seed}")
    history = HISTORIES["plain"](rng)
    form = Form.drawn(rng, sessions=1, nops=False)
    log, names = written(history, form, rng)
    inner = [n for n, x in enumerate(log.lines) if x.recid not in (7, 12, None) and n]
    if not inner:
        return None
    cut = rng.choice(inner)
    trx = log.lines[cut].trxid
    log.lines = log.lines[cut:]
    case = told(history, log, names, folder)
    outcome = case.run("redo", "--dialect", "sqlite")
    if outcome.code == 0:
        case.bad("head", "exit 0 although the first transaction is cut")
    if str(trx) in outcome.units(PATTERN):
        case.bad("head", f"writes {trx} as if whole, exit {outcome.code}")
    return case


def mixed_kinds(seed: int, folder: Path) -> Case | None:
    """Real deletes and inserts of equal rows in one statement of a link table."""
    rng = random.Random(f"solid cancel {seed}")
    columns = (Column("A", "INTEGER", nullable=False), Column("B", "INTEGER", nullable=False))
    table = Table("APP", "T", 2, 5, columns, ("A", "B"))
    maker = Maker(rng, [table])
    low = rng.randrange(5)
    size = rng.randrange(2, 5)
    for a in range(low, low + size):
        maker.run([maker.new(table, A=a, B=1)])
    initial = copied(maker.state)
    rows = maker.state["T"]
    maker.begin()
    step = rng.choice([1, -1])
    maker.run([maker.altered(table, n, A=rows[n]["A"] + step) for n in rows])
    maker.end()
    history = maker.history("cancel", initial)
    form = Form.drawn(rng)
    log, names = written(history, form, rng)
    case = told(history, log, names, folder)
    return checked_case(case, ["redo", "upsert", "undo", "undo-upsert", "duckdb"])


def checked_case(case: Case, checks: Sequence[str]) -> Case:
    checked(case, checks)
    return case


def nothing_changes(seed: int, folder: Path) -> Case | None:
    """Exports of a log with nothing but updates that change nothing."""
    rng = random.Random(f"solid nothing {seed}")
    columns = [Column("K", "INTEGER", nullable=False), Column("W", "TIME"), *extras(rng, 2)]
    table = Table("APP", "T", 2, 5, tuple(columns), ("K",))
    maker = Maker(rng, [table])
    maker.fill(table, 3)
    initial = copied(maker.state)
    maker.begin()
    maker.run([maker.altered(table, n) for n in maker.state["T"]])
    maker.end()
    history = maker.history("nothing", initial)
    log, names = written(history, Form.drawn(rng), rng)
    case = told(history, log, names, folder)
    for style in ("parquet", "csv", "jsonl", "debezium"):
        outcome = case.run("export", "--format", style)
        if outcome.code not in (0, 4):
            case.bad(f"export {style}", outcome.brief())
    return case


def selection(seed: int, folder: Path) -> Case | None:
    """Selections that leave nothing say so; ends the wrong way round are refused; lists add up."""
    case = case_of("plain", seed, folder, files=2, sessions=1)
    if case is None:
        return None
    whole = case.run("redo", "--dialect", "sqlite")
    empty = {
        "lrsn": ["--from-lrsn", "7F" + "FF" * 19],
        "table": ["--table", "NO.SUCH"],
        "where": ["--where", "k = 987654"],
        "op": ["--op", "truncate"],
        "ur": ["--ur", "F" * 20],
    }
    for what, words in empty.items():
        outcome = case.run("redo", "--dialect", "sqlite", *words)
        if outcome.code == 0:
            case.bad(f"selection redo by {what}", "leaves nothing, exit 0")
        elif outcome.code not in (4, 12):
            case.bad(f"selection redo by {what}", outcome.brief())
    marks = [re.search(r"commit-\w+=(\w+)", line) for line in whole.script if "-- unit" in line]
    if len(marks) > 1:
        words = ["--from-lrsn", marks[-1][1], "--until-lrsn", marks[0][1]]
        outcome = case.run("redo", *words)
        if outcome.code not in (2, 8, 12):
            case.bad("ends of lrsn", f"exit {outcome.code}")
    if case.source.index("--catalog") - case.source.index("--log") == 3:
        case.source.insert(case.source.index("--log") + 2, "--log")
        outcome = case.run("redo", "--dialect", "sqlite")
        if outcome.code in (0, 4) and outcome.statements != whole.statements:
            case.bad("--log a --log b", f"WRONG: not as --log a b, exit {outcome.code}")
    return case


SPECIAL: dict[str, Callable[[int, Path], Case | None]] = {
    "again": again,
    "cancel": mixed_kinds,
    "detected": detected,
    "gap": gap,
    "head": head,
    "nothing": nothing_changes,
    "selection": selection,
}

KINDS: dict[str, str] = {
    name: (make.__doc__ or "").strip().split("\n")[0]
    for name, make in {**HISTORIES, **SPECIAL}.items()
}

KINDS_BY_DEFAULT = (
    "plain", "cascade", "keyless", "link", "cancel", "swap", "shift", "composite", "takeover",
    "unique", "detected", "again", "gap", "head", "nothing",
)  # fmt: skip


def run_case(
    seed: int, kind: str, checks: Sequence[str], options: Options
) -> tuple[list[Verdict], str]:
    """All verdicts of a case, and the case in words where one of them is bad."""
    with tempfile.TemporaryDirectory() as scratch:
        if kind in SPECIAL:
            case = SPECIAL[kind](seed, Path(scratch))
            if case is not None and not case.verdicts:
                case.good(kind)
        else:
            case = case_of(kind, seed, Path(scratch))
            if case is not None:
                checked(case, asked(checks, options))
        if case is None:
            return [], ""
        bad = any(v.bad for v in case.verdicts)
        return case.verdicts, case.describe() if bad else ""


__all__ = ["KINDS", "KINDS_BY_DEFAULT", "difference", "run_case", "wanted"]

if __name__ == "__main__":
    sys.exit(command(sys.modules[__name__], __doc__ or ""))
