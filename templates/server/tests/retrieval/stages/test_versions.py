"""One version of each page among the results."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from samples import sample_hit

from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import Hit
from foundry.runtime.retrieval.stages.versions import find_named, forget_versions, prefer_version

FOLDERS = ("", "v3", "old/v2")


def hits(*found: tuple[str, float]) -> list[Hit]:
    return [
        sample_hit(id=f"c{number}", document_id=f"d-{path}", title=path, path=path, score=score)
        for number, (path, score) in enumerate(found)
    ]


def shown(
    found: Sequence[Hit], query: str = "q", folders: Sequence[str] = FOLDERS, **options: Any
) -> list[str]:
    journal = Journal()
    chosen = {"count": 5, "share": 0.8, **options}
    kept = list(prefer_version(found, query=query, folders=folders, journal=journal, **chosen))
    left_out = len(found) - len(kept)
    assert journal.stages == ({"versions": {"left_out": left_out}} if left_out else {})
    return [hit.path for hit in kept]


def test_the_newest_version_of_a_page_takes_the_place_of_the_best() -> None:
    found = hits(("v3/a.md", 0.9), ("b.md", 0.85), ("a.md", 0.8), ("old/v2/a.md", 0.7))
    assert shown(found) == ["a.md", "b.md"]
    first, second = prefer_version(found, 5, "q", FOLDERS, Journal(), share=0.8)
    assert (first.id, first.score, first.boosts) == ("c2", 0.9, {"versions": 1.125})
    assert second is found[1]


def test_an_older_version_with_a_much_better_score_is_shown() -> None:
    assert shown(hits(("v3/a.md", 1.0), ("a.md", 0.8))) == ["a.md"]
    assert shown(hits(("v3/a.md", 1.0), ("a.md", 0.79))) == ["v3/a.md"]
    assert shown(hits(("v3/a.md", 1.0), ("a.md", 0.79)), share=0.5) == ["a.md"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("seals in V3", "v3/a.md"),
        ("(v2) seals?", "old/v2/a.md"),
        ("seals in v33", "a.md"),
        ("old seals", "a.md"),
    ],
)
def test_a_version_that_the_query_names_is_shown(query: str, expected: str) -> None:
    found = hits(("a.md", 0.9), ("v3/a.md", 0.9), ("old/v2/a.md", 0.85))
    assert shown(found, query) == [expected]


def test_a_named_version_is_shown_whatever_its_score() -> None:
    found = hits(("a.md", 0.9), ("v3/a.md", 0.1))
    assert shown(found, "seals") == ["a.md"]
    assert shown(found, "seals in v3") == ["v3/a.md"]


def test_a_parent_folder_can_be_a_version() -> None:
    found = hits(("docs/v2/a.md", 0.9), ("docs/a.md", 0.8))
    assert shown(found, folders=("docs", "docs/v2", "docs/v1")) == ["docs/a.md"]


def test_other_pages_and_sources_have_no_versions() -> None:
    found = hits(("v3/only.md", 0.9), ("v30/a.md", 0.8), ("a.md", 0.7), ("v3", 0.6))
    assert shown(found) == [hit.path for hit in found]
    assert shown(found, folders=("v3", "old/v2")) == [hit.path for hit in found]
    other = hits(("v3/a.md", 0.9))[0]
    both = [replace(other, source="blog", id="b0"), *hits(("a.md", 0.8))]
    assert shown(both) == ["v3/a.md", "a.md"]


def test_hits_below_the_depth_have_the_same_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[prefer_version.__module__], "DEPTH", 1)
    found = hits(
        ("v3/a.md", 0.9), ("a.md", 0.85), ("v3/a.md", 0.5), ("a.md", 0.4), ("v3/c.md", 0.3)
    )
    assert shown(found, count=2) == ["a.md", "a.md", "v3/c.md"]
    assert shown(found, count=1) == ["v3/a.md", "v3/a.md", "v3/c.md"]


@pytest.mark.parametrize("query", ["q", "v3", "v2"])
def test_every_page_is_shown_in_exactly_one_version(query: str) -> None:
    pages = [f"{folder}/{page}".lstrip("/") for folder in FOLDERS for page in ("a.md", "b/c.md")]
    for count in range(1, len(pages) + 1):
        for written in permutations(pages, count):
            found = hits(*((path, 1 - place / 100) for place, path in enumerate(written)))
            kept = shown(found, query, share=0.0)
            for page in ("a.md", "b/c.md"):
                there = [path for path in pages if path in written and path.endswith(page)]
                named = [path for path in there if query in path]
                wanted = named or there
                assert [path for path in kept if path.endswith(page)] == wanted[:1]


def test_other_versions_are_named_and_series_kept_apart() -> None:
    folders = ("en/v2", "de/v2", "en/v1", "de/v1")
    found = hits(("de/v1/a.md", 0.9), ("en/v1/a.md", 0.9), ("en/v2/a.md", 0.8), ("de/v2/a.md", 0.8))
    assert shown(found, folders=folders) == ["de/v2/a.md", "en/v2/a.md"]
    first, _ = prefer_version(found, 5, "q", folders, Journal(), share=0.8)
    assert [place.path for place in first.also_at] == ["de/v1/a.md"]
    assert shown(hits(("docs/v2/a.md", 0.9), ("docs/a.md", 0.8)), folders=("docs", "docs/v2")) == [
        "docs/a.md"
    ]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("2025-06-18 elicitation", ["2025-06-18"]),
        ("in v2.", ["v2"]),
        ("version 2 of it", ["v2"]),
        ("release 1.4", ["1.x/1.4"]),
        ("v1.4", ["1.x/1.4"]),
        ("top 2 tips", []),
        ("what comes next", []),
        ("the next version", ["next"]),
        ("in the year 1000", ["1000"]),
        ("top 999 tips", []),
        ("version 999", ["999"]),
        ("version next year", ["next"]),
    ],
)
def test_versions_are_named_in_several_ways(query: str, named: list[str]) -> None:
    folders = ["2025-06-18", "v2", "1.x/1.4", "next", "vnext", "1000", "999"]
    assert sorted(find_named(query, folders)) == sorted(named)
    journal = Journal(unknown_identifiers=(query, "D40"))
    forget_versions(journal, folders)
    assert journal.unknown_identifiers == (("D40",) if named else (query, "D40"))


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("seals in 2.0", ["v2.0"]),
        ("seals in v2.0", ["v2.0"]),
        ("seals in 2.0-rc1", ["v2.0-rc1"]),
        ("release v2.0-rc1", ["v2.0-rc1"]),
    ],
)
def test_a_release_candidate_is_another_version_than_its_release(
    query: str, named: list[str]
) -> None:
    folders = ("v2.0", "v2.0-rc1")
    assert sorted(find_named(query, folders)) == named
    found = hits(("v2.0-rc1/a.md", 0.9), ("v2.0/a.md", 0.9))
    assert shown(found, query, folders) == [f"{named[0]}/a.md"]
    assert shown(found, "seals", folders) == ["v2.0/a.md"]
