"""Runs an exported package in an isolated interpreter, from source only."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import foundry
from foundry.errors import FoundryError, RequestError

TIME_LIMIT_SECONDS = 120.0
"""Default time limit of a program that runs a server's code."""

VARIABLES = frozenset(
    "PATH HOME LANG LC_ALL SEMANTIC_WEIGHT KEYWORD_WEIGHT REFERENCE_DATE EMBEDDING_BASE_URL"
    " EMBEDDING_MODEL HF_HOME FASTEMBED_CACHE_PATH HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy"
    " https_proxy no_proxy SSL_CERT_FILE DATABASE_URL QDRANT_URL QDRANT_API_KEY".split()
)
"""The caller's variables that a server gets, besides the key of its embedding service."""

_ADDRESS = re.compile(r"http://\S+?:\d+")

_RUNTIME = Path(foundry.__file__).parent / "runtime"

_BEGIN = """
import sys
from importlib.machinery import FileFinder, SourceFileLoader

class SourceLoader(SourceFileLoader):
    def path_stats(self, path):
        raise OSError("bytecode is compared with this, so none is read or written")

    def get_code(self, name):
        _, _, module = self.path.removeprefix({folder!r} + "/").partition("/")
        original = {runtime!r} + "/" + module
        try:
            if self.get_data(original) == self.get_data(self.path):
                return SourceFileLoader(name, original).get_code(name)
        except OSError:
            pass
        return super().get_code(name)

def find_sources(path):
    if path != {folder!r} and not path.startswith({folder!r} + "/"):
        raise ImportError
    return FileFinder(path, (SourceLoader, [".py"]))

sys.path_hooks.insert(0, find_sources)
sys.path.insert(0, {folder!r})
"""
"""Makes the modules in a folder importable, from source only. Libraries are imported as usual.

Most modules of a server are copies of Foundry's runtime modules. A module that equals its original
is loaded from the original's bytecode, which is part of the installation and can be trusted.
"""

_RUN = "import runpy; runpy.run_module({package!r}, run_name='__main__', alter_sys=True)"
_TETHER = (
    "import os, signal, threading;"
    " threading.Thread(target=lambda: (os.read(0, 1), os.kill(os.getpid(), signal.SIGTERM)),"
    " daemon=True).start(); "
)
"""Ends a server when its standard input closes, which happens however its parent ends."""


def run_server(
    folder: Path,
    package: str,
    arguments: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    time_limit: float | None = TIME_LIMIT_SECONDS,
) -> "subprocess.CompletedProcess[str]":
    """Run the command line of the server in `folder`; see `run_python`."""
    code = _RUN.format(package=package)
    return run_python(folder / package, code, arguments, variables=variables, time_limit=time_limit)


def begin_server(
    folder: Path, package: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> "subprocess.Popen[str]":
    """Start the command line of the server in `folder`, in a new process group.

    The server stops when its standard input is closed or the caller dies; its log is its standard
    error.
    """
    return subprocess.Popen(
        [*_interpret(folder, _TETHER + _RUN.format(package=package)), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env=environment,
        process_group=0,
    )


def explain_exit(name: str, code: int, said: str) -> FoundryError:
    """Return an error with the output of a failed command of the server `name`."""
    kind = RequestError if code == RequestError.exit_code else FoundryError
    message, _, hint = said.strip().removeprefix(f"{name}: ").partition("\n")
    return kind(message or f"the server exited with {code}", hint=hint.strip() or None)


def run_python(
    package: Path,
    code: str,
    arguments: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    time_limit: float | None = TIME_LIMIT_SECONDS,
) -> "subprocess.CompletedProcess[str]":
    """Run code that may import the package in a folder, in a separate interpreter.

    Only a few variables of the caller's environment are passed on; `variables` override them.
    Raises FoundryError if the code runs longer than `time_limit` seconds.
    """
    try:
        return subprocess.run(
            [*_interpret(package.parent, code), *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=time_limit,
            env={**environment_of(package), **(variables or {})},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FoundryError(
            f"{package.parent}: the server did not answer within {time_limit:.0f} seconds",
            hint="try again when this machine is less busy",
        ) from None


def follow_python(
    package: Path,
    code: str,
    arguments: Sequence[str],
    told: Callable[[str], object],
    *,
    variables: Mapping[str, str],
) -> "subprocess.CompletedProcess[str]":
    """Run code like `run_python`, but without a time limit, passing on its output while it runs.

    `told` gets each line except the last, which becomes the result's `stdout`.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        command = [*_interpret(package.parent, code), *arguments]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=said,
            encoding="utf-8",
            errors="replace",
            env={**environment_of(package), **variables},
        ) as process:
            assert process.stdout is not None
            last = ""
            try:
                for line in process.stdout:
                    if last:
                        told(last)
                    last = line
            except BaseException:
                process.kill()
                raise
        said.seek(0)
        return subprocess.CompletedProcess(command, process.returncode, last, said.read())


def model_variables() -> dict[str, str]:
    """Return this process's LLM_* variables, for servers that may ask a language model."""
    return {name: value for name, value in os.environ.items() if name.startswith("LLM_")}


def _interpret(folder: Path, code: str) -> list[str]:
    """Return the command that runs code which can import the contents of a folder."""
    begin = _BEGIN.format(folder=str(folder.absolute()), runtime=str(_RUNTIME))
    keep = ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable, "-I", *keep, "-X", "utf8", "-c", begin + code]


def environment_of(package: Path) -> dict[str, str]:
    """Return those variables of this process that the server in `package` may have."""
    try:
        settings = json.loads((package / "settings.json").read_bytes())
        wanted = {*VARIABLES, str(settings["embedding"]["api_key_env"])}
    except (OSError, ValueError, LookupError, TypeError):
        wanted = set(VARIABLES)
    return {name: value for name, value in os.environ.items() if name in wanted}


def find_address(line: str) -> str | None:
    """Return the address that a line of a server's log announces, if any."""
    found = _ADDRESS.findall(line) if "Serving" in line else []
    # The last match, since the server's title, which may contain anything, precedes the address.
    return found[-1] if found else None
