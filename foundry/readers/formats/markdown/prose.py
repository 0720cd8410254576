"""Removes tags, directives and other markup in Markdown, and keeps prose and code."""

import html
import re
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any
from urllib.parse import unquote

from foundry.documents.left_out import Omission
from foundry.readers.decoding import normalise
from foundry.readers.formats import html as pages
from foundry.readers.formats.markdown.blocks import BlockParser, Parsed
from foundry.readers.formats.markdown.boxes import quote_boxes
from foundry.readers.formats.markdown.directives import (
    SHORTCODE,
    open_indented,
    remove_directives,
    say_shortcode,
)
from foundry.readers.formats.markdown.edits import Edits
from foundry.readers.formats.markdown.lines import rewrite_lines
from foundry.readers.formats.markdown.links import (
    CODE_SPAN,
    IMAGE,
    IMAGE_REFERENCE,
    REFERENCE,
    normalise_label,
)
from foundry.readers.formats.markdown.marks import write_marks
from foundry.readers.formats.markdown.myst import open_myst
from foundry.readers.formats.markdown.panels import quote_panels
from foundry.readers.formats.markdown.shortcodes import rewrite_shortcodes
from foundry.readers.formats.markdown.tables.columns import rewrite_columns
from foundry.readers.formats.markdown.tables.grids import rewrite_grids
from foundry.readers.formats.markdown.tags import remove_tags
from foundry.readers.formats.pages.code import TERMINAL_TAG
from foundry.readers.notes import leave_out

MAX_EXPORT_CHARS = 20_000
MAX_TABLE_CHARS = 500_000

_COMMENT = re.compile(r"<!--|\{\{/\*|\{/\*")
_COMMENT_ENDS = {
    "<!--": re.compile("-->"),
    "{/*": re.compile(r"\*/\}"),
    "{{/*": re.compile(r"\*/\}\}"),
}
# Obsidian comments: a block, a line, or words between the marks.
_PERCENT = re.compile(
    r"%%(?<=^%%)[ \t]*+\n(?:(?!%%[ \t]*$)[^\n]*\n)*+%%[ \t]*$|%%(?<=^%%)[^\n%]++%%[ \t]*$"
    r"|%%(?<!\S%%)(?=\S)[^%]{1,1000}+(?<=\S)%%(?!\w)",
    re.MULTILINE,
)
_EMPHASIS = re.compile(r"\*(?<![*\\]\*)(\*{0,2}+)(?![*\s])([^*\n\\]{1,200}+)(?<!\s)\*\1(?!\*)")
# In Vue, a template with a condition or a slot is shown, so it is not matched.
_ELEMENT = re.compile(
    r"<(pre|script|style|svg|table|template(?![^<>]*\s(?:v-|\#)))\b[^<>]{0,1000}+>", re.IGNORECASE
)
_ELEMENT_ENDS = {
    name: re.compile(rf"</{name}\s{{0,99}}>", re.IGNORECASE)
    for name in ("pre", "script", "style", "svg", "table", "template")
}
_REASONS = {
    **dict.fromkeys(_COMMENT_ENDS, Omission.COMMENT),
    **dict.fromkeys(("script", "style", "svg", "template"), Omission.SCRIPT),
}
_BLOCK = re.compile(
    r"^([ \t]{0,3}+)</?(?:address|article|aside|blockquote|center|dd|details|div|dl|dt|figcaption"
    r"|figure|footer|header|li|main|nav|ol|p|section|summary|ul)\b[^\n]*\n"
    r"((?:[^\n]*\S[^\n]*(?:\n|\Z))+)",
    re.MULTILINE | re.IGNORECASE,
)
_INDENTED_LINE = re.compile(r"^[ \t]+(?=\S)", re.MULTILINE)
_MATH = re.compile(
    r"\$(?:\$[^$]{1,5000}+\$\$|(?<![\\\w$]\$)(?=[^\s$])[^$\n]{1,300}+(?<!\s)\$(?!\w))"
    r"|\\(?:\((?:[^\\]|\\(?![()])){1,1000}+\\\)|\[(?:[^\\]|\\(?![\[\]])){1,5000}+\\\])"
)
_TAG = re.compile(r"<[^<>]*+>")
_QUOTED = re.compile(r"\n[ \t>]*")
_IMPORT = re.compile(
    r"^import\s(?:[\w\s*{},$]{0,300}?\sfrom\s{1,9})?[\"'][^\"'\n]{1,500}[\"'];?[ \t]*$",
    re.MULTILINE,
)
_EXPORT = re.compile(r"^export\s+(?:const|let|var|default|(?:async\s+)?function)\b", re.MULTILINE)
_BRACKET = re.compile(r"[(){}\[\]]")
_STRING = re.compile(
    r"\{(?<![\w$={]\{)\s?(?:\"([^\"\n]{0,500}+)\"|'([^'\n]{0,500}+)'|`([^`$\n]{0,500}+)`)\s?\}"
)
_ENTITY = re.compile(
    r"&(?!lt;|gt;|amp;|quot;)(?:[A-Za-z][A-Za-z0-9]{1,30}+|\#[0-9]{1,7}+|\#[xX][0-9A-Fa-f]{1,6}+);"
)

