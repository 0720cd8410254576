"""Queries are embedded by the table of word pieces in the index."""

from ..index.arrays import REBUILD_HINT
from ..index.errors import IndexUnusableError
from ..index.layout import DenseManifest, IndexLayout
from .encoder import PieceEncoder
from .probe import find_difference


def open_query_encoder(layout: IndexLayout, dense: DenseManifest) -> PieceEncoder:
    """Open the table and ask it for the probe text. Raises IndexUnusableError."""
    if dense.query.encoder == "same":
        raise IndexUnusableError(
            f"{layout.root}: its queries are embedded by {dense.provider} model {dense.model!r},"
            " and this server embeds them with a table in the index",
            hint="export the server again for this index",
        )
    encoder = PieceEncoder.open(layout.encoder)
    if find_difference(encoder.encode(dense.probe_text), dense):
        raise IndexUnusableError(
            f"{layout.root}: the query encoder does not answer its probe text as it did when"
            " the index was built",
            hint=REBUILD_HINT,
        )
    return encoder
