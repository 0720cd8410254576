"""Cuts out of runtime modules, and of their tests, what a server has not chosen.

A region is what stands between two comments, of which no server has any:

    # [callers or mcp
    ...
    # ]

It stays where one of its names is chosen. Imports that nothing else needs go with it.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from foundry.errors import RenderError
from foundry.features.providers import PROVIDERS
from foundry.features.stores import STORES

LINE_LENGTH = 100
_BRACKETS = "(\n", "[\n", "{\n"
_MARK = re.compile(r"(?m)^ *# (?:\[(?P<names>.*)|\](?P<rest>.*))$")


def chosen_names(values: Mapping[str, Any]) -> dict[str, bool]:
    """Return which of the names that regions may have were chosen, by what templates may see.

    They are the names of stages, stores and kinds of query encoders, and the booleans that
    templates see.
    """
    kind, store = values["query_encoder_kind"], values["store"]
    return {
        **{name: value for name, value in values.items() if isinstance(value, bool)},
        **{name: stage is not None for name, stage in values["stages"].items()},
        **{name: name == store for name in STORES},
        **{each.kind: each.kind == kind for each in PROVIDERS.values()},
    }


def cut_regions(text: str, chosen: Mapping[str, bool]) -> str:
    """Return a module without marks, and without the regions of which no name is `chosen`.

    Raises RenderError for a name that `chosen` does not have, and for a mark without its other.
    """
    if not _MARK.search(text):
        return text
    kept: list[str] = []
    for line, is_after_mark in _kept_lines(text, chosen):
        kept.append(_join(kept, line) if is_after_mark else line)
    return _without_idle_imports("".join(kept).rstrip() + "\n")


def _kept_lines(text: str, chosen: Mapping[str, bool]) -> Iterator[tuple[str, bool]]:
    """Yield the lines that stay, and whether there were marks between a line and the one before."""
    begun: list[tuple[int, bool]] = []
    stays, is_after_mark = True, False
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        mark = _MARK.match(line)
        if mark is None:
            if stays:
                yield line, is_after_mark
                is_after_mark = False
            continue
        is_after_mark = True
        if mark["names"] is not None:
            names = mark["names"].split(" or ")
            if unknown := [name for name in names if name not in chosen]:
                raise RenderError(f"line {number}: nothing is called {unknown[0]!r}")
            begun.append((number, stays))
            stays = stays and any(chosen[name] for name in names)
        elif mark["rest"]:
            raise RenderError(f"line {number}: is no mark")
        elif begun:
            _, stays = begun.pop()
        else:
            raise RenderError(f"line {number}: closes no region")
    if begun:
        raise RenderError(f"line {begun[-1][0]}: is not closed")


def _join(before: list[str], line: str) -> str:
    """Return the line to put after others, joining blank lines and empty brackets."""
    if line.isspace():
        while before and before[-1].isspace():
            before.pop()
    elif before and before[-1].endswith(_BRACKETS) and line.lstrip().startswith((")", "]", "}")):
        return before.pop().rstrip() + line.lstrip()
    return line


def _without_idle_imports(text: str) -> str:
    """Leave out the names that a module imports and does not use."""
    tree = ast.parse(text)
    used: set[object] = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    # An annotation that names what is defined further down is a string.
    used |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    used.add("annotations")  # Of `__future__`.
    lines = text.splitlines(keepends=True)
    for node in reversed(tree.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [each for each in node.names if (each.asname or each.name) in used]
            if len(names) < len(node.names):
                begin, end = node.lineno - 1, node.end_lineno or node.lineno
                before, after = lines[:begin], lines[end:]
                if after and not names:
                    _join(before, after[0])
                lines = [*before, *_write_import(node, names), *after]
    return "".join(lines)


def _write_import(node: ast.Import | ast.ImportFrom, names: list[ast.alias]) -> list[str]:
    if not names:
        return []
    node.names = names
    line = ast.unparse(node)
    if len(line) <= LINE_LENGTH:
        return [f"{line}\n"]
    opening, _, listed = line.partition(" import ")
    return [f"{opening} import (\n", *(f"    {name},\n" for name in listed.split(", ")), ")\n"]
