"""From foundry.toml to `Config`: resolved, frozen, with absolute paths.

Every problem of a file is found and reported at once, each with its key path and what would be
allowed.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from foundry.config_file import (
    ChunkingSection,
    ConfigFile,
    EmbeddingSection,
    ExportSection,
    FolderSection,
    ProjectSection,
    RecordsSection,
    SearchSection,
    ServerSection,
)
from foundry.errors import ConfigError
from foundry.package_names import is_taken
from foundry.runtime.identifiers import compile_patterns
from foundry.runtime.tokens import LANGUAGES

CONFIG_NAME = "foundry.toml"
QUESTIONS_NAME = "questions.jsonl"

DEFAULT_WEIGHTS = {"linear": (0.7, 0.3), "rrf": (0.5, 0.5)}
"""Semantic and keyword weight by fusion. Ranks say less than scores, so RRF trusts both alike."""


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder of files, read recursively."""

    name: str
    path: Path
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    base_url: str | None
    tags: tuple[str, ...]
    modified_from_file: bool
    max_bytes: int


@dataclass(frozen=True, slots=True)
class RecordsSource:
    """A CSV or JSONL table, one document a row; the fields name columns."""

    name: str
    path: Path
    id: str
    title: str | None
    text: str
    url: str | None
    modified: str | None
    tags_column: str | None
    metadata: tuple[str, ...]
    text_format: Literal["text", "markdown", "html"]
    base_url: str | None
    tags: tuple[str, ...]


Source = FolderSource | RecordsSource


@dataclass(frozen=True, slots=True)
class ChunkingOptions:
    """How documents are split; sizes in characters."""

    strategy: Literal["headings", "recursive", "none"]
    max_chars: int
    overlap: int


@dataclass(frozen=True, slots=True)
class Config:
    """A project, fully resolved."""

    root: Path
    name: str
    title: str
    description: str
    language: str
    sources: tuple[Source, ...]
    chunking: ChunkingOptions
    embedding_provider: Literal["static", "none"]
    fusion: Literal["linear", "rrf"]
    semantic_weight: float
    keyword_weight: float
    identifier_fallback: bool
    identifier_patterns: tuple[str, ...]
    port: int
    allowed_hosts: tuple[str, ...]
    max_body_bytes: int
    package: str
    targets: tuple[Literal["docker"], ...]

    @property
    def state(self) -> Path:
        """The folder of everything that can be made again: index, preview server, cache."""
        return self.root / ".foundry"

    @property
    def default_export(self) -> Path:
        """Where the server goes unless told otherwise."""
        return self.root / "dist" / self.name


def load_config(project: Path) -> Config:
    """Read and resolve `project/foundry.toml`.

    Raises ConfigError, with every problem of the file, when it cannot be used.
    """
    file = project / CONFIG_NAME
    try:
        written = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(
            str(file), ["no such file"], hint=f"create one: foundry init {project} --source PATH"
        ) from None
    except OSError as error:
        raise ConfigError(str(file), [f"cannot be read: {error.strerror}"]) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(str(file), [str(error)], hint="mend the file's TOML syntax") from None
    try:
        parsed = ConfigFile.model_validate(written)
    except ValidationError as error:
        problems = [_describe(detail) for detail in error.errors()]
        raise ConfigError(str(file), problems) from None
    problems = _find_contradictions(parsed, project)
    if problems:
        raise ConfigError(str(file), problems)
    return _resolve(parsed, project)


def _describe(detail: ErrorDetails) -> str:
    parts = detail["loc"]
    # The type of a source, which follows its number, is not a key of its own.
    parts = parts[:2] + parts[3:] if parts[0] == "sources" else parts
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    key = key.lstrip(".")
    kind, message = detail["type"], detail["msg"]
    if kind == "extra_forbidden":
        message = f"unknown key; known here: {', '.join(_known_keys(detail['loc']))}"
    elif kind == "missing":
        message = "required, but missing"
    elif kind in {"union_tag_not_found", "union_tag_invalid"}:
        key, message = f"{key}.type", "must be 'folder' or 'records'"
    elif "input" in detail and not isinstance(detail["input"], (dict, list)):
        message = f"{message[0].lower()}{message[1:]}, got {detail['input']!r}"
    return f"{key}: {message}"


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    sections: dict[str, type[BaseModel]] = {
        "project": ProjectSection,
        "folder": FolderSection,
        "records": RecordsSection,
        "chunking": ChunkingSection,
        "embedding": EmbeddingSection,
        "search": SearchSection,
        "server": ServerSection,
        "export": ExportSection,
    }
    for part in reversed(location[:-1]):
        if isinstance(part, str) and part in sections:
            return list(sections[part].model_fields)
    return list(ConfigFile.model_fields)


