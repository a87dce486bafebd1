"""A job that runs scripts in order, each in a step of its own that is left out where one before it
ended with another return code than 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlgen.clients import Client

#: Records of 80 bytes on a track, in blocks of 27,920 bytes, and tracks of a cylinder (3390).
_ON_TRACK, _TRACKS = 2 * 349, 15
#: Steps of a job at most.
MOST_STEPS = 255


@dataclass(frozen=True)
class JobScript:
    """A script of the job: its file, and how many records it has (0: as its lines become)."""

    name: str
    records: int


def member(number: int) -> str:
    """What the data set of a script is called at its end, and its step."""
    return f"S{number:04}"


def job(
    client: Client, terminator: str, mode: str, system: str, scripts: Sequence[JobScript]
) -> list[str]:
    """The lines of the job, none longer than 71 characters."""
    program = client.name.upper()
    lines = [
        f"//LR{mode.upper():6}JOB (ACCT),'LOGREPLAY',CLASS=A,MSGCLASS=X",
        f"//* LOGREPLAY {mode.upper()}: ONE STEP FOR EACH SCRIPT, IN ORDER. A STEP IS",
        "//* LEFT OUT IF ONE BEFORE IT ENDED WITH ANOTHER CODE THAN 0.",
        "//* SET WHAT STANDS BELOW, AND SYSTEM AND PLAN IN EACH STEP.",
        "//* ALLOCATE THE DATA SETS WITH RECFM=FB,LRECL=80,BLKSIZE=27920:",
        *_sizes(scripts),
        "//         SET HLQ=USERID.LOGREPL",
        "//         SET LOADLIB=DSN.SDSNLOAD",
        "//         SET RUNLIB=DSN.RUNLIB.LOAD",
    ]
    for number, _ in enumerate(scripts):
        name = member(number)
        if number:
            # the highest return code so far (https://ibm.com/support/knowledgecenter/en/
            # SSLTBW_2.1.0/com.ibm.zos.v2r1.ieab600/iea3b6_Example_4.htm)
            lines.append("//         IF (RC = 0) THEN")
        lines += [
            f"//{name}    EXEC PGM=IKJEFT01,DYNAMNBR=20",
            "//STEPLIB  DD DISP=SHR,DSN=&LOADLIB",
            "//         DD DISP=SHR,DSN=&RUNLIB",
            "//SYSTSPRT DD SYSOUT=*",
            "//SYSPRINT DD SYSOUT=*",
            "//SYSUDUMP DD SYSOUT=*",
            f"//SYSIN    DD DISP=SHR,DSN=&HLQ..{name}",
            "//SYSTSIN  DD *",
            f"  DSN SYSTEM({system})",
            f"  RUN PROGRAM({program}) PLAN({program}){_parameters(client, terminator)}",
            "  END",
            "/*",
        ]
        if number:
            lines.append("//         ENDIF")
    return lines


def _parameters(client: Client, terminator: str) -> str:
    if not client.parameters:
        return ""
    return f" PARMS('{client.parameters.format(terminator=terminator)}')"


def _sizes(scripts: Sequence[JobScript]) -> Iterator[str]:
    for number, script in enumerate(scripts):
        cylinders = -(-script.records // (_ON_TRACK * _TRACKS))
        size = f": {script.records} RECORDS, SPACE=(CYL,{cylinders})" if script.records else ""
        yield f"//*  {member(number)}  {script.name}{size}"
