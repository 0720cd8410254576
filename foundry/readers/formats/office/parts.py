"""The parts of an Office Open XML package, and their relationships."""

import posixpath
from dataclasses import dataclass
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from foundry.documents.reasons import Reason
from foundry.readers.contract import UnreadableError
from foundry.readers.formats.packed import Package, parse_xml

RELATIONSHIPS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Choice"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"

_STRICT = b"http://purl.oclc.org/ooxml/"
# ISO 29500 Strict uses other namespaces for the same vocabularies.
_TRANSITIONAL = {
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": (
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    ),
    b"http://purl.oclc.org/ooxml/officeDocument/math": (
        b"http://schemas.openxmlformats.org/officeDocument/2006/math"
    ),
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": (
        b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    ),
    b"http://purl.oclc.org/ooxml/spreadsheetml/main": (
        b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    ),
    b"http://purl.oclc.org/ooxml/presentationml/main": (
        b"http://schemas.openxmlformats.org/presentationml/2006/main"
    ),
    b"http://purl.oclc.org/ooxml/drawingml/": b"http://schemas.openxmlformats.org/drawingml/2006/",
}


_MAIN = ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml")
"""Usual names of the main part, for packages that do not name it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relationship: the last word of its type, and the target, which is a part or a url."""

    kind: str
    target: str
    is_external: bool


class Parts:
    """The parts of a package and their relationships; `main` is the name of the main part."""

    def __init__(self, package: Package) -> None:
        """Open the main part. Raises UnreadableError if there is none."""
        self._package = package
        # Part names are case-insensitive.
        self._names = {name.lower(): name for name in package.names}
        self._relations: dict[str, dict[str, Relation]] = {}
        self.main = next(filter(self.has, _MAIN), "")
        for relation in self.relations("").values():
            if relation.kind == "officeDocument" and self.has(relation.target):
                self.main = relation.target
        if not self.main:
            raise UnreadableError(Reason.DAMAGED, "the package has no main part")

    def has(self, name: str) -> bool:
        """Return whether a part exists."""
        return name.lower() in self._names

    def read(self, name: str) -> bytes | None:
        """Return a part's bytes; None if it does not exist."""
        return self._package.read(self._names.get(name.lower(), name))

    def xml(self, name: str) -> Element | None:
        """Return a part parsed as XML in the transitional vocabulary; None if it does not exist."""
        content = self.read(name)
        return None if content is None else parse_xml(as_transitional(content))

    def relations(self, name: str) -> dict[str, Relation]:
        """Return the relationships of a part by id; those of the package for ""."""
        if name not in self._relations:
            folder, _, file = name.rpartition("/")
            root = self.xml(f"{folder}/_rels/{file}.rels".lstrip("/"))
            self._relations[name] = {
                each.get("Id", ""): _relation(folder, each)
                for each in (() if root is None else root)
            }
        return self._relations[name]

    def related(self, name: str, kind: str) -> str | None:
        """Return the name of the first part of a kind that a part refers to, if any."""
        found = (each.target for each in self.relations(name).values() if each.kind == kind)
        return next(found, None)

    def related_xml(self, name: str, kind: str) -> Element | None:
        """Return the first part of a kind that a part refers to, parsed as XML, if any."""
        related = self.related(name, kind)
        return self.xml(related) if related else None


def _relation(folder: str, element: Element) -> Relation:
    target = element.get("Target", "")
    is_external = element.get("TargetMode") == "External"
    if not is_external:
        target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
    return Relation(element.get("Type", "").rpartition("/")[2], target, is_external)


def as_transitional(content: bytes) -> bytes:
    """Convert XML of the strict vocabulary to the transitional one."""
    if _STRICT in content:
        for strict, transitional in _TRANSITIONAL.items():
            content = content.replace(strict, transitional)
    return content


def number(written: str | None, default: int = 0) -> int:
    """Return an attribute as a number; `default` if it does not have one to nine digits."""
    digits = written or ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else default


def texts_of(element: Element) -> str:
    """Return all texts below an element, separated by spaces."""
    return " ".join(filter(None, (text.strip() for text in element.itertext())))
