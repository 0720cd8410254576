"""Fixed text of a feature, with places for values."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text of Foundry's own with `{key}` where a value goes, as `str.format` has it.

    Values are numbers, booleans and slugs, or lists of them; rendering refuses any other.
    """

    text: str
    values: Mapping[str, object] = field(default_factory=dict)
