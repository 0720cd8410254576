"""Converts inline Org to Markdown: links, emphasis, notes, macros and entities."""

import re
from collections.abc import Mapping
from html.entities import html5

from foundry.documents.left_out import Omission
from foundry.readers.formats.pages.blocks import picture
from foundry.readers.notes import leave_out

MAX_EXPANDED = 10_000
_BEFORE, _AFTER = r"(?<![^\s\-(\{'\"\u201c])", r"(?![^\s\-.,;:!?')\}\[\"\u201d])"
_INLINE = re.compile(
    rf"{_BEFORE}(?P<sign>[=~])(?P<code>\S(?:[^\n]{{0,300}}?\S)?)(?P=sign){_AFTER}"
    r"|\[\[(?P<target>[^\[\]\n]{1,1000})\](?:\[(?P<label>[^\[\]]{1,1000})\])?\]"
    r"|\[fn:(?P<mark>[\w-]{0,50}):(?P<note>[^\[\]]{1,2000})\]|\[fn:(?P<reference>[\w-]{1,50})\]"
    r"|\{\{\{(?P<macro>[A-Za-z][\w-]{0,50})(?:\((?P<given>[^\n]{0,300}?)\))?\}\}\}"
    r"|@@(?P<export>[a-z]{1,20}):[^\n]{0,1000}?@@"
    r"|<<<?(?P<place>[^<>\n]{1,200})>?>>|\[@(?P<counter>\d{1,4})\]"
    rf"|{_BEFORE}(?P<emphasis>[*/_+])(?P<said>\S(?:[^\n]{{0,300}}?\S)?)(?P=emphasis){_AFTER}"
    r"|(?<=\w)(?P<script>[\^_])\{(?P<scripted>[^{}\n]{1,100})\}"
    r"|\\(?P<entity>[A-Za-z]{2,20})(?:\{\}|(?![A-Za-z]))"
)
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp)$", re.IGNORECASE)
_MARKS = {"*": "**", "/": "*", "_": "", "+": "~~"}


def write_inline(text: str, macros: Mapping[str, str]) -> str:
    """Convert Org text to Markdown; markup without words for people is recorded as left out."""

    def unwrap(match: re.Match[str]) -> str:
        if match["code"]:
            return f"`{match['code']}`"
        if match["target"]:
            return _link(match["target"], match["label"])
        if match["note"]:
            leave_out(Omission.ATTRIBUTE, f"fn {match['mark']}")
            return f" ({match['note'].strip()})"
        if match["reference"]:
            leave_out(Omission.MACRO, "fn")
            return f" [{match['reference']}]"
        if match["macro"]:
            return _expand(match["macro"], match["given"] or "", macros)
        if match["export"]:
            leave_out(Omission.SCRIPT, match[0])
            return ""
        if match["place"]:
            return match["place"] if match[0].startswith("<<<") else _drop(match["place"])
        if match["counter"]:
            return _drop(match["counter"])
        if match["said"]:
            mark = _MARKS[match["emphasis"]]
            return f"{mark}{write_inline(match['said'], macros)}{mark}"
        if match["scripted"]:
            is_number = match["scripted"].lstrip("-+").isdigit()
            # A letter's subscript, as in H2O, directly follows the letter.
            is_kept = match["script"] == "^" or match.string[match.start() - 1].isdigit()
            return f"{match['script'] if is_number and is_kept else ''}{match['scripted']}"
        return _entity(match)

    return _INLINE.sub(unwrap, text)


def _drop(text: str) -> str:
    leave_out(Omission.ATTRIBUTE, text)
    return ""


def _link(target: str, label: str | None) -> str:
    address = target.removeprefix("file:").partition("::")[0] or target
    if _PICTURE.search(address) and (not label or _PICTURE.search(label)):
        # A picture whose label is another picture is a link.
        shown = label.removeprefix("file:") if label else address
        return picture("", shown) or shown
    if label:
        return f"[{label}]({address})"
    if "://" in address or address.startswith("mailto:"):
        return address
    return address.lstrip("*#")


def _expand(name: str, given: str, macros: Mapping[str, str]) -> str:
    leave_out(Omission.MACRO, f"{name} {given}")
    text = macros.get(name)
    if text is None:
        return given
    for number, value in enumerate(re.split(r"(?<!\\),", given), 1):
        text = text.replace(f"${number}", value.strip())
    return text[:MAX_EXPANDED]


def _entity(match: re.Match[str]) -> str:
    name = match["entity"]
    sign = html5.get(f"{name};")
    if sign is None:
        return match[0]
    leave_out(Omission.MACRO, name)
    return sign
