"""Finds the element with the content of a page."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

_ROOTS = ("main", "[role=main]", "article")
_WORD = re.compile(r"\w")
_SURROUNDINGS = ("nav", "search", "aside", "header", "footer", "dialog", "button")
_SURROUNDING_PROSE = ",".join(f"{tag} {each}" for tag in _SURROUNDINGS for each in ("p", "pre"))


def find_root(page: LexborHTMLParser) -> LexborNode | None:
    """Return the element with a page's content: `main`, the only article, or the whole body."""
    is_doxygen = page.css_first(".headertitle") is not None
    for selector in (*_ROOTS, "div.contents") if is_doxygen else _ROOTS:
        found = [node for node in page.css(selector) if _WORD.search(node.text())]
        if len(found) == 1 and _has_most_prose(found[0], page):
            root = found[0]
            while (
                root.tag == "article" and root.parent is not None and root.parent.tag == "section"
            ):
                # JSDoc describes a class in its section, above the article with the members.
                root = root.parent
            return root
    return page.body


def _has_most_prose(root: LexborNode, page: LexborHTMLParser) -> bool:
    """Return whether an element has at least as much text as the other paragraphs of its page.

    Some pages mark only their first screen, or one card of many.
    """

    def prose(node: LexborNode | LexborHTMLParser, selector: str) -> int:
        return sum(len(each.text()) for each in node.css(selector))

    outside = prose(page, "p,pre") - prose(root, "p,pre")
    surroundings = prose(page, _SURROUNDING_PROSE) - prose(root, _SURROUNDING_PROSE)
    return len(root.text()) >= outside - surroundings
