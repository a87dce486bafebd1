"""What logreplay makes of a log, compared with the row model: each check asks one question of a
:class:`~tests.model.case.Case` and gives verdicts."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.model.case import Answer, Case, Options, Verdict, compared, refused
from tests.model.compare import (
    Failed,
    State,
    difference,
    make_sqlite,
    rows_of_sqlite,
    run,
)
from tests.model.rows import (
    Change,
    Database,
    Footprint,
    Row,
    Table,
    Unit,
    Violation,
    closure,
    footprint,
    key_value,
    may_build,
    must_build,
    values,
)

#: Kinds of histories that hold today, of every family; and of some alone.
KINDS_BY_DEFAULT = (
    "plain", "keyless", "edges", "savepoint", "cascade", "reinsert", "shift", "swap", "circle",
    "takeover", "composite", "unique", "alike", "link", "idle",
)  # fmt: skip
KINDS_OF = {
    "logmaster": (*KINDS_BY_DEFAULT, "segments", "generations", "incomplete", "incomplete-keys"),
    "db2luw": (*KINDS_BY_DEFAULT, "float"),
    "soliddb": (*KINDS_BY_DEFAULT, "float"),
}


def enforced(case: Case) -> tuple[str, ...]:
    """What the target may enforce."""
    return ("none", "keys", *["foreign"] * any(table.foreign for table in case.tables))


def schema_for(case: Case, keys: str) -> list[str]:
    """Keys that are enforced must be known; without any, the seed says whether they are."""
    known = keys != "none" or case.seed % 2 == 0
    return ["--schema", str(case.schema)] if case.has_more_keys and known else []


def awkward(case: Case) -> bool:
    """Whether a unit gives a key to another row while children refer to it.

    On foreign keys that are looked at once, nothing right can be done for some of these.
    """
    database = case.history.latest_form()
    for unit in case.history.committed:
        moved: dict[tuple[Any, ...], set[int]] = {}
        for change in unit.effective:
            for child in case.tables:
                for foreign in child.foreign:
                    if foreign.parent != change.table.name:
                        continue
                    old = values(change.before, foreign.parent_columns)
                    new = values(change.after, foreign.parent_columns)
                    if old == new:
                        continue
                    for held in (old, new):
                        if held:
                            name = key_value(foreign.parent, foreign.parent_columns, held)
                            moved.setdefault(name, set()).add(change.rid)
        for change in unit.effective:
            database.apply(change)
        shared = {name for name, rids in moved.items() if len(rids) > 1}
        if shared & references(database):
            return True
    return False


def references(database: Database) -> set[tuple[Any, ...]]:
    return {
        key_value(foreign.parent, foreign.parent_columns, held)
        for table in database.tables.values()
        for foreign in table.foreign
        for row in database.rows[table.name].values()
        if (held := values(row, foreign.columns))
    }


def bearable(case: Case, verdict: Verdict, keys: str) -> Verdict:
    """A refusal, by name and before anything is written, where nothing right can be done."""
    if verdict.result == "refused" and keys == "foreign" and awkward(case):
        return Verdict(verdict.check, "ok")
    return verdict


def exchanged(case: Case, verdict: Verdict) -> Verdict:
    """A refusal where rows exchange a second key and nothing names foreign keys: none is removed
    that may have children; and of what goes over the drop of a table, whose rows would stay."""
    if "LR3012" in verdict.detail and not any(table.foreign for table in case.tables):
        return Verdict(verdict.check, "ok")
    if re.search("LR300[23]", verdict.detail) and any(
        table.incarnation > 1 for table in case.tables
    ):
        return Verdict(verdict.check, "ok")
    return verdict


# ---------------------------------------------------------------------------------------------
# Checks


def check_redo(case: Case, options: Options) -> Iterator[Verdict]:
    """Redo from the first state gives the last."""
    for keys in enforced(case):
        answer = case.ask("redo", "--dialect", "sqlite", *schema_for(case, keys))
        verdict = compared(case, f"redo {keys}", answer, case.initial, case.final, keys)
        yield bearable(case, verdict, keys)


def check_undo(case: Case, options: Options) -> Iterator[Verdict]:
    """Undo from the last state gives the first."""
    for keys in enforced(case):
        answer = case.ask("undo", "--dialect", "sqlite", *schema_for(case, keys))
        verdict = compared(case, f"undo {keys}", answer, case.final, case.initial, keys)
        yield bearable(case, verdict, keys)


def both_ways(case: Case, options: Options) -> Iterator[tuple[str, State, State]]:
    """The directions that are asked for, and from which rows to which."""
    states = {"redo": (case.initial, case.final), "undo": (case.final, case.initial)}
    for mode in options.modes:
        yield (mode, *states[mode])


def check_file(case: Case, options: Options) -> Iterator[Verdict]:
    """Replay into a SQLite file: to the end, and back to a unit."""
    reformed = any(table.incarnation > 1 for table in case.tables) or case.reformed
    units = [unit for unit in case.effective if case.position_of(unit)]
    if reformed or not units:
        return
    path = case.folder / "replayed.db"
    make_sqlite(case.tables, case.initial, path)
    middle = units[len(units) // 2]
    back = case.history.without(set(), middle.commit).state()
    steps = (("", case.final, []), (" back", back, ["--until-lrsn", case.position_of(middle)]))
    for step, rows, more in steps:
        answer = case.replayed(f"sqlite:///{path}?schema=test", *more)
        if answer.code not in (0, 4):
            detail = f"exit code {answer.code}: {answer.reason}"
            yield Verdict(f"replay file{step}", "refused", detail)
            return
        other = difference(case.tables, rows, rows_of_sqlite(case.tables, path))
        yield Verdict(f"replay file{step}", "wrong" if other else "ok", other)


def check_guard(case: Case, options: Options) -> Iterator[Verdict]:
    """The same with more in the WHERE, of which the seed says how much: it must find the same
    rows."""
    for keys in ("none", "keys"):
        for mode, first, last in both_ways(case, options):
            columns = ("guard", "all")[(case.seed + (mode == "undo")) % 2]
            words = ("--dialect", "sqlite", "--where-columns", columns, *schema_for(case, keys))
            answer = case.ask(mode, *words)
            yield compared(case, f"{mode} {columns} {keys}", answer, first, last, keys)


def check_upsert(case: Case, options: Options) -> Iterator[Verdict]:
    """With --upsert, once, twice, and over what is there already, in both directions.

    Foreign keys may not act meanwhile. Twice is asked of targets without unique keys only, if a
    value of one went from row to row: the program says that it may stop there.
    """
    if not case.has_all_keys:
        return
    for known in ("none", "keys"):
        keys = "primary" if known == "none" else known
        for mode, first, last in both_ways(case, options):
            answer = case.ask(mode, "--upsert", "--dialect", "sqlite", *schema_for(case, known))
            name = f"{mode} upsert {keys}"
            yield compared(case, name, answer, first, last, keys)
            if keys != "keys" or not any(table.unique for table in case.tables):
                yield compared(case, f"{name} twice", answer, first, last, keys, times=2)
                yield compared(case, f"{name} again", answer, last, last, keys)


def by_upserts(case: Case, keys: str, words: list[str]) -> tuple[str, list[str]]:
    """With ``--upsert``, and primary keys on the target, for every second history that has them."""
    if case.seed % 2 == 0 or not case.has_all_keys:
        return keys, words
    return "primary" if keys == "none" else keys, [*words, "--upsert"]


def check_select(case: Case, options: Options) -> Iterator[Verdict]:
    """A part of the log: by table, by position, by time, by unit."""
    units = [unit for unit in case.effective if case.position_of(unit)]
    if not units:
        return
    rng = random.Random(f"select {case.seed}")
    keys = rng.choice(("none", "keys"))
    words = ("--dialect", "sqlite", *schema_for(case, keys))

    table = rng.choice(case.tables)
    named = {change.table.name for unit in units for change in unit.effective}
    if table.name in named and "redo" in options.modes:
        wanted = dict(case.initial) | {table.name: case.final[table.name]}
        answer = case.ask("redo", "--table", table.name, *words)
        yield compared(case, f"redo table {keys}", answer, case.initial, wanted, keys)

    first, second = sorted(rng.choices(units, k=2), key=lambda unit: unit.commit)
    if any(table.incarnation > 1 for table in case.tables):
        return
    upto = case.history.without(set(), second.commit).state()
    before = case.history.without(set(), first.commit - 1).state()
    ends = {"lrsn": (case.position_of(first), case.position_of(second))}
    if case.seed % 2 and case.site.time(first) is not None:
        ends = {"time": (str(case.site.time(first)), str(case.site.time(second)))}
    for what, (low, high) in ends.items():
        for mode, start, end in (("redo", before, upto), ("undo", upto, before)):
            if mode not in options.modes:
                continue
            extra = ("--cascade", "force") if mode == "undo" else ()
            answer = case.ask(
                mode, f"--from-{what}", full(low), f"--until-{what}", full(high), *words, *extra
            )
            yield compared(case, f"{mode} {what} {keys}", answer, start, end, keys)

    unit = rng.choice(units)
    before = case.history.without(set(), unit.commit - 1).state()
    upto = case.history.without(set(), unit.commit).state()
    if "redo" in options.modes:
        answer = case.ask("redo", "--ur", case.site.urid(unit), *words)
        yield compared(case, f"redo unit {keys}", answer, before, upto, keys)
    if "undo" in options.modes:
        answer = case.ask("undo", "--ur", case.site.urid(unit), "--cascade", "force", *words)
        yield compared(case, f"undo unit force {keys}", answer, upto, before, keys)


def full(position: str) -> str:
    """A time with all its digits: a shorter one means the whole second."""
    return position if "." in position or ":" not in position else position + ".000000"


def check_cascade(case: Case, options: Options) -> Iterator[Verdict]:
    """Undo of one unit, with what builds on it refused or undone too."""
    units = case.effective
    if not units:
        return
    rng = random.Random(f"cascade {case.seed}")
    for unit in rng.sample(units, min(2, len(units))):
        known, more = case.known_keys(rng)
        words = ["--dialect", "sqlite", "--ur", case.site.urid(unit), *more]
        keys = rng.choice(("none", "keys"))
        if keys == "keys" and not known and any(t.unique for t in case.tables):
            keys = "none"
        keys, words = by_upserts(case, keys, words)
        must, may = case.closures({unit.number}, known)
        yield asked_for_one(case, unit, case.ask("undo", *words), must, may, keys)
        answer = case.ask("undo", "--cascade", "all", *words)
        yield left_out(
            case, f"undo all {keys}", answer, must, may, keys,
            gone={case.number_of(urid) for urid in answer.units} | {unit.number},
            before=case.final,
        )  # fmt: skip
    yield from asked_for_several(case, rng.sample(units, min(3, len(units))))


def asked_for_several(case: Case, units: Sequence[Unit]) -> Iterator[Verdict]:
    """--cascade all with several units."""
    numbers = {unit.number for unit in units}
    asked = [word for unit in units for word in ("--ur", case.site.urid(unit))]
    more = [] if case.site.tells_keys else schema_for(case, "keys")
    answer = case.ask("undo", "--cascade", "all", "--dialect", "sqlite", *asked, *more)
    must, may = case.closures(numbers, bool(more) or case.site.tells_keys)
    gone = {case.number_of(name) for name in answer.units} | numbers
    yield left_out(case, "undo several", answer, must, may, "none", gone, before=case.final)


def check_nonconflicting(case: Case, options: Options) -> Iterator[Verdict]:
    """Undo of one unit but for rows that later units built on."""
    if not case.effective or not case.site.follows_rows:
        return
    rng = random.Random(f"non-conflicting {case.seed}")
    unit = rng.choice(case.effective)
    known, more = case.known_keys(rng)
    words = ["--dialect", "sqlite", "--ur", case.site.urid(unit), *more]
    keys = rng.choice(("none", "keys"))
    if keys == "keys" and not known and any(t.unique for t in case.tables):
        keys = "none"
    answer = case.ask("undo", "--cascade", "non-conflicting", *words)
    verdict = rows_that_stay(case, unit, answer, known, keys)
    yield bearable(case, verdict, "foreign" if known else keys)


def asked_for_one(
    case: Case, unit: Unit, answer: Answer, must: set[int], may: set[int], keys: str
) -> Verdict:
    """--cascade none: refused where something builds on the unit, and only there."""
    check = f"undo none {keys}"
    if answer.code not in (0, 4):
        if len(may - case.barren() | {unit.number}) > 1:
            return Verdict(check, "ok")
        return refused(check, answer) or Verdict(check, "refused")
    if len(must) > 1 and (values_left := without_by_values(case, {unit.number})):
        return compared(case, check, answer, case.final, values_left, keys)
    if len(must) > 1:
        others = sorted(must - {unit.number})
        return Verdict(check, "wrong", f"undone, but u{others} depend on u{unit.number}")
    wanted = without(case, {unit.number})
    if wanted is None:
        return Verdict(check, "wrong", f"the others can't be without u{unit.number}")
    return compared(case, check, answer, case.final, wanted, keys)


def without(case: Case, gone: set[int]) -> State | None:
    try:
        return case.history.without(gone).state()
    except (Violation, KeyError):
        return None


def without_by_values(case: Case, gone: set[int]) -> State | None:
    """The rows without some units where rows are their keys, and the log does not say which row
    became which: what each unit leaves in the balance. None where a row would not be there."""
    if case.site.follows_rows or any({*t.key} < {*t.names} for t in case.tables):
        return None
    left = {
        name: Counter(tuple(row.items()) for row in some) for name, some in case.initial.items()
    }
    for unit in case.history.committed:
        if unit.number not in gone:
            for change in unit.effective:
                for image, sign in ((change.before, -1), (change.after, 1)):
                    if image is not None:
                        left[change.table.name][tuple(image.items())] += sign
            if any(count not in (0, 1) for some in left.values() for count in some.values()):
                return None
    return {name: [dict(row) for row in some.elements()] for name, some in left.items()}


def left_out(
    case: Case, check: str, answer: Answer, must: set[int], may: set[int], keys: str,
    gone: set[int], before: State, set_aside: bool = False,
) -> Verdict:  # fmt: skip
    """Units went with others: all that must, none without a reason, and the rows of the rest."""
    refusal = refused(check, answer)
    if refusal and not (set_aside and answer.written):
        return refusal
    idle, turning = case.idle(), case.turning()
    gone = (gone - turning) | ((must | case.named_consequences(answer)) & turning)
    if must - gone - idle and (values_left := without_by_values(case, gone)):
        return compared(case, check, answer, before, values_left, keys, set_aside=set_aside)
    if must - gone - idle:
        kept = sorted(must - gone - idle)
        return Verdict(check, "wrong", f"u{kept} should have gone too, only u{sorted(gone)} went")
    if gone - may - idle:
        return Verdict(check, "refused", f"u{sorted(gone - may - idle)} went without a reason")
    gone |= may & idle  # a script may have no statement of them
    wanted = without(case, gone)
    if wanted is None:
        return Verdict(check, "wrong", f"the others can't be without u{sorted(gone)}")
    return compared(case, check, answer, before, wanted, keys, set_aside=set_aside)


def check_except(case: Case, options: Options) -> Iterator[Verdict]:
    """Redo of all but one unit, and what builds on it."""
    units = case.effective
    if len(units) < 2:
        return
    rng = random.Random(f"except {case.seed}")
    unit = rng.choice(units)
    known, more = case.known_keys(rng)
    words = ["--dialect", "sqlite", "--except", case.site.urid(unit), *more]
    keys = rng.choice(("none", "keys"))
    if keys == "keys" and not known and any(t.unique for t in case.tables):
        keys = "none"
    keys, words = by_upserts(case, keys, words)
    must, may = case.closures({unit.number}, known)
    answer = case.ask("redo", *words)
    yield left_out(case, f"redo except {keys}", answer, must, may, keys,
                   case.gone_from(answer), case.initial)  # fmt: skip


def rows_that_stay(case: Case, unit: Unit, answer: Answer, known: bool, keys: str) -> Verdict:
    """--cascade non-conflicting: rows that later units built on stay, the others are undone.

    Where there is a reason to say either, both are right.
    """
    check = f"undo non-conflicting {keys}"
    refusal = refused(check, answer)
    if refusal:
        return refusal
    later = [
        footprint(other.effective, known)
        for other in case.history.committed
        if other.commit > unit.commit
    ]
    groups = row_groups(unit.effective, known)
    certain: list[int] = []
    either: list[int] = []
    taken = {id(group): any(may_build(footprint(group, known), other) for other in later)
             for group in groups}  # fmt: skip
    for group in groups:
        free = not any(taken[id(other)] for other in with_its_causes(groups, group, unit))
        for rid in {change.rid for change in group}:
            own = footprint([c for c in group if c.rid == rid], known)
            if free and not any(c.table.name in case.reformed for c in group):
                certain.append(rid)
            elif not any(must_build(own, other) for other in later):
                either.append(rid)
    if len(either) > 8:
        return Verdict(check, "ok")
    net = footprint(unit.effective, known).net
    tables = case.tables if keys == "none" else case.enforceable
    try:
        found = run(tables, case.final, answer.scripts, keys)
    except Failed as failure:
        return Verdict(check, "failed", f"{keys}: {failure}")
    nearest = ""
    for count in range(len(either), -1, -1):
        for chosen in itertools.combinations(either, count):
            wanted = undone(case.history.database, net, [*certain, *chosen])
            other = difference(tables, wanted, found)
            if not other:
                return Verdict(check, "ok")
            nearest = nearest or other
    return Verdict(check, "wrong", f"{keys}, exit code {answer.code}\n{nearest}")


def row_groups(changes: Sequence[Change], known: bool) -> list[list[Change]]:
    """A unit's changes, those that have to do with one another together."""
    groups: list[list[Change]] = []
    for change in changes:
        own = footprint([change], known)
        joined = [
            group for group in groups
            if any(c.rid == change.rid for c in group) or linked(footprint(group, known), own)
        ]  # fmt: skip
        groups = [group for group in groups if group not in joined]
        groups.append([*itertools.chain(*joined), change])
    return groups


