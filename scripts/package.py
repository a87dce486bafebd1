"""Build sdist and wheel and prove what is said of them, in environments of their own:

1. built twice, from two folders, under another umask and time zone, they have the same bytes;
2. the wheel, alone in a clean environment with the tested versions, passes pip's check and runs;
3. ``sbom.json`` (CycloneDX) and ``licences.csv`` list what an environment with all extras holds,
   ``sbom-base.json`` and ``licences-base.csv`` the one without;
4. known weaknesses of it are asked for where an index answers, and are told, not decided about.

    scripts/run package [folder]        (default: dist)
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
#: Folders that are made, not kept.
MADE = {".git", ".venv", "dist", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
TOOLS = ("build", "hatchling", "cyclonedx-bom", "pip-licenses", "pip-audit")
BUILDS = ({"TZ": "UTC"}, {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "1"})


def run(*words: str | Path, **more: str) -> None:
    """Run a command; the script ends where it fails."""
    print("$", *words, flush=True)
    subprocess.run([str(word) for word in words], check=True, env={**os.environ, **more})


def environment(folder: Path, *packages: str | Path) -> Path:
    """The Python of a new environment with some packages, in the tested versions."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "-c", CONSTRAINTS, *packages)
    return python


def copied(folder: Path) -> Path:
    """The files that git knows, as they are now; all but what is made here where git knows none."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z"], check=False, capture_output=True, text=True
    )
    names = list(filter(None, listed.stdout.split("\0")))
    if listed.returncode or not names:
        paths = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        names = [str(path) for path in paths if not MADE & set(path.parts)]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


def digests(folder: Path) -> dict[str, str]:
    """File -> SHA-256."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def built(python: Path, work: Path) -> dict[str, Path]:
    """sdist and wheel, built twice. SystemExit where they differ."""
    builds = []
    for number, settings in enumerate(BUILDS):
        before = os.umask((0o022, 0o077)[number])
        try:
            source, out = copied(work / f"source{number}"), work / f"built{number}"
            run(python, "-m", "build", "--no-isolation", "--outdir", out, source, **settings)
        finally:
            os.umask(before)
        builds.append(digests(out))
    if builds[0] != builds[1]:
        raise SystemExit(f"the builds differ: {builds[0]} {builds[1]}")
    for name, digest in builds[0].items():
        print(f"{digest}  {name}")
    return {path.suffix: path for path in (work / "built0").iterdir()}


def main(target: Path) -> int:
    """Build, check and describe; what was built lies in ``target``."""
    from audit import audited

    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tools = environment(work / "tools", *TOOLS)
        files = built(tools, work)
        clean = environment(work / "clean", files[".whl"])
        run(clean, "-m", "pip", "check")
        run(work / "clean" / "bin" / "logreplay", "--version")
        bin_of = tools.parent
        whole = environment(work / "whole", f"{files['.whl']}[all]")
        run(whole, "-m", "pip", "check")
        for python, name in ((clean, "-base"), (whole, "")):
            run(bin_of / "cyclonedx-py", "environment", python, "--output-reproducible",
                "--output-file", target / f"sbom{name}.json")  # fmt: skip
            run(bin_of / "pip-licenses", "--python", python, "--format", "csv", "--with-urls",
                "--output-file", target / f"licences{name}.csv")  # fmt: skip
        site = next((work / "whole" / "lib").glob("python*/site-packages"))
        print("\n".join(audited(tools, "--path", site)[1]))
        for path in files.values():
            shutil.copyfile(path, target / path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist").absolute()))
