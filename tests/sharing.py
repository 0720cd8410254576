"""Work that tests would do again and again to the same end: done once a run, by all processes."""

import hashlib
import json
import os
import ssl
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import black
import httpcore2
import pytest
import warm_python
from servers import LIBRARIES, in_python

from foundry import key_value
from foundry.embedding import static
from foundry.export import compose
from foundry.readers.sandbox import processes
from foundry.rendering import formatting, plan
from foundry.runtime.retrieval.encoder import PieceEncoder
from foundry.serving import running

FORMAT_PYTHON, RUN_TOOL = formatting.format_python, formatting._run
PARSE = formatting.parse_back
TRUST = httpcore2.default_ssl_context
INTERPRET, READ = running._interpret, processes._command
READERS = ("foundry.readers.sandbox.reading", "pypdfium2", "lxml.etree", "mammoth")
COMMANDS = (
    *(str(Path(__file__).parent), __name__, "foundry.cli.main", "foundry.assembly.run"),
    *("foundry.assembly.watch", "foundry.evaluation.run", "foundry.export.update"),
    *("foundry.export.verify", "foundry.inspection.doctor", "foundry.rendering.first_config"),
    *("foundry.serving.adopt", "foundry.serving.preview", "foundry.serving.serve"),
)
"""What `foundry` imports; the folder of tests, and this module."""

EVERYTHING = (COMMANDS, LIBRARIES, READERS)

BLACKENED = Path(sys.prefix) / "blackened-by-tests" / black.__version__
"""What black makes of modules, kept between runs."""

FLUSHED = "PRAGMA synchronous = NORMAL;"
UNFLUSHED = "PRAGMA synchronous = OFF;" + key_value._SETTINGS.replace(FLUSHED, "")
"""Settings of the cache of builds, which waits for the disk eight times a build otherwise."""

FOLDER = "FOLDER_SHARED_BY_TESTS"
"""The variable that names it, for processes of their own."""


@contextmanager
def in_haste(folder: Path) -> Iterator[None]:
    """Leave out what no test can observe, and share the rest by means of a folder.

    No machine loses power between two tests: flushing the 40 files of a build takes a third of its
    time. Every export reads the same lock, every build opens the same table, and clients trust the
    same authorities. Formatting takes most of the time of an export: servers of the same options
    have the same Python files, and others have many in common.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(folder))
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(key_value, "_SETTINGS", UNFLUSHED)
        patch.setattr(compose, "Resolution", cache(compose.Resolution))
        patch.setattr(static, "PieceEncoder", SimpleNamespace(open=cache(PieceEncoder.open)))
        patch.setattr(httpcore2, "default_ssl_context", _trust_as_before)
        kept = _Kept(folder)
        patch.setattr(plan, "format_python", kept.format_python)
        patch.setattr(plan, "parse_back", _Parsed().parse_back)
        patch.setattr(formatting, "_run", kept.run_tool)
        patch.setattr(running, "_interpret", _interpret_warmly)
        patch.setattr(processes, "_command", _read_warmly)
        yield


def start_for_all() -> list[tuple[tuple[str, ...], list[str]]]:
    """Start what servers, readers and commands are forked from, for the processes of a run."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda libraries: warm_python.command(*libraries), EVERYTHING))
    return [*warm_python.STARTED.items()]


def begin_foundry() -> list[str]:
    """Return what begins the command line as a process of its own, in the same haste.

    It is forked from one that has imported what commands need, so it starts within a few
    milliseconds. What is about the start itself has `processes.FOUNDRY`.
    """
    begin = warm_python.command(*COMMANDS)
    others = {libraries: warm_python.command(*libraries) for libraries in (LIBRARIES, READERS)}
    return [*begin, f"import sharing; sharing.run_foundry({others!r})"]


def run_foundry(started: Mapping[tuple[str, ...], list[str]]) -> None:
    """Run a command, by means of processes that have been started."""
    from foundry.__main__ import main

    sys.argv[0] = "foundry"
    warm_python.STARTED.update(started)
    with in_haste(Path(os.environ[FOLDER])):
        main()


@contextmanager
def unformatted() -> Iterator[None]:
    """Leave servers as they are rendered, where they are only run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            plan, "format_python", lambda files, rendered: {name: files[name] for name in rendered}
        )
        yield


@contextmanager
def interpreting_anew() -> Iterator[None]:
    """Start an interpreter for each server and for each reader that Foundry runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_interpret", INTERPRET)
        patch.setattr(processes, "_command", READ)
        yield


@contextmanager
def formatting_anew() -> Iterator[None]:
    """Format each server by the formatters' own programs, as users' exports are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "format_python", FORMAT_PYTHON)
        patch.setattr(formatting, "_run", RUN_TOOL)
        yield


def _interpret_warmly(folder: Path, code: str) -> list[str]:
    *_, code = INTERPRET(folder, code)
    return in_python(code)


def _read_warmly(options: str) -> list[str]:
    *_, worker, options = READ(options)
    code = f"import runpy; runpy.run_path({worker!r}, run_name='__main__')"
    return [*warm_python.command(*READERS), code, options]


def _trust_as_before(*, _trust_env: bool = True) -> ssl.SSLContext:
    named = map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    return _authorities(*named, _trust_env=_trust_env)


@cache
def _authorities(*_named: str | None, _trust_env: bool) -> ssl.SSLContext:
    return TRUST(_trust_env=_trust_env)


class _Parsed:
    """Reads each Python file back once; nobody looks at what it parses to."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def parse_back(self, name: str, content: bytes) -> object:
        if not name.endswith(".py"):
            return PARSE(name, content)
        digest = hashlib.sha256(content).digest()
        if digest not in self._seen:
            PARSE(name, content)
            self._seen.add(digest)
        return None


class _Kept:
    """Results in folders, by the hash of what they depend on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "kept"
        self._folder.mkdir(exist_ok=True)
        BLACKENED.mkdir(parents=True, exist_ok=True)

    def format_python(
        self, files: Mapping[str, bytes], rendered: Sequence[str]
    ) -> dict[str, bytes]:
        options = files["pyproject.toml"].partition(b"[tool.")[2]
        modules = sorted(item for item in files.items() if item[0].endswith(".py"))
        formatted = self._once(
            self._folder,
            (options, modules, sorted(rendered)),
            lambda: {name: text.decode() for name, text in FORMAT_PYTHON(files, rendered).items()},
        )
        return {name: formatted[name].encode() for name in rendered}

    def run_tool(self, tool: str, arguments: Sequence[str], folder: Path) -> None:
        """Run a formatter; black in this process, since it takes longer to start than to format."""
        if tool == "black":
            options = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["black"]
            mode = black.Mode(line_length=options.pop("line-length"))
            assert not options, "there are options that have to be passed on"
            paths = [folder / name for name in arguments if name.endswith(".py")]
            with suppress(black.InvalidInput):
                for path in paths:
                    blacken = partial(_blacken, path.read_text(), mode)
                    path.write_text(self._once(BLACKENED, (repr(mode), path.read_text()), blacken))
                return
        RUN_TOOL(tool, arguments, folder)

    def _once(self, folder: Path, key: object, make: Callable[[], Any]) -> Any:
        kept = folder / hashlib.sha256(repr(key).encode()).hexdigest()
        with suppress(FileNotFoundError):
            return json.loads(kept.read_bytes())
        made = make()
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(made))
        written.replace(kept)
        return made


def _blacken(text: str, mode: black.Mode) -> str:
    """Format as black does, but for its check that it has changed neither code nor its mind."""
    try:
        return black.format_file_contents(text, fast=True, mode=mode)
    except black.NothingChanged:
        return text
