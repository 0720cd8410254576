"""Completions of a query, from a few words and headings."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.retrieval.stages.suggestions import (
    FOLDER,
    MAX_HEADINGS,
    MAX_WORDS,
    SuggestionsLayout,
    fold,
    suggest,
)

WORDS = {
    **{"max_size": 9, "vent": 40, "ventilate": 15, "ventilation": 60, "ventilator": 5},
    **{"requirements": 3, "ventilatoren": 20, "ventral": 1, "venvPath": 30, "\u00fcbersicht": 7},
}
HEADINGS = [
    "Safety Requirements",
    "Requirements",
    "\u00dcbersicht der R\u00e4ume",
    "Safety in Mines",
    *(f"Room {number}" for number in range(9)),
    "A Room",
    "(Tunnels)",
    "Tunnels of the north",
]


@pytest.fixture
def index(tmp_path: Path) -> Any:
    """An index with WORDS and HEADINGS as completions."""
    return write(tmp_path, HEADINGS)


def write(tmp_path: Path, headings: Sequence[str]) -> Any:
    layout = SuggestionsLayout(tmp_path / FOLDER)
    layout.root.mkdir()
    words = sorted(WORDS, key=fold)
    for file, offsets, texts in (
        (layout.words, layout.word_offsets, words),
        (layout.headings, layout.heading_offsets, headings),
    ):
        encoded = [text.encode() for text in texts]
        file.write_bytes(b"".join(encoded))
        np.save(offsets, np.cumsum([0, *map(len, encoded)]).astype(np.uint64))
    np.save(layout.weights, np.array([WORDS[word] for word in words], dtype=np.uint8))
    places = [
        (fold(text)[start:], number, start)
        for number, text in enumerate(headings)
        for start in range(len(text))
        if text[start].isalnum() and not text[:start][-1:].isalnum()
    ]
    np.save(layout.places, np.array([place[1:] for place in sorted(places)], dtype=np.uint32).T)
    index: Any = SimpleNamespace(layout=SimpleNamespace(root=tmp_path))
    index.part = lambda kind: kind(index)
    return index


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # The most frequent words come first, at most four.
        ("ven", ["ventilation", "vent", "venvPath", "ventilatoren"]),
        ("vent", ["ventilation", "ventilatoren", "ventilate", "ventilator"]),
        ("venv", ["venvPath"]),
        ("a venti", ["a ventilation", "a ventilatoren", "a ventilate", "a ventilator"]),
        ("VENTILATION", []),
        ("max_", ["max_size"]),
        ("safety req", ["Safety Requirements"]),
        # Shortest first; headings that begin with the query come before others.
        ("safety", ["Safety in Mines", "Safety Requirements"]),
        ("Requ", ["Requirements", "Safety Requirements"]),
        ("room", [f"Room {number}" for number in range(6)]),
        ("room 8", ["Room 8"]),
        ("tunnel", ["Tunnels of the north", "(Tunnels)"]),
        ("safety ", ["Safety in Mines", "Safety Requirements"]),
        ("vent ", []),
        ("vent-", []),
        ("\u00dcBER", ["\u00fcbersicht", "\u00dcbersicht der R\u00e4ume"]),
        # If completing a word yields a heading, it is listed once.
        ("requirem", ["Requirements", "Safety Requirements"]),
        ("\u00fcbersicht der r\u00e4um", ["\u00dcbersicht der R\u00e4ume"]),
        ("afety", []),
        ("zebra", []),
        ("\U0010ffff", []),
        (" ", []),
        ("(", []),
        ("", []),
    ],
)
def test_words_and_headings_are_suggested(index: Any, query: str, expected: list[str]) -> None:
    found = suggest(index, query)
    assert [suggestion.text for suggestion in found] == expected
    assert all((one.kind == "heading") == (one.text in HEADINGS) for one in found)


def test_the_best_of_many_places_are_chosen(tmp_path: Path) -> None:
    many = [f"Room {number:03} at the end of a passage" for number in range(255)]
    found = suggest(write(tmp_path, [*many, "Room 30", "Room 4"]), "room")
    assert [suggestion.text for suggestion in found][:2] == ["Room 30", many[0]]


def test_beginnings_of_all_words_and_headings_find_them(index: Any) -> None:
    assert (MAX_WORDS, MAX_HEADINGS) == (4, 6)
    for text in (*WORDS, *HEADINGS[:5]):
        for end in range(1, len(text) + 1):
            beginning = fold(text[:end])
            found = suggest(index, text[:end])
            kinds = [suggestion.kind for suggestion in found]
            assert kinds.count("word") <= MAX_WORDS and kinds.count("heading") <= MAX_HEADINGS
            for suggestion in found:
                is_word = suggestion.kind == "word"
                folded = fold(suggestion.text)
                assert folded.startswith(beginning) if is_word else beginning in folded


@pytest.mark.parametrize("name", ["words.bin", "weights.npy", "headings.bin", "places.npy"])
def test_missing_files_are_named(index: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / FOLDER / name).unlink()
    with pytest.raises(IndexUnusableError, match=name):
        suggest(index, "a")
