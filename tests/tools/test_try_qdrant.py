"""The trial of a Qdrant server: its report on a good one, and on faulty ones."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import index_answers
import pytest
import try_qdrant

from foundry.stores import checking
from foundry.stores.qdrant import collection as qdrant_collection
from foundry.stores.qdrant import points as qdrant_points
from foundry.stores.qdrant import publishing as qdrant

if TYPE_CHECKING:
    from native_qdrant import NativeQdrant

Answer = Callable[[str, str, dict[str, Any]], tuple[int, Any]]


@pytest.fixture
def native(tmp_path: Path) -> "Iterator[NativeQdrant]":
    from native_qdrant import running_qdrant

    with ExitStack() as stack:
        for module, name, value in (
            (index_answers, "QUESTIONS", 4),
            (checking, "QUESTIONS", 2),
            (qdrant, "POLL_SECONDS", 0.0),
            (qdrant_points, "BATCH_POINTS", 8),
        ):
            stack.enter_context(patch.object(module, name, value))
        stack.enter_context(patch.object(qdrant_collection.time, "sleep"))
        yield stack.enter_context(running_qdrant(tmp_path / "shards", is_checked=False))


def rows_of(report: str) -> dict[str, tuple[str, str]]:
    """Return the outcome and the detail of each step in a report."""
    rows = re.findall(r"^\| (.+) \| (.+) \| [0-9.]+ \| (.*) \|$", report, re.MULTILINE)
    return {name: (went, seen) for name, went, seen in rows}


def attempt(address: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit code and the report of a trial with 20 documents."""
    code = try_qdrant.main([address, "--documents", "20"])
    return code, capsys.readouterr().out


@pytest.mark.slow
def test_a_correct_server_passes(
    native: "NativeQdrant", capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = attempt(native.address, capsys)
    assert (code, list(native.collections)) == (0, [])
    rows = rows_of(report)
    assert report.startswith("**Qdrant 0.9.0: 13 of 13 steps passed**\n")
    assert [went for went, _ in rows.values()] == 13 * ["passed"]
    assert {name: seen for name, (_, seen) in rows.items() if "scores" not in seen} == {
        "indexes are built, here": "20 chunks each",
        "a changed document is published": "rows sent: 1",
        "the version before is published again": "rows sent: none",
        "an interrupted publication is continued": "rows sent: 8, then the other 12",
        "of two publications one stops": "the one that began first",
        "a version is loaded again while it is searched": "",
        "a graph finds what is near": rows["a graph finds what is near"][1],
        "old versions and their rows are removed": "versions dropped: 2",
        "what is not there is said": "no key was set, so a wrong one was not tried",
        "nothing is left behind": "",
    }
    assert rows["a graph finds what is near"][1].endswith("recall@100 1.000")
    assert report.rstrip().endswith("as the schema of Qdrant v1.19 says.")
    # The report must be short enough for an issue.
    assert len(report.splitlines()) < 25


def unfiltered(answer: Answer) -> Answer:
    """Return the answers of an engine that ignores filters by marks."""

    def change(method: str, path: str, asked: dict[str, Any]) -> tuple[int, Any]:
        if path.endswith("/query/batch"):
            for search in asked["searches"]:
                must = search["filter"]["must"]
                search["filter"]["must"] = [each for each in must if each.get("key") != "marks"]
        return answer(method, path, asked)

    return change


def keeping(answer: Answer) -> Answer:
    """Return the answers of an engine that deletes nothing."""

    def change(method: str, path: str, asked: dict[str, Any]) -> tuple[int, Any]:
        if path.endswith("/points/delete"):
            return 200, {"operation_id": 0, "status": "completed"}
        return answer(method, path, asked)

    return change


def misspelling(answer: Answer) -> Answer:
    """Return the answers of an engine that reports operations with malformed ids."""

    def change(method: str, path: str, asked: dict[str, Any]) -> tuple[int, Any]:
        if path.endswith("/index"):
            return 200, {"operation_id": "first", "status": "completed"}
        return answer(method, path, asked)

    return change


def refusing(answer: Answer) -> Answer:
    """Return the answers of an engine that accepts no points."""

    def change(method: str, path: str, asked: dict[str, Any]) -> tuple[int, Any]:
        if method == "PUT" and path.endswith("/points"):
            return 403, "forbidden"
        return answer(method, path, asked)

    return change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "failing", "passed", "said"),
    [
        (unfiltered, "a first version is published", 2, "an excluded chunk was found"),
        (keeping, "old versions and their rows are removed", 12, "points are left of 20 chunks"),
        (
            misspelling,
            "a first version is published",
            2,
            "answer.result.operation_id: 'first' is not",
        ),
        (refusing, "a first version is published", 2, "Qdrant rejected a request: 403"),
    ],
)
def test_a_faulty_server_fails_with_the_step(
    native: "NativeQdrant",
    capsys: pytest.CaptureFixture[str],
    other: Callable[[Answer], Answer],
    failing: str,
    passed: int,
    said: str,
) -> None:
    with patch.object(native, "answer", other(native.answer)):
        code, report = attempt(native.address, capsys)
    assert (code, list(native.collections)) == (1, [])
    assert report.startswith(f"**Qdrant 0.9.0: {passed} of 13 steps passed**")
    rows = rows_of(report)
    assert rows[failing][0] == "**failed**"
    assert said in report
    assert rows["nothing is left behind"][0] == "passed"
    # The report contains no address, and is short enough for an issue.
    assert native.address not in report
    assert len(report.splitlines()) < 70


def test_a_missing_server_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert try_qdrant.main(["http://127.0.0.1:1"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "no Qdrant could be asked" in said.err
