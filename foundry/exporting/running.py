"""Runs an exported package: in an interpreter that sees nothing else and reads no bytecode.

No checksum covers bytecode, and Python runs it in place of a module if it only bears the time and
size of its file. So what would run is compared with what its module compiles to.
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
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import SourcelessFileLoader
from pathlib import Path
from types import CodeType
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from foundry.errors import FoundryError

TIME_LIMIT_SECONDS = 120.0
"""For a command of a server, and for the import of its modules."""

START_SECONDS = 60.0
ANSWER_SECONDS = 30.0

VARIABLES = frozenset(
    {
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "SEMANTIC_WEIGHT",
        "KEYWORD_WEIGHT",
        "REFERENCE_DATE",
        "EMBEDDING_BASE_URL",
        "EMBEDDING_MODEL",
        "HF_HOME",
        "FASTEMBED_CACHE_PATH",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "SSL_CERT_FILE",
        "DATABASE_URL",
        "QDRANT_URL",
        "QDRANT_API_KEY",
    }
)
"""What a server gets of the caller's environment, beside the key of its embedding service."""

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


def run_server(
    folder: Path,
    package: str,
    arguments: Sequence[str],
    *,
    index_dir: Path | None = None,
    variables: Mapping[str, str] | None = None,
    time_limit: float | None = TIME_LIMIT_SECONDS,
) -> "subprocess.CompletedProcess[str]":
    """Run the command line of the server in `folder`; see `run_python`."""
    code = _RUN.format(folder=str(folder), package=package)
    more = {} if index_dir is None else {"INDEX_DIR": str(index_dir)}
    return run_python(
        folder / package,
        code,
        arguments,
        variables={**more, **(variables or {})},
        time_limit=time_limit,
    )


def run_python(
    package: Path,
    code: str,
    arguments: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    time_limit: float | None = TIME_LIMIT_SECONDS,
) -> "subprocess.CompletedProcess[str]":
    """Run code for the package in a folder of that name, in an interpreter of its own.

    `variables` go before those of the caller's environment, of which it gets little. Raises
    FoundryError if it takes longer than `time_limit` seconds.
    """
    try:
        return subprocess.run(
            [*_interpreter(), "-c", code, *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=time_limit,
            env={**_environment(package), **(variables or {})},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FoundryError(
            f"{package.parent}: the server did not answer within {time_limit:.0f} seconds"
        ) from None


def model_variables() -> dict[str, str]:
    """Return the LLM_* variables of this process: for servers that may ask the language model."""
    return {name: value for name, value in os.environ.items() if name.startswith("LLM_")}


def _interpreter() -> list[str]:
    isolated = [sys.executable, "-I", "-B", "-X", "utf8"]
    return [*isolated, "-X", f"pycache_prefix={os.devnull}"]


def _environment(package: Path) -> dict[str, str]:
    """Return what a server may see of this process's environment."""
    try:
        settings = json.loads((package / "settings.json").read_bytes())
        wanted = {*VARIABLES, str(settings["embedding"]["api_key_env"])}
    except (OSError, ValueError, LookupError, TypeError):
        wanted = set(VARIABLES)
    return {name: value for name, value in os.environ.items() if name in wanted}


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


def find_unimportable(folder: Path) -> tuple[list[str], list[str]]:
    """Import every module of the package in `folder`.

    Returns a line for each that fails, and the names of libraries that are not installed here.
    """
    modules = [
        ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(folder.rglob("*.py"))
    ]
    done = run_python(folder, _IMPORT, [str(folder.parent), folder.name, *modules])
    try:
        findings, missing = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, TypeError, IndexError):
        return [f"{folder.name}: its modules cannot be imported: {_last_line(done.stderr)}"], []
    return findings, missing


def find_unanswered(folder: Path, question: str | None) -> Iterator[str]:
    """Start the server whose package is in `folder`; yield a line if it does not answer.

    `question` is searched for, unless it is None.
    """
    start = _RUN.format(folder=str(folder.parent), package=folder.name)
    command = [*_interpreter(), "-c", start, "serve", "--port", "0"]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env=_environment(folder),
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


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it says nothing"
