"""What each error code means, why it comes up, and what to do: ``logreplay explain``."""

from __future__ import annotations

from replay.errors import CODES, UsageError

#: Code -> (why it comes up, what to do about it).
EXPLANATIONS: dict[str, tuple[str, str]] = {
    "LR1001": (
        "An option has a value that it cannot have, or two options ask for opposite things.",
        "The message says what was found and what was expected; logreplay COMMAND --help"
        " shows the options of a command with examples.",
    ),
    "LR1002": (
        "The folder or file that --out names holds something. An output folder appears whole or not"
        " at all, and never over something else.",
        "Name another one, or use --overwrite: it replaces what logreplay wrote, and nothing else.",
    ),
    "LR1003": (
        "The condition of --where is no condition, names columns that no table has, or"
        " compares a column with a value of another type.",
        "Write before.column, after.column, or column for either image, and compare it with a"
        ' value of its own type: --where "after.email is null and before.customer_id > 5".',
    ),
    "LR1004": (
        "A table, column, unit of recovery or user that was named is not in this log.",
        "logreplay inspect lists what is in it. Tables are named OWNER.NAME, with * and ?.",
    ),
    "LR1005": (
        "A library or program that only this task needs is not installed, or does not start.",
        "The message has the command that installs it.",
    ),
    "LR1006": (
        "A file or folder cannot be read or written: rights, a full disk, or a folder that is"
        " not there.",
        "Name a folder that you may write to, on a disk with free space, and run again: nothing"
        " was left half done.",
    ),
    "LR1007": (
        "The machine, or a limit that was set for this program or for Spark's, has less memory than"
        " a step asks for.",
        "Read less at once (--split-mb), raise the limit (ulimit -v, spark.driver.memory,"
        " spark.executor.memory, spark.executor.pyspark.memory), or take a larger machine.",
    ),
    "LR1010": (
        "The DDL file that --schema names cannot be read in the dialect of --schema-dialect.",
        "Name the right dialect with --schema-dialect (db2, soliddb, postgres …), or give"
        " --schema the URL of a database that has the tables.",
    ),
    "LR1011": (
        "The mapping file is not TOML, or names tables or columns that the log does not have.",
        "The names on the left are the log's. The documentation has an example (how-to, scripts).",
    ),
    "LR2001": (
        "A file does not exist, may not be read, or is missing from a folder that must have one"
        " for each table.",
        "Check the path and its permissions. In the folder of a state, an empty table has a file"
        " too, with only the header line.",
    ),
    "LR2002": (
        "A file of the log is empty, where others are not, or its control file has no end (DLGE).",
        "Was the right file given, and was its transfer complete?",
    ),
    "LR2003": (
        "The file came through a transfer that translates characters or line ends, which"
        " destroys binary data.",
        "Transfer it again in binary mode (FTP: binary, with RDW to keep the records' lengths).",
    ),
    "LR2004": (
        "The framing, by which a file shows where each record ends, is not a known one, or"
        " several known ones fit.",
        "Name it with --framing. The file may also have been truncated or altered in transfer.",
    ),
    "LR2005": (
        "A length field in the framing is smaller or larger than any record can be: the file"
        " is damaged there, or is not framed as it seems.",
        "Compare the size with the original and transfer it again; name the framing with"
        " --framing.",
    ),
    "LR2006": (
        "The file ends before its last record does: the transfer was cut off.",
        "Transfer it again, and compare sizes.",
    ),
    "LR2007": (
        "The control file describes another run than the one that wrote the data file.",
        "Give the pair that Log Master wrote together.",
    ),
    "LR2008": (
        "The control file lacks a record without which data records cannot be read.",
        "Transfer it again; ask for all record types when the log is generated.",
    ),
    "LR2009": (
        "A field of a control record has a value that its description does not allow.",
        "Transfer the file again in binary mode. If the error stays, report it with the record.",
    ),
    "LR2010": (
        "A header field has a value that the format does not define. The record is damaged, or"
        " was written by an unknown release. Its whole unit of recovery is quarantined.",
        "logreplay inspect --record N --hex shows the record. Transfer the file again; logreplay"
        " history --ur URID shows the other changes of the unit.",
    ),
    "LR2011": (
        "The record belongs to a table that the control file does not describe, so its row"
        " cannot be read: the control file is from another run, or the table was left out of"
        " it. The whole unit of recovery is quarantined.",
        "Give the control file of this run. logreplay inspect lists the tables that it has,"
        " and logreplay inspect --record N shows the record.",
    ),
    "LR2012": (
        "The format does not list this type of change: a damaged record or a newer release.",
        "logreplay inspect --record N --hex shows it; report it with that text.",
    ),
    "LR2013": (
        "A long change is split into segments, and one of them is missing or present twice.",
        "Give all data files of the run (--data takes several). logreplay check counts such units.",
    ),
    "LR2014": (
        "The row is shorter or longer than its record says: the record is damaged, or the table"
        " had other columns when it was written.",
        "logreplay inspect --record N --hex shows the row. Give the control file or catalog"
        " export from the time of the change.",
    ),
    "LR2015": (
        "A value cannot be read: it is stored outside the row (large objects), is in an unknown"
        " character set, or is damaged. The unit of recovery is quarantined.",
        "Leave the column out with --exclude-columns, or name the character set with --ccsid"
        " (db2luw: --log-option codepage=…, soliddb: --log-option charset=…).",
    ),
    "LR2016": (
        "Records of one unit of recovery disagree about its end, its begin or its commit, so"
        " at least one of them is damaged. The unit is quarantined.",
        "logreplay inspect --record N shows each of them.",
    ),
    "LR2017": (
        "One change is in the files twice, and would be applied twice.",
        "Leave out the file that was given twice, or that repeats a part of another one.",
    ),
    "LR2018": (
        "Records can be laid out in several documented ways, and the log does not decide"
        " between them.",
        "Choose one with --log-option; the settings of each family are in the documentation"
        " (options).",
    ),
    "LR2030": (
        "Records are not in the order in which the database wrote them.",
        "Give the files in their order (--log first.log second.log …).",
    ),
    "LR2031": (
        "The export of the catalog lacks columns or tables, or contradicts itself.",
        "Export it again with the statement in the documentation (collect a log).",
    ),
    "LR2032": (
        "A compensation record undoes a change that is not in the log.",
        "Give the log file before this one as well.",
    ),
    "LR2033": (
        "Changes are flagged as not to be propagated (CAPTURE_OFF), and no option says whether to"
        " take them or leave them out.",
        "Choose with --log-option capture-off=…; the choices are in the documentation (logs of"
        " solidDB).",
    ),
    "LR2034": (
        "A session in which the log was read does not begin where the one before it ended:"
        " changes between them are missing.",
        "Export the missing part, or accept the gap with --log-option gaps=accept.",
    ),
    "LR2035": (
        "A file of a state is not CSV with the columns of its table, or holds a value that"
        " its column cannot have.",
        "The page on scripts says under 'Files of rows' what is read: CSV of PostgreSQL, DuckDB,"
        " Db2 and logreplay. --csv says who wrote a file that can be read in two ways.",
    ),
    "LR2036": (
        "A row is not as the log last left it: a record is lost or damaged, the log was"
        " written with a filter, or the given state is not the one before (or after) this log.",
        "logreplay check names the records; logreplay history --table T --key K shows all"
        " versions of the row.",
    ),
    "LR2037": (
        "No log of the set covers the positions between the end of one log and the begin of the"
        " next.",
        "Give the missing log, or go on without it: --gaps warn or --gaps allow.",
    ),
    "LR2038": (
        "Control files of a log set describe one generation of a table in two ways, or are of"
        " different subsystems.",
        "Give the logs of one Db2 subsystem, each with the control file of its own run.",
    ),
    "LR2039": (
        "A log that was not read before has units of recovery that commit at or before the"
        " position where the last run ended, and that were not quarantined: it arrived after a"
        " later"
        " log, the log of a member lagged behind, or its data file was read before it was whole. By"
        " their position these units would count as applied, but they were not.",
        "If the log overlaps or repeats one that was read, give that one too. Else start over from"
        " before these units, with the command that the message names: a target goes back, a chain"
        " goes on from an earlier output folder, a dataset from an earlier commit.",
    ),
    "LR2040": (
        "The file of marks has a line that is not a mark: it is another kind of file, or was"
        " edited by hand, or a write was interrupted.",
        "Correct or remove the line that the message names, or name the right file with --marks."
        " No mark is added to a file that cannot be read.",
    ),
    "LR2041": (
        "The files have the end of a unit of recovery, and not all records before it: it began"
        " before them, or between two of them. What it changed is not known, so it is quarantined.",
        "Give the files in which it began too, together with these. Where that is not possible,"
        " --log-option headless=apply writes what is there of it.",
    ),
    "LR2042": (
        "A unit of recovery commits after the position at which the control file says that the"
        " log ends (DLGE.ENDRBA). The two files are of different runs of Log Master, so the control"
        " file does not describe the data. Where data end long before that position, a warning says"
        " so: a data file is missing, or of another run.",
        "Give the control file and the data files of one run. A log that is still being written is"
        " read with the logs that follow it (--logs, --after).",
    ),
    "LR3001": (
        "The target cannot hold the value: X'00' in text, too many fraction digits, a number"
        " outside its range. The unit of recovery is quarantined.",
        "Choose how to change such values (--nul, --timestamps, --midnight, --empty-text,"
        " --reals), or leave the column out with --exclude-columns.",
    ),
    "LR3002": (
        "The log lacks what is needed to undo the change: the rows of a mass delete or of a"
        " truncated table, or the former structure of a table.",
        "Restore those rows from an image copy, and leave the table out with --exclude-table.",
    ),
    "LR3003": (
        "The target has no statement for what the change does; or no record of the log says that a"
        " table was dropped and made again, as its catalog does.",
        "Leave it out (--op, --exclude-table), or choose another target.",
    ),
    "LR3004": (
        "Log Master could not complete the unit of recovery: a part of the log was missing"
        " when it was read. Units that depend on it are quarantined too.",
        "Generate the log again with the missing archive log. quarantine/ in the output folder has"
        " its statements and which inputs would complete most.",
    ),
    "LR3005": (
        "A name is empty, too long, has a control character, or becomes the name of another"
        " table or column in the target.",
        "Give it another name with --mapping, or keep names as they are with --names exact.",
    ),
    "LR3006": (
        "A column that is needed to find the row was excluded.",
        "Keep the key columns when you exclude others.",
    ),
    "LR3010": (
        "Later changes of the same columns of the same rows, or rows that refer to them, depend"
        " on the change; undoing it alone would destroy them.",
        "logreplay whatif --ur URID lists them. --cascade non-conflicting undoes the rest of"
        " the change, --cascade all undoes those later changes as well; --cascade force checks"
        " nothing.",
    ),
    "LR3011": (
        "The unit of recovery depends on one that is incomplete or damaged, or has a value that the"
        " target does not hold (LR3001), so it is quarantined as well.",
        "The message has the path of dependencies from one to the other; logreplay history --ur"
        " URID shows the changes of each.",
    ),
    "LR3012": (
        "Rows of one unit refer to each other, or take over each other's keys, in a cycle: none of"
        " its foreign keys can be deferred to the commit, and none of the rows may be deleted and"
        " inserted again.",
        "Make one of the foreign keys deferrable in the target, or switch enforcement off for"
        " the run. If a unit is undone or left out while other work on its rows stays, select"
        " that work as well.",
    ),
    "LR3013": (
        "An upsert writes whole rows by their key, but the table has no key, or the log does not"
        " have the whole row.",
        "Leave the table out, or write plain scripts without --upsert.",
    ),
    "LR3014": (
        "The log flags the unit of recovery as one that may depend on an incomplete unit, and"
        " neither the log nor a state proves that it does not.",
        "Give the state before the log with --baseline, which may prove it; logreplay history --ur"
        " URID shows what the unit did.",
    ),
    "LR3020": (
        "Logs of this family do not hold what the option needs (solidDB's have no users and no"
        " times, for instance).",
        "logreplay inspect lists what such a log does not hold. Leave the option out.",
    ),
    "LR3021": (
        "A DDL statement in the log is not in logreplay's grammar of its database.",
        "The message names the statement. Leave its table out, or report it.",
    ),
    "LR3022": (
        "An extract is one log, and its layout is detected from its own records. Logs of"
        " different layouts cannot form one, and too few records may not show the layout that the"
        " whole log shows. Nothing was written.",
        "Extract logs of different layouts separately and read the copies together (--logs), or"
        " select more; or read the log itself with the same selection.",
    ),
    "LR4001": (
        "The database refused a statement, for the reason that it gives.",
        "Remove the cause and run again: a replay goes on where it stopped. --on chooses what to"
        " do with refused changes.",
    ),
    "LR4002": (
        "The database is not in the state that the command needs: a table or row is missing,"
        " or is there already.",
        "logreplay verify shows how its rows differ; logreplay ddl makes the tables.",
    ),
    "LR4003": (
        "The database does not answer, or there is none of that name.",
        "Check the URL, the network and the user's rights.",
    ),
    "LR4004": (
        "Another replay holds the lock of this target, or another run adds to this folder.",
        "Wait for it to end (of a replay: or end its session in the database), and run it again.",
    ),
    "LR4005": (
        "The target was replayed from the log of another database, or with other options.",
        "Use those options again (logreplay status shows them), or begin with a fresh target.",
    ),
    "LR4006": (
        "A row that a change needs is not there, is there already, or has other values:"
        " another program writes to the target, or it was not in the right state at the start, such"
        " as before a log that was not replayed. In datasets: a column has another type than"
        " there.",
        "Give an earlier log that was not replayed as well, or say with --at-position that a target"
        " which was never replayed has the rows of a later point."
        " logreplay history --table T --key K shows the logged versions of the row; --on chooses"
        " what to do with such changes; logreplay verify compares all rows.",
    ),
    "LR4007": (
        "There may be changes between the target's position and the begin of this log, or the log"
        " ends before that position.",
        "Give the log in between as well, or --adjoining if this log continues the last one"
        " without a common unit.",
    ),
    "LR4008": (
        "A trigger, a cascading foreign key or a computed column of the target would repeat"
        " or alter changes that are in the log already.",
        "Switch it off for the replay (--enforcement off), or leave those changes to the"
        " target (--ri skip, --triggers skip).",
    ),
    "LR4009": (
        "The mode cannot carry out what this log asks for.",
        "Use --mode strict, or another target.",
    ),
    "LR4010": (
        "The server has settings under which a replay would not be exact, or is a MariaDB that the"
        " URL calls a MySQL (or the other way round), the connection goes through a pool that does"
        " not keep one session, or a table with the name of one of logreplay's own has other"
        " columns or another owner.",
        "The message says which. Change the setting, connect to the server itself, or rename the"
        " table; else use another database.",
    ),
}


def explanation(code: str) -> str:
    """What a code means, why it comes up and what to do. UsageError (LR1001) for one that there is
    not."""
    name = code.strip().upper()
    name = f"LR{name}" if name.isdigit() else name
    if name not in CODES:
        raise UsageError(
            "LR1001",
            f"found {code}; expected a code of a message, such as LR2011",
            hint="logreplay explain lists all. Exit codes: 0 done, 4 done with warnings, 8 in part",
        )
    why, what = EXPLANATIONS[name]
    return f"{name}  {CODES[name]}\n\n{why}\n\nWhat to do: {what}"


def all_codes() -> str:
    """Every code with its sentence."""
    return "\n".join(f"{code}  {text}" for code, text in CODES.items())
