"""Removes tags in Markdown: elements and components, keeping prose in their attributes."""

import re
from collections.abc import Mapping

from foundry.readers.composing import describe_pictures
from foundry.readers.formats.markdown.edits import Edits
from foundry.readers.formats.markdown.names import ADMONITIONS, PANELS
from foundry.readers.formats.markdown.scanning import Tag, scan
from foundry.readers.formats.pages.blocks import CLOSED_SIGN
from foundry.readers.formats.pages.numbers import apart, lowered, raised

MAX_LINK_CHARS = 1_000
MAX_INDENTATION = 100
MAX_SCRIPT_CHARS = 80
MAX_HEADING_CHARS = 2_000

_ANY_TAG = re.compile(r"<[^<>]*+>")
_WORD = re.compile(r"\w")
_BRACKETS = re.compile(r"[\[\]\n]")
_LOCAL_PICTURE = re.compile(r"(?![A-Za-z][\w+.-]*:|//|\{)[^\s()<>]{1,500}")
_NOT_BOLD = re.compile(r"\A\s|\s\Z|[*\n]")
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_NOT_MARKED = re.compile(r"[\n<=~]")
_SELDOM_CLOSED = frozenset("p li dt dd tr td th thead tbody tfoot".split())
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_INLINE = frozenset(
    "a abbr b bdi bdo big cite del dfn em font i ins kbd label mark q s samp small span strike"
    " strong sub sup time tt u var wbr".split()
)
_STRUCK = frozenset(("del", "s", "strike"))
_NAMES = tuple(
    "title label name path query body header heading question summary subtitle text content".split()
)
"""Attributes that describe components, in order of preference."""
_MORE = ("type", "description", "caption", "message", "tip", "answer", "alt")


def _is_component(name: str) -> bool:
    """Return whether a name is not HTML's: `Card`, `my-card`, `Tabs.Item`, `note`."""
    is_admonition = name in ADMONITIONS and name != "summary"
    return is_admonition or not name.islower() or "-" in name or "." in name


def remove_tags(edits: Edits) -> None:
    """Remove tags of elements and components; links, code and headings become Markdown."""
    if "<" not in edits.mask:
        return
    tags = _select(list(scan(edits)))
    partners = _pair(tags)
    for place, tag in enumerate(tags):
        partner = partners.get(place)
        if tag.is_closing:
            script = None
        else:
            script = _script(tag, partner, edits.text) or _title(tag, partner, edits.text)
        if partner and script is not None:
            edits.replace(tag.start, partner.end, script)
            continue
        edits.replace(tag.start, tag.end, _write(tag, partner, edits))
    edits.refresh()


def _script(tag: Tag, partner: Tag | None, text: str) -> str | None:
    """Return superscript or subscript text on a line: `10^6`; None for other elements."""
    if partner is None or tag.name.lower() not in {"sup", "sub"}:
        return None
    inner = text[tag.end : partner.start]
    if not 0 < len(inner) <= MAX_SCRIPT_CHARS or "<" in inner or "\n" in inner:
        return None
    before = text[max(tag.start - 24, 0) : tag.start]
    if "](" in inner:
        return f" {inner}" if before[-1:].strip() else inner
    script = (raised if tag.name.lower() == "sup" else lowered)(inner, before)
    return apart(script, text[partner.end : partner.end + 1])


def _title(tag: Tag, partner: Tag | None, text: str) -> str | None:
    """Return a heading of several lines as one line; None for other elements."""
    if partner is None or tag.name.lower() not in _HEADINGS or not _begins_line(tag, text):
        return None
    inner = text[tag.end : partner.start]
    if "\n" not in inner or "\n\n" in inner.strip() or len(inner) > MAX_HEADING_CHARS:
        return None
    edits = Edits(inner)
    remove_tags(edits)
    said = " ".join(edits.finish().split())
    return f"{'#' * int(tag.name[1])} {said}" if _WORD.search(describe_pictures(said)) else said


def _select(tags: list[Tag]) -> list[Tag]:
    """Drop text that only looks like a tag: `List<Item>`, `<your-key>`."""
    opened = {tag.name for tag in tags if not tag.is_closing}
    closed = {tag.name for tag in tags if tag.is_closing}

    def is_markup(tag: Tag) -> bool:
        name = tag.name.lower()
        is_paired = tag.name in opened and tag.name in closed
        if tag.is_closing:
            return is_paired or not _is_component(tag.name)
        has_value = any(tag.attributes.values())
        return is_paired or tag.is_empty or has_value or name in _VOID | _SELDOM_CLOSED

    return [tag for tag in tags if is_markup(tag)]


def _pair(tags: list[Tag]) -> dict[int, Tag]:
    """Return the partner of each opening or closing tag that has one, by the tag's position."""
    pairs: dict[int, Tag] = {}
    opened: dict[str, list[int]] = {}
    for place, tag in enumerate(tags):
        name = tag.name.lower()
        if tag.is_closing:
            if opened.get(name):
                first = opened[name].pop()
                pairs[first], pairs[place] = tag, tags[first]
        elif not tag.is_empty and name not in _VOID:
            opened.setdefault(name, []).append(place)
    return pairs


