"""The way back of a mapping: names of what comes out are those that went in, and what has no way
back is named."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import pytest

from replay.cli.main import main
from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.mapping_file import inverse_mapping, parse_mapping
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, SqlType, Table

POSTGRES = profile_named("postgres")
EXACT = RenderOptions("exact")


def drawn(dice: random.Random) -> tuple[str, list[Table]]:
    """A mapping of some tables, and these: other schemas, names of each other, columns that change
    places, names with quotes and blanks."""
    words = ['A "b"', "ID", "Name", "x.y".replace(".", "_"), "ß", "O'Neill", "select", "C"]
    tables = [
        Table(
            owner,
            f"T{number}",
            tuple(Column(name, SqlType.INTEGER) for name in dice.sample(words, 4)),
        )
        for owner in ("SHOP", "STORE")
        for number in range(3)
    ]
    lines = ["[schemas]", 'SHOP = "new"'] if dice.random() < 0.5 else []
    for number, table in enumerate(tables):
        if dice.random() < 0.3:
            continue
        lines.append(f'[tables."{table.schema}.{table.name}"]')
        name = dice.choice([f"n {number}", f"other.n{number}"])
        lines.append(f'name = "{name}"')
        names = [column.name for column in table.columns]
        turned = dict(zip(names, names[1:] + names[:1], strict=True))
        pairs = ", ".join(f"{quoted(old)} = {quoted(new)}" for old, new in turned.items())
        lines.append(f"columns = {{ {pairs} }}")
    return "\n".join(lines), tables


def quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


@pytest.mark.parametrize("seed", range(20))
def test_what_goes_there_comes_back(seed: int) -> None:
    text, tables = drawn(random.Random(seed))
    there = parse_mapping(text, tables, POSTGRES, EXACT, None)
    found = inverse_mapping(text)
    assert found.lost == ()
    targets = [there.table(table) for table in tables]
    back = parse_mapping(found.text, targets, POSTGRES, EXACT, None, continued=True)
    assert [back.table(table) for table in targets] == tables


def test_what_has_no_way_back_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "map.toml", tmp_path / "back.toml"
    path.write_text(
        '[schemas]\nA = "one"\nB = "one"\nC = "c"\n[tables."A.T"]\nname = "tee"\n'
        'columns = { K = "key", GONE = "g" }\nexclude = ["GONE"]\nmask = ["K"]\n'
        'types = { N = "text" }\n[tables."C.U"]\nname = "you"\nconstants = { o = "U" }\n'
        '[tables."C.V"]\nname = "you"\nconstants = { o = "V" }\n'
    )
    assert main(["mapping", "--invert", str(path), "--out", str(out)]) == 4
    said = capsys.readouterr().err
    for one in (
        "schema A becomes one, as another one does",
        "schema B becomes one",
        "A.T.GONE is left out",
        "A.T.K is masked",
        "A.T.N is text there",
        "table C.V becomes c.you, as C.U does",
    ):
        assert f"warning: no way back: {one}" in said
        assert f"# No way back: {one}" in out.read_text()
    assert tomllib.loads(out.read_text()) == {
        "schemas": {"c": "C"},
        "tables": {
            "one.tee": {"name": "A.T", "columns": {"key": "K"}},
            "c.you": {"name": "U", "exclude": ["o"]},
        },
    }
    assert main(["mapping", "--invert", str(path), "--out", str(out)]) == 12


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tables", "is not TOML"),
        ('[tables."A.T"]\nmasks = 1', "tables.A.T.masks: expected one of"),
        ('[tables.T]\nname = "x"', "found a name without its schema"),
        ("schemas = 3", "schemas: found 3; expected a table"),
        ('[tables."A.T"]\ncolumns = { K = 3 }', "found 3; expected a text"),
        ("[else]", r"found \[else\]"),
    ],
)
def test_what_is_no_mapping_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SqlgenError, match=said) as caught:
        inverse_mapping(text)
    assert caught.value.code == "LR1011"
    (tmp_path / "map.toml").write_text(text)
    assert main(["mapping", "--invert", str(tmp_path / "map.toml")]) == 12
