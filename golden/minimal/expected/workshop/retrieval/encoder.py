"""Text to a vector from a table of word pieces, without a network or a model runtime.

A text's vector is the weighted sum of the rows of its pieces, normalised (a learned form of the
smooth-inverse-frequency average: Arora, Liang and Ma 2017); a piece that occurs n times counts
sqrt(n) times. Words are cut into the longest pieces from the left (WordPiece: Schuster and Nakajima
2012). The same text gives the same bytes on every machine: products of integers are summed in
float64 far below 2**53, and all that follows is exact or defined to the last bit by IEEE 754.
"""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexUnusableError
from ..index.layout import IndexFiles, open_array, require_vectors
from ..index.protocols import Vector
from ..index.spelling import american
from ..index.tokens import remember
from .candidates import stage

FORMAT_VERSION = 1
CONTINUATION = "##"  # Marks a piece that goes on with a word.

BEGINNING = 4  # Characters of a piece, by which the longest that may come next is known.
MAX_WORD_LENGTH = 128  # Longer runs, most of them encoded data, count as not covered.

MAX_CHARACTERS = 2**20
MAX_WEIGHT = 2**15
# The fixed point of sqrt(n): 2**20 pieces * 2**15 * 2**8 * 2**7 stay below 2**53.
COUNT_UNIT = 2**8
LARGEST = 2.0**20
PROBE_TOLERANCE = 1e-3  # An index holds the numbers of a vector rounded.

_WORD = re.compile(r"[^\W_]+")


class EncoderLayout:
    """The files of an encoder of V pieces and d dimensions under `root`."""

    def __init__(self, root: Path) -> None:
        self.pieces = root / "pieces.txt"  # UTF-8, one piece a line, in the order of the rows.
        self.table = root / "table.i8.npy"  # int8 (V, d)
        # int32 (V,), 0 to `MAX_WEIGHT`: the piece's weight times its row's scale.
        self.weights = root / "weights.npy"
        self.description = root / "encoder.json"  # `EncoderDescription`


@dataclass(frozen=True, slots=True)
class EncoderDescription:
    """The name and the properties of an encoder.

    `minimum_coverage` is the share of a text's letters that pieces must cover. `common` is the
    cosine of texts that share nothing, which brings cosines to the scale that a fixed-weight fusion
    expects. `sha256` covers pieces, table and weights, one after the other.
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
    """Return runs of letters and digits, case folded, without accents."""
    if text.isascii():
        return _WORD.findall(text.lower())
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(filter(lambda character: not unicodedata.combining(character), decomposed))
    return _WORD.findall(bare.casefold())


class PieceCutter:
    """Cuts folded words into the rows of their pieces; remembers those of some `entries` words."""

    def __init__(self, pieces: Sequence[str], language: str = "none", entries: int = 8_192) -> None:
        self.numbers = dict(zip(pieces, range(len(pieces)), strict=True))
        longest = {piece[:BEGINNING]: len(piece) for piece in sorted(pieces, key=len)}
        cut = partial(_cut_word, self.numbers, longest, language == "english")
        self.cut_word = remember(cut, entries)

    def cut(self, text: str) -> list[Word]:
        """Cut the words of a text, in order; of a longer one those in its MAX_CHARACTERS."""
        return [*map(self.cut_word, split_words(text[:MAX_CHARACTERS]))]


def _cut_word(
    numbers: Mapping[str, int], longest: Mapping[str, int], is_english: bool, text: str
) -> Word:
    """Cut off the longest piece, from the left, and pass over what begins none."""
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
    return Word(tuple(rows), letters, letters - missed, digits, digits - len(passed) + missed)


@dataclass(slots=True)
class PieceEncoder:
    """A table of pieces (V, d) and their weights (V,), whole numbers."""

    description: EncoderDescription
    pieces: PieceCutter
    table: NDArray[np.int8]
    weights: NDArray[np.float64]

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Map an encoder's folder. Raises IndexUnusableError."""
        layout = EncoderLayout(directory)
        try:
            description = EncoderDescription(**json.loads(layout.description.read_bytes()))
            pieces = layout.pieces.read_text(encoding="utf-8").split("\n")[:-1]
        except (OSError, ValueError, TypeError) as error:
            raise IndexUnusableError(f"{directory}: unreadable: {error}") from None
        if description.format != FORMAT_VERSION:
            raise IndexUnusableError(f"{directory}: encoder of format {description.format}")
        table = open_array(layout.table, np.int8, (len(pieces), description.dimensions))
        weights = open_array(layout.weights, np.int32, (len(pieces),))
        cutter = PieceCutter(pieces, description.language)
        return cls(description, cutter, table, weights.astype(np.float64))

    @stage("encode")
    def encode(self, text: str) -> Vector | None:
        """Return the unit vector (d,) of a text; None if pieces cover too little of it."""
        words = self.pieces.cut(text)
        letters = sum([word.letters for word in words])
        covered = sum([word.covered_letters for word in words])
        if not letters:
            letters = sum([word.digits for word in words])
            covered = sum([word.covered_digits for word in words])
        # A vector of few of the words would rank by chance.
        if not covered or covered < self.description.minimum_coverage * letters:
            return None
        counts = Counter(chain.from_iterable([word.rows for word in words]))
        rows = np.array([*counts], dtype=np.intp)
        times = np.rint(np.sqrt(np.array([*counts.values()], dtype=np.float64)) * COUNT_UNIT)
        factors = self.weights[rows] * times
        total: NDArray[np.float64] = factors @ self.table.take(rows, axis=0).astype(np.float64)
        return _unit(total, self.description.common)


def open_encoder(files: IndexFiles) -> PieceEncoder:
    """Open the table in an index and ask it for the probe text. Raises IndexUnusableError."""
    root, dense = files.layout.root, require_vectors(files)
    if dense["query"]["encoder"] == "same":
        message = "a model embeds its queries, and this server embeds them with a table"
        raise IndexUnusableError(f"{root}: {message}", hint="export the server again for it")
    encoder = PieceEncoder.open(files.layout.encoder)
    expected = np.array(dense["probe_vector"])
    found: NDArray[np.floating] | None = encoder.encode(dense["probe_text"])
    found = np.zeros_like(expected) if found is None else found
    if found.shape != expected.shape or not np.allclose(found, expected, atol=PROBE_TOLERANCE):
        message = "the query encoder gives another vector of its probe text than at the build"
        raise IndexUnusableError(f"{root}: {message}")
    return encoder


def _unit(total: NDArray[np.float64], common: float) -> Vector | None:
    """Scale exact integers (d,) to length one, a common part included; None for zero."""
    largest = np.abs(total).max()
    if largest == 0:
        return None
    whole = np.rint(total / largest * LARGEST)
    if common:
        # The common part lies along (1, ..., 1): the rest has to be perpendicular to it.
        whole = np.rint(whole - whole.sum() / len(whole))
    length = math.sqrt(float(whole @ whole))
    if length == 0:
        return None
    own = whole / length * math.sqrt(1 - common)
    return np.asarray(own + math.sqrt(common / len(whole)), dtype=np.float32)
