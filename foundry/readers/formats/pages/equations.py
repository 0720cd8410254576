"""Converts MathML to text: the page's TeX source, or else `a/b`, `√(x)`, `x^2`.

Equations are read once, though KaTeX and MathJax write them two or three times.
"""

# ruff: noqa: RUF001 (signs that look like others are meant)
import html
import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborHTMLParser, LexborNode

from foundry.readers.formats.pages.tree import children

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
_SKIPPED = frozenset(("annotation", "annotation-xml", "mprescripts", "mphantom", "none"))
_SILENT = frozenset("\u2061\u2062\u2063\u2064\u200b")
_ACCENTS = frozenset("¯ˉ‾^ˆ~˜→⃗˙¨⏞⏟_")
# MediaWiki puts every equation into such a group.
_STYLED = re.compile(r"^\{\\(?:display|text)style (.*)\}$")
MAX_DEPTH = 100


def spell(element: Element) -> str:
    """Return the text of a `math` element of an XML document."""
    node = LexborHTMLParser("".join(as_html(element))).css_first("math")
    return "" if node is None else equation(node)


def as_html(element: Element) -> Iterator[str]:
    """Yield MathML of an XML document as HTML, without namespaces."""
    name = element.tag.rpartition("}")[2]
    given = (f' {key}="{html.escape(value)}"' for key, value in element.attrib.items())
    yield f"<{name}{''.join(given)}>{html.escape(element.text or '', quote=False)}"
    for child in element:
        yield from as_html(child)
        yield html.escape(child.tail or "", quote=False)
    yield f"</{name}>"


def equation(node: LexborNode) -> str:
    """Return the text of a `math` element: TeX between dollar signs, or plain text on one line."""
    found = next(
        (each for each in node.css("annotation") if each.attributes.get("encoding") in _TEX), None
    )
    tex = found.text() if found is not None else node.attributes.get("alttext") or ""
    tex = _STYLED.sub(r"\1", " ".join(tex.split()))
    if tex and (found is not None or "\\" in tex or not node.text().strip()):
        return f"$${tex}$$" if node.attributes.get("display") == "block" else f"${tex}$"
    return " ".join(_say(node, 0).split())


def _say(node: LexborNode, depth: int) -> str:
    tag = node.tag or ""
    if node.is_text_node:
        return "".join(sign for sign in node.text_content or "" if sign not in _SILENT)
    if tag in _SKIPPED or depth > MAX_DEPTH:
        return ""
    elements = [child for child in children(node) if child.is_element_node]
    if not elements:
        text = " ".join("".join(_say(child, depth + 1) for child in children(node)).split())
        if tag == "mspace":
            return " "
        if tag == "mtext":
            return f" {text} "
        # Relation signs have spaces around them; brackets and commas do not.
        return f" {text} " if tag == "mo" and text in _RELATIONS else text
    said = [_say(child, depth + 1) for child in elements]
    if tag == "mfrac" and len(said) == 2:
        if node.attributes.get("linethickness") in {"0", "0pt", "0px"}:
            # A binomial coefficient.
            return f"{said[0].strip()} over {said[1].strip()}"
        return f"{_group(said[0])}/{_group(said[1])}"
    if tag == "msqrt":
        return f"√{_bracket(''.join(said))}"
    if tag == "mroot" and len(said) == 2:
        index = said[1].strip()
        sign = {"2": "√", "3": "∛", "4": "∜"}.get(index)
        return f"{sign}{_bracket(said[0])}" if sign else f"root({index}){_bracket(said[0])}"
    if tag in _SCRIPTS:
        is_accent = node.attributes.get("accent") == "true" and len(said) == 2
        return "".join(map(str.strip, said)) if is_accent else _with_scripts(said, _SCRIPTS[tag])
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


_RELATIONS = frozenset(
    "= ≠ ≈ ≡ < > ≤ ≥ ≪ ≫ ∼ ∝ + - − ± ∓ × ÷ ∈ ∉ ⊂ ⊆ ∪ ∩ → ← ↔ ⇒ ⇔ ∧ ∨ := ∣".split()
)
_LARGE = frozenset("∑ Σ ∏ ∫ ∬ ∮ ⋃ ⋂ lim max min sup inf".split())
