"""Input that is no use is told of in words: the file, what it is, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.cli import main
from replay.output.whole_folder import whole_folder


def _said(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """What a command says that cannot use what it was given (exit code 12)."""
    assert main.main([str(word) for word in words]) == 12
    return capsys.readouterr().err


def _files(log: Path) -> list[str]:
    return ["--control", str(log / "small.ctl"), "--data", str(log / "small.dat")]


def _redo(log: Path, tmp_path: Path) -> list[str]:
    return ["redo", *_files(log), "--engine", "local", "--out", str(tmp_path / "out")]


@pytest.mark.parametrize(
    ("option", "holds", "expected"),
    [
        ("--schema", None, "the file cannot be read: No such file or directory\n"),
        ("--schema", b"t\xfcr", "line 1 of the schema is no UTF-8, and a name depends on it"),
        ("--mapping", b"# M\xfcller", "found X'FC' at offset 3; expected text in UTF-8\n"),
        ("--mapping", b"x = [", "the mapping is not TOML: Invalid value (at end of document)\n"),
        ("--mapping", b"[zzz]", "found [zzz]; expected one of: schemas, tables."),
        ("--config", b"\xff", "found X'FF' at offset 0; expected text in UTF-8; expected TOML\n"),
        ("--baseline", None, "the state folder cannot be read: No such file or directory\n"),
        ("--after", b"hello", "found no JSON at line 1, column 1; expected it\n"),
        ("--after", None, "the manifest cannot be read: No such file or directory\n"),
    ],
)
def test_a_file_that_is_no_use(
    sakila_small: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    option: str,
    holds: bytes | None,
    expected: str,
) -> None:
    file = tmp_path / "file"
    if holds is not None:
        file.write_bytes(holds)
    said = _said(capsys, *_redo(sakila_small, tmp_path), option, file)
    assert f" {file}: " in said
    assert expected in said
    assert "Errno" not in said
    assert said.count(str(file)) == 1


@pytest.mark.usefixtures("as_a_user")
def test_files_of_another_family(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _said(capsys, "redo", "--log", sakila_small / "small.dat", "--out", tmp_path / "out")
    assert said == (
        "logreplay: LR1001 found --log with --source logmaster; expected --control and --data. Logs"
        " of other families need their --source\n"
    )


def test_a_database_that_should_be_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shop.db").touch()
    words = ["verify", "--to", f"sqlite:///{tmp_path / 'shop.db'}"]
    words += ["--expected", "postgresql://app@host/shop"]
    assert "Export the rows of the database: TABLE.csv" in _said(capsys, *words)


def test_an_output_whose_name_is_a_slip(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A word like an option is no output; a folder above it that was not there is named, and goes
    with a run that fails."""
    for option in ("--out=-x", "--also=undo:--overwrite"):
        with pytest.raises(SystemExit):
            main.main([*_redo(sakila_small, tmp_path), option])
        assert "expected a file or folder (./-" in capsys.readouterr().err
    words = [*_files(sakila_small), "--out", str(tmp_path / "nihgts" / "a" / "out")]
    note = f"note: found no folder {tmp_path / 'nihgts' / 'a'}; it will be made\n"
    with pytest.raises(EOFError), whole_folder(Path(words[-1]), overwrite=False):
        raise EOFError
    assert list(tmp_path.iterdir()) == []
    assert main.main(["redo", *words]) == 0
    assert note in capsys.readouterr().err
    assert main.main(["redo", *words, "--overwrite"]) == 0
    assert note not in capsys.readouterr().err
