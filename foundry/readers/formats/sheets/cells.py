"""Reads the cells of an Excel sheet (.xlsx) as displayed, streaming its XML."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.parsers import expat

from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.contract import UnreadableError
from foundry.readers.formats.office.grids import number_of_column
from foundry.readers.formats.office.number_formats import show_general, show_number, show_text
from foundry.readers.formats.office.parts import number
from foundry.readers.formats.office.scripts import ScriptedText, struck
from foundry.readers.formats.sheets.rows import Sheet
from foundry.readers.notes import leave_out

MAX_CELLS = 5_000_000
MAX_KNOWN = 100_000
"""Size of the cache of formatted numbers."""
_HEADERS = frozenset("oddHeader oddFooter evenHeader evenFooter firstHeader firstFooter".split())
_TEXTS = frozenset({"v", "t", "f", "formula1", *_HEADERS})
_SCRIPTED = frozenset({"vertAlign", "strike"})
# Excel's form of characters that XML cannot contain or would change, such as `_x000D_`.
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_CODES = re.compile(r'&(?:"[^"]*"|K[0-9A-F]{6}|[0-9]+|[LCRPNDTFAGZBIUESXYOH+-])')


@dataclass(frozen=True, slots=True)
class Formats:
    """Data that cells refer to: shared texts, number formats by style, the first day of dates.

    `struck` has the styles with a line through the text. If `is_calculated` is false, the program
    that saved the file wrote 0 as the result of each formula, or nothing. `rich` are the texts of
    rich values, which cells number from 1.
    """

    shared: list[str]
    codes: list[str]
    is_1904: bool = False
    struck: frozenset[int] = frozenset()
    is_calculated: bool = True
    rich: Sequence[str | None] = ()


def read_sheet(content: bytes, formats: Formats, place: str, allowed: int) -> Sheet:
    """Read a sheet, without hidden rows and columns.

    Raises UnreadableError for a DTD, damage, and more than `allowed` cells.
    """
    handler = _Handler(formats, place, allowed)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    parser.StartDoctypeDeclHandler = handler.refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        raise UnreadableError(Reason.DAMAGED, "XML") from None
    return handler.sheet


class _Handler:
    def __init__(self, formats: Formats, place: str, allowed: int) -> None:
        self.sheet = Sheet()
        self._formats = formats
        self._place = place
        self._allowed = allowed
        self._hidden_columns: list[range] = []
        self._known: dict[tuple[str, int], str] = {}
        self._columns: dict[str, int] = {}
        self._pieces: list[str] | None = None
        self._value = ""
        self._runs = ScriptedText()
        self._script = ""
        self._formula = ""
        self._rich: str | None = None
        self._kind = "n"
        self._style = 0
        self._row: list[str] = []
        self._number = 0
        self._column = -1
        self._is_hidden = False
        self._in_phonetic = False
        self._shown: dict[str, Callable[[str], str]] = {
            "s": self._shared,
            "b": lambda value: "TRUE" if value == "1" else "FALSE" if value else "",
            "d": lambda value: value.replace("T", " ").removesuffix("Z").removesuffix(" 00:00:00"),
            "e": str,
            "str": self._text,
            "inlineStr": self._text,
        }

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "c":
            self._begin_cell(attributes)
        elif name in _TEXTS:
            self._pieces = None if self._in_phonetic else []
        elif name == "r":
            self._script = ""
        elif name in _SCRIPTED:
            self._script = script_of(name, attributes.get("val")) or self._script
        elif name == "row":
            self._number = number(attributes.get("r"), self._number + 1)
            self._is_hidden = attributes.get("hidden") in {"1", "true"}
            self._row, self._column = [], -1
        elif name == "rPh":
            self._in_phonetic = True
        elif name == "col" and attributes.get("hidden") in {"1", "true"}:
            low, high = (attributes.get(key, "0") for key in ("min", "max"))
            if low.isdecimal() and high.isdecimal():
                self._hidden_columns.append(range(int(low[:6]) - 1, int(high[:6])))
        elif name == "mergeCell":
            self.sheet.areas.append(attributes.get("ref", ""))
        elif name == "dataValidation":
            said = filter(None, (attributes.get(key) for key in ("promptTitle", "prompt")))
            self.sheet.prompts.append(_unescaped(": ".join(said)))
            errors = (attributes.get(key, "") for key in ("errorTitle", "error"))
            leave_out(Omission.FORM, _unescaped("\n".join(errors)), self._place)
        elif name == "hyperlink":
            target = next((value for key, value in attributes.items() if key.endswith(":id")), "")
            self.sheet.links[attributes.get("ref", "")] = target
            leave_out(Omission.ATTRIBUTE, _unescaped(attributes.get("tooltip", "")), self._place)

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        reference = attributes.get("r", "")
        letters = reference.rstrip("0123456789")
        column = self._columns.get(letters)
        if column is None:
            column = self._columns[letters] = number_of_column(letters)
        self._column = column if column >= 0 else self._column + 1
        self._kind = attributes.get("t", "n")
        written = attributes.get("s", "0")
        self._style = int(written) if written.isdecimal() else 0
        self._value = self._formula = ""
        number, rich = attributes.get("vm", ""), self._formats.rich
        is_rich = number.isdecimal() and 0 < int(number[:9]) <= len(rich)
        self._rich = rich[int(number[:9]) - 1] if is_rich else None

    def text(self, text: str) -> None:
        if self._pieces is not None:
            self._pieces.append(text)

    def end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        if name in _TEXTS:
            text = "".join(self._pieces or ())
            self._pieces = None
            if name in _HEADERS:
                leave_out(Omission.RUNNING_LINE, _CODES.sub(" ", text), self._place)
            elif name == "f":
                self._formula = text
            elif name == "formula1":
                self._add_options(text)
            elif name == "t":
                # Formatted text consists of several runs.
                self._runs.put(text, self._script)
            else:
                self._add_value(text)
        elif name == "is":
            self._value, self._runs, self._script = str(self._runs), ScriptedText(), ""
        elif name == "c":
            if self._rich is not None:
                self._kind, self._value = "str", self._rich
            elif not self._value and self._formula:
                self._kind, self._value = "str", f"={self._formula}"
            if self._value:
                self._end_cell()
        elif name == "row":
            self._end_row()
        elif name == "rPh":
            self._in_phonetic = False

    def _add_options(self, formula: str) -> None:
        """Add the options of a validated cell if they are written out: `"Open,Closed"`."""
        if formula.startswith('"') and self.sheet.prompts:
            options = ", ".join(map(str.strip, _unescaped(formula.strip('"')).split(",")))
            prompt = self.sheet.prompts[-1]
            self.sheet.prompts[-1] = f"{prompt} ({options})" if prompt else options

    def _add_value(self, text: str) -> None:
        """Add a value; keep the formula if the value is not its result."""
        is_result = text or self._kind == "str"  # An empty result is a text.
        if self._formula and text == "0":
            is_result = self._formats.is_calculated
        if is_result:
            self._formula = ""
            self._value += text

    def _end_cell(self) -> None:
        show = self._shown.get(self._kind, self._number_text)
        text = show(self._value)
        if self._style in self._formats.struck:
            text = struck(text)
        if self._hidden_columns and any(self._column in each for each in self._hidden_columns):
            leave_out(Omission.HIDDEN, text, self._place)
            return
        gap = self._column - len(self._row)
        if gap > 0:
            self._row += [""] * gap
        if gap < 0:
            self._row[self._column] = text
        else:
            self._row.append(text)

    def _end_row(self) -> None:
        if not any(self._row):
            return
        if self._is_hidden:
            leave_out(Omission.HIDDEN, " ".join(self._row), self._place)
            return
        self._allowed -= len(self._row)
        if self._allowed < 0:
            raise UnreadableError(Reason.TOO_MANY_CELLS, f"the limit is {MAX_CELLS}")
        if not self.sheet.numbers or self._number > self.sheet.numbers[-1]:
            self.sheet.rows.append(self._row)
            self.sheet.numbers.append(self._number)

    def _shared(self, value: str) -> str:
        place = int(value) if value.strip().isdecimal() else -1
        texts = self._formats.shared
        return self._text(texts[place]) if 0 <= place < len(texts) else ""

    def _text(self, text: str) -> str:
        text = _unescaped(text)
        code = self._code()
        return show_text(text, code) if "@" in code and code != "@" else text

    def _number_text(self, value: str) -> str:
        code = self._code()
        if code == "General" and value.isdecimal() and len(value) < 16:
            return value
        key = value, self._style
        shown = self._known.get(key)
        if shown is None:
            try:
                number = float(value)
            except ValueError:
                return value
            if code == "General" or code == "@":
                shown = show_general(number)
            else:
                shown = show_number(number, code, is_1904=self._formats.is_1904)
            if len(self._known) < MAX_KNOWN:
                self._known[key] = shown
        return shown

    def _code(self) -> str:
        codes = self._formats.codes
        return codes[self._style] if self._style < len(codes) else "General"

    def refuse(self, *_: object) -> None:
        """Reject a DTD as soon as it begins."""
        raise UnreadableError(Reason.HOLDS_DTD)


def script_of(name: str, value: str | None) -> str:
    """Return `super`, `sub` or `struck` for a property of a font, or "" if it is off."""
    if name == "strike":
        return "" if value in {"0", "false"} else "struck"
    return {"superscript": "super", "subscript": "sub"}.get(value or "", "")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_unescape, text).replace("\r\n", "\n")


def _unescape(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if character.isprintable() or character in "\t\n\r" else " "
