"""Tables of Apache Iceberg: ``OWNER.TABLE`` in the catalog of the folder (``catalog.db``, SQLite).
Rows and the mark of a run, a property of the table, are one commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.errors import optional_library
from replay.output.lake_rows import with_keys
from replay.output.lake_tables import LakeMark, check_path

_MARK, _POSITION = "logreplay.mark", "logreplay.position"
#: The namespace of datasets without an owner.
_NO_OWNER = "logreplay"


class IcebergFolder:
    """A folder of Iceberg tables with its catalog."""

    small_integers = False

    def __init__(self, folder: Path) -> None:
        name = "export --format iceberg"
        self.library = optional_library("pyiceberg.catalog.sql", "iceberg", name)
        check_path(folder, "%[0-9A-Fa-f]{2}", "Apache Iceberg")
        self.folder = folder.resolve()
        self._catalog: Any = None

    def table(self, schema: str, name: str) -> IcebergFolderTable:
        """One of its tables."""
        if self._catalog is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._catalog = self.library.SqlCatalog(
                "logreplay",
                uri=f"sqlite:///{self.folder / 'catalog.db'}",
                warehouse=self.folder.as_uri(),
            )
        return IcebergFolderTable(self._catalog, (schema or _NO_OWNER, name))

    def close(self) -> None:
        """Close the catalog's database."""
        if self._catalog is not None:
            self._catalog.close()


class IcebergFolderTable:
    """An Iceberg table, or the place where one will be."""

    def __init__(self, catalog: Any, place: tuple[str, str]) -> None:
        self.catalog, self.place = catalog, place
        self.found = catalog.load_table(place) if catalog.table_exists(place) else None

    @property
    def schema(self) -> pa.Schema | None:
        """Its columns."""
        return None if self.found is None else self.found.schema().as_arrow()

    def mark(self) -> LakeMark | None:
        """The mark of the last run."""
        text = None if self.found is None else self.found.properties.get(_MARK)
        return None if text is None else LakeMark.of(text)

    def rows_of(self, keys: pa.Table) -> pa.Table:
        """All its rows, as each merge reads them."""
        assert self.found is not None
        found: pa.Table = self.found.scan().to_arrow()
        return found

    def append(self, rows: pa.Table, mark: LakeMark) -> None:
        """Append rows."""
        table = self._made(rows.schema)
        with table.transaction() as transaction:
            with transaction.update_schema() as update:
                update.union_by_name(rows.schema)
            transaction.append(rows)
            transaction.set_properties(_properties(mark))

    def merge(
        self, rows: pa.Table, gone: pa.Table, key: Sequence[str], empty: bool, mark: LakeMark
    ) -> None:
        """Write the table anew: what it held without the keys of ``rows`` and ``gone``, and
        ``rows``."""
        table = self._made(rows.schema)
        kept, held = rows, table.scan().to_arrow()
        was_empty = not len(held)
        if not empty and not was_empty:
            kinds = {entry.name: entry.type for entry in rows.schema}
            missing = [name for name in rows.schema.names if name not in held.column_names]
            for name in missing:
                held = held.append_column(name, pa.nulls(len(held), kinds[name]))
            held = held.select(rows.schema.names).cast(rows.schema)
            touched = pa.concat_tables(
                [
                    part.select(list(key)).cast(held.select(list(key)).schema)
                    for part in (rows, gone)
                ]
            )
            kept = pa.concat_tables([with_keys(held, touched, there=False), rows])
        with table.transaction() as transaction:
            with transaction.update_schema() as update:
                update.union_by_name(rows.schema)
            if was_empty:
                transaction.append(kept)
            else:
                transaction.overwrite(kept)
            transaction.set_properties(_properties(mark))

    def _made(self, schema: pa.Schema) -> Any:
        if self.found is None:
            self.catalog.create_namespace_if_not_exists(self.place[0])
            self.found = self.catalog.create_table(self.place, schema)
        return self.found


def _properties(mark: LakeMark) -> dict[str, str]:
    return {_MARK: mark.text(), _POSITION: mark.position}


def lake_of(folder: Path) -> IcebergFolder:
    """The lake of a folder. UsageError (LR1005) without the library."""
    return IcebergFolder(folder)
