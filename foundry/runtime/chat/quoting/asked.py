"""Checks that an answer contains what the question asks for: a number, a time, a negation ..."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import dropwhile, takewhile
from typing import NamedTuple

from ...index.tokens import ENGLISH_STOP_WORDS
from ...retrieval.opposites import DENYING, DENYING_SIGNS, opposites_of, words_of

DENIED_WORDS = 4  # A denied word is fewer than this many words from its denial.

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
MONTHS = {word: str(month) for month, word in enumerate(_MONTHS, start=1)}
# "You may march" names no month.
_MONTH = rf"(?-i:{'|'.join(map(str.title, MONTHS))})"

# Words so common that their opposites do not show that a text is about something else.
_LOOSE = frozenset(
    "in out into from over under with without yes no may must shall all none front back first last"
    " less more read write least most".split()
)
_EXTREME = re.compile(
    r"(?<!at )\b(?:(?:most|least) \w{3,}|(?:most|least|best|worst|highest|lowest|largest|smallest"
    r"|biggest|greatest|longest|shortest|fastest|slowest|cheapest|dearest|oldest|newest|youngest"
    r"|heaviest|lightest|strongest|weakest|hottest|coldest|deepest|widest|narrowest|thickest"
    r"|thinnest|tallest|richest|poorest|safest|easiest|hardest|simplest|earliest|nearest|farthest"
    r"|furthest|closest|fewest|busiest|quietest|loudest|cleanest|brightest|darkest|softest"
    r"|warmest|coolest|steepest|rarest)\b)",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    r"\b(?:how many|(?:what|which) number of|wie viele|combien de|cu[aá]nt[oa]s|quant[ie])"
    r"((?: (?!(?:must|may|might)\b)\w+){0,3})",
    re.IGNORECASE,
)
_COUNT = (
    r"(?:\d[\d.,]*|all|every|only|unlimited|one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|dozen|twenty|thirty|forty|fifty|hundred|thousand|million|single|both|none|no|zero"
    r"|pair|twice|once"
    r"|eine?[nmrs]?|zwei|drei|vier|f\u00fcnf|sechs|sieben|acht|neun|zehn|elf|zw\u00f6lf|zwanzig"
    r"|hundert|tausend|alle[nr]?|beiden?|kein\w*|une?|deux|trois|quatre|cinq|sept|huit|neuf|dix"
    r"|cent|mille|tous|toutes|un[oa]|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|cien|mil"
    r"|todos|todas|ningun[oa]|tre|quattro|cinque|sei|sette|otto|nove|dieci|tutt[ie])"
)
_UNIT = r"(?! ?(?:(?!(?:as|at|by|if|in|is|of|on|or|to)\b)[^\W\d_]{1,2}\b|%|°))"
_DENIES = re.compile(
    r"\b(?:not|never|cannot|no|none|nobody|nothing)\b|n['\u2019]t\b|\b(?:nicht|kein\w*|jamais|nunca)\b",
    re.IGNORECASE,
)
_DENIES_SOMEHOW = re.compile(
    r"\b(?:fail|unable|refus|reject|prohibit|forbid|forbidden|avoid|prevent|lack|missing|stop|only"
    r"|instead|ignor|skip|exclu|except|omit|hid[ed]|suppress|without|optional|un\w{4}|dis\w{4})",
    re.IGNORECASE,
)
# The answer to "why does it not start" or "what if it does not start" need not deny anything.
_ASKS_BEYOND = re.compile(
    r"^\W*(?:why|how|when|where|what (?:can|could|do|does|happens|if|should|to|will|would)|warum"
    r"|wieso|weshalb|wie|pourquoi|comment|por qu|c[o\u00f3]mo)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|when|while|unless|because|after|before)\b.*", re.IGNORECASE)
_HOW_MUCH = re.compile(r"\bhow (?:much|long|far|old|big|high|deep|heavy)\b", re.IGNORECASE)
_OFTEN = r"(?:hour|dai|week|month|quarter|year|annual|night)ly"
_AMOUNT = re.compile(
    rf"\b{_COUNT}\b|\d|\b(?:half|quarter|third|all|every|each|always|never|until|enough|free"
    rf"|as (?:much|long)|nothing|few|several|many|most|per|forever|indefinitely|permanently"
    rf"|midnight|noon|an? (?:second|minute|moment|hour|day|week|month|year))\b",
    re.IGNORECASE,
)
_VERSION = r"(?:(?:since|in|from|as of) )?(?:what|which) (?:version|release)"
_WHEN = re.compile(
    r"^\W*(?:since )?(?:when(?! (?:should|do|can|must|may|would|to)\b)|how often"
    rf"|what (?:time|date|year|day)|{_VERSION})\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    rf"\b{_COUNT}\b|\d|\b{_OFTEN}\b|\b(?:when|whenever|upon|regularly|before|after|until|till"
    r"|once|during|while|if|as soon|every|each|\w*day|spring|summer|autumn|fall|winter|morning"
    rf"|noon|evening|night|week|month|year|season|always|never|now|immediately|{_MONTH})s?\b",
    re.IGNORECASE,
)
# "When was it built?" is not answered by "when it rains", nor by any number.
_WHEN_PAST = re.compile(
    rf"^\W*(?:(?:since )?when (?:was|were|did|has|have|had)|{_VERSION})\b", re.IGNORECASE
)
_DATE = r"\bv?\d+\.\d|\bv\d|\b(?:1\d|20)\d\d\b"
_TIME_PAST = re.compile(
    rf"{_DATE}|\b(?:(?:versions?|releases?|in|since|from|until|by|around|circa|about|of) \d|before"
    r"|after|during|since|until|till|ago|yesterday|\w*day|spring|summer|autumn|fall|winter|night"
    rf"|week|month|year|decade|century|centuries|era|reign|{_MONTH})s?\b",
    re.IGNORECASE,
)
# `2.1 (2024-05-01)` or `Pump v2 Release Notes`, but not `3.1 Installation`
_DATED = re.compile(
    r"\W*(?:[\w.,'-]+\s+){0,3}?(?:v?\d+(?:\.[\dx]+)+[\w.+-]*|v\d+|(?:1\d|20)\d\d[\d./-]*)"
    rf"(?:\W|\d|\b(?:{_MONTH}|releases?|released|notes|changes|changelog|on)\b)*",
    re.IGNORECASE,
)
_WHO = re.compile(r"^\W*(?:who|whose|by whom)\b", re.IGNORECASE)
# A name inside a sentence, or a word for people.
_SOMEBODY = re.compile(
    r"(?<=[^.!?:\n] )[*_\"(]*[A-Z]\w+|\b(?i:you|we|he|she|they|people|person|owners?|users?|admins?"
    r"|root|roles?|\w*m[ae]n|team|staff"
    r"|(?:any|every|some|no)(?:one|body)|\w{3,}(?:[^aeiou]er|or|ist|ian|ee)s?)\b"
)
_ANY_EXTREME = re.compile(
    rf"{_EXTREME.pattern}|\b(?:max|min|maximum|minimum|maximal|minimal|only|top|peak|record"
    r"|quickest|recommend\w*|prefer\w*|ideal|optimal|simply|easily|usually|typically|often|current"
    r"|at least|at most|up to|(?:and|or) (?:later|newer|older|earlier|above|below|higher|lower|up)"
    r"|(?:more|less|fewer|\w{3,}er) than (?:any|all|every))\b",
    re.IGNORECASE,
)
# Command-line options, and names such as `HEAD^2`.
_OPTION = re.compile(r"(?<![^\s`\"'(])(?:--?[A-Za-z][\w-]*|[A-Za-z]\w*[\^~]\d*)")
_MESSAGE = re.compile(r"\w[\"')\]]*:\s")
_CLAUSE_END = re.compile(r"[.,;:!?\n]+")
_CITATION = re.compile(r"\[\d{1,3}\]|^[ \t]*\d{1,3}[.)]", re.MULTILINE)


class Requirement(NamedTuple):
    """What a question asks for, in words, and a function that finds it in a text."""

    name: str
    is_met: Callable[[str], object]
    may_be_above: bool = False  # Whether a heading may meet it


def says_opposite(question: str, text: str) -> bool:
    """Return whether a text has only the opposite of a word in the question: "on" for "off"."""
    asked, said = set(words_of(question)), set(words_of(text))
    for word in asked - said - _LOOSE:
        opposites = opposites_of(word) & said
        if opposites and not opposites & asked:
            return True
    return False


def is_message(question: str) -> bool:
    """Return whether a question looks like a program's message: `error: no such file`."""
    return "?" not in question and _MESSAGE.search(question) is not None


