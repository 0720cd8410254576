"""Writes the words that queries are corrected by: those of the corpus and of its language."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from foundry.embedding.static import MODEL_FOLDER
from foundry.indexing.files import write_array, write_stretches
from foundry.runtime.retrieval.encoder import CONTINUATION, EncoderLayout
from foundry.runtime.retrieval.stages.nearest_words import (
    MAX_LENGTH,
    MIN_LENGTH,
    CorrectionLayout,
    mask_of,
)
from foundry.runtime.retrieval.tokens import Tokenizer

MAX_COUNTED = 2_000_000
"""Different forms counted at a time; beyond, those that came up once are forgotten."""

MAX_LETTERS = 255
WEIGHT_UNIT = 12
"""Added to a weight for each doubling of the frequency."""

_WORD = re.compile(r"(?<!\w)[^\W\d]+(?!\w)")


def write_correction(
    root: Path,
    texts: Iterable[str],
    tokenizer: Tokenizer,
    most_words: int,
    known: Iterable[str] = (),
) -> None:
    """Count the words of texts and write the files, with the `most_words` most frequent.

    `known` are texts whose words are right although no chunk may have them.
    """
    forms = count_forms(texts)
    frequencies, best = count_words((form.casefold(), form, forms[form]) for form in forms)
    ranked = sorted(frequencies.items(), key=lambda item: (-item[1], item[0]))
    words = {word: count for word, count in ranked[:most_words] if is_word(word, tokenizer)}
    # In no chunk, they keep what is right from being corrected.
    others = [form.casefold() for form in count_forms(known)]
    others = [word for word in others if is_word(word, tokenizer)]
    others += _words_of_language(tokenizer)
    words |= {word: 0 for word in others if word not in words}
    letters: Counter[str] = Counter()
    for word, count in words.items():
        letters.update(dict.fromkeys(word, count + 1))
    alphabet = sorted(letters, key=lambda letter: (-letters[letter], letter))[:MAX_LETTERS]
    codes = {letter: code for code, letter in enumerate(alphabet, start=1)}
    kept = sorted((len(word), word) for word in words if codes.keys() >= set(word))
    _write(CorrectionLayout(root), kept, codes, words, {w: best.get(w, w) for _, w in kept})


def count_forms(texts: Iterable[str], forms: Counter[str] | None = None) -> Counter[str]:
    """Return the words of texts as they are written, with how often, added to others' `forms`."""
    forms = Counter() if forms is None else forms
    for text in texts:
        normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
        forms.update(_WORD.findall(normal))
        if len(forms) > MAX_COUNTED:
            forms = Counter({form: count for form, count in forms.items() if count > 1})
    return forms


def count_words(spellings: Iterable[tuple[str, str, int]]) -> tuple[Counter[str], dict[str, str]]:
    """Return how often words come up, however they are written, and how each mostly is.

    `spellings` are words with a form of each, and how often that comes up.
    """
    frequencies: Counter[str] = Counter()
    best: dict[str, tuple[int, str]] = {}
    for word, form, count in spellings:
        frequencies[word] += count
        best[word] = min(best.get(word, (0, "")), (-count, form))
    return frequencies, {word: form for word, (_, form) in best.items()}


def weight_of(frequency: int) -> int:
    """Return a frequency as a byte, by its logarithm; 0 for 0."""
    return min(255, round(WEIGHT_UNIT * math.log2(1 + frequency)))


def is_word(word: str, tokenizer: Tokenizer) -> bool:
    """Return whether a run of letters is one word: scripts without spaces have no others."""
    if not MIN_LENGTH <= len(word) <= MAX_LENGTH:
        return False
    tokens = tokenizer.tokenize(word)
    is_whole = len(tokens) == 1 and tokens[0].text == word
    return is_whole and (len(tokens[0].terms) < 2 or tokens[0].is_identifier)


def _words_of_language(tokenizer: Tokenizer) -> list[str]:
    """Return the whole words among the pieces of the built-in encoder, and their stems."""
    if tokenizer.language != "english":
        return []
    pieces = EncoderLayout(MODEL_FOLDER).pieces.read_text(encoding="utf-8").split("\n")
    words = [piece for piece in pieces if piece.isalpha() and not piece.startswith(CONTINUATION)]
    stems = [term for word in words for term in tokenizer.terms(word)]
    return [word for word in (*words, *stems) if MIN_LENGTH <= len(word) <= MAX_LENGTH]


def _write(
    layout: CorrectionLayout,
    words: list[tuple[int, str]],
    codes: dict[str, int],
    frequencies: dict[str, int],
    forms: dict[str, str],
) -> None:
    layout.root.mkdir()
    lengths = [length for length, _ in words]
    starts = np.searchsorted(lengths, np.arange(MAX_LENGTH + 2)).astype(np.uint32)
    spelt = [[codes[letter] for letter in word] for _, word in words]
    weights = [weight_of(frequencies[word]) for _, word in words]
    written = [forms[word].encode() for _, word in words]
    layout.alphabet.write_bytes("".join(codes).encode())
    write_array(layout.starts, starts)
    write_array(layout.letters, np.array([code for word in spelt for code in word], dtype=np.uint8))
    write_array(layout.masks, np.array([mask_of(word) for word in spelt], dtype=np.uint64))
    write_array(layout.weights, np.array(weights, dtype=np.uint8))
    write_stretches(layout.forms, layout.form_offsets, written)
