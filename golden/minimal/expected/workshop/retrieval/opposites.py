"""Detects that one of two similarly worded texts contradicts the other."""

import re
from collections import Counter

# Negations in common languages; single characters for scripts without spaces.
_DENYING = frozenset(
    "not no never none nobody nothing neither nor cannot without unless except"
    " nicht kein keine keinen keinem keiner keines nie niemals ohne"
    " pas jamais sans aucun aucune ni nunca sin ningún ninguna ningún"
    " non mai senza nessun nessuna não nem sem nunca niet geen nooit zonder".split()
)
_DENYING_SIGNS = re.compile(r"[不没沒未無无勿禁]|ない|ません")
_PAIRS = (
    "on off|enable disable|enabled disabled|enables disables|enabling disabling|left right"
    "|before after|allow deny|allow forbid|allowed denied|allowed forbidden|allowed prohibited"
    "|permit prohibit|permitted prohibited|must may|shall may|required optional|include exclude"
    "|included excluded|includes excludes|including excluding|open close|open closed|opened closed"
    "|opens closes|start stop|started stopped|starts stops|add remove|added removed|adds removes"
    "|up down|upper lower|above below|over under|in out|into from|input output|inside outside"
    "|increase decrease|increases decreases|increased decreased|raise lower|minimum maximum"
    "|min max|least most|less more|fewer more|shorter longer|lower higher|smaller larger"
    "|earliest latest|first last|true false|yes no|always never|all none|accept reject"
    "|accepts rejects|accepted rejected|accept refuse|grant revoke|granted revoked|lock unlock"
    "|pass fail|passes fails|push pull|hot cold|wet dry|front rear|front back|top bottom"
    "|north south|east west|clockwise anticlockwise|clockwise counterclockwise|read write"
    "|public private|buyer seller|install uninstall|upgrade downgrade|with without"
    "|links rechts|vor nach|erlaubt verboten|ein aus|gauche droite|avant après|oui non"
    "|izquierda derecha|antes después|sinistra destra|prima dopo"
)
OPPOSITES: dict[str, frozenset[str]] = {}
"""Words with their antonyms."""
for _first, _second in (pair.split() for pair in _PAIRS.split("|")):
    for _one, _other in ((_first, _second), (_second, _first)):
        OPPOSITES[_one] = OPPOSITES.get(_one, frozenset()) | {_other}
_PREFIXES = "un in im il ir non dis de anti a".split()

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019]t\b)?")


def is_opposed(text: str, other: str) -> bool:
    """Return whether two texts in nearly the same words contradict each other.

    They do if one has more negations, if one has an antonym of a word in the other, or if both have
    the same two antonyms in a different order, as in "left, then right".
    """
    words, others = words_of(text), words_of(other)
    if _count_denials(words, text) != _count_denials(others, other):
        return True
    counts, other_counts = Counter(words), Counter(others)
    only, only_other = counts - other_counts, other_counts - counts
    if any(not only_other.keys().isdisjoint(opposites_of(word)) for word in only):
        return True
    if any(not only.keys().isdisjoint(_denied(word)) for word in only_other):
        return True
    return not (only or only_other) and _sides(words) != _sides(others)


def opposites_of(word: str) -> set[str]:
    """Return candidate antonyms of a lower-case word; some may not be real words."""
    return _denied(word).union(OPPOSITES.get(word, ()))


def _denied(word: str) -> set[str]:
    return {prefix + word for prefix in _PREFIXES} if len(word) > 3 else set()


def count_denials(text: str) -> int:
    """Return the number of negations in a text."""
    return _count_denials(words_of(text), text)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, keeping contractions."""
    return [word.replace("\u2019", "'") for word in _WORD.findall(text.lower())]


def _count_denials(words: list[str], text: str) -> int:
    denials = sum(word in _DENYING or word.endswith("n't") for word in words)
    return denials + len(_DENYING_SIGNS.findall(text))


def _sides(words: list[str]) -> list[str]:
    return [word for word in words if word in OPPOSITES]
