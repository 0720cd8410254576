"""Snippets: what is shown of each hit, as plain text, and where words of the query stand.

Tags of HTML and JSX, targets of links, images and the marks of Markdown are taken out; code keeps
its lines. Offsets count characters (code points). A snippet is text, which may hold `<` and `&`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from html import unescape
from itertools import filterfalse
from operator import attrgetter
from typing import TypeAlias

from ..index.records import GOES_ON, Record
from .results import Hit, SearchResponse
from .tokens import SPACELESS, WORD, Tokenizer

MAX_CHARACTERS = 300  # Of a snippet that is cut; those that are a little longer are not.
MAX_UNCUT_CHARACTERS = 400
MAX_READ_CHARACTERS = 3_000  # Of a text, since chunks may be whole documents.
BEGINNINGS = ("\n", ". ", "\u3002")  # Of what can be read by itself.

Span: TypeAlias = tuple[int, int]
"""The first character, and the one after the last."""

# Of files in which `#` begins a comment and `<` no tag; all others are read as Markdown.
_CODE_SUFFIXES = frozenset(
    "bash bat c cc cfg clj cmake cmd conf cpp cs css csv cxx dart dockerfile ex f90 fish fs go"
    " gradle graphql groovy h hpp hs ini java jl js json jsonl jsx kt less lua m makefile ml mjs mm"
    " php pl pm proto ps1 py pyi r rb rs s scala scss sh sql svelte swift tcl tf toml ts tsv tsx vb"
    " vue xsd yaml yml zig zsh".split()
)
# Patterns of lines begin with the break before it, which is found faster than `^`. None of them
# goes back over what it has read, since a text may be hostile.
_FENCE = re.compile(r"\n[ \t]*(`{3,}|~{3,})[^\n]*((?:\n(?![ \t]*\1)[^\n]*)*)(?:\n[^\n]*)?")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|\{/\*.*?(?:\*/\}|\Z)", re.DOTALL)
_IMPORT = re.compile(r"\n(?:import|export) [^\n]*")
_RULE = re.compile(r"\n[ \t]*+[-=*_|:+][-=*_|:+ \t]*+(?=\n|\Z)")
_HEADING = re.compile(r"\n {0,3}#{1,6}[ \t]+([^\n]*)")
_ITEM = re.compile(r"\n[ \t>]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTATION = re.compile(r"\n[ \t]*(?:>[ \t]?)+")
_ROW = re.compile(r"\n[ \t]*\|([^\n]*)")
_CELL = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")
_IMAGE = re.compile(r"!\[[^\[\]]{0,300}\](?:\([^()\n]{0,2000}\)|\[[^\[\]]{0,100}\])")
_INLINE = re.compile(
    r"[`\[<*\\](?:"
    r"(?<=`)(?P<ticks>`{0,2}+)(?P<code>[^`]{1,600}+)`(?P=ticks)"
    r"|(?<=\[)\[(?:[^\[\]|]{1,300}\|)?(?P<page>[^\[\]|]{1,300})\]\]"
    r"|(?<=\[)(?P<label>[^\[\]]{0,300})\](?:\([^()\s]{0,2000}(?:\s\"[^\"]{0,300}\")?\)|\[[^\[\]]{0,100}\])"
    r"|(?<=<)(?P<address>[a-z]{2,8}:[^<>\s]{1,2000})>|(?<=<)(?:/?[A-Za-z](?:=>|[^<>]){0,1000}|/?)>"
    r"|(?<=\*)\*(?P<strong>[^*]{1,300})\*\*|(?<![\w*]\*)(?<=\*)(?P<weak>[^\s*][^*]{0,300})\*(?![\w*])"
    r"|(?<=\\)(?P<escaped>[!-/:-@\[-`{-~])"
    r")"
)


@dataclass(frozen=True, slots=True)
class Highlights(Record):
    """Where words of the query stand in the snippet, in the title and in each of the headings."""

    snippet: list[Span]
    title: list[Span]
    section: list[list[Span]]


@dataclass(slots=True)
class ShownHit(Hit):
    """A hit with its snippet, if that was wanted; `snippet_code` is where code stands in it."""

    snippet: str | None = None
    highlights: Highlights | None = None
    snippet_code: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownResponse(SearchResponse):
    """The response to one query, with the snippets of its hits."""

    hits: tuple[ShownHit, ...] = field(metadata={"alias": "results"})


_of_response = attrgetter(*[each.name for each in fields(SearchResponse)])
_of_hit = attrgetter(*[each.name for each in fields(Hit)])


def with_snippets(response: SearchResponse, tokenizer: Tokenizer) -> ShownResponse:
    """Return a response with the snippets of its hits; `tokenizer` is that of the index."""
    words = QueryWords(response.query, tokenizer)
    hits = tuple(_show(hit, words) for hit in response.hits)
    return ShownResponse(*(*_of_response(response)[:-1], hits))


class QueryWords:
    """Finds words that have a term in common with a query."""

    def __init__(self, query: str, tokenizer: Tokenizer) -> None:
        terms: set[str] = set()
        self._wants = cache(lambda word: not terms.isdisjoint(tokenizer.token(word).terms))
        self.find_in_heading = cache(self.find)
        # What to look for, and whether it is only the beginning of a word.
        self._needles: dict[str, bool] = {}
        for token in tokenizer.tokenize_query(query)[1]:
            if SPACELESS.match(token.text):
                self._needles |= dict.fromkeys(token.terms, False)
                continue
            is_word = WORD.fullmatch(token.text) is not None
            if token.terms and not is_word:
                self._needles[token.text.lower()] = False
            # The numbers in `PII-2024-0042` are others elsewhere.
            for term in token.terms if is_word else filterfalse(str.isdigit, token.terms):
                terms.add(term)
                # Half of it, since a stem may end otherwise than its words do.
                self._needles.setdefault(term[: max(3, len(term) // 2 + 1)], True)

    def find_nearly(self, text: str) -> list[int]:
        """Return where words probably begin in a text, in order; a third of the time of `find`."""
        lower, places = text.lower(), []
        for needle in self._needles:
            start = -1
            for _ in range(3):
                if (start := lower.find(needle, start + 1)) < 0:
                    break
                places.append(start)
        return sorted(places)

    def find(self, text: str) -> list[Span]:
        """Return where words stand in a text, in order and apart from each other."""
        lower = text.lower()
        if len(lower) != len(text):  # A few letters have lower cases of two.
            lower = text
        wants, word_at, next_of = self._wants, WORD.match, lower.find
        found = []
        for needle, is_beginning in self._needles.items():
            start = next_of(needle)
            while start >= 0:
                end = start + len(needle)
                if not is_beginning:
                    found.append((start, end))
                elif start and lower[start - 1].isalnum():
                    pass
                elif (word := word_at(text, start)) and wants(word[0]):
                    end = word.end()
                    found.append((start, end))
                start = next_of(needle, end)
        found.sort(key=lambda span: (span[0], -span[1]))
        end = 0
        return [each for each in found if each[0] >= end and (end := each[1])]


def _show(hit: Hit, words: QueryWords) -> ShownHit:
    text = hit.text[:MAX_READ_CHARACTERS]
    start = _choose_start(text, words.find_nearly(text)) if len(text) > MAX_UNCUT_CHARACTERS else 0
    # Markup takes room as well.
    end = _end_of_word(text, start, start + 2 * MAX_CHARACTERS)
    shown = text[start:end]
    suffix = hit.path.rpartition("/")[2].rpartition(".")[2].lower()
    if suffix in _CODE_SUFFIXES:
        pieces = [(shown.strip("\n"), True)]
    else:
        # A block of code may have begun before this, or in an earlier chunk.
        fences = text.count("\n```")
        is_within = text.count("\n```", 0, start) % 2 or (fences % 2 and text.endswith("\n```"))
        shown = f"\n```\n{shown}" if is_within else f"\n{shown}"
        headings = (hit.title, *hit.section)
        pieces = [*_pieces(shown, suffix, headings)] or [*_pieces(shown, suffix, ())]
    snippet, code = f"{GOES_ON} " if start else "", []
    for piece, is_code in pieces:
        before = len(snippet)
        snippet += f"{piece}\n"
        code += [(before, len(snippet) - 1)] if is_code else []
    is_cut = end < len(hit.text)
    if len(snippet) > MAX_UNCUT_CHARACTERS:
        snippet, is_cut = snippet[: _end_of_word(snippet, 0, MAX_CHARACTERS)], True
    snippet = snippet.rstrip()
    shown_code = tuple((a, min(b, len(snippet))) for a, b in code if a < len(snippet))
    snippet += f" {GOES_ON}" if is_cut else ""
    section = [words.find_in_heading(heading) for heading in hit.section]
    highlights = Highlights(words.find(snippet), words.find_in_heading(hit.title), section)
    return ShownHit(*(*_of_hit(hit), snippet, highlights, shown_code))


def _end_of_word(text: str, start: int, end: int) -> int:
    """Return where to cut a text that goes on after `end`, in its second half if possible."""
    if end >= len(text):
        return len(text)
    cut = max(text.rfind(space, (start + end) // 2, end) for space in " \n")
    return cut if cut > 0 else end


def _choose_start(text: str, found: Sequence[int]) -> int:
    """Return where to begin so that as many of the found words as possible are near."""
    most = start = last = 0
    for number, first in enumerate(found):
        while last < len(found) and found[last] < first + MAX_CHARACTERS * 2 // 3:
            last += 1
        if last - number > most:
            most, start = last - number, first
    start = min(start, len(text) - MAX_CHARACTERS)
    if start < MAX_CHARACTERS / 3:
        return 0
    near = max(text.rfind(mark, start - 120, start) + len(mark) for mark in BEGINNINGS)
    return near if near > 2 else text.find(" ", start - 40, start) + 1 or start


def _pieces(text: str, suffix: str, headings: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the stretches of a text that have no markup any more, and whether each is code."""
    if "<!--" in text or "{/*" in text:
        text = _COMMENT.sub("", text)
    if suffix == "mdx":
        text = _IMPORT.sub("", text)
    prose, *fenced = _FENCE.split(text) if "```" in text or "~~~" in text else (text,)
    if plain := _plain(prose, headings):
        yield plain, False
    for code, prose in zip(fenced[1::3], fenced[2::3], strict=True):
        if code.strip():
            yield code.strip("\n"), True
        if plain := _plain(prose, headings):
            yield plain, False


