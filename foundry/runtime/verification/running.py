"""Whether a package runs: its bytecode is that of its modules, they can be imported, and it serves.

What is checked by running it runs in an interpreter of its own that reads no bytecode: no checksum
covers it, and Python runs it in place of a module if it only bears the time and size of its file.
"""

import importlib.util
import json
import os
import py_compile
import re
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourcelessFileLoader
from pathlib import Path
from types import CodeType
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

START_SECONDS = 60.0
ANSWER_SECONDS = 30.0

_ADDRESS = re.compile(r"http://\S+?:\d+")

_RUN = (
    "import runpy, sys; sys.path.insert(0, {folder!r});"
    " runpy.run_module({package!r}, run_name='__main__', alter_sys=True)"
)
_IMPORT = """
import importlib, json, sys
folder, package, *modules = sys.argv[1:]
sys.path.insert(0, folder)
findings, missing = [], []
for module in modules:
    try:
        importlib.import_module(module)
    except ImportError as error:
        top = (error.name or package).partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and top != package:
            missing.append(top)
        else:
            findings.append(f"{module}: cannot be imported: {error}")
    except Exception as error:
        findings.append(f"{module}: cannot be imported: {type(error).__name__}: {error}")
print("\\n" + json.dumps([findings, sorted(set(missing))]))
"""


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with a package, a line each, and libraries that it needs and that are missing.

    Where any are missing, its server was not started.
    """

    findings: list[str]
    missing: list[str]


def find_faults(folder: Path, question: str | None) -> Faults:
    """Check the bytecode of the package in `folder`, import its modules and ask its server.

    `question` is searched for, unless it is None. What is broken is to be found before.
    """
    forged = list(_find_forged(folder))
    return Faults(forged, []) if forged else _run_all(folder, question)


def _find_forged(folder: Path) -> Iterator[str]:
    """Bytecode of this Python that would run in place of a module, and does not come of it."""
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
    """Whether Python takes bytecode for that of a file, by its header (PEP 552)."""
    if header[:4] != importlib.util.MAGIC_NUMBER:
        return False
    flags, *_ = struct.unpack("<I", header[4:8])
    if flags & 1:
        is_checked = bool(flags & 2)
        return not is_checked or header[8:] == importlib.util.source_hash(source.read_bytes())
    status = source.stat()
    stamp = struct.pack("<II", int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
    return header[8:] == stamp


def _run_all(folder: Path, question: str | None) -> Faults:
    """Import every module, and start the server."""
    package, parent = folder.name, str(folder.parent)
    modules = [
        ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(folder.rglob("*.py"))
    ]
    done = subprocess.run(
        [*clean_interpreter(), "-c", _IMPORT, parent, package, *modules],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env=_environment(),
        check=False,
    )
    try:
        findings, missing = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, TypeError, IndexError):
        return Faults([f"{package}: its modules cannot be imported: {_last_line(done.stderr)}"], [])
    if not findings and not missing:
        findings = list(_serve(parent, package, question))
    return Faults(findings, missing)


def clean_interpreter(*, isolated: bool = bool(sys.flags.isolated)) -> list[str]:
    """The command of an interpreter that neither reads nor writes bytecode, with UTF-8 for text."""
    return [
        sys.executable,
        *(["-I"] if isolated else []),
        "-B",
        "-X",
        "utf8",
        "-X",
        f"pycache_prefix={os.devnull}",
    ]


def is_clean() -> bool:
    """Whether this process is one of `clean_interpreter`."""
    return sys.pycache_prefix == os.devnull


def run_clean(folder: Path, *arguments: str) -> int:
    """Run the command line of the package in `folder` in a clean interpreter; its exit code."""
    start = _RUN.format(folder=str(folder.parent), package=folder.name)
    return subprocess.run([*clean_interpreter(), "-c", start, *arguments], check=False).returncode


def _serve(parent: str, package: str, question: str | None) -> Iterator[str]:
    start = _RUN.format(folder=parent, package=package)
    command = [*clean_interpreter(), "-c", start, "serve", "--port", "0"]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env=_environment(),
    ) as process:
        limit = threading.Timer(START_SECONDS, process.kill)
        limit.start()
        try:
            assert process.stderr is not None
            said, address = "", None
            while address is None and (line := process.stderr.readline()):
                said += line
                address = _ADDRESS.search(line) if "Serving" in line else None
            limit.cancel()
            if address is None:
                yield f"the server does not start: {_last_line(said)}"
                return
            # Nobody reads what it says from here on, and it must not wait for that.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield from _ask(address[0], question)
        finally:
            limit.cancel()
            process.terminate()


def _ask(address: str, question: str | None) -> Iterator[str]:
    for path, body in (("/readyz", None), ("/search", question)):
        if path == "/search" and body is None:
            continue
        content = None if body is None else json.dumps({"query": body}).encode()
        request = Request(address + path, content, {"Content-Type": "application/json"})
        try:
            # Of its own, since proxies of the environment are for other addresses.
            build_opener(ProxyHandler({})).open(request, timeout=ANSWER_SECONDS).close()
        except HTTPError as error:
            # What the owner's hooks refuse is their business.
            if error.code >= 500:
                yield f"{path} is answered with {error.code}"
        except (URLError, OSError) as error:
            yield f"{path} is not answered: {error}"


def _environment() -> dict[str, str]:
    # Tokens would close the doors that are to be tried, and this server is for this machine alone.
    return {name: value for name, value in os.environ.items() if name != "API_TOKENS"}


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it says nothing"
