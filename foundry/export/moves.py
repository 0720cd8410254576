"""Where the modules of earlier exports went (`moves.toml`), and imports that follow them there."""

import ast
import re
from codecs import BOM_UTF8
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Self

from foundry.export.package_files import module_of, parse
from foundry.files import read_beside

_TABLES = read_beside(__file__, "moves.toml")

MOVED: Mapping[str, str] = {
    old: new for new, olds in _TABLES["went"].items() for old in olds.split()
}
"""Module of earlier exports -> the module that has its code now, both as the package knows them."""

GONE: Mapping[str, str] = _TABLES["gone"]
"""Module of earlier exports that none replaces -> why."""


@dataclass(frozen=True, slots=True)
class Moves:
    """Modules that lie elsewhere after an update, by whole dotted names before it.

    `gone` are the paths of those that none replaces, and why.
    """

    modules: Mapping[str, str]
    gone: Mapping[str, str]

    @classmethod
    def between(cls, package: str, old: Collection[str], new: Collection[str]) -> Self:
        """Compare the paths of an export's files with those of the export to come."""
        paths = {module: _path_of(f"{package}.{module}") for module in [*MOVED, *GONE]}
        left = {module for module, path in paths.items() if path in old and path not in new}
        modules = {
            f"{package}.{module}": f"{package}.{MOVED[module]}"
            for module in left & MOVED.keys()
            if _path_of(f"{package}.{MOVED[module]}") in new
        }
        return cls(modules, {paths[module]: GONE[module] for module in left & GONE.keys()})

    def place_of(self, name: str) -> str | None:
        """Return the path where the code of the module at path `name` is now; None if nowhere."""
        place = self.modules.get(module_of(name))
        return _path_of(place) if place and name.endswith(".py") else None

    def follow(self, name: str, content: bytes) -> bytes:
        """Let the imports of the file at path `name` lead to where modules are after the update.

        What is no Python stays as it is.
        """
        tree = parse(content) if self.modules and name.endswith(".py") else None
        if not isinstance(tree, ast.Module):
            return content
        return _Follower(content, module_of(name), self.modules).follow(tree)


def _path_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


_FROM = re.compile(rb"from\b.*?\bimport\b", re.DOTALL)


class _Follower:
    """Rewrites what a module imports, and leaves everything else of its text as it is.

    `module` is its own name as it was: if it moved itself, its relative imports are written for its
    new place.
    """

    def __init__(self, content: bytes, module: str, modules: Mapping[str, str]) -> None:
        self._content, self._module, self._modules = content, module, modules
        self._has_moved = module in modules
        self._here = modules.get(module, module).split(".")[:-1]
        self._starts = [0, *accumulate(map(len, content.splitlines(keepends=True)))]
        if content.startswith(BOM_UTF8):
            # The parser's columns do not count it.
            self._starts[0] = len(BOM_UTF8)
        self._edits: list[tuple[int, int, str]] = []

    def follow(self, tree: ast.Module) -> bytes:
        nodes = [*ast.walk(tree)]
        imports = [node for node in nodes if isinstance(node, ast.Import)]
        aliases = [alias for node in imports for alias in node.names if alias.name in self._modules]
        imported = {alias.name for alias in aliases if alias.asname is None}
        for alias in aliases:
            self._rename(alias, alias.name)
        for node in nodes:
            if isinstance(node, ast.Attribute) and (name := ast.unparse(node)) in imported:
                self._rename(node, name)
            elif isinstance(node, ast.ImportFrom):
                self._follow_from(node)
        return self._apply_edits()

    def _rename(self, node: ast.expr | ast.alias, name: str) -> None:
        """Replace the dotted name that a node begins with, unless there are spaces in it."""
        start, _ = self._place(node)
        if self._content.startswith(name.encode(), start):
            self._edits.append((start, start + len(name.encode()), self._modules[name]))

    def _follow_from(self, node: ast.ImportFrom) -> None:
        above = self._module.split(".")[: -node.level] if node.level else []
        if node.level and not above:
            return
        base = ".".join([*above, *([node.module] if node.module else [])])
        write = partial(_relative, self._here) if node.level else str
        moved = [alias for alias in node.names if f"{base}.{alias.name}" in self._modules]
        start, end = self._place(node)
        head = _FROM.match(self._content, start)
        if head is None:
            # Columns are of UTF-8, and so wrong in a line that is written in another encoding.
            return
        if not moved:
            if base in self._modules or (node.level and self._has_moved):
                written = write(self._modules.get(base, base))
                self._edits.append((start, head.end(), f"from {written} import"))
            return
        if b"#" in self._content[start:end]:
            # A comment has no place in what would be written here.
            return
        stayed = ", ".join(ast.unparse(alias) for alias in node.names if alias not in moved)
        statements = [f"from {write(base)} import {stayed}"] if stayed else []
        for alias in moved:
            parent, _, last = self._modules[f"{base}.{alias.name}"].rpartition(".")
            bound = alias.asname or alias.name
            renamed = f" as {bound}" if bound != last else ""
            statements.append(f"from {write(parent)} import {last}{renamed}")
        self._edits.append((start, end, self._joint(node, start).join(statements)))

    def _joint(self, node: ast.stmt, start: int) -> str:
        """Return what separates statements that take the place of one."""
        before = self._content[self._starts[node.lineno - 1] : start]
        if before.strip():
            return "; "
        return ("\r\n" if b"\r\n" in self._content else "\n") + before.decode()

    def _place(self, node: ast.expr | ast.alias | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends, in bytes."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        starts = self._starts
        end = starts[node.end_lineno - 1] + node.end_col_offset
        return starts[node.lineno - 1] + node.col_offset, end

    def _apply_edits(self) -> bytes:
        parts, done = [], 0
        # Of names one of which begins with the other, the longer comes first.
        for start, end, text in sorted(self._edits, key=lambda edit: (edit[0], -edit[1])):
            if start >= done:
                parts += [self._content[done:start], text.encode()]
                done = end
        return b"".join([*parts, self._content[done:]])


def _relative(here: Sequence[str], module: str) -> str:
    """Return a module's name as it is written in a package, given by its parts."""
    parts = module.split(".")
    common = sum(here[:count] == parts[:count] for count in range(1, len(here) + 1))
    return "." * (len(here) - common + 1) + ".".join(parts[common:])
