"""Log Master's LOAD files (SDF and CSV) as a log family."""
