"""An index whose lanes are in an engine: records, filters and the query encoder are here."""

from dataclasses import replace
from pathlib import Path
from typing import Self

from ..retrieval.dense_lane import DenseLane
from ..retrieval.query_encoder import open_query_encoder
from ..store.store import VersionMissingError, held_files
from ..store.versions import open_store
from .errors import IndexUnusableError
from .layout import IndexLayout, Manifest
from .reader import Index


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
        opened = super().open(directory)
        opened.store.look()
        if isinstance(opened.store.problem, VersionMissingError):
            problem = opened.store.problem
            raise IndexUnusableError(f"{opened.layout.root}: {problem.message}", hint=problem.hint)
        return opened

    @staticmethod
    def local_part(layout: IndexLayout, manifest: Manifest) -> Manifest:
        """The manifest without the files that only the engine has."""
        held = held_files(layout)
        files = {
            name: entry
            for name, entry in manifest.files.items()
            if name not in held or (layout.root / name).exists()
        }
        return replace(manifest, files=files)
