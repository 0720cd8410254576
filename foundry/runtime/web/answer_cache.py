"""Answers from memory what was asked before of the same index, by somebody with the same rights.

It stands within hooks, metrics and the log of questions, which are told of every search.
"""

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from sys import getsizeof
from typing import Any
from weakref import WeakKeyDictionary

from ..errors import InvalidRequestError
from ..index.reader import Index, current_index
from ..index.tokens import Tokenizer
from ..retrieval.candidates import stage
from ..retrieval.filters import parse_filters
from ..retrieval.results import Highlights, SearchResponse, Span
from ..retrieval.snippets import add_snippets
from .routes import adapter_of

ENTRY_BYTES = 180  # Of a key and its place among the others, measured over 100,000 of them.
SECONDS_OF_A_DAY = 86_400
# [snippets
_SNIPPETS = list[tuple[str | None, Highlights | None, tuple[Span, ...]]]
# ]


class AnswerCache:
    """Answers of this process, as JSON: bytes can be counted, and nobody changes another's."""

    def __init__(self, megabytes: int) -> None:
        """Keep so many of 1,000,000 bytes at most; what was asked for last stays longest."""
        self.most_bytes = megabytes * 1_000_000
        self.size_bytes = 0
        self._kept: OrderedDict[tuple[int, str], bytes] = OrderedDict()
        self._lock = threading.Lock()
        # What a caller may see of an index is an index too, so numbers tell rights apart as well.
        self._numbers: WeakKeyDictionary[Index, int] = WeakKeyDictionary()
        self._next_number = itertools.count().__next__

    def remember(self, search: Callable[..., SearchResponse]) -> Callable[..., SearchResponse]:
        """Answer from memory where this search has answered before; only `took_ms` differs."""

        @wraps(search)
        def remembered(query: str, top_k: int = 10, **options: Any) -> SearchResponse:
            begun = time.perf_counter()
            try:
                filters = sorted(parse_filters(options.get("filters")).items())
            except InvalidRequestError:
                # The query may be worse.
                return search(query, top_k, **options)
            # Age is counted in days, by UTC.
            day = int(time.time()) // SECONDS_OF_A_DAY
            others = sorted({**options, "filters": filters}.items())
            key = self._number(), repr((day, query, top_k, others))
            if (kept := self._find(key)) is not None:
                response = _recall(kept)
                return replace(response, took_ms=round((time.perf_counter() - begun) * 1000, 3))
            response = search(query, top_k, **options)
            if is_lasting(response):
                self._keep(key, SearchResponse, response)
            return response

        return remembered

    # [snippets
    def add_snippets(self, response: SearchResponse, tokenizer: Tokenizer) -> None:
        """Give the hits of a response their snippets, which depend on what hits say alone."""
        # Hooks may change what a hit says, and not its id.
        said = hash(tuple((hit.path, hit.title, *hit.section, hit.text) for hit in response.hits))
        key = self._number(), repr((response.query, [hit.id for hit in response.hits], said))
        if (kept := self._find(key)) is None:
            add_snippets(response, tokenizer)
            parts = [(hit.snippet, hit.highlights, hit.snippet_code) for hit in response.hits]
            self._keep(key, _SNIPPETS, parts)
            return
        for hit, parts in zip(
            response.hits, adapter_of(_SNIPPETS).validate_json(kept), strict=True
        ):
            hit.snippet, hit.highlights, hit.snippet_code = parts

    # ]
    def _number(self) -> int:
        index = current_index()
        with self._lock:
            number = self._numbers.get(index)
            if number is None:
                number = self._numbers[index] = self._next_number()
            return number

    def _find(self, key: tuple[int, str]) -> bytes | None:
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
            return kept

    def _keep(self, key: tuple[int, str], kind: Any, value: object) -> None:
        kept = adapter_of(kind).dump_json(value, by_alias=True)
        if _weight(key, kept) > self.most_bytes:
            return
        with self._lock:
            if (former := self._kept.pop(key, None)) is not None:
                self.size_bytes -= _weight(key, former)
            self._kept[key] = kept
            self.size_bytes += _weight(key, kept)
            while self.size_bytes > self.most_bytes:
                self.size_bytes -= _weight(*self._kept.popitem(last=False))


def is_lasting(response: SearchResponse) -> bool:
    """Return whether it would be answered the same again: nothing failed, or took too long."""
    stages = response.stages
    # [service
    if response.reason == "embedder_unavailable":
        return False
    # ]
    return not any("failed" in details for details in stages.values()) and "budget" not in stages


@stage("answer_cache")
def _recall(kept: bytes) -> SearchResponse:
    response: SearchResponse = adapter_of(SearchResponse).validate_json(kept)
    return response


def _weight(key: tuple[int, str], kept: bytes) -> int:
    return ENTRY_BYTES + getsizeof(key[1]) + getsizeof(kept)
