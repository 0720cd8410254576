"""What a question asks for that sentences may lack: a side, a denial, an extreme, a number."""

import re

from ...retrieval.opposites import count_denials, opposites_of, words_of

# Prepositions and the like, which say little of what is asked.
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
    r"\b(?:how many|number of|wie viele|combien|cu[aá]nt[oa]s|quant[ie])\b", re.IGNORECASE
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty"
    r"|forty|fifty|hundred|thousand|million|single|both|none|no|zero|pair|twice|once)\b",
    re.IGNORECASE,
)
_ANY_EXTREME = re.compile(
    rf"{_EXTREME.pattern}|\b(?:max|min|maximum|minimum|maximal|minimal|only|top|peak|record"
    r"|(?:more|less|fewer|\w{3,}er) than (?:any|all|every))\b",
    re.IGNORECASE,
)
_CITATION = re.compile(r"\[\d{1,3}\]|^[ \t]*\d{1,3}[.)]", re.MULTILINE)


def says_opposite(question: str, text: str) -> bool:
    """Return whether a text has only the opposite of a word of the question: "on" for "off"."""
    asked, said = set(words_of(question)), set(words_of(text))
    for word in asked - said - _LOOSE:
        opposites = opposites_of(word) & said
        if opposites and not opposites & asked:
            return True
    return False


def find_lacking(question: str, said: str) -> str | None:
    """Return what the question asks for and none of the quoted sentences says."""
    if count_denials(question) and not count_denials(said):
        return "what the question denies"
    if (extreme := _EXTREME.search(question)) and not _ANY_EXTREME.search(said):
        return f'which is "{extreme[0].lower()}"'
    if _HOW_MANY.search(question) and not _NUMBER.search(_CITATION.sub("", said)):
        return "how many"
    return None
