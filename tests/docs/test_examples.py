"""The ten worked examples of ``replay/docs/examples``: every command is run, and prints what the
text shows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.docs.console import POSTGRES, run_page, same

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "replay" / "docs" / "examples").glob("[0-9]*.md"))
#: A line of a text that says which state the database is in.
STATE = "The database holds the state "


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example(
    example: Path, fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.symlink(ROOT / "fixtures", "fixtures")
    text = example.read_text(encoding="utf-8")
    load(fresh_database, " ".join(text.split()))
    run_page(example, fresh_database)


def load(url: str, text: str) -> None:
    """Put the state into the database that a text says it holds."""
    if STATE in text:
        sakila = ROOT / "fixtures" / "sakila" / "log"
        POSTGRES.run_scripts(url, [sakila / "schema.sql"])
        which = "initial" if f"{STATE}before" in text else "final"
        POSTGRES.load_state(url, "sakila", sakila / which)


def test_there_are_ten() -> None:
    listed = (ROOT / "replay" / "docs" / "examples" / "README.md").read_text(encoding="utf-8")
    assert len(EXAMPLES) == 10
    assert [path.name for path in EXAMPLES if path.name not in listed] == []


def test_what_is_shown_counts() -> None:
    assert same(["a", "…", "c"], ["a", "b", "b", "c"])
    assert same(["units  …"], ["units  3"])
    assert not same(["a"], ["a", "b"])
    assert not same(["a", "…", "c"], ["a", "b"])


def test_no_page_writes_where_another_does() -> None:
    """Pages are pasted one after the other in one clone: a folder that is there is refused."""
    written: dict[str, set[str]] = {}
    for page in [ROOT / "README.md", *sorted((ROOT / "replay" / "docs").rglob("*.md"))]:
        for block in re.findall(r"```(?:sh|console)\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            for line in re.findall(r"logreplay .*|scripts/run .*", block):
                for place in re.findall(r"--out (\w[^ ]*)|--also \w+:(\S+)", line):
                    written.setdefault("".join(place), set()).add(page.name)
    shared = {
        (place, other)
        for place, pages in written.items()
        for other, others in written.items()
        if (Path(place) == Path(other) or Path(place) in Path(other).parents)
        and len(pages | others) > 1
    }
    assert len(written) > 50
    assert shared == set()