def with_its_causes(
    groups: list[list[Change]], group: list[Change], unit: Unit
) -> list[list[Change]]:
    """The groups that are undone or left with a group: what one cause did (a statement, and what
    followed by RI) is undone as a whole or not at all."""
    causes: list[list[Change]] = []
    for change in unit.effective:
        last = causes[-1][-1] if causes else None
        joins = last is not None and (
            change.origin == "R"
            or (last.origin == " " and (last.op, last.table.name) == (change.op, change.table.name))
        )
        causes[-1].append(change) if joins else causes.append([change])
    causes = [cause for cause in causes if any(c.origin == "R" for c in cause)]
    out = [group]
    while True:
        inside = {id(change) for entry in out for change in entry}
        reached = {id(c) for cause in causes if inside & {id(c) for c in cause} for c in cause}
        more = [g for g in groups if g not in out and reached & {id(c) for c in g}]
        if not more:
            return out
        out += more


def linked(one: Footprint, other: Footprint) -> bool:
    return bool(
        one.keys & other.keys
        or one.images & other.images
        or one.references & (other.keys | other.references)
        or one.keys & other.references
    )


def undone(
    database: Database, net: dict[int, tuple[Table, Row | None, Row | None]], rids: list[int]
) -> State:
    """The rows where the net change of some rows is taken back."""
    rows = {name: dict(held) for name, held in database.rows.items()}
    for rid in rids:
        table, before, after = net[rid]
        held = rows[table.name]
        if before is None:
            held.pop(rid, None)
        elif after is None:
            held[rid] = database.widened(table, before)
        elif rid in held:
            held[rid] = held[rid] | {n: before[n] for n in after if before.get(n) != after[n]}
    return {name: list(held.values()) for name, held in rows.items()}


