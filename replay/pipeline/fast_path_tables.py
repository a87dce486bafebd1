"""The numbers that :mod:`replay.pipeline.fast_path` and its kernel tell each other: columns of the
tables that the kernel works from, and what it says of a row."""

from __future__ import annotations

#: What became of a row (the first three as in :mod:`sqlgen.statements`): a statement; an update
#: without a change; one that changes excluded columns only; not for us.
EMITTED, NO_CHANGE, EXCLUDED_COLUMNS, ODD = 0, 1, 2, 3
#: Added to it where an update changes a column that is watched.
MOVED = 128
#: The same where it changes the key that finds its row, between the functions of the kernel.
REKEYED = 64

#: Columns of the table of cells: how a column lies in an image, how its value is said, whether
#: statements may name it, whether it belongs to a key that rows may take from each other, and
#: whether to the key that finds a row.
NULLABLE, VARIABLE, WIDTH, EXPANDED, KIND, SCALE, CHARSET, SHOWN, WATCHED, KEYED, CELL = range(11)
#: The same place for texts: characters that one has at least, blanks at its end apart where they
#: are left out.
LEAST = SCALE
#: The same places for values that are given: which of the given texts are those of each side.
GIVEN_BEFORE, GIVEN_AFTER = SCALE, CHARSET
#: What KIND says: big-endian integers, packed decimals, text of one byte a character (with or
#: without the blanks at its end), moments, values that are not read but given (masks).
INTEGER, PACKED, TEXT, TEXT_STRIPPED, DATE, TIME, TIMESTAMP, GIVEN = range(8)

#: Columns of the table of elements: which value (column -1: none, only the prefix), when it stands
#: there, where its texts lie in the pool, whether they begin with ", ", which the first one of a
#: row loses, and the bits of the row's code (-1: none) that say that it stands there, and that its
#: value is null.
COLUMN, SIDE, WHEN, PREFIX, PREFIX_END, NULL, NULL_END, SUFFIX, SUFFIX_END = range(9)
LISTED, STANDS, EMPTY, ELEMENT = range(9, 13)
#: What SIDE says, and WHEN: in every row, where the column changed (of a column that did not, the
#: value of an assignment is not looked at), where the key changed, or where it did not, and rows in
#: which it did are not for us. AGAIN repeats what came out of the elements between two that are
#: NOTED.
BEFORE, AFTER = range(2)
ALWAYS, CHANGED, ASSIGNED, MOVING, STAYING, NOTED, AGAIN = range(7)

#: Bytes of a value at most, text apart.
ROOM = 40

#: Columns of the table of programs: which cells and elements are theirs (from, up to), how many
#: images a row has, bytes of a statement apart from what comes from images and given texts, and how
#: often a value of one image stands in a statement at most.
CELLS, CELLS_END, ELEMENTS, ELEMENTS_END, IMAGES, FIXED, TIMES, PROGRAM = range(8)

#: Characters that are written as one octet, which is below, are in the table of lengths as that
#: octet; of all others it has their number of octets more than this (0: the text is not plain).
SEVERAL = 128
