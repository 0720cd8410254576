"""The results of MCP tools: documents joined from passages up to a limit, and empty searches."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self, cast, get_args, get_type_hints

from hypothesis import given
from hypothesis import strategies as st
from samples import sample_chunk

from foundry.runtime.index.documents import DocumentRecord, join_chunks
from foundry.runtime.index.reader import Index
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.mcp.descriptions import MADE_FROM
from foundry.runtime.mcp.models import MODELS
from foundry.runtime.mcp.tools import TOOLS, read_beginning
from foundry.runtime.retrieval.results import SearchResponse

CHUNK = sample_chunk(id="guide/ä #1", document_id="a b/guide?.md")
DOCUMENT = DocumentRecord(
    id=CHUNK.document_id,
    title="Guide",
    source="docs",
    path="guide.md",
    url=None,
    media_type="text/markdown",
    sha256="0" * 64,
    bytes=1,
    modified=None,
    tags=[],
    metadata={},
    reader="markdown 1",
    also_at=[],
    chunks=1,
    chunk_start=0,
)


LINES = {"line_start": 1, "line_end": 1}


def passage(text: str, start: int, end: int) -> ChunkRecord:
    return replace(CHUNK, text=text[start:end], position={**LINES, "start": start, "end": end})


@given(st.text(min_size=1), st.data())
def test_document_is_rebuilt_from_complete_passages(text: str, data: st.DataObject) -> None:
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text))))})
    passages = [
        passage(text, max(0, start - data.draw(st.integers(0, 3))), end)
        for start, end in pairwise(cuts)
    ]
    assert "".join(join_chunks(passages)) == text


class HugeIndex:
    """A document of chunks of `length` characters, which records the chunks that were read."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.read: list[int] = []

    def part(self, _kind: object) -> Self:
        return self

    def chunks_of(self, document: DocumentRecord) -> Iterator[ChunkRecord]:
        return map(self.chunk, range(document.chunks))

    def chunk(self, number: int) -> ChunkRecord:
        self.read.append(number)
        start = number * self.length
        position = {**LINES, "start": start, "end": start + self.length}
        return replace(CHUNK, text=str(number % 10) * self.length, position=position)

    def fetch(self, chunks: int) -> tuple[str, bool]:
        return read_beginning(cast(Index, self), replace(DOCUMENT, chunks=chunks))


def test_a_huge_document_is_read_only_up_to_the_limit() -> None:
    index = HugeIndex(1_000)
    text, is_truncated = index.fetch(5_000)
    assert len(text) == 100_000
    assert text == "".join(str(number % 10) * 1_000 for number in range(100))
    assert is_truncated
    # The chunk after the limit shows that there is more.
    assert index.read == list(range(101))


def test_a_document_exactly_at_the_limit_is_complete() -> None:
    text, is_truncated = HugeIndex(1_000).fetch(100)
    assert (len(text), is_truncated) == (100_000, False)
    text, is_truncated = HugeIndex(1_001).fetch(100)
    assert (len(text), is_truncated) == (100_000, True)


def test_a_search_without_hits_does_not_mention_nearest_passages() -> None:
    response = SearchResponse("otter", "keyword", "default", False, "none", (), 0.1, {}, ())
    assert TOOLS["search"].answer(response).to_json().get("notice") is None


def modules_of(kind: Any, seen: set[Any]) -> set[str]:
    """The modules of a class, its bases and the classes of its fields, if they are a server's."""
    named = set[str]()
    for part in {kind, *get_args(kind)} - seen:
        seen.add(part)
        if getattr(part, "__module__", "").startswith("foundry.runtime."):
            named |= {base.__module__ for base in part.__mro__}
            for each in get_type_hints(part).values():
                named |= modules_of(each, seen)
        elif part is not kind:
            named |= modules_of(part, seen)
    return {name for name in named if name.startswith("foundry.runtime.")}


def test_tools_are_described_anew_after_an_edit_of_any_class_in_their_schemas() -> None:
    seen: set[Any] = set()
    kinds = [*MODELS.values(), *(tool.result for tool in TOOLS.values())]
    named = set[str]().union(*(modules_of(kind, seen) for kind in kinds))
    assert "foundry.runtime.index.records" in named
    assert named <= {f"foundry.runtime.{each[:-3].replace('/', '.')}" for each in MADE_FROM}
