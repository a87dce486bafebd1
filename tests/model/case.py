"""A history, its log in a folder of its own, and what the model says of every question about it.

A script that ends with other rows, or stops, although the exit code was 0 or 4, is `wrong`; a
refusal of what can be done is `refused`.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.cli.main import main
from tests.model.compare import (
    Failed,
    State,
    difference,
    make_sqlite,
    run,
    schema_text,
    write_state,
)
from tests.model.histories import Story, draw_story
from tests.model.rows import (
    Footprint,
    History,
    Table,
    Unit,
    closure,
    footprint,
    may_build,
    must_build,
)
from tests.model.sites import LogMasterSite, LuwSite, Site, SolidSite


@dataclass(frozen=True)
class Verdict:
    """What a check found: ok, wrong, refused, failed (on the target) or crashed."""

    check: str
    result: str
    detail: str = ""

    @property
    def bad(self) -> bool:
        return self.result != "ok"


@dataclass
class Answer:
    """What a run of the program left."""

    arguments: list[str]
    code: int
    text: str
    scripts: list[str]
    manifest: dict[str, Any]
    pattern: re.Pattern[str]

    @property
    def written(self) -> bool:
        return bool(self.manifest)

    @property
    def units(self) -> set[str]:
        """The units in the scripts, as these name them."""
        return {name for script in self.scripts for name in self.pattern.findall(script)}

    @property
    def statements(self) -> list[str]:
        """The lines of the scripts that are no comments."""
        lines = (line for script in self.scripts for line in script.splitlines())
        return [line for line in lines if line and not line.startswith("--")]

    @property
    def held(self) -> list[Any]:
        """The units that were set aside."""
        return list(self.manifest.get("quarantined_units", ()))

    @property
    def reason(self) -> str:
        lines = [line for line in self.text.splitlines() if re.search(r"LR\d{4}|defect", line)]
        return (lines or self.text.splitlines() or ["nothing said"])[0][:300]


class Case:
    """A history, its log, and what the model knows about it."""

    def __init__(
        self, seed: object, kind: str, history: History, make: Callable[[Path], Site]
    ) -> None:
        self.seed, self.kind, self.history = seed, kind, history
        self.story: Story | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="model-"))
        self.tables: list[Table] = list(history.database.tables.values())
        self.enforceable = [self.with_common_keys(table) for table in self.tables]
        self.schema = self.folder / "schema.sql"
        self.schema.write_text(schema_text(self.enforceable), encoding="utf-8")
        self.initial: State = history.latest_form().state()
        self.final: State = history.database.state()
        self.answers: dict[tuple[str, ...], Answer] = {}
        self.runs = 0
        self.prints: dict[bool, dict[int, Footprint]] = {}
        self.site = make(self.folder)
        self.names = {
            self.site.name(unit): unit.number for unit in history.units if self.is_named(unit)
        }

    @classmethod
    def drawn(cls, seed: int, kind: str, family: str) -> Case:
        """A history of a kind, and its log in any form of the family."""
        rng = random.Random(f"{family} {kind} {seed}")
        wide = family != "logmaster" or rng.random() < 0.6
        story = draw_story(rng, kind, wide, digits=9 if family == "soliddb" else 6)

        def make(folder: Path) -> Site:
            if family == "logmaster":
                return LogMasterSite(story.history, rng, folder, None, wide, story.cut)
            return (LuwSite if family == "db2luw" else SolidSite)(story.history, rng, folder)

        case = cls(seed, kind, story.history, make)
        case.story = story
        return case

    def is_named(self, unit: Unit) -> bool:
        """Whether a log may have a unit: an export of solidDB has none that was rolled back."""
        return not (unit.open or (unit.aborted and self.site.family == "soliddb"))

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def with_common_keys(self, table: Table) -> Table:
        """The last form of a table, with the keys that it had all the time."""
        forms = [t for t in self.history.generations if t.name == table.name]
        key = table.key if all(set(form.key) == set(table.key) for form in forms) else ()
        return Table(table.name, table.columns, key, table.unique, table.foreign)

    @property
    def keyed(self) -> bool:
        return all(table.key for table in self.history.generations)

    @property
    def has_more_keys(self) -> bool:
        """Whether there are keys that the log does not know."""
        more = any(table.unique or table.foreign for table in self.tables)
        return more and not self.site.tells_keys

    def known_keys(self, rng: random.Random) -> tuple[bool, list[str]]:
        """Whether all keys are known, and how the command is told of them."""
        if self.site.tells_keys:
            return True, []
        known = self.has_more_keys and rng.random() < 0.8
        return known, ["--schema", str(self.schema)] if known else []

    @property
    def effective(self) -> list[Unit]:
        """Committed units that left something in the log."""
        return [u for u in self.history.committed if u.effective]

    def number_of(self, name: str) -> int:
        return self.names[name]

    def position_of(self, unit: Unit) -> str:
        """Where a unit commits, as options have it; where the site does not know, a script says
        it, or nothing does ("")."""
        known = self.site.commit(unit)
        if known is None:
            text = "\n".join(self.ask("redo", "--dialect", "sqlite").scripts)
            name = self.site.name(unit)
            found = re.search(rf"^-- unit \w+={name}\b.*? commit-\w+=(\w+)", text, re.MULTILINE)
            known = found[1] if found else ""
        return known

    def footprints(self, schema: bool) -> dict[int, Footprint]:
        if schema not in self.prints:
            self.prints[schema] = {
                unit.number: footprint(unit.effective, schema) for unit in self.history.committed
            }
        return self.prints[schema]

    def closures(self, start: set[int], schema: bool) -> tuple[set[int], set[int]]:
        """Units that must, and units that may, go with `start`."""
        order, prints = self.history.committed, self.footprints(schema)

        def may(first: Footprint, later: Footprint) -> bool:
            # whose row is whose in another form of a table cannot be known
            tables = [{t.name for t, _, _ in left.net.values()} for left in (first, later)]
            return may_build(first, later) or bool(tables[0] & tables[1] & self.reformed)

        return closure(order, start, must_build, prints), closure(order, start, may, prints)

    @property
    def reformed(self) -> set[str]:
        """Tables that had several forms."""
        return {table.name for table in self.history.generations if table.generation > 1}

    @property
    def has_all_keys(self) -> bool:
        """Whether ``--upsert`` can be asked for: its statements need a key at all times."""
        return self.keyed and all(table.key for table in self.enforceable)

    def gone_from(self, answer: Answer) -> set[int]:
        """The committed units that are not in the scripts of an answer."""
        there = {self.number_of(urid) for urid in answer.units}
        return {unit.number for unit in self.history.committed} - there

    def idle(self) -> set[int]:
        """Units that leave every row as it was."""
        return {
            number
            for number, left in self.footprints(True).items()
            if all(before == after for _, before, after in left.net.values())
        }

    def turning(self) -> set[int]:
        """Units that leave the same rows, whichever is which: a circle of rows that are equal but
        for the key. They need no statement, so no script tells of them."""
        found = set()
        for number, left in self.footprints(True).items():
            balance: Counter[tuple[object, ...]] = Counter()
            for table, *images in left.net.values():
                for image, sign in zip(images, (-1, 1), strict=True):
                    if image is not None:
                        balance[table.name, *map(repr, sorted(image.items()))] += sign
            if not any(balance.values()):
                found.add(number)
        return found - self.idle()

    def named_consequences(self, answer: Answer) -> set[int]:
        """Units that a manifest says were taken with others."""
        names = answer.manifest.get("consequences", {}).get("units", [])
        named = {name.partition("/")[0].rjust(20, "0") for name in names}
        return {
            unit.number
            for unit in self.history.committed
            if self.site.urid(unit).rjust(20, "0") in named
        }

    def barren(self) -> set[int]:
        """Units of which no change changes anything. One that comes and goes, or sets a value and
        sets it back, is a reason to refuse: who builds on whom goes by row versions."""
        return {
            unit.number
            for unit in self.history.committed
            if all(
                change.before == change.after and not change.spelled_anew
                for change in unit.effective
            )
        }

    def ask(self, *arguments: str) -> Answer:
        """Run a command on the log; the same question is asked once."""
        if arguments not in self.answers:
            self.answers[arguments] = self._run(list(arguments))
        return self.answers[arguments]

    def again(self, *arguments: str) -> Answer:
        """Run a command on the log as it is now."""
        return self._run(list(arguments))

    def _run(self, arguments: list[str]) -> Answer:
        self.runs += 1
        out = self.folder / f"out{self.runs}"
        words = ["--engine", "local", "--out", str(out), *arguments[1:]]
        return self._said([arguments[0], *self.site.source, *words], out)

    def replayed(self, url: str, *words: str) -> Answer:
        """Replay the log into a database."""
        return self.said("replay", "--to", url, "--apply", *words)

    def said(self, command: str, *words: str) -> Answer:
        """What a command says of the log as it is now; scripts are looked for in ``out``."""
        argv = [command, *self.site.source, "--engine", "local", *words]
        return self._said(argv, self.folder / "out")

    def _said(self, argv: list[str], out: Path) -> Answer:
        return answer_of(argv, out, self.site.pattern)

    def states(self, state: State) -> Iterator[tuple[str, str]]:
        """A state as a folder of files, and as a database."""
        folder = self.folder / "state"
        folder.mkdir(exist_ok=True)
        write_state(self.tables, state, folder)
        yield "folder", str(folder)
        place = self.folder / "test.db"
        place.unlink(missing_ok=True)
        make_sqlite(self.tables, state, place)
        yield "sqlite", f"sqlite:///{place}?schema=test"

    def describe(self) -> str:
        told = self.story.told if self.story else []
        return f"kind {self.kind}, seed {self.seed}, {self.site.form}\n" + "\n".join(told)


def answer_of(argv: list[str], out: Path, pattern: re.Pattern[str]) -> Answer:
    """What a command says, and the scripts that it leaves in a folder."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = main(argv)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 2
        except Exception:  # noqa: BLE001 - this, too, is an answer
            said.write(traceback.format_exc())
            code = 99
    scripts, manifest = [], {}
    if (out / "manifest.json").exists():
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        scripts = [
            (out / entry["name"]).read_text(encoding="utf-8")
            for entry in manifest.get("scripts", ())
        ]
    return Answer(argv, code or 0, said.getvalue(), scripts, manifest, pattern)


