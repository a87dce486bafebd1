"""Mappings: what they do to tables, rows and keys, and what is wrong with one is said before
anything is written."""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa
import pytest

from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.mapping import TableMap
from sqlgen.mapping_file import parse_mapping
from sqlgen.masking import mask_key
from sqlgen.render import upsert
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, Constraints, ForeignKey, Op, Rows, SqlType, Table
from sqlgen.statements import render

POSTGRES = profile_named("postgres")
FILM = Table(
    "SHOP",
    "FILM",
    (
        Column("ID", SqlType.INTEGER, False),
        Column("TITLE", SqlType.VARCHAR, True, 40),
        Column("PRICE", SqlType.DECIMAL, True, 5, 2),
    ),
    ("ID",),
)
LENT = Table(
    "SHOP",
    "LENT",
    (
        Column("FILM", SqlType.INTEGER, False),
        Column("WHO", SqlType.CHAR, True, 8),
        Column("ON_DAY", SqlType.DATE),
    ),
)
TABLES = [FILM, LENT]
KEY = mask_key(b"sixteen bytes or more")


def parsed(text: str, key: bytes | None = None, **options: object) -> TableMap:
    return parse_mapping(text, TABLES, POSTGRES, RenderOptions(**options), key)  # type: ignore[arg-type]


def text_of(made: TableMap, rows: Rows) -> list[str]:
    return render(made.rows(rows), POSTGRES, RenderOptions()).text.to_pylist()


def insert(**values: object) -> Rows:
    return Rows(
        FILM, Op.INSERT, 1, {}, {name: pa.array([value]) for name, value in values.items()}, {}
    )


def test_names_types_and_exclusions() -> None:
    made = parsed("""
        [schemas]
        shop = "store"
        [tables."shop.film"]
        name = "movie"
        columns = { id = "movie_id" }
        types = { TITLE = "text" }
        exclude = ["price"]
        """)
    assert text_of(made, insert(ID=7, TITLE="A")) == [
        "INSERT INTO store.movie (movie_id, title) VALUES (7, 'A');"
    ]
    table = made.table(FILM).in_target()
    assert [(column.name, column.declared) for column in table.columns] == [
        ("movie_id", ""),
        ("TITLE", "text"),
    ]
    assert table.key == ("movie_id",)
    assert made.table(LENT).in_target().schema == "store"
    assert parsed('[tables."SHOP.FILM"]\nname = "other.movie"').name(FILM) == ("other", "movie")


def test_columns_that_change_places_keep_their_values() -> None:
    made = parsed('[tables."SHOP.FILM"]\ncolumns = { TITLE = "PRICE", PRICE = "TITLE" }')
    assert text_of(made, insert(ID=1, TITLE="x", PRICE="2.00")) == [
        "INSERT INTO shop.film (id, price, title) VALUES (1, 'x', 2.00);"
    ]


def test_an_update_of_what_is_left_out_alone_is_counted_as_that() -> None:
    made = parsed('[tables."SHOP.FILM"]\nexclude = ["PRICE"]\ncolumns = { TITLE = "PRICE" }')
    images = {"ID": pa.array([1, 2]), "TITLE": pa.array(["x", "y"])}
    changed = {"PRICE": pa.array([True, True]), "TITLE": pa.array([False, True])}
    rows = made.rows(Rows(FILM, Op.UPDATE, 2, images, images, changed))
    found = render(rows, POSTGRES, RenderOptions())
    assert found.text.to_pylist()[1] == "UPDATE shop.film SET price = 'y' WHERE id = 2;"
    assert found.outcome.tolist() == [2, 0]


def test_masks_meet_again() -> None:
    made = parsed(
        '[tables."SHOP.FILM"]\nmask = ["ID", "TITLE"]\n[tables."SHOP.LENT"]\nmask = ["FILM"]', KEY
    )
    rows = made.rows(insert(ID=7, TITLE="secret"))
    other = made.rows(Rows(LENT, Op.DELETE, 1, {"FILM": pa.array([7])}, {}, {}))
    assert rows.after["ID"] == other.before["FILM"] != pa.array([7])
    assert "secret" not in rows.after["TITLE"].to_pylist()
    assert KEY not in repr(made.describe()).encode()


