"""Finds what is wrong with pinned answers, by themselves."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from foundry.features.stages.results import MAX_PINNED_DOCUMENTS, PinnedAnswer
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.stages.pinned import pinned_key


def find_problems(answers: Sequence[PinnedAnswer], language: str) -> Iterator[str]:
    """Yield what no index could answer, with its key path."""
    tokenizer = Tokenizer(language)
    documents: dict[str, list[str]] = defaultdict(list)
    for number, answer in enumerate(answers):
        place = f"search.pinned.answers[{number}]"
        key = pinned_key(tokenizer, answer.query)
        if key is None:
            yield (
                f"{place}.query: {answer.query!r} has no word that is searched for, or too many;"
                " write it as people ask"
            )
            continue
        if answer.document in documents[key]:
            yield f"{place}: {answer.document!r} is pinned to this query twice"
        documents[key].append(answer.document)
        if len(documents[key]) == MAX_PINNED_DOCUMENTS + 1:
            yield (
                f"{place}: is the answer number {MAX_PINNED_DOCUMENTS + 1} to this query, which"
                f" may have {MAX_PINNED_DOCUMENTS}"
            )
