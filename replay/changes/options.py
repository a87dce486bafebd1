"""How the changes of a log are written: as scripts in a dialect, or as data in a format."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from replay.changes.choices import CsvFormulas, EventSchemas, ParquetTypes
from sqlgen.choices import Assertion, Names
from sqlgen.dialects import Profile, profile_named, same_sql
from sqlgen.errors import SqlgenError, settle_choices, settle_counts, settle_kinds
from sqlgen.mapping import TableMap
from sqlgen.names import target_name
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Table


@dataclass(frozen=True)
class ScriptOptions:
    """How scripts are written. ``dialect``: empty for that of the database that wrote the log,
    which a request settles. ``commit_every`` units share a target transaction, or as many whole
    units as have ``commit_statements`` (then a ``commit_every`` of 1 does not count); a file holds
    about ``records_per_file`` records. ``asserts``: what the user says of checks of rows, None for
    what suits the script (``render.assert_rows``). ``mapping`` says what tables and columns become
    (its exclusions stand in ``render`` too). ``own`` (settled by :meth:`of_log`): the dialect of
    the log's database, where ``names`` follow from the target. ``client``: the program whose form
    scripts have (:mod:`sqlgen.clients`; None: plain SQL), with the ``terminator`` of statements and
    the ``encoding`` it reads, None for what is usual; ``jcl``: with the job that runs them."""

    dialect: str = "postgres"
    names: Names = Names.AUTO
    commit_every: int = 1
    records_per_file: int = 250_000
    trace: bool = False
    strict: bool = False
    render: RenderOptions = field(default_factory=RenderOptions)
    mapping: TableMap | None = None
    asserts: Assertion | None = None
    commit_statements: int | None = None
    client: str | None = None
    terminator: str | None = None
    encoding: str | None = None
    jcl: bool = False
    own: str = ""

    def __post_init__(self) -> None:
        settle_choices(self, names=Names)
        settle_counts(self, commit_every="--commit-every", records_per_file="--records-per-file")
        if self.commit_statements is not None:
            settle_counts(self, commit_statements="--commit-statements")
        if self.asserts is not None:
            settle_choices(self, asserts=Assertion)
        settle_kinds(self)

    def of_log(self, own: str, mapped: bool = False) -> ScriptOptions:
        """The options for a log whose database has this dialect: without a dialect they are for
        that one, and names are kept in a database of its kind, unless tables are mapped. Rows that
        PostgreSQL numbers by itself (GENERATED ALWAYS AS IDENTITY) keep their numbers there."""
        dialect = self.dialect or own
        numbered = self.render.keep_identity or dialect == own == "postgres"
        options = replace(
            self, dialect=dialect, render=replace(self.render, keep_identity=numbered)
        )
        if self.names is not Names.AUTO:
            return options
        options = replace(options, own="" if mapped else own)
        names = options.names_in(options.dialect)
        return replace(options, names=names, render=replace(options.render, names=names))

    def names_in(self, dialect: str) -> Names:
        """How names are spelled in a database of this dialect."""
        if self.names is not Names.AUTO and not self.own:
            return self.names
        return Names.EXACT if self.own and same_sql(self.own, dialect) else Names.LOWER

    @property
    def masked(self) -> frozenset[str]:
        """The columns (OWNER.NAME.COLUMN) whose values are masked."""
        return frozenset() if self.mapping is None else self.mapping.masked()

    @property
    def profile(self) -> Profile:
        """That of the dialect."""
        return profile_named(self.dialect)

    def spelled(self, name: str) -> str:
        """A name of the log as the target has it."""
        return target_name(name, self.profile, self.names)

    def place(self, table: Table) -> tuple[str, str]:
        """Schema and name of a table in the target."""
        return self.spelled(table.schema), self.spelled(table.name)


@dataclass(frozen=True)
class Export:
    """What is written in place of scripts. ``format`` is one of
    :data:`replay.output.formats.FORMATS`. ``types`` (Parquet): ``portable``, or ``native`` where
    Arrow has a closer type that not every reader knows; ``null`` (CSV): what stands for null;
    ``formulas`` (CSV): ``keep`` text that begins like a formula, or have an apostrophe before it
    (``text``); ``schemas`` (Debezium): ``inline`` in every event, or ``apart`` in the manifest.
    ``source`` names the database that wrote the log; ``unknown``: facts
    (:data:`replay.logs.FACTS`) that the log cannot tell; ``unchanged``: also updates that change
    nothing of what is written."""

    format: str
    types: ParquetTypes = ParquetTypes.PORTABLE
    null: str = ""
    schemas: EventSchemas = EventSchemas.INLINE
    source: str = ""
    unknown: frozenset[str] = frozenset()
    formulas: CsvFormulas = CsvFormulas.KEEP
    unchanged: bool = False

    def __post_init__(self) -> None:
        settle_choices(self, types=ParquetTypes, schemas=EventSchemas, formulas=CsvFormulas)
        settle_kinds(self)
        if set(self.null) & set(',"') or not self.null.isprintable():
            raise SqlgenError(
                "LR1001", f"found --csv-null {self.null!r}; expected text without commas and quotes"
            )
