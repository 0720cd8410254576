"""Counts the words of a corpus in their original spelling, for completion and correction.

The counts of the previous index are updated: words of removed texts are subtracted, and words of
new ones added. All texts are read again only if counts are missing.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from foundry.documents.prepared import FormCounts, unpack
from foundry.files import ENGLISH_STEMS, english_pieces
from foundry.indexing.carried.carried import Carried
from foundry.indexing.files import open_stored
from foundry.indexing.queries.forms import MAX_COUNTED, SEPARATOR, count_forms, find_forms
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.encoder import CONTINUATION
from foundry.runtime.retrieval.stages.nearest_words import MAX_LENGTH, MIN_LENGTH


def count_words(spellings: Iterable[tuple[str, str, int]]) -> tuple[Counter[str], dict[str, str]]:
    """Return how often words occur in any spelling, and the usual spelling of each.

    `spellings` yields each word with one of its forms and the frequency of that form.
    """
    frequencies: Counter[str] = Counter()
    best: dict[str, tuple[int, str]] = {}
    for word, form, count in spellings:
        frequencies[word] += count
        found = best.get(word)
        if found is None or (-count, form) < found:
            best[word] = (-count, form)
    return frequencies, {word: form for word, (_, form) in best.items()}


class CorpusWords:
    """The case-folded words of a corpus: their frequencies, and their usual spelling."""

    def __init__(self, forms: Mapping[str, int], tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        spellings = ((form.casefold(), form, count) for form, count in forms.items())
        self.frequencies, self.best = count_words(spellings)

    @cached_property
    def _ranked(self) -> list[str]:
        frequencies = self.frequencies
        return sorted(sorted(frequencies), key=frequencies.__getitem__, reverse=True)

    def most_frequent(self, most: int) -> list[str]:
        """Return those of the `most` most frequent words for which `is_word` is true."""
        return [word for word in self._ranked[:most] if self.is_word(word)]

    def is_word(self, word: str) -> bool:
        """Return whether a lower-case form is one word of MIN_LENGTH to MAX_LENGTH characters."""
        if not MIN_LENGTH <= len(word) <= MAX_LENGTH:
            return False
        # ASCII words are never split, and asking the tokenizer would take a hundred times as long.
        if word.isascii():
            return True
        tokens = self._tokenizer.tokenize(word)
        is_whole = len(tokens) == 1 and tokens[0].text == word
        return is_whole and (len(tokens[0].terms) < 2 or tokens[0].is_identifier)

    @cached_property
    def right(self) -> NDArray[np.uint32]:
        """Hashes of the stems of common English words; empty for other languages."""
        if self._tokenizer.language != "english":
            return np.empty(0, dtype=np.uint32)
        return open_stored(ENGLISH_STEMS)

    @property
    def of_language(self) -> tuple[str, ...]:
        """The English words in the built-in encoder, and their stems; empty for other languages."""
        return _english_words() if self._tokenizer.language == "english" else ()


# Cached, since a command that watches its sources builds often.
@cache
def _english_words() -> tuple[str, ...]:
    tokenizer = Tokenizer("english")
    words = [
        each for each in english_pieces() if each.isalpha() and not each.startswith(CONTINUATION)
    ]
    stems = [term for word in words for term in tokenizer.terms(word)]
    return tuple(word for word in (*words, *stems) if MIN_LENGTH <= len(word) <= MAX_LENGTH)


class WordsBuilder:
    """Counts the words of new documents, starting from the counts of the previous index."""

    def __init__(self, tokenizer: Tokenizer, carried: Carried) -> None:
        self._tokenizer, self._carried = tokenizer, carried
        # None if the forms have to be counted from all texts at the end.
        self._forms = _forms_before(carried)

    def add(self, found: FormCounts) -> None:
        """Count the words of a new document."""
        if (forms := self._forms) is not None:
            counts = unpack(found.counts, np.uint32).tolist()
            for form, count in zip(found.forms.split(SEPARATOR), counts, strict=False):
                forms[form] += count
            if len(forms) > MAX_COUNTED:
                self._forms = None

    def finish(self, read_all: Callable[[], Iterator[ChunkRecord]]) -> CorpusWords:
        """Return the words of all chunks, and store their counts for the next build.

        If counts are missing, the chunks that `read_all` returns are counted, and nothing is
        stored.
        """
        forms = self._forms
        if forms is None:
            return CorpusWords(count_forms(map(_text_of, read_all())), self._tokenizer)
        if self._carried.index is not None:
            for chunk in self._carried.chunks_left_out():
                for form in find_forms(_text_of(chunk)):
                    forms[form] -= 1
        left = {form: count for form, count in forms.items() if count}
        joined = SEPARATOR.join(left).encode("utf-8", "surrogatepass")
        self._carried.leave("words.forms", np.frombuffer(joined, dtype=np.uint8))
        self._carried.leave("words.counts", np.fromiter(left.values(), dtype=np.int64))
        return CorpusWords(left, self._tokenizer)


def _text_of(chunk: ChunkRecord) -> str:
    return "\n".join([*chunk.headings(), chunk.text])


def _forms_before(carried: Carried) -> defaultdict[str, int] | None:
    """Return the form counts of the previous index.

    They are empty without a previous index, and None if its build kept none.
    """
    if carried.index is None:
        return defaultdict(int)
    joined, counts = carried.array("words.forms"), carried.array("words.counts")
    if joined is None or counts is None:
        return None
    forms = joined.tobytes().decode("utf-8", "surrogatepass").split(SEPARATOR)
    return defaultdict(int, zip(forms, counts.tolist(), strict=False))
