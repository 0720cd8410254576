"""Converts the docutils tree of a document to Markdown, with outline and links."""

import re
from collections.abc import Sequence
from dataclasses import replace

from docutils import nodes

from foundry.documents import Link, Reading
from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.decoding import normalise
from foundry.readers.formats import html
from foundry.readers.formats.pages.blocks import (
    Block,
    add_to,
    anchor_of,
    code_span,
    emphasised,
    fenced,
    flat,
    joined,
    labelled,
    link,
    nested,
    panel,
    paragraph,
    picture,
    unsplit,
)
from foundry.readers.formats.pages.numbers import lowered, note_mark, ordinal, raised
from foundry.readers.formats.pages.tables import Cell, write_table
from foundry.readers.formats.rst.names import CALLABLES, CLASSES
from foundry.readers.notes import leave_out

MAX_SIGNATURE_CHARS = 200
ERROR = 3
_LABELS = {
    "seealso": "See also",
    **{
        name: name.capitalize()
        for name in "attention caution danger error hint important note tip warning".split()
    },
}
_CODE_CLASSES = frozenset(("code", "literal-block"))
_NUMBERING = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
_NAME = re.compile(r"(?:(?:async|class|exception|static|final|abstract|property)\s+)*([\w.]+)")
_TAG = re.compile(r"<[^<>]+>")
_NUMBER = re.compile(r"%s|\{number\}")
_FIELDS = {"return": "returns", "rtype": "return type", "raise": "raises"}


def write(document: nodes.document) -> Reading:
    """Return a document as Markdown; its title is the first heading."""
    composer, writer = Composer(), _Writer()
    add_to(composer, writer.blocks(document))
    for target, text in writer.labels:
        composer.link(Link(target, text, "wikilink"))
    reading = replace(composer.finish(), aliases=_labels_in(document))
    first = reading.headings[0].text if reading.headings else None
    return replace(reading, title=reading.title or first)


def _labels_in(document: nodes.document) -> tuple[str, ...]:
    """Return the labels by which other files refer to places in a document."""
    named = (str(name) for name, is_explicit in document.nametypes.items() if is_explicit)
    places = ((name, document.ids.get(document.nameids.get(name) or "")) for name in named)
    others = (nodes.target, nodes.footnote, nodes.citation, type(None))
    return tuple(name for name, place in places if not isinstance(place, others))


