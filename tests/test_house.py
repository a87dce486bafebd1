"""The rules of the house, checked on the source text: who may import whom, what is said only once
and where, how large things get."""

from __future__ import annotations

import ast
import graphlib
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path, PurePath
from types import SimpleNamespace

import pytest

from replay import targets
from replay.errors import CODES
from sqlgen.dialects import BUILT_IN, profile_named
from tests.support import lanes
from tests.support.contracts import contracts, undescribed
from tests.support.lanes import (
    is_all_long,
    lane_of,
    place_in_memory,
    starts_programs,
    summary,
    turn_of,
)

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FUNCTION = 80
LONGEST_MODULE = 700

#: The rooms of the house from the ground up. A room imports itself and those before it; folders of
#: one floor (``decoding`` and ``targets``, say) may stand in any order, and stand in this one.
ORDER = (
    "sqlgen",
    "replay.errors",
    "replay.redaction",
    "replay.version",
    "replay.arrays",
    "replay.temp_folders",
    "replay.machine",
    "replay.spill",
    "replay.storage",
    "replay.csv_states",
    "replay.changes",
    "replay.targets",
    "replay.options",
    "replay.decoding",
    "replay.native",
    "replay.logs",
    "replay.engine",
    "replay.pipeline",
    "replay.dependencies",
    "replay.output",
    "replay.live",
    "replay.reports",
    "replay.writable",
    "replay.api",
    "replay",
    "replay.cli",
    "replay.__main__",
)

#: Pairs (room, room before it) that know nothing of each other although the order would allow it.
STRANGERS = (
    ("replay.targets", "replay.changes"),
    ("replay.decoding", "replay.targets"),
    ("replay.native", "replay.targets"),
    ("replay.logs", "replay.targets"),
    ("replay.engine", "replay.targets"),
    ("replay.engine", "replay.decoding"),
    ("replay.engine", "replay.native"),
    ("replay.pipeline", "replay.targets"),
    ("replay.dependencies", "replay.targets"),
    ("replay.output", "replay.targets"),
)

#: What may lie directly in ``replay``.
GROUND_FLOOR = {
    "__init__.py",
    "__main__.py",
    "api.py",
    "arrays.py",
    "errors.py",
    "temp_folders.py",
    "machine.py",
    "redaction.py",
    "spill.py",
    "version.py",
    "writable.py",
    "py.typed",
}

#: Top-level package -> the only modules that may import it.
ONLY_IN: dict[str, tuple[str, ...]] = {
    "pyspark": (
        "replay.engine.spark",
        "replay.engine.spark_tasks",
        "replay.engine.spark_start",
    ),
    "numba": ("replay.native.machine_code", "replay.native.shared_kernel"),
    "llvmlite": ("replay.native.machine_code", "replay.native.shared_kernel"),
    "py4j": ("replay.engine.spark", "replay.engine.spark_start"),
    "networkx": ("replay.dependencies.least_turned",),
    "sqlglot": ("sqlgen",),
    "duckdb": (
        "replay.changes.value_filter",
        "replay.logs.events.lines",
        "replay.reports.relations",
        "replay.targets.duckdb",
    ),
    "tqdm": ("replay.cli.terminal",),
    "struct": ("replay.decoding", "replay.logs"),
    "random": (),
    "secrets": ("replay.targets",),
    "time": (
        "replay.storage.timeouts",
        "replay.cli",
        "replay.live",
        "replay.engine.contract",
        "replay.engine.spark",
    ),
}

#: Where an error of any kind may end: the command line says so, and what speeds things up leaves
#: the matter to what it speeds up.
CATCHES_EVERYTHING = (
    ("replay.cli.main", "_main"),
    ("replay.native.machine_code", "available"),
    ("replay.native.fast_path", "compiled"),
    ("replay.storage.timeouts", "run"),
)

#: Database drivers belong to one target each, and are imported when they are needed.
DRIVERS = ("psycopg", "ibm_db", "jaydebeapi", "pymysql", "oracledb", "pyodbc", "sqlite3")

#: What the language may use beside itself and the standard library.
SQLGEN_MAY_IMPORT = {"numpy", "pyarrow", "sqlglot", "sqlgen"}

#: Entry-point groups of which our own members are looked up in a table first, so that a clone needs
#: no new set-up for them.
FOUND_WITHOUT_INSTALLING = ("logreplay.profiles", "sqlglot.dialects")

