"""Db2 LUW logs that are cut, shuffled, oddly described, or ask for odd options.

Each kind takes a seed and a folder and answers what is wrong, in words.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from tests.model.luw_encoder import (
    FRAMINGS,
    NORMAL,
    PROPAGATABLE,
    TEMPORARY,
    Form,
    Layout,
    LuwLog,
    Record,
    fixed_size,
    write_catalog,
    write_log,
)
from tests.model.luw_histories import tid_of, written
from tests.model.luw_model import (
    HISTORIES,
    Column,
    History,
    Maker,
    Table,
    Unit,
    copied,
    extras,
    keyed,
    mixed,
)
from tests.model.luw_run import Case, Lite, check_redo, check_undo_one, difference, wanted

PATTERN = r"TID=([0-9A-F]{12})"


def _name(unit: Unit) -> str:
    return f"{tid_of(unit):012X}"


def told(history: History, form: Form, files: list[list[Record]], folder: Path) -> Case:
    """The case of a history whose log is in these files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [str(write_log(folder / f"{n}.log", part)) for n, part in enumerate(files)]
    catalog = write_catalog(folder / "catalog.csv", history.tables)
    source = ["--source", "db2luw", "--log", *paths, "--catalog", str(catalog)]
    source += ["--framing", form.framing, "--log-option", f"dialect={form.dialect}"]
    source += ["--log-option", f"byte-order={'big' if form.big else 'little'}"]
    return Case(history, folder, source, PATTERN, _name, _name, form)


def _drawn(kind: str, name: str, seed: int, **fixed: object) -> tuple[random.Random, History, Form]:
    rng = random.Random(f"luw {name} {seed}")
    history = HISTORIES[kind](rng)
    return rng, history, Form.drawn(rng, **fixed)


def authid(seed: int, folder: Path) -> Case | None:
    """Every kind of commit record names its user; --authid finds all of that user's units."""
    rng, history, form = _drawn("plain", "authid", seed)
    log = written(history, form, rng, kinds=True)
    case = told(history, form, [log.records], folder)
    users = sorted({u.authid for u in history.committed})
    for user in users:
        outcome = case.run("redo", "--dialect", "sqlite", "--authid", user)
        found = set(outcome.units(PATTERN))
        for unit in history.committed:
            shown = any(a != b for a, b in unit.net().values())
            mine = unit.authid == user
            if shown and (_name(unit) in found) != mine:
                case.bad(
                    "--authid",
                    f"{'loses' if mine else 'takes'} {_name(unit)} of {unit.authid}, "
                    f"commit {unit.commit}, {form.dialect}, exit {outcome.code}",
                )
    return case


def head(seed: int, folder: Path) -> Case | None:
    """The log begins within units: they are named and set aside, with what builds on them."""
    rng, history, form = _drawn(rng_kind(seed), "head", seed)
    log = written(history, form, rng)
    first = {r.tid: n for n, r in reversed(list(enumerate(log.records)))}
    cuts = [
        n
        for n in range(1, len(log.records))
        if any(
            first[r.tid] < n and not r.what.startswith(("commit", "abort")) for r in log.records[n:]
        )
    ]
    if not cuts:
        return None
    cut = rng.choice(cuts)
    rest = log.records[cut:]
    case = told(history, form, [rest], folder)
    headless = []
    for unit in history.committed:
        left = [r for r in rest if r.tid == tid_of(unit) and not r.what.startswith("commit")]
        if first.get(tid_of(unit), cut) < cut and left and unit.changes:
            headless.append(unit)
    outcome = case.run("redo", "--dialect", "sqlite")
    check = "head"
    found = set(outcome.units(PATTERN))
    told_of = outcome.text + str(outcome.manifest)
    for unit in headless:
        if _name(unit) in found:
            case.bad(check, f"writes {_name(unit)} as if whole, exit {outcome.code}")
        elif _name(unit) not in told_of:
            case.bad(check, f"does not name {_name(unit)}, exit {outcome.code}")
    if headless and outcome.code == 0:
        case.bad(check, "exit 0")
    return case


def rng_kind(seed: int) -> str:
    return ["plain", "keyless", "shift", "cascade"][seed % 4]