# ---------------------------------------------------------------------------------------------
# One comparison


def compared(
    case: Case,
    check: str,
    answer: Answer,
    before: State,
    after: State,
    keys: str = "none",
    times: int = 1,
    set_aside: bool = False,
) -> Verdict:
    """Run the scripts of an answer from one state; it must end in the other.

    With `set_aside`, the caller has looked at the exit code and at what is not in the scripts.
    """
    refusal = refused(check, answer)
    if refusal and not (set_aside and answer.written):
        return refusal
    tables = case.tables if keys == "none" else case.enforceable
    try:
        found = run(tables, before, answer.scripts * times, keys)
    except Failed as failure:
        return Verdict(check, "failed", f"{keys}: {failure}")
    other = difference(tables, after, found)
    if other:
        return Verdict(check, "wrong", f"{keys}, exit code {answer.code}\n{other}")
    return Verdict(check, "ok")


def refused(check: str, answer: Answer) -> Verdict | None:
    if answer.code in (0, 4) and answer.written:
        return None
    kind = "crashed" if answer.code == 99 or "defect" in answer.text else "refused"
    return Verdict(check, kind, f"exit code {answer.code}: {answer.reason}")


@dataclass(frozen=True)
class Options:
    """What the command line says about all checks."""

    modes: tuple[str, ...] = ("redo", "undo")
