"""The parser of a command, made of the table of options, and its help in two lengths."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import takewhile
from typing import Any, NoReturn

from replay.errors import UsageError, some_of
from replay.options.command_options import COPIED, OF_VALUES, options_of
from replay.options.command_table import BY_NAME, COMMANDS, GROUPS, Command
from replay.options.option import Option, Several
from replay.storage import refuse_secrets
from replay.version import __version__
from sqlgen.errors import did_you_mean

EPILOG = """\
exit codes: 0 all is well, 2 an option is not understood, 4 warnings (read them), 8 errors
(something was quarantined or refused), 12 unusable input or options, 130 Ctrl-C,
143 SIGTERM

Words: redo repeats the logged changes in commit order (Log Master calls plain forward SQL MIGRATE,
and uses REDO for "after a recovery, all but the selected"); undo takes them back, in reverse
order. Positions are LRSNs, RBAs, LSNs or LOGADDRs, as the log has them."""

#: Options of logreplay itself, before a command.
OF_PROGRAM = ("--help", "--version", "--debug")
#: A query among words that name a log.
_QUERY = re.compile(r"\s*(SELECT|WITH|FROM|VALUES)\b", re.IGNORECASE)
#: Words of a language, and no path.
_WORDS = re.compile(r"\s*[A-Za-z]+\s+[\w(*]")
#: What ends the part of an option's help that a short one has.
_CLAUSE = re.compile(r"[;:(]| by default")
#: Characters of the names of options beside which a short help has room for what they are.
_NAMES = 20


# -- the parser
# -------------------------------------------------------------------------------------------------


class HelpLayout(argparse.RawDescriptionHelpFormatter):
    """A help whose lines end between words: an option or file name is never parted at its hyphens.
    Text of several lines stays as it is."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines() if "\n" in text else self._split_lines(text, width)
        return "".join(f"{indent}{line}\n" for line in lines)


class Parser(argparse.ArgumentParser):
    """The parser of one command."""

    def __init__(self, command: Command) -> None:
        words = [option.takes for option in options_of(command.name) if not option.names]
        super().__init__(
            f"logreplay {command.name}",
            usage=" ".join(["%(prog)s", *words, "[OPTIONS]"]),
            description="\n\n".join(
                [textwrap.fill(_sentence(command.summary), 100), command.text]
            ).strip(),
            epilog=f"{_examples(command)}\n\n{EPILOG}",
            formatter_class=HelpLayout,
            add_help=False,
        )
        self.set_defaults(command=command, in_turn=(), given={})
        self.command = command
        self._words: list[str] = []
        # Keys of several columns (-9,5) are values too, as with Python 3.14.
        self._negative_number_matcher = re.compile(r"-\.?\d")
        own = self.add_argument_group(f"options of {command.name}")
        groups: dict[str, Any] = {"": own}
        either: dict[str, Any] = {}
        for option in options_of(command.name):
            if option.group not in groups:
                groups[option.group] = self.add_argument_group(option.group)
            group = groups[option.group]
            if option.either:
                if option.either not in either:
                    either[option.either] = group.add_mutually_exclusive_group(
                        required=option.required
                    )
                group = either[option.either]
            _add(group, option)
        own.add_argument("-h", action=_Help, nargs=0, help="a short help, with examples")
        own.add_argument("--help", action="help", help="this help")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """What is not understood is reported with the option that is spelled like it."""
        self._words = [] if args is None else list(args)
        if "--" not in self._words:
            words, options = apart(self.command.name, self._words)
            args = [*words, *options]
        others: list[str]
        try:
            found, others = super().parse_known_args(args, namespace)
        except UsageError:
            if not (others := self._misspelt()):
                raise
        if others:
            self.error(self._unknown([one for word in others for one in self._with_values(word)]))
        return found, others

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """UsageError (LR1001) for something secret where none is asked for: messages and files name
        what is given there."""
        if not isinstance(action, Take):
            return super()._get_value(action, arg_string)
        if not (action.option.kind.secret or action.option.kind.shown):
            refuse_secrets(arg_string)
        try:
            return action.option.kind.value(arg_string)
        except UsageError as error:
            message = error.message + did_you_mean(arg_string, action.option.kind.choices)
            raise argparse.ArgumentError(action, message) from None

    def _with_values(self, word: str) -> list[str]:
        """An option that there is not, with the words behind it: they are no log."""
        if not word.startswith("-") or word not in self._words:
            return [word]
        behind = self._words[self._words.index(word) + 1 :]
        values = takewhile(lambda value: not value.startswith("-"), behind)
        return [word, *(() if "=" in word else values)]

    def _unknown(self, words: list[str]) -> str:
        known = [option for option in self._option_string_actions if len(option) > 2]
        message = f"unrecognized arguments: {' '.join(words)}"
        if self.command.name == "extract" and words[0].partition("=")[0] in OF_VALUES:
            return f"{message}: {COPIED}; see logreplay export (--format load writes LOAD files)"
        others = [name for name in BY_NAME if any(named_option(name, word) for word in words[:1])]
        if others and words[0].startswith("--"):
            return f"{message} (an option of {some_of(others, len(others))})"
        return message + did_you_mean((word.partition("=")[0] for word in words), known, 0.75)

    def _misspelt(self) -> list[str]:
        """Options among the words that no option begins with."""
        names = {word: word.partition("=")[0] for word in self._words if word[2:].strip("-")}
        return [
            word
            for word, name in names.items()
            if name.startswith("--")
            and not any(known.startswith(name) for known in self._option_string_actions)
        ]

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write it; an error of that is raised, and not passed over."""
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line, and where the options are listed. An option that is
        missing may be there under another name, so that is told first."""
        if "required" in message and (misspelt := self._misspelt()):
            message = self._unknown(misspelt)
        if message.endswith("expected one argument"):
            message += " (a value that begins with - is given with a =, as in --key=-A)"
        self.exit(2, f"{self.prog}: {message}\nSee: {self.prog} --help\n")


