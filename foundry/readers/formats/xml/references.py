"""Fills in titles for cross references and numbers of lists, which XML leaves to a renderer."""

from xml.etree.ElementTree import Element

from foundry.readers.formats.packed import bare_tag

_KINDS = {
    **{"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"},
    **{"alpha-lower": "a", "alpha-upper": "A", "roman-lower": "i", "roman-upper": "I"},
}
"""HTML's `type` of numbered lists, by the names of DocBook and JATS."""


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace, in lower case."""
    return bare_tag(element).lower()


def fill_references(root: Element) -> None:
    """Fill empty cross references with the titles of the elements that they refer to."""
    references = [each for each in root.iter() if local_name(each) in {"xref", "link"}]
    names = {name for each in references if _is_empty(each) and (name := _named(each))}
    if not names:
        return
    titles = {}
    for each in root.iter():
        name = each.get("id") or each.get("{http://www.w3.org/XML/1998/namespace}id") or ""
        if name in names:
            inner = next(
                (sub for sub in each.iter() if local_name(sub) in {"title", "label"}), None
            )
            written = "" if inner is None else " ".join("".join(inner.itertext()).split())
            titles[name] = each.get("xreflabel") or written
    for each in references:
        if _is_empty(each) and (title := titles.get(_named(each))):
            each.text = title


def _named(reference: Element) -> str:
    """Return the id that a cross reference names, in this document."""
    name = reference.get("linkend") or reference.get("rid") or ""
    return name or (reference.get("href") or "").rpartition("#")[2].rpartition("/")[2]


def _is_empty(element: Element) -> bool:
    return not "".join(element.itertext()).strip()


def number_lists(root: Element) -> None:
    """Set HTML's `start` and `type` for numbered lists of DocBook and JATS.

    A list of DocBook may begin at a number or continue another list.
    """
    ended = 0
    for each in root.iter():
        if kind := _KINDS.get(each.get("numeration") or each.get("list-type") or ""):
            each.set("type", kind)
        if local_name(each) == "orderedlist":
            start = number_in(each.get("startingnumber"))
            if each.get("continuation") == "continues":
                start = start or ended + 1
            if start:
                each.set("start", str(start))
            ended = (start or 1) + sum(local_name(child) == "listitem" for child in each) - 1


def is_numbered(element: Element) -> bool:
    """Return whether a list of JATS is numbered by its type, and not by labels of its items."""
    has_labels = any(local_name(sub) == "label" for item in element for sub in item)
    return element.get("list-type") in {"order", *_KINDS} and not has_labels


def number_in(name: str | None) -> int:
    """Return the digits in a name or an attribute as a number; 0 if there are none."""
    digits = "".join(sign for sign in name or "" if sign.isdigit())
    return int(digits[:4]) if digits else 0
