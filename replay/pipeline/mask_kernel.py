"""Machine code that replaces values by their masks (:mod:`sqlgen.masking`): the keyed digest of a
text, the permutation of a whole number.

The digest is BLAKE2b (RFC 7693), for its library is asked from Python alone, a value at a time. As
:mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by nobody
else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from replay.decoding.shared_kernel import Array, U, copied, machine_code, word_of
from replay.pipeline.fast_path_tables import BITS, BLOCK, PARAMETERS
from replay.pipeline.row_values_kernel import unsigned_digits

#: What the state begins with, and the order of the words of a block in each of the rounds.
_START = np.array(
    [
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
    ],
    np.uint64,
)  # fmt: skip
_ORDER = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    np.int64,
)  # fmt: skip
#: The digits of masked text, five bits each, and half of their number.
_DIGITS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", np.uint8)
_HALF = 8
#: Turns of a permutation.
_TURNS = 8


@machine_code
def _turned(word: Any, bits: int) -> Any:
    return (word >> np.uint64(bits)) | (word << np.uint64(64 - bits))


@machine_code
def _mixed(a: Any, b: Any, c: Any, d: Any, one: Any, other: Any) -> Any:
    a = a + b + one
    d = _turned(d ^ a, 32)
    c = c + d
    b = _turned(b ^ c, 24)
    a = a + b + other
    d = _turned(d ^ a, 16)
    c = c + d
    b = _turned(b ^ c, 63)
    return a, b, c, d


@machine_code
def _word(block: Array, at: int, turn: int, index: int) -> Any:
    return word_of(block, at + 8 * _ORDER[U(turn), U(index)])


@machine_code
def _compressed(state: Array, block: Array, at: int, seen: int, last: bool) -> Any:
    """Have ``state`` become that after a block of :data:`BLOCK` octets; its first two words.
    ``seen``: octets up to the end of what counts of the block, those of the key included; ``last``:
    it is the last one."""
    a, b, c, d, e, f, g, h = (
        state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7],
    )  # fmt: skip
    i, j, k, q = _START[0], _START[1], _START[2], _START[3]
    m, n = _START[4] ^ np.uint64(seen), _START[5]
    o, p = _START[6], _START[7]
    if last:
        o = ~o
    for turn in range(len(_ORDER)):
        a, e, i, m = _mixed(a, e, i, m, _word(block, at, turn, 0), _word(block, at, turn, 1))
        b, f, j, n = _mixed(b, f, j, n, _word(block, at, turn, 2), _word(block, at, turn, 3))
        c, g, k, o = _mixed(c, g, k, o, _word(block, at, turn, 4), _word(block, at, turn, 5))
        d, h, q, p = _mixed(d, h, q, p, _word(block, at, turn, 6), _word(block, at, turn, 7))
        a, f, k, p = _mixed(a, f, k, p, _word(block, at, turn, 8), _word(block, at, turn, 9))
        b, g, q, m = _mixed(b, g, q, m, _word(block, at, turn, 10), _word(block, at, turn, 11))
        c, h, i, n = _mixed(c, h, i, n, _word(block, at, turn, 12), _word(block, at, turn, 13))
        d, e, j, o = _mixed(d, e, j, o, _word(block, at, turn, 14), _word(block, at, turn, 15))
    state[0], state[1], state[2], state[3] = (
        state[0] ^ a ^ i, state[1] ^ b ^ j, state[2] ^ c ^ k, state[3] ^ d ^ q,
    )  # fmt: skip
    state[4], state[5], state[6], state[7] = (
        state[4] ^ e ^ m, state[5] ^ f ^ n, state[6] ^ g ^ o, state[7] ^ h ^ p,
    )  # fmt: skip
    return state[0], state[1]


@machine_code
def _start(secret: Array, state: Array) -> None:
    """The state before the key."""
    for index in range(len(state)):
        state[U(index)] = _START[U(index)] ^ word_of(secret, 8 * index)


@machine_code
def start_digests(secrets: Array, states: Array) -> None:
    """The state behind the key of each of the ``secrets``, in the row of ``states`` that is its
    own."""
    for row in range(len(secrets)):
        _start(secrets[U(row)], states[U(row)])
        _compressed(states[U(row)], secrets[U(row)], PARAMETERS, BLOCK, False)


@machine_code
def _digest(secrets: Array, states: Array, row: int, out: Array, start: int, end: int) -> Any:
    """The first two words of the digest of what lies in ``out`` between two places. There is room
    for a block behind it."""
    state, seen = states[U(len(secrets))], BLOCK
    for index in range(len(state)):
        state[U(index)] = states[U(row), U(index)]
    if start == end:  # then the key is all there is
        _start(secrets[U(row)], state)
        seen = 0
        end = copied(secrets[U(row)], PARAMETERS, PARAMETERS + BLOCK, out, start)
    while True:
        last = end - start <= BLOCK
        for index in range(end, start + BLOCK):
            out[U(index)] = 0
        seen += min(end - start, BLOCK)
        one, other = _compressed(state, out, start, seen, last)
        if last:
            return one, other
        start += BLOCK


@machine_code
def _reversed(word: Any) -> Any:
    """The octets of a word in the other order."""
    value = np.uint64(0)
    for _ in range(8):
        value = (value << np.uint64(8)) | (word & np.uint64(0xFF))
        word >>= np.uint64(8)
    return value


@machine_code
def _letters(one: Any, other: Any, out: Array, place: int) -> int:
    """The first 80 bits of a digest, in base 32."""
    one, other = _reversed(one), _reversed(other)
    first = one >> np.uint64(24)
    second = ((one << np.uint64(16)) | (other >> np.uint64(48))) & np.uint64(0xFF_FFFF_FFFF)
    for index in range(_HALF):
        bits = np.uint64(5 * (_HALF - 1 - index))
        out[U(place + index)] = _DIGITS[U((first >> bits) & np.uint64(31))]
        out[U(place + _HALF + index)] = _DIGITS[U((second >> bits) & np.uint64(31))]
    return place + 2 * _HALF


@machine_code
def _number_of(out: Array, start: int, end: int) -> Any:
    """A whole number in two's complement, of its digits."""
    negative = out[U(start)] == 45
    value = np.uint64(0)
    for index in range(start + int(negative), end):
        value = value * np.uint64(10) + np.uint64(out[U(index)] - 48)
    return ~value + np.uint64(1) if negative else value


