"""No memory is said as that: it is no file that cannot be read, and no defect."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from replay.cli import inspect_commands
from replay.cli import main as entry
from replay.logs import files


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError("malloc of size 64 failed"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
    ],
    ids=repr,
)
def test_a_command_without_memory(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setitem(inspect_commands.COMMANDS, "inspect", fails)
    assert entry.main(["inspect", "--control", "t.ctl", "--data", "t.dat"]) == 12
    said = capsys.readouterr().err
    assert said.startswith("logreplay: LR1007 found no memory left for this program; expected")
    assert "defect" not in said


def test_a_file_that_there_is_no_room_to_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was said that the file cannot be read on this machine."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(np, "memmap", full)
    path = tmp_path / "log"
    path.write_bytes(b"x")
    with pytest.raises(MemoryError):
        files.mapped(str(path))
