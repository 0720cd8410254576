"""Guesses the code page of text in a non-Latin script, by letter frequencies.

A few words are enough: decoded with another code page of the same script, they have rare letters,
capitals inside words, or signs instead of letters.
"""

import re
from functools import cache

from foundry.files import read_beside

PURE_SHARE = 0.8
"""Minimum share of the non-ASCII bytes that must be in words without ASCII."""
GOOD = 1.4
"""Minimum average score of a letter."""
RARER = 0.1
"""How much better than a more common code page a rarer one must score."""
_CAPITAL_INSIDE, _CAPITAL_AFTER_CAPITAL, _OTHER_SIGN, _OTHER_LETTER = -4.0, 1.0, -2.0, -4.0
_AT_ITS_END = 2.5
_FINAL = frozenset("ךםןףץς")
"""Letters that only have this form at the ends of words."""
_SIGNS = frozenset("«»\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e…№°§\xa0·€")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]+")
_PURE = re.compile(rb"[\x80-\xff]{2,}")
_ESCAPED = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$B", "iso2022_jp"), (b"\x1b$@", "iso2022_jp"))
_MARGIN = 0.02
"""Minimum share of control characters in UTF-16 decoded as ASCII."""


def guess_escaped(content: bytes) -> str | None:
    """Return the ISO 2022 character set that escape sequences indicate; None without them."""
    if b"\x1b$" not in content:
        return None
    found = [name for mark, name in _ESCAPED if mark in content]
    if not found or any(byte > 0x7F for byte in content[:65_536]):
        return None
    return "iso2022_jp_2" if len(found) > 1 else found[0]


def guess_wide(sample: bytes) -> str | None:
    """Return the UTF-16 variant that decodes bytes without a byte order mark as letters, if any."""
    sample = sample[: len(sample) // 2 * 2]
    controls = len(sample) - len(sample.translate(None, delete=bytes(range(9)) + b"\x0e\x0f"))
    if len(sample) < 16 or controls < _MARGIN * len(sample):
        return None
    for charset in ("utf-16-le", "utf-16-be"):
        text = sample.decode(charset, "ignore")
        letters = [sign for sign in text if sign.isalpha()]
        known = sum(sign.isalpha() or sign.isspace() or sign.isprintable() for sign in text)
        blocks = {ord(sign) >> 8 for sign in letters if ord(sign) < 0x3000}
        is_spaced = not _SPACES.isdisjoint(text)
        if (
            is_spaced
            and 2 * len(letters) > len(text)
            and known > 0.98 * len(text)
            and len(blocks) <= _FEW_BLOCKS
        ):
            return charset
    return None


_FEW_BLOCKS = 4
_SPACES = frozenset(" \n\u3000\u3001\u3002")


def guess_script(sample: bytes) -> str | None:
    """Return the code page of text in a non-Latin script; None for other text."""
    high = sum(len(run) - len(run.translate(None, delete=_HIGH)) for run in _WORD.findall(sample))
    pure = sum(map(len, (run for run in _WORD.findall(sample) if _PURE.fullmatch(run))))
    if not high or pure < PURE_SHARE * high:
        return None
    scores = [
        (score - rarer, -place, charset)
        for place, (charset, letters, rarer) in enumerate(_code_pages())
        if (score := _score(sample, charset, letters)) is not None
    ]
    best = max(scores, default=None)
    return best[2] if best and best[0] >= GOOD else None


_HIGH = bytes(range(128, 256))


@cache
def _code_pages() -> tuple[tuple[str, dict[str, float], float], ...]:
    """Return code pages, letter scores, and penalties for rare pages."""
    found = []
    for written in read_beside(__file__, "scripts.toml").values():
        letters, charsets = written.split("\n")[-2:]
        values = {letter: 3.0 - 4 * n / len(letters) for n, letter in enumerate(letters)}
        found += [(charset, values, n * RARER) for n, charset in enumerate(charsets.split())]
    return tuple(found)


def _score(sample: bytes, charset: str, letters: dict[str, float]) -> float | None:
    """Return the average score of characters above ASCII; None if it is invalid, or has none."""
    try:
        text = sample.decode(charset)
    except UnicodeDecodeError:
        return None
    total, count, before = 0.0, 0, ""
    for sign, after in zip(text, f"{text[1:]} ", strict=True):
        if sign > "\x7f" and sign not in _SIGNS:
            count += 1
            small = sign.lower()
            value = letters.get(small)
            if value is None:
                value = _OTHER_LETTER if sign.isalpha() else _OTHER_SIGN
            elif sign in _FINAL:
                value = _OTHER_LETTER if after.isalpha() else _AT_ITS_END
            elif sign != small and before.isalpha():
                value = _CAPITAL_INSIDE if before.islower() else _CAPITAL_AFTER_CAPITAL
            total += value
        before = sign
    return total / count if count else None
