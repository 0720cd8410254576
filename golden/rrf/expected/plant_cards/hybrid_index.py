"""An index with vectors: the dense lane and the query encoder beside the keyword lane."""

import numpy as np

from .arrays import REBUILD_HINT, open_array
from .dense_lane import DenseLane
from .encoder import PieceEncoder
from .errors import IndexUnusableError
from .index import Index
from .layout import IndexLayout, Manifest

PROBE_TOLERANCE = 0.99
"""The least cosine between the probe text's vector now and when the index was built."""


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
        chunks, dimensions = manifest.chunks, dense.dimensions
        self.encoder = PieceEncoder.open(layout.encoder)
        self.dense_lane = DenseLane(
            open_array(layout.vectors, np.int8, (chunks, dimensions)),
            open_array(layout.vector_scales, np.float32, (chunks,)),
            open_array(layout.vector_centre, np.float32, (dimensions,)),
            open_array(layout.sketch, np.uint64, (-(-dimensions // 64), chunks)),
            dense.candidates,
        )
        probe = self.encoder.encode(dense.probe_text)
        expected = np.array(dense.probe_vector, dtype=np.float32)
        if probe is None or float(probe @ expected) < PROBE_TOLERANCE:
            raise IndexUnusableError(
                f"{layout.root}: the query encoder does not answer its probe text as it did when"
                " the index was built",
                hint=REBUILD_HINT,
            )
