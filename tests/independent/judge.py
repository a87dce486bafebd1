"""Runs the command on a log, its scripts on SQLite, and holds the rows against the true ones."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from replay.cli.main import main
from tests.independent.tables import Shown, State, Table, Target, exactly

#: What the command says where an exception came as far as itself.
DEFECT = "a defect of logreplay"


@dataclass(frozen=True)
class Case:
    """A log on disk, how the command is told of it, and the true rows before and after it."""

    source: tuple[str, ...]
    tables: Sequence[Table]
    before: State
    after: State
    folder: Path
    shown: Shown = exactly
    #: Exit codes that are no complaint: 4 where something is warned of.
    fine: tuple[int, ...] = (0,)

    def run(self, command: str, name: str, *words: str) -> tuple[int, str, Path]:
        """Exit code, all that was said, and where scripts were written to."""
        return self._run(command, name, "--dialect", "sqlite", *words)

    def export(self, *words: str) -> tuple[int, str, Path]:
        """Exit code, all that was said, and where datasets were written to."""
        return self._run("export", "export", *words)

    def _run(self, command: str, name: str, *words: str) -> tuple[int, str, Path]:
        out = self.folder / name
        if out.exists():
            shutil.rmtree(out)
        said = io.StringIO()
        argv = [command, *self.source, "--engine", "local", *words]
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                code = main([*argv, "--out", str(out)])
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 2
        return code, said.getvalue(), out

    def complaint(self) -> str | None:
        """What is wrong with redo, and with undo after it; None if both end in the true rows."""
        code, said, redo = self.run("redo", "redo")
        if code not in self.fine:
            return f"redo ends with {code}: {said[-1500:]}"
        target = Target.of(self.tables, self.before)
        with closing(target.base):
            wrong = target.apply(redo) or target.difference(self.after, self.shown)
            if wrong:
                return f"redo: {wrong}"
            code, said, undo = self.run("undo", "undo", "--schema", "none")
            if code not in self.fine:
                return f"undo ends with {code}: {said[-1500:]}"
            wrong = target.apply(undo) or target.difference(self.before, self.shown)
            return f"undo: {wrong}" if wrong else None

    def harm(self) -> str | None:
        """What is wrong with a run on a log that was damaged: an exception, or exit code 0 and
        other rows. None if it says that something is wrong, or ends in the true rows."""
        code, said, out = self.run("redo", "redo")
        if DEFECT in said or "Traceback" in said or code not in range(13):
            return f"ends with {code}: {said[-1500:]}"
        if code:
            return None
        target = Target.of(self.tables, self.before)
        with closing(target.base):
            return target.apply(out) or target.difference(self.after, self.shown)

    def scripts(self, name: str) -> list[bytes]:
        """The scripts of the last run with this name."""
        return [file.read_bytes() for file in sorted((self.folder / name).glob("*.sql"))]
