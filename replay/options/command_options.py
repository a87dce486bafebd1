"""Options that one command has, or a few; and how all are found."""

from __future__ import annotations

from functools import cache, partial

from replay.changes.choices import USUAL_NAME, Arrival, DrawingFormat, Mode, OnTrouble
from replay.errors import UsageError
from replay.options.option import (
    DATA,
    FILES,
    FLAG,
    FOLDER,
    GLOBS,
    LAST_TIME,
    NUMBER,
    PLACE,
    PORT,
    POSITION,
    POSITIVE,
    SECONDS,
    TEXT,
    UNIT,
    URL,
    Kind,
    Option,
    each,
    first_of,
    one_of,
)
from replay.options.reading_options import DEPENDENCIES, ENGINE, LOG, SELECTION
from replay.options.writing_options import FORMATS, OUTPUT, REPLAY, STATEMENTS, TARGET
from sqlgen.errors import did_you_mean

REPORT_KINDS = (
    "audit",
    "summary",
    "quiet",
    "open",
    "catalog",
    "page",
)
#: Why what is copied has no choice of columns and names.
COPIED = "records are copied whole, byte for byte"
#: Options that would change what is copied.
OF_VALUES = ("--columns", "--exclude-columns", "--mapping")
GROUPS = ("user", "job", "plan", "hour", "table", "unit", "day", "connection", "op", "origin")


def _groups(text: str) -> str:
    """Names of :data:`GROUPS` with commas between. UsageError (LR1001) for another one."""
    for name in filter(None, map(str.strip, text.split(","))):
        if name not in GROUPS:
            raise UsageError(
                "LR1001",
                f"found {name!r}; expected one of: {', '.join(GROUPS)}{did_you_mean(name, GROUPS)}",
            )
    return text


# -- looking
# -------------------------------------------------------------------------------------------------

