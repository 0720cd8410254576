"""Readings as JSON, between a worker and the process that it works for."""

import json
from dataclasses import asdict
from typing import Any

from foundry.readers.contract import TOO_MUCH, UnreadableError
from foundry.readers.formats import FILE_READERS
from foundry.records import Heading, Link, Reading, Span


def read_here(version: str, content: bytes) -> bytes:
    """Read in this process: a reading as JSON, or why there is none. For workers only."""
    (reader,) = (reader for reader in FILE_READERS if reader.version == version)
    try:
        values = asdict(reader.read(content))
    except UnreadableError as error:
        values = {"reason": error.reason, "detail": error.detail}
    except (RecursionError, MemoryError) as error:
        values = {"reason": TOO_MUCH, "detail": type(error).__name__}
    except Exception as error:
        # Whatever a library raises for damaged input; its text may quote the document.
        values = {"reason": "damaged", "detail": type(error).__name__}
    return json.dumps(values).encode()


def parse_answer(answer: bytes) -> Reading:
    """A reading from a worker's answer, which is trusted no more than the document was.

    Raises UnreadableError for the worker's own refusal, and for an answer that makes no sense.
    """
    try:
        values = json.loads(answer)
        if "reason" in values:
            raise UnreadableError(str(values["reason"]), str(values["detail"]))
        return _check(_to_reading(values))
    except (ValueError, TypeError, KeyError) as error:
        raise UnreadableError("reader failed", type(error).__name__) from None


def _to_reading(values: dict[str, Any]) -> Reading:
    return Reading(
        **{
            **values,
            "headings": tuple(Heading(**heading) for heading in values["headings"]),
            "blocks": tuple(Span(**block) for block in values["blocks"]),
            "links": tuple(Link(**link) for link in values["links"]),
            "tags": tuple(values["tags"]),
            "pages": tuple(values["pages"]),
        }
    )


def _check(reading: Reading) -> Reading:
    # Nothing that cannot be written as UTF-8.
    reading.text.encode()
    for spans in (reading.headings, reading.blocks):
        offsets = [offset for span in spans for offset in (span.start, span.end)]
        _check_offsets(reading, offsets)
    _check_offsets(reading, list(reading.pages))
    strings = [reading.title or "", reading.modified or "", reading.language or "", *reading.tags]
    strings += [heading.text for heading in reading.headings]
    strings += [part for link in reading.links for part in (link.target, link.text, link.kind)]
    if not all(isinstance(string, str) for string in strings):
        raise ValueError("not a string")
    "".join(strings).encode()
    return reading


def _check_offsets(reading: Reading, offsets: list[int]) -> None:
    within = all(isinstance(offset, int) for offset in offsets) and offsets == sorted(offsets)
    if offsets and not (within and offsets[0] >= 0 and offsets[-1] <= len(reading.text)):
        raise ValueError("offsets outside the text")
