"""Parts of a log: a new log with some of the records of another one, as an overlapping or a later
scan would have written it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from replay.changes.envelope import compare
from replay.logs.logmaster.opening import open_log

#: Offset of INCOMPLETETRANS in the header (data file page).
_INCOMPLETETRANS = 274


def cut(
    control: Path,
    data: Path,
    out: Path,
    *,
    low: str = "0" * 20,
    high: str = "F" * 20,
    incomplete: str | None = None,
) -> list[str]:
    """Write the records whose units commit from ``low`` to ``high`` (hexadecimal), those of the
    unit committing at ``incomplete`` flagged, and a copy of the control file; the options that name
    the new log."""
    out.mkdir()
    log = open_log(control, [data], scratch=out)
    buffer = log.buffer(0)
    with (out / "cut.dat").open("wb") as file:
        for split, offsets, lengths in log.splits(1 << 26):
            commit = log.envelope(split.file, offsets, lengths).commit()
            wanted = (compare(commit, bytes.fromhex(low)) >= 0) & (
                compare(commit, bytes.fromhex(high)) <= 0
            )
            flagged = (
                np.zeros(len(commit), bool)
                if incomplete is None
                else compare(commit, bytes.fromhex(incomplete)) == 0
            )
            for row in np.flatnonzero(wanted):
                start = int(offsets[row])
                record = buffer[start - 4 : start + int(lengths[row])].copy()
                if flagged[row]:
                    record[4 + _INCOMPLETETRANS] = "Y".encode("cp037")[0]
                file.write(record.tobytes())
    shutil.copy(control, out / "cut.ctl")
    return ["--control", str(out / "cut.ctl"), "--data", str(out / "cut.dat")]
