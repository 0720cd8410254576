"""A transformer of BERT's family, run by numpy alone: its whole forward pass, and its files.

Each piece of a text begins as the sum of a row for the piece and a row for its place. In each layer
every piece looks at all others (attention), and then passes through two matrices with a bend
between them; both times what comes out is added to what went in, and brought to the same scale. In
the end the text's vector is the mean of its pieces' vectors, or the first one (Vaswani et al. 2017;
Devlin et al. 2019; Reimers and Gurevych 2019).

Weights lie in one file of half precision; what is not a table of rows is widened when it is loaded.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ...errors import IndexUnusableError
from ...index.layout import IndexFiles, open_array
from .local import LocalQueryEncoder, available_cores
from .probe import require_model
from .replies import check_vectors
from .word_pieces import Spelling, WordPieces

FORMAT_VERSION = 1
LONGEST_QUERY = 128  # Pieces: four times the work of a usual query, and no query takes more.
BLOCK = 128  # Pieces that pass through the wide middle of a layer together: they stay in a cache.
HIDDEN = np.float32(-1e9)  # Added to what a piece would see where a shorter text has ended.

Array = NDArray[np.float32]


class TransformerLayout:
    """The files of a transformer under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.pieces = root / "pieces.txt"  # UTF-8, one piece a line, in the order of their numbers.
        self.weights = root / "transformer.npy"  # float16: all of `part_shapes`, in that order.
        self.description = root / "transformer.json"  # `Description`


@dataclass(frozen=True, slots=True)
class Description:
    """The shape of a transformer, and how texts come to it.

    Attributes:
        pieces: Rows of its vocabulary.
        width: Numbers of a piece's vector, and of a text's.
        inner: Width of the middle of each layer.
        tokens: The most pieces of a text, its frame included.
        epsilon: Added to a variance, so that nothing is divided by zero.
        pooling: Which pieces' vectors make the text's.
        spelling: How text becomes words; the fields of `Spelling`.
    """

    pieces: int
    width: int
    layers: int
    heads: int
    inner: int
    tokens: int
    epsilon: float
    pooling: Literal["mean", "first"]
    spelling: dict[str, Any]
    format: int = FORMAT_VERSION


