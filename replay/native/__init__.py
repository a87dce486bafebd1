"""Machine code: the compiled functions, and what they work from. Nothing else knows Numba; whatever
they leave, and all of it where Numba is not installed, goes the way of NumPy and Arrow."""
