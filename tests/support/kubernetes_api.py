"""A double of the API server of Kubernetes: so much of it as Spark's client asks for, over HTTPS,
for who has the token, as far as rules allow it. Objects are kept in memory; nothing is carried out
here (:mod:`tests.support.kubelet`)."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import re
import socket
import ssl
import threading
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

#: An object, as JSON has it.
Object = dict[str, Any]
#: Resource, namespace, name.
Key = tuple[str, str, str]
#: Resources of the core group that there are, each with its kind.
KINDS = {
    "pods": "Pod",
    "configmaps": "ConfigMap",
    "services": "Service",
    "secrets": "Secret",
    "persistentvolumeclaims": "PersistentVolumeClaim",
}
_PATH = re.compile(r"/api/v1/namespaces/([^/]+)/([^/]+)(?:/([^/]+))?/?")
#: Names of pods (RFC 1123), and values of labels.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3
_REASONS = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "AlreadyExists"}


class Refused(Exception):
    """A request that is not carried out: the HTTP status, and what is said."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code

    def status(self) -> Object:
        reason = _REASONS.get(self.code, "Invalid")
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": str(self),
            "reason": reason,
            "code": self.code,
        }


@dataclass
class Api:
    """The objects of a cluster, and what happened to them. ``token``: that of the only account;
    ``rules``: resource and verb that it may use (None: all); ``answers``: cleared, the server takes
    requests and says nothing. ``asked`` counts requests by verb and resource."""

    token: str
    rules: Collection[tuple[str, str]] | None = None
    objects: dict[Key, Object] = field(default_factory=dict)
    happened: list[tuple[int, str, Key, Object]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    answers: threading.Event = field(default_factory=threading.Event)
    asked: dict[tuple[str, str], int] = field(default_factory=dict)
    url: str = ""

    def __post_init__(self) -> None:
        self.answers.set()

    def check(self, header: str, verb: str, resource: str) -> None:
        """Raises Refused unless the bearer of a token may do that."""
        self.answers.wait()
        if header != f"Bearer {self.token}":
            raise Refused(401, "Unauthorized")
        self.asked[verb, resource] = self.asked.get((verb, resource), 0) + 1
        if self.rules is not None and (resource, verb) not in self.rules:
            user = 'User "system:serviceaccount:logs:logreplay"'
            raise Refused(403, f"{resource} is forbidden: {user} cannot {verb} {resource}")

    def create(self, key: Key, new: Object) -> Object:
        resource, namespace, name = key
        labels = new["metadata"].get("labels") or {}
        if not _NAME.fullmatch(name) or not all(map(_LABEL.fullmatch, labels.values())):
            raise Refused(422, f'{KINDS[resource]} "{name}" is invalid: {labels}')
        with self.changed:
            if key in self.objects:
                raise Refused(409, f'{resource} "{name}" already exists')
            now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            made = {"uid": str(uuid.uuid4()), "creationTimestamp": now, "namespace": namespace}
            start = {"status": {"phase": "Pending"}} if resource == "pods" else {}
            kind = {"apiVersion": "v1", "kind": KINDS[resource]}
            return self._put("ADDED", key, {**new, **kind, **start}, made)

    def get(self, key: Key) -> Object:
        with self.changed:
            if key not in self.objects:
                raise Refused(404, f'{key[0]} "{key[2]}" not found')
            return self.objects[key]

    def patch(self, key: Key, more: Object) -> Object:
        """Merge (RFC 7386) an object with more."""
        with self.changed:
            return self._put("MODIFIED", key, _merged(self.get(key), more), {})

    def delete(self, key: Key, grace: int | None = None) -> Object:
        """A pod that a node has goes when the node says so (:meth:`gone`), all else at once."""
        with self.changed:
            now = self.get(key)
            if key[0] != "pods" or now["status"]["phase"] != "Running":
                return self.gone(key)
            seconds = now["spec"].get("terminationGracePeriodSeconds", 30)
            soon = {
                "deletionTimestamp": now["metadata"]["creationTimestamp"],
                "deletionGracePeriodSeconds": seconds if grace is None else grace,
            }
            return self._put("MODIFIED", key, now, soon)

    def gone(self, key: Key) -> Object:
        with self.changed:
            return self._put("DELETED", key, self.get(key), {})

    def found(self, resource: str, namespace: str, chosen: Callable[[Object], bool]) -> Object:
        with self.changed:
            items = [
                each
                for key, each in self.objects.items()
                if key[:2] == (resource, namespace) and chosen(each)
            ]
            version = {"resourceVersion": str(len(self.happened))}
        kind = f"{KINDS[resource]}List"
        return {"kind": kind, "apiVersion": "v1", "metadata": version, "items": items}

    def events(
        self, resource: str, since: int | None, ends: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[str, Key, Object]]:
        """What happens to objects of a resource after a version (None: to all that are there), and
        until it ``ends``."""
        with self.changed:
            there = [] if since else [(key, each) for key, each in self.objects.items()]
            at = since or len(self.happened)
        yield from (("ADDED", key, each) for key, each in there if key[0] == resource)
        while True:
            with self.changed:
                if len(self.happened) == at and not ends():
                    self.changed.wait(1)
                news = self.happened[at:]
                at = len(self.happened)
            if ends():
                return
            yield from ((what, key, each) for _, what, key, each in news if key[0] == resource)

    def _put(self, what: str, key: Key, new: Object, more: Object) -> Object:
        version = len(self.happened) + 1
        metadata = {**new["metadata"], **more, "resourceVersion": str(version)}
        self.objects[key] = new = {**new, "metadata": metadata}
        if what == "DELETED":
            del self.objects[key]
        self.happened.append((version, what, key, new))
        self.changed.notify_all()
        return new


def _merged(old: Object, new: Object) -> Object:
    both = dict(old)
    for name, value in new.items():
        if isinstance(value, dict) and isinstance(both.get(name), dict):
            both[name] = _merged(both[name], value)
        elif value is not None:
            both[name] = value
        else:
            both.pop(name, None)
    return both


def selected(labels: str, fields: str) -> Callable[[Object], bool]:
    """The objects that label and field selectors choose."""
    parts = [part for part in re.split(r",(?![^(]*\))", labels) if part]
    wanted = dict(part.split("=") for part in fields.replace("==", "=").split(",") if part)

    def chosen(one: Object) -> bool:
        mine = one["metadata"].get("labels") or {}
        flat = {
            "status.phase": one.get("status", {}).get("phase"),
            "metadata.name": one["metadata"]["name"],
        }
        by_fields = all(flat[name] == value for name, value in wanted.items())
        return by_fields and all(_matches(mine, part) for part in parts)

    return chosen


def _matches(labels: Mapping[str, str], part: str) -> bool:
    among = re.fullmatch(r"\s*(\S+) (in|notin) \(([^)]*)\)\s*", part)
    if among:
        values = [value.strip() for value in among[3].split(",")]
        return (labels.get(among[1]) in values) == (among[2] == "in")
    compared = re.fullmatch(r"([^!=]+)(!?)==?([^=]*)", part)
    if compared:
        return (labels.get(compared[1]) == compared[3]) != bool(compared[2])
    return part.lstrip("!") not in labels if part.startswith("!") else part in labels


class _Handler(BaseHTTPRequestHandler):
    """A connection of a client; ``api`` is what it talks to."""

    protocol_version = "HTTP/1.1"
    api: Api

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._carry_out("get")

    def do_POST(self) -> None:
        self._carry_out("create")

    def do_PATCH(self) -> None:
        self._carry_out("patch")

    def do_DELETE(self) -> None:
        self._carry_out("delete")

    def _carry_out(self, verb: str) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        try:
            code, answer = self._answer(verb, body)
        except Refused as refused:
            code, answer = refused.code, refused.status()
        if answer is not None:
            self._reply(code, answer)

    def _answer(self, verb: str, body: Object) -> tuple[int, Object | None]:
        address = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        place = _PATH.fullmatch(address.path)
        if place is None or place[2] not in KINDS:
            self.api.check(self.headers.get("Authorization", ""), verb, "other")
            raise Refused(404, f"{address.path} is not to be found")
        namespace, resource, name = place.groups()
        watches = asked.get("watch") in ("true", "1")
        many = {"get": "watch" if watches else "list", "delete": "deletecollection"}
        verb = verb if name else many.get(verb, verb)
        self.api.check(self.headers.get("Authorization", ""), verb, resource)
        chosen = selected(asked.get("labelSelector", ""), asked.get("fieldSelector", ""))
        if verb == "watch":
            self._watch(resource, namespace, chosen, int(asked.get("resourceVersion") or 0) or None)
            return 200, None
        if verb == "create":
            key = (resource, namespace, body["metadata"]["name"])
            return 201, self.api.create(key, body)
        if verb in ("list", "deletecollection"):
            found = self.api.found(resource, namespace, chosen)
            for each in found["items"] if verb == "deletecollection" else ():
                self.api.delete((resource, namespace, each["metadata"]["name"]))
            return 200, found
        key = (resource, namespace, str(name))
        if verb == "get":
            return 200, self.api.get(key)
        if verb == "patch":
            return 200, self.api.patch(key, body)
        return 200, self.api.delete(key, body.get("gracePeriodSeconds"))

    def _reply(self, code: int, answer: Object) -> None:
        words = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(words)))
        self.end_headers()
        self.wfile.write(words)

    def _watch(
        self, resource: str, namespace: str, chosen: Callable[[Object], bool], since: int | None
    ) -> None:
        """Tell of events as they come: messages of a web socket where that is asked for, else lines
        of an answer that does not end."""
        socketed = self.headers.get("Upgrade", "").lower() == "websocket"
        gone = threading.Event()
        self.close_connection = True
        if socketed:
            digest = hashlib.sha1((self.headers["Sec-WebSocket-Key"] + _WEBSOCKET).encode())
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", base64.b64encode(digest.digest()).decode())
            threading.Thread(target=self._until_closed, args=(gone,), daemon=True).start()
        else:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
        self.end_headers()
        for what, key, each in self.api.events(resource, since, gone.is_set):
            if key[1] != namespace or not chosen(each):
                continue
            words = json.dumps({"type": what, "object": each}).encode()
            try:
                self.wfile.write(_message(words) if socketed else words + b"\n")
            except OSError:
                return

    def _until_closed(self, gone: threading.Event) -> None:
        with suppress(OSError, ValueError):
            while (head := self.rfile.read(2)) and head[0] & 15 != 8:
                size = head[1] & 127  # messages of clients are short, and masked
                self.rfile.read(4 + size)
        gone.set()
        with self.api.changed:
            self.api.changed.notify_all()


def _message(words: bytes) -> bytes:
    """A message of a server (RFC 6455, 5.2): text, whole, not masked."""
    size = len(words)
    if size < 126:
        return bytes([0x81, size]) + words
    if size < 1 << 16:
        return b"\x81\x7e" + size.to_bytes(2, "big") + words
    return b"\x81\x7f" + size.to_bytes(8, "big") + words


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    context: ssl.SSLContext

    def get_request(self) -> tuple[socket.socket, Any]:
        plain, address = super().get_request()
        # the handshake is made by the thread of the connection
        return self.context.wrap_socket(plain, True, do_handshake_on_connect=False), address

    def handle_error(self, *_: object) -> None:
        """A client that went away is no error."""


@contextmanager
def served(api: Api, listening: socket.socket, files: tuple[Any, Any]) -> Iterator[Api]:
    """Serve an API at a socket, with the ``files`` of a certificate and its key, while the context
    lasts."""
    host, port = listening.getsockname()[:2]
    handler = type("Handler", (_Handler,), {"api": api})
    server = _Server((host, port), handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.context.load_cert_chain(*files)
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    api.url = f"https://{host}:{port}"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
