"""Spark's worker daemon with what every task needs imported already: workers are forks of it and share that."""

from __future__ import annotations

from pyspark import daemon

import replay.stages  # noqa: F401

if __name__ == "__main__":
    daemon.manager()