def _add(group: Any, option: Option) -> None:
    kind, how = option.kind, dict[str, Any]()
    if kind.words == 0:
        how["nargs"] = 0
    elif kind.several in (Several.WORDS, Several.IN_TURN):
        how["nargs"] = "+" if option.names else "*"
    elif kind.words > 1:
        how["nargs"] = kind.words
    elif not option.names and not option.required:
        how["nargs"] = "?"
    if option.names:
        how |= {"dest": option.dest, "required": option.required and not option.either}
    takes = option.takes if kind.words < 2 else tuple(option.takes.split())
    how["metavar"] = takes if option.takes and not (kind.choices and "|" in takes) else None
    group.add_argument(
        *(option.names or (option.dest,)),
        action=Take,
        option=option,
        default=option.usual,
        help=option.help.replace("%", "%%"),
        **how,
    )


class Take(argparse.Action):
    """Takes the values of an option, as its kind says what becomes of several; ``given`` of the
    result has what was given."""

    def __init__(self, *arguments: Any, option: Option, **others: Any) -> None:
        if others["metavar"] is None:
            others["metavar"] = "{" + ",".join(option.kind.choices) + "}"
        super().__init__(*arguments, **others)
        self.option = option

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take one occurrence. UsageError (LR1001) for a second value where one is taken."""
        if not self.option.names and values in (None, []):
            return
        several, before = self.option.kind.several, namespace.given.get(self.dest)
        named = option_string or self.dest
        if self.nargs == 0:
            values = True
        elif several is Several.EACH:
            values = (*(before or ()), values)
        elif several in (Several.WORDS, Several.IN_TURN):
            if several is Several.IN_TURN:
                namespace.in_turn = (*namespace.in_turn, (self.dest, tuple(values)))
            values = (*(before or ()), *values)
        elif several is Several.NAMES:
            name, value = values
            known = dict(before or ()).get(name, value)
            if known != value:
                raise _twice(f"{named} {name}", known, value)
            values = (*(before or ()), values)
        elif before is not None and before != values:
            raise _twice(named, before, values)
        namespace.given = namespace.given | {self.dest: values}
        setattr(namespace, self.dest, values)


def _twice(named: str, one: Any, other: Any) -> UsageError:
    one, other = (
        value.hex().upper() if isinstance(value, bytes) else value for value in (one, other)
    )
    return UsageError(
        "LR1001",
        f"found {named} twice, with {one} and {other}; expected it once",
        hint="These cannot be combined: leave one out",
    )


@cache
def parser_of(name: str) -> Parser:
    """The parser of a command."""
    return Parser(BY_NAME[name])


def parse(words: Sequence[str], given: Sequence[str] | None = None) -> argparse.Namespace:
    """The values of a command's options. ``given``: the words without those of a file of options.
    UsageError (LR1001) for an option that means nothing with the others."""
    name, *rest = words
    values = parser_of(name).parse_args(rest)
    if getattr(values, "json", False) and hasattr(values, "format"):
        values.format = "json"
    values.chosen = _chosen(name, rest)
    refuse_unused(name, words[1:] if given is None else given, values)
    if name == "mark" and values.name and not values.named and os.path.exists(values.name):
        values.named, values.name = (values.name,), None  # no mark, but a log
    if name == "sql":
        values.named, values.query = query_apart(values.named, values.query)
    return values


def query_apart(words: Sequence[str], query: str | None) -> tuple[tuple[str, ...], str | None]:
    """The words that name a log, and the query: the last word, where no option gave it. UsageError
    (LR1001) for a query in front of the log."""
    if query is None and words and (_is_query(words[-1]) or _is_text(words)):
        *words, query = words
    early = next((word for word in words if _is_query(word)), None)
    if early is not None:
        raise UsageError(
            "LR1001",
            f"found the query {early!r} before the log; expected it after it",
            hint="LOG comes first: logreplay sql LOG 'SELECT …'",
        )
    return tuple(words), query


def _is_query(word: str) -> bool:
    return bool(_QUERY.match(word)) and not os.path.exists(word)


def _is_text(words: Sequence[str]) -> bool:
    """Whether the last of several words is meant as a query, though it begins as none: it is no
    file, and several words itself."""
    return len(words) > 1 and bool(_WORDS.match(words[-1])) and not os.path.exists(words[-1])


def named_option(name: str, word: str) -> Option | None:
    """The option of a command that a word names, in full or cut short as its parser takes it."""
    spelled = word.partition("=")[0]
    if not spelled.startswith("-") or spelled == "-":
        return None
    options = options_of(name)
    exact = next((option for option in options if spelled in option.names), None)
    if exact is not None or spelled == "--":
        return exact
    like = [one for one in options if any(known.startswith(spelled) for known in one.names)]
    return like[0] if len(like) == 1 else None


def apart(name: str, given: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a command line that belong to no option, and the others."""
    words, options = list[str](), list[str]()
    rest = list(given)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-" or re.match(r"-\.?\d", word):
            words.append(word)
            continue
        options.append(word)
        option = named_option(name, word)
        if option is None or "=" in word:
            continue
        if option.kind.several in (Several.WORDS, Several.IN_TURN):
            while rest and not rest[0].startswith("-"):
                options.append(rest.pop(0))
        else:
            options += rest[: option.kind.words]
            del rest[: option.kind.words]
    return words, options


