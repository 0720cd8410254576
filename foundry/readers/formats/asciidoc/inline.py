"""Converts inline AsciiDoc: attributes, links, macros and emphasis."""

import html
import re
from collections.abc import Mapping
from functools import partial

from foundry.documents.left_out import Omission
from foundry.readers.formats.office.scripts import struck
from foundry.readers.formats.pages.blocks import anchor_of, link, picture
from foundry.readers.formats.pages.numbers import lowered
from foundry.readers.notes import leave_out

MAX_REFERENCES = 5
"""Maximum nesting depth of expanded attributes."""
MAX_FILLED = 10_000
"""Maximum number of characters that expansion may add to a line."""

_REFERENCE = re.compile(r"(?<!\\)\{([\w-]{1,60})\}")
_INLINE = re.compile(
    r"\\(?P<escaped>\{[\w-]{1,60}\}|<<[^<>\n]{1,300}>>"
    r"|\b(?:https?|ftp|irc|mailto|link|xref|image|footnote|kbd|btn|menu|pass|stem):[^\s\[\]]{1,500}+"
    r"(?:\[[^\]\n]{0,300}+\])?)"
    r"|(?P<curly>(?P<quote>[\"'])`[^`\n]{1,300}`(?P=quote))|(?P<code>`[^`\n]{1,300}`|\+\+\+?[^+\n]{1,300}\+\+\+?"
    r"|(?<![\w+`])\+[^+\s](?:[^+\n]{0,300}[^+\s])?\+(?![\w+`]))"
    r"|\b(?:link|xref):(?P<target>\+\+[^+\n]{1,500}\+\+|[^\s\[\]]{1,500}+)"
    r"\[(?P<label>[^\]\n]{0,300}+)\]"
    r"|(?P<unset>\{[\w-]{1,60}\}[^\s\[\]]{0,500}+)\[(?P<shown>[^\]\n]{1,300}+)\]"
    r"|(?P<url>(?:https?|ftp|irc)://[^\s\[\]<>]{1,500}+)\[(?P<named>[^\]\n]{0,300}+)\]"
    r"|(?P<mail>mailto:[^\s\[\]]{1,200}+)\[(?P<mailed>[^\]\n]{0,300}+)\]"
    r"|<<(?P<place>[^<>,\n]{1,200}+)(?:,(?P<reference>[^<>]{1,300}))?>>"
    r"|\b(?:image|icon)::?(?P<picture>[^\s\[\]:]{1,300}+)"
    r"\[(?P<alt>(?:\"[^\"\n]{0,300}\"|[^\[\],\n]{0,300}+))[^\[\]\n]{0,300}+\]"
    r"|footnote(?:ref:\[[\w-]{1,50},|:[\w-]{0,50}\[)(?P<note>(?:[^\[\]\n]|\[[^\[\]\n]{0,300}\]){0,2000}+)\]"
    r"|\bindexterm2:\[(?P<indexed>[^\[\]\n]{0,300}+)\]|\(\((?P<visible>[^()\n]{1,200}+)\)\)(?!\))"
    r"|(?P<hidden>\(\(\([^()\n]{1,300}+\)\)\)|\bindexterm:\[[^\[\]\n]{0,300}+\])"
    r"|\b(?:kbd|btn|pass|stem|latexmath|asciimath|menu):(?P<menu>[^\s\[\]]{0,100}+)"
    r"\[(?P<keys>[^\]\n]{0,300}+)\]"
    r"|\b(?P<macro>[a-z]\w{1,30}):(?P<object>[^\s\[\]:/][^\s\[\]]{0,200}+)"
    r"\[(?P<said>[^\[\]\n]{0,300}+)\]"
    r"|(?P<anchor>\[\[\[?[^\[\]\n]{1,200}\]\]\]?|\banchor:[\w-]{1,100}\[[^\]\n]{0,100}\])"
    r"|\[\.?line-through\](?:##(?P<struck>[^#\n]{1,300})##|#(?P<deleted>[^#\s\n](?:[^#\n]{0,300}[^#\s\n])?)#(?![#\w]))"
    r"|(?P<role>\[[.#%\"']?[\w\s.#%\"',=-]{0,100}\])(?=[#*_`][^\s])"
    r"|(?<![\w^])(?P<power>[0-9]{1,40})\^(?P<raised>-?\d{1,20})\^"
    r"|(?P<word>\w)\^(?P<above>[^\s^]{1,40})\^|(?P<atom>\w)~(?P<below>[^\s~]{1,40})~"
    r"|(?P<within>(?P<mark>\*\*|__|##)(?P<inner>[^\W_]{1,60})(?P=mark))"
    r"|(?P<entity>&(?:[a-zA-Z]{2,30}|#\d{1,7}|#[xX][\da-fA-F]{1,6});)"
    r"|(?<![#\w])#(?P<marked>[^\s#\n](?:[^#\n]{0,200}[^\s#\n])?)#(?![#\w])"
)
_PICTURE_TITLE = re.compile(r"\btitle=\"([^\"]+)\"")
# A bibliography entry is cited by its id, or by the text after the id.
_ENTRY = re.compile(r"\[\[\[([^\[\],]+)(?:,([^\[\]]+))?\]\]\]")
# The backslash before an attribute that is shown as written.
_ESCAPED = re.compile(r"\\(?=\{[\w-]+\})")
_LITERAL = re.compile(r"`\+([^+`]+)\+`")
_OPTIONS = re.compile(r",[ \t]*(?:window|role|opts|id|title|rel|subs|xrefstyle)=.*$")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"")
_CURLY = re.compile(r"([\"'])`([^`\n]{1,300})`\1")
_MACRO = re.compile(r"(?!https?:|ftp:|irc:|mailto:)[a-z]\w{1,30}(?=:)")
_BREAK = re.compile(r"[ \t]\+$", re.MULTILINE)
INTRINSIC = {
    **{"empty": "", "blank": "", "sp": " ", "nbsp": " ", "zwsp": "", "wj": "", "shy": ""},
    **{"amp": "&", "lt": "<", "gt": ">", "plus": "+", "caret": "^", "tilde": "~", "vbar": "|"},
    **{"backslash": "\\", "backtick": "`", "startsb": "[", "endsb": "]", "asterisk": "*"},
    **{"two-colons": "::", "two-semicolons": ";;", "cpp": "C++", "cxx": "C++", "pp": "++"},
    **{"apos": "'", "quot": '"', "lsquo": "\u2018", "rsquo": "\u2019", "ldquo": "\u201c"},
    **{"rdquo": "\u201d", "deg": "°", "brvbar": "¦", "litdd": "--", "underscore": "_", "star": "*"},
}
"""Attributes that every document has, or that man page tools define."""
_SIGNS = {
    name: chr(0xE000 + place)
    for place, name in enumerate(
        name for name, value in INTRINSIC.items() if value in set("+^~`*#_")
    )
}
_PRINTED = {ord(sign): INTRINSIC[name] for name, sign in _SIGNS.items()}


