"""Reads code in pages: its lines as shown, without line numbers."""

import re
from collections.abc import Callable, Iterator, Sequence

from selectolax.lexbor import LexborNode

from foundry.documents.left_out import Omission
from foundry.readers.decoding import normalise
from foundry.readers.formats.pages.blocks import Block, fenced
from foundry.readers.formats.pages.tree import Attributes, children, tell
from foundry.readers.notes import leave_out

TERMINAL_TAG = re.compile(r"</?(?:font|span|[ubi])\b[^<>\n]{0,300}>")
"""A tag in the output of a terminal that a page animates with Termynal (class `termy`)."""
IsLeftOut = Callable[[LexborNode, Attributes], bool]

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight(?!\s+highlight)|sourceCode|brush:)"
    r"(?: number(?:Source|Lines))?[-: ]?([\w+#.-]+)"
)
_CODE_LINE = re.compile(
    r"(?:^|\s)(?:line|code-line|highlight-line|view-line|token-line|cl|CodeMirror-line|ec-line)(?:$|\s)"
)

_LINE_TARGET = re.compile(r"#(?:[Ll]|line-?)?([1-9]\d{0,8})")


def code_block(node: LexborNode, is_left_out: IsLeftOut) -> list[Block]:
    """Return a `pre` element as a fenced code block.

    A data attribute or a class of the element, its `code` element or its parent names the language.
    """
    code = node.css_first("code")
    owners = [
        node,
        *([code] if code is not None else []),
        *([node.parent] if node.parent is not None else []),
    ]
    language = ""
    for owner in owners:
        own = owner.attributes
        parameters = own.get("data-syntaxhighlighter-params") or ""  # Confluence
        found = _LANGUAGE.search(f"{own.get('class') or ''} {parameters}")
        language = (
            language
            or own.get("data-lang")
            or own.get("data-language")
            or (found[1] if found else "")
        )
    if language in {"text", "none", "default", "plaintext", "notranslate"}:
        language = ""
    lines = code_text(node, is_left_out)
    if any("termy" in (owner.attributes.get("class") or "").split() for owner in _above(node)):
        leave_out(Omission.ATTRIBUTE, " ".join(TERMINAL_TAG.findall(lines)))
        lines = TERMINAL_TAG.sub("", lines)
    return fenced(lines, language)


def _above(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the parent and the grandparents of an element."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def code_text(node: LexborNode, is_left_out: IsLeftOut) -> str:
    """Return the lines of code in an element."""
    parts: list[str] = []
    _add_code(node, parts, is_left_out)
    text = normalise("".join(parts)).replace("\xa0", " ")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _add_code(node: LexborNode, parts: list[str], is_left_out: IsLeftOut) -> None:
    for child in children(node):
        if child.is_text_node:
            parts.append(child.text_content or "")
            continue
        tag = child.tag or ""
        if tag == "br":
            parts.append("\n")
            continue
        if not child.is_element_node:
            continue
        attributes = child.attributes
        if is_left_out(child, attributes):
            continue
        if tag == "a" and _is_line_link(child, attributes):
            tell(Omission.NAVIGATION, child)
            continue
        if tag == "code" and child.prev is not None and child.prev.tag == "code":
            # The documentation of Node has a program in two forms.
            _break(parts)
            parts.append("\n")
        is_line = tag in {"div", "li", "p", "tr"} or bool(
            _CODE_LINE.search(attributes.get("class") or "") or "data-line" in attributes
        )
        if tag == "pre" or is_line:
            _break(parts)
        classes = (attributes.get("class") or "").split()
        if is_line and "diff" in classes:
            # Shiki's styles show the sign.
            parts.append("-" if "remove" in classes else "+")
        length = len(parts)
        _add_code(child, parts, is_left_out)
        if is_line and tag != "pre" and _ends_line(child, parts[length:]):
            parts.append("\n")


def _is_line_link(node: LexborNode, attributes: Attributes) -> bool:
    """Return whether an element of code is the number of its line, as a link to that line."""
    number = node.text().strip()
    target = _LINE_TARGET.fullmatch(attributes.get("href") or "")
    return number.isdecimal() and target is not None and target[1] == number


def _break(parts: list[str]) -> None:
    if parts and not next((part for part in reversed(parts) if part), "\n").endswith("\n"):
        parts.append("\n")


def _ends_line(node: LexborNode, said: Sequence[str]) -> bool:
    """Return whether a line break must be added after a line of code, as the page has none."""
    if "".join(said[-1:]).endswith("\n"):
        return False
    sibling = node.next
    if sibling is not None and sibling.tag == "br":
        return False
    return not (
        sibling is not None
        and sibling.is_text_node
        and (sibling.text_content or "").lstrip(" ").startswith(("\n", "\r"))
    ) and not (sibling is None and node.parent is not None and node.parent.tag == "code")


def language_around(node: LexborNode) -> str:
    """Return the language in a class of an element, its parent or its grandparent; "" if none."""
    current: LexborNode | None = node
    for _ in range(3):
        if current is None:
            break
        found = _LANGUAGE.search(current.attributes.get("class") or "")
        if found and found[1] not in {"table", "text", "default"}:
            return found[1]
        current = current.parent
    return ""


def has_line_numbers(cell: LexborNode) -> bool:
    """Return whether a cell has the line numbers of code in the next cell, as in Hugo."""
    following = cell.next
    while following is not None and not following.is_element_node:
        following = following.next
    if following is None or cell.css_first("pre") is None or following.css_first("pre") is None:
        return False
    numbers = cell.text().split()
    return bool(numbers) and all(
        each.isdecimal() and int(each) - int(numbers[0]) == place
        for place, each in enumerate(numbers)
    )