#: Where files are written: bundles (atomically), and temporary files that nobody else sees.
WRITERS = (
    "replay.storage",
    "replay.native.machine_code",
    "replay.output",
    "replay.live.status",
    "replay.live.certificate",
    "replay.engine.spark_start",
    "replay.engine.local",
    "replay.engine.spark",
    "replay.engine.spark_tasks",
    "replay.targets.embedded",
)
READS_ENVIRONMENT = (
    "replay.cli",
    "replay.native.machine_code",
    "replay.temp_folders",
    "replay.engine.spark_start",
    "replay.engine.spark_tasks",
    "replay.targets.embedded",
    "replay.targets.mysql_settings",
)
READS_CLOCK = ("replay.cli", "replay.options.option")
DECODES_BYTES = ("replay.changes.position", "replay.decoding", "replay.logs")


#: What would leave a test out without anybody noticing.
LEAVES_OUT = {"skip", "skipif", "skipIf", "skipTest", "SkipTest", "importorskip", "xfail"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_name(path): path
    for package in ("replay", "sqlgen")
    for path in sorted((ROOT / package).rglob("*.py"))
}


def for_each(things: Iterable[str]) -> Callable[[Callable[[str], None]], Callable[[], None]]:
    """One test of a rule for many things: it fails once, and names all that break it."""
    items = list(things)

    def decorate(rule: Callable[[str], None]) -> Callable[[], None]:
        def every() -> None:
            broken = []
            for item in items:
                try:
                    rule(item)
                except AssertionError as error:
                    broken.append(str(error).split("\nassert ")[0])
            assert not broken, "\n".join(broken)

        every.__name__, every.__doc__ = rule.__name__, rule.__doc__
        assert items, f"{rule.__name__} is about nothing"
        return every

    return decorate


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, which several rules look at."""
    return tuple(ast.walk(tree(path)))


def is_in(module: str, places: tuple[str, ...]) -> bool:
    return any(module == place or module.startswith(place + ".") for place in places)


@cache
def imports(module: str, late: bool = True) -> tuple[tuple[str, int], ...]:
    """(imported module, line). ``late`` False leaves out what is imported inside functions, when
    it is first used, or only for type checkers."""
    found: list[tuple[str, int]] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            found.extend((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            names = [f"{source}.{alias.name}" for alias in node.names]
            found.extend((name if name in MODULES else source, node.lineno) for name in names)
        elif not late and (
            isinstance(node, ast.FunctionDef | ast.With)
            or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
        ):
            return
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr):  # which holds no statements
                visit(child)

    visit(tree(MODULES[module]))
    return tuple(dict.fromkeys(found))


def calls(module: str) -> Iterator[tuple[ast.Call, str]]:
    """Every call with its dotted name, as far as it is written as one (``?.decode`` on an
    expression)."""
    for node in nodes_of(MODULES[module]):
        if isinstance(node, ast.Call):
            yield node, dotted(node.func)


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return "?"


@for_each(MODULES)
def test_packages_stay_where_they_belong(module: str) -> None:
    bad = [
        f"line {line}: {name}"
        for name, line in imports(module)
        if (top := name.partition(".")[0]) in ONLY_IN and not is_in(module, ONLY_IN[top])
    ]
    assert not bad, f"{module} imports what belongs elsewhere (see ONLY_IN): {bad}"


@for_each(MODULES)
def test_drivers_are_imported_late_and_by_targets_only(module: str) -> None:
    allowed = is_in(module, ("replay.targets",))
    bad = [
        name for name, _ in imports(module, late=not allowed) if name.partition(".")[0] in DRIVERS
    ]
    assert not bad, f"{module} imports a database driver: {bad}"


def room(module: str) -> str:
    """The room of ORDER that a module lies in."""
    return max((place for place in ORDER if is_in(module, (place,))), key=len)


@for_each(MODULES)
def test_our_own_imports_go_one_way(module: str) -> None:
    bad = []
    for name, line in imports(module):
        if is_in(name, ("replay", "sqlgen")):
            here, there = room(module), room(name)
            if ORDER.index(there) > ORDER.index(here) or (here, there) in STRANGERS:
                bad.append(f"line {line}: {name}")
    assert not bad, f"{module} imports against the order of the house: {bad}"


def test_the_ground_floor_is_small() -> None:
    files = {path.name for path in (ROOT / "replay").iterdir() if path.is_file()}
    assert files <= GROUND_FLOOR, f"these belong in a room: {sorted(files - GROUND_FLOOR)}"


def test_the_picture_of_the_house_is_its_folder_list() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 2000, "ARCHITECTURE.md is for a reader of ten minutes"
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    drawn = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    there = {
        path.stem
        for path in (ROOT / "replay").iterdir()
        if (path.is_dir() or path.suffix == ".py") and not path.name.startswith("__")
    }
    there.discard("site")  # the documentation, where somebody built it
    assert there == drawn, "the table of ARCHITECTURE.md and the folders of replay differ"


#: Public names that several modules define on purpose: every family has one, or every dialect.
SHARED_NAMES = {"open_log", "describe", "text", "dump_record"}


def test_one_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for module in MODULES:
        for node in tree(MODULES[module]).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module)
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert not {name: where for name, where in twice.items() if name not in SHARED_NAMES}


@for_each([module for module in MODULES if is_in(module, ("sqlgen",))])
def test_the_language_stands_alone(module: str) -> None:
    bad = [
        name
        for name, _ in imports(module)
        if (top := name.partition(".")[0]) not in SQLGEN_MAY_IMPORT | sys.stdlib_module_names
        and top
    ]
    assert not bad, (
        f"{module} imports {bad}; sqlgen knows only itself, the standard library, numpy, pyarrow"
        " and sqlglot"
    )


#: A folder of another framing of a log family's records -> that of the family.
FRAMING_OF = {"replay.logs.pgoutput": ("replay.logs.events",)}


@for_each([module for module in MODULES if module.count(".") >= 3])
def test_one_log_family_does_not_know_another(module: str) -> None:
    folder = ".".join(module.split(".")[:3])
    own = (folder, *FRAMING_OF.get(folder, ()))
    shared = (
        "replay.logs",
        "replay.logs.description",
        "replay.logs.indexed_envelope",
        "replay.logs.indexed_inspect",
        "replay.logs.indexed_log",
        "replay.logs.files",
        "replay.logs.made_images",
        "replay.logs.log_file",
        "replay.logs.text",
        "replay.logs.change_types",
        "replay.logs.readings",
    )
    bad = [
        name
        for name, _ in imports(module)
        if is_in(name, ("replay.logs",)) and name not in shared and not is_in(name, own)
    ]
    assert not bad, f"{module} imports {bad} of another family"


def test_imports_form_no_circle() -> None:
    graph = {
        module: {
            name for name, _ in imports(module, late=False) if name in MODULES and name != module
        }
        for module in MODULES
    }
    list(graphlib.TopologicalSorter(graph).static_order())


@for_each(MODULES)
def test_bytes_are_taken_apart_in_the_layers_made_for_it(module: str) -> None:
    if is_in(module, DECODES_BYTES):
        return
    bad = []
    for call, name in calls(module):
        first = call.args[0] if call.args else None
        codec = first.value if isinstance(first, ast.Constant) else None
        if name.endswith("int.from_bytes") or (
            name.endswith(".decode") and isinstance(codec, str) and codec.startswith(("cp", "ibm"))
        ):
            bad.append(f"line {call.lineno}: {name}")
    assert not bad, f"{module} decodes bytes by hand: {bad}"


@for_each(MODULES)
def test_files_are_written_in_few_places(module: str) -> None:
    bad = []
    for call, name in calls(module):
        mode = (
            call.args[1]
            if len(call.args) > 1
            else next((k.value for k in call.keywords if k.arg == "mode"), None)
        )
        writes = (
            isinstance(mode, ast.Constant)
            and isinstance(mode.value, str)
            and bool(set(mode.value) & set("wax+"))
        )
        if (name == "open" and writes) or name.endswith((".write_text", ".write_bytes")):
            bad.append(f"line {call.lineno}: {name}")
    assert not bad or is_in(module, WRITERS), f"{module} writes files: {bad}"


@for_each(MODULES)
def test_only_the_command_line_prints(module: str) -> None:
    bad = [
        f"line {call.lineno}"
        for call, name in calls(module)
        if name in ("print", "sys.stdout.write", "input", "breakpoint", "eval", "exec")
    ]
    assert not bad or is_in(module, ("replay.cli",)), f"{module} prints (or worse): {bad}"


@for_each(MODULES)
def test_the_clock_and_the_environment_are_read_at_the_edge(module: str) -> None:
    nodes = [node for node in nodes_of(MODULES[module]) if isinstance(node, ast.Attribute)]
    names = {(dotted(node), node.lineno) for node in nodes}
    clock = [
        f"line {line}: {name}"
        for name, line in names
        if name.endswith(("datetime.now", "datetime.utcnow", "date.today"))
    ]
    environment = [
        f"line {line}: {name}"
        for name, line in names
        if name.startswith(("os.environ", "os.getenv"))
    ]
    assert not clock or is_in(module, READS_CLOCK), f"{module} reads the clock: {clock}"
    assert not environment or is_in(module, READS_ENVIRONMENT), (
        f"{module} reads the environment: {environment}"
    )


@for_each(MODULES)
def test_no_error_is_swallowed(module: str) -> None:
    handlers: list[tuple[int, str]] = []

    def visit(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef):
            function = node.name
        if isinstance(node, ast.ExceptHandler):
            caught = "bare except" if node.type is None else ast.unparse(node.type)
            passes_on = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            if (
                re.search(r"\bBaseException\b|\bException\b|bare except", caught)
                and not passes_on
                and (module, function) not in CATCHES_EVERYTHING
            ):
                handlers.append((node.lineno, caught))
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(tree(MODULES[module]), "")
    assert not handlers, f"{module} catches everything: {handlers}; only {CATCHES_EVERYTHING} may"


@for_each(MODULES)
def test_rooms_stay_small(module: str) -> None:
    lines = MODULES[module].read_text(encoding="utf-8").count("\n")
    functions = [
        node
        for node in nodes_of(MODULES[module])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = [
        f"{node.name}: {size}"
        for node in functions
        if (size := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
    ]
    assert lines <= LONGEST_MODULE, f"{module} has {lines} lines"
    assert not long, f"{module} has functions of more than {LONGEST_FUNCTION} lines: {long}"


@for_each(MODULES)
def test_everything_public_says_what_it_is(module: str) -> None:
    body = tree(MODULES[module])
    bare = [] if ast.get_docstring(body) or not body.body else ["the module"]
    for node in body.body:
        if (
            isinstance(node, ast.FunctionDef | ast.ClassDef)
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
        ):
            bare.append(node.name)
    assert not bare, f"{module}: no docstring on {bare}"


@for_each(MODULES)
def test_plug_ins_are_told_what_to_give(module: str) -> None:
    """Each member of a protocol says what it is, shapes of arrays, and errors."""
    lines = MODULES[module].read_text(encoding="utf-8").split("\n")
    bare = [
        f"{node.name}: {what}"
        for node in contracts(tree(MODULES[module]))
        for what in undescribed(lines, node)
    ]
    assert not bare, f"{module}: {'; '.join(bare)}"


def test_a_member_without_description_is_found() -> None:
    source = '''
class Walk(Protocol):
    """Where columns lie."""

    #: What it is called.
    name: str
    width: int

    def bad(self) -> Mask:
        """Images that do not fit."""

    def reason(self, row: int) -> str: ...
'''
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.ClassDef)
    assert list(undescribed(source.split("\n"), node)) == [
        "neither the class nor each member says which errors are raised",
        "no shapes in the docstring of bad",
        "no docstring of reason",
    ]
    said = source.replace("columns lie.", "columns lie. Nothing raises an error.", 1)
    said = said.replace("that do not fit", "that do not fit, ``bool[n]``").replace(
        "-> str: ...", '-> str:\n        """Why."""'
    )
    (node,) = ast.parse(said.replace("    #: What it is called.\n", "")).body
    assert isinstance(node, ast.ClassDef)
    assert list(undescribed(said.replace("    #: What it is called.\n", "").split("\n"), node)) == [
        "no docstring of name",
        "no docstring of width",
    ]


@for_each(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py"))
def test_no_test_is_left_out_in_silence(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    if not any(word in text for word in LEAVES_OUT):
        return
    bad = [
        f"line {node.lineno}: {name}"
        for node in nodes_of(ROOT / path)
        if (name := getattr(node, "attr", None) or getattr(node, "id", None)) in LEAVES_OUT
        and isinstance(node, ast.Attribute | ast.Name)
    ]
    imported = [
        f"line {node.lineno}: {alias.name}"
        for node in nodes_of(ROOT / path)
        if isinstance(node, ast.ImportFrom) and node.module in ("pytest", "unittest")
        for alias in node.names
        if alias.name in LEAVES_OUT
    ]
    assert not bad + imported, f"{path} leaves tests out: {bad + imported}"


def test_lanes_say_what_tests_need() -> None:
    rule, run = PurePath("changes/test_order.py"), PurePath("bytes/test_bytes.py")
    small = ("tmp_path", "sakila_small")
    assert lane_of(set(), rule, False, small) == "unit"
    assert lane_of({"long"}, rule, False, ()) == "unit"
    assert lane_of(set(), rule, True, ()) == "programs"
    assert lane_of(set(), rule, False, ("tmp_path", "sakila")) == "programs"
    assert lane_of(set(), run, True, ("sakila",)) == "bytes"
    assert lane_of({"spark", "live"}, run, False, ()) == "spark"
    assert lane_of({"containers", "live"}, rule, False, ()) == "containers"
    assert starts_programs(import_module("tests.support.lanes"))
    assert not starts_programs(sys.modules[__name__])


def test_what_waits_is_begun_first() -> None:
    assert [file for file in lanes.FIRST if not (ROOT / "tests" / file).exists()] == []
    turns = [turn_of(PurePath(lanes.FIRST[-1]), "live")]
    turns += [turn_of(PurePath("changes/test_order.py"), lane) for lane in lanes.LANES]
    assert turns == sorted(turns)


def test_a_file_is_of_the_long_suite_where_it_says_so_of_all_its_tests() -> None:
    assert is_all_long("import pytest\n\npytestmark = pytest.mark.long\n")
    assert not is_all_long("@pytest.mark.long\ndef test_x() -> None:\n")


def test_a_lane_that_takes_too_long_names_its_slowest_tests() -> None:
    most = lanes.LANES["bytes"].seconds
    fits, over = {"bytes": [(most - 1.0, "a")]}, {"bytes": [(most - 1.0, "a"), (1.5, "b")]}
    assert [line.split()[:4] for line in summary(fits)][1:] == [
        ["bytes", "1", str(most - 1), str(most)]
    ]
    assert [line.split()[-1] for line in summary(over)][2:] == ["tests:", "a", "b"]


def test_tests_write_to_memory_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "_ROOM", 1)
    assert place_in_memory({}, tmp_path) == str(tmp_path)
    assert place_in_memory({"TMPDIR": "/d"}, tmp_path) is None
    assert place_in_memory({}, tmp_path / "none") is None
    with monkeypatch.context() as patch:  # as where no program starts
        patch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_NOEXEC))
        assert place_in_memory({}, tmp_path) is None
    monkeypatch.setattr(lanes, "_ROOM", 1 << 80)
    assert place_in_memory({}, tmp_path) is None


def codes_in(paths: list[Path]) -> set[str]:
    """Error codes that stand in the files as whole strings (a docstring that mentions one does not
    count)."""
    nodes = [node for path in paths for node in nodes_of(path)]
    return {
        n.value
        for n in nodes
        if isinstance(n, ast.Constant)
        and isinstance(n.value, str)
        and re.fullmatch(r"LR\d{4}", n.value)
    }


SOURCES = [path for module, path in MODULES.items() if module != "replay.errors"]
TESTS = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]


@cache
def codes_raised() -> set[str]:
    return codes_in(SOURCES)


@cache
def text_of_tests() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in TESTS)


@for_each(CODES)
def test_every_error_code_is_raised_and_tested(code: str) -> None:
    assert code in codes_raised(), f"{code} is raised nowhere"
    assert code in text_of_tests(), f"{code} is tested nowhere"


def test_no_code_is_raised_that_the_table_lacks() -> None:
    assert codes_raised() - set(CODES) == set()


def project() -> dict[str, dict[str, dict[str, str]]]:
    settings: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
        (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    return settings


@pytest.mark.parametrize("group", project()["entry-points"])
def test_entry_points_load(group: str) -> None:
    declared = project()["entry-points"][group]
    installed = {point.name: point.value for point in entry_points(group=group)}
    if group not in FOUND_WITHOUT_INSTALLING:
        assert declared.items() <= installed.items(), (
            "the installed package is not this one; run the set-up again"
        )
    for name, value in (declared | installed).items():
        assert EntryPoint(name, value, group).load() is not None


def test_built_in_dialects_are_entry_points_too() -> None:
    declared = project()["entry-points"]["logreplay.profiles"]
    assert declared == {
        name: f"sqlgen.dialects.{module}:{name.upper()}" for name, module in BUILT_IN.items()
    }
    assert [profile_named(name).name for name in BUILT_IN] == list(BUILT_IN)
    assert [targets.target_named(name).dialect for name in targets.BUILT_IN] == [*targets.BUILT_IN]


def test_the_command_exists() -> None:
    module, _, function = str(project()["scripts"]["logreplay"]).partition(":")
    assert callable(getattr(import_module(module), function))


def test_versions_are_pinned_without_addresses() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split("\n")
    bad = [
        line
        for line in lines
        if line and not re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.!+-]+|#.*", line)
    ]
    assert not bad


README = (ROOT / "README.md").read_text(encoding="utf-8")
CODE = "".join(README.split("```")[1::2])
PROGRAMS = sorted(
    set(re.findall(r"^\s*(?:scripts/run|logreplay) +([a-z]+)", CODE, re.MULTILINE))
    - {"test", "check", "python", "containers", "mutate"}
)


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    main = import_module("replay.cli.main").main
    with pytest.raises(SystemExit) as raised:
        main([command, "--help"])
    assert raised.value.code == 0, f"there is no command {command}"
    return capsys.readouterr().out


def test_the_readme_is_a_screen_or_two() -> None:
    """What is more than the first steps has a page of its own."""
    assert README.count("\n") < 140


def test_the_readme_starts_with_the_two_commands() -> None:
    first = [line.strip().split("#")[0].strip() for line in CODE.split("\n")[:4]]
    assert [line for line in first if line.startswith("scripts/")] == [
        "scripts/run demo",
        "scripts/run test",
    ]


@pytest.mark.parametrize("command", PROGRAMS)
def test_the_readmes_commands_exist(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert help_of(command, capsys)


def test_tests_that_the_docs_name_exist() -> None:
    """Each promise of the docs names the test that keeps it."""
    for document in (ROOT / "replay" / "docs").rglob("*.md"):
        text = document.read_text(encoding="utf-8")
        for path, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text):
            assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{name}"


#: Words that messages, help and results no longer use; the glossary has those of the field.
RETIRED = re.compile(
    r"\b(octets?|sets? aside|setting aside|told(?! apart)|odd|in words|errands?|a hole|holes"
    r"|takes? back|taken back|builds? on|built on|passed over|must go too|slips|moments"
    r"|behind the mark|somebody|who built)\b",
    re.IGNORECASE,
)
#: Module -> the words that it has for another reason.
USED_ALL_THE_SAME = {
    "replay.logs.logmaster_load.control": {"octets"},  # of a statement that it quotes
    "replay.logs.logmaster_load.opening": {"octets"},
    "replay.logs.logmaster_load.values": {"octet"},  # a published format's word
    "replay.pipeline.extent": {"octets"},  # the name of a type
    "sqlgen.db2": {"octets"},  # a keyword of Db2
    "replay.logs.logmaster.log_set": {"told"},
}


@for_each(MODULES)
def test_retired_words_are_in_no_message(module: str) -> None:
    nodes = nodes_of(MODULES[module])
    about = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in about
    ]
    found = {word.lower() for text in texts for word in RETIRED.findall(text)}
    found -= USED_ALL_THE_SAME.get(module, set())
    assert not found, f"{module} says {sorted(found)}"


#: A name of the module itself that its text refers to.
_OWN_NAME = re.compile(r":(?:data|func|class):`(\w+)`")


@for_each(MODULES)
def test_names_that_docstrings_refer_to_are_there(module: str) -> None:
    """A bare one is the module's own, or imported there; what is elsewhere is named in full."""
    known = set[str]()
    for node in nodes_of(MODULES[module]):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            known.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            known |= {alias.asname or alias.name for alias in node.names}
    lost = set(_OWN_NAME.findall(MODULES[module].read_text(encoding="utf-8"))) - known
    assert not lost, f"{module} refers to what it does not have: {sorted(lost)}"


def test_files_that_documents_name_exist() -> None:
    for document in ROOT.glob("*.md"):
        text = document.read_text(encoding="utf-8")
        named = re.findall(
            r"`((?:scripts|replay|sqlgen|tests|fixtures|\.ci)/[\w./-]*)`", text
        ) + re.findall(r"\]\((?!http|#)([^)#]+)\)", text)
        gone = [name for name in named if not (ROOT / name).exists()]
        assert not gone, f"{document.name} names {gone}"


def test_commands_and_places_are_named_in_one_module() -> None:
    """The shell's spelling is asked for there, and for tables' names and Java's wrapper."""
    users = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "replay").rglob("*.py"))
        + sorted((ROOT / "sqlgen").rglob("*.py"))
        if re.search(r"^(import|from) shlex\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert users == [
        "replay/engine/spark_start.py",
        "replay/redaction.py",
        "sqlgen/render/upsert.py",
    ]
