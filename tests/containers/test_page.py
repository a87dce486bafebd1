"""The page about a log in a browser: Debian's Chromium, without a window."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from replay.cli.main import main


@pytest.mark.parametrize("size", ["1200,900", "400,800"])
def test_the_page_draws_and_breaks_no_rule_of_its_own(
    browser: str, sakila_small: Path, tmp_path: Path, size: str
) -> None:
    out = tmp_path / "page.html"
    files = ["--control", str(sakila_small / "small.ctl")]
    files += ["--data", str(sakila_small / "small.dat"), "--schema", "none"]
    assert main(["report", "page", *files, "--out", str(out)]) == 0
    run = subprocess.run(
        [
            browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={size}",
            f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000",
            "--enable-logging=stderr", "--dump-dom", out.as_uri(),
        ],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert not re.findall(r"CONSOLE.*", run.stderr)
    body = run.stdout.rpartition("</script>")[0]
    assert "40 of 40 units, 299 changes" in body
    assert "<canvas" in body
    assert len(re.findall(r'role="option"', body)) > 5
    assert re.search(r"logreplay undo --control \S+ --data \S+ .*--ur [0-9A-F]{20}/\d", body)
