"""Fields of a Word document: which show their result, which say something without one."""

import re
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.symbols import symbol
from foundry.readers.formats.word.names import VAL, W, is_on, number

CONTENTS = frozenset({"TOC", "INDEX", "TOA"})
"""Fields whose result says again what stands elsewhere."""
PAGES = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES", "SECTION", "PAGEREF"})
_ARGUMENT = re.compile(r'"([^"]*)"|(\S+)')
_SWITCH = re.compile(r"\\[a-z]+(?:\([^()]*\))?|\\\*", re.IGNORECASE)


@dataclass(slots=True)
class Field:
    """A field that is open: what its instruction says, and whether its result is being read.

    `start` is where its result begins in the text of the paragraph.
    """

    instruction: list[str] = field(default_factory=list)
    form: Element | None = None
    has_result: bool = False
    start: int = 0

    @property
    def name(self) -> str:
        """The first word of the instruction."""
        return ("".join(self.instruction).split() or [""])[0].upper()

    def arguments(self) -> list[str]:
        """Return the words of the instruction, quoted ones without their quotes."""
        written = "".join(self.instruction)
        return [match[1] or match[2] or "" for match in _ARGUMENT.finditer(written)][1:]


def link_of(field: Field) -> str:
    """Return the address of a HYPERLINK field; "" for one within the document."""
    if field.name != "HYPERLINK":
        return ""
    arguments = field.arguments()
    return arguments[0] if arguments and not arguments[0].startswith("\\") else ""


def shown_without_result(field: Field) -> str:
    """Return what a field shows that has no result: a box, a choice, a sign, a formula."""
    if field.form is not None:
        return _form(field.form)
    arguments = field.arguments()
    match field.name:
        case "SYMBOL" if arguments:
            code = (
                int(arguments[0], 0)
                if re.fullmatch(r"0x[\da-f]{1,5}|[1-9]\d{0,5}", arguments[0].lower())
                else 0
            )
            font = arguments[arguments.index("\\f") + 1 :][:1] if "\\f" in arguments else []
            return (
                symbol(code, font[0])
                if font and code
                else chr(code) if 31 < code < 0x11_0000 else ""
            )
        case "MACROBUTTON" | "GOTOBUTTON":
            return " ".join(arguments[1:])
        case "EQ" | "QUOTE":
            return " ".join(_SWITCH.sub(" ", "".join(field.instruction)).split()[1:]).strip('"')
        case _:
            return ""


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
