"""Helpers that benchmarks share: temporary projects, and the servers rendered for them."""

import importlib
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foundry import __version__, pipeline
from foundry.building.options import BuildResult
from foundry.config.project import load_config
from foundry.evaluation.questions import askable_lines
from foundry.evaluation.run import own_questions
from foundry.files import write_files
from foundry.progress import Reporter
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_server
from foundry.rendering.query_encoder import choose_query_encoder
from foundry.runtime.index.layout import Manifest, resolve_version

Search = Callable[..., Any]
LANGUAGES = {"de": "german", "es": "spanish", "ru": "russian", "ar": "arabic", "hi": "hindi"}


@dataclass(frozen=True, slots=True)
class Collection:
    """A test collection in BEIR's layout; `relevant` maps query ids to grades by document id."""

    name: str
    corpus: Path
    queries: dict[str, str]
    relevant: dict[str, dict[str, float]]


def machine() -> str:
    """Return a line that describes the machine."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    return (
        f"{cpu}, {os.cpu_count()} cores, {platform.system()} {platform.release()},"
        f" Python {platform.python_version()}, Foundry {__version__}"
    )


def read_collection(folder: Path) -> Collection:
    """Read a folder with corpus.jsonl, queries.jsonl and qrels.tsv."""
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = {entry["_id"]: entry["text"] for entry in map(json.loads, lines)}
    relevant: dict[str, dict[str, float]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if float(grade) > 0:
            relevant.setdefault(query, {})[document] = float(grade)
    judged = {query: queries[query] for query in relevant}
    return Collection(folder.name, folder / "corpus.jsonl", judged, relevant)


def language_of(folder: Path) -> str:
    """Return the language at the end of a folder's name, as in xquad_de; the default is English."""
    code = folder.name.rpartition("_")[2]
    return "none" if code == "zh" else LANGUAGES.get(code, "english")


def make_project(root: Path, source: str, extra: str = "", *, language: str = "english") -> Path:
    """Write a project with one source (TOML of its table)."""
    root.mkdir(parents=True, exist_ok=True)
    project = f'[project]\nname = "benchmark"\nlanguage = "{language}"\n'
    config = f"{project}\n[[sources]]\n{source}\n{extra}"
    (root / "foundry.toml").write_text(config, encoding="utf-8")
    return root


def build(project: Path, *, quiet: bool = True) -> BuildResult:
    """Build a project."""
    return pipeline.build(project, Reporter(quiet=quiet))


def row(*cells: object) -> None:
    """Print a line of a table."""
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def render_server(project: Path, package: str, search_options: str = "") -> Path:
    """Render a server as `package`, with other [search] options; returns its folder."""
    file = project / "foundry.toml"
    written = file.read_text(encoding="utf-8")
    search = f"[search]\n{search_options}\n" if search_options else ""
    file.write_text(
        f'{written}\n{search}[export]\npackage = "{package}"\n',
        encoding="utf-8",
    )
    try:
        config = load_config(project)
    finally:
        file.write_text(written, encoding="utf-8")
    folder = project / "rendered" / package
    index = project / ".foundry" / "index"
    manifest = Manifest.read(resolve_version(index) / "manifest.json")
    design = Design.of(config, choose_query_encoder(config, manifest))
    questions = own_questions(config)
    asked = None if questions is None else askable_lines(questions)
    write_files(folder, plan_server(design, asked))
    return folder


def load_server(project: Path, package: str, search_options: str = "") -> Any:
    """Render a project's server as `package`, with other [search] options, and import it."""
    folder = render_server(project, package, search_options)
    sys.path.insert(0, str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    server = importlib.import_module(package)
    sys.path.remove(str(folder))
    server.load(project / ".foundry" / "index")
    return server
