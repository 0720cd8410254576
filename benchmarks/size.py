"""Measures the sizes of indexes and installations: `python benchmarks/size.py [FOLDER ...]`.

Each FOLDER, and a generated corpus of `--chunks` chunks, is built and exported with the default
configuration; the table has the bytes per chunk by part of the index.

With `--installed`, the table only has the megabytes that pip installs into a new environment for an
exported server of the default configuration, for Foundry, and for each peer: the files of the
distribution and of all its requirements, with the modules that pip compiles.

With `--exports`, the table only has the modules, lines and statements of Python that an owner has
to read, of golden `minimal`, whose configuration is the default.
"""

import argparse
import ast
import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from common import build, machine, make_project, render_server, row
from packaging.utils import canonicalize_name
from peers import PEERS
from processes import ProcessFailedError
from synthetic import built_project

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

ROOT = Path(__file__).parent.parent
MINIMAL = ROOT / "golden" / "minimal"

OTHERS = "others"
COLUMNS = (*dict.fromkeys(PARTS.values()), OTHERS)


def index_parts(index: Path) -> dict[str, int]:
    """Return the bytes of the published index by part."""
    root = resolve_version(index)
    sizes = dict.fromkeys(COLUMNS, 0)
    for path in root.rglob("*"):
        if path.is_file():
            first = path.relative_to(root).parts[0].partition(".")[0]
            sizes[PARTS.get(first, OTHERS)] += path.stat().st_size
    return sizes


def installed(requirements: Sequence[str]) -> dict[str, int]:
    """Return the bytes of each distribution that pip installs into a new environment, by name.

    Raises ProcessFailedError if pip fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=False)
        python = Path(folder) / "bin" / "python"
        install = ("-m", "pip", "--quiet", "--python", str(python), "install", *requirements)
        ended = subprocess.run([sys.executable, *install], capture_output=True, text=True)
        if ended.returncode:
            raise ProcessFailedError(ended.stderr.strip().splitlines()[-1])
        libraries = next(Path(folder).glob("lib/python*/site-packages"))
        return {
            canonicalize_name(distribution.name): _bytes_of(distribution)
            for distribution in importlib.metadata.distributions(path=[str(libraries)])
        }


def _bytes_of(distribution: importlib.metadata.Distribution) -> int:
    paths = (Path(str(file.locate())) for file in distribution.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def _folder_bytes(*folders: Path) -> int:
    paths = (path for folder in folders for path in folder.rglob("*") if path.suffix != ".pyc")
    return sum(path.stat().st_size for path in paths if path.is_file())


def report_index(name: str, project: Path, export: Path) -> None:
    """Print the row of a built and exported project."""
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


def report_installation(work: Path) -> None:
    """Print rows for Foundry, for a server of the default configuration, and for the peers."""
    project = make_project(work / "installed", f'type = "folder"\npath = "{MINIMAL / "sources"}"')
    build(project)
    server = render_server(project, "server")
    described = tomllib.loads((server / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted: dict[str, Sequence[str]] = {
        "an exported server": described["dependencies"],
        "Foundry": [str(ROOT)],
        **{name: peer.packages for name, peer in PEERS.items() if peer.packages},
    }
    row("installed", "distributions", "MB", "to an exported server", "the largest, MB")
    row(*["---"] * 5)
    ours = 0
    for name, requirements in wanted.items():
        try:
            found = installed(requirements)
        except ProcessFailedError as error:
            row(name, f"left out: {error}", "", "", "")
            continue
        total = sum(found.values())
        ours = ours or total
        largest = sorted(found, key=lambda package: -found[package])[:3]
        shares = ", ".join(f"{package} {found[package] / 1e6:.0f}" for package in largest)
        row(name, len(found), f"{total / 1e6:.0f}", f"{total / ours:.2f}", shares)


@dataclass(frozen=True, slots=True)
class Module:
    """The size of a module."""

    lines: int
    statements: int

    @classmethod
    def of(cls, path: Path) -> "Module":
        """Count the lines and statements of a file, without docstrings."""
        text = path.read_text(encoding="utf-8")
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
        return cls(len(text.splitlines()), sum(not _is_docstring(node) for node in nodes))


def _is_docstring(statement: ast.stmt) -> bool:
    # A bare string after an attribute is its docstring.
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def measure_python(server: Path) -> dict[str, list[Module]]:
    """Return the size of each Python module of a rendered server, by room of the package."""
    rooms: dict[str, list[Module]] = {}
    for path in sorted(server.rglob("*.py")):
        package, *folders, _ = path.relative_to(server).parts
        room = "tests" if package == "tests" else "/".join(folders[:1]) or "top level"
        rooms.setdefault(room, []).append(Module.of(path))
    return rooms


def report_export(work: Path) -> None:
    """Print a row for each room of golden `minimal`."""
    project = make_project(work / "minimal", f'type = "folder"\npath = "{MINIMAL / "sources"}"')
    shutil.copy(MINIMAL / "questions.jsonl", project)
    build(project)
    server = render_server(project, "server")
    rooms = measure_python(server)
    tests = rooms.pop("tests")
    row("room", "modules", "lines", "statements", "lines of the longest module")
    row(*["---"] * 5)
    for room, modules in rooms.items():
        _report_modules(room, modules)
    _report_modules("**all**", [module for room in rooms.values() for module in room])
    _report_modules("tests", tests)
    _report_modules("search.py", [Module.of(server / "server" / "search.py")])


def _report_modules(name: str, modules: Sequence[Module]) -> None:
    lines = [module.lines for module in modules]
    statements = sum(module.statements for module in modules)
    row(name, len(modules), f"{sum(lines):,}", f"{statements:,}", max(lines))


def main() -> int:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--chunks", type=int, nargs="*", default=[100_000])
    parser.add_argument("--folder", type=Path, help="keep generated corpora here, use them again")
    parser.add_argument(
        "--exports", action="store_true", help="count what owners of exports read, no more"
    )
    parser.add_argument("--installed", action="store_true", help="measure installations, no more")
    chosen = parser.parse_args()
    if chosen.installed:
        print(machine(), end="\n\n")
        with tempfile.TemporaryDirectory() as work:
            report_installation(Path(work))
        return 0
    if chosen.exports:
        with tempfile.TemporaryDirectory() as work:
            report_export(Path(work))
        return 0
    print(machine(), end="\n\n")
    row("corpus", "chunks", "bytes a chunk", *COLUMNS, "index MB", "export beside it, MB")
    row(*["---"] * (5 + len(COLUMNS)))
    with tempfile.TemporaryDirectory() as work:
        for number, folder in enumerate(chosen.folders):
            source = f'type = "folder"\npath = "{folder.resolve()}"'
            project = make_project(Path(work) / f"project-{number}", source)
            build(project)
            export = pipeline.export(project, None, print, force=False, trust=False)
            report_index(folder.name, project, export)
        for chunks in chosen.chunks:
            project = built_project(chosen.folder or Path(work), chunks)
            target = Path(work) / f"export-{chunks}"
            export = pipeline.export(project, target, print, force=False, trust=False)
            report_index("generated", project, export)
    return 0


if __name__ == "__main__":
    sys.exit(main())
