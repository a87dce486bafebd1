"""Brings the files of others that pages carry: fetched as npm packages, held to the digests below,
and written with their licences to replay/reports/vendored.

scripts/run python scripts/vendor.py            fetch and write
scripts/run python scripts/vendor.py --check    compare with what is there; fetches nothing
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "replay" / "reports" / "vendored"
#: Package and version, and the digest of its archive as the registry states it.
PACKAGE = "uplot@1.6.32"
INTEGRITY = (
    "sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6I"
    "KTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw=="
)
#: File here -> (file of the package, SHA-256).
FILES = {
    "uPlot.iife.min.js": (
        "package/dist/uPlot.iife.min.js",
        "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    ),
    "uPlot.min.css": (
        "package/dist/uPlot.min.css",
        "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    ),
    "uPlot.LICENSE": (
        "package/LICENSE",
        "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    ),
}


def changed() -> list[str]:
    """The files that are not there as they should be."""
    return [
        name
        for name, (_, digest) in FILES.items()
        if not (FOLDER / name).is_file()
        or hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() != digest
    ]


def fetch() -> None:
    """Write the files of the package. SystemExit where its archive or a file is another one."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True)
        (archive,) = Path(folder).glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if f"sha512-{digest}" != INTEGRITY:
            sys.exit(f"found an archive of {PACKAGE} with sha512-{digest}; expected {INTEGRITY}")
        FOLDER.mkdir(exist_ok=True)
        with tarfile.open(archive) as files:
            for name, (inside, _) in FILES.items():
                content = files.extractfile(inside)
                assert content is not None, inside
                (FOLDER / name).write_bytes(content.read())
    if changed():
        sys.exit(f"found other files in {PACKAGE} than expected: {', '.join(changed())}")


def main() -> None:
    """Fetch, or compare."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--check", action="store_true", help="compare; fetch nothing")
    if not parser.parse_args().check:
        fetch()
    if changed():
        sys.exit(f"found {', '.join(changed())} changed or missing; run scripts/vendor.py")


if __name__ == "__main__":
    main()
