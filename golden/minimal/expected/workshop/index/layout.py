"""A published index on disk: its memory-mapped files, its manifest, and integrity checks."""

import errno
import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache, cached_property
from mmap import ACCESS_READ, MADV_RANDOM, mmap
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

from ..errors import IndexUnusableError, cause_of
from .tree import FILE, file_status, read_file, shown, walk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

PACKAGED_INDEX = Path(__file__).parents[1] / "data"

FORMAT_VERSION = 5

_HASH = b'\n "sha256": "'  # The manifest's own hash; hashes of files are indented further.
HASHED_AT_ONCE_BYTES = 1 << 20  # Larger files are hashed in the background, once the index is open.
TERMS_APART = 64  # Every 64th term is cached once a lookup has read it.
OTHER_VERSION_HINT = "rebuild the index with the version that exported this server"
MEMORY_HINT = "the index is mapped into memory: raise the limit of the process (ulimit -v)"


class IndexLayout:
    """The files of an index: n chunks, m documents, v terms, p postings, d dimensions, t tags.

    Arrays are little-endian NumPy files; offsets are uint64, and element i ends at offset i + 1.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.manifest = root / "manifest.json"  # `Manifest`
        self.report = root / "report.json"  # Sources, counts and skipped files of the build.

        self.chunks = root / "chunks.jsonl"  # One record per line.
        self.chunk_offsets = root / "chunks.offsets.npy"  # (n + 1,) bytes
        self.chunk_ids = root / "chunks.ids.npy"  # uint64 (2, n): sorted hashes of ids, numbers
        self.documents = root / "documents.jsonl"  # One record per line.
        self.document_offsets = root / "documents.offsets.npy"  # (m + 1,) bytes
        self.document_chunks = root / "documents.chunks.npy"  # (m + 1,) chunk numbers
        self.document_ids = root / "documents.ids.npy"  # As `chunk_ids`; copies share a number.
        self.terms = root / "terms.bin"  # The sorted vocabulary, concatenated.
        self.term_offsets = root / "terms.offsets.npy"  # (v + 1,) bytes
        self.posting_offsets = root / "postings.offsets.npy"  # (v + 1,) offsets into the next two
        self.posting_chunks = root / "postings.chunks.npy"  # uint32 (p,): chunk numbers
        self.posting_impacts = root / "postings.impacts.npy"  # float32 (p,): see `keyword_lane`
        self.vectors = root / "vectors.i8.npy"  # int8 (n, d): scaled to fill the range
        self.vector_scales = root / "vectors.scale.npy"  # float32 (n,): 0 without a vector
        self.vector_centre = root / "vectors.centre.npy"  # float32 (d,): the mean vector
        self.sketch = root / "sketch.npy"  # uint64 (ceil(d / 64), n): sign bits
        self.filter_sources = root / "filters.source.npy"  # uint16 (n,): `Manifest.sources`
        self.filter_modified = root / "filters.modified.npy"  # int64 (n,): seconds since 1970
        self.filter_tag_offsets = root / "filters.tags.offsets.npy"  # (t + 1,), into the next
        self.filter_tag_chunks = root / "filters.tags.chunks.npy"  # uint32: chunk numbers.
        self.filter_values = root / "filters.values.bin"  # Field, U+001F, value; sorted.
        self.filter_value_offsets = root / "filters.values.offsets.npy"  # (values + 1,)
        self.filter_document_offsets = root / "filters.documents.offsets.npy"  # (values + 1,)
        self.filter_documents = root / "filters.documents.npy"  # uint32: document numbers
        self.link_offsets = root / "links.offsets.npy"  # (m + 1,) offsets into `link_targets`
        self.link_targets = root / "links.targets.npy"  # uint32: document numbers
        self.expansion = root / "expansion"  # `ExpansionLayout`, if there is one
        self.encoder = root / "encoder"  # `EncoderLayout`


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A query made from a heading of the corpus, with the chunk that it must find."""

    query: str
    chunk_id: str