def part_shapes(shape: Description) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all weights by name, in the order of their file.

    A matrix has a row for each number that comes out. That of `look` gives queries, keys and values
    below each other; a norm has scales above offsets.
    """
    width, inner = shape.width, shape.inner
    parts: dict[str, tuple[int, ...]] = {
        "pieces": (shape.pieces, width),
        "places": (shape.tokens, width),
        "norm": (2, width),
    }
    for number in range(shape.layers):
        layer = {
            "look": (3 * width, width),
            "look offset": (3 * width,),
            "join": (width, width),
            "join offset": (width,),
            "join norm": (2, width),
            "widen": (inner, width),
            "widen offset": (inner,),
            "narrow": (width, inner),
            "narrow offset": (width,),
            "narrow norm": (2, width),
        }
        parts |= {f"{number} {name}": size for name, size in layer.items()}
    return parts


class _Layer(NamedTuple):
    look: Array
    look_offset: Array
    join: Array
    join_offset: Array
    join_norm: Array
    widen: Array
    widen_offset: Array
    narrow: Array
    narrow_offset: Array
    narrow_norm: Array


class Transformer:
    """A transformer, loaded; any number of threads may share one.

    `weights` are by the names of `part_shapes`, and of their shapes.
    """

    def __init__(
        self, shape: Description, pieces: Sequence[str], weights: Mapping[str, NDArray[Any]]
    ) -> None:
        self.shape = shape
        self.cutter = WordPieces(pieces, Spelling(**shape.spelling))
        self._pieces = weights["pieces"]
        wide = {
            name: np.ascontiguousarray(weights[name], dtype=np.float32)
            for name in part_shapes(shape)
            if name != "pieces"
        }
        self._places, self._norm = wide["places"], wide["norm"]
        names = [field.replace("_", " ") for field in _Layer._fields]
        self._layers = [
            _Layer(*(wide[f"{number} {name}"] for name in names)) for number in range(shape.layers)
        ]

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Map a transformer's folder. Raises IndexUnusableError."""
        layout = TransformerLayout(directory)
        try:
            shape = Description(**json.loads(layout.description.read_bytes()))
            pieces = layout.pieces.read_text(encoding="utf-8").split("\n")[:-1]
        except (OSError, ValueError, TypeError) as error:
            raise IndexUnusableError(f"{directory}: unreadable: {error}") from None
        if shape.format != FORMAT_VERSION:
            raise IndexUnusableError(f"{directory}: transformer of format {shape.format}")
        sizes = part_shapes(shape)
        flat = open_array(layout.weights, np.float16, (sum(map(math.prod, sizes.values())),))
        return cls(shape, pieces, _cut_parts(flat, sizes))

    def embed(
        self, texts: Sequence[str], side: Literal["document", "query"], *, timeout: float = 0
    ) -> Array:
        """Return unit vectors (n, d) in the order of the texts, which already have their prefixes.

        Args:
            texts: Longer ones than the model takes are cut, queries after `LONGEST_QUERY` pieces.
            side: What the texts are.
            timeout: Not kept by a model on this machine.

        Raises:
            EmbeddingFailure: When a vector is not finite.
        """
        del timeout
        most = self.shape.tokens if side == "document" else min(self.shape.tokens, LONGEST_QUERY)
        cut = [self.cutter.cut(text, most) for text in texts]
        longest = max(map(len, cut))
        pieces = np.zeros((len(cut), longest), dtype=np.intp)
        is_there = np.zeros((len(cut), longest), dtype=np.bool_)
        for row, numbers in enumerate(cut):
            pieces[row, : len(numbers)] = numbers
            is_there[row, : len(numbers)] = True
        return check_vectors(self._run(pieces, is_there), len(texts), self.shape.width)

    def close(self) -> None:
        """Let go of nothing: what is mapped goes with the object."""

    def _run(self, pieces: NDArray[np.intp], is_there: NDArray[np.bool_]) -> Array:
        """Return vectors (n, d) of texts, given as pieces (n, longest) and which of them are."""
        texts, longest = pieces.shape
        hidden = self._pieces[pieces].astype(np.float32) + self._places[:longest]
        hidden = hidden.reshape(texts * longest, self.shape.width)
        bring_to_scale(hidden, self._norm, self.shape.epsilon)
        mask = np.where(is_there, np.float32(0), HIDDEN)[:, np.newaxis, np.newaxis, :]
        for layer in self._layers:
            seen = self._look(hidden, layer, mask)
            seen += hidden
            bring_to_scale(seen, layer.join_norm, self.shape.epsilon)
            hidden = self._pass(seen, layer)
            hidden += seen
            bring_to_scale(hidden, layer.narrow_norm, self.shape.epsilon)
        vectors = hidden.reshape(texts, longest, self.shape.width)
        if self.shape.pooling == "first":
            return vectors[:, 0]
        present = is_there.astype(np.float32)
        # Its length is made 1 later, so the sum is as good as the mean.
        total: Array = np.einsum("nld,nl->nd", vectors, present)
        return total

    def _look(self, hidden: Array, layer: _Layer, mask: Array) -> Array:
        """Let each piece (n * longest, d) see all pieces of its text, in each of the heads."""
        texts, longest, heads = len(mask), mask.shape[-1], self.shape.heads
        joined = hidden @ layer.look.T
        joined += layer.look_offset
        # (3, n, heads, longest, d / heads)
        split = joined.reshape(texts, longest, 3, heads, -1).transpose(2, 0, 3, 1, 4)
        queries, keys, values = split
        weights = queries @ keys.swapaxes(-1, -2)
        weights *= np.float32(1 / math.sqrt(split.shape[-1]))
        weights += mask
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        seen = (weights @ values).transpose(0, 2, 1, 3).reshape(hidden.shape)
        found: Array = seen @ layer.join.T
        found += layer.join_offset
        return found

    def _pass(self, hidden: Array, layer: _Layer) -> Array:
        """Pass pieces (n, d) through the wide middle of a layer."""
        found = np.empty_like(hidden)
        for start in range(0, len(hidden), BLOCK):
            wide = hidden[start : start + BLOCK] @ layer.widen.T
            wide += layer.widen_offset
            bend(wide)
            np.matmul(wide, layer.narrow.T, out=found[start : start + BLOCK])
        found += layer.narrow_offset
        return found


def bring_to_scale(rows: Array, norm: Array, epsilon: float) -> None:
    """Give each row (n, d) the mean 0 and the variance 1, then the scales and offsets of `norm`."""
    rows -= rows.mean(axis=1, keepdims=True)
    variance = np.einsum("nd,nd->n", rows, rows) / np.float32(rows.shape[1])
    rows *= (1 / np.sqrt(variance + np.float32(epsilon)))[:, np.newaxis]
    rows *= norm[0]
    rows += norm[1]


SLOPE = 0.2316419
COEFFICIENTS = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)


def bend(values: Array) -> None:
    """Replace each x by x * P(X <= x) of a standard normal X: GELU (Hendrycks and Gimpel 2016).

    The probability is that of Abramowitz and Stegun, 26.2.17, whose error is below 7.5e-8, since
    numpy has no error function; GELU's is below 5e-7 where float32 allows.
    """
    far = np.abs(values)
    near = 1 / (1 + np.float32(SLOPE) * far)
    tail = np.float32(COEFFICIENTS[0] / math.sqrt(2 * math.pi)) * near
    for coefficient in COEFFICIENTS[1:]:
        tail += np.float32(coefficient / math.sqrt(2 * math.pi))
        tail *= near
    tail *= far
    far *= far
    far *= np.float32(-0.5)
    tail *= np.exp(far, out=far)
    np.maximum(values, 0, out=values)
    values -= tail


def _cut_parts(
    flat: NDArray[np.float16], sizes: Mapping[str, tuple[int, ...]]
) -> dict[str, NDArray[np.float16]]:
    parts, start = {}, 0
    for name, size in sizes.items():
        parts[name] = flat[start : start + math.prod(size)].reshape(size)
        start += math.prod(size)
    return parts


def open_encoder(files: IndexFiles) -> LocalQueryEncoder:
    """Load the transformer in an index and run it on the probe text.

    Raises IndexUnusableError if it is damaged, or another than the documents were embedded by.
    """
    dense = require_model(files, "transformer")
    model = Transformer.open(files.layout.encoder)
    return LocalQueryEncoder(model, files.layout, dense, at_a_time=available_cores())
