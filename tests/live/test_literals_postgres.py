"""Names and literals that are likely to go wrong, tried on a live PostgreSQL: every key word, every
control character, the ends of each type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from sqlgen.dialects import profile_named
from sqlgen.literals import Policy, literals
from sqlgen.schema import Column, SqlType
from tests.support.texts import every_character

POSTGRES = profile_named("postgres")


@pytest.fixture
def connection(fresh_database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(fresh_database, autocommit=True) as session:
        session.execute("SET TimeZone = 'UTC'")
        yield session


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_every_character(connection: psycopg.Connection[Any], conforming: str) -> None:
    connection.execute(
        f"SET escape_string_warning = off; SET standard_conforming_strings = {conforming}"
    )
    texts = every_character(5000, False) + [f"{chr(code)}'7f" for code in range(1, 0x100)]
    texts += ["\\", "\\'", "\\\\'", "'", "''", "$$", "--", "/*", "\\x41", "\u2028\u2029", ""]
    written, problems = literals(pa.array(texts), Column("C", SqlType.VARCHAR), POSTGRES, Policy())
    assert problems == []
    assert not any("\n" in text or "\r" in text for text in written.to_pylist())
    for text, literal in zip(texts, written.to_pylist(), strict=True):
        assert connection.execute(f"SELECT {literal}".encode()).fetchone() == (text,), literal


MOMENTS = [
    (
        "timestamptz",
        SqlType.TIMESTAMP_TZ,
        6,
        "2024-02-29 10:20:30.123456+05:30",
        "2024-02-29 04:50:30.123456+00",
    ),
    (
        "timestamptz",
        SqlType.TIMESTAMP_TZ,
        12,
        "2024-02-29 10:20:30.123456000000-12:59",
        "2024-02-29 23:19:30.123456+00",
    ),
    ("timestamptz", SqlType.TIMESTAMP_TZ, 0, "2024-02-29 10:20:30+15:59", "2024-02-28 18:21:30+00"),
    (
        "timestamp",
        SqlType.TIMESTAMP,
        12,
        "0001-01-01 00:00:00.000001000000",
        "0001-01-01 00:00:00.000001",
    ),
    ("timestamp", SqlType.TIMESTAMP, 6, "9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"),
    ("time", SqlType.TIME, 0, "24:00:00", "24:00:00"),
    ("date", SqlType.DATE, 0, "0001-01-01", "0001-01-01"),
]


@pytest.mark.parametrize(("target", "kind", "digits", "text", "shown"), MOMENTS)
def test_moments(
    connection: psycopg.Connection[Any],
    target: str,
    kind: SqlType,
    digits: int,
    text: str,
    shown: str,
) -> None:
    written, problems = literals(
        pa.array([text]), Column("C", kind, True, digits), POSTGRES, Policy()
    )
    assert problems == []
    assert connection.execute(
        f"SELECT {written[0].as_py()}::{target}::text".encode()
    ).fetchone() == (shown,)
