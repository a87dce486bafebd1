"""An export under a mapping has the names, columns and masks of the target; a condition on values
and a selection of tables and columns name those of the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import replay
from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Tab

STAFF = Tab(
    "STAFF",
    (
        Col("ID", "INT", 4, key=1),
        Col("NAME", "VCHR", 20),
        Col("PAY", "INT", 4),
        Col("NOTE", "VCHR", 20, nulls="Y"),
    ),
)
OTHER = Tab("OTHER", (Col("ID", "INT", 4, key=1),), obid=9)
MAPPING = """
[tables."TESTOWN.STAFF"]
name = "shop.people"
columns = { NAME = "NOTE", PAY = "wage" }
types = { PAY = "number of another database" }
exclude = ["NOTE"]
mask = ["NAME"]
"""
HOW = ("--engine", "local", "--schema", "none")


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    builder = LogBuilder(tables=(STAFF, OTHER))
    builder.unit().insert(STAFF, (1, "Penelope", 5550, "old"))
    builder.unit().insert(STAFF, (2, "Nick", 7770, "old"))
    unit = builder.unit()
    unit.update(STAFF, (1, "Penelope", 5550, "old"), (1, "Grace", 5550, "new"))
    unit.update(STAFF, (2, "Nick", 7770, "old"), (2, "Nick", 7770, "Penelope"))
    unit.insert(OTHER, (1,))
    control, data = builder.write(tmp_path)
    (tmp_path / "map.toml").write_text(MAPPING)
    (tmp_path / "key").write_text("nobody knows this text")
    mapping = ["--mapping", str(tmp_path / "map.toml"), "--mask-key-file", str(tmp_path / "key")]
    return ["--control", str(control), "--data", *map(str, data), *mapping]


def lines(folder: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        name = path.relative_to(folder).parts[0]
        found.setdefault(name, []).extend(map(json.loads, path.read_text().splitlines()))
    return found


def test_names_columns_and_masks(log: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["export", *log, *HOW, "--format", "jsonl", "--out", str(out)]
    assert main(words) == 0
    found = lines(out)
    assert set(found) == {"shop.people", "testown.other"}
    first, second, third = found["shop.people"]
    assert set(first["after"]) == {"id", "note", "wage"}
    assert first["after"]["note"] == third["before"]["note"] != third["after"]["note"]
    assert second["after"]["wage"] == 7770
    manifest = (out / "manifest.json").read_text()
    said = "".join(path.read_text() for path in out.rglob("*.jsonl")) + manifest
    assert not [word for word in ("Penelope", "Nick", "Grace") if word in said]
    assert json.loads(manifest)["options"]["mapping"]["tables"]["TESTOWN.STAFF"]["mask"] == ["NAME"]
    assert main([*words[:-1], str(tmp_path / "two"), "--after", str(out / "manifest.json")]) == 0
    Path(log[log.index("--mapping") + 1]).write_text(MAPPING.replace("wage", "pay"))
    words[-1] = str(tmp_path / "three")
    assert main([*words, "--after", str(out / "manifest.json")]) == 12


def test_selections_name_what_the_log_has(log: list[str], tmp_path: Path) -> None:
    for number, (more, rows) in enumerate(
        (
            (["--where", "NAME = 'Penelope'"], [1, 1]),
            (["--table", "TESTOWN.STAFF", "--where", "NOTE = 'Penelope'"], []),
            (["--table", "STAFF", "--exclude-columns", "PAY"], [1, 2, 1]),
            (
                ["--columns", "*.NAME", "--columns", "*.STAFF.ID", "--table", "STAFF"],
                [1, 2, 1],
            ),
        )
    ):
        out = tmp_path / str(number)
        code = main(["export", *log, *HOW, "--format", "jsonl", "--out", str(out), *more])
        assert code in (0, 4), more
        found = lines(out).get("shop.people", [])
        assert [one["after"]["id"] for one in found] == rows, more
        if "--columns" in more or "--exclude-columns" in more:
            assert set(found[0]["after"]) == {"id", "note"}


def test_an_export_beside_scripts_has_the_mapping_too(log: list[str], tmp_path: Path) -> None:
    places = ["--out", str(tmp_path / "redo"), "--also", f"export:{tmp_path / 'data'}"]
    how = ["--dialect", "postgres", "--exclude-table", "STAFF"]
    assert main(["redo", *log, *HOW, *how, *places]) == 12  # types of the file are not PostgreSQL's
    path = Path(log[log.index("--mapping") + 1])
    path.write_text(MAPPING.replace("number of another database", "bigint"))
    assert main(["redo", *log, *HOW, *how[:2], *places]) == 0
    assert (tmp_path / "data" / "shop.people").is_dir()
    script = "".join(path.read_text() for path in (tmp_path / "redo").rglob("*.sql"))
    assert "INSERT INTO shop.people (id, note, wage) VALUES" in script


def test_changes_in_a_program(log: list[str], tmp_path: Path) -> None:
    mapping, key = tmp_path / "map.toml", tmp_path / "key"
    with replay.open_log(control=log[1], data=log[3]) as opened:
        part = opened.select(tables=("STAFF",))
        found = part.changes("TESTOWN.STAFF", mapping=mapping, mask_key_file=key).read_all()
    assert found["table"].to_pylist() == ["shop.people"] * 3
    assert [set(row) for row in found["after"].to_pylist()] == [{"id", "note", "wage"}] * 3


def test_questions_are_answered_in_the_targets_words(
    log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Selections and keys have the words of the log, a masked key too; no masked value is shown."""
    path = Path(log[log.index("--mapping") + 1])
    path.write_text(MAPPING.replace('mask = ["NAME"]', 'mask = ["ID", "NAME"]'))
    history = "history --table STAFF --key 1"
    for question, condition, shown in (
        (history, (), "2 versions of 1 row"),
        ("history --table STAFF", ("--where", "NAME = 'Nick'"), "NOTE"),
        ("report audit", (), "wage 5550"),
        ("report summary --group-by table", (), "shop.people"),
        ("report page --schema none", (), '"shop.people"'),
        ("who --changed NAME", (), "updates       1"),
        ("sql", ("--query", "SELECT * FROM shop.people"), "after_wage"),
        ("sql", ("--query", "SELECT * FROM changes"), "shop.people"),
        ("whatif --table STAFF --schema none", (), "selected units"),
        ("graph --table STAFF --schema none --out - --format json", (), "shop.people"),
    ):
        assert main([*question.split(), *condition, *log, "--engine", "local"]) in (0, 4), question
        said = capsys.readouterr().out
        assert shown in said, question
        behind = said.partition("\n")[2]  # a title with the words of the user
        assert not [word for word in ("Penelope", "Nick", "Grace") if word in behind], question
        if question == history:
            assert said.count("shop.people ID=") == 2
            assert not [word for word in ("TESTOWN", "--where") if word in said]  # has the mask


