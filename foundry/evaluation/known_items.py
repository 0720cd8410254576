"""Known-item queries: made from a corpus, so that one document must be found beyond doubt.

(Azzopardi, de Rijke and Balog 2007, Building simulated queries for known-item topics.) They say
whether search works at all, not how well it serves people: who asks does not know the heading.
"""

import hashlib
from collections.abc import Callable, Iterator

from foundry.errors import FoundryError
from foundry.evaluation.questions import Question, QuestionSet
from foundry.runtime.index.reader import Index
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.tokens import Token, heading_term

EACH = 100
"""Queries of each sort, at most."""

EXAMINED = 3000
"""Chunks that queries are made from, at most."""

RARE_WORDS = 3
LEAST_LETTERS = 4


def make_known_items(index: Index) -> QuestionSet:
    """Headings, identifiers and groups of rare words that one chunk alone has.

    The same index gives the same queries. Raises FoundryError if there are none.
    """
    sorts: tuple[Callable[[Index, ChunkRecord], Iterator[str]], ...] = (
        unique_headings,
        _identifiers,
        _rare_words,
    )
    found: dict[str, str] = {}
    counts = [0] * len(sorts)
    for number in sample(index.chunk_count):
        chunk = index.chunk(number)
        for sort, make in enumerate(sorts):
            query = next(make(index, chunk), None) if counts[sort] < EACH else None
            if query is not None and query not in found:
                found[query] = chunk.document_id
                counts[sort] += 1
        if min(counts) == EACH:
            break
    if not found:
        raise FoundryError(
            "the index has nothing that known-item queries could be made from",
            hint="write questions.jsonl beside foundry.toml, or name a file with --questions",
        )
    questions = [Question(query, {document: 1.0}) for query, document in sorted(found.items())]
    return QuestionSet("known-item", tuple(questions))


def sample(count: int) -> list[int]:
    """Return chunk numbers in an order that is always the same and follows nothing in them."""
    numbers = sorted(range(count), key=lambda n: hashlib.sha256(b"%d" % n).digest())
    return numbers[:EXAMINED]


def unique_headings(index: Index, chunk: ChunkRecord) -> Iterator[str]:
    """Yield the headings above a chunk that no other section has, the nearest first."""
    for heading in reversed(chunk.headings()):
        term = heading_term(index.tokenizer.tokenize(heading))
        if term is not None and index.keyword_lane.frequency(term) == 1:
            yield heading


def _identifiers(index: Index, chunk: ChunkRecord) -> Iterator[str]:
    for token in index.tokenizer.tokenize(chunk.text):
        if token.is_identifier and _is_unique(index, token):
            yield token.text


def _rare_words(index: Index, chunk: ChunkRecord) -> Iterator[str]:
    words = {
        token.text.casefold(): index.keyword_lane.frequency(token.terms[0])
        for token in index.tokenizer.tokenize(chunk.text)
        if token.text.isalpha() and len(token.text) >= LEAST_LETTERS and len(token.terms) == 1
    }
    rarest = sorted((frequency, word) for word, frequency in words.items() if frequency)
    if len(rarest) >= RARE_WORDS and rarest[0][0] == 1:
        yield " ".join(word for _, word in rarest[:RARE_WORDS])


def _is_unique(index: Index, token: Token) -> bool:
    return bool(token.terms) and index.keyword_lane.frequency(token.terms[0]) == 1
