"""Signatures of documents, which make it possible to compare documents without their texts."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from foundry.documents import Chunk, Document, Reading
from foundry.runtime.index.records import GOES_ON

LONG_CHARS = 40
"""Headings and blocks with fewer characters count as short."""

_DIGEST_BYTES = 16
_PARAGRAPH_END = re.compile(r"\n(?:[ \t]*\n)+")
_JOINED_WORDS = re.compile(r"\w++(?:[.\-/]\w++)*+")
_DIGIT = re.compile(r"\d")


class Block(NamedTuple):
    """A block of text, without surrounding white space.

    Blocks with the same words, ignoring case, have the same key. Keys of headings and short blocks
    are odd.
    """

    start: int
    end: int
    key: int
    is_heading: bool


def find_blocks(reading: Reading) -> Iterator[Block]:
    """Yield the blocks of a document's body, in order, without overlaps."""
    for start, end, is_heading in _find_stretches(reading):
        raw = reading.text[start:end]
        if key := _key_of(raw, is_heading=is_heading):
            start += len(raw) - len(raw.lstrip())
            yield Block(start, start + len(raw.strip()), key, is_heading)


def _find_stretches(reading: Reading) -> Iterator[tuple[int, int, bool]]:
    """Yield the start and end of each block, with its white space, and whether it is a heading.

    Some blocks are only white space.
    """
    text, position = reading.text, reading.body_start
    whole = sorted(
        [(heading.start, heading.end, True) for heading in reading.headings]
        + [(block.start, block.end, False) for block in reading.blocks]
    )
    for start, end, is_heading in (*whole, (len(text), len(text), False)):
        if start >= position:
            for match in _PARAGRAPH_END.finditer(text, position, start):
                yield position, match.start(), False
                position = match.end()
            yield position, start, False
            yield start, end, is_heading
            position = end


def _key_of(raw: str, *, is_heading: bool) -> int:
    """Return the key of a block; 0 for white space."""
    words = " ".join(raw.split()).casefold()
    if not words:
        return 0
    digest = int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), "big")
    return digest & ~1 | (is_heading or len(words) < LONG_CHARS)


def edge_keys(blocks: Sequence[Block], chunks: Sequence[Chunk]) -> list[int]:
    """Return the distinct keys of the blocks at both ends of chunks, ascending.

    A document without boilerplate among them is not cut, so most documents need not be decoded.
    """
    starts, found = [block.start for block in blocks], set()
    for chunk in chunks:
        inside = blocks[bisect_left(starts, chunk.start) : bisect_left(starts, chunk.end)]
        found |= {block.key for block in (*inside[:1], *inside[-1:])}
    return sorted(found)


class Signature(NamedTuple):
    """A document's source and path, and hashes of its id, its text, and its facts.

    `blocks` uint64 (n,) are the keys of its n distinct blocks, ascending.
    """

    source: str
    path: str
    id: bytes
    text: bytes
    facts: bytes
    blocks: NDArray[np.uint64]

    @classmethod
    def of(cls, document: Document, blocks: Sequence[Block]) -> Self:
        """Return the signature of a document with these blocks."""
        reading = document.reading
        title = " ".join(added_title(document).split())
        text = " ".join(reading.text[reading.body_start :].split())
        keys = sorted({block.key for block in blocks})
        return cls(
            source=document.source,
            path=document.path,
            id=_digest(document.id),
            text=_digest(f"{title}\0{text}"),
            facts=facts_of(document),
            blocks=np.array(keys, dtype=np.uint64),
        )

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Decode the result of `to_bytes`. Raises ValueError for any other bytes."""
        source, _, rest = content.partition(b"\0")
        path, _, hashes = rest.partition(b"\0")
        digests = 3 * _DIGEST_BYTES
        if len(hashes) < digests:
            raise ValueError("not a signature")
        return cls(
            source=source.decode(),
            path=path.decode(),
            id=hashes[:_DIGEST_BYTES],
            text=hashes[_DIGEST_BYTES : 2 * _DIGEST_BYTES],
            facts=hashes[2 * _DIGEST_BYTES : digests],
            blocks=np.frombuffer(hashes[digests:], dtype="<u8"),
        )

    def to_bytes(self) -> bytes:
        """Return the signature as bytes, the same on every machine."""
        hashes = (self.id, self.text, self.facts, self.blocks.astype("<u8").tobytes())
        return f"{self.source}\0{self.path}\0".encode() + b"".join(hashes)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()


def own_title(document: Document) -> str:
    """Return the title; "" if it only repeats the file name, the id or the text's beginning."""
    name = PurePosixPath(document.path)
    known = {_plain(text) for text in (name.name, name.stem, document.id)}
    is_quoted = document.title.endswith(GOES_ON)
    return "" if is_quoted or _plain(document.title) in known else document.title


def added_title(document: Document) -> str:
    """Return `own_title`, or "" if the text begins with it."""
    title, start = own_title(document), document.reading.body_start
    # Markup and white space may separate the words of the title.
    beginning = document.reading.text[start : start + 4 * len(title) + 20]
    return "" if _plain(beginning).startswith(_plain(title)) else title


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def facts_of(document: Document) -> bytes:
    """Hash the parts that distinguish similar pages: title, headings, words with digits, in order.

    Words with digits are numbers, versions, error codes and names such as `int32_t`.
    """
    reading = document.reading
    digest = blake2b(digest_size=16)
    # Most lines have no digit, and most words of the other lines consist of letters only, so each
    # step leaves little for the next.
    lines = filter(_DIGIT.search, reading.text[reading.body_start :].split("\n"))
    words = _JOINED_WORDS.findall("\n".join(lines))
    numbers = [word for word in words if not word.isalpha() and _DIGIT.search(word)]
    headings = [heading.text for heading in reading.headings]
    # Two files may share a heading that is the title of only one of them.
    title = own_title(document) if document.title not in headings else ""
    for texts in ([title], headings, numbers):
        digest.update("\0".join(text.casefold() for text in texts).encode() + b"\1")
    return digest.digest()
