"""Options that several commands have, of what is read: the log, what is taken of it, what depends
on it, and what carries out the run. All that there is to say of one is said here, as
:mod:`replay.options.option` has it."""

from __future__ import annotations

from functools import partial

from replay.changes.choices import (
    SETTING_ASIDE,
    SOURCES,
    BehindDamage,
    CascadeMode,
    Derived,
    EngineName,
    Gaps,
    Incomplete,
    Operation,
)
from replay.csv_states import CsvForm
from replay.options.option import (
    CONDITION,
    DATA,
    DIALECT,
    FILES,
    FIRST_TIME,
    FLAG,
    GLOBS,
    IN_TURN,
    LAST_TIME,
    NUMBERS,
    PAIRS,
    POSITION,
    POSITIVE,
    ROW_IDS,
    TEXT,
    UNIT,
    UNIT_CHOICES,
    URL,
    WHOLE_NUMBER,
    Kind,
    Option,
    Several,
    ccsid,
    each,
    first_of,
    one_of,
    pair,
)

# -- commands
# -------------------------------------------------------------------------------------------------

SCRIPTS = "redo undo"
REPLAYING = "replay follow"
LIVE = f"{REPLAYING} verify"
#: They select changes of a range; the live ones those of the whole log.
RANGED = f"history report who sql whatif graph migrate {SCRIPTS} export extract"
SELECTING = f"{RANGED} {LIVE}"
WITH_ENGINE = f"inspect check state {SELECTING}"
WITH_KEYS = f"check state ddl {SELECTING}"
WITH_LOG = f"inspect doctor status mark {WITH_KEYS}"
FOLDERS = f"migrate {SCRIPTS} export extract"

# -- log
# -------------------------------------------------------------------------------------------------

_log = partial(Option, group="log", commands=WITH_LOG)
LOG = (
    _log(
        "LOG",
        FILES,
        "the files of a log, a folder, a glob or a URL, in any order: what each file is, is found"
        " by its content",
        field="named",
        brief="the log: files, a folder, a glob or a URL",
    ),
    _log(
        "--control F",
        IN_TURN,
        "control file of Log Master; of several logs, each before its data (repeatable)",
        beside=True,
    ),
    _log("--data F", IN_TURN, "data files of Log Master, .gz too (repeatable)", beside=True),
    _log("--log F", FILES, "log files of other families, in order (repeatable)", beside=True),
    _log(
        "--logs PATH|URL",
        FILES,
        "several logs read as one: a folder (in a store, too: s3://bucket/logs), a glob of control"
        " or log files, or a list (TOML)",
        beside=True,
    ),
    _log(
        "--source FAMILY",
        TEXT,
        f"log family: {', '.join(SOURCES)} (default logmaster), or an installed one",
        default="logmaster",
    ),
    _log(
        "--catalog PATH",
        TEXT,
        "other families: export of the catalog; logmaster-load: DDL",
        beside=True,
    ),
    _log(
        "--gaps HOW",
        one_of(*Gaps),
        "a gap between logs: refuse (default; db2luw: warn), warn or allow",
    ),
    _log("--framing NAME", TEXT, "how records are framed in all files (default: detected)"),
    _log(
        "--log-option NAME=VALUE",
        PAIRS,
        "a setting of the log family (repeatable; logreplay docs lists them)",
        field="options",
    ),
    _log(
        "--ccsid E=N",
        Kind(ccsid, several=Several.NAMES),
        "single-byte CCSID of EBCDIC (E), ASCII (A) or Unicode (U) tables, instead of the control"
        " file's",
        field="ccsids",
    ),
    _log(
        "--config F",
        TEXT,
        "options and stored selections (TOML; default: LOGREPLAY_CONFIG, or logreplay.toml beside"
        " the log or in the current folder, with a note of what is taken); the command line wins",
    ),
    _log("--selection NAME", TEXT, "a selection stored in --config"),
)

# -- selection
# -------------------------------------------------------------------------------------------------

