"""A cap on the hits of one document, so that others have room."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ...index.records import count_of
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
            passages = count_of(left_out, "passage")
            sentence = f"{passages} left out, since enough others are from the same document."
            journal.note("document_cap", sentence, left_out=left_out)
