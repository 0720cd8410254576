"""The protocol of embedders: vectors for chunks, then an encoder for queries."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.progress import tell_nobody
from foundry.runtime.index.records import ChunkRecord

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Contract:
    """The model that embeds, and its options; an index and its server must agree on all of it.

    `revision` is a hash of the weights or a commit; empty where the provider tells none.
    """

    provider: str
    model: str
    revision: str
    dimensions: int
    document_prefix: str = ""
    query_prefix: str = ""


OverlapMeasure = Callable[[Sequence[str], Vectors, Vectors], float | None]
"""Takes queries and their vectors (q, d) by the model and by an encoder.

Returns the mean share of the ten best chunks of one linear ranking that are among the ten best of
the other, corrected for chance: 1 for equal rankings, 0 for random ones; None if there are so few
chunks that random ones are equal.
"""


@dataclass(frozen=True, slots=True)
class QueryFigures:
    """How queries are embedded: `own` table, one `distilled` from the model, or the `same` model.

    `agreement` is the mean cosine of both, `overlap_at_10` the share of best chunks in common.
    """

    encoder: str
    reason: str
    agreement: float | None = None
    overlap_at_10: float | None = None
    taught: int = 0


@dataclass(frozen=True, slots=True)
class QueryEncoder:
    """Embeds queries in the server; `figures` say how it was chosen.

    `encode` returns unit vectors (n, dimensions) as the server will make them, or zero rows.
    `write` writes its files into a new folder and returns the SHA-256 over them; "" where the
    server asks the model itself, and there are none.
    """

    figures: QueryFigures
    encode: Callable[[Sequence[str]], Vectors]
    write: Callable[[Path], str]


class Embedder(ABC):
    """A document embedder; one that asks no model needs no more than the abstract methods.

    `measures_distance` says whether the distance of a query from the middle of all chunks is known
    to tell what the documents are not about (`benchmarks/results/quality.md`).
    """

    measures_distance: bool = False

    @property
    @abstractmethod
    def contract(self) -> Contract:
        """The contract for the manifest; complete once a text has been embedded."""

    @property
    @abstractmethod
    def embedded(self) -> int:
        """Number of texts embedded so far that were not known from before."""

    @abstractmethod
    def embed_documents(
        self,
        headings: Sequence[str],
        texts: Sequence[str],
        progress: Callable[[int], object] = tell_nobody,
    ) -> Vectors:
        """Return vectors (n, dimensions) of texts under their headings, of any length.

        A zero row stands for a text that cannot be embedded. `progress` is told how many more
        texts are done.
        """

    @abstractmethod
    def make_query_encoder(
        self, chunks: Callable[[], Iterable[ChunkRecord]], overlap: OverlapMeasure
    ) -> QueryEncoder:
        """Return the encoder for queries; called once, when all documents have been embedded.

        If that changes the contract, documents have to be embedded again.

        `chunks` gives all chunks of the index, in its order, as often as it is called; `overlap`
        compares an encoder's ranking with the model's own.
        """

    def refusals(self) -> list[dict[str, str]]:
        """Return the texts that the model has refused: beginning of `text`, `sha256`, `reason`."""
        return []