def test_keys_follow() -> None:
    made = parsed(
        '[tables."SHOP.FILM"]\nname = "movie"\ncolumns = { ID = "movie_id"'
        ' }\n[tables."SHOP.LENT"]\nexclude = ["WHO"]'
    )
    known = Constraints(
        (("SHOP.FILM", ("ID",)), ("SHOP.LENT", ("WHO",))),
        (
            ForeignKey("f", "SHOP.LENT", ("FILM",), "SHOP.FILM", ("ID",)),
            ForeignKey("g", "SHOP.LENT", ("WHO",), "SHOP.FILM", ("ID",)),
        ),
    )
    found = made.constraints(made.renamed_keys(known, TABLES), TABLES)
    assert found.keys == (("SHOP.MOVIE", ("movie_id",)),)
    assert [
        (key.table, key.columns, key.parent, key.parent_columns) for key in found.foreign_keys
    ] == [("SHOP.LENT", ("FILM",), "SHOP.MOVIE", ("movie_id",))]
    assert found.unused == (
        "key (WHO) of SHOP.LENT: a column of it is left out",
        "foreign key g of SHOP.LENT: a column or table of it is left out",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tables", "is not TOML"),
        ("[table]", r"found \[table\]; expected one of: schemas, tables"),
        ('[schemas]\nX = "y"', "schemas.X: the log has no such schema; expected one of: SHOP"),
        ("[schemas]\nSHOP = 3", "schemas.SHOP: found 3; expected a name"),
        ("schemas = 3", "schemas: found 3; expected a table"),
        (
            '[tables."SHOP.FILMS"]',
            "tables.SHOP.FILMS: the log has no such table; expected one of: SHOP.FILM, SHOP.LENT",
        ),
        ('[tables]\n"SHOP.FILM" = 1', "tables.SHOP.FILM: found 1"),
        (
            '[tables."SHOP.FILM"]\nnames = "x"',
            "tables.SHOP.FILM.names: expected one of: name, columns, types, exclude, mask",
        ),
        ('[tables."SHOP.FILM"]\nexclude = "PRICE"', "found 'PRICE'; expected a list"),
        (
            '[tables."SHOP.FILM"]\ncolumns = { X = "y" }',
            "'X' is no column; expected one of: ID, TITLE, PRICE",
        ),
        ('[tables."SHOP.FILM"]\ncolumns = { ID = 4 }', "columns.ID: found 4; expected a text"),
        (
            '[tables."SHOP.FILM"]\ncolumns = { ID = "TITLE" }',
            "SHOP.FILM: the columns ID and TITLE both become 'title'",
        ),
        ('[tables."SHOP.FILM"]\nname = "lent"', "both become shop.lent"),
        (
            '[tables."SHOP.FILM"]\nname = "one"\nconstants = { o = "F" }\n'
            '[tables."SHOP.LENT"]\nname = "one"\nconstants = { o = "L" }',
            "both become shop.one; .*with the same key and masks",
        ),
        ('[tables."SHOP.FILM"]\nconstants = ["o"]', "found .'o'.; expected a table"),
        (
            '[tables."SHOP.FILM"]\nconstants = { o = 1.5 }',
            "constants.o: found 1.5; expected a text",
        ),
        ('[tables."SHOP.FILM"]\nconstants = { o = true }', "constants.o: found True"),
        (
            '[tables."SHOP.FILM"]\nconstants = { title = "x" }',
            "found columns 'TITLE' and 'title' of SHOP.FILM, which both become 'title'",
        ),
        ('[tables."SHOP.FILM"]\nexclude = ["ID"]', "found key column ID of SHOP.FILM excluded"),
        (
            '[tables."SHOP.FILM"]\ntypes = { PRICE = "numeric(" }',
            r"found 'numeric\('; expected a type of postgres",
        ),
        (
            '[tables."SHOP.FILM"]\ntypes = { PRICE = "integer); DROP TABLE x; --" }',
            "expected a type of postgres",
        ),
        (
            '[tables."SHOP.FILM"]\ntypes = { PRICE = "integer NOT NULL" }',
            "expected a type of postgres",
        ),
        (
            '[tables."SHOP.LENT"]\nmask = ["WHO"]',
            "WHO cannot be masked: a mask has 16 characters, and the column holds 8",
        ),
        ('[tables."SHOP.LENT"]\nmask = ["ON_DAY"]', "there is no mask for DATE"),
        (
            '[tables."SHOP.FILM"]\nmask = ["TITLE"]\n[tables."shop.film"]\nname = "x"',
            "found SHOP.FILM twice",
        ),
        ('[schemas]\nSHOP = "a"\nshop = "b"', "schemas.shop: found it twice"),
        ('[schemas]\nSHOP = "a.b"', "schemas.SHOP: found 'a.b'; expected a name"),
        ('[tables."SHOP.FILM"]\ncolumns = { ID = "a", id = "b" }', "columns: found ID twice"),
        ('[tables."SHOP.FILM"]\nname = ""', "name: found ''; expected NAME or SCHEMA.NAME"),
        ('[tables."SHOP.FILM"]\nname = "a."', "name: found 'a.'; expected NAME or SCHEMA.NAME"),
        (
            '[tables."SHOP.FILM"]\nname = "a.b.c"',
            "name: found 'a.b.c'; expected NAME or SCHEMA.NAME",
        ),
        ('[tables."SHOP.FILM"]\ntypes = { PRICE = "integer\\n" }', "expected a type of postgres"),
        (
            '[tables."SHOP.FILM"]\ntypes = { PRICE = "integer /* x */" }',
            "expected a type of postgres",
        ),
        (
            '[tables."SHOP.FILM"]\nmask = ["TITLE"]',
            "SHOP.FILM.TITLE is masked, and there is no key",
        ),
        (
            '[tables."SHOP.FILM"]\nmask = ["TITLE"]\ntypes = { TITLE = "text" }',
            "TITLE is masked and has a type of its own",
        ),
    ],
)
def test_what_is_wrong_with_a_mapping(text: str, said: str) -> None:
    with pytest.raises(SqlgenError, match=said) as caught:
        parsed(text)
    assert caught.value.code == "LR1011"


