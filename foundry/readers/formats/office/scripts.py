"""Raised and lowered text on one line, so that numbers stay the numbers they were: `10^6`."""

import re

_ORDINALS = frozenset("st nd rd th er re e es ème eme ière o os a as º ª de te".split())
_MARKS = {"TM": "™", "SM": "℠", "R": "®", "(R)": "®"}
_FORMULA = re.compile(r"(?:[A-Z][a-z]?[0-9+-]*|[()\[\]])+$")
"""The beginning of a chemical formula, whose indices are written on its line: `H2O`."""


def raised(before: str, text: str) -> str:
    """Return superscript `text` as it is written behind `before`: `^6`, `^(n+1)`, `th`."""
    inner = text.strip()
    if not inner or not before or before[-1].isspace() or before[-1] in "([^_":
        return text
    if inner.upper() in _MARKS and before[-1].isalpha():
        return text.replace(inner, _MARKS[inner.upper()])
    if (before[-1].isdigit() and inner.lower() in _ORDINALS) or not _says(inner):
        return text
    return text.replace(inner, f"^{_group(inner)}", 1)


def lowered(before: str, text: str) -> str:
    """Return subscript `text` as it is written behind `before`: `_1`, `_(i,j)`, or `2` of `H2O`."""
    inner = text.strip()
    if not inner or not before or before[-1].isspace() or before[-1] in "([^_":
        return text
    word = re.split(r"\s", before[-40:])[-1]
    if inner.isdigit() and not before[-1].isdigit() and _FORMULA.search(word):
        return text
    return text.replace(inner, f"_{_group(inner)}", 1)


class ScriptedText:
    """Text put together piece by piece, of which some is raised, lowered or a reading (ruby).

    Such a piece is written as a whole, however many runs of the document it has.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._script = ""
        self._pending: list[str] = []
        self._is_apart = False

    def put(self, text: str, script: str = "") -> None:
        """Add text; `script` is "", super, sub or ruby."""
        if script != self._script:
            self.flush()
            self._script = script
        if self._is_apart and not script and text:
            # A power is no beginning of the number behind it.
            self.parts.append(" " if text[0].isalnum() else "")
            self._is_apart = False
        (self._pending if script else self.parts).append(text)

    def put_ruby(self, base: str, reading: str) -> None:
        """Add a base with its reading, which stands behind the last of several that are a word."""
        readings = self._pending if self._script == "ruby" else []
        if readings:
            self._script, self._pending = "", []
        self.put(base)
        self._script, self._pending = "ruby", [*readings, reading]

    def flush(self) -> None:
        """Write what waits for its end."""
        text, script = "".join(self._pending), self._script
        self._pending, self._script = [], ""
        if script == "ruby":
            self.parts.append(f"({text})" if text else "")
        elif script:
            before = "".join(self.parts[-8:])
            written = (raised if script == "super" else lowered)(before, text)
            self.parts.append(written)
            self._is_apart = (written != text or not before[-1:].strip()) and text[-1:].isalnum()

    def __str__(self) -> str:
        self.flush()
        return "".join(self.parts)


def _says(text: str) -> bool:
    return any(sign.isalnum() or sign in "+-\u2212" for sign in text)


def _group(text: str) -> str:
    return text if re.fullmatch(r"[+\-\u2212]?\w+", text) else f"({text})"
