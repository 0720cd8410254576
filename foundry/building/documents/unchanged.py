"""Decides from names and file stamps alone whether a build has nothing to do.

`digest` identifies the documents of a build: sources, keys, contents, and skipped inputs, in order.
Two builds of one configuration with equal digests make the same index.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from foundry.building.documents.cache import DocumentCache, Entry
from foundry.building.documents.programs import program_hash
from foundry.building.documents.recipe import Keys, hash_text, origin_key
from foundry.config.changes import hash_config
from foundry.config.project import Config
from foundry.config.sources import FolderSource, RecordsSource, Source
from foundry.documents import Skipped
from foundry.sources import estimate_rows, folder, stamp
from foundry.sources.fetched import ReadySource


class Known(NamedTuple):
    """A file as it was when prepared: its key, and the number and content of its entry."""

    key: str
    number: int
    content: bytes


Looked = folder.Found | Known | Skipped
_NO_ENTRY = (b"", None)


@dataclass(frozen=True, slots=True)
class Survey:
    """The approximate number of documents, and their digest if all are known.

    `found` is the contents of the folders, by source, so that they are walked only once.
    """

    documents: int
    digest: str | None
    found: Mapping[str, Sequence[Looked]]


class KnownSource:
    """Checks whether the documents of a source are unchanged, and computes their digest."""

    def __init__(self, cache: DocumentCache, source: Source | ReadySource, keys: Keys) -> None:
        self._cache, self._source, self._current = cache, source.name, keys.current()
        self._hash = hashlib.sha256()
        self.origin = origin_key(source)
        self.documents = 0
        self.has_news = False

    def look_at(self, source: FolderSource) -> Iterator[Looked]:
        """Yield the contents of a folder, with the cache entry of each unchanged document.

        Sets `has_news` if any document is new or changed.
        """
        # The cache and the folder both list keys in byte order.
        noted = self._cache.entries(self._source)
        key, entry = next(noted, _NO_ENTRY)
        for each in folder.look(source):
            if isinstance(each, Skipped):
                self.add_skipped(each)
                yield each
                continue
            wanted = each.key.encode("utf-8", "surrogateescape")
            while entry is not None and key < wanted:
                key, entry = next(noted, _NO_ENTRY)
            if entry is not None and key == wanted and self._is_as_before(each, entry):
                self.add_document(each.key, entry.content)
                yield Known(each.key, entry.number, entry.content)
            else:
                self.has_news = True
                yield each

    def _is_as_before(self, found: folder.Found, entry: Entry) -> bool:
        is_same = (entry.origin, entry.stamp) == (self.origin, found.stamp)
        return is_same and entry.recipe in self._current

    def add_document(self, key: str, content: bytes) -> None:
        """Add a document by its key and the SHA-256 of its content."""
        self.documents += 1
        name = key.encode("utf-8", "surrogateescape")
        self._hash.update(b"D%d " % len(name) + name + content)

    def add_skipped(self, skipped: Skipped) -> None:
        """Add an input that the source left out."""
        text = json.dumps(asdict(skipped), sort_keys=True).encode()
        self._hash.update(b"S%d " % len(text) + text)

    def digest(self) -> bytes:
        """Return the digest of everything added so far."""
        return self._hash.digest()


def survey(sources: Sequence[Source], cache: DocumentCache, keys: Keys) -> Survey:
    """Survey all sources; `keys` are the cache keys of up-to-date documents."""
    documents, digests = 0, []
    found: dict[str, list[Looked]] = {}
    for source in sources:
        if isinstance(source, FolderSource):
            known = KnownSource(cache, source, keys)
            found[source.name] = [*known.look_at(source)]
            counted = sum(not isinstance(each, Skipped) for each in found[source.name])
            digest = None if known.has_news else known.digest()
        else:
            counted, digest = _look_at(source, cache, keys)
        documents += counted
        digests.append(digest)
    known_digests = [digest for digest in digests if digest is not None]
    is_known = len(known_digests) == len(digests)
    return Survey(documents, join_digests(known_digests) if is_known else None, found)


def join_digests(digests: Sequence[bytes]) -> str:
    """Combine the digests of the sources into the digest of the build."""
    return hashlib.sha256(b"".join(digests)).hexdigest()


def table_origin(source: Source, keys: Keys) -> str:
    """Return the key of everything that a table's documents depend on, except its content."""
    return f"{origin_key(source)} {keys.whole}"


def _look_at(source: Source, cache: DocumentCache, keys: Keys) -> tuple[int, bytes | None]:
    if isinstance(source, RecordsSource):
        known = cache.find_table(source.name)
        if known:
            is_same = (stamp(source), table_origin(source, keys)) == (known.stamp, known.origin)
            return known.documents, known.inputs if is_same else None
        return estimate_rows(source), None
    return 0, None


def index_state(config: Config, digest: str) -> str:
    """Return a hash of everything an index depends on: configuration, programs, model, inputs.

    `digest` is the digest of the inputs.
    """
    return hash_text(hash_config(config), program_hash(), *_model_files(config), digest)


def _model_files(config: Config) -> list[str]:
    """Return the name, size and time of each file in a model folder, since any may be replaced."""
    folder = config.root / config.embedding.model
    if not config.embedding.model or not folder.is_dir():
        return []
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in paths]
