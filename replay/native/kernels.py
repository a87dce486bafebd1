"""The compiled functions, and what each takes."""

from __future__ import annotations

from replay.native import fast_path_tables
from replay.native.machine_code import NUMBER, ArrayOf, Kernel

_OCTETS, _TABLE = ArrayOf("uint8", fixed=True), ArrayOf("int64", 2)
_ROWS, _OWN, _OUT = ArrayOf("int64", fixed=True), ArrayOf("int64"), ArrayOf("uint8")

#: Row images -> statements (:mod:`replay.native.fast_path`).
RENDER_ROWS = Kernel(
    "replay.native.fast_path_kernel",
    "render_rows",
    (
        *(_OCTETS, _TABLE, _TABLE, _ROWS, _TABLE, _TABLE, _OCTETS),
        *(ArrayOf("uint8", 2), ArrayOf("uint8", 3), _OCTETS, ArrayOf("bool", 2), NUMBER, _TABLE),
        *(_OUT, _OWN, _OUT, _OWN),
    ),
    fast_path_tables.SOURCES,
)
KERNELS = (RENDER_ROWS,)