@dataclass(frozen=True)
class Manifest:
    """The description of an index: the contract between builder and readers."""

    documents: int
    chunks: int
    terms: int
    postings: int
    tokenizer_version: int
    language: str
    k1: float
    b: float
    field_weights: dict[str, int]
    dense: dict[str, Any] | None  # How vectors were made, and how queries are embedded.
    sources: list[str]
    tags: list[str]
    filterable: list[str]
    config_sha256: str
    known_items: list[KnownItem]
    files: dict[str, dict[str, int | str]] = field(default_factory=dict)
    format: int = FORMAT_VERSION

    def to_bytes(self) -> bytes:
        """Serialise to manifest.json."""
        return manifest_bytes({item.name: getattr(self, item.name) for item in fields(self)})

    @cached_property
    def version(self) -> str:
        """16 hex digits that identify this content."""
        return hashlib.sha256(self.to_bytes()).hexdigest()[:16]

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        """Read and check a manifest. Raises IndexUnusableError."""
        try:
            written = read_file(path)
            content = json.loads(written)
            if content["format"] != FORMAT_VERSION:
                versions = (
                    f"format {content['format']}, but this server reads format {FORMAT_VERSION}"
                )
                raise IndexUnusableError(f"{path}: index {versions}", hint=OTHER_VERSION_HINT)
            # The other fields are trusted, since the hash shows that the builder wrote them.
            digest = str(content.pop("sha256", "")).encode()
            if written != _with_hash(written[:-1].replace(_HASH + digest, _HASH, 1)):
                raise IndexUnusableError(f"{path}: damaged: content does not match its hash")
            content["known_items"] = [KnownItem(**item) for item in content["known_items"]]
            return cls(**content)
        except FileNotFoundError:
            raise IndexUnusableError(f"{path.parent}: not an index") from None
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise IndexUnusableError(f"{path}: unreadable: {cause_of(error)}") from None


def manifest_bytes(values: Mapping[str, Any]) -> bytes:
    """Serialise a manifest; its `sha256` is the hash of the same content with an empty hash."""
    encoder = json.JSONEncoder(ensure_ascii=False, indent=1, sort_keys=True, default=asdict)
    return _with_hash(encoder.encode({**values, "sha256": ""}).encode("utf-8", "surrogatepass"))


def _with_hash(content: bytes) -> bytes:
    digest = hashlib.sha256(content).hexdigest().encode()
    return content.replace(_HASH, _HASH + digest, 1) + b"\n"


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """The files of one index version; a search engine stores the ones named in `elsewhere`."""

    layout: IndexLayout
    manifest: Manifest
    elsewhere: frozenset[str] = frozenset()

    @classmethod
    def open(cls, directory: Path, elsewhere: frozenset[str] = frozenset()) -> "IndexFiles":
        """Open an index; check all sizes, and hash small files. Raises IndexUnusableError."""
        from .tokens import VERSION as TOKENIZER_VERSION

        layout = IndexLayout(resolve_version(directory))
        manifest = Manifest.read(layout.manifest)
        if (found := manifest.tokenizer_version) != TOKENIZER_VERSION:
            versions = f"built with tokenizer {found}, but this server has {TOKENIZER_VERSION}"
            raise IndexUnusableError(f"{layout.root}: {versions}", hint=OTHER_VERSION_HINT)
        files = cls(layout, manifest, elsewhere)
        if findings := [*files._find_damage(HASHED_AT_ONCE_BYTES)]:
            raise IndexUnusableError(f"{layout.root}: damaged: {'; '.join(findings)}")
        return files

    def verify(self) -> list[str]:
        """Compare every file with its hash in the manifest; return a line for each difference."""
        root = self.layout.root
        findings = [*self._find_damage()]
        known = {*self.manifest.files, "manifest.json"}
        for entry in walk(root):
            if entry.kind != FILE or entry.path not in known:
                what = "" if entry.kind == FILE else f", a {entry.kind}"
                findings.append(f"{shown(entry.path)}: not in the manifest{what}")
        return findings

    def _find_damage(self, most_bytes: float = float("inf")) -> Iterator[str]:
        for name, entry in self.manifest.files.items():
            path = self.layout.root / name
            try:
                size = file_status(path).st_size
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


def require_vectors(files: IndexFiles) -> dict[str, Any]:
    """Return the manifest's section on vectors. Raises IndexUnusableError if there are none."""
    if files.manifest.dense is None:
        message = f"{files.layout.root}: has no vectors, but this server needs them"
        hint = "set embedding.provider and build again, or export again for this index"
        raise IndexUnusableError(message, hint=hint)
    return files.manifest.dense


