"""The page about a log in a browser: Debian's Chromium, without a window. What it shows is kept as
pictures in ``build/screenshots``."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections import Counter
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


#: Chooses by a table, a text and a span in turn, and notes what the page says each time.
CHOOSING = """<script>
const said = [];
function note(what) {
  const row = document.querySelector('[aria-selected="true"][role="option"]');
  const list = row && U.name[shown[row.id.slice(4)]], pane = $("detail").querySelector("h2");
  said.push([what, $("count").textContent, list, pane && pane.textContent, shown.length]);
}
note("all");
showUnit(shown[3]); note("the fourth");
$("table").value = "SAKILA.RENTAL"; $("table").onchange(); note("a table");
$("op").value = "insert"; $("op").onchange(); note("an operation");
$("filters").onreset(); $("table").value = $("op").value = ""; note("nothing");
chosen.text = "no such text"; update(); note("a text");
chosen.text = ""; update(); note("no text");
go(35); chosen.text = U.name[35]; update(); note("one far down");
chosen.text = ""; update(); note("it, among all");
$("job").value = "SAKILA04"; $("job").onchange(); note("a job");
const hidden = U.name[U.name.findIndex((_, n) => place(n) < 0)];
follow("#unit=" + hidden);
said.push(["hidden", hidden, $("detail").querySelector("h2").textContent, location.hash]);
$("filters").onreset(); $("job").value = ""; $("sort").value = "changes"; $("sort").onchange();
note("largest");
setMark(shown[0], true); setMark(shown[1], true);
const lines = csv().split("\\n").length;
said.push(["marked", $("marked").textContent, lines, location.hash, $("tops").textContent]);
setMark(shown[0], false); setMark(shown[1], false); $("sort").value = "time"; $("sort").onchange();
document.querySelector(".unit").click(); said.push(["open", document.body.className]);
setSpan([X[20], X[25]]); note("a span");
const made = document.createElement("pre");
made.id = "said"; made.textContent = JSON.stringify(said); document.body.append(made);
</script></body>"""


def test_the_marked_row_is_the_unit_in_the_pane(
    browser: str, sakila_small: Path, tmp_path: Path
) -> None:
    page = page_of(tmp_path, *small(sakila_small))
    text = re.sub("<meta http-equiv=[^>]*>", "", page.read_text(encoding="utf-8"))
    page.write_text(text.replace("</body>", CHOOSING), encoding="utf-8")
    body = subprocess.run(
        [browser, "--headless=new", "--no-sandbox", f"--user-data-dir={tmp_path / 'profile'}",
         "--window-size=1200,900", "--virtual-time-budget=5000", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=300, check=True,
    ).stdout  # fmt: skip
    (found,) = re.findall('<pre id="said">(.*?)</pre>', body)
    said = {what: rest for what, *rest in json.loads(html.unescape(found))}
    undo, lines, place, tops = said.pop("marked")
    assert re.search(r"logreplay undo .*(--ur [0-9A-F]{20}/\d ){2}--cascade non-conflicting", undo)
    assert lines == 42  # a head, a line for each unit, and the end of the last
    assert "small.dat" in tops
    assert all(f"{title}CLERK" in tops for title in ("Users",))
    assert re.search(r"file of \d\d/\d\d/\d{4} ", tops)
    assert said.pop("open") == ["open"]
    hidden, pane, place_of_it = said.pop("hidden")
    assert (pane, place_of_it) == (f"Unit {hidden}", f"#unit={hidden}")
    assert "#unit=" in place
    for count, row, pane, units in said.values():
        assert count.startswith(f"{units} of 40 units, ")
        assert (row is None and pane is None) if units == 0 else pane == f"Unit {row}"
    assert said["all"][1] != said["the fourth"][1]
    assert len({tuple(said[what]) for what in ("all", "nothing", "no text")}) <= 2
    assert said["a text"][3] == 0
    data = re.findall('<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.DOTALL)
    counts = json.loads(data[0])["counts"]
    changes: Counter[tuple[str, str]] = Counter()
    for table, op, number in zip(
        counts["table"]["at"], counts["op"]["at"], counts["changes"], strict=True
    ):
        changes[counts["table"]["names"][table], counts["op"]["names"][op]] += number
    of_table = sum(number for (table, _), number in changes.items() if table == "SAKILA.RENTAL")
    assert said["a table"][0].endswith(f" units, {of_table} changes")
    assert said["an operation"][0].endswith(f" units, {changes['SAKILA.RENTAL', 'insert']} changes")


@pytest.mark.parametrize("size", ["1200,900", "400,800"])
def test_who_built_on_whom_is_drawn_unit_by_unit(
    browser: str, sakila_small: Path, tmp_path: Path, size: str
) -> None:
    page = page_of(tmp_path, *small(sakila_small))
    body = shown(browser, page.as_uri() + "#dependencies", tmp_path, size, "graph")
    drawn = of_canvas(body)
    assert (drawn["nodes"], drawn["clusters"], drawn["edges"]) == (40, 0, 1)
    assert re.search(r'<section id="units"[^>]* hidden', body)
    assert not re.search(r'<section id="graph"[^>]* hidden', body)
    assert 'aria-label="dependencies: 40 units as 40 marks' in body
    (legend,) = re.findall(r'<ul id="legend".*?</ul>', body, re.DOTALL)
    for text in ("mostly insert", "incomplete", "did not commit", "what it depends on"):
        assert text in legend


def test_thousands_of_units_are_clusters(browser: str, sakila: Path, tmp_path: Path) -> None:
    files = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    page = page_of(tmp_path, *files)
    body = shown(browser, page.as_uri() + "#dependencies", tmp_path, "1200,900", "page-graph")
    drawn = of_canvas(body)
    assert "2,827 of 2,827 units" in body
    assert 2 < drawn["clusters"] == drawn["nodes"] < 12  # a mark for each job
    assert "largest; select a group" in body


def test_incomplete_units_are_marked(browser: str, tmp_path: Path) -> None:
    log = LogBuilder()
    one, two = log.unit(), log.unit()
    one.update(ACCT, acct(1), acct(1, "B"), INCOMPLETETRANS="Y")
    two.update(ACCT, acct(1, "B"), acct(1, "C"))
    control, data = log.write(tmp_path)
    words = ["--control", str(control), "--data", *map(str, data), "--incomplete", "quarantine"]
    out = tmp_path / "page.html"
    main(["report", "page", *words, "--schema", "none", "--out", str(out)])
    body = shown(browser, out.as_uri() + "#dependencies", tmp_path, "1200,900", "graph-incomplete")
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
    url = page.as_uri() + "#dependencies"
    body = shown(browser, url, tmp_path, "1200,900", "graph-apart")
    (told,) = re.findall(r"<title>(.*?)</title>", body)
    right, down, entered, left, tables = json.loads(told)
    assert re.match(r"\d+ units, 2024-03-15 08:0.* to 2024-03-15 1.*", right[2])
    assert right[3] == right[2]
    assert down[2] != right[2]
    assert int(entered[0]) > int(down[0])
    assert left[:2] == right[:2]
    assert left[2] == ""
    assert tables[2] not in ("", right[2])


def test_the_site_is_searched_without_a_server(
    browser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import docs

    assert docs.build(tmp_path / "pages", tmp_path / "site") == 0
    url = (tmp_path / "site" / "index.html").as_uri() + "?q=quarantine"
    body = shown(browser, url, tmp_path, "1200,900", "site")
    assert re.search(r"\d+ matching documents", body)
    sys.modules.pop("docs", None)
