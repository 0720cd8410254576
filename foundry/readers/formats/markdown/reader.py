"""Reads Markdown, with front matter, tables and wikilinks; embedded markup is removed.

Only the block structure is parsed (the parser's inline rules take most of its time, and some of
them take quadratic time on hostile text). Only headings go through the inline parser, to get their
text without markup.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from foundry.documents import Heading, Reading, Span
from foundry.documents.left_out import Omission
from foundry.readers.contract import Reader
from foundry.readers.formats import front_matter
from foundry.readers.formats.markdown.attributes import ATTRIBUTE_LIST
from foundry.readers.formats.markdown.blocks import MAX_BLOCK_DEPTH, BlockParser, Parsed
from foundry.readers.formats.markdown.links import (
    blank_code_spans,
    find_links,
    find_tags,
    normalise_label,
)
from foundry.readers.formats.markdown.prose import find_prose
from foundry.readers.notes import leave_out

MAX_HEADING_CHARS = 1_000
_CODE = frozenset({"fence", "code_block"})
_WHOLE = _CODE | {"html_block", "math_block"}
# The delimiter row of a table. The parser's own rule for tables creates a token for every cell,
# which takes a quarter of the reading time if there are many.
_TABLE_RULE = re.compile(r"^(?=[^\n]*-)(?=[^\n]*\|)[|:\- \t]++$", re.MULTILINE)
_MARKUP = re.compile(r"[*_`\[\]<>&\\~{}]")
_ANCHOR = re.compile(rf"(?<=\S)\s*{ATTRIBUTE_LIST}\s*$")
# Embedded images are bytes, not words, and would fill hundreds of chunks.
_EMBEDDED = re.compile(r"(data:[\w.+-]{1,40}/[\w.+-]{1,80};base64,)[A-Za-z0-9+/=]{100,}+")
# Parsing time grows with the depth of quotations; text quoted eight times needs no outline.
_DEEP_QUOTATION = re.compile(r"^ {0,3}(?:> {0,3}){8}", re.MULTILINE)


# By whether indented text is code, and whether quotations are parsed.
_PARSERS = {
    (True, True): BlockParser(),
    (True, False): BlockParser("blockquote"),
    (False, True): BlockParser("code"),
    (False, False): BlockParser("code", "blockquote"),
}
_INLINE_PARSER = MarkdownIt("commonmark", {"maxNesting": MAX_BLOCK_DEPTH}).enable("strikethrough")


def read(text: str, *, is_mdx: bool = False) -> Reading:
    """Read a Markdown document; the title is the front matter's, or the first level 1 heading's.

    In MDX, indented text is not code, and there are modules and expressions.
    """
    text = _drop_embedded(text)
    length, values = front_matter.read_front_matter(text)
    if shown := front_matter.find_shown(values or {}):
        # The text replaces the last lines of the front matter, so that line numbers do not change.
        lines = text[:length].splitlines(keepends=True)
        place = max(len(lines) - shown.count("\n"), 0)
        kept = "".join(lines[:place])
        leave_out(Omission.METADATA, "".join(lines[place:]))
        text, length = f"{kept}{shown}{text[length:]}", len(kept)
    # Unreadable front matter stays in the text, but is not parsed: its closing line would turn it
    # into a heading.
    body = front_matter.substitute(text[length:], values or {})
    prose, parsed = find_prose(body, is_mdx=is_mdx)
    reading = _read_from(text[:length] + prose, length, parsed, indented_code=not is_mdx)
    if values is None:
        return reading
    return replace(
        reading,
        title=front_matter.find_title(values) or reading.title,
        tags=(*front_matter.find_tags(values), *reading.tags),
        body_start=length,
        **front_matter.describe(values),
    )


def _read_from(
    text: str, body_start: int, parsed: Parsed | None, *, indented_code: bool
) -> Reading:
    body = text[body_start:]
    if parsed is None:
        parser = _PARSERS[indented_code, _DEEP_QUOTATION.search(body) is None]
        parsed = parser.parse(body)
    tokens, environment = parsed
    lines = _LineSpans(body, body_start)
    headings = tuple(_find_headings(tokens, lines))
    blocks = _find_blocks(tokens, lines, _WHOLE, with_tables=True)
    code = _find_blocks(tokens, lines, _CODE)
    prose = blank_code_spans(_blank(text, body_start, code))
    references = {
        normalise_label(label): reference["href"]
        for label, reference in environment.get("references", {}).items()
    }
    first_title = next((heading.text for heading in headings if heading.level == 1), None)
    return Reading(
        text=text,
        title=first_title,
        headings=headings,
        blocks=blocks,
        links=find_links(prose, references),
        tags=find_tags(_blank(prose, body_start, headings)),
    )


class _LineSpans:
    """Offsets of lines, for the parser's half-open line ranges."""

    def __init__(self, body: str, base: int) -> None:
        lengths = [len(line) + 1 for line in body.split("\n")]
        self._starts = list(accumulate(lengths, initial=base))
        self._end = base + len(body)

    def span(self, line_range: list[int]) -> tuple[int, int]:
        first, last = line_range
        start = self._starts[min(first, len(self._starts) - 1)]
        end = self._starts[min(last, len(self._starts) - 1)] - 1
        return start, min(max(end, start), self._end)


