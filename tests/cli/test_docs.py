"""The documentation: its reference is that of the program, its commands are parsed and, where they
name files of the repository, run, and its site is built without a link that leads nowhere."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.cli.manual import man_pages
from replay.cli.parser import parse
from replay.errors import CODES
from replay.logs.logmaster.layouts import LLDF
from replay.options.command_options import options_of
from replay.options.command_table import BY_NAME
from sqlgen.choices import DIALECTS
from sqlgen.schema import SqlType
from tests.support.places import FIXTURES, ROOT


def _script(name: str) -> Any:
    """A module of ``scripts``."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference_pages = _script("reference_pages")
PAGES = [ROOT / "README.md", *sorted((ROOT / "replay" / "docs").rglob("*.md"))]
#: The variables of the pages, as the first page sets them.
VARIABLES = {
    "$LOG": "fixtures/sakila/log/sakila.ctl",
    "$SCHEMA": "fixtures/sakila/log/schema-ri.sql",
    "$STATE": "fixtures/sakila/log/initial",
}
#: What stands for something in commands that are shown, and what may be there.
STANDS_FOR = {
    "URID": "000000000000A1B2E38C",
    "X": "00DECC12CECE80900000",
    "K": "1",
    "DIR": "d",
    "N": "7",
    "P": "00DECC12CECE80900000",
}
TEACHING = ("tutorials/first-log.md",)


def commands_in(page: Path) -> list[list[str]]:
    """The logreplay commands of a page, as words."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").split("\n")
    lines += re.findall(
        r"`(logreplay [a-z]+ (?:--|\$)[^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S)
    )
    found = []
    for line in lines:
        match = re.match(r"(?:logreplay|scripts/run) +(.*)", line.split(" #")[0].strip())
        if match and "…" not in line and "|" not in line:
            found.append(shlex.split(match.group(1)))
    return [
        [VARIABLES.get(word, word) for word in words]
        for words in found
        if words and words[0] in BY_NAME
    ]


def test_the_first_page_sets_the_variables() -> None:
    page = (ROOT / "replay" / "docs" / "index.md").read_text(encoding="utf-8")
    assert [f"{name[1:]}={value}" for name, value in VARIABLES.items() if
            f"\n{name[1:]}={value}\n" not in page] == []  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_the_docs_are_those_of_the_program(page: Path) -> None:
    for words in commands_in(page):
        parse([STANDS_FOR.get(word, word) for word in words])


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is an empty one with the bundled logs."""
    (tmp_path / "fixtures").symlink_to(FIXTURES)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("as_a_user", "clone")
@pytest.mark.parametrize("name", TEACHING)
def test_commands_of_the_docs_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And find what they look for: one asked for a row that its log does not have."""
    commands = commands_in(ROOT / "replay" / "docs" / name)
    assert commands
    for words in commands:
        assert any(word.startswith("fixtures/") for word in words), words
        assert main(words) in (0, 4), words
        said = "".join(capsys.readouterr())
        assert "nothing found" not in said, words


#: Words of commands that need a server, a folder of the reader's, or a browser.
NOT_HERE = re.compile(r"://|^/|^(?:logs|URID|K|P|DIR|LOG|shop|part1\.log|demo|docs|follow|status)$")


@pytest.mark.long
@pytest.mark.usefixtures("as_a_user", "clone")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_run_as_they_are_pasted(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that need nothing but the bundled logs, in the order of the page."""
    for words in commands_in(page):
        if any(NOT_HERE.search(word) for word in words) or not any(
            Path(word).exists() for word in words
        ):
            continue
        pasted = [
            name
            for word in words
            for name in (sorted(map(str, Path().glob(word))) if "*/" in word else [word])
        ]
        code = main(pasted)
        assert code in (0, 4), (pasted, capsys.readouterr().err)


def test_every_option_is_in_the_reference() -> None:
    page, pages = reference_pages.commands_page(), man_pages()
    for name in BY_NAME:
        assert f"## logreplay {name}" in page
        for option in (spelled for one in options_of(name) for spelled in one.names):
            assert f"`{option}" in page or f", {option}" in page
            assert option.replace("-", r"\-") in pages[f"logreplay-{name}.1"]


def test_the_page_of_options_is_that_of_the_program() -> None:
    page = (ROOT / "replay" / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    assert page == reference_pages.options_page(), "scripts/run docs writes it anew"


def anchors_of(page: Path) -> set[str]:
    """Of its headings, those that a forge and the site call alike (the site joins two dashes)."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    anchors = {re.sub(r"[^\w -]", "", one).strip().lower().replace(" ", "-") for one in headings}
    return {anchor for anchor in anchors if "--" not in anchor}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere_in_the_repository(page: Path) -> None:
    """A forge shows the pages as they are; the site has pages besides, which no page links to."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    gone = []
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        there = (page.parent / link).resolve() if link else page
        if not there.exists() or (anchor and anchor not in anchors_of(there)):
            gone.append(f"{link}#{anchor}")
    assert gone == []


#: Words that the product gave up, each with the one that the glossary has (`not told` is printed).
RETIRED = {
    r"octets?": "bytes",
    r"errands?": "worked example",
    r"(?<!`not )told": "reported, known",
    r"sets? aside": "quarantined",
    r"buil(?:d|ds|t) on": "depends on",
    r"without end": "continuously",
}


def test_pages_use_the_words_of_the_glossary() -> None:
    glossary = (ROOT / "replay" / "docs" / "reference" / "terms.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| (?!term)", glossary, re.M)) <= 60
    found = [
        f"{page.name}: {word[0]}, say {better}"
        for page in PAGES
        for retired, better in RETIRED.items()
        for word in re.finditer(rf"\b{retired}\b", page.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_every_code_has_cause_and_cure() -> None:
    page = reference_pages.codes_page()
    assert re.findall(r"^### (LR\d+)$", page, re.M) == sorted(CODES)
    assert page.count("*What to do:*") == len(CODES)


def test_every_dialect_and_type_is_in_the_reference() -> None:
    page = reference_pages.dialects_page()
    assert re.findall(r"^## (\w+)$", page, re.M) == list(DIALECTS)
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        named = {line.split("|")[1].strip().split(" (")[0] for line in section.split("\n")[4:]
                 if line.startswith("|")}  # fmt: skip
        assert {kind.value for kind in SqlType} - named == set(), section.split("\n")[0]


def test_every_field_of_a_log_header_is_in_the_reference() -> None:
    page = reference_pages.layouts_page()
    for name, entry in LLDF.names.items():
        assert f"| {name} | {entry.offset} | {entry.length} |" in page


def test_lines_of_man_pages_are_no_requests_by_accident() -> None:
    requests = {"TH", "SH", "TP", "B", "BR", "nf", "fi"}
    for name, text in man_pages().items():
        found = set(re.findall(r"^\.([A-Za-z]+)", text, re.M))
        assert found <= requests, name
        assert not re.search(r"^'", text, re.M)


def test_the_site_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import docs

    assert docs.build(tmp_path / "pages", tmp_path / "site") == 0
    for page in (tmp_path / "site").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=\"https?:", text), page
    assert (tmp_path / "site" / "reference" / "codes.html").is_file()
    sys.modules.pop("docs", None)


def test_man_pages_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--man", str(tmp_path / "man")]) == 0
    assert "logreplay.1" in capsys.readouterr().out
    assert (tmp_path / "man" / "logreplay-redo.1").read_text(encoding="utf-8").startswith(".TH")


def test_the_documentation_is_found_without_a_site(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--no-browser"]) == 0
    assert Path(capsys.readouterr().out.strip()).is_file()
