"""The fast way against the other one: the same statements, outcomes and findings, whatever the
table, the dialect, the options and the damage."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from replay import native
from replay.changes.catalog import Catalog, ColumnFormat, RowFormat, TableVersion
from replay.changes.envelope import Change
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.decoding import images
from replay.decoding.image_layouts import PlainRows, plain_rows
from replay.errors import UsageError
from replay.logs import Images
from replay.native import fast_path
from replay.pipeline import rows
from replay.pipeline.mapped_catalog import mapped_version
from replay.pipeline.plan import Plan
from replay.pipeline.rows import ChangeStatements, RowDecoder
from sqlgen.dialects import BUILT_IN, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.literals import Policy, may_be_misread
from sqlgen.mapping import TableMap, TableMapping
from sqlgen.mapping import plain as mapped_plain
from sqlgen.render_options import RenderOptions, identity
from sqlgen.schema import Column, Op, SqlType, Table
from sqlgen.shapes import WORTH, shape_name
from sqlgen.statements import query_before
from tests.sqlgen.test_shapes import in_full
from tests.support.examples import examples
from tests.support.few import few
from tests.support.places import ROOT

EBCDIC, LATIN, GREEK, UTF8, UTF16 = 37, 819, 875, 1208, 1200
ROWS = 60


@dataclass(frozen=True)
class Kind:
    """A kind of column: its type, its bytes in an image, and what they are made of."""

    type: SqlType
    width: int
    scale: int = 0
    varying: bool = False
    ccsid: int | None = None

    def make(self, rng: np.random.Generator) -> bytes:
        """A value: nearly always one of its type."""
        if rng.random() < 0.004:
            return rng.bytes(self.width)
        if self.type in (SqlType.CHAR, SqlType.VARCHAR):
            return self._text(rng)
        if self.type is SqlType.DECIMAL:
            digits = "".join(rng.choice(list("00012379"), 2 * self.width - 1))
            return bytes.fromhex(digits + rng.choice(list("CDF")))
        if self.type in (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT):
            return [
                bytes(self.width),
                b"\xff" * self.width,
                b"\x80" + bytes(self.width - 1),
                rng.bytes(self.width),
            ][rng.integers(4)]
        return self._moment(rng)

    def _text(self, rng: np.random.Generator) -> bytes:
        letters, codec = {
            EBCDIC: ("abc '9é\u00ad", "cp037"),
            LATIN: ("abc '9é", "latin-1"),
            GREEK: ("abcα '9", "cp875"),
            UTF8: ("abc '9é€𝄞", "utf-8"),
            UTF16: ("abc '9é€𝄞", "utf-16-be"),
        }[self.ccsid or EBCDIC]
        most = self.width // (4 if codec.startswith("utf") else 1)
        size = int(rng.integers(0, most + 1)) if self.varying else most
        text = (
            "".join(rng.choice(list(letters), size))
            if rng.random() < 0.98
            else "\n\\\0"[rng.integers(3)] * size
        )
        made = text.encode(codec, "replace")
        return made if self.varying else made.ljust(self.width)

    def _moment(self, rng: np.random.Generator) -> bytes:
        year, month = rng.choice(["2024", "1900", "0001", "2023"]), rng.choice(["01", "02", "12"])
        day = f"{year}-{month}-{rng.choice(['01', '28', '29', '31'], p=[0.5, 0.47, 0.02, 0.01])}"
        hours = rng.choice(["00", "13", "23", "24"], p=[0.4, 0.3, 0.29, 0.01])
        hour = f"{hours}.{rng.choice(['00', '59'])}.00"
        fraction = rng.choice(["0" * 12, "123456000000", "123456789000"], p=[0.8, 0.18, 0.02])
        text = {SqlType.DATE: day, SqlType.TIME: hour}.get(self.type, f"{day}-{hour}.{fraction}")[
            : self.width
        ]
        return text.encode(rng.choice(["cp037", "ascii"]))


KINDS = (
    Kind(SqlType.SMALLINT, 2),
    Kind(SqlType.INTEGER, 4),
    Kind(SqlType.BIGINT, 8),
    Kind(SqlType.DECIMAL, 5, 2),
    Kind(SqlType.DECIMAL, 16, 31),
    Kind(SqlType.DECIMAL, 2, 5),
    Kind(SqlType.DECIMAL, 8, 0),
    Kind(SqlType.CHAR, 6, ccsid=EBCDIC),
    Kind(SqlType.VARCHAR, 9, varying=True, ccsid=LATIN),
    Kind(SqlType.VARCHAR, 40, varying=True, ccsid=EBCDIC),
    Kind(SqlType.CHAR, 3, ccsid=GREEK),
    Kind(SqlType.DATE, 10),
    Kind(SqlType.TIME, 8),
    Kind(SqlType.TIMESTAMP, 19),
    Kind(SqlType.TIMESTAMP, 26),
    Kind(SqlType.TIMESTAMP, 29),
    Kind(SqlType.CHAR, 6, ccsid=UTF8),
    Kind(SqlType.VARCHAR, 30, varying=True, ccsid=UTF8),
    Kind(SqlType.VARCHAR, 20, varying=True, ccsid=UTF16),
)
#: Kinds that have no shortcut.
OTHERS = (Kind(SqlType.DECIMAL, 3, 40),)


@dataclass(frozen=True)
class Spec:
    """A table in a test: (kind, nullable, expanded) of its columns, and how many of them are its
    key."""

    columns: tuple[tuple[Kind, bool, bool], ...]
    keys: int

    def version(self) -> TableVersion:
        """The table as a log knows it."""
        formats = []
        for number, (kind, nullable, expanded) in enumerate(self.columns):
            length = {
                SqlType.TIMESTAMP: max(kind.width - 20, 0),
                SqlType.DECIMAL: 2 * kind.width - 1,
            }.get(kind.type, kind.width)
            column = Column(f"C{number}", kind.type, nullable, length, kind.scale)
            formats.append(
                ColumnFormat(
                    column,
                    "X",
                    kind.width,
                    kind.scale,
                    nullable,
                    kind.varying,
                    ccsid=kind.ccsid,
                    expanded=expanded and kind.varying,
                )
            )
        table = Table(
            "S",
            "T",
            tuple(entry.column for entry in formats),
            tuple(f"C{n}" for n in range(min(self.keys, len(formats)))),
        )
        return TableVersion(
            0, table, 1, 2, 3, 1, 0, bytes(10), bytes(10), RowFormat(tuple(formats))
        )

    def image(self, rng: np.random.Generator, values: list[bytes | None]) -> bytes:
        """A row image; once in a while it does not fit the table."""
        parts = []
        for (kind, nullable, expanded), value in zip(self.columns, values, strict=True):
            data = (
                bytes(kind.width if not kind.varying or expanded else 0) if value is None else value
            )
            if kind.varying:
                data = len(value or b"").to_bytes(2, "big") + (
                    data.ljust(kind.width, b"\x40") if expanded else data
                )
            parts.append((b"" if not nullable else b"\xff" if value is None else b"\0") + data)
        made = b"".join(parts)
        if rng.random() < 0.02:
            return made[: int(rng.integers(0, len(made)))]
        if rng.random() < 0.02:
            place = int(rng.integers(0, len(made)))
            return made[:place] + rng.bytes(1) + made[place + 1 :]
        return made

    def values(self, rng: np.random.Generator) -> list[bytes | None]:
        """The values of a row."""
        return [
            None if nullable and rng.random() < 0.2 else kind.make(rng)
            for kind, nullable, _ in self.columns
        ]

    def images(self, rng: np.random.Generator, kind: Change) -> Images:
        """The images of some changes, somewhere in a buffer."""
        buffer = rng.bytes(7)
        sides: list[list[tuple[int, int]]] = [[], []]
        for _ in range(ROWS):
            values = self.values(rng)
            for side in range(2 if kind is Change.UPDATE else 1):
                image = self.image(rng, values)
                sides[side].append((len(buffer), len(buffer) + len(image)))
                buffer += image
                fresh = self.values(rng)
                values = [
                    new if rng.random() < 0.2 else old
                    for old, new in zip(values, fresh, strict=True)
                ]
        bounds = [
            (np.array([s for s, _ in side]), np.array([e for _, e in side])) if side else None
            for side in sides
        ]
        before, after = (None, bounds[0]) if kind is Change.INSERT else (bounds[0], bounds[1])
        bad = rng.random(ROWS) < 0.02
        return Images(
            np.frombuffer(buffer, np.uint8),
            before,
            after,
            bad,
            lambda row: (f"row {row}", "good bounds", "look"),
        )


def plain(version: TableVersion) -> PlainRows:
    """How the images of a table lie."""
    rows = plain_rows(version.format, 0)
    assert rows is not None
    return rows


class Log:
    """As much of a log as a decoder asks for."""

    def __init__(self, version: TableVersion) -> None:
        self.catalog = Catalog((version,))

    def walk(
        self, version: int, buffer: images.Bytes, start: images.Index, end: images.Index
    ) -> images.ImageWalk:
        return images.walk(self.catalog.versions[version].format, buffer, start, end, 0)

    def plain_rows(self, version: int) -> PlainRows | None:
        return plain(self.catalog.versions[version])


specs = st.builds(
    Spec,
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.booleans(), st.booleans()), min_size=1, max_size=7
    ).map(tuple),
    st.integers(0, 2),
)
options = st.builds(
    RenderOptions,
    names=st.sampled_from(["lower", "exact"]),
    where_columns=st.sampled_from(["key", "guard", "all"]),
    exclude_columns=st.sampled_from([(), ("C1",), ("C2", "C3")]),
    policy=st.builds(
        Policy,
        char_padding=st.sampled_from(["strip", "keep"]),
        empty_text=st.sampled_from(["refuse", "null", "space"]),
    ),
    assert_rows=st.booleans(),
    upsert=st.booleans(),
    free_keys=st.booleans(),
)

#: Tables and columns under other names: of each other, of a reserved word, in another schema.
NAMES = TableMap(
    {"S": "shop"},
    {"S.T": TableMapping("other.Items", {"C0": "order", "C1": "c2", "C2": "c1"}, {"C1": "TEXT"})},
)


mappings = st.sampled_from([lambda _: None, lambda _: NAMES])


def both(
    version: TableVersion,
    image: Images,
    kind: Change,
    mode: str,
    dialect: str,
    render: RenderOptions,
    prepared: bool = False,
    mapping: TableMap | None = None,
) -> tuple[ChangeStatements | str, ChangeStatements | str, int]:
    """What the two ways make, or say that they cannot; and how many rows went the fast way."""
    if mapping is not None:
        mapping = replace(mapping, options=render)
        version, render = mapped_version(version, mapping), mapped_plain(render)
    plan = Plan(
        mode,
        Selection(),
        ScriptOptions(dialect, render=render, mapping=mapping),
        (),
        np.zeros(0, np.uint64),
        np.ones(1, bool),
        prepared=prepared,
    )
    made: list[ChangeStatements | str] = []
    quick = 0
    for expected in (native.WORTH, -1):
        try:
            decoder = RowDecoder(plan, Log(version), profile_named(dialect), expected)  # type: ignore[arg-type]
            made.append(decoder.statements(0, kind, image))
            if decoder.shortcut is not None:
                found = decoder.shortcut.statements(version, rows.OPS[kind], image, plain(version))
                quick = 0 if found is None else ROWS - len(found.odd)
        except (SqlgenError, UsageError) as error:
            made.append(str(error))
    return made[0], made[1], quick


def written_by(made: fast_path.FastStatements) -> pa.StringArray:
    texts = made.texts(frozenset())
    assert texts is not None
    return texts[0]


def assert_same(one: ChangeStatements | str, other: ChangeStatements | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    assert one.failed.tolist() == other.failed.tolist()
    good = np.flatnonzero(~one.failed)  # nobody looks at what the others have
    assert one.text.take(pa.array(good)).to_pylist() == other.text.take(pa.array(good)).to_pylist()
    assert one.outcome[good].tolist() == other.outcome[good].tolist()
    assert one.moved[good].tolist() == other.moved[good].tolist()
    by_row = [
        sorted(made.problems, key=lambda problem: (problem.row, problem.field or ""))
        for made in (one, other)
    ]
    assert by_row[0] == by_row[1]


@example(
    spec=Spec(((KINDS[1], False, False), (KINDS[1], False, False)), 2),
    seed=0,
    kind=Change.DELETE,
    mode="undo",
    dialect="bigquery",
    render=RenderOptions(free_keys=True, exclude_columns=("C1",)),
    mapping=lambda _: None,
)
@settings(max_examples=examples(300))
@given(
    spec=specs,
    seed=st.integers(0, 2**32),
    kind=st.sampled_from([Change.INSERT, Change.UPDATE, Change.DELETE]),
    mode=st.sampled_from(["redo", "undo"]),
    dialect=st.sampled_from(sorted(BUILT_IN)),
    render=options,
    mapping=mappings,
)
@pytest.mark.long
def test_both_ways_say_the_same(
    spec: Spec,
    seed: int,
    kind: Change,
    mode: str,
    dialect: str,
    render: RenderOptions,
    mapping: Callable[[Spec], TableMap | None],
) -> None:
    image = spec.images(np.random.default_rng(seed), kind)
    mapped = mapping(spec)
    render = replace(render, upsert=render.upsert and bool(profile_named(dialect).upsert.kind))
    one, other, _ = both(spec.version(), image, kind, mode, dialect, render, False, mapped)
    assert_same(one, other)


@settings(max_examples=examples(100))
@given(
    spec=specs,
    seed=st.integers(0, 2**32),
    kind=st.sampled_from([Change.INSERT, Change.UPDATE, Change.DELETE]),
    mode=st.sampled_from(["redo", "undo"]),
    render=options,
    mapping=mappings,
)
def test_both_ways_call_what_the_statements_say(
    spec: Spec,
    seed: int,
    kind: Change,
    mode: str,
    render: RenderOptions,
    mapping: Callable[[Spec], TableMap | None],
) -> None:
    """Calls of prepared statements hand over the literals of the statements in full. Both ways
    prepare the same ones, whichever rows the fast way leaves out."""
    image = spec.images(np.random.default_rng(seed), kind)
    render = replace(render, assert_rows=False, upsert=False, free_keys=False)
    mapped = mapping(spec)
    try:
        identity(spec.version().table, render)
    except SqlgenError:
        return  # refused before a run: part of the key is left out
    plain, *_ = both(spec.version(), image, kind, mode, "postgres", render, False, mapped)
    one, other, _ = both(spec.version(), image, kind, mode, "postgres", render, True, mapped)
    if isinstance(plain, str) or isinstance(one, str) or isinstance(other, str):
        assert plain == one == other
        return
    for made in (one, other):
        shapes = dict(made.shapes)
        assert all(shape_name(text) == name for name, text in shapes.items())
        texts = zip(made.text.to_pylist(), plain.text.to_pylist(), strict=True)
        expanded = [
            full if full.startswith("--") and not text else in_full(text, shapes, full)
            for text, full in texts
        ]
        assert_same(replace(made, text=pa.array(expanded, pa.string())), plain)
    assert_same(one, other)
    assert one.shapes == other.shapes


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize("kind", [Change.INSERT, Change.UPDATE, Change.DELETE])
@pytest.mark.parametrize("where", ["key", "guard"])
def test_calls_go_the_fast_way(mode: str, kind: Change, where: str) -> None:
    """Nearly all rows; the common statements are called by name, the rare ones are in full."""
    spec = Spec(((KINDS[1], False, False), (KINDS[2], False, False)), 1)
    render = RenderOptions(where_columns=where)  # type: ignore[arg-type]
    image = spec.images(np.random.default_rng(2), kind)
    one, _, quick = both(spec.version(), image, kind, mode, "postgres", render, True)
    assert quick > ROWS / 2
    assert isinstance(one, ChangeStatements)
    called = Counter(text[:27] for text in one.text.to_pylist() if text.startswith("EXECUTE lr_"))
    assert {call.removeprefix("EXECUTE ") for call in called} == set(one.shapes)
    assert called
    assert min(called.values()) >= WORTH


def test_a_column_too_many_for_a_code_goes_the_other_way() -> None:
    """Of 40 columns that may be null, an update has two bits each."""
    for columns, fast in ((30, True), (40, False)):
        spec = Spec(((KINDS[1], False, False), *[(KINDS[1], True, False)] * columns), 1)
        image = spec.images(np.random.default_rng(1), Change.UPDATE)
        render = RenderOptions(where_columns="guard")
        one, other, quick = both(
            spec.version(), image, Change.UPDATE, "redo", "postgres", render, True
        )
        assert_same(one, other)
        assert (quick > ROWS / 2) == fast


@pytest.mark.parametrize("dialect", sorted(BUILT_IN))
@pytest.mark.parametrize("kind", few([Change.INSERT, Change.UPDATE, Change.DELETE], Change.UPDATE))
@pytest.mark.parametrize(
    "render",
    [
        RenderOptions(),
        RenderOptions(where_columns="guard", assert_rows=True),
        RenderOptions(where_columns="all", free_keys=True),
        RenderOptions(upsert=True),
    ],
)
def test_plain_rows_go_the_fast_way(dialect: str, kind: Change, render: RenderOptions) -> None:
    """Nearly all of them, in every dialect; else the other tests here would compare one way
    with itself. Decimals of which SQLite may make another double are left to the general way."""
    render = replace(render, upsert=render.upsert and bool(profile_named(dialect).upsert.kind))
    every = Spec(tuple((each, True, False) for each in KINDS), 0).version().table.columns
    odd = [may_be_misread(column, profile_named(dialect)) for column in every]
    assert sum(odd) == (2 if dialect == "sqlite" else 0)
    plain, left = (
        [(each, True, False) for each, is_odd in zip(KINDS, odd, strict=True) if is_odd is chosen]
        for chosen in (False, True)
    )
    for more in [[], left] if left else [[]]:
        spec = Spec(((KINDS[2], False, False), *plain, *more), 1)
        *_, quick = both(
            spec.version(),
            spec.images(np.random.default_rng(1), kind),
            kind,
            "redo",
            dialect,
            render,
        )
        assert (quick == 0) if more else (quick > ROWS / 3)


@pytest.mark.parametrize("kind", [Change.INSERT, Change.UPDATE, Change.DELETE])
@pytest.mark.parametrize("prepared", [False, True])
def test_names_go_the_fast_way(kind: Change, prepared: bool) -> None:
    spec = Spec(((KINDS[1], False, False), (KINDS[9], True, False), (KINDS[2], True, False)), 1)
    image = spec.images(np.random.default_rng(1), kind)
    render = RenderOptions(where_columns="guard")
    for mapping in (None, NAMES):
        one, other, quick = both(
            spec.version(), image, kind, "redo", "postgres", render, prepared, mapping
        )
        if not prepared:
            assert_same(one, other)
        assert quick > ROWS / 3


def watch_the_room(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have the kernel begin without room, and see to it that nothing is written behind what it has;
    what each call gave."""
    monkeypatch.setattr(fast_path, "_ROOM", 0)
    real, behind, calls = fast_path.compiled(), 200_000, list[int]()
    assert real is not None

    def watched(*given: Any) -> int:
        larger = np.full(len(given[13]) + behind, 7, np.uint8)
        larger[:-behind] = given[13]
        done = real(*given[:13], larger[:-behind], *given[14:])
        assert (larger[-behind:] == 7).all()
        given[13][:] = larger[:-behind]
        calls.append(done)
        return done

    monkeypatch.setattr(fast_path, "compiled", lambda: watched)
    return calls


