"""Finds the footnotes of a page, and the links to them."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from foundry.readers.formats.pages.tree import SEMANTICS, Attributes, in_classes

_NOTE_REFERENCE = re.compile(
    r"(?:^|[\s_-])(?:footnote|fn|note|endnote)s?-?_?(?:ref(?:erence)?|call|link|anchor)?(?:$|[\s_-])"
    r"|(?:^|\s)(?:noteref|reference(?!\s+(?:in|ex)ternal))(?:$|\s)",
    re.IGNORECASE,
)
_NOTE_TARGET = re.compile(
    r"#(?:user-content-)?_?(?:(?:foot|end|side|rear|cite_)?note|foot|fn|ftn|edn|en|id|r?n|bib|cite)[\w.:-]*$",
    re.IGNORECASE,
)


def is_note_reference(node: LexborNode, attributes: Attributes) -> bool:
    """Return whether a link is a footnote reference, by its role or, if short, class or target."""
    kind = f"{attributes.get(SEMANTICS) or ''} {attributes.get('role') or ''}"
    if "noteref" in kind:
        return True
    if len(node.text()) > 12:
        return False
    target = attributes.get("href") or ""
    raised = node.parent if node.parent is not None and node.parent.tag == "sup" else node
    return "#" in target and (
        in_classes(_NOTE_REFERENCE, attributes)
        or in_classes(_NOTE_REFERENCE, raised.attributes)
        or _NOTE_TARGET.search(target) is not None
    )


def find_notes(page: LexborHTMLParser) -> dict[str, str]:
    """Return the marks of footnotes that are referenced on the same page, by id."""
    marks = dict[str, str]()
    for node in page.css('a[href^="#"]'):
        attributes = node.attributes
        mark = node.text().strip().strip("[]")
        if mark.isalnum() and is_note_reference(node, attributes):
            marks.setdefault((attributes.get("href") or "")[1:], mark)
    elements = {
        node.attributes.get("id"): node.tag
        for node in page.css("li[id],aside[id],div.footnote-definition[id]")
    }
    found = {name: mark for name, mark in marks.items() if name in elements}
    # If two notes have the same mark, it is ambiguous.
    return found if len(set(found.values())) == len(found) else {}
