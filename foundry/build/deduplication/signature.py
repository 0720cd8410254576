"""What is compared of a document, so that its text need not be read again."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

import numpy as np
from numpy.typing import NDArray

from foundry.build.deduplication.blocks import find_blocks
from foundry.build.deduplication.near import facts_of
from foundry.build.deduplication.titles import added_title
from foundry.records import Document

_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Signature:
    """A document's source and path; hashes of its id, its text, and what near copies agree in.

    `blocks` uint64 (n,) are the keys of its n different blocks, ascending.
    """

    source: str
    path: str
    id: bytes
    text: bytes
    facts: bytes
    blocks: NDArray[np.uint64]

    @classmethod
    def of(cls, document: Document) -> Self:
        """Return the signature of a document; it depends on nothing else."""
        reading = document.reading
        title = " ".join(added_title(document).split())
        text = " ".join(reading.text[reading.body_start :].split())
        keys = sorted({block.key for block in find_blocks(reading)})
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
        """Return what `to_bytes` made bytes of. Raises ValueError when it did not."""
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
        """Return all of it, the same on every machine."""
        hashes = (self.id, self.text, self.facts, self.blocks.astype("<u8").tobytes())
        return f"{self.source}\0{self.path}\0".encode() + b"".join(hashes)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()
