"""The numbers that :mod:`replay.native.fast_path` and its kernel tell each other: columns of the
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
#: statements may name it, whether it belongs to a key that rows may take from each other, whether
#: to the key that finds a row, and whether images are compared in it.
NULLABLE, VARIABLE, WIDTH, EXPANDED, KIND, SCALE, CHARSET, SHOWN, WATCHED, KEYED = range(10)
COMPARED, CELL = 10, 11
#: The same place for texts: what becomes of an empty one, blanks at its end apart where they are
#: left out: as it is, not for us, a blank.
LEAST = SCALE
NONE_AS_IT_IS, NONE_ODD, BLANK_FOR_NONE = range(3)
#: The same place for timestamps: digits of the fraction that are written.
KEPT = CHARSET
#: What KIND says: big-endian integers, packed decimals, text of one byte a character (with or
#: without the blanks at its end), moments as characters, text in UTF-8 and in UTF-16.
INTEGER, PACKED, TEXT, TEXT_STRIPPED, DATE, TIME, TIMESTAMP = range(7)
UTF8, UTF8_STRIPPED, UTF16, UTF16_STRIPPED = range(7, 11)
TEXTS = (TEXT, TEXT_STRIPPED, UTF8, UTF8_STRIPPED, UTF16, UTF16_STRIPPED)

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
#: images a row has, bytes of a statement apart from what comes from images, and how often a value
#: of one image stands in a statement at most.
CELLS, CELLS_END, ELEMENTS, ELEMENTS_END, IMAGES, FIXED, TIMES, PROGRAM = range(8)

#: Characters that are written as one byte, which is below, are in the table of lengths as that
#: byte; of all others it has their number of bytes more than this (0: the text is not plain).
SEVERAL = 128

#: The modules whose text decides what machine code that uses these numbers does.
SOURCES = (
    "replay.native.fast_path_tables",
    "replay.native.row_values_kernel",
)