def _chosen(name: str, given: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The options that say which changes, as they are typed: field and words of each."""
    _, options = apart(name, given)
    found: list[tuple[Option | None, list[str]]] = []
    for word in options:
        if word.startswith("--"):
            found.append((named_option(name, word), []))
        if found:
            found[-1][1].append(word)
    return tuple(
        (option.dest, tuple(words))
        for option, words in found
        if option is not None and option.group.startswith("selection")
    )


def log_words(name: str, given: Sequence[str]) -> list[str]:
    """The words of a command line that name a log."""
    known = [option for option in options_of(name) if not option.names]
    words, _ = apart(name, given)
    if name == "sql":
        words = [word for word in words if not _is_query(word)]
        words = words[: -1 if _is_text(words) else None]
    before = sum(option.dest != "named" for option in known)
    return words[before:] if any(option.dest == "named" for option in known) else []


def refuse_unused(name: str, words: Iterable[str], values: argparse.Namespace) -> None:
    """UsageError (LR1001) for an option among ``words`` that another one makes superfluous."""
    for option in filter(None, (named_option(name, word) for word in words)):
        needed, _, wanted = option.only.partition("=")
        if not needed or option.dest not in values.given:
            continue
        if not wanted and needed.removeprefix("--").replace("-", "_") not in values.given:
            raise UsageError("LR1001", f"found {option.name} without {needed}; expected both")
        if wanted and (value := str(vars(values)[needed])) not in wanted.split(","):
            what = f"{name} " if needed == "kind" else f"--{needed} "
            found, expected = what + value, what + ", ".join(wanted.split(","))
            raise UsageError("LR1001", f"found {option.name} with {found}; expected {expected}")


# -- help
# -------------------------------------------------------------------------------------------------


class _Help(argparse.Action):
    """``-h``: a help that fits a screen."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        assert isinstance(parser, Parser)
        print(short_help(parser.command))
        parser.exit()


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _examples(command: Command) -> str:
    return "\n".join(["examples:", *(f"  {line}" for line in example_lines(command))])


def example_lines(command: Command) -> list[str]:
    """The examples of a command, as they are typed; what is too long for a line goes on in the
    next one."""
    return [_wrapped(f"logreplay {command.name} {words}".rstrip()) for words in command.examples]


def _wrapped(line: str, width: int = 90) -> str:
    """A command of several lines where one does not hold it; options stay with their values."""
    lines = [""]
    for part in re.split(r" (?=--[a-z]|\|)", line):
        if lines[-1] and len(lines[-1]) + len(part) >= width:
            lines.append("")
        lines[-1] += f" {part}" if lines[-1] else part
    return " \\\n      ".join(lines)


def _columns(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Names with what they are beside them, below a name that is long; nothing is cut."""
    width = max((len(name) for name, _ in pairs if len(name) <= _NAMES), default=_NAMES)
    room = max(min(shutil.get_terminal_size().columns, 100) - width - 4, 30)
    lines = []
    for name, text in pairs:
        first, *rest = textwrap.wrap(text, room, break_on_hyphens=False)
        if len(name) > width:
            lines.append(f"  {name}")
            name = ""
        lines.append(f"  {name.ljust(width)}  {first}")
        lines += [f"{'':{width + 4}}{line}" for line in rest]
    return lines


def _spelled(option: Option) -> str:
    return f"{option.name} {option.takes}".strip() if option.names else option.takes


def short_help(command: Command) -> str:
    """What a command is for, examples, and the options that matter, on a screen."""
    known = {option.name: option for option in options_of(command.name)}
    known |= {option.takes: option for option in known.values() if not option.names}
    chosen = [known[name] for name in command.matter.split()]
    lines = textwrap.wrap(_sentence(command.summary), 100)
    lines += ["", _examples(command), "", "options:"]
    lines += _columns(
        [(_spelled(one), one.brief or _CLAUSE.split(one.help)[0].strip()) for one in chosen]
    )
    return "\n".join([*lines, "", f"All options: logreplay {command.name} --help"])


def overview() -> str:
    """The commands in their groups."""
    lines = [
        f"logreplay {__version__} reads database change logs and writes verified redo and undo SQL."
    ]
    for group, what in GROUPS.items():
        lines += ["", f"{group}: {what}"]
        lines += _columns([(one.name, one.summary) for one in COMMANDS if one.group == group])
    return "\n".join(
        [
            *lines,
            "",
            "logreplay COMMAND -h: examples and the options that matter; --help: all options.",
            "logreplay --version, --debug COMMAND (show the traceback of an error), help COMMAND",
        ]
    )


def command_named(word: str) -> Command:
    """A command by its name. UsageError (LR1001) for a word that is none."""
    if word not in BY_NAME:
        meant = did_you_mean(word, BY_NAME)
        raise UsageError("LR1001", f"found no command {word!r}{meant}")
    return BY_NAME[word]
