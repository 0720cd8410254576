"""Whether a model finds more than the built-in table, by questions made from a corpus."""

from collections.abc import Sequence

import numpy as np
import pytest
from distillation_corpora import CHINESE, ENGLISH, make_chunk, make_corpus

from foundry.embedding.distil.known_items import EACH, compare_with_table, make_questions
from foundry.embedding.embedder import Vectors
from foundry.records import KnownItemFigures
from foundry.runtime.index.records import ChunkRecord

DOCUMENTS = [
    make_chunk(number, f"{word} words {word}ish here", title=f"The {word}", section=[f"On {word}"])
    for number, word in enumerate(ENGLISH)
]


def oracle(chunks: Sequence[ChunkRecord], *, wrong: bool = False) -> Vectors:
    """Vectors that know each answer, or the one beside it."""
    vectors = np.eye(len(chunks), dtype=np.float32)
    return np.roll(vectors, 1, axis=0) if wrong else vectors


def compare(*, wrong: bool) -> KnownItemFigures:
    questions = make_questions(DOCUMENTS)
    places = {chunk.document_id: place for place, chunk in enumerate(DOCUMENTS)}
    found = compare_with_table(
        lambda: iter(DOCUMENTS),
        lambda _: oracle(DOCUMENTS),
        lambda _: oracle(DOCUMENTS, wrong=wrong)[[places[place] for _, place in questions]],
        lambda *_: 1.0,
    )
    assert found is not None
    return found


def test_model_that_knows_every_answer_beats_the_table() -> None:
    found = compare(wrong=False)
    assert found.questions == len(make_questions(DOCUMENTS)) > 30
    assert found.model == 1
    assert 0 < found.static <= 1
    assert "built-in table" in found.describe()


def test_model_that_knows_no_answer_does_not() -> None:
    found = compare(wrong=True)
    # All wrong chunks but one tie with the right one, which comes after them.
    assert found.model == pytest.approx(1 / len(DOCUMENTS), abs=5e-5)
    assert not found.is_gain
    assert 'provider = "static" finds as much' in found.describe()


def test_vectors_that_are_nothing_find_nothing() -> None:
    found = compare_with_table(
        lambda: iter(DOCUMENTS),
        lambda _: oracle(DOCUMENTS),
        lambda texts: np.zeros((len(texts), len(DOCUMENTS)), np.float32),
        lambda *_: 1.0,
    )
    assert found is not None
    assert found.model == 0


def test_too_few_questions_say_nothing() -> None:
    few = DOCUMENTS[:2]
    assert compare_with_table(lambda: iter(few), _refuse, _refuse, lambda *_: 1.0) is None


def _refuse(texts: Sequence[str]) -> Vectors:
    raise AssertionError(f"asked to embed {len(texts)} texts")


def test_questions_have_one_answer() -> None:
    shared = [make_chunk(n, "Text.", title=f"Own {n}", section=["Shared"]) for n in range(9)]
    assert sorted(make_questions(shared)) == [(f"Own {n}", f"document-{n}") for n in range(9)]
    rare = [
        make_chunk(0, "common word zebra", document="a", title="a"),
        make_chunk(1, "common word", document="b", title="b"),
    ]
    assert ("zebra common word", "a") in make_questions(rare)
    assert len(make_questions(make_corpus(CHINESE, 500))) <= 2 * EACH
