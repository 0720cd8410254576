"""Finds a query's words in texts to highlight them: only whole words and whole numbers.

Texts are compared without case and Latin accents, character by character, so that offsets stay
valid. A word matches if it shares a term with the query, even if the text splits it (`back-up`).
Identifiers must match literally, and so must runs of scripts without spaces, or parts of such runs
that may be words.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from typing import TypeAlias

from ..index.letters import bare
from ..index.patterns import LETTER_BESIDE_DIGIT, SPACELESS, WORD
from ..index.tokens import Token, Tokenizer
from .results import Span

FindWords: TypeAlias = Callable[[str], list[Span]]  # In order and without overlaps

MAX_NEEDLE = 4  # Maximum number of letters to search for; a space or a hyphen may follow them.
LONG_RUN = 4  # From this length on, substrings of a run of Han may be words.
LONG_STRETCH = 4  # Length of substrings that may be words in other scripts without spaces.

_SPACELESS = re.compile(f"[{SPACELESS}]")
_ACCENTED = re.compile("[\u00c0-\u00d6\u00d8-\u024f]")
_PLAIN = {
    code: letter
    for code in range(0xC0, 0x250)
    if len(letter := bare(chr(code).casefold())) == 1 and letter.isascii()
}
_NEXT = re.compile(r"[-' \u2010\u2011]([^\W\d_]+)")
# Compiled on first use: few queries need it, and compiling takes longer than loading this module.
_SEGMENT = (
    "(?P<han>[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
    "|(?P<katakana>[\u30a0-\u30ff\u31f0-\u31ff]+)|(?P<hiragana>[\u3040-\u309f]+)"
    f"|(?P<hangul>[\uac00-\ud7af]+)|(?P<other>[{SPACELESS}])+?"
    "(?=[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|\\Z)"
)


def word_finder(query: str, tokenizer: Tokenizer) -> FindWords:
    """Return a function that finds the words of a text that share a term with the query."""
    terms, literals, runs = set[str](), set[str](), list[re.Pattern[str]]()
    for token in filter(attrgetter("terms"), tokenizer.tokenize_query(query)[1]):
        if _SPACELESS.match(token.text):
            runs += map(_run_pattern, re.finditer(_SEGMENT, token.text))
        elif WORD.fullmatch(token.text) and not token.is_identifier:
            terms.update(token.terms)
        else:
            literals.update(_literals(token))
            # Numbers are left out: those in `PII-2024-0042` mean something else in other places.
            terms.update(t for t in token.terms if len(t) > 1 and not t[0].isdigit())
    # Only the first half of each term is used, because words may end differently from their stem.
    needles = {term[: min(MAX_NEEDLE, max(3, len(term) // 2 + 1))] for term in terms}
    beginnings = {term[:end] for term in terms for end in range(2, len(term))}

    @cache
    def is_wanted(word: str) -> bool:
        return not terms.isdisjoint(tokenizer.token(word).terms)

    def find_word(folded: str, start: int) -> int:
        """Return the end of the word that begins at `start` if it matches, else 0."""
        if (word := WORD.match(folded, start)) is None:
            return 0
        text, end = word[0], word.end()
        if is_wanted(text):
            is_number = text[0].isdigit() or text[-1].isdigit()
            return 0 if is_number and _cuts_number(folded, start, end) else end
        if text in beginnings and (more := _NEXT.match(folded, end)) and is_wanted(text + more[1]):
            return more.end()
        return 0

    def find(text: str) -> list[Span]:
        folded = _fold(text)
        ends: dict[int, int] = {}
        for needle in needles:
            start = folded.find(needle)
            while start >= 0:
                if end := find_word(folded, start):
                    ends[start] = max(end, ends.get(start, 0))
                start = folded.find(needle, max(end, start + len(needle)))
        for literal in literals:
            start = folded.find(literal)
            while start >= 0:
                end = start + len(literal)
                if _stands_alone(folded, start, end):
                    ends[start] = max(end, ends.get(start, 0))
                start = folded.find(literal, end)
        for run in runs:
            for match in run.finditer(text):
                ends[match.start()] = max(match.end(), ends.get(match.start(), 0))
        end = 0
        return [(start, end := last) for start, last in sorted(ends.items()) if start >= end]

    return find


def _fold(text: str) -> str:
    """Return a text in lower case without accents, with the same number of characters."""
    # The only letter whose lower case has two characters.
    lower = text.replace("\u0130", "I").lower()
    if lower.isascii():
        return lower
    lower = lower.replace("\u2019", "'").replace("\u00d7", "x")
    # Translating is the slowest step, so texts without accents skip it.
    return lower if _ACCENTED.search(lower) is None else lower.translate(_PLAIN)


def _literals(token: Token) -> Iterator[str]:
    """Yield the forms that an identifier may have in a folded text."""
    for text in (token.text.lower(), token.terms[0], *token.terms):
        if text in (token.text.lower(), token.terms[0]) or ("." in text and text[0].isdigit()):
            yield bare(text)
    parts = LETTER_BESIDE_DIGIT.split(token.text) if token.is_identifier else token.text.split(" ")
    if len(parts) == 2 and token.text[0].isdigit():
        yield from (joint.join(parts).lower() for joint in (" ", "-", ""))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether a span neither begins nor ends inside a word or number."""
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if before.isalnum() and text[start].isalnum() and not _SPACELESS.match(before):
        return False
    if after.isalnum() and text[end - 1].isalnum() and not _SPACELESS.match(after):
        return False
    return not _cuts_number(text, start, end)


def _cuts_number(text: str, start: int, end: int) -> bool:
    """Return whether a span is part of a longer number, like the `1.1` of `1.10`."""
    if (
        text[start].isdigit()
        and start > 1
        and text[start - 1] in ".,"
        and text[start - 2].isdigit()
    ):
        return True
    return (
        text[end - 1].isdigit()
        and text[end : end + 1] in (".", ",")
        and text[end + 1 : end + 2].isdigit()
    )


def _run_pattern(segment: re.Match[str]) -> re.Pattern[str]:
    """Return a pattern for a run of one script, whose words may have no visible boundaries."""
    text, kind = segment[0], segment.lastgroup
    whole = re.escape(text)
    if kind == "katakana":  # Usually one word.
        return re.compile(rf"(?<![\u30a0-\u30ff]){whole}(?![\u30a0-\u30ff])")
    if kind == "hiragana":  # Mostly endings and particles.
        return re.compile(rf"(?<![\u3040-\u309f]){whole}(?![\u3040-\u309f])")
    if kind == "hangul":  # A word with particles, or compounded with others.
        return re.compile(
            rf"(?<![\uac00-\ud7af])(?:{_beginnings(text)})[\uac00-\ud7af]{{0,2}}(?![\uac00-\ud7af])"
        )
    least = 2 if kind == "han" else LONG_STRETCH
    if len(text) < LONG_RUN or len(text) <= least:
        return re.compile(whole)
    # Longest first, so that a match is never cut short.
    longest = min(len(text), 12)
    parts = [
        text[start : start + length]
        for length in range(longest, least - 1, -1)
        for start in range(len(text) - length + 1)
        if not _is_mark(text[start]) and not _is_mark(text[start + length : start + length + 1])
    ]
    return re.compile("|".join(map(re.escape, dict.fromkeys([text, *parts]))))


def _beginnings(text: str) -> str:
    return "|".join(re.escape(text[:end]) for end in range(len(text), min(len(text), 2) - 1, -1))


def _is_mark(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] == "M"
