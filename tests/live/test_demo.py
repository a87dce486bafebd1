"""The demo's verdicts, proven with scripts that are right or wrong on purpose."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from replay.changes.balance import Tally
from replay.cli import demo
from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, UsageError
from replay.output.bundle import Bundle
from replay.targets.postgres import POSTGRES as postgres

pytestmark = pytest.mark.live


def generator(exit_code: int = EXIT_OK, leave_out: str = "") -> demo.Generate:
    """Writes bundles that put the wanted state straight into the tables, except one table."""

    def generate(mode: str, control: Path, data: Path, out: Path) -> Bundle:
        assert control.is_file()
        assert data.is_file()
        out.mkdir(parents=True)
        lines = []
        state = control.parent / ("final" if mode == "redo" else "initial")
        for table, path in postgres.state_tables(state).items():
            if table != leave_out:
                read = "gzip -dc" if path.suffix == ".gz" else "cat"
                lines.append(f"TRUNCATE sakila.{table};")
                lines.append(
                    f"\\copy sakila.{table} FROM PROGRAM '{read} {path}' WITH (FORMAT csv, HEADER)"
                )
        (out / "0000.sql").write_text("\n".join(lines) + "\n")
        return Bundle(out, {}, Tally(), exit_code)

    return generate


def test_right_scripts_are_called_right() -> None:
    said: list[str] = []

    assert demo.run(generator(), said.append) == EXIT_OK

    text = "\n".join(said)
    assert "41,890 rows" in text
    assert "redo: SAME" in text
    assert "undo: SAME" in text
    assert "log records read" in text


def test_the_bundled_database_is_served() -> None:
    """With the rows after the log, until somebody ends it."""
    said: list[str] = []
    counts: list[int] = []

    def wait(url: str) -> None:
        with closing(postgres.connect(url)) as session:
            counts.extend(session.query("SELECT count(*) FROM sakila.payment_audit")[0])
        raise KeyboardInterrupt

    assert demo.serve("after", said.append, wait) == EXIT_OK
    assert said[0].split("\n")[1].startswith("postgresql://")
    assert counts[0] > 0


def test_one_wrong_table_is_named_and_the_exit_code_says_so() -> None:
    said: list[str] = []

    assert demo.run(generator(leave_out="payment"), said.append) == EXIT_ERROR

    (redo,) = [line for line in said if line.startswith("redo: DIFFERENT")]
    (wrong,) = [line for line in redo.splitlines() if "DIFFER" in line and "sakila." in line]
    assert "sakila.payment:" in wrong
    assert any(line.startswith("undo: SAME") for line in said)


def test_the_exit_code_of_the_bundles_counts_too(tmp_path: Path) -> None:
    assert demo.run(generator(EXIT_WARNING), lambda line: None, keep=tmp_path) == EXIT_WARNING
    assert sorted(path.name for path in tmp_path.iterdir()) == ["redo", "undo"]


def test_a_folder_that_is_in_use_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "redo").mkdir()
    monkeypatch.delattr("replay.cli.demo.embedded.server")
    with pytest.raises(UsageError, match="expected a new or empty folder") as raised:
        demo.run(generator(), lambda line: None, keep=tmp_path)
    assert raised.value.code == "LR1002"


def test_without_a_bundled_log_the_demo_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "__file__", str(tmp_path / "package" / "cli" / "demo.py"))

    with pytest.raises(UsageError, match="no bundled log") as raised:
        demo.sample_folder()

    assert raised.value.code == "LR1005"


def test_an_installed_package_carries_its_own_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "package" / "bundled" / "sakila" / "log"
    log.mkdir(parents=True)
    (log / "sakila.ctl").touch()
    monkeypatch.setattr(demo, "__file__", str(tmp_path / "package" / "cli" / "demo.py"))

    assert demo.sample_folder() == log
