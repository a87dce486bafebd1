"""What the modules of machine code share: how they are compiled, and steps that several take.

Those modules are imported by who makes the code anew (:mod:`replay.decoding.machine_code`), and by
nobody else; so is this one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit

Array = npt.NDArray[Any]
#: Indexes are unsigned, so that the machine code need not look whether they count from the end.
U = np.uintp

_Function = TypeVar("_Function", bound=Callable[..., Any])
#: Compiles a function. Without ``_nrt`` (Numba's counting of references to arrays), which takes two
#: thirds of the time: nothing is allocated in machine code.
machine_code: Callable[[_Function], _Function] = njit(_nrt=False)  # type: ignore[call-overload]
#: The same for a function that is called for every row with more arrays than registers hold: its
#: code stands where it is called.
machine_code_in_place: Callable[[_Function], _Function] = njit(_nrt=False, inline="always")  # type: ignore[call-overload]


@machine_code
def leading_word(octets: Array, place: int) -> Any:
    """Eight octets, the first one highest."""
    value = np.uint64(0)
    for index in range(8):
        value = (value << np.uint64(8)) | np.uint64(octets[U(place + index)])
    return value


@machine_code
def octet(octets: Array, place: int) -> Any:
    """An octet as a signed number: unsigned ones and signed ones together would be floats."""
    return np.int64(octets[U(place)])
