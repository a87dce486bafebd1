"""What is said of a run does not tell values that its mapping masks: why it is refused, which value
is damaged, which cell of the rows before the log is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from tests.support.logbuilder import Col, LogBuilder, Tab

EMP = Tab(
    "EMP",
    (
        Col("ID", "INT", 4, key=1),
        Col("BOSS", "INT", 4, nulls="Y"),
        Col("PAY", "DEC", 5, scale=2, nulls="Y"),
        Col("NAME", "VCHR", 20),
    ),
)
STAFF = """
CREATE TABLE testown.emp (id int PRIMARY KEY, boss int REFERENCES testown.emp, pay decimal(9, 2),
name varchar(20));
"""
MASKS = '[tables."TESTOWN.EMP"]\nmask = ["ID", "BOSS", "PAY", "NAME"]\n'
#: A row of which every value is a word to look for.
ROW = "7130246,7130246,5551234.07,Penelope\n"
SECRETS = ("7130246", "7130247", "5551234", "Penelope", "D7859585", "\u00d7")

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command on a log, with masks or without: its exit code, and all that it says."""
    (tmp_path / "map.toml").write_text(MASKS)
    (tmp_path / "key").write_text("nobody knows this text")
    (tmp_path / "staff.sql").write_text(STAFF)

    def run(log: LogBuilder, command: str, masks: bool, *words: str) -> tuple[int, str]:
        control, data = log.write(tmp_path)
        argv = [command, "--control", str(control), "--data", *map(str, data), "--overwrite"]
        if masks:
            argv += ["--mapping", str(tmp_path / "map.toml")]
            argv += ["--mask-key-file", str(tmp_path / "key")]
        out = tmp_path / "out"
        code = main([*argv, "--schema", str(tmp_path / "staff.sql"), *words, "--out", str(out)])
        said = capsys.readouterr()
        files = [file.read_text() for file in out.rglob("*") if file.is_file()]
        return code, "".join((said.out, said.err, *files))

    return run


def circle() -> tuple[LogBuilder, tuple[str, ...]]:
    """Two rows that refer to each other are inserted."""
    log = LogBuilder((EMP,))
    unit = log.unit()
    unit.insert(EMP, (7130246, 7130247, None, "a"))
    unit.insert(EMP, (7130247, 7130246, None, "b"))
    return log, ("redo", "--dialect", "tsql")


def damage() -> tuple[LogBuilder, tuple[str, ...]]:
    """A decimal is not one."""
    log = LogBuilder((EMP,))
    unit = log.unit()
    unit.insert(EMP, (1, None, bytes.fromhex("D785958597"), "a"))
    return log, ("redo",)


def condition() -> tuple[LogBuilder, tuple[str, ...]]:
    """Text is taken for a number."""
    log = LogBuilder((EMP,))
    log.unit().insert(EMP, (1, None, "1.00", "Penelope"))
    return log, ("redo", "--where", "CAST(after.name AS INTEGER) > 1")


def before(text: str) -> Callable[[Path], tuple[LogBuilder, tuple[str, ...]]]:
    """Rows before the log that cannot be loaded."""

    def made(folder: Path) -> tuple[LogBuilder, tuple[str, ...]]:
        log = LogBuilder((EMP,))
        log.unit().insert(EMP, (1, None, "1.00", "a"))
        (folder / "initial").mkdir(exist_ok=True)
        (folder / "initial" / "EMP.csv").write_text(text)
        return log, ("migrate", "--initial", str(folder / "initial"))

    return made


NAMES = "ID,BOSS,PAY,NAME\n"
CASES: dict[str, Any] = {
    "rows that need each other": lambda _: circle(),
    "a damaged value": lambda _: damage(),
    "a condition that cannot be evaluated": lambda _: condition(),
    "a cell that is no value": before(f"{NAMES}1,7130246 or so,1.00,a\n"),
    "no line of names": before(f"x{ROW}"),
}
SAYS = {
    "rows that need each other": "TESTOWN.EMP (masked)",
    "a damaged value": "a value in PAY, which is masked",
    "a condition that cannot be evaluated": "values that are masked",
    "a cell that is no value": "a value in BOSS, which is masked",
    "no line of names": "other columns in its first line",
}


@pytest.mark.parametrize("what", CASES)
def test_masked_values_are_not_told(what: str, run: Run, tmp_path: Path) -> None:
    log, (command, *words) = CASES[what](tmp_path)
    code, told = run(log, command, False, *words)
    assert code in (8, 12)
    assert any(secret in told for secret in SECRETS)
    code_then, hidden = run(log, command, True, *words)
    assert code_then == code
    assert SAYS[what] in hidden
    assert not [secret for secret in SECRETS if secret in hidden]


@pytest.mark.parametrize("command", ["redo", "undo", "migrate"])
def test_keys_and_what_refers_to_them_get_one_mask(command: str, run: Run, tmp_path: Path) -> None:
    log = LogBuilder((EMP,))
    log.unit().insert(EMP, (1, None, "1.00", "a"))
    (tmp_path / "map.toml").write_text('[tables."TESTOWN.EMP"]\nmask = ["ID"]\n')
    code, said = run(log, command, True)
    assert code == 12
    assert "LR1011" in said
    assert "TESTOWN.EMP.BOSS not masked" in said
