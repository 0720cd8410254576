"""Writes Office Math (OMML) equations as a line of text: `x=(a+b)/2`, `∑_(i=1)^n x_i`."""

from unicodedata import normalize
from xml.etree.ElementTree import Element

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_WORD_TEXT, _WORD_TAB, _WORD_BREAK, _WORD_DELETED = (
    f"{_W}{name}" for name in ("t", "tab", "br", "del")
)
_DRAWING_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_APPLY = "\u2061"
"""An invisible sign between a function and its argument."""
_ROOTS = {"2": "√", "3": "∛", "4": "∜"}


def spell(element: Element) -> str:
    """Return an equation, or a part of one, as text."""
    tag = element.tag
    if tag in {f"{MATH}t", _WORD_TEXT, _DRAWING_TEXT}:
        return (element.text or "").replace(_APPLY, " ")
    if tag in {_WORD_TAB, _WORD_BREAK}:
        return " "
    if tag == _WORD_DELETED or tag.endswith("Pr"):
        return ""
    spelled = _SPELLED.get(tag)
    return spelled(element) if spelled else spell_parts(element)


def spell_parts(parent: Element) -> str:
    """Join parts of an equation, with a space after an index, power or fraction."""
    text = ""
    is_apart = False
    for child in parent:
        piece = spell(child)
        text += " " if is_apart and text[-1:].isalnum() and piece[:1].isalnum() else ""
        text += piece
        is_apart = child.tag in _APART if piece else is_apart
    return text


def group(text: str) -> str:
    """Return a part as an operand: in brackets, unless it is one number, word or bracket."""
    if text.isalnum() or len(text) == 1 or (text[:1] == "(" and _closes_at_end(text)):
        return text
    return f"({text})" if text else ""


def fraction(upper: str, lower: str) -> str:
    """Return a fraction on one line."""
    return f"{group(upper)}/{group(lower)}"


def root(radicand: str, degree: str = "") -> str:
    """Return a root on one line: `√(x)`, `∛(x)`, `√[n](x)`."""
    sign = _ROOTS.get(degree or "2", f"√[{degree}]")
    return f"{sign}({radicand})"


def scripts(base: str, lower: str = "", upper: str = "") -> str:
    """Return a base with its limits, or with index and power: `x_i^2`."""
    below = f"_{group(lower)}" if lower.strip() else ""
    above = f"^{group(upper)}" if upper.strip() else ""
    return f"{base}{below}{above}"


def _closes_at_end(text: str) -> bool:
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return place == len(text) - 1
    return False


def _part(element: Element, name: str) -> str:
    found = element.find(f"{MATH}{name}")
    return spell_parts(found) if found is not None else ""


def _setting(element: Element, name: str, default: str) -> str:
    """Return the value of an element's property; `default` if it is missing, "" if empty."""
    for properties in element:
        if properties.tag.endswith("Pr"):
            found = properties.find(f"{MATH}{name}")
            if found is not None:
                return found.get(f"{MATH}val", "")
    return default


def _fraction(element: Element) -> str:
    upper, lower = _part(element, "num"), _part(element, "den")
    if _setting(element, "type", "bar") == "noBar":
        return f"{upper} over {lower}"
    return fraction(upper, lower)


def _delimiters(element: Element) -> str:
    opening, closing = _setting(element, "begChr", "("), _setting(element, "endChr", ")")
    parts = (spell_parts(child) for child in element if child.tag == f"{MATH}e")
    return opening + _setting(element, "sepChr", "|").join(parts) + closing


def _operator(element: Element) -> str:
    sign = _setting(element, "chr", "∫") or "∫"
    limits = scripts(sign, _part(element, "sub"), _part(element, "sup"))
    return f"{limits} {_part(element, 'e')}"


def _accent(element: Element) -> str:
    base, sign = _part(element, "e"), _setting(element, "chr", "\u0302")
    # A combining mark only composes with a single letter; it follows several letters.
    return normalize("NFC", base + sign) if len(base) == 1 else f"{base}{sign}" if base else ""


def _matrix(element: Element) -> str:
    rows = (", ".join(map(spell, row)) for row in element if row.tag == f"{MATH}mr")
    return f"[{'; '.join(rows)}]"


def _lines(element: Element) -> str:
    return "; ".join(spell(line) for line in element if line.tag == f"{MATH}e")


def _function(element: Element) -> str:
    argument = _part(element, "e")
    name = _part(element, "fName").strip()
    return f"{name}{argument}" if argument.startswith("(") else f"{name} {argument}"


def _paragraph(element: Element) -> str:
    return "; ".join(spell(line) for line in element if line.tag == f"{MATH}oMath")


_APART = frozenset(f"{MATH}{name}" for name in ("f", "sSub", "sSup", "sSubSup", "limLow"))
_SPELLED = {
    f"{MATH}{name}": function
    for name, function in {
        "f": _fraction,
        "rad": lambda e: root(_part(e, "e"), _part(e, "deg")),
        "d": _delimiters,
        "nary": _operator,
        "sSub": lambda e: scripts(_part(e, "e"), _part(e, "sub")),
        "sSup": lambda e: scripts(_part(e, "e"), "", _part(e, "sup")),
        "sSubSup": lambda e: scripts(_part(e, "e"), _part(e, "sub"), _part(e, "sup")),
        "sPre": lambda e: scripts("", _part(e, "sub"), _part(e, "sup")) + _part(e, "e"),
        "limLow": lambda e: scripts(_part(e, "e"), _part(e, "lim")),
        "limUpp": lambda e: scripts(_part(e, "e"), "", _part(e, "lim")),
        "acc": _accent,
        "bar": lambda e: f"{_part(e, 'e')}\u0305",
        "m": _matrix,
        "eqArr": _lines,
        "func": _function,
        "oMathPara": _paragraph,
    }.items()
}
