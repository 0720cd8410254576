"""Escapes of roff: named characters, fonts, sizes, motions."""

# ruff: noqa: RUF001 (signs that look like others are meant)

import re
from html.entities import html5

from foundry.documents.left_out import Omission
from foundry.readers.formats.pages.numbers import lowered, raised
from foundry.readers.notes import leave_out

CHARACTERS = {
    **{"em": "\u2014", "en": "\u2013", "hy": "-", "mi": "-", "pl": "+", "aq": "'", "dq": '"'},
    **{"lq": "\u201c", "rq": "\u201d", "oq": "\u2018", "cq": "\u2019", "Bq": "\u201e", "fo": "<"},
    **{"fc": ">", "Fo": "«", "Fc": "»", "bu": "•", "co": "©", "rg": "®", "tm": "™", "de": "°"},
    **{"sc": "§", "ps": "¶", "dg": "†", "dd": "‡", "mu": "\xd7", "di": "÷", "+-": "±", "<=": "≤"},
    **{">=": "≥", "!=": "≠", "==": "≡", "~=": "≅", "ap": "~", "->": "→", "<-": "←", "ua": "↑"},
    **{"da": "↓", "if": "∞", "is": "∫", "rs": "\\", "sl": "/", "ba": "|", "or": "|", "br": "|"},
    **{"ul": "_", "rn": "\u203e", "ti": "~", "ha": "^", "ga": "`", "aa": "´", "sh": "#", "at": "@"},
    **{"lB": "[", "rB": "]", "lC": "{", "rC": "}", "la": "<", "ra": ">", "Eu": "€", "eu": "€"},
    **{"Po": "£", "Ye": "¥", "ct": "¢", "12": "½", "14": "¼", "34": "¾", "S1": "¹", "S2": "²"},
    **{"S3": "³", "ss": "ß", "AE": "Æ", "ae": "æ", "OE": "Œ", "oe": "œ", "/O": "Ø", "/o": "ø"},
    **{"fi": "fi", "fl": "fl", "ff": "ff", "Do": "$", "lh": "☜", "rh": "☞", "OK": "✓", "*a": "α"},
    **{"*b": "β", "*g": "γ", "*d": "δ", "*m": "μ", "*p": "π", "*l": "λ", "*s": "σ", "*W": "Ω"},
}
"""Special characters by name, from groff_char(7)."""
_ACCENTED = {"'": "acute", "`": "grave", "^": "circ", ":": "uml", "~": "tilde", ",": "cedil"}
_STRINGS = {"R": "®", "Tm": "™", "lq": "\u201c", "rq": "\u201d", 'L"': "\u201c", 'R"': "\u201d"}

_ESCAPE = re.compile(
    r"\\(?:\"(?P<comment>.*)|u(?P<raised>[\w+-]{1,20})\\d|d(?P<lowered>[\w+-]{1,20})\\u"
    r"|f(?:\((?P<font>..)|\[[^\]\n]{0,40}\]|.)"
    r"|s(?:[-+]?\((?:..)|[-+]?\[[^\]\n]{0,20}\]|[-+]?\d)"
    r"|\((?P<two>..)|\[(?P<name>[^\]\n]{1,40})\]|C'(?P<quoted>[^'\n]{1,40})'"
    r"|\*(?:\((?P<string2>..)|\[(?P<string>[^\]\n]{1,40})\]|(?P<string1>.))"
    r"|[nmMFgkRYV](?:\(..|\[[^\]\n]{0,40}\]|[-+]?.)"
    r"|[hvwlLDoNbxXZSHAB]'[^'\n]{0,100}'"
    r"|(?P<sign>[-eE\\'`.~0 ])|[&|^%c/,!:{}adru)pt]|\n)"
)
_SIGNS = {
    "-": "-",
    "e": "\\",
    "E": "\\",
    "\\": "\\",
    "'": "´",
    "`": "`",
    ".": ".",
    "~": " ",
    "0": " ",
    " ": " ",
}


def unescape(text: str, strings: dict[str, str] | None = None) -> str:
    """Return a line as printed; `strings` are those that the page defines."""
    if "\\" not in text:
        return text
    known = {**_STRINGS, **(strings or {})}

    def replace(match: re.Match[str]) -> str:
        if match["comment"] is not None:
            leave_out(Omission.COMMENT, match["comment"])
            return ""
        before = match.string[max(match.start() - 8, 0) : match.start()]
        if match["raised"] or match["lowered"]:
            return (
                raised(match["raised"], before)
                if match["raised"]
                else lowered(match["lowered"], before)
            )
        if name := match["two"] or match["name"] or match["quoted"]:
            return _character(name)
        if match["sign"]:
            return _SIGNS[match["sign"]]
        string = match["string2"] or match["string"] or match["string1"]
        return known.get(string, "") if string else ""

    return _ESCAPE.sub(replace, text)


def _character(name: str) -> str:
    if name in CHARACTERS:
        return CHARACTERS[name]
    if re.fullmatch(r"u[0-9A-F]{4,6}", name) and int(name[1:], 16) < 0x110000:
        return chr(int(name[1:], 16))
    if len(name) == 2 and name[0] in _ACCENTED:
        return html5.get(f"{name[1]}{_ACCENTED[name[0]]};", name[1])
    return f"({name})" if len(name) > 2 else name


_ARGUMENT = re.compile(r'[ \t]*(?:"((?:[^"]|"")*)(?:"|$)|((?:\\[ "]|[^ \t\n])+))')


def arguments(line: str) -> list[str]:
    """Return the arguments of a request, as written."""
    found = []
    written, *comments = re.split(r'(?<!\\)\\"', line, maxsplit=1)
    leave_out(Omission.COMMENT, "".join(comments))
    for match in _ARGUMENT.finditer(written.rstrip()):
        found.append(match[1].replace('""', '"') if match[1] is not None else match[2])
    return found
