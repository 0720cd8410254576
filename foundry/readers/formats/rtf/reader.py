"""Reads Rich Text Format ([MS-RTF] 1.9.1) in one pass.

The available library drops notes, text boxes, table cells and all charsets but the first.
"""

from dataclasses import replace
from typing import Any

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.accounting.messages import rtf_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader
from foundry.readers.dates import normalise_date
from foundry.readers.formats.front_matter import find_tags
from foundry.readers.formats.office.fields import shown_by
from foundry.readers.formats.office.headings import level_of_style
from foundry.readers.formats.office.running import PAGE_NUMBER
from foundry.readers.formats.office.scripts import ScriptedText
from foundry.readers.formats.rtf.charsets import without_utf_8
from foundry.readers.formats.rtf.fields import Field
from foundry.readers.formats.rtf.groups import Groups
from foundry.readers.formats.rtf.layout import Layout
from foundry.readers.formats.rtf.numbering import LISTS, OLD_LISTS, Level, Numbering
from foundry.readers.formats.rtf.state import State
from foundry.readers.formats.rtf.words import (
    CONTENTS,
    LEFT_OUT,
    MATH,
    PAGES,
    PASSED_OVER,
    RUNNING,
    SIGNS,
    TRANSPARENT,
)
from foundry.readers.notes import leave_out


def read(content: bytes) -> Reading:
    """Read a document's text, with headings from its styles, lists, tables, notes and text boxes.

    Hidden and deleted text and comments are left out; headers and footers are read once. Raises
    UnreadableError for groups that are nested too deeply.
    """
    interpreter = _Interpreter()
    interpreter.run(without_utf_8(content).decode("latin-1"))
    return interpreter.finish()


