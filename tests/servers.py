"""Exported servers in clean environments, installed once per session and called over HTTP."""

import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import warm_python
from filelock import FileLock
from packaging.utils import canonicalize_name
from waiting import SECONDS, within

from foundry.rendering.copying import RUNTIME

WHEELS = Path(sys.prefix) / "wheelhouse"
"""Kept between runs, so that only the first needs the network."""

TOOL_SECONDS = 240
"""Longer than all tests of an export take."""

RUN_EXPORT = Path(__file__).with_name("run_export.py")

LIBRARIES = (
    *("numpy", "snowballstemmer", "fastapi", "pydantic.v1", "mcp.server"),
    *("uvicorn.protocols.http.httptools_impl", "uvicorn.loops.asyncio", "uvicorn.lifespan.off"),
    # All servers share the compiled regular expressions.
    *("foundry.runtime.index.tokens", "foundry.runtime.retrieval.snippets"),
)
"""Libraries of servers except prometheus_client, which reads a server's environment on import."""

TYPES = Path(sys.prefix) / "types-of-exports"
"""Folder of mypy's cache for libraries and for modules that all exports have."""

UNPACKED = Path(sys.prefix) / "unpacked-wheels"
"""Folder of uv's cache, kept between runs."""


def wheelhouse(export: Path) -> Path:
    """The wheels that an export needs to be built and run, by the hashes in its lock."""
    requirements = (export / "requirements.txt").read_bytes()
    folder = WHEELS / hashlib.sha256(requirements).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / "complete").exists():
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
            download = [*pip, "download", "--dest", folder]
            locked = ["--require-hashes", "-r", export / "requirements.txt"]
            subprocess.run([*download, *locked], check=True)
            subprocess.run([*download, "hatchling>=1.27,<2"], check=True)
            (folder / "complete").touch()
    return folder


def install(export: Path, environment: Path) -> Path:
    """Install an export from its lock only; returns its command.

    In an existing environment, packages that only another export needed are removed.
    """
    if not environment.exists():
        run_uv("venv", environment)
    here = ["--python", environment]
    places = ["--offline", "--no-index", "--find-links", wheelhouse(export)]
    run_uv("pip", "sync", *here, *places, "--require-hashes", export / "requirements.txt")
    run_uv("pip", "install", *here, *places, "--no-deps", export)
    # Only packages of the lock are installed, so this fails if a requirement is missing from it.
    run_uv("pip", "check", *here)
    settings = json.loads(next(export.glob("*/settings.json")).read_bytes())
    return environment / "bin" / str(settings["name"])


def installed_packages(environment: Path) -> dict[str, str]:
    """Return the installed packages of an environment and their versions."""
    listed = json.loads(run_uv("pip", "list", "--python", environment, "--format", "json"))
    return {canonicalize_name(entry["name"]): entry["version"] for entry in listed}


