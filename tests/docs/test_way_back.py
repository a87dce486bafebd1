"""The tutorial about the way back: every command is run, with Derby for Db2, which comes with
Spark. The day's work is done on PostgreSQL, and its events were recorded by Debezium."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from replay.cli.main import main
from tests.docs.console import Console, run_page
from tests.output.test_derby import Derby, ran

ROOT = Path(__file__).resolve().parents[2]
MIGRATION = (
    "fixtures/sakila/small/small.ctl",
    *("--initial", "fixtures/sakila/log/initial"),
    *("--schema", "fixtures/sakila/log/schema-ri.sql"),
)
AS = ("--mapping", "fixtures/sakila/shop.toml")


def statements(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("--", "COMMIT")):
            yield line.removesuffix(";")


def cut_over(url: str) -> None:
    """The tables of the tutorial about a migration, as they are when users come."""
    for words in (
        ["migrate", *MIGRATION, *AS, "--dialect", "postgres", "--out", "to-postgres"],
        ["migrate", *MIGRATION, "--dialect", "db2", "--out", "db2"],
    ):
        assert main(words) in (0, 4)
    console = Console(url)
    parts = ("10-schema.sql", "20-load/*.sql")
    for part in parts:
        assert console.run(
            f"cat to-postgres/{part} | (cd to-postgres && psql -XqAt -v ON_ERROR_STOP=1 {url})"
        ) == []  # fmt: skip
    words = ["replay", MIGRATION[0], *MIGRATION[3:], *AS, "--to", url, "--apply"]
    assert main(words) in (0, 4)
    keys = "to-postgres/40-foreign-keys.sql"
    assert console.run(f"psql -XqAt -v ON_ERROR_STOP=1 -f {keys} {url}") == []


def source_of(url: str, derby: Derby, folder: Path) -> None:
    """The same tables in Derby, under the names of the source, with its foreign keys."""
    texts = list(statements(Path("db2/10-schema.sql")))
    with psycopg.connect(url) as connection:
        for text in texts:
            derby.run(text)
            name = text.split("SAKILA.")[1].split()[0]
            there = "movie" if name == "FILM" else name.lower()
            columns = [
                f"encode({column}, 'hex')" if kind == "bytea" else column
                for column, kind in connection.execute(
                    "SELECT column_name::text, data_type::text FROM information_schema.columns"
                    " WHERE table_schema = 'shop' AND table_name = %s ORDER BY ordinal_position",
                    (there,),
                )
            ]
            query = f"COPY (SELECT {', '.join(columns)} FROM shop.{there}) TO STDOUT"
            form = "(FORMAT csv, FORCE_QUOTE *)"
            with connection.cursor().copy(f"{query} {form}".encode()) as rows:
                (folder / name).write_bytes(b"".join(map(bytes, rows)))
            derby.run(
                f"CALL SYSCS_UTIL.SYSCS_IMPORT_TABLE('SAKILA', '{name}', '{folder / name}',"
                " null, null, 'UTF-8', 0)"
            )
    for text in statements(Path("db2/40-foreign-keys.sql")):
        derby.run(text.replace("SET NULL", "CASCADE"))  # Db2, too, takes no other rule there
    derby.run("COMMIT")


class Db2Console(Console):
    """A console with ``db2``, which Derby stands for."""

    derby: Derby

    def run(self, command: str) -> list[str]:
        if not command.startswith("db2 "):
            return super().run(command)
        path = Path(shlex.split(command)[-1])
        if "-td@" in command:
            stopped = ran(self.derby, path.read_text(encoding="utf-8"))
            return [stopped] if stopped else []
        for text in statements(path):
            into, query = re.fullmatch(r"EXPORT TO (\S+) OF DEL (SELECT .*)", text).groups()  # type: ignore[union-attr]
            self._export(Path(into), query)
        return []

    def _export(self, into: Path, query: str) -> None:
        into.parent.mkdir(exist_ok=True)
        plain = re.sub(r"'\\x' \|\| HEX\((\w+)\)", r"\1", query)
        if plain == query:
            self.derby.run(
                f"CALL SYSCS_UTIL.SYSCS_EXPORT_QUERY('{query}', '{into.resolve()}', null, null,"
                " 'UTF-8')"
            )
            return
        place = plain.split(", ").index(re.search(r"HEX\((\w+)\)", query)[1])  # type: ignore[index]
        rows = [
            [f"\\x{value}" if number == place and value is not None else value
             for number, value in enumerate(row)]
            for row in self.derby.rows(plain)
        ]  # fmt: skip
        with into.open("w", encoding="utf-8", newline="") as file:
            for row in rows:
                quoted = [
                    "" if value is None else '"' + value.replace('"', '""') + '"' for value in row
                ]
                file.write(",".join(quoted) + "\n")


@pytest.mark.live
@pytest.mark.spark
@pytest.mark.usefixtures("as_a_user")
def test_a_day_on_postgresql_comes_back_to_db2(
    fresh_database: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.symlink(ROOT / "fixtures", "fixtures")
    cut_over(fresh_database)
    console = Db2Console(fresh_database)
    console.derby = Derby(spark)
    (tmp_path / "rows").mkdir()
    source_of(fresh_database, console.derby, tmp_path / "rows")
    run_page(ROOT / "replay" / "docs" / "tutorials" / "way-back.md", fresh_database, console)
