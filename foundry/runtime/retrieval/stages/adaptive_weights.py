"""Lane weights by type of query: the more identifiers it has, the more keywords count.

Embeddings blur identifiers, while keyword search takes questions word by word. So the share of
identifiers among the meaningful tokens decides the weights.
"""

import re
from collections.abc import Sequence

from ...index.tokens import Token
from ..hybrid import Weights
from ..identifiers import is_identifier
from ..journal import Journal


def adapt_weights(
    weights: Weights,
    tokens: Sequence[Token],
    patterns: Sequence[re.Pattern[str]],
    journal: Journal,
    *,
    mostly: float,
    mostly_semantic_weight: float,
    partly: float,
    partly_semantic_weight: float,
) -> Weights:
    """Return the weights of the lanes for a query.

    A share of identifiers above `mostly`, or otherwise above `partly`, sets the corresponding
    semantic weight, and both weights add up to 1. Otherwise the weights are unchanged. They are
    also unchanged if the index lacks an identifier of the query, since keywords could only find its
    parts.
    """
    if journal.unknown_identifiers:
        return weights
    share = identifier_share(tokens, patterns)
    if share > mostly:
        semantic = mostly_semantic_weight
    elif share > partly:
        semantic = partly_semantic_weight
    else:
        return weights
    keyword = round(1 - semantic, 6)
    sentence = f"For this query, the semantic lane weighs {semantic:g} and keywords {keyword:g}."
    journal.note("adaptive_weights", sentence, semantic=semantic, keyword=keyword)
    return Weights(semantic, keyword)


def identifier_share(tokens: Sequence[Token], patterns: Sequence[re.Pattern[str]] = ()) -> float:
    """Return the share of identifiers among the meaningful tokens, 0 to 1; 0 if there are none.

    Bare numbers and acronyms next to an identifier count too: `30 CFR 75.1725` is three.
    """
    meaningful = [token for token in tokens if token.terms]
    belonging = 0
    run: list[bool] = []
    for token in (*meaningful, None):
        if token is not None and (is_identifier(token, patterns) or token.may_accompany):
            run.append(is_identifier(token, patterns))
            continue
        belonging += len(run) if any(run) else 0
        run = []
    return belonging / len(meaningful) if meaningful else 0.0
