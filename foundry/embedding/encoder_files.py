"""Writes the files of an encoder for `foundry.runtime.retrieval.encoder`."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.runtime.retrieval.encoder import EncoderLayout, PieceEncoder

RARITY_POWER = 0.5
"""Exponent of the inverse document frequency, once that is scaled to at most 1."""


def write_encoder(directory: Path, encoder: PieceEncoder, pieces: Sequence[str]) -> str:
    """Write an encoder with these `pieces` (V,) to a folder, which may exist.

    Returns the SHA-256 over names and contents of the files.
    """
    directory.mkdir(parents=True, exist_ok=True)
    layout = EncoderLayout(directory)
    contents = {
        layout.pieces: "\n".join([*pieces, ""]).encode(),
        layout.table: _array_bytes(encoder.table),
        layout.weights: _array_bytes(encoder.weights.astype(np.int32)),
    }
    digest = hashlib.sha256()
    for content in contents.values():
        digest.update(content)
    description = replace(encoder.description, sha256=digest.hexdigest())
    described = json.dumps(asdict(description), indent=1, sort_keys=True)
    contents[layout.description] = described.encode() + b"\n"
    whole = hashlib.sha256()
    for path, content in sorted(contents.items()):
        path.write_bytes(content)
        whole.update(path.name.encode() + b"\0" + hashlib.sha256(content).digest())
    return whole.hexdigest()


def _array_bytes(array: NDArray[np.generic]) -> bytes:
    file = BytesIO()
    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
    return file.getvalue()


def rarity_factors(frequencies: NDArray[np.integer], texts: int) -> NDArray[np.float64]:
    """Return factors (V,), in (0, 1], from the number (V,) of texts with each piece.

    The inverse document frequency is computed as in the keyword lane.
    """
    largest = math.log(1 + 2 * (texts + 1))
    # Logarithms may differ in the last bit between machines; six digits do not.
    factors = {
        frequency: round(
            (math.log(1 + (texts - frequency + 0.5) / (frequency + 0.5)) / largest) ** RARITY_POWER,
            6,
        )
        for frequency in np.unique(frequencies).tolist()
    }
    return np.array([factors[frequency] for frequency in frequencies.tolist()])
