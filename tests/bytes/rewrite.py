"""Makes ``digests.json`` anew, and tells what changed: on purpose, for the test compares with it.

scripts/run python tests/bytes/rewrite.py            all cases
scripts/run python tests/bytes/rewrite.py --show X   only cases with the text X; writes nothing
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Run all cases and write the list."""
    sys.path[0] = str(ROOT)
    os.environ["LOGREPLAY_CONFIG"] = str(ROOT / "tests" / "support" / "postgres.toml")
    from tests.bytes.matrix import CASES
    from tests.bytes.published import LIST, Bench, changed, listed

    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--show", metavar="X", help="only cases with this text; writes nothing")
    chosen = parser.parse_args().show
    kept = listed() if LIST.exists() else {}
    with tempfile.TemporaryDirectory(prefix="logreplay-bytes-") as folder:
        bench = Bench(Path(folder))
        made = {case: bench.run(case) for case in CASES if chosen is None or chosen in case}
    text = json.dumps(made, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    if chosen is not None:
        sys.stdout.write(text)
        return
    for case in sorted({*made, *kept}):
        files = changed(kept.get(case, {}), made.get(case, {}))
        if files:
            sys.stdout.write(f"{case}: {', '.join(files)}\n")
    LIST.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(made)} cases, {sum(map(len, made.values()))} digests\n")


if __name__ == "__main__":
    main()
