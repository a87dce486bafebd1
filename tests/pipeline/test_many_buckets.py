"""More buckets, files and records than 16 or 32 bits can number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest

from replay.arrays import Index, Records
from replay.changes.envelope import RECORD
from replay.dependencies.passes import change_places, file_and_number
from replay.pipeline.plan import Plan
from replay.pipeline.scan import _by_bucket, unpacked


@dataclass
class Buckets:
    """A plan of so many buckets in which record ``i`` belongs to ``wanted[i]``."""

    buckets: int
    wanted: Index

    def bucket_of(self, commit: Records) -> Index:
        return self.wanted


@pytest.mark.parametrize("buckets", [3, 1 << 16, (1 << 16) + 1, 70_000])
def test_every_record_lies_in_its_bucket(buckets: int) -> None:
    wanted = np.array([buckets - 1, 0, 1, buckets - 1, 0], np.int64)
    records = np.zeros(len(wanted), RECORD)
    records["number"] = np.arange(len(wanted))
    blocks = list(_by_bucket(cast(Plan, Buckets(buckets, wanted)), records))
    assert [(bucket, unpacked(block)["number"].tolist()) for bucket, block in blocks] == [
        (0, [1, 4]),
        (1, [2]),
        (buckets - 1, [0, 3]),
    ]


@pytest.mark.parametrize("file", [0, 65_535, 65_536, 1_000_000])
@pytest.mark.parametrize("number", [1, (1 << 32) - 1, 1 << 32, 1 << 39])
def test_files_and_records_have_numbers_of_any_size(file: int, number: int) -> None:
    records = np.zeros(1, RECORD)
    records["file"], records["number"] = file, number
    (place,) = change_places(records).tolist()
    assert file_and_number(place) == (file, number)
