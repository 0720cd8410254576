"""The options and programs that decide, beside a document, how it is prepared."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter

from foundry.build.documents.programs import PREPARING, program_hash
from foundry.config.file import ChunkingSection
from foundry.config.project import Config
from foundry.config.sources import FolderSource, RecordsSource
from foundry.embedding.static import MODEL_FOLDER
from foundry.runtime.retrieval.encoder import EncoderLayout


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
    def of(cls, config: Config) -> "Recipe":
        """Return the recipe that a configuration asks for."""
        dimensions = 0
        if config.embedding.provider == "static":
            description = json.loads(EncoderLayout(MODEL_FOLDER).description.read_bytes())
            dimensions = int(description["dimensions"])
        return cls(config.project.language, config.chunking, dict(config.index.fields), dimensions)

    @classmethod
    def from_json(cls, text: str) -> "Recipe":
        """Return the recipe that `to_json` wrote."""
        return TypeAdapter(cls).validate_json(text)

    def to_json(self) -> str:
        """Return the recipe as a line of JSON."""
        return json.dumps(
            {**asdict(self), "chunking": self.chunking.model_dump()}, sort_keys=True
        )

    @property
    def key(self) -> str:
        """SHA-256 over everything that decides the result: the options, and the programs."""
        return hash_text(self.to_json(), program_hash(PREPARING))


def origin_key(source: object) -> str:
    """SHA-256 over the options of a source whose files have stamps, but for where it lies.

    Other sources deliver everything each time, and what they deliver decides.
    """
    if not isinstance(source, FolderSource | RecordsSource):
        return ""
    return hash_text(source.model_dump_json(exclude={"path"}))


def hash_text(*parts: str) -> str:
    """SHA-256 over several texts, in hex."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
