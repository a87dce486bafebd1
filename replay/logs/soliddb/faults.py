"""What can be wrong with a row of SYS_LOG, so that its unit of recovery is set aside."""

from __future__ import annotations

#: What is wrong with a row: (code, field, found, expected, what to do). ``{other}`` is the number
#: of the row it speaks of.
_DAMAGED = "The export is damaged: make it again from the last commit that was read whole"
FAULTS: tuple[tuple[str, str, str, str, str], ...] = (
    ("", "", "", "", ""),
    (
        "LR2011",
        "RELID",
        "a table, or a form of it, that the export of the system tables does not describe",
        "one that it describes",
        "Export the system tables again, from this database and of the time of the log",
    ),
    (
        "LR2012",
        "RECID",
        "a record of a kind that is not published",
        "a published kind (0, 1, 3 to 7, 12, 13)",
        "Report it, with the release of solidDB",
    ),
    (
        "LR2013",
        "RECID",
        "one image of an update without the other",
        "both, in the same statement",
        _DAMAGED,
    ),
    (
        "LR2010",
        "FLAGS",
        "a record that has no data or no table, where its kind needs them",
        "FLAGS with bit 0, DATA and RELID",
        _DAMAGED,
    ),
    (
        "LR2010",
        "RECNAME",
        "a name of the record that is not that of its RECID",
        "the two to agree",
        _DAMAGED,
    ),
    (
        "LR2016",
        "DATA",
        "an image that contradicts record {other} of the same transaction",
        "each image to follow from the one before",
        "The framing may be the wrong one, or rows are missing: export the log again, or "
        "calibrate (scripts/calibrate_soliddb.py)",
    ),
    (
        "LR2016",
        "RECID",
        "a transaction without its commit, followed by another",
        "a commit",
        _DAMAGED,
    ),
    (
        "LR2016",
        "TRXID",
        "several transaction ids between one start and commit",
        "one, or batch_size above 1 in the manifest",
        "If the server's transaction batch size is above 1, say so in the manifest; else export "
        "the log again",
    ),
    (
        "LR2033",
        "FLAGS",
        "changes that are flagged as not to be propagated (CAPTURE_OFF), and "
        "no word on what to do with them",
        "a policy",
        "Name it: --log-option capture-off=apply, skip-deletes or skip-all",
    ),
    (
        "LR2033",
        "FLAGS",
        "a flagged statement (CAPTURE_OFF) that deletes and inserts, which may be one changed key",
        "deletes alone",
        "Take all of it or none: --log-option capture-off=apply or skip-all",
    ),
    (
        "LR2018",
        "DATA",
        "a DDL record in none of the known layouts",
        "LOGRECID and INFO",
        "Report it, with the release of solidDB",
    ),
    (
        "LR2030",
        "LOGADDR",
        "an address that is not above that of the row before in its transaction, where all others"
        " are",
        "the rows of a transaction in log order, each once",
        _DAMAGED,
    ),
    (
        "LR2030",
        "LOGADDR",
        "an address that leaves out numbers after the row before in its transaction, where no"
        " other does",
        "all rows of a transaction",
        _DAMAGED,
    ),
)
(
    NO_TABLE,
    NO_KIND,
    UNPAIRED,
    NO_DATA,
    WRONG_NAME,
    CONTRADICTS,
    UNFINISHED,
    SEVERAL_IDS,
    FLAGGED,
    FLAGGED_KEY,
    NO_LAYOUT,
    ADDRESS_FALLS,
    ADDRESS_GAP,
) = range(1, len(FAULTS))
