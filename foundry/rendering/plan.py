"""The plan of a server: every file of it but the index, as a pure function of the configuration."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path

import foundry
from foundry.config.project import Config
from foundry.errors import RenderError
from foundry.features.contributions import (
    contents_of,
    dependencies_of,
    files_left_out,
    sections_of,
)
from foundry.features.feature import Feature
from foundry.features.interfaces import INTERFACES, Page, pages_of
from foundry.features.operation import HTTP
from foundry.features.providers import Provider
from foundry.features.snippet import Place, Snippet, Step
from foundry.features.stage import Stage
from foundry.features.stages import STAGES
from foundry.features.stores import STORES, Store
from foundry.features.targets import TARGETS, Target
from foundry.files import templates_folder
from foundry.rendering.copying import PAGE_FOLDER, RUNTIME, copy_pages, copy_runtime, copy_tests
from foundry.rendering.environment import SUFFIX, read_own_templates, render
from foundry.rendering.formatting import format_python, parse_back
from foundry.rendering.regions import chosen_names

PACKAGE_FOLDER = "package"
TESTS = "tests/"
REGISTRY_LENGTH = 100

EXAMPLES = 4
"""Questions that a search page proposes."""

UNIT = "name.service"
"""The unit's template; the unit itself is called after the server."""


def plan_server(
    config: Config,
    query_encoder: Provider,
    questions: bytes | None,
    templates: Path | None = None,
    *,
    with_tests: bool = True,
) -> dict[str, bytes]:
    """Relative path -> content, sorted, for an exported project without its index.

    `query_encoder` is what the index needs; see `choose_query_encoder`. `templates` is a folder of
    the project's own, which run: see `own_templates`. Rendered, formatted, checked and parsed back,
    most of which time goes to the tests; a server that is only run does without. Raises
    RenderError.
    """
    package = config.package
    values = template_values(config, query_encoder, has_questions=questions is not None)
    left_out = files_left_out(choose_features(config, query_encoder))
    files = _render_templates(config, values, left_out, templates)
    if not with_tests:
        files = {name: text for name, text in files.items() if not name.startswith(TESTS)}
    rendered = [name for name in files if name.endswith(".py")]
    files[f"{package}/settings.json"] = _settings(config, query_encoder, questions)
    if questions is not None:
        files[f"{package}/questions.jsonl"] = questions
    chosen = chosen_names(values)
    runtime = copy_runtime(files, package, chosen)
    files.update(runtime)
    files.update(copy_pages(pages_of(config.server.interfaces), package, left_out))
    tests = copy_tests(files, package, chosen) if with_tests else {}
    files.update(tests)
    files.update(format_python(files, [*rendered, *tests]))
    for name, content in files.items():
        if name in runtime:
            # It has been parsed, for what it imports.
            continue
        parsed = parse_back(name, content)
        if name == "pyproject.toml":
            _check_description(parsed, config.project.description)
    return dict(sorted(files.items()))


def choose_features(config: Config, query_encoder: Provider) -> list[Feature]:
    """Return everything that a server of this configuration has, in the order of its README."""
    return [
        HTTP,
        *config.server.interfaces.values(),
        *config.stages.values(),
        *([query_encoder] if query_encoder.asks_model else []),
        STORES[config.store.engine],
        *(TARGETS[target] for target in config.export.targets),
    ]


def choose_steps(config: Config, query_encoder: Provider) -> list[tuple[Feature, Step]]:
    """Return what stages and interfaces add to rendered modules, with what adds it."""
    chosen = {*config.server.interfaces, *config.stages, query_encoder.kind}
    language = config.project.language
    words = language if (RUNTIME / f"chat/words_{language}.py").is_file() else None
    return [
        *((stage, step) for stage in config.stages.values() for step in stage.steps()),
        *(
            (each, step)
            for each in config.server.interfaces.values()
            for step in each.open(chosen, words)
        ),
    ]


def plan_key(config: Config, query_encoder: Provider) -> str:
    """Return a hash over all that `plan_server` depends on, much faster than planning."""
    digest = hashlib.sha256(_settings(config, query_encoder, None))
    values = template_values(config, query_encoder, has_questions=False)
    digest.update(json.dumps(values, sort_keys=True, default=repr).encode())
    templates = templates_folder()
    for paths in (
        templates.rglob(f"*{SUFFIX}"),
        templates.rglob("*.py"),
        RUNTIME.rglob("*.py"),
        (RUNTIME / PAGE_FOLDER).iterdir(),
    ):
        for path in sorted(paths):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def template_values(
    config: Config, query_encoder: Provider, *, has_questions: bool
) -> dict[str, object]:
    """Return what templates may see."""
    has_vectors, steps = query_encoder.kind != "none", choose_steps(config, query_encoder)
    reads_identifiers = (
        config.search.unknown_identifiers
        or (has_vectors and config.search.identifier_fallback)
        or any("patterns" in step.code for _, step in steps)
    )
    features = choose_features(config, query_encoder)
    return {
        "name": config.project.name,
        "label": config.project.name.replace("_", "-"),
        "package": config.package,
        "title": config.title,
        "description": config.project.description,
        "fusion": config.search.fusion,
        "vectors": has_vectors,
        "query_encoder_kind": query_encoder.kind,
        "query_encoder_module": query_encoder.name.replace("-", "_"),
        "store": config.store.engine,
        "identifier_fallback": config.search.identifier_fallback,
        "unknown_identifiers": config.search.unknown_identifiers,
        "identifier_patterns": reads_identifiers,
        "stages": {name: config.stages.get(name) for name in (*STAGES, "parents")},
        **place_steps(steps),
        "filterable": list(config.index.filterable),
        "searches_wait": query_encoder.asks_model
        or not config.store.is_embedded
        or any(stage.waits for stage in config.stages.values()),
        "semantic_weight": config.weights[0],
        "keyword_weight": config.weights[1],
        "k": config.search.k,
        "port": config.server.port,
        "key": config.embedding.api_key_env,
        **{name: name in config.server.interfaces for name in INTERFACES},
        "queues": [
            Snippet(f'"{path}": "{queue}"')
            for each in config.server.interfaces.values()
            for path, queue in each.queues.items()
        ],
        "dependencies": dependencies_of(features),
        "environment": sorted({block for each in features for block in each.environment}),
        "contents": contents_of(features, name=config.project.name, package=config.package),
        "sections": {
            "interfaces": sections_of(config.server.interfaces.values()),
            "search": sections_of(
                each for each in features if isinstance(each, Stage | Provider | Store)
            ),
            "targets": sections_of(each for each in features if isinstance(each, Target)),
        },
        "short_title": _shorten(config.title),
        "summary": _shorten(config.project.description or f"Search {config.title}"),
        "has_questions": has_questions,
        "foundry_version": foundry.__version__,
    }


