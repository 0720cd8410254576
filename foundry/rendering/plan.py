"""Plans a server: all of its files except the index, as a pure function of its design."""

import hashlib
import json
from collections.abc import Collection, Mapping
from functools import cache
from itertools import islice
from pathlib import Path

from foundry.errors import RenderError
from foundry.features.contributions import files_left_out
from foundry.features.interfaces import Mcp, Page, pages_of
from foundry.files import templates_folder
from foundry.rendering.copying import (
    PAGE_FOLDER,
    RUNTIME,
    copy_pages,
    copy_runtime,
    copy_tests,
    is_formatted,
)
from foundry.rendering.design import Design
from foundry.rendering.environment import SUFFIX, read_own_templates, render
from foundry.rendering.formatting import format_python, parse_back
from foundry.rendering.template_values import template_values

PACKAGE_FOLDER = "package"
TESTS = "tests/"

EXAMPLES = 4
"""Number of questions suggested on the search page."""

UNIT = "name.service"
"""The template of the systemd unit, which is named after the server."""


def plan_server(
    design: Design,
    questions: bytes | None,
    templates: Path | None = None,
    *,
    with_tests: bool = True,
) -> dict[str, bytes]:
    """Return the files of an exported project without its index: sorted paths -> contents.

    `templates` is the folder of the project's own templates, which are run: see
    `read_own_templates`. Files are rendered, formatted, checked and parsed back. Tests take most of
    that time, so a server that is only run has none. Raises RenderError.
    """
    config, package = design.config, design.config.package
    values = template_values(design, has_questions=questions is not None)
    left_out = files_left_out(design.features)
    files = _render_templates(values, package, config.project.name, left_out, templates)
    if not with_tests:
        files = {name: text for name, text in files.items() if not name.startswith(TESTS)}
    rendered = [name for name in files if name.endswith(".py")]
    files[f"{package}/settings.json"] = _settings(design, questions)
    if Mcp.name in config.server.interfaces:
        files[f"{package}/mcp/tools.json"] = _tools()
    if questions is not None:
        files[f"{package}/questions.jsonl"] = questions
    runtime = copy_runtime(files, package)
    files.update(runtime)
    files.update(copy_pages(pages_of(config.server.interfaces), package, left_out))
    tests = copy_tests(files, package) if with_tests else {}
    files.update(tests)
    copied = [name for name, content in tests.items() if is_formatted(content, package)]
    rendered += sorted(tests.keys() - set(copied))
    files.update(format_python(files, rendered, copied))
    for name, content in files.items():
        if name in runtime or name in copied:
            # Runtime modules were parsed to find their imports, and copied tests by ruff.
            continue
        parsed = parse_back(name, content)
        if name == "pyproject.toml":
            _check_description(parsed, config.project.description)
    return dict(sorted(files.items()))


def plan_key(design: Design) -> str:
    """Return a hash of everything that `plan_server` depends on, without planning the server.

    The server must have no questions, and no templates of the project.
    """
    digest = hashlib.sha256(_settings(design, None))
    values = template_values(design, has_questions=False)
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


def _render_templates(
    values: Mapping[str, object],
    package: str,
    name: str,
    left_out: Collection[str],
    own_folder: Path | None,
) -> dict[str, bytes]:
    root = templates_folder() / "server"
    known = {path.relative_to(root).as_posix() for path in root.rglob(f"*{SUFFIX}")}
    own = read_own_templates(own_folder, known) if own_folder else {}
    own = {f"server/{name}": text for name, text in own.items()}
    files = {}
    for template in sorted(known):
        file = template.removesuffix(SUFFIX)
        if file not in left_out:
            text = render(f"server/{template}", values, own)
            files[written_name(file, package, name)] = text.encode()
    return files


def written_name(template: str, package: str, name: str) -> str:
    """Return a template's path in an export; `template` is its path without the suffix."""
    if template == UNIT:
        return f"{name}.service"
    folder, slash, rest = template.partition("/")
    return f"{package}/{rest}" if slash and folder == PACKAGE_FOLDER else template


def _settings(design: Design, questions: bytes | None) -> bytes:
    config, query_encoder, features = design.config, design.query_encoder, design.features
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
    return _to_json(values)


@cache
def _tools() -> bytes:
    # Imported when needed, since `plan_key` must be fast.
    from foundry.runtime.mcp.descriptions import describe_tools, hash_tools

    return _to_json({"made_from": hash_tools(), "tools": describe_tools()})


def _to_json(values: object) -> bytes:
    # The file is in ASCII, so that editors and diffs show bidirectional and other hidden
    # characters.
    return json.dumps(values, indent=2, ensure_ascii=True).encode() + b"\n"


def _check_description(parsed: object, description: str) -> None:
    project = parsed.get("project", {}) if isinstance(parsed, dict) else {}
    if project.get("description") != description.encode("utf-8", "replace").decode():
        raise RenderError("pyproject.toml does not contain the description as given")
