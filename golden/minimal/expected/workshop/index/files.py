"""The files of a published index: which version is current, and whether it is whole."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..retrieval.tokens import VERSION as TOKENIZER_VERSION
from .arrays import REBUILD_HINT
from .errors import IndexUnusableError
from .layout import DenseManifest, IndexLayout, Manifest

HASHED_AT_ONCE_BYTES = 1 << 20
"""Files up to this size are compared with their hashes when an index is opened."""


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """One version of an index. `elsewhere` names files that may be missing: an engine has them."""

    layout: IndexLayout
    manifest: Manifest
    elsewhere: frozenset[str] = frozenset()

    @classmethod
    def open(cls, directory: Path, elsewhere: frozenset[str] = frozenset()) -> "IndexFiles":
        """Find the index in `directory`, or the version that its CURRENT file names.

        Sizes of all files are checked, and contents of small ones (see `verify`). Raises
        IndexUnusableError.
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
        if findings := [*files._findings(HASHED_AT_ONCE_BYTES)]:
            raise IndexUnusableError(
                f"{layout.root}: damaged: {'; '.join(findings)}", hint=REBUILD_HINT
            )
        return files

    def require_dense(self) -> DenseManifest:
        """Return what the manifest says of vectors. Raises IndexUnusableError without any."""
        if self.manifest.dense is None:
            raise IndexUnusableError(
                f"{self.layout.root}: has no vectors, and this server needs them",
                hint="set embedding.provider and build again, or export again for this index",
            )
        return self.manifest.dense

    def verify(self) -> list[str]:
        """Compare every file with its hash in the manifest: the findings, none if all is well."""
        root = self.layout.root
        findings = [*self._findings()]
        known = {*self.manifest.files, "manifest.json"}
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_symlink() or (path.is_file() and name not in known):
                findings.append(f"{name}: not in the manifest")
        return findings

    def _findings(self, most: int | None = None) -> Iterator[str]:
        """Find files that differ from the manifest; of those above `most` bytes, look at sizes."""
        for name, entry in self.manifest.files.items():
            path = self.layout.root / name
            try:
                size = path.stat().st_size
                if size != entry["bytes"]:
                    yield f"{name}: {size} bytes, expected {entry['bytes']}"
                elif most is None or size <= most:
                    with path.open("rb") as file:
                        if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
                            yield f"{name}: content differs from the manifest"
            except FileNotFoundError:
                if name not in self.elsewhere:
                    yield f"{name}: missing"
            except OSError as error:
                yield f"{name}: unreadable: {error.strerror}"


def resolve_version(directory: Path) -> Path:
    """Return the folder of the version to read: that named by CURRENT, or `directory` itself."""
    current = directory / "CURRENT"
    try:
        name = current.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return directory
    except (OSError, UnicodeDecodeError) as error:
        raise IndexUnusableError(f"{current}: unreadable: {error}", hint=REBUILD_HINT) from None
    if not (name.startswith("v") and name[1:].isdigit()):
        raise IndexUnusableError(f"{current}: names no version: {name!r}", hint=REBUILD_HINT)
    return directory / name
