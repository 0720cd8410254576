"""Near-duplicates: one hit of each group is shown, and lists the ones merged into it.

Two texts are near-duplicates if they share most of their pairs of neighbouring words

    J = |pairs of a and b| / |pairs of a or b|

(resemblance by shingles: Broder 1997, On the resemblance and containment of documents), contain the
same numbers and identifiers, and do not contradict each other: two passages that differ in a price,
a version or a "not" are not copies.

In a test with edited copies and with similar but different passages, word pairs separated the two
better than single words, longer shingles, a 64-bit simhash or the cosine of the vectors.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

from ...index.reader import Index
from ...index.records import count_of
from ...index.tokens import Token
from ..journal import Journal
from ..opposites import is_opposed
from ..results import Hit

MOST_COMPARED = 4  # Hits to compare, as a multiple of those wanted.
MAX_COMPARED = 400  # On any page: each takes 0.3 ms.
KEPT_TEXTS = 512  # Cached shingles, 10 KB each; computing them takes 0.1 ms.

_DIGIT = re.compile(r"\d")

Tokenize = Callable[[str], Sequence[Token]]


@dataclass(frozen=True, slots=True)
class Shingles:
    """The features by which two texts are compared."""

    text: str
    pairs: frozenset[tuple[str, ...]]
    names: frozenset[str]

    @classmethod
    @lru_cache(KEPT_TEXTS)
    def of(cls, text: str, tokenize: Tokenize) -> "Shingles":
        """Return the pairs of neighbouring terms of a text, and its numbers and identifiers."""
        tokens = tokenize(text)
        terms = [term for token in tokens for term in token.terms]
        return cls(
            text,
            frozenset(pairwise(terms)) if len(terms) > 1 else frozenset({tuple(terms)}),
            frozenset(
                token.text.casefold()
                for token in tokens
                if token.is_identifier or _DIGIT.search(token.text)
            ),
        )

    def resembles(self, other: "Shingles", similarity: float) -> bool:
        """Return whether two texts are near-duplicates."""
        if self.names != other.names:
            return False
        shorter, longer = sorted((len(self.pairs), len(other.pairs)))
        if shorter < similarity * longer:
            return False
        shared = len(self.pairs & other.pairs)
        is_alike = shared >= similarity * (shorter + longer - shared)
        return is_alike and not is_opposed(self.text, other.text)


def merge_near_duplicates(
    hits: Iterable[Hit], count: int, index: Index, journal: Journal, *, similarity: float
) -> Iterator[Hit]:
    """Yield the hits, best first, without those that resemble a better one.

    The first 2 * `count` hits are grouped before any is yielded, so that each lists the hits merged
    into it, best first.
    """
    remaining, tokenize, depth = iter(hits), index.tokenizer.tokenize, 2 * count
    kept: list[Hit] = []
    # Only texts with the same numbers and identifiers can be near-duplicates.
    shingles: dict[frozenset[str], list[tuple[int, Shingles]]] = {}
    duplicates: list[list[Hit]] = []
    removed = compared = 0

    def find_original(hit: Hit) -> int | None:
        """Return the position of the hit that this one resembles, if any."""
        nonlocal compared, removed
        if compared == min(MOST_COMPARED * depth, MAX_COMPARED):
            journal.stop("near_duplicates")
            return None
        compared += 1
        found = Shingles.of(hit.text, tokenize)
        rivals = shingles.setdefault(found.names, [])
        for number, other in rivals:
            if found.resembles(other, similarity):
                removed += 1
                duplicates_found = count_of(removed, "near duplicate")
                sentence = f"{duplicates_found} merged into similar passages."
                journal.note("near_duplicates", sentence, removed=removed)
                return number
        rivals.append((len(kept), found))
        return None

    for hit in islice(remaining, depth):
        original = find_original(hit)
        if original is None:
            kept.append(hit)
            duplicates.append([])
        else:
            duplicates[original].append(hit)
    for hit, others in zip(kept, duplicates, strict=True):
        yield hit.standing_for(others)
    for hit in remaining:
        if find_original(hit) is None:
            yield hit
