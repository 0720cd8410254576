"""Writes what the stages need of an index that read queries, if they were chosen."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.config.search import IndexOptions
from foundry.indexing.correction import (
    count_forms,
    count_words,
    is_word,
    weight_of,
    write_correction,
)
from foundry.indexing.files import write_array, write_stretches
from foundry.indexing.synonyms import explained_by_title, write_synonyms
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.quantising import quantise
from foundry.runtime.retrieval.stages.correction import FOLDER as CORRECTION
from foundry.runtime.retrieval.stages.expansion import ExpansionLayout
from foundry.runtime.retrieval.stages.suggestions import FOLDER as SUGGESTIONS
from foundry.runtime.retrieval.stages.suggestions import SuggestionsLayout, fold
from foundry.runtime.retrieval.stages.synonyms import FOLDER as SYNONYMS
from foundry.runtime.retrieval.tokens import Tokenizer

MAX_HEADINGS = 200_000
MAX_HEADING_LENGTH = 120
"""Characters; a longer one is no query."""

MAX_HEADING_WORDS = 12

_WORD = re.compile(r"\w+")


def write_query_files(
    layout: IndexLayout,
    options: IndexOptions,
    tokenizer: Tokenizer,
    read_chunks: Callable[[], Iterator[ChunkRecord]],
) -> None:
    """Write the files of each stage that was chosen."""
    if options.correction_words:
        texts = ("\n".join([*chunk.headings(), chunk.text]) for chunk in read_chunks())
        known = [form for group in options.synonyms or () for form in (*group[0], *group[1])]
        write_correction(
            layout.root / CORRECTION, texts, tokenizer, options.correction_words, known
        )
    if options.suggested_words:
        root = layout.root / SUGGESTIONS
        _write_completions(root, read_chunks(), tokenizer, options.suggested_words)
    if options.synonyms is not None:
        texts = (
            text
            for chunk in (read_chunks() if options.acronyms else ())
            for text in (chunk.text, *explained_by_title(chunk.title, chunk.text))
        )
        write_synonyms(layout.root / SYNONYMS, options.synonyms, texts, tokenizer)


def _write_completions(
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
    frequencies, best = count_words((fold(form), form, forms[form]) for form in forms)
    ranked = sorted(frequencies, key=lambda word: (-frequencies[word], word))
    chosen = sorted(word for word in ranked[:most_words] if is_word(word, tokenizer))
    # Words that begin sentences and headings are no names.
    texts = [best[word] for word in chosen]
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


MIN_WORD_LENGTH = 3
MIN_CHUNKS = 2
"""A word of one chunk alone says more about that chunk than about the corpus."""


def write_expansion(
    layout: IndexLayout,
    words: Sequence[str],
    encode: Callable[[Sequence[str]], NDArray[np.float32]],
) -> None:
    """Embed the words as queries and write the files."""
    files = ExpansionLayout(layout.expansion)
    files.root.mkdir()
    rows, scales = quantise(encode(words))
    files.words.write_text("".join(f"{word}\n" for word in words), encoding="utf-8", newline="\n")
    write_array(files.vectors, rows)
    write_array(files.scales, scales)


def frequent_words(texts: Iterable[str], tokenizer: Tokenizer, count: int) -> list[str]:
    """Return the `count` words that occur in most texts, the most frequent first.

    Of the forms of one stem the most frequent stands for all; identifiers, numbers and runs of
    scripts without spaces are no words.
    """
    forms: Counter[tuple[str, str]] = Counter()
    for text in texts:
        forms.update(
            {
                (token.terms[0], token.text.casefold())
                for token in tokenizer.tokenize(text)
                if len(token.terms) == 1
                and not token.is_identifier
                and len(token.text) >= MIN_WORD_LENGTH
                and token.text.isalpha()
            }
        )
    stems, best = count_words((stem, form, often) for (stem, form), often in forms.items())
    common = sorted((-frequency, stem) for stem, frequency in stems.items())
    return [best[stem] for frequency, stem in common if -frequency >= MIN_CHUNKS][:count]
