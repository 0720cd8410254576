"""Text to index terms, the same way when an index is built and when it is queried.

A text is cut into tokens: words (Unicode letters, digits and their combining marks), identifiers
that hold joints inside (`75.1725`, `PII-2024-0042`, `std::vector`, `C++`), and runs of scripts
that are written without spaces. A token becomes one or more terms:

- a word: its Snowball stem, unless it is a stop word; of British spellings the American one's;
- an identifier: the whole of it, hyphens and underscores removed so that `max-connections2` and
  `max_connections2` agree, and each part of two characters or more (`max_connections`: `max`,
  `connect`; `HTTPServer`: `http`, `server`; `FoxO3a`: `fox`, `3a`, `foxo`);
- the citation of a paragraph: the whole of it, and all that it is a part of (`1005.6(b)(2)`:
  `1005.6(b)`, `1005.6`);
- a letter with a symbol: both together (`A*`, `F#`, `Q&A`);
- a letter that is a stop word: itself, where it numbers something (`Appendix A`, `30 A`);
- a run of Han, Kana, Hangul, Thai, Lao, Khmer or Burmese: its overlapping character bigrams.

Text is compared after NFKC and case folding; accents are kept.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import snowballstemmer  # type: ignore[import-untyped]

from .spelling import american
from .token_patterns import (
    ASCII_TOKEN,
    CODE_JOINT,
    DIGIT,
    HUMPS,
    JOINTS,
    LETTER,
    PARAGRAPH,
    TOKEN,
    UNDERSCORED,
    WITH_DIGITS,
)

VERSION = 3
"""Changes whenever the terms of any text change; an index names the version it was built with."""

LANGUAGES = frozenset(
    "arabic armenian basque catalan czech danish dutch english esperanto estonian finnish french"
    " german greek hindi hungarian indonesian irish italian lithuanian nepali norwegian persian"
    " polish portuguese romanian russian serbian spanish swedish tamil turkish yiddish none".split()
)
"""Languages with a Snowball stemmer, and `none` for no stemming and no stop words."""

MAX_TOKEN_LENGTH = 128
"""Characters; longer runs (encoded data, mostly) give no terms."""

MAX_QUERY_TERMS = 64
"""Distinct terms of a query; what follows is not searched for."""

MAX_QUERY_TOKENS = 256
"""Of a query, stop words and repetitions included."""

MAX_QUERY_CHARACTERS = 2_000
"""Of a query after NFKC, which makes 18 characters of one at the most."""

REMEMBERED_TOKENS = 8_192
"""Tokens that a tokenizer keeps, of `MAX_REMEMBERED_LENGTH` characters at the most."""

MAX_REMEMBERED_LENGTH = 32

ENGLISH_STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in into"
    " is it its me my no not of on or our shall should so such than that the their them then there"
    " these they this to us was we were what when where which while who whom why will with would"
    " you your".split()
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it stands in the text, and its index terms.

    `is_identifier` marks a name or code (`D40`, `75.1725`, `max_connections`, `_open`,
    `HTTPServer`); `may_accompany` marks what reads as part of one beside it: a bare number, an
    acronym.
    """

    text: str
    terms: tuple[str, ...]
    is_identifier: bool
    may_accompany: bool


