"""The reference that is made from the parser and the table of codes: pages for the documentation,
and man pages."""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from replay.cli.arguments import make_parser
from replay.cli.examples import EXAMPLES
from replay.errors import CODES, EXIT_OK
from replay.reports.explanations import EXPLANATIONS
from replay.version import __version__

_KINDS = {
    "1": "Usage",
    "2": "Input",
    "3": "Refusals",
    "4": "Databases",
}


@cache
def described_parser() -> argparse.ArgumentParser:
    """The parser of the command line, to be described: its commands do nothing."""

    def nothing(_: argparse.Namespace) -> int:
        return EXIT_OK

    return make_parser(defaultdict(lambda: nothing))


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def summaries_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """What each command is for, in a line."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return {str(entry.dest): str(entry.help or "") for entry in action._choices_actions}
    return {}


def _options(command: argparse.ArgumentParser) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """(title of a group, its options with what they mean)."""
    for group in command._action_groups:
        entries = []
        for action in group._group_actions:
            if isinstance(action, argparse._HelpAction) or action.help is argparse.SUPPRESS:
                continue
            entries.append((_spelled(action), str(action.help or "").replace("%%", "%")))
        if entries:
            yield group.title or "options", entries


def _spelled(action: argparse.Action) -> str:
    """An option with what it takes."""
    metavar = action.metavar or (
        "|".join(map(str, action.choices)) if action.choices else (action.dest or "").upper()
    )
    shown = " ".join(metavar) if isinstance(metavar, tuple) else metavar
    if not action.option_strings:
        return shown
    names = ", ".join(action.option_strings)
    takes = action.nargs != 0 and not isinstance(
        action, argparse._StoreTrueAction | argparse._StoreConstAction
    )
    return f"{names} {shown}" if takes else names


# -- pages
# -------------------------------------------------------------------------------------------------


def commands_page(parser: argparse.ArgumentParser) -> str:
    """Every command with its options, as Markdown."""
    parts = [f"# Commands\n\nMade from the parser of logreplay {__version__}."]
    summaries = summaries_of(parser)
    for name, command in sorted(commands_of(parser).items()):
        lines = [f"## logreplay {name}", "", _sentence(summaries.get(name, ""))]
        description = command.description or ""
        if description and description != summaries.get(name):
            preformatted = "\n  " in description
            lines += ["", *(["```text", description, "```"] if preformatted else [description])]
        examples = EXAMPLES.get(name, ())
        if examples:
            lines += ["", "```sh", *(f"logreplay {name} {line}".rstrip() for line in examples)]
            lines += ["```"]
        for title, entries in _options(command):
            lines += ["", f"**{title}**", "", "| option | meaning |", "|---|---|"]
            lines += [f"| `{_cell(option)}` | {_text(meaning)} |" for option, meaning in entries]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


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


# -- man pages
# -------------------------------------------------------------------------------------------------


def man_pages(parser: argparse.ArgumentParser) -> Mapping[str, str]:
    """Name of the file -> a man page, of the program and of each command."""
    summaries = summaries_of(parser)
    names = sorted(commands_of(parser))
    lines = [
        *_man_head("logreplay", "reads database change logs and writes verified redo and undo SQL"),
        ".SH SYNOPSIS",
        r".B logreplay",
        "COMMAND [OPTIONS]",
        ".SH COMMANDS",
    ]
    for name in names:
        lines += [".TP", rf".BR logreplay\-{_roff(name)} (1)", _roff(summaries.get(name, ""))]
    lines += [".SH EXIT STATUS", *_exit_codes()]
    pages = {"logreplay.1": "\n".join(lines) + "\n"}
    for name, command in commands_of(parser).items():
        pages[f"logreplay-{name}.1"] = _man_page(name, summaries.get(name, ""), command)
    return pages


def _man_page(name: str, summary: str, command: argparse.ArgumentParser) -> str:
    lines = [
        *_man_head(f"logreplay-{name}", summary),
        ".SH SYNOPSIS",
        rf".B logreplay {_roff(name)}",
        "[OPTIONS]",
    ]
    if command.description:
        lines += [".SH DESCRIPTION", ".nf", *map(_roff, command.description.splitlines()), ".fi"]
    for title, entries in _options(command):
        lines.append(f".SH {_roff(title).upper()}")
        for option, meaning in entries:
            lines += [".TP", rf".B {_roff(option)}", _roff(" ".join(meaning.split()))]
    if name in EXAMPLES:
        lines += [".SH EXAMPLES", ".nf"]
        lines += [_roff(f"logreplay {name} {example}".rstrip()) for example in EXAMPLES[name]]
        lines.append(".fi")
    lines += [".SH EXIT STATUS", *_exit_codes()]
    return "\n".join(lines) + "\n"


def _man_head(name: str, summary: str) -> list[str]:
    return [
        f'.TH {name.upper()} 1 "" "logreplay {__version__}"',
        ".SH NAME",
        rf"{_roff(name)} \- {_roff(summary)}",
    ]


def _exit_codes() -> list[str]:
    codes = {
        "0": "all is well",
        "2": "an option is not understood",
        "4": "done, with warnings",
        "8": "errors: something was set aside or refused",
        "12": "unusable input or options; nothing was written",
    }
    return [line for code, meaning in codes.items() for line in (".TP", f".B {code}", meaning)]


def _roff(text: str) -> str:
    """Text of a man page: no line of it is a request."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped
