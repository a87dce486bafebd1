"""What is to be told of the rows of a log, as numbers and as words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from replay.logs.soliddb.transactions import OutsideRows

#: TRXIDs that a warning shows.
SHOWN = 10


@dataclass
class IndexNotes:
    """What is to be told of rows that are read: statements that belong to no DDL record
    (``lost_texts``), batches of ``several`` transactions and TRXIDs of the first of them
    (``ids``), bits of FLAGS that are ``unknown``, and rows with TEXTDATA (``texts``)."""

    lost_texts: int = 0
    several: int = 0
    ids: list[int] = field(default_factory=list)
    unknown: int = 0
    texts: int = 0

    def words(self, outside: OutsideRows, of_values: Iterable[str]) -> list[str]:
        """In words, with those of rows outside of transactions and of values."""
        texts = outside.words()
        if self.lost_texts:
            texts.append(
                f"{self.lost_texts} SQL record(s) belong to no DDL record and are not repeated"
            )
        texts += of_values
        if self.several:
            texts.append(
                f"{self.several} batch(es) of several transactions are kept as one unit each"
                f" (TRXIDs {', '.join(map(str, self.ids))} …)"
            )
        if self.unknown:
            texts.append(
                f"FLAGS with unpublished bits (X'{self.unknown:X}'); they are not looked at"
            )
        if self.texts:
            texts.append(
                f"{self.texts} row(s) have a TEXTDATA, which is documented as always NULL; it is"
                " not looked at"
            )
        return texts
