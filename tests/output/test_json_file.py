"""Files written item by item are those that the library writes at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replay.output.json_file import write_json

UNIT = {"unit": "00A1/1", "path": [{"key": "t/1\n2", "link": "row"}, []], "keys": ["ä", '"']}


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"a": 1},
        {"a": [], "b": {}, "c": None, "d": "x\ny", "ü\n": [1, [2, {"z": [3]}], {}]},
        {"units": [UNIT, UNIT], "inner": {"units": [UNIT], "more": {"deep": [UNIT]}}},
    ],
)
def test_the_same_bytes(tmp_path: Path, content: dict[str, Any]) -> None:
    expected = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_json(content, tmp_path / "one.json")
    assert (tmp_path / "one.json").read_bytes() == expected.encode()
    made = {
        key: iter(value) if isinstance(value, list) else value for key, value in content.items()
    }
    write_json(made, tmp_path / "two.json")
    assert (tmp_path / "two.json").read_bytes() == expected.encode()
