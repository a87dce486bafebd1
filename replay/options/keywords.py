"""The words of the library for selections and options, and what they become. They mean what the
options of the command line mean that have their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict, Unpack

from replay.changes.notation import position_of
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.csv_states import CsvForm
from replay.errors import UsageError
from replay.options.option import Several
from replay.options.reading_options import SELECTION
from sqlgen.errors import SqlgenError, choice, did_you_mean
from sqlgen.literals import Policy
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Constraints

#: One text or several.
Words = str | Iterable[str]
#: A position in hexadecimal digits (LRSN, RBA, LSN, LOGADDR), or its bytes.
PositionText = str | bytes
#: Numbers, each alone or as ``FIRST-LAST``.
Numbers = str | int | Iterable[str | int | tuple[int, int]]
#: A time as people write it, of the log's own clock and so without a zone, or the bytes that
#: headers have.
TimeText = str | datetime | bytes
#: A unit of recovery: ``URID`` or ``URID/MEMBER``, or (bytes, member).
UnitText = str | tuple[bytes, int | None]


class SelectionOptions(TypedDict, total=False):
    """What :meth:`Log.select` takes: the options of the command line (``table``, ``user``, ``ur``,
    ``until_position``), of which those that take several values have a plural too."""

    table: Words
    exclude_table: Words
    op: Words
    ur: UnitText | Iterable[UnitText]
    user: Words
    job: Words
    plan: Words
    connection: Words
    until_position: PositionText | None
    tables: Words
    exclude_tables: Words
    from_position: PositionText | None
    until: PositionText | None
    from_mark: str | None
    until_mark: str | None
    marks: str | None
    from_time: TimeText | None
    until_time: TimeText | None
    ops: Words
    units: UnitText | Iterable[UnitText]
    unit_query: str | None
    users: Words
    jobs: Words
    authids: Words
    plans: Words
    correlations: Words
    connections: Words
    members: Iterable[int]
    luws: Words
    databases: Words
    tablespaces: Words
    partitions: Numbers
    pages: Numbers
    rids: str | bytes | Iterable[str | bytes]
    where: str | None
    changed: Words
    columns: Words
    exclude_columns: Words
    include_aborted: bool
    ri: str
    triggers: str
    history: str | None
    incomplete: str
    behind_damage: str
    from_recovery_point: bool


class QuestionOptions(SelectionOptions, total=False):
    """A selection, what is known of the tables' keys, and what answers call tables."""

    schema: str | Path | Constraints | Callable[..., Constraints] | None
    schema_dialect: str
    schema_encoding: str
    mapping: str | Path | None
    mask_key_file: str | Path | None


class ReportWords(QuestionOptions, total=False):
    """What a report takes: fields of :class:`replay.reports.report_kinds.ReportOptions` beside a
    selection."""

    group_by: str | Sequence[str]
    shown: Sequence[str]
    least: str | float | None
    most_open: int
    most_rows: int
    at: str | datetime | None


class TextOptions(TypedDict, total=False):
    """Names, values that a target cannot hold, and what is known of the tables' keys (``schema``:
    a file of DDL, the URL of a database, or constraints). ``mapping`` and ``mask_key_file`` are
    files."""

    names: str
    nul: str
    timestamps: str
    char_padding: str
    midnight: str
    empty_text: str
    reals: str
    schema: str | Path | Constraints | None
    schema_dialect: str
    schema_encoding: str
    mapping: str | Path | None
    mask_key_file: str | Path | None


class ValueOptions(TextOptions, total=False):
    """How files are written."""

    records_per_file: int
    strict: bool


class StatementOptions(ValueOptions, total=False):
    """How scripts are written. ``baseline`` is the folder or URL of the state before the log
    (undo: of now), ``csv`` how its files are written; ``asserts``: ``rows`` or ``none``
    (``--assert``); ``client``, ``terminator`` and ``encoding``: the form of scripts, ``jcl``: with
    a job that runs them."""

    where_columns: str
    asserts: str | None
    commit_every: int
    commit_statements: int | None
    trace: bool
    upsert: bool
    baseline: str | Path | None
    csv: str | None
    client: str | None
    terminator: str | None
    encoding: str | None
    jcl: bool


class LiveOptions(TextOptions, total=False):
    """How statements for a live database are written."""

    where_columns: str


class ReplayOptions(LiveOptions, total=False):
    """How a replay is carried out. ``on``: ``CONDITION[:OP]=RESPONSE``; ``accept``: codes of
    refusals that the user answers for."""

    at: PositionText | None
    adjoining: bool
    enforcement: str
    on: Words
    accept: Words
    mode: str
    commit_every: int | None
    commit_statements: int | None
    tries: int


def chosen_units(choices: Iterable[tuple[str, Any]]) -> Selection:
    """The selection that some of :func:`replay.changes.notation.choice_of` make: all units
    of recovery that one of them names."""
    values: dict[str, Any] = {}
    for field, value in choices:
        values[field] = (*values.get(field, ()), value)
    return Selection(**values, any_name=len(values) > 1)


