"""The plan of a server: every file of it but the index, as a pure function of the configuration."""

import ast
import hashlib
import json
from pathlib import Path

import foundry
from foundry.config import Config
from foundry.errors import RenderError
from foundry.rendering.environment import render, templates_folder
from foundry.rendering.formatting import format_python, parse_back

RUNTIME = Path(foundry.__file__).parent / "runtime"
SUFFIX = ".jinja"
PACKAGE_FOLDER = "package"

_TARGET_FILES = {"docker": {"Dockerfile", ".dockerignore"}}
"""Files that are rendered only for a target that was chosen."""


def plan_server(config: Config, questions: bytes | None) -> dict[str, bytes]:
    """Relative path -> content, sorted, for an exported project without its index.

    Rendered, formatted, checked and parsed back. Raises RenderError.
    """
    package = config.package
    files = _render_templates(config, has_questions=questions is not None)
    rendered = [name for name in files if name.endswith(".py")]
    files[f"{package}/settings.json"] = _settings(config)
    if questions is not None:
        files["tests/questions.jsonl"] = questions
    files.update(_copy_runtime(files, package, vectors=config.embedding_provider != "none"))
    files.update(format_python(files, rendered))
    for name, content in files.items():
        parsed = parse_back(name, content)
        if name == "pyproject.toml":
            _check_description(parsed, config.description)
    return dict(sorted(files.items()))


def plan_key(config: Config) -> str:
    """A hash over all that `plan_server` depends on, much faster than planning."""
    digest = hashlib.sha256(_settings(config))
    values = template_values(config, has_questions=False)
    digest.update(json.dumps(values, sort_keys=True).encode())
    for folder, pattern in ((templates_folder(), f"*{SUFFIX}"), (RUNTIME, "*.py")):
        for path in sorted(folder.rglob(pattern)):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def template_values(config: Config, *, has_questions: bool) -> dict[str, object]:
    """What templates may see."""
    return {
        "name": config.name,
        "package": config.package,
        "title": config.title,
        "description": config.description,
        "fusion": config.fusion,
        "vectors": config.embedding_provider != "none",
        "identifier_fallback": config.identifier_fallback,
        "semantic_weight": config.semantic_weight,
        "keyword_weight": config.keyword_weight,
        "port": config.port,
        "has_questions": has_questions,
        "targets": list(config.targets),
        "foundry_version": foundry.__version__,
    }


def _render_templates(config: Config, *, has_questions: bool) -> dict[str, bytes]:
    root = templates_folder() / "server"
    values = template_values(config, has_questions=has_questions)
    unwanted = {
        name
        for target, names in _TARGET_FILES.items()
        if target not in config.targets
        for name in names
    }
    files = {}
    for path in sorted(root.rglob(f"*{SUFFIX}")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[0] == PACKAGE_FOLDER:
            parts = (config.package, *parts[1:])
        name = "/".join(parts)
        if name not in unwanted:
            source = f"server/{path.relative_to(root).as_posix()}"
            files[name] = render(source, values).encode("utf-8")
    return files


def _settings(config: Config) -> bytes:
    values = {
        "name": config.name,
        "title": config.title,
        "description": config.description,
        "port": config.port,
        "allowed_hosts": list(config.allowed_hosts),
        "max_body_bytes": config.max_body_bytes,
        "semantic_weight": config.semantic_weight,
        "keyword_weight": config.keyword_weight,
        "identifier_patterns": list(config.identifier_patterns),
    }
    # Escaped to ASCII: an editor or a diff then shows bidirectional and other hidden characters.
    return json.dumps(values, indent=2, ensure_ascii=True).encode() + b"\n"


def _copy_runtime(files: dict[str, bytes], package: str, *, vectors: bool) -> dict[str, bytes]:
    """The runtime modules that the package's rendered modules reach by relative imports."""
    variants = {} if vectors else {"state": "state_keyword"}
    own = {Path(name).stem for name in files if name.startswith(package) and name.endswith(".py")}
    waiting = [
        module
        for name, content in files.items()
        if name.startswith(f"{package}/") and name.endswith(".py")
        for module in _relative_imports(content, name)
    ]
    copied: dict[str, bytes] = {}
    while waiting:
        module = waiting.pop()
        name = f"{package}/{module}.py"
        if module in own or name in copied:
            continue
        source = RUNTIME / f"{variants.get(module, module)}.py"
        try:
            copied[name] = source.read_bytes()
        except OSError as error:
            raise RenderError(f"runtime module {module} cannot be read: {error}") from None
        waiting += _relative_imports(copied[name], name)
    return copied


def _relative_imports(content: bytes, name: str) -> list[str]:
    tree = parse_back(name, content)
    assert isinstance(tree, ast.Module)
    modules = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            # `from . import x` may name a module or something that __init__ defines.
            modules += [node.module] if node.module else _modules_among(node.names)
    return modules


def _modules_among(names: list[ast.alias]) -> list[str]:
    return [alias.name for alias in names if (RUNTIME / f"{alias.name}.py").is_file()]


def _check_description(parsed: object, description: str) -> None:
    assert isinstance(parsed, dict)
    if parsed["project"]["description"] != description.encode("utf-8", "replace").decode():
        raise RenderError("pyproject.toml does not hold the description as it was given")