class Tokenizer:
    """Cuts texts of one language into terms. Safe to share between threads.

    `remembered` tokens are kept at the most. Raises ValueError for a language that is not in
    `LANGUAGES`.
    """

    def __init__(self, language: str, remembered: int = REMEMBERED_TOKENS) -> None:
        if language not in LANGUAGES:
            raise ValueError(f"no stemmer for language {language!r}")
        self.language = language
        self._stop_words = ENGLISH_STOP_WORDS if language == "english" else frozenset[str]()
        self._stemmer = None if language == "none" else snowballstemmer.stemmer(language)
        self._stemmer_lock = threading.Lock()
        self._remembered = remembered
        self._cache: dict[str, Token] = {}

    def tokenize(self, text: str) -> list[Token]:
        """Cut `text` into tokens, in order; those without terms (stop words) included."""
        if text.isascii():
            return [self._token(surface) for surface in ASCII_TOKEN.findall(text)]
        normal = unicodedata.normalize("NFKC", text)
        return [
            _bigrams(match[0]) if match["spaceless"] else self._token(match[0])
            for match in TOKEN.finditer(normal)
        ]

    def tokenize_query(self, query: str) -> tuple[str, list[Token]]:
        """Return what of a query is searched for, and the tokens of that.

        All of it, unless it has more than `MAX_QUERY_CHARACTERS` in NFKC, `MAX_QUERY_TERMS`
        distinct terms or `MAX_QUERY_TOKENS`: then its beginning, in NFKC.
        """
        if query.isascii() and len(query) <= MAX_QUERY_TERMS:  # So it has no more terms either.
            return query, self.tokenize(query)
        pattern, beginning, normal = ASCII_TOKEN, query, query
        if not query.isascii():
            pattern = TOKEN
            sizes = accumulate(len(unicodedata.normalize("NFKC", letter)) for letter in query)
            beginning = query[: sum(size <= MAX_QUERY_CHARACTERS for size in sizes)]
            normal = unicodedata.normalize("NFKC", beginning)
        tokens: list[Token] = []
        found: set[str] = set()
        for match in pattern.finditer(normal):
            room = MAX_QUERY_TERMS - len(found)
            is_run = pattern is TOKEN and match["spaceless"] is not None
            text = match[0][: room + 1] if is_run else match[0]
            token = _bigrams(text) if is_run else self._token(text)
            new = found.union(token.terms)
            if len(new) > MAX_QUERY_TERMS or len(tokens) == MAX_QUERY_TOKENS:
                return normal[: match.start()], tokens
            tokens.append(token)
            found = new
            if text != match[0]:
                return normal[: match.start() + len(text)], tokens
        return (query if beginning == query else normal), tokens

    def terms(self, text: str) -> list[str]:
        """Return the index terms of `text`, in order and with repetitions."""
        return [term for token in self.tokenize(text) for term in token.terms]

    def _token(self, surface: str) -> Token:
        token = self._cache.get(surface)
        if token is None:
            token = self._analyse(surface)
            if len(surface) <= MAX_REMEMBERED_LENGTH:
                if len(self._cache) >= self._remembered:
                    self._cache.clear()
                self._cache[surface] = token
        return token

    def _analyse(self, surface: str) -> Token:
        if len(surface) > MAX_TOKEN_LENGTH:
            return Token(surface, (), is_identifier=False, may_accompany=False)
        if surface[0] in " (" or surface[-1] == " ":
            letter = surface.strip(" (")
            return Token(letter, (letter.casefold(),), is_identifier=False, may_accompany=False)
        if surface[-1] == ")":
            return Token(surface, tuple(self._citation_terms(surface)), True, may_accompany=False)
        pieces = [piece for piece in JOINTS.split(surface) if piece]
        parts = [part for piece in pieces for part in HUMPS.split(piece) if part]
        has_digit = DIGIT.search(surface) is not None
        has_letter = LETTER.search(surface) is not None
        is_identifier = (
            (has_digit and has_letter)
            or CODE_JOINT.search(surface) is not None
            or any(len(HUMPS.split(piece)) > 1 and not piece.isupper() for piece in pieces)
        )
        may_accompany = surface.isdigit() or (surface.isupper() and 2 <= len(surface) <= 6)
        if len(parts) <= 1 and len(surface) == len("".join(parts)):
            terms = self._word_terms(surface)
        else:
            terms = self._identifier_terms(surface, pieces, parts, is_identifier)
        is_name = is_identifier or UNDERSCORED.fullmatch(surface) is not None
        return Token(surface, tuple(terms), is_name, may_accompany)

    def _citation_terms(self, surface: str) -> list[str]:
        terms = []
        while (paragraph := PARAGRAPH.search(surface)) is not None:
            terms.append(surface.casefold())
            surface = surface[: paragraph.start()]
        return [*terms, *self._analyse(surface).terms]

    def _word_terms(self, word: str) -> list[str]:
        folded = word.casefold().strip("_")
        if not folded or folded in self._stop_words:
            return []
        return [folded if DIGIT.search(folded) else self._stem(folded)]

    def _identifier_terms(
        self, surface: str, pieces: list[str], parts: list[str], is_identifier: bool
    ) -> list[str]:
        folded_parts = [part.casefold() for part in parts]
        if not is_identifier and all(len(part) > 1 for part in folded_parts):
            return [term for part in folded_parts for term in self._word_terms(part)]
        whole = re.sub(r"[-_]+", "", surface).casefold()
        terms = [whole] if whole else []
        # A lone letter or a number cut off a letter (the 40 of D40) says nothing by itself.
        numbers_of_pieces = {piece.casefold() for piece in pieces}
        is_with_symbol = "&" in surface or (surface[-1] in "*+" and len(surface) == 2)
        for part in dict.fromkeys(folded_parts):
            is_fragment = part.isdigit() and part not in numbers_of_pieces
            if (len(part) > 1 or is_with_symbol) and part != whole and not is_fragment:
                terms += self._word_terms(part)
        # The name of a series: `foxo` of FoxO3a, which humps divide.
        names = [name[0].casefold() for piece in pieces if (name := WITH_DIGITS.match(piece))]
        for series in names:
            terms += self._word_terms(series) if series not in folded_parts else []
        return terms

    def _stem(self, word: str) -> str:
        if self._stemmer is None:
            return word
        if self.language == "english":
            word = american(word)
        with self._stemmer_lock:
            return str(self._stemmer.stemWord(word))


def _bigrams(run: str) -> Token:
    terms = (run,) if len(run) == 1 else tuple(run[i : i + 2] for i in range(len(run) - 1))
    return Token(run, terms, is_identifier=False, may_accompany=False)


HEADING_MARK = "="
"""What a heading term begins with, and no term of a text does."""

SURFACE_MARK = 2 * HEADING_MARK
"""What the term of a name as it is written begins with."""

MAX_HEADING_TERMS = 24
"""A longer text is no heading, and a longer query names none."""

_FRAME_WORDS = frozenset("about all describe explain find give please show tell".split())


def heading_term(tokens: Iterable[Token]) -> str | None:
    """Return the term that stands for a heading as a whole, or for a query that says the same.

    `Safety Requirements` and `What are the safety requirements?` share it: words that only frame
    a question are left out. None if nothing is left, or too much.
    """
    terms = [term for token in _named(tokens) for term in token.terms]
    return HEADING_MARK + " ".join(terms) if 0 < len(terms) <= MAX_HEADING_TERMS else None


def surface_term(tokens: Iterable[Token]) -> str | None:
    """Return the term of a heading of one word or identifier, or a query, as it is written.

    It tells `_open` from `open`, and `Fd` from `FD`, which share all other terms.
    """
    named = _named(tokens)
    return SURFACE_MARK + named[0].text if len(named) == 1 else None


def _named(tokens: Iterable[Token]) -> list[Token]:
    """Return the tokens with terms but for words that frame a question."""
    return [token for token in tokens if token.terms and token.text.casefold() not in _FRAME_WORDS]


def query_terms(tokens: Sequence[Token]) -> list[str]:
    """Return what a query looks up: its terms, and those of the heading that it may name."""
    terms = [term for token in tokens for term in token.terms]
    named = (heading_term(tokens), surface_term(tokens))
    return terms + [term for term in named if term is not None]
