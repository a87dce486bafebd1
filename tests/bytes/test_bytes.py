"""Every byte that is published stays as it is, over all logs, commands and options of the matrix.

The list is kept in ``digests.json``. Where bytes change on purpose, make it anew, look at what
changed, and say so in the change log::

    scripts/run python tests/bytes/rewrite.py
"""

from __future__ import annotations

import shlex

import pytest

from tests.bytes.matrix import CASES
from tests.bytes.published import Bench, changed, listed

KEPT = listed()
#: A family, a command and a format each, with units of many records.
LONG = (
    "bank redo",
    "bank undo",
    "bank export",
    "sakila undo",
    "luw-sakila redo",
    "solid-sakila redo",
)


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Where the logs are."""
    return Bench(tmp_path_factory.mktemp("bytes"))


@pytest.mark.parametrize("case", CASES)
def test_what_is_published_stays_the_same(bench: Bench, case: str) -> None:
    found, kept = bench.run(case), KEPT.get(case, {})
    files = changed(kept, found)
    if files:
        shown = shlex.join(bench.words(case, bench.folder))
        lines = [f"{name}: {kept.get(name)} became {found.get(name)}" for name in files]
        pytest.fail("\n".join([f"logreplay {shown}", *lines]), pytrace=False)


@pytest.mark.parametrize("case", LONG)
def test_buckets_that_are_merged_from_files_give_the_same_bytes(
    bench: Bench, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay.pipeline.scan.RUN", 16)
    test_what_is_published_stays_the_same(bench, case)


def test_the_list_has_the_cases_of_the_matrix_and_no_others() -> None:
    assert sorted(CASES) == sorted(KEPT)
