"""Log Master logical logs (Db2 for z/OS) as a log family."""

from __future__ import annotations

from replay.changes.choices import Gaps
from replay.logs import FACTS, Capabilities, Family, Inputs, LogPair, OrderRules
from replay.logs.logmaster import checkup, dump, inspect, order_rules
from replay.logs.logmaster.copying import WRITER
from replay.logs.logmaster.framing import Framing
from replay.logs.logmaster.log_set import LogSet
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from replay.logs.logmaster.set_opening import open_set
from replay.logs.logmaster.wide_reals import with_wide_reals


def admit(log: LogmasterLog) -> None:
    """InputError (LR2037) for a log set with a hole."""
    if isinstance(log, LogSet):
        log.admit()


CAPABILITIES = Capabilities(
    frozenset(FACTS) - {"structure"},
    {
        "structure": (
            "records of type CO say that the catalog changed, and hold no definition of a table"
        )
    },
)


def open_inputs(inputs: Inputs) -> LogmasterLog:
    """Open what a user named; errors as :func:`replay.logs.logmaster.opening.open_log`."""
    framed = Framing(inputs.framing) if inputs.framing else None
    if inputs.pairs or inputs.continues:
        return open_set(
            inputs.pairs or [LogPair(inputs.control or "", inputs.data)],
            framed=framed,
            ccsids=inputs.ccsids,
            scratch=inputs.scratch,
            shared=inputs.shared,
            gaps=inputs.gaps or Gaps.REFUSE,
            continues=inputs.continues,
        )
    return open_log(
        inputs.control or "",
        inputs.data,
        framed=framed,
        ccsids=inputs.ccsids,
        scratch=inputs.scratch,
        shared=inputs.shared,
    )


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
    dump_record=dump.dump_record,
    order=OrderRules(order_rules.faults, order_rules.rising),
    with_wide_reals=with_wide_reals,
    unconfirmed=checkup.UNCONFIRMED,
    checkup=checkup.checkup,
    admit=admit,
    writer=WRITER,
)
