"""Characters of the fonts Symbol and Wingdings, whose codes differ from Unicode.

Adobe's table for Symbol (https://unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt), and those
signs of Wingdings that documents use as words: ticks, boxes, arrows, bullets.
"""

_CODES = (
    *(0x22, 0x24, 0x27, 0x2A, 0x2D, *range(0x40, 0x5B), 0x5C, 0x5E, *range(0x61, 0x7B), 0x7E),
    *(*range(0xA0, 0xE2), 0xE5, 0xF1, 0xF2),
)
_SIGNS = (
    "∀∃∋∗−≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ∴⊥"  # noqa: RUF001
    "αβχδεφγηιϕκλμνοπθρστυϖωξψζ∼€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵"  # noqa: RUF001
    "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈∑〉∫"  # noqa: RUF001
)
_SYMBOL = dict(zip(_CODES, _SIGNS, strict=True))
_WINGDINGS = {
    **dict.fromkeys((0x6C, 0x6E, 0x76, 0x77, 0xA7, 0x9F, 0x9E), "•"),
    **dict.fromkeys((0x6F, 0x70, 0x71, 0x72, 0xA8), "☐"),
    **{0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0x78: "☒", 0x4A: "☺", 0x4B: "😐", 0x4C: "☹"},
    **{0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xF0: "⇨", 0xD8: "➢", 0x22: "✂"},
    **{0x28: "☎", 0x2A: "✉", 0xAB: "★", 0xB2: "✧", 0x80: "⓪"},
    **{0x81 + step: chr(0x2460 + step) for step in range(10)},
}

BULLET = "-"
_SAYING = frozenset(
    "\u2610\u2611\u2612\u2713\u2714\u2715\u2716\u2717\u2718\u2705\u274c\u274e\u2b1c"
)
"""Signs that say something about an item if they are its bullet: boxes and ticks."""


def symbol(code: int, font: str) -> str:
    """Return the character for a symbol font's code; "" if it is unknown."""
    if not 0xF000 <= code <= 0xF0FF and code > 0xFF:
        return chr(code)
    code &= 0xFF
    table = _WINGDINGS if "dings" in font.lower() else _SYMBOL
    # Symbol has digits and punctuation at their ASCII codes.
    return table.get(code) or (chr(code) if table is _SYMBOL and 0x20 <= code < 0x7F else "")


def from_private_use(text: str, font: str) -> str:
    """Replace a text's characters from symbol fonts (U+F020 to U+F0FF) with Unicode characters."""
    return "".join(
        symbol(ord(sign), font) if "\uf020" <= sign <= "\uf0ff" else sign for sign in text
    )


def bullet(sign: str, font: str = "") -> str:
    """Return the label of an item with a bullet in this font: `- ☑` for boxes and ticks."""
    said = saying(sign, font)
    return f"{BULLET} {said}" if said else BULLET


def saying(sign: str, font: str = "") -> str:
    """Return a bullet in this font if it is a box or a tick, and "" for any other."""
    is_coded = len(sign) == 1 and "dings" in font.lower()
    shown = symbol(ord(sign), font) if is_coded else sign.removesuffix("\ufe0f")
    return shown if shown in _SAYING else ""
