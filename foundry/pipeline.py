"""The functions behind the commands: init, build, query, evaluate, export, verify and the rest.

Imports are inside the functions, so that a command loads only what it needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foundry.building.options import BuildOptions, BuildResult
    from foundry.config.project import Config
    from foundry.errors import FoundryError
    from foundry.evaluation.asked import AskedQuestions
    from foundry.evaluation.options import EvaluationOptions
    from foundry.evaluation.run import EvaluationResult
    from foundry.export.decisions import Update
    from foundry.inspection.doctor import Finding
    from foundry.inspection.index import Selection
    from foundry.inspection.survey import Survey
    from foundry.progress import Reporter
    from foundry.rendering.design import Design
    from foundry.runtime.errors import ServerError
    from foundry.serving.options import Adopted, Listening, ServeOptions, Watched
    from foundry.serving.remembered import Answering
    from foundry.stores.options import Publication, PublishOptions

Warn = Callable[[str, str], object]
"""Takes a warning and its remedy."""


def survey(project: Path, written: str) -> Survey:
    """Inspect the source of a new project: a url, or the path of a folder or a table."""
    from foundry.inspection.surveying import survey

    return survey(project, written)


def init(project: Path, found: Survey, title: str, description: str, base_url: str | None) -> Path:
    """Write the foundry.toml of a new project; return its path."""
    from foundry.rendering.first_config import compose_config, write_config

    text = compose_config(
        project.resolve().name,
        found.settings,
        title=title,
        description=description,
        base_url=base_url,
        language=found.language,
        metadata=found.metadata,
        versions=found.versions,
    )
    return write_config(project, text)


def build(project: Path, reporter: Reporter, options: BuildOptions | None = None) -> BuildResult:
    """Read what has changed and publish a new version of the index.

    If nothing has changed, or if the build fails, the published version remains in use.
    """
    from foundry.building.lock import hold_lock
    from foundry.building.options import BuildOptions
    from foundry.building.run import build_index
    from foundry.config.extras import of_build, require
    from foundry.inspection.assumed_language import check_assumed_language

    config, options = _load_config(project), options or BuildOptions()
    require(of_build(config, options.engine))
    with hold_lock(config, reporter.warn):
        built = build_index(config, reporter, options)
        # Not after each change that `watch` sees.
        if not built.changes.reused:
            check_assumed_language(config, Path(built.index), reporter.warn)
        return built


def watch(
    project: Path, reporter: Reporter, options: BuildOptions
) -> Iterator[BuildResult | Watched | FoundryError | ServerError | OSError]:
    """Build now and after each change, until interrupted.

    Yields what is watched, and the result or the error of each build. A failed build leaves the
    index as it was. Raises ConfigError at once if foundry.toml is missing or invalid.
    """
    from foundry.building.watch import build_after_changes

    _load_config(project)
    return build_after_changes(project, lambda: build(project, reporter, options))


def serve(
    source: str, reporter: Reporter, options: ServeOptions, say: Callable[[str], object]
) -> Generator[
    Adopted | BuildResult | Watched | Listening | FoundryError | ServerError | OSError, None, None
]:
    """Build a project and serve it as its export would be served, until interrupted.

    A file, a url, or a folder without a foundry.toml is served with the defaults. Yields the
    outcome of each build, what is watched, and where the server listens. `say` is called with the
    server's log lines, from another thread. Until the first build is done, a page at the server's
    address shows its progress.
    """
    from foundry.building.options import BuildOptions
    from foundry.building.watch import share_one_heap
    from foundry.config.extras import require
    from foundry.serving.adopt import adopt
    from foundry.serving.options import Adopted
    from foundry.serving.serve import begin_listening, serve_builds
    from foundry.serving.waiting import Waiting

    require(["server", *(["watch"] if options.watch else [])])
    if options.watch:
        # Before the first thread starts.
        share_one_heap()
    project = adopt(source)
    allowed = options.allow_private
    if isinstance(project, Adopted):
        yield project
        allowed += project.allow_private
        project = project.project
    builds = BuildOptions(allow_private=allowed)
    with Waiting(begin_listening(_load_config(project), options)) as waiting:
        options, told = replace(options, port=waiting.port), waiting.following(reporter)
        outcomes = watch(project, told, builds) if options.watch else [build(project, told, builds)]
        yield from serve_builds(project, outcomes, options, say, waiting.close)


def query(project: Path, arguments: list[str], warn: Warn) -> str:
    """Search with the same server as an export, rendered into `.foundry/server`; return its output.

    `arguments` are passed to its `search` command; `warn` is called if the index is out of date.
    """
    from foundry.errors import FoundryError
    from foundry.serving.remembered import recall
    from foundry.serving.running import explain_exit, model_variables, run_server

    answering = recall(project) or _find_answering(project, warn)
    if not answering.has_modes and "--mode" in arguments:
        hint = "leave --mode out, or set embedding.provider and build again"
        raise FoundryError(f"{project.resolve()}: supports only keyword search", hint=hint)
    variables = {"INDEX_DIR": str(answering.indexes), **model_variables()}
    asked = ["search", *arguments]
    done = run_server(answering.server, answering.package, asked, variables=variables)
    if done.returncode:
        raise explain_exit(answering.name, done.returncode, done.stderr)
    return done.stdout


def evaluate(
    project: Path, options: EvaluationOptions, reporter: Reporter, warn: Warn
) -> EvaluationResult:
    """Evaluate the server that `query` uses, by questions whose answers are known."""
    from foundry.evaluation.run import evaluate_server

    index, design = _design_server(_load_config(project), warn)
    return evaluate_server(design, index, options, reporter)


def draft_questions(project: Path, file: Path) -> int:
    """Write a file of questions to edit, made from the index's headings; return how many."""
    from foundry.evaluation.known_items import write_draft
    from foundry.indexing.versions import built_index, open_index

    return write_draft(open_index(built_index(_load_config(project)).folder), file)


