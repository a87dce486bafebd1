"""A migration of the Sakila log: run on PostgreSQL, its tables hold what the state after the log
holds, under other names and without what is masked."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.targets.embedded import client_environment, psql_path
from replay.targets.postgres import POSTGRES as postgres
from tests.support.replayed import rows
from tests.support.states import compare_states
from tests.support.words import of_log_master

MAPPING = """
[schemas]
SAKILA = "shop"

[tables."SAKILA.FILM"]
name = "movie"
columns = { FILM_ID = "movie_id", LENGTH = "minutes", TITLE = "rating", RATING = "title" }
types = { RENTAL_RATE = "numeric(9, 2)" }
exclude = ["DESCRIPTION"]

[tables."SAKILA.CUSTOMER"]
mask = ["CUSTOMER_ID", "LAST_NAME", "EMAIL"]

[tables."SAKILA.RENTAL"]
mask = ["CUSTOMER_ID"]
"""
KEYS = """CREATE TABLE sakila.film (film_id int PRIMARY KEY);
CREATE TABLE sakila.customer (customer_id int PRIMARY KEY);
CREATE TABLE sakila.inventory (inventory_id int, film_id int, CONSTRAINT of_film FOREIGN KEY
(film_id) REFERENCES sakila.film (film_id));
CREATE TABLE sakila.rental (rental_id int, customer_id int, CONSTRAINT who FOREIGN KEY
(customer_id) REFERENCES sakila.customer (customer_id));"""

#: What the check says of equal rows, where all were there before or in the log.
SAME = "SAME\n"


def log(sakila: Path) -> list[str]:
    return [*of_log_master(sakila / "sakila.ctl", sakila / "sakila.dat.gz"), "--engine", "local"]


def run(database: str, folder: Path, *scripts: str) -> str:
    """What psql prints when it runs scripts in the folder of a plan (all of them, in order)."""
    found = sorted(path for one in scripts or ("**/*.sql",) for path in folder.glob(one))
    words = [word for path in found for word in ("-f", str(path.relative_to(folder)))]
    done = subprocess.run(
        [psql_path(), "-XqAt", "-v", "ON_ERROR_STOP=1", *words, database],
        cwd=folder,
        env=client_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_under_a_mapping(
    fresh_database: str, sakila: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "map.toml").write_text(MAPPING)
    (tmp_path / "key").write_text("nobody knows this text")
    (tmp_path / "keys.sql").write_text(KEYS)
    mapped = ["--mapping", str(tmp_path / "map.toml"), "--mask-key-file", str(tmp_path / "key")]
    out = tmp_path / "out"
    how = [
        "--initial",
        str(sakila / "initial"),
        "--schema",
        str(tmp_path / "keys.sql"),
        "--out",
        str(out),
    ]
    assert main(["migrate", *log(sakila), *mapped, *how]) == 0
    assert main(["migrate", *log(sakila), *mapped, *how]) == 12
    assert "LR1002" in capsys.readouterr().err
    assert main(["migrate", *log(sakila), *mapped, *how, "--overwrite"]) == 0
    text = "".join(path.read_text(encoding="utf-8") for path in out.rglob("*") if path.is_file())
    assert "nobody knows" not in text
    assert "SMITH" not in (out / "20-load" / "0002-customer.csv").read_text(encoding="utf-8")

    assert run(fresh_database, out) == SAME
    assert rows(fresh_database, "SELECT count(*) FROM pg_constraint WHERE contype = 'f'") == [(2,)]
    postgres.run_scripts(fresh_database, [sakila / "schema.sql"])
    postgres.load_state(fresh_database, "sakila", sakila / "final")
    one = "SELECT film_id, rating, title, length, rental_rate, last_update FROM sakila.film"
    other = "SELECT movie_id, title, rating, minutes, rental_rate, last_update FROM shop.movie"
    for pair in ((one, other), (other, one)):
        assert rows(fresh_database, " EXCEPT ALL ".join(pair)) == []
    both = (
        "SELECT r.rental_id, c.first_name, c.address_id FROM {0}.rental r JOIN {0}.customer c ON"
        " c.customer_id = r.customer_id"
    )
    for pair in (("shop", "sakila"), ("sakila", "shop")):
        assert (
            rows(fresh_database, " EXCEPT ALL ".join(both.format(schema) for schema in pair)) == []
        )
    masked = rows(fresh_database, "SELECT count(*), count(DISTINCT last_name) FROM shop.customer")
    assert masked == rows(
        fresh_database, "SELECT count(*), count(DISTINCT rtrim(last_name)) FROM sakila.customer"
    )
    assert (
        rows(
            fresh_database,
            "SELECT last_name FROM shop.customer INTERSECT SELECT last_name FROM sakila.customer",
        )
        == []
    )
    assert (
        rows(
            fresh_database,
            "SELECT 1 FROM information_schema.columns WHERE column_name = 'description' AND"
            " table_schema = 'shop'",
        )
        == []
    )
    manifest = json.loads((out / "manifest.json").read_text())
    others = "the rows of city.csv.gz, country.csv, staff.csv, store.csv: of no table in this log"
    others += " or in --schema"
    assert others in manifest["not_migrated"]
    assert f"* {others}" in (out / "PLAN.md").read_text().splitlines()
    assert manifest["not_compared"] == []
    assert manifest["foreign_keys"] == 2


def test_what_is_not_in_it_is_said(
    sakila: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    text = (sakila / "db2-tables.sql").read_text()
    (tmp_path / "tables.sql").write_text(
        re.sub(r"CREATE TABLE SAKILA.CITY .*?;", "", text, flags=re.S)
    )
    schema = ["--schema", str(tmp_path / "tables.sql"), "--schema-dialect", "db2"]
    part = [
        "--initial",
        str(sakila / "initial"),
        "--dialect",
        "trino",
        "--until-time",
        "2024-03-15 08:30",
    ]
    assert main(["migrate", *log(sakila), *schema, *part, "--out", str(out)]) == 8
    steps = (out / "PLAN.md").read_text()
    aside = len(json.loads((out / "30-redo" / "manifest.json").read_text())["quarantined_units"])
    assert f"* {aside:,} units of recovery not in the scripts of 30-redo" in steps
    assert "**A part of the log only**" in steps
    assert (
        "* foreign key FK_ADDRESS_CITY_ID of SAKILA.ADDRESS to SAKILA.CITY, which is neither in"
        " this log nor in --schema" in steps
    )
    (tmp_path / "map.toml").write_text('[tables."SAKILA.PAYMENT"]\nexclude = ["RENTAL_ID"]\n')
    whole = ["--mapping", str(tmp_path / "map.toml"), *schema, "--overwrite"]
    assert main(["migrate", *log(sakila), *whole, "--out", str(out)]) == 0
    steps = (out / "PLAN.md").read_text()
    assert (
        "* foreign key FK_PAYMENT_RENTAL_ID of SAKILA.PAYMENT: a column or table of it is left out"
        in steps
    )
    assert "A part of the log" not in steps
    assert "not in the scripts" not in steps
    capsys.readouterr()
    assert main(["ddl", *log(sakila)[:4], *schema]) == 0
    said = (
        "it refers to a table that is not: foreign key FK_ADDRESS_CITY_ID of SAKILA.ADDRESS to"
        " SAKILA.CITY"
    )
    found = capsys.readouterr()
    assert f"-- not here, for {said}" in found.out
    assert f"note: not in the script, for {said}" in found.err


def test_masked_keys_are_not_told(
    sakila: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    (tmp_path / "key").write_text("nobody knows this text")
    redo = ["redo", *log(sakila), "--dialect", "trino", "--overwrite", "--out", str(out)]
    assert main(redo) == 8
    assert re.search(r"-> customer/\d+ ->", capsys.readouterr().out)
    (tmp_path / "map.toml").write_text('[tables."SAKILA.CUSTOMER"]\nmask = ["CUSTOMER_ID"]\n')
    assert (
        main(
            [
                *redo,
                "--mapping",
                str(tmp_path / "map.toml"),
                "--mask-key-file",
                str(tmp_path / "key"),
            ]
        )
        == 8
    )
    said = capsys.readouterr().out + "".join(
        path.read_text() for path in out.rglob("manifest.json")
    )
    assert "-> customer/(masked) ->" in said
    assert not re.search(r"\bcustomer/\d", said)


def test_without_a_mapping_every_row_is_verified(
    fresh_database: str, sakila: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert (
        main(["migrate", *log(sakila), "--initial", str(sakila / "initial"), "--out", str(out)])
        == 0
    )
    run(fresh_database, out)
    states = {}
    for state in ("initial", "final"):  # the tables of the log
        states[state] = tmp_path / state
        states[state].mkdir()
        for script in (out / "20-load").glob("*.sql"):
            (path,) = (sakila / state).glob(f"{script.stem.partition('-')[2]}.csv*")
            (states[state] / path.name).symlink_to(path)
    assert compare_states(fresh_database, "sakila", states["final"]) == []
    assert (
        main(["verify", *log(sakila), "--to", fresh_database, "--expected", str(states["initial"])])
        == 0
    )


def test_what_is_refused_leaves_nothing_behind(
    sakila: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, state = tmp_path / "out", tmp_path / "state"
    state.mkdir()
    (tmp_path / "map.toml").write_text('[tables."SAKILA.NOTHING"]\nname = "x"\n')
    for more, said in (
        (["--mapping", str(tmp_path / "map.toml")], "LR1011"),
        (["--mapping", str(tmp_path / "no.toml")], "LR2001"),
        (["--mask-key-file", str(tmp_path / "map.toml")], "without --mapping"),
        (["--initial", str(state)], "LR2001"),
        (
            ["--initial", str(sakila / "initial"), "--char-padding", "keep"],
            "found --char-padding keep with --initial",
        ),
    ):
        assert main(["migrate", *log(sakila), *more, "--out", str(out)]) == 12
        assert said in capsys.readouterr().err
    for path in (sakila / "initial").iterdir():
        (state / path.name).symlink_to(path)
    (state / "film_stock.csv").unlink()
    (state / "film_stock.csv").write_text("film_id,store_id,on_hand\n1,1,many\n")
    assert main(["migrate", *log(sakila), "--initial", str(state), "--out", str(out)]) == 12
    assert "line 2, column ON_HAND" in capsys.readouterr().err
    assert not out.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.toml", "state"]


def test_defaults_checks_and_identities_come_from_db2s_schema(
    fresh_database: str, sakila: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    schema = ["--schema", str(sakila.parent / "db2-schema.sql"), "--schema-dialect", "db2"]
    assert main(
        ["migrate", *log(sakila), *schema, "--initial", str(sakila / "initial"), "--out", str(out)]
    ) in (0, 4)
    run(fresh_database, out)
    (highest,) = rows(fresh_database, "SELECT max(film_id) FROM sakila.film")[0]
    added = (
        "INSERT INTO sakila.film (title, language_id) VALUES ('new', 1) RETURNING film_id,"
        " rental_duration, rental_rate, last_update IS NOT NULL"
    )
    ((number, days, rate, dated),) = rows(fresh_database, added)
    assert (number, days, str(rate), dated) == (highest + 1, 3, "4.99", True)


def test_tables_without_a_change_are_migrated(
    fresh_database: str, sakila: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the schema defines beside the log: made, loaded, referred to, counted; a table without a
    file, or with one that does not fit, and one whose types are not understood are named."""
    out, state, schema = tmp_path / "out", tmp_path / "state", tmp_path / "schema.sql"
    state.mkdir()
    for path in (sakila / "initial").iterdir():
        (state / path.name).symlink_to(path)
    (state / "staff.csv").unlink()
    (state / "country.csv").unlink()
    (state / "country.csv").write_text("country_id,country,last_update\n1,Peru,yesterday\n")
    text = (sakila / "schema-ri.sql").read_text()
    more = "CREATE TABLE sakila.odd (n numeric, k tsvector);\nCREATE TABLE lone (id int, t text);\n"
    schema.write_text(text + more)
    (state / "lone.csv").write_text('1,""\n2,\n3,\\.\n')
    how = ["--initial", str(state), "--schema", str(schema), "--out", str(out)]
    part = ["--until-time", "2024-03-15 08:30"]
    assert main(["migrate", *log(sakila), *how, *part]) == 4
    assert run(fresh_database, out, "[1-3]*.sql", "[1-3]*/*.sql") == ""
    assert rows(fresh_database, "SELECT count(*) FROM sakila.city") == [(600,)]
    assert rows(fresh_database, "TABLE sakila.lone") == [(1, ""), (2, None), (3, "\\.")]
    manifest = json.loads((out / "manifest.json").read_text())
    assert not {"SAKILA.STAFF", "SAKILA.COUNTRY"} & set(manifest["loaded"])
    unfit = f"table SAKILA.COUNTRY is not migrated: LR2035 {state}/country.csv, line 2, column"
    assert any(warning.startswith(unfit) for warning in manifest["warnings"])
    assert manifest["not_migrated"] == [
        *(
            f"foreign key fk_{one} of SAKILA.{one.split('_')[0].upper()}: a column or table of it"
            " is left out"
            for one in ("city_country_id", "rental_staff_id", "payment_staff_id")
        ),
        "table SAKILA.ODD: the type of N (numeric), K (tsvector) is not understood, or has no size",
        f"table SAKILA.STAFF: {state} has no file of it",
    ]
    assert run(fresh_database, out, "50-verify.sql") == SAME
    rows(fresh_database, "DELETE FROM sakila.city WHERE city_id = 1")
    assert re.fullmatch(
        r"SAKILA.CITY\|0\|1\|1\|.*\nDIFFERENT\n", run(fresh_database, out, "50-verify.sql")
    )
    said = capsys.readouterr().err
    assert "note: not migrated: table SAKILA.ODD" in said