@pytest.mark.parametrize(
    ("film", "old"),
    [
        ("", ""),
        ('o = "F"', ""),
        ('o = "F"', 'p = "O"'),
        ('o = "F"', 'o = "F"'),
        ('o = "F"', 'o = "f "'),
        ('o = "é"', 'o = "E"'),
        ('o = "1"', "o = 1"),
    ],
)
def test_tables_that_become_one_need_a_constant_that_differs(film: str, old: str) -> None:
    both = [FILM, replace(FILM, name="OLD_FILM")]
    text = (
        '[tables."SHOP.FILM"]\nname = "film"\nconstants = {{ {} }}\n'
        '[tables."SHOP.OLD_FILM"]\nname = "film"\nconstants = {{ {} }}'
    )
    with pytest.raises(SqlgenError, match="both become shop.film"):
        parse_mapping(text.format(film, old), both, POSTGRES, RenderOptions(), None)
    words = text.format('o = "F"', 'o = "OLD"')
    made = parse_mapping(words, both, POSTGRES, RenderOptions(), None)
    (table,) = made.joined(both)
    assert table.key == ("ID", "o")
    assert table.column("o").length == 3
    with pytest.raises(SqlgenError, match="with other columns or types than another table"):
        made.joined([FILM, replace(both[1], columns=FILM.columns[:2])])


def test_foreign_keys_follow_constants() -> None:
    text = '[tables."SHOP.FILM"]\nconstants = { o = "F" }\n'
    known = Constraints(
        (("SHOP.FILM", ("ID",)),),
        (ForeignKey("f", "SHOP.LENT", ("FILM",), "SHOP.FILM", ("ID",)),),
    )
    found = parsed(text).constraints(known, TABLES)
    assert found.keys == (("SHOP.FILM", ("ID", "o")),)
    assert not found.foreign_keys
    assert found.unused == (
        "foreign key f of SHOP.LENT: the key of SHOP.FILM has a constant (o) that it lacks",
    )
    both = parsed(text + '[tables."SHOP.LENT"]\nconstants = { o = "F" }')
    found = both.constraints(known, TABLES)
    assert [(key.columns, key.parent_columns) for key in found.foreign_keys] == [
        (("FILM", "o"), ("ID", "o"))
    ]
    assert both.keys_of_log(found, TABLES) == known
    with pytest.raises(SqlgenError, match="found a constant on one side of foreign key f"):
        parsed(text).keys_of_log(found, TABLES)


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(SqlgenError, match=r"'X' is no column.*no such table"):
        parsed('[tables."SHOP.FILM"]\nexclude = ["X"]\n[tables."SHOP.NOTHING"]')


def test_every_form_of_a_table_is_looked_at() -> None:
    first = Table(
        "SHOP",
        "FILM",
        (Column("ID", SqlType.SMALLINT, False), Column("NAME", SqlType.VARCHAR, True, 40)),
        ("ID",),
    )
    for text, said in (
        (
            '[tables."SHOP.FILM"]\nmask = ["ID"]',
            "ID has several types in this log (INTEGER, SMALLINT)",
        ),
        (
            '[tables."SHOP.FILM"]\ncolumns = { ID = "NAME" }',
            "SHOP.FILM: the columns ID and NAME both become 'name'",
        ),
    ):
        with pytest.raises(SqlgenError, match=re.escape(said)) as caught:
            parse_mapping(text, [first, FILM], POSTGRES, RenderOptions(), KEY)
        assert caught.value.code == "LR1011"
        parse_mapping(text, [FILM], POSTGRES, RenderOptions(), KEY)


