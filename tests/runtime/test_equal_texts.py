"""Passages with equal texts are one hit, which names those that it stands for."""

import importlib
from collections.abc import Iterator
from dataclasses import astuple
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_indexes import Note, rendered_server, write_notes

from foundry.evaluation.in_server import rank_documents
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.results import Hit, LaneRanks, LaneScores, merge_equal_texts

WARNING = "Never touch the lamp while it burns."
NOTES = [
    Note("Lamp", (WARNING, "The lamp burns oil.")),
    Note("Lantern", ("\n Never touch\tthe lamp   while it burns.\n", "A lantern is a small lamp.")),
    Note("Fan", ("Never touch the lamp while it burns, or the fan.",)),
    Note("Wick", (WARNING,)),
]


def hit(number: int, text: str) -> Hit:
    chunk = ChunkRecord(
        id=f"c{number}",
        document_id=f"d{number}",
        title="",
        text=text,
        section=[],
        position={},
        source="docs",
        path="a.md",
        url=None,
        tags=[],
        modified=None,
        also_at=[],
    )
    return Hit(
        *astuple(chunk), 1 - number / 1000, LaneScores(None, None), LaneRanks(None, None), {}
    )


@given(
    st.lists(
        st.text("ab ", max_size=12) | st.just("One two three four, five six seven"), max_size=12
    ),
    st.integers(min_value=1, max_value=6),
)
def test_each_text_is_given_once_by_the_first_that_has_it(found: list[str], count: int) -> None:
    hits = [hit(number, text) for number, text in enumerate(found)]
    shown = list(merge_equal_texts(iter(hits), count=count))
    texts = ["".join(text.split()) for text in found]
    firsts = list(dict.fromkeys(texts))
    assert ["".join(one.text.split()) for one in shown] == firsts
    assert [one.score for one in shown] == [hits[texts.index(text)].score for text in firsts]
    # What is read before any is given: up to the last text that is among the first `count`.
    read = texts[: texts.index(firsts[count - 1])] if len(firsts) >= count else texts
    for one, text in zip(shown, firsts, strict=True):
        ids = [f"c{number}" for number, other in enumerate(read) if other == text]
        assert list(one.near_duplicates) == ids[1:]


@pytest.fixture(scope="module", params=["", "[search.document_cap]\nhits = 1\n"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModuleType]:
    root = tmp_path_factory.mktemp("equal")
    name = f"equal_{len(request.param)}"
    with rendered_server(root, name, request.param) as package:
        package.load(write_notes(root / "index", NOTES))
        yield package


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_search_gives_equal_texts_once(server: ModuleType, mode: str) -> None:
    response = server.search_hybrid("touch the lamp while it burns", 3, mode=mode)
    texts = [" ".join(found.text.split()) for found in response.hits]
    assert texts.count(WARNING) == 1
    assert len(texts) == len(set(texts)) == 3
    (merged,) = [found for found in response.hits if found.near_duplicates]
    assert len(merged.near_duplicates) == 2
    (as_json,) = [found for found in response.to_json()["results"] if "near_duplicates" in found]
    assert as_json["near_duplicates"] == list(merged.near_duplicates)
    assert not {found.id for found in response.hits} & set(merged.near_duplicates)
    index = importlib.import_module(f"{server.__name__}.index.reader").current_index()
    assert all(response.covers(index.find_chunk(name)) for name in merged.near_duplicates)
    (first,) = server.search_hybrid("touch the lamp while it burns", 1, mode=mode).hits
    assert (first.id, first.score) == (response.hits[0].id, response.hits[0].score)


def test_hit_counts_for_the_documents_that_it_stands_for(server: ModuleType) -> None:
    index = importlib.import_module(f"{server.__name__}.index.reader").current_index()
    response = server.search_hybrid(WARNING, 10)
    assert {"d0", "d1", "d3"} <= set(rank_documents(index, response.hits))
