"""How deeply the tags of a page are nested, before a parser meets them.

HTML's tree construction takes quadratic time on deep trees, and walking them overflows stacks.
"""

import re

_TAG = re.compile(r"<(!--|/?[a-zA-Z][a-zA-Z0-9-]{0,40})")
_RAW_TEXT = re.compile("script|style|textarea|title|noscript|xmp|iframe")
# Elements without content, and those whose end tag is usually left out.
_NOT_NESTING = re.compile(
    "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
    "|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|colgroup|option|optgroup|rp|rt|body|html|head"
)


def nesting_depth(page: str, limit: int) -> int:
    """Return the greatest number of elements open at once, or `limit` as soon as that is reached.

    Linear in the length of the page; an estimate from the tags alone, never below the truth by
    more than the elements that close each other.
    """
    open_elements: dict[str, int] = {}
    depth = deepest = position = 0
    while (match := _TAG.search(page, position)) is not None:
        position = match.end()
        name = match.group(1).lower()
        if name == "!--":
            position = _after(page, "-->", position)
        elif name.startswith("/"):
            if open_elements.get(name[1:], 0):
                open_elements[name[1:]] -= 1
                depth -= 1
        elif _RAW_TEXT.fullmatch(name):
            position = _after(page, f"</{name}", position)
        elif not _NOT_NESTING.fullmatch(name):
            open_elements[name] = open_elements.get(name, 0) + 1
            depth += 1
            deepest = max(deepest, depth)
            if deepest >= limit:
                break
    return deepest


def _after(page: str, terminator: str, position: int) -> int:
    found = re.compile(re.escape(terminator), re.IGNORECASE).search(page, position)
    return found.end() if found else len(page)
