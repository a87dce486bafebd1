"""What is made from the tables of commands and options: man pages, and the command line as shells
complete it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from replay.cli.parser import OF_PROGRAM, example_lines
from replay.options.command_options import options_of
from replay.options.command_table import COMMANDS, Command
from replay.options.option import Option
from replay.version import __version__


def groups_of(command: Command) -> Iterator[tuple[str, list[Option]]]:
    """(title of a group, its options)."""
    groups: dict[str, list[Option]] = {}
    for option in options_of(command.name):
        groups.setdefault(option.group or f"options of {command.name}", []).append(option)
    yield from groups.items()


def spelled(option: Option) -> str:
    """An option with what it takes."""
    return f"{', '.join(option.names)} {option.takes}".strip()


# -- man pages
# -------------------------------------------------------------------------------------------------


def man_pages() -> Mapping[str, str]:
    """Name of the file -> a man page, of the program and of each command."""
    lines = [
        *_man_head("logreplay", "reads database change logs and writes verified redo and undo SQL"),
        ".SH SYNOPSIS",
        r".B logreplay",
        "COMMAND [OPTIONS]",
        ".SH COMMANDS",
    ]
    for command in sorted(COMMANDS, key=lambda one: one.name):
        lines += [".TP", rf".BR logreplay\-{_roff(command.name)} (1)", _roff(command.summary)]
    lines += [".SH EXIT STATUS", *_exit_codes()]
    pages = {"logreplay.1": "\n".join(lines) + "\n"}
    return pages | {f"logreplay-{one.name}.1": _man_page(one) for one in COMMANDS}


def _man_page(command: Command) -> str:
    lines = [
        *_man_head(f"logreplay-{command.name}", command.summary),
        ".SH SYNOPSIS",
        rf".B logreplay {_roff(command.name)}",
        "[OPTIONS]",
    ]
    if command.text:
        lines += [".SH DESCRIPTION", ".nf", *map(_roff, command.text.splitlines()), ".fi"]
    for title, options in groups_of(command):
        lines.append(f".SH {_roff(title).upper()}")
        for option in options:
            meaning = _roff(" ".join(option.help.split()))
            lines += [".TP", rf".B {_roff(spelled(option))}", meaning]
    lines += [".SH EXAMPLES", ".nf", *map(_roff, example_lines(command)), ".fi"]
    return "\n".join([*lines, ".SH EXIT STATUS", *_exit_codes()]) + "\n"


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
        "8": "errors: something was quarantined or refused",
        "12": "unusable input or options; nothing was written",
        "130": "ended by Ctrl-C (143: by SIGTERM, 129: the terminal closed)",
    }
    return [line for code, meaning in codes.items() for line in (".TP", f".B {code}", meaning)]


def _roff(text: str) -> str:
    """Text of a man page: no line of it is a request."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped


# -- completion
# -------------------------------------------------------------------------------------------------


def completion(shell: str) -> str:
    """A script that has ``bash``, ``zsh`` or ``fish`` complete commands, options and their
    words."""
    if shell == "fish":
        return _fish()
    bash = _bash()
    if shell == "bash":
        return bash
    return f"#compdef logreplay\nautoload -U +X bashcompinit && bashcompinit\n{bash}"


def _bash() -> str:
    names = " ".join(command.name for command in COMMANDS)
    lines = [
        "_logreplay() {",
        '  local word="${COMP_WORDS[COMP_CWORD]}" last="${COMP_WORDS[COMP_CWORD-1]}" words=""',
        '  if [ "$COMP_CWORD" -le 1 ]; then',
        f'    words="{names} help {" ".join(OF_PROGRAM)}"',
        "  else",
        '    case "${COMP_WORDS[1]} $last" in',
    ]
    for command in COMMANDS:
        for option in options_of(command.name):
            for name in option.names if option.kind.choices else ():
                words = " ".join(option.kind.choices)
                lines.append(f'      "{command.name} {name}") words="{words}" ;;')
    lines += ["    esac", '    if [ -z "$words" ]; then', '      case "${COMP_WORDS[1]}" in']
    lines.append(f'        help) words="{names}" ;;')
    for command in COMMANDS:
        known = [word for one in options_of(command.name) for word in one.names or one.kind.choices]
        lines.append(f'        {command.name}) words="{" ".join([*known, "--help"])}" ;;')
    return "\n".join(
        [
            *lines,
            "      esac",
            "    fi",
            "  fi",
            '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "}",
            "complete -o default -F _logreplay logreplay",
            "",
        ]
    )


def _fish() -> str:
    lines = [
        f"complete -c logreplay -n __fish_use_subcommand -f -a {command.name}"
        for command in COMMANDS
    ]
    for command in COMMANDS:
        seen = f"'__fish_seen_subcommand_from {command.name}'"
        for option in options_of(command.name):
            choices = " ".join(option.kind.choices)
            words = f" -x -a '{choices}'" if choices else ""
            description = option.help.partition(" (")[0].replace("'", "")
            for name in option.names or ("",):
                long = f" -l {name[2:]}" if name else ""
                if long or words:
                    lines.append(f"complete -c logreplay -n {seen}{long}{words} -d '{description}'")
    return "\n".join([*lines, ""])
