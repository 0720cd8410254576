"""Runs an export in place: `python -I -B run_export.py FOLDER [ARGUMENT ...]`.

Exports consist mostly of the same modules. These are compiled once for all exports, and their
bytecode is stored next to the installed packages, by the hash of the source.
"""

import hashlib
import marshal
import os
import runpy
import sys
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

COMPILED = Path(sys.prefix) / "compiled-exports"
COMPILE = SourceFileLoader.source_to_code


def share_bytecode() -> None:
    """Reuse bytecode that another export has compiled for an identical module."""
    with suppress(OSError):
        COMPILED.mkdir(exist_ok=True)
    SourceFileLoader.source_to_code = _compile_once  # type: ignore[method-assign]


def _compile_once(loader: SourceFileLoader, data: Any, path: Any, **options: Any) -> CodeType:
    if options:
        # The result also depends on the level of optimisation.
        return COMPILE(loader, data, path, **options)
    kept = COMPILED / hashlib.sha256(data).hexdigest()
    with suppress(OSError):
        code: CodeType = marshal.loads(kept.read_bytes())
        return code
    code = COMPILE(loader, data, path)
    new = kept.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        new.write_bytes(marshal.dumps(code))
        new.replace(kept)
    return code


if __name__ == "__main__":
    _, folder, *arguments = sys.argv
    share_bytecode()
    package = next(Path(folder).glob("*/settings.json")).parent.name
    sys.argv = [package, *arguments]
    sys.path[0] = folder
    runpy.run_module(package, run_name="__main__", alter_sys=True)
