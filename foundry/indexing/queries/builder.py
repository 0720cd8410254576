"""Writes the index files for the chosen stages that rewrite or complete queries."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from foundry.config.search import IndexOptions
from foundry.documents.prepared import FormCounts
from foundry.indexing.carried.carried import Carried
from foundry.indexing.files import write_array
from foundry.indexing.queries.completions import CompletionsBuilder
from foundry.indexing.queries.correction import write_correction
from foundry.indexing.queries.pinned import write_pinned
from foundry.indexing.queries.synonyms import explained_by_title, write_synonyms
from foundry.indexing.queries.words import WordsBuilder, count_words
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.quantising import quantise
from foundry.runtime.retrieval.stages.correction import FOLDER as CORRECTION
from foundry.runtime.retrieval.stages.expansion import ExpansionLayout
from foundry.runtime.retrieval.stages.synonyms import FOLDER as SYNONYMS


class QueryFilesBuilder:
    """Collects the data of documents that the chosen stages need."""

    def __init__(self, options: IndexOptions, tokenizer: Tokenizer, carried: Carried) -> None:
        self._options, self._tokenizer = options, tokenizer
        self._words: WordsBuilder | None = None
        self._completions: CompletionsBuilder | None = None
        if options.correction_words or options.suggested_words:
            self._words = WordsBuilder(tokenizer, carried)
        if options.suggested_words:
            self._completions = CompletionsBuilder(carried)

    def add(self, forms: FormCounts, offered: str) -> None:
        """Add the words of the next document, and the headings `offered` for completion."""
        if self._words is not None:
            self._words.add(forms)
        if self._completions is not None:
            self._completions.add(offered)

    def write(self, layout: IndexLayout, read_all: Callable[[], Iterator[ChunkRecord]]) -> None:
        """Write the files of each chosen stage; `read_all` returns all chunks."""
        options = self._options
        if self._words is not None:
            words = self._words.finish(read_all)
            if options.correction_words:
                groups = options.synonyms or ()
                known = [form for group in groups for form in (*group[0], *group[1])]
                known += [answer.query for answer in options.pinned]
                root = layout.root / CORRECTION
                write_correction(root, words, options.correction_words, known)
            if self._completions is not None:
                self._completions.write(layout.root, words, options.suggested_words)
        if options.synonyms is not None:
            texts = (
                text
                for chunk in (read_all() if options.acronyms else ())
                for text in (chunk.text, *explained_by_title(chunk.title, chunk.text))
            )
            write_synonyms(layout.root / SYNONYMS, options.synonyms, texts, self._tokenizer)
        if options.pinned:
            write_pinned(layout, options.pinned, self._tokenizer)


MIN_WORD_LENGTH = 3
MIN_CHUNKS = 2
"""Rarer words are not used to expand queries: they are typical of a chunk, not of the corpus."""


def write_expansion(
    layout: IndexLayout,
    words: Sequence[str],
    encode: Callable[[Sequence[str]], NDArray[np.float32]],
) -> None:
    """Embed the words as queries, and write the words, vectors and scales into the index."""
    files = ExpansionLayout(layout.expansion)
    files.root.mkdir()
    rows, scales = quantise(encode(words))
    files.words.write_text("".join(f"{word}\n" for word in words), encoding="utf-8", newline="\n")
    write_array(files.vectors, rows)
    write_array(files.scales, scales)


def frequent_words(texts: Iterable[str], tokenizer: Tokenizer, count: int) -> list[str]:
    """Return up to `count` words that occur in MIN_CHUNKS texts or more, the most frequent first.

    The most frequent form of a stem represents all its forms; identifiers, numbers and text in
    scripts without spaces do not count as words.
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
