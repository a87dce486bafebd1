"""What is in a log, described once: as data for programs, from which the text for a terminal is
made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING
from replay.logs.text import aligned, counted, printable, wrapped


@dataclass(frozen=True)
class Description:
    """``values`` are JSON-able, by name: counts (code -> number), numbers and texts, lists of
    texts, lists of rows (name -> value), and further values by name. Some have an ``exit_code``: 0,
    4 with warnings, 8 with damaged records, 12 where a file cannot be read on.

    ``meanings``: by name, what codes of counts and names of values in it mean; ``sentences``: how a
    row of a list is said; ``apart``: what the text leaves to programs; ``by_name``: values by names
    of the log, shown as they are."""

    values: Mapping[str, Any]
    meanings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    sentences: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    by_name: frozenset[str] = frozenset()

    @property
    def exit_code(self) -> int:
        """The exit code that goes with it."""
        return int(self.values["exit_code"])

    def text(self) -> str:
        """The description for a terminal."""
        blocks = (
            "\n".join(self._lines(name[:1].upper() + name[1:].replace("_", " "), name, value, ""))
            for name, value in self.values.items()
            if name not in self.apart | {"exit_code", "source"} and value not in ({}, [])
        )
        return "\n\n".join(blocks)

    def _lines(self, title: str, name: str, value: Any, margin: str) -> Iterator[str]:
        """A value below its title, or behind it where it is short."""
        title, inner = f"{margin}{title}", f"{margin}  "
        if isinstance(value, Mapping) and value and not _are_counts(value):
            flat = not any(map(_is_nested, value.values()))
            said = [f"{key} {self._short(key, entry)}" for key, entry in value.items() if flat]
            if said and len(", ".join(said)) <= _INLINE:
                yield f"{title}: {', '.join(said)}"
                return
            yield title
            for key, entry in value.items():
                if key not in self.apart:
                    meant = self.meanings.get(name, {}).get(key)
                    label, known = f"{key}, {meant}" if meant else key, name in self.by_name
                    label = label if known else label.replace("_", " ")
                    yield from self._lines(label, name if known else key, entry, inner)
        elif name in self.sentences and isinstance(value, list):
            yield title
            yield from (f"{inner}{self.sentences[name](row)}" for row in value)
        elif isinstance(value, list) and value and isinstance(value[0], str) and name in _LONG:
            yield title
            yield from (f"{inner}{entry}" for entry in value)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield from self._rows(title, value, inner)
        else:
            yield wrapped(f"{title}: {self._short(name, value) or 'none'}")

    def _rows(self, title: str, rows: Sequence[Mapping[str, Any]], margin: str) -> Iterator[str]:
        names = [name for name in rows[0] if name not in self.apart]
        nested = [name for name in names if any(_is_nested(row[name]) for row in rows)]
        if len(names) == 2 and isinstance(rows[0][names[1]], int) and names[0] == "name":
            yield wrapped(f"{title}: {counted({row['name']: row[names[1]] for row in rows})}")
            return
        yield title
        if not nested:
            cells = [[self._short(name, row[name]) for name in names] for row in rows]
            heads = [name.replace("_", " ") for name in names]
            yield from (f"{margin}{line}" for line in aligned(heads, cells))
            return
        for row in rows:
            said = ", ".join(
                f"{name.replace('_', ' ')} {self._short(name, row[name])}"
                for name in names
                if name not in ("name", *nested) and row[name] not in (None, "", [])
            )
            yield wrapped(f"{margin}{row['name']}: {said}")
            for name in nested:
                yield from self._lines(name.replace("_", " "), name, row[name], f"{margin}  ")

    def _short(self, name: str, value: Any) -> str:
        if isinstance(value, Mapping):
            counts = {key.replace("_", " "): number for key, number in value.items()}
            return counted(counts, self.meanings.get(name)) or "none"
        if isinstance(value, list):
            return ", ".join(map(str, value)) or "none"
        if value is None or value == "":
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:,}" if isinstance(value, int) and name in _COUNTS else printable(str(value))


#: Characters of what stands in the line of its title.
_INLINE = 90
#: Numbers that count something; others are ids and sizes.
_COUNTS = (
    "bytes", "changes", "count", "other", "records", "repeated", "rolled_back_to_savepoint",
    "segmented_changes", "units",
)  # fmt: skip
#: Lists whose entries have a line each.
_LONG = ("findings", "warnings", "unreadable", "filters")


def _are_counts(value: Mapping[str, Any]) -> bool:
    return all(type(entry) is int for entry in value.values())


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
    )


def exit_code_of(damaged: object, warnings: object) -> int:
    """The exit code of a log with ``damaged`` records or ``warnings``."""
    return EXIT_ERROR if damaged else EXIT_WARNING if warnings else EXIT_OK
