"""Manifests that are written item by item are those that the library writes at once."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from replay.output.whole_folder import write_manifest

UNIT = {"unit": "00A1/1", "path": [{"key": "t/1\n2", "link": "row"}, []], "keys": ["ä", '"']}


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"a": 1},
        {
            "a": [],
            "b": {},
            "c": None,
            "d": "x\ny",
            "ü\n": [1, [2, {"z": [3.5, True]}], {}],
            "e": (),
        },
        {"units": [UNIT, UNIT], "inner": {"units": (UNIT,), "more": {"deep": [UNIT]}}},
    ],
)
def test_the_same_bytes(tmp_path: Path, content: dict[str, Any]) -> None:
    expected = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    made = {
        key: MappingProxyType(value) if isinstance(value, dict) else value
        for key, value in content.items()
    }
    for number, one in enumerate((content, made)):
        write_manifest(one, tmp_path / f"{number}.json")
        assert (tmp_path / f"{number}.json").read_bytes() == expected.encode()
