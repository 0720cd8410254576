"""Fields of a Word document: those that show their result, and the text of others."""

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.fields import arguments_of, shown_by
from foundry.readers.formats.office.parts import number
from foundry.readers.formats.word.names import VAL, W, is_on

CONTENTS = frozenset({"TOC", "INDEX", "TOA"})
"""Fields whose result repeats other text."""
PAGES = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES", "SECTION", "PAGEREF"})


@dataclass(slots=True)
class Field:
    """An open field: its instruction, and whether its result is being read.

    `start` is where its result begins in the paragraph's text.
    """

    instruction: list[str] = field(default_factory=list)
    form: Element | None = None
    has_result: bool = False
    start: int = 0

    @property
    def name(self) -> str:
        """The first word of the instruction."""
        return ("".join(self.instruction).split() or [""])[0].upper()


def link_of(field: Field) -> str:
    """Return the address of a HYPERLINK field; "" for one within the document."""
    if field.name != "HYPERLINK":
        return ""
    arguments = arguments_of("".join(field.instruction))
    return arguments[0] if arguments and not arguments[0].startswith("\\") else ""


def shown_without_result(field: Field) -> str:
    """Return what a field without a result shows: a checkbox, a choice, a sign, an equation."""
    return shown_by("".join(field.instruction)) if field.form is None else _form(field.form)


def _form(form: Element) -> str:
    box = form.find(f"{W}checkBox")
    if box is not None:
        states = (box.find(f"{W}{name}") for name in ("checked", "default"))
        state = next((each for each in states if each is not None), None)
        return "☒" if state is not None and is_on(state.get(VAL)) else "☐"
    choice = form.find(f"{W}ddList")
    if choice is not None:
        chosen = choice.find(f"{W}result")
        if chosen is None:
            chosen = choice.find(f"{W}default")
        place = 0 if chosen is None else number(chosen.get(VAL))
        entries = [each.get(VAL, "") for each in choice.iter(f"{W}listEntry")]
        return entries[place] if 0 <= place < len(entries) else ""
    return ""
