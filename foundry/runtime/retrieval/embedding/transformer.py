"""The forward pass of a BERT encoder in NumPy, and its files.

A token's hidden state starts as its word embedding plus its position embedding. Each layer applies
multi-head self-attention and a feed-forward network with GELU, each followed by a residual
connection and layer normalisation. The text's vector is the mean of its tokens' hidden states, or
the hidden state of [CLS] (Vaswani et al. 2017; Devlin et al. 2019; Reimers and Gurevych 2019).

Weights are stored as float16 in one file. All but the word embeddings become float32 when loaded.
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
from ...index.layout import OTHER_VERSION_HINT, IndexFiles, open_array
from .local import LocalQueryEncoder, available_cores
from .probe import require_model
from .replies import check_vectors
from .word_pieces import Spelling, WordPieceTokenizer

FORMAT_VERSION = 2
MAX_QUERY_TOKENS = 128  # Limits the cost of a long query to four times the usual.
FEED_FORWARD_ROWS = 128  # Tokens per block, so that intermediate values stay in the cache.
MASKED = np.float32(-1e9)  # Added to the attention scores of padding.

Array = NDArray[np.float32]


class TransformerLayout:
    """The files of a transformer below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.vocabulary = root / "pieces.txt"  # UTF-8, one token per line, in order of ids.
        self.weights = root / "transformer.npy"  # float16: all `weight_shapes`, in order.
        self.description = root / "transformer.json"  # `Description`


@dataclass(frozen=True, slots=True)
class Description:
    """The hyperparameters of a transformer and its tokenizer.

    Attributes:
        vocabulary: Number of tokens.
        hidden_size: Dimensions of hidden states, and of a text's vector.
        layers: Number of layers.
        heads: Attention heads per layer.
        intermediate_size: Dimensions inside the feed-forward networks.
        max_tokens: Longer texts are truncated to this length, which includes [CLS] and [SEP].
        epsilon: Added to variances in layer normalisation.
        pooling: How hidden states become the text's vector.
        spelling: The fields of `Spelling`, which normalises text before it is tokenized.
    """

    vocabulary: int
    hidden_size: int
    layers: int
    heads: int
    intermediate_size: int
    max_tokens: int
    epsilon: float
    pooling: Literal["mean", "cls"]
    spelling: dict[str, Any]
    format: int = FORMAT_VERSION


def weight_shapes(shape: Description) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all weights by name, in the order of their file.

    Matrices are (outputs, inputs). `query_key_value` stacks the three projections; a layer norm
    stacks its weights above its biases.
    """
    size, inner = shape.hidden_size, shape.intermediate_size
    shapes: dict[str, tuple[int, ...]] = {
        "word_embeddings": (shape.vocabulary, size),
        "position_embeddings": (shape.max_tokens, size),
        "embeddings_norm": (2, size),
    }
    for number in range(shape.layers):
        layer = {
            "query_key_value": (3 * size, size),
            "query_key_value_bias": (3 * size,),
            "attention_output": (size, size),
            "attention_output_bias": (size,),
            "attention_norm": (2, size),
            "intermediate": (inner, size),
            "intermediate_bias": (inner,),
            "output": (size, inner),
            "output_bias": (size,),
            "output_norm": (2, size),
        }
        shapes |= {f"{number}.{name}": each for name, each in layer.items()}
    return shapes


class _Layer(NamedTuple):
    query_key_value: Array
    query_key_value_bias: Array
    attention_output: Array
    attention_output_bias: Array
    attention_norm: Array
    intermediate: Array
    intermediate_bias: Array
    output: Array
    output_bias: Array
    output_norm: Array


class Transformer:
    """A loaded transformer; threads can share one.

    `weights` have the names and shapes of `weight_shapes`.
    """

    def __init__(
        self, shape: Description, vocabulary: Sequence[str], weights: Mapping[str, NDArray[Any]]
    ) -> None:
        self.shape = shape
        self.tokenizer = WordPieceTokenizer(vocabulary, Spelling(**shape.spelling))
        self._word_embeddings = weights["word_embeddings"]
        single = {
            name: np.ascontiguousarray(weights[name], dtype=np.float32)
            for name in weight_shapes(shape)
            if name != "word_embeddings"
        }
        self._position_embeddings = single["position_embeddings"]
        self._embeddings_norm = single["embeddings_norm"]
        self._layers = [
            _Layer(*(single[f"{number}.{name}"] for name in _Layer._fields))
            for number in range(shape.layers)
        ]

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Memory-map the files of a transformer. Raises IndexUnusableError."""
        layout = TransformerLayout(directory)
        try:
            shape = Description(**json.loads(layout.description.read_bytes()))
            vocabulary = layout.vocabulary.read_text(encoding="utf-8").split("\n")[:-1]
        except (OSError, ValueError, TypeError) as error:
            raise IndexUnusableError(f"{directory}: unreadable: {error}") from None
        if shape.format != FORMAT_VERSION:
            versions = f"format {shape.format}, but this server reads format {FORMAT_VERSION}"
            said = f"{directory}: transformer {versions}"
            raise IndexUnusableError(said, hint=OTHER_VERSION_HINT)
        shapes = weight_shapes(shape)
        flat = open_array(layout.weights, np.float16, (sum(map(math.prod, shapes.values())),))
        return cls(shape, vocabulary, _split_weights(flat, shapes))

    def embed(
        self, texts: Sequence[str], side: Literal["document", "query"], *, timeout: float = 0
    ) -> Array:
        """Return unit vectors (n, d) in the order of the texts, which have their prefixes.

        Args:
            texts: Truncated to the model's maximum length, queries to `MAX_QUERY_TOKENS`.
            side: Whether the texts are documents or queries.
            timeout: Ignored: the model runs on this machine.

        Raises:
            EmbeddingFailure: A vector is not finite, or all zeros.
        """
        del timeout
        most = self.shape.max_tokens
        most = most if side == "document" else min(most, MAX_QUERY_TOKENS)
        tokenized = [self.tokenizer.tokenize(text, most) for text in texts]
        longest = max(map(len, tokenized))
        token_ids = np.zeros((len(tokenized), longest), dtype=np.intp)
        is_token = np.zeros((len(tokenized), longest), dtype=np.bool_)
        for row, ids in enumerate(tokenized):
            token_ids[row, : len(ids)] = ids
            is_token[row, : len(ids)] = True
        vectors = self._forward(token_ids, is_token)
        return check_vectors(vectors, len(texts), self.shape.hidden_size)

    def close(self) -> None:
        """Do nothing: the mapped file is closed with the object."""

    def _forward(self, token_ids: NDArray[np.intp], is_token: NDArray[np.bool_]) -> Array:
        """Return pooled vectors (n, d) of padded texts (n, longest); padding is not `is_token`."""
        shape = self.shape
        texts, longest = token_ids.shape
        hidden = self._word_embeddings[token_ids].astype(np.float32)
        hidden += self._position_embeddings[:longest]
        hidden = hidden.reshape(texts * longest, shape.hidden_size)
        layer_norm(hidden, self._embeddings_norm, shape.epsilon)
        mask = np.where(is_token, np.float32(0), MASKED)[:, np.newaxis, np.newaxis, :]
        for layer in self._layers:
            attended = self._attention(hidden, layer, mask)
            attended += hidden
            layer_norm(attended, layer.attention_norm, shape.epsilon)
            hidden = _feed_forward(attended, layer)
            hidden += attended
            layer_norm(hidden, layer.output_norm, shape.epsilon)
        states = hidden.reshape(texts, longest, shape.hidden_size)
        if shape.pooling == "cls":
            return states[:, 0]
        # A sum instead of the mean, since the caller normalises vectors.
        total: Array = np.einsum("nld,nl->nd", states, is_token.astype(np.float32))
        return total

    def _attention(self, hidden: Array, layer: _Layer, mask: Array) -> Array:
        """Apply multi-head self-attention to hidden states (n * longest, d) of each text."""
        texts, longest, heads = len(mask), mask.shape[-1], self.shape.heads
        projected = hidden @ layer.query_key_value.T
        projected += layer.query_key_value_bias
        # (3, n, heads, longest, d / heads)
        split = projected.reshape(texts, longest, 3, heads, -1).transpose(2, 0, 3, 1, 4)
        queries, keys, values = split
        scores = queries @ keys.swapaxes(-1, -2)
        scores *= np.float32(1 / math.sqrt(split.shape[-1]))
        scores += mask
        softmax(scores)
        context = (scores @ values).transpose(0, 2, 1, 3).reshape(hidden.shape)
        attended: Array = context @ layer.attention_output.T
        attended += layer.attention_output_bias
        return attended


