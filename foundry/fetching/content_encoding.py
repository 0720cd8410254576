"""Content-Encoding undone, never into more bytes than are allowed."""

import zlib

from foundry.fetching.failures import FetchError, refused

ACCEPTED = "gzip, deflate"
MAX_LINKS = 2
"""More encodings than this on top of each other serve nobody but a bomb."""

MAX_MEMBERS = 64
"""Of one gzip stream. The rest is copied after each, which a million of them would take hours."""


def decode_content(content: bytes, encodings: str, max_bytes: int) -> bytes:
    """Return the content below its encodings, the last of which was applied last (RFC 9110, 8.4).

    Raises FetchError for too many or unknown encodings, damage, and more than `max_bytes`.
    """
    names = [name.strip().lower() for name in encodings.split(",")]
    names = [name for name in names if name not in {"", "identity"}]
    if len(names) > MAX_LINKS:
        raise FetchError("too many content encodings", f"{len(names)}: {encodings[:100]}")
    for name in reversed(names):
        if name in {"gzip", "x-gzip"}:
            content = unzip(content, max_bytes)
        elif name == "deflate":
            content = _inflate(content, max_bytes)
        else:
            raise FetchError("unknown content encoding", name[:100])
    return content


def unzip(content: bytes, max_bytes: int) -> bytes:
    """Unpack gzip of any number of members. Raises FetchError."""
    unpacked = bytearray()
    for _ in range(MAX_MEMBERS):
        piece, content = _expand(content, 31, max_bytes - len(unpacked))
        unpacked += piece
        # Padding after the last member means nothing.
        content = content.lstrip(b"\0")
        if not content:
            return bytes(unpacked)
    raise FetchError("damaged content encoding", f"more than {MAX_MEMBERS} gzip members")


def _inflate(content: bytes, max_bytes: int) -> bytes:
    # Servers send either what RFC 9110 says, which is zlib, or bare DEFLATE.
    bits = zlib.MAX_WBITS if content[:1] and content[0] & 0x0F == 8 else -zlib.MAX_WBITS
    return _expand(content, bits, max_bytes)[0]


def _expand(content: bytes, bits: int, max_bytes: int) -> tuple[bytes, bytes]:
    """Return one stream unpacked, and what follows it."""
    unpacker = zlib.decompressobj(bits)
    try:
        piece = unpacker.decompress(content, max_bytes + 1)
    except zlib.error:
        raise FetchError("damaged content encoding") from None
    if len(piece) > max_bytes:
        raise refused("over the size limit", "after decoding")
    if not unpacker.eof:
        raise FetchError("damaged content encoding", "cut short")
    return piece, unpacker.unused_data
