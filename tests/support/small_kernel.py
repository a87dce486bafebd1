"""A kernel that takes a second to make, not half a minute."""

from __future__ import annotations

import numpy as np

from replay.native.shared_kernel import Array, U, machine_code


@machine_code
def first_octet(octets: Array) -> int:
    """The first of some octets."""
    return np.int64(octets[U(0)])  # type: ignore[return-value]
