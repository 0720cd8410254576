"""Vocabularies of prose: DocBook, JATS, DITA, FictionBook, TEI and OPML, converted to HTML.

`vocabulary.toml` maps their elements to HTML; of other elements, only the content is read.
"""

import html
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.files import read_beside
from foundry.readers.formats.pages.equations import as_html
from foundry.readers.formats.xml.references import (
    fill_references,
    is_numbered,
    local_name,
    number_in,
    number_lists,
)
from foundry.readers.notes import leave_out

MAX_DEPTH = 150
"""Maximum depth of elements; below it, only the text is written."""

_WORDS: dict[str, Any] = read_beside(__file__, "vocabulary.toml")
ROOTS = frozenset(_WORDS["roots"].split())
_TAGS = {name: tag for tag, names in _WORDS["tags"].items() for name in names.split()}
_SECTIONS = frozenset(_WORDS["sections"].split())
_TITLES = frozenset(_WORDS["titles"].split())
_CODE = frozenset(_WORDS["code"].split())
_NOTES = frozenset(_WORDS["notes"].split())
_FOOTNOTES = frozenset(_WORDS["footnotes"].split())
_LEFT_OUT = {name: reason for reason, names in _WORDS["left_out"].items() for name in names.split()}
_STYLED = frozenset("b i em s sup sub".split())
_STRUCK = frozenset("strikethrough strikeout line-through".split())
_LINKS = ("{http://www.w3.org/1999/xlink}href", "url", "href", "l")


def is_prose(root: Element) -> bool:
    """Return whether a root element belongs to a vocabulary of prose."""
    return local_name(root) in ROOTS


def to_html(root: Element) -> str:
    """Return a document as an HTML page."""
    if local_name(root) == "opml":
        return "".join(_outline(root))
    number_lists(root)
    fill_references(root)
    return f"<html><body><main>{''.join(_children(root, 1, 0))}</main></body></html>"


def _outline(root: Element) -> Iterator[str]:
    """Yield an OPML outline as nested lists; its texts are attributes."""
    yield f"<html><body><main><h1>{html.escape(root.findtext('.//title') or '')}</h1>"

    def write(parent: Element, depth: int) -> Iterator[str]:
        items = parent.findall("outline") if depth < MAX_DEPTH else []
        if items:
            yield "<ul>"
            for item in items:
                said = html.escape(item.get("text") or item.get("title") or "")
                address = item.get("htmlUrl") or item.get("url") or item.get("xmlUrl")
                link = f'<a href="{html.escape(address)}">{said}</a>' if address else said
                note = html.escape(item.get("_note") or "")
                yield f"<li>{link} {note}"
                yield from write(item, depth + 1)
                yield "</li>"
            yield "</ul>"

    for body in root.findall("body"):
        yield from write(body, 0)
    yield "</main></body></html>"


def _children(parent: Element, level: int, depth: int) -> Iterator[str]:
    yield html.escape(parent.text or "", quote=False)
    is_text = _has_own_text(parent)
    for place, child in enumerate(parent, 1):
        if depth >= MAX_DEPTH:
            yield html.escape("".join(child.itertext()), quote=False)
        else:
            yield from _write(child, parent, level, depth + 1)
        # The fields of a record, such as a citation, may have no space between them.
        is_between = place < len(parent) and local_name(parent[place]) != "manvolnum"
        yield html.escape(child.tail or "", quote=False) if is_text else " " * is_between


def _has_own_text(element: Element) -> bool:
    """Return whether an element has text of its own, or only children that are parts of a line."""
    texts = (element.text, *(child.tail for child in element))
    return any(text and text.strip() for text in texts) or all(
        _TAGS.get(local_name(child)) in _STYLED for child in element
    )


def _write(element: Element, parent: Element, level: int, depth: int) -> Iterator[str]:
    name = local_name(element)
    if name in _LEFT_OUT:
        leave_out(Omission(_LEFT_OUT[name]), " ".join(element.itertext()), name)
    elif name in _SECTIONS:
        yield from ("<section>", *_children(element, min(level + 1, 6), depth), "</section>")
    elif name in _TITLES:
        yield from _title(element, parent, level, depth)
    elif name in _CODE and not (name == "code" and _is_inline(parent)):
        language = html.escape(element.get("language") or element.get("code-type") or "")
        said = (
            " ".join(_synopsis(element)) if name == "cmdsynopsis" else "".join(element.itertext())
        )
        code = html.escape(said, quote=False)
        named = f' class="language-{language}"' if language else ""
        yield f"<pre><code{named}>{code}</code></pre>"
    elif name in _NOTES:
        kind = element.get("type") or (name if name != "boxed-text" else "")
        said = html.escape(kind.capitalize())
        yield f"<div>{f'<p>{said}:</p>' if said else ''}"
        yield from (*_children(element, level, depth), "</div>")
    elif name in _FOOTNOTES:
        yield from (" (", html.escape(" ".join("".join(element.itertext()).split())), ")")
    elif name in {"entry", "stentry"}:
        yield from (_cell(element, parent), *_children(element, level, depth), "</td>")
    elif name == "funcprototype":
        yield f"<pre><code>{html.escape(_prototype(element), quote=False)}</code></pre>"
    elif name == "optional":
        yield from ("[", *_children(element, level, depth), "]")
    elif name in _JOINED and len(element):
        parts = (" ".join("".join(child.itertext()).split()) for child in element)
        yield html.escape(_JOINED[name].join(filter(None, parts)), quote=False)
    elif name == "math":
        yield from as_html(element)
    elif name == "tex-math":
        yield from _tex(element, parent)
    elif name == "segmentedlist":
        yield from _segments(element, level, depth)
    elif name == "bridgehead":
        below = number_in(element.get("renderas")) + 1
        shown = min(below if below > 1 else level + 1, 6)
        yield from (f"<h{shown}>", *_children(element, level, depth), f"</h{shown}>")
    elif name == "manvolnum":
        yield from ("(", *_children(element, level, depth), ")")
    elif name == "alt" or _TAGS.get(name) == "img":
        said = element.get("alt") or " ".join("".join(element.itertext()).split())
        yield html.escape(said)
    else:
        tag = _TAGS.get(name, "")
        # DocBook's `<emphasis role="strikethrough">`.
        tag = "s" if tag == "i" and element.get("role") in _STRUCK else tag
        address = next(filter(None, map(element.get, _LINKS)), None) if tag == "a" else None
        tag = tag if tag != "a" or address else ""
        tag = "ol" if tag == "ul" and is_numbered(element) else tag
        tag = "dd" if local_name(parent) == "varlistentry" and tag == "li" else tag
        opening = f'<a href="{html.escape(address)}">' if address else _open(tag, element)
        yield from (opening, *_children(element, level, depth), f"</{tag}>" if tag else "")
        if address and not "".join(element.itertext()).strip():
            yield html.escape(address)


