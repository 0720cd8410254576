"""HTML: the main content of a page, turned into Markdown and read as that."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import html_to_markdown
from selectolax.lexbor import LexborHTMLParser, LexborNode

from foundry.material import Reading
from foundry.material.reasons import Reason
from foundry.readers.contract import Reader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import normalise
from foundry.readers.formats.markdown import reader as markdown
from foundry.readers.notes import note_hidden

MAX_CHARS = 50_000_000
MAX_DEPTH = 256
SHELL_WORDS = 20
"""A page that scripts fill has fewer: a title, "Loading"."""
MAX_SHELL_CHARS = 2_000

_MAIN = ("main", "[role=main]", "article")
_DROPPED = (
    "script,style,template,noscript,svg,canvas,iframe,object,button,select,input,textarea,"
    "nav,footer,aside,[role=navigation],[role=contentinfo],[role=search],[hidden],"
    "[aria-hidden=true],a.headerlink,a.anchor-link"
)
_ROOTS = "#root,#app,#__next,#__nuxt,#___gatsby,#svelte,app-root,[ng-app],[data-reactroot]"
_WORD = re.compile(r"\w+")
# Options are dropped with their menu, and thousands of them take the parser quadratic time.
_OPTION = re.compile(r"</?opt(?:ion|group)\b[^<>]*+>", re.IGNORECASE)
# Comments and elements that hold text alone are passed over as a whole.
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title|noscript|xmp|iframe)\b.*?(?:</\1|\Z)"
    r"|<(?P<end>/)?(?P<name>[a-z][a-z0-9-]{0,40})",
    re.IGNORECASE | re.DOTALL,
)
# Elements without content, and those whose end tag is usually left out.
_NOT_NESTING = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead"
    " tbody tfoot colgroup option optgroup rp rt body html head".split()
)
_INVISIBLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_MODIFIED = (
    'meta[property="article:modified_time"]',
    'meta[name="last-modified"]',
    'meta[name="dcterms.modified"]',
    'meta[itemprop="dateModified"]',
)
_OPTIONS = html_to_markdown.ConversionOptions(
    heading_style="atx",
    extract_metadata=False,
    autolinks=False,
    compact_tables=True,
    infer_dimensions=False,
    max_depth=4 * MAX_DEPTH,
)


def declared_charset(content: bytes) -> str | None:
    """Return the charset that a page's `meta` element names."""
    match = _CHARSET.search(content[:4096])
    return match.group(1).decode("ascii") if match else None


def read(text: str) -> Reading:
    """Read a page's main content; hidden elements, navigation and scripts are left out.

    `text` of the reading is Markdown. The title is the `title` element's, or the first level 1
    heading's, or `og:title`. Raises UnreadableError for a page that is too large or too deep.
    """
    if len(text) > MAX_CHARS:
        raise UnreadableError(Reason.PAGE_TOO_LARGE, f"{len(text)} characters")
    if nesting_depth(text) >= MAX_DEPTH:
        raise UnreadableError(Reason.ELEMENTS_TOO_DEEP)
    page = LexborHTMLParser(_OPTION.sub(" ", text))
    note_hidden("hidden elements", _count_hidden(page))
    title = _find_title(page)
    dates = (normalise_date(_content_of(page, selector)) for selector in _MODIFIED)
    modified = next(filter(None, dates), None)
    is_filled_later = _is_filled_later(page)
    content = _convert(_main_content(page))
    if is_filled_later and len(_WORD.findall(content, 0, MAX_SHELL_CHARS)) < SHELL_WORDS:
        raise UnreadableError(Reason.NEEDS_BROWSER, "JavaScript fills this page")
    reading = markdown.read_body(normalise(content))
    return replace(reading, title=title or reading.title, modified=modified)


def _is_filled_later(page: LexborHTMLParser) -> bool:
    """Return whether scripts fill the page: its root is empty, or it asks for JavaScript."""
    if page.css_first("script") is None:
        return False
    asked = any("javascript" in node.text().lower() for node in page.css("noscript"))
    return asked or any(not node.css_first("p") for node in page.css(_ROOTS))


def _find_title(page: LexborHTMLParser) -> str | None:
    nodes = filter(None, map(page.css_first, ("head title", "h1")))
    texts = (" ".join(node.text().split()) for node in nodes)
    return next(filter(None, texts), None) or _content_of(page, 'meta[property="og:title"]')


def _content_of(page: LexborHTMLParser, selector: str) -> str | None:
    node = page.css_first(selector)
    return node.attributes.get("content") if node else None


def _count_hidden(page: LexborHTMLParser) -> int:
    """Return outermost elements whose words the page does not show, scripts aside."""
    count, inside = 0, set[int]()
    for node in page.css("[hidden],[style]"):
        attributes = node.attributes
        is_hidden = "hidden" in attributes or _INVISIBLE.search(attributes.get("style") or "")
        if not is_hidden or node.tag in {"script", "style", "template"}:
            continue
        # Text is asked for once: where hidden elements are nested, it would be read for each.
        is_outermost = inside.isdisjoint(_ancestors(node))
        if not is_outermost or node.text().strip():
            inside.add(node.mem_id)
            count += is_outermost
    return count


def _ancestors(node: LexborNode) -> Iterator[int]:
    parent = node.parent
    while parent is not None:
        yield parent.mem_id
        parent = parent.parent


def _main_content(page: LexborHTMLParser) -> LexborNode | None:
    for node in page.css(_DROPPED):
        node.decompose()
    for node in page.css("[style]"):
        if _INVISIBLE.search(node.attributes.get("style") or ""):
            node.decompose()
    for node in page.css("header"):
        # An article's own header holds its title; a site's holds the menu.
        if not node.css_first("h1"):
            node.decompose()
    for node in page.css("img"):
        node.replace_with(node.attributes.get("alt") or "")
    for selector in _MAIN:
        found = page.css(selector)
        if len(found) == 1:
            return found[0]
    return page.body


def _convert(node: LexborNode | None) -> str:
    markup = node.html if node else None
    if not markup:
        return ""
    try:
        return html_to_markdown.convert(markup, _OPTIONS).content or ""
    except html_to_markdown.ConversionError as error:
        raise UnreadableError(Reason.CANNOT_BE_CONVERTED, str(error)[:200]) from None


def nesting_depth(page: str) -> int:
    """Return the greatest number of elements open at once, at most MAX_DEPTH.

    Linear in the length of the page, which parsing is not where elements are deep; an estimate from
    the tags alone, never below the truth by more than the elements that close each other.
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


READER = Reader("html/2", dict.fromkeys((".html", ".htm", ".xhtml"), "text/html"), read)
