"""Checks of the target before anything is written: that no other replay is under way, that
it was replayed with this log's source and these options, that its tables take the changes, and that
this user may write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import tenacity

from replay.changes.balance import Tally
from replay.changes.catalog import TableVersion
from replay.changes.choices import Mode
from replay.changes.envelope import ROW_CHANGES, Change
from replay.changes.options import ScriptOptions
from replay.changes.position import UnitId
from replay.changes.selection import Selection
from replay.errors import InputError, Refusal, TargetError
from replay.live import own_tables
from replay.live.error_policy import ErrorPolicy
from replay.live.hazard_refusals import table_problems, value_limits
from replay.live.position_store import TargetPosition, digest_of
from replay.live.route import Route
from replay.live.transaction_size import ApplyMode, Pace
from replay.logs import LogFile
from replay.pipeline.plan import Plan
from replay.redaction import public
from replay.targets import Session, TableFacts, Target
from replay.targets.hazards import HazardKind
from sqlgen.render_options import shown_columns
from sqlgen.schema import Table
from sqlgen.type_capacity import ValueLimit

#: How long to wait for a lock that a killed replay's connection may still hold.
LOCK_SECONDS = 10.0
_CLEAN = (
    "Bring the target to a known state first, for example from a copy; then forget the old position"
    " with: {}"
)

#: What a mapping is read from.
_MAPPING = " mapping (--mapping, --mask-key-file: the file and the key as they were)"

#: What a target says about the tables of a log, by OWNER.NAME; None for a table that it lacks.
Facts = Mapping[str, TableFacts | None]


def connect_locked(target: Target, url: str, enforced: bool) -> Session:
    """A session that holds the lock of all replays. ``enforced``: whether the target's triggers and
    foreign keys act. Raises TargetError (LR4004) when another replay has the lock."""
    session = target.connect(url)
    try:
        session.enforce(enforced)
        waiting = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda locked: not locked),
            stop=tenacity.stop_after_delay(LOCK_SECONDS),
            wait=tenacity.wait_fixed(0.2),
            retry_error_callback=lambda _: False,
        )
        if not waiting(session.lock):
            hint = (
                "Wait until it has ended. The database's list of sessions shows it with the"
                " application name logreplay"
            )
            raise TargetError(
                "LR4004", f"another replay holds the lock of {public(url)}", hint=hint
            )
    except BaseException:
        session.close()
        raise
    return session


# -- the same log, the same options
# -------------------------------------------------------------------------------------------------


def identity_of(selection: Selection, options: ScriptOptions) -> dict[str, Any]:
    """What must stay the same from one replay of a target to the next: everything that decides
    which changes come, and as what."""
    chosen = replace(
        selection, from_position=None, until_position=None, from_time=None, until_time=None
    ).describe()
    policy = options.render.policy
    return {
        "selection": chosen,
        "names": options.names,
        "nul": policy.nul,
        "timestamps": policy.timestamps,
        "char_padding": policy.char_padding,
        **_mapping_said(options),
    }


def check_identity(
    stored: TargetPosition | None, source: str, identity: Mapping[str, Any], session: Session
) -> None:
    """Raises Refusal (LR4005) where the target was replayed from another kind of log, or with other
    options."""
    if stored is None:
        return
    hint = _CLEAN.format(session.forget)
    if stored.source != source:
        raise Refusal(
            "LR4005",
            f"found a log of {source}; the target was replayed from {stored.source}",
            hint=hint,
        )
    if stored.digest != digest_of(identity):
        before, now = _flat(stored.options), _flat(identity)
        different = [
            f"{name}: {before.get(name, 'not given')} before, {now.get(name, 'not given')} now"
            for name in sorted({*before, *now})
            if before.get(name) != now.get(name)
        ]
        mapped = before.get("mapping") != now.get("mapping")
        raise Refusal(
            "LR4005",
            f"found other options than the target was replayed with: {'; '.join(different)}",
            hint=f"Use the same{_MAPPING if mapped else ''}. {hint}",
        )


def check_mapping(stored: TargetPosition | None, options: ScriptOptions) -> None:
    """Raises Refusal (LR4005) where the target was replayed with another mapping."""
    if stored is None:
        return
    before, now = stored.options.get("mapping"), _mapping_said(options).get("mapping")
    if before != now:
        raise Refusal(
            "LR4005",
            f"found another mapping than the target was replayed with: {before or 'none'} before,"
            f" {now or 'none'} now",
            hint=f"Use the same{_MAPPING}",
        )


def _mapping_said(options: ScriptOptions) -> dict[str, str]:
    """What an identity has of a mapping."""
    mapping = options.mapping
    return {} if mapping is None else {"mapping": f"SHA-256 {mapping.digest}"}


def _flat(options: Mapping[str, Any]) -> dict[str, Any]:
    flat = {name: value for name, value in options.items() if not isinstance(value, dict)}
    for value in options.values():
        flat |= value if isinstance(value, dict) else {}
    return flat


# -- what the route and the target do not allow
# -------------------------------------------------------------------------------------------------


def refuse_moved(
    planned: TargetPosition | None,
    stored: TargetPosition | None,
    route: Route,
    pending: frozenset[UnitId],
) -> None:
    """Raises Refusal (LR4007) where the target no longer is what the plan was made for, in which it
    was as ``planned``. ``pending`` are the units set aside but for those of this run."""
    was = route.position if planned is None else planned.position
    if stored is not None and stored.position != was:
        found = f"the target stands at {stored.position} now; it was {was}"
    elif strange := pending - route.pending:
        found = f"unit {min(strange)} (of {len(strange):,}) was quarantined since"
    else:
        return
    raise Refusal("LR4007", f"{found}, and the plan does not know", hint="Run replay again")


def refuse_mode(session: Session, route: Route, pace: Pace, policy: ErrorPolicy) -> None:
    """Raises Refusal (LR4009) where the target, or the way, does not take what was asked."""
    if policy.watches and not session.savepoints:
        raise Refusal(
            "LR4009",
            f"found --on for a target of kind {session.dialect}, which has no savepoints; expected"
            " none",
            hint="Leave --on out",
        )
    if pace.mode is ApplyMode.STRICT:
        return
    asked = f"--mode {pace.mode.value}"
    hint = f"Leave {asked} away: strict order does it"
    if not session.merges:
        raise Refusal(
            "LR4009",
            f"found {asked} for a target of kind {session.dialect}; expected one that supports"
            " it, such as PostgreSQL",
            hint=hint,
        )
    if not route.forward:
        raise Refusal(
            "LR4009", f"found {asked} for a replay backward; expected a replay forward", hint=hint
        )


def refuse_incomplete_units(route: Route, tally: Tally) -> None:
    """Raises Refusal (LR4007) on a way back for a unit that was applied and that this log has
    incomplete."""
    if route.forward:
        return
    for octets, reason in tally.quarantined_units.items():
        unit = UnitId(octets)
        if unit not in route.pending:
            raise Refusal(
                "LR4007",
                f"unit {unit} is in the target, and this log cannot take it back: {reason}",
                hint="Use the log that it was applied from",
            )


def refuse_unheld_values(tally: Tally) -> None:
    """Raises Refusal (LR4008) where nothing is wrong but values that the target does not hold."""
    if tally.findings and all(finding.code == "LR3001" for finding in tally.findings):
        raise Refusal(
            "LR4008",
            f"the target does not hold a value of the log: {tally.findings[0]}",
            hint=f"{tally.failed:,} such changes. Nothing was written",
        )


def refuse_problems(tally: Tally, problems: list[str]) -> None:
    """Raises Refusal (LR4008) for the first of the problems, InputError (LR2016) for a log that is
    damaged."""
    if problems:
        more = f" ({len(problems) - 1} more, shown above)" if len(problems) > 1 else ""
        raise Refusal("LR4008", f"{problems[0]}{more}", hint="Nothing was written")
    refuse_unheld_values(tally)
    if tally.failed or tally.finding_count or tally.outcomes != tally.read:
        finding = str(tally.findings[0]) if tally.findings else "the balance sheet does not close"
        hint = (
            "Nothing was written. Make or transfer the log again, or leave the units out by a"
            " selection that you can answer for"
        )
        raise InputError(
            "LR2016",
            f"the log is damaged, and later changes may need what its damaged units did: {finding}",
            hint=hint,
        )


# -- tables
# -------------------------------------------------------------------------------------------------


def table_facts(
    session: Session, log: LogFile, selection: Selection, options: ScriptOptions
) -> Facts:
    """What the target says about the selected tables of the log. A table of which only a statement
    that is noted speaks has no schema, and no rows: nothing is asked about it."""
    taken = log.catalog.taken_by(selection.takes_tables)
    return _facts_of(
        session,
        options,
        [
            version
            for version in log.catalog.versions
            if version.table.schema and taken[version.index]
        ],
    )


def _facts_of(session: Session, options: ScriptOptions, versions: Iterable[TableVersion]) -> Facts:
    """What the target says about the tables of these versions, of each by the first of them."""
    places: dict[str, tuple[str, str]] = {}
    for version in versions:
        places.setdefault(version.name, options.place(version.table))
    found = session.facts_of(list(dict.fromkeys(places.values())))
    return {name: found[place] for name, place in places.items()}


def refuse_altered(
    session: Session, log: LogFile, tally: Tally, options: ScriptOptions, planned: Facts
) -> None:
    """Raises Refusal (LR4007) where a table that is about to be changed is no longer what it was
    when the plan was made: it has other columns, types or keys, or acts by itself. Tables whose
    structure the log itself changes are not asked: how far that went is not known here."""
    names = {log.catalog.versions[version].name for version in changed_versions(log, tally)}
    names -= _altered(log, tally)
    versions = [version for version in log.catalog.versions if version.name in names]
    for name, facts in _facts_of(session, options, versions).items():
        if found := _alteration(planned.get(name), facts):
            raise Refusal(
                "LR4007",
                f"{name}: {found} since the plan was made, which does not know it",
                hint="Run replay again",
            )


def _alteration(planned: TableFacts | None, now: TableFacts | None) -> str:
    """How a table differs from what was planned with; empty where it does not."""
    if planned is None or now is None:
        return "" if planned is now else f"the table {'came' if planned is None else 'went'}"
    before, after = set(planned.hazards), set(now.hazards)
    for verb, hazards in (("came", after - before), ("went", before - after)):
        if hazards:
            listed = sorted(f"{hazard.kind}: {hazard.what}" for hazard in hazards)
            return f"what the table does by itself changed ({', '.join(listed)} {verb})"
    for what, one, other in (
        ("columns", planned.columns, now.columns),
        ("types", planned.holdings, now.holdings),
        ("computed columns", planned.generated, now.generated),
        ("numbered columns", planned.identity, now.identity),
        ("unique keys", set(planned.unique_keys), set(now.unique_keys)),
        ("foreign keys", set(planned.foreign_keys), set(now.foreign_keys)),
        ("indexes, triggers or partitions", planned.movable, now.movable),
        ("functions in checks and computed columns", planned.calls, now.calls),
        ("privileges", planned.missing_privileges, now.missing_privileges),
    ):
        if one != other:
            return f"the table's {what} changed"
    return ""


def limits_of(
    log: LogFile, facts: Facts, options: ScriptOptions
) -> dict[int, Mapping[str, ValueLimit]]:
    """What values the target's columns hold, where their types alone do not tell: table version ->
    column -> limit. Of tables that may change on the way it cannot be said before."""
    generations = Counter(version.name for version in log.catalog.versions)
    limits: dict[int, Mapping[str, ValueLimit]] = {}
    for number, version in enumerate(log.catalog.versions):
        table = facts.get(version.name)
        if log.has_structure and generations[version.name] > 1:
            continue
        if table is not None and (some := value_limits(version.table, table, options)):
            limits[number] = some
    return limits


def problems_of(
    plan: Plan,
    log: LogFile,
    tally: Tally,
    facts: Facts,
    session: Session,
    options: ScriptOptions,
    enforced: bool,
    accepted: frozenset[str] = frozenset(),
) -> list[str]:
    """Why the target as it is would not take the changes, or change them: one line for each reason.
    Of tables that the changes themselves make or alter nothing is asked that they bring about.
    ``options``: as the user gave them. ``accepted``: codes of what a user answers for."""
    problems: list[str] = []
    altered = _altered(log, tally)
    comes_in = Change.INSERT if plan.mode is Mode.REDO else Change.DELETE
    for version in changed_versions(log, tally):
        name, title = log.catalog.versions[version].name, log.catalog.versions[version].title
        table = facts.get(name)
        if table is None:
            if name not in altered:
                place = plan.options.place(log.catalog.versions[version].table)
                problems.append(f"{title}: {absence(session, *place)}")
            continue
        if not any(hazard.kind is HazardKind.NO_TABLE for hazard in table.hazards):
            problems += _unsuited(plan, log, version, table, name in altered)
        if name in altered:
            table = replace(table, holdings=())
        problems += table_problems(
            title,
            log.catalog.versions[version].table,
            table,
            plan,
            options.render,
            enforced,
            accepted,
            name not in altered and (version, comes_in) in tally.changes,
        )
    problems = list(dict.fromkeys(problems))
    if altered and not session.alters:
        problems.append(
            "the log changes tables' structure, and the target ends its transaction at such a"
            " statement. Scripts have such changes (logreplay redo); or leave these tables out"
            " (--exclude-table)"
        )
    return problems


def _unsuited(
    plan: Plan, log: LogFile, version: int, facts: TableFacts, altered: bool
) -> list[str]:
    """What of a table does not suit the changes of one version of it."""
    name, table = log.catalog.versions[version].name, log.catalog.versions[version].table
    title = log.catalog.versions[version].title
    problems: list[str] = []
    absent = _absent(plan, table, facts)
    if absent and not altered:
        problems.append(
            f"{title}: the target's table has no column {', '.join(absent)}. Add it, or leave it"
            " out (--exclude-columns)"
        )
    # Which of its forms an altered table has now is told by its columns. What identifies rows of
    # the others, what is done to the table brings about.
    forms = [table]
    if altered:
        known = [one.table for one in log.catalog.versions if one.name == name]
        forms = [form for form in known if not _absent(plan, form, facts)]
    keys = [{plan.options.spelled(column) for column in form.key} for form in forms]
    lacking = [key for key in keys if key and not any(set(k) <= key for k in facts.unique_keys)]
    if lacking and len(lacking) == len(keys):
        problems.append(
            f"{title}: no unique key of the target lies within {', '.join(sorted(lacking[0]))},"
            " which identifies rows in the log. Make one: a primary key, or a unique index without"
            " a condition"
        )
    if facts.missing_privileges:
        problems.append(f"{title}: this user may not {', '.join(facts.missing_privileges)}")
    return problems


def _absent(plan: Plan, form: Table, facts: TableFacts) -> list[str]:
    """The columns of a form of a table that the target's table lacks, but for excluded ones."""
    return [
        column.name
        for column in shown_columns(form, plan.options.render)
        if plan.options.spelled(column.name) not in facts.columns
    ]


