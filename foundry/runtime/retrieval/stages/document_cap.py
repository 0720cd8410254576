"""A cap on the hits of one document, so that others have room."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ..journal import Journal
from ..results import Hit

# To read a hit that is left out: a quarter of its time, as documents of many chunks have many such.
HIT_UNITS = 250


def cap_documents(hits: Iterable[Hit], journal: Journal, *, most: int) -> Iterator[Hit]:
    """Yield the hits, best first, without those beyond the `most` best of their document."""
    seen: Counter[str] = Counter()
    left_out = 0
    for hit in hits:
        seen[hit.document_id] += 1
        if seen[hit.document_id] <= most:
            yield hit
        elif not journal.spend("document_cap", HIT_UNITS):
            break
        else:
            left_out += 1
            journal.note("document_cap", left_out=left_out)
