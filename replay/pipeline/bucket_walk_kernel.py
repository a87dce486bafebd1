"""Machine code that walks along the sort records of a bucket.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

from replay.decoding.shared_kernel import Array, U, machine_code, same_octets, word_of


@machine_code
def walk_records(octets: Array, places: Array, state: Array, starts: Array, odd: Array) -> int:
    """Go along the records of ``octets`` in their order, but for the first one, with which the walk
    before ended: the first record of each unit goes to ``starts``, as its number from that one on.
    How many these are. In ``odd``, ones stand for records that are not a whole change of their own.

    ``places``: the size of a record, of what tells its unit (which it begins with) and of what
    tells changes of a unit apart (which comes next), and where SEGNUM, TOTALSEGS (two octets each),
    whether it is damaged, and the facts of its unit are. ``state``: those facts of the first one's
    unit; afterwards those of the last one's.
    """
    size, unit, change = places[0], places[1], places[2]
    number, segments, damaged, facts_at = places[3], places[4], places[5], places[6]
    facts = state[0]
    begun = 0
    for record in range(1, len(octets) // size):
        here = record * size
        strange = octets[U(here + damaged)] != 0
        for place in (here + number, here + segments):
            strange = strange or octets[U(place)] > 1 or octets[U(place + 1)] != 0
        own = word_of(octets, here + facts_at)
        if same_octets(octets, here - size, here, unit):
            again = same_octets(octets, here - size + unit, here + unit, change)
            strange = strange or again or own != facts
        else:
            facts = own
            starts[U(begun)] = record
            begun += 1
        odd[U(record)] = strange
    state[0] = facts
    return begun
