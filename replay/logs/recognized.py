"""What files are, by their content: which of some files, folders and globs that a user names are
the log, of which family it is, and what is beside it and no part of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from replay import storage
from replay.errors import InputError, UsageError
from replay.logs.files import unpacked_head
from replay.logs.named import MARKS_BESIDE, counts, expanded, fitting, is_control, natural
from sqlgen.errors import did_you_mean

#: Bytes of a file that are looked at.
_LOOK = 1 << 16
#: Lines of JSON of which one is an event at least, where a file has events.
_EVENTS = 20
_CSV_OF_DB2 = frozenset({"TBSPACEID", "TABLEID", "TABSCHEMA", "TABNAME", "COLNAME"})
_ROWS_OF_SOLID = frozenset({"RECID", "RELID", "LOGADDR", "DATA"})
_DDL = re.compile(r"\bCREATE\s+(?:\w+\s+)?TABLE\b", re.IGNORECASE)
_LOAD = re.compile(r"\bLOAD\s+DATA\b", re.IGNORECASE)
#: What a text that is none of these is called.
_OTHER = "not known"
#: The family of files of a kind.
_FAMILY = {
    "control": "logmaster",
    "data": "logmaster",
    "load control": "logmaster-load",
    "db2 log": "db2luw",
    "db2 catalog": "db2luw",
    "solid rows": "soliddb",
    "events": "events",
}


@dataclass(frozen=True)
class Recognized:
    """The log that some words name, as the options that would name it; ``strays``: files that are
    no part of it; ``schemas``: files of DDL among those beside it."""

    source: str
    in_turn: tuple[tuple[str, tuple[str, ...]], ...] = ()
    log: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    catalog: str | None = None
    strays: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()


def recognized(words: Iterable[str], source: str | None = None) -> Recognized:
    """The log that files, folders, globs and URLs name, in any order; ``source``: its family, where
    it is known. UsageError LR1004 where there is none, LR1001 where there are several families."""
    names = expanded(words)
    lists = tuple(name for name in names if name.lower().endswith(".toml"))
    if lists and len(lists) == len(names):
        return Recognized(source or "logmaster", logs=lists)
    kinds: dict[str, str] = {}
    for name in names:
        if storage.at(name).is_dir():
            inside = [str(file.place) for file in storage.files_in(storage.at(name))]
            kinds |= {path: kind_of(path) for path in sorted(inside, key=natural)}
        elif not storage.is_url(name) and not os.path.exists(name):
            folder, wanted = os.path.split(name)
            there = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
            meant = did_you_mean(wanted, there)
            raise UsageError(
                "LR1004", f"found no file or folder {name}; expected a log there{meant}"
            )
        else:
            kinds[name] = kind_of(name)
    families = {_FAMILY[kind] for kind in kinds.values() if kind in _FAMILY}
    if source is not None:
        families = {source}
    if not families:
        raise _no_log(kinds, list(names))
    if len(families) > 1:
        shown = ", ".join(f"{path}: {kind}" for path, kind in kinds.items() if kind in _FAMILY)
        raise UsageError(
            "LR1001",
            f"found files of {len(families)} log families ({shown}); expected those of one log",
            hint="Name the files of one log, or its family with --source",
        )
    (family,) = families
    by_kind = {
        wanted: [path for path, kind in kinds.items() if kind == wanted]
        for wanted in {*kinds.values(), *_FAMILY, "ddl", "rows", _OTHER, "empty"}
    }
    found = _of_family(family, by_kind, names)
    taken = {*found.log, *found.logs, found.catalog, *(p for _, ps in found.in_turn for p in ps)}
    if family == "soliddb" and found.catalog:  # with the character set, beside the catalog
        taken.add(os.path.join(found.catalog, "manifest.json"))
    strays = [path for path in kinds if path not in taken and not _passed_over(path)]
    beside = dict.fromkeys(by_kind["ddl"])
    return Recognized(
        family,
        found.in_turn,
        found.log,
        found.logs,
        found.catalog,
        tuple(strays),
        tuple(path for path in beside if path not in taken),
    )


def _of_family(family: str, kinds: dict[str, list[str]], words: Sequence[str]) -> Recognized:
    if family == "logmaster":
        return _log_master(kinds, words)
    if family == "logmaster-load":
        texts = sorted((*kinds["rows"], *kinds[_OTHER]), key=natural)
        data = [path for path in texts if counts(os.path.basename(path))]
        control = tuple(kinds["load control"][:1])
        catalog = next(iter(kinds["ddl"]), None)
        return Recognized(family, (("control", control), ("data", tuple(data))), catalog=catalog)
    if family == "db2luw":
        catalog = next(iter(kinds["db2 catalog"]), None)
        return Recognized(family, log=tuple(kinds["db2 log"]), catalog=catalog)
    if family == "events":
        return Recognized(family, log=tuple(kinds["events"]))
    log = tuple(kinds["solid rows"])
    if family == "soliddb" and log:
        folder = os.path.dirname(log[0]) or "."
        return Recognized(family, log=log, catalog=folder)
    every = tuple(path for paths in kinds.values() for path in paths)
    return Recognized(family, log=every)  # an installed one, which nothing is known of


def _log_master(kinds: dict[str, list[str]], words: Sequence[str]) -> Recognized:
    """Control and data files. Where one of the two is named alone, the other is what is named like
    it beside it; an empty file that is one of the ``words`` is data."""
    controls, data = kinds["control"], kinds["data"]
    if controls:
        named = fitting(controls, kinds["empty"])
        data = [*data, *(path for paths in named.values() for path in paths)]
        data = data or [path for path in kinds["empty"] if path in words]
    if not data:
        return Recognized("logmaster", logs=tuple(controls))
    if not controls:
        for path in data:
            folder = storage.at(path).parent
            beside = [str(file.place) for file in storage.files_in(folder)]
            near = [name for name in beside if is_control(name)]
            controls += [name for name, files in fitting(near, [str(path)]).items() if files]
        if not controls:
            raise UsageError(
                "LR1001",
                f"found the data file {data[0]} and no control file of that name beside it;"
                " expected both",
                hint="Name the control file too: logreplay COMMAND C D",
            )
    given = dict.fromkeys(controls)
    return Recognized("logmaster", (("control", tuple(given)), ("data", tuple(data))))


def _passed_over(path: str) -> bool:
    """Whether nobody wants to know that a file is no part of a log."""
    name = os.path.basename(path)
    return name.startswith(".") or name in (MARKS_BESIDE, "logreplay.toml")


def _no_log(kinds: dict[str, str], names: Sequence[str]) -> UsageError:
    shown = ", ".join(f"{path} ({kind})" for path, kind in list(kinds.items())[:5])
    return UsageError(
        "LR1004",
        f"found no log in {', '.join(names)}" + (f": {shown}" if shown else "") + "; expected a"
        " control file of Log Master, log files of Db2, rows of solidDB's log or events",
        hint=_deeper(names)
        or "Name the family with --source where it is one: its files are taken as they are",
    )


def _deeper(names: Sequence[str]) -> str:
    """What is to be said of folders in which there are others."""
    for name in names:
        if not storage.is_url(name) and os.path.isdir(name):
            with os.scandir(name) as entries:
                inner = sorted(entry.name for entry in entries if entry.is_dir())
            if inner:
                some = os.path.join(name, inner[0])
                return f"Folders in a folder are not read: name one of them, such as {some}"
    return ""


def kind_of(path: str) -> str:
    """What a file is, by how it begins."""
    if is_control(path):
        return "control"
    try:
        first = unpacked_head(path, _LOOK)
    except (InputError, OSError, EOFError):
        return _OTHER
    if not first:
        return "empty"
    if first.startswith(b"PAR1"):
        return _of_columns(_parquet_columns(path))
    text = _text(first)
    return _of_bytes(path, first) if text is None else _of_text(text)


def _text(first: bytes) -> str | None:
    """A beginning as text; None for what is none."""
    cut = first.rpartition(b"\n")[0] or first
    for code_page in ("utf-8-sig", "cp037"):
        try:
            text = cut.decode(code_page)
        except UnicodeDecodeError:
            continue
        if all(letter.isprintable() or letter in "\r\n\t\x85" for letter in text):
            return text
    return None


def _of_text(text: str) -> str:
    line = text.partition("\n")[0].strip()
    if line.startswith("{"):
        from replay.logs.events.lines import is_event

        if any(map(is_event, text.split("\n")[:_EVENTS])):
            return "events"
        try:
            return _of_columns(json.loads(line))
        except ValueError:
            return _OTHER
    if _LOAD.search(text):
        return "load control"
    if _DDL.search(text):
        return "ddl"
    return _of_columns(re.split(r"[,;|\t]", line))


def _of_columns(names: Iterable[str]) -> str:
    found = {str(name).strip().strip('"').upper() for name in names}
    if found >= _CSV_OF_DB2:
        return "db2 catalog"
    return "solid rows" if found >= _ROWS_OF_SOLID else "rows" if len(found) > 1 else _OTHER


def _parquet_columns(path: str) -> Sequence[str]:
    from pyarrow import parquet

    with storage.opened(path) as file:
        return list(parquet.read_schema(file).names)


def _of_bytes(path: str, first: bytes) -> str:
    if first.startswith((b"B", b"S", b"b")):  # pgoutput's reader is loaded where it may be one only
        from replay.logs.pgoutput.framing import is_pgoutput

        if is_pgoutput(first):
            return "events"
    from replay.logs.db2luw.framing import fitting_shapes
    from replay.logs.logmaster.framing import is_data

    if is_data(first):
        return "data"
    try:
        fitting_shapes(first, max(len(first), storage.size_of(path)), path, None, None, None)
    except InputError:
        return _OTHER
    return "db2 log"
