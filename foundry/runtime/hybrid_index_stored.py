"""An index whose lanes are in an engine: records, filters and the query encoder are here."""

from dataclasses import replace
from pathlib import Path
from typing import Self

from .arrays import REBUILD_HINT
from .dense_lane import DenseLane
from .errors import IndexUnusableError
from .index import Index, resolve_version, verify_files
from .layout import IndexLayout, Manifest
from .query_encoder import open_query_encoder
from .store import VersionMissingError, held_files
from .store_versions import open_store
from .tokens import VERSION as TOKENIZER_VERSION


class HybridIndex(Index):
    """An index that can be searched by keywords and by meaning, as long as its engine answers."""

    def __init__(self, layout: IndexLayout, manifest: Manifest) -> None:
        """Map the files of `layout`; use `open`, which checks them first."""
        super().__init__(layout, manifest)
        dense = manifest.dense
        if dense is None:
            raise IndexUnusableError(
                f"{layout.root}: has no vectors, and this server needs them",
                hint="set embedding.provider and build again, or export again for this index",
            )
        self.store = open_store(layout)
        self.dense_lane = DenseLane.open(
            layout, manifest.chunks, dense.dimensions, dense.candidates
        )
        self.encoder = open_query_encoder(layout, dense)

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open the index in `directory`, or the version that its CURRENT file names.

        An engine that does not answer is no reason to fail, because it may answer later. Raises
        IndexUnusableError, also where the engine says that it does not hold this index.
        """
        layout = IndexLayout(resolve_version(directory))
        manifest = Manifest.read(layout.manifest)
        if manifest.tokenizer_version != TOKENIZER_VERSION:
            raise IndexUnusableError(
                f"{layout.root}: built with tokenizer {manifest.tokenizer_version},"
                f" this server has {TOKENIZER_VERSION}",
                hint="build the index again with the version that exported this server",
            )
        for name, entry in _local_part(layout, manifest).files.items():
            path = layout.root / name
            if not path.is_file() or path.stat().st_size != entry["bytes"]:
                raise IndexUnusableError(
                    f"{layout.root}: damaged: {name}: missing, or not of its size",
                    hint=REBUILD_HINT,
                )
        try:
            opened = cls(layout, manifest)
        except OSError as error:
            raise IndexUnusableError(
                f"{layout.root}: unreadable: {error}", hint=REBUILD_HINT
            ) from None
        opened.store.look()
        if isinstance(opened.store.problem, VersionMissingError):
            problem = opened.store.problem
            raise IndexUnusableError(f"{layout.root}: {problem.message}", hint=problem.hint)
        return opened

    def verify(self) -> list[str]:
        """Compare every file of the server with its hash: the findings, none if all is well."""
        return verify_files(self.layout.root, _local_part(self.layout, self.manifest))


def _local_part(layout: IndexLayout, manifest: Manifest) -> Manifest:
    """The manifest without the files that only the engine has."""
    held = held_files(layout)
    files = {
        name: entry
        for name, entry in manifest.files.items()
        if name not in held or (layout.root / name).exists()
    }
    return replace(manifest, files=files)
