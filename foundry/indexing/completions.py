"""Writes the words and headings by which queries are completed while they are typed."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from foundry.indexing.correction import count_forms, is_word, weight_of
from foundry.indexing.files import write_array, write_stretches
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.stages.suggestions import SuggestionsLayout, fold
from foundry.runtime.retrieval.tokens import Tokenizer

MAX_HEADINGS = 200_000
MAX_HEADING_LENGTH = 120
"""Characters; a longer one is no query."""

MAX_HEADING_WORDS = 12

_WORD = re.compile(r"\w+")


def write_completions(
    root: Path, chunks: Iterable[ChunkRecord], tokenizer: Tokenizer, most_words: int
) -> None:
    """Write the files, with the `most_words` most frequent words."""
    headings: dict[str, None] = {}
    forms: Counter[str] = Counter()
    for chunk in chunks:
        for heading in map(" ".join, map(str.split, chunk.headings())):
            if len(headings) < MAX_HEADINGS and 0 < len(heading) <= MAX_HEADING_LENGTH:
                headings.setdefault(heading)
        forms = count_forms(["\n".join([*chunk.headings(), chunk.text])], forms)
    layout = SuggestionsLayout(root)
    root.mkdir()
    _write_words(layout, forms, tokenizer, most_words)
    _write_headings(layout, list(headings))


def _write_words(
    layout: SuggestionsLayout, forms: Counter[str], tokenizer: Tokenizer, most_words: int
) -> None:
    frequencies: Counter[str] = Counter()
    best: dict[str, tuple[int, str]] = {}
    for form, count in forms.items():
        word = fold(form)
        frequencies[word] += count
        best[word] = min(best.get(word, (0, "")), (-count, form))
    ranked = sorted(frequencies, key=lambda word: (-frequencies[word], word))
    chosen = sorted(word for word in ranked[:most_words] if is_word(word, tokenizer))
    # Words that begin sentences and headings are no names.
    texts = [best[word][1] for word in chosen]
    written = [(text if _is_name(text) else text.lower()).encode() for text in texts]
    write_stretches(layout.words, layout.word_offsets, written)
    weights = [weight_of(frequencies[word]) for word in chosen]
    write_array(layout.weights, np.array(weights, dtype=np.uint8))


def _is_name(text: str) -> bool:
    return not (text.islower() or text.istitle())


def _write_headings(layout: SuggestionsLayout, headings: list[str]) -> None:
    written = [heading.encode() for heading in headings]
    write_stretches(layout.headings, layout.heading_offsets, written)
    places = []
    for number, heading in enumerate(headings):
        folded = fold(heading)
        for match in list(_WORD.finditer(folded))[:MAX_HEADING_WORDS]:
            places.append((folded[match.start() :], number, match.start()))
    places.sort()
    table = [[number for _, number, _ in places], [start for *_, start in places]]
    write_array(layout.places, np.array(table, dtype=np.uint32).reshape(2, -1))