def hole(seed: int, folder: Path) -> Case | None:
    """A file is missing in the middle, and rows or units show it."""
    rng, history, form = _drawn(rng_kind(seed), "hole", seed)
    log = written(history, form, rng)
    if len(log.records) < 6:
        return None
    low, high = sorted(rng.sample(range(1, len(log.records)), 2))
    lost = log.records[low:high]
    evidence = []
    gone = {id(r) for r in lost}
    rows: dict[tuple, object] = {}
    for (unit, how, change), record in zip(history.tape, log.records, strict=True):
        if change is None or unit.aborted or id(record) in gone:
            continue
        key = history.table(change.table).key
        old, new = (change.before, change.after) if how == "do" else (change.after, change.before)
        if not key:
            continue
        if old is not None:
            place = (change.table, *(old[c] for c in key))
            if place in rows and rows[place] != old:
                evidence.append(f"row {place} of {_name(unit)}")
            rows[place] = None
        if new is not None:
            place = (change.table, *(new[c] for c in key))
            if rows.get(place) is not None and not shifts(history):
                evidence.append(f"row {place} of {_name(unit)} is there twice")
            rows[place] = new
    behind = {r.tid for r in log.records[high:]}
    for unit in history.committed:
        if tid_of(unit) in behind & {r.tid for r in lost}:
            evidence.append(f"chain of {_name(unit)}")
    if not evidence:
        return None
    case = told(history, form, [log.records[:low], log.records[high:]], folder)
    outcome = case.run("redo", "--dialect", "sqlite")
    if outcome.code == 0:
        case.bad("hole", f"WRONG {low}:{high}: exit 0 although {evidence[:2]}")
    return case


def shifts(history: History) -> bool:
    """Whether keys may stand twice within a statement."""
    return history.kind not in ("plain", "keyless")


def order(seed: int, folder: Path) -> Case | None:
    """Files in the wrong order or given twice: right all the same, or refused."""
    fixed = {"dialect": "v7", "big": False, "holes": False} if seed % 2 else {}
    rng, history, form = _drawn(rng_kind(seed), "order", seed, **fixed)
    if seed % 2:
        form.framing = rng.choice(FRAMINGS["v7"])
    log = written(history, form, rng)
    if len(log.records) < 6:
        return None
    parts = log.split(rng.choice([2, 3]))
    case = told(history, form, parts, folder)
    right = case.run("redo", "--dialect", "sqlite")
    at = case.source.index("--log") + 1
    files = case.source[at : at + len(parts)]
    if rng.random() < 0.5:
        bad = files[::-1]
        what = "reversed"
    else:
        spot = rng.randrange(len(files))
        bad = files[: spot + 1] + files[spot:]
        what = f"file {spot + 1} twice"
    case.source[at : at + len(parts)] = bad
    outcome = case.run("redo", "--dialect", "sqlite")
    if outcome.code == 0 and outcome.statements != right.statements:
        case.bad("order", f"{what} of {len(parts)}: exit 0 and other SQL")
    return case


def descriptor(seed: int, folder: Path) -> Case | None:
    """Initialize Table with offsets in any order, with room between the columns."""
    rng = random.Random(f"luw descriptor {seed}")
    tables = [keyed(rng, "T", 5), keyed(rng, "S", 6)]
    maker = Maker(rng, tables)
    initial = copied(maker.state)
    for _ in range(4):
        maker.begin()
        mixed(maker, rng.choice(tables), 3)
        maker.end()
    history = maker.history("descriptor", initial)
    form = Form.drawn(rng)
    log = LuwLog(form, rng)
    for table in tables:
        places = list(range(len(table.columns)))
        rng.shuffle(places)
        log.initialise(0x11, table, Layout(table, places, rng.choice([0, 0, 0, 1, 3])))
    log.commit(0x11, "normal", 1_600_000_000, "OWNER")
    case = told(history, form, [written(history, form, rng, start=log).records], folder)
    outcome = case.run("redo", "--dialect", "sqlite")
    if outcome.code not in (0, 4) or outcome.held:
        case.bad("descriptor", f"refused: {outcome.brief()}")
        return case
    base = Lite(tables, initial, keys=False)
    error = base.apply([s for s in outcome.statements if not s.startswith("CREATE TABLE")])
    wrong = error or difference(base.rows(), wanted(history, history.final))
    base.close()
    if wrong:
        case.bad("descriptor", f"WRONG: {wrong}")
    return case


def _kept(case: Case, check: Callable[[Case], None]) -> Case:
    check(case)
    return case


