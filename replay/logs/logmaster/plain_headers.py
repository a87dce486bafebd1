"""What :class:`replay.logs.plain.PlainHeaders` are in logical logs: the fields that the checks of
:mod:`replay.logs.logmaster.reader` and the rules of a log ask for."""

from __future__ import annotations

from replay.changes.catalog import Catalog
from replay.decoding.layout import Layout
from replay.logs.logmaster.header_rules import HeaderRules
from replay.logs.plain import PlainHeaders

#: Fields whose octets, taken together, tell what the classes, codes and flags of a header are.
_JUDGED = (
    *("LENGTH", "SYSTEMID", "DBID", "PSID", "TBOBID", "CHANGE TYPE", "SQLTYPE", "LOGRECDISP"),
    *("SQLSRCTYPE", "UORDISP", "TOTALSEGS", "SEGNUM"),
)
_FLAGS = ("INCOMPLETETRANS", "INCOMPLETEDEP")
#: Octets of the fields that are numbers or times here.
_POSITIONS = ("LOGRBA", "LOGLRSN", "UORID", "UORIDLRSN", "UORCOMMITLRSN", "UORCOMMITPOINT")
_WIDTHS = {
    **dict.fromkeys(_POSITIONS, 10),
    **dict.fromkeys(("LENGTH", "TOTALSEGS", "SEGNUM", "MEMBERID"), 2),
    "UORCOMMITTIMESTAMP": 17,
}


def plain_headers(
    layout: Layout, rules: HeaderRules, catalog: Catalog, length: int
) -> PlainHeaders | None:
    """Those of a log whose headers have ``length`` octets; None where its layout is another one
    (older releases, an order of its own), and where the generation of a table must be found."""
    names = layout.names
    if "ORDERVALUE" in names or catalog.has_generations:
        return None
    if any(names[name].length != width for name, width in _WIDTHS.items()):
        return None
    counts = "SEGLEN" in names and rules.lengths != (None, None)
    if counts and names["SEGLEN"].length != 2:
        return None

    place = {name: entry.offset for name, entry in names.items()}
    first, later = (None if more is None else more & 0xFFFF for more in rules.lengths)
    return PlainHeaders(
        size=max(layout.size, length),
        judged=[
            (place[name], names[name].length)
            for name in (*_JUDGED, *(flag for flag in _FLAGS if flag in names))
        ],
        filled=[place[name] for name in ("LOGRBA", "UORID", *["UORCOMMITLRSN"] * rules.commits)],
        rising=[(place[earlier], place[later]) for earlier, later in rules.rising],
        counted=place["SEGLEN"] if counts else None,
        excess=(first, later) if counts else (None, None),
        commit=place["UORCOMMITLRSN"],
        commit_else=place["UORCOMMITPOINT"],
        unit=place["UORID"],
        member=place["MEMBERID"],
        begin=place["UORIDLRSN"],
        time=place["UORCOMMITTIMESTAMP"],
        position=place["LOGRBA"],
    )
