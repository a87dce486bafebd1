"""What passes by itself, a deadlock or a lock that somebody holds too long, leaves a session of a
PostgreSQL as it was: its transaction is undone in it, and it goes on."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from replay.targets import Transient, target_of, undone_where_it_fails
from tests.support.replayed import rows

PROCESS = "SELECT pg_backend_pid()"
SERIAL = b"SELECT 1;DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END$$;SELECT 2;"


def test_a_statement_that_may_be_tried_again(fresh_database: str) -> None:
    with closing(target_of(fresh_database).connect(fresh_database)) as session:
        process = session.query(PROCESS)
        session.begin()
        with pytest.raises(Transient, match="SQLSTATE 40001"), undone_where_it_fails(session):
            session.run(SERIAL)
        assert session.query(PROCESS) == process


def test_a_table_that_is_locked_while_statements_are_prepared(fresh_database: str) -> None:
    rows(fresh_database, "CREATE TABLE public.t (k integer)")
    shapes = {f"s{number}": f"DELETE FROM public.t WHERE k = {number}" for number in range(3)}
    with closing(target_of(fresh_database).connect(fresh_database)) as session:
        process = session.query(PROCESS)
        session.execute("SET lock_timeout = '100ms'")
        with psycopg.connect(fresh_database) as other:
            other.execute("LOCK TABLE public.t")
            with pytest.raises(Transient, match="lock timeout"), undone_where_it_fails(session):
                session.prepare(shapes)
        session.prepare(shapes)
        assert session.run(b"EXECUTE s2;").counts == [0]
        assert session.query(PROCESS) == process