def _write(tag: Tag, partner: Tag | None, edits: Edits) -> str:
    """Return the text that replaces a tag."""
    name = tag.name.lower()
    opening = partner if tag.is_closing else tag
    if name == "a" and partner and opening:
        target = opening.attributes.get("href", "")
        closing = tag if tag.is_closing else partner
        if target and not target.startswith("#") and _has_words(edits.text, opening, closing):
            return f"]({target})" if tag.is_closing else "["
        return ""
    if name in {"code", "kbd", "samp", "tt"} and partner and opening:
        closing = tag if tag.is_closing else partner
        is_key = name == "kbd" and re.search(r"[<`\n]", edits.text[opening.end : closing.start])
        return "" if is_key else "`"
    if name == "img":
        return _picture(tag.attributes)
    if name == "summary" and partner and opening:
        return _title_mark(opening, tag if tag.is_closing else partner, edits.text, tag)
    if name in _STRUCK and partner and opening:
        return _struck(opening, tag if tag.is_closing else partner, edits.text, tag)
    if name == "mark" and partner and opening:
        closing = tag if tag.is_closing else partner
        return "==" if _is_marked(edits.text, opening, closing) else ""
    if name in _INLINE or not name:
        return ""
    if name in _HEADINGS and not tag.is_closing:
        return "#" * int(name[1]) + " " if _begins_line(tag, edits.text) else " "
    if name == "li" and not tag.is_closing:
        return "- " if _begins_line(tag, edits.text) else " - "
    if tag.is_closing or not _is_component(tag.name):
        return _gap(tag, edits.text)
    return _describe(tag, edits.text)


def _struck(opening: Tag, closing: Tag, text: str, tag: Tag) -> str:
    """Return strikethrough marks, with a space if the text that follows replaces the struck one.

    Returns "" for an element without words.
    """
    inner = text[opening.end : closing.start]
    is_marked = _has_words(text, opening, closing) and inner == inner.strip()
    mark = "~~" if is_marked else ""
    after = text[closing.end : closing.end + 1]
    is_replaced = after.isalnum() or text.startswith("<ins", closing.end)
    return f"{mark} " if mark and tag.is_closing and is_replaced else mark


def _is_marked(text: str, opening: Tag, closing: Tag) -> bool:
    """Return whether `==` around a text would highlight it; inside a word, it would not."""
    inner = text[opening.end : closing.start]
    around = text[max(opening.start - 1, 0) : opening.start] + text[closing.end : closing.end + 1]
    is_line = bool(inner) and inner == inner.strip() and not _NOT_MARKED.search(inner)
    return is_line and not any(sign.isalnum() or sign in "=~" for sign in around)


def _picture(attributes: Mapping[str, str]) -> str:
    """Return a local picture as Markdown, and the alternative text of any other."""
    alternative, source = attributes.get("alt", ""), attributes.get("src", "")
    is_shown = _LOCAL_PICTURE.fullmatch(source) and not _BRACKETS.search(alternative)
    return f"![{alternative}]({source})" if is_shown else alternative


def _title_mark(opening: Tag, closing: Tag, text: str, tag: Tag) -> str:
    """Return bold marks for the title of a collapsible element, like the HTML reader."""
    title = _ANY_TAG.sub("", text[opening.end : closing.start])
    if not title.strip() or _NOT_BOLD.search(title):
        return _gap(tag, text)
    if not tag.is_closing:
        return f"{CLOSED_SIGN} **"
    after = text[tag.end : tag.end + 1]
    return "**" if not after or after.isspace() else "** "


def _describe(tag: Tag, text: str) -> str:
    """Return the prose in a component's attributes."""
    attributes = tag.attributes
    names = [attributes[name] for name in _NAMES if attributes.get(name)]
    if tag.name.lower() in PANELS and not names:
        # Docusaurus shows the value of a tab without a label.
        names = [attributes["value"]] if attributes.get("value") else []
    more = [attributes[name] for name in _MORE if attributes.get(name)]
    if tag.name.lower() == "badge":
        # The type of a badge is its colour.
        more = []
    if attributes.get("version"):
        more.append(f"version {attributes['version']}")
    if attributes.get("default"):
        more.append(f"default {attributes['default']}")
    more += [name for name in ("required", "deprecated") if name in attributes]
    title = " ".join((names or more[:1] or [""])[0].split())
    target = attributes.get("href") or attributes.get("to") or ""
    if target and title and "{" not in target and "[" not in title:
        title = f"[{title}]({target})"
    kind = tag.name.capitalize() if tag.name.lower() in ADMONITIONS else ""
    rest = ", ".join(" ".join(part.split()) for part in (names[1:] + more if names else more[1:]))
    said = ": ".join(part for part in (kind, title, rest) if part and part != "{}")
    if not said:
        return _gap(tag, text)
    said += ":" if said == kind else ""
    before = "" if tag.start == 0 or text[tag.start - 1].isspace() else " "
    sign = PANELS.get(tag.name.lower())
    if sign and said == title and not _NOT_BOLD.search(title):
        said = sign.format(title)
    is_last = tag.end == len(text) or text[tag.end] == "\n"
    return before + said + ("" if is_last else " " if tag.is_empty or said == f"{kind}:" else ": ")


def _has_words(text: str, opening: Tag, closing: Tag) -> bool:
    if closing.start - opening.end > MAX_LINK_CHARS:
        return False
    inner = text[opening.end : closing.start]
    return "\n\n" not in inner and bool(_WORD.search(_ANY_TAG.sub("", inner)))


def _begins_line(tag: Tag, text: str) -> bool:
    before = "\n" + text[max(tag.start - MAX_INDENTATION, 0) : tag.start]
    return not before[before.rfind("\n") :].strip(" \t\n>")


def _gap(tag: Tag, text: str) -> str:
    """Return a space if words would otherwise be joined; else ""."""
    before, after = text[tag.start - 1 : tag.start], text[tag.end : tag.end + 1]
    return " " if before and after and not before.isspace() and not after.isspace() else ""
