"""Query expansion: which words are selected, and which are added to a query."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from foundry.indexing.queries.builder import frequent_words, write_expansion
from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.quantising import quantise
from foundry.runtime.retrieval.stages.expansion import (
    ExpansionWords,
    expand_query,
    open_words,
)

tokenizer = Tokenizer("english")
PLACES = {
    "pump": (1.0, 0.0, 0.0),
    "pumps": (0.96, 0.28, 0.0),
    "motor": (0.8, 0.6, 0.0),
    "engine": (0.8, 0.6, 0.0),
    "seal": (0.6, 0.0, 0.8),
    "poem": (0.0, 0.0, 1.0),
}


def embed(texts: Any) -> NDArray[np.float32]:
    """Return the normalised sum of the preset vectors of each text's words."""
    rows = [sum(np.array(PLACES.get(word, (0, 0, 0))) for word in text.split()) for text in texts]
    stacked = np.array(rows, dtype=np.float64).reshape(-1, 3)
    lengths = np.linalg.norm(stacked, axis=1, keepdims=True)
    return (stacked / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class Encoder:
    def encode(self, text: str) -> NDArray[np.float32] | None:
        vector = embed([text.lower()])[0]
        return vector if vector.any() else None


@dataclass(frozen=True)
class FakeIndex:
    layout: IndexLayout
    encoder: Encoder

    def part(self, kind: Callable[["FakeIndex"], Any]) -> Any:
        return kind(self)


def make_index(root: Path) -> Any:
    write_expansion(IndexLayout(root), list(PLACES), embed)
    return FakeIndex(IndexLayout(root), Encoder())


def expand(root: Path, query: str, **options: Any) -> tuple[NDArray[np.float32], Journal]:
    journal = Journal()
    vector = Encoder().encode(query)
    assert vector is not None
    expanded = expand_query(
        make_index(root),
        query,
        tokenizer.tokenize(query),
        vector,
        journal,
        **{"terms": 3, "minimum_cosine": 0.5, **options},
    )
    return expanded, journal


def test_the_nearest_words_are_added(tmp_path: Path) -> None:
    expanded, journal = expand(tmp_path, "pump")
    # Cosines 0.96, 0.8, 0.8 and 0.6: equal ones in the order of the words, three in all.
    assert journal.stages == {"expansion": {"words": ["pumps", "motor", "engine"]}}
    assert expanded == pytest.approx(embed(["pump pumps motor engine"])[0])


def test_words_below_the_threshold_are_not_added(tmp_path: Path) -> None:
    _, journal = expand(tmp_path, "Pump", minimum_cosine=0.9)
    assert journal.stages == {"expansion": {"words": ["pumps"]}}


def test_a_word_at_the_threshold_is_added() -> None:
    scale = quantise(np.array([[1.0, 0.0]], dtype=np.float32))[1]
    vectors = np.array([[64, 0], [63, 0]], dtype=np.int64)
    words = ExpansionWords(["at", "below"], vectors, np.full(2, 2.0**-6, dtype=np.float32))
    cosine = 127 * float(scale[0])
    vector = np.array([1.0, 0.0], dtype=np.float32)
    assert words.nearest(vector, 9, cosine, set()) == ["at"]
    assert words.nearest(vector, 9, cosine + 1e-12, set()) == []
    assert words.nearest(vector, 9, cosine * 63 / 64, set()) == ["at", "below"]
    assert words.nearest(vector, 9, 0.5, {"at"}) == ["below"]


def test_without_near_words_the_vector_does_not_change(tmp_path: Path) -> None:
    expanded, journal = expand(tmp_path, "poem", minimum_cosine=0.9)
    assert expanded == pytest.approx(PLACES["poem"]) and not journal.stages


def test_identifiers_are_not_expanded(tmp_path: Path) -> None:
    expanded, journal = expand(tmp_path, "pump D40")
    assert expanded == pytest.approx(PLACES["pump"]) and not journal.stages


def test_an_index_without_words_is_refused(tmp_path: Path) -> None:
    index: Any = FakeIndex(IndexLayout(tmp_path), Encoder())
    with pytest.raises(IndexUnusableError, match="query expansion needs it"):
        open_words(index)


def test_frequent_words() -> None:
    texts = [
        "The pump pumps water, D40.",
        "Pumps and valves: 2024.",
        "Pumps of max_size; the valve",
        "water 東京都 once",
        "twice an if",
    ]
    # Each stem is represented by its most frequent word: "pumps" is in three texts, "pump" in one.
    # "Valve" and "valves" are in one text each, so together in as many as "water".
    # Words of a single text, stop words and identifiers are excluded.
    assert frequent_words(texts, tokenizer, 10) == ["pumps", "valve", "water"]
    assert frequent_words(texts, tokenizer, 1) == ["pumps"]
