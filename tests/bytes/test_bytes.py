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


def test_the_list_has_the_cases_of_the_matrix_and_no_others() -> None:
    assert sorted(CASES) == sorted(KEPT)
