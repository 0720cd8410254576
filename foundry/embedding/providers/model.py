"""The interface of an embedding model, and the prefixes of published models."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from foundry.config.file import EmbeddingSection
from foundry.files import read_beside

Side = Literal["document", "query"]


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Limits of one call to a model.

    `tokens` is the limit for one text; the batching layer splits longer ones. `batch_tokens` is the
    limit for all texts of a call, including the padding of a local model.
    """

    tokens: int
    batch_tokens: int
    batch_texts: int
    calls: int


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Prefixes that a model was trained with, including a final space."""

    document: str = ""
    query: str = ""

    def of(self, side: Side) -> str:
        """Return the prefix of one side."""
        return self.document if side == "document" else self.query

    @classmethod
    def read(cls, prompts: Mapping[str, Any]) -> Self | None:
        """Return the prompts of a Sentence Transformers model as prefixes; None without prompts."""
        query = str(prompts.get("query") or "")
        names = ("document", "passage", "corpus")
        document = next((str(prompts[name]) for name in names if prompts.get(name)), "")
        return cls(document, query) if query or document else None


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """An opened model.

    `revision` is a hash of the weights or a commit, empty if the provider has none; `service` is
    the address of a service, empty for a local model; `dimensions` is the requested width, None for
    the model's own. If `sides_differ`, a text has different vectors as query and as document, apart
    from prefixes. `count_tokens` is exact for local models, and an upper estimate for services.
    `embed` makes one call and returns unit vectors (n, d) of prefixed texts; it raises
    EmbeddingFailure. `write` writes what a server needs to embed queries to a new folder, if
    it needs anything.
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
    write: Callable[[Path], object] = lambda _folder: None


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A family of models: pattern of names, prefixes, and token limit."""

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
    """Return the first family whose pattern matches a model's name; None if there is none.

    The name of a path is its last part.
    """
    name = model.lower().replace("_", "-").rstrip("/").rpartition("/")[2]
    return next((known for known in KNOWN_MODELS if re.search(known.pattern, name)), None)


def choose_prefixes(options: EmbeddingSection, own: Prefixes | None = None) -> Prefixes:
    """Return the configured prefixes, or else the model's `own`, or those known for its name."""
    known = find_known(options.model)
    chosen = own or (known.prefixes if known else Prefixes())
    return Prefixes(
        chosen.document if options.document_prefix is None else options.document_prefix,
        chosen.query if options.query_prefix is None else options.query_prefix,
    )