class _Writer:
    def __init__(self) -> None:
        self.labels = dict[tuple[str, str], None]()
        self._level = 0
        self._within = ""

    def blocks(self, node: nodes.Element) -> list[Block]:
        """Return the blocks in a node."""
        found: list[Block] = []
        line: list[nodes.Node] = []
        for child in node.children:
            if isinstance(child, (nodes.Text, nodes.Inline)) and not isinstance(child, nodes.raw):
                line.append(child)
                continue
            found += self._paragraph(line)
            line = []
            assert isinstance(child, nodes.Element)
            found += self._block(child)
        return [*found, *self._paragraph(line)]

    def _paragraph(self, children: Sequence[nodes.Node]) -> list[Block]:
        text = paragraph(self._inline(children)) if children else ""
        return [Block(text)] if text else []

    def _block(self, node: nodes.Element) -> list[Block]:
        tag = node.tagname
        make = getattr(self, f"_{tag}", None)
        if make is not None:
            made: list[Block] = make(node)
            return made
        if tag in _LABELS:
            return nested(labelled(_LABELS[tag], self.blocks(node)), "> ", "> ")
        if isinstance(node, nodes.Invisible) or tag in {"pending", "docinfo"}:
            return []
        return self.blocks(node)

    def _section(self, node: nodes.Element) -> list[Block]:
        outer, self._level = self._level, self._level + 1
        found = self.blocks(node)
        self._level = outer
        return found

    def _title(self, node: nodes.Element) -> list[Block]:
        text = " ".join(self._inline(node.children, in_heading=True).split())
        if not text:
            return []
        if isinstance(node.parent, nodes.section):
            return [Block(text, self._level)]
        return [Block(f"**{text}**")]

    _subtitle = _title

    def _rubric(self, node: nodes.Element) -> list[Block]:
        text = " ".join(self._inline(node.children, in_heading=True).split())
        return [Block(f"**{text}**")] if text else []

    def _description(self, node: nodes.Element) -> list[Block]:
        outer, within = self._level, self._within
        self._level += 1
        found: list[Block] = []
        rest = f": {node['type']}" if node.get("type") else ""
        rest += f" = {node['value']}" if node.get("value") else ""
        for written in node["signatures"]:
            signature = _plain(self._qualified(written))
            # Objects that take arguments get brackets, as in Sphinx.
            signature += "()" if node["kind"] in CALLABLES and "(" not in signature else ""
            if len(signature + rest) > MAX_SIGNATURE_CHARS:
                name = _NAME.match(signature)
                found.append(
                    Block(name[1] if name else signature[:MAX_SIGNATURE_CHARS], self._level)
                )
                found.append(Block(signature + rest))
            else:
                found.append(Block(signature + rest, self._level))
        if node["kind"] in CLASSES and node["signatures"]:
            name = _NAME.match(self._qualified(node["signatures"][0]))
            self._within = name[1] if name else ""
        found += self.blocks(node)
        found.append(Block("", self._level))
        self._level, self._within = outer, within
        return found

    def _qualified(self, signature: str) -> str:
        """Return a signature qualified by the class whose description contains it."""
        signature = signature.removeprefix("~")
        name = _NAME.match(signature)
        if not self._within or not name or "." in name[1] or name.start(1):
            return signature
        return f"{self._within}.{signature}"

    def _admonition(self, node: nodes.Element) -> list[Block]:
        title = next((child for child in node.children if isinstance(child, nodes.title)), None)
        rest = nodes.container("", *(child for child in node.children if child is not title))
        label = "" if title is None else " ".join(self._inline(title.children).split())
        return nested(labelled(label, self.blocks(rest)), "> ", "> ")

    def _panel(self, node: nodes.Element) -> list[Block]:
        title, *content = node.children
        said = " ".join(self._inline(title.children, in_heading=True).split())
        return panel(said, self.blocks(nodes.container("", *content)), node["sign"])

    def _topic(self, node: nodes.Element) -> list[Block]:
        return [] if "contents" in node.get("classes", ()) else self._admonition(node)

    _sidebar = _admonition

    def _block_quote(self, node: nodes.Element) -> list[Block]:
        return nested(self.blocks(node), "> ", "> ")

    def _attribution(self, node: nodes.Element) -> list[Block]:
        return [Block(f"— {self._inline(node.children)}")]

    def _footnote(self, node: nodes.Element) -> list[Block]:
        label = next((child for child in node.children if isinstance(child, nodes.label)), None)
        rest = nodes.container("", *(child for child in node.children if child is not label))
        found = self.blocks(rest)
        if label is not None and node.tagname == "footnote":
            return nested(found, f"[^{label.astext()}]: ", "    ")
        mark = f"[{label.astext()}]" if label is not None else ""
        if found and not found[0].level and not found[0].spans:
            return [Block(f"{mark} {found[0].text}".strip()), *found[1:]]
        return [Block(mark), *found] if mark else found

    _citation = _footnote

    def _system_message(self, node: nodes.Element) -> list[Block]:
        """Return the source text that docutils could not parse."""
        if node["level"] < ERROR:
            return []
        return [
            Block(normalise(child.astext()))
            for child in node.children
            if isinstance(child, nodes.literal_block)
        ]

    def _meta(self, node: nodes.Element) -> list[Block]:
        words = (str(value) for value in node.attributes.values() if isinstance(value, str))
        leave_out(Omission.METADATA, " ".join(words))
        return []

    def _transition(self, _: nodes.Element) -> list[Block]:
        return [Block("---")]

    def _comment(self, node: nodes.Element) -> list[Block]:
        leave_out(Omission.COMMENT, node.astext())
        return []

    def _raw(self, node: nodes.Element) -> list[Block]:
        text = node.astext()
        if "html" not in node["format"].split():
            leave_out(Omission.MACRO, text)
            return []
        made = html.read_part(normalise(text)) if text else None
        leave_out(Omission.ATTRIBUTE, " ".join(_TAG.findall(text)))
        if made is None:
            leave_out(Omission.SCRIPT, text)
        return [Block(made)] if made else []

    def _line_block(self, node: nodes.Element) -> list[Block]:
        lines: list[str] = []
        for child in node.children:
            if isinstance(child, nodes.line_block):
                lines += (block.text for block in self._line_block(child))
            elif isinstance(child, nodes.Element):
                lines.append(" ".join(self._inline(child.children).split()))
        return [Block("  \n".join(lines))] if any(lines) else []

    def _literal_block(self, node: nodes.Element) -> list[Block]:
        named = [str(x) for x in node.get("classes") or () if x not in _CODE_CLASSES]
        language = node.get("language") or "".join(named[:1])
        plain = {"text", "none", "default", "::", "plain"}
        return fenced(normalise(node.astext()), "" if language in plain else language)

    def _doctest_block(self, node: nodes.Element) -> list[Block]:
        return fenced(normalise(node.astext()), "python")

    def _math_block(self, node: nodes.Element) -> list[Block]:
        label = f" ({node['label']})" if node.get("label") else ""
        return unsplit(f"$${normalise(node.astext()).strip()}$${label}")

    def _bullet_list(self, node: nodes.Element) -> list[Block]:
        items = (self._item(child, "- ") for child in node.children)
        return joined([block for item in items for block in item])

    def _enumerated_list(self, node: nodes.Element) -> list[Block]:
        kind, number = _NUMBERING.get(node.get("enumtype", ""), "1"), node.get("start", 1)
        found: list[Block] = []
        for place, child in enumerate(node.children):
            shown = ordinal(number + place, kind).removesuffix(".")
            mark = f"{node.get('prefix', '')}{shown}{node.get('suffix', '.')} "
            found += self._item(child, mark)
        return joined(found)

    def _item(self, node: nodes.Node, mark: str) -> list[Block]:
        if not isinstance(node, nodes.Element):
            return []
        return nested(self.blocks(node), mark, " " * len(mark), is_item=True)

    def _definition_list_item(self, node: nodes.Element) -> list[Block]:
        terms: list[str] = []
        found: list[Block] = []
        for child in node.children:
            if isinstance(child, nodes.term):
                terms.append(self._inline(child.children))
            elif isinstance(child, nodes.classifier) and terms:
                terms[-1] += f" : {self._inline(child.children)}"
            elif isinstance(child, nodes.Element):
                found += self.blocks(child)
        term = Block("  \n".join(" ".join(term.split()) for term in terms))
        return joined([term, *nested(found, ": ", "  ")], "\n")

    def _field_list(self, node: nodes.Element) -> list[Block]:
        found: list[Block] = []
        for child in node.children:
            if isinstance(child, nodes.field):
                found += self._field(child)
        return found

    def _field(self, node: nodes.Element) -> list[Block]:
        label, body = node.children[0], node.children[1]
        assert isinstance(label, nodes.Element) and isinstance(body, nodes.Element)
        said = " ".join(self._inline(label.children).split())
        if said in {"orphan", "tocdepth", "nocomments", "nosearch", "no-search"}:
            leave_out(Omission.METADATA, f"{said} {body.astext()}")
            return []
        found = self.blocks(body)
        said = _FIELDS.get(said, said)
        if found and not found[0].level and not found[0].spans:
            return [Block(f"{said}: {found[0].text}"), *found[1:]]
        return [Block(f"{said}:"), *found]

    def _option_list_item(self, node: nodes.Element) -> list[Block]:
        options, *rest = node.children
        assert isinstance(options, nodes.Element)
        said = ", ".join(child.astext() for child in options.children)
        found = [
            block
            for child in rest
            if isinstance(child, nodes.Element)
            for block in self.blocks(child)
        ]
        return nested([Block(code_span(said)), *found], "- ", "  ", is_item=True)

    def _table(self, node: nodes.Element) -> list[Block]:
        found: list[Block] = []
        for child in node.children:
            if isinstance(child, nodes.title):
                found += self._title(child)
            elif isinstance(child, nodes.tgroup):
                found += self._rows_of(child)
            elif isinstance(child, nodes.Element):
                found += self._block(child)
        return found

    def _rows_of(self, group: nodes.Element) -> list[Block]:
        rows = list[list[nodes.Element]]()
        heads = 0
        for part in group.children:
            if isinstance(part, (nodes.thead, nodes.tbody)):
                for row in part.children:
                    heads += isinstance(part, nodes.thead)
                    assert isinstance(row, nodes.Element)
                    rows.append([cell for cell in row.children if isinstance(cell, nodes.Element)])
        cells = [
            [
                Cell(
                    " ".join(flat(block) for block in self.blocks(cell)),
                    False,
                    cell.get("morecols", 0) + 1,
                    cell.get("morerows", 0) + 1,
                )
                for cell in row
            ]
            for row in rows
        ]
        table = write_table(cells, heads)
        if table is None:
            return [block for row in rows for cell in row for block in self.blocks(cell)]
        return table

    def _image(self, node: nodes.Element) -> list[Block]:
        text = " ".join(normalise(node.get("alt") or "").split())
        shown = picture(text, node.get("uri") or "")
        if shown is None:
            leave_out(Omission.ATTRIBUTE, node.get("uri") or "")
        text = shown or text
        return [Block(text)] if text else []

    def _inline(self, children: Sequence[nodes.Node], *, in_heading: bool = False) -> str:
        said = ""
        for place, child in enumerate(children):
            after = children[place + 1].astext()[:1] if place + 1 < len(children) else ""
            said += self._said(child, said[-24:], after, in_heading=in_heading)
        return said

    def _said(self, node: nodes.Node, before: str, after: str, *, in_heading: bool) -> str:
        if isinstance(node, nodes.Text):
            return normalise(node.astext()).replace("\n", " ").replace("\xa0", " ")
        if not isinstance(node, nodes.Element) or isinstance(node, nodes.Invisible):
            return ""
        text = normalise(node.astext())
        if isinstance(node, nodes.literal):
            return text if in_heading else code_span(" ".join(text.split()))
        if isinstance(node, nodes.image):
            alternative = normalise(node.get("alt") or "")
            shown = None if in_heading else picture(alternative, node.get("uri") or "")
            # Within a line, a picture without alternative text is usually an icon.
            is_link = isinstance(node.parent, nodes.reference)
            around = node.parent.parent if is_link else node.parent
            is_block = not isinstance(around, nodes.TextElement)
            return shown if shown and (alternative or is_block) else alternative
        if isinstance(node, nodes.math):
            return f"${text}$"
        if isinstance(node, nodes.footnote_reference) and not in_heading:
            return f"[^{text}]"
        if isinstance(node, (nodes.footnote_reference, nodes.citation_reference)):
            return note_mark(text, before)
        if isinstance(node, nodes.superscript):
            return raised(text, before)
        if isinstance(node, nodes.subscript):
            return lowered(text, before)
        if isinstance(node, nodes.raw):
            return " ".join(block.text for block in self._raw(node))
        inner = self._inline(node.children, in_heading=in_heading)
        if in_heading:
            return inner
        if isinstance(node, nodes.strong):
            return emphasised(inner, "**", before, after)
        if isinstance(node, nodes.emphasis):
            return emphasised(inner, "*", before, after)
        if isinstance(node, nodes.reference) and (target := node.get("refuri")):
            return inner if inner.strip() == target else link(inner, target)
        if isinstance(node, nodes.reference) and (title := _section_of(node)):
            return link(inner, f"#{title}")
        if label := node.get("label"):
            return self._reference(node, inner, label)
        return inner

    def _reference(self, node: nodes.Element, inner: str, label: str) -> str:
        """Return a reference to a label, named as written or by its target's title."""
        title, anchor = _title_of(node)
        named = inner
        if node.get("numbered") and (title or _NUMBER.search(inner)):
            # Figures are numbered across a project, which is not known here.
            named = " ".join(_NUMBER.sub("", inner).replace("{name}", title).split())
            leave_out(Omission.MACRO, inner)
            named = named if node["titled"] else ""
            if title and title not in named:
                named = f"{named} ({title})" if named else title
        elif title and not node["titled"]:
            named = title
        if anchor:
            return link(named, f"#{anchor}")
        if not title:
            self.labels[label, " ".join(named.split())] = None
        return named


