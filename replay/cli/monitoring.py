"""What others see of ``logreplay follow``: metrics for Prometheus, and its health, over HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any

from replay.cli.following import Follower
from replay.errors import UsageError, optional_library

#: Of each receiver: name of the metric, whether it only rises, what it is.
_OF_RECEIVERS = (
    ("lag_seconds", False, "Time since the oldest log arrived that is not applied (0: all are)."),
    ("lag_bytes", False, "Size of the logs that arrived and are not applied."),
    ("units_pending", False, "Units of recovery that are quarantined, until a log has them whole."),
    ("units_held", False, "Of these, the units that only depend on others."),
    ("units", True, "Units of recovery applied since the start."),
    ("changes", True, "Statements applied, or changes exported, since the start."),
    ("units_per_second", False, "Rate of the last run that applied units."),
    ("last_applied_timestamp_seconds", False, "When units were applied last (0: not yet)."),
    ("trouble", False, "1 while something is in the way."),
)


class Monitor:
    """Answers ``/metrics`` and ``/health`` of a follower while it is open. ``port`` 0: any that is
    free; ``address`` is where it listens. UsageError (LR1005) without the library, LR1006 for an
    address that cannot be had."""

    def __init__(self, follower: Follower, host: str, port: int) -> None:
        self.library = optional_library("prometheus_client", "metrics", "--metrics-port")
        self.follower = follower
        registry = self.library.CollectorRegistry()
        core = optional_library("prometheus_client.core", "metrics", "--metrics-port")
        registry.register(_Collector(core, follower))

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Answer one request."""
                _answer(self, monitor, registry)

            def log_message(self, format: str, *values: Any) -> None:
                """Requests are not logged."""

        monitor = self
        try:
            self._server = ThreadingHTTPServer((host, port), Answer)
        except OSError as error:
            raise UsageError(
                "LR1006",
                f"found {error.strerror} for {host}:{port}; expected a free port on an address"
                " of this machine (--metrics-host, --metrics-port)",
            ) from None
        self._server.daemon_threads = True
        self.address = f"{host}:{self._server.server_address[1]}"

    def __enter__(self) -> Monitor:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def health(follower: Follower) -> dict[str, Any]:
    """How a follower is: ``status`` is ``ok``, ``paused`` or ``trouble``."""
    seen = follower.seen
    trouble = any(receiver.seen.trouble for receiver in follower.receivers)
    return {
        "status": "trouble" if trouble else "paused" if seen.paused else "ok",
        "folder": follower.folder,
        "logs": seen.logs,
        "waiting": seen.waiting,
        "without_logs": seen.without_logs,
        "looked_at": seen.looked_at,
        "receivers": [
            {
                "receiver": receiver.name,
                "position": receiver.seen.position,
                "units": receiver.seen.units,
                "pending": receiver.seen.pending,
                "held": receiver.seen.held,
                "lag_bytes": receiver.seen.lag_bytes,
                "lag_seconds": receiver.seen.lag_seconds(time.time()),
                "trouble": receiver.seen.trouble,
                "last_error": receiver.seen.last_error,
            }
            for receiver in follower.receivers
        ],
    }


def _answer(request: BaseHTTPRequestHandler, monitor: Monitor, registry: Any) -> None:
    path = request.path.partition("?")[0]
    if path == "/metrics":
        kind, code = monitor.library.CONTENT_TYPE_LATEST, 200
        content: bytes = monitor.library.generate_latest(registry)
    elif path == "/health":
        state = health(monitor.follower)
        kind, code = "application/json", 503 if state["status"] == "trouble" else 200
        content = json.dumps(state).encode()
    else:
        kind, code, content = "text/plain", 404, b"found neither /metrics nor /health\n"
    request.send_response(code)
    request.send_header("Content-Type", kind)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)


class _Collector:
    """The metrics of a follower, as the library asks for them."""

    def __init__(self, core: ModuleType, follower: Follower) -> None:
        self.core: Any = core
        self.follower = follower

    def collect(self) -> Iterator[Any]:
        """The metrics as they are now."""
        follower, now = self.follower, time.time()
        for name, rises, text in _OF_RECEIVERS:
            family = self.core.CounterMetricFamily if rises else self.core.GaugeMetricFamily
            metric = family(f"logreplay_{name}", text, labels=["receiver"])
            for receiver in follower.receivers:
                metric.add_metric([receiver.name], float(receiver.seen.measures(now)[name]))
            yield metric
        errors = self.core.CounterMetricFamily(
            "logreplay_errors", "Errors since the start, by code.", labels=["receiver", "code"]
        )
        for receiver in follower.receivers:
            for code, count in sorted(receiver.seen.errors.items()):
                errors.add_metric([receiver.name, code], float(count))
        yield errors
        seen = follower.seen
        logs = self.core.GaugeMetricFamily(
            "logreplay_logs", "Logs in the folder, by what they are.", labels=["state"]
        )
        for state, count in (
            ("whole", seen.logs),
            ("unneeded", len(seen.unneeded)),
            ("waiting", seen.waiting),
        ):
            logs.add_metric([state], float(count))
        yield logs
        for name, text, value in (
            ("paused", "1 while the folder is paused.", float(seen.paused)),
            ("last_look_timestamp_seconds", "When the folder was last looked at.", seen.looked_at),
        ):
            yield self.core.GaugeMetricFamily(f"logreplay_{name}", text, value=value)
