"""The options that decide, with the document itself and the programs, how it is prepared."""

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
from foundry.documents import Skipped
from foundry.documents.prepared import PreparedDocument
from foundry.embedding.static import MODEL_FOLDER
from foundry.runtime.retrieval.encoder import EncoderLayout


@dataclass(frozen=True, slots=True)
class Keys:
    """SHA-256, in hex, over a recipe's options and the programs that follow it.

    `whole` is over all programs, `by_reader` over those that prepare what one reader reads, by the
    reader's version.
    """

    whole: str
    by_reader: Mapping[str, str]

    def current(self) -> frozenset[str]:
        """Return all of them: what was prepared under one of these is as it would be now."""
        return frozenset((self.whole, *self.by_reader.values()))

    def of(self, result: PreparedDocument | Skipped) -> str:
        """Return the key under which a result is kept; any program may have skipped a document."""
        if isinstance(result, Skipped):
            return self.whole
        return self.by_reader.get(result.document.reader, self.whole)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Options by which documents are prepared.

    `fields` are those of `config.search.IndexOptions`, `dimensions` those of the built-in table;
    0 where it does not embed the documents.
    """

    language: str
    chunking: ChunkingSection
    fields: Mapping[str, int]
    dimensions: int

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return the recipe that a configuration asks for."""
        dimensions = 0
        if config.embedding.provider == "static":
            description = json.loads(EncoderLayout(MODEL_FOLDER).description.read_bytes())
            dimensions = int(description["dimensions"])
        return cls(config.project.language, config.chunking, dict(config.index.fields), dimensions)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the recipe that `to_json` wrote."""
        return TypeAdapter(cls).validate_json(text)

    def to_json(self) -> str:
        """Return the recipe as a line of JSON."""
        return json.dumps({**asdict(self), "chunking": self.chunking.model_dump()}, sort_keys=True)

    def keys(self) -> Keys:
        """Return the keys of what is prepared by this recipe and the programs as they are."""
        options = self.to_json()
        by_reader = {version: hash_text(options, each) for version, each in reader_hashes().items()}
        return Keys(hash_text(options, program_hash()), by_reader)


def origin_key(source: object) -> str:
    """Hash the options of a source whose files have stamps, but for where it lies.

    Other sources deliver everything each time, so that what they deliver decides.
    """
    if not isinstance(source, FolderSource | RecordsSource):
        return ""
    return hash_text(source.model_dump_json(exclude={"path"}))


def hash_text(*parts: str) -> str:
    """Return the SHA-256 over several texts, in hex."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
