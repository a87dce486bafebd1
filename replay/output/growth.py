"""A dataset that grows in place, commit by commit: ``export --grow`` and ``follow --export``.

Each commit is a bundle that goes on where the one before it ended. Its files are prepared in a
hidden folder that takes the name ``_logreplay/000007`` in one step, which is the commit. Then each
file is given its name among those of its table, ``part-000007-…``; what a killed run left to do of
that is done by the next one. So a file with such a name is of a commit, and whole. A commit that is
taken back first loses its name, and then its files.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.errors import Refusal, UsageError
from replay.output.bundle import Bundle
from replay.output.continuation import COMMITS, NOTHING, read_manifest, refuse_other_types
from replay.output.whole_folder import write_manifest
from replay.storage import Place
from replay.storage.durable import rename_durably, sync_folders
from replay.temp_folders import WorkFolder

#: Where the files of a commit lie until they have their names.
_FILES = "files"
_COMMIT = re.compile(r"\d{6,}")
#: What the name of a commit begins with that is taken back.
_GONE = "."


@dataclass(frozen=True)
class Growth:
    """What became of one bundle: ``commit`` is its number, None where it brought nothing new."""

    bundle: Bundle
    commit: int | None


class GrowingFolder:
    """The folder ``out`` of a growing dataset. UsageError (LR1002) for a URL, a file, and a folder
    that holds something else."""

    def __init__(self, out: Place) -> None:
        if not isinstance(out, Path) or re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(out)):
            raise UsageError(
                "LR1002",
                f"{out} is a URL; expected a folder of this machine",
                hint="The files of a commit cannot appear together in a store: grow a folder of"
                " this machine and copy it",
            )
        if out.exists() and not out.is_dir():
            raise UsageError("LR1002", f"{out} is a file; expected a folder")
        self.out, self.commits = out, out / COMMITS
        if not self.commits.is_dir() and out.is_dir():
            strange = sorted(entry.name for entry in out.iterdir() if entry.name[0] != ".")
            if strange:
                raise UsageError(
                    "LR1002",
                    f"{out} holds {strange[0]} and no {COMMITS}, so it was not made with --grow",
                    hint=(
                        "Name a new folder; an output folder goes on with --after, in a"
                        " folder of its own"
                    ),
                )

    def last(self) -> Path | None:
        """The folder of the last commit; None before the first."""
        names = self.commits.iterdir() if self.commits.is_dir() else ()
        found = [path for path in names if _COMMIT.fullmatch(path.name)]
        return max(found, key=lambda path: int(path.name), default=None)

    def stand(self) -> Mapping[str, Any]:
        """The manifest of the last commit; empty before the first. InputError (LR2001) for one that
        cannot be read."""
        last = self.last()
        if last is None:
            return {}
        manifest: Mapping[str, Any] = read_manifest(last / "manifest.json")
        return manifest

    def grow(self, write: Callable[[Path, Place | str], Bundle]) -> Growth:
        """Add what ``write(folder, after)`` makes: a bundle in ``folder`` that goes on from the one
        in ``after``. A bundle that brings nothing new is dropped.

        UsageError (LR1001) for one that nothing can go on from, Refusal (LR4004) where another run
        has grown the folder meanwhile, (LR4006) where a column has another type than in the files
        that are there; else what ``write`` raises. The folder is then as it was.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        self.commits.mkdir(exist_ok=True)
        self._remove_gone()
        before, manifest = self.last(), self.stand()
        if before is not None:
            self._name_files(before)
        number = 1 if before is None else int(before.name) + 1
        with WorkFolder(".logreplay-", self.out) as work:
            bundle = write(Path(work) / "run", before or NOTHING)
            if "positions" not in bundle.contents:
                raise UsageError(
                    "LR1001",
                    "found --until-time or --except with --grow; expected an export that a"
                    " later one can continue",
                )
            if manifest and not _brings(bundle.contents, manifest):
                return Growth(bundle, None)
            refuse_other_types(bundle.contents, self.out, self._manifests())
            ready = Path(work) / "commit"
            _prepare(bundle, manifest, number, ready)
            try:
                rename_durably(ready, self.commits / f"{number:06d}")
            except OSError:
                if not (self.commits / f"{number:06d}").exists():
                    raise
                raise Refusal(
                    "LR4004",
                    f"found commit {number:06d} of another run in {self.out}; expected one run that"
                    " grows it at a time",
                    hint="Run it again",
                ) from None
        self._name_files(self.commits / f"{number:06d}")
        return Growth(bundle, number)

    def back_to(self, number: int) -> int:
        """Take back the commits behind one (0: all), the newest first; how many. UsageError
        (LR1004) where that one is not there."""
        if number and not (self.commits / f"{number:06d}").is_dir():
            raise UsageError("LR1004", f"found no commit {number:06d} in {self.out}")
        self._remove_gone()
        count = 0
        while (last := self.last()) is not None and int(last.name) > number:
            rename_durably(last, self.commits / f"{_GONE}{last.name}")
            self._remove_gone()
            count += 1
        return count

    def _remove_gone(self) -> None:
        """Remove what is left of commits that were taken back."""
        gone = self.commits.glob(f"{_GONE}[0-9]*") if self.commits.is_dir() else ()
        for commit in gone:
            manifest = commit / "manifest.json"
            for dataset in read_manifest(manifest)["datasets"] if manifest.exists() else ():
                for file in dataset["files"]:
                    (self.out / file["name"]).unlink(missing_ok=True)
            shutil.rmtree(commit / "quarantine", ignore_errors=True)
            shutil.rmtree(commit / _FILES, ignore_errors=True)
            shutil.rmtree(commit)

    def _manifests(self) -> Iterator[Mapping[str, Any]]:
        """The manifests of all commits, the newest first."""
        last = self.last()
        for number in range(0 if last is None else int(last.name), 0, -1):
            path = self.commits / f"{number:06d}" / "manifest.json"
            if path.exists():
                yield read_manifest(path)

    def _name_files(self, commit: Path) -> None:
        """Give the files of a commit their names, as far as they have not got them."""
        files = commit / _FILES
        if not files.is_dir():
            return
        folders = {self.out}
        for path in sorted(path for path in files.rglob("*") if path.is_file()):
            place = self.out / path.relative_to(files)
            place.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # another run, which does the same, was faster
                path.rename(place)
            folders |= {place.parent, place.parent.parent}
        sync_folders(folders)
        shutil.rmtree(files, ignore_errors=True)