def run_uv(*arguments: str | Path) -> str:
    """Run uv without this machine's settings; returns its output."""
    options = ["--quiet", "--no-config", "--cache-dir", UNPACKED]
    command = [sys.executable, "-m", "uv", *options, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=TOOL_SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(command: list[str | Path], **variables: str) -> Iterator[str]:
    """Run a server on a free port; yields its address."""
    environment = {"PATH": os.environ["PATH"], **variables}
    command = [*command, "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        said = ""
        try:
            with within(process):
                while not (address := re.search(r"Serving .* on (http://\S+?:\d+)", said)):
                    line = process.stderr.readline()
                    assert line, said
                    said += line
            yield address[1]
        finally:
            process.terminate()
            # With its reader gone, the server cannot block on a full pipe.
            process.stderr.close()
            process.wait(SECONDS)
    assert process.returncode == 0


def check_with_own_tools(export: Path) -> None:
    """Run the formatter, linter, type checker and tests that an export names, in its folder."""
    check_format(export)
    run_tool(export, "ruff", "check", "--no-cache", ".")
    check_types(export)
    run_tests(export)
    # The tests of its modules are those of this repository under another name.
    run_tests(export, "*", "--collect-only")


def check_format(export: Path) -> None:
    """Run black on files that are not copied from this repository."""
    copied = {path.read_bytes() for path in RUNTIME.rglob("*.py")}
    own = [path for path in sorted(export.glob("*/**/*.py")) if path.read_bytes() not in copied]
    own = [path for path in own if path not in set((export / "tests").glob("*/**/*.py"))]
    assert own
    run_tool(export, "black", "--check", *own)


def run_tests(export: Path, names: str = "test_*.py", *options: str, **variables: str) -> str:
    """Run an export's rendered tests, without the plugins that happen to be installed here."""
    tests = sorted((export / "tests").glob(names))
    assert tests
    # These tests start processes, so bytecode is written, as in an owner's Python.
    begin = (
        "import sys, pytest; sys.path.insert(0, ''); sys.dont_write_bytecode = False;"
        " sys.exit(pytest.console_main())"
    )
    return run_in(
        export,
        *(*in_python(begin), "-q", "-p", "no:cacheprovider", *options, *tests),
        **{"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables},
    )


def check_types(export: Path, *folders: str) -> None:
    """Run mypy with an export's configuration, on everything or on some folders."""
    TYPES.mkdir(exist_ok=True)
    with FileLock(TYPES / "lock"):
        run_tool(export, "mypy", "--cache-dir", TYPES, *folders)


def run_tool(export: Path, tool: str, *arguments: str | Path, **variables: str) -> None:
    """Run a development tool, which must succeed."""
    run_in(export, sys.executable, "-m", tool, *arguments, **variables)


def run_in(export: Path, *command: str | Path, **variables: str) -> str:
    """Run a command in an export's folder, which must succeed; returns its output."""
    done = subprocess.run(
        command,
        cwd=export,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=TOOL_SECONDS,
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def get(url: str) -> Any:
    """GET a JSON document."""
    with urllib.request.urlopen(url, timeout=120) as reply:
        return json.load(reply)


def found_paths(address: str, query: str) -> list[str]:
    """The files that a search by keywords finds, best first."""
    found = get(f"{address}/search?q={urllib.parse.quote(query)}&mode=keyword")["results"]
    return [hit["path"] for hit in found]


def title_of(address: str) -> str:
    """Return the title in a server's configuration."""
    return str(get(f"{address}/openapi.json")["info"]["title"])


def answers(address: str) -> bool:
    """Return whether something answers at this address."""
    try:
        get(f"{address}/healthz")
    except OSError:
        return False
    return True


def post(url: str, body: object, **headers: str) -> Any:
    """POST JSON, get JSON."""
    request = urllib.request.Request(
        url, data=json.dumps(body).encode(), headers={"Content-Type": "application/json", **headers}
    )
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


def chat_sources(address: str, query: str, top_k: int) -> list[tuple[str, float]]:
    """Return id and score of the passages that POST /chat sends before its answer."""
    body = {"messages": [{"role": "user", "content": query}], "top_k": top_k}
    request = urllib.request.Request(
        f"{address}/chat",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as reply:
        first = reply.read().decode().split("\n\n")[0].splitlines()
    assert first[0] == "event: sources"
    sources = json.loads(first[1].removeprefix("data: "))["sources"]
    return [(source["id"], source["score"]) for source in sources]


def in_checkout(export: Path) -> list[str | Path]:
    """Return the command that runs an export in place, with the tests' packages."""
    code = f"import runpy; runpy.run_path({str(RUN_EXPORT)!r}, run_name='__main__')"
    return [*warm_python.command(*LIBRARIES), code, export]


def in_python(code: str) -> list[str]:
    """Return the command for code that may import exports, like `python -I -B -c`."""
    share = f"import runpy; runpy.run_path({str(RUN_EXPORT)!r})['share_bytecode']()"
    return [*warm_python.command(*LIBRARIES), f"{share}\n{code}"]


def alone(export: Path) -> list[str | Path]:
    """Return a command like `in_checkout`, but not forked: for tests of limits, groups and pids."""
    return [sys.executable, "-I", "-B", RUN_EXPORT, export]