def collect_questions(project: Path, logs: Sequence[Path], draft: Path | None) -> AskedQuestions:
    """Return the questions in a server's logs; write them to the file `draft`, if given."""
    from foundry.config.sources import QUESTIONS_NAME
    from foundry.evaluation.asked import collect_questions
    from foundry.evaluation.questions import write_lines
    from foundry.indexing.versions import built_index, open_index

    config = _load_config(project)
    index = open_index(built_index(config).folder)
    found = collect_questions(index, logs, config.root / QUESTIONS_NAME)
    if draft is not None:
        write_lines(draft, (question.to_json() for question in found.questions))
    return found


def export(
    project: Path,
    output: Path | None,
    warn: Warn,
    *,
    force: bool,
    trust: bool,
    stale: bool = False,
) -> Path:
    """Write the project's server as one folder that does not need Foundry; return the folder.

    An index that does not match foundry.toml is refused, unless `stale` is given. With `force`,
    `warn` is called with the new location of edited files.
    """
    from foundry.building.lock import hold_lock
    from foundry.export.basis import Basis
    from foundry.export.compose import compose_export
    from foundry.export.existing import warn_without_model
    from foundry.export.write import check_target, warn_of_kept, write_export
    from foundry.indexing.versions import require_index

    config = _load_config(project)
    target = check_target(output or config.default_export, config.root)
    warn_without_model(config, target, warn)
    # This check comes before locking, which creates a folder.
    require_index(config)
    with hold_lock(config):
        basis = Basis.of(config, trust=trust, stale=stale)
        kept = write_export(target, compose_export(basis), force=force)
    warn_of_kept(target, kept, config.package, warn)
    return target


def explain_export(project: Path, *, trust: bool, stale: bool = False) -> dict[str, str]:
    """Return why `export` would write each file, by path."""
    from foundry.export.basis import Basis
    from foundry.export.compose import compose_export, explain_export

    basis = Basis.of(_load_config(project), trust=trust, stale=stale)
    return explain_export(basis, compose_export(basis))


def check_export(project: Path, output: Path | None, *, trust: bool, stale: bool = False) -> str:
    """Return the diff between an export and what `export` would write now; "" if there is none."""
    from foundry.export.basis import Basis
    from foundry.export.compose import compose_export
    from foundry.export.differences import diff_export
    from foundry.export.write import check_target

    config = _load_config(project)
    target = check_target(output or config.default_export, config.root)
    return diff_export(target, compose_export(Basis.of(config, trust=trust, stale=stale)))


