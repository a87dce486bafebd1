"""Machine code: the compiled functions, and what they work from. Nothing else knows Numba; whatever
they leave, and all of it where Numba is not installed, goes the way of NumPy and Arrow."""

from __future__ import annotations

#: Records of a bucket that make it worth to load the kernel that writes statements (and, once on
#: a machine, to compile it).
WORTH = 50_000
