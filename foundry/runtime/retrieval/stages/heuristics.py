"""Heuristic reranking: boosts hits that contain the query's names, or whose tag it mentions.

The score is multiplied by two factors:

- `entities`: 1 + gain * mean rarity of the query's identifiers and capitalised names that the hit
  contains, in its text or headings. Rarity is ln(n / chunks with the name) / ln(n) for n chunks: 0
  for a name in every chunk, 1 for a name in a single one.
- `category`: 1 + gain if the query contains every word of the hit's source or of one of its tags.

Recency, the third common heuristic, is a separate stage.
"""

import math
from collections.abc import Sequence
from itertools import chain

import numpy as np

from ...index.reader import Index
from ...index.records import ChunkRecord
from ...index.tokens import Token, Tokenizer
from ..candidates import Candidates
from ..timing import stage

Terms = frozenset[str]


@stage("heuristics")
def rerank_heuristically(
    candidates: Candidates,
    index: Index,
    tokens: Sequence[Token],
    *,
    hits: int,
    entities_gain: float,
    category_gain: float,
) -> Candidates:
    """Multiply the scores of the best `hits` by their factors; `tokens` are the query's.

    Other candidates get factor 1, the smallest, so they cannot pass any of the best `hits`.
    """
    places = candidates.best_places()[:hits]
    records = [*index.chunks(candidates.chunks[places].tolist())]
    entities = find_entities(tokens)
    asked = frozenset(chain.from_iterable(token.terms for token in tokens))
    shares, fits = np.zeros((2, len(candidates.scores)))
    if entities:
        rarities = [_rarity(entity, index) for entity in entities]
        shares[places] = [_share(entities, rarities, record, index.tokenizer) for record in records]
    fits[places] = [_fits(record, asked, index.tokenizer) for record in records]
    candidates = candidates.boosted("entities", 1 + entities_gain * shares, 1 + entities_gain)
    return candidates.boosted("category", 1 + category_gain * fits, 1 + category_gain)


def find_entities(tokens: Sequence[Token]) -> list[Terms]:
    """Return the terms of each identifier and capitalised word of a query.

    The first word is often capitalised, so it counts only if the second is too.
    """
    capitalised = [token.text[:1].isupper() for token in tokens]
    if capitalised:
        capitalised[0] = capitalised[:2] == [True, True]
    return [
        frozenset(token.terms)
        for token, is_name in zip(tokens, capitalised, strict=True)
        if token.terms and (token.is_identifier or is_name)
    ]


def _rarity(entity: Terms, index: Index) -> float:
    """Return the rarity of an entity's rarest term, from 0 (in every chunk) to 1."""
    chunks = max(1, min(index.keyword_lane.frequency(term) for term in entity))
    return 1 - math.log(chunks) / math.log(max(2, index.chunk_count))


def _share(
    entities: Sequence[Terms], rarities: Sequence[float], record: ChunkRecord, tokenizer: Tokenizer
) -> float:
    held = frozenset(tokenizer.terms("\n".join([*record.headings(), record.text])))
    found = (rarity for entity, rarity in zip(entities, rarities, strict=True) if entity <= held)
    return sum(found) / len(entities)


def _fits(record: ChunkRecord, asked: Terms, tokenizer: Tokenizer) -> bool:
    words = (tokenizer.terms(name) for name in (record.source, *record.tags))
    return any(terms and asked.issuperset(terms) for terms in words)