def fill_in(text: str, attributes: Mapping[str, str]) -> str:
    """Expand the attributes in a text; unknown ones are left unchanged."""
    limit = len(text) + MAX_FILLED
    for _ in range(MAX_REFERENCES):
        filled = _REFERENCE.sub(lambda match: _value(match, attributes), text)
        if filled == text or len(filled) > limit:
            break
        text = filled
    return text


def _value(match: re.Match[str], attributes: Mapping[str, str]) -> str:
    value = attributes.get(match[1], INTRINSIC.get(match[1]))
    if value is None:
        return match[0]
    leave_out(Omission.MACRO, match[1])
    return value


def write_inline(
    text: str, attributes: Mapping[str, str], sections: Mapping[str, str] | None = None
) -> str:
    """Convert inline AsciiDoc to Markdown; record markup without words for people as left out.

    `sections` are the titles of the document's sections by id.
    """
    sections = sections or {}
    folder = attributes.get("imagesdir", "")
    # Signs that attributes stand for are not markup, so they are written after markup is read.
    signs = {name: sign for name, sign in _SIGNS.items() if name not in attributes}
    text = _BREAK.sub("  ", fill_in(text, {**attributes, **signs}))
    return _INLINE.sub(partial(_unwrap, folder, sections), text).translate(_PRINTED)


