"""Texts beside those of slides: repeated ones of footers and master pages, notes, hidden slides."""

from collections.abc import Callable
from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.formats.office.parts import texts_of
from foundry.readers.formats.opendocument.cells import CellReader
from foundry.readers.formats.opendocument.names import DRAW, LINK, PRESENTATION
from foundry.readers.formats.opendocument.places import in_reading_order
from foundry.readers.formats.opendocument.styles import Styles
from foundry.readers.notes import leave_out

_COUNTED = frozenset({"date-time", "page-number"})
RUNNING = frozenset({"footer", "header"}) | _COUNTED
"""Classes of shapes that repeat a text, or count the slides."""
DECLARED = frozenset(f"{PRESENTATION}{name}-decl" for name in ("footer", "header", "date-time"))


class RepeatedTexts:
    """Adds each repeated text once, at its first occurrence."""

    def __init__(self, styles: Styles, cells: CellReader) -> None:
        self._styles = styles
        self._cells = cells
        self._known: set[str] = set()
        self._footers: dict[str, str] = {}

    def declare(self, element: Element) -> None:
        """Keep a declared footer; declared dates and headers are left out."""
        if element.tag == f"{PRESENTATION}footer-decl":
            self._footers[element.get(f"{PRESENTATION}name", "")] = texts_of(element)
        else:
            leave_out(Omission.RUNNING_LINE, texts_of(element))

    def add_shape(self, composer: Composer, shape: Element, slide: int) -> None:
        """Add a slide's own footer or header; dates and numbers of slides are left out."""
        if class_of(shape) in _COUNTED:
            leave_out(Omission.RUNNING_LINE, texts_of(shape), f"slide {slide}")
        else:
            self._add(composer, self._cells.read(shape), f"slide {slide}")

    def add_behind(self, composer: Composer, page: Element, slide: int, *, is_footed: bool) -> None:
        """Add the declared footer of a slide, and the texts of its master page."""
        if is_footed:
            name = page.get(f"{PRESENTATION}use-footer-name", "")
            self._add(composer, self._footers.get(name, ""), f"slide {slide}")
        master = self._styles.masters.get(page.get(f"{DRAW}master-page-name", ""))
        for shape in () if master is None else in_reading_order(master):
            # Placeholders have a class.
            if shape.tag.startswith(DRAW) and not class_of(shape):
                text = self._cells.read(shape)
                if text not in self._known:
                    self._add(composer, text, "")

    def add_notes(self, composer: Composer, notes: Element, slide: int) -> None:
        """Add the notes of a slide; footers and numbers of their page are left out."""
        for element in notes:
            if class_of(element) in RUNNING:
                leave_out(Omission.RUNNING_LINE, texts_of(element), f"slide {slide}")
            elif text := self._cells.read(element).strip():
                composer.text(f"Notes: {text}")

    def _add(self, composer: Composer, text: str, place: str) -> None:
        if text in self._known:
            leave_out(Omission.RUNNING_LINE, text, place)
        else:
            self._known.add(text)
            composer.text(text)


def class_of(element: Element) -> str:
    """Return the class of a shape in a presentation, such as `title`; "" for others."""
    return element.get(f"{PRESENTATION}class", "")


def hide_slide(page: Element, slide: int, load: Callable[[str], Element | None]) -> None:
    """Record the texts of a slide, and of its charts and formulas, as hidden."""
    names = (each.get(LINK, "").removeprefix("./") for each in page.iter(f"{DRAW}object"))
    objects = (load(name) for name in names if name)
    texts = [texts_of(page), *(texts_of(each) for each in objects if each is not None)]
    leave_out(Omission.HIDDEN, " ".join(texts), f"slide {slide}")
