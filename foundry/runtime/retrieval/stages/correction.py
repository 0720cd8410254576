"""Spelling correction: a query word in no chunk is replaced by the nearest word of the corpus.

Some words are never corrected: words with digits, acronyms, options, URLs, matches of
`identifier_patterns`, quoted text, names unless the correction is a name too, dictionary words and
their contractions, words that the corpus has in another spelling, and words that are closer to a
dictionary word than to any of the corpus.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from ...index.reader import Index, OpenedIndex
from ...index.tokens import MAX_QUERY_CHARACTERS
from ..identifiers import Patterns, is_written_identifier, whole_terms
from ..journal import Journal, quote
from ..respelling import respell
from ..timing import stage
from .nearest_words import MAX_LENGTH, Words

MIN_CORRECTED = 4  # Shorter words are never corrected.
MAX_ACRONYM = 6
# Maximum numbers per query of parts read, words checked and words looked up.
MAX_PARTS, MAX_JUDGED, MAX_LOOKED_UP = 64, 64, 4
# Cost of a lookup: LOOKUP_UNITS, plus one unit per WORDS_OF_UNIT indexed words.
LOOKUP_UNITS, WORDS_OF_UNIT = 9_000, 32

STAGE = FOLDER = "correction"  # Also the name of the folder in an index.

_PART = re.compile(r"[\"\u201c\u201e][^\"\u201c-\u201e]*[\"\u201c\u201d]|[\w.:/@'\u2019-]+")
_RUN, _DIGIT = re.compile(r"\w+"), re.compile(r"\d")
# The `don` of `don't` is not a word; the `Neill` of `O'Neill` and the `avion` of `l'avion` are.
_WORD = re.compile(r"(?<![^\W\d])[^\W\d]++(?!['\u2019][tT]\b)")


def open_words(index: OpenedIndex) -> Words:
    """Memory-map the words of an index. Raises IndexUnusableError if it has none."""
    return Words.open(index.layout.root / FOLDER)


@stage("correct")
def correct_query(index: Index, query: str, patterns: Patterns, journal: Journal) -> str:
    """Return the query with words in no chunk corrected, and note this in the journal.

    The journal's `original` is a query that searches for the words as typed.
    """
    words = index.part(open_words)
    demanded = journal.stages.get("operators", {})
    kept = (
        " ".join([*demanded.get("phrases", ()), *demanded.get("required", ())]).casefold().split()
    )
    normal = unicodedata.normalize("NFKC", query[:MAX_QUERY_CHARACTERS])[:MAX_QUERY_CHARACTERS]
    names = _find_names(normal)
    looked_up = 0
    judged: dict[str, str] = {}
    units = LOOKUP_UNITS + len(words.forms) // WORDS_OF_UNIT

    @cache
    def spelt() -> set[str]:
        """Return the words of compounds that texts contain, in open or closed form."""
        tokens = respell(index, index.tokenizer.tokenize_query(normal)[1], journal)
        found = [one for one in tokens if one.spellings and _is_known(index, one.terms)]
        return {word for token in found for word in _WORD.findall(token.text)}

    def correct(match: re.Match[str]) -> str:
        nonlocal looked_up
        word = match[0]
        if word in judged or len(judged) == MAX_JUDGED or looked_up == MAX_LOOKED_UP:
            return judged.get(word, word)
        judged[word] = word
        if word.casefold() not in kept and _may_err(index, word) and word not in spelt():
            looked_up += 1
            if not journal.spend(STAGE, units):
                looked_up = MAX_LOOKED_UP
                return word
            judged[word] = _correct(index, words, word, is_name=word in names) or word
        return judged[word]

    def correct_part(match: re.Match[str]) -> str:
        part = match[0]
        if is_written_identifier(part, patterns) or not _is_prose(part):
            return part
        return _WORD.sub(correct, part)

    said = _PART.sub(correct_part, normal, count=MAX_PARTS)
    corrected = {word: found for word, found in judged.items() if found != word}
    if not corrected:
        return query
    # Every word is looked up, since compiling a pattern of the corrected ones would take longer.
    original = _RUN.sub(lambda run: f'"{run[0]}"' if run[0] in corrected else run[0], normal)
    notice = f"Showing results for: {said}"
    told = [
        f"No document contains {quote([word])}; searched for {quote([found])} instead."
        for word, found in corrected.items()
    ]
    journal.note(STAGE, *told, query=said, corrected=corrected, original=original, notice=notice)
    return said


def _is_prose(part: str) -> bool:
    """Return whether a part of a query is prose: not quoted, not an identifier and not a URL."""
    is_quoted = part[0] in '"\u201c\u201e'
    return not is_quoted and "//" not in part and "@" not in part and not _DIGIT.search(part)


def _find_names(query: str) -> set[str]:
    """Return the words with inner capitals, and those capitalised within a sentence."""
    words = _WORD.findall(query)
    is_sentence = any(map(str.islower, words))
    capitalised = {word for word in words[1:] if word.istitle()} if is_sentence else set()
    return capitalised | {w for w in words if not (w.islower() or w.istitle() or w.isupper())}


def _may_err(index: Index, word: str) -> bool:
    """Return whether a word could be a typo: long enough, not an acronym, and in no chunk."""
    if not MIN_CORRECTED <= len(word) <= MAX_LENGTH:
        return False
    if word.isupper() and len(word) <= MAX_ACRONYM:
        return False
    terms = [term for one in index.tokenizer.tokenize(word) for term in whole_terms(one)]
    return bool(terms) and not _is_known(index, terms)


def _is_known(index: Index, terms: Iterable[str]) -> bool:
    return any(map(index.keyword_lane.frequency, terms))


def _correct(index: Index, words: Words, word: str, *, is_name: bool) -> str | None:
    folded = word.casefold()
    found = words.nearest(folded)
    if found is None or not found.weight or (is_name and found.form.islower()):
        return None
    # Typos are rarely in the first letter, and two edits can turn most words into another.
    if found.edits > 1 and found.form[0].casefold() != folded[0]:
        return None
    # Inflected forms of dictionary words count as correct.
    if found.edits and any(map(words.is_right, _stems(index, folded))):
        return None
    if found.form.islower() or found.form.istitle():
        return found.form.title() if word.istitle() else found.form.lower()
    return found.form


def _stems(index: Index, word: str) -> list[str]:
    tokens = index.tokenizer.tokenize(word)
    return [term for token in tokens if not token.is_identifier for term in token.terms]
