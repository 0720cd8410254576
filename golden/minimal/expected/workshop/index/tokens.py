"""Cuts text into index terms, the same way when an index is built and when it is queried.

A token is a word (Unicode letters, digits and combining marks), an identifier with joints inside
(`75.1725`, `PII-2024-0042`, `std::vector`, `C++`), or a run of a script written without spaces.
Text is compared after NFKC and case folding, with its accents, and without the backslashes before
signs that Markdown and JSON write: `user\\_id` is `user_id`. The terms of a token are:

- of a word, its Snowball stem, unless it is a stop word; of British spellings the American one's;
- of an identifier, the whole without hyphens and underscores, so that `max-connections2` and
  `max_connections2` agree, and each part of two characters or more (`max_connections`: `max`,
  `connect`; `HTTPServer`: `http`, `server`; `FoxO3a`: `fox`, `3a`, `foxo`);
- of a cited paragraph, the whole and what it is part of (`1005.6(b)(2)`: `1005.6(b)`, `1005.6`);
- of a letter with a symbol (`A*`, `F#`, `Q&A`), both together;
- of a stop word that is one letter and numbers something (`Appendix A`, `30 A`), itself;
- of a run of Han, Kana, Hangul, Thai, Lao, Khmer or Burmese, its overlapping character bigrams.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

import snowballstemmer  # type: ignore[import-untyped]

from .escapes import unescape
from .spelling import american

VERSION = 6  # Changes whenever the terms of any text change.

ENGLISH_STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in into"
    " is it its me my no not of on or our shall should so such than that the their them then there"
    " these they this to us was we were what when where which while who whom why will with would"
    " you your".split()
)

MAX_TOKEN_LENGTH = 128  # Longer runs, most of them encoded data, give no terms.
MAX_QUERY_TERMS = 64  # Distinct ones; only the beginning of a longer query is searched for.
MAX_QUERY_CHARACTERS = 1_000  # Before and after NFKC, which makes up to 18 of one.
MAX_REMEMBERED_LENGTH = 64  # So that what queries bring stays small in memory.
MAX_HEADING_TERMS = 24  # A longer query names no heading.

HEADING_MARK = "="  # Begins the term of a heading, and no term of a text.
SURFACE_MARK = 2 * HEADING_MARK  # Begins the term of a name in its own spelling.
NAMED = 4  # The count of a heading term; titles have more, and parts of headings less.

_FRAME_WORDS = frozenset("about all describe explain find give please show tell".split())
_ASKING_WORDS = frozenset("define definition mean meaning means page reference".split())

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u0900-\u0963\u0966-\u0df4\u0f71-\u0f84\u1dc0-\u1dff\u200c\u200d\u20d0-\u20f0"
)

# A letter that is also a stop word, after a word that always or often takes one. After the latter,
# no sentence may follow: `the part I know`, `in part a success`, but `part I of the act`.
_LETTERED = "annex appendix hepatitis subpart subsection vitamin".split()
_OFTEN_LETTERED = (
    "article attachment block category chapter class clause column division exhibit figure form"
    " gate grade group item level option paragraph part phase point room row rule schedule section"
    " stage step table team tier title type unit version volume zone".split()
)
_AFTER_LETTERED, _AFTER_OFTEN_LETTERED = (
    f"(?:{'|'.join(rf'(?<={word}[ ])' for word in words)})"
    for words in (_LETTERED, _OFTEN_LETTERED)
)
_NO_SENTENCE = r"(?![ ]+(?!(?:and|for|from|in|is|of|or|through|to)\b)[a-z])"
_NUMBERING_LETTER = (
    rf"[ ](?=\(?[AaIi](?![\w'\u2019+#&]))(?:(?i:{_AFTER_LETTERED}\(?[ai])"
    rf"|(?i:{_AFTER_OFTEN_LETTERED})\(?(?:A|[aIi]{_NO_SENTENCE})|(?<=[0-9][ ])A)"
)
_SUFFIX = (
    r"(?:(?:\+\+|\#)(?![\w+#])"
    # Of a single letter: `A*`, but not the end of `*A*` or of `**plan A**`; `R&D`; `A 320`.
    r"|[*+](?<![\w*+][A-Za-z][*+])(?<=[A-Za-z][*+])(?![\w*+])"
    r"|&[A-Za-z](?<!\w[A-Za-z]&[A-Za-z])(?<=[A-Za-z]&[A-Za-z])(?!\w)"
    r"|[ ](?<=A[ ])(?<!\wA[ ])(?=[0-9]+(?![\w%-]|[.,][0-9]|[ ]+[a-z]))"
    # Of a number: paragraphs.
    r"|\((?<=[0-9]\()(?:(?:[A-Za-z]{1,2}|[ivx]{3,5}|[0-9]{1,3})\)\(?)+(?<=\))(?!\w))?"
)
_JOINT = r"(?:::|[-.:/@])"
_ASCII_PATTERN, _PATTERN = (
    rf"{_NUMBERING_LETTER}|{letter}+(?:{_JOINT}{letter}+)*{_SUFFIX}"
    for letter in ("[A-Za-z0-9_]", rf"(?:[^\W{SPACELESS}]|[{_MARKS}])")
)
_ASCII_TOKEN = re.compile(_ASCII_PATTERN)
# Words of ASCII are told apart first, in a quarter of the time.
WORD = re.compile(
    rf"(?<![^\W_])(?:[A-Za-z0-9]++(?![^\x00-\x7f])|(?:[^\W_{SPACELESS}]++|[{_MARKS}])++)"
)
_JOINTS = re.compile(rf"{_JOINT}|_+|[+#*]+$|&")
_PARAGRAPH = re.compile(r"\(\w+\)$")
_SERIES = re.compile(r"[A-Za-z]{2,}(?=[0-9])")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z]{2})(?=[0-9])")
_CODE_JOINT = re.compile(r"::|(?<=\w)\.(?=\w)|(?<=\w)_(?=\w)|\+\+$|[#*)]$|(?<=\d)[-:/](?=\d)")
# Not `_word_`, which is how some texts write emphasis.
_UNDERSCORED = re.compile(r"__\w+__|_+\w*[^\W_]")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[^\W\d_]")


# Compiled for the first text that needs it, as that takes longer than all the others.
@cache
def _token_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?P<run>[{SPACELESS}]+)|{_PATTERN}")


Value = TypeVar("Value")


class _Remembered(dict[str, Value]):
    """The values of a function by word; a dictionary answers faster than any function."""

    def __init__(self, function: Callable[[str], Value], entries: int) -> None:
        super().__init__()
        self._function, self._entries = function, entries

    def __missing__(self, word: str) -> Value:
        value = self._function(word)
        if len(word) <= MAX_REMEMBERED_LENGTH:
            if len(self) >= self._entries:
                self.clear()
            self[word] = value
        return value


def remember(function: Callable[[str], Value], entries: int = 8_192) -> Callable[[str], Value]:
    """Cache up to `entries` values of a function of a word, except those of long words."""
    return _Remembered(function, entries).__getitem__


class Token(NamedTuple):
    """A token as the text has it, and its index terms."""

    text: str
    terms: tuple[str, ...]
    is_identifier: bool = False  # Such as `D40`, `75.1725`, `max_connections`, `_open`.
    may_accompany: bool = False  # A bare number or an acronym, which may be part of one.


class Tokenizer:
    """Cuts texts of one of Snowball's languages into terms; `none` has no stems or stop words."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._stop_words = ENGLISH_STOP_WORDS if language == "english" else frozenset[str]()
        self._stemmer = None if language == "none" else snowballstemmer.stemmer(language)
        self._stemmer_lock = threading.Lock()
        self.token = remember(self._analyse)

    def tokenize(self, text: str) -> list[Token]:
        """Cut `text` into tokens, in order, including those without terms (stop words)."""
        if "\\" in text:
            text = unescape(text)
        if text.isascii():
            return [*map(self.token, _ASCII_TOKEN.findall(text))]
        normal = unicodedata.normalize("NFKC", text)
        return [
            _bigrams(match[0]) if match["run"] else self.token(match[0])
            for match in _token_pattern().finditer(normal)
        ]

    def tokenize_query(self, query: str) -> tuple[str, list[Token]]:
        """Return the query, or its beginning in NFKC if that exceeds a limit, and its tokens."""
        if query.isascii() and len(query) <= MAX_QUERY_TERMS:  # So it has no more terms either.
            return query, self.tokenize(query)
        normal = unicodedata.normalize("NFKC", query[:MAX_QUERY_CHARACTERS])
        beginning = normal[:MAX_QUERY_CHARACTERS]
        tokens, found = list[Token](), set[str]()
        for match in _token_pattern().finditer(beginning):
            # A run is cut within, as there may be nothing else.
            text = match[0][: MAX_QUERY_TERMS - len(found) + 1] if match["run"] else match[0]
            token = _bigrams(text) if match["run"] else self.token(text)
            found.update(token.terms)
            if len(found) > MAX_QUERY_TERMS:
                return normal[: match.start()], tokens
            tokens.append(token)
            if text != match[0]:
                return normal[: match.start() + len(text)], tokens
        is_whole = max(len(query), len(normal)) <= MAX_QUERY_CHARACTERS
        return (query if is_whole else beginning), tokens

    def terms(self, text: str) -> list[str]:
        """Return the index terms of `text`, in order and with repetitions."""
        return [term for token in self.tokenize(text) for term in token.terms]

    def _analyse(self, surface: str) -> Token:
        if len(surface) > MAX_TOKEN_LENGTH:
            return Token(surface, ())
        # So are most words, and the patterns below would take three times as long.
        if surface.isalpha() and (surface.islower() or surface[1:].islower()):
            return Token(surface, self._word_terms(surface))
        if surface[0] in " (" or surface[-1] == " ":  # A letter that numbers something.
            letter = surface.strip(" (")
            return Token(letter, (letter.casefold(),))
        if surface[-1] == ")":
            outer = self._analyse(_PARAGRAPH.sub("", surface))
            return Token(surface, (surface.casefold(), *outer.terms), is_identifier=True)
        pieces = [piece for piece in _JOINTS.split(surface) if piece]
        divided = [_HUMPS.split(piece) for piece in pieces]
        parts = [part for own in divided for part in own if part]
        folded = [part.casefold() for part in parts]
        is_identifier = (
            (_DIGIT.search(surface) is not None and _LETTER.search(surface) is not None)
            or _CODE_JOINT.search(surface) is not None
            or any(len(own) > 1 and not "".join(own).isupper() for own in divided)
        )
        if parts == [surface]:
            terms = [*self._word_terms(surface)]
        elif is_identifier or any(len(part) == 1 for part in folded):
            terms = self._identifier_terms(surface, pieces, folded)
        else:
            terms = [term for part in folded for term in self._word_terms(part)]
        is_name = is_identifier or _UNDERSCORED.fullmatch(surface) is not None
        may_accompany = surface.isdigit() or (surface.isupper() and 2 <= len(surface) <= 6)
        return Token(surface, tuple(terms), is_name, may_accompany)

    def _identifier_terms(self, surface: str, pieces: list[str], parts: list[str]) -> list[str]:
        whole = surface.replace("-", "").replace("_", "").casefold()
        terms = [whole] if whole else []
        # A lone letter, or a number cut off a letter (the 40 of D40), means nothing alone.
        numbers = {piece.casefold() for piece in pieces}
        is_with_symbol = "&" in surface or (surface[-1] in "*+" and len(surface) == 2)
        for part in dict.fromkeys(parts):
            is_fragment = part.isdigit() and part not in numbers
            if (len(part) > 1 or is_with_symbol) and part != whole and not is_fragment:
                terms += self._word_terms(part)
        # The name of a series: `foxo` of FoxO3a, which humps divide.
        for name in filter(None, map(_SERIES.match, pieces)):
            series = name[0].casefold()
            terms += self._word_terms(series) if series not in parts else []
        return terms

    def _word_terms(self, word: str) -> tuple[str, ...]:
        folded = word.casefold().strip("_")
        if not folded or folded in self._stop_words:
            return ()
        if self._stemmer is None or _DIGIT.search(folded):
            return (folded,)
        word = american(folded) if self.language == "english" else folded
        with self._stemmer_lock:
            return (str(self._stemmer.stemWord(word)),)


