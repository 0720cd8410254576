"""Near-duplicates: one hit of each group is shown, and lists the ones merged into it.

Two texts are near-duplicates if they share most of their pairs of neighbouring words

    J = |pairs of a and b| / |pairs of a or b|

(resemblance by shingles: Broder 1997, On the resemblance and containment of documents), contain the
same numbers and identifiers, and do not contradict each other: passages that differ in a price, a
version or a "not" are not duplicates.

In a test with edited copies and with similar but different passages, word pairs separated the two
better than single words, longer shingles, a 64-bit simhash or the cosine of the vectors.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import islice, pairwise
from zlib import crc32

from ...index.letters import normalise
from ...index.reader import Index
from ...index.records import count_of
from ...index.tokens import Token
from ..journal import Journal
from ..opposites import is_opposed
from ..results import Hit

MOST_SEEN = 4  # Hits compared with each other, as a multiple of the requested ones.
MAX_SEEN = 200  # Maximum rank of a compared hit; hits below are shown unchanged.
KEPT_TEXTS = 512  # Size of the cache of shingles, 10 KB each; computing them takes 0.3 ms.
KEPT_SKETCHES = 4_096  # 0.5 KB each; computing one takes 0.05 ms.
# Word pairs per sketch, and how many must be shared; near-duplicates share 4 or more.
SKETCHED, LEAST_SHARED = 8, 3

_DIGIT, _DIGITS, _WORD = re.compile(r"\d"), re.compile(r"\d+"), re.compile(r"[^\W\d]+")

Tokenize = Callable[[str], Sequence[Token]]


@dataclass(frozen=True, slots=True)
class Shingles:
    """The features of a text by which it is compared with others."""

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


@lru_cache(KEPT_SKETCHES)
def sketch_of(text: str) -> list[int]:
    """Return keys of a text; near-duplicates almost certainly share LEAST_SHARED of them.

    Each key combines the numbers of the text with one of the lowest hashes of its word pairs (a
    bottom sketch: Cohen and Kaplan 2007, Summarizing data using bottom-k sketches).
    """
    folded = normalise(text).casefold()
    numbers, words = frozenset(_DIGITS.findall(folded)), _WORD.findall(folded)
    pairs = {*pairwise(words)} or {tuple(words)}
    hashes = {crc32(" ".join(pair).encode(errors="replace")) for pair in pairs}
    return [hash((numbers, least)) for least in nsmallest(SKETCHED, hashes)]


def merge_near_duplicates(
    hits: Iterable[Hit], count: int, index: Index, journal: Journal, *, similarity: float
) -> Iterator[Hit]:
    """Yield the hits, best first, without those that resemble a better one.

    The hits of this page, and as many below it, are grouped before any is yielded. Each yielded hit
    lists the hits that were merged into it, best first.
    """
    remaining, tokenize = iter(hits), index.tokenizer.tokenize
    depth = count + min(count, journal.top_k)
    kept: list[Hit] = []
    shingles: list[Shingles | str] = []  # Shingles are computed only when a text is compared.
    sketched: dict[int, list[int]] = {}
    duplicates: list[list[Hit]] = []
    removed = seen = 0
    most = min(MOST_SEEN * depth, MAX_SEEN)

    def shingles_of(number: int) -> Shingles:
        found = shingles[number]
        if isinstance(found, str):
            found = shingles[number] = Shingles.of(found, tokenize)
        return found

    def find_original(hit: Hit) -> int | None:
        """Return the position of the hit that this one resembles, if any."""
        nonlocal removed, seen
        if seen == most:
            return None
        seen += 1
        sketch, own = sketch_of(hit.text), len(shingles)
        near = [number for key in sketch if key in sketched for number in sketched[key]]
        # Most hits have no key in common, and making a Counter takes as long as all else here.
        shared = Counter(near) if near else {}
        shingles.append(hit.text)
        for number in sorted(shared):
            if shared[number] < min(LEAST_SHARED, len(sketch)):
                continue
            if shingles_of(own).resembles(shingles_of(number), similarity):
                shingles.pop()
                removed += 1
                duplicates_found = count_of(removed, "near duplicate")
                sentence = f"Merged {duplicates_found} into similar passages."
                journal.note("near_duplicates", sentence, removed=removed)
                return number
        for key in sketch:
            sketched.setdefault(key, []).append(own)
        if seen == most < MAX_SEEN:
            journal.stop("near_duplicates")
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
