"""What is secret in the URL of a database, in whatever spelling, and text without it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, unquote_plus

from replay.errors import UsageError

HIDDEN = "***"
#: Words in the name of a parameter whose value is secret; a path of a file with secrets is not.
_SECRET = re.compile(r"pass(?!file)|pwd|secret|token|credential|scram|(?<!ssl)key", re.IGNORECASE)
#: ``name = value`` in a list of keywords, the value quoted or not.
_KEYWORD = re.compile(r"(\w+)\s*=\s*('(?:[^'\\]|\\.)*'?|[^\s&;]*)")
_PAIR = re.compile(r"[\w%-]+=")
_HOST = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(:\d*)?")
#: Schemes whose URLs are paths, in which an ``@`` ends no user.
_FILES = ("sqlite", "duckdb", "file")
#: Fewer characters than this are hidden only where they stand alone.
_ALONE = 4


def public_url(url: str) -> str:
    """The URL without what is secret in it, whether or not it is a URL at all."""
    scheme, user, rest = _parted(url)
    if not scheme:
        return redacted(url, secrets_of(url))
    place, mark, query = rest.partition("?")
    shown = [pair for pair in query.split("&") if not _is_secret(pair)]
    name = user.partition(":")[0]
    return f"{scheme}://{name}{'@' if user else ''}{place}" + (
        f"{mark}{'&'.join(shown)}" if shown and mark else ""
    )


def secrets_of(text: str) -> frozenset[str]:
    """What is secret in a URL, or in a list of keywords (``host=h password=p``): as it stands
    there and as it is meant. Of a password that a URL would end in: all up to the last ``@``."""
    secrets = {secret for secret in _spelled(text) if secret}
    return frozenset({*secrets, *map(unquote, secrets), *map(unquote_plus, secrets)})


def redacted(text: str, secrets: Iterable[str]) -> str:
    """A text with secrets hidden, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        alone = len(secret) < _ALONE
        pattern = rf"(?<!\w){re.escape(secret)}(?!\w)" if alone else re.escape(secret)
        text = re.sub(pattern, HIDDEN, text)
    return text


def check_url(url: str) -> None:
    """Raises UsageError (LR1001), which shows nothing secret, for a URL whose user or password has
    characters in it that end them."""
    scheme, user, rest = _parted(url)
    place = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    if not scheme or (
        not any(character in user for character in "/?#[]@")
        and all(_HOST.fullmatch(host) for host in place.split(","))
    ):
        return
    raise UsageError(
        "LR1001",
        "found a URL that cannot be read; expected user, password, host and port each as URLs write"
        " them",
        hint="In a user or password write / as %2F, ? as %3F, # as %23, @ as %40, [ as %5B and ] as"
        " %5D; or leave the password to the environment",
    )


def _parted(url: str) -> tuple[str, str, str]:
    """(scheme, user and password, the rest) of a URL whose password may hold anything; of a path
    alone, no user. An ``@`` may be in a parameter, too."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return "", "", url
    place, _, query = rest.partition("?")
    hosts = place.partition("/")[0].rpartition("@")[2].split(",")
    read = all(_HOST.fullmatch(host) for host in hosts) and _PAIR.match(query)
    where = place if read else rest
    if (rest.startswith("/") and scheme.lower() in _FILES) or "@" not in where:
        return scheme, "", rest
    at = where.rindex("@")
    return scheme, rest[:at], rest[at + 1 :]


def _is_secret(pair: str) -> bool:
    return bool(_SECRET.search(unquote(pair.partition("=")[0])))


def _spelled(text: str) -> Iterator[str]:
    scheme, user, rest = _parted(text)
    yield user.partition(":")[2]
    for pair in rest.partition("?")[2].partition("#")[0].split("&") if scheme else ():
        if _is_secret(pair):
            yield pair.partition("=")[2]
    for name, value in () if scheme else _KEYWORD.findall(text):
        if _SECRET.search(name):
            yield value
            yield re.sub(r"\\(.)", r"\1", value.strip("'"))
