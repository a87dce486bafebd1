"""How places and commands are called where others may read them: in messages, reports, pages,
manifests, certificates and lists of processes. Whatever names a place for output comes from here,
and has no password, key or token in it, in whatever spelling; users stay."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, unquote_plus

HIDDEN = "***"
#: Words in the name of a parameter whose value is secret; a path of a file with secrets is not.
_SECRET = re.compile(
    r"pass(?!file)|pwd|secret|token|credential|scram|signature|^sig$|(?<!ssl)key", re.IGNORECASE
)
#: The same of Spark's settings, which are what Spark itself hides (``spark.redaction.regex``), but
#: for those that only say where a secret is, or whether there is one.
_SECRET_SETTING = re.compile(r"secret|password|token|credential|access[.]?key", re.IGNORECASE)
_PLACE = re.compile(r"File$|\.secretKeyRef\.|\.secrets\.|\.enabled$")
#: ``name = value`` in a list of keywords, the value quoted or not; not in a path of folders.
_KEYWORD = re.compile(r"(?<![\w/\\])(\w+)\s*=\s*('(?:[^'\\]|\\.)*'?|[^\s&;]*)")
_SCHEME = re.compile(r"[^/?@]*?:/{1,2}")
_PAIR = re.compile(r"[\w%-]+=")
_HOST = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(:\d*)?")
#: Databases whose passwords may have a slash in them that is not spelled as a code; the names that
#: stores have are more likely to have an ``@``.
_SERVER = re.compile(r"\b(postgres(ql)?|mysql|mariadb):", re.IGNORECASE)
#: Schemes whose URLs are paths, in which an ``@`` ends no user.
_FILES = ("sqlite://", "duckdb://", "file://")
#: Fewer characters than this are hidden only where they stand alone.
_ALONE = 4


def public(place: str | os.PathLike[str]) -> str:
    """A path, a URL, or a list of keywords, without what is secret in it."""
    text = os.fspath(place)
    scheme, user, rest = _parted(text)
    if not scheme:
        return _KEYWORD.sub(_without_value, text)
    where, mark, query = rest.partition("?")
    first, *parameters = where.split(";")
    where = ";".join([first, *_shown(parameters)])
    shown = "&".join(_shown(query.split("&")))
    name = user.partition(":")[0]
    return f"{scheme}{name}{'@' if user else ''}{where}{mark if shown else ''}{shown}"


def command(name: str, *words: str) -> str:
    """A command of ours, as it is typed. Words that name a place are :func:`public` already."""
    return f"logreplay {options(name, *words)}"


def options(*words: str) -> str:
    """Options as they are typed."""
    return shlex.join(words)


def without(text: str, *given: str) -> str:
    """A text that others made, such as a driver, without what is secret in URLs and lists of
    keywords that they were ``given``."""
    return hidden(text, frozenset().union(*map(secrets_of, given)))


def hidden(text: str, secrets: Iterable[str]) -> str:
    """A text with secrets hidden, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        alone = len(secret) < _ALONE
        pattern = rf"(?<!\w){re.escape(secret)}(?!\w)" if alone else re.escape(secret)
        text = re.sub(pattern, HIDDEN, text)
    return text


def secrets_of(text: str) -> frozenset[str]:
    """What is secret in a URL, or in a list of keywords (``host=h password=p``): as it stands
    there and as it is meant. Of a password that a URL would end in: all up to the last ``@``."""
    secrets = {secret for secret in _spelled(text) if secret}
    return frozenset({*secrets, *map(unquote, secrets), *map(unquote_plus, secrets)})


def password_of(url: str) -> str | None:
    """The password in a URL, before the host or among the parameters; None where there is none."""
    _, user, rest = _parted(url)
    if ":" in user:
        return unquote(user.partition(":")[2])
    pairs = [pair.partition("=") for pair in rest.partition("?")[2].split("&")]
    found = [value for name, _, value in pairs if unquote(name).lower() == "password"]
    return unquote(found[-1]) if found else None


def is_secret_name(name: str) -> bool:
    """Whether a parameter of this name is secret."""
    return bool(_SECRET.search(unquote(name)))


def is_secret_setting(name: str, value: str = "") -> bool:
    """Whether a setting of Spark (``--conf NAME=VALUE``) is secret, by its name or by a URL with a
    password that it is set to."""
    of_name = bool(_SECRET_SETTING.search(name)) and not _PLACE.search(name)
    return of_name or ("://" in value and bool(secrets_of(value)))


def is_readable(url: str) -> bool:
    """Whether user and password of a URL have no characters in them that end them."""
    scheme, user, rest = _parted(url)
    place = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    return not scheme or (
        not any(character in user for character in "/?#[]@")
        and all(_HOST.fullmatch(host) for host in place.split(","))
    )


def _parted(url: str) -> tuple[str, str, str]:
    """(scheme with its slashes, user and password, the rest) of a URL whose password may hold
    anything; of a path alone, no user. An ``@`` may be in a parameter, too. A URL that was taken
    for a path has lost a slash."""
    if (begin := _SCHEME.match(url)) is None:
        return "", "", url
    scheme, rest = begin[0], url[begin.end() :]
    host = rest.partition("/")[0]
    if not _SERVER.search(scheme) and "@" not in host and _HOST.fullmatch(host):
        return scheme, "", rest
    place, _, query = rest.partition("?")
    hosts = place.partition("/")[0].rpartition("@")[2].split(",")
    read = all(_HOST.fullmatch(host) for host in hosts) and _PAIR.match(query)
    where = place if read else rest
    if (rest.startswith("/") and scheme.lower().startswith(_FILES)) or "@" not in where:
        return scheme, "", rest
    at = where.rindex("@")
    return scheme, rest[:at], rest[at + 1 :]


def _without_value(pair: re.Match[str]) -> str:
    return f"{pair[1]}={HIDDEN}" if _is_secret_word(pair[1]) else pair[0]


def _is_secret_word(name: str) -> bool:
    """Whether a keyword in front of a value is one of a database: folders are called ``key=5``, and
    an option of a log ``foreign-keys=ignore``."""
    return is_secret_name(name) and not name.lower().endswith(("key", "keys"))


def _shown(pairs: Iterable[str]) -> Iterator[str]:
    """The parameters of a URL that are not secret."""
    return (pair for pair in pairs if not is_secret_name(pair.partition("=")[0]))


def _spelled(text: str) -> Iterator[str]:
    scheme, user, rest = _parted(text)
    yield user.partition(":")[2]
    place, _, query = rest.partition("?")
    pairs = [*place.split(";")[1:], *query.partition("#")[0].split("&")]
    for pair in pairs if scheme else ():
        if is_secret_name(pair.partition("=")[0]):
            yield pair.partition("=")[2]
    for name, value in () if scheme else _KEYWORD.findall(text):
        if _is_secret_word(name):
            yield value
            yield re.sub(r"\\(.)", r"\1", value.strip("'"))


def masked_value(column: str) -> str:
    """What is said in place of a value."""
    return f"a value in {column}, which is masked"
