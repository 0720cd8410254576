"""Walks the selectolax tree of a page."""

import re
from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborNode

from foundry.documents.left_out import Omission
from foundry.readers.notes import leave_out

Attributes = Mapping[str, str | None]
SEMANTICS = "epub:type"
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset"
    " figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main"
    " menu nav noscript ol optgroup option p pre section summary table tbody td tfoot th thead tr"
    " ul search foreignObject".split()
)


def children(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the children of a node."""
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def in_classes(pattern: re.Pattern[str], attributes: Attributes) -> bool:
    """Return whether a class or the id of an element matches the pattern."""
    written = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    return bool(written.strip()) and pattern.search(written) is not None


def shows_code(node: LexborNode) -> bool:
    """Return whether an element is a text field with code, as in examples that can be run."""
    return node.tag == "textarea" and "\n" in node.text().strip()


def table_rows(table: LexborNode) -> Iterator[tuple[str, LexborNode]]:
    """Yield a table's caption and rows, each preceded by the tag of its section or its own."""
    for child in children(table):
        if child.tag in {"thead", "tbody", "tfoot"}:
            for row in children(child):
                if row.tag == "tr":
                    yield child.tag, row
        elif child.tag in {"tr", "caption"}:
            yield child.tag, child


def tell(reason: Omission, node: LexborNode) -> None:
    """Record the words of a node as left out."""
    # Cells and list items may have no space between them.
    text = (node.text_content if node.is_text_node else node.text(separator=" ")) or ""
    if node.is_element_node or node.is_text_node:
        leave_out(reason, text, f"<{node.tag}>")


def following(node: LexborNode) -> str:
    """Return the character that follows an inline element on its line; "" if there is none."""
    current: LexborNode | None = node
    while current is not None:
        sibling = current.next
        while sibling is not None:
            if sibling.is_element_node and sibling.tag in BLOCKS | {"br"}:
                return ""
            text = sibling.text_content if sibling.is_text_node else ""
            if sibling.is_element_node and sibling.tag != "wbr":
                text = sibling.text()[:8]
            text = (text or "").replace("\u00ad", "")
            if text:
                return text[0]
            sibling = sibling.next
        current = current.parent
        if current is None or current.tag in BLOCKS:
            return ""
    return ""


def tex_of(script: LexborNode) -> str:
    """Return the source of a MathJax 2 equation, unless its rendering precedes it."""
    shown, tex = script.prev, " ".join(script.text().split())
    if shown is not None and shown.is_element_node and shown.text().strip():
        tell(Omission.DUPLICATE, script)
        return ""
    is_block = "display" in (script.attributes.get("type") or "")
    return f"$${tex}$$" if is_block else f"${tex}$"


def words_of_drawing(node: LexborNode) -> str:
    """Return the text of an SVG drawing between spaces, "" without text; record other words."""
    said = []
    for each in node.css("text,foreignObject"):
        text = " ".join(each.text(separator=" ").split())
        said += [text] if text else []
    for each in node.css("title,desc,style,script,metadata"):
        tell(Omission.ATTRIBUTE if each.tag in {"title", "desc"} else Omission.SCRIPT, each)
    return f" {' '.join(said)} " if said else ""
