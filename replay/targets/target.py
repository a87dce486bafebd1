"""What a kind of target offers by the URLs of its databases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from replay.csv_states import CsvForm
from replay.errors import TargetError, Where, cause_of
from replay.redaction import public
from replay.targets.session import SqlSession
from replay.targets.states import new_file_of, no_server, state_tables
from replay.temp_folders import WorkFolder

if TYPE_CHECKING:
    from sqlgen.schema import SqlType


@dataclass(frozen=True)
class SqlTarget:
    """A kind of target; ``session`` opens a session by URL.

    ``url`` names one database. A state is a folder of ``<table>.csv`` or ``<table>.csv.gz``
    (:mod:`replay.csv_states.state_csv`). Every method that connects
    raises TargetError: LR4003 when the database cannot be reached (ConnectionLost where that may
    pass), LR4001 when it refuses a statement. No message holds a password.
    """

    #: The SQL that it understands, a profile of :mod:`sqlgen.dialects`.
    dialect: str
    session: Callable[[str], SqlSession]

    def connect(self, url: str) -> SqlSession:
        """Open a session, with the settings that scripts set."""
        return self.session(url)

    def make(self, url: str) -> Path | None:
        """Make the database that ``url`` names, where databases are files, there is none of that
        name and its folder is there; the file, or None where nothing was made."""
        return None

    def scratch(self, url: str | None = None) -> AbstractContextManager[str]:
        """The URL of an empty database of the same kind, gone afterwards; ``url`` is a server to
        make it on. Raises UsageError (LR1001) where one is needed and not given, or the other way
        round."""
        raise NotImplementedError

    def state_tables(self, folder: Path) -> dict[str, Path]:
        """Table name -> file of a state; InputError (LR2001) when there are none."""
        return state_tables(folder)

    def keys(self, url: str, tables: Sequence[str]) -> str:
        """DDL (ALTER TABLE ... ADD CONSTRAINT as PostgreSQL writes it, one a line) of the unique
        and foreign keys of tables with these names, in any schema and case."""
        with closing(self.connect(url)) as session:
            return session.keys(tables)

    def run_scripts(self, url: str, scripts: Iterable[Path]) -> None:
        """Run scripts in the given order; TargetError (LR4001) with the script's name at the first
        error."""
        with closing(self.connect(url)) as session:
            for script in scripts:
                try:
                    session.script(script)
                except TargetError as error:
                    raise TargetError(error.code, error.message, Where(file=script.name)) from error

    def load_state(
        self,
        url: str,
        schema: str,
        folder: Path,
        form: CsvForm | None = None,
        types: Mapping[str, Mapping[str, SqlType]] | None = None,
    ) -> int:
        """Put the rows of a state into existing, empty tables of ``schema``, foreign keys
        unchecked; the number of rows. ``types``: by table, those of columns that the log knows."""
        tables = state_tables(folder)
        with closing(self.connect(url)) as session:
            return session.load_state(schema, tables, form, types)


@dataclass(frozen=True)
class FileTarget(SqlTarget):
    """A kind whose databases are files: ``create`` makes an empty one, ``scratch_name`` is the path
    of a temporary one in its folder."""

    create: Callable[[Path], None]
    scratch_name: str

    def make(self, url: str) -> Path | None:
        """Make the file. TargetError (LR4003) where it cannot be made."""
        path = new_file_of(url)
        if path is not None:
            try:
                self.create(path)
            except OSError as error:
                why = cause_of(error)
                raise TargetError("LR4003", f"cannot make {public(url)}: {why}") from error
        return path

    @contextmanager
    def scratch(self, url: str | None = None) -> Iterator[str]:
        """The URL of an empty database in a temporary folder."""
        no_server(url)
        with WorkFolder() as folder:
            if self.scratch_name:
                self.create(Path(folder) / self.scratch_name)
            yield f"{self.dialect}:///{folder}/{self.scratch_name}"
