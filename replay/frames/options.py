"""The options of a source, texts by name, and what they become. Names and words are those of the
library (``until``, ``from_time``; underscores and case do not count), so each means what the option
of the command line means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from glob import escape
from typing import Any

from replay import storage
from replay.changes.choices import Arrival, Gaps, Late
from replay.changes.keywords import (
    SelectionOptions,
    ValueOptions,
    chosen_units,
    script_options,
    selection_of,
)
from replay.changes.notation import choice_of
from replay.changes.options import Export, ScriptOptions
from replay.changes.selection import Selection
from replay.errors import UsageError
from replay.live.keys import key_source
from replay.logs import Inputs, source_named
from replay.logs.named import gathered, words_of
from replay.output.formats import PORTABLE_BATCHES, TEXT_BATCHES
from replay.pipeline.engine import SPLIT_BYTES
from replay.pipeline.request import KeySource, usage_errors
from sqlgen.choices import Choices
from sqlgen.errors import choice


class RowKind(Choices):
    """What the rows of a source are: changes with their images, records with their headers, or
    what there is to know of the changes that are read and of those that are not."""

    CHANGES = "changes"
    ENVELOPE = "envelope"
    REPORT = "report"


class Damage(Choices):
    """What becomes of damaged row images: their units are set aside, for which all images are read
    once before; or the task that comes upon one ends the query."""

    SET_ASIDE = "set-aside"
    FAIL = "fail"


#: Of the options that select and shape: those with several values (a comma or the end of a line
#: parts them), whole numbers, and yes or no.
_LISTS = frozenset(
    (
        *("tables", "exclude_tables", "ops", "units", "authids", "plans", "correlations"),
        *("connections", "members", "luws", "databases", "tablespaces", "partitions", "pages"),
        *("rids", "columns", "exclude_columns", "except"),
    )
)
_NUMBERS = frozenset(("members", "records_per_file"))
_SWITCHES = frozenset(("include_aborted", "from_recovery_point", "strict"))
_SELECTS = frozenset(SelectionOptions.__optional_keys__)
_SHAPES = frozenset(ValueOptions.__optional_keys__)
_OWN = frozenset(
    (
        *("source", "control", "data", "path", "logs", "log", "catalog", "framing", "ccsid"),
        *("gaps", "rows", "table", "damage", "split_mb", "work", "records_per_partition"),
        *("baseline", "except"),
        *("arrival", "settle", "late", "max_units_per_batch", "max_logs_per_batch"),
        "max_files_per_trigger",
    )
)
_PATHS = frozenset(("control", "data", "path", "logs", "log", "catalog", "work", "marks"))
_NAMES = {name.replace("_", ""): name for name in _OWN | _SELECTS | _SHAPES}
#: What the names of the options of a family begin with.
_OF_LOG = "logoption."


@dataclass(frozen=True)
class SourceOptions:
    """What a user wants of a source. ``inputs`` name the files; ``logs`` is the folder, glob or
    list where logs are named together. ``table``: changes of this one, with typed images; ``rows``
    as :class:`RowKind`. ``work``: the folder in which prepared logs are kept (None: one of the
    process). ``baseline``: the folder or URL of the rows before the log (None: not known).
    ``settle`` in seconds; ``max_units`` and ``max_logs`` limit a batch of a stream (None:
    they do not)."""

    source: str
    rows: RowKind
    table: str | None
    selection: Selection
    values: ScriptOptions
    inputs: Inputs
    words: tuple[tuple[str, tuple[str, ...]], ...] = ()
    logs: str | None = None
    schema: str | None = None
    schema_dialect: str = "postgres"
    damage: Damage = Damage.SET_ASIDE
    split_bytes: int = SPLIT_BYTES
    baseline: str | None = None
    work: str | None = None
    arrival: Arrival = Arrival.STABLE
    settle: float = 10.0
    late: Late = Late.REFUSE
    max_units: int | None = None
    max_logs: int | None = None
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def goes_on(self) -> bool:
        """Whether options say that the log goes on."""
        says = ("arrival", "settle", "late", "max_units_per_batch", "max_logs_per_batch")
        return any(name in self.given for name in (*says, "max_files_per_trigger"))

    @property
    def keys(self) -> KeySource:
        """What is known of the tables' keys."""
        return key_source(self.schema, self.schema_dialect)

    @property
    def export(self) -> Export:
        """How changes are written into batches."""
        return Export(TEXT_BATCHES if self.table is None else PORTABLE_BATCHES)

    def named(self) -> Inputs:
        """The inputs with all the files that are named. Errors as
        :func:`replay.logs.named.gathered`."""
        logs = () if self.logs is None else (self.logs,)
        return gathered(source_named(self.source), self.words, logs, self.inputs)


