"""Checks that an answer contains what the question asks for: a number, a time, a negation ..."""

import re
from itertools import dropwhile, takewhile

from ...index.tokens import ENGLISH_STOP_WORDS
from ...retrieval.opposites import count_denials, opposites_of, words_of

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
    r"|pair|twice|once)"
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
_WHEN = re.compile(
    r"^\W*(?:since )?(?:when(?! (?:should|do|can|must|may|would|to)\b)|how often"
    r"|what (?:time|date|year|day))\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    rf"\b{_COUNT}\b|\d|\b{_OFTEN}\b|\b(?:when|whenever|upon|regularly|before|after|until|till"
    r"|once|during|while|if|as soon|every|each|\w*day|spring|summer|autumn|fall|winter|morning"
    rf"|noon|evening|night|week|month|year|season|always|never|now|immediately|{_MONTH})s?\b",
    re.IGNORECASE,
)
# "When was it built?" is not answered by "when it rains".
_WHEN_PAST = re.compile(r"^\W*(?:since )?when (?:was|were|did|has|have|had)\b", re.IGNORECASE)
_TIME_PAST = re.compile(
    r"\d|\b(?:before|after|during|since|until|till|ago|yesterday|\w*day|spring|summer|autumn|fall"
    rf"|winter|night|week|month|year|decade|century|centuries|era|reign|{_MONTH})s?\b",
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
_OPTION = re.compile(r"(?<![^\s`\"'(])--?[A-Za-z][\w-]*")
_MESSAGE = re.compile(r"\w[\"')\]]*:\s")
_CITATION = re.compile(r"\[\d{1,3}\]|^[ \t]*\d{1,3}[.)]", re.MULTILINE)


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


def find_missing_option(question: str, said: str) -> str | None:
    """Return the first option of the question, such as `--all`, that a text lacks; None if none."""
    return next((f'"{one}"' for one in _OPTION.findall(question) if one not in said), None)


def find_lacking(question: str, said: str) -> str | None:
    """Return a requirement of the question that no quoted sentence meets; None if all are met."""
    said = _CITATION.sub("", said)
    if _asks_for_denial(question) and not (count_denials(said) or _DENIES_SOMEHOW.search(said)):
        return '"not"'
    if (extreme := _EXTREME.search(question)) and not _ANY_EXTREME.search(said):
        return f'which is "{extreme[0].lower()}"'
    if (asked := _HOW_MANY.search(question)) and not _counts(asked[1], said):
        return "how many"
    if (much := _HOW_MUCH.search(question)) and not _AMOUNT.search(said):
        return much[0].lower()
    time = _TIME_PAST if _WHEN_PAST.search(question) else _TIME
    if _WHEN.search(question) and not time.search(said):
        return "how often" if "often" in question.lower() else "when"
    if _WHO.search(question) and not _SOMEBODY.search(said):
        return "who"
    return None


def _asks_for_denial(question: str) -> bool:
    is_told = _DENIES.search(_CONDITION.sub("", question)) is not None
    return is_told and not (_ASKS_BEYOND.match(question) or is_message(question))


def _counts(things: str, said: str) -> bool:
    """Return whether a text has a number near one of the counted words."""
    named = dropwhile(ENGLISH_STOP_WORDS.__contains__, things.lower().split())
    words = takewhile(lambda word: word not in ENGLISH_STOP_WORDS, named)
    stems = "|".join(re.escape(word.removesuffix("s")[:4]) for word in words if len(word) > 2)
    before = rf"\b{_COUNT}\b(?:\W+\w+){{0,3}}?\W+(?:{stems})"
    after = rf"\b(?:{stems})\w*(?:\W+\w+){{0,6}}?\W+{_COUNT}\b{_UNIT}"
    return any(re.search(pattern, said, re.IGNORECASE) for pattern in (before, after))
