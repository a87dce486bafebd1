"""What the library's functions are given is checked as strictly as the command line checks its
options, which are text: wrong kinds are refused by name, before anything is done."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import replay
from replay import api
from replay.changes.options import Export, ScriptOptions
from replay.changes.selection import Selection
from replay.errors import LogReplayError, UsageError
from replay.live.transaction_size import Pace
from replay.options.keywords import LiveOptions, checked, declared_kinds
from replay.reports.log_api import Questions
from replay.reports.report_kinds import ReportOptions
from sqlgen.errors import SqlgenError
from sqlgen.literals import Policy
from sqlgen.render_options import RenderOptions

#: Kind -> what is not of it.
FLAG = ("no", 1, None)
COUNT = ("7", True, 2.0, 0, -1)
TEXT = (5, True, b"x", ["x"])
PATH = (5, True, b"x", ["x"])
PATHS = (5, True, b"x", {"x": 1}, [5])
TEXTS = (5, True, None, b"x", {"x": 1}, [5], ["x", None])
TEXT_OR_OCTETS = (5, True, ["x"])
OF_A_CLASS = (5, "x", {"x": 1})
KEYS = (5, True, b"x", ["x"])

#: Option -> values that no function of the library takes.
WRONG: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(("include_aborted", "from_recovery_point", "strict", "trace"), FLAG),
    **dict.fromkeys(("committed_only", "whole_units"), FLAG),
    **dict.fromkeys(
        ("upsert", "jcl", "adjoining", "merge", "overwrite", "continues", "roundtrip"), FLAG
    ),
    **dict.fromkeys(("records_per_file", "commit_every", "tries"), COUNT),
    **dict.fromkeys(("commit_statements", "top", "most_rows"), COUNT),
    "most_open": ("7", True, 2.0, -1),
    "least": (True, ["x"], b"x"),
    **dict.fromkeys(("source", "framing", "gaps", "dialect", "cascade", "format"), TEXT),
    **dict.fromkeys(("parquet_types", "csv_null", "csv_formulas", "schemas", "mode"), TEXT),
    **dict.fromkeys(("names", "nul", "timestamps", "char_padding", "midnight"), TEXT),
    **dict.fromkeys(("empty_text", "reals", "where_columns", "asserts", "enforcement"), TEXT),
    **dict.fromkeys(("ri", "triggers", "incomplete", "where", "schema_dialect", "url"), TEXT),
    **dict.fromkeys(("from_mark", "marks", "behind_damage", "history"), TEXT),
    **dict.fromkeys(("until_mark", "target_schema", "scratch", "kind", "one", "other"), TEXT),
    **dict.fromkeys(("initial_at", "late", "csv"), TEXT),
    **dict.fromkeys(("schema_encoding", "encoding", "client", "terminator"), TEXT),
    "apply": FLAG,
    "name": TEXT,
    **dict.fromkeys(("from_position", "until", "from_time", "until_time"), TEXT_OR_OCTETS),
    **dict.fromkeys(("until_position",), TEXT_OR_OCTETS),
    **dict.fromkeys(("exclude_table", "op", "user", "job", "plan", "connection"), TEXTS),
    **dict.fromkeys(("query", "generation"), TEXT),
    "ur": (5, None, [5], (b"x", "y")),
    "back": FLAG,
    "most_units": (None, True, 2.0, "7"),
    "files": (),  # no keyword
    "at": TEXT_OR_OCTETS,
    **dict.fromkeys(("tables", "exclude_tables", "ops", "authids", "plans"), TEXTS),
    **dict.fromkeys(("correlations", "connections", "columns", "exclude_columns"), TEXTS),
    **dict.fromkeys(("on", "accept", "group_by", "shown"), TEXTS),
    **dict.fromkeys(("luws", "databases", "tablespaces", "users", "jobs", "changed"), TEXTS),
    **dict.fromkeys(("partitions", "pages"), (None, True, 2.0, b"x", [None], [("1", 2)])),
    "rids": (5, None, [5], {"x": 1}),
    "table": (5, True, b"x", {"x": 1}, [5]),
    "key": (None, b"x", 2.5, [None], {"x": 1}),
    "members": (5, "x", ["x"], [True], None, [2.0]),
    "unit_query": (5, True, b"x", ["x"]),
    "units": (5, None, [5], (b"x", "y"), [(b"x", "y")]),
    **dict.fromkeys(("control", "data", "log", "logs"), PATHS),
    **dict.fromkeys(("catalog", "baseline", "initial", "expected", "ddl", "work"), PATH),
    **dict.fromkeys(("mapping", "mask_key_file", "out", "after", "path"), PATH),
    **dict.fromkeys(("sign_key", "public_key"), PATH),
    "schema": KEYS,
    **dict.fromkeys(
        ("selection", "excepted", "changes", "constraints", "engine", "session", "spark"),
        OF_A_CLASS,
    ),
    "ccsids": (5, "E=37", {"E": "37"}, {"E": True}, {5: 37}),
    "options": (5, "x=y", [("x", "y")]),
}

#: The functions of the library whose arguments are checked.
DOORS: tuple[tuple[object, tuple[str, ...]], ...] = (
    (api, ("open_log", "check_certificate", "verify", "write_script")),
    (api.Log, ("check", "select", "take", "asked")),
    (api.Selected, ("redo", "undo", "export", "extract", "changes", "statements", "to_arrow")),
    (api.Selected, ("replay", "verify", "to_pandas", "to_polars")),
    (api.Writable, ("write",)),
    (api.Extract, ("write",)),
    (api.Verification, ("write",)),
    (Questions, ("history", "state", "differences", "report", "whatif", "graph", "ddl", "sql")),
)

#: What the functions take beside what is wrong.
GIVEN: dict[str, object] = {
    "url": "sqlite:///nowhere.db",
    "session": None,
    "key": ("id",),
    "expected": "nowhere",
    "control": "no.ctl",
    "data": ["no.dat"],
    "out": Path("nowhere"),
    "path": "nowhere",
    "at": "F" * 20,
    "one": "0" * 20,
    "other": "F" * 20,
    "kind": "summary",
    "query": "SELECT 1",
    "selection": Selection(),
}


@pytest.fixture(scope="module")
def log(sakila_small: Path) -> Iterator[replay.Log]:
    files = {"control": sakila_small / "small.ctl", "data": sakila_small / "small.dat"}
    with replay.open_log(**files) as opened:
        yield opened


def options_of(function: Callable[..., object]) -> Iterator[str]:
    """What a function of the library may be given, by name."""
    original = inspect.unwrap(function)
    kinds, rest, words = declared_kinds(original)
    yield from kinds
    if words is not None:
        yield from words.__annotations__
    elif rest:
        yield from LiveOptions.__annotations__


def call(log: replay.Log, place: object, name: str, options: dict[str, Any]) -> object:
    """Call a function of the library, for ``log``."""
    if place is api.Selected:
        place = log.select()
    elif place is api.Writable:
        place = log.select().redo()
    elif place is api.Extract:
        place = log.select().extract()
    elif place is api.Verification:
        place = api.Verification(0, {}, ())
    elif place is not api:
        place = log
    function = getattr(place, name)
    known = inspect.signature(function).parameters
    needed = {name: value for name, value in GIVEN.items() if name in known}
    wanted = {
        name: value for name, value in needed.items() if known[name].default is inspect._empty
    }
    return function(**{**wanted, **options})


@pytest.mark.parametrize(
    ("place", "name"), [(place, name) for place, names in DOORS for name in names]
)
def test_values_of_another_kind_are_refused(place: object, name: str, log: replay.Log) -> None:
    taken = []
    for option in options_of(getattr(place, name)):
        for value in WRONG[option]:
            try:
                call(log, place, name, {option: value})
            except UsageError as error:
                if error.code != "LR1001" or option.replace("_", "") not in plain(error.message):
                    taken.append(f"{option}={value!r}: {error}")
            except (LogReplayError, TypeError, ValueError, AttributeError, OSError) as error:
                taken.append(f"{option}={value!r}: {error!r}")
            else:
                taken.append(f"{option}={value!r} is taken")
    assert not taken, "\n".join(taken)


def plain(message: str) -> str:
    """A message in which options are spelled as arguments."""
    spelled = {"--op ": "ops op ", "urs": "ur", "--max-open": "mostopen", "--max-rows": "mostrows"}
    for option, name in spelled.items():
        message = message.replace(option, name)
    return message.replace("-", "").replace("_", "")


def test_every_function_of_the_door_is_checked() -> None:
    """Public functions of the door that take anything are in DOORS, so that none is forgotten."""
    for place, names in DOORS:
        assert all(hasattr(getattr(place, name), "__wrapped__") for name in names)
    public = {
        (place, name)
        for place in (
            *(api, api.Log, api.Selected, api.Writable, api.Extract, api.Verification),
            Questions,
        )
        for name, function in vars(place).items()
        if inspect.isfunction(function) and not name.startswith("_")
        if function.__module__ in (api.__name__, Questions.__module__)
        if set(inspect.signature(function).parameters) - {"self", "plan"}
    }
    known = {(place, name) for place, names in DOORS for name in names}
    assert public - known == {(Questions, "asked"), (api.Selected, "request")}


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (Selection, "members", ("x",)),
        (Selection, "members", 5),
        (Selection, "include_aborted", "no"),
        (Selection, "ops", 5),
        (Selection, "tables", (5,)),
        (Selection, "until_position", "00"),
        (Selection, "excepted", "x"),
        (ScriptOptions, "trace", "no"),
        (ScriptOptions, "render", {}),
        (RenderOptions, "upsert", 1),
        (RenderOptions, "columns", "X"),
        (RenderOptions, "policy", "strip"),
        (Policy, "nul", 5),
        (Pace, "wait", "1"),
        (ReportOptions, "least", "5m"),
    ],
)
def test_what_requests_are_made_of_is_checked(kind: type, field: str, value: object) -> None:
    with pytest.raises((SqlgenError, UsageError)) as refused:
        kind(**{field: value})
    assert refused.value.code == "LR1001"
    with pytest.raises(SqlgenError, match="found null 5; expected text"):
        Export("csv", null=5)  # type: ignore[arg-type]


def test_an_iterator_is_read_once(log: replay.Log) -> None:
    """What can be read once is checked, and still there for what is asked."""
    chosen = log.select(tables=iter(["SAKILA.FILM"]), members=(number for number in (0, 1)))
    assert chosen.selection.tables == ("SAKILA.FILM",)
    assert chosen.selection.members == (0, 1)
    with pytest.raises(UsageError, match="found members"):
        log.select(members=iter(["x"]))  # type: ignore[arg-type]


def test_unknown_arguments_are_errors_of_the_program() -> None:
    @checked
    def one(name: str, *, strict: bool = False) -> str:
        return name * 2 if strict else name

    assert (one("x"), one(name="x", strict=True)) == ("x", "xx")
    with pytest.raises(TypeError):
        one("x", loose=True)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="LR1001 found strict 'x'; expected True or False"):
        one("x", strict="x")  # type: ignore[arg-type]