def _unwrap(pictures: str, sections: Mapping[str, str], match: re.Match[str]) -> str:
    if name := _MACRO.match(match[0]):
        leave_out(Omission.MACRO, name[0])
    if match["escaped"]:
        return match["escaped"]
    if match["curly"]:
        return match["curly"].replace("`", "")
    if match["within"]:
        # Marks inside a word are dropped, so that the word stays whole; other marks are valid
        # Markdown.
        before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
        if match["mark"] == "##":
            return match["inner"]
        return match["inner"] if before.isalnum() or after.isalnum() else match[0]
    if match["entity"]:
        return html.unescape(match["entity"])
    if code := _LITERAL.fullmatch(match["code"] or ""):
        return f"`{code[1]}`"
    if match["code"]:
        code_text = _ESCAPED.sub("", match["code"])
        return code_text if code_text.startswith("`") else code_text.strip("+")
    if target := match["target"] or match["url"] or match["mail"]:
        target = target.strip("+")
        if match["target"] and (title := sections.get(target)):
            return _refer(title, match["label"], target)
        label = _label(match["label"] or match["named"] or match["mailed"] or target)
        return f"[{label}]({target})"
    if match["unset"]:
        leave_out(Omission.ATTRIBUTE, match["unset"])
        return _label(match["shown"])
    if match["place"]:
        if title := sections.get(match["place"].lstrip("#")):
            return _refer(title, match["reference"], match["place"])
        if match["reference"]:
            leave_out(Omission.ATTRIBUTE, match["place"])
        return (match["reference"] or match["place"].lstrip("#")).strip()
    if match["picture"]:
        if match[0].startswith("icon"):
            # An icon's brackets hold its size and other attributes, but no text.
            leave_out(Omission.ATTRIBUTE, match[0])
            return ""
        alternative = "" if "=" in match["alt"] else match["alt"].strip('"')
        titled = _PICTURE_TITLE.search(match[0])
        # An inline picture without alternative text is usually an icon.
        is_picture = match[0].startswith("image::" if not alternative else "image:")
        place = match["picture"]
        place = (
            place if place.startswith("/") or not pictures else f"{pictures.rstrip('/')}/{place}"
        )
        shown = picture(alternative, place) if is_picture else None
        said = " ".join(filter(None, (shown or alternative, titled[1] if titled else "")))
        leave_out(Omission.ATTRIBUTE, match[0])
        return said
    if (note := match["note"]) is not None:
        leave_out(Omission.ATTRIBUTE, match[0].partition("[")[0])
        if not note:
            # The first reference to a note has its text.
            return ""
        return f" ({_INLINE.sub(partial(_unwrap, pictures, sections), note)})"
    if match["keys"] is not None:
        menu, keys = match["menu"], match["keys"]
        return f"{menu} > {keys}" if menu and keys else menu or keys
    if match["macro"]:
        # Two macros may follow each other without a space.
        is_joined = match.string[: match.start()].endswith("]")
        return " " * is_joined + _write_macro(match["object"], match["said"])
    if match["anchor"] and (entry := _ENTRY.fullmatch(match["anchor"])):
        leave_out(Omission.ATTRIBUTE, entry[1] if entry[2] else "")
        return f"[{entry[2] or entry[1]}]"
    if said := match["struck"] or match["deleted"]:
        leave_out(Omission.ATTRIBUTE, "line-through")
        return struck(said, match.string[match.end() : match.end() + 1])
    if left := match["hidden"] or match["anchor"] or match["role"]:
        leave_out(Omission.ATTRIBUTE, left)
        return ""
    return _write_marks(match)


def _refer(title: str, label: str | None, place: str) -> str:
    """Return a link to a section of the same document."""
    leave_out(Omission.ATTRIBUTE, place)
    return link((label or title).strip(), f"#{anchor_of(title)}")


def _write_macro(target: str, said: str) -> str:
    """Return the text of a project's own macro, as far as it can be guessed."""
    if said.isdigit():
        return f"{target}({said})"
    return f"{target} {said}".strip() if said else target


def _write_marks(match: re.Match[str]) -> str:
    if match["power"]:
        return f"{match['power']}^{match['raised']}"
    if match["above"]:
        digits = match["above"].lstrip("-").isdigit()
        return f"{match['word']}^{match['above']}" if digits else match["word"] + match["above"]
    if match["atom"]:
        return match["atom"] + lowered(match["below"], match["atom"])
    return match["indexed"] or match["visible"] or match["marked"] or ""


def _label(written: str) -> str:
    """Return the text of a link without its options."""
    text, is_quoted = written.strip(), False
    if options := _OPTIONS.search(text):
        leave_out(Omission.ATTRIBUTE, options[0])
        text = text[: options.start()]
    if options or _QUOTED.fullmatch(text):
        is_quoted = text.startswith('"') and text.endswith('"') and len(text) > 1
    text = text[1:-1].replace('\\"', '"') if is_quoted else text
    text = _CURLY.sub(r"\1\2\1", text)
    return text.rstrip("^").replace("\\]", "]")