def check_untold(case: Case, options: Options) -> Iterator[Verdict]:
    """Without --schema nobody knows of foreign keys: an answer must say so."""
    if not case.effective or case.site.tells_keys:
        return
    rng = random.Random(f"untold {case.seed}")
    urid = case.site.urid(rng.choice(case.effective))
    for mode, word in (("undo", "--ur"), ("redo", "--except")):
        answer = case.ask(mode, "--dialect", "sqlite", word, urid)
        name = f"{mode} {word} untold"
        if answer.code == 0:
            yield Verdict(name, "wrong", "exit code 0, and not a word about foreign keys")
        else:
            yield Verdict(name, "ok")


def check_ri(case: Case, options: Options) -> Iterator[Verdict]:
    """--ri skip on a target whose foreign keys cascade."""
    if not case.site.tells_causes or not any(table.foreign for table in case.tables):
        return
    words = ("--ri", "skip", "--dialect", "sqlite", "--schema", str(case.schema))
    answer = case.ask("redo", *words)
    verdict = compared(case, "redo --ri skip", answer, case.initial, case.final, "cascade")
    yield bearable(case, verdict, "foreign")


def check_incomplete(case: Case, options: Options) -> Iterator[Verdict]:
    """Incomplete units, and what builds on them, stay out; nothing else does."""
    incomplete = {u.number for u in case.history.committed if u.incomplete}
    if not incomplete:
        return
    # what is missing is in the model's changes: a unit that builds on it must stay out
    must, may = case.closures(incomplete, schema=True)
    flagged = {u.number for u in case.history.committed if u.dependent or u.incomplete}
    may |= case.closures(flagged, schema=True)[1]
    words = ["--dialect", "sqlite"]
    if case.has_more_keys:
        words += ["--schema", str(case.schema)]
    answer = case.ask("redo", *words)
    gone = case.gone_from(answer)
    # whether rows still referred to what a unit without a flag deleted, the log cannot tell: that
    # unit is named
    untold = {case.number_of(urid) for urid in named_untold(answer)}
    order = [u for u in case.history.committed if u.number not in untold]
    least = closure(order, incomplete, must_build, case.footprints(True)) if untold else must
    yield left_out(case, "redo incomplete", answer, least, may, "none", gone,
                   case.initial, set_aside=True)  # fmt: skip
    first = without(case, gone)
    if first is None or not answer.written:
        return
    back = case.ask("undo", *words)
    yield compared(case, "undo of what redo did", back, first, case.initial, "none", set_aside=True)
    there = proven_by_the_state(case)
    for name, place in case.states(case.initial):
        answer = case.ask("redo", "--baseline", place, *words)
        gone, check = case.gone_from(answer), f"redo incomplete, baseline {name}"
        yield left_out(case, check, answer, must, may, "none", gone, case.initial,
                       set_aside=True)  # fmt: skip
        if answer.written and gone & there - must:
            held = sorted(gone & there - must)
            yield Verdict(check, "refused", f"u{held} are held, and all that they found is right")


