"""Where the modules of earlier exports went (`moves.toml`), and imports that follow them there."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from foundry.export.imports import follow_imports

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

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
        """Return the path that the code of the module at path `name` has now; None if it has
        none."""
        place = self.modules.get(_module_of(name))
        return _path_of(place) if place and name.endswith(".py") else None

    def follow(self, name: str, text: str) -> str:
        """Let the imports of the file at path `name` lead to where modules are after the update."""
        if not self.modules or not name.endswith(".py"):
            return text
        return follow_imports(text, _module_of(name), self.modules)

    def follow_bytes(self, name: str, content: bytes) -> bytes:
        """Do the same with what may be no text at all."""
        try:
            return self.follow(name, content.decode()).encode()
        except UnicodeDecodeError:
            return content


def _module_of(name: str) -> str:
    return ".".join(PurePosixPath(name).with_suffix("").parts)


def _path_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"
