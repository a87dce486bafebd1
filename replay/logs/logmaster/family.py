"""Log Master logical logs (Db2 for z/OS) as a log family."""

from __future__ import annotations

from replay.logs import FACTS, Capabilities, Family, Inputs
from replay.logs.logmaster import inspect
from replay.logs.logmaster.framing import Framing
from replay.logs.logmaster.reader import LogmasterLog, open_log

CAPABILITIES = Capabilities(
    frozenset(FACTS) - {"structure"},
    {"structure": "records of type CO say that the catalog changed, and hold no definition of a table"},
)


def open_inputs(inputs: Inputs) -> LogmasterLog:
    """Open what a user named; errors as :func:`replay.logs.logmaster.reader.open_log`."""
    framed = Framing(inputs.framing) if inputs.framing else None
    return open_log(inputs.control or "", inputs.data, framed=framed, ccsids=inputs.ccsids, scratch=inputs.scratch)


FAMILY = Family(
    name="logmaster",
    title="BMC AMI Log Master logical log of Db2 for z/OS",
    capabilities=CAPABILITIES,
    needs=("control", "data"),
    takes=("control", "data", "ccsids"),
    framings=tuple(entry.value for entry in Framing),
    options={},
    open=open_inputs,
    describe=inspect.describe,
    text=inspect.text,
    dump_record=inspect.dump_record,
)
