"""Converts the tree of a page to Markdown, with its outline, and records omissions."""

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborNode

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.formats.pages.blocks import (
    CLOSED,
    TAB,
    Block,
    add_to,
    fenced,
    flat,
    joined,
    labelled,
    nested,
    panel,
    paragraph,
)
from foundry.readers.formats.pages.code import (
    code_block,
    code_text,
    has_line_numbers,
    language_around,
)
from foundry.readers.formats.pages.content import Content, is_line_number
from foundry.readers.formats.pages.equations import equation
from foundry.readers.formats.pages.grids import find_rows, is_head
from foundry.readers.formats.pages.lines import LineWriter
from foundry.readers.formats.pages.numbers import ListNumbers, integer
from foundry.readers.formats.pages.tables import Cell, write_table
from foundry.readers.formats.pages.tree import (
    BLOCKS,
    Attributes,
    children,
    shows_code,
    table_rows,
    tell,
)

_BOXES = frozenset(("aside", "div", "section"))
_BOX = re.compile(
    r"(?<![\w-])(?:(?:theme-)?admonition|confluence-information-macro|admonition-block|markdown-alert|callout|custom-block)(?![\w-])"
)
_MACRO = re.compile(r"confluence-information-macro-(information|note|tip|warning)\b")
_TITLES_OF_BOXES = (
    ".admonition-title, .callout-title, .custom-block-title, .markdown-alert-title,"
    " [class*=admonitionHeading]"
)
_TITLES = "h1, .headertitle > .title"
"""Selectors of a page's title; the second is for Doxygen."""
_NEVER_BLOCKS = frozenset("br wbr img math svg script style template pre sup sub select".split())
Sections = Mapping[str, tuple[str, int]]
"""Titles and levels of sections, by the ids of their first elements."""


def write(content: Content, sections: Sections) -> Reading:
    """Return the content of a page as Markdown, with headings and blocks.

    A section in `sections` gets a heading if it does not start with one.
    """
    composer = Composer()
    if content.root is not None:
        add_to(composer, _Writer(content, sections).page())
    return composer.finish()


