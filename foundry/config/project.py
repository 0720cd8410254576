"""From foundry.toml to `Config`: resolved, frozen, with absolute paths.

Every problem of a file is found and reported at once, each with its key path and what would be
allowed.
"""

import re
import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from foundry.config import pinned as config_pinned
from foundry.config import search as config_search
from foundry.config import sources as config_sources
from foundry.config.file import ConfigFile
from foundry.config.package_names import is_taken
from foundry.config.search import IndexOptions
from foundry.config.sources import CONFIG_NAME, SOURCES
from foundry.config.synonyms import Group, read_synonyms
from foundry.errors import ConfigError
from foundry.features import access, search_box
from foundry.features.operation import Filters
from foundry.features.stage import Stage
from foundry.features.stages.reading import Correction, Expansion, Suggestions, Synonyms
from foundry.features.stages.results import Parents, Pinned, Versions
from foundry.features.stores import STORES, WHERE_ADDRESSES_ARE
from foundry.state.folder import open_state

LANGUAGES = frozenset(
    "arabic armenian basque catalan czech danish dutch english esperanto estonian finnish french"
    " german greek hindi hungarian indonesian irish italian lithuanian nepali norwegian persian"
    " polish portuguese romanian russian serbian spanish swedish tamil turkish yiddish none".split()
)
"""Those with a Snowball stemmer, and `none` for no stemming and no stop words."""


class Config(ConfigFile):
    """A project: its foundry.toml, with what was left out filled in and with absolute paths."""

    # Made of what was validated already, so that no validator is needed.
    model_config = ConfigDict(defer_build=True)

    root: Path
    synonyms: tuple[Group, ...] = ()

    @property
    def stages(self) -> dict[str, Stage]:
        """The optional stages of a search that were chosen, by name, in their order."""
        parents = {Parents.name: Parents()} if self.chunking.strategy == "parent" else {}
        return {**self.search.stages, **parents}

    @property
    def versions(self) -> tuple[str, ...]:
        """The folders of versions, newest first, if the table for them is there."""
        stage = self.search.stages.get(Versions.name)
        return stage.paths if isinstance(stage, Versions) else ()

    @property
    def index(self) -> IndexOptions:
        """The options of [search] that the index is built with."""
        expansion, correction, synonyms, suggestions, pinned = (
            self.search.stages.get(each.name)
            for each in (Expansion, Correction, Synonyms, Suggestions, Pinned)
        )
        return IndexOptions(
            fields=self.search.fields.flatten(),
            filterable=config_search.filterable_columns(self.search, self.sources),
            expansion_words=expansion.vocabulary if isinstance(expansion, Expansion) else 0,
            correction_words=correction.words if isinstance(correction, Correction) else 0,
            synonyms=self.synonyms if isinstance(synonyms, Synonyms) else None,
            acronyms=isinstance(synonyms, Synonyms) and synonyms.acronyms,
            suggested_words=suggestions.words if isinstance(suggestions, Suggestions) else 0,
            pinned=pinned.answers if isinstance(pinned, Pinned) else (),
            keeps_counts=not self.store.is_embedded,
            mean_in_steps=STORES[self.store.engine].mean_in_steps,
            own_statistics=self.has_own_statistics,
        )

    @property
    def has_own_statistics(self) -> bool:
        """Whether a caller's scores reveal nothing about documents that only others see."""
        server = self.server
        return isinstance(server, access.AccessKeys) and server.has_own_statistics

    @property
    def weights(self) -> tuple[float, float]:
        """The weights of the semantic and of the keyword lane."""
        return config_search.resolve_weights(self.search)

    @property
    def package(self) -> str:
        """The name of the server's Python package."""
        return self.export.package or self.project.name.replace("-", "_")

    @property
    def title(self) -> str:
        """The title that people see."""
        return self.project.title or self.project.name

    @property
    def templates(self) -> Path | None:
        """The folder of the project's own templates, if it has any."""
        return self.root / self.export.templates if self.export.templates else None

    @cached_property
    def state(self) -> Path:
        """The folder of everything that can be made again: index, preview server, cache.

        Raises ForeignStateError unless this installation wrote it.
        """
        return open_state(self.root)

    @property
    def default_export(self) -> Path:
        """The folder of an export, by default."""
        return self.root / "dist" / self.project.name

    @property
    def build_command(self) -> str:
        """The shell command that builds this project."""
        return f"foundry build {quote(str(self.root))}"


def load_config(project: Path) -> Config:
    """Read and resolve `project/foundry.toml`.

    Raises ConfigError, with every problem of the file, when it cannot be used.
    """
    file = project / CONFIG_NAME
    try:
        written = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        hint = f"create one: foundry init {quote(str(project))} --source PATH"
        raise ConfigError(str(file), ["no such file"], hint=hint) from None
    except OSError as error:
        raise ConfigError(str(file), [f"cannot be read: {error.strerror}"]) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(str(file), [str(error)], hint="mend the file's TOML syntax") from None
    try:
        parsed = ConfigFile.model_validate(written)
    except ValidationError as error:
        raise ConfigError(str(file), describe(error.errors())) from None
    problems = _find_contradictions(parsed, project)
    if problems:
        raise ConfigError(str(file), problems)
    return _resolve(parsed, project)


