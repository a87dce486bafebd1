"""Which keys count, and how many changes could not be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from replay.arrays import Records
from replay.changes.envelope import RECORD
from replay.dependencies.analysis import EdgeJob
from replay.dependencies.write_sets import ChangeBatch, KeyRole, KeySpaces, WriteSets
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from sqlgen.constraints import Constraints, ForeignKey
from tests.support.history import CHILD, PARENT
from tests.support.logbuilder import LogBuilder


def foreign(columns: tuple[str, ...], parent_columns: tuple[str, ...] = ()) -> Constraints:
    return Constraints(
        foreign_keys=(ForeignKey("FK", "TESTOWN.CHILD", columns, "TESTOWN.PARENT", parent_columns),)
    )


def log_of(folder: Path, damaged: int = 0) -> LogmasterLog:
    """A parent and two children; the images of the last so many changes lack a byte."""
    log = LogBuilder((PARENT, CHILD))
    unit = log.unit()
    unit.insert(PARENT, (1, "A", 0, 0))
    unit.insert(CHILD, (7, 1, 0))
    unit.insert(CHILD, (8, 1, 0))
    for change in log.changes[len(log.changes) - damaged :]:
        change.images[0] = change.images[0][:-1]
    control, data = log.write(folder)
    return open_log(control, data)


def touches_of(log: LogmasterLog, spaces: KeySpaces) -> tuple[Records, int]:
    """All touches of a log, and how many changes could not be read."""
    job = EdgeJob(spaces, frozenset(), np.zeros(0, RECORD))
    write_sets = WriteSets(log, spaces)
    parts = []
    for split, _, _ in log.splits(1 << 20):
        for records, _, change, version in job.batches(log, split):
            every = np.arange(len(records), dtype=np.int64)
            batch = ChangeBatch(records, every, np.ones_like(every), change, version)
            parts.append(write_sets.touches(batch))
    return np.concatenate(parts), write_sets.unreadable


@pytest.mark.parametrize(
    ("constraints", "counts"),
    [
        (foreign(("PID",)), True),
        (foreign(("NOPE",)), False),
        (foreign(("PID", "NOPE"), ("ID", "CODE")), False),
        (foreign(("PID", "X")), False),  # two columns for a key of one
    ],
    ids=["known", "unknown", "half known", "too many"],
)
def test_a_foreign_key_counts_where_its_columns_are_known(
    tmp_path: Path, constraints: Constraints, counts: bool
) -> None:
    log = log_of(tmp_path)
    spaces = KeySpaces(log.catalog, constraints)
    names = [version.name for version in log.catalog.versions]
    child = spaces.uses[names.index("TESTOWN.CHILD")]
    assert [use.how for use in child] == (["row", "child"] if counts else ["row"])
    roles = {KeyRole(role) for role in touches_of(log, spaces)[0]["role"].tolist()}
    assert (KeyRole.REFER in roles) is counts


@pytest.mark.parametrize("damaged", [0, 1, 2])
def test_changes_that_cannot_be_read_are_counted(tmp_path: Path, damaged: int) -> None:
    log = log_of(tmp_path, damaged)
    touches, unreadable = touches_of(log, KeySpaces(log.catalog))
    assert unreadable == damaged
    assert len(touches) == 3 - damaged
