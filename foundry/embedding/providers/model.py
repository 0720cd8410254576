"""An embedding model, opened, and what published models want before a text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foundry.config.file import EmbeddingSection
from foundry.files import read_beside

Side = Literal["document", "query"]


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Limits of one call of a model.

    `tokens` are those of one text; a longer one is split by the batching layer. `batch_tokens` are
    those of all texts of a call; on this machine, where shorter texts are filled up to the longest,
    the filling included.
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


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A model, opened.

    `revision` is a hash of the weights or a commit, empty where the provider tells none; `service`
    the address that is asked, empty for a model on this machine; `dimensions` the width that a
    service is asked for, None for the model's own. Where `sides_differ`, the same text gives
    another vector as a query than as a document, prefixes aside. `count_tokens` is exact on this
    machine, and for a service rather too high. `embed` makes one call: unit vectors (n, d) of texts
    that have their prefix; it raises EmbeddingFailure. `write` writes into a new folder what a
    server needs to embed queries with the model, and returns the SHA-256 over it; "" for nothing.
    """

    provider: str
    model: str
    revision: str
    service: str
    dimensions: int | None
    sides_differ: bool
    prefixes: Prefixes
    limits: ModelLimits
    count_tokens: Callable[[str], int]
    embed: Callable[[Sequence[str], Side], NDArray[np.float32]]
    close: Callable[[], object]
    write: Callable[[Path], str] = lambda _folder: ""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A family of models: the pattern of their names, their prefixes, and tokens of one text."""

    pattern: str
    prefixes: Prefixes
    tokens: int


KNOWN_MODELS = [
    KnownModel(
        model["pattern"],
        Prefixes(model.get("document", ""), model.get("query", "")),
        model["tokens"],
    )
    for model in read_beside(__file__, "known_models.toml")["model"]
]


def find_known(model: str) -> KnownModel | None:
    """Return the first family that a model's name fits, or the name of its folder."""
    name = model.lower().replace("_", "-").rstrip("/").rpartition("/")[2]
    return next((known for known in KNOWN_MODELS if re.search(known.pattern, name)), None)


def choose_prefixes(options: EmbeddingSection, own: Prefixes | None = None) -> Prefixes:
    """Return the prefixes to use: as configured, else the model's `own`, else those of its name."""
    known = find_known(options.model)
    chosen = own or (known.prefixes if known else Prefixes())
    return Prefixes(
        chosen.document if options.document_prefix is None else options.document_prefix,
        chosen.query if options.query_prefix is None else options.query_prefix,
    )