def _title_of(reference: nodes.Element) -> tuple[str, str]:
    """Return the title or caption of the element below a reference's label, and its anchor.

    Both are "" if there is none in the same file; only sections have anchors.
    """
    document = reference.document
    name = "" if document is None else document.nameids.get(reference["label"].lower())
    place = document.ids.get(name) if document is not None and name else None
    if isinstance(place, nodes.image):
        place = place.parent
    kinds = (nodes.title, nodes.caption)
    if not isinstance(place, (nodes.section, nodes.figure, nodes.table, nodes.container)):
        return "", ""
    title = next((each for each in place.children if isinstance(each, kinds)), None)
    said = "" if title is None else " ".join(title.astext().split())
    return said, anchor_of(said) if isinstance(place, nodes.section) else ""


def _section_of(reference: nodes.reference) -> str:
    """Return the anchor of the section with the target of an internal link; "" if there is none."""
    place: nodes.Node | None = None
    if reference.document is not None and (name := reference.get("refid")):
        place = reference.document.ids.get(name)
    while place is not None and not isinstance(place, nodes.section):
        place = place.parent
    title = "" if place is None else place.next_node(nodes.title)
    return anchor_of(title.astext()) if isinstance(title, nodes.title) else ""


def _plain(signature: str) -> str:
    """Return a signature without markup escapes."""
    return re.sub(r"\\(?=[*_`|\\])", "", normalise(signature))
