"""Cuts out of runtime modules, and of their tests, what a server has not chosen.

A region is what stands between two comments, of which no server has any:

    # [callers or mcp
    ...
    # ]

It stays where one of its names is chosen, or with `not` before a name, where that one is not.
Imports that nothing else needs go with it, and brackets around a region close as black has them.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from foundry.errors import RenderError
from foundry.features.providers import PROVIDERS
from foundry.features.stores import STORES

LINE_LENGTH, INDENT = 100, 4
NOT = "not "
_OPENING, _CLOSING = ("(\n", "[\n", "{\n"), (")", "]", "}")
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
    """Return a module without marks, and without the regions of which no name holds.

    Raises RenderError for a name that `chosen` does not have, and for a mark without its other.
    """
    if not _MARK.search(text):
        return text
    kept: list[str] = []
    marked: set[int | None] = set()  # Where brackets open that have marks in them.
    for line, is_after_mark in _kept_lines(text, chosen):
        if is_after_mark:
            _join(kept, line)
            marked.add(_opening(kept, line))
        begin = _opening(kept, line) if line.lstrip().startswith(_CLOSING) else None
        kept.append(line)
        if begin is not None:
            if begin in marked:
                kept[begin:] = _on_one_line(*kept[begin:])
            # Other brackets may come to open where those within this one did.
            marked = {number for number in marked if number is not None and number < begin}
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
            unknown = [each for name in names if (each := name.removeprefix(NOT)) not in chosen]
            if unknown:
                raise RenderError(f"line {number}: nothing is called {unknown[0]!r}")
            begun.append((number, stays))
            stays = stays and any(_holds(name, chosen) for name in names)
        elif mark["rest"]:
            raise RenderError(f"line {number}: is no mark")
        elif begun:
            _, stays = begun.pop()
        else:
            raise RenderError(f"line {number}: closes no region")
    if begun:
        raise RenderError(f"line {begun[-1][0]}: is not closed")


def _holds(name: str, chosen: Mapping[str, bool]) -> bool:
    return not chosen[name[len(NOT) :]] if name.startswith(NOT) else chosen[name]


def _join(before: list[str], line: str) -> None:
    """Leave one blank line of those before and after what was cut."""
    while line.isspace() and before and before[-1].isspace():
        before.pop()


def _opening(before: list[str], line: str) -> int | None:
    """Return the number of the line that opens the bracket around a line, or that it closes."""
    is_closing = line.lstrip().startswith(_CLOSING)
    for number in reversed(range(len(before))):
        each = before[number]
        if not each.isspace() and _indent(each) < _indent(line) + is_closing:
            return number if each.endswith(_OPENING) else None
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _on_one_line(head: str, *lines: str) -> list[str]:
    """Return a bracket whose items take less space, if they fit there, as black writes it."""
    *items, last = lines
    inside = _indent(head) + INDENT
    if any(_indent(item) != inside or "#" in item or item.endswith(_OPENING) for item in items):
        return [head, *lines]
    text = " ".join(item.strip() for item in items)
    # Of a call, a subscript or a definition.
    is_trailer = re.search(r"[\w)\]].$", head) is not None
    if is_trailer or len(items) != 1 or not head.endswith("(\n"):  # Else it is a tuple.
        text = text.removesuffix(",")
    if len(whole := head.rstrip() + text + last.lstrip()) <= LINE_LENGTH + 1:
        return [whole]
    fits = inside + len(text) <= LINE_LENGTH and is_trailer and len(items) > 1
    return [head, f"{' ' * inside}{text}\n", last] if fits else [head, *lines]


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
