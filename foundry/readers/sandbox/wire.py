"""Readings as JSON, between a worker and the process that it works for."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from foundry.readers.charsets import noting_guesses
from foundry.readers.contract import TOO_MUCH, UnreadableError
from foundry.readers.hidden import noting_hidden
from foundry.readers.sandbox.formats import FILE_READERS
from foundry.records import Finding, Heading, Link, Reading, Span


def open_task(_options: str) -> Callable[[dict[str, Any], bytes], bytes]:
    """Return what a worker of a plain sandbox does with a request: have a file read."""
    return lambda request, content: read_here(request["reader"], content)


def read_here(version: str, content: bytes) -> bytes:
    """Read in this process: a reading as JSON, or why there is none. For workers only."""
    try:
        values = asdict(run_reader(version, content))
    except UnreadableError as error:
        values = {"reason": error.reason, "detail": error.detail}
    return json.dumps(values).encode()


def run_reader(version: str, content: bytes) -> Reading:
    """Have the reader of that version read a file, in this process. Raises UnreadableError."""
    (reader,) = (reader for reader in FILE_READERS if reader.version == version)
    try:
        with noting_hidden() as found, noting_guesses() as guessed:
            reading = reader.read(content)
        return replace(reading, hidden=tuple(found.values()), guessed=tuple(sorted(guessed)))
    except UnreadableError:
        raise
    except (RecursionError, MemoryError) as error:
        raise UnreadableError(TOO_MUCH, type(error).__name__) from None
    except Exception as error:
        # Whatever a library raises for damaged input; its text may quote the document.
        raise UnreadableError("damaged", type(error).__name__) from None


def parse_answer(answer: bytes) -> Reading:
    """A reading from a worker's answer, which is trusted no more than the document was.

    Raises UnreadableError for the worker's own refusal, and for an answer that makes no sense.
    """
    try:
        values = json.loads(answer)
        if "reason" in values:
            raise UnreadableError(str(values["reason"]), str(values["detail"]))
        return check_reading(_to_reading(values))
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
            "aliases": tuple(values["aliases"]),
            "pages": tuple(values["pages"]),
            "metadata": {},
            "guessed": tuple(values["guessed"]),
            "hidden": tuple(Finding(**finding) for finding in values["hidden"]),
        }
    )


def check_reading(reading: Reading) -> Reading:
    """Return the reading, if its parts fit together. Raises ValueError and TypeError."""
    # Nothing that cannot be written as UTF-8.
    reading.text.encode()
    for spans in (reading.headings, reading.blocks):
        offsets = [offset for span in spans for offset in (span.start, span.end)]
        _check_offsets(reading, offsets)
    _check_offsets(reading, list(reading.pages))
    strings = [reading.title or "", reading.modified or "", reading.language or "", reading.lacking]
    strings += [*reading.tags, *reading.aliases, *reading.guessed]
    strings += [heading.text for heading in reading.headings]
    strings += [finding.kind for finding in reading.hidden]
    strings += [part for link in reading.links for part in (link.target, link.text, link.kind)]
    if not all(isinstance(string, str) for string in strings):
        raise ValueError("not a string")
    "".join(strings).encode()
    return reading


def _check_offsets(reading: Reading, offsets: list[int]) -> None:
    within = all(isinstance(offset, int) for offset in offsets) and offsets == sorted(offsets)
    if offsets and not (within and offsets[0] >= 0 and offsets[-1] <= len(reading.text)):
        raise ValueError("offsets outside the text")
