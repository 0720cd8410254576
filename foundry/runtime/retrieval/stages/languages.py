"""Detects questions in a language other than the documents'; such questions match few passages.

A question is in another language if it contains at least two of that language's most frequent
words, and more of them than of the documents' language, or if most of its letters are from another
script. If these words occur in many chunks, they belong to the documents' language, even if
another language is configured.
"""

import re
import unicodedata
from collections.abc import Iterable

from ...index.heading_terms import query_terms
from ...index.reader import Index
from ...index.tokens import ENGLISH_STOP_WORDS
from ..journal import Journal
from ..timing import stage

STAGE = "languages"
MIN_WORDS = 2  # Minimum number of frequent words of the other language
BUILT_IN_MODEL = "static-en"  # Other models may be multilingual.

_WORD = re.compile(r"[^\W\d_]+")
_LISTS = {
    "dutch": "de het een van en dat niet op te met zijn aan er bij wordt die hoe wat welke waar"
    " wie wanneer waarom hoeveel kan ik je",
    "french": "le la les des et est une dans que pour qui sur pas avec par au aux du ce sont quel"
    " quelle quels quelles quoi combien comment où quand pourquoi je il elle de l d qu fut a",
    "german": "der die und das ist nicht ein eine einen mit für von den dem auf sich wird werden"
    " zu wie was welche welchem welchen welcher welches wer wo wann warum wieviel viele kann ich"
    " man im des bei als hat hatte wurde wurden gibt nach über durch um vom zum zur",
    "italian": "il lo gli le di che e è un una per con non del della nel sono come si dei chi"
    " cosa quale quali quando dove perché quanto quanti",
    "portuguese": "o os as de que e em um uma é por para com não do da se como mais são qual quais"
    " quem onde quando quanto quantos",
    "spanish": "el la los las de que y en un una es por para con no del se como su más qué cuál"
    " cuáles quién quiénes cómo cuándo dónde cuánto cuántos cuánta cuántas fue ha",
}
COMMON_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}
COMMON_WORDS["english"] = ENGLISH_STOP_WORDS | {"what", "which", "who", "how", "when", "where"}


@stage("languages")
def note_language(index: Index, query: str, journal: Journal, *, share: float) -> None:
    """Note in the journal if a query seems to be in a language other than the documents'.

    Nothing is noted if the words that indicate the language occur, on average, in more than a
    `share` of the chunks, or if the index's semantic model is not the built-in one.
    """
    language, dense = index.manifest.language, index.manifest.dense
    if dense is not None and dense["model"] != BUILT_IN_MODEL:
        return
    words = set(_WORD.findall(query.lower()))
    found = _other_language(words, language)
    if found is None or _has_words(index, found[1], share):
        return
    said = f"in {found[0].title()}" if found[0] else "in another language"
    known = "" if language == "none" else f", which are in {language.title()}"
    notice = f"The question seems to be {said}, so it matches little in the documents{known}."
    journal.note(STAGE, language=found[0], notice=notice)


def _other_language(words: set[str], language: str) -> tuple[str | None, list[str]] | None:
    """Return another language than `language`, if known, and the words that indicate it.

    Returns None if nothing indicates another language.
    """
    own = COMMON_WORDS.get(language, frozenset[str]())
    latin = [word for word in words if _is_latin(word)]
    if language in COMMON_WORDS and sum(map(len, latin)) * 2 < sum(map(len, words)):
        return None, sorted(words.difference(latin))
    theirs = {name: sorted(words & common - own) for name, common in COMMON_WORDS.items()}
    theirs.pop(language, None)
    name = max(theirs, key=lambda name: (len(theirs[name]), name))
    is_other = len(theirs[name]) >= max(MIN_WORDS, len(words & own) + 1)
    return (name, theirs[name]) if is_other else None


def _is_latin(word: str) -> bool:
    return "LATIN" in unicodedata.name(word[0], "")


def _has_words(index: Index, words: Iterable[str], share: float) -> bool:
    terms = {term for word in words for term in query_terms(index.tokenizer.tokenize(word))}
    count = sum(map(index.keyword_lane.frequency, terms))
    return count > share * index.chunk_count * max(1, len(terms))
