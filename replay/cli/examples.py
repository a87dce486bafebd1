"""An example or two of every command, for its help; and the command line as shells complete it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

#: Command -> lines behind ``logreplay COMMAND``. C and D are the control and data file of a log.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("", "--engine local --keep out"),
    "inspect": ("--control C --data D", "--control C --data D --record 7 --hex"),
    "check": ("--control C --data D",),
    "whatif": (
        "--control C --data D --without 000000000000A1B2E38C --schema tables.sql",
        "--control C --data D --without authid=CLERK0 --tree",
    ),
    "history": (
        "--control C --data D --table SAKILA.CUSTOMER --key 511",
        "--control C --data D --table CUSTOMER --where 'after.email is null'",
        "--control C --data D --ur 000000000000A1B2E38C --json",
    ),
    "state": (
        "--control C --data D --at '2024-03-15 09:28' --initial DIR --out out/then",
        "--control C --data D --diff 00DECBF4DD6635100000 end --table CUSTOMER",
    ),
    "report": (
        "audit --control C --data D --table CUSTOMER --format html --out audit.html",
        "summary --control C --data D --group-by user,hour",
        "quiet --control C --data D --min 30s --max-open 1",
    ),
    "doctor": ("--control C --data D --out report.json", "--compare report.json other.json"),
    "docs": ("", "--man ~/.local/share/man/man1"),
    "explain": ("LR2011",),
    "completion": ("bash > ~/.local/share/bash-completion/completions/logreplay",),
    "graph": ("--control C --data D --ur 000000000000A1B2E38C --out who.html",),
    "ddl": (
        "--control C --data D --dialect mariadb --out tables.sql",
        "--source db2luw --log L --catalog CSV --changes redo --out changes.sql",
    ),
    "migrate": ("--control C --data D --initial DIR --schema tables.sql --out to-postgres",),
    "redo": (
        "--control C --data D --out out/redo",
        "--control C --data D --out - --table SAKILA.RENTAL | psql -v ON_ERROR_STOP=1",
    ),
    "undo": (
        "--control C --data D --out out/one --ur 000000000000A1B2E38C --schema tables.sql",
        "--control C --data D --out out/since --authid CLERK0 --from-time '2024-03-15 09:00'",
        "--control C --data D --out out/driver --authid CLERK0 --statements parameters",
    ),
    "export": (
        "--control C --data D --out out/changes",
        "--control C --data D --format jsonl --out - --table SAKILA.FILM",
    ),
    "extract": (
        "--logs /logs --out out/month --name MONTH",
        "--control C --data D --out out/orders --table 'SHOP.ORDER*' --whole-units",
    ),
    "replay": (
        "--control C --data D --to postgresql://app@host/shop",
        "--control C --data D --to postgresql://app@host/shop --apply --until-mark NIGHT",
    ),
    "prepare": (
        "--to postgresql://owner@host/shop --role app",
        "--to postgresql://owner@host/shop --print",
    ),
    "verify": (
        "--control C --data D --to postgresql://app@host/shop --expected DIR",
        "--certificate shop.json --public-key dba.pub",
    ),
    "status": ("--to postgresql://app@host/shop",),
    "follow": (
        "--logs /logs --to postgresql://app@host/shop",
        "--logs /logs --export /data/changes --format parquet",
        "--logs /logs --to postgresql://app@host/shop --cut-over --expected DIR",
    ),
    "pause": ("/logs",),
    "resume": ("/logs",),
    "mark": (
        "NIGHTLY --logs /logs --note 'after the batch'",
        "--logs /logs",
        "before-the-batch --to postgresql://app@host/shop",
    ),
}


def examples_of(command: str) -> str:
    """The examples of a command, a line each."""
    lines = [f"  logreplay {command} {words}".rstrip() for words in EXAMPLES[command]]
    return "\n".join(["examples:", *lines])


# -- completion
# -------------------------------------------------------------------------------------------------


def options_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """(option or '', its choices, its help) of a parser."""
    for action in parser._actions:
        if action.help is argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction):
            continue
        choices = tuple(map(str, action.choices or ()))
        for name in action.option_strings or ("",):
            if name.startswith("--") or not name:
                yield name, choices, (action.help or "").partition(" (")[0]


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of the command line."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def completion(shell: str, parser: argparse.ArgumentParser) -> str:
    """A script that has ``bash``, ``zsh`` or ``fish`` complete commands, options and their
    words."""
    commands = commands_of(parser)
    if shell == "fish":
        return _fish(commands)
    bash = _bash(commands)
    if shell == "bash":
        return bash
    return f"#compdef logreplay\nautoload -U +X bashcompinit && bashcompinit\n{bash}"


def _bash(commands: dict[str, argparse.ArgumentParser]) -> str:
    lines = [
        "_logreplay() {",
        '  local word="${COMP_WORDS[COMP_CWORD]}" last="${COMP_WORDS[COMP_CWORD-1]}" words=""',
        '  if [ "$COMP_CWORD" -le 1 ]; then',
        f'    words="{" ".join(commands)} --help --version --debug"',
        "  else",
        '    case "${COMP_WORDS[1]} $last" in',
    ]
    for command, parser in commands.items():
        for option, choices, _ in options_of(parser):
            if option and choices:
                lines.append(f'      "{command} {option}") words="{" ".join(choices)}" ;;')
    lines += ["    esac", '    if [ -z "$words" ]; then', '      case "${COMP_WORDS[1]}" in']
    for command, parser in commands.items():
        known = [option for option, _, _ in options_of(parser) if option]
        known += [
            word for option, choices, _ in options_of(parser) if not option for word in choices
        ]
        lines.append(f'        {command}) words="{" ".join(known)}" ;;')
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


def _fish(commands: dict[str, argparse.ArgumentParser]) -> str:
    lines = [
        f"complete -c logreplay -n __fish_use_subcommand -f -a {command}" for command in commands
    ]
    for command, parser in commands.items():
        seen = f"'__fish_seen_subcommand_from {command}'"
        for option, choices, text in options_of(parser):
            words = f" -x -a '{' '.join(choices)}'" if choices else ""
            name = f" -l {option[2:]}" if option else ""
            description = text.replace("'", "").replace("\n", " ")
            if name or words:
                lines.append(f"complete -c logreplay -n {seen}{name}{words} -d '{description}'")
    return "\n".join([*lines, ""])
