"""Where the modules of earlier exports went (`moves.toml`), and imports that follow them there."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

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
    def between(cls, package: str, old: Collection[str], new: Collection[str]) -> "Moves":
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

    def follow(self, name: str, text: str) -> str:
        """Let the imports of the file at path `name` lead to where modules are after the update."""
        if not self.modules or not name.endswith(".py"):
            return text
        return follow_imports(text, module_of(name), self.modules)

    def follow_bytes(self, name: str, content: bytes) -> bytes:
        """Do the same with what may be no text at all."""
        try:
            return self.follow(name, content.decode()).encode()
        except UnicodeDecodeError:
            return content


def module_of(name: str) -> str:
    """Return the dotted name of the module at a path."""
    return ".".join(PurePosixPath(name).with_suffix("").parts)


def _path_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


_FROM = re.compile(rb"from\s*([.\w\s]+?)\s+import\b")


def follow_imports(text: str, module: str, modules: Mapping[str, str]) -> str:
    """Let the imports of a module lead to where `modules` are now, by whole dotted names.

    `module` is its own name as it was: if it moved itself, its relative imports are written for its
    new place. What is no Python is returned as it is.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    content = text.encode()
    rewriter = _Rewriter(modules, content, module)
    for start, end, written in sorted(rewriter.changes(tree), reverse=True):
        content = content[:start] + written.encode() + content[end:]
    return content.decode()


Change = tuple[int, int, str]
"""Start and end in bytes, and what is to be written between them."""


class _Rewriter:
    """Finds the imports of one module that lead to where another was."""

    def __init__(self, modules: Mapping[str, str], content: bytes, here: str) -> None:
        self._modules, self._content = modules, content
        self._here, self._there = here, modules.get(here, here)
        self._lines = [0, *(match.end() for match in re.finditer(rb"\r\n|\n|\r", content))]

    def changes(self, tree: ast.Module) -> Iterator[Change]:
        renamed: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                yield from self._follow_from(node)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if place := self._modules.get(alias.name):
                        yield self._change(alias, alias.name, place)
                        if alias.asname is None:
                            renamed.add(alias.name)
        for node in ast.walk(tree) if renamed else ():
            if isinstance(node, ast.Attribute) and (name := ast.unparse(node)) in renamed:
                yield self._change(node, name, self._modules[name])

    def _follow_from(self, node: ast.ImportFrom) -> Iterator[Change]:
        base = node.module or ""
        if node.level:
            above = self._here.split(".")[: -node.level]
            if not above:
                return
            base = ".".join([*above, *([base] if base else [])])
        write = self._relative if node.level else str
        start, end = self._span(node)
        if base in self._modules:
            match = _FROM.match(self._content, start, end)
            if match:
                yield match.start(1), match.end(1), write(self._modules[base])
            return
        moved = [a for a in node.names if f"{base}.{a.name}" in self._modules]
        written = write(base)
        if moved and b"#" not in self._content[start:end]:
            stayed = [ast.unparse(alias) for alias in node.names if alias not in moved]
            statements = [f"from {written} import {', '.join(stayed)}"] if stayed else []
            for alias in moved:
                parent, _, name = self._modules[f"{base}.{alias.name}"].rpartition(".")
                bound = alias.asname or alias.name
                renamed = f" as {bound}" if bound != name else ""
                statements.append(f"from {write(parent)} import {name}{renamed}")
            yield start, end, self._separator(start).join(statements)
            return
        match = _FROM.match(self._content, start, end)
        if node.level and match and match[1].decode() != written:
            yield match.start(1), match.end(1), written

    def _separator(self, start: int) -> str:
        """Return what goes between two statements of which the first begins at `start`."""
        line = max(place for place in self._lines if place <= start)
        indent = self._content[line:start].decode()
        end = "\r\n" if b"\r\n" in self._content else "\n"
        return "; " if indent.strip() else end + indent

    def _relative(self, module: str) -> str:
        own, target = self._there.split(".")[:-1], module.split(".")
        common = 0
        while common < min(len(own), len(target)) and own[common] == target[common]:
            common += 1
        return "." * (len(own) - common + 1) + ".".join(target[common:])

    def _change(self, node: ast.alias | ast.expr, old: str, new: str) -> Change:
        start, _ = self._span(node)
        return start, start + len(old.encode()), new

    def _span(self, node: ast.alias | ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self._lines[node.lineno - 1] + node.col_offset,
            self._lines[node.end_lineno - 1] + node.end_col_offset,
        )
