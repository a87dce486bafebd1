"""What a job takes along to a cluster, whichever way Spark is reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from replay.pipeline.cluster_trouble import (
    UNLIMITED,
    Limits,
)
from replay.pipeline.stages import (
    Warned,
    warn,
)


@dataclass(frozen=True)
class Travel:
    """What a cluster asks for: ``files`` of this machine that tasks need there, when a job is given
    up, the ``exchange`` of the engine, and who is ``warned`` of machines."""

    files: Sequence[str] = ()
    limits: Limits = UNLIMITED
    exchange: str = ""
    warned: Warned = warn
