"""Rewrites the imports of a module after it, or what it imports, has moved."""

import ast
import re
from collections.abc import Iterator, Mapping

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
        write = self._relative if node.level else _absolute
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


def _absolute(module: str) -> str:
    return module
