"""Splits text into index terms, in the same way for documents and for queries.

A token is a word (Unicode letters, digits and combining marks), an identifier that may contain
punctuation (`75.1725`, `PII-2024-0042`, `std::vector`, `C++`), or a run of a script written without
spaces.
Text is first normalised: NFKC, case folded, without accents on Latin letters, and without the
backslash escapes of Markdown and JSON (`user\\_id` is `user_id`). Tokens yield these terms:

- Word: its Snowball stem, unless it is a stop word. British spellings become American, and English
  words lose `'s`, `'ll` and the like; `don't` becomes `dont`.
- Hyphenated word: the closed form and its parts (`back-up`: `backup`, `back`, `up`). Two words that
  are often written as one yield the same terms (`back up`, `230 V`); see `compounds`.
- Identifier: the whole without hyphens and underscores, so that `max-connections2` and
  `max_connections2` agree, and each part of two or more characters (`max_connections`: `max`,
  `connect`; `HTTPServer`: `http`, `server`; `FoxO3a`: `fox`, `3a`, `foxo`).
- Version: the number without `v`; `TLSv1.3` yields the whole, `tls` and `1.3`.
- Abbreviation: with and without points (`U.S.A.`).
- Cited paragraph: the whole and its ancestors (`1005.6(b)(2)`: `1005.6(b)`, `1005.6`).
- Number with thousands: the number without commas, and its parts (`1,250`: `1250`, `1`, `250`).
- Time: the hour without a leading zero (`09:30`: `9:30`).
- Operator of programming languages, arrow or picture that stands alone: itself (`=>`).
- Letter with a symbol (`A*`, `F#`, `Q&A`): both together; `-V`, an option: also the letter.
- Single-letter stop word used as a label (`Appendix A`, `30 A`): the letter itself.
- Run of Han, Kana, Hangul, Thai, Lao, Khmer or Burmese: its overlapping character bigrams.
"""

import re
import threading
from typing import NamedTuple

import snowballstemmer  # type: ignore[import-untyped]

from .compounds import is_one_word, may_open
from .escapes import unescape
from .letters import bare, normalise
from .patterns import DASHES, JOINT, token_pattern
from .remembering import remember
from .spelling import american

VERSION = 10  # Changes whenever the terms of any text change.

ENGLISH_STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in into"
    " is it its me my no not of on or our shall should so such than that the their them then there"
    " these they this to us was we were what when where which while who whom why will with would"
    " you your ive theyll theyre theyve weve whats wheres youll youre youve".split()
)

MAX_TOKEN_LENGTH = 128  # Longer runs, mostly encoded data, yield no terms.
MAX_QUERY_TERMS = 64  # Distinct terms; the rest of a longer query is ignored.
MAX_QUERY_CHARACTERS = 1_000  # Before and after NFKC, which can expand one character to 18.

SIGN_MARK = "~"  # Prefix of the term of an operator, which may begin like that of a heading.

_JOINTS = re.compile(rf"{JOINT}|(?<=[0-9])(?<!\b0)x(?=[0-9])|_+|[+#*]+$|&")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+){1,2}")
_ENDING = re.compile(r"'(?:s|d|m|ll|re|ve)\Z", re.IGNORECASE)
_QUANTITY = re.compile(r"([0-9]+\.[0-9]+)([^\W\d_]+)")  # A number with a unit: `2.5mm`
_VERSION = re.compile(r"(?P<name>[A-Za-z]{2,})?[vV]?(?P<number>[0-9]+(?:\.[0-9]+)+)")
_V_NUMBER = re.compile(r"[vV](?=[0-9]+\.[0-9])")
_ABBREVIATION = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_CLOCK = re.compile(r"0[0-9](?::[0-5][0-9]){1,2}")
_PARAGRAPH = re.compile(r"\(\w+\)$")
_SERIES = re.compile(r"[A-Za-z]{2,}(?=[0-9])")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z]{2})(?=[0-9])")
_CODE_JOINT = re.compile(r"::|(?<=\w)\.(?=\w)|(?<=\w)_(?=\w)|\+\+$|[#*)]$|(?<=\d)[-:/](?=\d)")
# `_word_` is left out, because some texts use it for emphasis.
_UNDERSCORED = re.compile(r"__\w+__|_+\w*[^\W_]")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[^\W\d_]")


