"""Prefixes that published models want before a text, and how many tokens they take.

Each entry is from the model's own card, found by a part of the model's name, so that it also holds
for copies under other owners' names and for the short names that servers use.
"""

import re
from dataclasses import dataclass

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import Prefixes

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
    """Return the prefixes to use: as configured, else the model's own, else as known for its name.

    Args:
        options: The configuration.
        own: What the model's files say; None where they say nothing.
    """
    known = find_known(options.model)
    chosen = own or (known.prefixes if known else NONE)
    return Prefixes(
        chosen.document if options.document_prefix is None else options.document_prefix,
        chosen.query if options.query_prefix is None else options.query_prefix,
    )