def _altered(log: LogFile, tally: Tally) -> frozenset[str]:
    """The tables whose structure the changes of a run change."""
    return frozenset(
        log.catalog.versions[version].name
        for version, change in tally.changes
        if change == Change.STRUCTURE
    )


def refuse_read_only(session: Session) -> None:
    """Raises Refusal (LR4010) for a server, or a file, that takes no changes."""
    if reason := session.read_only():
        raise Refusal("LR4010", f"found a target that cannot be replayed into: {reason}")


def changed_versions(log: LogFile, tally: Tally) -> list[int]:
    """The table versions that changes are of, in their order. A table of which only a statement
    speaks that is noted has no schema, and is none of them: nothing of it reaches the target."""
    versions = sorted({version for version, _ in tally.changes})
    return [version for version in versions if log.catalog.versions[version].table.schema]


def missing_rights(session: Session, plan: Plan, log: LogFile, tally: Tally) -> list[str]:
    """The rights that this user lacks: one line for each table, and for our own."""
    problems = []
    emptied: dict[int, bool] = {}
    for version, change in tally.changes:
        empties = change not in ROW_CHANGES and change != Change.STRUCTURE
        emptied[version] = emptied.get(version, False) or empties
    for version in changed_versions(log, tally):
        empties = emptied[version]
        table = log.catalog.versions[version].table
        if missing := session.missing_rights(*plan.options.place(table), empties):
            problems.append(
                f"{log.catalog.versions[version].title}: this user lacks {', '.join(missing)}"
            )
    problems = list(dict.fromkeys(problems))
    if missing := session.missing_for_own(own_tables.TABLES):
        problems.append(
            f"the position: this user lacks {', '.join(missing)} (ask a user with the CREATE"
            " right to run logreplay prepare)"
        )
    return problems


def absence(session: Session, schema: str, table: str) -> str:
    """Why a target has no table of this name, and what it has that comes near."""
    alike = session.alike(table)
    others = ", ".join(f"{other}.{name}" for other, name in alike[:3])
    wanted = (schema.lower(), table.lower())
    if any((other.lower(), name.lower()) == wanted for other, name in alike):
        return (
            f"the target has {others}, and the log's table is {schema}.{table} there: upper and"
            " lower case differ (--names chooses)"
        )
    unseen = "" if session.shows_all else ", or this user has no right on it and is not shown it"
    there = f"; there is {others}" if others else ""
    remedy = "Make it (logreplay ddl has its definition), or leave it out (--exclude-table)"
    if others and (named := session.otherwise_called(schema)):
        remedy = named
    return f"the target has no such table ({schema}.{table}){unseen}{there}. {remedy}"
