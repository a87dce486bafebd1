"""The client that scripts are for: what the user says of it, settled for a log and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from replay.changes.options import ScriptOptions
from replay.errors import UsageError
from replay.logs import LogFile, SqlText, TellsSqlText
from sqlgen.choices import Assertion
from sqlgen.clients import CLIENTS, Client, client_named
from sqlgen.lazy_imports import when_used

with when_used():  # what some scripts alone need
    from replay.decoding import encoding
    from sqlgen.clients import form, jcl

#: The file of the job that runs scripts.
JOB = "run.jcl"
#: Special characters that have one code in all EBCDIC code pages, and end statements.
_SAME_EVERYWHERE = ";%?&:+/*<>="


def with_client(log: LogFile, options: ScriptOptions) -> ScriptOptions:
    """The options of scripts with their client, its terminator and encoding: the usual ones where
    the user names none. UsageError (LR1001) for what does not go together."""
    usual = options.profile.clients
    name = options.client or next(iter(usual), None)
    if name is None:
        plain = options.encoding is None or encoding.encoding_named(options.encoding).plain
        if options.terminator or not plain:
            option = "--terminator" if plain else "--encoding"
            raise UsageError("LR1001", f"found {option} without --client; expected both")
        if options.jcl:
            raise UsageError("LR1001", "found --jcl without --client; expected both")
        return replace(options, encoding=None)
    client = client_named(name)
    if options.dialect not in client.dialects:
        suitable = [one for one in CLIENTS if options.dialect in client_named(one).dialects]
        expected = f"one of: {', '.join(suitable)}" if suitable else "none"
        raise UsageError(
            "LR1001",
            f"found --client {name} with --dialect {options.dialect}; expected {expected}",
            hint=f"It runs scripts of --dialect {' or '.join(client.dialects)}",
        )
    if options.asserts is Assertion.ROWS and not client.stops:
        raise UsageError(
            "LR1001",
            f"found --assert rows with --client {name}; expected a client of which its manual says"
            " that it stops at the first error and rolls back",
            hint="Look through its output for statements that changed no row or several",
        )
    if options.jcl and not client.in_jobs:
        raise UsageError(
            "LR1001",
            f"found --jcl with --client {name}; expected dsntep2, dsntep4 or dsntiad",
        )
    terminator = options.terminator or client.terminator
    _check_terminator(client, terminator)
    found = _encoding_of(client, log, options.encoding)
    return replace(options, client=name, terminator=terminator, encoding=found)


def _check_terminator(client: Client, terminator: str) -> None:
    if terminator == client.terminator:
        return
    bad = client.bad_terminators
    special = len(terminator) == 1 and terminator.isprintable() and not terminator.isalnum()
    special &= terminator != "-"  # of which comments are made
    # of records of any code page
    suits = terminator in _SAME_EVERYWHERE if client.ebcdic else terminator.isascii()
    if bad and special and suits and terminator not in bad:
        return
    expected = " ".join(_SAME_EVERYWHERE) if client.ebcdic else "a special character"
    if not bad:
        expected = client.terminator
    raise UsageError(
        "LR1001",
        f"found --terminator {terminator!r} with --client {client.name}; expected {expected}",
    )


def _encoding_of(client: Client, log: LogFile, name: str | None) -> str:
    """The name of the encoding of scripts: the one that the user says, or that of the log's
    subsystem."""
    if not client.ebcdic:
        if name is None or encoding.encoding_named(name).plain:
            return "utf-8"
        raise UsageError(
            "LR1001", f"found --encoding {name} with --client {client.name}; expected utf-8"
        )
    told = log.sql_text() if isinstance(log, TellsSqlText) else SqlText(None)
    if (told.delimiter, told.point) != ("'", "."):
        raise UsageError(
            "LR1001",
            f"found a subsystem with {told.delimiter} around literals and {told.point} as decimal"
            f" point (XTYP) with --client {client.name}; expected ' and .",
            hint="Write the script for another client, and bring it over another way",
        )
    if name is None:
        name = "utf-8" if told.ccsid is None else str(told.ccsid)
    return encoding.encoding_named(name).name


@cache
def _form(client: str, terminator: str, name: str) -> form.ScriptForm:
    return form.ScriptForm(client_named(client), terminator, encoding.encoding_named(name))


def job_of(options: ScriptOptions, mode: str, log: LogFile, sizes: Mapping[str, int]) -> bytes:
    """The job that runs scripts of these ``sizes`` (by name, in order), in their encoding; it names
    the subsystem that wrote the log, where that is one of z/OS.
    UsageError (LR1001) for more scripts than a job has steps."""
    written = script_form(options)
    assert written is not None
    if len(sizes) > jcl.MOST_STEPS:
        raise UsageError(
            "LR1001",
            f"found --jcl with {len(sizes):,} scripts; expected at most {jcl.MOST_STEPS}",
            hint="Write larger files (--records-per-file)",
        )
    in_lines = written.encoding.plain
    scripts = [
        jcl.JobScript(name, 0 if in_lines else size // written.client.record)
        for name, size in sizes.items()
    ]
    system = log.source.rpartition(" ")[2] if isinstance(log, TellsSqlText) else "SSID"
    return written.records(jcl.job(written.client, written.terminator, mode, system, scripts))


def check_sizes(options: ScriptOptions, sizes: Mapping[str, int]) -> None:
    """UsageError (LR1001) for a script that is longer than its client takes; ``sizes`` in bytes, by
    name."""
    longest = client_named(options.client).longest_script if options.client else 0
    name = max(sizes, key=sizes.__getitem__, default="")
    if longest and name and sizes[name] > longest:
        raise UsageError(
            "LR1001",
            f"found --client {options.client} with {name} of {sizes[name]:,} bytes; expected at"
            f" most {longest:,}",
            hint="Write smaller files (--records-per-file)",
        )


def unchecked_notes(options: ScriptOptions) -> list[str]:
    """What to see to where a dialect has no SQL to check that a statement changes one row."""
    if options.profile.row_check is not None:
        return []
    return [
        f"scripts for {options.dialect} have no checks: see in what the client prints that each"
        " statement changed one row"
    ]


def how_to_run(client: str, terminator: str, encoding_name: str) -> str:
    """What a user must know of scripts for a client: how they are run, and what they consist of."""
    made = _form(client, terminator, encoding_name)
    if not made.client.record or made.encoding.plain:
        return made.command
    size = made.client.record
    return (
        f"{made.command} (records of {size} bytes without line ends: transfer in binary; --encoding"
        " utf-8 writes lines that can be read here)"
    )


def script_form(options: ScriptOptions) -> form.ScriptForm | None:
    """The form of scripts, None where they are plain SQL."""
    if options.client is None:
        return None
    assert options.terminator is not None
    assert options.encoding is not None
    return _form(options.client, options.terminator, options.encoding)
