"""Documents that are copies but for a few words: an old edition, a page with another footer.

Two documents are near copies when the Jaccard similarity of their sets of SHINGLE_WORDS consecutive
words is at least THRESHOLD, and they agree in what tells similar pages apart: title, headings, and
every word with a digit in it (numbers, versions, error codes, names such as `int32_t`), in their
order. Candidates come from locality-sensitive hashing of MinHash signatures (Broder 1997, On the
resemblance and containment of documents; Leskovec, Rajaraman and Ullman, Mining of Massive
Datasets, chapter 3); the similarity of each is then computed exactly.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from zlib import crc32

from foundry.build.deduplication.titles import own_title
from foundry.records import Document

SHINGLE_WORDS = 5
THRESHOLD = 0.95
BANDS, ROWS = 16, 8
"""16 bands of 8 rows miss one pair in 30 million at a similarity of 0.95."""

_WORD = re.compile(r"\w++")
_JOINED_WORDS = re.compile(r"\w++(?:[.\-/]\w++)*+")
_DIGIT = re.compile(r"\d")


def facts_of(document: Document) -> bytes:
    """A hash of what near copies have to agree in."""
    reading = document.reading
    digest = blake2b(digest_size=16)
    words = _JOINED_WORDS.findall(reading.text, reading.body_start)
    numbers = [word for word in words if _DIGIT.search(word)]
    headings = [heading.text for heading in reading.headings]
    # Of two files, only one may be called what both are headed.
    title = own_title(document) if document.title not in headings else ""
    for texts in ([title], headings, numbers):
        digest.update("\0".join(text.casefold() for text in texts).encode() + b"\1")
    return digest.digest()


def find_near_copies(
    numbers: Sequence[int], read: Callable[[int], Document]
) -> Iterator[tuple[int, int]]:
    """Yield each near copy among `numbers`, with the first of them that it is a copy of.

    Documents are compared with those that stay, never with copies, so that a chain of small
    changes does not make one document of many.
    """
    # Importing it takes as long as reading hundreds of documents.
    from datasketch import MinHash, MinHashLSH

    blank = MinHash(num_perm=BANDS * ROWS, hashfunc=crc32)
    similar = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    for place, number in enumerate(numbers):
        shingles = shingles_of(read(number))
        sketch = blank.copy()
        sketch.update_batch([shingle.encode() for shingle in shingles])
        for candidate in sorted(similar.query(sketch)):
            if jaccard(shingles, shingles_of(read(numbers[candidate]))) >= THRESHOLD:
                yield number, numbers[candidate]
                break
        else:
            similar.insert(place, sketch)


def shingles_of(document: Document) -> set[str]:
    """Return all runs of SHINGLE_WORDS words of a document's text, in lower case; or its few
    words."""
    reading = document.reading
    words = [word.casefold() for word in _WORD.findall(reading.text, reading.body_start)]
    last = max(1, len(words) - SHINGLE_WORDS + 1)
    return {" ".join(words[start : start + SHINGLE_WORDS]) for start in range(last)}


def jaccard(left: set[str], right: set[str]) -> float:
    """Return the size of the intersection over that of the union; neither set may be empty."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared)
