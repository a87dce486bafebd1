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
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Generic, TypeVar

from replay.changes.position import UnitPosition
from replay.engine.contract import Engine
from replay.output.later_texts import TextMaker, late_scripts
from replay.output.steps import Outline, Script, Scripts, open_scripts
from replay.output.stored_folder import StoredFolder
from replay.storage import StoredPath

#: Scripts that are kept on this machine whatever their size; the bytes up to which more of them
#: are; and what a small one counts as.
_FEW, _ROOM, _LEAST = 4, 64 << 20, 1 << 20
_SUFFIXES = (".steps", ".records", ".shapes")

Part = TypeVar("Part", bound=Outline)


class _Ahead(Generic[Part]):
    """Parts of scripts, of which ``fetch`` brings one to this machine; the last that were asked for
    are kept."""

    def __init__(self, sizes: list[int], fetch: Callable[[int], Part]) -> None:
        self._sizes = [max(size, _LEAST) for size in sizes]
        self._fetch = fetch
        self._kept: OrderedDict[int, Future[Part]] = OrderedDict()
        self._living: weakref.WeakValueDictionary[int, Part] = weakref.WeakValueDictionary()
        self._one = threading.Lock()
        self._pool = ThreadPoolExecutor(1)

    def get(self, number: int) -> Part:
        """The part of a script; that of the next one is fetched meanwhile. Raises what ``fetch``
        does; where that failed ahead, it is tried again."""
        with self._one:
            before = self._kept.get(number)
            if before is not None and before.done() and before.exception() is not None:
                del self._kept[number]
            future = self._future(number)
            if number + 1 < len(self._sizes):
                self._future(number + 1)
            self._let_go()
        return future.result()

    def _future(self, number: int) -> Future[Part]:
        future = self._kept.get(number)
        if future is None:
            living = self._living.get(number)
            if living is None:
                future = self._pool.submit(self._fetched, number)
            else:
                future = Future()
                future.set_result(living)
            self._kept[number] = future
        self._kept.move_to_end(number)
        return future

    def _fetched(self, number: int) -> Part:
        part = self._fetch(number)
        self._living[number] = part
        return part

    def _let_go(self) -> None:
        held = sum(self._sizes[number] for number in self._kept)
        while len(self._kept) > _FEW and held > _ROOM:
            held -= self._sizes[self._kept.popitem(last=False)[0]]

    def close(self) -> None:
        """Fetch no more."""
        self._pool.shutdown(cancel_futures=True)
        self._kept.clear()


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
        self._whole = self._ahead(
            Script, lambda name: [name, *(_beside(name, suffix) for suffix in _SUFFIXES)]
        )

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, number: int) -> Script:
        return self._whole.get(range(len(self))[number])

    def outlines(self) -> Iterator[Outline]:
        """The steps of each script, in order."""
        steps = self._ahead(Outline, lambda name: [_beside(name, ".steps")])
        try:
            for number in range(len(self)):
                outline = steps.get(number)
                self._spans[number] = outline.span
                yield outline
        finally:
            steps.close()

    def span(self, number: int) -> tuple[UnitPosition, UnitPosition]:
        """The lowest and the highest unit of a script: fetches it where it was not seen before."""
        if number not in self._spans:
            self._spans[number] = self[number].span
        return self._spans[number]

    def close(self) -> None:
        """Fetch no more, and let go of all."""
        self._whole.close()

    def _ahead(self, kind: type[Part], files: Callable[[str], list[str]]) -> _Ahead[Part]:
        taken = self._stored.taken

        def fetch(number: int) -> Part:
            name = self._names[number]
            place = Path(tempfile.mkdtemp(prefix=f"{number}-", dir=self._folder))
            try:
                self._stored.fetch_some(files(name), place)
                part = kind(place / name)
            except BaseException:
                shutil.rmtree(place, ignore_errors=True)
                raise
            weakref.finalize(part, shutil.rmtree, place, ignore_errors=True)
            return part

        sizes = [sum(taken[file][1].size for file in files(name)) for name in self._names]
        return _Ahead(sizes, fetch)


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