def _shorten(text: str) -> str:
    """Return the beginning of a text on one line, as long as the MCP registry allows."""
    line = " ".join(text.split())
    return line if len(line) <= REGISTRY_LENGTH else line[: REGISTRY_LENGTH - 3] + "..."


def _render_templates(
    config: Config,
    values: Mapping[str, object],
    left_out: Collection[str],
    own_folder: Path | None,
) -> dict[str, bytes]:
    root = templates_folder() / "server"
    known = {path.relative_to(root).as_posix() for path in root.rglob(f"*{SUFFIX}")}
    own = read_own_templates(own_folder, known) if own_folder else {}
    own = {f"server/{name}": text for name, text in own.items()}
    files = {}
    for template in sorted(known):
        name = template.removesuffix(SUFFIX)
        if name not in left_out:
            written = written_name(name, config.package, config.project.name)
            files[written] = render(f"server/{template}", values, own).encode()
    return files


def written_name(template: str, package: str, name: str) -> str:
    """Return the path in an export of what a template, named without its suffix, becomes."""
    if template == UNIT:
        return f"{name}.service"
    folder, slash, rest = template.partition("/")
    return f"{package}/{rest}" if slash and folder == PACKAGE_FOLDER else template


def _settings(config: Config, query_encoder: Provider, questions: bytes | None) -> bytes:
    features = choose_features(config, query_encoder)
    server = config.server.model_dump(mode="json")
    values: dict[str, object] = {
        "name": config.project.name,
        "title": config.title,
        "description": config.project.description,
        **{key: server[key] for each in features for key in each.settings},
        "limits": {
            name: getattr(config.server, key)
            for each in features
            for key, name in each.limits.items()
        },
    }
    if config.search.identifier_patterns:
        values["identifier_patterns"] = list(config.search.identifier_patterns)
    if questions is not None and Page.name in config.server.interfaces:
        asked = map(json.loads, questions.splitlines())
        values["examples"] = [question["query"] for question in islice(asked, EXAMPLES)]
    if query_encoder.kind != "none":
        values["semantic_weight"], values["keyword_weight"] = config.weights
    if query_encoder.kind == "service":
        values["embedding"] = {
            "base_url": config.embedding.base_url,
            "api_key_env": config.embedding.api_key_env,
            "dimensions": config.embedding.dimensions,
        }
    elif query_encoder.kind == "model":
        values["embedding"] = {"model": config.embedding.model}
    if not config.store.is_embedded:
        values["store"] = {
            "name": config.store.name,
            "exact": config.store.exact,
            "timeout_ms": config.store.timeout_ms,
        }
    for each in features:
        if own := each.own_settings():
            values[each.name] = own
    # Escaped to ASCII: an editor or a diff then shows bidirectional and other hidden characters.
    return json.dumps(values, indent=2, ensure_ascii=True).encode() + b"\n"


def _check_description(parsed: object, description: str) -> None:
    project = parsed.get("project", {}) if isinstance(parsed, dict) else {}
    if project.get("description") != description.encode("utf-8", "replace").decode():
        raise RenderError("pyproject.toml does not hold the description as it was given")


def place_steps(steps_of: Sequence[tuple[Feature, Step]]) -> dict[str, object]:
    """Return values for templates, from steps with the features that have them.

    `steps` are lines of Python by place, in the order given; `imports` what they need, by module
    that they go into: (module below the package, names); `explained` are the entries of the
    README's list, in the order of a search.
    """
    steps: dict[str, list[Snippet]] = {}
    imports: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    explained = []
    asked = "query"
    for place in Place:
        module, word = place.value
        here = [(each, step) for each, step in steps_of if step.place is place]
        steps[word] = []
        for each, step in here:
            steps[word].append(each.fill(step.code, asked=asked, **step.values))
            # What a search is asked for becomes what its first step leaves of that.
            asked = "plain" if place is Place.PARSE else asked
        imports.setdefault(module, []).extend(
            needed for _, step in here for needed in step.imports.items()
        )
        explained += [each.fill(step.readme, **step.values) for each, step in here if step.readme]
    return {"steps": steps, "imports": imports, "explained": explained}
