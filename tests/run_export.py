"""Runs an export where it lies: `python -I -B run_export.py FOLDER [ARGUMENT ...]`.

Exports are mostly copies of the same modules. They are compiled once for all of them, and their
bytecode is kept beside the installed packages, by the hash of its source.
"""

import hashlib
import marshal
import os
import runpy
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

COMPILED = Path(sys.prefix) / "compiled-exports"


class SharedLoader(SourceFileLoader):
    """Takes the bytecode of a module from whichever export had the same one before."""

    def path_stats(self, _: str) -> Any:
        raise OSError("there is no bytecode beside the module")

    def source_to_code(self, data: Any, path: Any, **options: Any) -> CodeType:
        kept = COMPILED / hashlib.sha256(data).hexdigest()
        try:
            return marshal.loads(kept.read_bytes())
        except OSError:
            code = super().source_to_code(data, path, **options)
        new = kept.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            new.write_bytes(marshal.dumps(code))
            new.replace(kept)
        return code


def finder_below(folder: Path) -> Callable[[str], FileFinder]:
    def find(path: str) -> FileFinder:
        if not Path(path).is_relative_to(folder):
            raise ImportError
        return FileFinder(path, (SharedLoader, [".py"]))

    return find


if __name__ == "__main__":
    _, folder, *arguments = sys.argv
    with suppress(OSError):
        COMPILED.mkdir(exist_ok=True)
    package = next(Path(folder).glob("*/settings.json")).parent.name
    sys.argv = [package, *arguments]
    sys.path[0] = folder
    sys.path_hooks.insert(0, finder_below(Path(folder)))
    runpy.run_module(package, run_name="__main__", alter_sys=True)
