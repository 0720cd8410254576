"""Finds problems in the files of a package: conflicts, invalid Python, broken imports."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from pathlib import PurePosixPath

LEFTOVERS = (".new", ".rej")
"""Suffixes of files that a merge leaves for the owner."""

_MARKED = re.compile(rb"(?ms)^<{7}(?: [^\n]*)?$.*?^={7}\r?$.*?^>{7}(?: [^\n]*)?$")
_COMPILED = (".so", ".pyd")
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
"""Attributes of a statement that contain statements."""


def has_conflicts(content: bytes) -> bool:
    """Return whether a text has conflict markers, like those of diff3, Git and Foundry."""
    return b"<<<<<<<" in content and _MARKED.search(content) is not None


def find_unsettled(files: Mapping[str, bytes]) -> list[str]:
    """Return a line for each file with conflict markers, and for each leftover, sorted by path."""
    marked = [f"{name}: contains conflict markers" for name in files if has_conflicts(files[name])]
    beside = [
        f"{name}: is still there"
        for name in files
        if name.endswith(LEFTOVERS) and name[: name.rindex(".")] in files
    ]
    return sorted([*marked, *beside])


def find_malformed(files: Mapping[str, bytes]) -> list[str]:
    """Return a line for each module that is invalid Python, unless it has conflict markers."""
    return [
        f"{name}: line {getattr(error, 'lineno', 0)}: {error.args[0]}"
        for name, content in sorted(files.items())
        if name.endswith(".py") and not has_conflicts(content)
        if isinstance(error := parse(content), Exception)
    ]


def find_unresolved(files: Mapping[str, bytes], package: str) -> list[str]:
    """Return a line for each import of a missing module of `package`, or of a missing name in one.

    `files` are all files by path, with the package as a folder. Files with conflict markers and
    files that are not Python are skipped, as are imports of other packages or within a `try`.
    """
    trees: dict[str, ast.Module | None] = {}
    findings = []
    for name, content in sorted(files.items()):
        if name.endswith(_COMPILED):
            trees[module_of(name).partition(".cpython")[0]] = None
        elif name.endswith(".py"):
            parsed = None if has_conflicts(content) else parse(content)
            trees[module_of(name)] = parsed if isinstance(parsed, ast.Module) else None
    packages = {parent for module in trees for parent in _parents(module)}
    trees = {module.removesuffix(".__init__"): tree for module, tree in trees.items()}
    bound_by = cache(lambda module: _bound_names(trees.get(module)))
    for name in sorted(files):
        module = module_of(name)
        tree = trees.get(module.removesuffix(".__init__"))
        if tree is None or not name.endswith(".py"):
            continue
        for node, written, base, names in _imports(tree, module):
            if base.partition(".")[0] != package:
                continue
            place = f"{name}: line {node.lineno}: imports"
            if base not in trees and base not in packages:
                findings.append(f"{place} {written}, which does not exist")
                continue
            bound = bound_by(base)
            findings += [
                f"{place} {wanted} from {written}, which does not define it"
                for wanted in names
                if f"{base}.{wanted}" not in trees
                and f"{base}.{wanted}" not in packages
                and (bound is not None or base not in trees)
                and wanted not in (bound or ())
            ]
    return findings


def find_broken(files: Mapping[str, bytes], package: str) -> list[str]:
    """Return a line for each conflict, malformed module and broken import among files."""
    return [*find_unsettled(files), *find_malformed(files), *find_unresolved(files, package)]


def module_of(name: str) -> str:
    """Return the dotted name of the module at a path."""
    return ".".join(PurePosixPath(name).with_suffix("").parts)


# Modules are parsed once for both checks.
@lru_cache(maxsize=256)
def parse(content: bytes) -> ast.Module | Exception:
    """Return the syntax tree of a module, or the error if it cannot be parsed."""
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError) as error:
        return error


def _parents(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts)))


def _imports(tree: ast.Module, module: str) -> Iterator[tuple[ast.stmt, str, str, list[str]]]:
    """Yield imports: the statement, the module as written, its full name, the imported names.

    Imports in the body of a `try` are left out.
    """
    parents = module.split(".")[:-1]
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Try):
            waiting += [*node.handlers, *node.orelse, *node.finalbody]
            continue
        waiting += chain.from_iterable(getattr(node, block, ()) for block in _BLOCKS)
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name, alias.name, []
        elif isinstance(node, ast.ImportFrom):
            above = parents[: len(parents) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [alias.name for alias in node.names if alias.name != "*"]
            yield node, "." * node.level + (node.module or ""), base, names


def _bound_names(tree: ast.Module | None) -> set[str] | None:
    """Return the names that a module binds at the top level; None if they cannot be determined."""
    if tree is None:
        return None
    found = {"__file__", "__name__", "__doc__", "__path__"}
    waiting: list[ast.AST] = [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        waiting += ast.iter_child_nodes(node)
    return None if found & {"*", "__getattr__"} else found
