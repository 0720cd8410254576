"""The text of a paragraph: its runs, with fields, links, revisions, notes and equations."""

from collections.abc import Callable
from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.readers.formats.office.alternatives import choose
from foundry.readers.formats.office.embedded import OBJECT
from foundry.readers.formats.office.equations import MATH, spell
from foundry.readers.formats.office.links import write_link
from foundry.readers.formats.office.numerals import numeral
from foundry.readers.formats.office.parts import ALTERNATIVES, RELATIONSHIPS, Relation, texts_of
from foundry.readers.formats.office.running import PAGE_NUMBER
from foundry.readers.formats.office.scripts import ScriptedText
from foundry.readers.formats.office.symbols import from_private_use, symbol
from foundry.readers.formats.word.drawings import Note, control_omission, find_boxes, write_drawing
from foundry.readers.formats.word.fields import (
    CONTENTS,
    PAGES,
    Field,
    link_of,
    shown_without_result,
)
from foundry.readers.formats.word.names import RUN_PROPERTIES, SILENT, TEXT, VAL, W, is_on
from foundry.readers.formats.word.styles import PLAIN, STRUCK, Style, Styles
from foundry.readers.notes import leave_out

_VML = "{urn:schemas-microsoft-com:vml}"

MAX_FIELDS = 50
"""Maximum number of open fields; more only occur if fields are never ended."""

Write = Callable[[Element], None]


