"""Codecs: vectors of the format notes (sections 6.4, 10.1, 10.6), an independent oracle for each
number format, and round trips."""

from __future__ import annotations

import struct
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.decoding import code_pages, codecs
from replay.errors import InputError
from tests.support import encoders


def block(*values: bytes | str) -> codecs.Bytes:
    """Values of equal length (bytes, or hexadecimal text) as a block."""
    raw = [bytes.fromhex(value) if isinstance(value, str) else value for value in values]
    return np.frombuffer(b"".join(raw), np.uint8).reshape(len(raw), -1)


def values(decoded: codecs.Decoded) -> list[object]:
    """The values as Python objects, ``"bad"`` for bad ones; checks that bad values are null and
    that the array is well-formed."""
    array, bad = decoded
    array.validate(full=True)
    found = array.to_pylist()
    for row in range(len(found)) if bad is not None else ():
        if bad[row]:
            assert found[row] is None
            found[row] = "bad"
    return found


def text_column(items: list[bytes]) -> tuple[codecs.Bytes, codecs.Index]:
    offsets = np.concatenate([[0], np.cumsum([len(item) for item in items])]).astype(np.int64)
    return np.frombuffer(b"".join(items), np.uint8), offsets


# -- gather
# -------------------------------------------------------------------------------------------------


def test_gather_varying_beyond_one_view_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "_VIEW_STEP", 64)
    monkeypatch.setattr(codecs, "_VIEW_REACH", 127)
    buffer = np.random.default_rng(1).integers(0, 256, 1000).astype(np.uint8)
    start, length = np.array([0, 63, 64, 130, 950, 500]), np.array([60, 50, 40, 30, 50, 5])
    joined, _ = codecs.gather_varying(buffer, start, length)
    assert joined.tobytes() == b"".join(
        buffer[a : a + n].tobytes() for a, n in zip(start, length, strict=True)
    )


# -- integers and packed decimals
# -------------------------------------------------------------------------------------------------


def test_integer_vectors() -> None:
    assert values(codecs.decode_integer(block("0001", "FFF3", "7FFF", "8000"))) == [
        1,
        -13,
        32767,
        -32768,
    ]
    assert values(codecs.decode_integer(block("000001F2", "FFFFFF85"))) == [498, -123]
    assert values(codecs.decode_integer(block("0000000000000854", "FFFFFFFFFFFFFFE0"))) == [
        2132,
        -32,
    ]


def test_packed_vectors() -> None:
    assert values(codecs.decode_packed(block("001C", "001D"), 0)) == ["1", "-1"]
    assert values(codecs.decode_packed(block("000012345D", "000000000C", "999999999C"), 2)) == [
        "-123.45",
        "0.00",
        "9999999.99",
    ]
    assert values(codecs.decode_packed(block("1C", "0D", "9D"), 1)) == ["0.1", "0.0", "-0.9"]
    assert values(codecs.decode_packed(block("123C", "001D"), 5)) == ["0.00123", "-0.00001"]
    assert values(codecs.decode_packed(block("9" * 31 + "C", "0" * 30 + "1D"), 31)) == [
        "0." + "9" * 31,
        "-0." + "0" * 30 + "1",
    ]
    assert values(codecs.decode_packed(block("9" * 31 + "D"), 0)) == ["-" + "9" * 31]


# -- hexadecimal floats
# -------------------------------------------------------------------------------------------------


def exact_hfp(raw: bytes) -> Fraction:
    """The definition, in exact arithmetic: sign, exponent in excess 64 of base 16, fraction behind
    the point."""
    fraction = Fraction(int(raw[1:].hex(), 16), 1 << 8 * (len(raw) - 1))
    return (-1 if raw[0] & 0x80 else 1) * fraction * Fraction(16) ** ((raw[0] & 0x7F) - 64)


