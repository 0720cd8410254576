"""Reads the inline text of an OpenDocument: spans, fields, links, notes and formulas."""

from collections.abc import Callable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.readers.formats.office.links import write_link
from foundry.readers.formats.office.parts import number, texts_of
from foundry.readers.formats.office.scripts import ScriptedText
from foundry.readers.formats.office.stored_pictures import write_pictures
from foundry.readers.formats.opendocument.controls import CONTROL
from foundry.readers.formats.opendocument.names import (
    DRAW,
    LINK,
    MATHML,
    OFFICE,
    SVG,
    TABLE,
    TEXT,
)
from foundry.readers.formats.opendocument.styles import Styles
from foundry.readers.formats.pages.equations import spell
from foundry.readers.notes import leave_out

MAX_REPEATED = 100


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote or endnote, with its label."""

    body: Element
    label: str


Load = Callable[[str], Element | None]
"""Returns the root of an object in the package, by name; None if there is none."""


class Inline:
    """Reads paragraphs; boxes and notes inside them are collected for `take`."""

    def __init__(self, styles: Styles, load: Load) -> None:
        self._styles = styles
        self._load = load
        self._line = ScriptedText()
        self._script = ""
        self._referred: list[Element | Note] = []

    def read(self, paragraph: Element) -> str:
        """Return a paragraph's text."""
        before = self._line, self._script
        self._line, self._script = ScriptedText(), ""
        self._walk(paragraph)
        text = str(self._line)
        self._line, self._script = before
        return text

    def take(self) -> list[Element | Note]:
        """Return the boxes and notes collected since the last call."""
        referred, self._referred = self._referred, []
        return referred

    def refer(self, drawing: Element) -> str:
        """Collect a shape that shows blocks, or return the description of any other shape."""
        if shows_blocks(drawing):
            self._referred.append(drawing)
            return ""
        return describe_drawing(drawing)

    def _walk(self, parent: Element) -> None:
        self._put(parent.text)
        for child in parent:
            self._child(child)
            self._put(child.tail)

    def _put(self, text: str | None) -> None:
        if text:
            # White space is collapsed, except for elements that represent it.
            self._line.put(text.replace("\n", " "), self._script)

    def _child(self, child: Element) -> None:
        tag = child.tag
        if tag == f"{TEXT}span":
            self._span(child)
        elif tag == f"{TEXT}s":
            self._line.put(" " * min(number(child.get(f"{TEXT}c"), 1), MAX_REPEATED), self._script)
        elif tag in _SIGNS:
            self._line.put(_SIGNS[tag])
        elif tag == f"{TEXT}a":
            self._link(child)
        elif tag == f"{TEXT}note":
            self._note(child)
        elif tag == f"{TEXT}ruby":
            base, said = child.find(f"{TEXT}ruby-base"), child.find(f"{TEXT}ruby-text")
            texts = ("" if each is None else "".join(each.itertext()) for each in (base, said))
            self._line.put_ruby(*texts)
        elif tag in LEFT_OUT:
            leave_out(LEFT_OUT[tag], texts_of(child))
        elif tag.startswith(DRAW):
            self._drawing(child)
        elif tag.startswith(MATHML):
            self._line.put(spell(child))
        else:
            self._walk(child)

    def _span(self, span: Element) -> None:
        style = self._styles.get("text", span.get(f"{TEXT}style-name"))
        if style.is_hidden:
            leave_out(Omission.HIDDEN, "".join(span.itertext()))
            return
        outer = self._script
        self._script = style.script or outer
        self._walk(span)
        self._script = outer

    def _link(self, link: Element) -> None:
        self._line.flush()
        start = len(self._line.parts)
        self._walk(link)
        self._line.flush()
        text = "".join(self._line.parts[start:])
        self._line.parts[start:] = [write_link(text, link.get(LINK, ""))]

    def _note(self, note: Element) -> None:
        citation, body = note.find(f"{TEXT}note-citation"), note.find(f"{TEXT}note-body")
        said = "" if citation is None else "".join(citation.itertext()).strip()
        label = f"[{said}]" if said else ""
        self._line.put(label)
        if body is not None:
            self._referred.append(Note(body, label))

    def _drawing(self, drawing: Element) -> None:
        """Read a formula or control in place; boxes and other shapes follow the paragraph."""
        if drawing.tag == CONTROL:
            self._line.put(" ".join(drawing.itertext()).strip())
            return
        for each in drawing.iter(f"{DRAW}object"):
            inner = each.find(f"{MATHML}math")
            name = each.get(LINK, "").removeprefix("./").rstrip("/")
            root = inner if inner is not None else self._load(name) if name else None
            if root is not None and root.tag == f"{MATHML}math":
                self._line.put(spell(root))
                return
        self._line.put(self.refer(drawing))


_SIGNS = {
    **{f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n", f"{TEXT}soft-page-break": ""},
    f"{TEXT}soft-hyphen": "",
}
LEFT_OUT = {
    f"{OFFICE}annotation": Omission.COMMENT,
    f"{OFFICE}annotation-end": Omission.COMMENT,
    f"{TEXT}tracked-changes": Omission.HIDDEN,
    f"{TEXT}table-of-content": Omission.DUPLICATE,
    f"{TEXT}illustration-index": Omission.DUPLICATE,
    f"{TEXT}table-index": Omission.DUPLICATE,
    f"{TEXT}alphabetical-index": Omission.DUPLICATE,
    f"{TABLE}tracked-changes": Omission.HIDDEN,
    f"{TEXT}sequence-decls": Omission.MACRO,
    f"{TEXT}variable-decls": Omission.MACRO,
    f"{TEXT}user-field-decls": Omission.MACRO,
    f"{TEXT}placeholder": Omission.FORM,
    f"{TEXT}hidden-text": Omission.HIDDEN,
    f"{TEXT}script": Omission.SCRIPT,
    f"{OFFICE}scripts": Omission.SCRIPT,
    f"{OFFICE}forms": Omission.FORM,
    f"{OFFICE}event-listeners": Omission.SCRIPT,
}
"""Elements whose text is left out, with reasons."""


def shows_blocks(drawing: Element) -> bool:
    """Return whether a shape has paragraphs, a table or an object."""
    return any(each.tag in _BLOCKS for each in drawing.iter())


_BLOCKS = frozenset({f"{TEXT}p", f"{TEXT}h", f"{TEXT}list", f"{DRAW}object"})


def describe_drawing(drawing: Element) -> str:
    """Return a picture with its description, or only the description of another shape."""
    # A group has other shapes, which have descriptions and pictures of their own.
    is_group = drawing.tag == f"{DRAW}g"
    path = "" if is_group else ".//"
    parts = (drawing.find(f"{path}{SVG}{name}") for name in ("title", "desc"))
    texts = ("" if part is None else "".join(part.itertext()).strip() for part in parts)
    files = [] if is_group else [each.get(LINK) for each in drawing.iter(f"{DRAW}image")]
    return write_pictures("\n".join(dict.fromkeys(filter(None, texts))), files[:1])
