"""Superscripts, subscripts and list numbers: digits stay separate from other numbers.

`10<sup>6</sup>` becomes `10^6`, and `x<sub>1</sub>` becomes `x_1`; `H<sub>2</sub>O` and
`1<sup>st</sup>` are words, and a superscript number after a word is a note mark: `word [3]`.
"""

# ruff: noqa: RUF001 (signs that look like others are meant)
import re

from foundry.readers.formats.office.numerals import roman
from foundry.readers.formats.pages.tree import Attributes

_ELEMENT = re.compile(
    r"(?:(?<![A-Za-z])|(?<=[a-z\d)\]}₀-₉])|(?<=[A-Z]))(?:H|He|Li|Be|B|C|N|O|F|Ne|Na|Mg|Al|Si|P|S|Cl|Ar|K|Ca"
    r"|Sc|Ti|V|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Y|Zr|Nb|Mo|Tc|Ru|Rh|Pd|Ag|Cd|In|Sn|Sb|Te"
    r"|I|Xe|Cs|Ba|La|Ce|Hf|Ta|W|Re|Os|Ir|Pt|Au|Hg|Tl|Pb|Bi|U|Pu|[)\]])$"
)
_ORDINAL = re.compile(
    r"(?:st|nd|rd|th|er|re|[eè]re?|[eè]me|nde?|e|o|a|os|as|me|mes|lle|gr?|vo|[.]?[ºª°])\.?",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"\d[.,]\d+$")
_SYMBOL = re.compile(r"[™®©†‡*§¶°′″℠]+|TM|SM|R")
_PLAIN = re.compile(r"[+\-−–]?[\w.]+[+\-−–]?|[+\-−–*†‡′]+")
_WORD_BEFORE = re.compile(
    r"[^\W\d_]{4,}[.,;:!?)\]\"'”’»]*$|[^\W\d_][.,;:!?)\]\"'”’»]+$|[.,;:!?)\]\"'”’»]{1,3}$"
)
_STYLED = re.compile(r"(?:^|;)\s*vertical-align\s*:\s*(super|sub)\b")
_NUMBER = re.compile(r"\d{1,3}(?:\s*[,–-]\s*\d{1,3})*|[a-z]|[*†‡§¶]+")


def script_of(tag: str, attributes: Attributes) -> str:
    """Return `sup` or `sub` for a superscript or subscript element, by tag or style; else ""."""
    if tag in {"sup", "sub"}:
        return tag
    found = _STYLED.search(attributes.get("style") or "") if tag == "span" else None
    return "sup" if found and found[1] == "super" else "sub" if found else ""


def raised(text: str, before: str) -> str:
    """Return superscript text in the form that fits the text before it."""
    text = text.strip()
    if not text or not before or before[-1].isspace():
        return text
    if _SYMBOL.fullmatch(text):
        return text
    is_ordinal = _ORDINAL.fullmatch(text) and not _DECIMAL.search(before)
    if is_ordinal and (before[-1].isalnum() or before[-1] in ".)"):
        return text
    if text[0] in "[(" and text[-1] in "])":
        return f" {text}"
    if _NUMBER.fullmatch(text) and text[0].isdigit() and _WORD_BEFORE.search(before):
        return note_mark(text, before)
    return f"^{text}" if _PLAIN.fullmatch(text) else f"^({text})"


_WORDS = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}")


def lowered(text: str, before: str) -> str:
    """Return subscript text in the form that fits the text before it."""
    text = text.strip()
    if not text or not before or before[-1].isspace() or before[-1] in "/⁄":
        return text
    if text.isdigit() and _ELEMENT.search(before):
        return text
    if _WORDS.search(text):
        return f" ({text})"
    return f"_{text}" if _PLAIN.fullmatch(text) else f"_({text})"


def apart(script: str, after: str) -> str:
    """Return a superscript or subscript, with a space before a letter or digit: `log_10 x`."""
    return f"{script} " if script[:1] in {"^", "_"} and after.isalnum() else script


def note_mark(mark: str, before: str) -> str:
    """Return a note mark in brackets, with a space after a preceding word; "" if it is empty."""
    mark = mark.strip("[]() ")
    if not mark:
        return ""
    return f" [{mark}]" if before and not before[-1].isspace() else f"[{mark}]"


def ordinal(number: int, kind: str) -> str:
    """Return a list number as shown: `3.`, `c.`, `C.`, `iii.`, `III.`."""
    shown = str(number)
    if kind in {"a", "A"} and number > 0:
        shown = ""
        while number > 0:
            number, rest = divmod(number - 1, 26)
            shown = chr(ord("a") + rest) + shown
    elif kind in {"i", "I"} and 0 < number < 4000:
        shown = roman(number)
    return (shown.upper() if kind in {"A", "I"} else shown) + "."


_LIST_KINDS = {"loweralpha": "a", "lowerlatin": "a", "upperalpha": "A", "upperlatin": "A"}
_LIST_KINDS |= {"lowerroman": "i", "upperroman": "I"}


class ListNumbers:
    """The numbers of a list's items, as the page shows them."""

    def __init__(self, attributes: Attributes, items: int) -> None:
        self._step = -1 if "reversed" in attributes else 1
        start = integer(attributes.get("start"))
        self._number = start if start is not None else (items if self._step < 0 else 1)
        kind = attributes.get("type") or ""
        names = f"{attributes.get('class') or ''} {attributes.get('style') or ''}".lower()
        self._kind = kind or next(
            (kind for name, kind in _LIST_KINDS.items() if name in names.replace("-", "")), "1"
        )

    def next(self, item: Attributes) -> str:
        """Return the number of the next item."""
        value = integer(item.get("value"))
        self._number = self._number if value is None else value
        shown = ordinal(self._number, item.get("type") or self._kind)
        self._number += self._step
        return shown


def integer(value: str | None) -> int | None:
    """Return the number in an attribute, if there is one."""
    value = (value or "").strip()
    return int(value) if re.fullmatch(r"-?\d{1,9}", value) else None
