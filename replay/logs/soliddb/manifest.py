"""The manifest that comes with a solidDB log (section 14), and names of character sets."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from replay.errors import InputError, UsageError, Where, cause_of
from replay.logs.soliddb import layouts
from replay.storage import Place

#: Names of character sets as settings take them, beside CCSIDs.
CHARSETS = {
    "utf-8": 1208, "utf8": 1208, "latin-1": 819, "iso8859-1": 819, "iso8859-2": 912,
    "iso8859-5": 915, "iso8859-7": 813, "iso8859-9": 920,
    "iso8859-15": 923, "ascii": 367, "cp1250": 5346, "cp1251": 5347, "cp1252": 5348, "cp437": 437,
    "cp850": 850, "cp932": 943,
}  # fmt: skip


@dataclass(frozen=True)
class Manifest:
    """What a manifest says; all of it optional. ``sessions``: start and last commit of each read
    session, as bytes, and what ended it; ``dropped``: of tables that were dropped since their lines
    were read, by id, at which commit that was."""

    charset: str | None = None
    sessions: tuple[Mapping[str, Any], ...] = ()
    metadata_at: bytes | None = None
    dropped: Mapping[int, bytes] = field(default_factory=dict)
    framing: str | None = None
    columns: str | None = None
    capture_off: str | None = None
    batch_size: int = 1
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    partition: str | None = None
    version: str | None = None
    path: str | None = None


def charset_number(text: str) -> int | None:
    """The CCSID of a character set by name, in any usual spelling, or number; None for a name that
    is not known."""
    name = text.strip().lower().replace("_", "-").replace("iso-", "iso")
    if name in CHARSETS or name.isdigit():
        return CHARSETS[name] if name in CHARSETS else int(name)
    try:
        return CHARSETS.get(codecs.lookup(name).name)
    except LookupError:
        return None


def read_manifest(folder: Place) -> Manifest:
    """The manifest in a catalog folder or, where the folder is ``meta``, beside it. InputError
    LR2031 for one that cannot be used, UsageError LR1001 for an encoding that is none."""
    places = [folder, folder.parent] if folder.name == "meta" else [folder]
    path = next(
        (place / "manifest.json" for place in places if (place / "manifest.json").is_file()), None
    )
    if path is None:
        return Manifest()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            "LR2031",
            f"the manifest cannot be read: {cause_of(error)}",
            Where(str(path)),
            "Write it again",
        ) from None
    if not isinstance(content, dict):
        raise _unusable(str(path), "a manifest that is no JSON object", "one")
    sessions = content.get("sessions") or []
    keys = content.get("primary_keys") or {}
    if (
        not isinstance(sessions, list)
        or not all(isinstance(entry, dict) for entry in sessions)
        or not isinstance(keys, dict)
    ):
        expected = "a list of objects as sessions, and an object as primary_keys"
        raise _unusable(str(path), "something else", expected)
    batch = content.get("batch_size") or content.get("transaction_batch_size") or 1
    if not str(batch).isdigit():
        raise _unusable(str(path), f"batch_size {batch!r}", "a number")
    words = {
        name: _word(str(path), name, content.get(name))
        for name in ("framing", "column_list", "capture_off")
    }
    return Manifest(
        charset=_charset(content.get("char_encoding"))
        or _word(str(path), "charset", content.get("charset")),
        sessions=tuple(_session(str(path), entry) for entry in sessions),
        metadata_at=_address(str(path), "metadata_logaddr", content.get("metadata_logaddr")),
        dropped=_dropped(str(path), content.get("dropped_tables") or {}),
        framing=words["framing"],
        columns=words["column_list"],
        capture_off=words["capture_off"],
        batch_size=int(batch),
        keys={
            str(name).upper(): (each,) if isinstance(each, str) else tuple(map(str, each or ()))
            for name, each in keys.items()
        },
        partition=content.get("partition"),
        version=content.get("product_version"),
        path=str(path),
    )


def _unusable(path: str, found: str, expected: str) -> InputError:
    return InputError(
        "LR2031", f"found {found}; expected {expected}", Where(path), "Write it again"
    )


def _word(path: str, name: str, value: Any) -> str | None:
    """A setting of the manifest; None where it has none, or leaves it to be found out
    (``auto``)."""
    if value is not None and not isinstance(value, str):
        raise _unusable(path, f"{name} {value!r}", "a name")
    return None if value in (None, "", "auto") else value


def _charset(value: Any) -> str | None:
    """``UTF8``, or ``Raw`` with the name of the character set (``Raw:latin-1``, or an object);
    ``Raw`` alone says nothing. UsageError LR1001 else."""
    if isinstance(value, dict):
        return _charset(f"{value.get('mode') or 'Raw'}:{value.get('charset') or ''}".rstrip(":"))
    mode, _, name = str(value or "Raw").partition(":")
    if mode.strip().upper() in ("UTF8", "UTF-8"):
        return "utf-8"
    if mode.strip().upper() != "RAW":
        expected = "expected UTF8, Raw:NAME, or Raw and the name as charset in the manifest"
        raise UsageError(
            "LR1001",
            f"found char_encoding {value!r}; {expected}",
            hint=f"Names are: {', '.join(CHARSETS)}; or a CCSID",
        )
    return name.strip() or None


def _session(path: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    places = {
        name: _address(path, name, entry.get(name))
        for name in ("start_logaddr", "last_commit_logaddr")
    }
    return {**places, "ended_by": str(entry.get("ended_by") or "")}


def _dropped(path: str, entries: Any) -> dict[int, bytes]:
    found = {}
    for relid, value in entries.items() if isinstance(entries, dict) else [("", entries)]:
        at = _address(path, "dropped_tables", value)
        if at is None or not str(relid).isdigit():
            expected = "an object, ids with a LOGADDR each"
            raise _unusable(path, f"dropped_tables {entries!r}", expected)
        found[int(relid)] = at
    return found


def _address(path: str, name: str, value: Any) -> bytes | None:
    if not value:
        return None
    digits = str(value).upper().removeprefix("X'").removesuffix("'").removeprefix("0X")
    try:
        raw = bytes.fromhex(digits)
    except ValueError:
        raw = b""
    if len(raw) not in layouts.ADDRESS_SIZES:
        raise _unusable(path, f"{name} {value!r}", "40 or 56 hexadecimal digits")
    return raw