_JSON = "inspect check whatif status doctor report who state history mark"
_FILES = "whatif doctor report who state history sql graph ddl mapping"
LOOKING = (
    Option("KIND", one_of(*REPORT_KINDS), ", ".join(REPORT_KINDS), "report", required=True),
    Option("CODE", FILES, "such as LR2011 (default: all)", "explain"),
    Option(
        "SHELL", one_of("bash", "zsh", "fish"), "bash, zsh or fish", "completion", required=True
    ),
    Option(
        "DIR|URL",
        TEXT,
        "the folder of logs that is followed, or its URL",
        "pause resume",
        field="folder",
        required=True,
    ),
    Option(
        "NAME",
        TEXT,
        "without it: list the marks",
        "mark",
        brief="the name (without it: list the marks)",
    ),
    *(
        Option(
            "--key K",
            GLOBS,
            "the row with this key: a value, the values of several columns with commas between, or"
            " COLUMN=VALUE,… (repeatable)",
            command,
            only=only,
        )
        for command, only in (("history", ""), ("state", "--at"))
    ),
    Option("--query SQL", TEXT, "a SELECT of DuckDB (-: read it from standard input)", "sql"),
    Option("--file -f F", TEXT, "the file that the query is in", "sql", field="query_file"),
    Option("--whole", FLAG, "whole rows, not only the columns that changed", "history"),
    Option(
        "--all",
        FLAG,
        "list all dependent units (default: the first 40)",
        "whatif",
        only="format=text",
    ),
    Option("--at POINT", TEXT, "the rows at this point", "state", either="which", required=True),
    Option(
        "--diff A B",
        Kind(words=2),
        "how the rows at B differ from those at A",
        "state",
        either="which",
        required=True,
    ),
    Option(
        "--initial DIR|URL",
        URL,
        "the rows before or after the log, or a database",
        "state",
        beside=True,
    ),
    Option(
        "--initial-at POINT",
        TEXT,
        "the point of the rows in --initial: before, after, or a point of the log (default: the"
        " position that a database was replayed to; else detected from the rows)",
        "state",
        only="--initial",
    ),
    Option(
        "--to URL",
        URL,
        "put the rows into the empty tables of a database; tables that are not there are made",
        "state",
    ),
    Option(
        "--group-by NAME,…",
        each(Kind(_groups)),
        f"group or sort the lines of the report by: {', '.join(GROUPS)}",
        "report",
        only="kind=audit,summary",
        brief="group by user, job, plan, hour, table, unit or others",
    ),
    Option(
        "--group-by NAME,…",
        each(Kind(_groups)),
        f"group the changes by (default user,job,plan): {', '.join(GROUPS)}",
        "who",
        brief="group by user, job, plan, hour, table, unit or others",
    ),
    Option(
        "--columns NAME,…",
        each(TEXT),
        "the columns of the report, in order; audit with column,old,new: a line for each column"
        " that a change set",
        "report",
        field="shown",
        only=f"kind={','.join(REPORT_KINDS[:-1])}",
    ),
    Option(
        "--min TIME", TEXT, "spans of 30s, 5m, 1h30m or more in quiet", "report", only="kind=quiet"
    ),
    Option(
        "--max-open N",
        NUMBER,
        "spans with at most N open units in quiet (default 0)",
        "report",
        default=0,
        only="kind=quiet",
    ),
    Option("--at POINT", TEXT, "the units that open lists for a point", "report", only="kind=open"),
    Option(
        "--max-rows N",
        POSITIVE,
        "refuse to list more changes; page: leave out rows and dependencies if there are more"
        " (default 100000)",
        "report",
        default=100_000,
        only="kind=audit,page",
    ),
    Option(
        "--sign-key F", PLACE, "sign it with this private key (Ed25519, PEM)", "doctor", beside=True
    ),
    Option(
        "--record N", POSITIVE, "show the N-th record of a data file, field by field", "inspect"
    ),
    Option(
        "--file K",
        POSITIVE,
        "the record of the K-th data file (default 1)",
        "inspect",
        default=1,
        only="--record",
    ),
    Option(
        "--hex",
        FLAG,
        "also show the bytes of each field of the record in hexadecimal",
        "inspect",
        only="--record",
    ),
    Option(
        "--deep",
        FLAG,
        "also check that the log does not contradict itself, as logreplay check does",
        "inspect",
        brief="also check that the log does not contradict itself",
    ),
    Option("--man DIR", FOLDER, "write man pages into this folder", "docs"),
    Option("--no-browser", FLAG, "only print where the documentation is", "docs"),
    Option("--keep DIR", FOLDER, "keep the scripts in this folder", "demo"),
    Option(
        "--serve",
        one_of("before", "after"),
        "start the database with the rows before or after the log, and print its URL, until Ctrl-C",
        "demo",
        brief="the database with the rows before or after the log",
    ),
)

_format = partial(Option, "--format")
ANSWERS = (
    *(
        _format(
            one_of(*forms),
            f"{', '.join(forms)} (default {forms[0]})",
            commands,
            default=forms[0] if commands != "report" else None,
        )
        for commands, forms in (
            ("whatif history", ("text", "json", "csv")),
            ("report", ("text", "html", "json", "csv")),
            ("who", ("text", "html", "json", "csv")),
            ("sql", ("text", "csv", "json", "parquet")),
        )
    ),
    _format(
        one_of("parquet", "csv", "json", "text"),
        "--at: parquet (default) or csv; --diff: text (default), json or csv",
        "state",
        brief="--at: parquet or csv; --diff: text, json or csv",
    ),
    _format(
        first_of(DrawingFormat),
        "html (default): the page of `report page`, opened at its dependency graph; json: what it"
        " shows, as data",
        "graph",
        brief="html (default): a page; json: what it shows, as data",
    ),
    Option("--json", FLAG, "print it as JSON", _JSON),
    *(
        Option("--out FILE", PLACE, what, commands, required=commands == "graph")
        for what, commands in (
            ("the file to write (default, and -: print it)", "whatif report who history sql"),
            ("write the report to this file, as JSON (-: print it)", "doctor"),
            ("the file to write", "graph"),
            ("the file to write (default: standard output)", "ddl mapping"),
        )
    ),
    Option(
        "--out PATH",
        PLACE,
        "--at: the folder to write the rows to (without it, or with -, the rows of one table are"
        " printed as CSV); --diff: the file to write",
        "state",
        brief="the folder (--at) or file (--diff) to write",
    ),
    Option("--overwrite", FLAG, "replace what is there already", _FILES),
    Option("--invert F", PLACE, "the mapping whose way back is written", "mapping", required=True),
)