def test_hfp_vectors() -> None:
    vectors = {
        "401999999999999A": 0.1,
        "4080000000000000": 0.5,
        "4110000000000000": 1.0,
        "C110000000000000": -1.0,
        "4264000000000000": 100.0,
        "C276A00000000000": -118.625,
        "0000000000000000": 0.0,
        "41FFFFFFFFFFFFFC": 16.0,  # half way between two doubles: to the even one
        "41FFFFFFFFFFFFF4": 16.0 - 2**-48,  # half way: the even one is below
        "4010000000000000": 0.0625,
        "4200000000000001": 2.0**-48,  # unnormalised
    }
    assert values(codecs.decode_hfp(block(*vectors))) == list(vectors.values())
    assert values(codecs.decode_hfp(block("41100000", "C276A000", "7FFFFFFF", "00000001"))) == [
        1.0,
        -118.625,
        (16**6 - 1) * 16.0**57,
        16.0**-70,
    ]
    # from a reader that got these wrong for years (AbsaOSS/cobrix#853)
    assert values(codecs.decode_hfp(block("41480000", "C13C0000", "41280000"))) == [4.5, -3.75, 2.5]
    assert str(codecs.hfp_values(block("80000000"))[0]) == "-0.0"


@given(
    st.lists(
        st.one_of(
            st.binary(min_size=8, max_size=8),
            st.builds(
                lambda a, b: a + b,
                st.binary(min_size=6, max_size=6),
                st.sampled_from([b"\x00\x04", b"\x00\x0c", b"\xff\xf8"]),
            ),
        ),
        min_size=1,
    )
)
def test_long_hfp_is_the_nearest_double(raw: list[bytes]) -> None:
    assert values(codecs.decode_hfp(block(*raw))) == [float(exact_hfp(one)) for one in raw]


@given(st.lists(st.binary(min_size=4, max_size=4), min_size=1))
def test_short_hfp_is_exact_and_real_knows_its_range(raw: list[bytes]) -> None:
    found = values(codecs.decode_hfp(block(*raw)))
    assert [Fraction(value) for value in found] == [exact_hfp(one) for one in raw]  # type: ignore[arg-type]
    for one, value in zip(raw, values(codecs.decode_real(block(*raw))), strict=True):
        try:
            fits = Fraction(
                struct.unpack("f", struct.pack("f", float(exact_hfp(one))))[0]
            ) == exact_hfp(one)
        except OverflowError:
            fits = False
        assert (value != "bad") == fits
        assert value == "bad" or Fraction(value) == exact_hfp(one)  # type: ignore[arg-type]


# -- text
# -------------------------------------------------------------------------------------------------


def decode_all(items: list[bytes], number: int) -> list[object]:
    data, offsets = text_column(items)
    return values(codecs.decode_text(data, offsets, number))


@pytest.mark.parametrize(
    ("number", "raw", "text"),
    [
        (37, "C1 4A 5F BA BB 4F", "A¢¬[]|"),
        (500, "C1 4A 5F 5A B0", "A[^]¢"),
        (1047, "C1 4A AD BD 5F B0", "A¢[]^¬"),
        (1140, "9F C1", "€A"),
        (1148, "9F 4A", "€["),
        (273, "C0 D0 A1 59 4A", "äüß~Ä"),
        (1141, "A1 9F", "ß€"),
        (277, "5B C0", "Åæ"),
        (1208, "C3A9 F09F9880", "é😀"),
        (1200, "00E9 D83DDE00", "é😀"),
        (819, "41 E9", "Aé"),
        (850, "82", "é"),
        (1252, "80 E9", "€é"),
        (367, "41", "A"),
    ],
)
def test_text_vectors(number: int, raw: str, text: str) -> None:
    assert decode_all([bytes.fromhex(raw), b""], number) == [text, ""]


@pytest.mark.parametrize("number", sorted(code_pages._EBCDIC))
def test_ebcdic_line_ends_are_those_of_the_ccsid(number: int) -> None:
    points = code_pages.charset_of(number).single
    assert points is not None
    assert (points[0x15], points[0x25], points[0x40], points[0xF0], points[0xC1]) == (
        0x85,
        0x0A,
        0x20,
        0x30,
        0x41,
    )


MIXED = (930, 933, 935, 937, 939, 1364, 1371, 1388, 1390, 1399, 5026, 5035)


@pytest.mark.parametrize("number", MIXED)
def test_every_character_of_a_mixed_set_agrees_with_icu(number: int) -> None:
    charset = code_pages.charset_of(number)
    assert charset.single is not None
    assert charset.double is not None
    codes = np.flatnonzero(charset.double != code_pages.UNDEFINED).tolist()
    assert len(codes) > 6000
    items = [b"\xc1\x0e" + bytes(divmod(code, 256)) + b"\x0f\xf1" for code in codes]
    everything = b"\x0e" + b"".join(bytes(divmod(code, 256)) for code in codes) + b"\x0f"
    expected = [
        str(
            code_pages.icu().UnicodeString(
                item, f"ibm-{ {5026: 930, 5035: 939}.get(number, number) }"
            )
        )
        for item in (*items, everything)
    ]
    assert decode_all([*items, everything], number) == expected


