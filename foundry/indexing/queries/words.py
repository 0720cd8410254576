"""The words of a corpus as its texts write them, counted; and what completes and corrects by them.

The counts of the previous index are updated: the words of texts that are gone are subtracted, and
those of new ones added. All texts are read again only where one of these counts is missing.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from foundry.embedding.static import MODEL_FOLDER
from foundry.indexing.files import open_stored, split, write_array, write_stretches
from foundry.indexing.handover import Handover
from foundry.indexing.previous import Previous
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.encoder import CONTINUATION, EncoderLayout
from foundry.runtime.retrieval.stages.nearest_words import MAX_LENGTH, MIN_LENGTH

MAX_COUNTED = 2_000_000
"""Different forms counted at a time; beyond, those that came up once are forgotten."""

_WORD = re.compile(r"(?<!\w)[^\W\d]+(?!\w)")


def count_forms(texts: Iterable[str]) -> Counter[str]:
    """Return the words of texts as they are written, and how often each occurs."""
    forms: Counter[str] = Counter()
    for text in texts:
        forms.update(find_forms(text))
        if len(forms) > MAX_COUNTED:
            forms = Counter({form: count for form, count in forms.items() if count > 1})
    return forms


def find_forms(text: str) -> list[str]:
    """Return the words of a text as it writes them, one after the other."""
    return _WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))


def count_words(spellings: Iterable[tuple[str, str, int]]) -> tuple[Counter[str], dict[str, str]]:
    """Return how often words occur in any spelling, and the usual spelling of each.

    `spellings` are words with a form of each, and how often that comes up.
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
    """The words of a corpus, folded: how often each comes up, and how it is mostly written.

    `known` says of words whether they are words of the `tokenizer`, and `of_language` are those of
    its language, as far as the previous build has found out.
    """

    def __init__(
        self,
        forms: Counter[str],
        tokenizer: Tokenizer,
        known: dict[str, bool] | None = None,
        of_language: list[str] | None = None,
    ) -> None:
        self._forms, self._tokenizer = forms, tokenizer
        self._known = {} if known is None else known
        self._of_language = of_language
        spellings = ((form.casefold(), form, count) for form, count in forms.items())
        self.frequencies, self.best = count_words(spellings)

    @cached_property
    def _ranked(self) -> list[str]:
        frequencies = self.frequencies
        return sorted(sorted(frequencies), key=frequencies.__getitem__, reverse=True)

    def most_frequent(self, most: int) -> list[str]:
        """Return those among the `most` most frequent that are words to the tokenizer."""
        return [word for word in self._ranked[:most] if self.is_word(word)]

    def is_word(self, word: str) -> bool:
        """Return whether a run of letters is one word: scripts without spaces have no others."""
        if (known := self._known.get(word)) is None:
            known = self._known[word] = _is_word(word, self._tokenizer)
        return known

    @cached_property
    def of_language(self) -> list[str]:
        """The whole words among the pieces of the built-in encoder, and their stems."""
        if self._of_language is not None:
            return self._of_language
        tokenizer = self._tokenizer
        if tokenizer.language != "english":
            return []
        pieces = EncoderLayout(MODEL_FOLDER).pieces.read_text(encoding="utf-8").split("\n")
        words = [each for each in pieces if each.isalpha() and not each.startswith(CONTINUATION)]
        stems = [term for word in words for term in tokenizer.terms(word)]
        return [word for word in (*words, *stems) if MIN_LENGTH <= len(word) <= MAX_LENGTH]

    def hand_over(self, handover: Handover) -> None:
        """Write what the next build can use."""
        forms = sorted(self._forms)
        encoded = [form.encode("utf-8", "surrogatepass") for form in forms]
        write_stretches(handover.word_forms, handover.word_offsets, encoded)
        counts = [self._forms[form] for form in forms]
        write_array(handover.word_counts, np.array(counts, dtype=np.int64))
        are_words = [self.is_word(form.casefold()) for form in forms]
        write_array(handover.are_words, np.array(are_words, dtype=bool))
        of_language = "\n".join(self.of_language)
        handover.language_words.write_text(of_language, encoding="utf-8", newline="\n")


def _is_word(word: str, tokenizer: Tokenizer) -> bool:
    if not MIN_LENGTH <= len(word) <= MAX_LENGTH:
        return False
    tokens = tokenizer.tokenize(word)
    is_whole = len(tokens) == 1 and tokens[0].text == word
    return is_whole and (len(tokens[0].terms) < 2 or tokens[0].is_identifier)


@dataclass(slots=True)
class _PreviousWords:
    """The forms of the previous index with their counts, and which of them are words."""

    forms: Counter[str]
    known: dict[str, bool]
    of_language: list[str]

    @classmethod
    def read(cls, handover: Handover) -> Self | None:
        if not handover.word_forms.exists():
            return None
        stretches = split(handover.word_forms.read_bytes(), open_stored(handover.word_offsets))
        forms = [each.decode("utf-8", "surrogatepass") for each in stretches]
        counts = open_stored(handover.word_counts).tolist()
        known = open_stored(handover.are_words).tolist()
        return cls(
            Counter(dict(zip(forms, counts, strict=True))),
            dict(zip(map(str.casefold, forms), known, strict=True)),
            handover.language_words.read_text(encoding="utf-8").splitlines(),
        )


class WordsBuilder:
    """Counts the words of texts as they come, on top of those of the `previous` index."""

    def __init__(self, tokenizer: Tokenizer, previous: Previous | None = None) -> None:
        self._tokenizer = tokenizer
        self._previous = None if previous is None else _PreviousWords.read(previous.handover)
        # None where the texts have to be read in the end.
        self._added: Counter[str] | None = Counter()
        if previous is not None and self._previous is None:
            self._added = None

    def add(self, text: str) -> None:
        """Count the words of a new text."""
        if self._added is not None:
            self._added.update(find_forms(text))
            if len(self._added) > MAX_COUNTED:
                self._added = None

    def finish(
        self,
        read_gone: Callable[[], Iterator[str]],
        read_all: Callable[[], Iterator[str]],
        handover: Handover | None,
    ) -> CorpusWords:
        """Return the words of all texts, and hand over what the next build can use.

        `read_gone` gives the texts of the previous index that are not in this one.
        """
        previous, forms = self._previous, self._added
        if previous is not None and forms is not None:
            forms.update(previous.forms)
            for text in read_gone():
                forms.subtract(find_forms(text))
            forms = Counter({form: count for form, count in forms.items() if count})
        is_whole = forms is not None and len(forms) <= MAX_COUNTED
        words = CorpusWords(
            forms if forms is not None and is_whole else count_forms(read_all()),
            self._tokenizer,
            *((previous.known, previous.of_language) if previous is not None else ()),
        )
        if handover is not None and is_whole:
            words.hand_over(handover)
        return words
