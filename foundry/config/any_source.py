"""What every kind of source has, and says of itself."""

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
        """What the source is named after, if it is not given a name."""

    def find_problems(self, _key: str, _project: Path, /) -> list[str]:
        """Return problems beyond wrong types; `key` is the source's path in the file."""
        return []

    def resolve(self, name: str, _root: Path, /) -> Self:
        """Return the source under a name, with absolute paths instead of those from `root`."""
        return self.model_copy(update={"name": name})
