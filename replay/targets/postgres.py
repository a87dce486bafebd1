"""PostgreSQL as a target: its scripts are run with ``psql``, as a user would. Nothing here writes
to a database except what the caller asks for by name; comparing leaves nothing behind."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from replay.errors import TargetError, Where, cut_to
from replay.redaction import password_of, public
from replay.targets import embedded
from replay.targets.embedded import client_environment, psql_path
from replay.targets.postgres_session import PostgresSession
from replay.targets.target import SqlTarget

#: psql's exit code when the connection failed or was lost.
_NO_CONNECTION = 2


class PostgresTarget(SqlTarget):
    """PostgreSQL servers."""

    def run_scripts(self, url: str, scripts: Iterable[Path]) -> None:
        """Run scripts in order with ``psql -X -v ON_ERROR_STOP=1 -f``, as a user would. Raises
        TargetError with what psql said: LR4001 when a statement fails, LR4003 when the server
        cannot be reached."""
        psql = psql_path()
        environment = client_environment()
        if (password := password_of(url)) is not None:
            environment["PGPASSWORD"] = (
                password  # not on the command line, which every user of the machine can read
            )
        for script in scripts:
            command = [
                str(psql),
                "-X",
                "-q",
                "-v",
                "ON_ERROR_STOP=1",
                "-d",
                public(url),
                "-f",
                str(script),
            ]
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=environment,
                check=False,
            )
            if done.returncode:
                said = cut_to(done.stderr.decode("utf-8", "replace").strip(), 2000)
                code = "LR4003" if done.returncode == _NO_CONNECTION else "LR4001"
                raise TargetError(
                    code,
                    f"psql stopped with exit code {done.returncode}: {said}",
                    Where(file=script.name),
                )

    @contextmanager
    def scratch(self, url: str | None = None) -> Iterator[str]:
        """A database on an embedded server of its own, or a new one on the server of ``url``."""
        if url is None:
            with embedded.server() as server:
                yield server
            return
        name = f"logreplay_{secrets.token_hex(6)}"
        with closing(self.connect(url)) as session:
            session.execute(f"CREATE DATABASE {name}")
            try:
                yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
            finally:
                session.execute(f"DROP DATABASE {name} WITH (FORCE)")


POSTGRES = PostgresTarget("postgres", PostgresSession)
