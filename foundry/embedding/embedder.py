"""The protocol of embedders, which embed chunks and make the encoder for queries."""

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
    """The model and its options, on which an index and its server must agree.

    `revision` is a hash of the weights or a commit; empty if the provider has none.
    """

    provider: str
    model: str
    revision: str
    dimensions: int
    document_prefix: str = ""
    query_prefix: str = ""


OverlapMeasure = Callable[[Sequence[str], Vectors, Vectors], float | None]
"""Compares an encoder with the model: takes queries, and their vectors (q, d) from each.

Returns the mean overlap of the ten best chunks of one ranking with those of the other, corrected
for chance: 1 for equal rankings, 0 for random ones; None if there are so few chunks that random
rankings are equal.
"""


@dataclass(frozen=True, slots=True)
class QueryFigures:
    """How queries are embedded, why, and how well.

    `encoder` is `own` (the table that also embeds documents), `distilled` (a table distilled from
    the model) or `same` (the model itself). `agreement` is the mean cosine between the distilled
    table's vectors and the model's, and `overlap_at_10` the overlap of their ten best chunks,
    corrected for chance; None if it was not measured. `taught` is the number of texts that the
    model embedded for training.
    """

    encoder: str
    reason: str
    agreement: float | None = None
    overlap_at_10: float | None = None
    taught: int = 0


@dataclass(frozen=True, slots=True)
class QueryEncoder:
    """Embeds queries in the server; `figures` says which encoder was chosen, and why.

    `encode` returns unit vectors (n, dimensions) like the server's, or zero rows. `write` writes
    the encoder's files to a new folder; nothing if the server calls the model itself.
    """

    figures: QueryFigures
    encode: Callable[[Sequence[str]], Vectors]
    write: Callable[[Path], object]


class Embedder(ABC):
    """An embedder of documents. Without a model, only the abstract methods are needed.

    `measures_distance` is whether the distance of a query from the mean of all chunks indicates
    that it is off topic (`benchmarks/results/quality.md`).
    """

    measures_distance: bool = False

    @property
    @abstractmethod
    def contract(self) -> Contract:
        """The contract for the manifest; complete once a text has been embedded."""

    @property
    @abstractmethod
    def embedded(self) -> int:
        """Number of texts embedded so far, without those from the cache."""

    @abstractmethod
    def embed_documents(
        self,
        headings: Sequence[str],
        texts: Sequence[str],
        progress: Callable[[int], object] = tell_nobody,
    ) -> Vectors:
        """Return the vectors (n, dimensions) of texts of any length, each with its heading.

        Texts that cannot be embedded have zero rows. `progress` is called with the number of
        further texts done.
        """

    @abstractmethod
    def make_query_encoder(
        self, chunks: Callable[[], Iterable[ChunkRecord]], overlap: OverlapMeasure
    ) -> QueryEncoder:
        """Return the encoder for queries; called once, after all documents have been embedded.

        If it changes the contract, documents must be embedded again. `chunks` returns all chunks of
        the index, in order, each time it is called; `overlap` compares an encoder's ranking with
        the model's.
        """

    def refusals(self) -> list[dict[str, str]]:
        """Return the texts that the model refused: start of the `text`, `sha256`, `reason`."""
        return []