def check_flags(case: Case, options: Options) -> Iterator[Verdict]:
    """By the log's flags alone: the flagged units stay out, no others, and these are as logged."""
    gone = {u.number for u in case.history.committed if u.dependent or u.incomplete}
    if not gone or (wanted := without(case, gone)) is None:
        return
    words = ["--incomplete", "quarantine", "--dialect", "sqlite", "--schema", "none"]
    both = {"none": words} | dict([by_upserts(case, "none", words)])
    for keys, words in both.items():
        answer, check = case.ask("redo", *words), f"redo by flags {keys}"
        yield compared(case, check, answer, case.initial, wanted, keys, set_aside=True)
        if lost := case.gone_from(answer) - gone - case.idle():
            yield Verdict(check, "refused", f"u{sorted(lost)} are set aside, without a flag")


def named_untold(answer: Answer) -> list[str]:
    """URIDs that a warning names of units whose references nothing proves."""
    said = [line for line in answer.text.splitlines() if "rows that others may refer to" in line]
    return [urid for line in said for urid in re.findall(r"\b([0-9A-F]{20})/\d", line)]


def proven_by_the_state(case: Case) -> set[int]:
    """Flagged units that alone could be proven: those of a history of which nothing is missing and
    that touch what nobody touched before."""
    out: set[int] = set()
    seen: list[Footprint] = []
    prints = case.footprints(True)
    for unit in case.history.committed:
        own = prints[unit.number]
        alone = not any(may_build(other, own) for other in seen)
        fresh = all(c.rid not in {r.change.rid for u in case.history.committed
                    if u.number != unit.number and u.begin < unit.commit for r in u.records}
                    for c in unit.effective)  # fmt: skip
        if unit.dependent and alone and fresh and len({c.rid for c in unit.effective}) == len(
            unit.effective
        ) and not any(t.foreign for t in case.tables):  # fmt: skip
            out.add(unit.number)
        seen.append(own)
    return out


