"""The words of the library for selections and options, and what they become; and what a program
gives to its functions, checked by the kinds that these declare: a command line takes text only, and
refuses what it does not understand before anything begins. They mean what the options of the
command line mean that have their names."""

from __future__ import annotations

import inspect
import re
import sys
import typing
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial, wraps
from pathlib import Path
from types import FrameType, GenericAlias, SimpleNamespace
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack

from replay.changes.notation import position_of
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.csv_states import CsvForm
from replay.errors import UsageError, usage_errors
from replay.options.option import Several
from replay.options.reading_options import SELECTION
from sqlgen.errors import SqlgenError, checked_kinds, choice, did_you_mean, kinds_of
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


# -- what a program gives
# -------------------------------------------------------------------------------------------------

Given = ParamSpec("Given")
Result = TypeVar("Result")


def checked(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """``function``, which raises UsageError (LR1001) for an argument that is not of the kind its
    annotation says, before it does anything; TypeError, as any function, for one that it does not
    have. Keywords of a ``TypedDict`` (``**options: Unpack[…]``) are checked by that."""
    signature = inspect.signature(function)

    @wraps(function)
    def first_checked(*arguments: Given.args, **keywords: Given.kwargs) -> Result:
        bound = signature.bind(*arguments, **keywords)
        kinds, rest, words = declared_kinds(function)
        if words is not None:
            check_words(bound.arguments.get(rest, {}), words)
        with usage_errors():
            given = checked_kinds(bound.arguments, kinds)
            if words is not None and rest in given:
                given[rest] = checked_kinds(given[rest], kinds_of(words))
        bound.arguments.update(given)
        return function(*bound.args, **bound.kwargs)

    first_checked.__signature__ = _in_full(function, signature)  # type: ignore[attr-defined]
    return first_checked


def warn(text: str) -> None:
    """A UserWarning at the line of the program that called the library."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "replay":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


class _NotGiven:
    """The default of a keyword that counts only where it is given."""

    def __repr__(self) -> str:
        return "…"


def _in_full(function: Callable[..., Any], signature: inspect.Signature) -> inspect.Signature:
    """A signature with the keywords of a ``TypedDict`` in place of ``**options``, for ``help()``
    and editors."""
    named = list(signature.parameters.values())
    found = named and re.fullmatch(r"Unpack\[(\w+)\]", str(named.pop().annotation))
    if not found:
        return signature
    taken = {one.name for one in named}
    words = function.__globals__[found[1]].__annotations__
    keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY, default=_NotGiven())
    more = [
        keyword(name, annotation=getattr(kind, "__forward_arg__", kind))
        for name, kind in words.items()
        if name not in taken
    ]
    return signature.replace(parameters=[*named, *more])


@lru_cache(maxsize=256)
def declared_kinds(function: Callable[..., Any]) -> tuple[Mapping[str, Any], str, type | None]:
    """The kinds of a function's parameters by name; the name of the one that takes further
    keywords, and their TypedDict, where it declares one."""
    given = dict(function.__annotations__)
    given.pop("return", None)  # what is only returned need not be loaded
    scope = getattr(function, "__globals__", {})
    kinds = dict(typing.get_type_hints(SimpleNamespace(__annotations__=given), globalns=scope))
    rest = ""
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL and name in kinds:
            kinds[name] = GenericAlias(tuple, (kinds[name], ...))
        rest = name if parameter.kind is parameter.VAR_KEYWORD else rest
    further = kinds.pop(rest, None)
    words = typing.get_args(further)[0] if typing.get_origin(further) is typing.Unpack else None
    return kinds, rest, words