# -- writing
# -------------------------------------------------------------------------------------------------

WRITING = (
    Option("--back", FLAG, "also the units that the selected ones depend on", "graph"),
    Option(
        "--max-units N", POSITIVE, "refuse to draw more units (default 5000)", "graph", default=5000
    ),
    Option(
        "--changes",
        one_of(*Mode),
        "write the log's structure changes (CREATE, ALTER, DROP) instead of the tables: redo"
        " repeats them, undo takes them back",
        "ddl",
        brief="the log's structure changes instead of its tables",
    ),
    Option(
        "--initial DIR",
        PLACE,
        "the rows before the log: TABLE.csv or TABLE.csv.gz for each table",
        "migrate",
        beside=True,
    ),
    Option(
        "--grow",
        FLAG,
        "add to the datasets in --out, in one commit, the units that they do not hold yet",
        "export",
        brief="add the units that the datasets in --out lack",
    ),
    Option(
        "--back-to N",
        NUMBER,
        "with --grow: first undo the commits of DIR after number N (0: all)",
        "export",
    ),
    Option(
        "--name NAME",
        TEXT,
        f"what the files are called: NAME.ctl and NAME.dat (default {USUAL_NAME})",
        "extract",
        default=USUAL_NAME,
    ),
)

# -- live databases
# -------------------------------------------------------------------------------------------------

