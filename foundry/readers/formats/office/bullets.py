"""Bullets of list items; only boxes and ticks have a meaning."""

from foundry.readers.formats.office.symbols import symbol

BULLET = "-"
_SAYING = frozenset(
    "\u2610\u2611\u2612\u2713\u2714\u2715\u2716\u2717\u2718\u2705\u274c\u274e\u2b1c"
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