def read_requirements(question: str) -> tuple[Requirement, ...]:
    """Return what an answer must contain, such as an option of the question, or a number."""
    return tuple(_requirements(question))


def find_lacking(requirements: Iterable[Requirement], said: str, above: str = "") -> str | None:
    """Return the first requirement that a text and the headings above it do not meet, or None."""
    said = _CITATION.sub("", said)
    for name, is_met, may_be_above in requirements:
        if not (is_met(said) or (may_be_above and is_met(above))):
            return name
    return None


def _requirements(question: str) -> Iterator[Requirement]:
    for option in _OPTION.findall(question):
        yield Requirement(f'"{option}"', partial(_contains, option), may_be_above=True)
    if _asks_for_denial(question):
        asked_words = (word for word in words_of(question) if word not in ENGLISH_STOP_WORDS)
        yield Requirement('"not"', partial(_denies, _stems(asked_words)))
    if extreme := _EXTREME.search(question):
        yield Requirement(f'which is "{extreme[0].lower()}"', _ANY_EXTREME.search)
    if asked := _HOW_MANY.search(question):
        yield Requirement("how many", _pattern_of_counts(asked[1]).search)
    if much := _HOW_MUCH.search(question):
        yield Requirement(much[0].lower(), _AMOUNT.search)
    if _WHEN.search(question):
        time = _TIME_PAST if asks_for_date(question) else _TIME
        asked_as = re.search(r"often|version|release", question.lower())
        name = {"often": "how often", None: "when"}.get(asked_as and asked_as[0], "which version")
        yield Requirement(name, time.search, may_be_above=time is _TIME_PAST)
    if _WHO.search(question):
        yield Requirement("who", _SOMEBODY.search)


