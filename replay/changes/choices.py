"""The closed choices of what is taken of a log and what becomes of it, each said once: options of
the command line, arguments of the library and fields of plans are checked against these. Nothing
heavy is imported here, so that help texts need no more than this."""

from __future__ import annotations

from sqlgen.choices import Choices


class Mode(Choices):
    """``redo``: the changes again, in commit order; ``undo``: their inverse, in reverse."""

    REDO = "redo"
    UNDO = "undo"


class Derived(Choices):
    """What becomes of changes that foreign keys or triggers of the source made."""

    APPLY = "apply"
    SKIP = "skip"


class Incomplete(Choices):
    """What is set aside because of incomplete units of recovery: those and what provably depends
    on them; every unit that the log flags; all from DEPENDENTRBA on; nothing, in a copy of the log
    that flags them too."""

    RESOLVE = "resolve"
    QUARANTINE = "quarantine"
    DEPENDENTRBA = "dependentrba"
    KEEP = "keep"


class BehindDamage(Choices):
    """What becomes of units of recovery that change a table after a damaged record in it whose row
    nobody can tell: they are taken; or set aside, for they may build on it."""

    TAKE = "take"
    HOLD = "hold"


#: What the files of an extract are called where nobody says otherwise.
USUAL_NAME = "extract"
#: What sets something aside: the choices wherever changes become anything but a log.
SETTING_ASIDE = (Incomplete.RESOLVE, Incomplete.QUARANTINE, Incomplete.DEPENDENTRBA)


class Gaps(Choices):
    """What becomes of a hole between the logs of a set: the run is refused; it goes on and says so;
    it goes on."""

    REFUSE = "refuse"
    WARN = "warn"
    ALLOW = "allow"


class Arrival(Choices):
    """How a file that arrives is known to be whole: nobody has changed it for a while;
    ``NAME.done`` is beside it; it is renamed when it is."""

    STABLE = "stable"
    MARKER = "marker"
    RENAME = "rename"


class OnTrouble(Choices):
    """What a run that follows does about logs that are damaged or missing, or come behind later
    ones."""

    WAIT = "wait"
    STOP = "stop"


class CascadeMode(Choices):
    """What becomes of later changes that build on what is undone: refuse and name them; undo them
    too; leave out what they built on; undo what was asked for all the same."""

    NONE = "none"
    ALL = "all"
    NON_CONFLICTING = "non-conflicting"
    FORCE = "force"


class Operation(Choices):
    """Kinds of change that ``--op`` names."""

    DELETE = "delete"
    EXCHANGE = "exchange"
    INSERT = "insert"
    TRUNCATE = "truncate"
    UPDATE = "update"


class ExportFormat(Choices):
    """The formats that changes are written in as data."""

    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"
    DEBEZIUM = "debezium"
    LOAD = "load"


class ParquetTypes(Choices):
    """What every reader of Parquet knows, or the closest types that Arrow has."""

    PORTABLE = "portable"
    NATIVE = "native"


class EventSchemas(Choices):
    """Schemas of Debezium events: in every event, or once in the manifest."""

    INLINE = "inline"
    APART = "apart"


class CsvFormulas(Choices):
    """Text that a spreadsheet would take for a formula: as it is, or behind an apostrophe."""

    KEEP = "keep"
    TEXT = "text"


class Generation(Choices):
    """Which form of a table that changed within the log."""

    FIRST = "first"
    LAST = "last"


class DrawingFormat(Choices):
    """How a drawing of the dependency graph is written."""

    HTML = "html"
    JSON = "json"


class ApplyMode(Choices):
    """How a replay applies changes: every statement in commit order; or the same, but rows of a
    transaction together where nothing can tell their order."""

    STRICT = "strict"
    BULK = "bulk"


class Enforcement(Choices):
    """Whether the target's triggers and foreign keys act on a replay."""

    ON = "on"
    OFF = "off"


class EngineName(Choices):
    """What carries out a run: Apache Spark, this process alone, or whichever suits the log."""

    AUTO = "auto"
    SPARK = "spark"
    LOCAL = "local"


#: The log families of this package. Others are entry points.
SOURCES = ("logmaster", "db2luw", "soliddb", "logmaster-load", "events")
