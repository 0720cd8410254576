"""Writes the files of an encoder for `foundry.runtime.retrieval.encoder`."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
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
    layout.pieces.write_bytes("".join(f"{piece}\n" for piece in pieces).encode())
    weights = encoder.weights.astype(np.int32)
    for path, array in ((layout.table, encoder.table), (layout.weights, weights)):
        with path.open("wb") as file:
            np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
    digest = hashlib.sha256()
    for path in (layout.pieces, layout.table, layout.weights):
        digest.update(path.read_bytes())
    description = replace(encoder.description, sha256=digest.hexdigest())
    content = json.dumps(asdict(description), indent=1, sort_keys=True)
    layout.description.write_bytes(content.encode() + b"\n")
    whole = hashlib.sha256()
    for path in sorted(directory.iterdir()):
        whole.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


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
