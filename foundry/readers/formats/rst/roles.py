"""Roles of interpreted text: Sphinx links, and all others as text."""

import re
from typing import Any

from docutils import nodes

_WITH_TARGET = re.compile(r"(.*?\S)\s*<([^<>]*)>", re.DOTALL)
_ACCELERATOR = re.compile(r"&(&|\w)")
_PAGES = frozenset(("doc", "download"))
_LABELS = frozenset(("ref", "numref", "any", "term"))
_MENUS = frozenset(("menuselection", "guilabel"))

Result = tuple[list[nodes.Node], list[nodes.system_message]]


def read_role(name: str, rawtext: str, text: str, *_: Any, **__: Any) -> Result:
    """Return the text of a role as shown: its title, or else the target's name."""
    text = nodes.unescape(text)
    kind = name.rpartition(":")[2].lower()
    titled = _WITH_TARGET.fullmatch(text)
    title = titled[1] if titled else text.removeprefix("!").removeprefix("~")
    target = (titled[2] if titled else title).strip().lstrip("!~")
    if kind in {"eq", "eqref"}:
        return [nodes.inline(rawtext, f"({target})")], []
    if kind in _MENUS:
        shown = _ACCELERATOR.sub(r"\1", title).replace("-->", ">")
        return [nodes.inline(rawtext, shown)], []
    if kind in _PAGES and target and ":" not in target and not text.startswith("!"):
        path = target if kind == "download" else f"{target.removesuffix('/')}.rst"
        return [nodes.reference(rawtext, title, refuri=path)], []
    if kind in _LABELS and target and not text.startswith("!"):
        marks = {"titled": bool(titled), "numbered": kind == "numref"}
        return [nodes.inline(rawtext, title, label=target, **marks)], []
    if kind in {"samp", "file"}:
        return [nodes.literal(rawtext, re.sub(r"(?<!\\)[{}]", "", title))], []
    return [nodes.inline(rawtext, title)], []


def read_default(_name: str, rawtext: str, text: str, *_: Any, **__: Any) -> Result:
    """Return interpreted text without a role, which Sphinx projects use for names."""
    return [nodes.inline(rawtext, nodes.unescape(text).removeprefix("!").removeprefix("~"))], []
