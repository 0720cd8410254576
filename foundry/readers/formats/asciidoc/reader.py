"""Reads AsciiDoc as Markdown, with sections as its outline.

Included files are linked, not read, and conditional text (`ifdef::`) is kept.
"""

import re
from dataclasses import dataclass

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader
from foundry.readers.dates import normalise_date
from foundry.readers.formats import html
from foundry.readers.formats.asciidoc.inline import fill_in, write_inline
from foundry.readers.formats.asciidoc.sections import find_sections
from foundry.readers.formats.asciidoc.tables import read_table
from foundry.readers.formats.markdown.reader import strip_markup
from foundry.readers.formats.pages.blocks import CLOSED, TAB, Block, add_to, link, panel
from foundry.readers.notes import leave_out

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*$")
_UNDERLINE = re.compile(r"([=~^+-])\1{1,120}[ \t]*$")
_LEVELS = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,}|[|,:!]={3,})([\w+-]*)[ \t]*$")
_BOX = re.compile(r"(={4,}|\*{4,}|_{4,}|--|~{4,})[ \t]*$")
_ENDS = re.compile(rf"{_FENCE.pattern}|{_BOX.pattern}|\[[^\[\]]+\][ \t]*$|\+[ \t]*$|//")
_RULE = re.compile(r"(?:\+|'{3,}|<<<|-{3}|\* \* \*|\*{3})[ \t]*$")
_COMMENT = re.compile(r"//(?!/)(.*)")
_DIRECTIVE = re.compile(r"(include|toc|ifeval|endif|video|audio)::(.*)")
_CONDITION = re.compile(r"(?:ifdef|ifndef)::([^\[\]\s]{1,300})\[(.*)\][ \t]*$")
# The backslash before a directive that is shown as written.
_ESCAPED = re.compile(r"\\(?=(?:include|if(?:n?def|eval)|endif)::)")
_BLOCK = re.compile(r"\[(?:\[[^\[\]]*\]|[^\[\]]*)\][ \t]*$")
_ATTRIBUTE = re.compile(r":(!?[\w-]{1,60}!?):(?:[ \t]+(.*))?$")
_SOURCE = re.compile(r"\[(?:source|,)[^\]]{0,20}?,[ \t]*\"?([\w+-]{1,20})")
_NAMED = re.compile(r"[\[,][ \t]*title=\"([^\"\n]{1,300})\"")
_FILLED = re.compile(r"\bsubs=\"?[^\"\]]{0,80}\b(?:attributes|normal)\b")
_FORMULA = re.compile(r"\[(?:stem|latexmath|(ascii)math)\b")
_TAG = re.compile(r"<[^<>]+>")
# Git writes its commands as `[synopsis]`.
_LISTED = re.compile(r"\[(?:source|listing|literal|synopsis)\b")
_QUOTED = re.compile(r"\[(?:quote|verse)\b[^,\]]{0,50},([^\]]{1,300})\]")
_ADMONITION = re.compile(r"\[(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\b")
_ADVICE = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(?=\S)")
_TITLE = re.compile(r"\.(?=[^\s.])(.*)")
_ITEM = re.compile(r"^[ \t]*(?:(\*{1,5}|-)|(\.{1,5}|\d{1,4}[.)]))[ \t]+(?=\S)")
_TERM = re.compile(r"^[ \t]*(\S(?:[^\n]{0,1000}?\S)?)(?::{2,4}|;;)(?=[ \t]|$)")
_CALLOUT = re.compile(r"<(\d{1,2}|\.)>[ \t]+(?=\S)")
_BLOCK_PICTURE = re.compile(r"image::\S")
_START = re.compile(r"\bstart[ \t]*=[ \t]*\"?(\d{1,6})")
_AUTHOR = re.compile(r"[^\W\d_][\w .'-]{1,80}<[^<>\s]{3,100}@[^<>\s]{3,100}>")
_REVISION = re.compile(r"v?[\w.]{1,20},[ \t]*([^:]{4,40})(?::|$)")


@dataclass
class _Block:
    """Attributes above a block, in brackets, as written."""

    text: str = ""
    awaits_text: bool = False


