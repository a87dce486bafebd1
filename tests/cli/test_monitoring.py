"""What is seen of ``follow`` from outside: metrics, health, its unit of systemd, its image."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import pytest
from prometheus_client.parser import text_string_to_metric_families

from replay.cli.main import main
from replay.cli.monitoring import Monitor
from replay.cli.parser import parse
from replay.errors import UsageError
from tests.live.test_follow import TABLE, Site, events, follower_of
from tests.support.cutlogs import half_a_unit_arrives
from tests.support.places import ROOT

PAGE = (ROOT / "replay" / "docs" / "how-to" / "follow.md").read_text(encoding="utf-8")
Metrics = dict[tuple[str, str], float]


def fetched(monitor: Monitor, path: str) -> str:
    with urllib.request.urlopen(f"http://{monitor.address}{path}") as answer:
        return str(answer.read().decode())


def metrics_of(monitor: Monitor) -> Metrics:
    """Values by name and by what the labels say, in the order of their names."""
    return {
        (sample.name, " ".join(text for _, text in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(fetched(monitor, "/metrics"))
        for sample in family.samples
    }


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_metrics_and_health(site: Site) -> None:
    follower = follower_of(site.words("--once", "--export", str(site.folder / "out")))
    with Monitor(follower, "127.0.0.1", 0) as monitor:
        assert metrics_of(monitor)["logreplay_units_total", "target"] == 0
        site.arrive(0, range(3))
        assert follower.run() == 0
        found = metrics_of(monitor)
        for receiver in ("target", "export"):
            assert found["logreplay_units_total", receiver] == 3
            assert found["logreplay_changes_total", receiver] == 3
            assert found["logreplay_lag_bytes", receiver] == 0
            assert found["logreplay_lag_seconds", receiver] == 0
            assert found["logreplay_units_per_second", receiver] > 0
            assert found["logreplay_trouble", receiver] == 0
        assert found["logreplay_logs", "whole"] == 1
        assert found["logreplay_last_look_timestamp_seconds", ""] > 1.6e9
        state = json.loads(fetched(monitor, "/health"))
        assert state["status"] == "ok"
        assert [one["units"] for one in state["receivers"]] == [3, 3]
        with pytest.raises(HTTPError, match="404"):
            fetched(monitor, "/other")


def test_what_waits_is_measured(site: Site) -> None:
    words = site.words("--once")
    words[words.index("--to") + 1] = "postgresql://nobody@127.0.0.1:1/none"
    follower = follower_of(words)
    pair = site.arrive(0, range(3))
    size = sum(Path(name).stat().st_size for name in (pair.control, *pair.data))
    with Monitor(follower, "127.0.0.1", 0) as monitor:
        assert follower.run() == 8
        found = metrics_of(monitor)
        assert found["logreplay_lag_bytes", "target"] == size
        assert found["logreplay_lag_seconds", "target"] > 0
        assert found["logreplay_trouble", "target"] == 1
        assert found["logreplay_errors_total", "LR4003 target"] == 1
        with pytest.raises(HTTPError, match="503") as raised:
            fetched(monitor, "/health")
        assert "LR4003" in json.loads(raised.value.read())["receivers"][0]["last_error"]


def test_units_that_are_set_aside_are_measured(site: Site) -> None:
    half_a_unit_arrives(site.log, TABLE, site.logs)
    follower = follower_of(site.words("--once"))
    with Monitor(follower, "127.0.0.1", 0) as monitor:
        assert follower.run() == 4
        found = metrics_of(monitor)
        assert found["logreplay_units_pending", "target"] == 1
        assert found["logreplay_units_held", "target"] == 0


def test_a_folder_without_a_log_says_so(site: Site) -> None:
    follower = follower_of(site.words("--once"))
    with Monitor(follower, "127.0.0.1", 0) as monitor:
        assert follower.run() == 0
        state = json.loads(fetched(monitor, "/health"))
        assert state["status"] == "ok"
        assert "no file of a log is in" in state["without_logs"]
        site.arrive(0, range(3))
        assert follower.run() == 0
        assert json.loads(fetched(monitor, "/health"))["without_logs"] is None


def test_a_paused_folder_says_so(site: Site) -> None:
    site.arrive(0, range(3))
    assert main(["pause", str(site.logs)]) == 0
    follower = follower_of(site.words("--once"))
    with Monitor(follower, "127.0.0.1", 0) as monitor:
        assert follower.run() == 0
        assert metrics_of(monitor)["logreplay_paused", ""] == 1
        assert metrics_of(monitor)["logreplay_lag_bytes", "target"] > 0
        assert json.loads(fetched(monitor, "/health"))["status"] == "paused"


def test_it_answers_this_machine_alone(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(site.words("--once", "--metrics-port", "0", "--log-json")) == 0
    told = next(entry for entry in events(capsys) if entry["event"] == "listening")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", told["at"])
    follower = follower_of(site.words("--once"))
    with Monitor(follower, "127.0.0.1", 0) as monitor:
        port = int(monitor.address.rpartition(":")[2])
        with pytest.raises(UsageError, match="LR1006"):
            Monitor(follower, "127.0.0.1", port)


def test_what_is_logged_has_the_figures(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.arrive(0, range(3))
    assert site.once("--log-json") == 0
    told = next(entry for entry in events(capsys) if entry["event"] == "applied")
    assert told["units_per_second"] > 0
    assert told["lag_seconds"] >= 0
    assert (told["pending"], told["held"]) == (0, 0)


def fenced(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


def test_the_unit_of_systemd_starts_what_there_is() -> None:
    lines = dict(line.split("=", 1) for line in fenced("ini").splitlines() if "=" in line)
    program, *words = shlex.split(lines["ExecStart"])
    assert Path(program).name == "logreplay"
    arguments = parse(words)
    assert (arguments.metrics_host, arguments.metrics_port) == ("127.0.0.1", 9464)
    assert lines["KillSignal"] == "SIGTERM"
    assert lines["Restart"] == "on-failure"


def test_the_image_starts_what_there_is() -> None:
    text = fenced("dockerfile").replace("\\\n", " ")
    steps = [line.split(None, 1) for line in text.splitlines() if line]
    by_name = dict(steps)
    words = json.loads(by_name["ENTRYPOINT"]) + json.loads(by_name["CMD"])
    assert words[0] == "logreplay"
    arguments = parse(words[1:])
    assert f"127.0.0.1:{arguments.metrics_port}/health" in by_name["HEALTHCHECK"]
    assert by_name["EXPOSE"] == str(arguments.metrics_port)
    assert by_name["STOPSIGNAL"] == "SIGTERM"
    assert by_name["USER"] != "root"
    extras = re.search(r"'([\w-]+)\[([\w,]+)\]'", by_name["RUN"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extras
    assert extras[1] == project["name"]
    assert set(extras[2].split(",")) <= set(project["optional-dependencies"])
