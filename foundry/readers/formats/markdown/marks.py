"""Rewrites marks that Markdown does not have: raised and lowered text, keys, notes, changes.

Pandoc, Quarto, Python-Markdown and VitePress share most of them.
"""

import re
from functools import partial

from foundry.readers.formats.markdown.edits import Edits
from foundry.readers.formats.pages.numbers import apart, lowered, raised

_SUBSCRIPT = re.compile(r"~(?<=[A-Za-z)\]]~)(\d{1,4}+|[a-z]{1,3}+)~(?!~)")
_SUPERSCRIPT = re.compile(r"\^(?<=[\w)\]]\^)([\w+-]{1,20}+)\^(?![\w^])")
# Keys and inserted words, `++ctrl+c++`, but not `++i` and `C++`; inserted text, `^^so it is^^`.
_INSERTED = re.compile(
    r"\+\+(?<![\w+]\+\+)((?!\+)(?:[\w\"-]|\+(?!\+)){2,80}+)\+\+(?![\w+])"
    r"|\^\^(?<![\w^]\^\^)(?=[^\s^])([^\n]{1,200}?)(?<=[^\s^])\^\^(?![\w^])"
)
# Notes within a line, as in Pandoc: `word^[a note]`.
_NOTE = re.compile(
    r"\^\[(?<=[^\s\[(]\^\[)((?:[^\[\]\n]|\n(?!\s*\n)|\[[^\[\]\n]{0,300}\]){0,2000}+)\]"
)
# Changes of CriticMarkup: deleted, added, replaced, marked, and remarks on them.
_CHANGE = re.compile(
    r"\{(?:--([^{}\n]{1,500}?)--|\+\+([^{}\n]{1,500}?)\+\+|~~([^{}\n]{1,500}?)~>([^{}\n]{0,500}?)~~"
    r"|==([^{}\n]{1,500}?)==|>>([^{}\n]{1,500}?)<<)\}"
)


def write_marks(edits: Edits) -> None:
    """Rewrite the marks outside code and formulas."""
    text = edits.text
    if "{" in text:
        edits.replace_all(_CHANGE, partial(_changed, text))
    if "~" in text:
        edits.replace_all(_SUBSCRIPT, partial(_subscript, text))
    if "^" in text:
        edits.replace_all(_SUPERSCRIPT, partial(_superscript, text))
        edits.replace_all(_NOTE, partial(_note, text))
    if "++" in text or "^^" in text:
        edits.replace_all(_INSERTED, partial(_inserted, text))


def _subscript(text: str, match: re.Match[str]) -> str:
    """Return a subscript in the form that fits the text around it."""
    before = text[max(match.start() - 24, 0) : match.start()]
    after = text[match.end() : match.end() + 1]
    return apart(lowered(match[1], before), after)


def _superscript(text: str, match: re.Match[str]) -> str:
    """Return a superscript in the form that fits the text around it."""
    said = raised(match[1], text[max(match.start() - 24, 0) : match.start()])
    said = f"^{match[1]}" if said.endswith("]") else said
    return apart(said, text[match.end() : match.end() + 1])


def _note(text: str, match: re.Match[str]) -> str | None:
    """Return an inline note in brackets; None for other text, such as `^[a-z]`."""
    note = text[slice(*match.span(1))]
    return f" ({note})" if " " in note else None


def _inserted(text: str, match: re.Match[str]) -> str:
    return text[slice(*match.span(1 if match[1] else 2))]


def _changed(text: str, match: re.Match[str]) -> str:
    """Return a change of CriticMarkup as struck, marked or plain text."""
    deleted, added, old, new, marked, _ = (text[slice(*match.span(n))] for n in range(1, 7))
    if old:
        return f"~~{old.strip()}~~ {new}"
    if deleted:
        return f"~~{deleted.strip()}~~ "
    return f"=={marked}==" if marked else added