def _find_contradictions(parsed: ConfigFile, project: Path) -> list[str]:
    problems = parsed.embedding.find_problems()
    problems += parsed.export.find_problems(
        parsed.project.name, project, has_tokens=parsed.server.has_tokens
    )
    if parsed.project.language not in LANGUAGES:
        problems.append(
            f"project.language: there is no stemmer for {parsed.project.language!r};"
            f" write 'none' to do without, or one of {', '.join(sorted(LANGUAGES - {'none'}))}"
        )
    problems += parsed.chunking.find_problems()
    has_vectors = parsed.embedding.provider != "none"
    problems += config_search.find_problems(
        parsed.search,
        parsed.sources,
        has_vectors=has_vectors,
        has_filters=Filters.name in parsed.server.interfaces,
    )
    problems += parsed.store.find_problems(has_vectors=has_vectors)
    problems += parsed.server.find_problems()
    if isinstance(parsed.server, search_box.SearchBoxKeys) and parsed.server.search_box:
        problems += search_box.find_problems(parsed.server.allowed_origins)
    if isinstance(parsed.server, access.AccessKeys) and parsed.server.access:
        problems += access.find_problems(
            parsed.server.access_rules,
            columns=config_search.filterable_columns(parsed.search, parsed.sources),
            stages=parsed.search.stages.values(),
            keeps_duplicates=parsed.build.duplicates == "keep",
            is_embedded=parsed.store.is_embedded,
        )
        if parsed.server.has_own_statistics:
            problems += access.find_statistics_problems(
                keeps_boilerplate=parsed.build.boilerplate == "keep",
                provider=parsed.embedding.provider,
            )
    package = parsed.export.package or parsed.project.name.replace("-", "_")
    if is_taken(package):
        where = "export.package" if parsed.export.package else "project.name"
        problems.append(
            f"{where}: {package!r} is the name of a Python module or keyword, or of what a server"
            " depends on; set export.package to another name"
        )
    problems += config_sources.find_problems(parsed.sources, project, parsed.project.language)
    if parsed.project.language in LANGUAGES:
        problems += _read_synonyms(parsed, project)[1]
        pinned = parsed.search.stages.get(Pinned.name)
        if isinstance(pinned, Pinned):
            problems += config_pinned.find_problems(pinned.answers, parsed.project.language)
    return problems


def _read_synonyms(parsed: ConfigFile, project: Path) -> tuple[tuple[Group, ...], list[str]]:
    """Return the groups of the file of synonyms, and what is wrong with it."""
    stage = parsed.search.stages.get(Synonyms.name)
    if not isinstance(stage, Synonyms) or not stage.file:
        return (), []
    return read_synonyms(project / stage.file, parsed.project.language)


def _resolve(parsed: ConfigFile, project: Path) -> Config:
    root = project.resolve()
    resolved = {
        "root": root,
        "sources": config_sources.resolve(parsed.sources, root, parsed.project.name),
        "embedding": parsed.embedding.resolve(),
        "store": parsed.store.named_after(parsed.project.name),
        "export": parsed.export.resolve(has_tokens=parsed.server.has_tokens),
        "synonyms": _read_synonyms(parsed, project)[0],
    }
    return Config.model_construct(**{**dict(parsed), **resolved})


def describe(details: Sequence[ErrorDetails]) -> list[str]:
    """Return the key path of each problem, and what is wrong with its value."""
    places = [detail["loc"] for detail in details]
    return [
        _describe(detail)
        for detail in details
        # A list is too short as well where all that is in it is wrong.
        if detail["type"] != "too_short"
        or not any(place[: len(detail["loc"])] == detail["loc"] != place for place in places)
    ]


def _describe(detail: ErrorDetails) -> str:
    parts = detail["loc"]
    # The type of a source, which follows its number, is not a key of its own.
    parts = parts[:2] + parts[3:] if parts[0] == "sources" else parts
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    key = key.lstrip(".")
    # What TOML calls an array, and people a list, is a tuple once it is read.
    kind, message = detail["type"], re.sub("(?i)tuple", "list", detail["msg"])
    if kind == "extra_forbidden":
        known = _known_keys(detail["loc"])
        near = get_close_matches(str(parts[-1]), known, n=1)
        meant = f"did you mean {near[0]!r}? Known" if near else "known"
        message = f"unknown key; {meant} here: {', '.join(known)}"
        if parts[0] == "store":
            message += f"; {WHERE_ADDRESSES_ARE}"
        elif parts[-1] == "allow_private":
            message = "a project may not allow this; pass --allow-private HOST to the command"
    elif kind == "missing":
        message = "required, but missing"
    elif kind in {"union_tag_not_found", "union_tag_invalid"}:
        key, message = f"{key}.type", f"must be one of {', '.join(map(repr, SOURCES))}"
    elif kind == "value_error":
        # Its own words, which quote of the value what may be shown.
        message = str(detail["ctx"]["error"])
    elif parts[0] == "store" and "://" in str(detail["input"]):
        # Not quoted: it may hold a password.
        message = f"must be a name; {WHERE_ADDRESSES_ARE}"
    elif "input" in detail and not isinstance(detail["input"], (dict, list)):
        text = repr(detail["input"])
        text = text if len(text) <= 200 else f"{text[:200]}..."
        message = f"{message[0].lower()}{message[1:]}, got {text}"
    return f"{key}: {message}"


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys of the table that holds what is at a location."""
    table: type[BaseModel] = ConfigFile
    for part in location[:-1]:
        if part in SOURCES:
            table = SOURCES[str(part)]
        elif field := table.model_fields.get(str(part)):
            table = _find_table(field.annotation) or table
    return list(table.model_fields)


def _find_table(annotation: Any) -> type[BaseModel] | None:
    """Return the table that a field holds, perhaps in a list or as an alternative to None."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_find_table, get_args(annotation))), None)
