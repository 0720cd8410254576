"""Reads documents in worker processes, and checks their answers.

`open_task` runs in the workers, `read_apart` calls them. A build has its own workers, whose task
(`building.documents.preparer`) also processes the document after reading it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from foundry.documents import Document, RawDocument, Reading, Skipped
from foundry.documents.reasons import Reason
from foundry.readers import identity_of, read, reads_apart
from foundry.readers.contract import UnreadableError
from foundry.readers.sandbox.processes import FILES_PER_WORKER, Sandbox


@cache
def _results() -> TypeAdapter[Document | Skipped]:
    # Created on first use, because it takes tens of milliseconds and a build has its own.
    return TypeAdapter(Document | Skipped)


def read_apart(raw: RawDocument, sandbox: Sandbox) -> Document | Skipped:
    """Read a document of any format in a worker process; no content raises an error."""
    try:
        return parse_answer(sandbox.ask(raw), raw)
    except UnreadableError as error:
        return Skipped(raw.source, raw.path, error.reason, error.detail)


def open_task(_options: str) -> tuple[Callable[[dict[str, Any], bytes], tuple[bytes, int]], None]:
    """Return the function that answers a request; there is nothing to close.

    An answer is a document or Skipped as JSON, and the `wear_of` it. The worker does not check its
    answers; `parse_answer` does.
    """

    def answer(described: dict[str, Any], content: bytes) -> tuple[bytes, int]:
        raw = RawDocument.from_description(described, content)
        result = read(raw, is_worker=True)
        return _results().dump_json(result), wear_of(raw, result)

    return answer, None


def wear_of(raw: RawDocument, result: object) -> int:
    """Return how many of its `FILES_PER_WORKER` files a worker has used up by reading a document.

    Parsers may leak memory. After a document over a limit, such as memory, the worker is replaced,
    since less would be left for the next one.
    """
    if isinstance(result, Skipped) and result.reason == Reason.TOO_MUCH:
        return FILES_PER_WORKER
    return int(reads_apart(raw))


def parse_answer(answer: bytes, raw: RawDocument) -> Document | Skipped:
    """Parse an answer. Raises UnreadableError for an invalid one."""
    try:
        result = _results().validate_json(answer)
        if isinstance(result, Skipped):
            return Skipped(raw.source, raw.path, result.reason, result.detail)
        check_document(result, raw)
        return result
    except (ValueError, TypeError) as error:
        raise UnreadableError(Reason.READER_FAILED, type(error).__name__) from None


def check_document(document: Document, raw: RawDocument) -> None:
    """Raise ValueError if a document was not read from `raw`, or has invalid offsets."""
    stated = (document.id, document.source, document.bytes, document.sha256, document.path)
    if stated != identity_of(raw):
        raise ValueError("another document")
    reading = document.reading
    for spans in (reading.headings, reading.blocks):
        _check_offsets(reading, [offset for span in spans for offset in (span.start, span.end)])
    _check_offsets(reading, list(reading.pages))


def _check_offsets(reading: Reading, offsets: list[int]) -> None:
    edges = [0, *offsets, len(reading.text)]
    if edges != sorted(edges):
        raise ValueError("offsets are unordered or outside the text")
