"""What a replay tells its user: the plan, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from replay.changes.balance import Tally, balance_text
from replay.changes.position import UnitId, UnitPosition
from replay.changes.selection import AFTER_RANGE, BEFORE_RANGE
from replay.live.pace import Pace
from replay.live.position_store import Run
from replay.live.route import Route, Workload
from replay.live.transactions import Committed
from replay.logs import LogFile
from replay.output.bundle import changes_by_table

#: Statements a second where the target has no history yet: those of a database on the same machine,
#: by dialect; and of one that was not measured.
_USUAL_RATES = {
    "postgres": 50_000,
    "sqlite": 100_000,
    "duckdb": 2_000,
    "mariadb": 8_000,
    "mysql": 8_000,
}
_UNMEASURED = 1_000
#: A run of fewer statements says nothing about the speed of the target.
_TELLING_RUN = 1000
#: Lines of one kind; the rest is counted.
LINES = 20


def plan_lines(
    log: LogFile, url: str, route: Route, workload: Workload, tally: Tally, pace: Pace
) -> Iterator[str]:
    """What is to be done. ``url`` is the target without what must stay secret."""
    yield f"Replay of {log.source} into {url}"
    yield f"Way: {route}"
    verb = "applied" if route.forward else "taken back"
    if workload.units:
        yield (
            f"{workload.units:,} units of recovery with {workload.statements:,} statements are to"
            f" be {verb}:"
        )
    else:
        yield f"Nothing is to be {verb}"
    tables = changes_by_table(log, workload.changes)
    width = max([len(name) for name in tables] or [0])
    for name, counts in tables.items():
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in counts.items())
        yield f"  {name:<{width}}  {kinds}"
    yield _balance(log, route, workload, tally)
    for unit, reason in islice(tally.quarantined_units.items(), LINES):
        yield f"set aside: unit {UnitId(unit)}: {reason}"
    if len(tally.quarantined_units) > LINES:
        yield f"… {len(tally.quarantined_units) - LINES} more units set aside"
    yield from map(str, tally.findings[:LINES])
    if pace.in_bulk:
        yield (
            "Mode bulk: the changes of a transaction whose order nothing can tell come in together,"
            " before the others"
        )


def _balance(log: LogFile, route: Route, workload: Workload, tally: Tally) -> str:
    """The balance sheet of a route, which begins and ends at positions that no user gave: what is
    left out because of them, and what became statements and is not on it."""
    if route.forward:
        before, after, beside = "in the target already", AFTER_RANGE, "in the target already"
    else:
        before, after, beside = "stays in the target", "not in the target", "not in the target"
    said = {log.in_words(BEFORE_RANGE): before, log.in_words(AFTER_RANGE): after}
    skipped: Counter[str] = Counter()
    for reason, count in tally.skipped.items():
        skipped[said.get(reason, reason)] += count
    note = ""
    if workload.beside:
        note = (
            f", of which {workload.statements_beside:,} statements in {workload.beside:,} units are"
            f" {beside}"
        )
    return balance_text(replace(tally, skipped=skipped), note=note)


def estimate(dialect: str, statements: int, runs: Sequence[Run], seconds: float) -> str:
    """How long applying will take, after the latest of ``runs`` that tells; the statements were
    made in ``seconds``."""
    rates = [
        run.statements / run.seconds
        for run in runs
        if run.statements and run.seconds and run.statements >= _TELLING_RUN
    ]
    rate = rates[0] if rates else _USUAL_RATES.get(dialect, _UNMEASURED)
    source = "as in the last run" if rates else "as usual on one machine"
    return (
        f"Estimated time: {statements / rate:.1f} s at {rate:,.0f} statements a second, {source};"
        f" the statements were made in {seconds:.1f} s"
    )


def report_lines(
    committed: Committed,
    forward: bool,
    pace: Pace,
    loaded: int,
    sequences: Mapping[str, int],
    position: UnitPosition,
    seconds: float,
) -> Iterator[str]:
    """What was done. ``loaded``: the changes that came in together; ``sequences``: those that were
    moved, and to where."""
    verb = "applied" if forward else "taken back"
    if committed.units:
        yield (
            f"{committed.units:,} units and {committed.statements:,} statements {verb} in"
            f" {seconds:.1f} s ({committed.statements / max(seconds, 1e-9):,.0f} a second)"
        )
    else:
        yield f"Nothing was {verb}"
    if pace.in_bulk:
        yield f"{loaded:,} changes came in together, the others one by one"
    for name, value in sequences.items():
        yield f"moved sequence {name} to {value}"
    if committed.rejected:
        yield (
            f"{committed.rejected:,} changes were not applied as the log says; status --rejects"
            " F.sql writes them as a script, with the reasons"
        )
    if committed.retried:
        yield f"{committed.retried} transactions were tried again"
    yield f"The target stands at {position}"
