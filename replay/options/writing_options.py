"""Options that several commands have, of what is written: scripts, data, statements, and what is
done to a live database."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from replay.changes.choices import (
    ApplyMode,
    CsvFormulas,
    Enforcement,
    EventSchemas,
    ExportFormat,
    Generation,
    ParquetTypes,
)
from replay.options.option import (
    ALSO_OUTPUTS,
    CSV_TEXT,
    DATA,
    FLAG,
    GLOBS,
    LAST_TIME,
    PLACE,
    POSITION,
    POSITIVE,
    TARGET_DIALECT,
    TEXT,
    URL,
    Option,
    Several,
    each,
    first_of,
    one_of,
)
from replay.options.reading_options import FOLDERS, LIVE, REPLAYING, SCRIPTS
from replay.targets.hazards import ACCEPTABLE
from sqlgen.choices import (
    DIALECTS,
    Assertion,
    EmptyTextPolicy,
    MidnightPolicy,
    Names,
    NulPolicy,
    PaddingPolicy,
    RealPolicy,
    TimestampPolicy,
    WhereColumns,
)
from sqlgen.clients import CLIENTS

# -- target
# -------------------------------------------------------------------------------------------------

_to = partial(
    Option,
    "--to URL",
    URL,
    "the database: postgresql://user@host/database (leave the password out: PGPASSWORD, PGSERVICE"
    " and ~/.pgpass are read), mariadb://user@host/, mysql://user@host/ (MYSQL_PWD),"
    " duckdb:////path/file, sqlite:////path/file",
    group="target",
)
TARGET = (_to("replay prepare status", required=True), _to("follow verify mark"))

# -- output
# -------------------------------------------------------------------------------------------------

_output = partial(Option, group="output")
_out = partial(
    _output,
    "--out DIR",
    PLACE,
    "folder for the scripts and manifest.json; appears whole or not at all",
    required=True,
)
OUTPUT = (
    _out("migrate"),
    _out(SCRIPTS, either="output"),
    replace(
        _out("export extract"),
        help="folder for the data and manifest.json; appears whole or not at all",
    ),
    _output(
        "--dry-run URL",
        URL,
        "try the statements in this database, in a transaction that is rolled back; write nothing,"
        " and list those that do not touch exactly one row, or fail; a script with checks would"
        " stop at them (--assert)",
        SCRIPTS,
        either="output",
        required=True,
        brief="write nothing, but try the script in this database",
    ),
    _output("--overwrite", FLAG, "replace an output folder that is already there", FOLDERS),
    _output(
        "--also KIND:DIR",
        ALSO_OUTPUTS,
        "also write a redo, undo, export (Parquet) or extract (a log again) of the same changes"
        " into another folder, or a report:KIND:FILE on them (.csv, .json, .html or text;"
        " repeatable); KIND@NAME: of the changes that --selection NAME takes; the log is"
        " opened only once",
        SCRIPTS,
    ),
    _output(
        "--after MANIFEST",
        PLACE,
        "go on where the output with this manifest (or in this folder) ended: units that it wrote"
        " are left out, quarantined units are taken if the logs now have them whole; none: begin a"
        " chain, whose logs may end in the middle of units",
        "redo export extract",
    ),
    _output(
        "--also-after KIND:MANIFEST",
        replace(ALSO_OUTPUTS, several=Several.NAMES),
        "with --after and --also: what the output of this kind goes on from, or none (repeatable;"
        " with --after none all begin a chain)",
        "redo",
    ),
    _output(
        "--commit-every N",
        POSITIVE,
        "units of recovery in one target transaction (default 1)",
        f"migrate {SCRIPTS}",
        default=1,
    ),
    _output(
        "--commit-statements N",
        POSITIVE,
        "commit after N statements too, at the end of the unit, whichever comes first; units are"
        " never split",
        f"migrate {SCRIPTS}",
    ),
    _output(
        "--records-per-file N",
        POSITIVE,
        "about how many log records go into one file (default 250000)",
        FOLDERS,
        default=250_000,
    ),
    _output(
        "--trace",
        FLAG,
        "write LRSN and RBA after each statement, as a comment",
        f"migrate {SCRIPTS}",
    ),
    _output("--strict", FLAG, "stop at the first damaged record", FOLDERS),
    _output(
        "--upsert",
        FLAG,
        "insert or update each row, whether it is there or not, so that a script can be run again,"
        " also after a part of it; every table needs a key",
        f"migrate {SCRIPTS}",
    ),
    _output(
        "--assert",
        one_of(*Assertion),
        "rows: a statement that does not touch exactly one row stops the script and names unit and"
        " statement (default of undo, and of redo with --where-columns guard or all, except with"
        " --upsert, with --cascade force, where units are quarantined and with --dialect db2zos or"
        " soliddb);"
        " none: it does not (default of redo)",
        f"migrate {SCRIPTS}",
        field="asserts",
    ),
    _output(
        "--client NAME",
        TEXT,
        f"the form of one program that runs scripts: {', '.join(CLIENTS)} (default: plain SQL;"
        " with --dialect db2zos dsntep2)",
        SCRIPTS,
    ),
    _output(
        "--terminator C",
        DATA,
        "what ends statements (default: as the client has it)",
        SCRIPTS,
        only="client",
    ),
    _output(
        "--encoding NAME",
        TEXT,
        "characters of scripts for z/OS: an EBCDIC code page (ibm037, 1140 …), or utf-8, in lines"
        " for a transfer in text mode (default: the code page that the log says its subsystem has)",
        SCRIPTS,
        brief="utf-8: a script for z/OS that can be read here",
    ),
    _output(
        "--jcl",
        FLAG,
        "also write run.jcl, a job that runs the scripts in order (clients dsntep2, dsntep4 and"
        " dsntiad)",
        SCRIPTS,
    ),
)

_export = partial(Option, group="format of exports", commands="export follow")
FORMATS = (
    _export(
        "--format",
        first_of(ExportFormat),
        "parquet (default); csv, jsonl, debezium or load (text; load: for Db2's LOAD utility, with"
        " its control statements)",
        brief="parquet (default), or the changes as other data",
    ),
    _export(
        "--parquet-types",
        first_of(ParquetTypes),
        "portable (default): types that Spark reads too (times of day are text, timestamps have"
        " microseconds); native: times of day have their own type, and timestamps have nanoseconds"
        " where a column has more than 6 fraction digits",
        only="format=parquet",
    ),
    _export(
        "--csv-null TEXT",
        CSV_TEXT,
        "csv: what stands for null, without quotes (default: nothing)",
        default="",
        only="format=csv",
    ),
    _export(
        "--csv-formulas",
        first_of(CsvFormulas),
        "csv: text that a spreadsheet would take for a formula is written as it is (keep, default)"
        " or after an apostrophe (text)",
        only="format=csv",
    ),
    _export(
        "--schemas",
        first_of(EventSchemas),
        "debezium: schemas in every event (inline, default), or once, in manifest.json (apart)",
        only="format=debezium",
    ),
)

# -- statements
# -------------------------------------------------------------------------------------------------

_state = partial(Option, group="statements")
_SCRIPTED = f"migrate {SCRIPTS}"
_WRITTEN = f"{_SCRIPTED} {LIVE}"
_VALUES = f"{_WRITTEN} export"
_ASKED = "history who report sql whatif graph state"
STATEMENTS = (
    *(
        _state(
            "--dialect NAME",
            TARGET_DIALECT,
            f"SQL dialect: {', '.join(DIALECTS)} (default: {said})",
            commands,
            default=default,
            brief=f"postgres, mysql, sqlite … (default: {said})",
        )
        for commands, default, said in (
            (SCRIPTS, None, "that of the database that wrote the log"),
            ("ddl migrate", "postgres", "postgres"),
        )
    ),
    _state(
        "--names",
        first_of(Names),
        "lower: fold to lower case; exact: as they are; auto: as they are for the database that"
        " wrote the log, unless a mapping names tables, else folded. Quotes stand where they must",
        f"ddl {_VALUES}",
        brief="names in lower case or exactly as they are (default: by the target)",
    ),
    *(
        _state(
            "--where-columns",
            one_of(*WhereColumns),
            "columns in the WHERE of an UPDATE or DELETE: the key; the key and the old values of"
            f" the columns that change (guard); or all (default {default})",
            commands,
            default=default,
        )
        for commands, default in ((_SCRIPTED, WhereColumns.KEY), (LIVE, WhereColumns.GUARD))
    ),
    _state(
        "--columns GLOB",
        GLOBS,
        "only these columns (COLUMN or OWNER.TABLE.COLUMN)",
        f"whatif graph {_VALUES}",
    ),
    _state(
        "--exclude-columns GLOB",
        GLOBS,
        "not these columns; an update of nothing else is counted, and a comment in scripts",
        f"whatif graph {_VALUES}",
    ),
    _state(
        "--nul",
        first_of(NulPolicy),
        "X'00' in text (default: refuse, which quarantines the unit)",
        _VALUES,
    ),
    _state(
        "--timestamps",
        first_of(TimestampPolicy),
        "more fraction digits than the target holds (default: refuse where digits other than 0"
        " would be lost)",
        _VALUES,
    ),
    _state(
        "--char-padding",
        first_of(PaddingPolicy),
        "blanks at the end of CHAR and GRAPHIC values (default strip; U+3000, the blank of"
        " double-byte code pages, stays)",
        _VALUES,
    ),
    _state(
        "--midnight",
        first_of(MidnightPolicy),
        "hour 24 where the target has none (default: refuse; next: hour 0, of the next day in a"
        " timestamp)",
        _VALUES,
    ),
    _state(
        "--empty-text",
        first_of(EmptyTextPolicy),
        "empty text where the target takes it for NULL (Oracle; default: refuse); null is for empty"
        " bit data too",
        _WRITTEN,
    ),
    _state(
        "--reals",
        first_of(RealPolicy),
        "type for REAL of Db2 for z/OS, whose range is wider than that of an IEEE single: single"
        " (default; units with a value out of range are quarantined) or double (columns become"
        " double precision); exports always have doubles",
        f"ddl {_WRITTEN}",
    ),
    _state(
        "--generation",
        one_of(*Generation),
        "which form of a table whose structure changed within the log (default last)",
        "ddl migrate",
        default=Generation.LAST,
    ),
    _state(
        "--mapping F",
        PLACE,
        "names, types, exclusions, masks and constants of the target (TOML; see logreplay docs)",
        f"ddl {_ASKED} {_VALUES}",
        beside=True,
    ),
    _state(
        "--mask-key-file F",
        PLACE,
        "the key for masks: at least 16 bytes that nobody else knows",
        f"{_ASKED} {_VALUES}",
        beside=True,
    ),
)

# -- replay into live databases
# -------------------------------------------------------------------------------------------------

_replay = partial(Option, group="replay", commands=REPLAYING)
REPLAY = (
    _replay(
        "--until-position --until-lrsn X",
        POSITION,
        "up to this commit position, inclusive; one below the target's position takes the units"
        " after it back",
        either="until",
    ),
    _replay(
        "--until-time T",
        LAST_TIME,
        "up to this commit time, inclusive; '2026-03-02 10:15' means up to the end of that minute",
        either="until",
    ),
    _replay(
        "--until-mark NAME",
        TEXT,
        "up to a point named with logreplay mark, in the target or beside the log",
        either="until",
        brief="up to a point named with logreplay mark",
    ),
    _replay(
        "--at-position --at-lrsn POINT",
        TEXT,
        "the point of the data in a target that was never replayed: a commit position, a time, a"
        " mark of the log, start (before the log, default) or end",
        field="at",
    ),
    _replay(
        "--adjoining",
        FLAG,
        "accept that this log continues where the last one ended, although they share no unit",
    ),
    _replay(
        "--on CONDITION[:OP]=RESPONSE",
        each(TEXT),
        "what to do when a statement fails. CONDITION is no-row, several-rows, duplicate-key,"
        " foreign-key, other, or a SQLSTATE; OP is insert, update or delete; RESPONSE is stop"
        " (default), skip, overwrite or retry. Repeatable; the last one that matches counts. A full"
        " disk and the like, which any statement would end in, can be tried again only",
        brief="what to do when a statement fails",
    ),
    _replay(
        "--enforcement",
        first_of(Enforcement),
        "whether the target's triggers and foreign keys act on the replay (default on)",
    ),
    _replay(
        "--accept CODE",
        each(one_of(*ACCEPTABLE)),
        "go ahead in spite of a refusal, on your responsibility; CODE is in the refusal's text"
        f" (repeatable; kept in the target's history): {', '.join(ACCEPTABLE)}",
    ),
    _replay(
        "--commit-every N",
        POSITIVE,
        "units of recovery in one transaction (default 1000; in bulk 5000)",
    ),
    _replay(
        "--commit-statements N",
        POSITIVE,
        "or as many whole units as have N statements (default 10000; in bulk 50000)",
    ),
    _replay(
        "--mode",
        first_of(ApplyMode),
        "strict: every statement in commit order (default); bulk (PostgreSQL): the same, but rows"
        " of a transaction come in together where nothing can tell their order",
        brief="strict: in commit order; bulk: rows come in together",
    ),
    _replay(
        "--tries N",
        POSITIVE,
        "tries after a deadlock, a lost connection or an --on …=retry (default 8)",
        default=8,
    ),
)