class _Writer(LineWriter):
    def __init__(self, content: Content, sections: Sections) -> None:
        super().__init__(content)
        self._sections = dict(sections)
        self._level = 0
        self._with_blocks: dict[int, bool] = {}

    def page(self) -> list[Block]:
        root = self._content.root
        assert root is not None
        blocks = self._blocks(root)
        if root.tag != "body":
            headings = [block for block in blocks if block.level == 1]
            blocks = [*self._surroundings(root, wants_title=not headings), *blocks]
        return blocks

    def _surroundings(self, root: LexborNode, *, wants_title: bool) -> list[Block]:
        """Return the title outside the content, if wanted, and record other text as left out."""
        titles: list[Block] = []
        node, parent = root, root.parent
        while parent is not None and node.tag != "body":
            for child in children(parent):
                if child.mem_id == node.mem_id:
                    continue
                if child.is_element_node and wants_title and not titles:
                    title = child if child.tag == "h1" else child.css_first(_TITLES)
                    text = self.line(title, is_heading=True) if title is not None else ""
                    titles += [Block(text, 1)] if text else []
                    if text and title is child:
                        continue
                reason = (
                    Omission.SCRIPT if child.tag in {"script", "style"} else Omission.NAVIGATION
                )
                tell(reason, child)
            node, parent = parent, parent.parent
        return titles

    def _blocks(self, node: LexborNode) -> list[Block]:
        """Return the blocks in an element; text between them becomes paragraphs."""
        blocks: list[Block] = []
        line: list[str] = []

        def flush() -> None:
            if text := paragraph("".join(line)):
                blocks.append(Block(text))
            line.clear()

        for child in children(node):
            if self._sections and child.is_element_node and (title := self._begins(child)):
                flush()
                blocks.append(title)
            if child.is_element_node and self._is_block(child):
                attributes = child.attributes
                if self.is_left_out(child, attributes):
                    continue
                flush()
                blocks += self._block(child, attributes)
            else:
                self.add_inline(child, line)
        flush()
        return blocks

    def _begins(self, node: LexborNode) -> Block | None:
        """Return the heading of a section that begins here and has none; None for anything else."""
        named = self._sections.pop(node.attributes.get("id") or "", None)
        if named is None:
            return None
        following = node if node.text().strip() else node.next
        while following is not None and not following.text().strip():
            following = following.next
        if following is not None and following.is_element_node:
            title = re.sub(r"\W", "", named[0]).casefold()
            for heading in following.css("h1,h2,h3,h4,h5,h6,[role=heading]")[:3]:
                said = re.sub(r"\W", "", heading.text()).casefold()
                if said and (said in title or title in said):
                    return None
        return Block(*named)

    def _is_block(self, node: LexborNode) -> bool:
        tag = node.tag or ""
        if tag in BLOCKS or shows_code(node):
            return True
        if tag == "math":
            return node.attributes.get("display") == "block"
        if tag in _NEVER_BLOCKS:
            return False
        if node.attributes.get("role") == "heading" or self._content.labels.get(node.mem_id):
            return True
        return self._has_blocks(node)

    def _has_blocks(self, node: LexborNode) -> bool:
        """Return whether an inline element contains blocks, as many links do."""
        first = node.first_child
        if first is None or (first.is_text_node and first.next is None):
            return False
        known = self._with_blocks.get(node.mem_id)
        if known is None:
            known = any(
                child.tag in BLOCKS or self._has_blocks(child)
                for child in children(node)
                if child.is_element_node and child.tag not in _NEVER_BLOCKS
            )
            self._with_blocks[node.mem_id] = known
        return known

    def _block(self, node: LexborNode, attributes: Attributes) -> list[Block]:
        tag = node.tag or ""
        if label := self._content.labels.get(node.mem_id):
            return panel(label, self._block_by_tag(node, tag, attributes), TAB)
        if note := self._content.notes.get(attributes.get("id") or ""):
            return self._note(node, note)
        return self._block_by_tag(node, tag, attributes)

    def _note(self, node: LexborNode, mark: str) -> list[Block]:
        """Return a footnote as in Markdown, without the mark that it may begin with."""
        blocks = self._blocks(node)
        if blocks and blocks[0].text.strip("[]. ") == mark:
            blocks = blocks[1:]
        return nested(blocks, f"[^{mark}]: ", "    ")

    def _block_by_tag(self, node: LexborNode, tag: str, attributes: Attributes) -> list[Block]:
        role = attributes.get("role")
        if role == "heading" or (len(tag) == 2 and tag[0] == "h" and tag[1].isdigit()):
            level = attributes.get("aria-level") if role == "heading" else None
            return self._heading(node, integer(level) or _level(tag))
        if tag == "textarea":
            return fenced(node.text(), "")
        if tag == "pre":
            return code_block(node, self.is_left_out)
        if tag in {"ul", "ol", "menu", "dir"}:
            return self._list(node, tag, attributes)
        if tag == "dl":
            return self._definitions(node)
        if tag == "table":
            return self._table(node, attributes)
        if tag == "blockquote":
            return nested(self._blocks(node), "> ", "> ")
        if tag == "hr":
            return [Block("---")]
        if tag == "math":
            return [Block(equation(node))]
        if tag == "details":
            return self._details(node, attributes)
        if tag == "summary" and node.css_first("h1,h2,h3,h4,h5,h6") is None:
            return [Block(f"**{text}**") for text in [self.line(node)] if text]
        if rows := find_rows(node, attributes):
            return self._laid_out(
                [[Cell(self._cell(each), is_head(each)) for each in row] for row in rows], rows
            )
        if "fragment" in (attributes.get("class") or "").split() and node.css_first(".line"):
            # Doxygen's code.
            return code_block(node, self.is_left_out)
        if tag in _BOXES and _BOX.search(attributes.get("class") or ""):
            return nested(self._titled(node), "> ", "> ")
        return self._blocks(node)

    def _details(self, node: LexborNode, attributes: Attributes) -> list[Block]:
        """Return the blocks of a disclosure; one that is open at first is a box with a title."""
        title, *blocks = self._blocks(node) or [Block("")]
        said = title.text.removeprefix("**").removesuffix("**")
        summary = node.css_first("summary")
        if summary is None or summary.parent != node or not blocks or f"**{said}**" != title.text:
            return [title, *blocks]
        return panel(said, blocks, "**{}**" if "open" in attributes else CLOSED)

    def _titled(self, node: LexborNode) -> list[Block]:
        """Return the blocks of a box, its title in bold type."""
        blocks = self._blocks(node)
        if kind := _MACRO.search(node.attributes.get("class") or ""):
            # Confluence shows the kind of a box only by an icon.
            return labelled(kind[1].capitalize(), blocks)
        title = node.css_first(_TITLES_OF_BOXES)
        if title is not None and blocks and blocks[0].text == self.line(title) != "":
            blocks[0] = Block(f"**{blocks[0].text}**")
        return blocks

    def _heading(self, node: LexborNode, level: int) -> list[Block]:
        if node.css_first("table,pre,ul,ol") is not None:
            return self._blocks(node)
        text = self.line(node, is_heading=True)
        self._level = level
        return [Block(text, level)] if text else []

    def _list(self, node: LexborNode, tag: str, attributes: Attributes) -> list[Block]:
        items = [child for child in children(node) if child.tag == "li"]
        numbers = ListNumbers(attributes, len(items)) if tag == "ol" else None
        blocks: list[Block] = []
        lines: list[Block] = []
        for child in children(node):
            if child.tag != "li":
                if child.is_element_node and self._is_block(child):
                    if not self.is_left_out(child, child.attributes):
                        lines += nested(self._block(child, child.attributes), "  ", "  ")
                else:
                    stray: list[str] = []
                    self.add_inline(child, stray)
                    lines += [Block(text) for text in [paragraph("".join(stray))] if text]
                continue
            own = child.attributes
            mark = f"{numbers.next(own)} " if numbers else "- "
            if self.is_left_out(child, own):
                continue
            label = self._content.labels.get(child.mem_id)
            if note := self._content.notes.get(own.get("id") or ""):
                blocks += joined(lines)
                blocks += self._note(child, note)
                lines = []
                continue
            if box := _task_mark(child):
                mark += box
            elif "data-inline-task-id" in own:
                # A task of Confluence.
                mark += "[x] " if "checked" in (own.get("class") or "").split() else "[ ] "
            inner = self._blocks(child)
            inner = panel(label, inner, TAB) if label else inner
            if inner and inner[0].level:
                blocks += joined(lines)
                lines = []
                first = inner[0]
                number = mark if numbers else ""
                blocks += [first._replace(text=f"{number}{first.text}"), *inner[1:]]
                continue
            if item := nested(inner, mark, " " * len(mark.split("[")[0]), is_item=True):
                lines += item
        return [*blocks, *joined(lines)]

    def _definitions(self, node: LexborNode) -> list[Block]:
        outer = self._level
        blocks: list[Block] = []
        terms: list[Block] = []
        for child in children(node):
            attributes = child.attributes if child.is_element_node else {}
            if child.tag == "dd" and terms and not self.is_left_out(child, attributes):
                inner = self._block(child, attributes)
                if any(block.level for block in inner):
                    blocks += [*terms, *inner]
                else:
                    blocks += joined([*terms, *nested(inner, ": ", "  ")], "\n")
                terms = []
            elif child.tag == "dt" and self._is_term(child):
                terms += [Block(text) for text in [self.line(child)] if text]
            elif child.tag == "dt" and "sig" in (attributes.get("class") or "").split():
                self._level = min(outer + 1, 6)
                blocks += [
                    Block(text, self._level) for text in [self.line(child, is_heading=True)] if text
                ]
            elif child.tag == "div":
                blocks += self._definitions(child)
            elif child.is_element_node and self._is_block(child):
                if not self.is_left_out(child, attributes):
                    blocks += self._block(child, attributes)
            else:
                line: list[str] = []
                self.add_inline(child, line)
                blocks += [Block(text) for text in [paragraph("".join(line))] if text]
        ended = [Block("", self._level)] if self._level != outer else []
        self._level = outer
        return [*blocks, *terms, *ended]

    def _is_term(self, node: LexborNode) -> bool:
        """Return whether a term is a line of text, not a heading of its definition."""
        is_heading = "sig" in (node.attributes.get("class") or "").split()
        return not (is_heading or self._has_blocks(node) or self.is_left_out(node, node.attributes))

    def _table(self, node: LexborNode, attributes: Attributes) -> list[Block]:
        rows: list[list[LexborNode]] = []
        feet: list[list[LexborNode]] = []
        heads = 0
        captions: list[Block] = []
        numbers_seen = False
        has_code = node.css_first("pre") is not None
        for part, row in table_rows(node):
            if row.tag == "caption":
                captions += self._blocks(row)
                continue
            if self.is_left_out(row, row.attributes):
                continue
            cells = []
            for cell in children(row):
                if cell.tag not in {"td", "th"}:
                    if cell.is_element_node and not self.is_left_out(cell, cell.attributes):
                        captions += self._blocks(cell)
                    continue
                own = cell.attributes
                if is_line_number(cell, own) or (has_code and has_line_numbers(cell)):
                    numbers_seen = True
                    tell(Omission.NAVIGATION, cell)
                elif not self.is_left_out(cell, own):
                    cells.append(cell)
            if cells:
                heads += part == "thead" and heads == len(rows)
                # In the source, a table's footer may precede its rows.
                (feet if part == "tfoot" else rows).append(cells)
        rows += feet
        if not rows:
            return captions
        if numbers_seen and all(len(row) == 1 for row in rows):
            # A heading of such a table is the name of the file.
            names = [row for row in rows if row[0].tag == "th"]
            captions += [block for row in names for block in self._blocks(row[0])]
            lines = [code_text(row[0], self.is_left_out) for row in rows if row not in names]
            return [*captions, *fenced("\n".join(lines), language_around(node))]
        if "memname" in (attributes.get("class") or "").split():
            # In Doxygen's signatures, each bracket is a cell of its own.
            cells_said = (self._cell(cell) for row in rows for cell in row)
            return [*captions, Block(" ".join(filter(None, cells_said)))]
        if "memberdecls" in (attributes.get("class") or "").split():
            # In Doxygen's lists of members, the type and the name are two cells.
            return [*captions, *(block for row in rows for block in self._member(row))]
        if _is_layout(attributes, rows):
            return [
                *captions,
                *(block for row in rows for cell in row for block in self._blocks(cell)),
            ]
        cells_of = [
            [
                Cell(
                    self._cell(cell),
                    cell.tag == "th",
                    _span(cell, "colspan"),
                    _span(cell, "rowspan"),
                )
                for cell in row
            ]
            for row in rows
        ]
        return [*captions, *self._laid_out(cells_of, rows, heads)]

    def _laid_out(
        self, cells: list[list[Cell]], rows: list[list[LexborNode]], heads: int = 0
    ) -> list[Block]:
        """Return rows of cells as a table, or the blocks in them if they do not fit into one."""
        table = write_table(cells, heads)
        if table is None:
            return [block for row in rows for cell in row for block in self._blocks(cell)]
        return table

    def _member(self, row: list[LexborNode]) -> list[Block]:
        if any(cell.css_first("h1,h2,h3,h4") is not None for cell in row):
            return [block for cell in row for block in self._blocks(cell)]
        said = " ".join(filter(None, map(self._cell, row)))
        return [Block(said)] if said else []

    def _cell(self, node: LexborNode) -> str:
        blocks = self._blocks(node)
        mark = _task_mark(node) if node.tag == "td" else ""
        return (mark + " ".join(flat(block) for block in blocks if block.text)).rstrip()


