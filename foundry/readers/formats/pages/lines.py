"""Writes inline content of a page: emphasis, links, code, superscripts, equations."""

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from foundry.documents.left_out import Omission
from foundry.readers.decoding import normalise
from foundry.readers.formats.pages.blocks import code_span, emphasised, link, picture
from foundry.readers.formats.pages.content import Content, is_permalink
from foundry.readers.formats.pages.equations import equation
from foundry.readers.formats.pages.footnotes import is_note_reference
from foundry.readers.formats.pages.numbers import apart, lowered, note_mark, raised, script_of
from foundry.readers.formats.pages.tree import (
    BLOCKS,
    Attributes,
    children,
    following,
    tell,
    tex_of,
    words_of_drawing,
)
from foundry.readers.notes import note_hidden

_EMPHASIS = {"b": "**", "strong": "**", "i": "*", "em": "*", "cite": "*", "dfn": "*", "var": "*"}
_EMPHASIS |= {"del": "~~", "s": "~~", "strike": "~~", "mark": "=="}
_STRUCK = re.compile(r"(?:^|[;\s])text-decoration(?:-line)?\s*:[^;]*\bline-through\b")
_APART = frozenset(("button", "label", "output", "meter", "progress"))
# Labels that only their style separates from each other and from the text.
_LABEL = re.compile(
    r"(?:^|[\s_-])(?:badge|chip|classifier|label|lozenge|pill|selected-value|signature-attributes|stab"
    r"|tag)(?:$|[\s_-])",
    re.IGNORECASE,
)
_EMOJI = re.compile(r"(?:^|\s)(?:tw)?(?:emoji|emojione|emoticon|gemoji)(?:$|\s)")
_CODE = frozenset(("code", "kbd", "samp", "tt"))
_SPACE = re.compile(r"[ \t\n\r\f\xa0]+")


