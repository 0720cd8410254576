"""Reads PowerPoint: a section for each slide, with its tables, charts and notes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from xml.etree.ElementTree import Element

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.accounting.office import slide_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.formats.office.embedded import add_embedded
from foundry.readers.formats.office.links import write_link
from foundry.readers.formats.office.parts import RELATIONSHIPS, Parts, texts_of
from foundry.readers.formats.office.stored_pictures import (
    describe,
    picture_files,
    write_pictures,
)
from foundry.readers.formats.packed import Package, describe_file
from foundry.readers.formats.pictures import extend, read_pictures
from foundry.readers.formats.slides.layout import Layouts, P, in_reading_order, placeholder_kind
from foundry.readers.formats.slides.texts import A, lines_of, table_rows
from foundry.readers.notes import leave_out, note_damage

_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_SUFFIXES = (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm")
_TITLES = frozenset({"title", "ctrTitle"})
_COUNTED = frozenset({"dt", "sldNum"})
_COMMENTS = frozenset({"comments", "comment"})


def read(content: bytes, *, ocr: bool = False) -> Reading:
    """Read the slides in order; a slide's number is its page, its title its heading.

    Texts of layouts and footers are read once. Hidden slides and comments are left out. With `ocr`,
    pictures on slides without text are read. Raises UnreadableError for a zip bomb, and for a file
    that is damaged or has no presentation.
    """
    package = Package(content)
    parts = Parts(package)
    root = parts.xml(parts.main)
    if root is None or root.tag != f"{P}presentation":
        raise UnreadableError(Reason.DAMAGED, "the package has no presentation")
    slides = _Slides(parts, ocr=ocr)
    relations = parts.relations(parts.main)
    for each in root.iter(f"{P}sldId"):
        relation = relations.get(each.get(f"{RELATIONSHIPS}id", ""))
        slides.add(relation.target if relation else "")
    reading = slides.composer.finish(**describe_file(package.xml("docProps/core.xml")))
    return replace(reading, seen=tuple(slides.seen), unsure=slides.unsure)


class _Slides:
    """Adds slides one by one; `seen` are those whose text was read from a picture."""

    def __init__(self, parts: Parts, *, ocr: bool) -> None:
        self.composer = Composer()
        self.seen: list[int] = []
        self.unsure = 0
        self._parts = parts
        self._ocr = ocr
        self._layouts = Layouts(parts)
        self._running: set[str] = set()
        self._number = 0

    def add(self, part: str) -> None:
        """Add a slide; its part may be missing."""
        self.composer.page()
        self._number += 1
        root = self._parts.xml(part) if part else None
        tree = None if root is None else root.find(f"{P}cSld/{P}spTree")
        if root is None or tree is None:
            note_damage(f"slide {self._number}")
            return
        if root.get("show") not in {"0", "false"}:
            self._add_slide(tree, part, ocr=self._ocr)
            return
        shown, self.composer = self.composer, Composer()
        running, self._running = self._running, set()
        self._add_slide(tree, part, ocr=False)
        leave_out(Omission.HIDDEN, self.composer.finish().text, f"slide {self._number}")
        self.composer, self._running = shown, running

    def _add_slide(self, tree: Element, part: str, *, ocr: bool) -> None:
        shapes = [*in_reading_order(tree, self._layouts.of(part), part)]
        title = next((each for each in shapes if placeholder_kind(each) in _TITLES), None)
        named = "" if title is None else " ".join(self._lines(title, part))
        self.composer.heading(2, named or f"Slide {self._number}")
        for shape in shapes:
            if shape is not title:
                self._add_shape(shape, part)
        if ocr and not any(map(_has_text, shapes)):
            self._read_pictures(shapes, part)
        self._add_static(part)
        self._add_notes(part)

    def _lines(self, shape: Element, part: str) -> list[str]:
        body = shape.find(f"{P}txBody")
        return [] if body is None else [*lines_of(body, self._parts.relations(part), part)]

    def _add_shape(self, shape: Element, part: str) -> None:
        properties = shape.find(f".//{P}cNvPr")
        if properties is not None and properties.get("hidden") in {"1", "true"}:
            leave_out(Omission.HIDDEN, texts_of(shape), f"slide {self._number}")
            return
        described = "" if properties is None else describe(properties)
        if shape.tag == f"{P}graphicFrame":
            self.composer.text(write_pictures(described, ()))
            self._add_graphic(shape, part)
            return
        kind = placeholder_kind(shape)
        lines = self._lines(shape, part)
        if kind in _COUNTED:
            leave_out(Omission.RUNNING_LINE, "\n".join(lines), f"slide {self._number}")
        elif kind in {"ftr", "hdr"}:
            self._add_running("\n".join(lines))
        elif lines:
            clicked = None if properties is None else properties.find(f"{A}hlinkClick")
            name = "" if clicked is None else clicked.get(f"{RELATIONSHIPS}id", "")
            relation = self._parts.relations(part).get(name)
            url = relation.target if relation and relation.is_external else ""
            self.composer.text(write_link("\n".join(lines), url))
        elif properties is not None:
            files = picture_files(shape, self._parts.relations(part))
            self.composer.text(write_pictures(described, files))

    def _add_running(self, text: str) -> None:
        """Add a text that slides repeat, at its first occurrence."""
        if text in self._running:
            leave_out(Omission.RUNNING_LINE, text, f"slide {self._number}")
        else:
            self._running.add(text)
            self.composer.text(text)

    def _add_graphic(self, frame: Element, part: str) -> None:
        relations = self._parts.relations(part)
        table = frame.find(f".//{A}tbl")
        if table is not None:
            style = table.find(f"{A}tblPr/{A}tableStyleId")
            leave_out(Omission.ATTRIBUTE, (style.text or "") if style is not None else "")
            self.composer.table(table_rows(table, relations, part))
            return
        add_embedded(self.composer, frame, self._parts, relations)

    def _add_static(self, part: str) -> None:
        """Add the texts of the slide's layout and master, once per presentation."""
        layout = self._parts.related(part, "slideLayout")
        master = self._parts.related(layout, "slideMaster") if layout else None
        for behind in filter(None, (layout, master)):
            for shape in self._layouts.static_shapes(behind):
                text = "\n".join(self._lines(shape, behind))
                if text and text not in self._running:
                    self._add_running(text)

    def _add_notes(self, part: str) -> None:
        for each in self._parts.relations(part).values():
            if each.kind in _COMMENTS:
                root = self._parts.xml(each.target)
                said = "" if root is None else texts_of(root)
                leave_out(Omission.COMMENT, said, f"slide {self._number}")
            elif each.kind == "notesSlide":
                self._add_note(each.target)

    def _add_note(self, part: str) -> None:
        root = self._parts.xml(part)
        for shape in () if root is None else root.iter(f"{P}sp"):
            text = "\n".join(self._lines(shape, part))
            if placeholder_kind(shape) == "body":
                self.composer.text(f"Notes: {text}" if text else "")
            else:
                leave_out(Omission.RUNNING_LINE, text, part)

    def _read_pictures(self, shapes: Sequence[Element], part: str) -> None:
        found = read_pictures(self._pictures(shapes, part))
        self.composer.include(found)
        self.seen += [self._number] * bool(found.text)
        self.unsure += found.unsure

    def _pictures(self, shapes: Sequence[Element], part: str) -> Iterator[bytes]:
        for shape in shapes:
            for name in picture_files(shape, self._parts.relations(part)):
                if content := self._parts.read(name):
                    yield content


def _has_text(shape: Element) -> bool:
    if shape.tag == f"{P}graphicFrame":
        return True
    is_title = placeholder_kind(shape) in _TITLES
    return not is_title and any((each.text or "").strip() for each in shape.iter(f"{A}t"))


READER = extend(
    FileReader(
        "pptx/6", {"PowerPoint": _TYPE}, dict.fromkeys(_SUFFIXES, _TYPE), read, texts=slide_texts
    ),
    partial(read, ocr=True),
)
