"""The plan of a server: every file of it but the index, as a pure function of the configuration."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import foundry
from foundry.config import Config
from foundry.config_file import Target
from foundry.errors import RenderError
from foundry.features.stages import STAGES
from foundry.files import templates_folder
from foundry.rendering.copying import ASSETS_FOLDER, RUNTIME, copy_runtime
from foundry.rendering.environment import render
from foundry.rendering.formatting import format_python, parse_back
from foundry.rendering.own_templates import SUFFIX, read_own_templates
from foundry.rendering.query_encoder import QueryEncoder
from foundry.rendering.steps import place_steps

PACKAGE_FOLDER = "package"
REGISTRY_LENGTH = 100

UNIT = "name.service"
"""The unit's template; the unit itself is called after the server."""

_TARGET_FILES: dict[Target, set[str]] = {
    "docker": {"Dockerfile", ".dockerignore"},
    "compose": {"compose.yaml"},
    "kubernetes": {"kubernetes.yaml"},
    "fly": {"fly.toml"},
    "render": {"render.yaml"},
    "railway": {"railway.json"},
    "cloud-run": {"cloud-run.yaml"},
    "systemd": {UNIT},
    "procfile": {"Procfile"},
}
"""Files that are rendered only for a target that was chosen."""

_CHAT_FILES = {"tests/test_chat.py"}
_MCP_FILES = {"server.json", "tests/test_mcp.py"}
_PAGE_FILES = {"tests/test_page.py"}


def plan_server(
    config: Config,
    query_encoder: QueryEncoder,
    questions: bytes | None,
    templates: Path | None = None,
) -> dict[str, bytes]:
    """Relative path -> content, sorted, for an exported project without its index.

    `query_encoder` is what the index needs; see `choose_query_encoder`. `templates` is a folder of
    the project's own, which run: see `own_templates`. Rendered, formatted, checked and parsed back.
    Raises RenderError.
    """
    package = config.package
    values = template_values(config, query_encoder, has_questions=questions is not None)
    files = _render_templates(config, values, templates)
    rendered = [name for name in files if name.endswith(".py")]
    files[f"{package}/settings.json"] = _settings(config, query_encoder)
    if questions is not None:
        files[f"{package}/questions.jsonl"] = questions
    files.update(copy_runtime(files, package))
    files.update(format_python(files, rendered))
    for name, content in files.items():
        parsed = parse_back(name, content)
        if name == "pyproject.toml":
            _check_description(parsed, config.description)
    return dict(sorted(files.items()))


def plan_key(config: Config, query_encoder: QueryEncoder) -> str:
    """A hash over all that `plan_server` depends on, much faster than planning."""
    digest = hashlib.sha256(_settings(config, query_encoder))
    values = template_values(config, query_encoder, has_questions=False)
    digest.update(json.dumps(values, sort_keys=True, default=repr).encode())
    templates = templates_folder().rglob(f"*{SUFFIX}")
    for paths in (templates, RUNTIME.rglob("*.py"), (RUNTIME / ASSETS_FOLDER).iterdir()):
        for path in sorted(paths):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def template_values(
    config: Config, query_encoder: QueryEncoder, *, has_questions: bool
) -> dict[str, object]:
    """What templates may see."""
    language = config.language
    return {
        "name": config.name,
        "package": config.package,
        "title": config.title,
        "description": config.description,
        "fusion": config.fusion,
        "vectors": query_encoder.kind != "none",
        "query_encoder": query_encoder.name,
        "query_encoder_kind": query_encoder.kind,
        "query_encoder_module": query_encoder.name.replace("-", "_"),
        "api_key_env": config.embedding.api_key_env,
        "store": config.store.engine,
        "store_exact": config.store.exact,
        "identifier_fallback": config.identifier_fallback,
        "stages": {name: config.stages.get(name) for name in (*STAGES, "parents")},
        **place_steps(config.stages.values()),
        "filterable": list(config.index.filterable),
        "searches_wait": query_encoder.kind in {"model", "service"}
        or not config.store.is_embedded
        or any(stage.waits for stage in config.stages.values()),
        "semantic_weight": config.semantic_weight,
        "keyword_weight": config.keyword_weight,
        "k": config.k,
        "port": config.port,
        "mcp": config.mcp,
        "chat": config.chat,
        "chat_words": language if (RUNTIME / f"chat/words_{language}.py").is_file() else None,
        "page": config.page,
        "short_title": _shorten(config.title),
        "summary": _shorten(config.description or f"Search {config.title}"),
        "has_questions": has_questions,
        "targets": list(config.targets),
        "foundry_version": foundry.__version__,
    }


def _shorten(text: str) -> str:
    """The beginning of a text on one line, as long as the MCP registry allows."""
    line = " ".join(text.split())
    return line if len(line) <= REGISTRY_LENGTH else line[: REGISTRY_LENGTH - 3] + "..."


def _render_templates(
    config: Config, values: Mapping[str, object], own_folder: Path | None
) -> dict[str, bytes]:
    root = templates_folder() / "server"
    known = {path.relative_to(root).as_posix() for path in root.rglob(f"*{SUFFIX}")}
    own = read_own_templates(own_folder, known) if own_folder else {}
    own = {f"server/{name}": text for name, text in own.items()}
    unwanted = {
        name
        for target, names in _TARGET_FILES.items()
        if target not in config.targets
        for name in names
    }
    if not config.chat:
        unwanted |= _CHAT_FILES
    if not config.mcp:
        unwanted |= _MCP_FILES
    if not config.page:
        unwanted |= _PAGE_FILES
    files = {}
    for path in sorted(root.rglob(f"*{SUFFIX}")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[0] == PACKAGE_FOLDER:
            parts = (config.package, *parts[1:])
        name = "/".join(parts)
        if name not in unwanted:
            source = f"server/{path.relative_to(root).as_posix()}"
            written = f"{config.name}.service" if name == UNIT else name
            files[written] = render(source, values, own).encode("utf-8")
    return files


def _settings(config: Config, query_encoder: QueryEncoder) -> bytes:
    values: dict[str, object] = {
        "name": config.name,
        "title": config.title,
        "description": config.description,
        "port": config.port,
        "allowed_hosts": list(config.allowed_hosts),
        "max_body_bytes": config.max_body_bytes,
        "limits": {
            name: limit for name, limit in asdict(config.limits).items() if limit is not None
        },
        "identifier_patterns": list(config.identifier_patterns),
    }
    if config.chat:
        values["chat_instructions"] = config.chat_instructions
    if query_encoder.kind != "none":
        values["semantic_weight"] = config.semantic_weight
        values["keyword_weight"] = config.keyword_weight
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
    for name, stage in config.stages.items():
        if own := stage.settings():
            values[name] = own
    # Escaped to ASCII: an editor or a diff then shows bidirectional and other hidden characters.
    return json.dumps(values, indent=2, ensure_ascii=True).encode() + b"\n"


def _check_description(parsed: object, description: str) -> None:
    project = parsed.get("project", {}) if isinstance(parsed, dict) else {}
    if project.get("description") != description.encode("utf-8", "replace").decode():
        raise RenderError("pyproject.toml does not hold the description as it was given")
