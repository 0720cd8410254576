"""Expensive work that tests share: done once, when first needed."""

import bz2
import hashlib
import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import black
import pytest
import warm_python
from black.files import infer_target_version
from servers import LIBRARIES, in_python

from foundry.export import compose, existing
from foundry.export.bills import CORPUS, format_corpus
from foundry.readers.sandbox import processes
from foundry.rendering import formatting, plan
from foundry.serving import running

FORMAT_PYTHON, RUN_TOOL = formatting.format_python, formatting._run
PARSE_BACK, READ_LOCK = formatting.parse_back, cache(compose.Resolution)
MAKE_BILLS, IS_FORMATTED = compose._bills, cache(plan.is_formatted)
BILLS: dict[tuple[str | bytes, ...], dict[str, bytes]] = {}
INTERPRET, READ = running._interpret, processes._command
READERS = ("foundry.readers.sandbox.reading", "pypdfium2")
COMMANDS = (
    *(str(Path(__file__).parent), __name__, "foundry.cli.main", "foundry.building.run"),
    *("foundry.building.watch", "foundry.evaluation.run", "foundry.export.update"),
    *("foundry.export.verify", "foundry.inspection.doctor", "foundry.rendering.first_config"),
    *("foundry.serving.adopt", "foundry.serving.preview", "foundry.serving.serve"),
    "warm_caches",
)
"""The folder of tests, and the modules imported by the process that forks commands."""

EVERYTHING = (COMMANDS, LIBRARIES, READERS)

BLACKENED = Path(sys.prefix) / "blackened-by-tests" / black.__version__
"""Folder of modules formatted by black, kept between runs."""

FOLDER = "FOLDER_SHARED_BY_TESTS"
"""The variable with the path of the shared folder, for separate processes."""


@contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    """Share results through a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(folder))
        yield


@contextmanager
def formatted_once() -> Iterator[None]:
    """Format each server once per run, since formatting takes most of the time of an export.

    Servers with the same options have the same Python files, and others have many in common.
    """
    with _asked_for("formatted_once") as patch:
        kept = _Kept(Path(os.environ[FOLDER]))
        patch.setattr(plan, "format_python", kept.format_python)
        patch.setattr(formatting, "_run", kept.run_tool)
        patch.setattr(plan, "parse_back", _parse_back)
        # Otherwise every export would read the lock file of all servers again.
        patch.setattr(compose, "Resolution", READ_LOCK)
        patch.setattr(compose, "_bills", _make_bills)
        patch.setattr(existing, "bz2", _Bz2)
        patch.setattr(plan, "is_formatted", IS_FORMATTED)
        yield


@contextmanager
def forked_servers() -> Iterator[None]:
    """Fork the servers that Foundry runs from a process that has imported their libraries."""
    with _asked_for("forked_servers") as patch:
        patch.setattr(running, "_interpret", _interpret_warmly)
        yield


@contextmanager
def forked_readers() -> Iterator[None]:
    """Fork the readers of files from a process that has imported their libraries."""
    with _asked_for("forked_readers") as patch:
        patch.setattr(processes, "_command", _read_warmly)
        yield


HASTE = (formatted_once, forked_servers, forked_readers)
"""Fixtures that make tests faster; tests name them in `pytest.mark.usefixtures`."""

_asked: list[str] = []


@contextmanager
def _asked_for(name: str) -> Iterator[pytest.MonkeyPatch]:
    _asked.append(name)
    with pytest.MonkeyPatch.context() as patch:
        yield patch
    _asked.remove(name)


def start_for_all() -> list[tuple[tuple[str, ...], list[str]]]:
    """Start, once per run, the processes from which servers, readers and commands are forked."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda libraries: warm_python.command(*libraries), EVERYTHING))
    return [*warm_python.STARTED.items()]


def begin_foundry() -> list[str]:
    """Return the start of a command that runs the command line in its own process.

    It is forked from a process that has imported the libraries, so it starts within milliseconds.
    Tests of the start itself use `processes.FOUNDRY`.
    """
    begin = warm_python.command(*COMMANDS)
    others = {libraries: warm_python.command(*libraries) for libraries in (LIBRARIES, READERS)}
    return [*begin, f"import sharing; sharing.run_foundry({others!r}, {_asked!r})"]


