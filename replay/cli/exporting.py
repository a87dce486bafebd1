"""Exports that grow in place, commit by commit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from replay.changes.selection import Selection
from replay.cli.request import LogInput
from replay.output.bundle import Bundle
from replay.output.growth import GrowingFolder, Growth
from replay.pipeline.request import Demand, Request
from replay.storage import Place
from replay.temp_folders import WorkFolder
from replay.writable import Writable

#: Hears (stage, done, total).
Progress = Callable[[str, int, int], None]


def grow(
    place: Place,
    reading: LogInput,
    demand: Demand,
    selection: Selection,
    progress: Progress,
    opened: Callable[[Request], None] = lambda request: None,
) -> Growth:
    """Add to the dataset in a place what some logs have and it has not, in one commit. ``opened``
    gets what is wanted before anything is read. Errors as those of
    :meth:`replay.output.growth.GrowingFolder.grow`."""
    continued = replace(reading, continues=True)

    def write(out: Path, after: Place | str) -> Bundle:
        with WorkFolder() as scratch:
            request = continued.request(scratch, demand, selection)
            opened(request)
            engine = continued.engine_for(request.log, progress)
            writable = Writable(request, engine, continued.split_bytes)
            return writable.write(out, after=after, adjoining=continued.adjoining)

    return GrowingFolder(place).grow(write)
