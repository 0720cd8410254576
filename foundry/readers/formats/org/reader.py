"""Reads Org as Markdown, with headings as its outline.

Included files are linked, not read, and code is not run.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader
from foundry.readers.dates import normalise_date
from foundry.readers.formats import html
from foundry.readers.formats.markdown.names import ADMONITIONS
from foundry.readers.formats.markdown.reader import strip_markup
from foundry.readers.formats.org.inline import write_inline
from foundry.readers.formats.pages.blocks import Block, add_to, labelled, nested
from foundry.readers.notes import leave_out

_HEADING = re.compile(
    r"(\*{1,20})[ \t]+(?:(TODO|DONE|NEXT|WAIT(?:ING)?|HOLD|CANCELL?ED|STARTED|IN-PROGRESS)[ \t]+)?"
    r"(\[#[A-Z0-9]\][ \t]*)?(COMMENT[ \t]+)?(.*?)(?:[ \t]+(:[\w@#%:]{1,200}:))?[ \t]*$"
)
_PATH = re.compile(r"\"?([\w./~ -]{0,300}\w)")
_KEYWORD = re.compile(r"[ \t]*#\+([A-Za-z_]{1,40}(?:\[[^\]]{0,100}\])?):[ \t]*(.*)$")
_BLOCK = re.compile(r"[ \t]*#\+begin_(\w{1,30})[ \t]*(.*)$", re.IGNORECASE)
_DYNAMIC = re.compile(r"[ \t]*#\+begin:[ \t]*(.*)$", re.IGNORECASE)
_END_OF_DYNAMIC = re.compile(r"[ \t]*#\+end:?[ \t]*$", re.IGNORECASE)
_COMMENT = re.compile(r"[ \t]*#(?:[ \t]+(.*))?$")
_DRAWER = re.compile(r"[ \t]*:([\w-]{1,50}):[ \t]*$")
_LITERAL = re.compile(r"[ \t]*:(?:[ ](.*))?$")
_TABLE = re.compile(r"[ \t]*\|")
_RULE = re.compile(r"[ \t]*\|[-+|: \t]*$")
_ITEM = re.compile(r"([ \t]*)(?:[-+]|(?<=[ \t])\*|(\d{1,4})[.)])[ \t]+(.*)$")
# `[@5]` sets the number of an item.
_COUNT = re.compile(r"\[@(\d{1,4})\][ \t]*")
_TERM = re.compile(r"(.{1,300}?)[ \t]+::(?:[ \t]+|$)")
_NOTE = re.compile(r"\[fn:([\w-]{1,50})\][ \t]*")
_WIDTH = re.compile(r"(?:<[lcr]?\d*>)?")
_TAG = re.compile(r"<[^<>]*+>")
_GROUPS = frozenset(("", "<", ">", "<>"))
_LOGGED = frozenset(("PROPERTIES", "LOGBOOK"))
_CODE = frozenset(("src", "example", "verbatim"))
_LEFT_OUT = {"comment": Omission.COMMENT, "export": Omission.SCRIPT}
# In Org, blocks with these names are not admonitions.
_BOXES = ADMONITIONS - {"abstract", "bug", "example", "failure", "question", "quote", "summary"}
_SAID = frozenset(("caption", "title", "subtitle", "author"))


class _Writer:
    def __init__(self, text: str, macros: Mapping[str, str] | None = None) -> None:
        self.composer = Composer()
        self.title: str | None = None
        self.date: str | None = None
        self.language: str | None = None
        self.tags: list[str] = []
        self._lines = text.split("\n")
        self._next = 0
        self._held: list[str] = []
        self._macros = dict(macros or {})
        self._missing: set[str] = set()

    def write(self) -> None:
        """Convert every line."""
        while self._next < len(self._lines):
            line = self._lines[self._next]
            self._next += 1
            if not (self._outside(line) or self._begin(line)):
                self._prose(line)
        self.flush()

    def flush(self) -> None:
        """End the pending paragraph."""
        self.composer.text(self._inline("\n".join(self._held)))
        self._held.clear()

    def _inline(self, text: str) -> str:
        return write_inline(text, self._macros)

    def _until(self, pattern: re.Pattern[str]) -> list[str]:
        """Take the lines up to and including a match; take none if no line matches."""
        end = self._find(pattern)
        if end is None:
            return []
        content = self._lines[self._next : end]
        self._next = end + 1
        return content

    def _find(self, pattern: re.Pattern[str]) -> int | None:
        """Return the number of the next line that matches, None without one.

        A failed search is not repeated.
        """
        if pattern.pattern not in self._missing:
            for place in range(self._next, len(self._lines)):
                if pattern.match(self._lines[place]):
                    return place
            self._missing.add(pattern.pattern)
        return None

    def _outside(self, line: str) -> bool:
        """Process a keyword, a comment or a drawer; return whether the line begins one."""
        if keyword := _KEYWORD.match(line):
            self._keyword(keyword[1].lower().partition("[")[0], keyword[2].strip(), line)
        elif comment := _COMMENT.match(line):
            leave_out(Omission.COMMENT, comment[1] or "")
        elif drawer := _DRAWER.match(line):
            self._drawer(drawer[1])
        elif dynamic := _DYNAMIC.match(line):
            leave_out(Omission.ATTRIBUTE, f"begin {dynamic[1]}")
        elif _END_OF_DYNAMIC.match(line):
            leave_out(Omission.MACRO, "end")
        else:
            return False
        return True

    def _drawer(self, name: str) -> None:
        if name.upper() in _LOGGED:
            content = self._until(_END)
            leave_out(Omission.METADATA, "\n".join([name, *content, "END" if content else ""]))
        else:
            # Drawers that authors define are only folded, so their text is read.
            leave_out(Omission.ATTRIBUTE, f"{name} END")
            self._end_later(_END)

    def _keyword(self, name: str, value: str, line: str) -> None:
        leave_out(Omission.METADATA, line)
        if name == "title":
            self.title = " ".join(filter(None, (self.title, strip_markup(self._inline(value)))))
        elif name == "date":
            self.date = value.strip("<>[]").partition(" ")[0]
        elif name == "language":
            self.language = value
        elif name == "filetags":
            self.tags += filter(None, value.split(":"))
        elif name == "macro":
            called, _, text = value.partition(" ")
            self._macros[called] = text
        elif name == "include" and (path := _PATH.match(value)):
            self._held += ["", f"[[file:{path[1]}][{path[1]}]]", ""]
        elif name in _SAID:
            self._held.append(value)

    def _begin(self, line: str) -> bool:
        """Read a heading or block that begins here; return whether there is one."""
        if heading := _HEADING.match(line):
            self.flush()
            left = (heading[3], heading[4], heading[6])
            leave_out(Omission.METADATA, " ".join(filter(None, left)))
            title = " ".join(filter(None, (heading[2], heading[5])))
            written = self._inline(title)
            self.composer.heading(len(heading[1]), written, strip_markup(written))
        elif block := _BLOCK.match(line):
            self._block(block[1].lower(), block[2])
        elif _LITERAL.match(line):
            self._next -= 1
            self._literal()
        elif _TABLE.match(line):
            self._next -= 1
            self._table()
        else:
            return False
        return True

    def _block(self, name: str, options: str) -> None:
        self.flush()
        ending = re.compile(rf"[ \t]*#\+end_{re.escape(name)}\b", re.IGNORECASE)
        leave_out(Omission.MACRO, f"begin {name} end {name}")
        if name in _BOXES and self._find(ending) is not None:
            leave_out(Omission.ATTRIBUTE, options)
            self._box(name, self._until(ending))
            return
        if name not in _CODE and name not in _LEFT_OUT:
            # The lines of quotations, verses and boxes are read as usual.
            leave_out(Omission.ATTRIBUTE, options)
            self._end_later(ending)
            return
        content = self._until(ending)
        if name == "export" and options.strip().lower() == "html":
            markup = "\n".join(content)
            leave_out(Omission.ATTRIBUTE, " ".join([options, *_TAG.findall(markup)]))
            self.composer.text(html.read_part(markup) or "")
            return
        if name in _LEFT_OUT:
            leave_out(_LEFT_OUT[name], "\n".join([options, *content]))
            return
        language, _, rest = options.strip().partition(" ")
        leave_out(Omission.ATTRIBUTE, rest if name == "src" else options)
        # A comma escapes lines of code that look like headings.
        code = [re.sub(r"^([ \t]*),(?=\*|#\+)", r"\1", each) for each in content]
        width = min((len(c) - len(c.lstrip(" ")) for c in code if c.strip()), default=0)
        shown = "\n".join(each[width:] for each in code)
        self.composer.code(shown, language if name == "src" else "")

    def _box(self, kind: str, content: list[str]) -> None:
        """Read the lines of an admonition as a quotation that begins with its kind."""
        writer = _Writer("\n".join(content), self._macros)
        writer.write()
        inner = writer.composer.finish()
        blocks = labelled(kind.capitalize(), [Block(inner.text, 0, inner.blocks)])
        add_to(self.composer, nested(blocks, "> ", "> "), inner.links)

    def _end_later(self, ending: re.Pattern[str]) -> None:
        """Blank the line that ends a block; the text before it is read as usual."""
        if (place := self._find(ending)) is not None:
            self._lines[place] = ""

    def _literal(self) -> None:
        self.flush()
        content = []
        while self._next < len(self._lines):
            found = _LITERAL.match(self._lines[self._next])
            if found is None:
                break
            content.append(found[1] or "")
            self._next += 1
        self.composer.code("\n".join(content))

    def _table(self) -> None:
        self.flush()
        rows = []
        while self._next < len(self._lines) and _TABLE.match(self._lines[self._next]):
            line = self._lines[self._next].strip()
            self._next += 1
            if _RULE.match(line):
                continue
            cells = line.removeprefix("|").removesuffix("|").split("|")
            if _is_layout([cell.strip() for cell in cells]):
                leave_out(Omission.ATTRIBUTE, line)
            else:
                rows.append([self._inline(cell.strip()) for cell in cells])
        self.composer.table(rows)

    def _prose(self, line: str) -> None:
        if note := _NOTE.match(line):
            self.flush()
            leave_out(Omission.MACRO, "fn")
            line = f"[{note[1]}] {line[note.end() :]}"
        if item := _ITEM.match(line):
            count = _COUNT.match(item[3])
            text = _TERM.sub(r"\1: ", item[3][count.end() if count else 0 :], count=1).rstrip()
            number = count[1] if count and item[2] else item[2]
            leave_out(Omission.ATTRIBUTE, f"{count[1]} {item[2] or ''}" if count else "")
            line = f"{item[1]}{f'{number}.' if number else '-'} {text}"
        if not line.strip() and self._held:
            self._held.append("")
        elif line.strip():
            self._held.append(line)


def _is_layout(cells: list[str]) -> bool:
    """Return whether a row has the widths and alignments of columns, or groups of them."""
    return all(map(_WIDTH.fullmatch, cells)) or (cells[0] == "/" and _GROUPS.issuperset(cells[1:]))


_END = re.compile(r"[ \t]*:END:[ \t]*$", re.IGNORECASE)


def read(text: str) -> Reading:
    """Read a document; a listing or table stays whole if it fits into a chunk."""
    writer = _Writer(text)
    writer.write()
    reading = writer.composer.finish(
        title=writer.title,
        modified=normalise_date(writer.date),
        language=writer.language,
    )
    return replace(reading, tags=tuple(dict.fromkeys((*reading.tags, *writer.tags))))


READER = Reader("org/5", {".org": "text/org"}, read)
