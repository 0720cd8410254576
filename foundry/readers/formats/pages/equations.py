"""Converts MathML to text: the page's TeX source, or else `a/b`, `√(x)`, `x^2`.

Equations are read once, though KaTeX and MathJax write them two or three times.
"""

# ruff: noqa: RUF001 (signs that look like others are meant)
from selectolax.lexbor import LexborNode

_TEX = ("application/x-tex", "TeX", "LaTeX", "application/x-latex")
_SCRIPTS = {
    "msup": "^",
    "msub": "_",
    "msubsup": "_^",
    "mover": "^",
    "munder": "_",
    "munderover": "_^",
    "mmultiscripts": "_^",
}
_SILENT = frozenset("\u2061\u2062\u2063\u2064\u200b")
_ACCENTS = frozenset("¯ˉ‾^ˆ~˜→⃗˙¨⏞⏟_")
MAX_DEPTH = 100


def equation(node: LexborNode) -> str:
    """Return the text of a `math` element: TeX between dollar signs, or plain text on one line."""
    found = next(
        (each for each in node.css("annotation") if each.attributes.get("encoding") in _TEX), None
    )
    tex = found.text() if found is not None else node.attributes.get("alttext") or ""
    tex = " ".join(tex.split())
    if tex and (found is not None or "\\" in tex or not node.text().strip()):
        return f"$${tex}$$" if node.attributes.get("display") == "block" else f"${tex}$"
    return " ".join(_say(node, 0).split())


def _say(node: LexborNode, depth: int) -> str:
    tag = node.tag or ""
    if node.is_text_node:
        return "".join(sign for sign in node.text_content or "" if sign not in _SILENT)
    if tag in {"annotation", "annotation-xml", "mprescripts", "mphantom"} or depth > MAX_DEPTH:
        return ""
    children = [child for child in _children(node) if child.is_element_node]
    if not children:
        text = " ".join("".join(_say(child, depth + 1) for child in _children(node)).split())
        if tag == "mspace":
            return " "
        if tag == "mtext":
            return f" {text} "
        # Relation signs have spaces around them; brackets and commas do not.
        return f" {text} " if tag == "mo" and text in _RELATIONS else text
    said = [_say(child, depth + 1) for child in children]
    if tag == "mfrac" and len(said) == 2:
        return f"{_group(said[0])}/{_group(said[1])}"
    if tag == "msqrt":
        return f"√{_bracket(''.join(said))}"
    if tag == "mroot" and len(said) == 2:
        index = said[1].strip()
        sign = {"2": "√", "3": "∛", "4": "∜"}.get(index)
        return f"{sign}{_bracket(said[0])}" if sign else f"root({index}){_bracket(said[0])}"
    if tag in _SCRIPTS:
        return _with_scripts(said, _SCRIPTS[tag])
    if tag == "mfenced":
        attributes = node.attributes
        separator = (attributes.get("separators") or ",").strip()[:1] or ","
        opening = attributes.get("open", "(") or ""
        closing = attributes.get("close", ")") or ""
        return opening + f"{separator} ".join(map(str.strip, said)) + closing
    if tag == "mtable":
        return "[" + "; ".join(map(str.strip, said)) + "]"
    if tag in {"mtr", "mlabeledtr"}:
        return ", ".join(map(str.strip, said))
    return "".join(said)


def _with_scripts(said: list[str], signs: str) -> str:
    base, *scripts = said
    base = base.strip()
    if len(scripts) == 1 and signs == "^" and scripts[0].strip() in _ACCENTS:
        return base + scripts[0].strip()
    written = (
        sign + _group(script)
        for sign, script in zip(signs * len(scripts), scripts, strict=False)
        if script.strip()
    )
    return base + "".join(written) + (" " if base in _LARGE else "")


def _group(text: str) -> str:
    text = text.strip()
    is_single = len(text) == 1 or text.replace(".", "").isalnum() or text in {"′", "''"}
    return text if is_single else f"({text})"


def _bracket(text: str) -> str:
    return f"({text.strip()})"


def _children(node: LexborNode) -> list[LexborNode]:
    found, child = [], node.first_child
    while child is not None:
        found.append(child)
        child = child.next
    return found


_RELATIONS = frozenset(
    "= ≠ ≈ ≡ < > ≤ ≥ ≪ ≫ ∼ ∝ + - − ± ∓ × ÷ ∈ ∉ ⊂ ⊆ ∪ ∩ → ← ↔ ⇒ ⇔ ∧ ∨ := ∣".split()
)
_LARGE = frozenset("∑ Σ ∏ ∫ ∬ ∮ ⋃ ⋂ lim max min sup inf".split())
