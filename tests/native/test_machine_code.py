"""Machine code is called with what it was made for, or not at all."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

import replay
from replay.native import fast_path
from replay.native.kernels import KERNELS
from replay.native.machine_code import NUMBER, ArrayOf, Kernel, available, loaded
from replay.temp_folders import UNUSED_DAYS


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros(4, np.int32),
        np.zeros((2, 2), np.int64),
        np.arange(8)[::2],
        np.frombuffer(bytes(8), np.int64),
    ],
    ids=["type", "dimensions", "not contiguous", "not to be written to"],
)
def test_other_arrays_are_refused(wrong: np.ndarray) -> None:
    render = fast_path.compiled()
    assert render is not None
    byte, table = np.zeros(1, np.uint8), np.zeros((2, 0), np.int64)
    rows = [byte, table, table, np.zeros(0, np.int64), table, table, byte]
    rows += [np.zeros((1, 1), np.uint8), np.zeros((1, 1, 1), "u1"), byte, np.zeros((1, 1), bool)]
    rows += [0, table, byte]
    outcome = np.zeros(0, np.uint8), np.zeros(0, np.int64)
    assert render(*rows, np.zeros(1, np.int64), *outcome) == 0
    with pytest.raises(TypeError, match="expected ArrayOf"):
        render(*rows, wrong, *outcome)
    with pytest.raises(ValueError, match="argument 2 is longer"):
        render(byte)


def test_all_kernels_can_be_loaded() -> None:
    assert [kernel.name for kernel in KERNELS if available(kernel) is None] == []


def test_kernels_are_few_and_in_one_place() -> None:
    root = Path(replay.__file__).parent
    assert len(KERNELS) <= 6
    declared = {path for path in root.rglob("*.py") if " = Kernel(" in path.read_text()}
    compiled = {path for path in root.rglob("*.py") if "@machine_code\n" in path.read_text()}
    assert declared == {root / "native" / "kernels.py"}
    assert {path.parent.name for path in compiled} == {"native"}
    assert {kernel.module for kernel in KERNELS} <= {
        f"replay.native.{path.stem}" for path in compiled
    }


def made_kernel(folder: Path, patch: pytest.MonkeyPatch, kind: str) -> Kernel:
    """A small kernel, whose machine code is kept in ``folder``; of kind "uint64" it computes with
    floats, for Numba makes one of a signed and an unsigned number."""
    (folder / f"kernel_{kind}.py").write_text(
        "import numpy as np\nfrom replay.native.shared_kernel import machine_code\n\n"
        "@machine_code\ndef mixed(octets, value):\n    if value > 3:\n"
        f"        value = np.{kind}(octets[0])\n    return np.int64(value)\n"
    )
    patch.syspath_prepend(folder)
    patch.setenv("NUMBA_CACHE_DIR", str(folder / "kept"))
    return Kernel(f"kernel_{kind}", "mixed", (ArrayOf("uint8", fixed=True), NUMBER))


def test_a_kernel_that_computes_with_floats_is_not_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel = made_kernel(tmp_path, monkeypatch, "uint64")
    with pytest.raises(RuntimeError, match="computes with floats"):
        loaded(kernel)
    assert available(kernel) is None


def test_a_kernel_that_is_not_there() -> None:
    with pytest.raises(ModuleNotFoundError):
        loaded(Kernel("replay.no_such.module", "f", (NUMBER,)))
    with pytest.raises(ImportError, match=r"no source of replay\.no_such"):
        loaded(Kernel("replay.no_such", "f", (ArrayOf("uint8"),)))


def test_what_nobody_used_for_long_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of a kernel in other versions stay while they are used; those of others stay."""
    long_ago = time.time() - (UNUSED_DAYS + 1) * 86_400
    kernel = made_kernel(tmp_path, monkeypatch, "int64")
    place = tmp_path / "kept"
    place.mkdir()
    names = {
        f"{kernel.name}-{'0' * 32}.machine-code": long_ago,
        f".{kernel.name}-{'1' * 32}.machine-code-7-ab": long_ago,
        f"{kernel.name}-{'2' * 32}.machine-code": time.time(),
        f"{kernel.name}_too-{'3' * 32}.machine-code": long_ago,
    }
    for name, used in names.items():
        (place / name).write_bytes(b"")
        os.utime(place / name, (used, used))
    loaded(kernel)
    here = {path.name for path in place.iterdir()}
    assert len(here) == 3
    assert here & set(names) == set(list(names)[2:])

    (kept,) = here - set(names)
    os.utime(place / kept, (long_ago, long_ago))
    made = (place / kept).read_bytes()
    loaded(kernel)
    assert (place / kept).read_bytes() == made
    assert time.time() - (place / kept).stat().st_mtime < 86_400
