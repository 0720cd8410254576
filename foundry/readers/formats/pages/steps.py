"""Finds the lines of a page that lead to the next and the previous page of a manual."""

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_CHARS = 400
"""Maximum length of a navigation line; its links may have long titles."""
_STEPS = ", ".join(
    [
        *(f'a[{name}="{value}"]' for name in ("rel", "accesskey") for value in ("next", "prev")),
        *(f'a[accesskey="{key}"]' for key in "np"),
        *(f'a > img[alt="{name}"]' for name in ("Next", "Prev", "Previous", "next", "previous")),
    ]
)
_LINES = frozenset("p div table tbody tr td th ul li span b center section".split())


def find_steps(page: LexborHTMLParser) -> set[int]:
    """Return the `mem_id` of each element that has links to other pages and little else.

    Texinfo, DocBook's style sheets, gtk-doc and others put one above and below each page.
    """
    marked = (_line_around(link) for link in page.css(_STEPS))
    lines = [line for line in marked if line is not None]
    if not lines:
        return set()
    # Texinfo marks the links of the upper line only.
    known = {_targets(line) for line in lines}
    first = {targets[0] for targets in known}
    links = (link for link in page.css("a[href]") if link.attributes.get("href") in first)
    others = (_line_around(link) for link in links)
    lines += [line for line in others if line is not None and _targets(line) in known]
    return {line.mem_id for line in lines}


def _line_around(link: LexborNode) -> LexborNode | None:
    """Return the largest element around a link that consists mostly of links.

    Returns None unless it has several links.
    """
    node, line = link.parent, None
    while node is not None and (node.tag in _LINES or node.tag == "a") and _is_short(node):
        line = node if node.tag in _LINES else line
        node = node.parent
    return line if line is not None and len(_targets(line)) > 1 else None


def _targets(line: LexborNode) -> tuple[str | None, ...]:
    return tuple(link.attributes.get("href") for link in line.css("a[href]"))


def _is_short(node: LexborNode) -> bool:
    """Return whether an element has hardly any text outside its links."""
    text = len("".join(node.text().split()))
    linked = sum(len("".join(link.text().split())) for link in node.css("a[href]"))
    return text <= MAX_CHARS and 2 * linked >= text and node.css_first("h1,h2,h3,pre") is None
