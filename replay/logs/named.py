"""The logs that a user names by files, folders, globs, URLs and lists of logs: pairs of control and
data files told apart, which files are the log by their content, of which family it is, and what is
beside it and no part of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path
from typing import Any

from replay import storage
from replay.changes.notation import position_of
from replay.changes.position import Position
from replay.errors import InputError, UsageError, Where, cause_of
from replay.logs import Family, Inputs, LogPair
from replay.logs.files import unpacked_head
from replay.storage import Place
from sqlgen.errors import did_you_mean
from sqlgen.lazy_imports import when_used

with when_used():
    import tomllib

#: Options as they were given: which (``control`` or ``data``), and its values.
Words = Sequence[tuple[str, Sequence[str]]]
#: A path, or several.
Paths = str | Path | Sequence[str | Path]

#: The file of the marks of a log, beside its first data file.
MARKS_BESIDE = "logreplay-marks.jsonl"
_XTYP = "XTYP".encode("cp037")
#: Where the first record of a control file may begin (format notes, section 2.2).
_LEADS = (0, 3, 4, 8)
#: How the names of lists, markers, notes, checksums and DDL end.
_NO_LOG = (
    *(".toml", ".done", ".part", ".tmp", ".md", ".json", ".txt", ".sql"),
    *(".md5", ".sha1", ".sha256", ".sha512"),
)
#: What may follow the name of a control file in those of its data files.
_NUMBERED = re.compile(r"[-_.]?(?:part)?[-_.]?\d*", re.IGNORECASE)
_PAIRS = "Give each control file with its data: --control C --data D --control C --data D …"


@dataclass(frozen=True)
class NamedLogs:
    """What was named: logs with control files, or (``log``) files of another family."""

    pairs: tuple[LogPair, ...] = ()
    log: tuple[str, ...] = ()


def paired(words: Words) -> tuple[LogPair, ...]:
    """Control files with their data files: as they follow each other; else as many of one as of
    the other, one by one; else by their names. UsageError (LR1001) where that is ambiguous."""
    given = [(option, expanded(files)) for option, files in words]
    controls = [path for option, files in given if option == "control" for path in files]
    groups = [files for option, files in given if option == "data"]
    data = [path for files in groups for path in files]
    if len(controls) <= 1:
        return tuple(LogPair(control, tuple(data)) for control in controls)
    in_turn = _in_turn(given)
    if in_turn is None and len(groups) == len(controls):
        in_turn = [LogPair(control, tuple(files)) for control, files in
                   zip(controls, groups, strict=True)]  # fmt: skip
    pairs = in_turn or _by_name(controls, data)
    if pairs is None and len(data) == len(controls):
        pairs = [LogPair(control, (path,)) for control, path in zip(controls, data, strict=True)]
    if pairs is None:
        raise UsageError(
            "LR1001",
            f"found {len(controls)} control files and {len(data)} data files whose names do not"
            " tell which belong together; expected pairs",
            hint=_PAIRS,
        )
    return _together(pairs)


def _in_turn(given: Words) -> list[LogPair] | None:
    """Pairs of a control file and the data files behind it; None where there are others."""
    pairs: list[LogPair] = []
    for option, files in given:
        if option == "control":
            if len(files) != 1 or (pairs and not pairs[-1].data):
                return None
            pairs.append(LogPair(files[0]))
        elif not pairs:
            return None
        else:
            pairs[-1] = replace(pairs[-1], data=(*pairs[-1].data, *files))
    return pairs if pairs and pairs[-1].data else None


def _by_name(controls: Sequence[str], data: Sequence[str]) -> list[LogPair] | None:
    """Pairs by names: of the control files in the folder of a data file (or, where none fits, in
    any), the one with the longest name that its name begins with."""
    found = fitting(controls, data)
    if not all(found.values()) or sum(map(len, found.values())) != len(data):
        return None
    return [LogPair(control, tuple(files)) for control, files in found.items()]


def fitting(controls: Sequence[str], data: Sequence[str]) -> dict[str, list[str]]:
    """Of each control file, the data files whose names fit it and no other one as well."""
    stems: dict[str, list[tuple[int, str]]] = {}
    for number, control in enumerate(controls):
        stems.setdefault(_stem(control), []).append((number, os.path.dirname(control)))
    found: dict[str, list[str]] = {control: [] for control in controls}
    for path in data:
        place = _fit(path, stems)
        if place is not None:
            found[controls[place]].append(path)
    return found


def _fit(path: str, stems: Mapping[str, Sequence[tuple[int, str]]]) -> int | None:
    """The place of the control file that a data file fits by its name; None where none or several
    do. ``stems``: the places and folders of control files by their stems, so that it costs the same
    among ten thousand."""
    folder, stem = os.path.dirname(path), _stem(path)
    fits = [
        (place, mine, size)
        for size in range(len(stem) + 1)
        if stem[:size] in stems and _NUMBERED.fullmatch(stem[size:])
        for place, mine in stems[stem[:size]]
    ]
    near = [(place, size) for place, mine, size in fits if mine == folder]
    near = near or [(place, size) for place, _, size in fits]
    longest = max((size for _, size in near), default=0)
    best = [place for place, size in near if size == longest]
    return best[0] if len(best) == 1 else None


def _stem(path: str) -> str:
    """The name of a file without what is behind its first dot (but for a first one)."""
    name = os.path.basename(path)
    return name[: name.find(".", 1)] if "." in name[1:] else name


def gathered(family: Family, words: Words, logs: Sequence[str], inputs: Inputs) -> Inputs:
    """The inputs with the files that a user named: control and data files, and what ``--logs``
    lists. Errors as :func:`paired` and :func:`listed`."""
    named = listed(logs, family)
    pairs = _together([*paired(words), *named.pairs])
    log = (*expanded(inputs.log), *named.log)
    if len(pairs) > 1 and "control" in family.takes:
        return replace(inputs, pairs=pairs, log=log)
    if pairs:
        data = tuple(path for pair in pairs for path in pair.data)
        return replace(inputs, control=pairs[0].control, data=data, log=log)
    data = tuple(expanded(path for option, files in words if option == "data" for path in files))
    return replace(inputs, data=data, log=log)


def _together(pairs: Iterable[LogPair]) -> tuple[LogPair, ...]:
    """Pairs with each control file once, with the data files of all of its pairs."""
    found: dict[str, LogPair] = {}
    for pair in pairs:
        place = storage.same(pair.control)
        known = found.setdefault(place, replace(pair, data=()))
        found[place] = replace(known, data=(*known.data, *pair.data))
    return tuple(found.values())


def expanded(paths: Iterable[str]) -> list[str]:
    """Paths with what each glob among them stands for, in the order of the names. UsageError
    (LR1004) for a glob that nothing matches."""
    found: list[str] = []
    for path in paths:
        stored = storage.is_url(path)
        if stored and not re.search(r"[*\[]", path.rpartition("/")[2]):
            found.append(path)
            continue
        if not stored and (not re.search(r"[*?\[]", path) or os.path.exists(path)):
            found.append(path)
            continue
        matches = _stored_matches(path) if stored else glob(path, recursive=True)
        matches = sorted(matches, key=natural)
        if not matches:
            raise UsageError("LR1004", f"found no file {path}; expected one at least")
        found += matches
    return found


def _stored_matches(url: str) -> list[str]:
    """The files in a store whose last part matches that of a URL. InputError (LR2001) where the
    store cannot be asked."""
    folder, _, pattern = storage.settled(url).rpartition("/")
    with storage.readable(url, "the store"):
        files = storage.files_in(storage.at(folder))
    return [str(file.place) for file in files if fnmatchcase(file.name, pattern)]


def natural(path: str) -> list[tuple[int, int, str]]:
    """What names are sorted by: numbers in them as numbers."""
    return [
        (1, int(part), "") if part.isdigit() else (0, 0, part)
        for part in re.split(r"(\d+)", path)
        if part
    ]


# -- folders and lists
# -------------------------------------------------------------------------------------------------


def listed(paths: Iterable[str], family: Family) -> NamedLogs:
    """The logs that ``--logs`` names: folders, TOML lists, and globs of control files (or, in
    families without these, of log files). UsageError (LR1001, LR1004) for what names none,
    InputError (LR2001) for a list that cannot be read."""
    with_control = "control" in family.takes
    pairs: list[LogPair] = []
    files: list[str] = []
    beside: dict[str, dict[str, list[str]]] = {}
    for path in expanded(paths):
        if path.lower().endswith(".toml"):
            named = _of_list(storage.at(path))
            pairs += named.pairs
            files += named.log
        elif storage.at(path).is_dir():
            names = sorted(_files_of(storage.at(path)), key=natural)
            if with_control:
                pairs += pairs_of(names, path)
            else:
                files += names
        elif with_control:
            if not storage.is_url(path) and not os.path.exists(path):
                raise UsageError("LR1004", f"found no file or folder {path}; expected logs there")
            folder = storage.at(path).parent
            here = str(folder / os.path.basename(path))
            if str(folder) not in beside:
                beside[str(folder)] = _data_in(folder)
            pairs.append(_with_data(here, beside[str(folder)]))
        else:
            files.append(path)
    return NamedLogs(_together(pairs), tuple(files))


def _files_of(folder: Place) -> list[str]:
    """The files of a folder that may be of a log: no hidden one, no list, no marker."""
    return [str(file.place) for file in storage.files_in(folder) if counts(file.name)]


def _data_in(folder: Place) -> dict[str, list[str]]:
    """Of each control file of a folder, the data files whose names fit it better than all others of
    the folder, in the order of their numbers."""
    names = sorted(_files_of(folder), key=natural)
    controls = [name for name in names if is_control(name)]
    known = set(controls)
    return fitting(controls, [name for name in names if name not in known])


def counts(name: str) -> bool:
    """Whether a file of a folder may be one of a log, by its name."""
    return not (name.startswith(".") or name.lower().endswith(_NO_LOG) or name == MARKS_BESIDE)


def _with_data(control: str, beside: Mapping[str, Sequence[str]]) -> LogPair:
    """The pair of a file that is named as a control file. Errors as those of :func:`pairs_of`."""
    if not is_control(control):
        raise _no_control(control)
    if not beside.get(control):
        raise UsageError(
            "LR1001",
            f"found no data file that is named as {control}; expected some beside it"
            " (night-07.ctl, night-07.dat)",
            hint=f"{_PAIRS}, or list them in a TOML file (--logs FILE)",
        )
    return LogPair(control, tuple(beside[control]))


def _no_control(place: str) -> UsageError:
    return UsageError(
        "LR1004",
        f"found no Log Master control file in {place}; expected one at least",
        hint="A control file begins with an XTYP record",
    )


def pairs_of(names: Sequence[str], folder: str) -> list[LogPair]:
    """The control files among the files of a folder with their data, by names. UsageError (LR1004)
    where there is no control file, (LR1001) for one without data."""
    controls = [name for name in names if is_control(name)]
    known = set(controls)
    data = [name for name in names if name not in known]
    if not controls:
        raise _no_control(folder)
    if len(controls) == 1:
        return [LogPair(controls[0], tuple(data))]
    pairs = _by_name(controls, data)
    if pairs is None:
        stems = {_stem(name) for name in data}
        lonely = [name for name in controls if _stem(name) not in stems] or controls
        raise UsageError(
            "LR1001",
            f"found {lonely[0]} among {len(controls)} control and {len(data)} data files of"
            f" {folder}, and names that do not tell which belong together; expected data files that"
            " are named as their control file (night-07.ctl, night-07.dat)",
            hint=f"{_PAIRS}, or list them in a TOML file (--logs FILE)",
        )
    return pairs


def is_control(path: str) -> bool:
    """Whether a file begins as a Log Master control file does."""
    try:
        first = unpacked_head(path, 16)
    except (InputError, OSError, EOFError):
        return False
    return any(first[lead : lead + 4] == _XTYP for lead in _LEADS)


def _of_list(path: Place) -> NamedLogs:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            "LR2001",
            f"the list of logs cannot be read: {cause_of(error)}; expected TOML",
            Where(str(path)),
        ) from None
    entries = content.get("log", content.get("logs"))
    if not isinstance(entries, list) or not entries:
        raise UsageError(
            "LR1001",
            "found no list of logs; expected [[log]] with control and data, or log = [FILE, …]",
            Where(str(path)),
        )
    pairs: list[LogPair] = []
    files: list[str] = []
    for number, entry in enumerate(entries, 1):
        if isinstance(entry, str):
            files += expanded([_beside(path, entry)])
        elif isinstance(entry, dict) and isinstance(entry.get("control"), str):
            pairs.append(_pair(path, number, entry))
        else:
            raise _unusable(path, number, f"{entry!r}", 'control = "…" and data = "…"')
    return NamedLogs(tuple(pairs), tuple(files))


def _pair(path: Place, number: int, entry: Mapping[str, Any]) -> LogPair:
    strange = sorted(set(entry) - {"control", "data", "begin", "end"})
    if strange:
        raise _unusable(path, number, strange[0], "control, data, begin and end")
    data = entry.get("data", [])
    files = [data] if isinstance(data, str) else data
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise _unusable(path, number, f"data = {data!r}", "a file, or a list of files")
    return LogPair(
        _beside(path, entry["control"]),
        tuple(expanded(_beside(path, file) for file in files)),
        *(_bound(path, number, name, entry.get(name)) for name in ("begin", "end")),
    )


def _bound(path: Place, number: int, name: str, text: Any) -> Position | None:
    if text is None:
        return None
    octets = position_of(text) if isinstance(text, str) else b""
    if len(octets) != Position.SIZE:
        raise _unusable(path, number, f"{name} = {text!r}", "a position of 20 digits")
    return Position(octets)


def _unusable(path: Place, number: int, found: str, expected: str) -> UsageError:
    return UsageError(
        "LR1001", f"found {found}; expected {expected}", Where(str(path), record=number)
    )


def _beside(path: Place, name: str) -> str:
    return name if storage.is_url(name) else str(path.parent / name)


def words_of(control: Paths | None, data: Paths | Sequence[Paths]) -> Words:
    """Control files, and data files (or lists of them, one for each control file), as
    :data:`Words`."""
    controls = [] if control is None else paths_of(control)
    if isinstance(data, str | Path) or all(isinstance(entry, str | Path) for entry in data):
        groups = [paths_of(data)]  # type: ignore[arg-type]
    else:
        groups = [paths_of(entry) for entry in data]
    return [*(("control", [path]) for path in controls), *(("data", group) for group in groups)]


def paths_of(paths: Paths) -> tuple[str, ...]:
    """A path, or several, as text."""
    return (str(paths),) if isinstance(paths, str | Path) else tuple(map(str, paths))


# -- what files are by their content
# -------------------------------------------------------------------------------------------------

#: Bytes of a file that are looked at.
_LOOK = 1 << 16
#: Lines of JSON of which one is an event at least, where a file has events.
_EVENTS = 20
_CSV_OF_DB2 = frozenset({"TBSPACEID", "TABLEID", "TABSCHEMA", "TABNAME", "COLNAME"})
_ROWS_OF_SOLID = frozenset({"RECID", "RELID", "LOGADDR", "DATA"})
#: What each event, and each heartbeat, names.
_OF_EVENT = re.compile(r'\b(?:source|status|ts_ms)\\*"\s*:')
#: What no text has.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
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
    """A beginning as text; None for what is none. Bytes that are UTF-8 without controls are text,
    whatever characters it has; all others are EBCDIC only where each of them can be printed."""
    cut = first.rpartition(b"\n")[0] or first
    with suppress(UnicodeDecodeError):
        text = cut.decode("utf-8-sig")
        if not _CONTROLS.search(text):
            return text
    text = cut.decode("cp037")
    return text if all(one.isprintable() or one in "\r\n\t\x85" for one in text) else None


def _of_text(text: str) -> str:
    line = text.partition("\n")[0].strip()
    if line.startswith(("{", "null\t{")):
        if _OF_EVENT.search(text):  # the reader of events is loaded where there may be one only
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
    from replay.logs.logmaster.framing import is_data

    if is_data(first):
        return "data"
    from replay.logs.db2luw.framing import fitting_shapes

    try:
        fitting_shapes(first, max(len(first), storage.size_of(path)), path, None, None, None)
    except InputError:
        return _OTHER
    return "db2 log"