_select = partial(Option, group="selection (all of it combines)", commands=SELECTING)
SELECTION = (
    _select(
        "--table GLOB",
        GLOBS,
        "only tables OWNER.NAME, or NAME where one owner has it (repeatable)",
        commands=f"ddl state {SELECTING}",
        field="tables",
        brief="only tables OWNER.NAME, or NAME",
    ),
    _select(
        "--exclude-table GLOB",
        GLOBS,
        "not these tables (repeatable)",
        commands=f"ddl state {SELECTING}",
        field="exclude_tables",
    ),
    _select(
        "--op", each(one_of(*sorted(Operation))), "only these operations (repeatable)", field="ops"
    ),
    _select(
        "--ur URID[/MEMBER]",
        each(UNIT),
        "only these units of recovery; the last digits of URID that tell it apart will do,"
        " and its number where comments have numbers"
        " (repeatable)",
        commands=f"ddl {SELECTING}",
        field="units",
    ),
    _select(
        "--units SQL",
        DATA,
        "only the units that a query gives: SELECT unit FROM units WHERE … (relations as in"
        " logreplay sql)",
        field="unit_query",
    ),
    _select(
        "--user --authid GLOB", GLOBS, "only these authorization ids (repeatable)", field="authids"
    ),
    _select(
        "--job --correlation GLOB",
        GLOBS,
        "only these jobs: correlation ids (repeatable)",
        field="correlations",
    ),
    _select("--plan GLOB", GLOBS, "only these plans (repeatable)", field="plans"),
    _select(
        "--connection GLOB", GLOBS, "only these connection ids (repeatable)", field="connections"
    ),
    _select(
        "--member N",
        each(WHOLE_NUMBER),
        "only this data sharing member (repeatable)",
        field="members",
    ),
    _select(
        "--from-time T",
        FIRST_TIME,
        "earliest commit time, inclusive, in the log's time: YYYY-MM-DD[ HH:MM[:SS[.ffffff]]]",
        commands=RANGED,
    ),
    _select(
        "--until-time T",
        LAST_TIME,
        "latest commit time, inclusive; '2026-03-02 10:15' means up to the end of that minute",
        commands=RANGED,
    ),
    _select(
        "--from-position --from-lrsn X",
        POSITION,
        "lowest commit position, inclusive",
        commands=f"ddl {RANGED}",
    ),
    _select(
        "--until-position --until-lrsn X",
        POSITION,
        "highest commit position, inclusive",
        commands=f"ddl {RANGED}",
    ),
    _select(
        "--from-mark NAME",
        TEXT,
        "only what committed after a mark; NAME(-1): the last but one of that name, NAME.1: the"
        " first",
        commands=f"ddl {RANGED}",
    ),
    _select(
        "--until-mark NAME",
        TEXT,
        "only what committed at or before a mark",
        commands=f"ddl {RANGED}",
    ),
    _select(
        "--marks FILE|URL",
        TEXT,
        "the file in which marks are looked up (default: logreplay-marks.jsonl beside the first"
        " data file; see logreplay mark)",
        commands=f"ddl state mark {REPLAYING} {RANGED}",
        beside=True,
    ),
    _select(
        "--luw NETWORK.NAME.INSTANCE[.SEQUENCE]",
        each(TEXT),
        "only these logical units of work (LUWIDs; globs, repeatable)",
        field="luws",
    ),
    _select(
        "--database GLOB|DBID",
        GLOBS,
        "only tables of this database, by name or id (repeatable)",
        field="databases",
    ),
    _select(
        "--tablespace GLOB|DATABASE.GLOB|ID",
        GLOBS,
        "only tables of this table space, by name or id (repeatable)",
        field="tablespaces",
    ),
    _select(
        "--partition N|FIRST-LAST",
        NUMBERS,
        "only rows of these partitions (repeatable)",
        field="partitions",
    ),
    _select(
        "--page N|FIRST-LAST",
        NUMBERS,
        "only rows of these pages, as the RID in the log has them; 0x1F or 31 (repeatable)",
        field="pages",
    ),
    _select(
        "--rid X",
        ROW_IDS,
        "only the row with this identifier, in the hexadecimal digits of the log (repeatable)",
        field="rids",
    ),
    _select(
        "--where SQL",
        CONDITION,
        "only changes whose values satisfy a condition: before.col, after.col, col (either"
        " image), or changed(col) of updates",
    ),
    _select(
        "--changed COLUMN",
        each(DATA),
        "only updates that change one of these columns, as --where 'changed(COLUMN, …)'"
        " (repeatable)",
        brief="only updates that change one of these columns",
    ),
    _select(
        "--ri",
        first_of(Derived),
        "changes caused by RI (with or without a trigger): skip where the target's foreign keys do"
        " the same",
    ),
    _select(
        "--triggers",
        first_of(Derived),
        "changes caused by triggers alone: skip where the target's triggers do the same",
    ),
    _select(
        "--history skip[=TABLE,…]|apply",
        DATA,
        "rows of history tables of temporal tables: skip those that the target writes by itself,"
        " of these tables or of those that the schema (--schema) states; apply them (default)",
        commands=f"{SCRIPTS} export {LIVE}",
    ),
    _select(
        "--incomplete",
        one_of(*SETTING_ASIDE),
        "incomplete units: quarantine those and what provably depends on them (default), every unit"
        " the log flags, or all from DEPENDENTRBA on (Log Master's rules, which go by the log's"
        " flags alone)",
        commands=SELECTING.replace(" extract", ""),
        default=Incomplete.RESOLVE,
    ),
    _select(
        "--incomplete",
        one_of(*Incomplete),
        "incomplete units: keep them, flagged as they are (default), or leave out those and what"
        " provably depends on them (resolve), every unit the log flags (quarantine), or all from"
        " DEPENDENTRBA on",
        commands="extract",
        default=Incomplete.KEEP,
    ),
    *(
        _select(
            "--behind-damage",
            one_of(*BehindDamage),
            "units that change a table after a damaged record in it whose row is not known:"
            " quarantined (hold; the default of follow, --grow and --after, where the damaged unit"
            " comes when it is whole) or taken (take)",
            commands=commands,
            default=default,
        )
        for commands, default in (
            (f"{RANGED.replace(' extract', '')} replay verify", None),
            ("follow", BehindDamage.HOLD),
        )
    ),
    _select(
        "--from-recovery-point",
        FLAG,
        "also records of SQLTYPE R (after a REDO recovery point)",
        commands=SELECTING.replace(" extract", ""),
    ),
    _select(
        "--include-aborted",
        FLAG,
        "show rolled-back work too: as comments of scripts, in a folder of its own (export), or"
        " marked as such (history, report, sql)",
        commands=f"history report sql migrate {SCRIPTS} export",
    ),
    _select(
        "--committed-only",
        FLAG,
        "leave out rolled-back work (default: keep it, marked as rolled back)",
        commands="extract",
    ),
    _select(
        "--whole-units",
        FLAG,
        "take all changes of a unit of recovery that has a selected one (default: only those)",
        commands="extract",
    ),
)

