"""Decide that a build has nothing to do: by names and stamps alone, without opening a document.

`digest` names the documents of a build: their sources, keys and contents, and what sources left
out, in their order. Two builds of one configuration with equal digests make the same index.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from foundry.build.documents.cache import DocumentCache, Entry
from foundry.build.documents.recipe import hash_text, origin_key, program_hash
from foundry.config.changes import hash_config
from foundry.config.project import Config
from foundry.config.sources import FolderSource, RecordsSource, Source
from foundry.records import Skipped
from foundry.sources import estimate, iterate, stamp
from foundry.sources.fetched import ReadySource


@dataclass(frozen=True, slots=True)
class Survey:
    """About how many documents there are, and their digest where all are known from before."""

    documents: int
    digest: str | None


class KnownSource:
    """Asks the cache whether documents of a source are as they were, and takes their digest."""

    def __init__(self, cache: DocumentCache, source: Source | ReadySource, recipe: str) -> None:
        self._cache, self._source, self._recipe = cache, source.name, recipe
        self._hash = hashlib.sha256()
        self.origin = origin_key(source)
        self.documents = 0
        self.last: Entry | None = None

    def __call__(self, key: str, found: str) -> bool:
        """Return whether a document of this key is known with this stamp; leaves it in `last`."""
        self.last = self._cache.find(self._source, key)
        known = self.last and (self.last.recipe, self.last.origin, self.last.stamp)
        return known == (self._recipe, self.origin, found)

    def add_document(self, key: str, content: bytes) -> None:
        """Take a document by its key and the SHA-256 of what was delivered."""
        self.documents += 1
        name = key.encode("utf-8", "surrogateescape")
        self._hash.update(b"D%d " % len(name) + name + content)

    def add_skipped(self, skipped: Skipped) -> None:
        """Take what the source left out."""
        text = json.dumps(asdict(skipped), sort_keys=True).encode()
        self._hash.update(b"S%d " % len(text) + text)

    def digest(self) -> bytes:
        """Return the digest of everything taken so far."""
        return self._hash.digest()


def survey(sources: Sequence[Source], cache: DocumentCache, recipe: str) -> Survey:
    """Look at all sources; `recipe` is the key by which documents were to be prepared."""
    looks = [_look_at(source, cache, recipe) for source in sources]
    known = [digest for _, digest in looks if digest is not None]
    is_known = len(known) == len(looks)
    return Survey(sum(count for count, _ in looks), join_digests(known) if is_known else None)


def join_digests(digests: Sequence[bytes]) -> str:
    """Return the digest of a build by those of its sources."""
    return hashlib.sha256(b"".join(digests)).hexdigest()


def table_origin(source: Source, recipe: str) -> str:
    """Return what a table's documents depend on beside its content."""
    return f"{origin_key(source)} {recipe}"


def _look_at(source: Source, cache: DocumentCache, recipe: str) -> tuple[int, bytes | None]:
    if isinstance(source, FolderSource):
        return _look_at_folder(source, cache, recipe)
    if isinstance(source, RecordsSource):
        known = cache.find_table(source.name)
        if known and (known.stamp, known.origin) == (stamp(source), table_origin(source, recipe)):
            return known.documents, known.inputs
    return estimate(source), None


def _look_at_folder(
    source: FolderSource, cache: DocumentCache, recipe: str
) -> tuple[int, bytes | None]:
    known = KnownSource(cache, source, recipe)
    count, is_same = 0, True

    def look(key: str, found: str) -> bool:
        nonlocal is_same
        is_same = is_same and known(key, found)
        if is_same and known.last:
            known.add_document(key, known.last.content)
        # Nothing is opened, whatever it is.
        return True

    for item in iterate(source, look):
        if isinstance(item, Skipped):
            known.add_skipped(item)
        else:
            count += 1
    return count, known.digest() if is_same else None


def index_state(config: Config, digest: str) -> str:
    """Return a hash of all that decides an index: configuration, programs, model, inputs.

    `digest` is that of the inputs.
    """
    return hash_text(hash_config(config), program_hash(), *_model_files(config), digest)


def _model_files(config: Config) -> list[str]:
    """List the files of a model that lies in a folder, where they may be replaced."""
    folder = config.root / config.embedding.model
    if not config.embedding.model or not folder.is_dir():
        return []
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in paths]
