"""Writes the completions of queries: frequent words, and the headings of a corpus.

The positions at which words start in headings are sorted by the text that follows.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from foundry.indexing.carried.carried import Carried
from foundry.indexing.files import write_array, write_stretches
from foundry.indexing.queries.correction import weights_of
from foundry.indexing.queries.forms import SEPARATOR
from foundry.indexing.queries.words import CorpusWords
from foundry.runtime.index.lines import hash_key
from foundry.runtime.retrieval.stages.suggestions import FOLDER, SuggestionsLayout, fold

MAX_HEADINGS = 200_000
MAX_HEADING_LENGTH = 120
"""Maximum length, since nobody types a longer heading."""

MAX_HEADING_WORDS = 12

_WORD = re.compile(r"\w+")


class CompletionsBuilder:
    """Collects the headings of documents."""

    def __init__(self, carried: Carried) -> None:
        self._headings = carried.table("offered", "Q", has_texts=True)

    def add(self, offered: str) -> None:
        """Add the result of `offered_headings` for the next document, joined by SEPARATOR."""
        found = offered.split(SEPARATOR) if offered else []
        self._headings.add([hash_key(heading) for heading in found])
        self._headings.add_texts(found)

    def write(self, root: Path, words: CorpusWords, most_words: int) -> None:
        """Write the headings and the `most_words` most frequent words into an index's folder."""
        layout = SuggestionsLayout(root / FOLDER)
        layout.root.mkdir()
        _write_words(layout, words, most_words)
        (keys,), texts = self._headings.stored().columns, self._headings.stored_texts()
        entries = np.sort(np.unique(keys, return_index=True)[1])[:MAX_HEADINGS]
        headings = [texts.bytes(entry) for entry in entries.tolist()]
        write_stretches(layout.headings, layout.heading_offsets, headings)
        places = sorted(
            (text, number, start)
            for number, heading in enumerate(headings)
            for text, start in _places_in(heading.decode("utf-8", "surrogatepass"))
        )
        columns = [[number for _, number, _ in places], [start for *_, start in places]]
        write_array(layout.places, np.array(columns, dtype=np.uint32))


def offered_headings(headings: Iterable[str]) -> list[str]:
    """Return the distinct headings that are short enough, with single spaces."""
    joined = map(" ".join, map(str.split, headings))
    return [*dict.fromkeys(text for text in joined if 0 < len(text) <= MAX_HEADING_LENGTH)]


def _places_in(heading: str) -> list[tuple[str, int]]:
    folded = fold(heading)
    starts = [match.start() for match in _WORD.finditer(folded)][:MAX_HEADING_WORDS]
    return [(folded[start:], start) for start in starts]


def _write_words(layout: SuggestionsLayout, words: CorpusWords, most_words: int) -> None:
    chosen = sorted(words.most_frequent(most_words))
    # Words at the start of sentences and headings are not necessarily names.
    texts = [words.best[word] for word in chosen]
    written = [(text if _is_name(text) else text.lower()).encode() for text in texts]
    write_stretches(layout.words, layout.word_offsets, written)
    write_array(layout.weights, weights_of([words.frequencies[word] for word in chosen]))


def _is_name(text: str) -> bool:
    return not (text.islower() or text.istitle())
