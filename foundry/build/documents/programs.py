"""Hash the programs that decide a result: the modules imported for it, and their libraries.

So what has changed elsewhere (a command, a server's module, a library that watches folders) leads
to no new preparing, and nobody has to remember which part of which program decides what.
"""

import hashlib
import re
import sys
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from packaging.requirements import Requirement

import foundry
from foundry.embedding.static import MODEL_FOLDER
from foundry.runtime.retrieval.encoder import EncoderLayout

DISTRIBUTION = "rag-foundry"
ROOT = Path(foundry.__file__).parent

PREPARING = "foundry.build.documents.preparer"
"""Imports all that a document is prepared by."""

_TAKES_IF_THERE = {"snowballstemmer": ["PyStemmer"]}
"""Libraries that one imports, without requiring them, where they are installed."""

READING_EXTRAS = ("code", "ocr", "office", "rst")
"""The extras of Foundry that bring what reads documents."""

_FOR_TYPES = re.compile(r"^( *)if TYPE_CHECKING:\n(?:\1 .*\n|\n)+", re.MULTILINE)
"""What only type checkers read."""

_NAMED = re.compile(
    r"^ *(?:from (\.*)([\w.]*) )?import (\([^)]*\)|.+)|[\"']([A-Za-z_]\w*(?:\.\w+)*)[\"']",
    re.MULTILINE,
)
"""An import: its dots, the module they lead to, names; or a string that may name a module."""


@cache
def program_hash(start: str) -> str:
    """SHA-256 over what decides the results of a module, in hex.

    That is Python, the code of all modules of Foundry that it imports (directly, through others, or
    by a name in a string), the versions of the libraries that these import and of what those
    require, and the built-in model. Foundry's own version, which its first module holds, is no
    part of it.
    """
    digest = hashlib.sha256(sys.version.encode())
    for module in sorted(imported_by(start)[0] - {"foundry"}):
        content = _path_of(module).read_bytes()
        digest.update(module.encode() + b"\0" + hashlib.sha256(content).digest())
    digest.update(EncoderLayout(MODEL_FOLDER).description.read_bytes())
    for name, number in sorted(libraries_of(start).items()):
        digest.update(f"{name} {number}\0".encode())
    return digest.hexdigest()


def installation(start: str) -> dict[str, str]:
    """Names and versions of what decides the results of a module."""
    own = {"Python": sys.version.partition(" ")[0], "Foundry": foundry.__version__}
    return {**own, **libraries_of(start)}


def libraries_of(start: str) -> dict[str, str]:
    """Return the versions of the libraries that Foundry requires and a module imports, and of
    theirs."""
    _, others = imported_by(start)
    found: dict[str, str] = {}
    waiting = [name for name, modules in _required_modules().items() if modules & others]
    while waiting:
        name = waiting.pop()
        if name not in found:
            with suppress(PackageNotFoundError):
                found[name] = version(name)
                waiting += [*_requirements(name), *_TAKES_IF_THERE.get(name, ())]
    return found


@cache
def imported_by(start: str) -> tuple[set[str], set[str]]:
    """Return the modules of Foundry that a module imports, itself included, and names beside them.

    The latter are the first parts of all names that may be a library's.
    """
    modules: set[str] = set()
    others: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in modules:
            continue
        if name.partition(".")[0] != ROOT.name:
            others.add(name.partition(".")[0])
        elif _path_of(name).is_file():
            modules.add(name)
            waiting += [name.rpartition(".")[0], *_imports(name)]
    return modules, others


def _path_of(module: str) -> Path:
    path = ROOT.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _imports(module: str) -> set[str]:
    """Names that a module imports or has in strings, some of which may be no modules."""
    path = _path_of(module)
    parts = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    found: set[str] = set()
    # Expressions find what the syntax tree has, in a twentieth of the time: every build waits.
    for match in _NAMED.finditer(_FOR_TYPES.sub("", path.read_text(encoding="utf-8"))):
        dots, base, imported, written = match.groups("")
        above = parts[: len(parts) - len(dots) + 1] if dots else []
        base = ".".join([*above, *([base] if base else [])])
        names = re.findall(r"[\w.]+", imported or written)
        found.update([base, *(f"{base}.{name}" for name in names)] if base else names)
    return found


@cache
def _required_modules() -> dict[str, set[str]]:
    """Return the top modules of each library that Foundry requires to read, if it is installed."""
    found = {}
    for name in _requirements(DISTRIBUTION, READING_EXTRAS):
        with suppress(PackageNotFoundError):
            record = distribution(name).read_text("RECORD") or ""
            tops = re.findall(r"(?m)^(\w+)(?:/|(?:\.[\w-]+)*\.(?:py|so|pyd),)", record)
            found[name] = set(tops) or {name.replace("-", "_").lower()}
    return found


def _requirements(name: str, extras: Collection[str] = ()) -> list[str]:
    """Return the names of what a library requires here, by itself and with the `extras`.

    What it requires on other systems is none of it, although it may be installed: Ray brings some.
    """
    try:
        metadata = distribution(name).read_text("METADATA") or ""
    except PackageNotFoundError:
        return []
    lines = re.findall(r"(?m)^Requires-Dist: *([^\n]+)", metadata.partition("\n\n")[0])
    listed = [Requirement(line) for line in lines]
    return [
        each.name
        for each in listed
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]
