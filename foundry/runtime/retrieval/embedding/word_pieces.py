"""WordPiece tokenization, like BERT's.

Control characters are removed, and optionally accents. Words end at white space; each punctuation
mark and each Chinese character is a word. A word is split greedily from the left into the longest
tokens of the vocabulary (Schuster and Nakajima 2012; Devlin et al. 2019):

    Unaffable, [MASK]!   ->   [CLS] una ##ffa ##ble , [MASK] ! [SEP]
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

CONTINUATION = "##"  # Prefix of a token that continues a word.
LONGEST_WORD = 100  # Longer words become [UNK].
CACHED_WORDS = 8192

UNKNOWN, CLS, SEP = "[UNK]", "[CLS]", "[SEP]"

REMOVED = frozenset({"Cc", "Cf", "Co", "Cs"})  # Categories of control characters.
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
    """How text is normalised before it is tokenized.

    `special` tokens are recognised in the text as they are written here.
    """

    lowercase: bool = True
    strip_accents: bool = True
    separate_chinese: bool = True
    special: list[str] = field(default_factory=lambda: [UNKNOWN, CLS, SEP])


class _Characters(dict[int, str | None]):
    """A translation table filled lazily: None removes a character; some become separate words."""

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
        # Each character is lowered by itself, because the lower case of a letter may depend on its
        # neighbours.
        shown = character.lower() if self._spelling.lowercase else character
        is_sign = category[0] == "P" or (character.isascii() and not character.isalnum())
        is_chinese = self._spelling.separate_chinese and any(
            first <= code <= last for first, last in CHINESE
        )
        return f" {shown} " if is_sign or is_chinese else shown


class WordPieceTokenizer:
    """Splits texts into tokens of a vocabulary; threads can share one."""

    def __init__(self, vocabulary: Sequence[str], spelling: Spelling) -> None:
        """Take the tokens in order of ids, with [UNK], [CLS] and [SEP] among them."""
        self._ids: Mapping[str, int] = {token: number for number, token in enumerate(vocabulary)}
        self._unknown, self._cls, self._sep = (self._ids[token] for token in (UNKNOWN, CLS, SEP))
        self._characters = _Characters(spelling)
        self._decomposes = spelling.strip_accents
        self._special = re.compile(f"({'|'.join(map(re.escape, spelling.special))})")
        self._longest = max(map(len, vocabulary))
        # A cached method would keep the vocabulary of a replaced index in memory.
        self._split_word = lru_cache(CACHED_WORDS)(self._split_word_anew)

    def tokenize(self, text: str, most: int | None = None) -> list[int]:
        """Return token ids from [CLS] to [SEP], truncated to `most`."""
        found = self._split(text)
        ids = [*found] if most is None else [*islice(found, most - 2)]
        return [self._cls, *ids, self._sep]

    def _split(self, text: str) -> Iterator[int]:
        # Matches of the pattern are at odd positions.
        for place, part in enumerate(self._special.split(text)):
            if place % 2:
                yield self._ids[part]
                continue
            plain = part if part.isascii() or not self._decomposes else _decompose(part)
            for word in plain.translate(self._characters).split():
                yield from self._split_word(word)

    def _split_word_anew(self, word: str) -> tuple[int, ...]:
        """Return the token ids of a word, or [UNK] if a part is not in the vocabulary."""
        found: list[int] = []
        rest, mark = word if len(word) <= LONGEST_WORD else "", ""
        while rest:
            stop = min(len(rest), self._longest)
            while stop and mark + rest[:stop] not in self._ids:
                stop -= 1
            if not stop:
                return (self._unknown,)
            found.append(self._ids[mark + rest[:stop]])
            rest, mark = rest[stop:], CONTINUATION
        return tuple(found) or (self._unknown,)


def _decompose(text: str) -> str:
    return unicodedata.normalize("NFD", text)
