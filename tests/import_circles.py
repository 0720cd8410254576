"""Finds circles of imports among the modules of a server."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath


def find_circle(modules: Mapping[str, bytes]) -> list[str]:
    """Return modules that import each other in a circle; [] if there is none.

    Modules are given by path below the package. Imports within functions count as well.
    """
    done: set[str] = set()

    def follow(path: str, way: tuple[str, ...]) -> list[str]:
        if path in way:
            return [*way[way.index(path) :], path]
        if path in done:
            return []
        for other in sorted(set(_imported(path, modules))):
            if circle := follow(other, (*way, path)):
                return circle
        done.add(path)
        return []

    return next(filter(None, (follow(path, ()) for path in sorted(modules))), [])


def _imported(path: str, modules: Mapping[str, bytes]) -> Iterator[str]:
    for node in _relative_imports(modules[path]):
        folder = [*PurePosixPath(path).parts[: -node.level], *(node.module or "").split(".")]
        place = "/".join(filter(None, folder))
        # The imported name is a module of a package, or defined in a module.
        named = [f"{place}/{each.name}.py".lstrip("/") for each in node.names]
        found = [name for name in named if name in modules]
        whole = (f"{place}.py", f"{place}/__init__.py".lstrip("/"))
        yield from found or [name for name in whole if name in modules]


@cache
def _relative_imports(source: bytes) -> list[ast.ImportFrom]:
    # Cached, because most modules are the same in every server.
    nodes = ast.walk(ast.parse(source))
    return [node for node in nodes if isinstance(node, ast.ImportFrom) and node.level]
