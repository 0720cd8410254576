"""Embeds text with a table of word pieces, without a network or a model runtime.

A text's vector is the normalised, weighted sum of the rows of its pieces (a learned form of the
smooth-inverse-frequency average: Arora, Liang and Ma 2017); a piece that occurs n times counts
sqrt(n) times. Words are split greedily into the longest pieces (WordPiece: Schuster and Nakajima
2012). The same text yields the same bytes on every machine: integer products are summed in float64
far below 2**53, and everything else is exact or fully defined by IEEE 754.
"""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexUnusableError
from ..index.layout import OTHER_VERSION_HINT, IndexFiles, open_array, require_vectors
from ..index.patterns import SPACELESS
from ..index.protocols import Vector
from ..index.remembering import remember
from ..index.spelling import american
from .timing import stage

FORMAT_VERSION = 1
CONTINUATION = "##"  # Prefix of a piece that continues a word.

BEGINNING = 4  # Length of the prefix by which candidate pieces are looked up.
MAX_WORD_LENGTH = 128  # Longer runs, mostly encoded data, count as not covered.

MAX_CHARACTERS = 2**20
MAX_WEIGHT = 2**15
# Fixed point of sqrt(n): 2**20 pieces * 2**15 * 2**8 * 2**7 stay below 2**53.
COUNT_UNIT = 2**8
LARGEST = 2.0**20
PROBE_TOLERANCE = 1e-3  # The probe vector of an index has three decimal places.

SIGN_LETTERS = 3  # A character of a script without spaces counts as this many letters.

_WORD = re.compile(r"[^\W_]+")
_SIGN = re.compile(f"[{SPACELESS}]")
_beginning = itemgetter(slice(BEGINNING))


class EncoderLayout:
    """The files of an encoder of V pieces and d dimensions under `root`."""

    def __init__(self, root: Path) -> None:
        self.pieces = root / "pieces.txt"  # UTF-8, one piece per line, in row order.
        self.table = root / "table.i8.npy"  # int8 (V, d)
        # int32 (V,), 0 to `MAX_WEIGHT`: the piece's weight times its row's scale
        self.weights = root / "weights.npy"
        self.description = root / "encoder.json"  # `EncoderDescription`


@dataclass(frozen=True, slots=True)
class EncoderDescription:
    """Name and properties of an encoder.

    `minimum_coverage` is the share of a text's letters that pieces must cover. `common` is the
    cosine of unrelated texts. It is added to vectors, because fixed fusion weights expect cosines
    on that scale. `sha256` covers pieces, table and weights, in this order.
    """

    name: str
    dimensions: int
    minimum_coverage: float
    common: float
    sha256: str
    language: str = "none"
    format: int = FORMAT_VERSION


class Word(NamedTuple):
    """The rows of a word's pieces, and how many of its letters and digits they cover."""

    rows: tuple[int, ...]
    letters: int
    covered_letters: int
    digits: int
    covered_digits: int


def split_words(text: str) -> list[str]:
    """Return the runs of letters and digits in a text, case-folded, without accents."""
    if text.isascii():
        return _WORD.findall(text.lower())
    decomposed = unicodedata.normalize("NFKD", text.replace("\u00ad", ""))
    bare = "".join(filter(lambda character: not unicodedata.combining(character), decomposed))
    return _WORD.findall(bare.casefold())


class PieceCutter:
    """Splits case-folded words into rows of pieces, with a cache of `entries` words."""

    def __init__(self, pieces: Sequence[str], language: str = "none", entries: int = 8_192) -> None:
        self.numbers = dict(zip(pieces, range(len(pieces)), strict=True))
        ordered = sorted(pieces, key=len)
        longest = dict(zip(map(_beginning, ordered), map(len, ordered), strict=True))
        cut = partial(_cut_word, self.numbers, longest, language == "english")
        self.cut_word = remember(cut, entries)

    def cut(self, text: str) -> list[Word]:
        """Split a text into words and pieces; only the first MAX_CHARACTERS are read."""
        return [*map(self.cut_word, split_words(text[:MAX_CHARACTERS]))]


