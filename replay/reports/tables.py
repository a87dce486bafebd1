"""The tables of a log as DDL for another database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay.changes.choices import Generation
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.live.keys import NO_SCHEMA, schema_text
from replay.output import structure
from replay.pipeline.mapped_catalog import MappingFile, table_map
from replay.pipeline.request import Demand, Request, make_request
from replay.pipeline.request_checks import named_tables, unread_keys
from replay.reports.log_queries import Asked
from replay.storage import is_database
from sqlgen.ddl.schema_file import Declared, parse_declared, whole_tables
from sqlgen.ddl.schema_script import SchemaScript, schema_script
from sqlgen.lazy_imports import when_used
from sqlgen.schema import Constraints, Table

with when_used():  # where there is DDL
    from sqlgen.ddl import ddl_reader


@dataclass(frozen=True)
class TablesScript:
    """A ``script`` that makes so many ``tables``. ``str`` is its text."""

    script: SchemaScript
    tables: int
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return self.script.text


def tables_script(
    asked: Asked,
    selection: Selection,
    dialect: str,
    names: str = "auto",
    generation: str = Generation.LAST,
    wide_reals: bool = False,
    schema: tuple[str | Path | None, str, str] = (None, "", ""),
    mapping: MappingFile | None = None,
) -> TablesScript:
    """The tables of a selection in a dialect; ``schema``: the file of DDL that ``asked`` has the
    keys of, its dialect and encoding; ``mapping``: what the tables become, for which no key of
    masks is needed. Errors as :func:`replay.pipeline.request.make_request`."""
    request = make_request(asked.opened, selection, Demand(wide_reals=wide_reals), asked.keys)
    declared = declared_of(request, *schema)
    first = generation == Generation.FIRST
    latest = structure.tables_within(request.log, request.versions, first)
    forms = [latest[name] for name in sorted(latest)]
    constraints, notes = request.constraints, list(request.notes)
    options = ScriptOptions(dialect, names)  # type: ignore[arg-type]  # settled there
    options = options.of_log(asked.opened.dialect, mapping is not None)
    if mapping is not None:
        keyed = replace(mapping, key=mapping.key or bytes(32))
        made = table_map(keyed, request.log, options, typed=True, continued=False)
        constraints = made.constraints(made.renamed_keys(constraints, forms), forms)
        declared = made.declared(declared, forms)
        forms = made.joined(forms)
        notes += constraints.unused[len(request.constraints.unused) :]
    script = schema_script(forms, constraints, options.profile, options.names, declared)
    ordered = reversed(request.versions) if first else request.versions
    chosen = {version.name: version for version in ordered}  # of each table the form that is meant
    warnings = [*request.log.warnings(list(chosen.values())), *unread_keys(request.constraints)]
    if not latest:
        told = named_tables(request.log)
        warnings.append(f"--table and --exclude-table leave no table of the log, which has: {told}")
    return TablesScript(script, len(latest), tuple(warnings), tuple(notes))


def declared_of(
    request: Request, schema: object, dialect: str, encoding: str
) -> dict[str, Declared]:
    """What a schema file declares beyond keys."""
    if not isinstance(schema, str | Path) or schema == NO_SCHEMA or is_database(str(schema)):
        return {}
    tables = [version.source for version in request.log.catalog.versions]
    text, _ = schema_text(str(schema), dialect, encoding)
    return parse_declared(text, dialect, tables, request.opened.family.exact_decimals)


@dataclass(frozen=True)
class WholeSchema:
    """What a migration takes from a schema file: ``more`` tables than the log has, those that are
    not understood, in words (``undefined``); keys and what else is declared of all tables."""

    more: tuple[Table, ...] = ()
    undefined: tuple[str, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)
    declared: Mapping[str, Declared] = field(default_factory=dict)


def whole_schema(
    request: Request, logged: Sequence[Table], schema: object, dialect: str, encoding: str
) -> WholeSchema:
    """The tables that a schema file defines beside those of the log, as far as they are selected,
    and what it says of them and of ``logged``. SqlgenError LR1010 for a file that is not
    understood."""
    declared = declared_of(request, schema, dialect, encoding)
    if not isinstance(schema, str | Path) or schema == NO_SCHEMA or is_database(str(schema)):
        return WholeSchema(constraints=request.constraints, declared=declared)
    text, _ = schema_text(str(schema), dialect, encoding)
    defined, undefined = whole_tables(text, dialect)
    more = _beside(request, logged, defined)
    every = [*logged, *more]
    known, found = (
        request.constraints,
        ddl_reader.parse_constraints(text, dialect, every, lenient=True),
    )
    mapping = request.options.mapping
    if mapping is not None:
        mapping.check_masks(found, every)
        found = mapping.renamed_keys(found, every)
    constraints = replace(
        known,
        keys=tuple(dict.fromkeys((*known.keys, *found.keys))),
        foreign_keys=found.foreign_keys,
        outside=found.outside,
        unused=tuple(dict.fromkeys((*known.unused, *found.unused))),
    )
    exact = request.opened.family.exact_decimals
    declared |= parse_declared(text, dialect, more, exact) if more else {}
    names = {f"table {version.name}:".upper() for version in request.log.catalog.versions}
    strange = tuple(one for one in undefined if f"{one.partition(':')[0]}:".upper() not in names)
    return WholeSchema(tuple(more), strange, constraints, declared)


def _beside(request: Request, logged: Sequence[Table], defined: Sequence[Table]) -> list[Table]:
    """The tables of a file that are not the log's, and that are selected; one without a schema has
    the log's, where that is one."""
    versions = [version.source for version in request.log.catalog.versions]
    owners = {table.schema for table in versions}
    home = next(iter(owners)) if len(owners) == 1 else ""
    known = {(table.schema.upper(), table.name.upper()) for table in versions}
    stated = {(table.schema.upper(), table.name.upper()) for table in defined}
    alike = {name for schema, name in known if (schema, name) not in stated}
    more = [
        replace(table, schema=table.schema or home)
        for table in defined
        if (table.schema.upper() or home.upper(), table.name.upper()) not in known
        and table.name.upper() not in alike
    ]
    taken = request.selection.takes_tables([f"{table.schema}.{table.name}" for table in more])
    return [table for table, takes in zip(more, taken, strict=True) if takes and table.schema]
