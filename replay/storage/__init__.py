"""Where files are: on this machine, or in a store that a URL names (``s3://``, ``gs://``,
``abfs://``, ``hdfs://``, and whatever fsspec knows). One small module over :mod:`pyarrow.fs`.

Credentials and endpoints are found by the libraries (environment, profiles, roles). A URL that
holds a secret is refused, so that none gets into a message, a manifest or a process list.
"""

from __future__ import annotations

import errno
import io
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from replay.errors import InputError, UsageError, Where, cause_of
from replay.machine import is_full, room_for
from replay.redaction import public, secrets_of
from replay.storage.timeouts import StoreError, answered
from replay.temp_folders import WorkFolder
from sqlgen.lazy_imports import when_used

with when_used():  # help and runs on files of this machine need none of them here
    import pyarrow as pa
    from pyarrow import fs

#: Other spellings of schemes, as Hadoop has them.
_SPELLED = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "wasbs": "abfss", "wasb": "abfs"}
#: Schemes of files; others are those of fsspec. (URLs of databases are none of these.)
_SCHEMES = frozenset({"file", "s3", "gs", "abfs", "abfss", "hdfs", "viewfs", *_SPELLED})
#: How many requests to a store, or a disk, run side by side: one after the other they take long.
REQUESTS = 16
#: How often a folder is removed from which others remove files.
_REMOVALS = 10
#: File systems that name the content of their objects.
_NAMES_CONTENT = ("s3", "gcs")
#: Bytes of a stream that are fetched ahead, and of one that is copied at a time.
_STREAMED = 4 << 20
#: What stands between a URL and the version of what it names (:func:`version_of`).
VERSION = "#version="
_HINT = "Look at the URL, and at the credentials and endpoint in the environment"


def is_url(place: str | os.PathLike[str]) -> bool:
    """Whether a place is a URL of files; those of databases are none."""
    scheme, mark, _ = str(place).lower().partition("://")
    return bool(mark) and (scheme in _SCHEMES or scheme in _schemes_of_fsspec())


@cache
def _schemes_of_fsspec() -> frozenset[str]:
    try:
        import fsspec
    except ImportError:
        return frozenset()
    return frozenset(fsspec.available_protocols())


def is_database(place: str) -> bool:
    """Whether a place is the URL of something else than files, if with a slash too few."""
    return bool(re.match(r"[A-Za-z]\w+:/|.*://", place)) and not is_url(place)


def refuse_secrets(place: str) -> None:
    """UsageError (LR1001) for a path or URL that holds a secret."""
    if secrets_of(place):
        raise UsageError(
            "LR1001",
            f"found {public(place)} with a secret; expected it without",
            hint="Give secrets as the libraries of a store or database find them: in the"
            " environment or a profile",
        )


def settled(place: str) -> str:
    """A place as this program spells it: ``file://`` URLs as paths, ``s3a`` as ``s3``, and ``#``,
    which is a letter of names as any other, as a code; others as they are. UsageError (LR1001) for
    a place that holds a secret, or a URL that names nothing."""
    refuse_secrets(place)
    if not is_url(place):
        return place
    name, mark, version = place.partition(VERSION)
    place = name.replace("#", "%23") + mark + version
    try:
        parts = urlsplit(place)
    except ValueError as error:
        scheme = place.partition("://")[0]
        message = f"found a URL {scheme}://… that cannot be read; expected {scheme}://PLACE/NAME"
        raise UsageError("LR1001", message) from error
    shown = public(place)
    if parts.scheme.lower() in ("s3", "s3a", "s3n") and "@" in parts.netloc:  # a key's identifier
        shown = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))
        raise UsageError("LR1001", f"found the URL {shown} with a user; expected one without")
    scheme = _SPELLED.get(parts.scheme.lower(), parts.scheme.lower())
    if scheme == "file":
        if parts.netloc not in ("", "localhost"):
            raise UsageError(
                "LR1001",
                f"found the URL {shown}, a file of the machine {parts.netloc}; expected"
                " file:///path",
            )
        return unquote(parts.path)
    if not parts.netloc and scheme not in ("hdfs", "memory"):
        raise UsageError("LR1001", f"found the URL {shown}; expected {scheme}://PLACE/NAME")
    return place.replace(place[: len(parts.scheme)], scheme, 1)