class LineWriter:
    """Converts elements of a page to lines of text, and records what is left out."""

    def __init__(self, content: Content) -> None:
        self._content = content

    def line(self, node: LexborNode, *, is_heading: bool = False) -> str:
        """Return the text of an element on one line."""
        text = self._inline(node, in_heading=is_heading)
        return " ".join(text.split())

    def _inline(self, node: LexborNode, before: str = "", *, in_heading: bool = False) -> str:
        parts: list[str] = [before] if before else []
        for child in children(node):
            self.add_inline(child, parts, in_heading=in_heading)
        return "".join(parts[1:] if before else parts)

    def add_inline(self, node: LexborNode, parts: list[str], *, in_heading: bool = False) -> None:
        """Add a node's text to the parts of a line, in which a line feed is a line break."""
        if node.is_text_node:
            text = node.text_content or ""
            if not text.isascii():
                text = normalise(text)
            parts.append(_SPACE.sub(" ", text))
            return
        if not node.is_element_node:
            return
        tag = node.tag or ""
        if tag == "br":
            parts.append("\n" if not in_heading else " ")
            return
        if tag == "wbr":
            return
        attributes = node.attributes
        if self.is_left_out(node, attributes):
            return
        if tag in BLOCKS:
            # Only broken markup and cells have blocks within a line.
            parts += [" ", self.line(node, is_heading=in_heading), " "]
            return
        before = _last(parts)
        said = self._said(node, tag, attributes, before, in_heading=in_heading)
        if said.strip() and _LABEL.search(attributes.get("class") or ""):
            said = _set_apart(said, attributes, "".join(parts[-2:]), following(node))
        elif tag == "span" and not attributes and _is_after_label(node, before, said):
            said = f" {said}"
        parts.append(said)

    def _said(
        self, node: LexborNode, tag: str, attributes: Attributes, before: str, *, in_heading: bool
    ) -> str:
        if tag == "img":
            alternative = attributes.get("alt") or ""
            shown = None
            is_sign = _EMOJI.search(attributes.get("class") or "")
            if alternative.strip() and not in_heading and not is_sign:
                shown = picture(alternative, attributes.get("src") or "")
            return shown or _SPACE.sub(" ", normalise(alternative))
        if tag == "math":
            return equation(node)
        if tag == "script":
            return tex_of(node)
        if tag == "svg":
            return words_of_drawing(node)
        if script := script_of(tag, attributes):
            return self._script(node, script, before)
        if tag == "a":
            return self._link(node, attributes, before, in_heading=in_heading)
        if tag in _CODE:
            text = " ".join(self._inner_text(node).split())
            if in_heading:
                return text
            return code_span(text) if text else ""
        text = self._inline(node, before, in_heading=in_heading)
        if tag == "i" and not text and "icon-" in (attributes.get("class") or ""):
            # Asciidoctor marks the kind of an admonition with an icon.
            return attributes.get("title") or ""
        mark = _EMPHASIS.get(tag, "")
        if tag == "span" and _STRUCK.search(attributes.get("style") or ""):
            mark = "~~"
        if mark == "~~" and text[-1:].isalnum():
            # Struck-out text, and a number or text that replaces it.
            after = node.next
            is_replaced = after is not None and after.tag == "ins"
            if is_replaced or (text[-1].isdigit() and following(node).isdigit()):
                text += " "
        if mark and not in_heading:
            return emphasised(text, mark, before, following(node))
        if tag == "q":
            return f'"{text.strip()}"'
        if tag == "rt":
            has_brackets = node.parent is not None and node.parent.css_first("rp") is not None
            return text if has_brackets else f"({text.strip()})"
        if tag == "abbr" and (title := attributes.get("title")):
            title = " ".join(normalise(title).split())
            return text if title.casefold() == text.strip().casefold() else f"{text} ({title})"
        if (tag in _APART or "-" in tag) and before and not before[-1].isspace():
            return f" {text}"
        return text

    def _inner_text(self, node: LexborNode) -> str:
        parts: list[str] = []
        for child in children(node):
            if child.is_text_node:
                parts.append(normalise(child.text_content or ""))
            elif child.tag == "br":
                parts.append(" ")
            elif child.tag == "img":
                parts.append(child.attributes.get("alt") or "")
            elif child.is_element_node and not self.is_left_out(child, child.attributes):
                parts.append(self._inner_text(child))
        return "".join(parts).replace("\xa0", " ")

    def _script(self, node: LexborNode, tag: str, before: str) -> str:
        text, after = self.line(node), following(node)
        if tag == "sub":
            return apart(lowered(text, before), after)
        link = node.css_first("a")
        if link is not None and is_note_reference(link, link.attributes):
            is_marked = text.startswith((" ", "[^"))
            return text if is_marked else note_mark(" ".join(node.text().split()), before)
        return apart(raised(text, before), after)

    def _link(
        self, node: LexborNode, attributes: Attributes, before: str, *, in_heading: bool
    ) -> str:
        if is_note_reference(node, attributes) and not in_heading:
            mark = " ".join(node.text().split())
            if note := self._content.notes.get((attributes.get("href") or "")[1:]):
                return f"[^{note}]"
            if before.endswith("["):
                return mark
            is_back = not any(map(str.isalnum, mark)) or "back" in (attributes.get("role") or "")
            return "" if is_back and not mark else note_mark(mark, before)
        text = self._inline(node, before, in_heading=in_heading)
        target = (attributes.get("href") or "").strip()
        said = text.strip()
        is_link = target and not target.startswith(("#", "javascript:", "data:"))
        if in_heading or not said or not is_link:
            return text
        return link(text, target)

    def is_left_out(self, node: LexborNode, attributes: Attributes) -> bool:
        """Return whether an element is left out, recording its words if so."""
        tag = node.tag or ""
        if tag == "a" and "href" in attributes and is_permalink(node, attributes):
            tell(Omission.NAVIGATION, node)
            return True
        reason = self._content.omission(node, tag, attributes)
        if reason is None:
            return False
        if reason == Omission.HIDDEN and ("hidden" in attributes or "style" in attributes):
            note_hidden("hidden elements", 1 if node.text().strip() else 0)
        tell(reason, node)
        return True


def _set_apart(text: str, attributes: Attributes, before: str, after: str) -> str:
    """Return a label with spaces between it and the words around it."""
    lead = " " if before and not before[-1].isspace() else ""
    if "classifier" in (attributes.get("class") or "").split() and not before.rstrip().endswith(
        ":"
    ):
        # Sphinx's styles show a colon.
        lead = " : "
    return f"{lead}{text}{' ' if after.isalnum() else ''}"


def _is_after_label(node: LexborNode, before: str, text: str) -> bool:
    """Return whether a text begins a plain `span` directly after another, as Node's versions do."""
    previous = node.prev
    is_span = previous is not None and previous.tag == "span" and not previous.attributes
    return is_span and before[-1:].isalnum() and text[:1].isupper() and " " in text.strip()


def _last(parts: Sequence[str]) -> str:
    """Return the end of the text so far, at most 24 characters."""
    return next((part[-24:] for part in reversed(parts) if part), "")
