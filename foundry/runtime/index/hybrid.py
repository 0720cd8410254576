"""An index with vectors: the dense lane and the query encoder beside the keyword lane."""

from ..retrieval.dense_lane import DenseLane
from ..retrieval.query_encoder import open_query_encoder
from .errors import IndexUnusableError
from .layout import IndexLayout, Manifest
from .reader import Index


class HybridIndex(Index):
    """An index that can be searched by keywords and by meaning."""

    def __init__(self, layout: IndexLayout, manifest: Manifest) -> None:
        """Map the files of `layout`; use `open`, which checks them first."""
        super().__init__(layout, manifest)
        dense = manifest.dense
        if dense is None:
            raise IndexUnusableError(
                f"{layout.root}: has no vectors, and this server needs them",
                hint="set embedding.provider and build again, or export again for this index",
            )
        self.dense_lane = DenseLane.open(
            layout, manifest.chunks, dense.dimensions, dense.candidates
        )
        self.encoder = open_query_encoder(layout, dense)
