"""The commands: what each is for, examples, and the options that matter most. Their options are in
:mod:`replay.options.command_options`."""

from __future__ import annotations

from dataclasses import dataclass

#: The groups of commands, in the order of an overview.
LOOK, ASK, WRITE, APPLY, KEEP = "look", "ask", "write", "apply", "keep"
GROUPS = {
    LOOK: "at a log, at logreplay itself",
    ASK: "what happened, and what depends on it",
    WRITE: "scripts and data",
    APPLY: "changes to a live database, and see that they are right",
    KEEP: "points of a log, and parts of it",
}

#: Logs that come with the program, for examples that can be pasted.
_SMALL = "fixtures/sakila/small/small.ctl"
_LOG = "fixtures/sakila/log/sakila.ctl"
_KEYS = "--schema fixtures/sakila/log/schema-ri.sql"
_UNIT = "000000000000A1B2E38C"
_SHOP = "--to postgresql://app@host/shop"


@dataclass(frozen=True)
class Command:
    """A command. ``examples`` are what stands behind its name; ``matter`` the options that a short
    help shows; ``text`` what a long help says beside ``summary``. ``continues``: the same command
    goes on where an interrupted one was; ``until_told``: it runs until it is told to stop."""

    name: str
    group: str
    summary: str
    examples: tuple[str, ...]
    matter: str = ""
    text: str = ""
    continues: bool = False
    until_told: bool = False


CHECK = """\
Every before image must equal the last after image of its row, an insert must meet no row, an update
or delete must meet one; positions lie between the begin and the commit of their unit and rise along
the changes of a row; segments and units are whole. Each contradiction is listed with its record and
row; what could not be compared is counted. Exit code 8 if there is any contradiction. A log that
was written with a filter contains some, because the changes in between are not in it."""

DOCTOR = """\
The published record layouts leave some points open. This report says which reading of them the log
confirms, with how many records, and which points no record of the log shows; and it counts header
layouts, lengths, codes and types. It holds no value of a row, no name and no position. The exit
code is 8 if the log contradicts the reading that logreplay uses, and 12 if it cannot be opened; the
report says why."""

HISTORY = """\
Every version that the log has of some rows: when, who (authid, plan, correlation id, unit of
recovery), what changed, and where the change came from (statement, RI, trigger). A row is followed
through changes of its key and of the table's layout. The last lines are commands that undo the last
change, its unit, or everything that job did. The exit code is 4 if the log has no such row."""

STATE = """\
The rows of tables as they were at a point of the log (a commit position, a time, a mark, start or
end; with all that committed at or before it), or the differences between two points. A point before
or after the whole log raises a warning (exit code 4). --initial is a known state, from before the
log or after it: a folder of TABLE.csv files or a database. Every row that the log touches must be
in it as the log has it. Without --initial, only the rows that the log itself shows are written
(exit code 4); --diff does not need it."""

REPORT = """\
Reports from the log alone:

  audit      who changed which columns of which row, and when
  summary    how many changes of each kind, by table (or --group-by), the most first
  quiet      spans in which no unit of recovery was open (--min, --max-open)
  open       units without an end in the log, or open at a point (--at)
  catalog    changes of structure and of whole tables, commands, status changes
  page       all of it as one page for a browser that needs no network: a timeline, units and rows
             with filters, their dependencies, and the command for each choice (--max-rows)

If there is nothing to report, the exit code is 4 and the reason is printed. For other questions:
logreplay sql."""

SQL = """\
A SELECT of DuckDB over the relations units, changes, and OWNER.NAME of each table, with the columns
before_COLUMN and after_COLUMN. units has those that did not commit, too (column state). Without a
query, relations and columns are listed. Only relations that the query names are read, in the range
and the selection that the options name. The query cannot write, and reaches neither files nor the
network."""

