"""Where the modules of earlier exports went (`moves.toml`), and imports that follow them there."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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


_IMPORT = re.compile(r"^[ \t]*import ([\w.]+)", re.MULTILINE)
_FROM = re.compile(
    r"^([ \t]*)from +(\.*)([\w.]*) +import +(\([^()#]*\)|\w[^()#\r\n]*?(?=\s*(?:#|$)))?",
    re.MULTILINE,
)


def follow_imports(text: str, module: str, modules: Mapping[str, str]) -> str:
    """Let the imports of a module lead to where `modules` are now, by whole dotted names.

    `module` is its own name as it was: if it moved itself, its relative imports are written for its
    new place. Imports are followed where a line begins with them.
    """
    # In reverse, a longer name comes before one that it begins with.
    if imported := sorted({*_IMPORT.findall(text)} & modules.keys(), reverse=True):
        names = "|".join(map(re.escape, imported))
        text = re.sub(rf"(?<![\w.])(?:{names})(?!\w)", lambda match: modules[match[0]], text)
    here = modules.get(module, module).split(".")[:-1]
    end = "\r\n" if "\r\n" in text else "\n"

    def follow(match: re.Match[str]) -> str:
        indent, dots, written, names = match.groups("")
        above = module.split(".")[: -len(dots)] if dots else []
        if dots and not above:
            return match[0]
        base = ".".join([*above, *([written] if written else [])])
        write = partial(_relative, here) if dots else str
        entries = [each.strip() for each in names.strip("()").split(",") if each.strip()]
        moved = [each for each in entries if f"{base}.{each.split()[0]}" in modules]
        if not moved:
            is_same = base not in modules and module not in modules
            start = f"{indent}from {write(modules.get(base, base))} import "
            return match[0] if is_same else start + names
        stayed = ", ".join(each for each in entries if each not in moved)
        statements = [f"from {write(base)} import {stayed}"] if stayed else []
        for each in moved:
            name, _, bound = each.partition(" as ")
            parent, _, last = modules[f"{base}.{name}"].rpartition(".")
            renamed = f" as {bound or name}" if (bound or name) != last else ""
            statements.append(f"from {write(parent)} import {last}{renamed}")
        return end.join(indent + statement for statement in statements)

    return _FROM.sub(follow, text)


def _relative(here: Sequence[str], module: str) -> str:
    """Return a module's name as it is written in a package, given by its parts."""
    parts = module.split(".")
    common = sum(here[:count] == parts[:count] for count in range(1, len(here) + 1))
    return "." * (len(here) - common + 1) + ".".join(parts[common:])
