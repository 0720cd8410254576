"""What Foundry does, each a short story: init, build, query, export, verify."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from foundry.building import BuildPlan, count_reasons, plan_build, write_index
from foundry.config import Config, load_config
from foundry.config_sources import CONFIG_NAME, QUESTIONS_NAME
from foundry.embedding.embedder import Embedder
from foundry.embedding.registry import closing_embedder
from foundry.errors import BuildError, FoundryError, IndexUnusableError
from foundry.exporting.checksums import CHECKSUMS
from foundry.exporting.verify import run_server, verify_export
from foundry.exporting.write import check_target, write_export
from foundry.indexing.publish import begin_version, discard_version, publish_version
from foundry.locking import hold_lock
from foundry.package_names import is_taken
from foundry.progress import Reporter
from foundry.rendering.environment import render
from foundry.rendering.plan import plan_server
from foundry.rendering.preview import render_preview
from foundry.rendering.query_encoder import choose_query_encoder
from foundry.runtime.errors import ServerError
from foundry.runtime.hybrid_index import HybridIndex
from foundry.runtime.index import Index, resolve_version, verify_files
from foundry.runtime.layout import Manifest, QueryFigures


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did.

    `refused` counts chunks that the model would not embed, `queries` says how queries will be
    embedded. `seconds` is wall time; `unchanged` means that nothing was published.
    """

    index: str
    version: str
    documents: int
    chunks: int
    skipped: dict[str, int]
    refused: int
    queries: QueryFigures | None
    seconds: float
    unchanged: bool


def init(project: Path, source: Path) -> Path:
    """Write a commented foundry.toml that builds as it is; returns its path."""
    file = project / CONFIG_NAME
    if file.exists():
        raise FoundryError(f"{file}: exists already", hint="edit it, or choose another folder")
    if not source.exists():
        raise FoundryError(f"{source}: no such folder or file", hint="name what is to be indexed")
    is_records = source.is_file()
    if is_records and source.suffix not in {".csv", ".jsonl"}:
        raise FoundryError(
            f"{source}: is one file",
            hint="name the folder that holds it, or a .csv or .jsonl table",
        )
    path = os.path.relpath(source.resolve(), project.resolve())
    if not path.isprintable():
        raise FoundryError(
            f"{path!r}: TOML cannot hold this name", hint="rename what is to be indexed"
        )
    project.mkdir(parents=True, exist_ok=True)
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in project.resolve().name)
    name = "-".join(words.lower().split())[:50].strip("-")
    if not name or not name[0].isalpha() or is_taken(name.replace("-", "_")):
        name = f"docs-{name}".rstrip("-")
    values = {
        "name": name,
        "package": name.replace("-", "_"),
        "title": project.resolve().name,
        "path": path,
        "is_records": is_records,
    }
    text = render("foundry.toml.jinja", values)
    # Exclusive: never through a link, never over a file that has appeared meanwhile.
    with file.open("x", encoding="utf-8") as stream:
        stream.write(text)
    return file


def build(project: Path, reporter: Reporter) -> BuildResult:
    """Read the sources, index them and publish a new version; the old one serves until then."""
    config = load_config(project)
    started = time.monotonic()
    with _begun_version(config, reporter) as (folder, embedder):
        manifest, report = write_index(folder, config, embedder, reporter)
        unchanged = _intact_version(config) == manifest.version
        if not unchanged:
            publish_version(folder)
    return BuildResult(
        index=str(resolve_version(_index_folder(config))),
        version=manifest.version,
        documents=manifest.documents,
        chunks=manifest.chunks,
        skipped=count_reasons(report),
        refused=len(report.get("refused", ())),
        queries=manifest.dense.query if manifest.dense else None,
        seconds=round(time.monotonic() - started, 3),
        unchanged=unchanged,
    )


def dry_run(project: Path, reporter: Reporter) -> BuildPlan:
    """Read and split the sources, and say what a build would embed; nothing is published."""
    config = load_config(project)
    with _begun_version(config, reporter) as (folder, embedder):
        return plan_build(folder, config, embedder, reporter)


def query(project: Path, arguments: list[str]) -> str:
    """Ask the server that an export would be, rendered into `.foundry/server`; returns its output.

    `arguments` are those of the server's own `search` command.
    """
    config = load_config(project)
    manifest = Manifest.read(_built_index(config) / "manifest.json")
    server = render_preview(config, choose_query_encoder(config, manifest))
    done = run_server(
        server, config.package, ["search", *arguments], index_dir=_index_folder(config)
    )
    if done.returncode:
        raise FoundryError(done.stderr.strip() or f"the server exited with {done.returncode}")
    return done.stdout


def export(project: Path, output: Path | None, *, force: bool) -> Path:
    """Write the project's server as one folder that needs nothing of Foundry; returns it."""
    config = load_config(project)
    index = _built_index(config)
    target = check_target(output or config.default_export, config.root)
    with hold_lock(config):
        query_encoder = choose_query_encoder(config, _check_index(index, project))
        # As the exported server will: an index of other options or versions is refused here.
        (HybridIndex if query_encoder.kind == "pieces" else Index).open(index)
        files = plan_server(config, query_encoder, _questions(config))
        write_export(target, files, index, f"{config.package}/index", force=force)
    return target


def verify(folder: Path) -> list[dict[str, object]]:
    """Check an export, or a project's index and its export if it has one."""
    if (folder / CHECKSUMS).exists() or not (folder / CONFIG_NAME).exists():
        return [verify_export(folder)]
    config = load_config(folder)
    index = _built_index(config)
    manifest = _check_index(index, folder)
    checked: list[dict[str, object]] = [{"index": str(index), "index_version": manifest.version}]
    exported = config.default_export
    return [*checked, verify_export(exported)] if exported.is_dir() else checked


def _check_index(index: Path, project: Path) -> Manifest:
    manifest = Manifest.read(index / "manifest.json")
    if findings := verify_files(index, manifest):
        raise IndexUnusableError(
            f"{index}: damaged: {'; '.join(findings)}", hint=f"foundry build {project}"
        )
    return manifest


@contextmanager
def _begun_version(config: Config, reporter: Reporter) -> Iterator[tuple[Path, Embedder | None]]:
    """A folder for a new version, which is gone afterwards unless it was published."""
    with (
        hold_lock(config),
        closing_embedder(
            config.embedding, config.language, config.root, config.state, reporter.step
        ) as embedder,
    ):
        try:
            folder = begin_version(_index_folder(config))
            try:
                yield folder, embedder
            finally:
                discard_version(folder)
        except OSError as error:
            raise BuildError(
                f"{_index_folder(config)}: cannot be written: {error.strerror or error};"
                " the index that was published last still stands",
                hint="check the free space and the permissions of the folder",
            ) from None


def _index_folder(config: Config) -> Path:
    return config.state / "index"


def _built_index(config: Config) -> Path:
    folder = _index_folder(config)
    if not (folder / "CURRENT").exists():
        raise IndexUnusableError(
            f"{config.root}: has no index yet", hint=f"build it: foundry build {config.root}"
        )
    return resolve_version(folder)


def _intact_version(config: Config) -> str | None:
    """The current version; None if there is none, or if it is damaged and must be replaced."""
    try:
        return _check_index(_built_index(config), config.root).version
    except (FoundryError, ServerError, OSError):
        return None


def _questions(config: Config) -> bytes | None:
    file = config.root / QUESTIONS_NAME
    return file.read_bytes() if file.is_file() else None
