"""Scripts that lie in a store, for who runs them one after the other.

Each is fetched whole, and compared with what its task wrote, before it is given out; the one behind
it is fetched meanwhile, and few are kept on this machine. A script that somebody still has stays
until it is let go of: its files are removed with the last who has it.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeVar

from replay.changes.position import UnitPosition
from replay.engine.contract import Engine
from replay.output.later_texts import TextMaker, late_scripts
from replay.output.steps import Outline, Script, Scripts, open_scripts
from replay.output.stored_folder import StoredFolder
from replay.storage import StoredPath

#: Scripts that are kept on this machine.
_FEW = 4
_SUFFIXES = (".sql", ".steps", ".records", ".shapes")

Part = TypeVar("Part", bound=Outline)


class StoredScripts:
    """The scripts with steps among the files that were taken into ``stored``, in the order to run
    them, fetched into ``folder``. Closed when they are not needed any more; InputError LR2001 where
    one cannot be read, or is not as its task wrote it."""

    def __init__(self, stored: StoredFolder, folder: Path) -> None:
        self._stored, self._folder = stored, folder
        self._names = sorted(
            name
            for name in stored.taken
            if name.endswith(".sql") and _beside(name, ".steps") in stored.taken
        )
        self._spans: dict[int, tuple[UnitPosition, UnitPosition]] = {}
        #: The last that were asked for, and those that somebody has.
        self._kept: OrderedDict[int, Future[Script]] = OrderedDict()
        self._living: weakref.WeakValueDictionary[int, Script] = weakref.WeakValueDictionary()
        self._one = threading.Lock()
        self._pool = ThreadPoolExecutor(1)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, number: int) -> Script:
        """A script; the next one is fetched meanwhile, and where that fails it is tried again when
        it is asked for."""
        number = range(len(self))[number]
        with self._one:
            before = self._kept.get(number)
            if before is not None and before.done() and before.exception() is not None:
                del self._kept[number]
            future = self._future(number)
            if number + 1 < len(self):
                self._future(number + 1)
            while len(self._kept) > _FEW:
                self._kept.popitem(last=False)
        return future.result()

    def _future(self, number: int) -> Future[Script]:
        future = self._kept.get(number)
        if future is None and (living := self._living.get(number)) is not None:
            future = Future()
            future.set_result(living)
        elif future is None:
            future = self._pool.submit(self._whole, number)
        self._kept[number] = future
        self._kept.move_to_end(number)
        return future

    def _whole(self, number: int) -> Script:
        script = self._fetched(number, Script, _SUFFIXES)
        self._living[number] = script
        return script

    def _fetched(self, number: int, kind: type[Part], suffixes: Sequence[str]) -> Part:
        """The files of a script with some suffixes, which go with what is made of them."""
        name = self._names[number]
        place = Path(tempfile.mkdtemp(prefix=f"{number}-", dir=self._folder))
        try:
            self._stored.fetch([_beside(name, suffix) for suffix in suffixes], place)
            part = kind(place / name)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        weakref.finalize(part, shutil.rmtree, place, ignore_errors=True)
        return part

    def outlines(self) -> Iterator[Outline]:
        """The steps of each script, in order."""
        for number in range(len(self)):
            outline = self._fetched(number, Outline, (".steps",))
            self._spans[number] = outline.span
            yield outline

    def span(self, number: int) -> tuple[UnitPosition, UnitPosition]:
        """The lowest and the highest unit of a script: fetches it where it was not seen before."""
        if number not in self._spans:
            self._spans[number] = self[number].span
        return self._spans[number]

    def close(self) -> None:
        """Fetch no more, and let go of all."""
        self._pool.shutdown(cancel_futures=True)
        self._kept.clear()


def _beside(name: str, suffix: str) -> str:
    return name.removesuffix(".sql") + suffix


def exchange_of(engine: Engine, resources: ExitStack) -> StoredFolder | None:
    """A folder for scripts in the store through which tasks give files to this machine, until
    ``resources`` end; None where there is no such store. InputError LR2001 where nobody can write
    there."""
    if not engine.exchange:
        return None
    stored = StoredFolder.begun(StoredPath(engine.exchange))

    def end() -> None:
        with suppress(OSError):
            stored.end()

    resources.callback(end)
    return stored


def scripts_in(
    folder: Path,
    stored: StoredFolder | None,
    resources: ExitStack,
    maker: TextMaker | None = None,
) -> Scripts:
    """The scripts of a folder, or of one in a store, until ``resources`` end. ``maker`` makes the
    statements that its plan left for later, which are those of a folder."""
    if stored is None:
        if maker is not None and maker.plan.texts_later:
            return late_scripts(folder, maker)
        return open_scripts(folder)
    scripts = StoredScripts(stored, folder)
    resources.callback(scripts.close)
    return scripts
