"""What others' programs make of what is published: no formula runs in a spreadsheet that is to be
spared, and no name in a log does anything in the page of the graph."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest

from replay.cli.main import main
from replay.output.formats.exported_values import harmless
from tests.support.logbuilder import Col, LogBuilder, Tab

TABLE = Tab("T", (Col("K", "INT", 4, key=1), Col("V", "VCHR", 20, nulls="Y")))
FORMULAS = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1"]
PLAIN = ["", "a=b", " =1", "'=1", None]


@pytest.mark.parametrize("option", [[], ["--csv-formulas", "keep"], ["--csv-formulas", "text"]])
def test_csv(tmp_path: Path, option: list[str]) -> None:
    """Numbers below zero are numbers."""
    log = LogBuilder([TABLE])
    unit = log.unit(AUTHID="=CMD()")
    for number, text in enumerate([*FORMULAS, *PLAIN]):
        unit.insert(TABLE, (-number, text))
    control, data = log.write(tmp_path)
    out = tmp_path / "out"
    arguments = ["export", "--control", str(control), "--data", str(data[0]), "--engine", "local"]
    assert main([*arguments, "--format", "csv", "--out", str(out), *option]) == 0
    (path,) = out.rglob("*.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    spared = "text" in option
    assert [row["after_v"] for row in rows] == [
        *(f"'{text}" if spared else text for text in FORMULAS),
        *(text or "" for text in PLAIN),
    ]
    assert [row["after_k"] for row in rows] == [str(-number) for number in range(len(rows))]
    assert {row["authid"] for row in rows} == {"'=CMD()" if spared else "=CMD()"}
    manifest = (out / "manifest.json").read_text()
    assert ("csv_formulas" in manifest) is spared


def test_wide_forms_too() -> None:
    wide = ["\uff1d1", "\uff0b1", "\uff0d1", "\uff201"]
    tamed = harmless(pa.array([*wide, "x", None])).to_pylist()
    assert tamed == [*(f"'{text}" for text in wide), "x", None]


def test_the_page_of_the_graph_runs_its_own_script_only(tmp_path: Path) -> None:
    log = LogBuilder([TABLE])
    log.unit(PLAN="<script>").insert(TABLE, (1, "</script><img src=x onerror=alert(1)>"))
    control, data = log.write(tmp_path)
    page = tmp_path / "page.html"
    arguments = ["--control", str(control), "--data", str(data[0]), "--schema", "none"]
    assert main(["graph", *arguments, "--engine", "local", "--out", str(page)]) == 0
    text = page.read_text()
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    assert policy is not None
    assert "unsafe" not in policy[1]
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    told = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert told is not None
    page = json.loads(told[1])
    assert page["view"] == "graph"
    assert page["chosen"] == page["units"]["name"]
    assert page["units"]["plan"]["names"] == ["<script>"]
    assert not re.search(r"<img|<[a-z][^<>]* on\w+=|javascript:", text)
