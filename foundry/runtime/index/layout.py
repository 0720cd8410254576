"""A published index on disk: its files, its manifest, and whether they are whole.

Shared by the writer of an index and its readers.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..retrieval.tokens import VERSION as TOKENIZER_VERSION
from .errors import IndexUnusableError

FORMAT_VERSION = 3

HASHED_AT_ONCE_BYTES = 1 << 20
"""Files up to this size are compared with their hashes when an index is opened."""


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

    `encoder` is `own` (documents and queries share one table), `distilled` (a table trained after
    the model on `taught` texts beside the chunks) or `same` (the server asks the model). On
    held-out texts, `agreement` is the mean cosine between encoder and model, and `overlap_at_10`
    the mean share of their ten best chunks in common, corrected for chance.
    """

    encoder: str
    reason: str
    agreement: float | None = None
    overlap_at_10: float | None = None
    taught: int = 0


DEFAULT_BACKGROUND = 0.5
"""Of an index that was built before it was measured."""


@dataclass(frozen=True, slots=True)
class DenseManifest:
    """How the unit vectors were made, and how deep the sketch must be read.

    Exact scoring of `candidates` chunks from the sketch found `recall_at_20` of what scoring all
    would. `probe_vector` is the rounded vector of the query `probe_text`, `background` the median
    cosine of the best chunk to questions about other matters.
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
    background: float = DEFAULT_BACKGROUND


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
        """Return the content of manifest.json."""
        return manifest_bytes(asdict(self))

    @property
    def version(self) -> str:
        """16 hex digits that name exactly this content."""
        return hashlib.sha256(self.to_bytes()).hexdigest()[:16]

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        """Read a manifest. Raises IndexUnusableError."""
        try:
            written = path.read_bytes()
            content = json.loads(written)
            if content["format"] != FORMAT_VERSION:
                raise IndexUnusableError(
                    f"{path}: index format {content['format']}, this server reads"
                    f" format {FORMAT_VERSION}",
                    hint="build the index again with the version that exported this server",
                )
            if written != manifest_bytes(content):
                raise IndexUnusableError(f"{path}: damaged: content differs from its own hash")
            del content["sha256"]
            if dense := content["dense"]:
                dense["query"] = QueryFigures(**dense["query"])
                content["dense"] = DenseManifest(**dense)
            content["files"] = {
                name: {"bytes": int(entry["bytes"]), "sha256": str(entry["sha256"])}
                for name, entry in content["files"].items()
            }
            content["known_items"] = [KnownItem(**item) for item in content["known_items"]]
            return cls(**content)
        except FileNotFoundError:
            raise IndexUnusableError(f"{path.parent}: not an index") from None
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise IndexUnusableError(f"{path}: unreadable: {error!r}") from None


def manifest_bytes(values: Mapping[str, Any]) -> bytes:
    """Return the content of manifest.json; its `sha256` is that of the same with an empty one."""
    dump = json.JSONEncoder(ensure_ascii=False, indent=1, sort_keys=True).encode
    digest = hashlib.sha256(dump({**values, "sha256": ""}).encode("utf-8", "surrogatepass"))
    return dump({**values, "sha256": digest.hexdigest()}).encode("utf-8", "surrogatepass") + b"\n"


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """One version of an index. Files in `elsewhere` may be missing: an engine holds them."""

    layout: IndexLayout
    manifest: Manifest
    elsewhere: frozenset[str] = frozenset()

    @classmethod
    def open(cls, directory: Path, elsewhere: frozenset[str] = frozenset()) -> "IndexFiles":
        """Find the index in `directory`, or the version that its CURRENT file names.

        Checks the sizes of all files and the hashes of small ones. Raises IndexUnusableError.
        """
        layout = IndexLayout(resolve_version(directory))
        manifest = Manifest.read(layout.manifest)
        if manifest.tokenizer_version != TOKENIZER_VERSION:
            raise IndexUnusableError(
                f"{layout.root}: built with tokenizer {manifest.tokenizer_version},"
                f" this server has {TOKENIZER_VERSION}",
                hint="build the index again with the version that exported this server",
            )
        files = cls(layout, manifest, elsewhere)
        if findings := [*files._find_damage(HASHED_AT_ONCE_BYTES)]:
            raise IndexUnusableError(f"{layout.root}: damaged: {'; '.join(findings)}")
        return files

    def require_dense(self) -> DenseManifest:
        """Return the part of the manifest on vectors. Raises IndexUnusableError without any."""
        if self.manifest.dense is None:
            raise IndexUnusableError(
                f"{self.layout.root}: has no vectors, and this server needs them",
                hint="set embedding.provider and build again, or export again for this index",
            )
        return self.manifest.dense

    def verify(self) -> list[str]:
        """Compare every file with its hash in the manifest; return the findings."""
        root = self.layout.root
        findings = [*self._find_damage()]
        known = {*self.manifest.files, "manifest.json"}
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_symlink() or (path.is_file() and name not in known):
                findings.append(f"{name}: not in the manifest")
        return findings

    def _find_damage(self, most_bytes: float = float("inf")) -> Iterator[str]:
        for name, entry in self.manifest.files.items():
            path = self.layout.root / name
            try:
                size = path.stat().st_size
                if size != entry["bytes"]:
                    yield f"{name}: {size} bytes, expected {entry['bytes']}"
                elif size <= most_bytes:
                    with path.open("rb") as file:
                        if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
                            yield f"{name}: content differs from the manifest"
            except FileNotFoundError:
                if name not in self.elsewhere:
                    yield f"{name}: missing"
            except OSError as error:
                yield f"{name}: unreadable: {error.strerror}"


def resolve_version(directory: Path) -> Path:
    """Return the folder of the version to read: the one CURRENT names, or `directory` itself."""
    current = directory / "CURRENT"
    try:
        name = current.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return directory
    except (OSError, UnicodeDecodeError) as error:
        raise IndexUnusableError(f"{current}: unreadable: {error}") from None
    if not (name.startswith("v") and name[1:].isdigit()):
        raise IndexUnusableError(f"{current}: names no version: {name!r}")
    return directory / name
