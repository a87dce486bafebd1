"""logreplay: reads database change logs and turns them into redo and undo SQL.

As a library::

    from pathlib import Path
    import replay

    bundle = replay.write_script("x.ctl", ["x.dat"], Path("redo-x"), mode="redo")
    print(bundle.manifest["balance"])
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from replay.bundle import Bundle
    from replay.plan import ScriptOptions
    from replay.selection import Selection
    from sqlgen.constraints import Constraints

__version__ = "0.1.0"


def write_script(
    control: str | Path,
    data: Sequence[str | Path],
    out: Path,
    *,
    mode: str = "redo",
    selection: Selection | None = None,
    options: ScriptOptions | None = None,
    constraints: Constraints | None = None,
    overwrite: bool = False,
) -> Bundle:
    """Write the redo or undo bundle of a Log Master logical log into the folder ``out``, in this process, without Spark.

    ``constraints`` (:func:`sqlgen.constraints.parse_constraints`) tell of unique and foreign keys that the log does not know.
    Raises the errors of :mod:`replay.errors`; then nothing is left in ``out``.
    """
    from tempfile import TemporaryDirectory

    from replay import local
    from replay.bundle import check_output, write_bundle
    from replay.logs.logmaster.reader import open_log
    from replay.plan import ScriptOptions, make_plan
    from replay.selection import Selection

    check_output(out, overwrite)
    with TemporaryDirectory(prefix="logreplay-") as scratch:
        log = open_log(control, data, scratch=scratch)
        plan = make_plan(log, mode, selection or Selection(), options or ScriptOptions())
        return write_bundle(plan, log, out, local.ENGINE, overwrite=overwrite, constraints=constraints)