def check_account(case: Case, options: Options) -> Iterator[Verdict]:
    """The balance sheet closes, every record is read, and exit code 0 has nothing set aside."""
    answer = case.ask("redo", "--dialect", "sqlite", *schema_for(case, "none"))
    if not answer.written:
        return
    balance = answer.manifest["balance"]
    if not balance["closes"]:
        yield Verdict("account", "wrong", f"the balance does not close: {balance}")
    elif answer.code == 0 and (balance["quarantined"] or balance["failed"]):
        yield Verdict("account", "wrong", f"exit code 0: {balance}")
    else:
        yield Verdict("account", "ok")


Check = Callable[[Case, Options], Iterator[Verdict]]

CHECKS: dict[str, Check] = {
    "redo": check_redo,
    "undo": check_undo,
    "file": check_file,
    "guard": check_guard,
    "upsert": check_upsert,
    "select": check_select,
    "cascade": check_cascade,
    "nonconflicting": check_nonconflicting,
    "except": check_except,
    "untold": check_untold,
    "ri": check_ri,
    "account": check_account,
}
"""Checks of histories whose units are all complete."""

INCOMPLETE_CHECKS: dict[str, Check] = {
    "incomplete": check_incomplete,
    "flags": check_flags,
    "account": check_account,
}

ALL_CHECKS = CHECKS | INCOMPLETE_CHECKS

#: The checks of each direction; those of both are asked with ``Options.modes``.
CHECKS_OF = {
    "redo": ("redo", "file", "guard", "upsert", "select", "except", "ri", "account",
             "incomplete", "flags"),
    "undo": ("undo", "guard", "upsert", "select", "cascade", "nonconflicting", "untold"),
}  # fmt: skip


def run_case(
    family: str, seed: int, kind: str, checks: Sequence[str], options: Options
) -> tuple[list[Verdict], str]:
    """All verdicts of a case, and the case in words where one of them is bad."""
    case = Case.drawn(seed, kind, family)
    verdicts: list[Verdict] = []
    try:
        if not case.effective:
            return [], ""
        able = INCOMPLETE_CHECKS if kind.startswith("incomplete") else CHECKS
        for name in checks:
            if name in able:
                verdicts.extend(exchanged(case, one) for one in able[name](case, options))
        return verdicts, case.describe() if any(v.bad for v in verdicts) else ""
    finally:
        case.close()
