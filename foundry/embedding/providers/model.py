"""An embedding model, opened, and what published models want before a text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foundry.config.file import EmbeddingSection

Side = Literal["document", "query"]


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Limits of one call of a model.

    Attributes:
        tokens: Of one text; a longer one is split by the batching layer.
        batch_tokens: Of all texts of a call; on this machine, where shorter texts are filled up to
            the longest, the filling included.
        batch_texts: Texts of a call.
        calls: At the same time.
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

    Attributes:
        provider: As in foundry.toml.
        model: As the provider names it.
        revision: A hash of the weights or a commit; empty where the provider tells none.
        service: The address of the service that is asked; empty for a model on this machine.
        dimensions: The width that the service is asked for; None for the model's own.
        sides_differ: Whether the same text gives another vector as a query than as a document,
            prefixes aside.
        prefixes: See `Prefixes`.
        limits: See `ModelLimits`.
        count_tokens: Counts a text: exactly on this machine, for a service rather too many.
        embed: Makes one call: unit vectors (n, d) of texts that have their prefix. Raises
            EmbeddingFailure.
        close: Lets go of connections or memory.
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


PASSAGE_QUESTION = "Represent this sentence for searching relevant passages: "
NONE = Prefixes()
E5 = Prefixes("passage: ", "query: ")
QUERY_ONLY = Prefixes("", PASSAGE_QUESTION)
NOMIC = Prefixes("search_document: ", "search_query: ")


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A family of models: the pattern of their names, their prefixes, and tokens of one text."""

    pattern: str
    prefixes: Prefixes
    tokens: int


# Each entry is from the model's own card, found by a part of the model's name, so that it also
# holds for copies under other owners' names and for the short names that servers use.
KNOWN_MODELS = (
    KnownModel(r"e5-.*instruct", NONE, 512),
    KnownModel(r"multilingual-e5-|\be5-(small|base|large)", E5, 512),
    KnownModel(r"bge-m3", NONE, 8192),
    KnownModel(r"bge-(small|base|large)-en|bge-large(:|$)", QUERY_ONLY, 512),
    KnownModel(r"nomic-embed-text-v2", NOMIC, 512),
    # 8,192 by the card; Ollama serves it with 2,048.
    KnownModel(r"nomic-embed-text", NOMIC, 2048),
    KnownModel(r"mxbai-embed-(large|xsmall|2d)", QUERY_ONLY, 512),
    KnownModel(r"arctic-embed.*v2|arctic-embed2", Prefixes("", "query: "), 8192),
    KnownModel(r"arctic-embed", QUERY_ONLY, 512),
    # 512 positions, trained with 256 tokens, which is also where Sentence Transformers cuts.
    KnownModel(r"all-minilm", NONE, 256),
    KnownModel(r"text-embedding-(3-|ada-002)", NONE, 8191),
    KnownModel(r"embed-v4", NONE, 32_768),
    KnownModel(r"embed-(english|multilingual)-(light-)?v[23]", NONE, 512),
)


def find_known(model: str) -> KnownModel | None:
    """Return the first family that a model's name fits, or the name of its folder."""
    name = model.lower().replace("_", "-").rstrip("/").rpartition("/")[2]
    return next((known for known in KNOWN_MODELS if re.search(known.pattern, name)), None)


def choose_prefixes(options: EmbeddingSection, own: Prefixes | None = None) -> Prefixes:
    """Return the prefixes to use: as configured, else the model's `own`, else those of its name."""
    known = find_known(options.model)
    chosen = own or (known.prefixes if known else NONE)
    return Prefixes(
        chosen.document if options.document_prefix is None else options.document_prefix,
        chosen.query if options.query_prefix is None else options.query_prefix,
    )
