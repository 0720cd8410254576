"""Replaces roles of MyST by the Markdown that they stand for: {kbd}`Ctrl` by `Ctrl`."""

import re

from foundry.documents.left_out import Omission
from foundry.readers.formats.markdown.links import CODE_SPAN
from foundry.readers.notes import leave_out

# A role or, before it, code that may contain a brace: "`/items/{id}` and `x`" has no role.
_ROLE = re.compile(
    rf"{CODE_SPAN.pattern}|(?<!`)\{{(?P<name>[a-z][\w:.+-]{{0,30}})\}}(?P<mark>`{{1,3}})"
    r"(?P<text>[^`]{1,500})(?P=mark)(?!`)"
)
_TITLED = re.compile(r"([^<>]{1,300}?)\s*<([^<>]{1,300})>$")
_LITERAL = re.compile(
    r"(?:\w{1,4}:)?(?:code|kbd|command|file|samp|literal|func|class|meth|mod|attr|data|exc|obj"
    r"|envvar|option|program|const|macro|type|confval|method|function|module|attribute)$"
)
_NUMBERED = frozenset(("rfc", "pep", "cve", "cwe"))
_CITED = re.compile(r"(?:cite|footcite|citet|citep)(?:[:.]\w{1,12})?$")


def write_roles(text: str) -> str:
    """Replace the roles in a text outside code."""
    return _ROLE.sub(_write_role, text)


def _write_role(match: re.Match[str]) -> str:
    name = match["name"]
    if name is None:
        return match[0]
    text = match["text"].strip()
    leave_out(Omission.MACRO, name)
    if _CITED.match(name):
        return f"[{text}]"
    if name == "math":
        return f"${text}$"
    titled = _TITLED.match(text)
    if titled:
        leave_out(Omission.ATTRIBUTE, titled[2])
        text = titled[1]
    if name in _NUMBERED:
        return f"{name.upper()} {text}"
    if _LITERAL.match(name):
        return f"`{text.lstrip('~!')}`"
    if name in {"sup", "superscript"}:
        before = match.string[: match.start()][-1:]
        return f"^{text}" if before.isdigit() and text.lstrip("-").isdigit() else text
    return text.lstrip("~!")
