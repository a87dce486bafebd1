"""The demo: a bundled log, redone and undone on a throw-away PostgreSQL, each result compared with
the known state.

Every part is the real one: the same reader, engine and scripts as ``logreplay redo`` and ``undo``,
PostgreSQL's own ``psql``, and states taken from the database in which the logged work was done.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from replay.changes.balance import balance_text
from replay.errors import EXIT_OK, UsageError
from replay.live import verify
from replay.output.bundle import Bundle
from replay.targets import embedded, target_named
from replay.temp_folders import WorkFolder

#: Writes a bundle: (mode, control file, data file, output folder) -> bundle. The caller decides
#: engine and options.
Generate = Callable[[str, Path, Path, Path], Bundle]

SCHEMA = "sakila"


def sample_folder() -> Path:
    """The bundled log: in a clone under ``fixtures``, in an installed package beside this module;
    UsageError (LR1005) when in neither."""
    package = Path(__file__).resolve().parents[1]
    for folder in (
        package.parent / "fixtures" / "sakila" / "log",
        package / "bundled" / "sakila" / "log",
    ):
        if (folder / "sakila.ctl").is_file():
            return folder
    raise UsageError(
        "LR1005", "found no bundled log for the demo", hint="Run it in a clone of the project"
    )


def run(generate: Generate, echo: Callable[[str], None], keep: Path | None = None) -> int:
    """Run the demo; the exit code: 0 when both comparisons hold and both balance sheets close.

    ``echo`` takes lines for the user. ``keep`` names a folder for the scripts, new or empty (else
    UsageError LR1002); without it they go into a temporary one.
    """
    if keep is not None and keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise UsageError(
            "LR1002",
            f"{keep} is a file or not empty; expected a new or empty folder for the scripts",
            hint="Name another one with --keep",
        )
    sample = sample_folder()
    target = target_named("postgres")
    with (
        WorkFolder() as temporary,
        embedded.server() as url,
    ):
        out = Path(temporary) if keep is None else keep
        target.run_scripts(url, [sample / "schema.sql"])
        rows = target.load_state(url, SCHEMA, sample / "initial")
        echo(f"PostgreSQL is up, with {rows:,} rows: the state before the log")
        worst = EXIT_OK
        for mode, end in (("redo", "final"), ("undo", "initial")):
            began = time.perf_counter()
            bundle = generate(mode, sample / "sakila.ctl", sample / "sakila.dat.gz", out / mode)
            written = time.perf_counter()
            target.run_scripts(url, scripts_of(bundle))
            ran = time.perf_counter()
            lines: list[str] = []
            exit_code, _ = verify.state(url, SCHEMA, sample / end, None, lines.append)
            echo("")
            echo(
                f"{mode}: {bundle.tally.statements:,} statements written in {written - began:.1f}"
                f" s, run by psql in {ran - written:.1f} s"
            )
            echo(balance_text(bundle.tally))
            echo(verdict(mode, end, exit_code, lines))
            worst = max(worst, bundle.exit_code, exit_code)
        if keep is not None:
            echo("")
            echo(f"The scripts are in {keep}")
    return worst


def serve(state: str, echo: Callable[[str], None], wait: Callable[[str], object]) -> int:
    """Have a PostgreSQL with the rows ``before`` or ``after`` the bundled log until ``wait`` (given
    its URL) returns or is interrupted; the exit code."""
    sample, target = sample_folder(), target_named("postgres")
    with embedded.server() as url:
        target.run_scripts(url, [sample / "schema.sql"])
        folder = sample / {"before": "initial", "after": "final"}[state]
        rows = target.load_state(url, SCHEMA, folder)
        echo(f"{rows:,} rows, as {state} {sample / 'sakila.ctl'}, until Ctrl-C:\n{url}")
        if state == "after":
            echo("It stands at the end of the log: replay needs --at-position end")
        with suppress(KeyboardInterrupt):
            wait(url)
    return EXIT_OK


def scripts_of(bundle: Bundle) -> list[Path]:
    """The scripts of a bundle in the order to run them."""
    return sorted(Path(bundle.folder).glob("*.sql"))


def verdict(mode: str, end: str, exit_code: int, lines: list[str]) -> str:
    """One line when all tables are equal, else what the comparison said."""
    if exit_code == EXIT_OK:
        return f"{mode}: SAME, every row of every table is as in the {end} state"
    return "\n".join([f"{mode}: DIFFERENT from the {end} state", *lines])