def _tex(element: Element, parent: Element) -> Iterator[str]:
    """Write TeX as a formula, unless MathML is beside it. Journals wrap the TeX in a document."""
    written = "".join(element.itertext())
    if any(local_name(each) == "math" for each in parent):
        leave_out(Omission.DUPLICATE, written)
        return
    _, _, body = written.rpartition(r"\begin{document}")
    formula = body.partition(r"\end{document}")[0].strip().strip("$").strip()
    leave_out(Omission.METADATA, written.replace(formula, " ", 1))
    yield html.escape(f"${formula}$", quote=False)


def _synopsis(element: Element) -> Iterator[str]:
    """Yield the parts of a command's synopsis: `[-f]`, `{a | b}`, `file...`."""
    yield from [element.text.strip()] if element.text and element.text.strip() else []
    for child in element:
        is_choice = local_name(child) == "group"
        said = (" | " if is_choice else " ").join(_synopsis(child))
        choice = child.get("choice") or (
            "opt" if local_name(child) in {"arg", "group"} else "plain"
        )
        opening, closing = {"opt": ("[", "]"), "req": ("{", "}")}.get(choice, ("", ""))
        repeated = "..." if child.get("rep") == "repeat" else ""
        if said:
            yield f"{opening}{said}{closing}{repeated}"
        yield from [child.tail.strip()] if child.tail and child.tail.strip() else []


def _prototype(element: Element) -> str:
    """Return a function's prototype: `int pick(int n, char c)`."""
    parts = [" ".join("".join(child.itertext()).split()) for child in element]
    names = [local_name(child) for child in element]
    given = [part or "..." for part, name in zip(parts, names, strict=True) if name != "funcdef"]
    return f"{parts[0] if parts else ''}({', '.join(given)})"


def _segments(element: Element, level: int, depth: int) -> Iterator[str]:
    """Write DocBook's list of records as a table."""
    titles = [each for each in element if local_name(each) == "segtitle"]
    rows = [each for each in element if local_name(each) == "seglistitem"]
    for each in element:
        if each not in titles and each not in rows:
            yield from _write(each, element, level, depth + 1)

    def row(tag: str, cells: Iterable[Element]) -> Iterator[str]:
        yield "<tr>"
        for cell in cells:
            yield from (f"<{tag}>", *_children(cell, level, depth + 1), f"</{tag}>")
        yield "</tr>"

    yield "<table>"
    yield from row("th", titles)
    for each in rows:
        yield from row("td", each)
    yield "</table>"


def _open(tag: str, element: Element) -> str:
    if not tag:
        return ""
    names = {"colspan", "rowspan", "start", *(("type",) if tag == "ol" else ())}
    kept = sorted(names & element.attrib.keys())
    attributes = (f' {name}="{html.escape(element.attrib[name])}"' for name in kept)
    return f"<{tag}{''.join(attributes)}>"


def _title(element: Element, parent: Element, level: int, depth: int) -> Iterator[str]:
    inside = local_name(parent)
    text = "".join(_children(element, level, depth))
    if inside in _CITATIONS:
        yield text
        return
    is_own = inside in _SECTIONS or inside in ROOTS or inside in _HEADS
    yield f"<h{level}>{text}</h{level}>" if is_own else f"<p><b>{text}</b></p>"


_CITATIONS = frozenset(("element-citation", "mixed-citation", "citation", "nlm-citation"))
# Menu entries, and keys that are pressed together.
_JOINED = {"menuchoice": " > ", "menucascade": " > ", "keycombo": "+"}
_HEADS = frozenset(_WORDS["heads"].split())


def _is_inline(parent: Element) -> bool:
    return _TAGS.get(local_name(parent)) in {"p", "td", "dt", "dd", "li"}


def _cell(element: Element, parent: Element) -> str:
    """Return the opening tag of a CALS cell, which names the columns that it spans."""
    rows = int(element.get("morerows") or 0) if (element.get("morerows") or "0").isdigit() else 0
    first, last = (number_in(element.get(name)) for name in ("namest", "nameend"))
    columns = last - first + 1 if first and last and last > first else 1
    tag = "th" if local_name(parent) == "sthead" else "td"
    return f'<{tag} colspan="{min(columns, 100)}" rowspan="{min(rows + 1, 1_000)}">'