_follow = partial(Option, commands="follow")
_verify = partial(Option, commands="verify")
LIVE = (
    Option("--apply", FLAG, "write to the database", "replay", either="act"),
    Option("--dry-run", FLAG, "only show what would happen (default)", "replay", either="act"),
    _follow(
        "--export DIR",
        PLACE,
        "the folder whose datasets grow by one commit each time logs arrive (beside --to, or"
        " without it)",
        brief="the folder whose datasets grow as logs arrive",
    ),
    _follow(
        "--arrival HOW",
        first_of(Arrival),
        "a file is complete when it has not changed for --settle seconds (stable, default), when"
        " NAME.done is beside it (marker), or as soon as it is there (rename: for programs that"
        " write under another name and rename)",
        brief="when a file is complete (default: unchanged for 10 s)",
    ),
    _follow(
        "--settle S",
        SECONDS,
        "with --arrival stable: seconds without a change, 0.5 too (default 10)",
        default=10,
        only="arrival=stable",
    ),
    _follow("--every S", POSITIVE, "seconds between looks (default 30)", default=30),
    _follow("--once", FLAG, "one look, then end (for cron)"),
    _follow("--log-json", FLAG, "events as lines of JSON on standard output"),
    _follow(
        "--on-trouble HOW",
        first_of(OnTrouble),
        "logs that are damaged or missing, or come after later ones: wait (default) or stop",
        brief="damaged or missing logs: wait (default) or stop",
    ),
    _follow(
        "--cut-over",
        FLAG,
        "apply to the end of the logs, compare the database with --expected plus the logged"
        " changes, report whether they are equal, and stop",
        brief="apply all, compare with --expected, and stop",
    ),
    _follow(
        "--expected DIR",
        PLACE,
        "the rows before the logs, for --cut-over",
        only="--cut-over",
        beside=True,
    ),
    _follow(
        "--metrics-port N",
        PORT,
        "serve /metrics (Prometheus) and /health on this port (0: any free port)",
        brief="serve /metrics and /health on this port",
    ),
    _follow(
        "--metrics-host HOST",
        TEXT,
        "the address that --metrics-port is opened on (default 127.0.0.1: this machine only)",
        default="127.0.0.1",
        only="--metrics-port",
    ),
    _verify(
        "--expected DIR",
        PLACE,
        "the expected rows, TABLE.csv or TABLE.csv.gz for each table; given a log: the rows before"
        " it, to which its changes are added",
        beside=True,
        brief="the expected rows; with a log, those before it, and the changes that the"
        " database had by replay",
    ),
    _verify(
        "--target-schema NAME",
        TEXT,
        "the schema of the tables in the target (default: those of the log, or that has them)",
    ),
    _verify(
        "--roundtrip",
        FLAG,
        "redo, undo and redo the log in a scratch database, and certify the result",
        brief="redo, undo and redo the log in a scratch database",
    ),
    _verify(
        "--ddl F",
        PLACE,
        "for --roundtrip without --to: a script that makes the tables",
        beside=True,
    ),
    _verify(
        "--scratch URL",
        URL,
        "server for the scratch database (an empty one for MariaDB and MySQL, which need it)",
    ),
    _verify(
        "--certificate FILE",
        PLACE,
        "write the result as JSON; without --expected: check this existing certificate (with the"
        " log and --to: that it is about this log, and that the database still has these rows)",
    ),
    _verify(
        "--sign-key FILE",
        PLACE,
        "sign the certificate with this private key (Ed25519, PEM)",
        beside=True,
    ),
    _verify(
        "--public-key FILE",
        PLACE,
        "check that the certificate was signed with the private half of this key (PEM)",
        beside=True,
        brief="check the signature of the certificate with this key",
    ),
    Option(
        "--role NAME", TEXT, "also grant role NAME the rights on them that replay needs", "prepare"
    ),
    Option("--print", FLAG, "only show the statements", "prepare", field="only_print"),
    Option(
        "--way-back",
        FLAG,
        "show the statements that have PostgreSQL record what users change (publication, slot,"
        " REPLICA IDENTITY), for the way back to the source",
        "prepare",
    ),
    Option(
        "--target-schema NAME",
        TEXT,
        "the schema of the tables (default: all schemas)",
        "prepare",
        only="--way-back",
    ),
    Option("--runs N", POSITIVE, "how many runs to show (default 10)", "status", default=10),
    Option(
        "--rejects F",
        PLACE,
        "write all changes that were not applied as logged to this file: as JSON lines or, where"
        " its name ends in .sql, as a script that applies them, each with the check of its row",
        "status",
        brief="write the changes not applied as logged to a file",
    ),
    Option(
        "--position --lrsn X",
        POSITION,
        "the commit position (default: the last one of the log; with --to: the position of the"
        " target; there all 20 digits)",
        "mark",
        either="which",
    ),
    Option(
        "--time T",
        LAST_TIME,
        "the last commit up to this time, as in the log",
        "mark",
        either="which",
    ),
    Option(
        "--ur URID[/MEMBER]", UNIT, "where this unit of recovery commits", "mark", either="which"
    ),
    Option(
        "--delete NAME",
        TEXT,
        "take a mark back: NAME, NAME(-1) for the one before it or NAME.1 for the first; of --marks"
        " FILE, the file beside the log, or --to",
        "mark",
        either="which",
    ),
    Option("--note TEXT", DATA, "what the mark is for", "mark", default=""),
    Option("--by WHO", DATA, "who made the mark (default: the user of this machine)", "mark"),
)

#: Every option of every command: a command's own first.
OPTIONS: tuple[Option, ...] = (
    *(*LOOKING, *WRITING, *LIVE, *ANSWERS, *OUTPUT, *FORMATS, *TARGET, *REPLAY, *LOG),
    *(*SELECTION, *DEPENDENCIES, *STATEMENTS, *ENGINE),
)


@cache
def options_of(command: str) -> tuple[Option, ...]:
    """The options of a command, its own first."""
    return tuple(option for option in OPTIONS if command in option.commands.split())