def _bigrams(run: str) -> Token:
    return Token(run, tuple(run[i : i + 2] for i in range(max(1, len(run) - 1))))


def heading_term(tokens: Iterable[Token]) -> str | None:
    """Return the term of a heading as a whole, or of a query that names it, if it has terms.

    `Safety Requirements` and `What are the safety requirements?` share it.
    """
    terms = [term for token in _named(tokens) for term in token.terms]
    return HEADING_MARK + " ".join(terms) if 0 < len(terms) <= MAX_HEADING_TERMS else None


def surface_term(tokens: Iterable[Token]) -> str | None:
    """Return the term of a single word in its own spelling, which tells `_open` from `open`."""
    named = _named(tokens)
    return SURFACE_MARK + named[0].text if len(named) == 1 else None


def query_terms(tokens: Sequence[Token]) -> list[str]:
    """Return the terms to look up for a query: its own, and those of the names that it may be.

    They are all of it, what is left without words of asking, and the identifier in `12 CFR 1005.6`.
    """
    asked = [token for token in tokens if token.text.casefold() not in _ASKING_WORDS]
    is_cited = all(token.is_identifier or token.may_accompany for token in _named(asked))
    cited = [token for token in asked if token.is_identifier and is_cited]
    names = [*map(heading_term, (tokens, asked, cited)), surface_term(asked)]
    terms = [term for token in tokens for term in token.terms]
    return [*terms, *filter(None, dict.fromkeys(names))]


def _named(tokens: Iterable[Token]) -> list[Token]:
    return [token for token in tokens if token.terms and token.text.casefold() not in _FRAME_WORDS]


def heading_parts(heading: str) -> list[str]:
    """Return the terms that a heading term is made of; a name as it is written has no parts."""
    return [heading] if heading.startswith(SURFACE_MARK) else heading[1:].split(" ")
