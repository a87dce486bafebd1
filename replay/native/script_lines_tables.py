"""The numbers that :mod:`replay.output.script_file` and its kernel tell each other."""

from __future__ import annotations

#: What stands before a unit: the end of a transaction, the comment of the unit, the begin of a
#: transaction, the statement that has foreign keys wait.
COMMITS, TOLD, BEGINS, DEFERS = 1, 2, 4, 8

#: What a line needs beside its statement: the check, and what opens or closes a block.
CHECKED, OPENS, CLOSES = 1, 2, 4

#: Columns of the table of pieces: what the piece is a part of, where its text lies in the pool, and
#: what is filled in behind it.
PART, TEXT, TEXT_END, SLOT, PIECE = range(5)
#: What PART says: what opens a block, the name of a statement (in place of the byte
#: :data:`NAMED`, where a statement has one), its check, what closes a block.
OPENING, LABEL, CHECK, CLOSING = range(4)
#: What SLOT says: nothing, the name of the unit, the number of the statement in it.
NOTHING, UNIT, NUMBER = range(3)
#: The byte of :data:`sqlgen.dialects.LABEL`.
NAMED = 1