def _brings(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Whether a bundle has changes, or knows more of units and logs than the one before it."""
    return bool(new["changes"]) or new["positions"]["after"] != old["positions"]["after"]


def _prepare(bundle: Bundle, before: Mapping[str, Any], number: int, ready: Path) -> None:
    """Make the folder of a commit: its manifest, what was set aside, and its files under the names
    that they will have. ``growth`` in the manifest has the number of the commit, and how many units
    and changes there are with it."""
    ready.mkdir()
    folder, manifest = Path(bundle.folder), bundle.contents
    for dataset in manifest["datasets"]:
        for file in dataset["files"]:
            place, _, name = file["name"].rpartition("/")
            final = f"{place}/part-{number:06d}-{name.removeprefix('part-')}"
            (ready / _FILES / place).mkdir(parents=True, exist_ok=True)
            (folder / file["name"]).rename(ready / _FILES / final)
            file["name"] = final
    if (folder / "quarantine").is_dir():
        (folder / "quarantine").rename(ready / "quarantine")
    sums = before.get("growth", {"units": 0, "changes": 0})
    manifest["growth"] = {
        "commit": number,
        "units": sums["units"] + manifest["units"],
        "changes": sums["changes"] + manifest["changes"],
    }
    write_manifest(manifest, ready / "manifest.json")
