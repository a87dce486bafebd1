"""Log Master's LOAD files (CSV) as a log family."""