@machine_code
def masked(secrets: Array, states: Array, row: int, out: Array, start: int, end: int) -> int:
    """The value that is written between two places of ``out`` becomes its mask, by one of the
    ``secrets`` (uint8[k, :data:`replay.pipeline.fast_path_tables.SECRET`]); the place behind it, or
    -1 where a number has more bits than it may.

    There must be room for a block behind the value, and for ``states`` (uint64[k + 1, 8])
    :func:`start_digests` was called. A text is digested without the blanks at its end; of a whole
    number half of the bits are mixed with a digest of the other half, in turns.
    """
    bits = np.int64(secrets[U(row), BITS])
    value = left = right = low = np.uint64(0)
    highest, half = np.uint64(1) << np.uint64((bits - 1) & 63), np.uint64(bits // 2)
    if bits:
        value = _number_of(out, start, end) + highest  # of 64 bits, the carry does not count
        if bits < 64 and value >> np.uint64(bits):
            return -1
        low = (np.uint64(1) << half) - np.uint64(1)
        left, right = (value >> half) & low, value & low
    else:
        while end > start and out[U(end - 1)] == 32:
            end -= 1
    for turn in range(_TURNS):
        if bits:
            out[U(start)], out[U(start + 1)] = 48 + turn, 58
            end = unsigned_digits(right, out, start + 2)
        one, other = _digest(secrets, states, row, out, start, end)
        if not bits:
            return _letters(one, other, out, start)
        left, right = right, left ^ (_reversed(other) & low)
    value = ((left << half) | right) - highest
    if value >> np.uint64(63):
        value = ~value + np.uint64(1)
        out[U(start)] = 45
        start += 1
    return unsigned_digits(value, out, start)
