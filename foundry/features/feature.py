"""The base of declarations of everything that can be chosen."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from foundry.features.app_step import AppStep
from foundry.features.snippet import Snippet

PACKAGE_PATTERN = r"^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$"
HTTPX = "httpx2>=2.16,<3"
"""The requirement for asking a language model or an embedding service."""
MODEL_FOLDER = ("{package}/model/", "the client of a language model")
"""A row of the README for those that ask a language model."""

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$", max_length=63)]
"""A name in foundry.toml: lower-case letters, digits, and single - or _ between them."""

Strings = Annotated[tuple[str, ...], Field(strict=False)]
"""A list of texts in foundry.toml."""


class Table(BaseModel):
    """A table of foundry.toml."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Feature:
    """Something that a project may choose, and what it brings into an export.

    Texts are snippets: `{name}`, `{package}`, `{label}` (the name as a host name) and `{port}` are
    those of the server, others what `values` returns.

    Attributes:
        name: As in foundry.toml.
        choice: How foundry.toml chooses it.
        files: Templates below templates/server that are rendered only with it, and scripts and
            style sheets that pages name only with it.
        contents: Rows of the README's table of files: path, and what it is for.
        dependencies: Requirements of the export's pyproject.toml.
        modules: What Foundry must be able to import to use it here; its own extra that brings them
            is called like the feature.
        environment: Blocks of `.env.example` that are there only with it, by the names that its
            template has for them.
        section: Its part of the server's README: the name of a template in templates/readme, which
            knows as `own` what `values` returns.
        settings: Keys of [server] that are in settings.json only with it.
        limits: Keys of [server] by the names that they have under `limits` there, likewise.
        app_steps: What it adds to the application, whatever else was chosen.
    """

    name: ClassVar[str]
    choice: ClassVar[str] = ""
    files: ClassVar[tuple[str, ...]] = ()
    contents: ClassVar[tuple[tuple[str, str], ...]] = ()
    dependencies: ClassVar[tuple[str, ...]] = ()
    modules: ClassVar[tuple[str, ...]] = ()
    environment: ClassVar[tuple[str, ...]] = ()
    section: ClassVar[str] = ""
    settings: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[Mapping[str, str]] = {}
    app_steps: ClassVar[tuple[AppStep, ...]] = ()

    @classmethod
    def chosen_by(cls) -> str:
        """Return how foundry.toml chooses it, by name."""
        return cls.choice.format(name=cls.name)

    def values(self) -> Mapping[str, object]:
        """Return the values for its snippets."""
        return {}

    def own_settings(self) -> Mapping[str, object]:
        """Return its section of settings.json, for free text."""
        return {}

    def fill(self, text: str, **values: object) -> Snippet:
        """Return a snippet with its own and further values."""
        return Snippet(text, {**self.values(), **values})
