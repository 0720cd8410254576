"""The probe text, whose vector shows whether queries are embedded by the index's model.

Vectors of two models cannot be compared even if they have the same length: no error would occur,
and every result would be wrong.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import IndexUnusableError
from ...index.layout import IndexFiles, require_vectors

PROBE_TOLERANCE = 0.99
"""Least cosine between the probe text's vectors now and at build time."""


@dataclass(frozen=True, slots=True)
class DenseManifest:
    """How the vectors were made; `candidates` chunks from the sketch give `recall_at_20`, by the
    shape of queries.

    The `encoder` in `query` is the documents' `own` table, one `distilled` from the model, or the
    `same` model. `background` is the median cosine of the best chunk to questions about other
    matters; `spread` the standard deviation of the chunks' products with their mean, None where it
    is not known to tell them apart from such questions.
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

    `vector` is a unit vector, or None if the text has none.
    """
    expected = np.array(dense.probe_vector, dtype=np.float32)
    if probe is None:
        return "is not there" if expected.any() else None
    if probe.shape != expected.shape:
        return f"has {len(probe)} numbers instead of {len(expected)}"
    cosine = float(probe @ expected)
    if cosine >= PROBE_TOLERANCE:
        return None
    return f"has a cosine of {cosine:.2f} to what it was, expected {PROBE_TOLERANCE} or more"


def require_model(files: IndexFiles, provider: str) -> DenseManifest:
    """Raise IndexUnusableError unless the index expects query vectors of this provider."""
    dense = DenseManifest(**require_vectors(files))
    if dense.query["encoder"] != "same" or dense.provider != provider:
        raise IndexUnusableError(
            f"{files.layout.root}: its queries are embedded by {describe_encoder(dense)}, and this"
            f" server asks a model of provider {provider!r}",
            hint="export the server again for this index",
        )
    return dense


def describe_encoder(dense: DenseManifest) -> str:
    """Return the name of an index's query encoder, for messages."""
    if dense.query["encoder"] == "same":
        return f"{dense.provider} model {dense.model!r}"
    return "a table of word pieces"