# Code and references contain one of these; only then is the text parsed, which is slow.
_SIGNS = ("```", "~~~", "]:", "\t", " " * 4)
# Rules that are disabled, because code after a tag is still code, and contains no Markdown.
_LEFT_OUT = ("html_block", "blockquote")
_LEFT_TO_READING = re.compile(r"^[ \t\d.)*+>-]*[<>]", re.MULTILINE)
"""Beginnings of blocks that need a full parse."""

_PARSER, _MDX_PARSER = BlockParser(*_LEFT_OUT), BlockParser(*_LEFT_OUT, "code")


def find_prose(text: str, *, is_mdx: bool) -> tuple[str, Parsed | None]:
    """Return a Markdown text with only prose and code, and its blocks if they are known.

    It has as many lines as before, except if an HTML table, or code outside a fence, needs more.
    Reference links become inline links, and their definitions are removed.
    """
    opened = open_indented(
        quote_boxes(open_myst(rewrite_columns(rewrite_grids(rewrite_lines(text)))))
    )
    original, text = text, quote_panels(opened, is_mdx=is_mdx)
    edits = Edits(text)
    parsed = None
    tokens, environment = Parsed([], {})
    if any(sign in text for sign in _SIGNS):
        tokens, environment = parsed = (_MDX_PARSER if is_mdx else _PARSER).parse(text)
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def span(lines: list[int]) -> tuple[int, int]:
        return starts[lines[0]], min(starts[min(lines[1], len(starts) - 1)], len(text))

    is_terminal = 'class="termy"' in text
    for token in tokens:
        if token.type == "fence" and token.map:
            start, end = span(token.map)
            edits.hide(start, end)
            for tag in TERMINAL_TAG.finditer(text, start, end) if is_terminal else ():
                edits.replace(*tag.span(), "")
    edits.refresh()
    edits.hide_all(CODE_SPAN)
    _replace_enclosed(edits, _COMMENT, _COMMENT_ENDS, lambda *_: "")
    if "%%" in text:
        edits.replace_all(_PERCENT, lambda _: "", Omission.COMMENT)
    _replace_enclosed(edits, _ELEMENT, _ELEMENT_ENDS, _convert)
    for token in tokens:
        if token.type == "code_block" and token.map:
            edits.hide(*span(token.map))
    edits.refresh()
    if "$" in text or "\\" in text:
        edits.hide_all(_MATH)
    write_marks(edits)
    if is_mdx:
        _take_out_modules(edits)
    _dedent_elements(edits)
    rewrite_shortcodes(edits)
    remove_directives(edits)
    remove_tags(edits)
    _inline_references(edits, environment.get("references", {}), span)
    if "*" in text:
        edits.replace_all(_EMPHASIS, partial(_join_word, edits), Omission.MACRO)
    if "&" in text:
        edits.replace_all(_ENTITY, _character, Omission.MACRO)
    prose = edits.finish()
    return prose, None if prose != original or _LEFT_TO_READING.search(prose) else parsed


def _replace_enclosed(
    edits: Edits,
    opening: re.Pattern[str],
    endings: dict[str, re.Pattern[str]],
    make: Callable[[str, str], str | None],
) -> None:
    """Replace the text between an opening and a closing mark with the result of `make`."""
    position, missing = 0, set[str]()
    while (match := opening.search(edits.mask, position)) is not None:
        position = match.end()
        name = (match[1] if match.re.groups else match[0]).lower()
        ending = None if name in missing else endings[name].search(edits.mask, position)
        if ending is None:
            missing.add(name)
            continue
        made = make(name, edits.text[match.end() : ending.start()])
        if made is not None:
            leave_out(Omission.ATTRIBUTE, f"{match[0]} {ending[0]}")
            edits.replace(match.start(), ending.end(), made, _REASONS.get(name))
        position = ending.end()
    edits.refresh()


def _dedent_elements(edits: Edits) -> None:
    """Remove the indentation of lines in HTML, where it does not make code."""
    for block in _BLOCK.finditer(edits.mask) if "<" in edits.mask else ():
        margin = len(block[1].expandtabs(4))
        for line in _INDENTED_LINE.finditer(edits.mask, *block.span(2)):
            if len(line[0].expandtabs(4)) > margin:
                edits.replace(*line.span(), block[1], None)