def find_dated(headings: Iterable[str]) -> str:
    """Return the first heading with a date or a version, such as `2.1 (2024-05-01)`; "" if none."""
    return next(filter(_DATED.fullmatch, headings), "")


def asks_for_date(question: str) -> bool:
    """Return whether a question asks when something happened, or in which version."""
    return _WHEN_PAST.search(question) is not None


def _contains(option: str, said: str) -> bool:
    return option in said


def _denies(stems: tuple[str, ...], said: str) -> bool:
    """Return whether a text denies something near one of these stems, or ends with a denial."""
    if _DENIES_SOMEHOW.search(said) or DENYING_SIGNS.search(said):
        return True
    for words in map(words_of, _CLAUSE_END.split(said)):
        for place, word in enumerate(words, start=1):
            if word in DENYING or word.endswith("n't"):
                near = words[max(0, place - DENIED_WORDS) : place + DENIED_WORDS - 1]
                if place == len(words) or any(each.startswith(stems) for each in near):
                    return True
    return False


def _asks_for_denial(question: str) -> bool:
    is_told = _DENIES.search(_CONDITION.sub("", question)) is not None
    return is_told and not (_ASKS_BEYOND.match(question) or is_message(question))


def _pattern_of_counts(things: str) -> re.Pattern[str]:
    """Return a pattern for a number near one of the counted words."""
    named = dropwhile(ENGLISH_STOP_WORDS.__contains__, things.lower().split())
    words = takewhile(lambda word: word not in ENGLISH_STOP_WORDS, named)
    stems = "|".join(map(re.escape, _stems(words)))
    before = rf"\b{_COUNT}\b(?:\W+\w+){{0,3}}?\W+(?:{stems})"
    after = rf"\b(?:{stems})\w*(?:\W+\w+){{0,6}}?\W+{_COUNT}\b{_UNIT}"
    # "More than `max_size` times" names the number by a setting.
    setting = rf"\b(?:than|least|most|up to) \S*[\w`][._`]\S* (?:{stems})"
    return re.compile(f"{before}|{after}|{setting}", re.IGNORECASE)


def _stems(words: Iterable[str]) -> tuple[str, ...]:
    """Return the first letters of words."""
    return tuple(word.removesuffix("s")[:4] for word in words if len(word) > 2)
