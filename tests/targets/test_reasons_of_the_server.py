"""What any statement would end in is no reason to leave a change out: no room, a server that only
reads. The run stops at the border of a unit, whatever ``--on`` says, and the same command goes
on."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.targets.sqlite import SqliteSession
from tests.support.servers import kinds, of_kind, server_of
from tests.support.small_target import AFTER, BEFORE, replay, run, small_target, state, write_log

#: What has an update of the log's table end like that, and what ends it.
FULL = {
    "sqlite": (
        (
            "CREATE TABLE testown.filler (t blob)",
            "CREATE TRIGGER testown.full AFTER UPDATE ON t BEGIN"
            " INSERT INTO filler VALUES (zeroblob(100000)); END",
        ),
        "DROP TRIGGER testown.full",
        "SQLITE_FULL",
    ),
    "mariadb": (
        (
            (
                "CREATE TRIGGER testown.full BEFORE UPDATE ON testown.t FOR EACH ROW"
                " SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1021, MESSAGE_TEXT = 'Disk full'"
            ),
        ),
        "DROP TRIGGER testown.full",
        "error 1021",
    ),
}


@pytest.mark.parametrize("response", ["other=skip", "other=retry"])
@pytest.mark.parametrize("kind", kinds("sqlite", "mariadb"))
def test_a_full_disk_leaves_no_change_out(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    response: str,
) -> None:
    makes, ends, code = of_kind(FULL, kind)
    log = write_log(tmp_path)
    begin = SqliteSession.begin

    def full(session: SqliteSession) -> None:
        begin(session)
        session.connection.execute("PRAGMA testown.max_page_count = 1")  # those that there are

    how = ["--accept", "trigger", "--on", response, "--tries", "2"]
    with small_target(kind, server_of(request, kind)) as url:
        assert replay(log, url, "--until-lrsn", "0" * 20) == 0  # makes the position's tables
        run(url, *makes)
        with monkeypatch.context() as patch:
            patch.setattr(SqliteSession, "begin", full)
            capsys.readouterr()
            assert replay(log, url, *how) == 8
        said = capsys.readouterr().err
        assert "LR4006" in said
        assert f"server: the update in TESTOWN.T failed: {code}" in said
        assert "Remove the cause; then run replay again" in said
        assert state(url) == BEFORE
        run(url, ends)
        assert replay(log, url, *how) == 0
        assert state(url) == AFTER