class Inline:
    """Reads the paragraphs of one part; `is_running` is whether it is a header or footer."""

    def __init__(self, part: str, styles: Styles, relations: dict[str, Relation]) -> None:
        self._referred: list[Element | Note] = []
        self.is_running = False
        self._counts = {"footnote": 0, "endnote": 0}
        self._part = part
        self._styles = styles
        self._relations = relations
        self._fields: list[Field] = []
        self._line = ScriptedText()
        self._dropping: list[Omission] = []
        self._dropped: list[tuple[Omission, str]] = []
        self._writers: dict[str, Write | None] = {
            **dict.fromkeys(SILENT),
            TEXT: self._text,
            f"{W}r": self._run,
            f"{W}tab": lambda _: self._put("\t"),
            f"{W}ptab": lambda _: self._put("\t"),
            f"{W}br": lambda _: self._put("\n"),
            f"{W}cr": lambda _: self._put("\n"),
            f"{W}noBreakHyphen": lambda _: self._put("-"),
            f"{W}sym": self._symbol,
            f"{W}hyperlink": self._hyperlink,
            f"{W}fldChar": self._mark_field,
            f"{W}fldSimple": self._simple_field,
            f"{W}instrText": self._instruct,
            f"{W}delInstrText": self._instruct,
            f"{W}del": lambda e: self._drop(e, Omission.HIDDEN),
            f"{W}moveFrom": lambda e: self._drop(e, Omission.DUPLICATE),
            f"{W}delText": self._text,
            f"{W}ruby": self._ruby,
            f"{W}footnoteReference": lambda e: self._note("footnote", e),
            f"{W}endnoteReference": lambda e: self._note("endnote", e),
            f"{W}pgNum": lambda _: self._put(PAGE_NUMBER if self.is_running else ""),
            f"{W}sdt": self._control,
            f"{W}drawing": self._drawing,
            f"{W}pict": self._drawing,
            f"{W}object": self._drawing,
            f"{MATH}oMath": lambda e: self._put(spell(e)),
            f"{MATH}oMathPara": lambda e: self._put(spell(e)),
            ALTERNATIVES: self._alternatives,
        }

    def read(self, paragraph: Element, style: Style = PLAIN) -> str:
        """Return a paragraph's text; fields may continue from the previous paragraph."""
        self._line = ScriptedText()
        for each in self._fields:
            each.start = 0
        if style.is_hidden:
            self._drop(paragraph, Omission.HIDDEN)
        else:
            self._walk(paragraph)
        self._line.flush()
        for each in self._fields:
            if each.has_result and (url := link_of(each)):
                self._link(each.start, url)
        for reason in dict.fromkeys(reason for reason, _ in self._dropped):
            text = "".join(text for why, text in self._dropped if why is reason)
            leave_out(reason, text, self._part)
        self._dropped = []
        # An instruction ends with its paragraph. Otherwise an unclosed field would hide the rest of
        # the text.
        for each in [each for each in self._fields if not each.has_result]:
            self._fields.remove(each)
            self._dropping.remove(Omission.MACRO)
        return str(self._line)

    def take(self) -> list["Element | Note"]:
        """Return the text boxes, charts and notes that were referred to since the last call."""
        referred, self._referred = self._referred, []
        return referred

    def end_contents(self) -> None:
        """Close every field: text in a heading style is not part of a table of contents."""
        self._fields, self._dropping = [], []

    def _walk(self, parent: Element) -> None:
        writers = self._writers
        for element in parent:
            write = writers.get(element.tag, self._walk)
            if write is not None:
                write(element)

    def _put(self, text: str, script: str = "") -> None:
        if self._dropping:
            self._dropped.append((self._dropping[-1], text))
            return
        self._line.put(text, script)

    def _drop(self, element: Element, reason: Omission) -> None:
        self._dropping.append(reason)
        self._walk(element)
        self._dropping.pop()

    def _run(self, run: Element) -> None:
        properties = run.find(RUN_PROPERTIES)
        if properties is None:
            self._walk(run)
            return
        style, script, font, is_hidden, is_struck = PLAIN, "", "", None, None
        for each in properties:
            tag = each.tag
            if tag == _STYLED:
                style = self._styles.get(each.get(VAL, ""))
            elif tag == _RAISED:
                script = each.get(VAL, "").removesuffix("script")
            elif tag == _VANISH:
                is_hidden = is_on(each.get(VAL))
            elif tag == _FONTS:
                font = each.get(_ASCII, "")
            elif tag in STRUCK:
                is_struck = is_on(each.get(VAL))
        if style.is_hidden if is_hidden is None else is_hidden:
            self._drop(run, Omission.HIDDEN)
            return
        script = script or style.script
        if is_struck is not None and script not in {"super", "sub"}:
            script = "struck" if is_struck else ""
        for element in run:
            if element.tag == TEXT:
                text = element.text or ""
                if not text.isascii() and any("\uf020" <= sign <= "\uf0ff" for sign in text):
                    text = from_private_use(text, font or style.font)
                self._put(text, script if script in {"super", "sub", "struck"} else "")
            elif write := self._writers.get(element.tag, self._walk):
                write(element)

    def _text(self, element: Element) -> None:
        self._put(element.text or "")

    def _symbol(self, element: Element) -> None:
        try:
            code = int(element.get(f"{W}char", ""), 16)
            self._put(symbol(code, element.get(f"{W}font", "")))
        except ValueError:
            return

    def _hyperlink(self, element: Element) -> None:
        self._line.flush()
        start = len(self._line.parts)
        self._walk(element)
        self._line.flush()
        relation = self._relations.get(element.get(f"{RELATIONSHIPS}id", ""))
        if relation and relation.is_external:
            self._link(start, relation.target)

    def _link(self, start: int, url: str) -> None:
        """Turn the text written since `start` into a link."""
        text = "".join(self._line.parts[start:])
        self._line.parts[start:] = [write_link(text, url)]

    def _mark_field(self, element: Element) -> None:
        kind = element.get(f"{W}fldCharType")
        self._line.flush()
        if kind == "begin":
            if len(self._fields) >= MAX_FIELDS:
                self.end_contents()
            self._fields.append(Field(form=element.find(f"{W}ffData")))
            self._dropping.append(Omission.MACRO)
        elif kind == "separate" and self._fields and not self._fields[-1].has_result:
            self._begin_result(self._fields[-1])
        elif kind == "end" and self._fields:
            self._end_field(self._fields.pop())

    def _begin_result(self, field: Field) -> None:
        field.has_result = True
        field.start = len(self._line.parts)
        self._dropping.pop()
        if field.name in CONTENTS:
            self._dropping.append(Omission.DUPLICATE)
        elif self.is_running and field.name in PAGES:
            self._put(PAGE_NUMBER)
            self._dropping.append(Omission.RUNNING_LINE)

    def _end_field(self, field: Field) -> None:
        is_dropped = field.name in CONTENTS or (self.is_running and field.name in PAGES)
        if not field.has_result:
            self._dropping.pop()
            self._put(shown_without_result(field))
        elif is_dropped:
            self._dropping.pop()
        elif not "".join(self._line.parts[field.start :]).strip():
            self._put(shown_without_result(field))
        elif url := link_of(field):
            self._link(field.start, url)

    def _simple_field(self, element: Element) -> None:
        field = Field([element.get(f"{W}instr", "")])
        self._fields.append(field)
        self._dropping.append(Omission.MACRO)
        self._line.flush()
        self._begin_result(field)
        self._walk(element)
        self._line.flush()
        self._end_field(self._fields.pop())

    def _instruct(self, element: Element) -> None:
        text = element.text or ""
        if self._fields and not self._fields[-1].has_result:
            self._fields[-1].instruction.append(text)
        leave_out(Omission.MACRO, text, self._part)

    def _ruby(self, element: Element) -> None:
        base, reading = element.find(f"{W}rubyBase"), element.find(f"{W}rt")
        if base is None:
            return
        said = "" if reading is None else "".join(each.text or "" for each in reading.iter(TEXT))
        if self._dropping:
            self._walk(base)
        else:
            self._line.put_ruby("".join(each.text or "" for each in base.iter(TEXT)), said)

    def _note(self, kind: str, element: Element) -> None:
        if not self._dropping:
            label = ""
            if not is_on(element.get(f"{W}customMarkFollows", "0")):
                self._counts[kind] += 1
                label = f"[{numeral(self._counts[kind], _NOTE_FORMATS[kind])}]"
                self._put(label)
            self._referred.append(Note(kind, element.get(f"{W}id", ""), label))

    def _control(self, element: Element) -> None:
        reason = control_omission(element)
        if reason:
            self._drop(element, reason)
        else:
            self._walk(element)

    def _alternatives(self, element: Element) -> None:
        self._walk(choose(element, self._part))

    def _drawing(self, element: Element) -> None:
        boxes = list(find_boxes(element, self._part))
        if self._dropping:
            for box in boxes:
                self._dropped.append((self._dropping[-1], texts_of(box)))
            return
        self._referred += boxes
        relations = {} if self.is_running else self._relations
        has_boxes = any(each.tag != OBJECT for each in boxes)
        self._put(write_drawing(element, relations, has_boxes=has_boxes))
        if not self.is_running:
            for each in element.iter(f"{_VML}textpath"):
                self._put(each.get("string", ""))


_NOTE_FORMATS = {"footnote": "decimal", "endnote": "lowerRoman"}
_STYLED, _RAISED, _VANISH = f"{W}rStyle", f"{W}vertAlign", f"{W}vanish"
_FONTS, _ASCII = f"{W}rFonts", f"{W}ascii"