def resolve_version(directory: Path) -> Path:
    """Return the folder named in CURRENT, or else `directory`. Raises IndexUnusableError."""
    current = directory / "CURRENT"
    try:
        name = read_file(current).decode("ascii").strip()
    except FileNotFoundError:
        return directory
    except (OSError, UnicodeDecodeError) as error:
        raise IndexUnusableError(f"{current}: unreadable: {error}") from None
    if not (name.startswith("v") and name[1:].isdigit()):
        raise IndexUnusableError(f"{current}: does not name a version: {name!r}")
    return directory / name


def open_array(path: Path, dtype: "DTypeLike", shape: tuple[int, ...]) -> "NDArray[Any]":
    """Memory-map a NumPy file read-only; -1 in `shape` means any length.

    Raises IndexUnusableError if the file is missing or damaged, or has another dtype or shape.
    """
    # Imported here so that reading a manifest does not load NumPy.
    import numpy as np

    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
        raise _unreadable(path, error) from None
    fits = array.ndim == len(shape) and all(
        wanted in (-1, found) for wanted, found in zip(shape, array.shape, strict=True)
    )
    if array.dtype != np.dtype(dtype) or not fits:
        types = f"{array.dtype} {array.shape}, expected {np.dtype(dtype)} {shape}"
        raise IndexUnusableError(f"{path}: holds {types}")
    # A plain view, because each access to a memmap costs several microseconds more.
    return np.asarray(array)


def open_bytes(path: Path, size: int) -> memoryview:
    """Memory-map `size` bytes of a file read-only. Raises IndexUnusableError if that fails."""
    if not size:
        return memoryview(b"")  # An empty file cannot be mapped.
    try:
        with path.open("rb") as file:
            mapped = mmap(file.fileno(), size, access=ACCESS_READ)
    except (OSError, ValueError, OverflowError) as error:
        raise _unreadable(path, error) from None
    # Access is random, so read-ahead would be wasted.
    mapped.madvise(MADV_RANDOM)
    return memoryview(mapped)


def _unreadable(path: Path, error: Exception) -> IndexUnusableError:
    lacks_memory = isinstance(error, OSError) and error.errno == errno.ENOMEM
    hint = MEMORY_HINT if lacks_memory else None
    return IndexUnusableError(f"{path}: unreadable: {error}", hint=hint)


class Vocabulary(Sequence[bytes]):
    """The sorted terms of an index, UTF-8, mapped from one concatenated file."""

    def __init__(self, terms: memoryview, offsets: "NDArray[np.uint64]") -> None:
        self._terms = terms
        ends = self._offsets = offsets.data  # Twice as fast as reading elements of an array.
        self._firsts = range(0, len(self), TERMS_APART)
        # A cached method would keep a replaced index in memory.
        self._first = cache(lambda number: bytes(terms[ends[number] : ends[number + 1]]))

    @classmethod
    def open(cls, path: Path, offsets: Path, count: int = -1) -> "Vocabulary":
        """Memory-map `count` terms; -1 means any number. Raises IndexUnusableError."""
        ends = open_array(offsets, "<u8", (count if count < 0 else count + 1,))
        return cls(open_bytes(path, int(ends[-1])), ends)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]
        return bytes(self._terms[self._offsets[number] : self._offsets[number + 1]])

    def find(self, term: str) -> int | None:
        """Return the number of `term`, or None if the index lacks it."""
        encoded = term.encode("utf-8", "replace")
        start = max(0, bisect_right(self._firsts, encoded, key=self._first) - 1) * TERMS_APART
        number = bisect_left(self, encoded, start, min(start + TERMS_APART, len(self)))
        return number if number < len(self) and self[number] == encoded else None

    def range_of(self, prefix: str) -> tuple[int, int]:
        """Return the number of the first term with a prefix, and the number after the last one."""
        encoded = prefix.encode("utf-8", "replace")
        first = bisect_left(self, encoded)
        # A byte that does not occur in UTF-8.
        return first, bisect_left(self, encoded + b"\xff", first)
