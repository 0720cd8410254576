"""Text to the numbers of its pieces, as BERT's own tokenizer cuts it.

Characters that show nothing are dropped, and accents may be. A word ends at white space;
punctuation and each Chinese character are words by themselves. A word is cut into the longest
pieces that the vocabulary has, from the left (WordPiece: Schuster and Nakajima 2012; Devlin et al.
2019):

    Unaffable, [MASK]!   ->   [CLS] una ##ffa ##ble , [MASK] ! [SEP]
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

CONTINUATION = "##"  # Marks a piece that goes on with a word.
LONGEST_WORD = 100  # Of a longer word no piece is looked for.
REMEMBERED_WORDS = 8192

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"

REMOVED = frozenset({"Cc", "Cf", "Co", "Cs"})  # Control characters and the like.
CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


@dataclass(frozen=True, slots=True)
class Spelling:
    """How text becomes the words that a vocabulary has.

    `special` are pieces that stand for themselves wherever a text has them, as written here.
    """

    lowercase: bool = True
    strip_accents: bool = True
    separate_chinese: bool = True
    special: list[str] = field(default_factory=lambda: [UNKNOWN, FIRST, LAST])


class _Characters(dict[int, str | None]):
    """What a character becomes: None if it is dropped, with spaces around a word by itself."""

    def __init__(self, spelling: Spelling) -> None:
        self._spelling = spelling

    def __missing__(self, code: int) -> str | None:
        self[code] = found = self._make(chr(code), code)
        return found

    def _make(self, character: str, code: int) -> str | None:
        category = unicodedata.category(character)
        if character in "\t\n\r" or category[0] == "Z":
            return " "
        if category in REMOVED or code == 0xFFFD:
            return None
        if self._spelling.strip_accents and category == "Mn":
            return None
        # By itself: within a text, what a letter becomes may depend on those around it.
        shown = character.lower() if self._spelling.lowercase else character
        is_sign = category[0] == "P" or (character.isascii() and not character.isalnum())
        is_chinese = self._spelling.separate_chinese and any(
            first <= code <= last for first, last in CHINESE
        )
        return f" {shown} " if is_sign or is_chinese else shown


class WordPieces:
    """Cuts texts into pieces of a vocabulary; any number of threads may share one."""

    def __init__(self, pieces: Sequence[str], spelling: Spelling) -> None:
        """Take the pieces in the order of their numbers, the three above among them."""
        self._numbers: Mapping[str, int] = {piece: number for number, piece in enumerate(pieces)}
        self._unknown, self._first, self._last = (
            self._numbers[piece] for piece in (UNKNOWN, FIRST, LAST)
        )
        self._characters = _Characters(spelling)
        self._decomposes = spelling.strip_accents
        self._special = re.compile(f"({'|'.join(map(re.escape, spelling.special))})")
        self._longest = max(map(len, pieces))
        # Not a cached method, which would keep the vocabulary in memory after its index.
        self._cut_word = lru_cache(REMEMBERED_WORDS)(self._look_up)

    def cut(self, text: str, most: int | None = None) -> list[int]:
        """Return the numbers of a text's pieces, framed; of a longer one the first `most`."""
        found = [*self._cut(text)] if most is None else [*_take(self._cut(text), most - 2)]
        return [self._first, *found, self._last]

    def _cut(self, text: str) -> Iterator[int]:
        # What the pattern has found is at every second place.
        for place, part in enumerate(self._special.split(text)):
            if place % 2:
                yield self._numbers[part]
                continue
            plain = part if part.isascii() or not self._decomposes else _decompose(part)
            for word in plain.translate(self._characters).split():
                yield from self._cut_word(word)

    def _look_up(self, word: str) -> tuple[int, ...]:
        """Return the numbers of a word's pieces; of a word that they do not make up, the unknown
        one."""
        found: list[int] = []
        rest, mark = word if len(word) <= LONGEST_WORD else "", ""
        while rest:
            stop = min(len(rest), self._longest)
            while stop and mark + rest[:stop] not in self._numbers:
                stop -= 1
            if not stop:
                return (self._unknown,)
            found.append(self._numbers[mark + rest[:stop]])
            rest, mark = rest[stop:], CONTINUATION
        return tuple(found) or (self._unknown,)


def _decompose(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _take(numbers: Iterator[int], most: int) -> Iterator[int]:
    for _, number in zip(range(most), numbers, strict=False):
        yield number
