"""Directives in Markdown: admonitions, tabs and shortcodes of site generators.

Python-Markdown's `!!! note "Title"` and `=== "Tab"`, `:::note` of Docusaurus, VitePress and Pandoc,
MyST's fences, GitHub's `> [!NOTE]`, tags of Liquid and Hugo, and a wiki's templates.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from foundry.documents.left_out import Omission
from foundry.readers.formats.markdown.attributes import remove_attributes
from foundry.readers.formats.markdown.edits import Edits
from foundry.readers.formats.markdown.emoji import ICON, sign_of
from foundry.readers.formats.markdown.included import TEXT_FILE, link_included, link_to_file
from foundry.readers.formats.markdown.names import ADMONITIONS, BOXES, PANELS
from foundry.readers.formats.pages.blocks import CLOSED, CLOSED_SIGN, TAB, link
from foundry.readers.notes import leave_out

_INDENTED = re.compile(
    r"([ \t]*)(?:(!!!|\?\?\?\+?)[ \t]+([\w-]++)([\w \t-]*+)|===[!+]?[ \t]+)(?:\"(.*)\")?[ \t]*$"
)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
FENCE = re.compile(r"([ \t>]*)(`{3,}|~{3,})[ \t]*(?:\{([\w-]+)\})?[ \t]*(.*)$")
HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
COLONS = re.compile(
    r"^([ \t>]*):{3,}[ \t]*(?:\{?([\w-]++)(?!\.[\w.])\}?)?[ \t]*(?:\[([^\]\n]*)\]|([^{\n]*))?"
    r"(\{[^\n]*)?$",
    re.MULTILINE,
)
_CLASS = re.compile(r"\.(?:callout-)?([a-z]{3,20})(?![\w-])")
_ALERT = re.compile(r"^([ \t>]*>[ \t]*)\[!(\w+)\](-)?\+?", re.MULTILINE)
SHORTCODE = re.compile(r"\{%([^{}\n]{0,1000}+)(?<=%)\}|\{\{[<%]([^{}\n]{0,1000}+)(?<=[>%])\}\}")
"""Tags of Liquid and Hugo."""
_TEMPLATE = re.compile(r"\{\{[A-Za-z][\w \t-]{0,60}+\|([^{}]{1,2000}+)\}\}")
_VALUE = re.compile(r"(?:(?<![\w-])([\w-]++)[ \t]{0,9}+[=:][ \t]{0,9}+)?(?:\"([^\"]*)\"|'([^']*)')")
_TERM = re.compile(r"\bterm_id=[\"']([^\"'\n]{1,80})")
_STYLE = re.compile(r"\b(?:color|style|type)=[\"']?([a-z]{1,20})|^[ \t]*([a-z]{1,20})\b(?!=)")
_CONTENTS = re.compile(r"^[ \t]*(?:\[TOC\]|\[\[_?toc_?\]\])[ \t]*$", re.MULTILINE | re.IGNORECASE)
_PROSE_NAMES = frozenset(
    "title subtitle name label text summary caption alt alt-text header heading tab content message"
    " body description author".split()
)
_INCLUDING = frozenset("include include_relative include-markdown includes readfile".split())
"""Shortcodes whose unnamed values are paths of files."""
_LINKING = frozenset(("link", "post_url", "ref", "relref"))
_IDENTIFIED = frozenset(("tabs", "tabpane"))
"""Shortcodes whose unnamed values are ids."""
_ADDRESSED = frozenset("embed file openapi openapi-operation swagger".split())
"""GitBook's shortcodes for a page, a file or an operation of an API elsewhere."""
_PART = re.compile(r"[ \t]*(?:[\"']?(?:[\w.-]{1,80}/)*([a-z]{1,20})\.html\b[\"']?)")
_SPACED = {"seealso": "See also"}
_WITHOUT_KIND = frozenset("admonition tabs tab-set code-group steps".split()) | PANELS.keys()
PROSE_FENCES = ADMONITIONS | _WITHOUT_KIND
"""Fenced directives whose content is prose."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """An open admonition or tab, with its column in the line and its indentation inside the
    enclosing one.

    A tab with headings does not become a quotation, because headings in quotations are not part of
    the outline.
    """

    indentation: int
    margin: int
    is_quote: bool


def open_indented(text: str) -> str:
    """Convert indented admonitions and tabs to quotations.

    A Markdown parser would treat their content as code. Line numbers do not change.
    """
    if not any(mark in text for mark in ("!!! ", "??? ", "???+ ", "=== ", "===!", "```{", "~~~{")):
        return text
    lines, opened, prose_fences = [], list[_Opened](), list[str]()
    fence, limit, is_in_list, blank = "", 0, False, 0
    source = text.split("\n")
    for number, line in enumerate(source):
        indentation = len(line) - len(line.lstrip(" "))
        if not line.strip():
            # The next line that is not blank shows whether the box continues.
            blank += 1
            continue
        while opened and not fence and indentation < opened[-1].indentation + 4:
            opened.pop()
        lines += [_quote("", opened)] * blank
        blank = 0
        line = line[min(4 * len(opened), indentation) :]
        is_in_list = bool(_ITEM.match(line)) or (is_in_list and line[0].isspace())
        around, mark = list(opened), FENCE.match(line)
        kind, rest = (mark[3] or "", mark[4]) if mark else ("", "")
        if fence:
            if mark and mark[2].startswith(fence) and not (kind or rest) and len(mark[1]) < limit:
                fence = ""
        elif mark and mark[2] in prose_fences[-1:] and not kind and not rest:
            prose_fences.pop()
            line = mark[1].rstrip()
        elif mark and kind in PROSE_FENCES:
            prose_fences.append(mark[2])
            line = mark[1] + _say(kind, rest)
        elif mark:
            # Lines with more indentation belong to the code.
            fence, limit = mark[2], len(mark[1]) + 4
        elif is_in_list or not line.startswith("    "):
            found = _INDENTED.match(line)
            is_known = found and (found[3] in ADMONITIONS or found[5])
            if found and (is_known or (found[3] and _is_indented(source, number, indentation))):
                margin = len(found[1]) - sum(each.margin for each in opened)
                is_tab = not found[3]
                is_quote = not (is_tab and _has_headings(source, number + 1, indentation + 4))
                opened.append(_Opened(indentation, max(margin, 0), is_quote))
                around = opened
                kind = found[3] if found[3] in ADMONITIONS else ""
                # Python-Markdown names a box without a title by its kind.
                named = "" if kind or found[5] is not None else found[3]
                said = _say(kind, found[5] or named.replace("-", " ").capitalize())
                if is_tab:
                    said = TAB.format(found[5])
                elif found[2] == "???":
                    said = f"{CLOSED_SIGN} {said}"
                line = found[1] + said
                leave_out(Omission.ATTRIBUTE, found[4] or "")
        lines.append(_quote(line, around))
    return "\n".join([*lines, *[""] * blank])


def fence_after(mark: re.Match[str], fence: str) -> str:
    """Return the fence that is open after a line that FENCE matches; empty if it ends `fence`."""
    is_end = fence and mark[2].startswith(fence) and not (mark[3] or mark[4])
    return "" if is_end else fence or mark[2]


def _is_indented(lines: Sequence[str], number: int, indentation: int) -> bool:
    """Return whether the next line, or the one after an empty line, is indented as content."""
    following = next((line for line in islice(lines, number + 1, number + 3) if line.strip()), "")
    return len(following) - len(following.lstrip(" ")) >= indentation + 4


def _has_headings(lines: Sequence[str], start: int, indentation: int) -> bool:
    """Return whether the indented lines from `start` on contain a heading outside code."""
    margin, fence = " " * indentation, ""
    for line in islice(lines, start, None):
        if line.strip() and not line.startswith(margin):
            return False
        line = line[indentation:]
        if mark := FENCE.match(line):
            fence = fence_after(mark, fence)
        elif not fence and HEADING.match(line):
            return True
    return False


def _quote(line: str, opened: Sequence[_Opened]) -> str:
    """Return a line with the marks of the quotations that contain it."""
    signs = ""
    for each in opened:
        signs += " " * each.margin + ("> " if each.is_quote else "")
    margin = sum(each.margin for each in opened)
    if ">" not in signs:
        return line
    return (signs + line[min(margin, len(line) - len(line.lstrip(" "))) :]).rstrip(" ")


def remove_directives(edits: Edits) -> None:
    """Replace directives on their own lines, shortcodes and templates by their words.

    Includes of text files become links. Attributes, names of other included files and tables of
    contents are removed.
    """
    text = edits.text

    def part(match: re.Match[str], group: int) -> str:
        return text[slice(*match.span(group))] if match[group] else ""

    if ":::" in text:
        edits.replace_all(
            COLONS,
            lambda m: m[1] + _say(kind_of_box(m[2], m[5]), part(m, 3) or part(m, 4) or part(m, 5)),
        )
    if "[!" in text:
        sign = f"{CLOSED_SIGN} "
        edits.replace_all(_ALERT, lambda m: f"{m[1]}{sign if m[3] else ''}{m[2].capitalize()}:")
    link_included(edits)
    if "{" in text:
        edits.replace_all(
            SHORTCODE, lambda m: _apart(say_shortcode(part(m, 1) or part(m, 2)), m, text)
        )
        edits.replace_all(_TEMPLATE, lambda m: _arguments(part(m, 1)))
        remove_attributes(edits)
    if ":" in text:
        edits.replace_all(ICON, sign_of, Omission.MACRO)
    if "[" in text:
        edits.replace_all(_CONTENTS, lambda _: "")


def kind_of_box(name: str | None, attributes: str | None) -> str:
    """Return the kind of a box, from its name or a class: `callout-note`, `{.callout-note}`.

    Returns "" if neither names one.
    """
    if name or not attributes:
        return (name or "").removeprefix("callout-")
    return next((each for each in _CLASS.findall(attributes) if each in ADMONITIONS), "")


def _say(kind: str, title: str) -> str:
    """Return the heading of a directive: its title, after the kind if it is an admonition."""
    words = _SPACED.get(kind.lower()) or kind.replace("-", " ").capitalize()
    name = f"{words}:" if kind.lower() in ADMONITIONS else ""
    if kind.lower() == "details" and not title.strip():
        title = "Details"
    title = (
        _values(title) if '="' in title or title.startswith("{") else title.strip(" \t:").strip('"')
    )
    if "*" in title and PANELS.get(kind.lower()) == CLOSED:
        return f"{CLOSED_SIGN} {title}"
    if not name and title and "*" not in title and (not kind or kind in _WITHOUT_KIND):
        return PANELS.get(kind.lower(), "**{}**").format(title)
    return f"{name} {title}".strip()


def say_shortcode(written: str) -> str:
    """Return a shortcode's words for people, such as the label of a tab; "" without any."""
    name, _, rest = written.strip(" \t-%<>").partition(" ")
    if name == "highlight":
        # The value of `highlight` lists options of the code that follows.
        return ""
    if name in _LINKING and '"' not in rest and "'" not in rest:
        return rest.strip()
    if name == "glossary_tooltip" and not _values(rest):
        # Kubernetes shows the term with this id.
        found = _TERM.search(rest)
        return found[1].replace("-", " ") if found else ""
    if name in _ADDRESSED:
        named = {match[1]: match[2] or match[3] or "" for match in _VALUE.finditer(rest)}
        called = f"{named.get('method', '').upper()} {named.get('path', '')}"
        address = named.get("url") or named.get("src") or ""
        return " ".join(
            f"{called} {link(address, address) if address else ''} {_values(rest)}".split()
        )
    said = rest.strip() if name == "kbd" and "=" not in rest else _values(written)
    if name in _INCLUDING or name in _IDENTIFIED:
        said = _values(rest, with_unnamed=False)
        # Jekyll's `{% include note.html content="..." %}`
        part = _PART.match(rest)
        name = part[1] if part else name
        if TEXT_FILE.match(rest):
            return f"{link_to_file(rest.strip())} {said}".strip()
    if name in ADMONITIONS or name in BOXES:
        # GitBook's `{% hint style="warning" %}`, Hugo's `{{% hint warning %}}`
        style = _STYLE.search(rest.removeprefix(f"{name}.html"))
        kind = (style[1] or style[2]) if style else ""
        return _say(
            kind if kind in ADMONITIONS else BOXES.get(name, name),
            "" if said.lower() == kind else said,
        )
    sign = PANELS.get(name)
    return sign.format(said) if said and sign else said


def _apart(said: str, match: re.Match[str], text: str) -> str:
    """Return the text of a shortcode, with spaces where it would otherwise join words."""
    before = " " if said[:1].isalnum() and text[match.start() - 1 : match.start()].isalnum() else ""
    after = " " if said[-1:].isalnum() and text[match.end() : match.end() + 1].isalnum() else ""
    return before + said + after


def _values(written: str, *, with_unnamed: bool = True) -> str:
    """Return the values of a shortcode that are for people: titles, and unnamed values."""
    found = (
        match[2] or match[3] or ""
        for match in _VALUE.finditer(written)
        if (match[1].lower() in _PROSE_NAMES if match[1] else with_unnamed)
    )
    return " ".join(found)


def _arguments(written: str) -> str | None:
    """Return the arguments of a wiki template; None for another language's `{{ expression }}`."""
    if written.startswith(" ") and "=" not in written:
        return None
    named = (argument.partition("=") for argument in written.split("|"))
    said = (
        f"{name.strip()}: {value.strip()}" if value.strip() else name.strip()
        for name, equals, value in named
        if value.strip() or not equals
    )
    return "; ".join(part for part in said if part)
