"""Every single-byte code page as ICU reads it. (Hexadecimal floats: scripts/judge_floats.py.)"""

from __future__ import annotations

import numpy as np
import pytest

from replay.decoding import code_pages
from tests.support import encoders

#: IBM's tables of PC pages exchange these three controls; Db2 and Windows do not.
EXCHANGED = {0x1A, 0x1C, 0x7F}
PC_PAGES = (437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869, 874)
#: Where ICU has an older table, or a character that looks the same, by CCSID.
OTHERWISE = {
    **{number: {0xE6} for number in (437, 860, 861, 862, 863, 865)},  # micro sign, mu
    813: {0xA4, 0xA5, 0xAA, 0xB4, 0xB7},  # euro and drachma of 2003; tonos, ano teleia
    852: {0xAA},
    864: {0x25, 0x9F, 0xD7, 0xD8, 0xF1},  # forms of Arabic letters, the percent sign
    869: {0x88, 0xEF},
    # the euro and what came with it: 1250 to 1258 are pages of before it in IBM's tables
    1250: {0x80},
    1251: {0x88},
    1252: {0x80, 0x8E, 0x9E},
    **{number: {0x80} for number in (1253, 1254, 1258)},
    1255: {0x80, 0xA1, 0xAA, 0xB8, 0xBA, 0xBF, 0xD7, 0xD8},
    1256: {0x80, 0x8A, 0x8F, 0x98, 0x9A, 0x9F, 0xAA, 0xC0, 0xFF},
    1257: {0x80, 0x8D, 0x8E, 0x8F, 0x9D, 0x9E, 0xB4, 0xFF},
    # what Windows added after 1998
    5351: {0xA1, 0xAA, 0xB8, 0xBA, 0xBF, 0xD7, 0xD8},
    5352: {0x8A, 0x8F, 0x98, 0x9A, 0x9F, 0xAA, 0xC0, 0xFF},
    5353: {0x8D, 0x8E, 0x8F, 0x9D, 0x9E, 0xB4, 0xFF},
}
#: ICU has no table by these numbers.
UNKNOWN_TO_ICU = {833, 28709}
SINGLE = sorted({*code_pages._PYTHON, *code_pages._EBCDIC_PACKAGE} - UNKNOWN_TO_ICU)


@pytest.mark.parametrize("ccsid", SINGLE)
def test_a_code_page_reads_as_icu_reads_it(ccsid: int) -> None:
    points = code_pages.charset_of(ccsid).single
    assert points is not None
    differ = set(np.flatnonzero(points != code_pages._icu_single(f"ibm-{ccsid}")).tolist())
    exchanged = EXCHANGED if ccsid in PC_PAGES else set()
    assert differ == OTHERWISE.get(ccsid, set()) | exchanged


def test_every_byte_of_windows_pages_comes_back() -> None:
    for ccsid in sorted(code_pages._WINDOWS):
        points = code_pages.charset_of(ccsid).single
        assert points is not None
        assert (points[0x80:0xA0] != code_pages.UNDEFINED).all()
        for code in np.flatnonzero(points != code_pages.UNDEFINED).tolist():
            assert encoders.encode_text(chr(points[code]), ccsid) == bytes([code])
