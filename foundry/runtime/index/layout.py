"""Where each part of an index lives on disk, and what the manifest says about it.

The writer and the reader share this module and nothing else. A published index never changes.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .arrays import REBUILD_HINT
from .errors import IndexUnusableError

FORMAT_VERSION = 3


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """The files of one index under `root`.

    n chunks, m documents, v terms, p postings, d dimensions, t tags. Arrays are NumPy
    files (format 1.0, little endian, no pickles). Files in folders have layouts of their own, and
    so has the table of `filter_values`.
    """

    root: Path

    @property
    def manifest(self) -> Path:
        """`Manifest` as JSON."""
        return self.root / "manifest.json"

    @property
    def report(self) -> Path:
        """What was read and what was skipped, as JSON."""
        return self.root / "report.json"

    @property
    def chunks(self) -> Path:
        """One JSON record a line; `chunk_offsets` uint64 (n + 1,) are the lines' byte offsets."""
        return self.root / "chunks.jsonl"

    @property
    def chunk_offsets(self) -> Path:
        """See `chunks`."""
        return self.root / "chunks.offsets.npy"

    @property
    def chunk_ids(self) -> Path:
        """uint64 (2, n): sorted hashes of the chunk ids, and the chunk number of each."""
        return self.root / "chunks.ids.npy"

    @property
    def documents(self) -> Path:
        """One JSON record a line; `document_offsets` uint64 (m + 1,) as for chunks."""
        return self.root / "documents.jsonl"

    @property
    def document_offsets(self) -> Path:
        """See `documents`."""
        return self.root / "documents.offsets.npy"

    @property
    def document_chunks(self) -> Path:
        """uint64 (m + 1,): document i has the chunks from element i up to element i + 1."""
        return self.root / "documents.chunks.npy"

    @property
    def document_ids(self) -> Path:
        """uint64 (2, m + copies): sorted hashes of the ids, and the document number of each.

        The id of a copy leads to the document that stands for it.
        """
        return self.root / "documents.ids.npy"

    @property
    def terms(self) -> Path:
        """The sorted vocabulary, UTF-8, without separators."""
        return self.root / "terms.bin"

    @property
    def term_offsets(self) -> Path:
        """uint64 (v + 1,): byte offsets into `terms`."""
        return self.root / "terms.offsets.npy"

    @property
    def posting_offsets(self) -> Path:
        """uint64 (v + 1,): where each term's postings begin."""
        return self.root / "postings.offsets.npy"

    @property
    def posting_chunks(self) -> Path:
        """uint32 (p,): chunk numbers, ascending within a term."""
        return self.root / "postings.chunks.npy"

    @property
    def posting_impacts(self) -> Path:
        """float32 (p,): the BM25 weight of the term in the chunk; see `indexing.postings`."""
        return self.root / "postings.impacts.npy"

    @property
    def vectors(self) -> Path:
        """int8 (n, d): embeddings, each row scaled to fill the range."""
        return self.root / "vectors.i8.npy"

    @property
    def vector_scales(self) -> Path:
        """float32 (n,): what makes a row of `vectors` a unit vector; 0 where there is none."""
        return self.root / "vectors.scale.npy"

    @property
    def vector_centre(self) -> Path:
        """float32 (d,): the mean embedding, subtracted before signs are taken."""
        return self.root / "vectors.centre.npy"

    @property
    def sketch(self) -> Path:
        """uint64 (ceil(d / 64), n): the signs of the centred embeddings, one bit each."""
        return self.root / "sketch.npy"

    @property
    def filter_sources(self) -> Path:
        """uint16 (n,): position of the chunk's source in `Manifest.sources`."""
        return self.root / "filters.source.npy"

    @property
    def filter_modified(self) -> Path:
        """int64 (n,): seconds since 1970 UTC; the smallest int64 where unknown."""
        return self.root / "filters.modified.npy"

    @property
    def filter_tag_offsets(self) -> Path:
        """uint64 (t + 1,): where each tag's chunks begin in `filter_tag_chunks`."""
        return self.root / "filters.tags.offsets.npy"

    @property
    def filter_tag_chunks(self) -> Path:
        """uint32: chunk numbers by tag, in the order of `Manifest.tags`."""
        return self.root / "filters.tags.chunks.npy"

    @property
    def link_offsets(self) -> Path:
        """uint64 (m + 1,): where the links of each document begin in `link_targets`."""
        return self.root / "links.offsets.npy"

    @property
    def link_targets(self) -> Path:
        """uint32: numbers of the documents that a document links to, each once, in its order."""
        return self.root / "links.targets.npy"

    @property
    def expansion(self) -> Path:
        """The folder of `expansion.ExpansionLayout`; only with [search.expansion]."""
        return self.root / "expansion"

    @property
    def encoder(self) -> Path:
        """The query encoder's folder."""
        return self.root / "encoder"


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A query made from a heading of the corpus, and the chunk it must find."""

    query: str
    chunk_id: str


@dataclass(frozen=True, slots=True)
class QueryFigures:
    """How queries are embedded, and how well that follows the documents' model.

    Attributes:
        encoder: `own`, where documents and queries share one table; `distilled`, for a table
            trained after the model; `same`, where the server asks the model itself.
        reason: Why it is that one, in a sentence.
        agreement: Mean cosine between encoder and model on held-out texts; null if not measured.
        overlap_at_10: Mean share of the model's ten best chunks (linear fusion) that are also the
            encoder's, on the same texts, corrected for chance; null if not measured.
        taught: How many texts the model embedded for training, the chunks aside.
    """

    encoder: str
    reason: str
    agreement: float | None = None
    overlap_at_10: float | None = None
    taught: int = 0


@dataclass(frozen=True, slots=True)
class DenseManifest:
    """How the vectors were made and how deep the sketch must be read.

    All vectors have length one. `revision` names the weights, where the provider tells;
    `document_prefix` and `query_prefix` were put before each text. `candidates` chunks go from the
    sketch to exact scoring, whose recall@20 against exact scoring of all was `recall_at_20`.
    `encoder_sha256` covers the files of the query encoder, empty if there are none; `probe_vector`
    is the embedding of `probe_text` as a query, rounded.
    """

    provider: str
    model: str
    revision: str
    dimensions: int
    document_prefix: str
    query_prefix: str
    query: QueryFigures
    encoder_sha256: str
    candidates: int
    recall_at_20: float
    probe_text: str
    probe_vector: list[float]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contract between the builder of an index and its readers.

    `filterable` names the metadata that searches can be filtered by.
    """

    documents: int
    chunks: int
    terms: int
    postings: int
    tokenizer_version: int
    language: str
    k1: float
    b: float
    field_weights: dict[str, int]
    dense: DenseManifest | None
    sources: list[str]
    tags: list[str]
    filterable: list[str]
    config_sha256: str
    known_items: list[KnownItem]
    files: dict[str, dict[str, int | str]] = field(default_factory=dict)
    format: int = FORMAT_VERSION

    def to_bytes(self) -> bytes:
        """The manifest as it stands on disk."""
        return manifest_bytes(asdict(self))

    @property
    def version(self) -> str:
        """16 hex digits that name exactly this content."""
        return hashlib.sha256(self.to_bytes()).hexdigest()[:16]

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        """Read a manifest. Raises IndexUnusableError, naming the file and the remedy."""
        try:
            written = path.read_bytes()
            content = json.loads(written)
        except FileNotFoundError:
            raise IndexUnusableError(f"{path.parent}: not an index", hint=REBUILD_HINT) from None
        except (OSError, ValueError, RecursionError) as error:
            raise IndexUnusableError(f"{path}: unreadable: {error}", hint=REBUILD_HINT) from None
        found = content.get("format") if isinstance(content, dict) else None
        if found != FORMAT_VERSION:
            raise IndexUnusableError(
                f"{path}: index format {found}, this server reads format {FORMAT_VERSION}",
                hint="build the index again with the version that exported this server",
            )
        if written != manifest_bytes(content):
            problem = f"{path}: damaged: content differs from its own hash"
            raise IndexUnusableError(problem, hint=REBUILD_HINT)
        try:
            return cls._from_json(content)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise IndexUnusableError(f"{path}: incomplete: {error}", hint=REBUILD_HINT) from None

    @classmethod
    def _from_json(cls, content: Mapping[str, Any]) -> "Manifest":
        values = dict(content)
        del values["sha256"]
        if values["dense"] is not None:
            query = QueryFigures(**values["dense"]["query"])
            values["dense"] = DenseManifest(**{**values["dense"], "query": query})
        values["files"] = {
            str(name): {"bytes": int(entry["bytes"]), "sha256": str(entry["sha256"])}
            for name, entry in values["files"].items()
        }
        values["known_items"] = [KnownItem(**item) for item in values["known_items"]]
        return cls(**values)


def manifest_bytes(values: Mapping[str, Any]) -> bytes:
    """A manifest as it stands on disk, keys in order; `sha256` is its hash while that is empty."""
    dump = json.JSONEncoder(ensure_ascii=False, indent=1, sort_keys=True).encode
    digest = hashlib.sha256(dump({**values, "sha256": ""}).encode("utf-8", "surrogatepass"))
    return dump({**values, "sha256": digest.hexdigest()}).encode("utf-8", "surrogatepass") + b"\n"


def hash_key(text: str) -> int:
    """The 64-bit key under which an id is looked up."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
