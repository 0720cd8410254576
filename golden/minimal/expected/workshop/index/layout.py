"""The files of an index, and what its manifest says about it; shared by its writer and readers."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .arrays import REBUILD_HINT
from .errors import IndexUnusableError

FORMAT_VERSION = 3


class _File:
    """A file or a folder of an index, as an attribute of its layout."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, layout: "IndexLayout", _kind: type) -> Path:
        return layout.root / self._name


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """The files of one index under `root`.

    n chunks, m documents, v terms, p postings, d dimensions, t tags, w values of filters. Arrays
    are NumPy files (format 1.0, little endian, no pickles); texts are UTF-8. Offsets are uint64 and
    have one element more than what they divide, so that element i + 1 is where i ends.
    """

    root: Path

    manifest = _File("manifest.json")  # `Manifest`
    report = _File("report.json")  # What was read and what was skipped.

    chunks = _File("chunks.jsonl")  # One record a line.
    chunk_offsets = _File("chunks.offsets.npy")  # (n + 1,) bytes
    chunk_ids = _File("chunks.ids.npy")  # uint64 (2, n): sorted hashes of ids, chunk numbers.
    documents = _File("documents.jsonl")  # One record a line.
    document_offsets = _File("documents.offsets.npy")  # (m + 1,) bytes
    document_chunks = _File("documents.chunks.npy")  # (m + 1,) chunk numbers
    # uint64 (2, m + copies): sorted hashes of ids, document numbers. The id of a copy leads to the
    # document that stands for it.
    document_ids = _File("documents.ids.npy")

    terms = _File("terms.bin")  # The sorted vocabulary, without separators.
    term_offsets = _File("terms.offsets.npy")  # (v + 1,) bytes
    posting_offsets = _File("postings.offsets.npy")  # (v + 1,) places in both of these:
    posting_chunks = _File("postings.chunks.npy")  # uint32 (p,): numbers, ascending within a term.
    posting_impacts = _File("postings.impacts.npy")  # float32 (p,): BM25; see `keyword_lane`.

    vectors = _File("vectors.i8.npy")  # int8 (n, d): each row scaled to fill the range.
    vector_scales = _File("vectors.scale.npy")  # float32 (n,): make rows unit; 0 without a vector.
    vector_centre = _File("vectors.centre.npy")  # float32 (d,): the mean embedding.
    sketch = _File("sketch.npy")  # uint64 (ceil(d / 64), n): signs around the centre, as bits.

    filter_sources = _File("filters.source.npy")  # uint16 (n,): places in `Manifest.sources`.
    # int64 (n,): seconds since 1970 UTC; the smallest int64 where unknown.
    filter_modified = _File("filters.modified.npy")
    filter_tag_offsets = _File("filters.tags.offsets.npy")  # (t + 1,), as in `Manifest.tags`, of:
    filter_tag_chunks = _File("filters.tags.chunks.npy")  # uint32: chunk numbers.
    filter_values = _File("filters.values.bin")  # Field, U+001F, value; sorted, no separators.
    filter_value_offsets = _File("filters.values.offsets.npy")  # (w + 1,) bytes
    filter_document_offsets = _File("filters.documents.offsets.npy")  # (w + 1,) places in:
    filter_documents = _File("filters.documents.npy")  # uint32: numbers, ascending within a value.

    link_offsets = _File("links.offsets.npy")  # (m + 1,) places in:
    link_targets = _File("links.targets.npy")  # uint32: documents linked to, each once, in order.

    expansion = _File("expansion")  # `expansion.ExpansionLayout`; only with [search.expansion].
    encoder = _File("encoder")  # `encoder.EncoderLayout`


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
        agreement: Mean cosine between encoder and model on held-out texts; None if not measured.
        overlap_at_10: Mean share of the model's ten best chunks (linear fusion) that are also the
            encoder's, on the same texts, corrected for chance; None if not measured.
        taught: How many texts the model embedded for training, the chunks aside.
    """

    encoder: str
    reason: str
    agreement: float | None = None
    overlap_at_10: float | None = None
    taught: int = 0


@dataclass(frozen=True, slots=True)
class DenseManifest:
    """How the unit vectors were made, and how deep the sketch must be read.

    `revision` names the weights, where the provider tells; the prefixes were put before each text.
    `candidates` chunks go from the sketch to exact scoring, whose recall@20 against exact scoring
    of all was `recall_at_20`. `encoder_sha256` covers the files of the query encoder, empty without
    any; `probe_vector` is the embedding of `probe_text` as a query, rounded.
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
        """Return the manifest as it stands on disk."""
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
            del content["sha256"]
            if dense := content["dense"]:
                dense["query"] = QueryFigures(**dense["query"])
                content["dense"] = DenseManifest(**dense)
            content["known_items"] = [KnownItem(**item) for item in content["known_items"]]
            content["files"] = {
                name: {"bytes": int(entry["bytes"]), "sha256": str(entry["sha256"])}
                for name, entry in content["files"].items()
            }
            return cls(**content)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise IndexUnusableError(f"{path}: incomplete: {error}", hint=REBUILD_HINT) from None


def manifest_bytes(values: Mapping[str, Any]) -> bytes:
    """A manifest as it stands on disk, keys in order; `sha256` is its hash while that is empty."""
    dump = json.JSONEncoder(ensure_ascii=False, indent=1, sort_keys=True).encode
    digest = hashlib.sha256(dump({**values, "sha256": ""}).encode("utf-8", "surrogatepass"))
    return dump({**values, "sha256": digest.hexdigest()}).encode("utf-8", "surrogatepass") + b"\n"


def hash_key(text: str) -> int:
    """Return the 64-bit key under which an id is looked up."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
