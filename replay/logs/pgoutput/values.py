"""Values as PostgreSQL writes them as text, in row images of :mod:`replay.logs.made_images`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from replay.changes.catalog import ColumnFormat
from replay.decoding.codecs import Decoded
from replay.logs.events import values
from replay.logs.events.lines import asked
from replay.logs.made_images import mask, unlike, usable
from sqlgen.schema import SqlType

_DAY, _MOMENT = values.DAY, rf"{values.DAY} {values.CLOCK}([.][0-9]{{1,6}})?"
_ZONED = rf"^{_MOMENT}[+-][0-9]{{2}}(:[0-9]{{2}}){{0,2}}$"
#: A byte of bytea_output=escape.
_ESCAPED = r"[\x20-\x5b\x5d-\x7e]|\\\\|\\[0-3][0-7]{2}"
_EPOCH = "1970-01-01 00:00:00+00"


def _boolean(text: pa.Array, column: ColumnFormat) -> Decoded:
    return pc.equal(text, "t"), unlike(text, "^[tf]$")


def _bytes(text: pa.Array, column: ColumnFormat) -> Decoded:
    """Bytes in hexadecimal digits, or (bytea_output=escape) as they are with ``\\\\`` and
    ``\\ooo``."""
    fails = unlike(text, rf"^\\x([0-9a-f]{{2}})*$|^({_ESCAPED})*$")
    return values.each(usable(text, fails, ""), _of_escaped, pa.binary())[0], fails


def _of_escaped(text: str) -> bytes:
    if text.startswith("\\x"):
        return bytes.fromhex(text[2:])
    parts = re.findall(_ESCAPED, text)
    return bytes(int(one[1:], 8) if len(one) == 4 else ord(one[-1]) for one in parts)


def _number(text: pa.Array, column: ColumnFormat) -> Decoded:
    scale, kind = column.scale, column.column.type
    behind = rf"[.][0-9]{{{scale}}}" if scale else ""
    return text, unlike(
        text, rf"^-?[0-9]+{behind}$" if kind is SqlType.DECIMAL else r"^-?[0-9]+([.][0-9]+)?$"
    )


def _zoned(text: pa.Array, column: ColumnFormat) -> Decoded:
    """Instants with the zone of the session, in UTC."""
    fails = unlike(text, _ZONED) | mask(pc.starts_with(text, "0000"))
    query = "SELECT epoch_us(CAST(one AS TIMESTAMPTZ)) AS ticks FROM texts"
    there = pa.table({"one": usable(text, fails, _EPOCH)})
    ticks = asked(query, texts=there).column(0).combine_chunks()
    shown, wrong = values.of_ticks(pc.fill_null(ticks, 0).to_numpy(), mask(text.is_null()), 6)
    return values.moment(shown, column, rf"^{_MOMENT}$", 6)[0], fails | wrong


_ISO = "a moment of the years 0001 to 9999, in DateStyle ISO"
CODES = {
    **{code: values.CODES[code] for code in ("whole", "float", "unread")},
    "pg text": values.CODES["text"],
    "pg boolean": values.Code(_boolean, "t or f"),
    "pg bytes": values.Code(_bytes, "bytes in hexadecimal digits, or escaped"),
    "pg number": values.Code(_number, "a decimal of the column's digits"),
    "pg date": values.Code(partial(values.moment, look=rf"^{_DAY}$"), _ISO),
    "pg timestamp": values.Code(partial(values.moment, look=rf"^{_MOMENT}$"), _ISO),
    "pg zoned": values.Code(_zoned, _ISO),
}


class PgoutputWalk(values.EventWalk):
    """The columns of row images, values as PostgreSQL's text."""

    CODES: ClassVar[Mapping[str, values.Code]] = CODES
