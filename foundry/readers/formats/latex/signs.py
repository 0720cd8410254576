"""LaTeX commands for accents and signs."""

import unicodedata

ACCENTS = {
    "'": "\u0301",
    "`": "\u0300",
    "^": "\u0302",
    '"': "\u0308",
    "~": "\u0303",
    "=": "\u0304",
    ".": "\u0307",
    "u": "\u0306",
    "v": "\u030c",
    "H": "\u030b",
    "c": "\u0327",
    "d": "\u0323",
    "b": "\u0331",
    "r": "\u030a",
    "k": "\u0328",
    "t": "\u0361",
}
"""Combining characters of accents, by command."""

SIGNS = {
    **{"ss": "ß", "SS": "SS", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø"},
    **{
        "aa": "å",
        "AA": "Å",
        "l": "ł",
        "L": "Ł",
        "i": "\u0131",
        "j": "\u0237",
        "dh": "ð",
        "DH": "Ð",
    },
    **{"th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ", "S": "§", "P": "¶"},
    **{"pounds": "£", "textsterling": "£", "euro": "€", "texteuro": "€", "EUR": "€"},
    **{"copyright": "©", "textcopyright": "©", "textregistered": "®", "texttrademark": "™"},
    **{"dag": "†", "ddag": "‡", "textdagger": "†", "textbullet": "•", "textdegree": "°"},
    **{"degree": "°", "celsius": "°C", "ldots": "…", "dots": "…", "textellipsis": "…"},
    **{"textendash": "\u2013", "textemdash": "\u2014", "textbackslash": "\\", "textbar": "|"},
    **{"textless": "<", "textgreater": ">", "textasciitilde": "~", "textasciicircum": "^"},
    **{"textunderscore": "_", "textdollar": "$", "textpercent": "%", "textbraceleft": "{"},
    **{"textbraceright": "}", "textquotesingle": "'", "textquotedbl": '"', "textmu": "µ"},
    **{"lq": "\u2018", "rq": "\u2019", "textquoteleft": "\u2018", "textquoteright": "\u2019"},
    **{"textquotedblleft": "\u201c", "textquotedblright": "\u201d", "glqq": "\u201e"},
    **{"grqq": "\u201c", "guillemotleft": "«", "guillemotright": "»", "flqq": "«", "frqq": "»"},
    **{"TeX": "TeX", "LaTeX": "LaTeX", "LaTeXe": "LaTeX2e", "BibTeX": "BibTeX", "XeTeX": "XeTeX"},
    **{"LuaTeX": "LuaTeX", "XeLaTeX": "XeLaTeX", "textonehalf": "½", "texttimes": "\xd7"},
    **{"quad": " ", "qquad": " ", "enspace": " ", "thinspace": " ", "space": " ", "newline": "\n"},
    **{"linebreak": "\n", "par": "\n\n", "textvisiblespace": "\u2423", "slash": "/"},
    **{"textrightarrow": "→", "textleftarrow": "←", "textnumero": "№", "textordmasculine": "º"},
    **{"and": ", ", "cdot": "·", "times": "\xd7", "pm": "±"},
}
"""Text of commands without arguments, by name."""

PRINTED = {
    **{sign: sign for sign in "%&_#${}"},
    **dict.fromkeys(" ,;:!>\n\t", " "),
    **{"\\": "\n", "-": "", "/": "", "@": "", "(": "\\(", ")": "\\)", "[": "\\[", "]": "\\]"},
}
"""Text of single-character commands."""


def accent(name: str, letter: str) -> str:
    """Return a letter with an accent; without a letter, the text unchanged."""
    plain = letter.strip().replace("\u0131", "i").replace("\u0237", "j")
    if not plain:
        return letter
    return unicodedata.normalize("NFC", plain[0] + ACCENTS[name] + plain[1:])
