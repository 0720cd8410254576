"""What beside a document decides what it is prepared to."""

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from pydantic import TypeAdapter

import foundry
from foundry.config import ChunkingOptions, Config
from foundry.config_sources import FolderSource, RecordsSource, Source
from foundry.embedding.static import MODEL_FOLDER
from foundry.runtime.encoder import EncoderLayout

DISTRIBUTION = "rag-foundry"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How documents are prepared.

    `fields` are those of `IndexOptions`, `dimensions` those of the built-in table; 0 where it does
    not embed the documents.
    """

    language: str
    chunking: ChunkingOptions
    fields: Mapping[str, int]
    dimensions: int

    @classmethod
    def of(cls, config: Config) -> "Recipe":
        """The recipe that a configuration asks for."""
        dimensions = 0
        if config.embedding.provider == "static":
            description = json.loads(EncoderLayout(MODEL_FOLDER).description.read_bytes())
            dimensions = int(description["dimensions"])
        return cls(config.language, config.chunking, dict(config.index.fields), dimensions)

    @classmethod
    def from_json(cls, text: str) -> "Recipe":
        """The recipe that `to_json` wrote."""
        return TypeAdapter(cls).validate_json(text)

    def to_json(self) -> str:
        """The recipe as a line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def key(self) -> str:
        """SHA-256 over everything that decides the result: the options, and the programs."""
        return hash_text(self.to_json(), program_hash())


def origin_key(source: Source) -> str:
    """SHA-256 over the options of a source whose files have stamps, but for where it lies.

    Other sources deliver everything each time, and what they deliver decides.
    """
    if not isinstance(source, FolderSource | RecordsSource):
        return ""
    return hash_text(json.dumps({**asdict(source), "path": ""}, sort_keys=True))


def hash_text(*parts: str) -> str:
    """SHA-256 over several texts, in hex."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


@cache
def program_hash() -> str:
    """SHA-256 over Foundry's own code and model, and the versions of Python and the libraries.

    So another version of any of them prepares everything anew, and nobody has to remember which
    part of which program decides what.
    """
    digest = hashlib.sha256(sys.version.encode())
    root = Path(foundry.__file__).parent
    for path in sorted([*root.rglob("*.py"), EncoderLayout(MODEL_FOLDER).description]):
        name = path.relative_to(root).as_posix()
        digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    for library in _libraries():
        digest.update(library.encode() + b"\0")
    return digest.hexdigest()


def installation() -> dict[str, str]:
    """What `program_hash` is over, but for Foundry's code: names and versions."""
    named = (library.rpartition(" ") for library in _libraries())
    own = {"Python": sys.version.partition(" ")[0], "Foundry": foundry.__version__}
    return {**own, **{name: number for name, _, number in named}}


def _libraries() -> list[str]:
    found = []
    try:
        required = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        required = []
    for text in required:
        name = re.match(r"[\w.-]+", text)
        if name and not re.search(r";.*\bextra\b", text):
            with suppress(PackageNotFoundError):
                found.append(f"{name[0]} {version(name[0])}")
    return sorted(found)
