"""The programs that prepared documents depend on: modules, libraries, the built-in model."""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement

import foundry
from foundry.errors import DISTRIBUTION
from foundry.files import ENGLISH_STEMS, MODEL_FOLDER
from foundry.readers.contract import FileReader, Reader
from foundry.readers.registry import every_reader
from foundry.runtime.retrieval.encoder import EncoderLayout

ROOT = Path(foundry.__file__).parent
READING_EXTRAS = ("code", "ocr", "office", "rst", "wiki")
"""Foundry's extras that install libraries for readers."""

_PREPARER = "building/documents/preparer.py"
_REGISTRY = "readers/registry.py"
_TAKES_IF_THERE = {"snowballstemmer": ["PyStemmer"]}
"""Libraries that are not required, but that other libraries import if they are installed."""

_IMPORT = re.compile(
    r"(?m)^ *(?:from +(foundry[\w.]*|\.[\w.]*) +import +(\([^)]*\)|[^\n]*)|import +(foundry[\w.]*))"
)
_VERSION = re.compile(r"(?m)^Version: *([^\n]+)")
_REQUIRED = re.compile(r"(?m)^Requires-Dist: *([^\n]+)")


@cache
def program_hash() -> str:
    """Hash Python, Foundry's code, library versions and the model, in hex.

    Foundry's own version number is excluded, so that documents are not prepared again after a
    release without other changes.
    """
    installed = _installed()
    # Documents do not depend on this word list, but the index for spelling correction does.
    words = hashlib.sha256(ENGLISH_STEMS.read_bytes()).hexdigest()
    return _hash(installed.digests, installed.surroundings, words)


@cache
def reader_hashes() -> Mapping[str, str]:
    """Hash the programs that prepare the documents of each reader, in hex, by reader version.

    The readers of other formats are excluded, so that a change in a reader only affects documents
    of its formats.
    """
    files, digests, surroundings = _installed()
    # The choice of a document's reader depends on the names and types of all readers.
    routes = [
        (each.version, each.media_types, each.kinds if isinstance(each, FileReader) else {})
        for each in every_reader()
    ]
    common = json.dumps(routes, sort_keys=True) + surroundings
    needed = cache(lambda name: () if name == _REGISTRY else tuple(_needed(name, files)))
    found = {}
    for reader in every_reader():
        begins = [_PREPARER, *(_file_of(function, files) for function in _functions(reader))]
        names = sorted(_reachable(begins, needed))
        found[reader.version] = _hash({name: digests[name] for name in names}, common)
    return found


def _functions(reader: Reader | FileReader) -> Iterator[Callable[..., Any]]:
    for function in (reader.read, reader.texts):
        while isinstance(function, partial):
            function = function.func
        if function is not None:
            yield function
    if isinstance(reader, Reader) and reader.outline is not None:
        yield from _functions(reader.outline)


def _file_of(function: Callable[..., Any], files: Mapping[str, bytes]) -> str:
    """Return the file of Foundry that defines a function."""
    parts = function.__module__.split(".")[1:]
    return next(name for name in _candidates(parts) if name in files)


def _reachable(begins: Iterable[str], needed: Callable[[str], Iterable[str]]) -> set[str]:
    """Return the given files and everything that they import, directly or indirectly."""
    found: set[str] = set()
    waiting = [*begins]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += needed(name)
    return found


def _needed(name: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the modules that a module of Foundry imports, and the tables that it names."""
    text = files[name].decode()
    room = name.rpartition("/")[0].split("/")
    for match in _IMPORT.finditer(text):
        path = match[1] or match[3]
        up = len(path) - len(path.lstrip("."))
        above = room[: len(room) - up + 1] if up else []
        parts = [*above, *filter(None, path.lstrip(".").split(".")[0 if up else 1 :])]
        for imported in (parts, *([*parts, each] for each in re.findall(r"\w+", match[2] or ""))):
            yield from (each for each in _candidates(imported) if each in files)
    for table in re.findall(r"\"(\w+\.(?:toml|json|txt))\"", text):
        if (beside := "/".join((*room, table))) in files:
            yield beside


def _candidates(parts: Sequence[str]) -> tuple[str, str]:
    """Return the two possible file names of a module."""
    path = "/".join(parts)
    return f"{path}.py", f"{path}/__init__.py"


class _Installed(NamedTuple):
    """Foundry's modules and tables by name, with the hash of each.

    `surroundings` describes Python, the libraries and the built-in model.
    """

    files: Mapping[str, bytes]
    digests: Mapping[str, bytes]
    surroundings: str


@cache
def _installed() -> _Installed:
    """Read Foundry's code and its dependencies: Python, libraries, the built-in model."""
    files = {}
    for path in sorted(ROOT.rglob("*.*")):
        name = path.relative_to(ROOT).as_posix()
        is_own = name != "__init__.py" and not name.startswith(("_templates/", "models/"))
        if is_own and path.suffix in {".py", ".toml", ".json", ".txt"}:
            files[name] = path.read_bytes()
    digests = {name: hashlib.sha256(content).digest() for name, content in files.items()}
    model = EncoderLayout(MODEL_FOLDER).description.read_text(encoding="utf-8")
    surroundings = json.dumps([sys.version, model, _libraries()], sort_keys=True)
    return _Installed(files, digests, surroundings)


def _hash(digests: Mapping[str, bytes], *others: str) -> str:
    digest = hashlib.sha256("\0".join(others).encode())
    for name, content in digests.items():
        digest.update(f"{name}\0".encode() + content)
    return digest.hexdigest()


def installation() -> dict[str, str]:
    """Return the names and versions of the programs that a build depends on."""
    own = {"Python": sys.version.partition(" ")[0], "Foundry": foundry.__version__}
    return {**own, **_libraries()}


def _libraries() -> dict[str, str]:
    """Return the versions of all libraries that Foundry and its readers need, even indirectly."""
    found: dict[str, str] = {}
    waiting = _requirements(_metadata(DISTRIBUTION), READING_EXTRAS)
    while waiting:
        name = waiting.pop()
        if name not in found and (metadata := _metadata(name)):
            found[name] = _VERSION.findall(metadata)[0]
            waiting += [*_requirements(metadata), *_TAKES_IF_THERE.get(name, ())]
    return found


def _metadata(name: str) -> str:
    """Return a library's metadata fields; "" if it is not installed."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return ""
    text = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
    # A mail parser would also parse the description, which takes longer than the rest.
    return text.partition("\n\n")[0]


def _requirements(metadata: str, extras: Collection[str] = ()) -> list[str]:
    """Return the names of a library's requirements on this system, with those of `extras`.

    Requirements for other systems are ignored even if they are installed, as Ray installs some.
    """
    listed = [Requirement(line) for line in _REQUIRED.findall(metadata)]
    return [
        each.name
        for each in listed
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]
