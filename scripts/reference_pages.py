"""Reference pages of the documentation that are made from the program: commands, options, codes,
what each dialect says, the record layouts that are read, and the Python API."""

from __future__ import annotations

import inspect
import re

import replay
from replay.cli.manual import groups_of, spelled
from replay.cli.parser import example_lines
from replay.decoding.layout import FieldKind, Layout
from replay.errors import CODES
from replay.live.replay import ReplayPlan
from replay.logs.db2luw import layouts as db2luw
from replay.logs.logmaster import layouts as logmaster
from replay.options.command_options import options_of
from replay.options.command_table import COMMANDS
from replay.reports.explanations import EXPLANATIONS
from replay.version import __version__
from replay.writable import Extract, Writable
from sqlgen.dialects import BUILT_IN, EXACT, TypeRule, profile_named

_KINDS = {
    "1": "Usage",
    "2": "Input",
    "3": "Refusals",
    "4": "Databases",
}


def commands_page() -> str:
    """Every command with its options, as Markdown."""
    parts = [f"# Commands\n\nMade from the options of logreplay {__version__}."]
    for command in sorted(COMMANDS, key=lambda one: one.name):
        lines = [f"## logreplay {command.name}", "", _sentence(command.summary)]
        if command.text:
            preformatted = "\n  " in command.text
            lines += ["", *(["```text", command.text, "```"] if preformatted else [command.text])]
        lines += ["", "```sh", *example_lines(command), "```"]
        for title, options in groups_of(command):
            lines += ["", f"**{title}**", "", "| option | meaning |", "|---|---|"]
            lines += [f"| `{_cell(spelled(one))}` | {_text(one.help)} |" for one in options]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def options_page() -> str:
    """Every option once, group by group, with the commands that have it, as Markdown."""
    found: dict[str, dict[tuple[str, str], list[str]]] = {}
    for command in sorted(COMMANDS, key=lambda one: one.name):
        for option in options_of(command.name):
            group = found.setdefault(option.group, {})
            group.setdefault((spelled(option), option.help), []).append(command.name)
    parts = [_OPTIONS_HEAD]
    for title, options in sorted(found.items(), key=lambda one: not one[0]):
        usual = max(options.values(), key=len) if title else []
        lines = [f"## {_sentence(title or 'options of a few commands').rstrip('.')}", ""]
        if usual:
            lines += [f"Commands, where the option names no others: {', '.join(usual)}.", ""]
        lines += ["| option | meaning | commands |", "|---|---|---|"]
        for (name, meaning), names in options.items():
            others = "" if names == usual else ", ".join(names)
            lines.append(f"| `{_cell(name)}` | {_text(meaning)} | {others} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


_OPTIONS_HEAD = """\
# Options

Made from the options of the program by `scripts/run docs`. `logreplay COMMAND --help` shows those
of one command, and [the command line](command-line.md) explains what several have in common."""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""


def _text(text: str) -> str:
    return re.sub(r"([|*_<>])", r"\\\1", " ".join(text.split()))


def codes_page() -> str:
    """Every code with its cause and cure, as Markdown."""
    parts = ["# Codes\n\n`logreplay explain CODE` says the same in a terminal."]
    kind = ""
    for code, meaning in sorted(CODES.items()):
        if code[2] != kind:
            kind = code[2]
            parts.append(f"## {_KINDS[kind]} (LR{kind}…)")
        why, cure = EXPLANATIONS[code]
        parts.append(
            f"### {code}\n\n**{_sentence(_text(meaning))}** {_text(why)}\n\n"
            f"*What to do:* {_text(cure)}"
        )
    return "\n\n".join(parts) + "\n"


# -- tables of the program
# -------------------------------------------------------------------------------------------------

_UPSERTS = {
    "conflict": "`INSERT … ON CONFLICT`",
    "pair": "UPDATE, and INSERT of what is not there",
    "merge": "`MERGE`",
    "replace": "DELETE and INSERT",
    "": "no way to say it",
}
_CHECKS = {
    "after": "a statement after each",
    "block": "a block around statements and checks",
    "before": "a query before each",
    "around": "around each",
}


_DB2LUW: dict[str, db2luw.Parts] = {
    "file of the collector": db2luw.FILE_HEADER,
    "data manager record": db2luw.DMS_HEADER,
    "object manager record": db2luw.DOM_HEADER,
    "index record": db2luw.INDEX,
    "reorganization": db2luw.REORG,
    "insert of many rows": db2luw.INSERT_ROWS,
    "row of an insert of many rows": db2luw.ROW_ENTRY,
    "add columns": db2luw.ADD_COLUMNS,
    "head of a row": db2luw.ROW_HEADER,
    "offset and length of a value of varying length": db2luw.PAIR,
    "table description": db2luw.DESCRIPTION,
    "column description": db2luw.DESCRIPTOR,
}


def dialects_page() -> str:
    """What becomes of types in every dialect, and how each writes rows, as Markdown."""
    parts = [
        "# Dialects\n\nMade from the profiles of the dialects. A type is kept exactly unless it is"
        " said to be otherwise; *lossy* ones are named by `ddl`, and values that do not fit are"
        " refused (LR3001) unless a policy says what shall become of them."
        " [What was tried on what](tried.md) is another page.",
        _writing_table(),
    ]
    for name in BUILT_IN:
        profile = profile_named(name)
        lines = [f"## {name}", "", f"How to run a script: `{profile.client}`."]
        if profile.quirks:
            lines += ["", *(f"* {_cell(quirk)}" for quirk in profile.quirks)]
        lines += ["", "| type of the log | type there | |", "|---|---|---|"]
        lines += [_type_line(rule) for rule in profile.types]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _writing_table() -> str:
    lines = [
        "| dialect | names | names have at most | digits of a second | `--upsert`"
        " | `--assert rows` |",
        "|---|---|---|---|---|---|",
    ]
    for name in BUILT_IN:
        profile = profile_named(name)
        check = profile.row_check
        unit = "characters" if profile.name_characters else "bytes"
        longest = f"{profile.name_length} {unit}" if profile.name_length < 10_000 else "any length"
        lines.append(
            f"| [{name}](#{name}) | {profile.fold} | {longest}"
            f" | {profile.time_digits} | {_UPSERTS[profile.upsert.kind]}"
            f" | {_CHECKS[check.kind.value] if check else 'no way to say it'} |"
        )
    return "\n".join(lines)


def _type_line(rule: TypeRule) -> str:
    target = rule.text.format(length="n", scale="s", digits="d", bytes="bytes")
    limits = [f"up to {rule.up_to:,}"] if rule.up_to else []
    if rule.most_scale:
        limits.append(f"up to {rule.most_scale} digits after the point")
    source = rule.type.value + (f" ({', '.join(limits)})" if limits else "")
    said = "" if rule.fidelity == EXACT else rule.fidelity
    said += f": {rule.note}" if said and rule.note else rule.note
    return f"| {_cell(source)} | `{_cell(target)}` | {_cell(said)} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def layouts_page() -> str:
    """The record layouts that are read, field by field, as Markdown."""
    parts = [
        "# Record layouts\n\nMade from the tables by which records are read; names are the"
        " vendors'. Offsets are bytes from the start of the record or structure. What no published"
        " page settles is on a page of [its own](unconfirmed-readings.md).",
        "## Log Master: header and control records",
    ]
    layouts = (logmaster.LLDF, *logmaster.CONTROL.values(), logmaster.DICL_ENTRY)
    parts += [_layout_part(layout) for layout in dict.fromkeys(layouts)]
    parts.append(
        "## Db2 LUW: structures\n\nNumbers are in the byte order of the log; a size of 0 is what"
        " follows to the end."
    )
    parts += [_parts_part(title, fields) for title, fields in _DB2LUW.items()]
    return "\n\n".join(parts) + "\n"


def python_page() -> str:
    """The functions of the Python API with their words, as Markdown."""
    parts = ["# Python API\n\nMade from the program. Errors are those of `replay.errors`."]
    for place in (replay, replay.Log, replay.Selected, Writable, Extract, ReplayPlan):
        title = getattr(place, "__qualname__", "replay")
        parts.append(f"## {title}\n\n{_plain(place) if title != 'replay' else ''}".rstrip())
        for name in dir(place):
            member = getattr(place, name)
            if not name.startswith("_") and inspect.isfunction(member):
                words = str(inspect.signature(member)).replace("'", "")
                parts.append(f"### {name}\n\n`{name}{words}`\n\n{_plain(member)}")
    return "\n\n".join(parts) + "\n"


def _plain(of: object) -> str:
    """What is said of a function, in Markdown."""
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", inspect.getdoc(of) or "")
    return text.replace("``", "`")


def _layout_part(layout: Layout) -> str:
    lines = [f"### {layout.tag}", "", f"{layout.title}, {layout.size} bytes.", ""]
    lines += ["| field | offset | length | content |", "|---|---|---|---|"]
    lines += [
        f"| {'' if entry.kind is FieldKind.RESERVED else entry.name} | {entry.offset}"
        f" | {entry.length} | {entry.kind.value} |"
        for entry in layout.fields
    ]
    return "\n".join(lines)


def _parts_part(title: str, fields: db2luw.Parts) -> str:
    lines = [f"### {title.capitalize()}", "", "| field | offset | size |", "|---|---|---|"]
    lines += [
        f"| {name} | {part.offset} | {part.size or 'rest'} |" for name, part in fields.items()
    ]
    return "\n".join(lines)
