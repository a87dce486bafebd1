"""The history of a key, held against the true lives of rows: those that had the key at some time,
whatever walked over it."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.independent.tables import Place, Row
from tests.independent.zos_history import Effect, History, Wants, form_of
from tests.independent.zos_records import write
from tests.support.seeds import seeds

#: A row: its table, its place, and which of those it is that lay there.
Life = tuple[str, Place, int]
_WHOLE = ("SMALLINT", "INTEGER", "BIGINT")


def lived(made: History) -> tuple[dict[Life, set[Row]], dict[Life, list[Effect]]]:
    """The keys that each row had, and what became of it."""
    keys: dict[Life, set[Row]] = defaultdict(set)
    effects: dict[Life, list[Effect]] = defaultdict(list)
    lives: Counter[tuple[str, Place]] = Counter()
    for table in made.tables:
        for place, row in made._start[table.name].items():
            keys[table.name, place, 0].add(table.key_of(row))
    for unit in made.done:
        for effect in unit.effects:
            table, place = effect.table, effect.place
            lives[table.name, place] += effect.before is None
            life = table.name, place, lives[table.name, place]
            effects[life].append(effect)
            rows = (row for row in (effect.before, effect.after) if row is not None)
            keys[life] |= {table.key_of(row) for row in rows}
    return keys, effects


def places(made: History, effects: Iterator[Effect]) -> Counter[tuple[str, str]]:
    """Unit's member and position of changes, as they are shown."""
    log = made.log
    return Counter(
        (
            str(effect.change.unit.member),
            f"{effect.change.order:020X}"
            if made.form.ordervalue
            else log.headers.rba(effect.change.rba).hex().upper(),
        )
        for effect in effects
    )


@pytest.mark.parametrize("seed", seeds(long=21))
def test_the_history_of_a_key(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = History(f"hist {seed}", form_of(seed), Wants(60, 2, 6))
    source = write(made.log, made.tables, tmp_path, made.end)
    keys, effects = lived(made)
    pick = random.Random(f"lives {seed}")
    for table in made.tables:
        if not table.key or any(table.columns[at].kind not in _WHOLE for at in table.key):
            continue
        known = sorted({key for life in keys if life[0] == table.name for key in keys[life]})
        for key in pick.sample(known, min(len(known), 4)):
            wanted = places(
                made,
                (
                    effect
                    for life, had in keys.items()
                    if life[0] == table.name and key in had
                    for effect in effects[life]
                ),
            )
            named = ["--table", f"{table.schema}.{table.name}", f"--key={','.join(map(str, key))}"]
            capsys.readouterr()
            words = [*source, "--engine", "local", "--schema", "none", "--json"]
            assert main(["history", *words, *named]) in (0, 4)
            found = json.loads(capsys.readouterr().out)["versions"]
            committed = [one for one in found if one["fate"] == "committed"]
            shown = Counter((v["unit"].split("/")[1], v["log_position"]) for v in committed)
            assert shown == wanted, key
