"""Reads HTML: converts the main content of a page to Markdown."""

import re
from collections import Counter
from dataclasses import replace
from html import escape, unescape

from selectolax.lexbor import LexborHTMLParser

from foundry.documents import Reading
from foundry.documents.reasons import Reason
from foundry.readers.accounting.containers import html_texts
from foundry.readers.contract import Reader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.formats.pages import confluence
from foundry.readers.formats.pages.content import Content
from foundry.readers.formats.pages.markdown import Sections, write

MAX_CHARS = 50_000_000
MAX_DEPTH = 256
SHELL_WORDS = 20
"""Pages filled by scripts have fewer words, such as a title and "Loading"."""
MAX_SHELL_CHARS = 2_000

_ROOTS = "#root,#app,#__next,#__nuxt,#___gatsby,#svelte,app-root,[ng-app],[data-reactroot]"
_WORD = re.compile(r"\w+")
# Options are dropped with their menu; thousands of them would take quadratic time.
_OPTION = re.compile(r"</?opt(?:ion|group)\b[^<>]*+>", re.IGNORECASE)
# Comments and elements with only text are skipped as a whole.
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title|noscript|xmp|iframe)\b.*?(?:</\1|\Z)"
    r"|<(?P<end>/)?(?P<name>[a-z][a-z0-9-]{0,40})",
    re.IGNORECASE | re.DOTALL,
)
# Elements without content, and elements whose end tag is usually omitted.
_NOT_NESTING = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead"
    " tbody tfoot colgroup option optgroup rp rt body html head".split()
)
_MODIFIED = (
    'meta[property="article:modified_time"]',
    'meta[name="last-modified"]',
    'meta[name="dcterms.modified"]',
    'meta[itemprop="dateModified"]',
)
_XHTML = re.compile(r"<\?xml|XHTML|xmlns\s*=\s*[\"']http://www\.w3\.org/1999/xhtml", re.IGNORECASE)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
# An HTML parser would treat these as start tags, with the rest of the page as content.
_SELF_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)"
    r"([A-Za-z][\w:.-]{0,60}+)((?:[^<>\"'/]++|\"[^\"<]*+\"|'[^'<]*+'|/(?!>))*+)/>"
)
_CLOSED = r"<\1\2></\1>"
# In these, elements may be self-closing in HTML too.
_FOREIGN = re.compile(r"<(svg|math)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_SHADOW = re.compile(
    r"<template\b[^<>]{0,200}?\bshadowroot(?:mode)?\b[^<>]{0,200}>(.*?)(?:</template\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)

# A frame whose page is in an attribute.
_FRAME = re.compile(
    r"<iframe\b([^<>]{0,1000}?)\bsrcdoc\s*=\s*(?:\"([^\"]*+)\"|'([^']*+)')([^<>]{0,1000}+)>"
    r".*?(?:</iframe\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def parse(text: str) -> LexborHTMLParser | None:
    """Return the tree of a page; None if it is nested too deeply."""
    markup = _content_markup(text)
    return None if nesting_depth(markup) >= MAX_DEPTH else LexborHTMLParser(markup)


def read(text: str, *, is_book: bool = False, sections: Sections | None = None) -> Reading:
    """Read a page's main content; hidden elements, navigation and scripts are left out.

    In a book, headers and footers are content as well. `sections` maps ids of elements to the
    titles and levels of the sections that start there, for pages without headings.

    The reading's `text` is Markdown. The title is that of the `title` element, the first level 1
    heading, or `og:title`. Raises UnreadableError for a page that is too large or too deep, or
    whose content is loaded by scripts.
    """
    if len(text) > MAX_CHARS:
        raise UnreadableError(Reason.PAGE_TOO_LARGE, f"{len(text)} characters")
    markup = _content_markup(text)
    if nesting_depth(markup) >= MAX_DEPTH:
        raise UnreadableError(Reason.ELEMENTS_TOO_DEEP)
    page = LexborHTMLParser(markup)
    dates = (normalise_date(_content_of(page, selector)) for selector in _MODIFIED)
    modified = next(filter(None, dates), None)
    is_filled_later = _is_filled_later(page)
    reading = write(Content(page, markup, is_book=is_book), sections or {})
    if is_filled_later and _is_short(reading):
        reading = write(Content(page, markup, is_book=is_book, reads_noscript=True), {})
        if _is_short(reading):
            raise UnreadableError(Reason.NEEDS_BROWSER, "the page is filled by JavaScript")
    return replace(reading, title=_find_title(page, reading), modified=modified)


def _is_filled_later(page: LexborHTMLParser) -> bool:
    """Return whether scripts fill a page: its root has no paragraph, or it asks for JavaScript."""
    if page.css_first("script") is None:
        return False
    asked = any("javascript" in node.text().lower() for node in page.css("noscript"))
    # A title within the content is no placeholder: Javadoc's pages may be short.
    asked = asked and page.css_first("main h1, article h1, [role=main] h1") is None
    return asked or any(not node.css_first("p") for node in page.css(_ROOTS))


def read_part(markup: str) -> str | None:
    """Return a part of a page as Markdown, such as a table; None if it is nested too deeply."""
    page = parse(markup)
    return None if page is None else write(Content(page, markup), {}).text


def _is_short(reading: Reading) -> bool:
    return len(_WORD.findall(reading.text, 0, MAX_SHELL_CHARS)) < SHELL_WORDS


def _find_title(page: LexborHTMLParser, reading: Reading) -> str | None:
    node = page.css_first("head title")
    stated = " ".join(node.text().split()) if node else ""
    return stated or reading.title or _content_of(page, 'meta[property="og:title"]')


def _content_of(page: LexborHTMLParser, selector: str) -> str | None:
    node = page.css_first(selector)
    return node.attributes.get("content") if node else None


def _content_markup(text: str) -> str:
    """Return a page's markup in a form that an HTML parser understands."""
    if confluence.IS_STORAGE.search(text):
        text = confluence.to_page(text)
    text = _OPTION.sub(" ", text)
    if "shadowroot" in text:
        text = _SHADOW.sub(r"<div>\1</div>", text)
    if "srcdoc" in text:
        text = _FRAME.sub(lambda m: f"<div{m[1]}{m[4]}>{unescape(m[2] or m[3] or '')}</div>", text)
    if not _XHTML.search(text, 0, 2_000):
        if "/>" in text:
            text = _FOREIGN.sub(lambda match: _SELF_CLOSED.sub(_CLOSED, match[0]), text)
        return text
    text = _CDATA.sub(lambda match: escape(match[1]), text) if "<![CDATA[" in text else text
    return _SELF_CLOSED.sub(_CLOSED, text)


def nesting_depth(page: str) -> int:
    """Return the greatest number of elements open at once, at most MAX_DEPTH.

    Takes linear time, unlike parsing deep elements. This is an estimate from the tags alone:
    elements of _NOT_NESTING, which are empty or may be closed implicitly, are not counted.
    """
    open_elements: Counter[str] = Counter()
    depth = deepest = 0
    for match in _TAG.finditer(page):
        name = (match["name"] or "").lower()
        if match["end"]:
            depth -= open_elements[name] > 0
            open_elements[name] -= open_elements[name] > 0
        elif name and name not in _NOT_NESTING:
            open_elements[name] += 1
            depth += 1
            deepest = max(deepest, depth)
            if deepest >= MAX_DEPTH:
                break
    return deepest


READER = Reader(
    "html/11",
    dict.fromkeys((".html", ".htm", ".xhtml"), "text/html"),
    read,
    texts=html_texts,
    with_targets=False,
)
