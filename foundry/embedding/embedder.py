"""The protocol of embedders: vectors for chunks, then an encoder for queries."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.records import KnownItemFigures
from foundry.runtime.index.records import ChunkRecord

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Contract:
    """Which model embeds, and how; an index and its server must agree on all of it.

    Attributes:
        provider: As in foundry.toml.
        model: As the provider names it.
        revision: Of the weights, a hash or a commit; empty where the provider tells none.
        dimensions: Length of a vector.
        document_prefix: Put before every document by the embedder.
        query_prefix: Put before every query.
    """

    provider: str
    model: str
    revision: str
    dimensions: int
    document_prefix: str = ""
    query_prefix: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The work and the cost of embedding some texts.

    Attributes:
        texts: Different ones that are not blank.
        cached: Of these, such as need no call.
        to_embed: The others.
        tokens: Of what is to be embedded, prefixes included; for a service rather too many.
        cost: In the currency of `price_per_million_tokens`; None where that is not known.
    """

    texts: int
    cached: int
    to_embed: int
    tokens: int
    cost: float | None


OverlapMeasure = Callable[[Sequence[str], Vectors, Vectors], float | None]
"""Of queries, their vectors (q, d) by the model and by an encoder: the mean share of the ten best
chunks of the one linear ranking that are among the ten best of the other, corrected for chance: 1
for equal rankings, 0 for what random ones share; None where these share all, so few are there."""


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
    """Embeds queries in the server.

    Attributes:
        figures: How it was chosen, for the manifest.
        encode: Returns unit vectors (n, dimensions) as the server will make them, or zero rows.
        write: Writes its files into a new folder, and returns the SHA-256 over them. Where the
            server asks the model itself there are none: nothing is written, and it returns "".
    """

    figures: QueryFigures
    encode: Callable[[Sequence[str]], Vectors]
    write: Callable[[Path], str]


class Embedder(ABC):
    """A document embedder; one that asks no model needs no more than the abstract methods.

    Attributes:
        known_items: Figures of its model and the built-in table; None if not measured.
    """

    known_items: KnownItemFigures | None = None

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
        self, headings: Sequence[str], texts: Sequence[str], progress: Callable[[int], object]
    ) -> Vectors:
        """Vectors (n, dimensions) of texts under their headings, of any length.

        A zero row stands for a text that cannot be embedded. `progress` is told how many more
        texts are done.
        """

    @abstractmethod
    def make_query_encoder(
        self, chunks: Callable[[], Iterable[ChunkRecord]], overlap: OverlapMeasure
    ) -> QueryEncoder:
        """Return the encoder for queries; asked once, when all documents have been embedded.

        Args:
            chunks: All chunks of the index, in its order; may be called more than once.
            overlap: Compares an encoder's ranking with the model's own.
        """

    def estimate(self, headings: Sequence[str], texts: Sequence[str]) -> Estimate | None:
        """Return what embedding these documents would ask of a model; None where none is asked."""
        del headings, texts
        return None

    def refusals(self) -> list[dict[str, str]]:
        """Documents so far that the model would not embed: `text` (its beginning), `sha256` and
        `reason` of each."""
        return []


def hash_encoder(directory: Path) -> str:
    """SHA-256 over the names and contents of an encoder's files."""
    digest = hashlib.sha256()
    for path in sorted(directory.iterdir()):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def sum_estimates(estimates: Sequence[Estimate]) -> Estimate:
    """Return all of them together; a text that occurs in two of them counts twice."""
    costs = [estimate.cost for estimate in estimates if estimate.cost is not None]
    return Estimate(
        texts=sum(estimate.texts for estimate in estimates),
        cached=sum(estimate.cached for estimate in estimates),
        to_embed=sum(estimate.to_embed for estimate in estimates),
        tokens=sum(estimate.tokens for estimate in estimates),
        cost=sum(costs) if costs else None,
    )
