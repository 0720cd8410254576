"""Facets: counts the values of each filter among the best passages of a search.

Folders are counted at the level at which the paths of these passages first differ; each is a prefix
for the filter `path`. A document with copies counts at each of its places.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from ...index.documents import Documents
from ...index.reader import Index
from ..candidates import Candidates
from ..facet_counts import Facet, Facets, FacetValue
from ..filters import FilterColumns
from ..journal import Journal

ENTRIES_OF_UNIT = 8  # Reading a column entry takes an eighth of the time of a posting.


def note_facets(
    is_asked: bool,
    candidates: Candidates,
    index: Index,
    journal: Journal,
    *,
    passages: int,
    choices: int,
) -> None:
    """Count the values in the best `passages`, if the request asks for facets.

    Each facet has the `choices` most frequent values of a filter. Filters that exceed the query's
    budget are skipped.
    """
    if not is_asked:
        return
    columns, starts = index.part(FilterColumns.open), index.part(Documents.open).first_chunks
    chunks = candidates.chunks[candidates.best_places()[:passages]]
    of_chunks = starts.searchsorted(chunks.astype(np.uint64), "right") - 1
    documents, times = np.unique(of_chunks, return_counts=True)
    firsts = starts[documents].astype(np.int64)
    passages_of = dict(zip(documents.tolist(), times.tolist(), strict=True))
    facets = []
    for name in ("source", "path", "tags", "media_type", *columns.columns):
        if not journal.spend("facets", columns.entries_of(name) // ENTRIES_OF_UNIT):
            continue
        counts = Counter[str]()
        for value, document in columns.values_in(name, documents, firsts):
            counts[value] += passages_of[document]
        facets.append(_facet(name, _folders(counts) if name == "path" else counts, choices))
    journal.facets = Facets(len(chunks), tuple(facet for facet in facets if facet.values))


def _facet(name: str, counts: Mapping[str, int], most: int) -> Facet:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = tuple(FacetValue(value, count) for value, count in ordered[:most])
    return Facet(name, shown, len(ordered) - len(shown))


def _folders(passages_at: Mapping[str, int]) -> Counter[str]:
    """Count passages by folder, one level below their deepest common folder.

    For `a/b/c.md` and `a/d/e.md`, the folders are `a/b/` and `a/d/`.
    """
    paths = [path.split("/") for path in passages_at]
    depth = 0
    while all(len(path) > depth + 1 for path in paths) and len({p[depth] for p in paths}) == 1:
        depth += 1
    counts = Counter[str]()
    for path, count in zip(paths, passages_at.values(), strict=True):
        if len(path) > depth + 1:
            counts["/".join(path[: depth + 1]) + "/"] += count
    return counts
