"""The options and programs that decide, with the document itself, how it is prepared."""

import hashlib
import json
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Self

from packaging.requirements import Requirement
from pydantic import TypeAdapter

import foundry
from foundry.config.file import ChunkingSection
from foundry.config.project import Config
from foundry.config.sources import FolderSource, RecordsSource
from foundry.embedding.static import MODEL_FOLDER
from foundry.errors import DISTRIBUTION
from foundry.runtime.retrieval.encoder import EncoderLayout

ROOT = Path(foundry.__file__).parent
READING_EXTRAS = ("code", "ocr", "office", "rst", "wiki")
"""The extras of Foundry that bring libraries of readers."""

_TAKES_IF_THERE = {"snowballstemmer": ["PyStemmer"]}
"""Libraries that another one imports if they are installed, without requiring them."""


_VERSION = re.compile(r"(?m)^Version: *([^\n]+)")
_REQUIRED = re.compile(r"(?m)^Requires-Dist: *([^\n]+)")


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

    @property
    def key(self) -> str:
        """SHA-256 over everything that decides the result: the options, and the programs."""
        return hash_text(self.to_json(), program_hash())


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


@cache
def program_hash() -> str:
    """Hash Python, the code of Foundry, its libraries' versions and its model; in hex.

    Foundry's own version, which its first module holds, is no part of it: a release without changes
    prepares nothing again.
    """
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(ROOT.rglob("*.*")):
        name = path.relative_to(ROOT).as_posix()
        is_own = name != "__init__.py" and not name.startswith(("_templates/", "models/"))
        # The tables beside modules decide as well.
        if is_own and path.suffix in {".py", ".toml", ".json", ".txt"}:
            digest.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    digest.update(EncoderLayout(MODEL_FOLDER).description.read_bytes())
    digest.update(json.dumps(_libraries(), sort_keys=True).encode())
    return digest.hexdigest()


def installation() -> dict[str, str]:
    """Return the names and versions of the programs that decide what is built."""
    own = {"Python": sys.version.partition(" ")[0], "Foundry": foundry.__version__}
    return {**own, **_libraries()}


def _libraries() -> dict[str, str]:
    """Return the versions of the libraries that Foundry and its readers require, and of theirs."""
    found: dict[str, str] = {}
    waiting = _requirements(_metadata(DISTRIBUTION), READING_EXTRAS)
    while waiting:
        name = waiting.pop()
        if name not in found and (metadata := _metadata(name)):
            found[name] = _VERSION.findall(metadata)[0]
            waiting += [*_requirements(metadata), *_TAKES_IF_THERE.get(name, ())]
    return found


def _metadata(name: str) -> str:
    """Return the fields of a library's metadata; nothing if it is not installed."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return ""
    text = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
    # Parsed as a mail, the description would be read as well, which takes longer than all else.
    return text.partition("\n\n")[0]


def _requirements(metadata: str, extras: Collection[str] = ()) -> list[str]:
    """Return the names of what a library requires here, by itself and with the `extras`.

    Requirements of other systems do not count, even if they are installed: Ray brings some.
    """
    listed = [Requirement(line) for line in _REQUIRED.findall(metadata)]
    return [
        each.name
        for each in listed
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]
