"""The matrix: which commands are run on which logs with which options.

A case is one line of text: the name of a log (see ``logs.py``), a command, and its options, as they
would be typed. ``{log}`` is the folder of the log, ``{fixtures}`` that of the bundled logs, and
``{files}`` one with the files below. What is not said here is the same for all: ``--engine local``,
and ``--out`` where a command takes it.
"""

from __future__ import annotations

#: Files that options name.
FILES = {
    "key": "a secret of the team\n",
    "shop.toml": """
[schemas]
SAKILA = "shop"

[tables."SAKILA.FILM"]
name = "movie"
columns = { FILM_ID = "movie_id" }
types = { RENTAL_RATE = "numeric(9, 2)" }
exclude = ["LENGTH"]

[tables."SAKILA.CUSTOMER"]
mask = ["LAST_NAME", "EMAIL"]
""",
    "kin.toml": """
[schemas]
TESTOWN = "family"

[tables."TESTOWN.PARENT"]
name = "elder"
columns = { CODE = "mark" }
mask = ["A", "B"]

[tables."TESTOWN.CHILD"]
mask = ["X"]
""",
}

DIALECTS = (
    "postgres", "sqlite", "duckdb", "mysql", "mariadb", "oracle", "db2", "tsql", "snowflake",
    "bigquery", "redshift", "spark", "trino",
)  # fmt: skip
#: Dialects that differ most, for what takes longer.
SOME = ("sqlite", "mariadb", "oracle", "tsql", "bigquery")
#: What lets every dialect say all that the logs of Sakila hold.
LENIENT = "--timestamps truncate --empty-text space --midnight next"
EXPORTS = (
    "",
    "--parquet-types native",
    "--format csv",
    "--format jsonl",
    "--format debezium",
)
GRAPHS = ("--format html", "--format json")
INCOMPLETE = ("--incomplete resolve", "--incomplete quarantine", "--incomplete dependentrba")
#: Options of redo and undo that do not depend on the log.
HOW = (
    "--names exact",
    "--where-columns guard",
    "--where-columns all",
    "--trace",
    "--commit-every 7",
    "--records-per-file 20",
)


def of_dialects(more: str = "", dialects: tuple[str, ...] = DIALECTS) -> tuple[str, ...]:
    """One entry a dialect."""
    return tuple(f"--dialect {name} {more}".strip() for name in dialects)


KEYS = "--schema {log}/schema.sql"
SHOP_KEYS = "--schema {fixtures}/sakila/small/schema-ri.sql"
DB2_KEYS = "--schema {fixtures}/sakila/small/db2-tables.sql --schema-dialect db2"
INITIAL = "--initial {fixtures}/sakila/log/initial"
KIN = "00000000123456789B1C/2"

