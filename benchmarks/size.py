"""How large an index and an installation are: `python benchmarks/size.py [FOLDER ...]`.

Each FOLDER, and a generated corpus of `--chunks` chunks, is built and exported with the default
configuration: bytes a chunk of the index, by part. Then the megabytes that are installed for
Foundry, for an exported server and for each peer: the files of its distribution and of all that it
requires, in the environment that runs this, as pip leaves them: it compiles the modules that it
installs, so what a module compiles to is counted too, whether it is there or not.

With `--exports` only the lines and modules of Python that an owner has to read are counted: of the
smallest golden server, with every interface, and of one that answers keywords over HTTP alone,
without golden questions, monitoring and reloading.
"""

import argparse
import importlib.metadata
import marshal
import shutil
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from common import build, machine, make_project, render_server, row
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from peers import PEERS
from synthetic import built_project

import foundry
from foundry import pipeline
from foundry.runtime.index.layout import Manifest, resolve_version

PARTS = {
    "chunks": "texts",
    "documents": "documents",
    "terms": "postings",
    "postings": "postings",
    "vectors": "vectors",
    "sketch": "vectors",
    "encoder": "encoder",
}
"""The parts of an index, by the first word of their files' names."""

MINIMAL = Path(__file__).parent.parent / "golden" / "minimal"

KEYWORDS_OVER_HTTP = """
[embedding]
provider = "none"

[search]
unknown_identifiers = false

[server]
mcp = false
chat = false
page = false
documents = false
filters = false
callers = false
snippets = false
command_line = false
hooks = false
monitoring = false
reloading = false
"""
"""A server that answers POST and GET /search, and leaves out all that `[server]` lets it."""

PYC_HEAD = 16
"""Bytes of a compiled module before its code."""

OTHERS = "others"
COLUMNS = (*dict.fromkeys(PARTS.values()), OTHERS)


def index_parts(index: Path) -> dict[str, int]:
    """Bytes of the published index by part."""
    root = resolve_version(index)
    sizes = dict.fromkeys(COLUMNS, 0)
    for path in root.rglob("*"):
        if path.is_file():
            first = path.relative_to(root).parts[0].partition(".")[0]
            sizes[PARTS.get(first, OTHERS)] += path.stat().st_size
    return sizes


def installed(requirements: Iterable[str]) -> dict[str, int]:
    """Bytes of every distribution that is installed for requirements, by name."""
    sizes: dict[str, int] = {}
    wanted = [Requirement(text) for text in requirements]
    for requirement in wanted:
        name = canonicalize_name(requirement.name)
        extras = {name, *(f"{name}[{extra}]" for extra in requirement.extras)}
        if extras <= sizes.keys():
            continue
        found = importlib.metadata.distribution(name)
        sizes |= dict.fromkeys(extras, 0) | {name: _bytes_of(found)}
        for text in found.requires or ():
            further = Requirement(text)
            marker = further.marker
            if marker is None or any(
                marker.evaluate({"extra": extra}) for extra in ("", *requirement.extras)
            ):
                wanted.append(further)
    return sizes


def _bytes_of(distribution: importlib.metadata.Distribution) -> int:
    paths = [Path(str(file.locate())) for file in distribution.files or ()]
    files = [path for path in paths if path.suffix != ".pyc" and path.is_file()]
    modules = (path for path in files if path.suffix == ".py")
    return sum(path.stat().st_size for path in files) + sum(map(_compiled_bytes, modules))


def _compiled_bytes(module: Path) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = compile(module.read_bytes(), module, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):  # A template of a module, which pip leaves as it is.
        return 0
    return PYC_HEAD + len(marshal.dumps(compiled))


def _folder_bytes(*folders: Path) -> int:
    paths = (path for folder in folders for path in folder.rglob("*") if path.suffix != ".pyc")
    return sum(path.stat().st_size for path in paths if path.is_file())


def report_index(name: str, project: Path, export: Path) -> None:
    """Print the row of a project that was built and exported."""
    index = project / ".foundry" / "index"
    parts = index_parts(index)
    chunks = Manifest.read(resolve_version(index) / "manifest.json").chunks
    total = sum(parts.values())
    row(
        name,
        f"{chunks:,}",
        f"{total / chunks:,.0f}",
        *(f"{size / chunks:,.0f}" for size in parts.values()),
        f"{total / 1e6:.0f}",
        f"{(_folder_bytes(export) - total) / 1e6:.1f}",
    )


