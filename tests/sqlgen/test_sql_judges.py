"""SQL that others wrote, through our sqlglot dialects: whatever the text, it is read or refused
with an error of sqlglot's, and what is read can be read again as it was written."""

from __future__ import annotations

import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot.errors import SqlglotError

from sqlgen.db2 import Db2
from sqlgen.soliddb import Soliddb
from tests.support.places import GOLDEN

DIALECTS = {"db2": Db2, "soliddb": Soliddb}
WORDS = [
    word
    for name in ("db2.same", "db2.spelled", "soliddb.same")
    for word in re.findall(r"\w+|'[^']*'|\S", (GOLDEN / f"{name}.sql").read_text(encoding="utf-8"))
]


def outcome(text: str, dialect: str) -> str:
    """What becomes of a text: ``same`` when it is read again as it was written."""
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect=DIALECTS[dialect]) if tree]
    except SqlglotError:
        return "refused"
    try:
        written = [tree.sql(DIALECTS[dialect]) for tree in trees]
        again = [sqlglot.parse_one(one, dialect=DIALECTS[dialect]) for one in written]
    except SqlglotError:
        return "not read again"
    spelled = [tree.sql(DIALECTS[dialect]) for tree in again]
    return "same" if spelled == written else "other"


def derby() -> list[str]:
    """The queries of the catalog that Apache Derby, which speaks Db2's SQL, ships with."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    (jar,) = Path(spec.origin).parent.glob("jars/derby-1*.jar")
    with ZipFile(jar) as archive:
        text = archive.read("org/apache/derby/impl/jdbc/metadata.properties").decode("latin-1")
    lines = re.sub(r"\\\n\s*", "\n", re.sub(r"(?m)^#.*\n", "", text))
    found = re.findall(r"(?m)^\w+=((?:.|\n)*?)(?=^\w+=|\Z)", lines)
    return [re.sub(r"\\(.)", r"\1", entry).strip() for entry in found if "SELECT" in entry.upper()]


@pytest.mark.long
def test_derbys_own_queries() -> None:
    queries = derby()
    found = Counter(outcome(query, "db2") for query in queries)
    assert len(queries) > 30
    assert found["same"] / len(queries) >= 0.8
    assert found["other"] == found["not read again"] == 0


@pytest.mark.parametrize("dialect", DIALECTS)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_any_words_are_read_or_refused(dialect: str, words: list[str]) -> None:
    """An error of another kind fails the test by itself."""
    outcome(" ".join(words), dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(st.sampled_from(WORDS), st.integers(0, 10**6), st.integers(0, 40))
def test_statements_with_a_wrong_word(dialect: str, word: str, which: int, place: int) -> None:
    lines = (GOLDEN / f"{dialect}.same.sql").read_text(encoding="utf-8").splitlines()
    words = re.findall(r"\w+|'[^']*'|\S", lines[which % len(lines)])
    words[place % len(words)] = word
    outcome(" ".join(words), dialect)
