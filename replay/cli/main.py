"""The entry of the command line: which command, and what becomes of errors. What commands need is
imported when one runs, so that help texts cost nothing."""

from __future__ import annotations

import argparse
import atexit
import errno
import gc
import io
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module

from replay.cli.config import Configured, with_config
from replay.cli.parser import command_named, overview, parse, parser_of
from replay.cli.stopping import (
    code_of_signal,
    end_at_once,
    hear_early,
    interrupted,
    interruptible,
    last_moments,
)
from replay.cli.terminal import OUTPUT, shown
from replay.errors import EXIT_OK, EXIT_UNUSABLE, EXIT_USAGE, LogReplayError, UsageError
from replay.machine import give_back_memory, is_full, start_arrow
from replay.options.command_table import APPLY, ASK, KEEP, LOOK, WRITE
from replay.storage import settled, unreachable
from replay.storage.timeouts import StoreError
from replay.version import __version__
from sqlgen.errors import SqlgenError

#: Objects after which garbage in circles is looked for, and how often among older ones. Modules,
#: which are most of a run's objects, stay: looking through them anew each 700 objects took up
#: to a twelfth of a small run.
_GARBAGE = 200_000, 20, 20
#: Errors that say enough without the name of a file: libraries put it into their text.
_OF_THE_DISK = (errno.EACCES, errno.EPERM, errno.EROFS)

#: What is said where the reader of standard output, as in ``| head``, does not take all of it.
_CLOSED = "the reader of the output closed it; the rest was not written"

#: The module that has the commands of a group.
_MODULES = {
    **dict.fromkeys((LOOK, ASK), "inspect_commands"),
    WRITE: "commands",
    APPLY: "live_commands",
    KEEP: "keep_commands",
}
Commands = Mapping[str, Callable[[argparse.Namespace], int]]

#: What Python says where there is no memory for the stack of a thread.
_NO_THREAD = "can't start new thread"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    if argv is not None:
        return _main(list(argv))
    gc.enable()  # the command's own program comes without
    atexit.register(last_moments)
    _settle_streams()
    _settle_output()
    code = None
    with suppress(KeyboardInterrupt):  # a signal that comes while it says that one came
        code = _written(sys.argv[1:])
    if code is None:
        code = code_of_signal()
    end_at_once(code)
    return code


def _settle_streams() -> None:
    """Have something behind each standard stream that the caller closed: nothing is read, messages
    go nowhere, and an answer that cannot be written is an error."""
    for name, access in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, access)
            setattr(sys, name, os.fdopen(handle, "r" if name == "stdin" else "w", encoding="utf-8"))


def _written(given: list[str]) -> int:
    """Run a command, and see that all it printed is written, a help or a version too; the exit
    code."""
    try:
        try:
            code = _main(given)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else EXIT_OK
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _give_up_output()
        with suppress(OSError):
            print(f"logreplay: {_CLOSED}", file=sys.stderr)
    except OSError as error:
        _give_up_output()
        with suppress(OSError):
            print(f"logreplay: LR1006 found {error.strerror}: {OUTPUT}", file=sys.stderr)
    return EXIT_UNUSABLE


def _settle_output() -> None:
    """Have a buffer before standard output where PYTHONUNBUFFERED took it away: a file without one
    may take a part of what it is given, and Python passes over the rest. Files and pipes get UTF-8
    in every locale; a terminal shows what it has no character for as ``\\u…``."""
    bare = getattr(sys.stdout, "buffer", None)
    if isinstance(bare, io.FileIO):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(bare),
            encoding=sys.stdout.encoding,
            errors=sys.stdout.errors,
            line_buffering=True,
        )
    if isinstance(sys.stdout, io.TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="backslashreplace")
        else:
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def _main(given: list[str]) -> int:
    gc.set_threshold(*_GARBAGE)
    with shown(given):
        words, debug = _command_words(given)
        if not words:
            return EXIT_OK
        try:
            configured = with_config(words)
        except UsageError as error:
            print(f"logreplay: {error}", file=sys.stderr)
            return error.exit_code
    with shown(configured.words):  # those of a file may hold passwords too
        if configured.note:
            print(configured.note, file=sys.stderr)
        try:
            arguments = parse(configured.words, given)
        except UsageError as error:
            print(f"logreplay: {error}", file=sys.stderr)
            _say_origin(error, configured)
            return error.exit_code
        arguments.debug, arguments.configured = debug, configured
        interruptible()
        if arguments.command.until_told:
            hear_early()
        try:
            if getattr(arguments, "named", ()):
                from replay.cli.request import settle_log

                settle_log(arguments)
            with _temporary_files(arguments):
                code = _run(arguments)
            sys.stdout.flush()
            return code
        except LogReplayError as error:
            return _fail(error, arguments)
        except SqlgenError as error:
            return _fail(UsageError(error.code, error.message, hint=error.hint), arguments)
        except BrokenPipeError:
            _give_up_output()
            with suppress(OSError):
                print(f"logreplay: {_CLOSED}", file=sys.stderr)
            return EXIT_UNUSABLE
        except StoreError as error:
            return _fail(unreachable(error), arguments)
        except OSError as error:
            if error.filename == OUTPUT:
                _give_up_output()
            if error.errno == errno.ENOMEM:
                return _fail(_no_memory(), arguments)
            if error.filename is None and not (is_full(error) or error.errno in _OF_THE_DISK):
                return _defect(error, arguments)
            return _fail(_unwritable(error, arguments), arguments)
        except KeyboardInterrupt:
            return _say_interrupted(arguments)
        except Exception as error:
            if isinstance(error, MemoryError) or (
                isinstance(error, RuntimeError) and _NO_THREAD in str(error)
            ):
                return _fail(_no_memory(), arguments)
            return _defect(error, arguments)


