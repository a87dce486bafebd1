"""Programs that run scripts, as data: what a :class:`Client` can read, and how it is run. Each fact
has the page that states it; what no page states is not relied on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module

from sqlgen.errors import SqlgenError, did_you_mean

#: The clients by name, and the module that holds each as ``CLIENTS[name]``.
BUILT_IN: dict[str, str] = {
    "dsntep2": "zos_clients",
    "dsntep4": "zos_clients",
    "spufi": "zos_clients",
    "dsntiad": "zos_clients",
    "clp": "other_clients",
    "solsql": "other_clients",
    "psql": "other_clients",
    "sqlite3": "other_clients",
    "sqlplus": "other_clients",
    "mariadb": "other_clients",
    "mysql": "other_clients",
    "duckdb": "other_clients",
    "sqlcmd": "other_clients",
    "snowsql": "other_clients",
    "bq": "other_clients",
    "spark-sql": "other_clients",
    "trino": "other_clients",
}


@dataclass(frozen=True)
class Client:
    """One program.

    * ``dialects``: those whose scripts it runs. ``command``: how it is run, with ``{terminator}``.
    * ``width``: how much of a line it reads (bytes of its encoding; 0: any line), and ``record``
      the length of its records, where these have no line end (0: lines). ``concat``: what joins the
      pieces of a literal that is longer than a line, ``no_end`` what no line may end with.
    * ``unicode``: what stands before a literal of UTF-16 in hexadecimal digits, which says
      characters that the encoding lacks ('': it refuses them).
    * ``terminator`` of statements, and ``set_terminator``, the line that changes it, where there is
      one: then a statement that has the terminator in it gets another one, out of ``terminators``.
      ``whole_terminator``: where there is none, a statement may not have the terminator in it.
      ``bad_terminators``: what none can be.
    * ``longest``: how many bytes a statement has at most, ``longest_script`` a script (0: no page
      says that there is a limit). How long a literal may be, the dialect says.
    * ``head``: its own words before the first statement.
    * ``selects``: it runs queries. ``stops``: what makes it stop at the first error and roll the
      unit back ('': no page says that it does, so checks count for nothing).
    * ``ebcdic``: it reads EBCDIC. ``in_jobs``: it is run by a job (JCL), with ``parameters``.
    * ``pages``: the page that states a fact, by the field that has it.
    """

    name: str
    dialects: tuple[str, ...]
    command: str
    width: int = 0
    record: int = 0
    concat: str = ""
    no_end: str = ""
    unicode: str = ""
    terminator: str = ";"
    set_terminator: str = ""
    terminators: str = ""
    whole_terminator: bool = False
    bad_terminators: str = ""
    longest: int = 0
    longest_script: int = 0
    head: tuple[str, ...] = ()
    selects: bool = True
    stops: str = ""
    ebcdic: bool = False
    in_jobs: bool = False
    parameters: str = ""
    pages: Mapping[str, str] = field(default_factory=dict)

    @property
    def reads_all(self) -> bool:
        """Whether it reads a script of plain SQL as it is."""
        plain = self.terminator == ";" and not (self.set_terminator or self.whole_terminator)
        return plain and not (self.width or self.record)

    def facts(self) -> dict[str, object]:
        """What differs from the usual, by field: each has its page."""
        plain = {"name", "dialects", "pages"}
        return {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name not in plain and getattr(self, one.name) != one.default
        }


def client_named(name: str) -> Client:
    """The client of a name. SqlgenError (LR1001) for a name that none has."""
    if name not in BUILT_IN:
        raise SqlgenError(
            "LR1001",
            f"found client {name!r}; expected one of: {', '.join(BUILT_IN)}"
            f"{did_you_mean(name, BUILT_IN)}",
        )
    client: Client = import_module(f"{__name__}.{BUILT_IN[name]}").CLIENTS[name]
    return client
