"""Parent expansion: small chunks are found, and the larger passage around each is given with it.

An index of small chunks says of each where its parent begins and ends. The chunks of a parent
follow each other in the index, so that the passage is put together from their texts.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile

from ...index.documents import Documents, join_chunks
from ...index.reader import Index
from ...index.records import ChunkRecord, Passage
from ..journal import Journal
from ..results import Hit


def expand_parents(hits: Iterable[Hit], index: Index, journal: Journal) -> Iterator[Hit]:
    """Yield the hits, best first, each with its parent passage, and each parent only once.

    The text of the chunk does not change. A chunk without a parent gets no passage.
    """
    seen: set[tuple[str, int]] = set()
    merged = 0
    for hit in hits:
        chunk = hit
        if "parent_start" not in chunk.position:
            yield hit
            continue
        parent = (chunk.document_id, chunk.position["parent_start"])
        if parent not in seen:
            seen.add(parent)
            yield replace(hit, passage=find_passage(index, chunk))
        else:
            merged += 1
            journal.note("parents", merged=merged)


def find_passage(index: Index, chunk: ChunkRecord) -> Passage | None:
    """Return the parent of a chunk of this index, if it has one."""
    if "parent_start" not in chunk.position:
        return None
    documents = index.part(Documents)
    document = documents.find(chunk.document_id)
    place = None if document is None else documents.place_of(document, chunk.id)
    if document is None or place is None:
        return None
    number = document.chunk_start + place
    first, end = document.chunk_start, document.chunk_start + document.chunks
    before = _siblings(index, chunk, range(number - 1, first - 1, -1))
    after = _siblings(index, chunk, range(number + 1, end))
    chunks = [*reversed(before), chunk, *after]
    position = {
        **chunks[0].position,
        "start": chunk.position["parent_start"],
        "end": chunk.position["parent_end"],
        "line_end": chunks[-1].position["line_end"],
    }
    del position["parent_start"], position["parent_end"]
    return Passage("".join(join_chunks(chunks)), _common_section(chunks), position)


def _siblings(index: Index, chunk: ChunkRecord, numbers: Iterable[int]) -> list[ChunkRecord]:
    """Return the neighbours in a document with the same parent, from the nearest on."""
    parent = chunk.position["parent_start"]
    neighbours = (index.chunk(number) for number in numbers)
    return [*takewhile(lambda one: one.position.get("parent_start") == parent, neighbours)]


def _common_section(chunks: Iterable[ChunkRecord]) -> list[str]:
    """Return the headings that all of the chunks share."""
    common: list[str] = []
    for headings in zip(*(chunk.section for chunk in chunks), strict=False):
        if len(set(headings)) > 1:
            break
        common.append(headings[0])
    return common
