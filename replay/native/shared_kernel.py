"""What the modules of machine code share: how they are compiled, and steps that several take.

Those modules are imported by who makes the code anew (:mod:`replay.native.machine_code`), and by
nobody else; so is this one.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.extending import intrinsic

Array = npt.NDArray[Any]
#: Indexes are unsigned, so that the machine code need not look whether they count from the end.
U = np.uintp

_Function = TypeVar("_Function", bound=Callable[..., Any])
#: Compiles a function. Without ``_nrt`` (Numba's counting of references to arrays), which takes two
#: thirds of the time: nothing is allocated in machine code. Its code stands where it is called, for
#: an array is seven numbers, which are handed over one by one: with calls, rows take 1.6 times as
#: long.
machine_code: Callable[[_Function], _Function] = njit(_nrt=False, forceinline=True)  # type: ignore[call-overload]

#: Makes a function of machine code itself; it is called without the first argument.
_machine_step: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic
#: What writes it, and the words for it.
_tools: Any = import_module("numba.core.cgutils")
_ir: Any = import_module("llvmlite.ir")


@machine_code
def word_of(octets: Array, place: int) -> Any:
    """Eight bytes, the first one lowest."""
    value = np.uint64(0)
    for index in range(8):
        value |= np.uint64(octets[U(place + index)]) << np.uint64(8 * index)
    return value


@machine_code
def octet(octets: Array, place: int) -> Any:
    """A byte as a signed number: unsigned ones and signed ones together would be floats."""
    return np.int64(octets[U(place)])


@machine_code
def half(octets: Array, place: int) -> Any:
    """Two bytes as a number, the first one higher."""
    return (octet(octets, place) << 8) | octet(octets, place + 1)


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Where a byte of an array lies."""
    start = _tools.create_struct_proxy(kind)(context, builder, value=array).data
    return builder.gep(start, [index])


def _moves(size: int) -> Any:
    """A function (source, at, target, place) that moves so many bytes at once."""

    def move(context: Any, source: Any, at: Any, target: Any, place: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = _ir.VectorType(_ir.IntType(8), size).as_pointer()
            start, end = (
                builder.bitcast(
                    _place(context, builder, signature.args[of], *arguments[of : of + 2]), word
                )
                for of in (0, 2)
            )
            builder.store(builder.load(start, align=1), end, align=1)
            return context.get_dummy_value()

        return types.none(source, types.intp, target, types.intp), code

    return _machine_step(move)


@_machine_step
def fetched(context: Any, octets: Any, at: Any) -> Any:
    """Have the memory around a place come nearer, which nobody waits for; any place will do."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments)
        number = _ir.IntType(32)
        kind = _ir.FunctionType(_ir.VoidType(), [place.type, number, number, number])
        prefetch = _tools.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(prefetch, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.none(octets, types.intp), code


_move_16, _move_8, _move_4 = _moves(16), _moves(8), _moves(4)


@machine_code
def copied(octets: Array, start: int, end: int, out: Array, place: int) -> int:
    """Write bytes to ``out``; the place behind them. Few at a time would take longer."""
    size = end - start
    if size >= 16:
        for index in range(0, size - 16, 16):
            _move_16(octets, start + index, out, place + index)
        _move_16(octets, end - 16, out, place + size - 16)
    elif size >= 8:
        _move_8(octets, start, out, place)
        _move_8(octets, end - 8, out, place + size - 8)
    elif size >= 4:
        _move_4(octets, start, out, place)
        _move_4(octets, end - 4, out, place + size - 4)
    else:
        for index in range(size):
            out[U(place + index)] = octets[U(start + index)]
    return place + size


@machine_code
def same_octets(octets: Array, one: int, other: int, size: int) -> bool:
    """Whether two ranges have the same bytes."""
    if size >= 8:
        for index in range(0, size - 8, 8):
            if word_of(octets, one + index) != word_of(octets, other + index):
                return False
        last = size - 8
        return bool(word_of(octets, one + last) == word_of(octets, other + last))
    same = True
    for index in range(size):
        same = same and octets[U(one + index)] == octets[U(other + index)]
    return same
