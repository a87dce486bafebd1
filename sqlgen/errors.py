"""Errors of the SQL language package: what cannot be said in SQL, and why.

``sqlgen`` knows nothing about logs or files; ``replay`` adds the place (file, record, unit) when it reports one of these.
"""

from __future__ import annotations


class SqlgenError(Exception):
    """A statement that cannot be rendered.

    ``code`` is one of the ``LR3xxx`` codes of :mod:`replay.errors`; ``message`` says what was found and what was expected;
    ``hint`` says what the user can do, naming the option.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
