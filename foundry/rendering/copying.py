"""Copies the runtime modules that rendered modules import, with their tests.

They are copied whole and unchanged, except that tests import the package instead of the runtime.
"""

import ast
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path

import foundry
from foundry.errors import RenderError
from foundry.files import templates_folder
from foundry.rendering.formatting import parse_back

RUNTIME = Path(foundry.__file__).parent / "runtime"
PAGE_FOLDER = "page"
"""The folder of web pages, in the runtime and in a package."""

LINE_LENGTH = 100
"""The longest line that black leaves in a server."""

_TESTED = re.compile(rb"(?m)^from foundry\.runtime\.([\w.]+) import ")
_NAMED = re.compile(rb'(?:href|src)="([a-z]+\.(?:css|js))"')


def copy_runtime(files: Mapping[str, bytes], package: str) -> dict[str, bytes]:
    """Return the runtime modules that rendered modules import, directly or indirectly, by path.

    `files` are the rendered files. The `__init__` of each package is included. Raises RenderError.
    """

    def read(module: str) -> bytes:
        return _read(path_of(module))

    rendered = {
        module_of(name, package): content
        for name, content in files.items()
        if name.startswith(f"{package}/") and name.endswith(".py")
    }
    reached = set(reach_runtime(rendered, read))
    reached |= {f"{folder}.__init__" for module in reached for folder in _folders_above(module)}
    return {
        f"{package}/{module.replace('.', '/')}.py": read(module)
        for module in reached - rendered.keys()
    }


def reach_runtime(rendered: Mapping[str, bytes], read: Callable[[str], bytes]) -> dict[str, str]:
    """Return the imported runtime modules, each with a module that imports it.

    Modules are dotted names below the package; `read` returns the content of those that are not
    rendered. Following the importers gives the shortest chain of imports. Raises RenderError.
    """
    importers: dict[str, str] = {}
    waiting = deque(sorted(rendered))
    while waiting:
        module = waiting.popleft()
        content = rendered[module] if module in rendered else read(module)
        for needed in imported_modules(content, module):
            if needed not in rendered and needed not in importers:
                importers[needed] = module
                waiting.append(needed)
    return importers


def copy_pages(
    pages: Iterable[str], package: str, left_out: Collection[str] = ()
) -> dict[str, bytes]:
    """Return pages with the style sheets and scripts that they use, by path.

    Lines of a page that name a file in `left_out` are removed. Raises RenderError.
    """
    unwanted = {path.rpartition("/")[2].encode() for path in left_out}
    texts = {name: _without(_read(RUNTIME / PAGE_FOLDER / name), unwanted) for name in pages}
    named = {name.decode() for text in texts.values() for name in _NAMED.findall(text)}
    texts |= {name: _read(RUNTIME / PAGE_FOLDER / name) for name in named}
    return {f"{package}/{PAGE_FOLDER}/{name}": text for name, text in texts.items()}


def _without(page: bytes, unwanted: Set[bytes]) -> bytes:
    lines = page.splitlines(keepends=True)
    return b"".join(line for line in lines if unwanted.isdisjoint(_NAMED.findall(line)))


def copy_tests(files: Mapping[str, bytes], package: str) -> dict[str, bytes]:
    """Return the tests whose runtime modules are all among `files`, by path.

    They import `package` instead of the runtime, and are not formatted yet.
    """
    root = templates_folder() / "server"
    copied = {}
    for path in sorted((root / "tests").rglob("*.py")):
        content = _read(path)
        tested = (module.decode().replace(".", "/") for module in _TESTED.findall(content))
        if all(f"{package}/{one}.py" in files for one in tested):
            name = path.relative_to(root).as_posix()
            copied[name] = content.replace(b"foundry.runtime", package.encode())
    return copied


def is_formatted(test: bytes, package: str) -> bool:
    """Return whether a copied test still has black's format with another package name.

    This is so if only imports and one-line statements contain the name, and these lines are not too
    long.
    """
    naming = re.compile(rb"\b%s\b" % package.encode())
    named = [item for item in enumerate(test.splitlines(), 1) if naming.search(item[1])]
    begin = b"from " + package.encode()
    others = {number for number, line in named if not line.startswith(begin)}
    if others:
        nodes = (node for node in _statements(ast.parse(test)) if isinstance(node, ast.stmt))
        others -= {node.lineno for node in nodes if node.lineno == node.end_lineno}
    return not others and all(len(line) <= LINE_LENGTH for _, line in named)


def module_of(name: str, package: str) -> str:
    """Return the dotted name below the package of the module at a path."""
    return name.removeprefix(f"{package}/").removesuffix(".py").replace("/", ".")


def _folders_above(module: str) -> list[str]:
    parts = module.split(".")[:-1]
    return [".".join(parts[: depth + 1]) for depth in range(len(parts))]


def path_of(module: str) -> Path:
    """Return the path that a runtime module would have."""
    return RUNTIME.joinpath(*module.split(".")).with_suffix(".py")


# Cached, since an evaluation renders several servers with the same modules.
@cache
def imported_modules(content: bytes, module: str) -> tuple[str, ...]:
    """Return the runtime modules that a module imports, dotted."""
    tree = parse_back(f"{module}.py", content)
    assert isinstance(tree, ast.Module)
    modules = []
    for node in _statements(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        parts = module.split(".")[: -node.level]
        named = ".".join([*parts, *([node.module] if node.module else [])])
        if named and path_of(named).is_file():
            modules.append(named)
        else:
            # In `from . import x`, x may be a module or a name in __init__.
            names = [".".join([*([named] if named else []), alias.name]) for alias in node.names]
            modules += [name for name in names if path_of(name).is_file()]
    return tuple(modules)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield statements at any depth, those nearest to the top first."""
    # `ast.walk` would also visit expressions, and take ten times as long.
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        node = waiting.popleft()
        yield node
        for inner in ("body", "handlers", "orelse", "finalbody", "cases"):
            waiting.extend(getattr(node, inner, ()))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        hint = "install Foundry again"
        raise RenderError(f"{path}: cannot be read: {error.strerror}", hint=hint) from None
