"""Zip containers (office files, EPUB) that are looked over before any library opens them.

What a bomb declares of itself is not believed: every member is unpacked once, counted and dropped.
"""

import io
import re
import struct
import zipfile
import zlib
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from foundry.readers.contract import UnreadableError
from foundry.readers.dates import normalise_date

MAX_MEMBERS = 10_000
MAX_DIRECTORY = 4_000_000
MAX_UNPACKED = 1_000_000_000
MAX_MEMBER = 400_000_000
MAX_RATIO = 200
SMALL = 10_000_000
"""Unpacked bytes up to which any ratio is allowed; short repetitive files compress very well."""

_STEP = 1 << 20
_XML_NAME = re.compile(r"\.(?:xml|rels|vml)$", re.IGNORECASE)
# With or without the zero bytes of UTF-16.
_DTD = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
_END = b"PK\5\6"
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


class Package:
    """A zip container that was found harmless; `names` are its members'."""

    def __init__(self, content: bytes, *, allow_dtd: bool = False) -> None:
        """Look it over. Raises UnreadableError for a bomb, encryption, damage, and for a DTD."""
        self._content = content
        count, directory = _declared_members(content)
        try:
            if directory > MAX_DIRECTORY or count > MAX_MEMBERS:
                raise UnreadableError("zip bomb", f"more than {MAX_MEMBERS} members")
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            members = self._archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise UnreadableError("zip bomb", f"more than {MAX_MEMBERS} members")
            declared = sum(member.file_size for member in members)
            if declared > MAX_UNPACKED or declared > max(SMALL, MAX_RATIO * len(content)):
                raise UnreadableError("zip bomb", f"{declared} bytes unpacked")
            total = 0
            for member in members:
                if member.flag_bits & 1:
                    raise UnreadableError("encrypted")
                total += self._count(member, allow_dtd)
                if total > max(SMALL, MAX_RATIO * len(content)):
                    raise UnreadableError("zip bomb", f"more than {total} bytes unpacked")
        except (zipfile.BadZipFile, zlib.error, struct.error, OSError, NotImplementedError):
            raise UnreadableError("damaged", "zip archive") from None
        self.names = [member.filename for member in members]

    def read(self, name: str) -> bytes | None:
        """A member's bytes; None where there is no member of this name."""
        try:
            return self._archive.read(name)
        except KeyError:
            return None

    def xml(self, name: str) -> Element | None:
        """A member parsed as XML; None where there is none. Raises UnreadableError."""
        content = self.read(name)
        return None if content is None else parse_xml(content)

    def _count(self, member: zipfile.ZipInfo, allow_dtd: bool) -> int:
        header = _LOCAL_HEADER.unpack_from(self._content, member.header_offset)
        start = member.header_offset + _LOCAL_HEADER.size + header[9] + header[10]
        packed = self._content[start : start + member.compress_size]
        if member.compress_type == zipfile.ZIP_STORED:
            pieces, size = [packed], len(packed)
        elif member.compress_type == zipfile.ZIP_DEFLATED:
            looks = not allow_dtd and bool(_XML_NAME.search(member.filename))
            return _inflate(packed, member.file_size, looks)
        else:
            raise UnreadableError("damaged", "zip archive of an unknown method")
        if not allow_dtd and _XML_NAME.search(member.filename) and _DTD.search(b"".join(pieces)):
            raise UnreadableError("holds a DTD")
        return size


class _TreeWithoutDtd(ElementTree.TreeBuilder):
    def doctype(self, name: str, public: str | None, system: str | None) -> None:  # noqa: ARG002
        """Refuse a DTD as soon as it begins, before any entity of it is declared."""
        raise UnreadableError("holds a DTD")


def parse_xml(content: bytes) -> Element:
    """Parse XML that may have no DTD, so no entities. Raises UnreadableError."""
    try:
        return ElementTree.fromstring(content, ElementTree.XMLParser(target=_TreeWithoutDtd()))
    except (ElementTree.ParseError, ValueError, LookupError):
        raise UnreadableError("damaged", "XML") from None


def dublin_core(root: Element | None, name: str) -> str | None:
    """Return the text of the first Dublin Core element of that name, below `root`."""
    found = None if root is None else root.find(f".//{_DUBLIN_CORE}{name}")
    return "".join(found.itertext()).strip() or None if found is not None else None


def office_modified(root: Element | None) -> str | None:
    """Return when a document says that it was last modified, from its core properties."""
    if root is None:
        return None
    for tag in ("modified", "date", "created"):
        for element in root.iter():
            if str(element.tag).rpartition("}")[2] == tag:
                return normalise_date("".join(element.itertext()))
    return None


def _declared_members(content: bytes) -> tuple[int, int]:
    """Return how many members the directory is said to have, and how many bytes."""
    place = content.rfind(_END, max(len(content) - 65_557, 0))
    if place < 0 or len(content) < place + 16:
        raise UnreadableError("damaged", "zip archive")
    count, directory = struct.unpack_from("<HI", content, place + 10)
    return count, directory


def _inflate(packed: bytes, declared: int, looks_for_dtd: bool) -> int:
    """Return the real size of a member, which must be the declared one."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    size = 0
    rest = b""
    while packed and not inflater.eof:
        piece = inflater.decompress(packed, _STEP)
        packed = inflater.unconsumed_tail
        size += len(piece)
        if size > min(declared, MAX_MEMBER):
            raise UnreadableError("zip bomb", "a member is larger than it says, or than the limit")
        if looks_for_dtd:
            if _DTD.search(rest + piece):
                raise UnreadableError("holds a DTD")
            rest = piece[-20:]
        if not piece and not packed:
            break
    return size
