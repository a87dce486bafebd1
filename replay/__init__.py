"""logreplay: reads database change logs and turns them into redo and undo SQL.

As a library::

    import replay

    with replay.open_log("FOLDER") as log:
        work = log.select(table="SAKILA.*", user="CLERK0")
        work.changes()                                  # Arrow record batches in commit order
        bundle = work.undo(cascade="all").write("undo-x")
    print(bundle.manifest["balance"])

Everything is described in :mod:`replay.api`. It is loaded when it is first used: help texts need
none of it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from replay.version import __version__ as __version__

if TYPE_CHECKING:
    from replay.api import Log as Log
    from replay.api import Selected as Selected
    from replay.api import Verification as Verification
    from replay.api import check_certificate as check_certificate
    from replay.api import open_log as open_log
    from replay.api import verify as verify
    from replay.api import write_script as write_script

_OF_THE_DOOR = (
    "Log",
    "Selected",
    "Verification",
    "check_certificate",
    "open_log",
    "verify",
    "write_script",
)


def __getattr__(name: str) -> Any:
    """A name of the library's door (:mod:`replay.api`)."""
    if name not in _OF_THE_DOOR:
        here = sys.modules[__name__]  # Python says what is spelled like it
        raise AttributeError(f"module 'replay' has no attribute {name!r}", name=name, obj=here)
    from replay import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_OF_THE_DOOR})
