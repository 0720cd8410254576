"""Finds bytecode in an export that would run in place of a module without coming of it.

No checksum covers bytecode, and Python runs it in place of a module if it only bears the time and
size of its file. So what would run is compared with what its module compiles to.
"""

import importlib.util
import py_compile
import struct
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import SourcelessFileLoader
from pathlib import Path
from types import CodeType


def find_forged(folder: Path) -> Iterator[str]:
    """Yield a line for each file of bytecode that would run in place of a module in `folder`.

    That is bytecode of this version of Python which does not come of the module beside it.
    """
    with tempfile.TemporaryDirectory() as scratch:
        compiled = str(Path(scratch, "compiled"))
        for source in sorted(folder.rglob("*.py")):
            for level, ending in enumerate(("", ".opt-1", ".opt-2")):
                name = f"{source.stem}.{sys.implementation.cache_tag}{ending}.pyc"
                cached = source.parent / "__pycache__" / name
                if cached.is_file() and _is_taken(cached.read_bytes()[:16], source):
                    py_compile.compile(str(source), compiled, doraise=True, optimize=level)
                    if _code_of(str(cached)) != _code_of(compiled):
                        place = cached.relative_to(folder.parent).as_posix()
                        yield f"{place}: bytecode that does not come of {source.name}; delete it"


def _code_of(bytecode: str) -> CodeType | None:
    try:
        return SourcelessFileLoader("", bytecode).get_code("")
    except (ImportError, EOFError, ValueError, TypeError):
        return None


def _is_taken(header: bytes, source: Path) -> bool:
    """Return whether Python takes bytecode for that of a file, by its header (PEP 552)."""
    if header[:4] != importlib.util.MAGIC_NUMBER:
        return False
    flags, *_ = struct.unpack("<I", header[4:8])
    if flags & 1:
        is_checked = bool(flags & 2)
        return not is_checked or header[8:] == importlib.util.source_hash(source.read_bytes())
    status = source.stat()
    stamp = struct.pack("<II", int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
    return header[8:] == stamp
