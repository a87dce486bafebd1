"""How large the house is: lines and files of each folder at most, as ``ledger.toml`` says.

``scripts/run python tests/test_ledger.py`` writes the table anew."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_name("ledger.toml")
#: A folder's figure is that of its lines, rounded up to so many: small changes leave it alone.
STEP = 100
#: So much below its figure, in lines, a folder's figure is lowered.
BELOW = 0.03


def figures(root: Path = ROOT) -> dict[str, list[int]]:
    """Folder -> lines and files of Python: each folder of the product, and those in ``tests``."""
    lines, files = Counter[str](), Counter[str]()
    for top in ("replay", "sqlgen", "tests"):
        for path in sorted((root / top).rglob("*.py")):
            folder = path.parent.relative_to(root)
            name = "/".join(folder.parts[: 2 if top == "tests" else None])
            lines[name] += len(path.read_text(encoding="utf-8").splitlines())
            files[name] += 1
    return {name: [lines[name], files[name]] for name in sorted(lines)}


def wrong(allowed: dict[str, list[int]], found: dict[str, list[int]]) -> list[str]:
    """What is to be done about folders that differ from their figures."""
    problems = []
    for name in sorted({*allowed, *found}):
        (most, most_files), (lines, files) = allowed.get(name, [0, 0]), found.get(name, [0, 0])
        said = f"{name}: {lines:,} lines in {files} files; allowed are {most:,} in {most_files}"
        if lines > most or files > most_files:
            problems.append(f"{said}: take something away, or argue for the figure in the commit")
        elif lines < most * (1 - BELOW) - STEP or files < most_files * (1 - BELOW):
            problems.append(f"{said}: lower the figure")
    return problems


def test_no_folder_grows_and_figures_follow_down() -> None:
    problems = wrong(tomllib.loads(TABLE.read_text(encoding="utf-8")), figures())
    assert not problems, "\n".join([*problems, "scripts/run python tests/test_ledger.py does it"])


def test_more_and_much_less_are_both_wrong() -> None:
    allowed = {"a": [1000, 2]}
    assert wrong(allowed, {"a": [870, 2]}) == []
    assert "take something away" in wrong(allowed, {"a": [1001, 2]})[0]
    assert "take something away" in wrong(allowed, {"a": [1000, 2], "b": [1, 1]})[0]
    assert "lower the figure" in wrong(allowed, {"a": [869, 2]})[0]
    assert "lower the figure" in wrong(allowed, {"a": [1000, 1]})[0]
    assert "lower the figure" in wrong(allowed, {})[0]


if __name__ == "__main__":
    TABLE.write_text(
        "".join(
            f'"{name}" = {[-(-lines // STEP) * STEP, files]}\n'
            for name, (lines, files) in figures().items()
        ),
        encoding="utf-8",
    )