class Token(NamedTuple):
    """A token as written, and its index terms."""

    text: str
    terms: tuple[str, ...]
    is_identifier: bool = False  # Such as `D40`, `75.1725`, `max_connections`, `_open`.
    may_accompany: bool = False  # A bare number or an acronym, which may belong to an identifier.
    # For a compound: the terms of the open form, and those of the closed form.
    spellings: tuple[tuple[str, ...], ...] = ()
    opens: bool = False  # May form a compound with the next token.
    is_sign: bool = False  # An operator of programming languages, or another sign: `=>`

    def spelt(self, *, as_one: bool) -> tuple[str, ...]:
        """Return the terms of the closed or the open form; all terms if there is only one form."""
        return self.spellings[as_one] if self.spellings else self.terms


class Tokenizer:
    """Splits text into terms, stemmed for a Snowball language or not (`none`).

    Only English has stop words.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._stop_words = ENGLISH_STOP_WORDS if language == "english" else frozenset[str]()
        self._stemmer = None if language == "none" else snowballstemmer.stemmer(language)
        self._stemmer_lock = threading.Lock()
        self._is_english = language == "english"
        self._ascii_pattern = token_pattern(is_ascii=True, has_apostrophes=self._is_english)
        self.token = remember(self._analyse)

    def tokenize(self, text: str) -> list[Token]:
        """Split `text` into tokens, in order, including stop words, which have no terms."""
        if "\\" in text:
            text = unescape(text)
        text = normalise(text)
        if text.isascii():
            return self._join([*map(self.token, self._ascii_pattern.findall(text))])
        return self._join(
            [
                _bigrams(match[0]) if match["run"] else self.token(match[0])
                for match in self._pattern().finditer(text)
            ]
        )

    def tokenize_query(self, query: str) -> tuple[str, list[Token]]:
        """Return the query and its tokens.

        If the query exceeds a limit, both are cut, and the query is normalised.
        """
        # A short query cannot exceed the limit on terms.
        if query.isascii() and len(query) <= MAX_QUERY_TERMS:
            return query, self.tokenize(query)
        normal = normalise(query[:MAX_QUERY_CHARACTERS])
        beginning = normal[:MAX_QUERY_CHARACTERS]
        tokens, found = list[Token](), set[str]()
        for match in self._pattern().finditer(beginning):
            # Cut inside the run, since the query may consist of nothing else.
            text = match[0][: MAX_QUERY_TERMS - len(found) + 1] if match["run"] else match[0]
            token = _bigrams(text) if match["run"] else self.token(text)
            found.update(token.terms)
            if len(found) > MAX_QUERY_TERMS:
                return normal[: match.start()], self._join(tokens)
            tokens.append(token)
            if text != match[0]:
                return normal[: match.start() + len(text)], self._join(tokens)
        is_whole = max(len(query), len(normal)) <= MAX_QUERY_CHARACTERS
        return (query if is_whole else beginning), self._join(tokens)

    def terms(self, text: str) -> list[str]:
        """Return the index terms of `text`, in order and with repetitions."""
        return [term for token in self.tokenize(text) for term in token.terms]

    def _pattern(self) -> re.Pattern[str]:
        return token_pattern(is_ascii=False, has_apostrophes=self._is_english)

    def _join(self, tokens: list[Token]) -> list[Token]:
        """Merge adjacent tokens that form a compound."""
        for place in reversed([place for place, token in enumerate(tokens[:-1]) if token.opens]):
            first, second = tokens[place : place + 2]
            both, is_number = first.text + second.text, first.text[0].isdigit()
            if not is_one_word(first.text, second.text) or (is_number and not second.terms):
                continue
            whole = (both.casefold(),) if is_number else self._word_terms(both)
            text, parts = f"{first.text} {second.text}", (*first.terms, *second.terms)
            tokens[place : place + 2] = [_compound(text, whole, parts)]
        return tokens

    def _analyse(self, surface: str) -> Token:
        if len(surface) > MAX_TOKEN_LENGTH:
            return Token(surface, ())
        # A shortcut for most words: the patterns below would take three times as long.
        if surface.isalpha() and (surface.islower() or surface[1:].islower()):
            opens = self._is_english and may_open(surface)
            return Token(surface, self._word_terms(surface), opens=opens)
        if "'" in surface:
            return self._with_apostrophe(surface)
        if not surface[-1].isalnum() and not any(map(str.isalnum, surface)):
            # `__` is a rule or the place of an answer in a form.
            return Token(surface, () if "_" in surface else (SIGN_MARK + surface,), is_sign=True)
        if "," in surface:
            return self._grouped(surface)
        if surface[0] == ".":
            rest = self._analyse(surface[1:])
            return Token(surface, (bare(surface.casefold()), *rest.terms), is_identifier=True)
        if surface[0] in DASHES:  # An option, whose case matters: `-v`, `-V`
            letter = surface[1]
            return Token(surface, (f"-{letter}", *self._word_terms(letter)), is_identifier=True)
        if surface[0] in " (" or surface[-1] == " ":  # A letter used as a label
            letter = surface.strip(" (")
            return Token(letter, (letter.casefold(),))
        if surface[-1] == ")":
            outer = self._analyse(_PARAGRAPH.sub("", surface))
            return Token(surface, (surface.casefold(), *outer.terms), is_identifier=True)
        if _V_NUMBER.match(surface) is not None:
            return Token(surface, self._analyse(surface[1:]).terms, is_identifier=True)
        if (version := _VERSION.fullmatch(surface)) is not None and version.start("number"):
            return self._version(surface, version["name"], version["number"])
        if (quantity := _QUANTITY.fullmatch(surface)) is not None and is_one_word(
            *quantity.groups()
        ):
            return Token(surface, (surface.casefold(),), is_identifier=True)
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
        elif _HYPHENATED.fullmatch(surface) is not None and not is_identifier:
            found = [term for part in folded if len(part) > 1 for term in self._word_terms(part)]
            return _compound(surface, self._word_terms("".join(pieces)), tuple(found))
        elif is_identifier or any(len(part) == 1 for part in folded):
            terms = self._identifier_terms(surface, pieces, folded)
        else:
            terms = [term for part in folded for term in self._word_terms(part)]
        if _ABBREVIATION.fullmatch(surface) is not None:
            terms += self._word_terms(surface.replace(".", ""))
        is_name = is_identifier or _UNDERSCORED.fullmatch(surface) is not None
        may_accompany = surface.isdigit() or (surface.isupper() and 2 <= len(surface) <= 6)
        opens = not surface[-1].isalpha() and may_open(surface)  # A number
        return Token(surface, tuple(terms), is_name, may_accompany, opens=opens)

    def _with_apostrophe(self, surface: str) -> Token:
        if (ending := _ENDING.search(surface)) is not None:
            return self.token(surface[: ending.start()])
        whole = self._word_terms(surface.replace("'", ""))
        is_negation = surface[-2:] in ("'t", "'T")
        parts = () if is_negation else self._word_terms(surface.rpartition("'")[2])
        return Token(surface, (*whole, *parts))

    def _grouped(self, surface: str) -> Token:
        """Return the token of a number with commas between its thousands: `1,250.5`."""
        found = [*map(self.token, surface.split(","))]
        parts = tuple(term for part in found for term in part.terms)
        if _LETTER.search(surface) is not None:
            return Token(surface, parts, any(part.is_identifier for part in found))
        whole = self.token(surface.replace(",", ""))
        terms = tuple(dict.fromkeys((*whole.terms, *parts)))
        return whole._replace(text=surface, terms=terms, spellings=(whole.terms[:1],) * 2)

    def _version(self, surface: str, name: str | None, number: str) -> Token:
        terms = self._analyse(number).terms
        if name is not None:
            whole = surface.casefold()
            terms = (whole, *self._word_terms(name.removesuffix("v") or name), *terms)
        return Token(surface, terms, is_identifier=True)

    def _identifier_terms(self, surface: str, pieces: list[str], parts: list[str]) -> list[str]:
        whole = bare(surface.replace("-", "").replace("_", "").casefold())
        if _CLOCK.fullmatch(surface) is not None:
            whole = surface[1:]
        terms = [whole] if whole else []
        # A lone letter, or a number split from its letter (the 40 of D40), is not meaningful.
        numbers = {piece.casefold() for piece in pieces}
        is_with_symbol = "&" in surface or (surface[-1] in "*+" and len(surface) == 2)
        for part in dict.fromkeys(parts):
            is_fragment = part.isdigit() and part not in numbers
            if (len(part) > 1 or is_with_symbol) and part != whole and not is_fragment:
                terms += self._word_terms(part)
        # The name of a series, which the split at humps divides: `foxo` of FoxO3a.
        for name in filter(None, map(_SERIES.match, pieces)):
            series = name[0].casefold()
            terms += self._word_terms(series) if series not in parts else []
        return terms

    def _word_terms(self, word: str) -> tuple[str, ...]:
        folded = word.casefold().strip("_")
        if not folded or folded in self._stop_words:
            return ()
        if self._stemmer is None or _DIGIT.search(folded):
            return (bare(folded),)
        word = american(bare(folded)) if self._is_english else folded
        with self._stemmer_lock:
            return (bare(str(self._stemmer.stemWord(word))),)


def _compound(surface: str, whole: tuple[str, ...], parts: tuple[str, ...]) -> Token:
    terms = tuple(dict.fromkeys((*whole, *parts)))
    return Token(surface, terms, spellings=(parts or whole, whole or parts))


def _bigrams(run: str) -> Token:
    return Token(run, tuple(run[i : i + 2] for i in range(max(1, len(run) - 1))))