# -- dependencies, keys, known states
# -------------------------------------------------------------------------------------------------

_depend = partial(Option, group="dependencies")
_keys = partial(Option, group="keys that the log does not know", commands=WITH_KEYS)
_baseline = partial(Option, "--baseline DIR|URL", URL, group="known state of the rows", beside=True)
_STATE = (
    "a folder with a TABLE.csv for each table, or a database; rows that differ there from what the"
    " log says are counted and named"
)
DEPENDENCIES = (
    _depend(
        "--cascade",
        first_of(CascadeMode),
        "later changes that depend on what is undone: none: refuse and name them (default); all:"
        " undo them too; non-conflicting: do not undo what they depend on; force: undo the selected"
        " changes all the same, and leave theirs",
        "undo",
        brief="changes that depend on it: refuse (default), undo too, leave theirs, or override",
    ),
    _depend(
        "--except URID[/M] or KIND=GLOB",
        UNIT_CHOICES,
        "all but these units of recovery and those that depend on them; KIND is ur, user, job,"
        " plan, connection or luw (repeatable: all that one of them names)",
        "redo export extract",
        field="excepted",
    ),
    _keys(
        "--schema FILE|URL|none",
        URL,
        "DDL of the tables, or a database that has them: their unique and foreign keys decide which"
        " units depend on which; none: I assert that there are no foreign or unique keys",
        beside=True,
    ),
    _keys(
        "--schema-dialect NAME",
        DIALECT,
        "SQL dialect of the file: db2, soliddb, or one of sqlglot (default postgres)",
        default="postgres",
    ),
    _keys(
        "--schema-encoding NAME",
        TEXT,
        "code page of a file that is no UTF-8, such as cp1252 or cp037",
        default="",
    ),
    _baseline(f"the rows after the log: {_STATE}", "whatif undo"),
    _baseline(
        f"the rows before the log: {_STATE}; a unit that may depend on an incomplete one is taken"
        " if this state proves that it does not",
        "redo export",
    ),
    *(
        Option(
            "--csv",
            one_of(*CsvForm),
            "who wrote those files, where it was not logreplay: postgres (\\N is a text), duckdb"
            " (its bytes) or db2 (no names in the first line); nothing between commas is NULL in"
            " all of them",
            commands,
            group=group,
            only=only,
        )
        for commands, only, group in (
            ("whatif undo redo export", "--baseline", "known state of the rows"),
            ("state migrate", "--initial", ""),
            ("verify follow", "--expected", ""),
        )
    ),
)

# -- engine
# -------------------------------------------------------------------------------------------------

_engine = partial(Option, group="engine", commands=f"demo {WITH_ENGINE}")
ENGINE = (
    *(
        _engine(
            "--engine",
            one_of(*EngineName),
            "spark; local: this process alone; auto: Spark from 64 MB of log on, and where"
            " --master, --conf or the environment configure Spark. The output is the same"
            f" (default {default})",
            commands=commands,
            default=default,
            brief="this process (local), Spark, or what suits the log",
        )
        for commands, default in (("demo", EngineName.SPARK), (WITH_ENGINE, EngineName.AUTO))
    ),
    _engine("--master MASTER", URL, "Spark master (default local[*])"),
    _engine(
        "--conf K=V",
        Kind(partial(pair, "KEY=VALUE"), several=Several.NAMES, secret=True),
        "Spark configuration (repeatable)",
    ),
    _engine(
        "--work DIR",
        TEXT,
        "an existing folder for temporary files: unpacked logs, indexes, blocks (default: that of"
        " the system); on a cluster one that all machines share (default there: unpacked logs and"
        " indexes are sent with the job)",
    ),
    _engine(
        "--executor-timeout S",
        POSITIVE,
        "seconds to wait for an executor of the cluster before giving up (default 300)",
        default=300,
    ),
    _engine(
        "--task-timeout S",
        POSITIVE,
        "seconds within which one of the cluster's running tasks must end (default 3600)",
        default=3600,
    ),
    _engine("--verbose", FLAG, "say which engine carries out the run, and why"),
    _engine("--split-mb N", POSITIVE, "MB of log read by one task (default 32)", default=32),
)
