"""The page about a log: its columns against what other commands say, and that it is sealed."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import replay
from replay.cli.main import main
from replay.reports.html_page import page_html
from tests.support.logbuilder import ACCT, LogBuilder, acct
from tests.support.places import ROOT


def words(folder: Path) -> list[str]:
    files = ["--control", str(folder / "small.ctl"), "--data", str(folder / "small.dat")]
    return [*files, "--engine", "local", "--schema", "none"]


@pytest.fixture(scope="module")
def page(sakila_small: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("page") / "page.json"
    named = words(sakila_small)
    assert main(["report", "page", *named, "--format", "json", "--out", str(out)]) == 0
    made: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return made


def column(coded: Mapping[str, Sequence[Any]]) -> list[Any]:
    return [coded["names"][code] for code in coded["at"]]


def test_its_columns_say_what_reports_say(page: dict[str, Any], sakila_small: Path) -> None:
    with replay.open_log(
        control=sakila_small / "small.ctl", data=sakila_small / "small.dat"
    ) as log:
        summary = log.report("summary", group_by=("table",))
        audit = log.report("audit")
    counts, changes = page["counts"], page["changes"]
    told = zip(
        column(counts["table"]), column(counts["op"]), column(counts["fate"]), counts["changes"],
        strict=True,
    )  # fmt: skip
    sums: dict[tuple[str, str], int] = {}
    for table, op, fate, number in told:
        if fate == "committed":
            sums[table, op] = sums.get((table, op), 0) + number
    assert sums
    for row in summary.rows:
        for op in ("insert", "update", "delete"):
            assert sums.get((row["table"], op), 0) == row[f"{op}s"]
    units, name = changes["unit"], page["units"]["name"]
    committed = [
        (name[unit], table, op, sorted(entry[0] for entry in values))
        for unit, table, op, fate, values in zip(
            units,
            column(changes["table"]),
            column(changes["op"]),
            column(changes["fate"]),
            changes["values"],
            strict=True,
        )
        if fate == "committed"
    ]
    reported = [(r["unit"], r["table"], r["op"], sorted(r["changed"])) for r in audit.rows]
    assert sorted(committed) == sorted(reported)


def test_who_built_on_whom_is_what_whatif_says(
    page: dict[str, Any], sakila_small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later: dict[int, set[int]] = {}
    for one, other in zip(page["edges"]["from"], page["edges"]["to"], strict=True):
        later.setdefault(one, set()).add(other)

    def closure(unit: int) -> set[int]:
        found, todo = {unit}, [unit]
        while todo:
            new = later.get(todo.pop(), set()) - found
            found |= new
            todo += new
        return found - {unit}

    unit = max(later, key=lambda one: len(closure(one)))
    names = page["units"]["name"]
    assert closure(unit)
    main(["whatif", *words(sakila_small), "--ur", names[unit], "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert {entry["unit"] for entry in answer["dependents"]} == {names[u] for u in closure(unit)}


def test_the_page_runs_its_own_scripts_only(page: dict[str, Any]) -> None:
    html = page_html(page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    run = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert (len(run), len(styles)) == (2, 1)
    for text in (*run, *styles):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    assert not re.search(r"""\b(?:src|href)\s*=\s*["']""", html)
    assert "Permission is hereby granted" in html
    held = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert held
    assert json.loads(held[1]) == page


def test_what_a_log_holds_never_becomes_markup(tmp_path: Path) -> None:
    wild = "</script>"
    log = LogBuilder((ACCT,))
    log.unit(CORRELATIONID="{{DATA}}").insert(ACCT, acct(1, wild))
    control, data = log.write(tmp_path)
    out = tmp_path / "page.html"
    files = ["--control", str(control), "--data", *map(str, data), "--schema", "none"]
    assert main(["report", "page", *files, "--out", str(out)]) == 0
    html = out.read_text(encoding="utf-8")
    assert html.count("</script>") == 3
    assert "\\u003c/script>" in html
    assert '"{{DATA}}"' in html
    assert main(["report", "page", *files, "--out", str(out)]) == 12


def test_more_changes_than_a_page_holds_are_named(
    sakila_small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = [*words(sakila_small), "--format", "json", "--max-rows", "5"]
    assert main(["report", "page", *named]) == 0
    printed = capsys.readouterr()
    made = json.loads(printed.out)
    assert (made["changes"], made["edges"]) == (None, None)
    assert len(made["units"]["name"]) == 40
    assert "are more than 5, so rows and dependencies are not here" in printed.err


def test_a_page_of_a_part_says_that_it_is_one(
    sakila_small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report", "page", *words(sakila_small), "--format", "json", "--table", "PAYMENT"])
    made = json.loads(capsys.readouterr().out)
    assert set(made["counts"]["table"]["names"]) == {"SAKILA.PAYMENT"}
    assert any("units that the selection leaves out" in note for note in made["notes"])


@pytest.mark.parametrize(
    "option", [["--format", "csv"], ["--format", "text"], ["--where", "amount > 1"]]
)
def test_what_a_page_cannot_be(
    sakila_small: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "page", *words(sakila_small), *option]) == 12
    assert "LR1001" in capsys.readouterr().err


def test_the_files_of_others_are_those_that_were_pinned() -> None:
    spec = importlib.util.spec_from_file_location("vendor", ROOT / "scripts" / "vendor.py")
    assert spec is not None
    assert spec.loader is not None
    vendor = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(vendor)
    assert vendor.changed() == []
    there = {path.name for path in vendor.FOLDER.iterdir()}
    assert there == set(vendor.FILES)
