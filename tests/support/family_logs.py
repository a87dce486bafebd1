"""One small log of each family, as options of a source and as arguments of the library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import loadbuilder, solidsakila
from tests.support.luwbuilder import catalog_csv
from tests.support.luwsakila import encode
from tests.support.solidbuilder import Framing, write_catalog, write_rows

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SMALL = FIXTURES / "sakila" / "small"


@dataclass(frozen=True)
class FamilyLog:
    """``options`` of a source, ``opened`` for :func:`replay.open_log`, and a table of the log."""

    options: Mapping[str, str]
    opened: Mapping[str, Any]
    table: str


def logmaster(folder: Path) -> FamilyLog:
    files = {"control": str(SMALL / "small.ctl"), "data": str(SMALL / "small.dat")}
    return FamilyLog(files, files, "SAKILA.RENTAL")


def soliddb(folder: Path) -> FamilyLog:
    encoded = solidsakila.encode(FIXTURES / "sakila" / "log", Framing("len32"), 20)
    write_catalog(folder, encoded.tables)
    log = str(write_rows(folder / "syslog.parquet", encoded.log.rows))
    files = {"source": "soliddb", "log": log, "catalog": str(folder)}
    return FamilyLog(files, files, "SAKILA.RENTAL")


def two_forms(folder: Path) -> FamilyLog:
    """A solidDB log in which a column is added to the table."""
    place = FIXTURES / "soliddb"
    files = {"source": "soliddb", "log": str(place / "syslog.csv"), "catalog": str(place)}
    return FamilyLog(files, files, "DBA.CUSTOMER")


def logmaster_load(folder: Path) -> FamilyLog:
    loadbuilder.write_csv(SMALL, folder)
    files = sorted(map(str, folder.glob("*.csv")))
    control, catalog = str(folder / "load.ctl"), str(SMALL / "db2-tables.sql")
    named = {"source": "logmaster-load", "control": control, "catalog": catalog}
    return FamilyLog(
        {**named, "data": "\n".join(files), "logOption.dispositions": "committed"},
        {**named, "data": files, "options": {"dispositions": "committed"}},
        "SAKILA.RENTAL",
    )


def db2luw(folder: Path) -> FamilyLog:
    encoded = encode(FIXTURES / "sakila" / "log", "v10", True, "raw")
    log, catalog = folder / "sakila.log", folder / "catalog.csv"
    log.write_bytes(encoded.data)
    catalog.write_text(catalog_csv(encoded.tables), encoding="utf-8")
    files = {"source": "db2luw", "log": str(log), "catalog": str(catalog)}
    return FamilyLog(files, files, "SAKILA.RENTAL")