def _feed_forward(hidden: Array, layer: _Layer) -> Array:
    """Apply the feed-forward network to hidden states (n, d), a block of rows at a time."""
    result = np.empty_like(hidden)
    for start in range(0, len(hidden), FEED_FORWARD_ROWS):
        rows = slice(start, start + FEED_FORWARD_ROWS)
        inner = hidden[rows] @ layer.intermediate.T
        inner += layer.intermediate_bias
        gelu(inner)
        np.matmul(inner, layer.output.T, out=result[rows])
    result += layer.output_bias
    return result


def softmax(scores: Array) -> None:
    """Replace scores by their softmax over the last axis."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)


def layer_norm(rows: Array, norm: Array, epsilon: float) -> None:
    """Normalise each row (n, d) to mean 0 and variance 1, then scale and shift it by `norm`."""
    rows -= rows.mean(axis=1, keepdims=True)
    variance = np.einsum("nd,nd->n", rows, rows) / np.float32(rows.shape[1])
    rows *= (1 / np.sqrt(variance + np.float32(epsilon)))[:, np.newaxis]
    rows *= norm[0]
    rows += norm[1]


SLOPE = 0.2316419
COEFFICIENTS = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)


def gelu(values: Array) -> None:
    """Replace each x by GELU(x) = x * P(X <= x), X standard normal (Hendrycks and Gimpel 2016).

    NumPy has no error function, so the normal distribution is approximated by formula 26.2.17 of
    Abramowitz and Stegun, to 7.5e-8, which gives GELU to 5e-7 in float32.
    """
    size = np.abs(values)
    t = 1 / (1 + np.float32(SLOPE) * size)
    tail = np.float32(COEFFICIENTS[0] / math.sqrt(2 * math.pi)) * t
    for coefficient in COEFFICIENTS[1:]:
        tail += np.float32(coefficient / math.sqrt(2 * math.pi))
        tail *= t
    tail *= size
    size *= size
    size *= np.float32(-0.5)
    tail *= np.exp(size, out=size)
    np.maximum(values, 0, out=values)
    values -= tail


def _split_weights(
    flat: NDArray[np.float16], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, NDArray[np.float16]]:
    weights, start = {}, 0
    for name, shape in shapes.items():
        weights[name] = flat[start : start + math.prod(shape)].reshape(shape)
        start += math.prod(shape)
    return weights


def open_encoder(files: IndexFiles) -> LocalQueryEncoder:
    """Load the transformer of an index and verify it with the probe text.

    Raises IndexUnusableError if it is damaged, or is not the model of the documents.
    """
    dense = require_model(files, "transformer")
    model = Transformer.open(files.layout.encoder)
    return LocalQueryEncoder(model, files.layout, dense, at_a_time=available_cores())
