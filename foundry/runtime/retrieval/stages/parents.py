"""Parent expansion: small chunks are searched, and each hit gets the passage around it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from ...index.reader import Index
from ...index.records import count_of
from ..journal import Journal
from ..passages import find_passages
from ..results import Hit

NO_PARENT = -1


def expand_parents(
    hits: Iterable[Hit], count: int, index: Index, journal: Journal
) -> Iterator[Hit]:
    """Yield the hits, best first, each with its parent passage, and each parent once.

    Passages are read for `count` hits at a time. The chunk's text is unchanged; a chunk without a
    parent gets no passage.
    """
    once = _merge_parents(hits, journal)
    while shown := [*islice(once, count)]:
        for hit, passage in zip(shown, find_passages(index, shown), strict=True):
            yield hit if passage is None else replace(hit, passage=passage)


def _merge_parents(hits: Iterable[Hit], journal: Journal) -> Iterator[Hit]:
    """Yield the hits, best first, without those whose parent a better hit shares."""
    seen: set[tuple[str, int]] = set()
    merged = 0
    for hit in hits:
        parent = (hit.document_id, hit.position.get("parent_start", NO_PARENT))
        if parent in seen:
            merged += 1
            results = count_of(merged, "result")
            sentence = f"Merged {results} with a better one from the same passage."
            journal.note("parents", sentence, merged=merged)
            continue
        if parent[1] != NO_PARENT:
            seen.add(parent)
        yield hit
