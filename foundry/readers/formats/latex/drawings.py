"""LaTeX drawings: the texts that they show."""

import re

_DRAWN_TEXT = re.compile(
    r"(?:\bnode\b[^;{}]{0,500}|\b(?:title|[xy]?label)\s*=\s*|\\(?:addlegendentry|put[^{}]{0,80})\s*)"
    r"\{((?:[^{}]|\{[^{}]{0,500}\}){1,1000})\}|\b(?:title|[xy]label)\s*=\s*([^][,{}]{1,200})"
)


def texts_of_drawing(source: str) -> list[str]:
    """Return the sources of the texts that are shown in a drawing, such as in TikZ nodes."""
    return [match[1] or match[2] for match in _DRAWN_TEXT.finditer(source)]
