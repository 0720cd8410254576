"""From foundry.toml to `Config`: resolved, frozen, with absolute paths.

Every problem of a file is found and reported at once, each with its key path and what would be
allowed.
"""

import tomllib
from pathlib import Path
from shlex import quote

from pydantic import ConfigDict, ValidationError

from foundry.config import search as config_search
from foundry.config import sources as config_sources
from foundry.config.file import ConfigFile
from foundry.config.package_names import is_taken
from foundry.config.problems import describe
from foundry.config.search import IndexOptions
from foundry.config.sources import CONFIG_NAME
from foundry.config.synonyms import Group, read_synonyms
from foundry.errors import ConfigError
from foundry.features import access
from foundry.features.operation import Filters
from foundry.features.stage import Stage
from foundry.features.stages.reading import Synonyms
from foundry.features.stages.results import Parents

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
    def index(self) -> IndexOptions:
        """The options of [search] that the index is built with."""
        return config_search.index_options(self.search, self.sources, self.synonyms)

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

    @property
    def state(self) -> Path:
        """The folder of everything that can be made again: index, preview server, cache."""
        return self.root / ".foundry"

    @property
    def default_export(self) -> Path:
        """Where the server goes unless told otherwise."""
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
    if isinstance(parsed.server, access.AccessKeys) and parsed.server.access:
        problems += access.find_problems(
            parsed.server.access_rules,
            columns=config_search.filterable_columns(parsed.search, parsed.sources),
            stages=parsed.search.stages.values(),
            keeps_duplicates=parsed.build.duplicates == "keep",
            is_embedded=parsed.store.is_embedded,
        )
    package = parsed.export.package or parsed.project.name.replace("-", "_")
    if is_taken(package):
        where = "export.package" if parsed.export.package else "project.name"
        problems.append(
            f"{where}: {package!r} is the name of a Python module or keyword, or of what a server"
            " depends on;"
            " set export.package to another name"
        )
    problems += config_sources.find_problems(parsed.sources, project, parsed.project.language)
    if parsed.project.language in LANGUAGES:
        problems += _read_synonyms(parsed, project)[1]
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
