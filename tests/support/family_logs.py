"""One small log of each family, as arguments of :func:`replay.open_log`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support import loadbuilder, solidsakila
from tests.support.luwbuilder import catalog_csv
from tests.support.luwsakila import encode
from tests.support.solidbuilder import Framing, write_catalog, write_rows

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SMALL = FIXTURES / "sakila" / "small"

FamilyLog = dict[str, Any]


def logmaster(folder: Path) -> FamilyLog:
    return {"control": str(SMALL / "small.ctl"), "data": str(SMALL / "small.dat")}


def soliddb(folder: Path) -> FamilyLog:
    encoded = solidsakila.encode(FIXTURES / "sakila" / "log", Framing("len32"), 20)
    write_catalog(folder, encoded.tables)
    log = str(write_rows(folder / "syslog.parquet", encoded.log.rows))
    return {"source": "soliddb", "log": log, "catalog": str(folder)}


def logmaster_load(folder: Path) -> FamilyLog:
    loadbuilder.write_csv(SMALL, folder)
    return {
        "source": "logmaster-load",
        "control": str(folder / "load.ctl"),
        "catalog": str(SMALL / "db2-tables.sql"),
        "data": sorted(map(str, folder.glob("*.csv"))),
        "options": {"dispositions": "committed"},
    }


def db2luw(folder: Path) -> FamilyLog:
    encoded = encode(FIXTURES / "sakila" / "log", "v10", True, "raw")
    log, catalog = folder / "sakila.log", folder / "catalog.csv"
    log.write_bytes(encoded.data)
    catalog.write_text(catalog_csv(encoded.tables), encoding="utf-8")
    return {"source": "db2luw", "log": str(log), "catalog": str(catalog)}
