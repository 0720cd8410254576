"""The base class for declarations of everything that can be chosen."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from foundry.features.app_step import AppStep
from foundry.features.snippet import Snippet

PACKAGE_PATTERN = r"^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$"
HTTPX = "httpx2>=2.16,<3"
"""The requirement for calling a language model or an embedding service."""
MODEL_FOLDER = ("{package}/model/", "the client of a language model")
"""A README row for features that call a language model."""

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$", max_length=63)]
"""A name in foundry.toml: lower-case letters, digits, and single - or _ between them."""

Strings = Annotated[tuple[str, ...], Field(strict=False)]
"""A list of texts in foundry.toml."""


class Table(BaseModel):
    """A table of foundry.toml."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Feature:
    """An optional part of a project, and its additions to an export.

    Texts are snippets: `{name}`, `{package}`, `{label}` (the name as a host name) and `{port}` are
    those of the server; other placeholders come from `values`.

    Attributes:
        name: As in foundry.toml.
        choice: How foundry.toml chooses it.
        files: Templates below templates/server that are only rendered with it, and scripts and
            style sheets that pages only load with it.
        contents: Rows of the README's table of files: path, and purpose.
        dependencies: Requirements of the export's pyproject.toml.
        modules: Modules that Foundry must be able to import to use it here; the extra that installs
            them has the feature's name.
        environment: Blocks of `.env.example` that only exist with it, by their names in the
            template.
        section: Its part of the server's README: the name of a template in templates/readme, which
            can use the result of `values` as `own`.
        settings: Keys of [server] that settings.json contains only if the feature is chosen.
        limits: Keys of [server] that `limits` in settings.json contains only if the feature is
            chosen, by their names in `limits`.
        app_steps: Additions to the application, independent of other choices.
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
        """Return how foundry.toml chooses the feature, by its name."""
        return cls.choice.format(name=cls.name)

    def values(self) -> Mapping[str, object]:
        """Return the values for the feature's snippets."""
        return {}

    def own_settings(self) -> Mapping[str, object]:
        """Return the feature's section of settings.json, which may contain free text."""
        return {}

    def fill(self, text: str, **values: object) -> Snippet:
        """Fill in a snippet with the feature's values, and with further values."""
        return Snippet(text, {**self.values(), **values})
