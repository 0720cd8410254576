"""Near copies: documents that differ in a few words, such as old editions or other footers.

The sets of all sequences of SHINGLE_WORDS words in two near copies have a Jaccard similarity of at
least THRESHOLD. Candidates come from locality-sensitive hashing of MinHash signatures (Broder 1997,
On the resemblance and containment of documents; Leskovec, Rajaraman and Ullman, Mining of Massive
Datasets, chapter 3); then their exact similarity is computed. Documents that contradict each other
are not copies.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from zlib import crc32

from foundry.documents import Document
from foundry.runtime.retrieval.opposites import is_opposed

SHINGLE_WORDS = 5
THRESHOLD = 0.95
BANDS, ROWS = 16, 8
"""16 bands of 8 rows miss one pair in 37 million at a similarity of 0.95."""

_WORD = re.compile(r"\w++")


def find_near_copies(
    numbers: Sequence[int], read: Callable[[int], Document | None]
) -> Iterator[tuple[int, int]]:
    """Yield each near copy among `numbers`, with the first document that it is a copy of.

    Documents are only compared with documents that are kept, so that a chain of small changes does
    not merge many documents.
    """
    # Importing it takes as long as reading hundreds of documents.
    from datasketch import MinHash, MinHashLSH

    blank = MinHash(num_perm=BANDS * ROWS, hashfunc=crc32)
    similar = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    for place, number in enumerate(numbers):
        if (document := read(number)) is None:
            continue
        shingles = shingles_of(document)
        sketch = blank.copy()
        sketch.update_batch([shingle.encode() for shingle in shingles])
        for candidate in sorted(similar.query(sketch)):
            other = read(numbers[candidate])
            if other is None or jaccard(shingles, shingles_of(other)) < THRESHOLD:
                continue
            if not is_opposed(document.reading.text, other.reading.text):
                yield number, numbers[candidate]
                break
        else:
            similar.insert(place, sketch)


def shingles_of(document: Document) -> set[str]:
    """Return all sequences of SHINGLE_WORDS words in a document's text, lower-cased.

    A shorter text is a single shingle.
    """
    reading = document.reading
    words = [word.casefold() for word in _WORD.findall(reading.text, reading.body_start)]
    last = max(1, len(words) - SHINGLE_WORDS + 1)
    return {" ".join(words[start : start + SHINGLE_WORDS]) for start in range(last)}


def jaccard(left: set[str], right: set[str]) -> float:
    """Return the Jaccard index of two non-empty sets."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared)