def _task_mark(node: LexborNode) -> str:
    """Return the state of the checkbox with which an item or a cell begins; "" if none does."""
    current: LexborNode | None = node
    while current is not None:
        attributes = current.attributes
        classes = (attributes.get("class") or "").split()
        if current.tag == "input" and attributes.get("type") == "checkbox":
            is_shown = node.tag == "li" or "disabled" in attributes
            return ("[x] " if "checked" in attributes else "[ ] ") if is_shown else ""
        if "checkbox-on" in classes or "checkbox-off" in classes:
            # Notion draws its checkboxes.
            return "[x] " if "checkbox-on" in classes else "[ ] "
        if current.tag not in {"li", "td", "p", "label", "span"}:
            break
        shown = (each for each in children(current) if each.is_element_node or each.text().strip())
        current = next(shown, None)
    return ""


def _span(node: LexborNode, name: str) -> int:
    # A rowspan of 0 extends to the end of the table.
    value = integer(node.attributes.get(name))
    return 1 if value is None else max(value, 0 if name == "rowspan" else 1)


def _level(tag: str) -> int:
    return int(tag[1]) if tag[1:].isdigit() and tag[1:] in "123456" else 2


def _is_layout(attributes: Attributes, rows: list[list[LexborNode]]) -> bool:
    if attributes.get("role") in {"presentation", "none"}:
        return True
    has_heads = any(cell.tag == "th" for row in rows for cell in row)
    if has_heads:
        return False
    if len(rows) == 1 and len(rows[0]) == 1:
        return True
    if len(rows) == 1 and rows[0][0].attributes.get("class") == "icon":
        return True
    return any(cell.css_first("h1,h2,h3,h4,pre,table") is not None for row in rows for cell in row)