def test_mixed_vectors() -> None:
    nihon = bytes.fromhex("0E 4562 4566 0F")
    assert decode_all([b"\xc1" + nihon + b"\xc2", b"", nihon + nihon, b"\xc1\xc2"], 939) == [
        "A日本B",
        "",
        "日本日本",
        "AB",
    ]
    assert decode_all([nihon[1:-1], b"\x40\x40"], 300) == ["日本", "\u3000"]
    assert encoders.encode_text("A日本B", 939) == b"\xc1" + nihon + b"\xc2"
    assert encoders.encode_text("日本", 300, 6) == nihon[1:-1] + b"\x40\x40"
    assert decode_all([encoders.encode_text("か\u309a", 1399)], 1399) == ["か\u309a"]


@pytest.mark.parametrize(
    "raw",
    ["0E4562", "0E45620E0F", "0F", "C10F", "0E456245 0F", "0E45620F0E", "0E41010F", "0E0E45620F"],
)
def test_shifts_out_of_turn_are_bad(raw: str) -> None:
    assert decode_all([b"\xc1", bytes.fromhex(raw), bytes.fromhex("0E45620F")], 939) == [
        "A",
        "bad",
        "日",
    ]


def test_undecodable_text_is_bad_and_moves_nothing() -> None:
    assert decode_all([b"a\xc3\xa9", b"\xff", b"b\xc3", b"\xa9", b"c"], 1208) == [
        "aé",
        "bad",
        "bad",
        "bad",
        "c",
    ]
    assert decode_all([b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"], 1208) == ["bad"] * 3
    assert decode_all(
        [b"\x00a", b"\x00", b"\xd8\x3d", b"\xde\x00", b"\xd8\x3d\x00a", b"\x00b"], 1200
    ) == [
        "a",
        "bad",
        "bad",
        "bad",
        "bad",
        "b",
    ]
    assert decode_all([b"\x80", b"A"], 367) == ["bad", "A"]
    assert decode_all([b"\x41\x01", b"\x40"], 300) == ["bad", "bad"]


@given(st.lists(st.text(max_size=12), max_size=12), st.sampled_from([1208, 1200]))
def test_unicode_round_trip(texts: list[str], number: int) -> None:
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    assert decode_all([encoders.encode_text(text, number) for text in texts], number) == texts


@given(st.lists(st.binary(max_size=9), max_size=9))
def test_utf16_agrees_with_python(items: list[bytes]) -> None:
    def expected(item: bytes) -> str:
        try:
            return item.decode("utf-16-be")
        except UnicodeDecodeError:
            return "bad"

    assert decode_all(items, 1200) == [expected(item) for item in items]


def test_every_known_ccsid_has_a_table_and_others_are_refused() -> None:
    known = 0
    for number in range(1 << 16):
        with suppress(InputError):
            assert code_pages.charset_of(number).ccsid == number
            known += 1
    assert known > 140
    with pytest.raises(InputError, match="LR2015.*CCSID 65534.*--ccsid"):
        codecs.decode_text(np.empty(0, np.uint8), np.zeros(1, np.int64), 65534)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "icu", None)
    with pytest.raises(InputError, match="LR1005.*pip install 'logreplay-sql.dbcs.'"):
        code_pages._icu_tables("ibm-939")


def test_ascii_double_byte_sets_value_by_value() -> None:
    assert decode_all([bytes.fromhex("41 93FA 967B"), b"\x93", b"B"], 943) == ["A日本", "bad", "B"]
    assert encoders.encode_text("A日本", 943) == bytes.fromhex("41 93FA 967B")


@pytest.mark.parametrize(
    ("number", "mixed", "count", "known"),
    [
        (301, 932, 8000, "日本 93FA967B ー 815B"),
        (941, 943, 9000, "日本 93FA967B 〜 8160 — 815C ￢ 81CA ∵ 81E6 髙 FBFC"),
        (951, 949, 8000, "한글 C7D1B1DB 漢 F9D3"),
        (947, 950, 13000, "中國 A4A4B0EA"),
        (1362, 1363, 17000, "한글 C7D1B1DB 믜 92DE"),
        (1385, 1386, 23000, "中国 D6D0B9FA 丂 8140"),
    ],
)
def test_double_byte_halves_of_ascii_pages(number: int, mixed: int, count: int, known: str) -> None:
    """Each code is the character that the mixed page has there, and what is written comes back: to
    the same bytes where the mixed page writes these."""
    table = code_pages.charset_of(number).double
    assert table is not None
    codes = np.flatnonzero(table != code_pages.UNDEFINED)
    assert len(codes) > count
    codes = codes[number % 9 :: 9]  # all of them take ten seconds
    items = [int(code).to_bytes(2, "big") for code in codes]
    texts = decode_all(items, number)
    assert texts == decode_all(items, mixed)
    for text, item in zip(texts, items, strict=True):
        again = encoders.encode_text(text, number)
        assert again == encoders.encode_text(text, mixed) or again == item
        assert decode_all([again], number) == [text]
    assert encoders.encode_text("", number, 4) == 2 * encoders.encode_text("\u3000", mixed)
    words = known.split()
    assert [encoders.encode_text(text, number).hex().upper() for text in words[::2]] == words[1::2]
    assert decode_all([b"A"], number) == ["bad"]
    # No code is left out: what two bytes are one character in the mixed page is one here.
    for code in np.flatnonzero(table == code_pages.UNDEFINED).tolist():
        item = code.to_bytes(2, "big")
        if item[0] >= 0x80 and code % 31 == 0:
            (text,) = decode_all([item], mixed)
            assert text == "bad" or len(text) != 1 or text in "\ufffd\x1a\x1c", item


@pytest.mark.parametrize("number", [1041, 1114, 1115, 927, 1380, 1381])
def test_halves_that_nobody_has_a_table_of_are_refused_by_name(number: int) -> None:
    with pytest.raises(InputError, match=f"LR2015.*CCSID {number}"):
        code_pages.charset_of(number)


def test_single_byte_halves_of_ascii_pages() -> None:
    items = [bytes([0x41, 0x5C, 0x7E, 0x1A, 0x7F]), b"\xb1"]
    assert decode_all(items, 897) == ["A¥‾\x1a\x7f", "ｱ"]
    assert decode_all(items, 1088) == ["A₩~\x1a\x7f", "bad"]
    assert decode_all([b"\x80\x82\x84", b"\\"], 1088) == ["¢\\¦", "₩"]
    assert decode_all([b"\x80", b"\\"], 1126) == ["bad", "₩"]


def test_fixed_text_keeps_blanks_and_header_text_does_not() -> None:
    raw = block(
        encoders.encode_text("AB", 37, 5),
        encoders.encode_text("", 37, 5),
        encoders.encode_text(" ¢\x00", 37, 5),
    )
    assert values(codecs.decode_fixed_text(raw, 37)) == ["AB   ", "     ", " ¢\x00  "]
    assert codecs.ebcdic_text(raw).to_pylist() == ["AB", "", " ¢\x00"]
    with pytest.raises(ValueError, match="do not fill"):
        encoders.encode_text("ABC", 37, 2)
    with pytest.raises(ValueError, match="has no character"):
        encoders.encode_text("日", 37)


@given(
    st.integers(1, 25).flatmap(
        lambda width: st.lists(
            st.tuples(*[st.lists(st.integers(0, 2), min_size=width, max_size=width)] * 2),
            max_size=20,
        )
    )
)
def test_equal_rows_compares_every_byte(rows: list[tuple[list[int], list[int]]]) -> None:
    """Of fields within wider rows, as they lie in headers and records; against a row each, and
    against one for all."""
    if not rows:
        return
    wide = np.zeros((len(rows), 2, len(rows[0][0]) + 3), np.uint8)
    wide[:, :, 1:-2] = rows
    one, other = wide[:, 0, 1:-2], wide[:, 1, 1:-2]
    assert codecs.equal_rows(one, other).tolist() == [mine == theirs for mine, theirs in rows]
    assert codecs.equal_rows(one, other[:1]).tolist() == [mine == rows[0][1] for mine, _ in rows]
