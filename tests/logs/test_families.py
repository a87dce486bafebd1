"""Log families: found by name without an installation, opened with the files they take, and held to
what their logs can tell."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from replay.changes.selection import Selection
from replay.cli.main import main
from replay.errors import Refusal, UsageError
from replay.logs import FACTS, FAMILIES, Capabilities, Family, Inputs, source_named
from replay.pipeline.request_checks import check_needs, needed
from tests.support.words import of_log_master

ASKING = {
    "before images": ("undo", Selection()),
    "commit times": ("redo", Selection(until_time=b"\x20" * 17)),
    "origins": ("redo", Selection(triggers="skip")),
    "incomplete units": ("redo", Selection(incomplete="dependentrba")),
    "authorization ids": ("redo", Selection(authids=("A*",))),
    "plans": ("redo", Selection(plans=("P",))),
    "correlation ids": ("redo", Selection(correlations=("C",))),
    "connections": ("redo", Selection(connections=("C",))),
    "members": ("redo", Selection(members=(1,))),
    "logical units of work": ("redo", Selection(luws=("N.*",))),
    "databases": ("redo", Selection(databases=("D",))),
    "table spaces": ("redo", Selection(tablespaces=("3",))),
    "table space names": ("redo", Selection(tablespaces=("S",))),
    "partitions": ("redo", Selection(partitions=((1, 1),))),
    "pages": ("redo", Selection(pages=((1, 2),))),
    "row identifiers": ("redo", Selection(rids=(bytes(5),))),
    "recovery sets": ("redo", Selection(from_recovery_point=True)),
    "rolled-back work": ("redo", Selection(include_aborted=True)),
}


def poor(without: str) -> Family:
    known = source_named("logmaster")
    knows = Capabilities(frozenset(FACTS) - {without}, {without: "it is not written down"})
    return dataclasses.replace(known, name="poor", title="poor log", capabilities=knows)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_built_in_family_says_what_it_cannot_know(name: str) -> None:
    family = source_named(name)
    assert family.name == name
    assert family.capabilities.known | set(family.capabilities.unknown) == set(FACTS)


def test_an_unknown_family_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="LR1001.*'vsam'.*logmaster"):
        source_named("vsam")


def test_an_installed_family_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    family = poor("plans")

    class Point:
        name = "poor"

        def load(self) -> Family:
            return family

    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group: [Point()] if group == "logreplay.logs" else [],
    )
    assert source_named("poor") is family
    assert source_named("logmaster") is not family


def test_capabilities_are_complete_and_do_not_contradict_themselves() -> None:
    with pytest.raises(ValueError, match="every fact"):
        Capabilities(frozenset(), {})
    with pytest.raises(ValueError, match="every fact"):
        Capabilities(frozenset(FACTS), {"plans": "no"})


@pytest.mark.parametrize("fact", ASKING)
def test_what_a_family_cannot_know_is_refused_by_name(fact: str) -> None:
    mode, selection = ASKING[fact]
    with pytest.raises(Refusal, match="LR3020.*poor log.*it is not written down"):
        check_needs(poor(fact), mode, selection)
    check_needs(source_named("logmaster"), mode, selection)


def test_a_plain_redo_needs_no_fact() -> None:
    assert list(needed("redo", Selection())) == []


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"control": None}, "found no --control"),
        ({"log": ("x",)}, "found --log with --source logmaster; expected --control and --data"),
        ({"framing": "flt56"}, "found --framing flt56; expected one of: "),
        ({"options": {"byte-order": "big"}}, "found --log-option byte-order"),
    ],
)
def test_files_and_settings_of_another_family_are_refused(
    changed: Mapping[str, Any], found: str, sakila_small: Path
) -> None:
    inputs = Inputs(
        control=str(sakila_small / "small.ctl"), data=(str(sakila_small / "small.dat"),)
    )
    source_named("logmaster").open_log(inputs)
    with pytest.raises(UsageError, match=found):
        source_named("logmaster").open_log(dataclasses.replace(inputs, **changed))


def test_inspect_lists_what_cannot_be_known(
    sakila_small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["inspect", *of_log_master(sakila_small / "small.ctl", sakila_small / "small.dat")])
    shown = capsys.readouterr().out
    assert "Cannot be known" in shown
    assert "structure, changes of table structure" in shown


def test_a_refused_command_reads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("replay.pipeline.request.source_named", lambda name: poor("before images"))
    code = main(
        [
            "undo",
            *of_log_master("no.ctl", "no.dat"),
            "--out",
            str(tmp_path / "out"),
            "--engine",
            "local",
        ]
    )
    assert code == 8
    assert (
        "LR3020 found undo, which needs to know the rows as they were before"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()


def test_the_description_names_its_family(sakila_small: Path) -> None:
    family = source_named("logmaster")
    log = family.open_log(
        Inputs(control=str(sakila_small / "small.ctl"), data=(str(sakila_small / "small.dat"),))
    )
    description = family.description(log).values
    assert description["source"] == "logmaster"
    assert set(description["cannot_be_known"]) == {"structure"}


@pytest.mark.parametrize(
    "words",
    [
        ["--source", "db2luw", "--catalog", "c", "--log", "a", "b", "c"],
        ["--source", "soliddb", "--catalog", "c", "--log", "a", "b", "c"],
        ["--control", "a.ctl", "--data", "a", "b", "c"],
    ],
    ids=["db2luw", "soliddb", "logmaster"],
)
def test_more_files_than_places_can_number_are_refused(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("replay.logs.families.MOST_FILES", 2)
    assert main(["inspect", *words]) == 12
    assert "LR1001 found 3 files of a log; expected 2 at most" in capsys.readouterr().err
