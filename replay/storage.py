"""Where files are: on this machine, or in a store that a URL names (``s3://``, ``gs://``,
``abfs://``, ``hdfs://``, and whatever fsspec knows). One small module over :mod:`pyarrow.fs`.

Credentials and endpoints are found by the libraries (environment, profiles, roles). A URL that
holds a secret is refused, so that none gets into a message, a manifest or a process list.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from replay.answers import AnsweringSystem, StoreError, answered
from replay.errors import InputError, UsageError, Where, cause_of
from replay.leftovers import WorkFolder, is_left, name_of_run
from replay.machine import is_full, room_for
from replay.public import public, secrets_of
from sqlgen.late import LateModule

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import fs

else:  # help and runs on files of this machine need none of them here
    pa, fs = (LateModule(name) for name in ("pyarrow", "pyarrow.fs"))

#: Other spellings of schemes, as Hadoop has them.
_SPELLED = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "wasbs": "abfss", "wasb": "abfs"}
#: Schemes of files; others are those of fsspec. (URLs of databases are none of these.)
_SCHEMES = frozenset({"file", "s3", "gs", "abfs", "abfss", "hdfs", "viewfs", *_SPELLED})
#: How many requests to a store run side by side.
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
    """Whether a place is the URL of something else than files."""
    return "://" in place and not is_url(place)


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
    if parts.scheme.lower() in ("s3", "s3a", "s3n") and "@" in parts.netloc:
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

    def info(self) -> fs.FileInfo:
        """What the store says of it."""
        system, path = system_of(self.url)
        return system.get_file_info(path)

    def is_file(self) -> bool:
        """Whether it is a file."""
        return bool(self.info().type == fs.FileType.File)

    def is_dir(self) -> bool:
        """Whether it is a folder, or the beginning of names."""
        return bool(self.info().type == fs.FileType.Directory)

    def exists(self) -> bool:
        """Whether it is there."""
        return bool(self.info().type != fs.FileType.NotFound)

    def size(self) -> int:
        """Bytes of a file."""
        info = self.info()
        if info.type != fs.FileType.File:
            raise FileNotFoundError(2, "No such file", self.url)
        return int(info.size)

    def iterdir(self) -> Iterator[StoredPath]:
        """What is in a folder."""
        system, path = system_of(self.url)
        for info in system.get_file_info(fs.FileSelector(path)):
            yield self / info.base_name

    def rglob(self, pattern: str) -> Iterator[StoredPath]:
        """All files below a folder, whose names match."""
        system, path = system_of(self.url)
        for info in system.get_file_info(fs.FileSelector(path, recursive=True)):
            if info.type == fs.FileType.File and PurePosixPath(info.path).match(pattern):
                yield self / info.path.strip("/")[len(path.strip("/")) + 1 :]

    def read_bytes(self) -> bytes:
        """All of a file."""
        with opened(self) as file:
            return file.read()

    def read_text(self, encoding: str = "utf-8") -> str:
        """The same as text."""
        return self.read_bytes().decode(encoding)

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        """Write a file of text."""
        put(text.encode(encoding), self)

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove a file."""
        system, path = system_of(self.url)
        if missing_ok and system.get_file_info(path).type == fs.FileType.NotFound:
            return
        system.delete_file(path)


def _in_url(name: str) -> str:
    """A name that a store has, as a part of a URL: what means something else there is a code."""
    return name.replace("%", "%25").replace("#", "%23").replace("?", "%3F")


@contextmanager
def run_folder(place: StoredPath) -> Iterator[StoredPath]:
    """A folder of this run's own below a place in a store, which goes in the end, as do those of
    killed runs of this machine."""
    with suppress(OSError):  # whoever may not look there is told when something is written
        for path in place.iterdir() if place.is_dir() else ():
            if is_left(path.name):
                remove_folder(path)
    own = place / name_of_run()
    try:
        yield own
    finally:
        with suppress(OSError):
            remove_folder(own)


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
    system, path = system_of(folder.url)
    return [
        ListedFile(folder / info.base_name, int(info.size), info.mtime_ns)
        for info in system.get_file_info(fs.FileSelector(path, allow_not_found=True))
        if info.type == fs.FileType.File
    ]


@contextmanager
def opened(place: str | Place, whole: bool = False) -> Iterator[BinaryIO]:
    """A file that is read from its beginning. Raises OSError; with ``whole`` also where an object
    was replaced while it was read, so that what was read may be of two."""
    if not is_url(place):
        with open(place, "rb") as local:
            yield local
        return
    system, path = system_of(str(place))
    before = version_of(str(place)) if whole else ""
    with system.open_input_stream(path, _STREAMED) as stored:
        yield cast(BinaryIO, stored)
    if whole and version_of(str(place)) != before:
        raise OSError(5, "it was replaced while it was read", str(place))


def for_arrow(place: str | Place, unpacked: bool = True) -> str | pa.NativeFile:
    """A file as readers of Arrow take it: those that read from beginning to end (``unpacked``: by
    its name), or go to and fro in it. Raises OSError."""
    if not is_url(place):
        return str(place)
    system, path = system_of(str(place))
    if not unpacked:
        return pa.PythonFile(system.open_input_file(path), "r")
    stream = pa.PythonFile(system.open_input_stream(path, _STREAMED), "r")
    codec = _codec_of(path)
    return stream if codec is None else pa.CompressedInputStream(stream, codec)


def _codec_of(path: str) -> str | None:
    """How Arrow calls what a file is packed with, by its name."""
    try:
        return cast(str, pa.Codec.detect(path).name)
    except (TypeError, ValueError):  # by none
        return None


def size_of(place: str | Place) -> int:
    """Bytes of a file. Raises OSError."""
    return StoredPath(str(place)).size() if is_url(place) else os.stat(place).st_size


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


