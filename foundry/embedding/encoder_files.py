"""Writes the files of an encoder for `foundry.runtime.retrieval.encoder`."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from foundry.runtime.index.idf import idf
from foundry.runtime.retrieval.encoder import EncoderLayout, PieceEncoder

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

RARITY_POWER = 0.5
"""Exponent of the inverse document frequency, once that is scaled to at most 1."""


def write_encoder(directory: Path, encoder: PieceEncoder, pieces: Sequence[str]) -> None:
    """Write an encoder with these `pieces` (V,) to a folder, which may exist."""
    directory.mkdir(parents=True, exist_ok=True)
    layout = EncoderLayout(directory)
    contents: dict[Path, list[Buffer]] = {
        layout.pieces: ["\n".join([*pieces, ""]).encode()],
        layout.table: _array_parts(encoder.table),
        layout.weights: _array_parts(encoder.weights.astype(np.int32)),
    }
    digest = hashlib.sha256()
    for path, parts in contents.items():
        with path.open("wb") as file:
            for part in parts:
                file.write(part)
                digest.update(part)
    description = replace(encoder.description, sha256=digest.hexdigest())
    described = json.dumps(asdict(description), indent=1, sort_keys=True)
    layout.description.write_bytes(described.encode() + b"\n")


def _array_parts(array: NDArray[np.generic]) -> list["Buffer"]:
    """Return the header and the data of a NumPy file."""
    array = np.ascontiguousarray(array)
    header = BytesIO()
    described = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(header, described)
    return [header.getvalue(), array.data]


def rarity_factors(frequencies: NDArray[np.integer], texts: int) -> NDArray[np.float64]:
    """Return factors (V,), in (0, 1], from the number (V,) of texts with each piece."""
    largest = math.log(1 + 2 * (texts + 1))
    # Logarithms may differ in the last bit between machines; six digits do not.
    different, places = np.unique(frequencies, return_inverse=True)
    factors = [
        round((idf(frequency, texts) / largest) ** RARITY_POWER, 6)
        for frequency in different.tolist()
    ]
    return np.array(factors)[places]
