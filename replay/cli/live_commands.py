"""The commands on live databases: arguments in, text and exit code out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

from replay.changes.choices import (
    Mode,
)
from replay.cli.following import follow
from replay.cli.outcome import is_printed, tell, tell_notes
from replay.cli.request import LogInput, live_options_of, mapping_of, replay_words, selection_of
from replay.cli.terminal import Bar
from replay.errors import EXIT_OK, EXIT_WARNING, UsageError
from replay.pipeline.request import (
    Demand,
)
from replay.storage.durable import write_file
from replay.temp_folders import WorkFolder
from sqlgen.lazy_imports import when_used

with when_used():  # what some commands alone need
    from replay.live import certificate, replay_request, route, status, verify
    from replay.live import replay as live


def _replay(arguments: argparse.Namespace) -> int:
    reading, chosen = LogInput.of(arguments), selection_of(arguments)
    selection, until, until_time, mark = replay_request.without_end(chosen, None, None, None)
    options = live_options_of(arguments, arguments.to, selection)
    with WorkFolder() as scratch:
        demand = Demand(options=options, mapping=mapping_of(arguments), continued=True)
        request = reading.request(scratch, demand, selection, arguments.to)
        for warning in request.warnings:
            tell(f"warning: {warning}")
        tell_notes(request.notes)
        asked = replay_request.request_for(
            request,
            arguments.to,
            route.Destination(replay_request.placed(request, until), until_time, mark),
            replay_words(arguments),
            arguments.apply,
        )
        with Bar(sys.stderr) as progress:
            source = replay_request.input_of(request, reading.engine_for(request.log, progress))
            code = live.run(source, asked, tell, progress, reading.split_bytes)
    return max(code, EXIT_WARNING if request.warnings else EXIT_OK)


def _verify(arguments: argparse.Namespace) -> int:
    if is_printed(arguments.certificate):
        raise UsageError(
            "LR1001", "found --certificate -; expected a file, so that it can be checked later"
        )
    reading = LogInput.of(arguments)
    with WorkFolder() as scratch, Bar(sys.stderr) as progress:
        work, mapping = None, mapping_of(arguments)
        if mapping is not None and not reading.is_named:
            raise UsageError(
                "LR1001",
                "found --mapping without a log; expected one, whose tables it names",
                hint="Without a log, the state has the target's names: leave --mapping out",
            )
        if reading.is_named:
            mode = Mode.UNDO if arguments.roundtrip else Mode.REDO
            selection = selection_of(arguments)
            options = live_options_of(arguments, arguments.to or arguments.scratch, selection)
            demand = Demand(mode, options, mapping, continued=True)
            request = reading.request(scratch, demand, selection)
            verify.check_verifiable(request.selection)
            tell_notes(request.notes)
            work = replay_request.input_of(request, reading.engine_for(request.log, progress))
        if arguments.expected is None and not arguments.roundtrip:
            return _check_certificate(arguments, work)
        if arguments.expected is None:
            raise UsageError("LR1001", "found --roundtrip without --expected; expected both")
        if arguments.public_key is not None:
            raise UsageError(
                "LR1001", "found --public-key with --expected; expected it with --certificate alone"
            )
        code, findings = verify.compare(
            arguments.to,
            arguments.expected,
            work,
            tell,
            arguments.roundtrip,
            arguments.ddl,
            arguments.target_schema,
            arguments.scratch,
            arguments.csv,
        )
    if arguments.certificate is not None:
        certificate.write(findings, arguments.certificate, arguments.sign_key)
    return code


def _prepare(arguments: argparse.Namespace) -> int:
    if arguments.way_back:
        print(status.way_back(arguments.to, arguments.role, arguments.target_schema))
        return EXIT_OK
    print(status.prepare(arguments.to, arguments.role, arguments.only_print))
    return EXIT_OK


def _check_certificate(arguments: argparse.Namespace, work: live.ReplayInput | None) -> int:
    """Check a certificate that is there, where there is no state to compare anything with."""
    if arguments.certificate is None:
        raise UsageError(
            "LR1001",
            "found neither --expected nor --certificate",
            hint="Give --expected DIR to compare a database, or --certificate FILE alone to check"
            " a certificate",
        )
    if arguments.sign_key is not None:
        raise UsageError("LR1001", "found --sign-key without --expected; expected both")
    path, key = arguments.certificate, arguments.public_key
    return verify.check_certificate(path, print, key, work, arguments.to)[0]


def _status(arguments: argparse.Namespace) -> int:
    reading = LogInput.of(arguments)
    state = status.of(arguments.to, arguments.runs)
    if reading.is_named:
        with WorkFolder() as scratch:
            state = status.with_times(state, reading.open(scratch).log)
    text = json.dumps(state, indent=1, ensure_ascii=False) if arguments.json else status.text(state)
    code = EXIT_WARNING if state.get("hidden") else EXIT_OK
    if is_printed(arguments.rejects):
        sys.stdout.write(status.rejects_text(state))
        print(text, file=sys.stderr)
        return code
    if arguments.rejects is not None:
        script = str(arguments.rejects).endswith(".sql")
        text_of = status.reject_script(arguments.to) if script else status.rejects_text(state)
        write_file(arguments.rejects, text_of)
    print(text)
    return code


def _told(sentence: str) -> int:
    print(sentence)
    return EXIT_OK


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "replay": _replay,
    "verify": _verify,
    "prepare": _prepare,
    "status": _status,
    "follow": follow,
    "pause": lambda arguments: _told(status.pause(arguments.folder)),
    "resume": lambda arguments: _told(status.resume(arguments.folder)),
}