def at(place: str | os.PathLike[str]) -> Place:
    """The file or folder at a place. Errors as :func:`settled`."""
    if isinstance(place, StoredPath):
        return place
    found = settled(os.fspath(place))
    return StoredPath(found) if is_url(found) else Path(found)


def place_of(word: str) -> Place:
    """The file or folder that a user names; ``-`` alone is standard output. Errors as :func:`at`;
    UsageError (LR1001) for a word like an option."""
    if word.startswith("-") and word != "-":
        raise UsageError("LR1001", f"found {word!r}; expected a file or folder (./{word} is one)")
    return at(word)


class StoredPath:
    """A file or folder in a store, as far as it is like a :class:`pathlib.Path`. Names are those
    that the store has; in ``url``, which is what a user gave where it was given, some letters are
    codes. Raises OSError."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._parts = urlsplit(url)

    def __str__(self) -> str:
        return self.url

    def __fspath__(self) -> str:
        return self.url

    def __repr__(self) -> str:
        return f"StoredPath({self.url!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredPath) and self.url == other.url

    def __hash__(self) -> int:
        return hash(self.url)

    def __lt__(self, other: StoredPath) -> bool:
        return self.url < other.url

    def __truediv__(self, name: str) -> StoredPath:
        return self._of(PurePosixPath(self._parts.path or "/") / _in_url(name))

    def _of(self, path: PurePosixPath) -> StoredPath:
        return StoredPath(urlunsplit(self._parts._replace(path=str(path))))

    @property
    def _path(self) -> PurePosixPath:
        return PurePosixPath(self._parts.path)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return unquote(self._path.name) or self._parts.netloc

    @property
    def suffix(self) -> str:
        """The end of the name, from its last point on."""
        return PurePosixPath(self.name).suffix

    @property
    def stem(self) -> str:
        """The name without it."""
        return PurePosixPath(self.name).stem

    @property
    def parent(self) -> StoredPath:
        """The folder."""
        return self._of(self._path.parent)

    def asked(self, request: str, *more: Any, **named: Any) -> Any:
        """What its file system (:class:`pyarrow.fs.FileSystem`) gives for a request about it.
        OSError where the store gives no answer."""
        system, path = system_of(self.url)
        return answered(self.url, getattr(system, request), path, *more, **named)

    def info(self) -> fs.FileInfo:
        """What the store says of it."""
        return self.asked("get_file_info")

    def file_info(self) -> fs.FileInfo:
        """The same of a file. OSError where there is none."""
        info = self.info()
        if info.type != fs.FileType.File:
            raise FileNotFoundError(errno.ENOENT, "No such file", self.url)
        return info

    def is_file(self) -> bool:
        """Whether it is a file."""
        return bool(self.info().type == fs.FileType.File)

    def is_dir(self) -> bool:
        """Whether it is a folder, or the beginning of names."""
        return bool(self.info().type == fs.FileType.Directory)

    def exists(self) -> bool:
        """Whether it is there."""
        return bool(self.info().type != fs.FileType.NotFound)

    def listed(self, **how: bool) -> list[fs.FileInfo]:
        """What the store says of all that is in a folder. ``how``: as a
        :class:`pyarrow.fs.FileSelector` takes it."""
        system, path = system_of(self.url)
        found = answered(self.url, system.get_file_info, fs.FileSelector(path, **how))
        return cast("list[fs.FileInfo]", found)

    def iterdir(self) -> Iterator[StoredPath]:
        """What is in a folder."""
        for info in self.listed():
            yield self / info.base_name

    def read_bytes(self) -> bytes:
        """All of a file."""
        with opened(self, whole=True) as file:
            return file.read()

    def read_text(self, encoding: str = "utf-8") -> str:
        """The same as text."""
        return self.read_bytes().decode(encoding)

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        """Write a file of text."""
        put(text.encode(encoding), self)

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove a file."""
        if not missing_ok or self.exists():
            self.asked("delete_file")


