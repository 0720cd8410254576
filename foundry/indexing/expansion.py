"""Writes the words that queries may be expanded by, and where they lie."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.correction import count_words
from foundry.indexing.files import write_array
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.retrieval.quantising import quantise
from foundry.runtime.retrieval.stages.expansion import ExpansionLayout
from foundry.runtime.retrieval.tokens import Tokenizer

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
