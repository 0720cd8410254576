"""A document's text, joined again from its chunks."""

from collections.abc import Iterable, Iterator

from .index import Index
from .records import ChunkRecord, DocumentRecord


def read_document(index: Index, document: DocumentRecord) -> Iterator[str]:
    """The text of a document of this index, piece by piece; each chunk is read when it is due."""
    numbers = range(document.chunk_start, document.chunk_end)
    return join_chunks(index.chunk(number) for number in numbers)


def join_chunks(chunks: Iterable[ChunkRecord]) -> Iterator[str]:
    """The text of chunks that follow each other, piece by piece, nothing of it twice.

    Where chunks overlap, the later one gives only what is new. What lay between two chunks and is
    in neither (white space, mostly) becomes as many line breaks, at most two, or a space.
    """
    end = line = -1
    for chunk in chunks:
        start = chunk.position["start"]
        if end >= 0:
            lines = chunk.position["line_start"] - line
            if start > end:
                yield "\n" * min(lines, 2) if lines > 0 else " "
            text = chunk.text[max(0, end - start) :]
        else:
            text = chunk.text
        yield text
        end = max(end, chunk.position["end"])
        line = max(line, chunk.position["line_end"])
