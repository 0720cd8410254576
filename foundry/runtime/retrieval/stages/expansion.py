"""Query expansion: in the semantic lane, adds words of the corpus that are close to the query.

The build selects and embeds the words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import IndexUnusableError
from ...index.layout import open_array
from ...index.reader import Index, OpenedIndex
from ...index.tokens import Token
from ..dense_lane import exact_type
from ..journal import Journal, quote
from ..quantising import quantise
from ..timing import stage


@dataclass(frozen=True, slots=True)
class ExpansionLayout:
    """The files below `root`: W words, and a vector of d dimensions for each."""

    root: Path

    @property
    def words(self) -> Path:
        """UTF-8, one word per line, most frequent first."""
        return self.root / "words.txt"

    @property
    def vectors(self) -> Path:
        """int8 (W, d): the words embedded as queries; each row is scaled to the full range."""
        return self.root / "vectors.i8.npy"

    @property
    def scales(self) -> Path:
        """float32 (W,): scales rows of `vectors` to unit length; 0 if a word has no vector."""
        return self.root / "vectors.scale.npy"


@dataclass(frozen=True, slots=True)
class ExpansionWords:
    """Frequent words of a corpus, with their vectors."""

    words: list[str]
    vectors: NDArray[np.floating]
    scales: NDArray[np.float32]

    def nearest(
        self, vector: NDArray[np.float32], count: int, minimum_cosine: float, known: set[str]
    ) -> list[str]:
        """Return up to `count` words closest to the unit `vector` (d,) that are not in `known`.

        Their cosine with it is at least `minimum_cosine`.
        """
        rows, scales = quantise(vector[np.newaxis, :])
        # As in the dense lane, `einsum` adds integers exactly, and only in this thread.
        products = np.einsum("ij,j->i", self.vectors, rows[0].astype(self.vectors.dtype))
        cosines = products.astype(np.float64) * self.scales * float(scales[0])
        near = np.flatnonzero(cosines >= minimum_cosine)
        order = near[np.lexsort((near, -cosines[near]))]
        new = (self.words[number] for number in order if self.words[number] not in known)
        return list(islice(new, count))


def open_words(index: OpenedIndex) -> ExpansionWords:
    """Memory-map the words of an index. Raises IndexUnusableError if it has none."""
    layout = ExpansionLayout(index.layout.expansion)
    try:
        words = layout.words.read_text(encoding="utf-8").split("\n")[:-1]
    except (OSError, ValueError) as error:
        raise IndexUnusableError(
            f"{layout.words}: unreadable: {error}; query expansion needs it"
        ) from None
    rows = open_array(layout.vectors, np.int8, (len(words), -1))
    scales = open_array(layout.scales, np.float32, (len(words),))
    return ExpansionWords(words, rows.astype(exact_type(rows.shape[1])), scales)


@stage("expand")
def expand_query(
    index: Index,
    query: str,
    tokens: Sequence[Token],
    vector: NDArray[np.float32],
    journal: Journal,
    *,
    terms: int,
    minimum_cosine: float,
) -> NDArray[np.float32]:
    """Return a query's `vector` (d,), expanded with the `terms` words closest to it.

    A query with an identifier is not expanded.
    """
    if any(token.is_identifier for token in tokens):
        return vector
    known = {token.text.casefold() for token in tokens}
    words = index.part(open_words).nearest(vector, terms, minimum_cosine, known)
    expanded = index.encoder.encode(" ".join([query, *words])) if words else None
    if expanded is None:
        return vector
    journal.note("expansion", f"The semantic query was expanded with {quote(words)}.", words=words)
    return expanded
