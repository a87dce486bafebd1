"""Logs of Db2 LUW and solidDB that are cut, repeated or oddly described, or that odd options are
asked of. Each kind takes a seed and yields verdicts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tests.independent.luw_records import fixed_size
from tests.model.case import Case, Options, Verdict, compared
from tests.model.checks import check_redo
from tests.model.histories import draw_story
from tests.model.rows import Column, Database, Edit, History, Table, Unit, values
from tests.model.sites import Files, LuwSite, SolidSite, luw_form

REDO = ("redo", "--dialect", "sqlite")
Verdicts = Iterator[Verdict]


@contextmanager
def luw(
    name: str, seed: int, kind: str = "plain", history: History | None = None, **how: Any
) -> Iterator[tuple[Case, LuwSite, random.Random]]:
    """A history and its log in one file; ``how`` as :class:`~tests.model.sites.LuwSite` takes it,
    and fields of its form."""
    rng = random.Random(f"luw {name} {seed}")
    made = history or draw_story(rng, kind).history
    form = {key: how.pop(key) for key in ("release", "order", "gaps", "odd") if key in how}
    given = {"files": 1, "told": True, "form": luw_form(rng, **form), **how}
    case = Case(seed, kind, made, lambda folder: LuwSite(made, rng, folder, **given))
    try:
        assert isinstance(case.site, LuwSite)
        yield case, case.site, rng
    finally:
        case.close()


@contextmanager
def solid(
    name: str, seed: int, history: History | None = None, **files: Any
) -> Iterator[tuple[Case, SolidSite, random.Random]]:
    rng = random.Random(f"solid {name} {seed}")
    made = history or draw_story(rng, "plain", digits=9).history
    given = replace(Files.drawn(rng), **files)
    case = Case(seed, "plain", made, lambda folder: SolidSite(made, rng, folder, None, given))
    try:
        assert isinstance(case.site, SolidSite)
        yield case, case.site, rng
    finally:
        case.close()


def verdict(check: str, wrong: object, detail: str) -> Verdict:
    return Verdict(check, "wrong", detail) if wrong else Verdict(check, "ok")


def kind_of(seed: int) -> str:
    return ("plain", "keyless", "shift", "cascade")[seed % 4]


def unit_of(event: tuple[str, Any]) -> Unit:
    """Whose record it is."""
    what, of = event
    unit = of if what == "end" else of.unit
    assert isinstance(unit, Unit)
    return unit


def head(seed: int) -> Verdicts:
    """The log begins within units: they are named and set aside, with what builds on them."""
    with luw("head", seed, kind_of(seed)) as (case, site, rng):
        records, events = site.log.records, site.events
        first: dict[int, int] = {}
        for number, event in enumerate(events):
            first.setdefault(unit_of(event).number, number)
        able = [
            cut
            for cut in range(1, len(records))
            if any(first[unit_of(e).number] < cut for e in events[cut:] if e[0] != "end")
        ]
        if not able:
            return
        cut = rng.choice(able)
        site.write([records[cut:]], True)
        left = {unit_of(event).number for event in events[cut:] if event[0] != "end"}
        lost = [u for u in case.effective if first[u.number] < cut and u.number in left]
        answer = case.again(*REDO)
        said = answer.text + str(answer.manifest)
        for unit in lost:
            whole = case.site.name(unit) in answer.units
            yield verdict("head", whole, f"writes u{unit.number} as if whole")
            yield verdict("head", site.name(unit) not in said, f"does not name u{unit.number}")
        yield verdict("head", lost and answer.code == 0, "exit 0")


def evidence_of_a_hole(case: Case, site: LuwSite, low: int, high: int) -> list[str]:
    """What shows that records are missing: rows of a key that are others than before, or there
    twice; units of which a part is gone."""
    found: list[str] = []
    rows: dict[object, object] = {}
    for number, (what, of) in enumerate(site.events):
        if what == "end" or of.unit.aborted or low <= number < high or not of.change.table.key:
            continue
        change, unit = of.change, f"u{of.unit.number}"
        old, new = (change.before, change.after)[:: 1 if what == "do" else -1]
        table = change.table
        if old is not None:
            place = (table.name, values(old, table.key))
            if place in rows and rows[place] != old:
                found.append(f"row {place} of {unit}")
            rows[place] = None
        if new is not None:
            place = (table.name, values(new, table.key))
            if rows.get(place) is not None and case.kind in ("plain", "keyless"):
                found.append(f"row {place} of {unit} is there twice")
            rows[place] = new
    kept = [unit_of(event).number for event in site.events[:low]]
    if site.form.framing == "raw" and len({*kept}) == len(kept):
        return found  # no record there tells where another one is
    gone = {unit_of(event).number for event in site.events[low:high]}
    behind = {unit_of(event).number for event in site.events[high:]}
    found += [f"chain of u{u.number}" for u in case.history.committed if u.number in gone & behind]
    return found


def hole(seed: int) -> Verdicts:
    """A file is missing in the middle, and rows or units show it."""
    with luw("hole", seed, kind_of(seed)) as (case, site, rng):
        records = site.log.records
        if len(records) < 6:
            return
        low, high = sorted(rng.sample(range(1, len(records)), 2))
        evidence = evidence_of_a_hole(case, site, low, high)
        if evidence:
            site.write([records[:low], records[high:]], True)
            answer = case.again(*REDO)
            yield verdict("hole", answer.code == 0, f"{low}:{high}: exit 0 although {evidence[:2]}")


def descriptor(seed: int) -> Verdicts:
    """Initialize Table with offsets in any order, with room between the columns."""
    rng = random.Random(f"descriptor {seed}")
    made = draw_story(rng, "plain").history
    with luw("descriptor", seed, history=made) as (case, site, _):
        fresh = LuwSite(History(made.database), rng, case.folder, site.form, files=1)
        for table in fresh.tables.values():
            places, running, gap = [0] * len(table.columns), 0, rng.choice((0, 0, 0, 1, 3))
            for number in rng.sample(range(len(table.columns)), len(table.columns)):
                column, places[number] = table.columns[number], running
                running += fixed_size(column) + column.nullable + gap
            fresh.writer.places[table.name] = places, running
            fresh.log.table(1, table, places)
        fresh.log.commit(1)
        for event in made.events:
            fresh.put(*event)
        fresh.write([fresh.log.records], True)
        site.source = fresh.source
        answer = case.again(*REDO)
        answer.scripts[:] = ["\n".join(
            line for line in script.splitlines() if not line.startswith("CREATE TABLE")
        ) for script in answer.scripts]  # fmt: skip
        yield compared(case, "descriptor", answer, case.initial, case.final)


def of_nothing(digits: int) -> History:
    """Nothing but updates that change nothing, of a table with a time column."""
    columns = (
        *(Column("K", "integer"), Column("W", "time", nullable=True)),
        Column("TS", "timestamp", 0, digits, True),
    )
    database = Database([Table("TEST.T0", columns, ("K",))])
    for key in (1, 2, 3):
        database.statement([Edit("TEST.T0", None, {"K": key, "W": "10:20:30", "TS": None})])
    history = History(database)
    unit = history.begin()
    rows = database.rows["TEST.T0"]
    history.statement(unit, [Edit("TEST.T0", rid, dict(row)) for rid, row in rows.items()])
    history.commit(unit)
    return history


def nothing_changes(case: Case) -> Verdicts:
    """Exports of a log of nothing but updates that change nothing."""
    for style in ("parquet", "csv", "jsonl", "debezium"):
        answer = case.again("export", "--format", style)
        yield verdict(f"export {style}", answer.code not in (0, 4), answer.reason)


def luw_nothing(seed: int) -> Verdicts:
    with luw("nothing", seed, history=of_nothing(6)) as (case, _, _):
        yield from nothing_changes(case)


def solid_nothing(seed: int) -> Verdicts:
    with solid("nothing", seed, of_nothing(9)) as (case, _, _):
        yield from nothing_changes(case)


def held_nothing(seed: int) -> Verdicts:
    """A unit with a damaged row holds nobody by a row that it changed nothing in."""
    columns = (Column("K", "integer"), Column("D", "decimal", 5), Column("N", "integer"))
    database = Database([Table("TEST.T0", columns, ("K",))])
    for key in (1, 2):
        database.statement([Edit("TEST.T0", None, {"K": key, "D": 7, "N": 0})])
    database.rows = {
        name: {rid: {**row, "D": decimal(7)} for rid, row in rows.items()}
        for name, rows in database.rows.items()
    }
    history = History(database)
    rows = database.rows["TEST.T0"]
    first, second = rows
    damaged, other = history.begin(), history.begin()
    history.statement(damaged, [Edit("TEST.T0", first, dict(rows[first]))])
    history.statement(damaged, [Edit("TEST.T0", second, rows[second] | {"D": decimal(8)})])
    history.commit(damaged)
    history.statement(other, [Edit("TEST.T0", first, rows[first] | {"N": 5})])
    history.commit(other)
    with luw("held", seed, history=history, gaps=False, odd=False) as (case, site, _):
        record = site.log.records[1]
        image = site.bytes_of(history.records[1].change, history.records[1].change.after)
        body, at = bytearray(record.body), len(record.body) - len(image) + 8 + 4
        body[at] = 0xEE
        record.body = bytes(body)
        site.write([site.log.records], True)
        answer = case.again(*REDO)
        found = {case.number_of(name) for name in answer.units}
        yield verdict("held", found != {other.number}, f"writes u{found}: {answer.reason}")


def decimal(number: int) -> Any:
    from decimal import Decimal

    return Decimal(number)


# -- solidDB


def detected(seed: int) -> Verdicts:
    """The framing is found out, or the run refuses to guess."""
    with solid("detected", seed) as (case, site, _):
        site.source = site.source[: site.source.index("--framing")]
        answer = case.again(*REDO)
        if answer.code != 12 or "framing" not in answer.text:
            yield from check_redo(case, Options())


SPECIAL: dict[str, Callable[[int], Verdicts]] = {
    "db2luw descriptor": descriptor,
    "db2luw head": head,
    "db2luw held": held_nothing,
    "db2luw hole": hole,
    "db2luw nothing": luw_nothing,
    "soliddb detected": detected,
    "soliddb nothing": solid_nothing,
}
