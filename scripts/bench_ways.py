"""What each way of writing a script costs, beside the plain way: mappings, masks, ``--where``,
upserts, guards, all columns, columns left out, undo, several of these together, other dialects, and
the same changes in the logs of other families.

::

    python scripts/bench_ways.py --records 240000 --json ways.json

Every way is run in a process of its own after a run that loads what it needs, several times in
turn with the others, and the lowest CPU time counts. On a machine with other things to do the
ratios tell more than the seconds. Of other families a record is a change: their logs have
``--family-records`` of these, encoded one by one when the log is made.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generate_log import generate

import replay
from replay.logs.logmaster.opening import open_log

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support import luwsakila, solidsakila
from tests.support.luwbuilder import catalog_csv
from tests.support.solidbuilder import Framing, write_catalog, write_rows

#: Characters of a mask.
_MASK = 16
#: Changes in the logs of other families.
OF_FAMILIES = 240_000


@dataclass(frozen=True)
class Way:
    """The words of ``Log.select`` and of ``Selected.redo`` (or ``undo``, the ``mode``), with names
    of :func:`_mapping` in braces; ``log`` is the family of the log that is read, which is
    opened anew where the way ``opens`` it; ``beside``: the way that it is compared with."""

    chosen: dict[str, Any] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)
    mode: str = "redo"
    log: str = "logmaster"
    opens: bool = False
    beside: str = "plain"


_OPENED = "plain, opened"
_WHERE = {"where": "{where}"}
_MASKS = {"mapping": "{masks}", "mask_key_file": "{key}"}
WAYS: dict[str, Way] = {
    "plain": Way(),
    "--where-columns guard": Way({}, {"where_columns": "guard"}),
    "--where-columns all": Way({}, {"where_columns": "all"}),
    "--where-columns all --assert none": Way({}, {"where_columns": "all", "asserts": "none"}),
    "--trace": Way({}, {"trace": True}),
    "--exclude-columns": Way({"exclude_columns": "{columns}"}),
    "--upsert": Way({}, {"upsert": True}),
    "--where": Way(_WHERE),
    "--mapping (names)": Way({}, {"mapping": "{names}"}),
    "--mapping (masks)": Way({}, _MASKS),
    "--where --upsert --mapping (masks)": Way(_WHERE, {"upsert": True, **_MASKS}),
    "undo": Way(mode="undo"),
    "undo --upsert": Way({}, {"upsert": True}, "undo"),
    "undo --where-columns guard --trace": Way(
        {}, {"where_columns": "guard", "trace": True}, "undo"
    ),
    **{
        f"--dialect {name}": Way({}, {"dialect": name})
        for name in ("mariadb", "sqlite", "duckdb", "db2", "tsql")
    },
    # else units with empty texts are set aside, with what builds on them, and all is written again
    "--dialect oracle": Way({}, {"dialect": "oracle", "empty_text": "space"}),
    "Db2 LUW": Way(log="db2luw"),
    "solidDB": Way(log="soliddb"),
    "Db2 LUW --where": Way(_WHERE, log="db2luw"),
    "solidDB --where": Way(_WHERE, log="soliddb"),
    # a whole command: of these two an index is made first
    _OPENED: Way(opens=True),
    "Db2 LUW, opened": Way(log="db2luw", opens=True, beside=_OPENED),
    "solidDB, opened": Way(log="soliddb", opens=True, beside=_OPENED),
}


# -- the same changes in the logs of other families
# -------------------------------------------------------------------------------------------------


def _db2luw(control: Path, data: Path, folder: Path) -> None:
    encoded = luwsakila.encode_log(open_log(control, [data], scratch=folder), "v10", False, "raw")
    (folder / "catalog.csv").write_text(catalog_csv(encoded.tables), encoding="utf-8")
    (folder / "bench.log").write_bytes(encoded.data)


def _soliddb(control: Path, data: Path, folder: Path) -> None:
    log = open_log(control, [data], scratch=folder)
    encoded = solidsakila.encode_log(log, Framing("len32"))
    write_catalog(folder / "catalog", encoded.tables)
    write_rows(folder / "syslog.parquet", encoded.log.rows)


#: Family -> what makes its log in a folder, the log, and its catalog.
FAMILIES: dict[str, tuple[Callable[[Path, Path, Path], None], str, str]] = {
    "db2luw": (_db2luw, "bench.log", "catalog.csv"),
    "soliddb": (_soliddb, "syslog.parquet", "catalog"),
}


def family_logs(folder: Path, records: int, seed: int) -> dict[str, dict[str, Any]]:
    """What ``replay.open_log`` takes of a log of each family but Log Master; all have the same
    ``records`` changes. Made when they are not there yet."""
    made = {}
    for family, (make, log, catalog) in FAMILIES.items():
        place = folder / f"{family}-{seed}-{records}"
        if not (place / log).exists():
            place.mkdir(parents=True, exist_ok=True)
            make(*generate(folder, records, seed), place)
        made[family] = {
            "source": family, "log": str(place / log), "catalog": str(place / catalog)
        }  # fmt: skip
    return made


def _mapping(folder: Path, tables: tuple[Any, ...]) -> dict[str, Any]:
    """Files for the ways that need some, and what stands for them in :data:`WAYS`."""
    names, masks, key = (folder / name for name in ("names.toml", "masks.toml", "key"))
    schema = tables[0].schema
    names.write_text(f'[schemas]\n{schema} = "shop"\n', encoding="utf-8")
    lines = []
    for table in tables:
        text = next(
            (
                column.name
                for column in table.columns
                if column.type.name in ("VARCHAR", "CHAR")
                and column.length >= _MASK
                and column.name not in table.key
            ),
            None,
        )
        if text:
            lines.append(f'[tables."{schema}.{table.name}"]\nmask = ["{text}"]\n')
    masks.write_text("\n".join(lines), encoding="utf-8")
    key.write_text("ab" * 32, encoding="utf-8")
    number = next(column.name for column in tables[0].columns if column.name in tables[0].key)
    return {
        "{names}": str(names),
        "{masks}": str(masks),
        "{key}": str(key),
        "{where}": f"{number} >= 0",
        "{columns}": tuple(f"{schema}.{table.name}.{table.columns[-1].name}" for table in tables),
    }


def _measured(opened: dict[str, Any], way: str) -> float:
    """CPU seconds of a way, after a run of the same way."""
    words = WAYS[way]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with replay.open_log(**opened) as log:
            files = _mapping(place, log.tables)
            chosen, written = (
                {
                    name: files.get(value, value) if isinstance(value, str) else value
                    for name, value in said.items()
                }
                for said in (words.chosen, words.written)
            )

            def write(log: replay.Log, number: int) -> None:
                selected = log.select(**chosen)
                scripts = (selected.undo if words.mode == "undo" else selected.redo)(**written)
                scripts.write(place / str(number))

            write(log, 0)
            began = time.process_time()
            if words.opens:
                with replay.open_log(**opened) as again:
                    write(again, 1)
            else:
                write(log, 1)
            return time.process_time() - began


def measure(
    control: Path,
    data: Path,
    records: int,
    runs: int,
    families: dict[str, dict[str, Any]],
    family_records: int,
    names: Iterable[str] = WAYS,
) -> list[dict[str, Any]]:
    """A row for each way (of those of ``names``, and what they are beside): microseconds of CPU per
    record and the ratio to the way ``beside``. ``families`` as :func:`family_logs` makes them."""
    names = {*names, *(WAYS[name].beside for name in names), "plain"}
    logs = {"logmaster": {"control": str(control), "data": [str(data)]}, **families}
    lowest: dict[str, float] = {}
    refused: dict[str, str] = {}
    for _ in range(runs):
        for way, words in WAYS.items():
            if way in refused or way not in names:
                continue
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                try:
                    seconds = pool.submit(_measured, logs[words.log], way).result()
                except Exception as error:  # noqa: BLE001  a way that this log refuses is a row too
                    refused[way] = str(error)
                    continue
            seconds /= records if words.log == "logmaster" else family_records
            lowest[way] = min(seconds, lowest.get(way, seconds))
    rows: list[dict[str, Any]] = [
        {
            "way": way,
            "us": seconds * 1e6,
            "ratio": seconds / lowest[WAYS[way].beside],
            "beside": WAYS[way].beside,
        }
        for way, seconds in lowest.items()
    ]
    return rows + [{"way": way, "refused": why} for way, why in refused.items()]


def add_ways(parser: argparse.ArgumentParser) -> None:
    """The option that chooses ways."""
    parser.add_argument(
        "--ways", nargs="+", metavar="WORD", help="only ways with one of these words in their names"
    )


def named(words: list[str] | None) -> list[str]:
    """The ways that words of ``--ways`` choose. SystemExit where there are none."""
    names = [way for way in WAYS if words is None or any(word in way for word in words)]
    if not names:
        raise SystemExit(f"found none of {words}; expected words of: {', '.join(WAYS)}")
    return names


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=240_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--family-records", type=int, default=OF_FAMILIES)
    add_ways(parser)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "logreplay-bench")
    parser.add_argument("--json", type=Path, help="also write the rows into this file")
    arguments = parser.parse_args()
    control, data = generate(arguments.dir, arguments.records, arguments.seed)
    names = named(arguments.ways)
    few = arguments.family_records
    families = family_logs(arguments.dir, few, arguments.seed)
    rows = measure(control, data, arguments.records, arguments.runs, families, few, names)
    print(f"{'way':<40}{'CPU us a record':>16}{'x plain':>9}  (opened: x plain, opened)")
    for row in rows:
        if "refused" in row:
            print(f"{row['way']:<40}refused: {row['refused']}")
        else:
            print(f"{row['way']:<40}{row['us']:>16.2f}{row['ratio']:>9.2f}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