def condition_of(where: str | None, changed: Sequence[str]) -> str | None:
    """A condition on values, which an update satisfies only if it changes one of some columns."""
    if not changed:
        return where
    names = ['"' + name.replace('"', '""') + '"' for name in changed]
    condition = f"changed({', '.join(names)})"
    return condition if where is None else f"({where}\n) AND {condition}"


def selection_of(**options: Unpack[SelectionOptions]) -> Selection:
    """A selection from texts as the command line takes them. UsageError and SqlgenError (LR1001)
    for one that cannot be read."""
    check_words(options, SelectionOptions)
    values: dict[str, Any] = {}
    for name, value in options.items():
        field = _FIELDS.get(name, name)
        if field in values:
            other = next(one for one in options if _FIELDS.get(one, one) == field)
            raise UsageError("LR1001", f"found {other} and {name}; expected one of them")
        values[field] = value
    changed = values.pop("changed", ())
    changed = (changed,) if isinstance(changed, str) else tuple(changed)
    values["where"] = condition_of(values.get("where"), changed)
    return Selection(**{name: _read(name, value) for name, value in values.items()})


#: Words for fields of a selection: those of the command line, the fields themselves, and others.
_FIELDS = {
    **{name[2:].replace("-", "_"): one.dest for one in SELECTION for name in one.names},
    **{one.dest: one.dest for one in SELECTION},
    "until": "until_position",
    "users": "authids",
    "jobs": "correlations",
}


def chosen_words(options: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The words of a selection as a command line has them: field and words of each, of those that
    are text."""
    names = {one.dest: one.name for one in SELECTION}
    found = []
    for name, value in options.items():
        field = _FIELDS.get(name, "")
        values = (value,) if isinstance(value, str | int | datetime) else value
        if (
            field in names
            and values
            and all(isinstance(one, str | int | datetime) for one in values)
        ):
            found.append((field, tuple(w for one in values for w in (names[field], str(one)))))
    return tuple(found)


#: What the values of a selection's fields are, where they are read from text.
_KINDS = {option.dest: option.kind for option in SELECTION if option.kind.read is not str}


def _read(name: str, value: Any) -> Any:
    """The value of a field that may be text, or several of them."""
    kind = _KINDS.get(name)
    if kind is None or value is None:
        return value
    if kind.several is Several.REFUSED:
        return kind.read(str(value)) if isinstance(value, str | datetime) else value
    alone = isinstance(value, str | int | bytes)
    alone = alone or (name == "units" and bool(value) and isinstance(next(iter(value)), bytes))
    several = (value,) if alone else value
    return tuple(kind.read(str(one)) if isinstance(one, str | int) else one for one in several)


def octets_of_position(position: PositionText | None) -> bytes | None:
    """A position as bytes. SqlgenError (LR1001) for what is none."""
    if position is None or isinstance(position, bytes):
        return position
    if not isinstance(position, str):
        raise SqlgenError("LR1001", f"found position {position!r}; expected text or bytes")
    return position_of(position)


#: Fields of :class:`sqlgen.literals.Policy`.
POLICIES = ("nul", "timestamps", "char_padding", "midnight", "empty_text", "reals")
_WRITTEN = (
    "commit_every",
    "commit_statements",
    "records_per_file",
    "trace",
    "strict",
    "asserts",
    "client",
    "terminator",
    "encoding",
    "jcl",
)


def csv_form(word: str | None) -> CsvForm | None:
    """How a state's files are written, None: it is found out. SqlgenError (LR1001)."""
    return None if word is None else choice(CsvForm, word, "csv")


def check_words(options: Mapping[str, Any], words: type) -> None:
    """TypeError for a keyword that is none of a TypedDict's, as Python says it of functions."""
    known = words.__optional_keys__ | words.__required_keys__  # type: ignore[attr-defined]
    unknown = sorted(options.keys() - known)
    if unknown:
        meant = did_you_mean(unknown[0], known)
        raise TypeError(f"got an unexpected keyword argument {unknown[0]!r}{meant}")


def script_options(
    dialect: str | None, selection: Selection, **options: Unpack[StatementOptions]
) -> ScriptOptions:
    """How statements and values are written, in the dialect of the log's own database where none
    is named. SqlgenError (LR1001) for a word that no option
    has."""
    given: dict[str, Any] = dict(options)
    check_words(given, StatementOptions)
    names = {"names": given["names"]} if "names" in given else {}
    render = RenderOptions(
        columns=selection.columns,
        exclude_columns=selection.exclude_columns,
        policy=Policy(**{name: given[name] for name in POLICIES if name in given}),
        **names,
        **{name: given[name] for name in ("where_columns", "upsert") if name in given},
    )
    written = {name: given[name] for name in _WRITTEN if given.get(name) is not None}
    return ScriptOptions(dialect or "", render=render, **names, **written)
