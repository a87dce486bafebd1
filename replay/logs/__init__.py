"""Log families. A family is a folder of layout tables plus a reader that implements
:class:`LogFile`; it is found by name, and says as data what its logs can tell."""

from __future__ import annotations

from replay.logs.families import (
    FACTS,
    FAMILIES,
    MOST_FILES,
    Capabilities,
    CopyFacts,
    Family,
    Inputs,
    LogPair,
    LogWriter,
    OrderRules,
    positions_rise,
    source_named,
)
from replay.logs.log_file import (
    DataFile,
    Images,
    ImageSource,
    Judging,
    LogFacts,
    LogFile,
    MadeOfLogs,
    MakesFiles,
    NullTelling,
    RecordSource,
    Split,
    TellsLess,
    Walk,
)
from replay.logs.record_facts import (
    checked_position,
    urids,
    where_of,
    widened_position,
)

__all__ = [
    "FACTS",
    "FAMILIES",
    "MOST_FILES",
    "Capabilities",
    "CopyFacts",
    "DataFile",
    "Family",
    "ImageSource",
    "Images",
    "Inputs",
    "Judging",
    "LogFacts",
    "LogFile",
    "LogPair",
    "LogWriter",
    "MadeOfLogs",
    "MakesFiles",
    "NullTelling",
    "OrderRules",
    "RecordSource",
    "Split",
    "TellsLess",
    "Walk",
    "checked_position",
    "positions_rise",
    "source_named",
    "urids",
    "where_of",
    "widened_position",
]