def _plain(text: str, headings: Sequence[str]) -> str:
    """Return Markdown on one line, less those of its headings that are shown above it."""

    def mark(heading: re.Match[str]) -> str:
        said = _INLINE.sub(_unwrap, heading[1].rstrip(" \t#"))
        return "\n" if said in headings else f"\n{said} \u00b7 "

    text = _RULE.sub("", text)
    if "#" in text:
        text = _HEADING.sub(mark, text)
    text = _ITEM.sub("\n\u2022 ", text)
    if ">" in text:
        text = _QUOTATION.sub("\n", text)
    if "|" in text:
        text = _ROW.sub(_join_cells, text)
    if "![" in text:
        text = _IMAGE.sub("", text)
    text = _INLINE.sub(_unwrap, text)
    if "&" in text:
        text = unescape(text)
    text = text.replace("\n", " ")
    return (" ".join(text.split()) if "  " in text else text).strip("\u2022\u00b7 ")


def _join_cells(row: re.Match[str]) -> str:
    return "\n\u2022 " + " \u00b7 ".join(filter(None, _CELL.split(row[1])))


def _unwrap(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind is None:
        return ""
    is_final = kind in ("code", "address", "escaped")
    return match[kind] if is_final else _INLINE.sub(_unwrap, match[kind])
