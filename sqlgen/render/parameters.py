"""Statements with parameters for drivers: those of scripts, with a mark in place of each literal,
and the values as JSON in the order of the marks.

A profile of its own makes both at once: its literals are JSON values between two control
characters, which no literal holds, so what a statement says and what it finds rows by are decided
where they always are. NULL stays a word of the statement.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.arrays import RowMask
from sqlgen.choices import ParameterStyle
from sqlgen.dialects import FloatForm, Form, Profile, TextForm
from sqlgen.errors import SqlgenError
from sqlgen.statements import CLOSE, OPEN

#: The dialects whose values travel as JSON, and the marks that their usual drivers take.
STYLES = {"postgres": ParameterStyle.FORMAT, "sqlite": ParameterStyle.QMARK}
_TEXT = Form(f'{OPEN}"', f'"{CLOSE}')
_NUMBER = Form(OPEN, CLOSE)
_BYTES = Form(f'{OPEN}{{"hex": "', f'"}}{CLOSE}')
_QUOTED, _PLAIN = Form(), Form("", "")


@lru_cache(maxsize=16)
def parameterised(profile: Profile) -> Profile:
    """The profile whose statements have JSON values between :data:`OPEN` and :data:`CLOSE` where
    those of ``profile`` have literals, and lines of JSON for words of transactions. SqlgenError
    (LR1001) for a dialect that is not in :data:`STYLES`."""
    if profile.name not in STYLES:
        raise SqlgenError(
            "LR1001",
            f"found --statements parameters with --dialect {profile.name}; expected"
            f" {' or '.join(STYLES)}",
        )
    known = {_QUOTED: _TEXT, _PLAIN: _NUMBER}
    return replace(
        profile,
        forms={kind: known.get(form, _BYTES) for kind, form in profile.forms.items()},
        floats={kind: _number(form) for kind, form in profile.floats.items()},
        text=TextForm(
            _TEXT, quote="'", special='"\\', escaped=_TEXT, escaped_quote="'", control="\\u{:04x}"
        ),
        booleans=(profile.booleans[0].lower(), profile.booleans[1].lower()),
        row_check=None,
        begin=_said("begin", True),
        commit=_said("commit", True),
        defer=_said("run", profile.defer) if profile.defer else "",
    )


def _number(form: FloatForm) -> FloatForm:
    """How a float is said: its text where the target reads that, else its digits."""
    quoted = form.opening == "'"
    around = _TEXT if quoted else _NUMBER
    return replace(form, opening=around.opening, closing=around.closing, powers=False)


def _said(what: str, value: object) -> str:
    return json.dumps({what: value}, ensure_ascii=False)


def prologue(profile: Profile, mode: str, style: str, templates: str) -> str:
    """The first line of a file of values: whose it is, and what a session needs before it."""
    search = [profile.search_path] if profile.search_path else []
    head = {
        "logreplay": mode,
        "dialect": profile.name,
        "parameters": style,
        "templates": templates,
        "session": [*search, *profile.session],
    }
    return json.dumps(head, ensure_ascii=False) + "\n"


def comments(text: pa.Array) -> pa.Array:
    """Comments of units (``-- unit …``) as lines of JSON."""
    told = pc.replace_substring_regex(text, "^-- unit ", "")
    return pc.binary_join_element_wise('{"unit": "', _inside(told), '"}', "")


def _inside(text: pa.Array) -> pa.Array:
    """Text without control characters as the inside of a JSON string."""
    escaped = pc.replace_substring(text, "\\", "\\\\")
    return pc.replace_substring(escaped, '"', '\\"')


class Templates:
    """The statements of a file, numbered in the order in which they come first."""

    def __init__(self, style: str) -> None:
        self.style = style
        self.numbers: dict[str, int] = {}

    def lines(self, text: pa.StringArray, one_row: RowMask) -> pa.StringArray:
        """Statements (each of one or several lines) as lines of JSON. ``one_row``: which of them
        must touch exactly one row. SqlgenError (LR3005) for a name with a control character."""
        rows = pc.split_pattern(text, "\n")
        flat, sizes = rows.flatten(), pc.list_value_length(rows).to_numpy()
        comment = pc.starts_with(flat, "--")
        statement, values = self._taken_apart(flat)
        encoded = statement.dictionary_encode()
        said = comment.to_numpy(zero_copy_only=False)
        codes = encoded.indices.to_numpy()
        used = np.zeros(len(encoded.dictionary), bool)
        used[codes[~said]] = True
        numbers = [
            self.numbers.setdefault(template, len(self.numbers)) if taken else 0
            for template, taken in zip(encoded.dictionary.to_pylist(), used, strict=True)
        ]
        number = pa.array(np.array(numbers, np.int64)[codes]).cast(pa.string())
        counted = pa.array(np.repeat(np.asarray(one_row) & (sizes == 1), sizes))
        line = pc.binary_join_element_wise(
            '{"t": ', number, ', "v": [', values, pc.if_else(counted, '], "rows": 1}', "]}"), ""
        )
        if said.any():
            bare = pc.replace_substring_regex(flat, f"[{OPEN}{CLOSE}]", "")
            told = pc.binary_join_element_wise('{"comment": "', _inside(bare), '"}', "")
            line = pc.if_else(comment, told, line)
        return pc.binary_join(pa.ListArray.from_arrays(rows.offsets, line), "\n")

    def _taken_apart(self, text: pa.StringArray) -> tuple[pa.StringArray, pa.StringArray]:
        """(statements with marks, their values with commas between) of lines."""
        pieces = pc.split_pattern(pc.replace_substring(text, CLOSE, OPEN), OPEN)
        sizes = pc.list_value_length(pieces).to_numpy().astype(np.int64)
        if (sizes % 2 == 0).any():
            raise SqlgenError(
                "LR3005", "found a name with a control character; expected names without"
            )
        flat = pieces.flatten()
        starts = np.cumsum(sizes) - sizes
        place = np.arange(len(flat)) - np.repeat(starts, sizes)
        is_value = place % 2 == 1
        marks: pa.Array | str = "?"
        fixed = flat
        if self.style == ParameterStyle.FORMAT:
            marks, fixed = "%s", pc.replace_substring(flat, "%", "%%")
        elif self.style == ParameterStyle.NUMERIC:
            marks = pc.binary_join_element_wise("$", pa.array(place // 2 + 1).cast("string"), "")
        marked = pc.if_else(pa.array(is_value), marks, fixed)
        statement = pc.binary_join(pa.ListArray.from_arrays(pieces.offsets, marked), "")
        bounds = np.concatenate([[0], np.cumsum(sizes // 2)]).astype(np.int32)
        values = pa.ListArray.from_arrays(pa.array(bounds), flat.filter(pa.array(is_value)))
        return statement, pc.binary_join(values, ", ")

    def text(self, dialect: str) -> str:
        """The file of the statements."""
        head = {"dialect": dialect, "parameters": self.style, "templates": list(self.numbers)}
        return json.dumps(head, ensure_ascii=False, indent=1) + "\n"