def test_tables_for_the_target(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No key of masks is needed; keys of what is left out are named."""
    path, files = Path(log[log.index("--mapping") + 1]), log[: log.index("--mapping")]
    schema = tmp_path / "keys.sql"
    schema.write_text("CREATE UNIQUE INDEX n ON testown.staff (note);")
    words = ["ddl", *files, "--mapping", str(path), "--schema", str(schema)]
    assert main(words) == 12
    assert "expected a type of postgres" in capsys.readouterr().err
    path.write_text(MAPPING.replace("number of another database", "bigint"))
    assert main(words) == 0
    said = capsys.readouterr()
    table = "CREATE TABLE shop.people (id INTEGER NOT NULL, note VARCHAR(20) NOT NULL, wage bigint"
    assert table in said.out
    assert "key (NOTE) of TESTOWN.STAFF: a column of it is left out" in said.err
    with replay.open_log(control=files[1], data=files[3]) as opened:
        assert table in str(opened.ddl(mapping=path))
    assert main([*words, "--changes", "redo"]) == 12
    assert "found --mapping with --changes" in capsys.readouterr().err


def test_a_state_has_the_targets_words_and_the_order_of_its_masks(
    log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was known before, and the key that is asked for, have the words of the log."""
    path = Path(log[log.index("--mapping") + 1])
    path.write_text(MAPPING.replace('mask = ["NAME"]', 'mask = ["ID", "NAME"]'))
    before = tmp_path / "before"
    before.mkdir()
    (before / "STAFF.csv").write_text("ID,NAME,PAY,NOTE\n7,Penelope,1,\n", encoding="utf-8")
    (before / "OTHER.csv").write_text("ID\n", encoding="utf-8")
    known = ["state", "--at", "end", *log, "--engine", "local", "--initial", str(before)]
    out = tmp_path / "out"
    assert main([*known, "--out", str(out), "--format", "csv"]) == 0
    lines = (out / "people.csv").read_text("utf-8").splitlines()
    assert lines[0] == "id,note,wage"
    rows = [line.split(",") for line in lines[1:]]
    assert sorted(wage for *_, wage in rows) == ["1", "5550", "7770"]
    ids = [int(one) for one, *_ in rows]
    assert ids == sorted(ids)
    assert not {1, 2, 7} & set(ids)
    assert [len(name) for _, name, _ in rows] == [16, 16, 16]
    assert json.loads((out / "manifest.json").read_text("utf-8"))["mapping"]["masks"]
    capsys.readouterr()
    assert main([*known, "--table", "STAFF", "--key", "7"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(",1")
    url = f"duckdb:///{tmp_path / 'there.duckdb'}"
    assert main([*known, "--to", url]) == 12  # the type of the file is not DuckDB's
    path.write_text(path.read_text().replace("number of another database", "decimal(30, 3)"))
    assert main([*known, "--to", url]) == 0
    with duckdb.connect(str(tmp_path / "there.duckdb")) as there:
        wages = there.execute("SELECT wage FROM shop.people ORDER BY 1").fetchall()
    assert [str(wage) for (wage,) in wages] == ["1.000", "5550.000", "7770.000"]
    assert main(["state", "--diff", "start", "end", *log, "--engine", "local"]) == 12
    assert "LR1001 found --mapping with --diff" in capsys.readouterr().err


def test_a_constant_may_have_the_name_of_a_masked_column_that_is_left_out(
    log: list[str], tmp_path: Path
) -> None:
    text = MAPPING.replace('mask = ["NAME"]', 'mask = ["NAME"]\nconstants = { NAME = "x" }')
    text = text.replace('exclude = ["NOTE"]', 'exclude = ["NOTE", "NAME"]')
    Path(log[log.index("--mapping") + 1]).write_text(text)
    out = tmp_path / "out"
    assert main(["export", *log, *HOW, "--format", "jsonl", "--out", str(out)]) == 0
    rows = lines(out)["shop.people"]
    assert {row["after"]["name"] for row in rows} == {"x"}
    assert set(rows[0]["after"]) == {"id", "wage", "name"}
