"""Put SQL that others wrote through the dialects ``db2`` and ``soliddb``: sqlglot's own statements,
which come with its source, and the expressions by which Apache Superset cuts times in Db2. None
belongs to us, so they are fetched where they are judged (``scripts/run judges``):

    pip download --no-deps --no-binary :all: sqlglot && pip download --no-deps apache-superset
    scripts/run python scripts/judge_sql.py sqlglot-*.tar.gz apache_superset-*.whl

A text is read, or refused with an error of sqlglot's; what is read is read again as it was written.
"""

from __future__ import annotations

import ast
import logging
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import ZipFile

import sqlglot
from sqlglot.errors import SqlglotError

from sqlgen.db2 import Db2
from sqlgen.soliddb import Soliddb

DIALECTS = {"db2": Db2, "soliddb": Soliddb}


def identities(path: Path) -> list[str]:
    """The statements that sqlglot writes as it reads them."""
    with tarfile.open(path) as archive:
        (name,) = (one for one in archive.getnames() if one.endswith("fixtures/identity.sql"))
        file = archive.extractfile(name)
        assert file is not None
        lines = file.read().decode().splitlines()
    return [line for line in lines if line and not line.startswith("--")]


def grains(path: Path) -> Iterator[str]:
    """Superset's expressions for Db2 as statements."""
    with ZipFile(path) as archive:
        tree = ast.parse(archive.read("superset/db_engine_specs/db2.py"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "{col}" in node.value:
            yield f"SELECT {node.value.format(col='T.AT')}, COUNT(*) FROM S.T"


def outcome(text: str, dialect: str) -> str:
    """``same``, ``other``, ``refused``, or the name of an error that must not be."""
    own = DIALECTS[dialect]
    try:
        written = [tree.sql(own) for tree in sqlglot.parse(text, dialect=own) if tree]
    except SqlglotError:
        return "refused"
    except Exception as error:  # noqa: BLE001 (which is what we look for)
        return f"{type(error).__name__}: {text[:100]}"
    try:
        again = [sqlglot.parse_one(one, dialect=own).sql(own) for one in written]
    except SqlglotError:
        return "not read again"
    return "same" if again == written else "other"


def judged(name: str, texts: Sequence[str], dialect: str) -> bool:
    """Print what becomes of texts; whether an error came that must not be."""
    found = Counter(outcome(text, dialect) for text in texts)
    print(f"{name} as {dialect}: {len(texts)} statements")
    for what, count in found.most_common():
        print(f"  {count:>5} {what}")
    return bool(set(found) - {"same", "other", "refused", "not read again"})


def main(sqlglot_source: str, superset: str) -> int:
    """8 where an error came that is not sqlglot's, or Superset's Db2 is not understood."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # of what a dialect has no type for
    texts = identities(Path(sqlglot_source))
    wrong = [judged("sqlglot's identities", texts, dialect) for dialect in DIALECTS]
    cuts = sorted(set(grains(Path(superset))))
    wrong.append(judged("Superset's times", cuts, "db2"))
    wrong.append(any(outcome(text, "db2") != "same" for text in cuts))
    return 8 if any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