def report_installation(export: Path) -> None:
    """Print a row each for Foundry, an exported server and the peers."""
    project = tomllib.loads((export / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted: dict[str, list[str]] = {
        "Foundry": ["rag-foundry"],
        "an exported server": project["dependencies"],
        **{name: list(peer.packages) for name, peer in PEERS.items() if peer.packages},
    }
    measured: dict[str, Mapping[str, int] | str] = {}
    for name, requirements in wanted.items():
        try:
            measured[name] = installed(requirements)
        except importlib.metadata.PackageNotFoundError as error:
            measured[name] = f"left out: {error}"
    if not isinstance(ours := measured["Foundry"], str):
        # An editable installation has no files of its own.
        package = Path(foundry.__file__).parent
        size = _folder_bytes(package, package.parent / "templates")
        size += sum(map(_compiled_bytes, package.rglob("*.py")))
        measured["Foundry"] = {**ours, "rag-foundry": size}
    server = measured["an exported server"]
    for name, found in measured.items():
        if isinstance(found, str):
            row(name, found, "", "", "")
            continue
        largest = sorted(found, key=lambda package: -found[package])[:3]
        total = sum(found.values()) / 1e6
        ratio = "" if isinstance(server, str) else f"{total * 1e6 / sum(server.values()):.2f}"
        shares = ", ".join(f"{package} {found[package] / 1e6:.0f}" for package in largest)
        row(name, len(found), f"{total:.0f}", ratio, shares)


def count_python(server: Path) -> dict[str, list[int]]:
    """The lines of each Python module of a rendered server, by room of the package."""
    rooms: dict[str, list[int]] = {}
    for path in sorted(server.rglob("*.py")):
        package, *folders, _ = path.relative_to(server).parts
        room = "tests" if package == "tests" else "/".join(folders[:1]) or "top level"
        rooms.setdefault(room, []).append(len(path.read_text(encoding="utf-8").splitlines()))
    return rooms


def report_exports(work: Path) -> None:
    """Print a table each for golden `minimal` and for keywords over HTTP alone."""
    for name, extra in (("minimal", ""), ("keywords over HTTP", KEYWORDS_OVER_HTTP)):
        source = f'type = "folder"\npath = "{MINIMAL / "sources"}"'
        project = make_project(work / name.replace(" ", "-"), source, extra)
        if name == "minimal":
            shutil.copy(MINIMAL / "questions.jsonl", project)
        build(project)
        server = render_server(project, "server")
        rooms = count_python(server)
        tests = rooms.pop("tests")
        row(name, "modules", "lines", "lines of the longest module")
        row(*["---"] * 4)
        for room, lines in rooms.items():
            row(room, len(lines), f"{sum(lines):,}", max(lines))
        modules = [count for lines in rooms.values() for count in lines]
        row("**all**", len(modules), f"{sum(modules):,}", max(modules))
        row("tests", len(tests), f"{sum(tests):,}", max(tests))
        search = (server / "server" / "search.py").read_text(encoding="utf-8")
        row("search.py", 1, len(search.splitlines()), "")
        print()


def main() -> int:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--chunks", type=int, nargs="*", default=[100_000])
    parser.add_argument("--folder", type=Path, help="keep generated corpora here, use them again")
    parser.add_argument("--exports", action="store_true", help="count lines of exports, no more")
    chosen = parser.parse_args()
    if chosen.exports:
        with tempfile.TemporaryDirectory() as work:
            report_exports(Path(work))
        return 0
    print(machine(), end="\n\n")
    row("corpus", "chunks", "bytes a chunk", *COLUMNS, "index MB", "export beside it, MB")
    row(*["---"] * (5 + len(COLUMNS)))
    with tempfile.TemporaryDirectory() as work:
        exports = []
        for number, folder in enumerate(chosen.folders):
            source = f'type = "folder"\npath = "{folder.resolve()}"'
            project = make_project(Path(work) / f"project-{number}", source)
            build(project)
            exports.append(pipeline.export(project, None, print, force=False, trust=False))
            report_index(folder.name, project, exports[-1])
        for chunks in chosen.chunks:
            project = built_project(chosen.folder or Path(work), chunks)
            target = Path(work) / f"export-{chunks}"
            exports.append(pipeline.export(project, target, print, force=False, trust=False))
            report_index("generated", project, exports[-1])
        print()
        row("installed", "distributions", "MB", "to an exported server", "the largest, MB")
        row(*["---"] * 5)
        report_installation(exports[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
