"""What is placed, checked and ready to be written: scripts, data, and parts of a log as a log. The
command line and :mod:`replay.api` write by it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from replay import storage
from replay.changes.choices import USUAL_NAME
from replay.engine.contract import SPLIT_BYTES, Engine
from replay.options.keywords import checked
from replay.pipeline.request import Request
from replay.pipeline.request_checks import script_notes
from replay.storage import Place
from sqlgen.lazy_imports import when_used

with when_used():  # what some outputs alone need
    from replay.dependencies import baseline
    from replay.live import target_state
    from replay.output import bundle, continuation, extraction, whole_folder


@dataclass(frozen=True)
class Writable:
    """Scripts or data that are placed and checked; nothing is read before :meth:`write`."""

    request: Request = field(repr=False)
    engine: Engine
    split_bytes: int = SPLIT_BYTES

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user may want to know beforehand."""
        scripts = self.request.export is None
        return script_notes(self.request) if scripts else self.request.notes

    @checked
    def write(
        self,
        out: str | Place,
        *,
        overwrite: bool = False,
        after: str | Place | None = None,
        adjoining: bool = False,
    ) -> bundle.Bundle:
        """Write the folder ``out``, whole or not at all; ``after``: what the bundle with this
        manifest lacks. Errors as those of
        :func:`replay.output.bundle.write_bundle`."""
        before = None if after is None else continuation.read_continuation(storage.at(after))
        request, folder = self.request, storage.at(out)
        whole_folder.check_output(folder, overwrite)
        plan = request.plan(self.split_bytes, self.engine)
        if after is not None:
            plan = replace(plan, selection=plan.selection.going_on())
        known = nullcontext() if request.baseline is None else target_state.baseline_of(request)
        with known as state:
            return bundle.write_bundle(
                plan,
                request.log,
                folder,
                self.engine,
                overwrite=overwrite,
                warnings=list(request.warnings),
                constraints=request.constraints,
                state=None if state is None else baseline.StateBefore(state),
                before=before,
                adjoining=adjoining,
                goes_on=after is not None,
            )


@dataclass(frozen=True)
class Extract:
    """A part of a log that becomes a log again; nothing is read before :meth:`write`.
    ``whole_units``: all changes of a unit of recovery of which one is selected."""

    request: Request = field(repr=False)
    engine: Engine
    whole_units: bool = False
    split_bytes: int = SPLIT_BYTES

    @checked
    def write(
        self,
        out: str | Place,
        *,
        name: str = USUAL_NAME,
        overwrite: bool = False,
        after: str | Place | None = None,
        adjoining: bool = False,
    ) -> bundle.Bundle:
        """Write the folder ``out``, whole or not at all: ``NAME.ctl``, ``NAME.dat`` and
        ``manifest.json``; ``after``: what the extract with this manifest lacks. Errors as those of
        :func:`replay.output.extraction.write_extract`."""
        before = None if after is None else continuation.read_continuation(storage.at(after))
        request = self.request
        writer = extraction.writer_of(request.opened.family)
        folder = storage.at(out)
        whole_folder.check_output(folder, overwrite)
        plan = replace(
            request.plan(self.split_bytes, self.engine), copies=request.opened.family.name
        )
        return extraction.write_extract(
            plan,
            request.log,
            writer,
            folder,
            self.engine,
            extraction.ExtractOptions(name, overwrite, self.whole_units, adjoining),
            request.warnings,
            before,
        )
