"""What one statement of a replay is about: its table, operation and both images from the log; what
the target has instead; and the statements that put the log's row in place whatever the target has.
Made only when something went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from replay.changes.envelope import Change
from replay.dependencies.unique_order import OF_TWO, StatementPart
from replay.errors import Where
from replay.logs import LogFile, where_of
from replay.output.steps import Script
from replay.pipeline.plan import Plan
from replay.pipeline.row_batch import OPS, whole_rows
from replay.targets import Session
from sqlgen import statements
from sqlgen.choices import WhereColumns
from sqlgen.row_checks import with_check
from sqlgen.schema import INVERSE, Op, Rows

#: What the halves of a change that is two statements do.
_HALVES = {StatementPart.REMOVE: Op.DELETE, StatementPart.PUT: Op.INSERT}
#: Statement text shown in a message, at most.
_LONGEST = 2000


@dataclass(frozen=True)
class Diagnosis:
    """One statement. ``op`` and ``rows`` are as it was to be run (turned round for undo); ``rows``
    is None for an event of a whole table."""

    op: Op
    table: str
    where: Where
    position: str
    statement: str
    rows: Rows | None

    def images(self) -> dict[str, dict[str, Any] | None]:
        """Both images as the statement sees them, values as text."""
        if self.rows is None:
            return {"before": None, "after": None}
        return {"before": _values(self.rows.before), "after": _values(self.rows.after)}

    def identity(self) -> tuple[str, ...]:
        """What tells this change from all others of its unit, whichever direction it is applied
        in."""
        images = self.images()
        sides = sorted((repr(images["before"]), repr(images["after"])))
        return (self.table, self.position, *sides)


class Diagnoser:
    """Diagnoses statements of ``plan``, whose changes are in ``log``."""

    def __init__(self, plan: Plan, log: LogFile) -> None:
        self.plan, self.log = plan, log
        self.profile = plan.options.profile

    def op(self, script: Script, step: int) -> Op:
        """The operation of a statement, turned round for undo; events of whole tables count as
        deletes."""
        row = script.steps[step]
        op = OPS.get(Change(int(row["change"])), Op.DELETE)
        if row["part"] == StatementPart.NET and row["last_change"] == Change.DELETE:
            op = Op.DELETE
        op = _HALVES.get(StatementPart(int(row["part"])), op)
        return INVERSE[op] if self.plan.mode == "undo" else op

    def diagnose(self, script: Script, step: int) -> Diagnosis:
        """The diagnosis of one statement, the ``step``-th of the script."""
        row = script.steps[step]
        kind, version = Change(int(row["change"])), int(row["version"])
        records = script.records(step)
        name = self.log.catalog.versions[version].name
        rows = None
        part = StatementPart(int(row["part"]))
        if kind in OPS and part not in OF_TWO:
            rows = whole_rows(
                self.log,
                records,
                np.zeros(1, np.int64),
                np.array([len(records)], np.int64),
                version,
                kind,
                self.plan.options.mapping,
            )
            rows = _half(rows, part)
            rows = rows.inverse() if self.plan.mode == "undo" else rows
        first = records[0]
        where = where_of(self.log, first, table=name)
        if rows is None:
            statement = script.slice(step, step + 1).decode("utf-8", "replace")
        else:
            statement = str(
                statements.render(rows, self.profile, self.plan.options.render).text[0].as_py()
            )
        return Diagnosis(
            self.op(script, step),
            name,
            where,
            first["position"].tobytes().hex().upper(),
            statement,
            rows,
        )

    def target_rows(self, session: Session, diagnosis: Diagnosis) -> list[dict[str, Any]]:
        """The rows that the target has under the identity of the statement's row (two at most);
        empty where that cannot be asked."""
        rows = diagnosis.rows
        if rows is None or not rows.table.key:
            return []
        asked = rows if rows.op is not Op.INSERT else replace(rows, before=rows.after)
        options = replace(self.plan.options.render, where_columns=WhereColumns.KEY)
        query = statements.lookups(asked, self.profile, options)[0].as_py()
        facts = session.facts(*self.plan.options.place(rows.table))
        names: Sequence[str] = facts.columns if facts is not None else ()
        return [
            {
                name: None if value is None else str(value)
                for name, value in zip(names, row, strict=False)
            }
            for row in session.query(query.replace("%", "%%"))[:2]
        ]

    def checked(self, diagnosis: Diagnosis, unit: str, number: int) -> str | None:
        """The statement as a script has it that is run later: it finds the row by all its columns,
        and its check names ``unit`` and ``number``. None where there is no such check."""
        if diagnosis.rows is None or self.profile.row_check is None:
            return None
        options = replace(
            self.plan.options.render, where_columns=WhereColumns.ALL, assert_rows=True
        )
        text = str(statements.render(diagnosis.rows, self.profile, options).text[0].as_py())
        return with_check(text, unit, number, self.profile)

    def is_done(self, session: Session, diagnosis: Diagnosis) -> bool:
        """Whether the target is as the statement would leave it: without the row that it deletes,
        or with the very row that it writes. Of a table without a key only the former is asked, for
        another row may be the same."""
        rows = diagnosis.rows
        if rows is None or not (rows.table.key or rows.op is Op.DELETE):
            return False
        gone = rows.op is Op.DELETE
        options = replace(
            self.plan.options.render,
            where_columns=WhereColumns.KEY if gone else WhereColumns.ALL,
        )
        asked = rows if gone else replace(rows, before=rows.after)
        query = statements.counting_queries(asked, self.profile, options)[0].as_py()
        there = session.query(query.replace("%", "%%"))[0][0]
        return bool(there == 0) if gone else bool(there)

    def overwrite(self, diagnosis: Diagnosis) -> list[str]:
        """Statements of which the first that touches a row puts the log's row in place (of a
        delete: none need touch one); none where the table has no key."""
        rows = diagnosis.rows
        if rows is None or not rows.table.key:
            return []
        options = replace(self.plan.options.render, where_columns=WhereColumns.KEY)

        def text(rows: Rows) -> str:
            return str(statements.render(rows, self.profile, options).text[0].as_py())

        if rows.op is Op.DELETE:
            return [text(rows)]
        everything = {column.name: pa.array([True]) for column in rows.table.columns}
        before = rows.after if rows.op is Op.INSERT else rows.before
        update = text(replace(rows, op=Op.UPDATE, before=before, changed=everything))
        return (
            [update]
            if rows.op is Op.INSERT
            else [update, text(replace(rows, op=Op.INSERT, before={}, changed={}))]
        )


def _half(rows: Rows, part: StatementPart) -> Rows:
    """What a statement does of an update."""
    if part is StatementPart.REMOVE:
        return replace(rows, op=Op.DELETE, after={}, changed={})
    if part is StatementPart.PUT:
        return replace(rows, op=Op.INSERT, before={}, changed={})
    return rows


def _values(image: Mapping[str, pa.Array]) -> dict[str, Any] | None:
    if not image:
        return None
    values = {name: array[0].as_py() for name, array in image.items()}
    return {
        name: value.hex() if isinstance(value, bytes) else value if value is None else str(value)
        for name, value in values.items()
    }


def abridged(text: str) -> str:
    """A statement as a message shows it: its beginning, where it is long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