def names_below(folder: Place) -> Iterator[str]:
    """The names of all files below a folder, from there on. Raises OSError."""
    if isinstance(folder, StoredPath):
        yield from (name_below(path, folder) for path in folder.rglob("*"))
        return
    for path in folder.rglob("*"):
        if not path.is_dir():
            yield path.relative_to(folder).as_posix()


def name_below(path: StoredPath, folder: StoredPath) -> str:
    """The name of a file or folder from a folder in which it is on."""
    return unquote(path.url[len(folder.url.rstrip("/")) + 1 :])


@contextmanager
def on_this_machine(place: Place) -> Iterator[Path]:
    """A file, or a folder with the files in it, for programs that read paths: one of a store is
    copied for a while. InputError LR2001 where it cannot be read."""
    if isinstance(place, Path):
        yield place
        return
    with WorkFolder() as scratch:
        target = Path(scratch) / place.name
        try:
            if place.is_dir():
                target.mkdir()
                files = [path for path in place.iterdir() if path.is_file()]
                with ThreadPoolExecutor(REQUESTS) as pool:
                    list(pool.map(copy, files, [target / path.name for path in files]))
            else:
                copy(place, target)
        except OSError as error:
            if is_full(error):
                raise
            message = f"it cannot be read: {_first_line(error)}"
            raise InputError("LR2001", message, Where(str(place)), _HINT) from None
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
def system_of(url: str) -> tuple[AnsweringSystem, str]:
    """The file system of a URL, and the path in it. InputError LR2001 where there is none."""
    url = url.partition(VERSION)[0]
    try:
        # it may ask a store where it is
        system, path = answered(url, fs.FileSystem.from_uri, quote(url, _OF_URLS))
        return AnsweringSystem(system, url), cast(str, path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        scheme, _, rest = url.partition("://")
        found = _of_fsspec(scheme)
        if found is None:
            message = f"found a URL that no file system here knows: {_first_line(error)}"
            hint = f"{_HINT}. More are known with: pip install 'logreplay-sql[storage]'"
            raise InputError("LR2001", message, Where(url), hint) from None
        return AnsweringSystem(found, url), unquote(rest)
    except OSError as error:
        raise unreachable(error, url) from None


def version_of(url: str) -> str:
    """What tells an object from others of its name: its size, and what the store calls its content
    (ETag; times of stores may be whole seconds), or where it has no such name, its time.
    Raises OSError."""
    system, path = system_of(url)
    if system.type_name in _NAMES_CONTENT:
        with system.open_input_file(path) as file:
            tag = file.metadata().get("ETag")
            if tag:
                return f"{file.size()}-{tag.hex()}"
    info = system.get_file_info(path)
    if info.type != fs.FileType.File:
        raise FileNotFoundError(2, "No such file", url)
    return f"{info.size}-{info.mtime_ns}"


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


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


# -- writing
# -------------------------------------------------------------------------------------------------


def put(source: Path | bytes | Iterable[bytes], target: StoredPath) -> None:
    """Write an object: it appears when all of it is there. Raises OSError."""
    system, path = system_of(str(target))
    if not _without_folders(system):
        system.create_dir(str(PurePosixPath(path).parent))
    stored = system.open_output_stream(path)
    try:
        for block in _blocks_of(source):
            stored.write(block)
        stored.close()
    except BaseException:
        with suppress(OSError):  # an object appears when it is closed, and must not stay
            stored.close()
        with suppress(OSError):
            system.delete_file(path)
        raise


def _blocks_of(source: Path | bytes | Iterable[bytes]) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
    elif isinstance(source, Path):
        with source.open("rb") as here:
            while block := here.read(_STREAMED):
                yield block
    else:
        yield from source


def copy_all(pairs: Sequence[tuple[StoredPath, StoredPath]]) -> None:
    """Copy objects within a store, side by side. Raises OSError."""

    def one(pair: tuple[StoredPath, StoredPath]) -> None:
        (system, source), (_, target) = (system_of(str(place)) for place in pair)
        if not _without_folders(system):
            system.create_dir(str(PurePosixPath(target).parent))
        system.copy_file(source, target)

    with ThreadPoolExecutor(REQUESTS) as pool:
        list(pool.map(one, pairs))


def sizes(places: Sequence[StoredPath]) -> list[int | None]:
    """Bytes of objects; None for those that are not there. Raises OSError."""
    if not places:
        return []
    system = system_of(str(places[0]))[0]
    infos = system.get_file_info([system_of(str(place))[1] for place in places])
    return [int(info.size) if info.type == fs.FileType.File else None for info in infos]


def remove(place: StoredPath) -> None:
    """Remove an object. Raises OSError."""
    system, path = system_of(str(place))
    system.delete_file(path)


def remove_folder(place: StoredPath) -> None:
    """Remove all below a folder, where there is one, also where others do so at the same time.
    Raises OSError."""
    system, path = system_of(str(place))
    for _ in range(_REMOVALS):
        if system.get_file_info(path).type != fs.FileType.Directory:
            return
        with suppress(FileNotFoundError):
            system.delete_dir(path)
            return
    system.delete_dir(path)


def _without_folders(system: AnsweringSystem) -> bool:
    return system.type_name in ("s3", "gcs", "abfs")


def read_bytes(path: str | Path) -> bytes:
    """A file's octets. InputError (LR2001) where it cannot be read."""
    try:
        return at(path).read_bytes()
    except OSError as error:
        raise InputError(
            "LR2001", f"the file cannot be read: {cause_of(error)}", Where(str(path))
        ) from None


def read_text(path: str) -> str:
    """A file of UTF-8 text. InputError (LR2001) where it cannot be read."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            "LR2001", f"the file cannot be read: {cause_of(error)}", Where(path)
        ) from None