@dataclass
class _Box:
    """An open delimited block, such as an example or a sidebar.

    Admonitions, collapsible blocks and single tabs become quotations. Until such a quotation ends,
    `outside` is the composer of the text around it.
    """

    fence: str
    attribution: str
    has_tabs: bool = False
    outside: Composer | None = None
    title: str = ""
    sign: str = ""


class _Source:
    """The lines of a document."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._next = 0

    def take(self) -> str | None:
        """Return the next line; None at the end."""
        if self._next >= len(self._lines):
            return None
        self._next += 1
        return self._lines[self._next - 1]

    def peek(self) -> str:
        """Return the next line without taking it; "" at the end."""
        return self._lines[self._next] if self._next < len(self._lines) else ""

    def before(self) -> str:
        """Return the line before the last one taken; "" if only one was taken."""
        return self._lines[self._next - 2] if self._next > 1 else ""

    def until(self, fence: str) -> list[str]:
        """Take the lines up to and including a closing fence; return them without the fence."""
        content = []
        while (line := self.take()) is not None and line.rstrip() != fence:
            content.append(line)
        return content


class _Writer:
    def __init__(self, text: str) -> None:
        self.composer = Composer()
        self.attributes: dict[str, str] = {}
        self.date: str | None = None
        self._source = _Source(text)
        self._sections = find_sections(text)
        self._held: list[str] = []
        self._block = _Block()
        self._boxes: list[_Box] = []
        self._title: str | None = None
        self._term = ""
        # The markers of the open lists, with the number of the last item.
        self._lists: dict[str, int] = {}

    def write(self) -> None:
        while (line := self._source.take()) is not None:
            if not line.strip():
                self._held.append("")
                continue
            if not self._outside(line) and not self._begin(line):
                self._prose(line)
                self._block.text = ""
        for box in reversed(self._boxes):
            self._end_quotation(box)
        self.flush()

    def flush(self) -> None:
        self.composer.text(self._inline("\n".join(self._held)))
        self._held.clear()

    def _inline(self, text: str) -> str:
        return write_inline(text, self.attributes, self._sections)

    def _outside(self, line: str) -> bool:
        """Process a comment, an attribute or a directive; return whether the line is one."""
        if comment := _COMMENT.match(line):
            leave_out(Omission.COMMENT, comment[1])
        elif condition := _CONDITION.match(line):
            leave_out(Omission.ATTRIBUTE, line.removesuffix(f"{condition[2]}]"))
            if condition[2]:
                self._prose(condition[2])
        elif directive := _DIRECTIVE.match(line):
            leave_out(Omission.ATTRIBUTE, line)
            if file := _link_to_file(directive):
                self._prose(file)
        elif attribute := _ATTRIBUTE.match(line):
            self._define(attribute[1], (attribute[2] or "").strip())
        elif _BLOCK.match(line) and not line.startswith("[["):
            self._block.text += line.strip()
            if titled := _NAMED.search(line):
                self._part()
                self._held.append(titled[1])
                self._title = titled[1]
            leave_out(Omission.ATTRIBUTE, line.replace(titled[1], "", 1) if titled else line)
        elif _BLOCK.match(line):
            leave_out(Omission.ATTRIBUTE, line)
        else:
            return False
        return True

    def _define(self, name: str, value: str) -> None:
        while value.endswith(("\\", " +")):
            value = value.rstrip("\\+").rstrip() + " " + (self._source.take() or "").strip()
        leave_out(Omission.METADATA, f"{name}: {value}")
        # Text before the definition uses the earlier values.
        self.flush()
        if "!" in name:
            self.attributes.pop(name.strip("!"), None)
        else:
            self.attributes[name] = fill_in(value, self.attributes)

    def _begin(self, line: str) -> bool:
        """Read a heading or block that begins here; return whether there is one."""
        begins = any(each.match(line) for each in (_FENCE, _BOX, _TITLE))
        if _LISTED.match(self._block.text) and not begins:
            self.flush()
            content = [line]
            while self._source.peek().strip():
                content.append(self._source.take() or "")
            self._listing(content, "")
        elif heading := _HEADING.match(line):
            self._heading(len(heading[1]), heading[2])
        elif self._is_title(line):
            self._heading(_LEVELS[(self._source.take() or "-")[0]], line.strip())
        elif fence := _FENCE.match(line):
            self._fenced(fence)
        elif box := _BOX.match(line):
            self._box(box[1])
        elif _RULE.match(line):
            self._block.awaits_text = False
        elif titled := _TITLE.match(line):
            self._part()
            self._held.append(titled[1])
            self._title = titled[1]
            return True
        elif self._is_literal(line):
            self._literal(line)
        else:
            return False
        self._block.text = ""
        return True

    def _heading(self, level: int, title: str) -> None:
        self.flush()
        self._block = _Block()
        self._lists.clear()
        is_first = not self.attributes.get("doctitle")
        written = self._inline(title)
        self.composer.heading(level, written, strip_markup(written))
        if level == 1 and is_first:
            self.attributes["doctitle"] = title
            self._header()

    def _header(self) -> None:
        """Read the author and revision lines below a document's title."""
        if _AUTHOR.match(self._source.peek()):
            self._held.append(self._source.take() or "")
            if revision := _REVISION.match(self._source.peek()):
                self.date = revision[1]
                self._held.append(self._source.take() or "")

    def _is_title(self, line: str) -> bool:
        """Return whether a line is a title, underlined by the next line."""
        below = self._source.peek()
        if not _UNDERLINE.match(below) or (not line[0].isalnum() and line[0] not in "`_*{<\"'(["):
            return False
        length = len(below.rstrip())
        above = self._source.before()
        stands_alone = not above.strip() or bool(_BLOCK.match(above))
        closes = any(box.fence == below.rstrip() for box in self._boxes)
        return stands_alone and not closes and length > 1 and abs(length - len(line.rstrip())) <= 2

    def _fenced(self, fence: re.Match[str]) -> None:
        self.flush()
        self._end_lists()
        content = self._source.until(fence[1])
        if fence[1][0] in "|,:!":
            rows = read_table(content, self._block.text, fence[1])
            if rows is None:
                self.composer.text("\n".join(content), is_block=True)
            else:
                self.composer.table([[*map(self._inline, row)] for row in rows])
        elif fence[1].startswith("/"):
            leave_out(Omission.COMMENT, "\n".join(content))
        elif self._block.text.startswith(("[quote", "[verse")):
            self._held += content
        elif fence[1].startswith("+"):
            self._passed("\n".join(content))
        else:
            self._listing(content, fence[2])

    def _passed(self, content: str) -> None:
        """Read a block that is passed through: a formula, or HTML."""
        if formula := _FORMULA.match(self._block.text):
            shown = content.strip() if formula[1] == "ascii" else f"$$\n{content.strip()}\n$$"
            self.composer.text(shown, is_block=True)
        elif (made := html.read_part(content)) is not None:
            leave_out(Omission.ATTRIBUTE, " ".join(_TAG.findall(content)))
            self.composer.text(made)

    def _listing(self, content: list[str], language: str) -> None:
        stated = _SOURCE.match(self._block.text)
        name = language or (stated[1] if stated else "")
        for directive in filter(None, map(_DIRECTIVE.match, content)):
            leave_out(Omission.ATTRIBUTE, directive[0])
            self._held.append(_link_to_file(directive))
        shown = (line for line in content if not _DIRECTIVE.match(line))
        code = "\n".join(_ESCAPED.sub("", line) for line in shown)
        if _FILLED.search(self._block.text):
            code = fill_in(code, self.attributes)
        if code.strip():
            self.composer.code(code, name)

    def _box(self, fence: str) -> None:
        """Start or end a box, a quotation or a sidebar, whose content is read as usual."""
        place = next((n for n, box in enumerate(self._boxes) if box.fence == fence), None)
        if place is not None:
            for box in reversed(self._boxes[place:]):
                self._end_quotation(box)
                self._held += ["", box.attribution] if box.attribution else [""]
            del self._boxes[place:]
            return
        self._end_lists()
        box = _Box(fence, self._attribution(), self._block.text.startswith("[tabs"))
        self._boxes.append(box)
        kind = _ADMONITION.match(self._block.text)
        if kind or "%collapsible" in self._block.text or "options=collapsible" in self._block.text:
            title = self._take_title()
            said = f"{kind[1].capitalize()}: {title}".strip() if kind else title or "Details"
            self._begin_quotation(box, said, "{}" if kind else CLOSED)
        self._held.append("")

    def _title_above(self) -> str:
        """Return the title directly above, with its markup; "" if there is none."""
        is_above = self._title is not None and self._held[-1:] == [self._title]
        return (self._title or "") if is_above else ""

    def _take_title(self) -> str:
        """Remove the title above a block from the text and return it; "" if there is none."""
        return self._inline(self._held.pop()) if self._title_above() else ""

    def _begin_quotation(self, box: _Box, title: str, sign: str) -> None:
        self.flush()
        box.outside, box.title, box.sign = self.composer, title, sign
        self.composer = Composer()

    def _end_quotation(self, box: _Box) -> None:
        """Put the content of a box into the text as a quotation, unless it has headings."""
        self.flush()
        if box.outside is None:
            return
        inner = self.composer.finish()
        self.composer, box.outside = box.outside, None
        blocks = [Block(inner.text, 0, inner.blocks)] if inner.text else []
        if inner.headings:
            self.composer.text(box.sign.format(box.title))
            self.composer.include(inner)
            return
        add_to(self.composer, panel(box.title, blocks, box.sign), inner.links)

    def _attribution(self) -> str:
        """Return author and source of the quotation that begins here; "" for other blocks."""
        quoted = _QUOTED.match(self._block.text)
        said = re.sub(r"\s*,\s*", ", ", quoted[1].strip(' "')) if quoted else ""
        return f"\u2014 {said}" if said else ""

    def _is_literal(self, line: str) -> bool:
        if line[0] not in " \t" or _ITEM.match(line) or _TERM.match(line):
            return False
        above = self._source.before().strip()
        return not self._block.awaits_text and (not above or (above == "+" and bool(self._lists)))

    def _literal(self, line: str) -> None:
        """Read an indented paragraph, which is literal."""
        self.flush()
        content = [line]
        while self._source.peek().strip() and self._source.peek()[0] in " \t":
            content.append(self._source.take() or "")
        width = min(len(each) - len(each.lstrip(" ")) for each in content)
        self._listing([each[width:].rstrip() for each in content], "")

    def _prose(self, line: str) -> None:
        line = _ESCAPED.sub("", line)
        box = self._boxes[-1] if self._boxes else None
        label = _TERM.match(line) if box and box.has_tabs else None
        if box and label and not line[label.end() :].strip():
            self._end_quotation(box)
            self._begin_quotation(box, label[1], TAB)
            return
        kind, above = _ADMONITION.match(self._block.text), self._source.before()
        is_begun = not above.strip() or any(
            each.match(above) for each in (_BLOCK, _BOX, _TITLE, _RULE)
        )
        advice = _ADVICE.match(line) if is_begun else None
        if kind or advice:
            self._advise(kind or advice, line[advice.end() :] if advice else line)
            return
        if attribution := self._attribution():
            self._held.append(line)
            while self._source.peek().strip():
                self._held.append(self._source.take() or "")
            line = attribution
        if _BLOCK_PICTURE.match(line) and (title := self._title_above()):
            self._held.pop()
            self._held += [line, "", title]
            return
        term = _TERM.match(line)
        item = _ITEM.match(line)
        self._block.awaits_text = bool(term and not line[term.end() :].strip())
        if callout := _CALLOUT.match(line):
            line = self._number_callout(callout) + line[callout.end() :]
        elif item:
            line = self._number(item) + line[item.end() :]
        elif term:
            if self._block.text:
                self._lists.clear()
            self._open("::")
        elif not self._source.before().strip():
            self._end_lists()
        is_broken = "%hardbreaks" in self._block.text
        if term and not item and not callout:
            # Several terms may share a definition.
            names = filter(None, (self._take_term(), term[1]))
            self._define_term("\n".join(names), line[term.end() :].strip())
            return
        if not (item or callout) and (open_term := self._take_term()):
            self._define_term(open_term, line.strip())
            return
        if self._source.before().strip() == "+" and self._lists:
            # A paragraph attached to an item or a definition.
            mark = [*self._lists][-1]
            margin = "" if mark == "::" else self._indentation(mark)
            self._held += ["", f"{margin}  {line.strip()}"]
            return
        self._held.append(_TERM.sub(r"\1:", line, count=1).rstrip())
        while is_broken and self._source.peek().strip():
            self._held[-1] += " +"
            self._held.append((self._source.take() or "").rstrip())

    def _define_term(self, term: str, text: str) -> None:
        """Hold a term, and its definition unless it begins in the next lines."""
        self._term = "" if text else term
        self._part()
        self._held += [term, f": {text}"] if text else [f"{term}:"]

    def _part(self) -> None:
        """End the pending paragraph."""
        if self._held and self._held[-1].strip():
            self._held.append("")

    def _take_term(self) -> str:
        """Remove and return the term directly above; "" if it has a definition already."""
        place = next((n for n in reversed(range(len(self._held))) if self._held[n].strip()), -1)
        if not self._term or place < 0 or self._held[place] != f"{self._term}:":
            return ""
        del self._held[place:]
        return self._term

    def _advise(self, kind: re.Match[str] | None, line: str) -> None:
        """Read a paragraph as an admonition."""
        assert kind is not None
        lines, title = [line], self._take_title()
        while (following := self._source.peek()).strip() and not self._ends_advice(following):
            lines.append(self._source.take() or "")
        lines[0] = f"{kind[1].capitalize()}: {lines[0]}"
        if title:
            lines[0:1] = [f"{kind[1].capitalize()}: {title}", "", line]
        self._held += ["", *(f"> {each}".rstrip() for each in lines), ""]

    def _ends_advice(self, line: str) -> bool:
        return bool(_ENDS.match(line) or (self._lists and _ITEM.match(line)))

    def _end_lists(self) -> None:
        """End the lists, unless a block is attached to an item (`+`) or in a box."""
        if not self._boxes and self._source.before().strip() != "+":
            self._lists.clear()

    def _open(self, mark: str) -> None:
        """Continue the list with this mark, ending inner lists, or start a new one."""
        if mark in self._lists:
            for inner in [*self._lists][[*self._lists].index(mark) + 1 :]:
                del self._lists[inner]
        self._lists.setdefault(mark, 0)

    def _number(self, item: re.Match[str]) -> str:
        """Return an item's number or dash, with its indentation."""
        mark = item[1] or item[2]
        if mark[0].isdigit():
            self._open("1.")
            return f"{self._indentation('1.')}{mark.rstrip('.)')}. "
        if self._block.text:
            self._lists.pop(mark, None)
        self._open(mark)
        indent = self._indentation(mark)
        if item[1]:
            return f"{indent}- "
        start = _START.search(self._block.text)
        self._lists[mark] = int(start[1]) if start else self._lists[mark] + 1
        return f"{indent}{self._lists[mark]}. "

    def _number_callout(self, callout: re.Match[str]) -> str:
        """Return the number of a line that explains a mark in code, `<1>` or `<.>`."""
        number = self._lists.get("<.>", 0) + 1 if callout[1] == "." else int(callout[1])
        self._open("<.>")
        self._lists["<.>"] = number
        return f"{self._indentation('<.>')}{number}. "

    def _indentation(self, mark: str) -> str:
        """Return the indentation of a list: two spaces for each list around it."""
        return "  " * [each for each in self._lists if each != "::"].index(mark)


def _link_to_file(directive: re.Match[str]) -> str:
    """Return a link to an included file; "" for files of attributes and other directives."""
    path = directive[2].partition("[")[0].strip()
    return link(path, path) if directive[1] == "include" and "attributes" not in path else ""


def read(text: str) -> Reading:
    """Read a document; a listing or table stays whole if it fits into a chunk."""
    writer = _Writer(text)
    writer.write()
    attributes = writer.attributes
    return writer.composer.finish(
        modified=normalise_date(
            attributes.get("revdate") or attributes.get("docdate") or writer.date
        ),
        language=attributes.get("lang"),
    )


READER = Reader("asciidoc/11", dict.fromkeys((".adoc", ".asciidoc", ".asc"), "text/asciidoc"), read)