def run_foundry(started: Mapping[tuple[str, ...], list[str]], asked: Sequence[str]) -> None:
    """Run a command in a process forked from a running one."""
    from foundry.__main__ import main

    sys.argv[0] = "foundry"
    warm_python.STARTED.update(started)
    with ExitStack() as stack:
        for haste in HASTE:
            if haste.__name__ in asked:
                stack.enter_context(haste())
        main()


@contextmanager
def unformatted() -> Iterator[None]:
    """Leave servers unformatted in tests that only run them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "parse_back", _parse_back)
        patch.setattr(
            plan,
            "format_python",
            lambda files, *names: {name: files[name] for name in chain(*names)},
        )
        yield


def _interpret_warmly(folder: Path, code: str) -> list[str]:
    *_, code = INTERPRET(folder, code)
    return in_python(code)


def _read_warmly(options: str) -> list[str]:
    *_, worker, options = READ(options)
    code = f"import runpy; runpy.run_path({worker!r}, run_name='__main__')"
    return [*warm_python.command(*READERS), code, options]


class _Bz2:
    """Compresses and decompresses each record of an export once."""

    compress = staticmethod(lru_cache(maxsize=32)(bz2.compress))

    class BZ2Decompressor:
        eof = False

        def decompress(self, content: bytes, most: int) -> bytes:
            decompressed, self.eof = _decompress(content, most)
            return decompressed


@lru_cache(maxsize=32)
def _decompress(content: bytes, most: int) -> tuple[bytes, bool]:
    decompressor = bz2.BZ2Decompressor()
    return decompressor.decompress(content, most), decompressor.eof


class _Kept:
    """Caches results in folders, by the hash of their inputs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "kept"
        self._folder.mkdir(exist_ok=True)
        BLACKENED.mkdir(parents=True, exist_ok=True)

    def format_python(
        self, files: Mapping[str, bytes], rendered: Sequence[str], copied: Sequence[str]
    ) -> dict[str, bytes]:
        options = files["pyproject.toml"].partition(b"[tool.")[2]
        modules = sorted(item for item in files.items() if item[0].endswith(".py"))
        formatted = self._once(
            self._folder,
            (options, modules, sorted(rendered), sorted(copied)),
            lambda: {
                name: text.decode() for name, text in FORMAT_PYTHON(files, rendered, copied).items()
            },
        )
        return {name: formatted[name].encode() for name in (*rendered, *copied)}

    def run_tool(self, tool: str, arguments: Sequence[str], folder: Path) -> None:
        """Run a formatter; black in this process, since it takes longer to start than to format."""
        if tool == "black":
            project = tomllib.loads((folder / "pyproject.toml").read_text())
            options = project["tool"]["black"]
            # As in black's own command. Its API would otherwise infer the target version from the
            # syntax.
            versions = set(infer_target_version(project) or ())
            mode = black.Mode(versions, line_length=options.pop("line-length"))
            key = (sorted(each.name for each in versions), mode.line_length)
            assert not options, "there are options that have to be passed on"
            paths = [folder / name for name in arguments if name.endswith(".py")]
            with suppress(black.InvalidInput):
                for path in paths:
                    blacken = partial(_blacken, path.read_text(), mode)
                    path.write_text(self._once(BLACKENED, (key, path.read_text()), blacken))
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


def _make_bills(
    name: str, package: str, files: Mapping[str, bytes], index: Path
) -> dict[str, bytes]:
    made_from = ("pyproject.toml", f"{package}/__init__.py")
    key = (name, package, *(files[file] for file in made_from))
    if key not in BILLS:
        BILLS[key] = MAKE_BILLS(name, package, files, index)
    return {**BILLS[key], CORPUS: format_corpus(index)}


def _parse_back(name: str, content: bytes) -> object:
    """Parse each module once; nothing uses the result."""
    return _parse_once(name, content) if name.endswith(".py") else PARSE_BACK(name, content)


@cache
def _parse_once(name: str, content: bytes) -> None:
    PARSE_BACK(name, content)


def _blacken(text: str, mode: black.Mode) -> str:
    """Format like black, but skip its check that the code is equivalent and the result stable."""
    try:
        return black.format_file_contents(text, fast=True, mode=mode)
    except black.NothingChanged:
        return text
