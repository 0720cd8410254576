"""Reads the words of sentences for comparison: stems, numbers, clauses, and negations.

Word lists are English.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..claims import NUMBER_WORDS, UNCOUNTED

Stem = Callable[[str], str | None]
"""Returns the stem of a lower-case word; None for a word without meaning of its own."""

MIN_STEMS = 2  # Shorter clauses are joined with the previous one.

# Phrases that contain a negation word without negating anything.
_FIXED_PHRASES = re.compile(
    r"\b(?:not (?:only|just|merely|simply|to mention)|no (?:matter|doubt|wonder|problem"
    r"|(?:later|more|less|fewer|earlier|sooner) than|exceptions?|questions asked|strings attached)"
    r"|(?:whether )?or not|if not|why not|without (?:fail|doubt|exception|question)|none other than"
    r"|more often than not|nothing but|needless to say)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|lack(?:s|ing)?|unable"
    r"|fail(?:s|ed)?|hardly|prevent(?:s|ed)?|avoid(?:s|ed)?|instead of|rather than|forbid\w*"
    r"|prohibit\w*|refus\w+)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
# Words that restrict a statement, like a negation, without being one.
_RESTRICTION = re.compile(
    r"\b(?:only|single|one|optional|un\w{4,}|dis\w{4,}|im(?:possible|proper)\w*|den(?:y|ied|ies)"
    r"|ignor\w+|too|whatever|whenever|free|stop\w*|until|unless|zero|less|fewer|few|except\w*"
    r"|exclu\w+|remov\w+|omit\w*|skip\w*|leave\w*|left alone|independent\w*|regardless|even if"
    r"|otherwise|apart|besides|keep\w*|prevent\w*|forbid\w*|prohibit\w*|avoid\w*|refus\w*|allow\w*"
    r"|enough|still|cost\w*|extremely|hardly|rather|instead|as long as|missing|absent|lost|empty"
    r"|last|before)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:until|unless|except|before|only|other)\b|\bnot\W*(?:[.,;:!?)\u2014]|\Z)", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"[,;:\u2014](?!\d)\s+|\s[\u2013-]\s|[()]|\b(?:while|whereas|but|although|though|because"
    r"|so(?: that)?|since|unless|even if|if|when|which|who|where|as long as|provided that"
    r"|and(?= (?:it|they|you|we|is|are|has|have|will|must|can|cannot|does|do|did|not|never|no|the"
    r"|an?|then)\b))\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\d+(?:[.,:\u00a0\u202f]\d+)*|[^\W\d_]+(?:['\u2019-][^\W\d_]+)*|%")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_IRREGULAR = dict(
    pair.split(":")
    for pair in "ran:run written:write overwritten:overwrite taken:take given:give broken:break"
    " chosen:choose shown:show known:know grown:grow drawn:draw held:hold kept:keep sent:send"
    " built:build lost:lose made:make left:leave paid:pay sold:sell bought:buy found:find eaten:eat"
    " brought:bring thrown:throw worn:wear driven:drive fed:feed met:meet hidden:hide fallen:fall"
    " frozen:freeze stolen:steal rose:rise grew:grow fell:fall began:begin".split()
)


class Token(NamedTuple):
    """A word or a number in lower case, with its stem or value, if any, and its key."""

    text: str
    stem: str | None
    value: str | None

    @property
    def key(self) -> str:
        """The stem if there is one, else `#` and the value, else the text; equal if words match."""
        return self.stem or (f"#{self.value}" if self.value else self.text)

    @property
    def has_content(self) -> bool:
        """Whether the token is a number or a word other than a function word."""
        return bool(self.stem or self.value)

    @property
    def denies(self) -> bool:
        """Whether the token negates the words next to it."""
        return _DENIAL.fullmatch(self.text) is not None or self.text.endswith("n't")


def read_tokens(text: str, stem: Stem) -> list[Token]:
    """Return the words and numbers of a text."""
    return [_read(word.lower().replace("\u2019", "'"), stem) for word in _TOKEN.findall(text)]


def _read(word: str, stem: Stem) -> Token:
    if word[0].isdigit():
        plain = word.replace("\u00a0", "").replace("\u202f", "")
        if _THOUSANDS.fullmatch(plain):
            plain = plain.replace(",", "")
        try:
            return Token(word, None, f"{float(plain):.12g}")
        except ValueError:
            return Token(word, None, word)
    if word in NUMBER_WORDS and word not in UNCOUNTED:
        return Token(word, None, str(NUMBER_WORDS[word]))
    return Token(word, stem(word), None)


def base_form(word: str) -> str:
    """Return the present tense of an irregular past, or the word itself."""
    return _IRREGULAR.get(word, word)


def stems_of(tokens: list[Token]) -> set[str]:
    """Return the stems of tokens; function words and numbers have none."""
    return {token.stem for token in tokens if token.stem}


class Clause(NamedTuple):
    """A part of a sentence with one statement."""

    tokens: list[Token]
    words: frozenset[str]
    stems: frozenset[str]
    denials: int


def read_clauses(text: str, stem: Stem, minimum: int = MIN_STEMS) -> list[Clause]:
    """Return the clauses of a sentence; short ones are joined with the previous one."""
    joined: list[str] = []
    for part in _parts(text):
        counts = (len(stems_of(read_tokens(one, stem))) for one in (*joined[-1:], part))
        if joined and min(counts) < minimum:
            joined[-1] += f" {part}"
        else:
            joined.append(part)
    return [_clause(part, stem) for part in joined]


def _parts(text: str) -> Iterator[str]:
    start = 0
    for end in [*(border.start() for border in _CLAUSE.finditer(text)), len(text)]:
        if part := text[start:end].strip():
            yield part
        start = end


def _clause(text: str, stem: Stem) -> Clause:
    tokens = read_tokens(text, stem)
    words = frozenset(token.text for token in tokens)
    return Clause(tokens, words, frozenset(stems_of(tokens)), count_denials(text))


def count_denials(text: str) -> int:
    """Return the number of negations in a text."""
    return len(_DENIAL.findall(_FIXED_PHRASES.sub(" ", text)))


def restricts(text: str) -> bool:
    """Return whether a text restricts a statement without a negation, as "only" and "until" do."""
    return _RESTRICTION.search(text) is not None


def denies_openly(text: str) -> bool:
    """Return whether it is unclear what a text negates, as in "not until" or "does not"."""
    return _OPEN.search(_FIXED_PHRASES.sub(" ", text)) is not None
