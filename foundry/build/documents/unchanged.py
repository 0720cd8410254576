"""Decide that a build has nothing to do: by names and stamps alone, without opening a document.

`digest` names the documents of a build: their sources, keys and contents, and what sources left
out, in their order. Two builds of one configuration with equal digests make the same index.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from foundry.build.documents.cache import DocumentCache, Known, stamp_text
from foundry.build.documents.recipe import hash_text, origin_key, program_hash
from foundry.config.changes import hash_config
from foundry.config.project import Config
from foundry.config.sources import FolderSource, RecordsSource, Source
from foundry.records import Skipped, Stamp
from foundry.sources import estimate, iterate, stamp
from foundry.sources.fetched import ReadySource


@dataclass(frozen=True, slots=True)
class Survey:
    """About how many documents there are, and their digest where all are known from before."""

    documents: int
    digest: str | None


class SourceDigest:
    """The digest of one source's inputs, taken as they come."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.documents = 0

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


class KnownDocuments:
    """Asks the cache whether documents of one source are as they were."""

    def __init__(self, cache: DocumentCache, source: Source | ReadySource, recipe: str) -> None:
        self._cache, self._source, self._recipe = cache, source.name, recipe
        self.origin = origin_key(source)
        self.last: Known | None = None

    def __call__(self, key: str, found: Stamp) -> bool:
        """Return whether a document of this key is known with this stamp; leaves it in `last`."""
        known = self._cache.find(self._source, key)
        self.last = known
        return (
            known is not None
            and known.entry.recipe == self._recipe
            and known.entry.origin == self.origin
            and known.entry.stamp == stamp_text(found)
        )


def survey(sources: Sequence[Source], cache: DocumentCache, recipe: str) -> Survey:
    """Look at all sources; `recipe` is the key by which documents were to be prepared."""
    documents = 0
    digests: list[bytes] | None = []
    for source in sources:
        count, digest = _look_at(source, cache, recipe)
        documents += count
        if digest is None or digests is None:
            digests = None
        else:
            digests.append(digest)
    return Survey(documents, None if digests is None else join_digests(digests))


def join_digests(digests: Sequence[bytes]) -> str:
    """Return the digest of a build by those of its sources."""
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _look_at(source: Source, cache: DocumentCache, recipe: str) -> tuple[int, bytes | None]:
    if isinstance(source, FolderSource):
        return _look_at_folder(source, cache, recipe)
    if isinstance(source, RecordsSource):
        known = cache.find_table(source.name)
        found = stamp_text(stamp(source))
        if known and (known.stamp, known.origin) == (found, table_origin(source, recipe)):
            return known.documents, known.inputs
    return estimate(source), None


def table_origin(source: Source, recipe: str) -> str:
    """Return what a table's documents depend on beside its content."""
    return f"{origin_key(source)} {recipe}"


def _look_at_folder(
    source: FolderSource, cache: DocumentCache, recipe: str
) -> tuple[int, bytes | None]:
    is_known = KnownDocuments(cache, source, recipe)
    digest = SourceDigest()
    count, is_same = 0, True

    def look(key: str, found: Stamp) -> bool:
        nonlocal is_same
        if is_same:
            is_same = is_known(key, found)
        if is_same:
            assert is_known.last is not None
            digest.add_document(key, is_known.last.entry.content)
        # Nothing is opened, whatever it is.
        return True

    for item in iterate(source, look):
        if isinstance(item, Skipped):
            digest.add_skipped(item)
        else:
            count += 1
    return count, digest.digest() if is_same else None





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
