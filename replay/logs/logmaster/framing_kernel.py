"""Machine code that goes from record to record by their descriptor words, along several chains at
once: one chain alone waits for memory at each step.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.
"""

from __future__ import annotations

from replay.decoding.shared_kernel import Array, U, half, machine_code


@machine_code
def walk_chains(
    buffer: Array, place: Array, goal: Array, slot: Array, last: Array, offsets: Array, sizes: Array
) -> int:
    """Walk each chain from ``place`` to its ``goal``, and put where its records begin (behind the
    descriptor word) and how long they are into ``offsets`` and ``sizes`` from ``slot`` on, below
    ``last``. ``place`` and ``slot`` are then where each chain ended. 0, or 1 where a word is wrong,
    a chain but the last passes its goal, or has more records than there is room."""
    chains, active = len(place), 1
    while active:
        active = 0
        for chain in range(chains):
            here = place[U(chain)]
            if here >= goal[U(chain)]:
                continue
            at = slot[U(chain)]
            if here + 4 > len(buffer) or at >= last[U(chain)]:
                return 1
            size = half(buffer, here)
            if size <= 4 or buffer[U(here + 2)] != 0 or buffer[U(here + 3)] != 0:
                return 1
            offsets[U(at)], sizes[U(at)] = here + 4, size - 4
            here += size
            if here > len(buffer) or (here > goal[U(chain)] and chain < chains - 1):
                return 1
            place[U(chain)], slot[U(chain)] = here, at + 1
            active = 1
    return 0