class _Interpreter(Groups):
    def __init__(self) -> None:
        self._layout = Layout()
        super().__init__(self._layout.line)
        self._headings: dict[int, int] = {}
        self._unicode_targets: list[ScriptedText | None] = []
        self._has_mark = False
        self._property = ""
        self._stated: dict[str, Any] = {}
        self._dates: dict[str, dict[str, int]] = {}
        self._numbering = Numbering()
        self.words |= {
            **dict.fromkeys(SIGNS, lambda word, _: self.put(SIGNS[word])),
            **dict.fromkeys(PASSED_OVER, self._pass_over),
            **dict.fromkeys(TRANSPARENT, self._read_on),
            **dict.fromkeys(RUNNING, self._open_part),
            **dict.fromkeys(LEFT_OUT, self._open_part),
            **dict.fromkeys(MATH, self._open_math),
            **dict.fromkeys(("shptxt", "dptxbxtext", "title", "keywords"), self._open_part),
            **dict.fromkeys("listtext pntext sn sv ffl creatim revtim".split(), self._open_part),
            **dict.fromkeys(("yr", "mo", "dy"), self._date),
            **dict.fromkeys(("clvmrg", "clmrg", "cellx", "trowd"), self._shape),
            **dict.fromkeys(("par", "sect", "page"), lambda _, __: self.end_paragraph()),
            "cell": lambda _, __: self._end_cell(),
            "row": lambda _, __: self._layout.end_row(),
            "fonttbl": lambda word, _: self._open(word, ScriptedText()),
            "stylesheet": lambda word, _: self._open(word, ScriptedText()),
            "s": lambda _, n: self.set(style=n or 0),
            "sbasedon": lambda _, n: self.set(parent=n),
            "outlinelevel": lambda _, n: self.set(outline=n),
            "ilvl": lambda _, n: self.set(list_level=n or 0),
            **dict.fromkeys(("li", "lin"), lambda _, n: self.set(indent=n or 0)),
            "ls": self._name_list,
            "listid": lambda _, n: self._numbering.name_list(n or 0),
            **dict.fromkeys(LISTS, self._numbering.define),
            **dict.fromkeys(OLD_LISTS, self._numbering.define_old),
            "pn": self._open_old_list,
            **dict.fromkeys("listtable listoverridetable leveltext".split(), self._open_part),
            **dict.fromkeys(("pntxtb", "pntxta"), self._open_part),
            "intbl": lambda _, __: self.set(is_in_table=True),
            "pard": lambda _, __: self._reset_paragraph(),
            "picprop": lambda _, __: self.set(target=self.states[-3:][0].target),
            "footnote": self._open_note,
            "chftn": lambda _, __: self._mark(),
            "field": lambda word, _: self.set(field=Field(), closes=word),
            "fldinst": self._open_instruction,
            "fldrslt": self._open_result,
            "ffres": self._choose,
            "ffdefres": self._choose,
            "upr": self._open_alternatives,
            "nonesttables": self._open_part,
            "nesttableprops": self._end_nested_row,
        }

    def finish(self) -> Reading:
        """Return the reading."""
        composer = Composer()
        composer.text(str(self._layout.running))
        composer.include(self._layout.finish())
        stated = self._dates.get("revtim") or self._dates.get("creatim") or {}
        year, month, day = (stated.get(name, 0) for name in ("yr", "mo", "dy"))
        modified = normalise_date(f"{year:04}-{month:02}-{day:02}")
        return composer.finish(**self._stated, modified=modified)

    def close(self, state: State) -> None:
        """Handle the text of a finished group according to its destination."""
        name, text = state.closes, "" if state.target is None else str(state.target)
        outer = self.states[-1].target
        if name == "fonttbl":
            self.use_default_font()
        elif name in RUNNING:
            self._layout.running.add(text, name)
        elif reason := LEFT_OUT.get(name):
            leave_out(reason, text, "info" if reason == Omission.METADATA else "")
        elif name in {"footnote", "shptxt", "dptxbxtext"}:
            self._layout.keep(f"{state.label} {text.strip()}".strip())
        elif name in {"listtext", "pntext"}:
            self._layout.set_label(text.strip(), self.states[-1].list_level)
            if self.states[-1].is_in_table:
                self.put(f"{self._layout.take_label()} ")
        elif name == "leveltext":
            self._numbering.define_text(text)
        elif name in {"pntxtb", "pntxta"}:
            old = self._numbering.old
            shown = text + old.text if name == "pntxtb" else old.text + text
            self._numbering.old = replace(old, text=shown)
        elif name == "pn":
            self.set(old_list=self._numbering.old)
        elif name == "title":
            self._stated["title"] = text.strip() or None
        elif name == "keywords":
            self._stated["tags"] = find_tags({"keywords": text})
        elif name == "style":
            level = level_of_style(text.split(";")[0])
            level = level or self._headings.get(-1 if state.parent is None else state.parent, 0)
            self._headings.setdefault(state.style, state.outlined(level))
        elif name == "sn":
            self._property = text.strip()
        elif (
            name == "sv"
            and outer is not None
            and self._property in {"wzDescription", "gtextUNICODE"}
        ):
            self.put(text)
        elif name in {"contents", "nonesttables"}:
            leave_out(Omission.DUPLICATE, text)
        elif name == "ffl" and state.field is not None:
            state.field.choices.append(text)
        elif name == "fldrslt" and state.field is not None and state.target is not None:
            state.field.close_result(state.target)
        elif name == "field" and state.field is not None and not state.field.is_shown:
            self.put(shown_by(str(state.field.instruction)))
        elif name == "upr":
            self._unicode_targets.pop()
        elif name in MATH:
            state.write_math(MATH[name])

    def _name_list(self, _: str, number: int | None) -> None:
        if any(state.closes == "listoverridetable" for state in self.states[-3:]):
            self._numbering.name_override(number or 0)
        else:
            self.set(list_number=number or 0)

    def _open_old_list(self, word: str, _: int | None) -> None:
        self._numbering.old = Level(text="\0")
        self._open_part(word, None)

    def _reset_paragraph(self) -> None:
        self.set(is_in_table=False, style=0, outline=None, indent=0)
        self.set(list_number=0, list_level=0, old_list=None)

    def _label(self, state: State) -> None:
        """Number the paragraph, if it belongs to a list."""
        if str(self._layout.line).strip():
            old = self._numbering.label_old(state.old_list)
            label = self._numbering.label(state.list_number, state.list_level)
            self._layout.set_label(label or old, state.list_level)

    def _open(self, name: str, target: ScriptedText | None) -> None:
        if self.states[-1].target is not None:
            self.set(closes=name, target=target, is_hidden=False, script="")

    def _open_part(self, word: str, _: int | None) -> None:
        self._open(word, ScriptedText())

    def _pass_over(self, word: str, _: int | None) -> None:
        if word != "comment" or self.is_optional:
            self.set(target=None)

    def _read_on(self, word: str, _: int | None) -> None:
        if word == "ud" and self._unicode_targets:
            self.set(target=self._unicode_targets[-1])

    def _open_alternatives(self, word: str, _: int | None) -> None:
        self._unicode_targets.append(self.states[-1].target)
        self.set(closes=word, target=None)

    def _open_math(self, word: str, _: int | None) -> None:
        target = self.states[-1].target
        if target is not None:
            target.flush()
            self.set(closes=word, math_start=len(target.parts))

    def _mark(self) -> None:
        self._has_mark = True

    def _open_note(self, word: str, _: int | None) -> None:
        target = self.states[-1].target
        if target is None:
            return
        label = self._layout.next_note() if self._has_mark else ""
        target.put(label)
        self._has_mark = False
        self._open(word, ScriptedText())
        self.set(label=label)

    def _open_instruction(self, word: str, _: int | None) -> None:
        state = self.states[-1]
        if state.target is not None and state.field is not None:
            self.set(closes=word, target=state.field.instruction)

    def _open_result(self, word: str, _: int | None) -> None:
        state = self.states[-1]
        if state.target is None or state.field is None:
            return
        name = state.field.name_and_argument()[0]
        if name in CONTENTS:
            self._open("contents", ScriptedText())
        elif name in PAGES and state.target is not self._layout.line:
            state.target.put(PAGE_NUMBER)
            self.set(target=None)
        else:
            state.field.open_result(state.target)
            self.set(closes=word)

    def _choose(self, word: str, number: int | None) -> None:
        field = self.states[-1].field
        if field is not None and number is not None:
            field.choose(number, is_default=word == "ffdefres")

    def _end_nested_row(self, _: str, __: int | None) -> None:
        """End a row of a nested table; only the text of the table is kept."""
        self.put("; ")
        self.set(target=None)

    def _date(self, word: str, number: int | None) -> None:
        name = self.states[-1].closes
        if name in {"creatim", "revtim"}:
            self._dates.setdefault(name, {})[word] = (number or 0) % 10_000

    def _shape(self, word: str, number: int | None) -> None:
        if self.states[-1].target is not None:
            self._layout.shape_cells(word, number or 0)

    def end_paragraph(self) -> None:
        state = self.states[-1]
        if state.target is not self._layout.line:
            self.put("\n")
            return
        self._tell_dropped()
        if state.is_in_table:
            self.put("\n")
            return
        heading = state.outlined(self._headings.get(state.style, 0))
        self._label(state)
        self._layout.indent = state.indent
        self._layout.end_paragraph(heading)
        self._retarget()

    def _end_cell(self) -> None:
        if self.states[-1].target is self._layout.line:
            self._tell_dropped()
            if "\n" not in str(self._layout.line):
                self._label(self.states[-1])
            self._layout.end_cell()
            self._retarget()

    def _retarget(self) -> None:
        """Redirect all groups that wrote to the finished line to the next one."""
        for state in self.states:
            if state.target is self._layout.last_line:
                state.target = self._layout.line

    def _tell_dropped(self) -> None:
        leave_out(Omission.HIDDEN, "".join(self.dropped))
        self.dropped.clear()


READER = FileReader(
    "rtf/7", {"RTF": "application/rtf"}, {".rtf": "application/rtf"}, read, texts=rtf_texts
)
