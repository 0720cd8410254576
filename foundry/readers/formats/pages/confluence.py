"""Converts Confluence's storage format, in which `ac:` elements are macros, to HTML."""

import re
from dataclasses import dataclass, field
from html import escape, unescape
from urllib.parse import quote

from foundry.documents.left_out import Omission
from foundry.readers.notes import leave_out

IS_STORAGE = re.compile(
    r"<(?:ac:(?:structured-macro|macro|link|image|layout|task-list|emoticon|adf-extension"
    r"|inline-comment-marker|placeholder)|ri:(?:page|attachment|user))\b"
)

_CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
_TAG = re.compile(
    r"<(/?)((?:ac|ri):[\w-]+|time)((?:[^<>\"'/]++|\"[^\"]*+\"|'[^']*+'|/(?!>))*+)(/?)>"
)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_BOXES = {"info": "information", **{name: name for name in ("note", "tip", "warning")}}
_SIGNS = {"tick": "\u2714", "cross": "\u2718", "warning": "\u26a0"}
# Elements with text that is not shown.
_UNSEEN = {
    "ac:task-id": Omission.ATTRIBUTE,
    "ac:task-uuid": Omission.ATTRIBUTE,
    "ac:adf-attribute": Omission.ATTRIBUTE,
    "ac:adf-parameter": Omission.ATTRIBUTE,
    "ac:adf-fallback": Omission.DUPLICATE,
    "ac:placeholder": Omission.HIDDEN,
}
_TARGETS = ("ri:content-title", "ri:filename", "ri:value")
_INLINE = frozenset(("ac:link-body", "ac:plain-text-link-body", "ac:inline-comment-marker"))
# Parameters that are shown, by macro; in other macros, only the title is.
_SHOWN = {"jira": ("key",), "mathinline": ("body",), "mathblock": ("body",), "toc": ()}


@dataclass
class _Element:
    """An open element, the parts before it, and the parameters and target from its children."""

    name: str
    values: dict[str, str]
    before: list[str]
    parameters: dict[str, str] = field(default_factory=dict)
    target: str = ""

    @property
    def kind(self) -> str:
        """The name of the macro."""
        return self.values.get("ac:name", "")


def to_page(text: str) -> str:
    """Return a page in storage format as HTML: macros with their titles, code, links, tasks."""
    text = _CDATA.sub(lambda found: escape(found[1], quote=False), text)
    parts: list[str] = []
    opened: list[_Element] = []
    position = 0
    for tag in _TAG.finditer(text):
        parts.append(text[position : tag.start()])
        position = tag.end()
        if not tag[1]:
            given = {name: unescape(one or two) for name, one, two in _ATTRIBUTE.findall(tag[3])}
            opened.append(_Element(tag[2], given, parts))
            parts = []
        if (tag[1] or tag[4]) and opened and opened[-1].name == tag[2]:
            element = opened.pop()
            element.before.append(_close(element, "".join(parts), opened))
            parts = element.before
    parts.append(text[position:])
    # Elements that are never closed are dropped, and their content stays.
    return "".join(part for before in (*(each.before for each in opened), parts) for part in before)


def _close(element: _Element, inner: str, opened: list[_Element]) -> str:
    """Return the HTML of an element; parameters and targets go to the element around them."""
    name, values = element.name, element.values
    around = opened[-1] if opened else _Element("", {}, [])
    if name in _UNSEEN:
        leave_out(_UNSEEN[name], unescape(inner))
        return ""
    if name.startswith("ri:"):
        named = (values.get(key) for key in _TARGETS)
        around.target = around.target or next(filter(None, named), "")
        return ""
    match name:
        case "ac:parameter":
            around.parameters[element.kind] = inner.strip() or element.target
            return ""
        case "ac:rich-text-body" | "ac:plain-text-body":
            is_code = name == "ac:plain-text-body" and around.kind not in {"html", "mathblock"}
            language = escape(around.parameters.pop("language", ""))
            return f'<pre data-lang="{language}"><code>{inner}</code></pre>' if is_code else inner
        case "ac:structured-macro" | "ac:macro":
            return _macro(element, inner)
        case "ac:link":
            address = quote(element.target) or f"#{values.get('ac:anchor', '')}"
            said = inner.strip() or escape(element.target or values.get("ac:anchor", ""))
            return f'<a href="{address}">{said}</a>' if said else ""
        case "ac:image":
            alternative = escape(values.get("ac:alt") or values.get("ac:title") or "")
            return f'<img alt="{alternative}" src="{quote(element.target, "/:?=&%")}">{inner}'
        case "ac:task-list":
            return f"<ul>{inner}</ul>"
        case "ac:task":
            checked = " checked" if element.parameters.get("status") == "complete" else ""
            return f'<li><input type="checkbox"{checked}>{inner}</li>'
        case "ac:task-status":
            around.parameters["status"] = inner.strip()
            leave_out(Omission.ATTRIBUTE, inner)
            return ""
        case "ac:emoticon":
            sign = values.get("ac:emoji-fallback") or _SIGNS.get(element.kind, "")
            return escape(sign)
        case "time":
            return inner or escape(values.get("datetime", ""))
        case _ if name in _INLINE:
            return inner
    return f"<div>{inner}</div>"


def _macro(element: _Element, inner: str) -> str:
    """Return a macro as the page that Confluence makes of it."""
    kind, given = element.kind, element.parameters
    shown = [given.pop(key) for key in _SHOWN.get(kind, ("title",)) if key in given]
    for value in given.values():
        leave_out(Omission.ATTRIBUTE, unescape(value))
    said = " ".join(shown)
    if kind in _BOXES:
        title = f'<p class="title">{said}</p>' if said else ""
        box = f"confluence-information-macro confluence-information-macro-{_BOXES[kind]}"
        return f'<div class="{box}">{title}{inner}</div>'
    if kind == "expand":
        return f"<details><summary>{said}</summary>{inner}</details>"
    if kind.startswith("math"):
        return f"${inner.strip() or said}$"
    if not inner.strip():
        link = f'<a href="{quote(element.target, "/:?=&%")}">{escape(element.target)}</a>'
        return f" {said} " if said or not element.target else link
    title = f"<p><b>{said}</b></p>" if said else ""
    return f"<div>{title}{inner}</div>" if title or "<" in inner else inner
