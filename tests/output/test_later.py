"""An undo that must leave units out does not overwrite what these changed later, and takes back all
that a redo of the same log did."""

from __future__ import annotations

from pathlib import Path

import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.output.bundle import Bundle
from sqlgen.render_options import RenderOptions
from tests.support.logbuilder import ACCT, LogBuilder, acct, statements

UNDONE = "UPDATE testown.acct SET name = 'ABCDE' WHERE id = 1"


def bundle_of(
    folder: Path,
    wrong: dict[str, str],
    options: ScriptOptions | None = None,
    selection: Selection | None = None,
) -> Bundle:
    """Row 1 is changed, and changed again by a unit with a ``wrong`` header."""
    log = LogBuilder()
    log.unit().update(ACCT, acct(1), acct(1, "FIRST"))
    log.unit(**wrong).update(ACCT, acct(1, "FIRST"), acct(1, "LATER"))
    control, data = log.write(folder)
    out = folder / f"out{len(list(folder.iterdir()))}"
    return replay.write_script(
        control, data, out, mode="undo", options=options, selection=selection
    )


@pytest.mark.parametrize(("wrong", "code"), [({"SQLTYPE": "Q"}, 8), ({"INCOMPLETETRANS": "Y"}, 4)])
def test_old_values_protect_what_a_unit_left_out_changed_later(
    tmp_path: Path, wrong: dict[str, str], code: int
) -> None:
    bundle = bundle_of(tmp_path, wrong)
    assert bundle.exit_code == code
    assert statements(bundle) == [f"{UNDONE} AND name = 'FIRST';"]
    *unread, warning = bundle.manifest["warnings"]
    assert "touches no row" in warning
    assert [text.count("cannot be read") for text in unread] == ([1] if "SQLTYPE" in wrong else [])
    assert bundle.manifest["options"]["where_columns"] == "guard"


def test_otherwise_the_key_finds_the_row(tmp_path: Path) -> None:
    assert statements(bundle_of(tmp_path, {}))[-1] == f"{UNDONE};"
    assert statements(
        bundle_of(tmp_path, {"SQLTYPE": "Q"}, selection=Selection(cascade="force"))
    ) == [f"{UNDONE};"]
    everything = bundle_of(
        tmp_path, {"SQLTYPE": "Q"}, ScriptOptions(render=RenderOptions(where_columns="all"))
    )
    assert everything.manifest["options"]["where_columns"] == "all"
    assert "touches no row" in everything.manifest["warnings"][-1]