def _find_contradictions(parsed: ConfigFile, project: Path) -> list[str]:
    problems = []
    if parsed.project.language not in LANGUAGES:
        problems.append(
            f"project.language: must be one of {', '.join(sorted(LANGUAGES))},"
            f" got {parsed.project.language!r}"
        )
    if parsed.chunking.overlap >= parsed.chunking.max_chars:
        problems.append(
            f"chunking.overlap: must be smaller than chunking.max_chars"
            f" ({parsed.chunking.max_chars}), got {parsed.chunking.overlap}"
        )
    if sum(_weights(parsed.search)) == 0:
        problems.append("search: semantic_weight and keyword_weight must not both be 0")
    for number, pattern in enumerate(parsed.search.identifier_patterns):
        try:
            compile_patterns([pattern])
        except ValueError as error:
            problems.append(f"search.identifier_patterns[{number}]: {error}")
    package = parsed.export.package or parsed.project.name.replace("-", "_")
    if is_taken(package):
        where = "export.package" if parsed.export.package else "project.name"
        problems.append(
            f"{where}: {package!r} is the name of a Python module or keyword;"
            " set export.package to another name"
        )
    names = _source_names(parsed)
    problems += [
        f"sources[{number}].name: {name!r} is taken by another source; give each its own name"
        for number, name in enumerate(names)
        if name in names[:number]
    ]
    for number, source in enumerate(parsed.sources):
        path = project / source.path
        if isinstance(source, FolderSection) and not path.is_dir():
            problems.append(f"sources[{number}].path: no such folder: {path}")
        if isinstance(source, RecordsSection) and not path.is_file():
            problems.append(f"sources[{number}].path: no such file: {path}")
        if isinstance(source, RecordsSection) and path.suffix not in {".csv", ".jsonl"}:
            problems.append(f"sources[{number}].path: must end in .csv or .jsonl, got {path.name}")
    return problems


def _weights(search: SearchSection) -> tuple[float, float]:
    semantic, keyword = DEFAULT_WEIGHTS[search.fusion]
    return (
        semantic if search.semantic_weight is None else search.semantic_weight,
        keyword if search.keyword_weight is None else search.keyword_weight,
    )


def _source_names(parsed: ConfigFile) -> list[str]:
    names = []
    for source in parsed.sources:
        stem = Path(source.path).resolve().stem if source.path in {".", ".."} else source.path
        slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in Path(stem).stem.lower())
        slug = "-".join(part for part in slug.split("-") if part)
        names.append(source.name or slug[:63] or "source")
    return names


def _resolve(parsed: ConfigFile, project: Path) -> Config:
    root = project.resolve()
    semantic_weight, keyword_weight = _weights(parsed.search)
    sources = tuple(
        _resolve_source(source, name, root, parsed.project.name)
        for source, name in zip(parsed.sources, _source_names(parsed), strict=True)
    )
    return Config(
        root=root,
        name=parsed.project.name,
        title=parsed.project.title or parsed.project.name,
        description=parsed.project.description,
        language=parsed.project.language,
        sources=sources,
        chunking=ChunkingOptions(
            strategy=parsed.chunking.strategy,
            max_chars=parsed.chunking.max_chars,
            overlap=parsed.chunking.overlap,
        ),
        embedding_provider=parsed.embedding.provider,
        fusion=parsed.search.fusion,
        semantic_weight=semantic_weight,
        keyword_weight=keyword_weight,
        identifier_fallback=parsed.search.identifier_fallback,
        identifier_patterns=tuple(parsed.search.identifier_patterns),
        port=parsed.server.port,
        allowed_hosts=tuple(parsed.server.allowed_hosts),
        max_body_bytes=parsed.server.max_body_bytes,
        package=parsed.export.package or parsed.project.name.replace("-", "_"),
        targets=tuple(dict.fromkeys(parsed.export.targets)),
    )


def _resolve_source(
    source: FolderSection | RecordsSection, name: str, root: Path, project_name: str
) -> Source:
    values: dict[str, Any] = source.model_dump(exclude={"type", "name", "path"})
    values = {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
    path = (root / source.path).resolve()
    if isinstance(source, FolderSection):
        values["modified_from_file"] = values.pop("modified") == "file"
        values["exclude"] += _own_files(path, root, project_name)
        return FolderSource(name=name, path=path, **values)
    return RecordsSource(name=name, path=path, **values)


def _own_files(path: Path, root: Path, project_name: str) -> tuple[str, ...]:
    """Patterns for the project's own files where a source holds them: they are no documents."""
    if path != root and path not in root.parents:
        return ()
    parts = (re.sub(r"([^\w.-])", r"\\\1", part) for part in root.relative_to(path).parts)
    prefix = "/" + "".join(f"{part}/" for part in parts)
    return tuple(prefix + name for name in (CONFIG_NAME, QUESTIONS_NAME, f"dist/{project_name}/"))
