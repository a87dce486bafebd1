"""The page about a log in a browser: Debian's Chromium, without a window. What it shows is kept as
pictures in ``build/screenshots``."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.support.logbuilder import ACCT, LogBuilder, acct
from tests.support.places import ROOT

#: Where pictures of the page are kept; the one in the docs is ``page-graph-1200,900.png``.
PICTURES = ROOT / "build" / "screenshots"


def page_of(folder: Path, *words: str) -> Path:
    out = folder / "page.html"
    assert main(["report", "page", *words, "--schema", "none", "--out", str(out)]) == 0
    return out


def small(sakila_small: Path) -> list[str]:
    return ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]


def shown(browser: str, page: str, folder: Path, size: str, picture: str) -> str:
    """The document after its script has run, without the scripts; nothing may be complained of."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    always = [
        browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={size}",
        "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=5000", "--enable-logging=stderr",
    ]  # fmt: skip
    path = PICTURES / f"{picture}-{size}.png"
    for what in (f"--screenshot={path}", "--dump-dom"):
        run = subprocess.run(
            [*always, what, page], capture_output=True, text=True, timeout=300, check=True
        )
        assert not re.findall(r"CONSOLE.*", run.stderr)
    assert path.read_bytes().startswith(b"\x89PNG")
    return run.stdout.rpartition("</script>")[0]


def of_canvas(body: str) -> dict[str, int]:
    """What the dependency view says that it has drawn."""
    (tag,) = re.findall(r'<canvas id="view"[^>]*>', body)
    return {name: int(count) for name, count in re.findall(r'data-(\w+)="(\d+)"', tag)}


@pytest.mark.parametrize("size", ["1200,900", "400,800"])
def test_the_page_draws_and_breaks_no_rule_of_its_own(
    browser: str, sakila_small: Path, tmp_path: Path, size: str
) -> None:
    page = page_of(tmp_path, *small(sakila_small))
    body = shown(browser, page.as_uri(), tmp_path, size, "page")
    assert "40 of 40 units, 299 changes" in body
    assert "<canvas" in body
    assert len(re.findall(r'role="option"', body)) > 5
    assert re.search(r"logreplay undo --control \S+ --data \S+ .*--ur [0-9A-F]{20}/\d", body)


@pytest.mark.parametrize("size", ["1200,900", "400,800"])
def test_who_built_on_whom_is_drawn_unit_by_unit(
    browser: str, sakila_small: Path, tmp_path: Path, size: str
) -> None:
    page = page_of(tmp_path, *small(sakila_small))
    body = shown(browser, page.as_uri() + "#who-built-on-whom", tmp_path, size, "graph")
    drawn = of_canvas(body)
    assert (drawn["nodes"], drawn["clusters"], drawn["edges"]) == (40, 0, 1)
    assert re.search(r'<section id="units"[^>]* hidden', body)
    assert not re.search(r'<section id="graph"[^>]* hidden', body)
    assert 'aria-label="who built on whom: 40 units as 40 marks' in body
    (legend,) = re.findall(r'<ul id="legend".*?</ul>', body, re.DOTALL)
    for text in ("mostly insert", "incomplete", "did not commit", "what it built on"):
        assert text in legend


def test_thousands_of_units_are_clusters(browser: str, sakila: Path, tmp_path: Path) -> None:
    files = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    page = page_of(tmp_path, *files)
    body = shown(browser, page.as_uri() + "#who-built-on-whom", tmp_path, "1200,900", "page-graph")
    drawn = of_canvas(body)
    assert "2,827 of 2,827 units" in body
    assert drawn["clusters"] > 20
    assert drawn["nodes"] < 150
    assert "strongest are drawn" in body


def test_incomplete_units_are_marked(browser: str, tmp_path: Path) -> None:
    log = LogBuilder()
    one, two = log.unit(), log.unit()
    one.update(ACCT, acct(1), acct(1, "B"), INCOMPLETETRANS="Y")
    two.update(ACCT, acct(1, "B"), acct(1, "C"))
    control, data = log.write(tmp_path)
    words = ["--control", str(control), "--data", *map(str, data), "--incomplete", "quarantine"]
    out = tmp_path / "page.html"
    main(["report", "page", *words, "--schema", "none", "--out", str(out)])
    body = shown(
        browser, out.as_uri() + "#who-built-on-whom", tmp_path, "1200,900", "graph-incomplete"
    )
    assert of_canvas(body)["incomplete"] == 1


#: What a user does with the keyboard and the mouse, and what is seen then, in the title.
HANDS = """
const canvas = document.getElementById("view"), seen = [];
const key = name => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
const tell = () => [canvas.dataset.nodes, canvas.dataset.clusters,
  document.getElementById("tip").textContent, document.querySelector("#detail h2").textContent];
key("ArrowRight"); seen.push(tell());
key("ArrowDown"); seen.push(tell());
key("Enter"); seen.push(tell());
key("Escape"); seen.push(tell());
document.getElementById("lanes").value = "table";
document.getElementById("lanes").dispatchEvent(new Event("change"));
key("ArrowRight"); seen.push(tell());
document.title = JSON.stringify(seen);
"""


def test_clusters_are_taken_apart_by_keys(browser: str, sakila: Path, tmp_path: Path) -> None:
    files = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    page = page_of(tmp_path, *files)
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    page.write_text(text.replace("</body>", f"<script>{HANDS}</script></body>"), encoding="utf-8")
    url = page.as_uri() + "#who-built-on-whom"
    body = shown(browser, url, tmp_path, "1200,900", "graph-apart")
    (told,) = re.findall(r"<title>(.*?)</title>", body)
    right, down, entered, left, tables = json.loads(told)
    assert re.match(r"\d+ units, 2024-03-15 08:0.* to 2024-03-15 08:.*", right[2])
    assert right[3] == right[2]
    assert down[2] != right[2]
    assert int(entered[0]) > int(down[0])
    assert left[:2] == right[:2]
    assert left[2] == ""
    assert tables[2] not in ("", right[2])
