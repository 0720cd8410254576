"""Recipes: the options that prepared documents depend on."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self

from pydantic import TypeAdapter

from foundry.building.documents.programs import program_hash, reader_hashes
from foundry.config.file import ChunkingSection
from foundry.config.project import Config
from foundry.config.sources import FolderSource, RecordsSource
from foundry.files import MODEL_FOLDER
from foundry.runtime.retrieval.encoder import EncoderLayout


@dataclass(frozen=True, slots=True)
class Keys:
    """Cache keys: SHA-256, in hex, of a recipe's options and the programs that run it.

    `whole` covers all programs; `by_reader` covers those for one reader's documents, by its
    version.
    """

    whole: str
    by_reader: Mapping[str, str]

    def current(self) -> frozenset[str]:
        """Return all keys: a document prepared under any of them is up to date."""
        return frozenset((self.whole, *self.by_reader.values()))

    def of(self, reader: str | None) -> str:
        """Return the cache key for a result of this reader; None stands for a skipped document.

        A skipped document's key covers all programs.
        """
        return self.whole if reader is None else self.by_reader.get(reader, self.whole)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Options for preparing documents.

    `fields` is as in `config.search.IndexOptions`; `dimensions` is the width of the built-in
    table's vectors, or 0 if the table does not embed the documents.
    """

    language: str
    chunking: ChunkingSection
    fields: Mapping[str, int]
    dimensions: int

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return the recipe of a configuration."""
        dimensions = 0
        if config.embedding.provider == "static":
            description = json.loads(EncoderLayout(MODEL_FOLDER).description.read_bytes())
            dimensions = int(description["dimensions"])
        return cls(config.project.language, config.chunking, dict(config.index.fields), dimensions)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the recipe written by `to_json`."""
        return TypeAdapter(cls).validate_json(text)

    def to_json(self) -> str:
        """Return the recipe as a line of JSON."""
        return json.dumps({**asdict(self), "chunking": self.chunking.model_dump()}, sort_keys=True)

    def keys(self) -> Keys:
        """Return the keys of documents prepared with this recipe and the installed programs."""
        options = self.to_json()
        by_reader = {version: hash_text(options, each) for version, each in reader_hashes().items()}
        return Keys(hash_text(options, program_hash()), by_reader)


def origin_key(source: object) -> str:
    """Hash the options of a source whose files have stamps, except its path.

    Returns a constant for other sources: they deliver everything each time, so the content decides.
    """
    if not isinstance(source, FolderSource | RecordsSource):
        return ""
    return hash_text(source.model_dump_json(exclude={"path"}))


def hash_text(*parts: str) -> str:
    """Return the SHA-256 of several texts, in hex."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