def _join_word(edits: Edits, match: re.Match[str]) -> str | None:
    """Return emphasised text without its marks if they would split a word; else None."""
    start, end = match.span()
    inner = edits.text[slice(*match.span(2))]
    before, after = edits.text[max(start - 2, 0) : start], edits.text[end : end + 1]
    begins_inside = before[-1:].isalpha() and inner[0].isalpha()
    ends_inside = after.isalpha() and inner[-1].isalpha()
    # `a*b*c` is a product.
    is_product = not match[1] and len(inner) == 1 and begins_inside and ends_inside
    return inner if (begins_inside or ends_inside) and not is_product else None


def _character(match: re.Match[str]) -> str | None:
    """Decode an HTML character reference; return None if the character could be markup."""
    character = html.unescape(match[0]).replace("\xa0", " ")
    return None if character in {"<", ">", "&", '"'} else normalise(character)


def _convert(name: str, content: str) -> str | None:
    """Return code as a fence, a table as Markdown, and "" for scripts; None keeps the element."""
    if name in {"pre", "table"}:
        leave_out(Omission.ATTRIBUTE, " ".join(_TAG.findall(content)))
    if name == "pre":
        code = html.unescape(_TAG.sub("", content)).strip("\n")
        fence = "```" if "```" not in code else "~~~~"
        return f"\n{fence}\n{code}\n{fence}\n"
    if name != "table":
        return ""
    if len(content) > MAX_TABLE_CHARS:
        return None
    made = pages.read_part(f"<table>{content}</table>")
    return None if made is None else f"\n{made}\n"


def _take_out_modules(edits: Edits) -> None:
    """Drop imports, fence exported code, and keep strings in expressions as text."""
    edits.replace_all(_IMPORT, lambda _: "", Omission.SCRIPT)
    position = hopeless = 0
    while (match := _EXPORT.search(edits.mask, position)) is not None:
        start = match.start()
        end = _end_of_export(edits.mask, start) if start >= hopeless else None
        if end is None:
            # If the end is not found within this distance, searches that start in between would
            # fail too.
            hopeless = max(hopeless, start + MAX_EXPORT_CHARS)
            end = edits.mask.find("\n", start) + 1 or len(edits.mask)
        code = edits.text[start:end].rstrip()
        edits.replace(start, end, f"```jsx\n{code}\n```\n")
        position = end
    edits.refresh()
    edits.replace_all(_STRING, lambda match: match[1] or match[2] or match[3] or "")


def _end_of_export(mask: str, start: int) -> int | None:
    """Return where an export ends: after the line that closes its last bracket.

    An export without brackets ends at a blank line. None if no end is found nearby.
    """
    depth, limit = 0, start + MAX_EXPORT_CHARS
    for bracket in _BRACKET.finditer(mask, start, limit):
        if depth == 0 and (blank := mask.find("\n\n", start, bracket.start())) >= 0:
            return blank + 1
        depth += 1 if bracket[0] in "({[" else -1
        if depth <= 0:
            line_end = mask.find("\n", bracket.end(), limit)
            end = line_end + 1 or min(limit, len(mask))
            if not _BRACKET.search(mask, bracket.end(), end):
                return end
    return None


def _without_shortcodes(address: str) -> str:
    """Return an address in which shortcodes are replaced by the pages that they name."""
    if "%7B%7B" not in address:
        return address
    return SHORTCODE.sub(lambda match: say_shortcode(match[1] or match[2]), unquote(address))


def _inline_references(
    edits: Edits, references: dict[str, Any], span: Callable[[list[int]], tuple[int, int]]
) -> None:
    """Convert reference links to inline links, and drop definitions; footnotes stay."""
    targets = {
        normalise_label(label): _without_shortcodes(reference["href"])
        for label, reference in references.items()
        if not label.startswith("^")
    }
    if not targets:
        return
    for label, reference in references.items():
        if not label.startswith("^"):
            edits.replace(*span(reference["map"]), "")
    edits.refresh()

    def show(match: re.Match[str]) -> str | None:
        target = targets.get(normalise_label(match[2] or match[1]))
        return f"![{match[1]}]({target})" if target else None

    edits.replace_all(IMAGE_REFERENCE, show)
    edits.hide_all(IMAGE)
    for match in REFERENCE.finditer(edits.mask):
        # Code and pictures are hidden in the mask, and may be the text of a link.
        label = edits.text[slice(*match.span(2 if match[2] else 1))]
        target = targets.get(normalise_label(_QUOTED.sub(" ", label)))
        if target is not None:
            # The text of the link keeps its own edits.
            edits.replace(match.start(), match.start(1), "[" if target else "")
            edits.replace(match.end(1), match.end(), f"]({target})" if target else "")
    edits.refresh()