def test_both_sides_of_a_foreign_key_get_one_mask() -> None:
    film = '[tables."SHOP.FILM"]\nmask = ["ID"]\n'
    lent = '[tables."SHOP.LENT"]\nmask = ["FILM"]\n'
    known = Constraints((), (ForeignKey("f", "SHOP.LENT", ("FILM",), "SHOP.FILM"),))
    parsed(film + lent, KEY).check_masks(known, TABLES)
    parsed(film, KEY, exclude_columns=("FILM",)).check_masks(known, TABLES)
    for text, said in (
        (film, "SHOP.LENT.FILM not masked and SHOP.FILM.ID masked as INTEGER"),
        (lent, "SHOP.FILM.ID not masked"),
    ):
        with pytest.raises(SqlgenError, match=said) as caught:
            parsed(text, KEY).check_masks(known, TABLES)
        assert caught.value.code == "LR1011"
    short = Table("SHOP", "LENT", (Column("FILM", SqlType.SMALLINT, False),))
    made = parse_mapping(film + lent, [FILM, short], POSTGRES, RenderOptions(), KEY)
    with pytest.raises(
        SqlgenError, match="SHOP.LENT.FILM masked as SMALLINT and SHOP.FILM.ID masked as INTEGER"
    ):
        made.check_masks(known, [FILM, short])


def test_names_that_differ_in_case_are_told_apart() -> None:
    small = Table(
        "SHOP",
        "film",
        (Column("id", SqlType.INTEGER, False), Column("ID", SqlType.INTEGER)),
        ("id",),
    )
    options = RenderOptions("exact")
    made = parse_mapping(
        '[tables."SHOP.FILM"]\nname = "big"\n[tables."SHOP.film"]\ncolumns = { ID = "no" }',
        [FILM, small],
        POSTGRES,
        options,
        None,
    )
    assert (made.name(FILM), made.name(small)) == (("SHOP", "big"), ("SHOP", "film"))
    assert made.tables["SHOP.film"].columns == {"ID": "no"}
    with pytest.raises(SqlgenError, match="tables.Shop.Film: the log has no such table"):
        parse_mapping('[tables."Shop.Film"]', [FILM, small], POSTGRES, options, None)


def test_keys_of_a_table_in_small_letters() -> None:
    small = Table("SHOP", "lent", (Column("id", SqlType.INTEGER, False),), ("id",))
    made = parse_mapping(
        '[tables."SHOP.lent"]\ncolumns = { id = "no" }',
        [small],
        POSTGRES,
        RenderOptions("exact"),
        None,
    )
    known = made.renamed_keys(Constraints((("SHOP.LENT", ("id",)),)), [small])
    assert known.keys == (("SHOP.LENT", ("no",)),)
    assert made.constraints(known, [small]).keys == known.keys
    assert made.keys_of_log(known, [small]).keys == (("SHOP.LENT", ("id",)),)


def test_what_is_left_out_is_no_glob() -> None:
    odd = Table(
        "SHOP",
        "ODD",
        (
            Column("ID", SqlType.INTEGER, False),
            Column("A*", SqlType.INTEGER),
            Column("AB", SqlType.INTEGER),
        ),
        ("ID",),
    )
    options = RenderOptions("exact")
    made = parse_mapping('[tables."SHOP.ODD"]\nexclude = ["A*"]', [odd], POSTGRES, options, None)
    assert [column.name for column in made.table(odd).in_target().columns] == ["ID", "AB"]


def test_a_row_is_whole_without_what_the_mapping_leaves_out_only() -> None:
    made = parsed('[tables."SHOP.FILM"]\nname = "movie"\nexclude = ["PRICE"]')
    images = {"ID": pa.array([1]), "TITLE": pa.array(["x"]), "PRICE": pa.array(["1.00"])}
    changed = {name: pa.array([name == "ID"]) for name in images}
    rows = Rows(
        FILM, Op.UPDATE, 1, {**images, "ID": pa.array([2])}, images, changed, pa.array([True])
    )
    found = upsert.render(made.rows(rows), POSTGRES, RenderOptions())
    assert found.text.to_pylist()[0].startswith(
        "DELETE FROM shop.movie WHERE id = 2;\nINSERT INTO shop.movie (id, title) VALUES (1, 'x')"
    )
    options = RenderOptions(exclude_columns=("PRICE",))
    text = '[tables."SHOP.FILM"]\nname = "movie"'
    for mapping in (parsed(text, exclude_columns=("PRICE",)), TableMap(options=options)):
        found = upsert.render(mapping.rows(rows), POSTGRES, RenderOptions())
        assert [problem.code for problem in found.problems] == ["LR3013"]
