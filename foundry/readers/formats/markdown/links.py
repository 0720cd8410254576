"""Finds links and tags in Markdown prose.

Uses regular expressions on text with blanked code: every quantifier is possessive or bounded, so
the time is linear.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from foundry.documents import Link

MAX_LINKS = 10_000
MAX_TAGS = 100

# Each alternative begins with a fixed character, so that the regex search can skip to it;
# lookbehinds come after it.
CODE_SPAN = re.compile(r"(`(?<!``)`*+)(?:[^`\n]++|\n(?![ \t]*\n)|(?!\1(?!`))`++){1,100}\1(?!`)")
_INLINE = re.compile(
    r"\[(?<!!\[)("
    r"(?:!\[[^\[\]\n]{0,300}\]\([^()\n]{0,500}\)|[^\[\]\\\n]|\\.|\n(?![ \t]*\n)){0,500}+"
    r")\]\([ \t]*+"
    r"(?:<([^<>\n]{1,1000}+)>|([^\s()<>]{1,1000}+(?:\([^\s()]{0,300}+\)[^\s()<>]{0,300}+){0,4}+))"
    r"(?:\s{1,10}+(?:\"[^\"]{0,500}+\"|'[^']{0,500}+'|\([^()]{0,500}+\)))?+\s{0,10}+\)"
)
IMAGE = re.compile(r"!\[([^\[\]\n]{0,300})\]\([^()\n]{0,500}\)")
REFERENCE = re.compile(
    r"\[(?<![!\\]\[)((?:[^\[\]\n]|\n(?![ \t]*\n)){1,300}+)\]"
    r"(?:\[((?:[^\[\]\n]|\n(?![ \t]*\n)){0,300}+)\])?+(?![(\[]|:[ \t]*\S)"
)
IMAGE_REFERENCE = re.compile(
    r"!\[(?<!\\!\[)([^\[\]\n]{0,300}+)\](?:\[([^\[\]\n]{0,300}+)\])?+(?![(\[:])"
)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^\s<>]{1,1000}+)>")
_BARE_URL = re.compile(r"http(?<![\w/<(\[\"'=]http)s?://[^\s<>\"'`\[\]{}|\\^]{1,1000}+")
_WIKILINK = re.compile(
    r"\[\[([^\[\]|#\n]{1,300}+)(?:#[^\[\]|\n]{0,300}+)?+(?:\|([^\[\]\n]{0,300}+))?+\]\]"
)
_ANCHOR = re.compile(r"<(?:a|[A-Z]\w{0,40}+)\s[^<>]{0,500}?\bhref=[\"']([^\"'<>\n]{1,1000}+)[\"']")
_TAG = re.compile(r"#(?<!\S#)([^\W\d_][\w/-]{0,63}+)(?![\w#(])")
_HEX_COLOUR = re.compile(r"(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$", re.IGNORECASE)
_PREPROCESSOR = re.compile(
    "define|elif|else|endif|endregion|error|if|ifdef|ifndef|import|include|line|pragma|region"
    "|undef|using|warning"
)
_LABEL_SPACE = re.compile(r"\s+")


def blank_code_spans(text: str) -> str:
    """Return the text with `code spans` replaced by spaces."""
    if "`" not in text:
        return text
    return CODE_SPAN.sub(lambda match: " " * len(match.group()), text)


def find_links(text: str, references: Mapping[str, str]) -> tuple[Link, ...]:
    """Return the distinct links in text order, without images.

    `references` maps a normalised label to its target. `kind` is inline, reference, autolink, html
    or wikilink. The target of a wikilink is the page's name without the heading.
    """
    found: dict[Link, int] = {}
    for start, link in _iterate_links(text, references):
        found.setdefault(link, start)
        if len(found) >= MAX_LINKS:
            break
    return tuple(sorted(found, key=lambda link: found[link]))


def find_tags(text: str) -> tuple[str, ...]:
    """Return Obsidian tags: `#topic`, `#topic/detail`."""
    if "#" not in text:
        return ()
    found: dict[str, None] = {}
    for match in _TAG.finditer(text):
        tag = match.group(1).rstrip("/-")
        if not _PREPROCESSOR.fullmatch(tag) and not _HEX_COLOUR.match(tag):
            found[tag] = None
            if len(found) >= MAX_TAGS:
                break
    return tuple(found)


def normalise_label(label: str) -> str:
    """Return a link label as CommonMark compares it."""
    return _LABEL_SPACE.sub(" ", label).strip().casefold()


def _iterate_links(text: str, references: Mapping[str, str]) -> Iterator[tuple[int, Link]]:
    def scan(
        pattern: re.Pattern[str], read: Callable[[re.Match[str]], Link]
    ) -> Iterator[tuple[int, Link]]:
        return ((match.start(), read(match)) for match in pattern.finditer(text))

    if "](" in text:
        yield from scan(_INLINE, lambda m: Link(m[2] or m[3], _clean(m[1]), "inline"))
    if "[[" in text:
        yield from scan(_WIKILINK, lambda m: Link(m[1].strip(), _clean(m[2] or m[1]), "wikilink"))
    if "href=" in text:
        yield from scan(_ANCHOR, lambda m: Link(m[1], "", "html"))
    if "://" in text or "mailto:" in text:
        yield from scan(_AUTOLINK, lambda m: Link(m[1], m[1], "autolink"))
        yield from scan(_BARE_URL, _read_bare_url)
    if references:
        for match in REFERENCE.finditer(text):
            target = references.get(normalise_label(match[2] or match[1]))
            if target:
                yield match.start(), Link(target, _clean(match[1]), "reference")


def _read_bare_url(match: re.Match[str]) -> Link:
    url = match.group().rstrip(".,;:!?*_")
    if url.endswith(")") and url.count("(") < url.count(")"):
        url = url.rstrip(")")
    return Link(url, url, "autolink")


def _clean(text: str) -> str:
    return " ".join(IMAGE.sub(r"\1", text).replace("*", "").split())
