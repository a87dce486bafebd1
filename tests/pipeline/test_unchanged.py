"""A log that somebody writes while it is read ends the run, and nothing is kept or committed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.errors import InputError
from replay.live.target_transactions import Transactions
from replay.output.run_plan import RenderJob
from tests.support import family_logs, small_target
from tests.support.family_logs import FamilyLog


def written_again(path: Path) -> None:
    """Other bytes in the same place, as many as before."""
    path.write_bytes(bytes(reversed(path.read_bytes())))
    later(path)


def replaced(path: Path) -> None:
    """Another file under the same name, which has the same bytes."""
    shutil.copy(path, path.with_suffix(".new"))
    later(path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def later(path: Path) -> None:
    """A file is younger than any clock tells of one that was just written."""
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


HARM: dict[str, Callable[[Path], None]] = {
    "written again": written_again,
    "replaced": replaced,
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "gone": Path.unlink,
}


def opened(family: Callable[[Path], FamilyLog], folder: Path) -> tuple[dict[str, Any], Path]:
    """What opens a copy of a family's log, and a file of its records."""
    log = family(folder)
    name = "data" if "data" in log else "log"
    files = [log[name]] if isinstance(log[name], str) else log[name]
    copies = [str(shutil.copy(file, folder / f"{at}-{Path(file).name}")) for at, file in
              enumerate(files)]  # fmt: skip
    return {**log, name: copies}, Path(copies[0])


@pytest.mark.parametrize(
    ("family", "harm"),
    [
        *((family_logs.logmaster, harm) for harm in HARM),
        (family_logs.db2luw, "replaced"),
        pytest.param(family_logs.soliddb, "replaced", marks=pytest.mark.long),
        (family_logs.logmaster_load, "replaced"),
    ],
)
def test_nothing_is_published(
    family: Callable[[Path], FamilyLog], harm: str, tmp_path: Path
) -> None:
    given, path = opened(family, tmp_path)
    with replay.open_log(**given) as log:
        HARM[harm](path)
        with pytest.raises(InputError, match="LR2001 .*, as it was when the log was opened"):
            log.select().redo().write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], None]]:
    """Sets what happens when the first bucket is written."""
    asked: list[Any] = []
    reduce = RenderJob.reduce

    def first_harmed(self: RenderJob, *arguments: Any) -> Iterator[bytes]:
        if asked:
            asked.pop()()
        yield from reduce(self, *arguments)

    monkeypatch.setattr(RenderJob, "reduce", first_harmed)
    yield asked.append
    assert not asked


@pytest.mark.parametrize("harm", ["written again", "replaced", "longer"])
def test_damage_that_is_found_then_is_none(
    harm: str, tmp_path: Path, while_it_is_read: Callable[[Any], None]
) -> None:
    given, path = opened(family_logs.logmaster, tmp_path)
    with replay.open_log(**given) as log:
        while_it_is_read(lambda: HARM[harm](path))
        with pytest.raises(InputError, match="LR2001 .*It was written while it was read"):
            log.select().redo().write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def harmed_when(called: Callable[..., Any], harm: Callable[[], None]) -> Callable[..., Any]:
    """A function that does harm when it is called."""

    def harming(*arguments: Any) -> Any:
        harm()
        return called(*arguments)

    return harming


@pytest.mark.live
@pytest.mark.parametrize("mode", ["strict", "bulk"])
def test_no_transaction_is_committed_that_was_read_of_it(
    mode: str, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In strict order all statements are there before the first transaction."""
    control, data = small_target.write_log(tmp_path)[1::2]
    harm = partial(replaced, Path(data))
    monkeypatch.setattr(Transactions, "_move", harmed_when(Transactions._move, harm))
    with (
        small_target.small_target("postgres", postgres) as url,
        replay.open_log(control=control, data=data) as log,
        log.select().replay(url, mode=mode) as plan,
    ):
        if mode == "strict":
            plan.apply()
            assert small_target.state(url) == small_target.AFTER
        else:
            with pytest.raises(InputError, match="LR2001"):
                plan.apply()
            assert small_target.state(url) == small_target.BEFORE


def test_a_replay_that_was_planned_before_is_not_begun(tmp_path: Path) -> None:
    control, data = small_target.write_log(tmp_path)[1::2]
    with (
        small_target.small_target("sqlite", None) as url,
        replay.open_log(control=control, data=data) as log,
        log.select().replay(url) as plan,
    ):
        replaced(Path(data))
        with pytest.raises(InputError, match="LR2001"):
            plan.apply()
        assert small_target.state(url) == small_target.BEFORE
