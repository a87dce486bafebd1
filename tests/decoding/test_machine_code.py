"""Machine code is called with what it was made for, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from replay.decoding.machine_code import NUMBER, ArrayOf, Kernel, loaded
from replay.pipeline import fast_path


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
    rows = [byte, table, table, table, byte, np.zeros((1, 1), np.uint8), np.zeros((1, 1, 1), "u1")]
    rows += [byte, np.zeros((1, 1), bool), 0, table, byte]
    assert render(*rows, np.zeros(1, np.int64), np.zeros(0, np.uint8)) == 0
    with pytest.raises(TypeError, match="expected ArrayOf"):
        render(*rows, wrong, np.zeros(0, np.uint8))
    with pytest.raises(ValueError, match="argument 2 is longer"):
        render(byte)


def test_a_kernel_that_is_not_there() -> None:
    with pytest.raises(ModuleNotFoundError):
        loaded(Kernel("replay.no_such.module", "f", (NUMBER,)))
    with pytest.raises(ImportError, match=r"no source of replay\.no_such"):
        loaded(Kernel("replay.no_such", "f", (ArrayOf("uint8"),)))
