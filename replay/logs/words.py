"""What messages say in the words of Log Master, the first family, in words for logs of the others.

Texts that many places share (why a record is left out, how to go on after a refusal) name fields
and options as users of Log Master know them.
"""

from __future__ import annotations

import re

_FIELDS = "LOGRECDISP .|SQLTYPE .|INCOMPLETETRANS|INCOMPLETEDEP(?: or DEPENDENTRBA)?|CO|CM|SC"
_WORDS = (
    (rf" \((?:{_FIELDS})\)", ""),
    (r"--(from|until|at)-lrsn\b", r"--\1-position"),
    (r"--lrsn\b", "--position"),
    (r"\bcommit LRSN\b", "commit position"),
    (r"\bUORCOMMITLRSN\b", "commit position"),
    (r"\bUORIDLRSN\b", "begin of the unit"),
    (r"\bUORCOMMITTIMESTAMP\b", "commit time"),
    (r"\bUORDISP\b", "end of the unit"),
    (r"\bLOGRBA\b", "place in the log"),
    (r"\breversed by Db2\b", "reversed by the database"),
    (r"\ban image copy\b", "a backup"),
    (r"\bimage copy\b", "backup"),
)
_SAID = tuple((re.compile(pattern), words) for pattern, words in _WORDS)


def said_of(source: str, text: str) -> str:
    """``text`` for logs of ``source``: the name of a family, or of a database whose logs it has."""
    if source.startswith("logmaster"):
        return text
    for pattern, words in _SAID:
        text = pattern.sub(words, text)
    return text
