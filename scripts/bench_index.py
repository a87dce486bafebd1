"""What opening a Db2 LUW log takes: its index. Called by ``bench.py index``.

Each log is opened twice in a process of its own; the second time counts. The same changes in two
log streams, and with a tenth of them left out as by a filter, are logs of their own, whose framing
tells positions. The yardstick is the SHA-256 of the file.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from bench_runs import Measured, apart, sizes_of
from process_watch import Watch

#: The place of the first record; and what frames one (lri48).
_LSO = 0x100000
#: What is made of the log beside it as it is, which is ``WHOLE``: in how many log streams, and
#: whether it is filtered.
WHOLE = "one stream"
FORMS = {"two streams": (2, False), "filtered": (1, True)}
_LRI = np.dtype(
    {
        "names": ["first", "lfs", "lsn", "second", "stream", "lso"],
        "formats": ["<u8"] * 6,
    }
)


def measure(log: str, catalog: str, folder: Path) -> tuple[Measured, int]:
    """The second of two times that a log is opened, and its records."""
    from replay.logs.db2luw.reader import open_log
    from replay.logs.families import Inputs

    inputs = Inputs(log=(log,), catalog=catalog)
    with Watch() as watch:
        for number in range(2):
            scratch = folder / f"index-{number}"
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            before, began = watch.cpu(), time.perf_counter()
            opened = open_log(replace(inputs, scratch=str(scratch)))
            after, wall = watch.cpu(), time.perf_counter() - began
    parts = {kind: after[kind] - before.get(kind, 0.0) for kind in after}
    measured = Measured(
        sum(parts.values()), wall, parts=parts, memory=watch.together, largest=watch.one
    )
    return measured, sum(len(offsets) for _, offsets, _ in opened.splits(32 << 20))


def in_streams(log: str, folder: Path, streams: int, filtered: bool) -> str:
    """A raw log of release 10 with its transactions in so many log streams, each of which counts
    its own positions, framed with these; ``filtered``: without a tenth of the records of
    components."""
    from replay.logs.db2luw.framing import OpenedFile, fitting_shapes
    from replay.logs.db2luw.layouts import RecordKind
    from replay.logs.db2luw.scan import scanned_files
    from replay.spill import Spill

    made = folder / f"streams-{streams}{'-filtered' * filtered}.log"
    data = np.fromfile(log, np.uint8)
    if made.exists():
        return str(made)
    shape = fitting_shapes(data[: 4 << 20].tobytes(), len(data), log, "raw", "little", "v10")[0]
    records = scanned_files([OpenedFile(log, log, shape)], Spill()).records
    records = records[records["part"] == 0]
    stream = (records["tid"] % np.uint64(streams)).astype(np.int64)
    length, old = records["length"].astype(np.int64), records["lsn"] + np.uint64(_LSO)
    new = np.zeros(len(records), np.uint64)
    for number in range(streams):
        mine = np.flatnonzero(stream == number)
        new[mine] = _LSO + np.cumsum(length[mine]) - length[mine]

    def renamed(named: Any) -> Any:
        place = np.minimum(np.searchsorted(old, named), len(old) - 1)
        return np.where(old[place] == named, new[place], 0)

    kept = np.ones(len(records), bool)
    if filtered:
        components = np.flatnonzero(records["kind"] == RecordKind.COMPONENT)
        kept[components[np.random.default_rng(1).random(len(components)) < 0.1]] = False
    begun = made.with_suffix(".begun")
    with begun.open("wb") as file:
        for rows in np.array_split(np.flatnonzero(kept), len(records) // 50_000 + 1):
            begin, size = records["offset"][rows], length[rows]
            place = np.cumsum(size + _LRI.itemsize) - size
            at = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
            out = np.zeros(int(size.sum()) + len(rows) * _LRI.itemsize, np.uint8)
            out[np.repeat(place, size) + at] = data[np.repeat(begin, size) + at]
            lri = np.zeros(len(rows), _LRI)
            lri["first"], lri["second"] = 1, 2
            for name in ("lfs", "lsn"):
                lri[name] = records[name][rows]
            lri["stream"], lri["lso"] = stream[rows], new[rows]

            def put(at: Any, values: Any, out: Any = out) -> None:
                octets = np.ascontiguousarray(values).view(np.uint8)
                octets = octets.reshape(len(values), values.dtype.itemsize)
                out[at[:, None] + np.arange(octets.shape[1])] = octets

            put(place - _LRI.itemsize, lri)
            put(place + 24, renamed(records["previous"][rows]).astype("<u8"))
            put(place + 38, stream[rows].astype("<u2"))
            undo = np.flatnonzero(records["compensated"][rows] > 0)
            put(place[undo] + 56, renamed(records["compensated"][rows][undo]).astype("<u8"))
            out.tofile(file)
    begun.rename(made)
    return str(made)


def _digest(log: str) -> float:
    began = time.process_time()
    with open(log, "rb") as file:
        hashlib.file_digest(file, "sha256")
    return time.process_time() - began


def index(arguments: argparse.Namespace) -> int:
    """Measure the index of a Db2 LUW log."""
    from bench_ways import family_logs

    arguments.dir.mkdir(parents=True, exist_ok=True)
    made = apart(family_logs, arguments.dir, arguments.records, arguments.seed)["db2luw"]
    whole, catalog = made["log"], made["catalog"]
    for title in arguments.forms:
        log = whole
        if title != WHOLE:
            log = apart(in_streams, whole, Path(whole).parent, *FORMS[title])
        megabytes = Path(log).stat().st_size / 1e6
        print(f"{arguments.records:,} changes, {megabytes:,.1f} MB, {title}")
        print(f"{'CPU microseconds a record':<28}{'index':>8}{'wall s':>8}")
        with tempfile.TemporaryDirectory(dir=arguments.dir) as folder:
            measured, records = apart(measure, log, catalog, Path(folder))
            print(
                f"{'index':<28}{measured.cpu / records * 1e6:>8.2f}{measured.wall:>8.1f}"
                f"   memory: {sizes_of(measured)}",
                flush=True,
            )
    print(f"{'SHA-256 of the file':<28}{_digest(log) / records * 1e6:>8.2f}")
    return 0


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of ``bench.py index``."""
    forms = (WHOLE, *FORMS)
    command.add_argument("--forms", nargs="+", choices=forms, default=forms, help="only some logs")