def test_a_value_stands_several_times_in_a_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room is made for each: a letter of three bytes, once in a query that counts the row, and
    once in the statement. (Behind the room, nothing is written.)"""
    watch_the_room(monkeypatch)
    thai = Kind(SqlType.VARCHAR, 2000, varying=True, ccsid=838)
    spec = Spec(((KINDS[1], False, False), (thai, False, False)), 1)
    values = bytes(4) + (2000).to_bytes(2, "big") + b"\x42" * 2000
    starts = np.arange(ROWS) * len(values)
    bounds = starts, starts + len(values)
    buffer = np.frombuffer(values * ROWS, np.uint8)
    image = Images(buffer, bounds, None, np.zeros(ROWS, bool), lambda row: ("", "", ""))
    render = RenderOptions(where_columns="all", assert_rows=True)
    checked = [
        name
        for name in sorted(BUILT_IN)
        if query_before(spec.version().table, profile_named(name), render)
    ]
    assert checked
    for dialect in checked:
        one, other, quick = both(spec.version(), image, Change.DELETE, "redo", dialect, render)
        assert quick == ROWS
        assert_same(one, other)
        assert isinstance(one, ChangeStatements)
        assert len(one.text[0].as_py().encode()) > 2 * 3 * 2000


@pytest.mark.parametrize("other", OTHERS)
def test_other_columns_go_the_other_way_unless_excluded(other: Kind) -> None:
    spec = Spec(((KINDS[1], False, False), (other, False, False)), 1)
    for render, fast in ((RenderOptions(), False), (RenderOptions(exclude_columns=("C1",)), True)):
        one, two, quick = both(
            spec.version(),
            spec.images(np.random.default_rng(2), Change.UPDATE),
            Change.UPDATE,
            "undo",
            "postgres",
            render,
        )
        assert_same(one, two)
        assert (quick > 0) is fast


def test_images_outside_the_buffer_are_left_to_the_other_way() -> None:
    spec = Spec(((KINDS[1], False, False),), 1)
    bounds = np.array([0, -4, 2, 6, 4]), np.array([4, 0, 6, 10, 2])
    image = Images(
        np.arange(8, dtype=np.uint8), None, bounds, np.zeros(5, bool), lambda row: ("", "", "")
    )
    found = fast_path.FastPath(False, profile_named("postgres"), RenderOptions()).statements(
        spec.version(), Op.INSERT, image, plain(spec.version())
    )
    assert found is not None
    assert found.odd.tolist() == [1, 3, 4]
    assert written_by(found).to_pylist() == [
        "INSERT INTO s.t (c0) VALUES (66051);",
        "",
        "INSERT INTO s.t (c0) VALUES (33752069);",
        "",
        "",
    ]


@pytest.fixture
def fresh_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder where another Python keeps what it compiles."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


ASK = """
import sys
from replay.native import fast_path
print(fast_path.compiled() is not None, "numba" in sys.modules)
"""


#: The same of a kernel that takes a second to make, not half a minute.
ASK_FOR_A_SMALL_ONE = """
import sys
from replay.native import machine_code
from replay.native.kernels import PUT_LINES
print(machine_code.available(PUT_LINES) is not None, "numba" in sys.modules)
"""


def asked(program: str = ASK) -> str:
    made = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert made.returncode == 0, made.stderr
    return made.stdout


@pytest.mark.long
def test_machine_code_is_made_once_and_anew_where_it_is_damaged(fresh_kernel: Path) -> None:
    assert asked(ASK_FOR_A_SMALL_ONE) == "True True\n"  # Numba was needed
    (kept,) = fresh_kernel.iterdir()
    made = kept.read_bytes()
    assert asked(ASK_FOR_A_SMALL_ONE) == "True False\n"
    for damaged in (made[:20], made[:-1], made[:1000] + bytes(1000) + made[2000:]):
        kept.write_bytes(damaged)
        assert asked(ASK_FOR_A_SMALL_ONE) == "True True\n"
        assert [path.read_bytes() for path in fresh_kernel.iterdir()] == [made]


@pytest.mark.long
def test_without_a_folder_for_it_the_other_way_is_taken(fresh_kernel: Path) -> None:
    """At once: what is made would be lost, after half a minute of each process."""
    fresh_kernel.rmdir()
    fresh_kernel.write_text("a file")
    assert asked() == "False False\n"


def test_compiled_code_is_not_run_as_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert asked() == "False False\n"
