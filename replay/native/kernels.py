"""The compiled functions, and what each takes."""

from __future__ import annotations

from replay.native import fast_path_tables
from replay.native.machine_code import NUMBER, ArrayOf, Kernel

_OCTETS, _TABLE = ArrayOf("uint8", fixed=True), ArrayOf("int64", 2)
_ROWS, _OWN, _FIXED = ArrayOf("int64", fixed=True), ArrayOf("int64"), ArrayOf("int64", 2, True)
_OUT, _PLACES = ArrayOf("uint8"), ArrayOf("int32", fixed=True)

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
_LINES, _OF_LINES = "replay.native.script_lines_kernel", ("replay.native.script_lines_tables",)
#: Statements -> the lines of a script (:mod:`replay.output.script_file`).
PUT_LINES = Kernel(
    _LINES,
    "put_lines",
    (
        *(_OCTETS, _PLACES, _ROWS, _ROWS, _OCTETS, _OCTETS, _ROWS, _OCTETS, _PLACES, _OCTETS),
        *(_PLACES, _OCTETS, _ROWS, _PLACES, _PLACES, _FIXED, _OCTETS),
        *(NUMBER, NUMBER, NUMBER, _OUT),
    ),
    _OF_LINES,
)
KERNELS = (RENDER_ROWS, PUT_LINES)
