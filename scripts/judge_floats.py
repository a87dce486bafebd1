"""Compare hexadecimal floats with the library ``ibm2ieee``, which needs a NumPy before 2 and
therefore an environment of its own:

    python3 -m venv judge && judge/bin/pip install 'numpy<2' ibm2ieee
    scripts/run python scripts/judge_floats.py judge/bin/python 10000000

Random patterns of both widths, a fifth of them not normalised; every bit of every double counts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from replay.decoding.codecs import hfp_values

AT_ONCE = 1_000_000
JUDGE = """
import sys
import numpy
import ibm2ieee
raw = numpy.load(sys.argv[1])
numpy.save(sys.argv[2], ibm2ieee.ibm2float64(raw))
"""


def patterns(random: np.random.Generator, count: int, width: int) -> np.ndarray:
    """Random values, ``uint8[count, width]``."""
    block = random.integers(0, 256, (count, width), dtype=np.uint8)
    block[: count // 10, 1] = 0
    block[count // 10 : count // 5, 1:] &= random.integers(0, 2, (1, width - 1), dtype=np.uint8)
    return block


def main(judge: str, count: int) -> int:
    """Compare ``count`` values of each width; 8 where some differ."""
    random, worst = np.random.default_rng(), 0
    with tempfile.TemporaryDirectory() as folder:
        asked, answers = Path(folder, "asked.npy"), Path(folder, "told.npy")
        for width in (4, 8):
            differ = 0
            for start in range(0, count, AT_ONCE):
                block = patterns(random, min(AT_ONCE, count - start), width)
                raw = block.view(f">u{width}").reshape(len(block)).astype(f"u{width}")
                np.save(asked, raw)
                subprocess.run([judge, "-c", JUDGE, asked, answers], check=True)
                found, expected = hfp_values(block), np.load(answers)
                differ += int((found.view(np.uint64) != expected.view(np.uint64)).sum())
            print(f"{count:,} values of {width} bytes, {differ:,} differ")
            worst |= differ
    return 8 if worst else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else AT_ONCE))
