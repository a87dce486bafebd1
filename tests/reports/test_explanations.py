"""Every code has an explanation that a person can follow, and messages say how to look further."""

from __future__ import annotations

import re

import pytest

from replay.cli.main import main
from replay.errors import CODES
from replay.reports.explanations import EXPLANATIONS


def test_every_code_is_explained() -> None:
    assert list(EXPLANATIONS) == list(CODES)
    for code, parts in EXPLANATIONS.items():
        for text in parts:
            assert len(text) > 20, code
            assert text.endswith((".", "?", '".')), code


def test_commands_and_options_that_explanations_name_exist(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = " ".join(part for parts in EXPLANATIONS.values() for part in parts)
    shown = ""
    for command in sorted(
        {*re.findall(r"logreplay ([a-z]+) ", text), "redo", "undo", "replay"} - {"explain"}
    ):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        shown += capsys.readouterr().out
    for option in set(re.findall(r"--[a-z-]+", text)):
        assert option in shown, option


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "LR2011"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("LR2011  a data record names a table that the control file does not")
    assert "What to do:" in text
    assert main(["explain", "lr2011", "3010"]) == 0
    assert "LR3010" in capsys.readouterr().out
    assert main(["explain"]) == 0
    assert capsys.readouterr().out.count("\n") == len(CODES)
    assert main(["explain", "LR9999"]) == 12
    assert "LR1001 found LR9999" in capsys.readouterr().err
