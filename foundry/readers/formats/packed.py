"""Checks zip containers (office files, EPUB) before any library opens them.

Declared sizes may be forged, so every member is unpacked once and discarded.
"""

import io
import zipfile
import zlib
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.contract import UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.formats.front_matter import find_tags
from foundry.readers.notes import leave_out

MAX_MEMBERS = 10_000
MAX_UNPACKED_BYTES = 1_000_000_000
MAX_RATIO = 200
SMALL_BYTES = 10_000_000
"""Unpacked size up to which any ratio is allowed; short repetitive files compress very well."""

_STEP_BYTES = 1 << 20
_DIRECTORY_ENTRY = b"PK\1\2"
_LEFT_OUT = frozenset(("subject", "description", "category"))
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


class Package:
    """A verified zip container; `names` are its members."""

    def __init__(self, content: bytes) -> None:
        """Check the container. Raises UnreadableError for a zip bomb, encryption and damage."""
        if content.count(_DIRECTORY_ENTRY) > MAX_MEMBERS:
            raise UnreadableError(Reason.ZIP_BOMB, f"more than {MAX_MEMBERS} members")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            members = self._archive.infolist()
            declared = sum(member.file_size for member in members)
            if declared > min(MAX_UNPACKED_BYTES, max(SMALL_BYTES, MAX_RATIO * len(content))):
                raise UnreadableError(Reason.ZIP_BOMB, f"{declared} bytes unpacked")
            if any(member.flag_bits & 1 for member in members):
                raise UnreadableError(Reason.ENCRYPTED)
            for member in members:
                self._look_over(member)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError):
            raise UnreadableError(Reason.DAMAGED, "zip archive") from None
        self.names = [member.filename for member in members]

    def read(self, name: str) -> bytes | None:
        """Return a member's bytes; None if it does not exist."""
        try:
            return self._archive.read(name)
        except KeyError:
            return None

    def xml(self, name: str) -> Element | None:
        """Return a member parsed as XML; None if it is missing. Raises UnreadableError."""
        content = self.read(name)
        return None if content is None else parse_xml(content)

    def _look_over(self, member: zipfile.ZipInfo) -> None:
        """Unpack a member; zipfile rejects a wrong size or checksum."""
        with self._archive.open(member) as file:
            while file.read(_STEP_BYTES):
                pass


class _TreeWithoutDtd(ElementTree.TreeBuilder):
    def doctype(self, name: str, public: str | None, system: str | None) -> None:  # noqa: ARG002
        """Reject a DTD as soon as it begins, before it declares an entity."""
        raise UnreadableError(Reason.HOLDS_DTD)


def parse_xml(content: bytes) -> Element:
    """Parse XML without a DTD, and so without entities. Raises UnreadableError.

    Comments and processing instructions are not in the tree.
    """
    try:
        return ElementTree.fromstring(content, ElementTree.XMLParser(target=_TreeWithoutDtd()))
    except (ElementTree.ParseError, ValueError, LookupError):
        raise UnreadableError(Reason.DAMAGED, "XML") from None


def bare_tag(element: Element) -> str:
    """Return an element's tag without its namespace."""
    return element.tag.rpartition("}")[2]


def describe_file(root: Element | None) -> dict[str, Any]:
    """Return title, language, date and keywords from the properties of an office file.

    The other texts of the properties are recorded as left out.
    """
    named = [] if root is None else [(bare_tag(each), each.text or "") for each in root.iter()]
    for name, text in named:
        if name in _LEFT_OUT:
            leave_out(Omission.METADATA, text, "properties")
    keywords = (text for name, text in named if name in {"keywords", "keyword"})
    return {**describe(root), "tags": find_tags({"keywords": ",".join(keywords)})}


def describe(root: Element | None) -> dict[str, Any]:
    """Return title, language and modification date from a document's core properties."""

    def text_of(*tags: str) -> str | None:
        found = (None if root is None else root.find(f".//{tag}") for tag in tags)
        texts = ("".join(element.itertext()).strip() for element in found if element is not None)
        return next(texts, None) or None

    return {
        "title": text_of(f"{_DUBLIN_CORE}title"),
        "language": text_of(f"{_DUBLIN_CORE}language"),
        "modified": normalise_date(text_of("{*}modified", "{*}date", "{*}created")),
    }
