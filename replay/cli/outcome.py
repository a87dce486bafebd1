"""What commands say of what they wrote, and where they write it."""

from __future__ import annotations

import sys
from pathlib import Path

from replay.changes.balance import SHOWN, balance_text
from replay.errors import UsageError
from replay.output.bundle import Bundle


def tell_notes(notes: tuple[str, ...]) -> None:
    """Say what a user may want to know beforehand."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def is_printed(out: Path | None) -> bool:
    """Whether an output goes to standard output: ``--out -``."""
    return out is not None and str(out) == "-"


def check_file(path: Path | None, overwrite: bool) -> None:
    """Refuse an output that is there, unless it may be overwritten (:class:`UsageError`)."""
    if path is not None and not is_printed(path) and path.exists() and not overwrite:
        raise UsageError("LR1002", f"{path} exists", hint="Name another file, or use --overwrite")


def tell_bundle(bundle: Bundle, out: Path | None = None, *, stays: bool = True) -> None:
    """Print what became of every record: findings, units that were set aside, the balance sheet;
    and where the files are, if they stay. ``out``: their folder, if it is not the bundle's."""
    for finding in bundle.contents["findings"]["shown"][:20]:
        print(finding)
    if bundle.contents["findings"]["count"] > 20:
        print(
            f"… {bundle.contents['findings']['count'] - 20} more findings; manifest.json shows up"
            " to 1,000"
        )
    for unit in bundle.contents["quarantined_units"][:20]:
        print(f"quarantined: unit {unit['unit']}: {unit['reason']}")
    if (more := len(bundle.tally.quarantined_units) - 20) > 0:
        print(f"… {more} more quarantined units; manifest.json names up to {SHOWN:,}")
    exported = bundle.contents["mode"] == "export"
    print(balance_text(bundle.tally, "changes" if exported else "statements"))
    if stays:
        parts, what = ("datasets", "dataset") if exported else ("scripts", "script")
        files = f"{len(bundle.contents[parts])} {what}(s) and manifest.json"
        print(f"{files} in {out or bundle.folder}")
