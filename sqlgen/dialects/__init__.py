"""Dialects as data: a :class:`Profile` says how a database spells names, values and transactions.
Found by name, like any plug-in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module

from sqlgen.choices import DIALECTS, Deferral
from sqlgen.errors import SqlgenError, did_you_mean
from sqlgen.schema import Column, SqlType

#: Dialects that share a module with others, in place of one of their name.
_IN = {
    "redshift": "postgres",
    **dict.fromkeys(("sqlite", "duckdb"), "embedded"),
    "mariadb": "mysql",
    "db2zos": "db2",
    **dict.fromkeys(("snowflake", "bigquery", "spark", "trino"), "warehouses"),
}
#: The dialects that come with the package, by name: the module that holds each one's profile, under
#: the name in capitals. Others are entry points.
BUILT_IN: dict[str, str] = {name: _IN.get(name, name) for name in DIALECTS}

#: How well a target type holds the values of a source type.
EXACT, WIDENED, LOSSY, REFUSED = "exact", "widened", "lossy", "refused"


@dataclass(frozen=True)
class Form:
    """What stands around the body of a literal."""

    opening: str = "'"
    closing: str = "'"


@dataclass(frozen=True)
class FloatForm:
    """A float literal. ``infinity`` and ``nan`` are the bodies that say these values, '' where the
    target has none; ``exponent``: a number without exponent would be taken for a decimal;
    ``widen``: single-precision values are written as the double they are; ``powers``: the target
    misreads the last bit of some decimal digits, so what they do not say for certain is written as
    a whole number and powers of two; ``typed`` follows the literal where it is compared for
    equality."""

    opening: str = "'"
    closing: str = "'"
    infinity: str = "Infinity"
    nan: str = "NaN"
    exponent: bool = False
    widen: bool = False
    powers: bool = False
    typed: str = ""


@dataclass(frozen=True)
class TextForm:
    """A text literal: ``form`` around text in which ``'`` is written as ``quote``.

    Text with a control character or one of ``special`` is written as an escape string where
    ``escaped`` is given (``control`` says how a control character is written in it,
    ``escaped_quote`` a quote), else as plain literals and ``character`` calls joined by ``joiner``
    between ``joined.opening`` and ``joined.closing`` (``character`` '': it is refused).
    ``most_bytes``: the longest literal in UTF-8 bytes, 0 for no limit.
    """

    form: Form = Form()
    quote: str = "''"
    special: str = ""
    escaped: Form | None = None
    escaped_quote: str = "''"
    control: str = "\\x{:02x}"
    character: str = "CHR({})"
    joiner: str = " || "
    joined: Form = Form("", "")
    most_bytes: int = 0


@dataclass(frozen=True)
class Exact:
    """What stands ``before`` and ``after`` a column, and before (``opening``) and after a
    ``literal``, so that ``=`` between them compares every character."""

    before: str = ""
    after: str = ""
    literal: str = ""
    opening: str = ""


@dataclass(frozen=True)
class OneRow:
    """How a statement takes one of several equal rows. ``kind``: ``locator`` (the pseudo-column
    ``name`` equals that of the first row found, and so does ``part``, the one that names the
    partition, where the dialect needs both), ``function`` (the same with a function of the table),
    ``limit`` (LIMIT 1), ``top`` (TOP (1)), ``rownum`` (AND ROWNUM = 1), or '' where the dialect has
    no way. ``others``: what the pseudo-column is called, too, for tables with a column ``name``."""

    kind: str
    name: str = ""
    part: str = ""
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Upsert:
    """How a row is put in place whether one with its key is there or not. ``kind``:

    * ``conflict``: ``INSERT … ON CONFLICT (key) DO UPDATE``;
    * ``pair``: UPDATE, then INSERT where there is no such row, for a database whose own upsert
      takes a row for the same that shares any unique value with the new one, or the key but for
      case (that row then stops the INSERT with an error); ``source`` as below ('': nothing);
    * ``merge``: ``MERGE`` with the one row of ``source`` ('': of a sub-query); ``joined``: its
      condition must compare columns of both sides, so the key's values stand in the sub-query;
    * ``replace``: DELETE, then INSERT, for a database that enforces no key and whose MERGE takes no
      sub-query;
    * '': in no way, in a database that enforces keys.

    ``folds``: keys with text need a ``pair``, because a collation may take A for a there.
    """

    kind: str
    source: str = ""
    joined: bool = False
    folds: bool = False


@dataclass(frozen=True)
class TypeRule:
    """The target type of one source type: ``text`` with ``{length}``, ``{scale}`` and ``{digits}``
    (fraction digits that the target keeps), for columns up to ``up_to`` (0: of any length) with up
    to ``most_scale`` digits after the point (0: any); ``fidelity`` is exact, widened, lossy or
    refused, and ``note`` says why it is not exact."""

    type: SqlType
    text: str
    up_to: int = 0
    fidelity: str = EXACT
    note: str = ""
    most_scale: int = 0


#: Stands in a rendered statement where its unit and number are filled in, which rendering does not
#: know. No literal has it: control characters are written as escapes or calls.
LABEL = "\x01"


class CheckKind(Enum):
    """Where the check stands: in a statement after the one that it is about; in a block that holds
    several statements and, after each, its check; in a query before, which counts the rows that
    the conditions find; around the statement."""

    AFTER = "after"
    BLOCK = "block"
    BEFORE = "before"
    AROUND = "around"


@dataclass(frozen=True)
class RowCheck:
    """``check`` is the text of the check: ``{unit}`` and ``{statement}`` name the unit and the
    number of the statement in it; of ``BEFORE`` what is selected where the count is another one,
    and of ``AROUND`` what follows the statement on its line, with ``{label}`` for both.

    ``opening`` and ``closing`` stand around the statements of a ``BLOCK``; ``opening`` of
    ``AROUND`` is what stands before the statement. ``locks``: the query ``BEFORE`` locks the rows
    that it counts, so that they stay as they are. ``note``: what a user must know of the count.
    """

    kind: CheckKind
    check: str
    opening: str = ""
    closing: str = ""
    locks: bool = False
    note: str = ""


@dataclass(frozen=True, eq=False)
class Abilities:
    """What DDL can say beyond tables, columns and keys. What is not here, a target cannot say, and
    asking for it raises.

    * ``constraints`` that a new table may have (``check``, ``unique``, ``foreign key``);
    ``added``: those that ALTER TABLE can add by name.
    * ``on_delete``, ``on_update``: the rules of foreign keys beside NO ACTION; ``parent_columns``:
      a foreign key must name the columns it refers to.
    * ``default``: how a column of a new table says its default value, '' where it cannot.
      ``add_column``: what a column that is added may have (``default``, ``not null``, or ``not null
      with default``).
    * ``identity``: how a column says that the database numbers it where no value is given ({start},
      {step}, and {bounds} where the database would not begin at {start} by itself), '' where it
      cannot; ``identity_decimal``: so do columns of type DECIMAL without places after the point;
      ``identity_after``: the statement that moves it beyond the last value ({table}, {column},
      {step}, and {last}, MAX or MIN; {place} and {name} are table and column inside a text).
    * ``sequences``; ``check_option``: views may have WITH CHECK OPTION; ``drop_constraints``: what
      makes DROP TABLE drop the foreign keys that refer to the table, and nothing else ('' where
      nothing does that: PostgreSQL's CASCADE takes views along).
    * ``alter``: whole statements by what they do: ``type``, ``set not null``, ``drop not null``,
      ``set default``, ``drop default``, ``schema``, ``drop constraint``. Places: {table}, {name}
      (the table's without schema), {schema}, {column}, {type}, {default}, {constraint}, and what
      needs to know the column as it is: {definition} (type, default and nullability, all but the
      name) and {null} (NULL or NOT NULL).
    """

    constraints: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    on_delete: frozenset[str] = frozenset()
    on_update: frozenset[str] = frozenset()
    parent_columns: bool = False
    default: str = ""
    identity: str = ""
    identity_decimal: bool = False
    identity_after: str = ""
    add_column: frozenset[str] = frozenset()
    sequences: bool = False
    check_option: bool = False
    drop_constraints: str = ""
    alter: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Profile:
    """One dialect.

    * ``sqlglot`` names the sqlglot dialect that writes the skeletons. ``fold`` is how an unquoted
      identifier is stored (``lower`` or ``upper``), ``reserved`` words need quotes, a name has at
      most ``name_length`` bytes (characters with ``name_characters``). ``one_case``: of what
      (``tables``, ``columns``) names that differ in case only are one, quoted too.
    * ``text``, ``floats``, ``forms``: how values are written. ``exact``: how a condition compares
      every character where ``=`` alone may take different texts for equal. It does so outside the
      key, and with ``exact_keys`` in the key, too, beside the ``=`` that an index serves; without,
      keys that are equal to the source are the same. ``folds``: the collations that columns usually
      have take A for a.
    * ``nulls_equal``: a unique index lets a key with nulls be there once.
    * ``time_digits`` fraction digits of its timestamps; ``zone_minutes`` the largest offsets west
      and east; ``zone_space``: a blank before the offset; ``hour_24`` types that may hold hour 24;
      ``as_text`` date and time types that are kept as text, whole; ``null_byte``: text may hold
      X'00'; ``empty_is_null``: '' is NULL; ``pads_char``: CHAR is blank-padded and compared that
      way; ``system_columns``: names of columns that each table has of its own.
    * ``one_row``; ``upsert``; ``session`` statements at the head of a script, ``search_path`` the
      one before them (:func:`sqlgen.script.search_path`); ``begin``, ``commit``
      and ``defer``, which lets foreign keys wait for the commit ('' where the dialect has no such
      statement): ``deferral`` says which; ``truncate``: TRUNCATE can be rolled back;
      ``delete_all`` what DELETE needs to take every row; ``client`` shows how to run a script;
      ``booleans`` true and false.
    * ``keys``: what follows a key in DDL, None where the dialect knows no keys. ``indexes``: where
      an index lives: ``in schema`` (that of its table), ``of table`` (DROP INDEX ... ON), ``index``
      (the schema stands at the index's name only), ``both`` (and at the table's), '' none.
      ``schemas``: what CREATE makes for a schema, '' for nothing; ``default_schema``: the one that
      each database has. ``rename_in_schema``: the new name of a table needs its schema.
    * ``abilities``: what its DDL can say beyond tables, columns and keys.
    * ``row_check``: how a script says that a statement touches one row, None where it cannot.
    * ``types`` maps types for DDL, first match counts; ``quirks`` are facts that a user must know,
      shown in ``logreplay ddl``.
    * ``bit_data``: the form of bytes of a character type, None where it is that of any bytes.
      ``clients``: the names of the clients (:mod:`sqlgen.clients`) that run its scripts, where a
      script has to be in the form of one of them, the usual one first.
    """

    name: str
    sqlglot: str
    fold: str
    name_length: int
    reserved: frozenset[str]
    time_digits: int
    one_row: OneRow
    upsert: Upsert
    client: str
    forms: Mapping[SqlType, Form]
    types: tuple[TypeRule, ...]
    text: TextForm = field(default_factory=TextForm)
    floats: Mapping[SqlType, FloatForm] = field(default_factory=lambda: QUOTED_FLOATS)
    exact: Mapping[SqlType, Exact] = field(default_factory=dict)
    exact_keys: bool = False
    folds: bool = False
    nulls_equal: bool = False
    name_characters: bool = False
    one_case: frozenset[str] = frozenset()
    zone_minutes: tuple[int, int] = (15 * 60 + 59, 15 * 60 + 59)
    zone_space: bool = False
    hour_24: frozenset[SqlType] = frozenset()
    as_text: frozenset[SqlType] = frozenset()
    null_byte: bool = False
    empty_is_null: bool = False
    pads_char: bool = False
    system_columns: frozenset[str] = frozenset()
    session: tuple[str, ...] = ()
    search_path: str = ""
    begin: str = "BEGIN;"
    commit: str = "COMMIT;"
    defer: str = ""
    deferral: Deferral = Deferral.NONE
    booleans: tuple[str, str] = ("TRUE", "FALSE")
    truncate: bool = False
    keys: str | None = ""
    indexes: str = "in schema"
    schemas: str = "SCHEMA"
    default_schema: str = ""
    rename_in_schema: bool = False
    delete_all: str = ""
    abilities: Abilities = field(default_factory=Abilities)
    row_check: RowCheck | None = None
    quirks: tuple[str, ...] = ()
    bit_data: Form | None = None
    clients: tuple[str, ...] = ()

    def form_of(self, column: Column) -> Form:
        """What stands around a value of a column that holds no text and no float."""
        if column.bit_data and self.bit_data is not None:
            return self.bit_data
        return self.forms[column.type]


QUOTED_FLOATS: Mapping[SqlType, FloatForm] = {
    SqlType.REAL: FloatForm(),
    SqlType.DOUBLE: FloatForm(),
}
_PLAIN = Form("", "")


def forms(
    binary: Form,
    date: Form | None = None,
    time: Form | None = None,
    timestamp: Form | None = None,
    zoned: Form | None = None,
) -> dict[SqlType, Form]:
    """The forms of a dialect that writes numbers as they are, and dates and times quoted unless
    told otherwise."""
    quoted = Form()
    return {
        SqlType.SMALLINT: _PLAIN,
        SqlType.INTEGER: _PLAIN,
        SqlType.BIGINT: _PLAIN,
        SqlType.DECIMAL: _PLAIN,
        SqlType.BINARY: binary,
        SqlType.VARBINARY: binary,
        SqlType.BLOB: binary,
        SqlType.BOOLEAN: _PLAIN,
        SqlType.DECFLOAT: quoted,
        SqlType.DATE: date or quoted,
        SqlType.TIME: time or quoted,
        SqlType.TIMESTAMP: timestamp or quoted,
        SqlType.TIMESTAMP_TZ: zoned or timestamp or quoted,
    }


#: What is lost of a moment with its time zone where types have none.
ZONE_LOST = "the moment is kept, its time zone is not; six fraction digits"


def named(*types: str) -> tuple[TypeRule, ...]:
    """The rules for types that a dialect has under the names of ours."""
    return tuple(TypeRule(SqlType(name), name) for name in types)


def decimals(word: str) -> tuple[TypeRule, ...]:
    """Those for decimals where they have 38 digits at most."""
    lost = TypeRule(
        SqlType.DECIMAL, f"{word}(38, {{scale}})", 0, LOSSY, "38 digits at most", most_scale=38
    )
    return TypeRule(SqlType.DECIMAL, f"{word}({{length}}, {{scale}})", 38), lost


def timestamps(kind: SqlType, text: str, digits: int) -> tuple[TypeRule, ...]:
    """Those for timestamps that have some fraction digits at most."""
    lost = f"{({6: 'six', 7: 'seven', 9: 'nine'})[digits]} fraction digits"
    return TypeRule(kind, text, digits), TypeRule(kind, text, 0, LOSSY, lost)


def large_types(
    boolean: str, decfloat: str, clob: str, blob: str, xml: str, note: str = ""
) -> tuple[TypeRule, ...]:
    """The rules for types whose values a log seldom holds. A ``decfloat`` that is no number type
    keeps its text; ``note``: what is lost."""

    def rule(kind: SqlType, text: str, exact: bool, fidelity: str, said: str) -> TypeRule:
        return TypeRule(kind, text) if exact else TypeRule(kind, text, 0, fidelity, said)

    is_number = "NUM" in decfloat or "DECFLOAT" in decfloat
    size, said = LOSSY if note else WIDENED, note or "the length is not kept"
    no_range = "text: no type has its range and its NaN"
    return (
        rule(SqlType.BOOLEAN, boolean, boolean.startswith("BOOL"), WIDENED, "a number"),
        rule(SqlType.DECFLOAT, decfloat, is_number, WIDENED, no_range),
        rule(SqlType.CLOB, clob, False, size, said),
        rule(SqlType.BLOB, blob, False, size, said),
        rule(SqlType.XML, xml, xml == "XML", LOSSY, "text: not checked to be XML"),
    )


ALL = frozenset({"check", "unique", "foreign key"})
RULES = frozenset({"CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT"})
ANY_COLUMN = frozenset({"default", "not null"})

DEFAULT = "DEFAULT {default}"
AUTO_INCREMENT = "AUTO_INCREMENT"
#: Some take anything but plain literals in parentheses only.
DEFAULT_EXPRESSION = "DEFAULT ({default})"

SET_DATA_TYPE = "ALTER TABLE {table} ALTER COLUMN {column} SET DATA TYPE {type}"
#: ALTER COLUMN as PostgreSQL has it, and others after it.
POSTGRES_ALTER: Mapping[str, str] = {
    "type": "ALTER TABLE {table} ALTER COLUMN {column} TYPE {type}",
    "set not null": "ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL",
    "drop not null": "ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL",
    "set default": "ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT {default}",
    "drop default": "ALTER TABLE {table} ALTER COLUMN {column} DROP DEFAULT",
    "drop constraint": "ALTER TABLE {table} DROP CONSTRAINT {constraint}",
}


def altering(*actions: str) -> dict[str, str]:
    """Some of these statements."""
    return {action: POSTGRES_ALTER[action] for action in actions}


#: Dialects of profiles that sqlglot has from us.
_OURS = frozenset({"db2", "soliddb"})


def profile_named(name: str) -> Profile:
    """The profile of a dialect. SqlgenError (LR1001) for a name that neither this nor another
    installed package offers."""
    profile = _found(name)
    if name in BUILT_IN and profile.sqlglot in _OURS:  # also where no entry point tells sqlglot
        import_module(f"sqlgen.{profile.sqlglot}")
    return profile


def same_sql(one: str, other: str) -> bool:
    """Whether two dialects are of one kind of database. SqlgenError as :func:`profile_named`."""
    return _found(one).sqlglot == _found(other).sqlglot


def _found(name: str) -> Profile:
    if name in BUILT_IN:
        module = import_module(f"{__name__}.{BUILT_IN[name]}")
        built_in: Profile = getattr(module, name.upper())
        return built_in
    from importlib.metadata import entry_points

    points = {point.name: point for point in entry_points(group="logreplay.profiles")}
    if name not in points:
        known = sorted({*BUILT_IN, *points})
        message = f"found dialect {name!r}; expected one of: {', '.join(known)}"
        raise SqlgenError("LR1001", message + did_you_mean(name, known))
    profile: Profile = points[name].load()
    return profile
