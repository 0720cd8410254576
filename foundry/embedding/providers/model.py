"""The protocol of embedding models, as the batching layer sees them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Side = Literal["document", "query"]


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Limits of one call of a model.

    Attributes:
        tokens: Of one text; a longer one is split by the batching layer.
        batch_tokens: Of all texts of a call; on this machine, where shorter texts are filled up to
            the longest, the filling included.
        batch_texts: Texts of a call.
        calls: At the same time.
    """

    tokens: int
    batch_tokens: int
    batch_texts: int
    calls: int


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Texts that a model was trained to see before each text, with the space after them."""

    document: str = ""
    query: str = ""

    def of(self, side: Side) -> str:
        """Return the prefix of one side."""
        return self.document if side == "document" else self.query


class EmbeddingModel(Protocol):
    """A model, opened.

    Attributes:
        provider: As in foundry.toml.
        model: As the provider names it.
        revision: A hash of the weights or a commit; empty where the provider tells none.
        service: The address of the service that is asked; empty for a model on this machine.
        dimensions: The width that the service is asked for; None for the model's own.
        sides_differ: Whether the same text gives another vector as a query than as a document,
            prefixes aside.
        prefixes: See `Prefixes`.
        limits: See `ModelLimits`.
    """

    provider: str
    model: str
    revision: str
    service: str
    dimensions: int | None
    sides_differ: bool
    prefixes: Prefixes
    limits: ModelLimits

    def count_tokens(self, text: str) -> int:
        """Tokens of a text: exactly on this machine, for a service rather too many than too few."""
        ...

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """Return one call: unit vectors (n, d) in the order of the texts, prefixes included in the
        texts.

        Raises:
            EmbeddingFailure: Says whether the same call may succeed later, or the reply was bad, or
                no repetition can help.
        """
        ...

    def close(self) -> None:
        """Let go of connections or memory."""
        ...
