"""What people ask of a log, answered in words: the life of a row, the rows at a moment, reports.

Nothing here writes SQL; what takes something back is named as the command that does it."""