def _give_up_output() -> None:
    """Have what standard output did not take go nowhere: Python would try again at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _command_words(given: Sequence[str]) -> tuple[list[str], bool]:
    """The words from the command on, and whether a traceback is wanted; none, where all that was
    asked for is printed."""
    words = list(given)
    debug = words[:1] == ["--debug"]
    words = words[debug:]
    if words[:1] in (["--version"], ["version"]):
        print(f"logreplay {__version__}")
        return [], debug
    if not words or words[0] in ("-h", "--help") or words == ["help"]:
        print(overview())
        return [], debug
    helps = words[0] == "help"
    try:
        command = command_named(words[helps])
    except UsageError as error:
        message = error.message
        if words[0].startswith("-"):
            message = f"unrecognized arguments: {words[0]}"
        print(f"logreplay: {message}\nSee: logreplay --help", file=sys.stderr)
        raise SystemExit(EXIT_USAGE) from None
    if helps:
        parser_of(command.name).print_help()
        return [], debug
    return words, debug


@contextmanager
def _temporary_files(arguments: argparse.Namespace) -> Iterator[None]:
    """Make temporary files in the folder ``--work`` for a while; UsageError LR1006 where there is
    none on this machine."""
    folder = getattr(arguments, "work", None)
    if folder is None:
        yield
        return
    folder = settled(folder)
    if not os.path.isdir(folder):
        raise UsageError("LR1006", f"found no folder {folder}; expected one for --work")
    before, tempfile.tempdir = tempfile.tempdir, os.path.abspath(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _unwritable(error: OSError, arguments: argparse.Namespace) -> UsageError:
    from replay.cli.outcome import full_place

    said, hint = error.strerror, "Name an existing folder that you may write to"
    if is_full(error) and error.errno is not None:
        said = os.strerror(error.errno)  # libraries say more, and less of where
        hint = "Make room there, or name a folder on a disk that has more"
        if hasattr(arguments, "work"):
            hint += "; --work is for temporary files"
        if error.errno == errno.EFBIG:
            hint += ". A limit for one file may be the reason (ulimit -f, or the file system's)"
    return UsageError(
        "LR1006",
        f"found {said}{full_place(error, arguments)}; expected to read and write there",
        hint=hint,
    )


def _no_memory() -> UsageError:
    return UsageError(
        "LR1007",
        "found no memory left for this program; expected it to have what it asks for",
        hint=(
            "--split-mb N reads less at once; is there a limit of memory or threads (ulimit -v,"
            " ulimit -u), or does something else use the machine's memory?"
        ),
    )


def _say_interrupted(arguments: argparse.Namespace) -> int:
    rest = "nothing was published"
    if arguments.command.continues:
        rest = "what the target has committed stays; the same command goes on from there"
    with suppress(OSError):  # the terminal may be gone
        print(f"logreplay: interrupted; {rest}", file=sys.stderr)
    return code_of_signal()


def _defect(error: Exception, arguments: argparse.Namespace) -> int:
    if interrupted():
        return _say_interrupted(arguments)
    if arguments.debug:
        traceback.print_exc()
    print(f"logreplay: unexpected {type(error).__name__}: {error}", file=sys.stderr)
    print(
        "This is a defect of logreplay; nothing was published. Run logreplay --debug with the same"
        " words, and report what it prints.",
        file=sys.stderr,
    )
    return EXIT_UNUSABLE


def _fail(error: LogReplayError, arguments: argparse.Namespace) -> int:
    if interrupted():
        return _say_interrupted(arguments)
    if arguments.debug:
        traceback.print_exc()
    from replay.logs.words import said_of

    said = said_of(getattr(arguments, "source", "logmaster"), str(error))
    print(f"logreplay: {said}", file=sys.stderr)
    _say_origin(error, arguments.configured)
    if hasattr(arguments, "source"):
        from replay.cli.request import LogInput, ways_to_look

        where, reading = error.where, LogInput.of(arguments)
        for line in ways_to_look(str(error), where.record, where.file, reading):
            print(line, file=sys.stderr)
    return error.exit_code


def _say_origin(error: LogReplayError, configured: Configured) -> None:
    """Say which line of a file of options has what an error is about."""
    usage = error.code.startswith(("LR1", "LR2001"))  # or a file cannot be read
    if usage and (origin := configured.origin(str(error))):
        print(origin, file=sys.stderr)


def _run(arguments: argparse.Namespace) -> int:
    start_arrow()
    give_back_memory()
    commands: Commands = import_module(f"replay.cli.{_MODULES[arguments.command.group]}").COMMANDS
    return commands[arguments.command.name](arguments)


if __name__ == "__main__":
    sys.exit(main())
