"""Markdown, with front matter, tables, wikilinks and MDX components.

Only the block structure is parsed (the parser's inline rules take most of its time, and some of
them take quadratic time on hostile text); headings alone go through the inline parser, for their
text without markup.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from foundry.readers.contract import Reader
from foundry.readers.front_matter import read_front_matter
from foundry.readers.markdown_links import (
    blank_code_spans,
    find_links,
    find_tags,
    normalise_label,
)
from foundry.records import Heading, Reading, Span

MAX_HEADING_CHARS = 1_000
MAX_BLOCK_DEPTH = 20
_CODE = frozenset({"fence", "code_block"})
_BLOCKS = _CODE | {"html_block", "table_open"}
_MARKUP = re.compile(r"[*_`\[\]<>&\\~{}]")
_ANCHOR = re.compile(r"\s*\{[#.:][^{}]{0,200}\}\s*$")
# Embedded images are bytes, not words: a hundred of their chunks would be noise in every answer.
_EMBEDDED = re.compile(r"(data:[\w.+-]{1,40}/[\w.+-]{1,80};base64,)[A-Za-z0-9+/=]{100,}+")


def _make_parser(*, indented_code: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_BLOCK_DEPTH}).enable("table")
    parser.disable(["inline", "text_join"])
    return parser if indented_code else parser.disable("code")


_BLOCK_PARSER = _make_parser(indented_code=True)
# In MDX indentation only follows the nesting of components.
_MDX_PARSER = _make_parser(indented_code=False)
_INLINE_PARSER = MarkdownIt("commonmark", {"maxNesting": MAX_BLOCK_DEPTH}).enable("strikethrough")


def read(text: str, name: str = "") -> Reading:
    """Read a Markdown document; the title is the front matter's, or the first level 1 heading's."""
    text = _EMBEDDED.sub(r"\1", text)
    front = read_front_matter(text)
    parser = _MDX_PARSER if name.lower().endswith(".mdx") else _BLOCK_PARSER
    # Unreadable front matter is content, but its closing line must not turn it into a heading.
    reading = _read_from(text, front.length, parser)
    return replace(
        reading,
        title=front.title or reading.title,
        tags=(*front.tags, *reading.tags),
        modified=front.modified,
        body_start=front.length if front.is_readable else 0,
    )


def read_body(text: str) -> Reading:
    """Read Markdown that was made from another format, and so has no front matter and no tags."""
    return replace(_read_from(_EMBEDDED.sub(r"\1", text), 0, _BLOCK_PARSER), tags=())


def _read_from(text: str, body_start: int, parser: MarkdownIt) -> Reading:
    body = text[body_start:]
    environment: dict[str, Any] = {}
    tokens = parser.parse(body, environment)
    lines = _LineSpans(body, body_start)
    headings = tuple(_find_headings(tokens, lines))
    blocks = _find_blocks(tokens, lines, _BLOCKS)
    prose = _blank(text, body_start, _find_blocks(tokens, lines, _CODE))
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
        links=find_links(blank_code_spans(prose), references),
        tags=find_tags(blank_code_spans(_blank(prose, body_start, headings))),
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
        # A heading inside a quotation or a list does not divide the document.
        if token.type == "heading_open" and token.level == 0 and token.map:
            text = _strip_markup(tokens[position + 1].content)
            if text:
                start, end = lines.span(token.map)
                yield Heading(int(token.tag[1:]), text, start, end)


def _find_blocks(
    tokens: list[Token], lines: _LineSpans, types: frozenset[str]
) -> tuple[Span, ...]:
    spans: list[Span] = []
    for token in tokens:
        if token.type in types and token.map:
            start, end = lines.span(token.map)
            if end > start and (not spans or start >= spans[-1].end):
                spans.append(Span(start, end))
    return tuple(spans)


def _blank(text: str, begin: int, spans: Sequence[Span | Heading]) -> str:
    """The text with everything before `begin` and in the spans replaced by spaces."""
    parts = [" " * begin]
    for span in spans:
        parts += (text[begin : span.start], " " * (span.end - span.start))
        begin = span.end
    return "".join([*parts, text[begin:]])


def _strip_markup(content: str) -> str:
    content = _ANCHOR.sub("", content[:MAX_HEADING_CHARS])
    if _MARKUP.search(content):
        (inline,) = _INLINE_PARSER.parseInline(content)
        content = "".join(_visible_text(inline.children or []))
    return " ".join(content.split())


def _visible_text(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in {"softbreak", "hardbreak"}:
            yield " "
        elif token.type == "image":
            yield from _visible_text(token.children or [])
        elif token.type != "html_inline":
            yield token.content


def _media_types() -> dict[str, str]:
    suffixes = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")
    return dict.fromkeys(suffixes, "text/markdown")


READER = Reader(version="markdown/1", media_types=_media_types(), read=read)
