"""Numerals of lists: `iv`, `B`, `07`, `一`."""

from collections.abc import Callable

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
MAX_ROMAN = 4_999
_CYRILLIC = "абвгдежзиклмнопрстуфхцчшщыэюя"
_CHINESE = "〇一二三四五六七八九"


def roman(value: int) -> str:
    """Return a Roman numeral in lower case, or digits for numbers without one."""
    if not 0 < value <= MAX_ROMAN:
        return str(value)
    text = ""
    for worth, sign in _ROMAN:
        count, value = divmod(value, worth)
        text += sign * count
    return text


def letters(value: int, alphabet: str = "abcdefghijklmnopqrstuvwxyz") -> str:
    """Return a number in letters like Word: a, b, ... z, aa, bb, ...; large ones in digits."""
    if not 0 < value <= 100 * len(alphabet):
        return str(value)
    times, place = divmod(value - 1, len(alphabet))
    return alphabet[place] * (times + 1)


def _chinese(value: int) -> str:
    if not 0 < value < 100:
        return str(value)
    tens, ones = divmod(value, 10)
    lead = "" if not tens else "十" if tens == 1 else _CHINESE[tens] + "十"
    return lead + (_CHINESE[ones] if ones or not tens else "")


def _ordinal(value: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{'th' if value % 100 in {11, 12, 13} else ending}"


_FORMATS: dict[str, Callable[[int], str]] = {
    "lowerRoman": roman,
    "upperRoman": lambda value: roman(value).upper(),
    "lowerLetter": letters,
    "upperLetter": lambda value: letters(value).upper(),
    "decimalZero": lambda value: f"{value:02}",
    "ordinal": _ordinal,
    "russianLower": lambda value: letters(value, _CYRILLIC),
    "russianUpper": lambda value: letters(value, _CYRILLIC).upper(),
    "none": lambda _: "",
    # Names in OpenDocument and RTF.
    "i": roman,
    "I": lambda value: roman(value).upper(),
    "a": letters,
    "A": lambda value: letters(value).upper(),
    **dict.fromkeys(
        (
            *("chineseCounting", "chineseCountingThousand", "japaneseCounting"),
            *("ideographDigital", "taiwaneseCounting", "taiwaneseCountingThousand"),
        ),
        _chinese,
    ),
}


def numeral(value: int, kind: str) -> str:
    """Format a number in a kind of numerals, named as in ECMA-376 (17.18.59) or OpenDocument."""
    written = _FORMATS.get(kind)
    return written(value) if written else str(value)
