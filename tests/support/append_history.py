"""What units and readers saw of lists that every unit appends its number to, and whether that can
be: a checker in the manner of Elle (Kingsbury and Alvaro, VLDB 2020).

A list tells its own history: who read ``1 2 5`` came after unit 5 and before the next one to append
there. From that follow the arrows write-write, write-read and read-write between transactions; and
since units have an order of commit, an arrow from each unit to the next on the same list. Where the
arrows run in a circle, somebody saw what no order of whole units allows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import networkx as nx

Items = tuple[int, ...]

_CHANGE = re.compile(
    r"table \w+\.\w+: UPDATE: old-key: id\[\w+\]:(\d+) items\[[\w ]+\]:'([\d ]*)'"
    r" new-tuple: id\[\w+\]:(\d+) items\[[\w ]+\]:'([\d ]*)'"
)


@dataclass
class Seen:
    """What a unit or a reader saw of lists, and (a unit) what it made of them."""

    reads: dict[int, Items] = field(default_factory=dict)
    writes: dict[int, Items] = field(default_factory=dict)


def items_of(text: str) -> Items:
    """The list in a text."""
    return tuple(map(int, text.split()))


def decoded(lines: Iterable[str]) -> dict[int, Seen]:
    """What each unit saw and wrote, from the server's own record of its transactions (the plug-in
    ``test_decoding``, old rows in full). A unit is who appended its number."""
    units: dict[int, Seen] = {}
    for line in lines:
        match = _CHANGE.match(line)
        if match is None:
            continue
        key, old, _, new = match.groups()
        after = items_of(new)
        unit = units.setdefault(after[-1], Seen())
        assert int(key) not in unit.writes, f"unit {after[-1]} wrote list {key} twice"
        unit.reads[int(key)], unit.writes[int(key)] = items_of(old), after
    return units


def anomalies(
    appended: Mapping[int, Iterable[int]],
    units: Mapping[int, Seen],
    readers: Iterable[Mapping[int, Items]],
    final: Mapping[int, Items],
) -> list[str]:
    """What cannot be where units are applied whole and in commit order wherever they meet; empty
    for a history that can.

    ``appended``: the lists that each unit appends to, by the source. ``units``, ``readers``: what
    they saw in the target, ``final``: the lists in the end. Numbers of units rise with their
    commits.
    """
    found = []
    for number, lists in appended.items():
        wrote = set(units[number].writes) if number in units else set()
        if wrote != set(lists):
            found.append(f"unit {number} appended to {sorted(wrote)}; expected {sorted(lists)}")
    found += [f"unit {number} is of no log" for number in units if number not in appended]
    for key, items in final.items():
        expected = tuple(sorted(n for n, lists in appended.items() if key in lists))
        if items != expected:
            found.append(f"list {key} ended as {items}; commit order makes it {expected}")
    seen = [(f"unit {number}", one) for number, one in units.items()]
    seen += [(f"reader {number}", Seen(dict(reads))) for number, reads in enumerate(readers)]
    versions = _versions(seen, final)
    for name, one in seen:
        for key, items in one.reads.items():
            if versions[key][: len(items)] != items:
                found.append(f"{name} saw {items} in list {key}, which is no part of its history")
        for key, items in one.writes.items():
            if items[:-1] != one.reads[key]:
                found.append(f"{name} made {items} of {one.reads[key]} in list {key}")
    graph = _arrows(seen, versions)
    for members in nx.strongly_connected_components(graph):
        if len(members) > 1:
            circle = nx.find_cycle(graph.subgraph(members))
            way = " ".join(f"{one} -({graph.edges[one, other]['why']})->" for one, other in circle)
            found.append(f"a circle: {way} {circle[-1][1]}")
    return found


def _versions(seen: list[tuple[str, Seen]], final: Mapping[int, Items]) -> dict[int, Items]:
    """The longest list that was seen of each key: the order of its versions."""
    longest = dict(final)
    for _, one in seen:
        for key, items in (*one.reads.items(), *one.writes.items()):
            if len(items) > len(longest.get(key, ())):
                longest[key] = items
    return longest


def _arrows(seen: list[tuple[str, Seen]], versions: Mapping[int, Items]) -> nx.DiGraph:
    """Who came before whom, and why."""
    graph = nx.DiGraph()

    def arrow(one: str, other: str, why: str) -> None:
        if one != other:
            graph.add_edge(one, other, why=why)

    for key, items in versions.items():
        ordered = sorted(items)
        for one, other in itertools.pairwise(ordered):
            arrow(f"unit {one}", f"unit {other}", f"commit order, list {key}")
        for one, other in itertools.pairwise(items):
            arrow(f"unit {one}", f"unit {other}", f"write-write, list {key}")
    for name, one in seen:
        for key, items in one.reads.items():
            if items:
                arrow(f"unit {items[-1]}", name, f"write-read, list {key}")
            if len(items) < len(versions[key]):
                following = versions[key][len(items)]
                arrow(name, f"unit {following}", f"read-write, list {key}")
    return graph