EXTRACT = """\
Write the selected changes of a log, or of a set of logs, as one Log Master logical log again: a
control file and a data file, in commit order, with no change twice. Records are copied byte for
byte, damaged ones too (they are listed, and the exit code is 8). Rolled-back work, the REDO set and
incomplete units are kept, marked as in the original. Catalog changes, commands and status records
are kept unless rows are selected. The copy is read back before it is published."""

MARK = """\
Name a point of a log, or list the existing marks (without NAME). With a log, marks are lines of a
file beside it, and redo, undo, export, history, state, report, extract and replay know their names:
--from-mark NAME selects what committed after the mark, --until-mark NAME what committed at or
before it, and state --at NAME the rows at the mark. A name can be used again: NAME is the latest
mark of that name, NAME(-1) the one before, NAME.1 the first that was made. With --to, a mark is
kept in a live database, for replay --until-mark."""

MAPPING = """\
Write the mapping that makes the log's names of the target's again: for scripts back home, or for a
log of the target. Masks, columns that were left out, and types that the mapping sets have no way
back; each is a comment at the head of the file and a warning (exit code 4)."""

_FILES = "LOG"
_WHOSE = "--table --ur --user --job --plan --from-time --until-time"

COMMANDS: tuple[Command, ...] = (
    Command(
        "demo",
        LOOK,
        "redo and undo a bundled log on a temporary PostgreSQL server and compare every row",
        ("", "--engine local --keep out/demo", "--serve after"),
        "--keep --serve --engine",
    ),
    Command(
        "inspect",
        LOOK,
        "what is in a log, and what cannot be done with it",
        (_SMALL, f"{_SMALL} --deep", f"{_SMALL} --record 7 --hex"),
        f"{_FILES} --record --hex --deep --json",
    ),
    Command(
        "check",
        LOOK,
        "find damaged values, lost records and contradictions in a log",
        (_SMALL, f"{_SMALL} --json", f"{_LOG} {_KEYS}"),
        f"{_FILES} --schema --json --engine",
        CHECK,
    ),
    Command(
        "doctor",
        LOOK,
        "report how well a log matches the published format, without any data values",
        (_SMALL, f"{_SMALL} --out report.json"),
        f"{_FILES} --out --overwrite --json",
        DOCTOR,
    ),
    Command(
        "docs",
        LOOK,
        "open the documentation (no network needed), or write man pages",
        ("", "--no-browser", "--man out/man"),
        "--man --no-browser",
    ),
    Command(
        "explain",
        LOOK,
        "explain an error code: what it means, its causes, what to do",
        ("LR2011", "LR3010 LR3011", ""),
        "CODE",
    ),
    Command(
        "completion",
        LOOK,
        "print the completion script for a shell",
        ("bash > ~/.local/share/bash-completion/completions/logreplay", "zsh", "fish"),
        "SHELL",
    ),
    Command(
        "history",
        ASK,
        "the history of a row: every version, who made it, when, and how to undo it",
        (
            f"{_LOG} --table SAKILA.CUSTOMER --key 511",
            f"{_LOG} --table CUSTOMER --where 'after.email is null'",
            f"{_LOG} --ur {_UNIT} --json",
        ),
        f"LOG --key --whole --where {_WHOSE}",
        HISTORY,
    ),
    Command(
        "who",
        ASK,
        "which users and jobs made some changes, how many and when, and how to undo these alone",
        (
            f"{_LOG} --table CUSTOMER --changed EMAIL",
            f"{_LOG} --table RENTAL --op delete --group-by user",
            f"{_LOG} --where \"before.active = 'Y'\" --changed ACTIVE --group-by unit",
        ),
        "LOG --table --changed --where --op --user --job --plan --group-by --from-time --until-time"
        " --schema --format",
    ),
    Command(
        "report",
        ASK,
        "changes one by one (audit), counted (summary), spans without an open unit (quiet), units"
        " without an end (open), changes of structure (catalog), or all as a page for a browser"
        " (page)",
        (
            f"page {_LOG} {_KEYS} --out page.html",
            f"summary {_LOG} --group-by unit",
            f"quiet {_LOG} --min 5s --max-open 1",
        ),
        f"KIND LOG --format --out --group-by --min --max-open --at {_WHOSE}",
        REPORT,
    ),
    Command(
        "sql",
        ASK,
        "a query of your own over the units and changes of a log",
        (
            _LOG,
            f"{_LOG} 'SELECT unit, seconds FROM units ORDER BY 2 DESC'",
            f"{_LOG} 'SELECT * FROM units NATURAL JOIN SAKILA.PAYMENT' --format csv",
        ),
        "LOG --query --file --format --out --table --from-time --until-time",
        SQL,
    ),
    Command(
        "whatif",
        ASK,
        "which later units depend on the selected changes and would have to be undone with them",
        (
            f"{_LOG} --ur {_UNIT} {_KEYS}",
            f"{_LOG} --user CLERK0 --schema none",
            f"{_LOG} --user CLERK0 --table RENTAL --schema none --all",
        ),
        f"{_FILES} {_WHOSE} --schema --all --format --out",
    ),
    Command(
        "state",
        ASK,
        "the rows as they were at a point, or what differs between two points",
        (
            f"{_LOG} --at '2024-03-15 09:28' --initial fixtures/sakila/log/initial --out out/then",
            f"{_LOG} --at end --table SAKILA.CUSTOMER",
            f"{_LOG} --diff start end --table SAKILA.CUSTOMER",
        ),
        f"{_FILES} --at --diff --initial --table --out --to --format",
        STATE,
    ),
    Command(
        "graph",
        ASK,
        "draw which units depend on the selected ones, as a page or as data",
        (
            f"{_LOG} --ur {_UNIT} {_KEYS} --out dependents.html",
            f"{_LOG} --ur {_UNIT} --schema none --back --out both.html",
            f"{_SMALL} --user 'CLERK*' --schema none --out - --format json",
        ),
        f"LOG --schema --out --format {_WHOSE}",
    ),
    Command(
        "redo",
        WRITE,
        "write SQL that repeats the logged changes, in commit order",
        (
            f"{_SMALL} --out out/redo",
            f"{_LOG} --except {_UNIT} {_KEYS} --out out/rest",
            f"{_SMALL} --dialect sqlite --out - > redo.sql",
        ),
        f"LOG --out --dry-run --dialect --encoding --except --schema {_WHOSE}",
    ),
    Command(
        "undo",
        WRITE,
        "write SQL that takes the logged changes back, in reverse order",
        (
            f"{_LOG} --ur {_UNIT} {_KEYS} --cascade all --out out/one",
            f"{_LOG} --user CLERK0 {_KEYS} --cascade non-conflicting --out out/clerk",
        ),
        f"LOG --out --dry-run --dialect --encoding --cascade --schema {_WHOSE}",
    ),
    Command(
        "ddl",
        WRITE,
        "write the CREATE TABLE statements of a log's tables for another database, or the"
        " structure changes that the log holds",
        (
            _SMALL,
            f"{_SMALL} --dialect mariadb --out tables.sql",
            f"{_SMALL} --schema fixtures/sakila/small/db2-tables.sql --schema-dialect db2",
        ),
        f"{_FILES} --dialect --out --changes --table --schema --schema-dialect --names",
    ),
    Command(
        "migrate",
        WRITE,
        "write everything needed to move the tables of a log to another database: schema, load,"
        " redo scripts, foreign keys, verification",
        (
            f"{_LOG} --initial fixtures/sakila/log/initial {_KEYS} --out out/to-postgres",
            f"{_SMALL} --schema none --dialect mariadb --out out/to-mariadb",
            f"{_SMALL} --schema none --names exact --out out/exact",
        ),
        f"{_FILES} --out --initial --schema --dialect --mapping --names --table",
    ),
    Command(
        "mapping",
        WRITE,
        "write the way back of a mapping, and name what has none",
        (
            "--invert fixtures/sakila/shop.toml",
            "--invert fixtures/sakila/shop.toml --out back.toml",
        ),
        "--invert --out",
        MAPPING,
    ),
    Command(
        "export",
        WRITE,
        "write the logged changes as data: one dataset for each table, partitioned by commit date",
        (
            f"{_SMALL} --out out/changes",
            f"{_SMALL} --format csv --out out/csv",
            f"{_SMALL} --out - --format jsonl --table SAKILA.FILM",
        ),
        f"LOG --out --format --grow {_WHOSE}",
    ),
    Command(
        "replay",
        APPLY,
        "bring a live database to a point in time; without --apply only show what would happen",
        (
            f"{_LOG} {_SHOP}",
            f"{_LOG} {_SHOP} --apply",
            f"{_LOG} {_SHOP} --apply --until-time '2024-03-15 09:30'",
        ),
        f"{_FILES} --to --apply --until-time --until-position --until-mark --on --mode",
        continues=True,
    ),
    Command(
        "verify",
        APPLY,
        "compare a database, row by row, with the state that it should be in; prove that undo"
        " undoes what redo did; or check the certificate of an earlier verification",
        (
            f"{_LOG} {_SHOP} --expected fixtures/sakila/log/initial",
            f"{_SHOP} --expected fixtures/sakila/log/final --certificate shop.json",
            "--certificate shop.json --public-key dba.pub",
        ),
        f"{_FILES} --to --expected --roundtrip --scratch --certificate --sign-key --public-key",
    ),
    Command(
        "status",
        APPLY,
        "how far a database has been replayed; given a log, also when that position committed",
        (_SHOP, f"{_SHOP} --rejects rejects.sql"),
        "--to LOG --runs --rejects --json",
    ),
    Command(
        "prepare",
        APPLY,
        "create logreplay's own tables in a target beforehand, so that replay needs no CREATE"
        " right",
        (
            "--to postgresql://owner@host/shop",
            "--to postgresql://owner@host/shop --role app",
            "--to postgresql://owner@host/shop --print",
            "--to postgresql://owner@host/shop --way-back",
        ),
        "--to --role --print --way-back",
    ),
    Command(
        "follow",
        APPLY,
        "watch a folder, and bring a live database or an export up to date as logs arrive",
        (
            f"/logs {_SHOP}",
            "/logs --export /data/changes --format parquet",
            f"/logs {_SHOP} --cut-over --expected DIR",
        ),
        "LOG --to --export --format --once --every --arrival --on-trouble --cut-over"
        " --metrics-port",
        continues=True,
        until_told=True,
    ),
    Command(
        "pause",
        APPLY,
        "tell every `logreplay follow` of a folder to wait",
        ("/logs", "s3://bucket/logs"),
        "DIR|URL",
    ),
    Command(
        "resume",
        APPLY,
        "tell every `logreplay follow` of a folder to go on",
        ("/logs", "s3://bucket/logs"),
        "DIR|URL",
    ),
    Command(
        "mark",
        KEEP,
        "name a point of a log or of a live database, or list the marks",
        (
            f"NIGHT {_SMALL} --marks marks.jsonl --note 'after the batch'",
            f"{_SMALL} --marks marks.jsonl",
            f"before-the-batch {_SHOP}",
        ),
        f"NAME {_FILES} --to --time --position --ur --delete --note",
        MARK,
    ),
    Command(
        "extract",
        KEEP,
        "write the selected changes as one Log Master logical log again",
        (
            f"{_LOG} --table SAKILA.RENTAL --out out/rental-log",
            f"{_LOG} --user CLERK0 --whole-units --out out/clerk-log --name CLERK",
            "/logs --out out/month --name MONTH",
        ),
        f"LOG --out --name --whole-units --committed-only {_WHOSE}",
        EXTRACT,
    ),
)

BY_NAME = {command.name: command for command in COMMANDS}
