"""Looks into the bytes of a PDF: for damaged and missing streams, and for layers.

PDFium reads damaged streams up to the damage, without an error.
"""

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

MAX_RATIO = 40
SMALL_BYTES = 10_000_000
"""Unpacked size up to which any ratio is allowed."""
_DICTIONARY_BYTES = 2_000
_STEP_BYTES = 1 << 16
_STREAM = re.compile(rb"stream(?<!endstream)(?:\r\n|\n)(?!\s*endstream)")
_NUMBER = re.compile(rb"(\d{1,10})\s+\d{1,5}\s+\Z")
_OBJ = re.compile(rb"obj(?<!endobj)\b")
_CONTENTS = re.compile(rb"/Contents\s*(\[[\d\sR]*+\]|\d{1,10}\s+\d{1,5}\s+R)")
_REFERENCE = re.compile(rb"(\d{1,10})\s+\d{1,5}\s+R")
_FILTER = re.compile(rb"/Filter\s*\[?\s*/(?:(ASCII85Decode|A85)\s*/)?(?:FlateDecode|Fl)\b")
# Pictures, the outlines of fonts, and profiles of colours.
_NO_WORDS = re.compile(rb"/(?:Image|Length1|Type1C|CIDFontType0C|OpenType|Alternate)\b")
_NOT_85 = re.compile(rb"[^!-uz]")
_POWERS = 85 ** np.arange(4, -1, -1)


def find_damaged_streams(content: bytes) -> Iterator[str]:
    """Yield the numbers of objects with a compressed stream that ends early or is corrupt.

    Pictures, fonts and encrypted files are not examined. After MAX_RATIO times the size of the
    file, but at least SMALL_BYTES, have been unpacked, the rest is not examined either.
    """
    if b"/Encrypt" in content:
        return
    allowed = max(SMALL_BYTES, MAX_RATIO * len(content))
    whole = memoryview(content)
    for stream in _STREAM.finditer(content):
        head = content[max(stream.start() - _DICTIONARY_BYTES, 0) : stream.start()]
        before, _, dictionary = head.rpartition(b"obj")
        number, filters = _NUMBER.search(before[-20:]), _FILTER.search(dictionary)
        if number is None or filters is None or _NO_WORDS.search(dictionary):
            continue
        data = whole[stream.end() :]
        if filters[1]:
            end = content.find(b"~>", stream.end(), stream.end() + allowed)
            written = content[stream.end() : max(end, stream.end())]
            allowed -= len(written)
            data = memoryview(_from_85(written))
        is_whole, unpacked = _unpack(data, allowed)
        allowed -= unpacked
        if not is_whole:
            yield number[1].decode()
        if allowed <= 0:
            return


def find_missing_contents(content: bytes) -> Iterator[str]:
    """Yield the numbers of objects that pages name as their contents and the file does not have.

    Files whose objects are packed are not examined.
    """
    if b"/ObjStm" in content:
        return
    named = (_REFERENCE.findall(match[1]) for match in _CONTENTS.finditer(content))
    numbers = dict.fromkeys(number for each in named for number in each)
    heads = (
        content[max(match.start() - 20, 0) : match.start()] for match in _OBJ.finditer(content)
    )
    present = {found[1] for head in heads if (found := _NUMBER.search(head))}
    yield from (number.decode() for number in numbers if number not in present)


def may_have_layers(content: bytes) -> bool:
    """Return whether a file declares layers, or may do so in objects that are not examined."""
    if b"/OCProperties" in content:
        return True
    if b"/ObjStm" not in content:
        return False
    if b"/Encrypt" in content:
        return True
    allowed = SMALL_BYTES
    for stream in _STREAM.finditer(content):
        dictionary = content[max(stream.start() - _DICTIONARY_BYTES, 0) : stream.start()]
        if b"/ObjStm" not in dictionary.rpartition(b"obj")[2]:
            continue
        unpacker = zlib.decompressobj()
        with suppress(zlib.error):
            objects = unpacker.decompress(memoryview(content)[stream.end() :], allowed)
            allowed -= len(objects)
            if b"/OCProperties" in objects:
                return True
        if allowed <= 0:
            return True
    return False


def _unpack(data: memoryview, allowed: int) -> tuple[bool, int]:
    """Return whether a deflated stream is whole, and how many bytes were unpacked.

    A wrong checksum is no damage, since nothing is missing.
    """
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    place, count = 2, 0
    waiting = b""
    try:
        while not unpacker.eof and count < allowed:
            if not waiting:
                waiting = bytes(data[place : place + _STEP_BYTES])
                place += len(waiting)
            if not waiting:
                return False, count
            count += len(unpacker.decompress(waiting, _STEP_BYTES * 16))
            waiting = unpacker.unconsumed_tail
    except zlib.error:
        return False, count
    return True, count


def _from_85(text: bytes) -> bytes:
    """Decode ASCII85; Python's own function takes as long as reading the page."""
    digits = _NOT_85.sub(b"", text).replace(b"z", b"!!!!!")
    missing = -len(digits) % 5
    groups = np.frombuffer(digits + b"u" * missing, np.uint8).reshape(-1, 5).astype(np.int64)
    decoded = ((groups - 33) @ _POWERS).astype(">u4").tobytes()
    return decoded[: len(decoded) - missing]
