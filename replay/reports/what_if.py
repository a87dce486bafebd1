"""What an undo of some units of recovery takes: totals first, then the dependent units and why they
are, and the two ways there with their commands."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from replay.changes import order
from replay.changes.choices import CascadeMode, Mode
from replay.changes.envelope import Change
from replay.changes.notation import CHOICES
from replay.changes.position import unit_of
from replay.changes.selection import Selection, limits, unit_text
from replay.changes.units import unit_column
from replay.csv_states import CsvForm
from replay.dependencies.analysis import Subgraph
from replay.dependencies.baseline import state_differences
from replay.dependencies.cascade import Consequences, consequences, of_units
from replay.dependencies.links import LINK_WORDS, Link
from replay.dependencies.why_held import key_texts
from replay.errors import UsageError, counted
from replay.live import target_state
from replay.output.run_plan import analysis_of
from replay.pipeline.extent import refuse_other_run, unknown_units
from replay.pipeline.request import Demand, make_request
from replay.reports.layout import preformatted, table_lines
from replay.reports.log_queries import Asked
from replay.reports.undo_commands import undo_words

#: Units that are listed on a terminal unless all are asked for.
LISTED = 40
#: The columns of the table of dependents.
COLUMNS = ("unit", "committed", "who", "table", "key", "depends_on", "why", "step")


@dataclass(frozen=True)
class WhatIf:
    """What an undo of some work takes: the ``answer`` of :func:`answer_of`, ``warnings`` and
    ``notes``. ``str`` prints it."""

    answer: Mapping[str, Any]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def dependents(self) -> list[dict[str, Any]]:
        """The units that depend on it, a line each."""
        return list(self.answer["dependents"])

    def __str__(self) -> str:
        return what_if_text(self.answer)

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def what_if_of(
    asked: Asked, selection: Selection, baseline: str | None = None, csv: CsvForm | None = None
) -> WhatIf:
    """What an undo of a selection takes; ``baseline``: the folder or URL of the state of now,
    ``csv`` how its files are written.
    UsageError LR1001 where nothing is selected, LR1004 where that took no effect; errors as
    :func:`replay.pipeline.request.make_request`."""
    if not limits(selection):
        raise UsageError(
            "LR1001",
            "found no selection; expected what to do without, as of undo",
            hint="For example --ur URID, --user NAME, --job NAME, --table NAME",
        )
    demand = Demand(dependencies=True, mapping=asked.mapping, baseline=baseline, csv=csv)
    request = make_request(asked.opened, selection, demand, asked.keys)
    refuse_other_run(request.log, asked.engine, asked.split_bytes)
    warnings = list(request.warnings)
    with target_state.baseline_of(request) as state:
        plan = replace(request, mode=Mode.UNDO).plan(asked.split_bytes, asked.engine)
        links = analysis_of(plan, request.log, asked.engine)
        differences = None
        if state is not None:
            differences = state_differences(links, state, True, plan.version_taken)
            warnings += differences.warnings()
        found = consequences(links, plan)
        survey = found.subgraph.survey
        warnings += survey.warnings()
        chosen = [word for _, words in asked.chosen for word in words]
        excepted = except_words(request.selection)
        columns = column_words(selection)
        answer = answer_of(found, warnings, asked.command, chosen, excepted, columns)
    if differences is not None:
        answer["baseline"] = differences.describe()
    if not answer["without"]:
        unread = survey.unread_units()
        more = f", as far as it can be read: not read are changes of units {unread}" * bool(unread)
        more += "".join(f"; {said}" for said in unknown_units(request.log, request.selection))
        raise UsageError(
            "LR1004",
            f"found a selection of no change that took effect in this log{more}",
            hint="logreplay report summary LOG --group-by user,job shows what is there",
        )
    return WhatIf(answer, tuple(warnings), tuple(request.notes))


def column_words(selection: Selection) -> list[str]:
    """The columns of a selection as options."""
    words = [word for glob in selection.columns for word in ("--columns", glob)]
    return words + [w for glob in selection.exclude_columns for w in ("--exclude-columns", glob)]


def except_words(selection: Selection) -> list[str] | None:
    """A selection as values of ``--except``; None where it takes more to say it."""
    fields = {field: kind for kind, field in reversed(CHOICES.items())}
    given = [name for name in fields if getattr(selection, name)]
    said = {*given, "columns", "exclude_columns"}
    if len(given) != 1 or limits(selection, said):
        return None
    values = getattr(selection, given[0])
    if given[0] == "units":
        return [unit_text(*unit) for unit in values]
    return [f"{fields[given[0]]}={value}" for value in values]


def answer_of(
    dependents: Consequences,
    warnings: Sequence[str],
    command: Callable[..., str],
    chosen_words: Sequence[str],
    excepted: Sequence[str] | None,
    columns: Sequence[str] = (),
) -> dict[str, Any]:
    """The consequences of an undo of the chosen changes, as JSON-able data: which rows and tables,
    and the two ways to get there, undo with cascade and redo of all the others, side by side, with
    their ``commands`` and ``statements`` at most (an update that changes nothing needs none);
    ``dependents``: each unit that must go too with who, when, the change that it builds on
    (``depends_on``, ``table``, ``key``, ``why``) and how many ``step`` it is from what was
    ``chosen``. ``command`` makes a command line of ours; ``chosen_words`` are the options that say
    which changes, ``excepted`` the same as values of ``--except`` (None: it takes whole units, and
    cannot say it), ``columns`` the options that say of which columns."""
    subgraph, units = dependents.subgraph, dependents.chosen_units
    chosen, facts = [str(unit) for unit in units], unit_facts(subgraph)
    gone = {*units, *dependents.units}
    inside = of_units(subgraph, gone)
    statements, tables = int(inside.sum()), defaultdict[str, Counter[str]](Counter)
    batch = subgraph.batch
    kinds = Counter(zip(batch.version[inside].tolist(), batch.change[inside].tolist(), strict=True))
    for (version, change), count in kinds.items():
        name = subgraph.log.catalog.versions[version].name
        tables[name][Change(change).name.lower()] += count
    commands = {"undo": command(*undo_words([*chosen_words, *columns], "undo", CascadeMode.ALL))}
    if excepted is not None:
        named = [word for unit in excepted for word in ("--except", unit)]
        commands["redo"] = command("redo", *named, *columns, "--out", "redo")
    return {
        "warnings": list(warnings),
        "without": chosen,
        **dependents.describe(),
        "tables": {name: dict(sorted(counts.items())) for name, counts in sorted(tables.items())},
        "undo_cascade": {"units": len(gone), "statements": statements},
        "redo_except": {"statements": subgraph.survey.changes - statements, "left_out": statements},
        "chosen": [{"unit": unit, **facts[unit]} for unit in chosen],
        "dependents": _dependents(dependents, chosen, facts),
        "commands": commands,
    }


def unit_facts(subgraph: Subgraph) -> dict[str, dict[str, Any]]:
    """Who and when, by unit."""
    heads = subgraph.batch.records[subgraph.batch.head]
    starts = order.run_starts(np.ascontiguousarray(heads["unit"]))
    first = heads[starts]
    envelope = subgraph.log.envelope(first["file"], first["offset"], first["length"])
    fields = {key: values.to_pylist() for key, values in subgraph.log.unit_fields(envelope).items()}
    count = np.diff(np.append(starts, len(heads))).tolist()
    facts = {}
    for number, record in enumerate(first):
        who = [fields[name][number] for name in ("authid", "plan", "correlation") if name in fields]
        facts[str(unit_of(record))] = {
            "committed": fields.get("committed", [None] * len(first))[number],
            "who": " ".join(text for text in who if text),
            "changes": count[number],
        }
    return facts


def _dependents(
    dependents: Consequences, chosen: Sequence[str], facts: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    subgraph = dependents.subgraph
    step, parents = dict.fromkeys(chosen, 0), {}
    units = waiting = [unit for unit in dependents.units if str(unit) not in step]
    while waiting:  # once, but for units that share a commit position
        left = []
        for unit in waiting:
            sources = [
                (step[str(source)], source)
                for source in subgraph.graph.sources(unit)
                if str(source) in step
            ]
            if sources:
                steps, parents[unit] = min(sources)
                step[str(unit)] = steps + 1
            else:
                left.append(unit)
        if len(left) == len(waiting):
            raise AssertionError("a dependent unit is reached from what was chosen")
        waiting = left
    rows = []
    graph = subgraph.graph
    ends = ([parents[unit] for unit in units], units)
    links = graph.first_links(*(graph.nodes_of(unit_column(some))[0] for some in ends))
    keys = key_texts(subgraph, links)
    for unit, kind, text in zip(units, links["kind"].tolist(), keys, strict=True):
        table, _, key = text.partition("/")
        rows.append(
            {
                "unit": str(unit),
                **facts[str(unit)],
                "table": table,
                "key": key,
                "depends_on": str(parents[unit]),
                "why": LINK_WORDS[Link(kind)],
                "step": step[str(unit)],
            }
        )
    return rows


# -- text
# -------------------------------------------------------------------------------------------------


def what_if_text(answer: Mapping[str, Any], every: bool = False) -> str:
    """An answer (:func:`answer_of`) for the terminal; ``every``: all dependents, not the first
    :data:`LISTED`."""
    lines = [f"warning: {warning}" for warning in answer["warnings"]]
    chosen, units = answer["chosen"], answer["dependents"]
    named = ", ".join(entry["unit"] for entry in chosen[:3]) + (" …" if len(chosen) > 3 else "")
    lines += [
        (f"without {named} (the log was read to its end, commit LRSN {answer['scanned_to']})"),
        "",
        *_totals(answer),
        "",
    ]
    if not units:
        seen = "that can be read " if answer.get("unread") else ""
        lines.append(f"nothing in the log {seen}depends on it")
    else:
        shown = units if every else units[:LISTED]
        lines += [
            f"{counted(len(units), 'dependent unit')}:",
            *table_lines(COLUMNS, shown),
        ]
        if len(shown) < len(units):
            lines.append(f"… and {len(units) - len(shown):,} more (--all or --json)")
    lines += ["", "changes by table:"]
    counts = [{"table": name, **kinds} for name, kinds in answer["tables"].items()]
    kinds = sorted({kind for entry in counts for kind in entry if kind != "table"})
    lines += [f"  {line}" for line in table_lines(("table", *kinds), counts)] if counts else []
    undo, redo = answer["undo_cascade"], answer["redo_except"]
    lines += [
        "",
        (
            f"undo --cascade all   {undo['statements']:>12,} statements at most, on the database as"
            " it is after the log"
        ),
        f"  {answer['commands']['undo']}",
    ]
    if "redo" in answer["commands"]:
        lines += [
            f"redo --except        {redo['statements']:>12,} statements at most, on the database as"
            f" it was before the log ({redo['left_out']:,} left out)",
            f"  {answer['commands']['redo']}",
        ]
    return "\n".join(lines)


def _totals(answer: Mapping[str, Any]) -> list[str]:
    units = answer["dependents"]
    direct = sum(entry["step"] == 1 for entry in units)
    changes = sum(sum(kinds.values()) for kinds in answer["tables"].values())
    by_who: dict[str, int] = defaultdict(int)
    for entry in units:
        by_who[entry["who"] or "(not known)"] += 1
    whole = len({entry["unit"] for entry in answer["chosen"]} & {*answer["units"]})
    more = f" ({whole:,} of them whole: other changes of theirs depend on it)" if whole else ""
    pairs = [
        ("selected units", f"{len(answer['chosen']):,}{more}"),
        (
            "dependent units",
            f"{len(units):,}" + (f" ({direct:,} directly)" if units else ""),
        ),
        ("changes in all", f"{changes:,} in {counted(len(answer['tables']), 'table')}"),
    ]
    if units:
        most = sorted(by_who.items(), key=lambda entry: (-entry[1], entry[0]))
        text = ", ".join(f"{who} {count:,}" for who, count in most[:5])
        pairs.append(("whose", text + (" …" if len(most) > 5 else "")))
    width = max(len(name) for name, _ in pairs)
    return [f"  {name:<{width}}  {text}" for name, text in pairs]