def _cut_word(
    numbers: Mapping[str, int], longest: Mapping[str, int], is_english: bool, text: str
) -> Word:
    """Cut a word: repeatedly take the longest piece, skipping characters that begin none."""
    if is_english:
        text = american(text)
    start, rest, passed = (0, text, "") if len(text) <= MAX_WORD_LENGTH else (0, "", text)
    rows: list[int] = []
    while len(rest) > start:
        stop = min(len(rest), longest.get(rest[:BEGINNING], BEGINNING - 1))
        while stop > start and rest[:stop] not in numbers:
            stop -= 1
        if stop > start:
            rows.append(numbers[rest[:stop]])
        else:
            passed += rest[start]
            stop += 1
        rest, start = CONTINUATION + rest[stop:], len(CONTINUATION)
    letters, missed = (sum(map(str.isalpha, each)) for each in (text, passed))
    digits = len(text) - letters
    covered_digits = digits - len(passed) + missed
    more, more_missed = ((SIGN_LETTERS - 1) * len(_SIGN.findall(each)) for each in (text, passed))
    letters, missed = letters + more, missed + more_missed
    return Word(tuple(rows), letters, letters - missed, digits, covered_digits)


# A new version of an index usually has the same pieces.
@lru_cache(maxsize=1)
def _cutter(lines: bytes, language: str) -> PieceCutter:
    return PieceCutter(lines.decode().split("\n")[:-1], language)


@dataclass(slots=True)
class PieceEncoder:
    """A table of pieces (V, d) and their weights (V,), all integers."""

    description: EncoderDescription
    pieces: PieceCutter
    table: NDArray[np.int8]
    weights: NDArray[np.float64]

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Memory-map the files of an encoder. Raises IndexUnusableError."""
        layout = EncoderLayout(directory)
        try:
            description = EncoderDescription(**json.loads(layout.description.read_bytes()))
            pieces = _cutter(layout.pieces.read_bytes(), description.language)
        except (OSError, ValueError, TypeError) as error:
            raise IndexUnusableError(f"{directory}: unreadable: {error}") from None
        if description.format != FORMAT_VERSION:
            versions = f"format {description.format}, but this server reads format {FORMAT_VERSION}"
            raise IndexUnusableError(f"{directory}: encoder {versions}", hint=OTHER_VERSION_HINT)
        table = open_array(layout.table, np.int8, (len(pieces.numbers), description.dimensions))
        weights = open_array(layout.weights, np.int32, (len(pieces.numbers),))
        return cls(description, pieces, table, weights.astype(np.float64))

    @stage("encode")
    def encode(self, text: str) -> Vector | None:
        """Return the unit vector (d,) of a text; None if pieces cover too little of it."""
        words = self.pieces.cut(text)
        letters = sum([word.letters for word in words])
        covered = sum([word.covered_letters for word in words])
        if not letters:
            letters = sum([word.digits for word in words])
            covered = sum([word.covered_digits for word in words])
        # A vector of only a few of the words would rank at random.
        if not covered or covered < self.description.minimum_coverage * letters:
            return None
        counts = Counter(chain.from_iterable([word.rows for word in words]))
        rows = np.array([*counts], dtype=np.intp)
        times = np.rint(np.sqrt(np.array([*counts.values()], dtype=np.float64)) * COUNT_UNIT)
        factors = self.weights[rows] * times
        total: NDArray[np.float64] = factors @ self.table.take(rows, axis=0).astype(np.float64)
        return _unit(total, self.description.common)


def open_encoder(files: IndexFiles) -> PieceEncoder:
    """Open the encoder of an index and verify it with the probe text. Raises IndexUnusableError."""
    root, dense = files.layout.root, require_vectors(files)
    if dense["query"]["encoder"] == "same":
        message = "queries of this index need a model, but this server embeds them with a table"
        hint = "export the server again for this index"
        raise IndexUnusableError(f"{root}: {message}", hint=hint)
    encoder = PieceEncoder.open(files.layout.encoder)
    expected = np.array(dense["probe_vector"])
    found: NDArray[np.floating] | None = encoder.encode(dense["probe_text"])
    found = np.zeros_like(expected) if found is None else found
    if found.shape != expected.shape or not np.allclose(found, expected, atol=PROBE_TOLERANCE):
        message = "the query encoder's vector of the probe text differs from the one at build time"
        raise IndexUnusableError(f"{root}: {message}")
    return encoder


def _unit(total: NDArray[np.float64], common: float) -> Vector | None:
    """Normalise exact integers (d,) after adding the common part; None for zero."""
    largest = np.abs(total).max()
    if largest == 0:
        return None
    whole = np.rint(total / largest * LARGEST)
    if common:
        # The common part lies along (1, ..., 1), so the rest must be perpendicular to it.
        whole = np.rint(whole - whole.sum() / len(whole))
    length = math.sqrt(float(whole @ whole))
    if length == 0:
        return None
    own = whole / length * math.sqrt(1 - common)
    return np.asarray(own + math.sqrt(common / len(whole)), dtype=np.float32)
