"""From foundry.toml to `Config`: resolved, frozen, with absolute paths.

Every problem of a file is found and reported at once, each with its key path and what would be
allowed.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from foundry import config_embedding, config_sources, config_targets
from foundry.config_embedding import EmbeddingOptions
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
    Target,
)
from foundry.config_sources import CONFIG_NAME, Source
from foundry.errors import ConfigError
from foundry.package_names import is_taken
from foundry.runtime.identifiers import compile_patterns
from foundry.runtime.settings import Limits
from foundry.runtime.tokens import LANGUAGES

DEFAULT_WEIGHTS = {"linear": (0.7, 0.3), "rrf": (0.5, 0.5)}
"""Semantic and keyword weight by fusion. Ranks say less than scores, so RRF trusts both alike."""


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
    embedding: EmbeddingOptions
    fusion: Literal["linear", "rrf"]
    semantic_weight: float
    keyword_weight: float
    identifier_fallback: bool
    identifier_patterns: tuple[str, ...]
    port: int
    allowed_hosts: tuple[str, ...]
    max_body_bytes: int
    limits: Limits
    mcp: bool
    chat: bool
    chat_instructions: str
    page: bool
    package: str
    targets: tuple[Target, ...]

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
    problems = config_embedding.find_problems(parsed.embedding)
    problems += config_targets.find_problems(parsed.export.targets, parsed.project.name)
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
    problems += config_sources.find_problems(parsed.sources, project)
    return problems


def _weights(search: SearchSection) -> tuple[float, float]:
    semantic, keyword = DEFAULT_WEIGHTS[search.fusion]
    return (
        semantic if search.semantic_weight is None else search.semantic_weight,
        keyword if search.keyword_weight is None else search.keyword_weight,
    )


def _resolve(parsed: ConfigFile, project: Path) -> Config:
    root = project.resolve()
    semantic_weight, keyword_weight = _weights(parsed.search)
    return Config(
        root=root,
        name=parsed.project.name,
        title=parsed.project.title or parsed.project.name,
        description=parsed.project.description,
        language=parsed.project.language,
        sources=config_sources.resolve(parsed.sources, root, parsed.project.name),
        chunking=ChunkingOptions(
            strategy=parsed.chunking.strategy,
            max_chars=parsed.chunking.max_chars,
            overlap=parsed.chunking.overlap,
        ),
        embedding=config_embedding.resolve(parsed.embedding),
        fusion=parsed.search.fusion,
        semantic_weight=semantic_weight,
        keyword_weight=keyword_weight,
        identifier_fallback=parsed.search.identifier_fallback,
        identifier_patterns=tuple(parsed.search.identifier_patterns),
        port=parsed.server.port,
        allowed_hosts=tuple(parsed.server.allowed_hosts),
        max_body_bytes=parsed.server.max_body_bytes,
        limits=Limits(
            connections=parsed.server.max_connections,
            searches=parsed.server.concurrent_searches,
            chats=parsed.server.concurrent_chats,
            mcp_calls=parsed.server.concurrent_mcp_calls,
            requests_per_minute=parsed.server.requests_per_minute,
            chat_requests_per_minute=parsed.server.chat_requests_per_minute,
        ),
        mcp=parsed.server.mcp,
        chat=parsed.server.chat,
        chat_instructions=parsed.server.chat_instructions,
        page=parsed.server.page,
        package=parsed.export.package or parsed.project.name.replace("-", "_"),
        targets=config_targets.resolve(parsed.export.targets),
    )
