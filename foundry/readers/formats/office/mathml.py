"""Writes MathML as a line of text, in the same form as Office equations."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.equations import fraction, root, scripts

_SKIPPED = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_INVISIBLE = str.maketrans({"\u2061": " ", "\u2062": "", "\u2063": ",", "\u2064": "+"})


def spell_mathml(element: Element) -> str:
    """Return a formula, or a part of one, as text."""
    name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
    if name in _SKIPPED:
        return ""
    parts = [spell_mathml(child) for child in element]
    match name:
        case "mi" | "mn" | "mo" | "mtext" | "ms":
            return " ".join((element.text or "").translate(_INVISIBLE).split(" ")).strip("\n\t")
        case "mspace":
            return " "
        case "mfrac" if len(parts) == 2:
            if element.get("linethickness") in {"0", "0pt", "0px"}:
                return f"{parts[0]} over {parts[1]}"
            return fraction(*parts)
        case "msqrt":
            return root("".join(parts))
        case "mroot" if len(parts) == 2:
            return root(*parts)
        case "msub" | "munder" if len(parts) == 2:
            return scripts(parts[0], parts[1])
        case "msup" | "mover" if len(parts) == 2:
            return _above(element, parts)
        case "msubsup" | "munderover" if len(parts) == 3:
            return scripts(*parts)
        case "mfenced":
            opening, closing = element.get("open", "("), element.get("close", ")")
            return (
                opening + (element.get("separators", ",").strip()[:1] or "").join(parts) + closing
            )
        case "mtable":
            return f"[{'; '.join(parts)}]"
        case "mtr" | "mlabeledtr":
            return ", ".join(parts)
        case _:
            return "".join(parts)


def _above(element: Element, parts: Sequence[str]) -> str:
    base, sign = parts
    # An accent is not a power.
    is_accent = element.get("accent") == "true" or sign in {
        "¯",
        "^",
        "~",
        "→",
        "⃗",
        "˙",
        "¨",
        "\u0305",
    }
    return f"{base}{sign}" if is_accent else scripts(base, "", sign)