def temporary(seed: int, folder: Path) -> Case | None:
    """Rows of temporary tables, flagged propagatable too, are no damage and no rows."""
    rng, history, form = _drawn("plain", "temporary", seed, holes=False)
    log = written(history, form, rng)
    plain = told(history, form, [log.records], folder / "plain").run("redo", "--dialect", "sqlite")
    rng = random.Random(seed)
    fresh = LuwLog(form, rng)
    table = rng.choice([history.tables[0], keyed(rng, "TEMP", 77)])
    maker = Maker(rng, [table])

    def extra(unit: Unit) -> None:
        if rng.random() < 0.4:
            row = maker.row(table, **dict.fromkeys(table.key, 500))
            fresh.change(tid_of(unit), "I", table, 999, None, row, PROPAGATABLE | TEMPORARY)

    fresh = written(history, form, rng, start=fresh, between=extra)
    case = told(history, form, [fresh.records], folder)
    outcome = case.run("redo", "--dialect", "sqlite")
    if outcome.code != 0 or outcome.statements != plain.statements:
        case.bad(f"temporary {table.name}", outcome.brief())
    return case


def nothing_changes(seed: int, folder: Path) -> Case | None:
    """Exports of a table with a time column, of nothing but updates that change nothing."""
    rng = random.Random(f"luw nothing {seed}")
    columns = [Column("K", "INTEGER", nullable=False), Column("W", "TIME"), *extras(rng, 2)]
    table = Table("APP", "T", 2, 5, tuple(columns), ("K",))
    maker = Maker(rng, [table])
    maker.fill(table, 3)
    initial = copied(maker.state)
    maker.begin()
    maker.run([maker.altered(table, n) for n in maker.state["T"]])
    maker.end()
    history = maker.history("nothing", initial)
    form = Form.drawn(rng)
    log = written(history, form, rng)
    case = told(history, form, [log.records], folder)
    for style in ("parquet", "csv", "jsonl", "debezium"):
        outcome = case.run("export", "--format", style)
        if outcome.code not in (0, 4):
            case.bad(f"export {style}", outcome.brief())
    return case


def held_nothing(seed: int, folder: Path) -> Case | None:
    """A unit with a damaged row holds nobody by a row that it changed nothing in."""
    rng = random.Random(f"luw held {seed}")
    columns = (
        Column("K", "INTEGER", nullable=False),
        Column("D", "DECIMAL", 5, 0, nullable=False),
        Column("N", "INTEGER", nullable=False),
    )
    table = Table("APP", "T", 2, 5, columns, ("K",))
    maker = Maker(rng, [table])
    for key in (1, 2):
        maker.run([maker.new(table, K=key, D=7, N=0)])
    initial = copied(maker.state)
    first, second = sorted(maker.state["T"])
    maker.begin()
    maker.run([maker.altered(table, first)])
    maker.run([maker.altered(table, second, D=8)])
    maker.end()
    maker.begin()
    maker.run([maker.altered(table, first, N=5)])
    maker.end()
    history = maker.history("held", initial)
    form = Form.drawn(rng, holes=False)
    history.units.sort(key=lambda u: u.number)
    history.tape = [(u, h, c) for u in history.units for h, c in [*u.events, ("end", None)]]
    log = written(history, form, rng)
    body = bytearray(log.records[1].body)
    prefix = 18 if form.dialect == "v7" else 20
    at = log.records[1].header + 2 * prefix + 19 + 8 + 4
    body[at] = 0xEE
    log.records[1].body = bytes(body)
    case = told(history, form, [log.records], folder)
    outcome = case.run("redo", "--dialect", "sqlite")
    found = outcome.units(PATTERN)
    if _name(history.units[0]) in found:
        case.bad("held", f"the damaged unit is written: {outcome.brief()}")
    if _name(history.units[1]) not in found:
        case.bad("held", f"the other unit is held: {outcome.brief()}")
    return case


def selection(seed: int, folder: Path) -> Case | None:
    """Selections that leave nothing say so; ends the wrong way round are refused; lists add up."""
    rng, history, form = _drawn("plain", "selection", seed)
    log = written(history, form, rng)
    if len(log.records) < 6:
        return None
    parts = log.split(2)
    case = told(history, form, parts, folder)
    whole = case.run("redo", "--dialect", "sqlite")
    far = "F" * 20 if form.dialect != "v7" else "F" * 16
    empty = {
        "time": ["--from-time", "2039-01-01"],
        "lrsn": ["--from-lrsn", far],
        "table": ["--table", "NO.SUCH"],
        "where": ["--where", "k = 987654"],
        "op": ["--op", "exchange"],
    }
    for what, words in empty.items():
        for command in ("redo", "undo", "export"):
            more = [] if command == "export" else ["--dialect", "sqlite"]
            outcome = case.run(command, *more, *words)
            if outcome.code == 0:
                case.bad(f"selection {command} by {what}", "leaves nothing, exit 0")
    wrong = {
        "time": ["--from-time", "2024-01-02", "--until-time", "2024-01-01"],
        "lrsn": ["--from-lrsn", "00" * 9 + "02", "--until-lrsn", "00" * 9 + "01"],
    }
    for what, words in wrong.items():
        for command in ("redo", "undo", "export"):
            outcome = case.run(command, *words)
            if outcome.code not in (2, 8, 12):
                case.bad(f"ends of {what}, {command}", f"exit {outcome.code}")
    at = case.source.index("--log") + 2
    case.source.insert(at, "--log")
    outcome = case.run("redo", "--dialect", "sqlite")
    if outcome.code in (0, 4) and outcome.statements != whole.statements:
        case.bad("--log a --log b", f"not the same as --log a b, exit {outcome.code}")
    return case


