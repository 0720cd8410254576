"""The base of every kind of source."""

from abc import abstractmethod
from pathlib import Path
from typing import Self

from foundry.features.feature import Slug, Table


class AnySource(Table):
    """A kind of source.

    Attributes:
        type: What kind of source this is.
        name: The name in results and filters; by default made from `stem`.
    """

    type: str
    name: Slug = ""

    @property
    @abstractmethod
    def stem(self) -> str:
        """The text that a default name is made from."""

    def find_problems(self, _key: str, _project: Path, /) -> list[str]:
        """Return problems that the types do not catch; `key` is the source's path in the file."""
        return []

    def resolve(self, name: str, _root: Path, /) -> Self:
        """Return the source with a name, and with paths made absolute from `root`."""
        return self.model_copy(update={"name": name})
