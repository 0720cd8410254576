"""Normalises characters: removes invisible ones, unifies punctuation, strips Latin accents."""

import re
import unicodedata

_SIGN = re.compile("[\u00ad\u00d7\u02bc\u2010\u2018\u2019\u200b\u2060\ufeff]")
# Soft hyphens, joiners and zero-width breaks, which do not end a word: `abun\u00addant`.
_WITHOUT = str.maketrans(
    {**dict.fromkeys("\u00ad\u200b\u2060\ufeff"), **dict.fromkeys("\u02bc\u2018\u2019", "'")}
    | {"\u2010": "-"}
)
# The multiplication sign between numbers: `M8\u00d725`, `1920 x 1080`.
_TIMES = re.compile("(?<=[0-9])(?:\u00d7| [x\u00d7] )(?=[0-9])")
# The sign for micro, which people also type as a `u`: `25 \u03bcm`, `25 um`.
_MICRO = re.compile(r"(?<![^\W\d_])\u03bc(?=[A-Za-z])")
_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
_LETTERS = str.maketrans(
    {"\u00e6": "ae", "\u00f0": "d", "\u00f8": "o", "\u00fe": "th", "\u0111": "d", "\u0127": "h"}
    | {"\u0131": "i", "\u0142": "l", "\u0153": "oe"}
)


def normalise(text: str) -> str:
    """Return a text in NFKC, without invisible characters and with ASCII apostrophes and hyphens.

    Between numbers, the times sign becomes `x`; before a unit, the sign for micro becomes `u`.
    """
    if text.isascii():
        return _TIMES.sub("x", text) if " x " in text else text
    text = unicodedata.normalize("NFKC", text)
    if "\u03bc" in text:
        text = _MICRO.sub("u", text)
    if _SIGN.search(text) is not None:
        text = text.translate(_WITHOUT)
        return _TIMES.sub("x", text)
    return _TIMES.sub("x", text) if " x " in text else text


def bare(word: str) -> str:
    """Return a case-folded word without accents on Latin letters; other scripts keep theirs."""
    if word.isascii():
        return word
    apart = _ACCENTS.sub("", unicodedata.normalize("NFD", word).translate(_LETTERS))
    return unicodedata.normalize("NFC", apart)