def generation(seed: int, folder: Path) -> Case | None:
    """A column is added between two units that touch one row (v7, with and without key)."""
    rng = random.Random(f"luw generation {seed}")
    key = ("K",) if rng.random() < 0.5 else ()
    old = (Column("K", "INTEGER", nullable=False), Column("N", "INTEGER", nullable=False))
    new = (*old, Column("Z", "INTEGER"))
    before, table = Table("APP", "T", 2, 5, old, key), Table("APP", "T", 2, 5, new, key)
    form = Form.drawn(rng, dialect="v7", holes=False)
    log = LuwLog(form, rng)
    first, second = {"K": 1, "N": 10}, {"K": 1, "N": 20, "Z": None}
    log.change(1, "I", before, 4, None, first)
    log.commit(1, "normal", 1_700_000_000, "A")
    log.layouts.pop("T")
    arrays = [descriptors(log, Layout(t)) for t in (before, table)]
    payload = log._dms(102, table) + bytes(2) + log.u(4, 2) + log.u(4, 3)
    log.put(2, NORMAL, payload + arrays[0] + arrays[1], what="add columns")
    log.commit(2, "normal", 1_700_000_001, "A")
    action = rng.choice(["U", "D"])
    image = {**first, "Z": None}
    log.change(3, action, table, 4, image, second if action == "U" else None)
    log.commit(3, "normal", 1_700_000_002, "A")
    history = History("generation", [table], {"T": {}}, {"T": {}}, [], [])
    case = told(history, form, [log.records], folder)
    check = f"generation {'key' if key else 'no key'} {action}"
    outcome = case.run("redo", "--dialect", "sqlite", "--except", f"{1:012X}")
    if f"{3:012X}" in outcome.units(PATTERN):
        case.bad(check, f"redo --except keeps what builds on it: {outcome.brief()}")
    outcome = case.run("undo", "--dialect", "sqlite", "--ur", f"{1:012X}")
    if outcome.code in (0, 4) and not outcome.held and outcome.statements:
        case.bad(check, f"undo --ur passes, exit {outcome.code}")
    return case


def descriptors(log: LuwLog, layout: Layout) -> bytes:
    """Column descriptors, then as many LOB descriptors of zeroes."""
    data = b""
    for column, offset in zip(layout.table.columns, layout.offsets, strict=True):
        data += log.u(2, 1) + log.u(2, fixed_size(column))
        data += log.u(2, 1 if column.nullable else 2) + log.u(2, offset)
    return data + bytes(12 * len(layout.table.columns))


def garbage(seed: int, folder: Path) -> Case | None:
    """Rows without key, with other bytes below NULL each time, are still one row."""
    rng, history, form = _drawn("keyless", "garbage", seed, garbage=True)
    log = written(history, form, rng)
    case = told(history, form, [log.records], folder)
    check_redo(case)
    return _kept(case, check_undo_one)


def detected(seed: int, folder: Path) -> Case | None:
    """Framing, byte order and dialect are found out."""
    rng, history, form = _drawn("plain", "detected", seed)
    log = written(history, form, rng)
    case = told(history, form, [log.records], folder)
    case.source = case.source[: case.source.index("--framing")]
    return _kept(case, check_redo)


SPECIAL: dict[str, Callable[[int, Path], Case | None]] = {
    "authid": authid,
    "descriptor": descriptor,
    "detected": detected,
    "garbage": garbage,
    "generation": generation,
    "head": head,
    "held": held_nothing,
    "hole": hole,
    "nothing": nothing_changes,
    "order": order,
    "selection": selection,
    "temporary": temporary,
}
