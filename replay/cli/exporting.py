"""Exports: what is asked of one, and one that grows in place, commit by commit."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from replay.changes.choices import Gaps
from replay.changes.options import Export
from replay.cli.request import engine_of, options_of, request_of, selection_of
from replay.output.bundle import Bundle
from replay.output.growth import GrowingFolder, Growth
from replay.pipeline.request import Demand, Request
from replay.storage import Place
from replay.temp_folders import WorkFolder
from replay.writable import Writable

#: Hears (stage, done, total).
Progress = Callable[[str, int, int], None]


def export_of(arguments: argparse.Namespace) -> Export:
    """How the changes are written. SqlgenError (LR1001) for options that contradict each other."""
    return Export(
        arguments.format,
        arguments.parquet_types,
        arguments.csv_null,
        arguments.schemas,
        formulas=arguments.csv_formulas,
    )


def grow(
    arguments: argparse.Namespace,
    progress: Progress,
    opened: Callable[[Request], None] = lambda request: None,
) -> Growth:
    """Add to the dataset in ``arguments.out`` what some logs have and it has not, in one commit.
    ``opened`` gets what is wanted before anything is read. Errors as those of
    :meth:`replay.output.growth.GrowingFolder.grow`."""
    export = export_of(arguments)

    def write(out: Path, after: Place | str) -> Bundle:
        named = argparse.Namespace(**{**vars(arguments), "after": after, "continues": True})
        demand = Demand(options=options_of(named), export=export, baseline=named.baseline)
        with WorkFolder() as scratch:
            request = request_of(named, scratch, demand, selection_of(named))
            opened(request)
            engine = engine_of(named, request.log, progress)
            return Writable(request, engine, named.split_mb << 20).write(
                out,
                after=after,
                adjoining=named.gaps in (Gaps.WARN, Gaps.ALLOW),
            )

    return GrowingFolder(arguments.out).grow(write)
