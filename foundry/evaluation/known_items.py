"""Known-item queries: generated from a corpus, each with a document that must be found.

Source: Azzopardi, de Rijke and Balog 2007, Building simulated queries for known-item topics. These
queries show whether search works at all, but not how well it answers questions of people, who do
not know the headings.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from foundry.errors import FoundryError
from foundry.evaluation.questions import write_lines
from foundry.runtime.evaluation.questions import Question, QuestionSet
from foundry.runtime.index.documents import Documents
from foundry.runtime.index.heading_terms import heading_term
from foundry.runtime.index.reader import Index
from foundry.runtime.index.records import ChunkRecord

EACH = 100
"""Maximum number of queries of each kind."""

EXAMINED = 3000
"""Maximum number of chunks that queries are made from."""

RARE_WORDS = 3
LEAST_LETTERS = 4

DRAFTED = 20
"""Number of questions in a draft: as many as somebody can rewrite in half an hour."""


def make_known_items(index: Index) -> QuestionSet:
    """Return headings, identifiers and groups of rare words that only one chunk has.

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
            "the index has nothing to make known-item queries from",
            hint="write questions.jsonl next to foundry.toml, or name a file with --questions",
        )
    questions = [Question(query, {document: 1.0}) for query, document in sorted(found.items())]
    return QuestionSet("known-item", tuple(questions))


def sample(count: int) -> list[int]:
    """Return at most EXAMINED of `count` chunk numbers, in a fixed pseudo-random order."""
    numbers = sorted(range(count), key=lambda n: hashlib.sha256(b"%d" % n).digest())
    return numbers[:EXAMINED]


def unique_headings(index: Index, chunk: ChunkRecord) -> Iterator[str]:
    """Yield the headings above a chunk that no other chunk has, nearest first."""
    for heading in reversed(chunk.headings()):
        term = heading_term(index.tokenizer.tokenize(heading))
        if term is not None and index.keyword_lane.frequency(term) == 1:
            yield heading


def _identifiers(index: Index, chunk: ChunkRecord) -> Iterator[str]:
    for token in index.tokenizer.tokenize(chunk.text):
        is_known = token.is_identifier and token.terms
        if is_known and index.keyword_lane.frequency(token.terms[0]) == 1:
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


def write_draft(index: Index, file: Path) -> int:
    """Write a draft of questions, to be rewritten by hand, and return their number.

    Each question is a heading, with its document as the relevant one. Raises FoundryError if the
    file exists, or if no heading is unique.
    """
    drafts = [{"query": heading, "relevant": [document]} for heading, document in _choose(index)]
    if not drafts:
        raise FoundryError(
            "the index has no headings to draft questions from",
            hint='write lines like {"query": "...", "relevant": ["path or id"]} yourself',
        )
    write_lines(file, drafts)
    return len(drafts)


def _choose(index: Index) -> Iterator[tuple[str, str]]:
    """Yield headings with their documents: one of each document, then a second, and so on."""
    paths = Counter(document.path for document in index.part(Documents.open).page())
    headings: dict[str, str] = {}
    for number in sample(index.chunk_count):
        chunk = index.chunk(number)
        document = chunk.path if paths[chunk.path] == 1 else chunk.document_id
        for heading in unique_headings(index, chunk):
            headings.setdefault(heading, document)
    rounds: Counter[str] = Counter()
    ranked = []
    for place, (heading, document) in enumerate(headings.items()):
        ranked.append((rounds[document], place, heading, document))
        rounds[document] += 1
    for _, _, heading, document in sorted(ranked)[:DRAFTED]:
        yield heading, document
