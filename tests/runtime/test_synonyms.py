"""Synonyms: known forms in a query, the terms added for them, and the ones that a build finds."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from small_indexes import Note, rendered_server, write_notes

from foundry.config.search import IndexOptions
from foundry.indexing.queries.synonyms import explained_by_title, find_acronyms, write_synonyms
from foundry.indexing.versions import open_index
from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.heading_terms import query_terms
from foundry.runtime.index.reader import Index
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.synonyms import add_synonyms, open_forms

TOKENIZER = Tokenizer("english")
NOTES = [
    Note("Arms", ("**Forward kinematics** (FK) gives the pose of a hand.",)),
    Note("Forward Kinematics", ("A chain of transforms along the links.",)),
    Note("Clusters", ("Kubernetes restarts what has stopped.",)),
    Note("Maps", ("SLAM (simultaneous localisation and mapping) draws maps.",)),
    Note("Lamps", ("A lamp smokes if its wick is too long.",)),
]
OPTIONS = IndexOptions(
    synonyms=(
        (("k8s", "kube"), ("kubernetes",)),
        (("lamp", "lantern", "light source"), ("lamp", "lantern", "light source")),
    ),
    acronyms=True,
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("synonyms") / "v"
    return open_index(write_notes(folder, NOTES, vectors=False, options=OPTIONS))


def widen(index: Index, query: str) -> tuple[str, list[str], list[str], dict[str, object]]:
    """Return the text, the tokens, the new terms, and the explanation."""
    searched, tokens = index.tokenizer.tokenize_query(query)
    journal = Journal()
    own = query_terms(tokens)
    text, kept, terms = add_synonyms(index, searched, tokens, own, journal)
    assert terms[: len(own)] == own
    said = journal.stages.get("synonyms", {}).get("added", {})
    return text, [token.text for token in kept], terms[len(own) :], said


def test_a_form_counts_once_however_often_and_in_any_case(
    index: Index,
) -> None:
    text, _, terms, said = widen(index, "FK of an arm" + " fk FK" * 200)
    assert text.count("kinematics") == 1
    assert terms == ["forward", "kinemat"]
    assert said == {"FK": ["Forward kinematics"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the inverse kinematics (IK) of", [("IK", "inverse kinematics")]),
        ("An IK (inverse kinematics) solver", [("IK", "inverse kinematics")]),
        ("uses the *zero-moment point* (ZMP)", [("ZMP", "zero-moment point")]),
        ("quality of service (QoS)", [("QoS", "quality of service")]),
        ("Extended Kalman Filter\n(EKF)", [("EKF", "Extended Kalman Filter")]),
        ("the Internet Information Services (IIS)", [("IIS", "Internet Information Services")]),
        ("Assessment and Deployment Kit (ADK)", [("ADK", "Assessment and Deployment Kit")]),
        ("enter lifespans in order and exit in reverse (LIFO)", []),
        ("a see below (FK) and more (IK)", []),
        ("the end. (TODO) of", []),
        ("the whole (AW) b (2024) c (see Figure 3)", []),
        ("a class to use (FU)", []),
        ("f(AB) for (i)", []),
        ("point (ZMP)", []),
        # One term remains, because the other word is a stop word.
        ("marked not applicable (N/A)", []),
    ],
)
def test_acronyms_explained_in_texts(text: str, expected: list[tuple[str, str]]) -> None:
    found = find_acronyms([text], TOKENIZER)
    assert [(short, long) for short, long, _ in found] == expected


SLAM = "Simultaneous localisation and mapping"


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        (SLAM, "With SLAM, a robot draws a map.", [("SLAM", SLAM)]),
        (
            "Bureau of Land Management",
            "The BLM leases land.",
            [("BLM", "Bureau of Land Management")],
        ),
        (SLAM, "SLAMs are drawn, and slam is a word.", []),
        ("Lamp shop", "An LS is a lamp shop.", []),
        ("A of the and", "An AOTA is nothing.", []),
    ],
)
def test_acronyms_explained_by_titles(
    title: str, text: str, expected: list[tuple[str, str]]
) -> None:
    found = find_acronyms(explained_by_title(title, text), TOKENIZER)
    assert [(short, long) for short, long, _ in found] == expected


def test_spellings_of_a_long_form_are_merged_under_the_most_frequent() -> None:
    texts = ["inverse kinematics (IK)", "Inverse Kinematics (IK)", "inverse kinematics (IK)"]
    texts += ["Ivory King (IK)"]
    assert find_acronyms(texts, TOKENIZER) == [
        ("IK", "Ivory King", 1),
        ("IK", "inverse kinematics", 3),
    ]


def test_the_same_texts_give_the_same_bytes(tmp_path: Path) -> None:
    texts = [note.passages[0] for note in NOTES]
    for name, given in (("a", texts), ("b", texts[::-1])):
        write_synonyms(tmp_path / name, OPTIONS.synonyms or (), given, TOKENIZER)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_an_index_without_synonyms_is_refused(tmp_path: Path) -> None:
    plain = open_index(write_notes(tmp_path / "v", NOTES[:1], vectors=False))
    with pytest.raises(IndexUnusableError, match="synonyms need it"):
        open_forms(plain)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    root = tmp_path_factory.mktemp("server")
    options = "[search.operators]\n[search.synonyms]\n"
    with rendered_server(root, "with_synonyms", options) as package:
        package.load(write_notes(root / "v", NOTES, options=OPTIONS))
        yield package


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_a_server_finds_other_forms(server: ModuleType, mode: str) -> None:
    answer = server.search_hybrid("k8s", mode=mode)
    assert answer.hits[0].title == "Clusters"
    assert answer.unknown_identifiers == ()
    assert answer.stages == {"synonyms": {"added": {"k8s": ["kubernetes"]}}}


def test_a_heading_is_found_by_a_synonym(server: ModuleType) -> None:
    best = [hit.title for hit in server.search_hybrid("FK").hits[:2]]
    assert sorted(best) == ["Arms", "Forward Kinematics"]
