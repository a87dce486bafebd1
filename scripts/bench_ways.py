"""What each way of writing a script costs, beside the plain way: mappings, masks, ``--where``,
upserts, guards, all columns, other dialects.

::

    python scripts/bench_ways.py --records 240000 --json ways.json

Every way is run in a process of its own after a run that loads what it needs, several times in
turn with the others, and the lowest CPU time counts. On a machine with other things to do the
ratios tell more than the seconds.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from generate_log import generate

import replay

#: Characters of a mask.
_MASK = 16
#: Way -> the words of ``Log.select`` and of ``Selected.redo`` for it.
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "--where-columns guard": ({}, {"where_columns": "guard"}),
    "--where-columns all": ({}, {"where_columns": "all"}),
    "--trace": ({}, {"trace": True}),
    "--upsert": ({}, {"upsert": True}),
    "--where": ({"where": "{where}"}, {}),
    "--mapping (names)": ({}, {"mapping": "{names}"}),
    "--mapping (masks)": ({}, {"mapping": "{masks}", "mask_key_file": "{key}"}),
    **{
        f"--dialect {name}": ({}, {"dialect": name})
        for name in ("mariadb", "sqlite", "duckdb", "db2", "tsql")
    },
    # else units with empty texts are set aside, with what builds on them, and all is written again
    "--dialect oracle": ({}, {"dialect": "oracle", "empty_text": "space"}),
}


def _mapping(folder: Path, tables: tuple[Any, ...]) -> dict[str, str]:
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
    }


def _measured(control: Path, data: Path, way: str, records: int) -> float:
    """CPU seconds per record of a way, after a small run of the same way."""
    chosen, written = WAYS[way]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with replay.open_log(control=control, data=[data]) as log:
            files = _mapping(place, log.tables)
            options = {
                name: files.get(value, value) if isinstance(value, str) else value
                for name, value in written.items()
            }
            selection = {name: files.get(value, value) for name, value in chosen.items()}
            seconds = 0.0
            for number in range(2):
                began = time.process_time()
                log.select(**selection).redo(**options).write(place / str(number))
                seconds = time.process_time() - began
    return seconds / records


def measure(control: Path, data: Path, records: int, runs: int) -> list[dict[str, Any]]:
    """A row for each way: microseconds of CPU per record and the ratio to the plain way."""
    lowest: dict[str, float] = {}
    refused: dict[str, str] = {}
    for _ in range(runs):
        for way in WAYS:
            if way in refused:
                continue
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                try:
                    seconds = pool.submit(_measured, control, data, way, records).result()
                except Exception as error:  # noqa: BLE001  a way that this log refuses is a row too
                    refused[way] = str(error)
                    continue
            lowest[way] = min(seconds, lowest.get(way, seconds))
    rows: list[dict[str, Any]] = [
        {"way": way, "us": seconds * 1e6, "ratio": seconds / lowest["plain"]}
        for way, seconds in lowest.items()
    ]
    return rows + [{"way": way, "refused": why} for way, why in refused.items()]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=240_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "logreplay-bench")
    parser.add_argument("--json", type=Path, help="also write the rows into this file")
    arguments = parser.parse_args()
    control, data = generate(arguments.dir, arguments.records, arguments.seed)
    rows = measure(control, data, arguments.records, arguments.runs)
    print(f"{'way':<28}{'CPU us a record':>16}{'x plain':>9}")
    for row in rows:
        if "refused" in row:
            print(f"{row['way']:<28}refused: {row['refused']}")
        else:
            print(f"{row['way']:<28}{row['us']:>16.2f}{row['ratio']:>9.2f}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
