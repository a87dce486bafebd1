"""Ask whether weaknesses of the tested versions (constraints.txt) are known:

    scripts/run audit

Exit code: 0 none is known, or nobody could be asked (which is said), 8 some are. An index of
packages need not know of weaknesses, and then knows of none: what it was not asked about counts as
not asked, and not as good.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from package import CONSTRAINTS, environment

NOBODY = "no index answered: whether weaknesses of the tested versions are known was not asked"


def judged(output: str) -> tuple[int, list[str]]:
    """(exit code, lines) of what pip-audit wrote as JSON."""
    try:
        entries: list[dict[str, Any]] = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return 0, [NOBODY]
    asked = [entry for entry in entries if "skip_reason" not in entry]
    skipped = len(entries) - len(asked)
    if not asked:
        return 0, [NOBODY]
    lines = [
        f"{entry['name']} {entry['version']}: {weakness['id']}"
        f" (mended in {', '.join(weakness['fix_versions']) or 'no version'})"
        for entry in asked
        for weakness in entry["vulns"]
    ]
    summary = f"{len(asked)} packages asked about, {len(lines)} known weaknesses"
    if skipped:
        summary += f"; {skipped} that the index does not know of were not asked about"
    return 8 if lines else 0, [*lines, summary]


def audited(python: Path, *what: str | Path) -> tuple[int, list[str]]:
    """:func:`judged` of what pip-audit says of ``what``; ``python`` has it beside it."""
    command = [str(python.parent / "pip-audit"), *map(str, what), "--format", "json"]
    done = subprocess.run(
        [*command, "--progress-spinner", "off"], capture_output=True, text=True, check=False
    )
    return judged(done.stdout)


def main() -> int:
    """Ask, and print what was said."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            python = environment(Path(folder) / "tools", "pip-audit")
        except subprocess.CalledProcessError:
            print(f"{NOBODY} (pip-audit cannot be installed)")
            return 0
        code, lines = audited(python, "--no-deps", "--disable-pip", "-r", CONSTRAINTS)
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