def read_options(options: Mapping[str, str], place: str = "") -> SourceOptions:
    """The options of a source; relative paths begin in the folder ``place``. UsageError (LR1001)
    for an option that there is not, or whose value cannot be read."""
    given, log_options = _by_name(options)
    for name in given.keys() & _PATHS:
        given[name] = "\n".join(_placed(path, place) for path in given[name].splitlines())
    for name in given.keys() & {"schema", "baseline"}:  # which may be the URL of a database too
        if os.path.exists(os.path.join(place, given[name])):
            given[name] = _placed(given[name], place)
    values = {name: _value(name, text) for name, text in given.items()}
    with usage_errors():
        selection = selection_of(**{name: values[name] for name in values if name in _SELECTS})
        if excepted := values.get("except"):
            selection = replace(selection, excepted=chosen_units(map(choice_of, excepted)))
        selection, table = _of_table(selection, values.get("table"))
        shaping = {name: values[name] for name in values if name in _SHAPES}
        if "records_per_partition" in values:
            shaping["records_per_file"] = values["records_per_partition"]
        usual = RowKind.ENVELOPE if table is None else RowKind.CHANGES
        chosen: dict[str, Any] = {
            "rows": choice(RowKind, values.get("rows", usual), "rows"),
            "damage": choice(Damage, values.get("damage", Damage.SET_ASIDE), "damage"),
            "arrival": choice(Arrival, values.get("arrival", Arrival.STABLE), "arrival"),
            "late": choice(Late, values.get("late", Late.REFUSE), "late"),
        }
        gaps = choice(Gaps, values["gaps"], "gaps") if "gaps" in values else None
        script = script_options("duckdb", selection, **shaping)
    if "max_files_per_trigger" in values:
        values.setdefault("max_logs_per_batch", values["max_files_per_trigger"])
    logs, log, words = _files(values)
    return SourceOptions(
        source=values.get("source", "logmaster"),
        table=table,
        selection=selection,
        values=script,
        inputs=Inputs(
            gaps=gaps,
            log=log,
            catalog=values.get("catalog"),
            framing=values.get("framing"),
            ccsids=_code_pages(values.get("ccsid", "")),
            options=log_options,
        ),
        words=words,
        logs=logs,
        schema=values.get("schema"),
        schema_dialect=values.get("schema_dialect", "postgres"),
        split_bytes=values.get("split_mb", SPLIT_BYTES >> 20) << 20,
        baseline=values.get("baseline"),
        work=values.get("work"),
        settle=values.get("settle", 10.0),
        max_units=values.get("max_units_per_batch"),
        max_logs=values.get("max_logs_per_batch"),
        given=dict(sorted((*given.items(), *log_options.items()))),
        **chosen,
    )


def _placed(path: str, place: str) -> str:
    return path if storage.is_url(path) else os.path.join(place, path)


def _by_name(options: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The options by our names, and those of the family."""
    given: dict[str, str] = {}
    of_log: dict[str, str] = {}
    for written, text in options.items():
        plain = written.replace("_", "").replace("-", "").lower()
        if plain.startswith(_OF_LOG):
            of_log[written.partition(".")[2]] = text
        elif plain in _NAMES:
            given[_NAMES[plain]] = text
        else:
            raise UsageError(
                "LR1001",
                f"found option {written!r}; expected one of: {', '.join(sorted(_NAMES.values()))},"
                " logOption.NAME",
                hint="They are listed in replay/docs/how-to/spark.md",
            )
    return given, of_log


def _value(name: str, text: str) -> Any:
    if name in _LISTS:
        entries = tuple(part.strip() for line in text.splitlines() for part in line.split(","))
        entries = tuple(entry for entry in entries if entry)
        return tuple(_number(name, entry) for entry in entries) if name in _NUMBERS else entries
    if name in _SWITCHES:
        if text.lower() not in ("true", "false"):
            raise UsageError("LR1001", f"found {name} {text!r}; expected true or false")
        return text.lower() == "true"
    if name in _NUMBERS or name.startswith(("max_", "split_", "records_")):
        number = _number(name, text)
        if number < 1:
            raise UsageError("LR1001", f"found {name} {text!r}; expected 1 or more")
        return number
    if name == "settle":
        try:
            return max(0.0, float(text))
        except ValueError:
            raise UsageError("LR1001", f"found {name} {text!r}; expected seconds") from None
    return text


def _number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError("LR1001", f"found {name} {text!r}; expected a whole number") from None


def _of_table(selection: Selection, table: str | None) -> tuple[Selection, str | None]:
    """The selection of one table, and its name."""
    if table is None:
        return selection, None
    if not selection.takes_table(table):
        raise UsageError("LR1004", f"found table {table}, which is not selected")
    return replace(selection, tables=(escape(table),)), table


def _files(
    values: Mapping[str, Any],
) -> tuple[str | None, tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    """(logs, log, control and data files) as they are named: a path alone is that of the logs, or
    of the file of a family without control files; beside a control file, that of the data."""
    path, control = values.get("path"), values.get("control")
    data, log, logs = values.get("data"), values.get("log"), values.get("logs")
    if control is not None and data is None:
        data, path = path, None
    if path is not None and (logs or log or data):
        raise UsageError(
            "LR1001", f"found a path ({path}) beside data, log or logs; expected one of them"
        )
    named = words_of(
        None if control is None else control.splitlines(),
        () if data is None else data.splitlines(),
    )
    words = tuple((kind, tuple(files)) for kind, files in named if files)
    return logs or path, () if log is None else tuple(log.splitlines()), words


def _code_pages(text: str) -> dict[str, int]:
    """``E=1140,U=1208`` as code pages by scheme."""
    pages: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        scheme, _, number = part.partition("=")
        if scheme.upper() not in ("E", "A", "U") or not number.isdigit():
            raise UsageError("LR1001", f"found ccsid {part!r}; expected E, A or U, = and a CCSID")
        pages[scheme.upper()] = int(number)
    return pages