def _in_url(name: str) -> str:
    """A name that a store has, as a part of a URL: what means something else there is a code."""
    return name.replace("%", "%25").replace("#", "%23").replace("?", "%3F")


#: A file or folder, wherever it is.
Place = Path | StoredPath


@dataclass(frozen=True)
class ListedFile:
    """A file of a folder, as the folder's list has it: its size in bytes, and when it was changed
    (ns since 1970; None where a store does not tell)."""

    place: Place
    size: int
    changed_ns: int | None

    @property
    def name(self) -> str:
        """The last part of its place."""
        return self.place.name


def files_in(folder: Place) -> list[ListedFile]:
    """The files of a folder, or of the beginning of names in a store (none where nothing begins
    so), without those in folders of it. Raises OSError."""
    if isinstance(folder, Path):
        entries = [(entry, entry.stat()) for entry in os.scandir(folder) if entry.is_file()]
        return [
            ListedFile(Path(entry.path), status.st_size, status.st_mtime_ns)
            for entry, status in entries
        ]
    return [
        ListedFile(folder / info.base_name, int(info.size), info.mtime_ns)
        for info in folder.listed(allow_not_found=True)
        if info.type == fs.FileType.File
    ]


class StoredFile(io.RawIOBase):
    """A file of a store that is read, from its beginning on or anywhere; ``size`` is that of when
    it was opened. Raises OSError."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url, self._file = url, StoredPath(url).asked("open_input_file")
        self.size: int = answered(url, self._file.size)
        self._at = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """One may go to and fro in it."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place in it."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        return self._at

    def tell(self) -> int:
        """The place in it."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes; as many as there are."""
        got = self.read_at(len(buffer), self._at)
        buffer[: len(got)] = got
        self._at += len(got)
        return len(got)

    def readall(self) -> bytes:
        """All that is left."""
        got = self.read_at(self.size, self._at)
        self._at += len(got)
        return got

    def read_at(self, size: int, start: int) -> bytes:
        """Bytes from ``start`` on: as many as there are. A reply may be cut off, which libraries do
        not tell: what is missing is asked for again, and OSError where it does not come."""
        wanted = max(0, min(size, self.size - start))
        got = b""
        while len(got) < wanted:
            at = start + len(got)
            more = answered(self._url, self._file.read_at, wanted - len(got), at)
            if not more:
                message = f"the store gave nothing at byte {at}, of {start + wanted}"
                raise OSError(errno.EIO, message, self._url)
            got = got + more if got else more
        return got


@contextmanager
def opened(place: str | Place, whole: bool = False) -> Iterator[BinaryIO]:
    """A file that is read from its beginning. Raises OSError; with ``whole`` also where an object
    was replaced while it was read, so that what was read may be of two."""
    if not is_url(place):
        with open(place, "rb") as local:
            yield local
        return
    url = str(place)
    before = version_of(url) if whole else ""
    with io.BufferedReader(StoredFile(url), _STREAMED) as file:
        yield cast(BinaryIO, file)
    if whole:
        check_version(url, before, "it was opened")


def for_arrow(place: str | Place, unpacked: bool = True) -> str | pa.NativeFile:
    """A file as readers of Arrow take it: those that read from beginning to end (``unpacked``: by
    its name), or go to and fro in it. Raises OSError."""
    if not is_url(place):
        return str(place)
    stored = StoredFile(str(place))
    if not unpacked:
        return pa.PythonFile(stored, "r")
    stream = pa.PythonFile(io.BufferedReader(stored, _STREAMED), "r")
    packed = str(place).lower().endswith(".gz")
    return pa.CompressedInputStream(stream, "gzip") if packed else stream


