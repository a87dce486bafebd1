"""``scripts/mutate.py``: what it changes and runs is there, and which changes nobody can tell."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from tests.support.places import ROOT


@pytest.fixture(scope="module")
def mutate() -> Iterator[ModuleType]:
    spec = spec_from_file_location("mutate", ROOT / "scripts" / "mutate.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "mutate", module)  # dataclasses look their module up
        spec.loader.exec_module(module)
        yield module


def test_modules_and_their_tests_are_there(mutate: ModuleType) -> None:
    for file, tests in mutate.MODULES.values():
        assert [path for path in (file, *tests) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("taken", "added", "alike"),
    [
        ("x.to_numpy(zero_copy_only=False)", "x.to_numpy(zero_copy_only=None)", True),
        ("x.to_numpy(zero_copy_only=False)", "x.to_numpy(zero_copy_only=True)", False),
        ("exp.and_(*terms, copy=False)", "exp.and_(*terms, copy=True)", True),
        ("exp.and_(*terms, copy=False)", "exp.or_(*terms, copy=True)", False),
        ("zip(one, other, strict=True)", "zip(one, other, )", True),
        ("zip(one, other, strict=True)", "zip(one, other, strict=None)", True),
        ("zip(one, other, strict=True)", "zip(one, strict=True)", False),
        ("zip(one, other, strict=True)", "zip(one, strict=False)", False),
    ],
)
def test_changes_that_nobody_can_tell(
    mutate: ModuleType, taken: str, added: str, alike: bool
) -> None:
    text = f"--- a.py\n+++ a.py\n@@ -1 +1 @@\n def f():\n-    {taken}\n+    {added}\n"
    assert mutate.changed_lines(text, "+") == added
    assert mutate.is_alike(text) is alike
