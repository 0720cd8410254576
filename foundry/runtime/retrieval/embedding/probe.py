"""The probe text, whose vector shows whether queries are embedded with the index's model.

Vectors of different models cannot be compared even if they have the same length: no error would
occur, and every result would be wrong.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import IndexUnusableError
from ...index.layout import IndexFiles, require_vectors

PROBE_TOLERANCE = 0.99
"""Minimum cosine between the probe text's vectors now and at build time."""


@dataclass(frozen=True, slots=True)
class DenseManifest:
    """How the vectors of an index were made.

    A search compares the `candidates` chunks that are nearest by sketch; `recall_at_20` is the
    share of the 20 nearest chunks that are among them, by type of query. The `encoder` in `query`
    is the documents' `own` table, one `distilled` from the model, or the `same` model. `background`
    is the median cosine between off-topic questions and their best chunk. `spread` is the standard
    deviation of the chunks' dot products with their mean; None if it is not known to separate
    questions on the topic from others.
    """

    provider: str
    model: str
    revision: str
    dimensions: int
    document_prefix: str
    query_prefix: str
    query: dict[str, Any]
    encoder_sha256: str
    candidates: int
    recall_at_20: dict[str, float]
    probe_text: str
    probe_vector: list[float]
    background: float = 0.5
    spread: float | None = None


def find_difference(probe: NDArray[np.float32] | None, dense: DenseManifest) -> str | None:
    """Describe how the probe text's vector differs from the index's; None if it does not.

    `probe` is a unit vector, or None if the text could not be embedded.
    """
    expected = np.array(dense.probe_vector, dtype=np.float32)
    if probe is None:
        return "is missing" if expected.any() else None
    if probe.shape != expected.shape:
        return f"has {len(probe)} numbers instead of {len(expected)}"
    cosine = float(probe @ expected)
    if cosine >= PROBE_TOLERANCE:
        return None
    return f"has a cosine of {cosine:.2f} with the index's vector, below {PROBE_TOLERANCE}"


def require_model(files: IndexFiles, provider: str) -> DenseManifest:
    """Return how the vectors of an index were made.

    Raises IndexUnusableError unless the index expects query vectors from this provider.
    """
    dense = DenseManifest(**require_vectors(files))
    if dense.query["encoder"] != "same" or dense.provider != provider:
        raise IndexUnusableError(
            f"{files.layout.root}: queries of this index need {describe_encoder(dense)}, but this"
            f" server uses provider {provider!r}",
            hint="export the server again for this index",
        )
    return dense


def describe_encoder(dense: DenseManifest) -> str:
    """Return the name of an index's query encoder, for messages."""
    if dense.query["encoder"] == "same":
        return f"{dense.provider} model {dense.model!r}"
    return "a table of word pieces"