def update(
    folder: Path,
    project: Path | None,
    warn: Warn,
    *,
    force: bool,
    dry_run: bool,
    trust: bool,
    stale: bool = False,
) -> Update:
    """Update an edited export after a change of Foundry, the configuration or the index."""
    from foundry.building.lock import hold_lock
    from foundry.export.basis import Basis
    from foundry.export.compose import compose_export
    from foundry.export.existing import warn_without_model
    from foundry.export.update import check_origin, find_project, update_export
    from foundry.export.write import check_target

    config = _load_config(project or find_project(folder))
    target = check_target(folder, config.root)
    check_origin(target, config)
    warn_without_model(config, target, warn)
    with hold_lock(config):
        new = compose_export(Basis.of(config, trust=trust, stale=stale))
        return update_export(target, new, force=force, dry_run=dry_run)


def publish(project: Path, reporter: Reporter, options: PublishOptions) -> Publication:
    """Load the built index into the engine that foundry.toml names, and switch to it."""
    from foundry.building.lock import hold_lock
    from foundry.config.extras import require
    from foundry.stores.publish import publish_index

    config = _load_config(project)
    require([config.store.engine])
    with hold_lock(config):
        return publish_index(config, reporter, options)


def inspect(project: Path, selection: Selection, *, as_json: bool) -> Iterator[str]:
    """Yield the contents of the built index, line by line."""
    from foundry.indexing.versions import built_index, open_index
    from foundry.inspection.index import inspect_index

    index = open_index(built_index(_load_config(project)).folder)
    yield from inspect_index(index, selection, as_json=as_json)


def inspect_left_out(project: Path, pattern: str, *, as_json: bool) -> Iterator[str]:
    """Yield which words are not in the index, and why, for documents whose path matches."""
    from foundry.indexing.versions import built_index
    from foundry.inspection.left_out import find_left_out, show_left_out
    from foundry.runtime.json_text import format_json

    config = _load_config(project)
    found = find_left_out(config, built_index(config).folder, pattern)
    yield from map(format_json, found) if as_json else show_left_out(found)


def verify(folder: Path, *, strict: bool = False) -> list[dict[str, Any]]:
    """Check an export, or a project's index and any export of it; return a report on each."""
    from foundry.export.checksums import CHECKSUMS
    from foundry.export.verify import verify_export
    from foundry.files import CONFIG_NAME
    from foundry.indexing.versions import built_index, check_index

    if os.path.lexists(folder / CHECKSUMS) or not (folder / CONFIG_NAME).exists():
        return [verify_export(folder, strict=strict)]
    config = _load_config(folder)
    index = built_index(config)
    check_index(index, folder)
    checked: list[dict[str, Any]] = [
        {"index": str(index.folder), "index_version": index.manifest.version}
    ]
    exported = config.default_export
    return [*checked, verify_export(exported, strict=strict)] if exported.is_dir() else checked


def doctor(project: Path, *, is_brief: bool) -> list[Finding]:
    """Check the installation, and the project if there is one; `is_brief` groups the findings."""
    from foundry.inspection.doctor import examine, summarise

    return summarise(examine(project)) if is_brief else examine(project)


def _load_config(project: Path) -> Config:
    from foundry.config.project import load_config

    return load_config(project)


def _find_answering(project: Path, warn: Warn) -> Answering:
    """Render the server that answers queries; without warnings, remember it for the next query."""
    from foundry.indexing.versions import index_folder
    from foundry.serving.preview import render_preview
    from foundry.serving.remembered import Answering, remember

    warnings: list[str] = []

    def warn_and_count(said: str, hint: str) -> None:
        warnings.append(said)
        warn(said, hint)

    config = _load_config(project)
    _, design = _design_server(config, warn_and_count)
    answering = Answering(
        server=render_preview(design),
        indexes=index_folder(config),
        package=config.package,
        name=config.project.name,
        has_modes=design.query_encoder.kind != "none",
    )
    if not warnings and not config.names_files:
        remember(config.state, answering)
    return answering


def _design_server(config: Config, warn: Warn) -> tuple[Path, Design]:
    """Return the folder of the built index, and the design of its server.

    Raises MissingExtraError if packages that the server needs are not installed.
    """
    from foundry.config.extras import of_server, require
    from foundry.indexing.versions import built_index, describe_staleness
    from foundry.rendering.design import Design
    from foundry.rendering.query_encoder import choose_query_encoder

    index = built_index(config)
    if said := describe_staleness(config, index.manifest):
        warn(said, f"the old index is used until you build again: {config.build_command}")
    design = Design.of(config, choose_query_encoder(config, index.manifest))
    require(of_server(config, design.query_encoder.kind))
    return index.folder, design