#: Log -> command -> options.
MATRIX: dict[str, dict[str, tuple[str, ...]]] = {
    "sakila": {
        "redo": (
            "",
            *of_dialects(LENIENT),
            *HOW,
            "--dialect oracle",
            "--dialect spark --strict",
            "--dialect oracle --empty-text null --timestamps round",
            "--char-padding keep",
            "--include-aborted",
            "--from-recovery-point",
            "--ri skip",
            "--triggers skip",
            "--table sakila.film",
            "--table *.RENTAL --table *.PAYMENT",
            "--exclude-table *.FILM*",
            "--op insert",
            "--op delete --op update",
            "--ur 000000000000A1B2DC19/1",
            "--authid CLERK0",
            "--plan DIST* --correlation SAKILA04",
            "--connection *",
            "--member 2",
            "--from-lrsn 00DECBEAE9A1E8400000",
            "--until-lrsn DECBEAE9A1E8",
            "--from-time '2024-03-15 08:00:20' --until-time '2024-03-15 08:01'",
            "--where 'after.rental_rate > 5 AND film_id < 70'",
            "--where 'before.on_hand IS NOT NULL'",
            "--table *.FILM --columns FILM_ID --columns RENTAL_*",
            "--exclude-columns LAST_UPDATE --exclude-columns *.FILM.RENTAL_RATE",
            "--except authid=CLERK0",
            "--except 000000000000A1B2DC19 " + SHOP_KEYS,
            "--mapping {files}/shop.toml --mask-key-file {files}/key",
            "--mapping {files}/shop.toml --mask-key-file {files}/key --dialect mariadb",
            "--ccsid E=1140",
        ),
        "undo": (
            "",
            *of_dialects(LENIENT, SOME),
            *HOW,
            "--ri skip",
            "--triggers skip",
            "--include-aborted",
            "--where 'film_id < 70'",
            "--from-lrsn 00DECBEAE9A1E8400000 --trace --commit-every 3",
            "--until-time 2024-03-15",
            "--exclude-columns LAST_UPDATE",
            "--ur 000000000000A1B2DC19 --cascade all",
            "--ur 000000000000A1B2DC19 --cascade force",
            "--mapping {files}/shop.toml --mask-key-file {files}/key",
        ),
        "export": (
            *EXPORTS,
            "--csv-null NULL --format csv",
            "--schemas apart --format debezium",
            "--names exact --format jsonl",
            "--records-per-file 50",
            "--exclude-columns LAST_UPDATE --format jsonl --char-padding keep",
            "--include-aborted --format jsonl",
            "--table *.FILM --op update --format csv",
        ),
        "graph": GRAPHS,
        "whatif": (
            "--ur 000000000000A1B2DC19 --json",
            "--user CLERK0 --json " + SHOP_KEYS,
            "--user CLERK2",
        ),
        "ddl": (
            "",
            "--names exact",
            SHOP_KEYS,
            *of_dialects(DB2_KEYS),
            "--table *.FILM --out tables.sql",
        ),
        "migrate": (
            "",
            *of_dialects(f"{DB2_KEYS} {LENIENT}", SOME),
            f"{INITIAL} {DB2_KEYS}",
            f"{INITIAL} {SHOP_KEYS} --dialect mariadb --names exact {LENIENT}",
            f"{INITIAL} --mapping {{files}}/shop.toml --mask-key-file {{files}}/key",
        ),
        "inspect": ("--json", "", "--record 7 --hex"),
    },
    "sakila-bare": {"redo": ("", "--framing none"), "undo": ("",), "export": ("--format jsonl",)},
    "sakila-whole": {"redo": ("",), "undo": ("",), "export": ("",)},
    "incomplete": {
        "redo": (*INCOMPLETE, "--schema {fixtures}/incomplete/log/schema-ri.sql"),
        "undo": INCOMPLETE,
        "export": ("--format jsonl", "--format jsonl --incomplete quarantine"),
        "inspect": ("--json",),
    },
    "kin": {
        "redo": (
            "",
            "--dialect mariadb --table *.PARENT --table *.CHILD --upsert",
            "--table *.PARENT --table *.CHILD --upsert --commit-every 5",
            f"--except {KIN} {KEYS}",
            f"--except ur={KIN}",
            f"--mapping {{files}}/kin.toml --mask-key-file {{files}}/key {KEYS}",
        ),
        "undo": (
            "",
            "--exclude-table *.LOOSE --upsert",
            *(f"--ur {KIN} --cascade {how} {KEYS}" for how in ("none", "all", "force")),
            f"--ur {KIN} --cascade non-conflicting {KEYS}",
            f"--ur {KIN} --cascade all",
        ),
        "whatif": (f"--ur {KIN} --json {KEYS}", f"--ur {KIN}", "--plan PLANA"),
        "graph": (
            *(f"{form} {KEYS}" for form in GRAPHS),
            f"--ur {KIN} --back --format json {KEYS}",
        ),
        "ddl": (KEYS,),
    },
    "kin-incomplete": {
        "redo": (*INCOMPLETE, f"{KEYS} --table *.PARENT --table *.CHILD --upsert"),
        "undo": (*INCOMPLETE, f"--exclude-table *.LOOSE --upsert {KEYS}"),
        "export": ("--format jsonl", "--format debezium"),
    },
    "bank": {
        "redo": ("", *(f"--upsert --dialect {name}" for name in DIALECTS), "--include-aborted"),
        "undo": ("", *(f"--upsert --dialect {name}" for name in SOME)),
        "export": EXPORTS,
    },
    "bank-bdw": {"redo": ("",), "undo": ("",), "inspect": ("--json",)},
    "bank-ftp": {"redo": ("",), "undo": ("",), "inspect": ("--json",)},
    "bank-none": {"redo": ("",), "undo": ("",), "inspect": ("--json",)},
    "bank-files": {"redo": ("",), "undo": ("",), "inspect": ("--json",)},
    "bank-alone": {"redo": ("",), "undo": ("--trace",), "inspect": ("--json",)},
    "bank-zeros": {"redo": ("",), "undo": ("--trace",), "inspect": ("--json",)},
    "damaged": {
        "redo": ("", "--nul strip", "--nul space --dialect mysql", "--strict"),
        "undo": ("", "--cascade force"),
        "export": ("--format jsonl",),
    },
    "generations": {
        "redo": ("",),
        "undo": ("",),
        "ddl": ("--generation first", "--generation last"),
        "export": ("--format jsonl",),
    },
    "large-objects": {"redo": ("", "--exclude-columns TEXT"), "undo": ("", "--upsert")},
    "mass-delete": {
        "redo": ("", *of_dialects("", SOME)),
        "undo": ("",),
        "export": ("--format debezium",),
    },
    "luw-v7": {"redo": ("",), "ddl": ("--changes redo", "--changes undo")},
    "luw-v97": {
        "redo": ("", *of_dialects("--timestamps truncate --empty-text space", SOME), *HOW[3:]),
        "undo": ("--from-lrsn 00000000000029190000", "--exclude-table S0.T0", ""),
        "export": EXPORTS,
        "ddl": ("", "--changes redo", "--changes undo", "--changes redo --names exact"),
        "migrate": ("", "--dialect mariadb"),
        "graph": ("--format json",),
        "inspect": ("--json",),
    },
    "luw-v10": {"redo": ("",), "export": ("--format jsonl",), "inspect": ("--json",)},
    "luw-raw": {"redo": ("",)},
    "luw-rows": {
        "redo": ("", "--ur 000000000A21", "--upsert", "--except ur=000000000A25"),
        "undo": ("", "--dialect db2", "--trace", "--ur 000000000A21 --cascade all"),
        "whatif": ("--ur 000000000A21 --json",),
    },
    "luw-structure": {
        "redo": ("", *of_dialects("", SOME)),
        "undo": ("", "--until-lrsn 0000000000000EBB0000"),
        "ddl": (
            "--changes redo",
            *of_dialects("--changes redo", SOME),
            "--changes undo",
            "--changes undo --until-lrsn 0000000000000EBB0000 --out back.sql",
        ),
        "export": ("--format debezium", "--format jsonl"),
        "migrate": ("",),
    },
    "luw-sakila": {
        "redo": ("",),
        "undo": ("", "--where-columns all"),
        "export": ("", "--format debezium"),
        "migrate": (f"{INITIAL} --dialect sqlite",),
    },
    "luw-example-v7": {"redo": ("",), "undo": ("",), "inspect": ("--json", "--record 2 --hex")},
    "luw-example-v97": {"redo": ("",), "undo": ("",), "inspect": ("--json", "--record 2 --hex")},
    "luw-published": {"redo": ("",), "inspect": ("--json",)},
    "solid": {
        "redo": ("", *of_dialects("--empty-text space", SOME), *HOW[1:4]),
        "undo": ("", "--from-lrsn 000000000000000FFFFFFFFF000002A3000002A3", "--dialect oracle"),
        "export": EXPORTS,
        "ddl": (
            "",
            *of_dialects("", SOME),
            *of_dialects("--changes redo"),
            "--changes undo",
            *of_dialects("--changes undo", SOME),
            "--changes redo --ur 00000000000000000298",
        ),
        "migrate": ("", *of_dialects("--empty-text space", SOME)),
        "graph": ("--format json",),
        "inspect": ("--json", "--record 2 --hex"),
    },
    "solid-va": {"redo": ("",), "inspect": ("--json",)},
    "solid-wide": {"redo": ("",), "inspect": ("--json",)},
    "solid-ind": {"redo": ("",), "inspect": ("--json",)},
    "solid-ddl": {
        "redo": ("",),
        "undo": ("", "--exclude-table DBA.PILE"),
        "export": ("--format debezium",),
        "ddl": ("--changes redo", "--changes undo"),
        "migrate": ("",),
    },
    "solid-sakila": {
        "redo": ("", "--upsert"),
        "undo": ("--where-columns guard", "--dialect db2 --trace"),
        "export": ("", "--format csv"),
        "migrate": (f"{INITIAL} --dialect duckdb",),
        "whatif": ("--ur 00000000000000000298 --json",),
        "graph": ("--format html",),
    },
}

#: All cases, each as one line of text.
CASES = [
    " ".join((log, command, options)).strip()
    for log, commands in MATRIX.items()
    for command, every in commands.items()
    for options in every
]