def size_of(place: str | Place) -> int:
    """Bytes of a file. Raises OSError."""
    return StoredPath(str(place)).file_info().size if is_url(place) else os.stat(place).st_size


def name_of(place: str | Place) -> str:
    """The last part of a place."""
    return at(place).name


def file_name(name: str) -> str:
    """A table's name as that of a file: what no file's name can have is a code (a ``/`` is
    ``%2F``), and so is ``%``."""
    return re.sub(r"[/%\x00-\x1f\x7f]", lambda found: f"%{ord(found[0]):02X}", name)


def name_in_file(name: str) -> str:
    """The inverse of :func:`file_name`; a dot may be a code, too."""
    return re.sub("%(2F|25|2E|[01][0-9A-F]|7F)", lambda found: chr(int(found[1], 16)), name)


def names_below(folder: Place) -> list[str]:
    """The names of all files below a folder, from there on; none where it is not there. Raises
    OSError."""
    if isinstance(folder, Path):
        below = (path for path in folder.rglob("*") if not path.is_dir())
        return [path.relative_to(folder).as_posix() for path in below]
    above = len(system_of(folder.url)[1].strip("/")) + 1
    return [
        info.path.strip("/")[above:]
        for info in folder.listed(recursive=True, allow_not_found=True)
        if info.type == fs.FileType.File
    ]


@contextmanager
def readable(place: str | Place, what: str = "the file", hint: str = "") -> Iterator[None]:
    """Have an error of reading a place, unpacking what is there, or taking it for text or JSON, say
    what cannot be read, and where: InputError LR2001. One that says that there is no room to write
    stays what it is."""
    try:
        yield
    except (OSError, EOFError, ValueError, zlib.error) as error:
        if is_full(error):
            raise
        message, where = (
            f"{what} cannot be read: {_first_line(error)}",
            Where(unversioned(str(place))),
        )
        raise InputError("LR2001", message, where, hint) from None


@contextmanager
def on_this_machine(place: Place) -> Iterator[Path]:
    """A file, or a folder with the files in it, for programs that read paths: one of a store is
    copied for a while. InputError LR2001 where it cannot be read."""
    if isinstance(place, Path):
        yield place
        return
    with WorkFolder() as scratch:
        target = Path(scratch) / place.name
        with readable(place, "it", _HINT):
            if place.is_dir():
                target.mkdir()
                files = [file.place for file in files_in(place)]
                with ThreadPoolExecutor(REQUESTS) as pool:
                    list(pool.map(copy, files, [target / path.name for path in files]))
            else:
                copy(place, target)
        yield target


def same(place: str) -> str:
    """What is equal for two spellings of one place."""
    found = settled(place)
    return found if is_url(found) else os.path.realpath(found)


def copy(place: str | Place, target: Path) -> None:
    """Copy a file to this machine. Raises OSError."""
    with opened(place, whole=True) as file, room_for(target), target.open("wb") as here:
        while block := file.read(_STREAMED):
            here.write(block)


#: What may stand in a URL beside letters and digits: all else, as blanks in the names of files, is
#: written as codes (RFC 3986, section 2). Codes that are there stay.
_OF_URLS = "-._~:/?#[]@!$&'()*+,;=%"