def _find_headings(tokens: list[Token], lines: _LineSpans) -> Iterator[Heading]:
    for position, token in enumerate(tokens):
        # A heading inside a quotation or list does not divide the document.
        if token.type == "heading_open" and token.level == 0 and token.map:
            text = strip_markup(tokens[position + 1].content)
            if text:
                start, end = lines.span(token.map)
                yield Heading(int(token.tag[1:]), text, start, end)


def _find_blocks(
    tokens: list[Token], lines: _LineSpans, types: frozenset[str], *, with_tables: bool = False
) -> tuple[Span, ...]:
    spans: list[Span] = []
    for token in tokens:
        line_range = token.map if token.type in types else None
        if with_tables and token.type == "inline" and "|" in token.content:
            line_range = _find_table(token)
        if line_range:
            start, end = lines.span(line_range)
            if end > start and (not spans or start >= spans[-1].end):
                spans.append(Span(start, end))
    return tuple(spans)


def _find_table(paragraph: Token) -> list[int] | None:
    rule = _TABLE_RULE.search(paragraph.content)
    head = paragraph.content.count("\n", 0, rule.start()) - 1 if rule else -1
    if head < 0 or paragraph.map is None:
        return None
    return [paragraph.map[0] + head, paragraph.map[1]]


def _drop_embedded(text: str) -> str:
    if ";base64," not in text:
        return text
    return _EMBEDDED.sub(_drop_bytes, text)


def _drop_bytes(embedded: re.Match[str]) -> str:
    leave_out(Omission.BINARY, embedded[0].removeprefix(embedded[1]))
    return embedded[1]


def _blank(text: str, begin: int, spans: Sequence[Span | Heading]) -> str:
    """Return the text with everything before `begin`, and the spans, replaced by spaces."""
    parts = [" " * begin]
    for span in spans:
        parts += (text[begin : span.start], " " * (span.end - span.start))
        begin = span.end
    return "".join([*parts, text[begin:]])


def strip_markup(content: str) -> str:
    """Return the text of a title without its markup, on one line."""
    content = _ANCHOR.sub("", content[:MAX_HEADING_CHARS])
    if _MARKUP.search(content):
        (inline,) = _INLINE_PARSER.parseInline(content)
        content = "".join(_visible_text(inline.children or []))
    # Site generators put invisible anchors into headings.
    return " ".join(content.replace("\u200b", "").split())


def _visible_text(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in {"softbreak", "hardbreak"}:
            yield " "
        elif token.type == "image":
            yield from _visible_text(token.children or [])
        elif token.type != "html_inline":
            yield token.content


_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd")
READERS = (
    Reader("markdown/10", dict.fromkeys(_SUFFIXES, "text/markdown"), read),
    # In MDX, text is indented by nested components, which does not make it code.
    Reader("mdx/10", {".mdx": "text/markdown"}, partial(read, is_mdx=True)),
)
