"""Fixed texts of features, with placeholders."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Snippet:
    """Foundry's own text with `{key}` placeholders, as in `str.format`.

    Values are numbers, booleans and slugs, or lists of them; rendering rejects others.
    """

    text: str
    values: Mapping[str, object] = field(default_factory=dict)