@lru_cache(maxsize=64)
def system_of(url: str) -> tuple[fs.FileSystem, str]:
    """The file system of a URL, and the path in it. InputError LR2001 where there is none."""
    url = url.partition(VERSION)[0]
    try:
        # it may ask a store where it is
        system, path = answered(url, fs.FileSystem.from_uri, quote(url, _OF_URLS))
        return system, cast(str, path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        scheme, _, rest = url.partition("://")
        found = _of_fsspec(scheme)
        if found is None:
            message = f"found a URL that no file system here knows: {_first_line(error)}"
            hint = f"{_HINT}. More are known with: pip install 'logreplay-sql[storage]'"
            raise InputError("LR2001", message, Where(url), hint) from None
        return found, unquote(rest)
    except OSError as error:
        raise unreachable(error, url) from None


def version_of(url: str) -> str:
    """What tells an object from others of its name: its size, and what the store calls its content
    (ETag; times of stores may be whole seconds), or where it has no such name, its time.
    Raises OSError."""
    if system_of(url)[0].type_name in _NAMES_CONTENT:
        file = StoredPath(url).asked("open_input_file")
        tag = (answered(url, file.metadata) or {}).get("ETag")
        if tag:
            return f"{answered(url, file.size)}-{tag.hex()}"
    info = StoredPath(url).file_info()
    return f"{info.size}-{info.mtime_ns}"


def check_version(url: str, version: str, since: str) -> None:
    """OSError where a file has another version by now: what was read of it may be of two."""
    if not version.startswith(version_of(url)):
        raise OSError(errno.EIO, f"it has changed since {since}", unversioned(url))


def unversioned(path: str) -> str:
    """A path, or a URL without the version behind it."""
    return path.partition(VERSION)[0] if is_url(path) else path


def unreachable(error: OSError, url: str = "") -> InputError:
    """What is said where a store cannot be asked; ``url``: where the error has none."""
    place = error.place if isinstance(error, StoreError) else url
    message = f"the store cannot be reached: {_first_line(error)}"
    return InputError("LR2001", message, Where(place), _HINT)


def _of_fsspec(scheme: str) -> fs.FileSystem | None:
    try:
        import fsspec
    except ImportError:
        return None
    try:
        return fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem(scheme)))
    except (ImportError, ValueError):
        return None


def _first_line(error: Exception) -> str:
    return cause_of(error).partition("\n")[0]


# -- writing
# -------------------------------------------------------------------------------------------------


def put(source: Path | bytes, target: StoredPath) -> None:
    """Write an object: it appears when all of it is there. Raises OSError."""
    _make_folder_of(target)
    # a name that ends in .gz is no wish to pack
    stored = target.asked("open_output_stream", compression=None)
    try:
        for block in _blocks_of(source):
            answered(target.url, stored.write, block)
        answered(target.url, stored.close)
    except BaseException as error:
        if not isinstance(error, TimeoutError):  # who gave no answer is not asked again
            with suppress(OSError):  # an object appears when it is closed, and must not stay
                answered(target.url, stored.close)
        with suppress(OSError):
            target.unlink()
        raise


def _blocks_of(source: Path | bytes) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    with source.open("rb") as here:
        while block := here.read(_STREAMED):
            yield block


def copy_all(pairs: Sequence[tuple[StoredPath, StoredPath]]) -> None:
    """Copy objects within a store, side by side. Raises OSError."""

    def one(pair: tuple[StoredPath, StoredPath]) -> None:
        source, target = pair
        _make_folder_of(target)
        source.asked("copy_file", system_of(target.url)[1])

    with ThreadPoolExecutor(REQUESTS) as pool:
        list(pool.map(one, pairs))


def _make_folder_of(target: StoredPath) -> None:
    """Make the folder that a file is to lie in, where a store has folders."""
    system, path = system_of(target.url)
    if system.type_name not in ("s3", "gcs", "abfs"):
        folder = str(PurePosixPath(path).parent)
        answered(target.url, system.create_dir, folder, recursive=True)


def remove_folder(place: StoredPath) -> None:
    """Remove all below a folder, where there is one, also where others do so at the same time.
    Raises OSError."""
    for _ in range(_REMOVALS):
        if not place.is_dir():
            return
        with suppress(FileNotFoundError):
            place.asked("delete_dir")
            return
    place.asked("delete_dir")


def read_bytes(path: str | Path) -> bytes:
    """All of a file. InputError (LR2001) where it cannot be read."""
    with readable(path):
        return at(path).read_bytes()


def read_text(path: str, encoding: str = "utf-8", hint: str = "") -> str:
    """A file of text. InputError (LR2001) where it cannot be read."""
    with readable(path, hint=hint):
        return at(path).read_bytes().decode(encoding)
