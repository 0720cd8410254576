"""Reads the statements of a language model: its sentences, and the numbers in them.

Headings, code, questions, courtesies and lead-ins that end in a colon are not claims. Neither are
sentences saying that the documents do not answer the question. Word lists are English.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .conversation import ENGLISH, word_set
from .text import find_sentence_ends

MAX_CHARACTERS = 1_000  # Longer sentences are compared only up to this length.

# Words that a paraphrase of a statement may add or drop.
LIGHT_WORDS = ENGLISH.empty | word_set(
    "also already always anybody anyone anything away back between both bring call called carry"
    " case come either even ever every everybody everyone everything far few goes going however"
    " immediately instead keep kept know less long look made might must never nobody none nothing"
    " now often once others out own part people per person place put quite rather really several"
    " since some somebody someone something soon still sure take taken than things though together"
    " took toward try turn under until upon use used usually way well whatever whenever whether"
    " whoever whole within yet"
)
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: 10 * tens for tens, word in enumerate(_TENS, start=2)},
    **{"once": 1, "twice": 2, "hundred": 100, "thousand": 1_000, "million": 1_000_000},
}
UNCOUNTED = ("zero", "one", "once")  # These words are usually not numbers.

_NUMBER = re.compile(r"(?<![^\W\d])(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)|\d+(?:\.\d+)?)")
_WORD = re.compile(r"[^\W\d_]+")

_CITATIONS = re.compile(r"(?:[ \t]*\[[0-9]{1,3}\])+")
_CITED = re.compile(r"\[([0-9]{1,3})\]")
_SPACES = re.compile(r"[ \t\r\n]+")
_MARKS_BEFORE = re.compile(r"(?:\s|[>|]|[-*+\u2022](?=\s)|[0-9]{1,3}[.)](?=\s))*")
_ROW = re.compile(r"\n(?=[ \t]*\|)")
# Not claims: code, headings and the headers of tables.
_SILENT = re.compile(
    r"^[ \t]*(?:(```|~~~)(?s:.*?)(?:^[ \t]*\1[^\n]*$|\Z)|#{1,6}[ \t][^\n]*"
    r"|\|[^\n]*\n[ \t]*\|(?=[^\n]*-)[ \t|:-]+$|(\*\*|__)(?:(?!\2)[^\n])*(?<![.!])\2[ \t]*$)",
    re.MULTILINE,
)
_DOCUMENTS = r"\b(?:passages?|documents?|documentation|sources?|texts?|excerpts?|contexts?)\b"
_TELL = (
    "(?:say|state|mention|contain|specify|provide|describe|give|include|cover|explain|indicate"
    "|answer|address|discuss|name|tell|hold|have|offer)"
)
# Atomic groups keep matching linear in the length of hostile output.
_NO_CLAIM = re.compile(
    r".*[:?\uff1a\uff1f\u061f][\s\"'*_)]*\Z"
    r"|(?:sure|certainly|of course|hello|hi|thanks|thank you|you(?: a|['\u2019])re welcome|i hope"
    r"|let me know|feel free|please (?:let|ask)|if you (?:need|want|have) (?:any|more|further)"
    r"|here (?:is|are))\b"
    rf"|(?>.*?{_DOCUMENTS})(?>.*?(?:\b(?:not|never)\b|n['\u2019]t\b)).*?\b{_TELL}"
    rf"|(?>.*?{_DOCUMENTS}).*?\b{_TELL}s? (?:no|nothing)\b"
    r"|.*?\bno (?:information|mention|passage|answer|details?)\b"
    r"|.*?\b(?:could|can|did|do) ?(?:not|n['\u2019]t) (?:find|answer|know|tell)\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, its text without citations, and the numbers of cited passages."""

    sentence: str
    text: str
    cited: frozenset[int]


def read_claims(answer: str) -> Iterator[Claim]:
    """Yield the claims of an answer, in order."""
    # Line breaks end sentences, so they can replace code and headings.
    text = _SILENT.sub(lambda silent: "\n" * len(silent[0]), answer)
    start = 0
    for end in [*_ends(text), len(text)]:
        begun = _MARKS_BEFORE.match(text, start, end)
        sentence = text[begun.end() if begun else start : end].rstrip(" \t\r\n|")
        plain = _SPACES.sub(" ", _CITATIONS.sub(" ", sentence)).strip()
        if any(map(str.isalnum, plain)) and not _NO_CLAIM.match(plain):
            cited = frozenset(map(int, _CITED.findall(sentence)))
            yield Claim(sentence, plain[:MAX_CHARACTERS], cited)
        start = end


def _ends(text: str) -> Iterator[int]:
    """Yield where sentences and table rows end; citations after a full stop are included."""
    rows = (row.end() for row in _ROW.finditer(text))
    for end in sorted({*find_sentence_ends(text, 0, len(text)), *rows}):
        citations = None if text[end - 1] == "\n" else _CITATIONS.match(text, end)
        yield citations.end() if citations else end


def numbers_of(text: str) -> dict[str, str]:
    """Map each number in a text, as digits (`95`), to how it is written (`95`, `ninety-five`)."""
    found = {}
    for written in _NUMBER.findall(text):
        found[f"{float(re.sub(r'[^0-9.]', '', written)):.12g}"] = written
    # "Ninety-five" is 95, not 90 and 5.
    spoken: list[tuple[int, int, int]] = []
    before = start = 0
    lowered = text.lower()
    for word in _WORD.finditer(lowered):
        value = NUMBER_WORDS.get(word[0], 0)
        is_next = value >= 100 > before > 0 or (before in range(20, 100, 10) and 0 < value < 10)
        if is_next:
            value = value * before if value >= 100 else value + before
            spoken.pop()
        else:
            start = word.start()
        if word[0] in NUMBER_WORDS:
            spoken.append((value, start, word.end()))
        before = value
    for value, start, end in spoken:
        found.setdefault(str(value), lowered[start:end])
    return found
