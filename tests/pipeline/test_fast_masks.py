"""Machine code makes the masks that :mod:`sqlgen.masking` makes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from replay.changes.envelope import Change
from replay.logs import Images
from replay.pipeline import fast_path
from replay.pipeline.fast_masks import secret_of
from replay.pipeline.rows import ChangeStatements
from sqlgen.dialects import profile_named
from sqlgen.mapping import TableMap, TableMapping
from sqlgen.masking import mask_key, masked
from sqlgen.render_options import RenderOptions
from sqlgen.rows import Op
from sqlgen.schema import Column, SqlType
from tests.pipeline.test_fast_path import (
    EBCDIC,
    GREEK,
    KINDS,
    LATIN,
    UTF8,
    UTF16,
    Kind,
    Spec,
    assert_same,
    both,
    plain,
    watch_the_room,
)

SECRET = TableMap({}, {"S.T": TableMapping(mask=("C1",))}, mask_key(b"a secret of many letters"))
CODECS = {EBCDIC: "cp037", LATIN: "latin-1", GREEK: "cp875", UTF8: "utf-8", UTF16: "utf-16-be"}
#: Around the sizes of a block of the digest, blanks at the end and in between, quotes, letters that
#: have other ways to be written in literals, or several octets.
TEXTS = [
    *("x" * size for size in (0, 1, 15, 16, 17, 127, 128, 129, 255, 256, 257, 300)),
    *("α" * size for size in (1, 63, 64, 65, 128, 150)),
    *(" ", "   ", "a ", "a b  ", " a", "it's", "\\", "\0", "\n", "a" * 128 + " ", "€𝄞"),
]


def changes_of(kind: Kind, values: Sequence[bytes]) -> tuple[Spec, Images]:
    """A table of a key and a column that is masked, and inserts of some values of that."""
    spec = Spec(((KINDS[1], False, False), (kind, False, False)), 1)
    buffer, starts = b"", [0]
    for number, value in enumerate(values):
        size = len(value).to_bytes(2, "big") if kind.varying else b""
        buffer += number.to_bytes(4, "big") + size + value
        starts.append(len(buffer))
    edges = np.array(starts, np.int64)
    bad = np.zeros(len(values), bool)
    bounds = edges[:-1], edges[1:]
    return spec, Images(np.frombuffer(buffer, np.uint8), None, bounds, bad, lambda _: ("", "", ""))


def assert_masked(kind: Kind, values: Sequence[bytes], expected: Sequence[object]) -> None:
    """Machine code writes the masks of all values, in every dialect of these two."""
    spec, image = changes_of(kind, values)
    for dialect in ("postgres", "oracle"):
        options = Change.INSERT, "redo", dialect, RenderOptions()
        one, other, _ = both(spec.version(), image, *options, False, SECRET)
        assert_same(one, other)
        assert isinstance(one, ChangeStatements)
        column = spec.version().table.columns[1]
        masks = masked(pa.array(expected), column, SECRET.key).to_pylist()
        texts = one.text.to_pylist()
        quote = "'" if isinstance(masks[0], str) else ""
        for number, (mask, text) in enumerate(zip(masks, texts, strict=True)):
            assert text.endswith(f"VALUES ({number}, {quote}{mask}{quote});")
        way = fast_path.FastPath(False, profile_named(dialect), RenderOptions(), mapping=SECRET)
        found = way.statements(spec.version(), Op.INSERT, image, plain(spec.version()))
        assert found is not None
        assert found.program.given == ()
        assert len(found.odd) == 0


@pytest.mark.parametrize("ccsid", CODECS)
def test_masks_of_text(ccsid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    watch_the_room(monkeypatch)
    values, texts = [], []
    for text in TEXTS:
        try:
            values.append(text.encode(CODECS[ccsid]))
        except UnicodeEncodeError:
            continue
        texts.append(text)
    assert len(texts) > 15
    assert_masked(Kind(SqlType.VARCHAR, 999, varying=True, ccsid=ccsid), values, texts)


@pytest.mark.parametrize(
    ("kind", "octets"), [(SqlType.SMALLINT, 2), (SqlType.INTEGER, 4), (SqlType.BIGINT, 8)]
)
def test_masks_of_whole_numbers(kind: SqlType, octets: int) -> None:
    least = -1 << (8 * octets - 1)
    numbers = [least, least + 1, -1, 0, 1, 9, 10, -10, 255, 256, ~least - 1, ~least]
    numbers += np.random.default_rng(7).integers(least, ~least, 60).tolist()
    values = [number.to_bytes(octets, "big", signed=True) for number in numbers]
    assert_masked(Kind(kind, octets), values, numbers)


def test_a_letter_that_no_character_has_is_left_to_the_other_way() -> None:
    values = [b"abc", b"a\xffc", b"\xe2\x82"]
    spec, image = changes_of(Kind(SqlType.VARCHAR, 99, varying=True, ccsid=UTF8), values)
    one, other, _ = both(
        spec.version(), image, Change.INSERT, "redo", "postgres", RenderOptions(), False, SECRET
    )
    assert_same(one, other)
    assert isinstance(one, ChangeStatements)
    assert one.failed.tolist() == [False, True, True]


def test_what_has_another_mask_is_given() -> None:
    kinds = (SqlType.VARCHAR, SqlType.CHAR, SqlType.DECIMAL, SqlType.VARBINARY, SqlType.DATE)
    assert [secret_of(Column("C", kind, True, 9, 0)) for kind in kinds] == [1, 1, 0, 0, 0]
