"""Turns foundry.toml into `Config`: resolved and frozen, with absolute paths.

All problems of a file are reported at once, each with its key path and the allowed values.
"""

import tomllib
from functools import cached_property
from pathlib import Path
from shlex import quote

from pydantic import ConfigDict, ValidationError

from foundry.config import search as config_search
from foundry.config import sources as config_sources
from foundry.config.describing import describe
from foundry.config.file import ConfigFile
from foundry.config.named_files import CONFIG_BYTES, NamedFileError, read_named_text
from foundry.config.package_names import is_taken
from foundry.config.search import IndexOptions
from foundry.config.synonyms import Group, read_synonyms
from foundry.errors import ConfigError
from foundry.features import access, search_box
from foundry.features.stage import Stage
from foundry.features.stages.reading import Correction, Expansion, Suggestions, Synonyms
from foundry.features.stages.results import Parents, Pinned, Versions
from foundry.features.stores import STORES
from foundry.files import CONFIG_NAME
from foundry.state.folder import open_state

LANGUAGES = frozenset(
    "arabic armenian basque catalan czech danish dutch english esperanto estonian finnish french"
    " german greek hindi hungarian indonesian irish italian lithuanian nepali norwegian persian"
    " polish portuguese romanian russian serbian spanish swedish tamil turkish yiddish none".split()
)
"""Languages with a Snowball stemmer; `none` for no stemming and no stop words."""


class Config(ConfigFile):
    """A project's configuration, with defaults filled in and absolute paths."""

    # Validators are not needed, since instances are made from validated values.
    model_config = ConfigDict(defer_build=True)

    root: Path
    synonyms: tuple[Group, ...] = ()

    @property
    def stages(self) -> dict[str, Stage]:
        """The chosen optional stages, by name, in order."""
        parents = {Parents.name: Parents()} if self.chunking.strategy == "parent" else {}
        return {**self.search.stages, **parents}

    @property
    def versions(self) -> tuple[str, ...]:
        """The folders of versions, newest first, if configured."""
        stage = self.search.stages.get(Versions.name)
        return stage.paths if isinstance(stage, Versions) else ()

    @property
    def index(self) -> IndexOptions:
        """The options, most of them in [search], that the index is built with."""
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
        """Whether scores are computed only from documents that the caller may see."""
        server = self.server
        return isinstance(server, access.AccessKeys) and server.has_own_statistics

    @property
    def weights(self) -> tuple[float, float]:
        """The weights of the semantic and the keyword lane."""
        return config_search.resolve_weights(self.search)

    @property
    def package(self) -> str:
        """The name of the server's Python package."""
        return self.export.package or self.project.name.replace("-", "_")

    @property
    def title(self) -> str:
        """The title shown to people."""
        return self.project.title or self.project.name

    @property
    def templates(self) -> Path | None:
        """The folder of the project's own templates, if any."""
        return self.root / self.export.templates if self.export.templates else None

    @property
    def names_files(self) -> bool:
        """Whether the configuration names files that affect how a server answers."""
        return "synonyms" in self.search.stages or self.templates is not None

    @cached_property
    def state(self) -> Path:
        """The folder of everything that can be rebuilt: index, preview server, cache.

        Raises ForeignStateError for a state that this installation did not write.
        """
        return open_state(self.root)

    @property
    def default_export(self) -> Path:
        """The default folder of an export."""
        return self.root / "dist" / self.project.name

    @property
    def build_command(self) -> str:
        """The shell command that builds this project."""
        return f"foundry build {quote(str(self.root))}"


def load_config(project: Path) -> Config:
    """Read and resolve `project/foundry.toml`.

    Raises ConfigError with every problem of the file.
    """
    file = project / CONFIG_NAME
    try:
        written = tomllib.loads(read_named_text(file, CONFIG_BYTES, inside=project))
    except NamedFileError as error:
        if not error.is_missing:
            raise ConfigError(str(file), [error.reason]) from None
        hint = f"create one: foundry init {quote(str(project))} --source PATH"
        raise ConfigError(str(file), ["no such file"], hint=hint) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(str(file), [str(error)], hint="fix the file's TOML syntax") from None
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
            f"project.language: there is no stemmer for {parsed.project.language!r}; write 'none',"
            f" or one of {', '.join(sorted(LANGUAGES - {'none'}))}"
        )
    problems += parsed.chunking.find_problems()
    has_vectors = parsed.embedding.provider != "none"
    problems += config_search.find_problems(parsed.search, parsed.sources, has_vectors=has_vectors)
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
            f"{where}: {package!r} is a Python module or keyword, or a dependency of the server;"
            " set export.package to another name"
        )
    problems += config_sources.find_problems(parsed.sources, project, parsed.project.language)
    if parsed.project.language in LANGUAGES:
        problems += _read_synonyms(parsed, project)[1]
        pinned = parsed.search.stages.get(Pinned.name)
        if isinstance(pinned, Pinned):
            problems += config_search.find_pinned_problems(pinned.answers, parsed.project.language)
    return problems


def _read_synonyms(parsed: ConfigFile, project: Path) -> tuple[tuple[Group, ...], list[str]]:
    """Return the groups in the synonyms file, and its problems."""
    stage = parsed.search.stages.get(Synonyms.name)
    if not isinstance(stage, Synonyms) or not stage.file:
        return (), []
    return read_synonyms(project / stage.file, parsed.project.language, inside=project)


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
