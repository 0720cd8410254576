"""Properties of an RTF group, until its closing brace."""

from dataclasses import dataclass

from foundry.readers.formats.office.scripts import ScriptedText
from foundry.readers.formats.rtf.fields import Field
from foundry.readers.formats.rtf.numbering import Level


@dataclass(slots=True)
class State:
    """Formatting and destination, inherited from the enclosing group.

    `target` collects its text, or is None to ignore it; `closes` names the destination that ends
    with the group, if any.
    """

    target: ScriptedText | None
    charset: str
    unicode_skip: int = 1
    is_hidden: bool = False
    is_deleted: bool = False
    script: str = ""
    style: int = 0
    outline: int | None = None
    parent: int | None = None
    is_in_table: bool = False
    indent: int = 0
    list_number: int = 0
    list_level: int = 0
    old_list: Level | None = None
    closes: str = ""
    field: Field | None = None
    label: str = ""
    math_start: int = 0
    is_first: bool = True

    def outlined(self, level: int) -> int:
        """Return the level of a heading by the outline, or else the given one; 0 is body text."""
        if self.outline is None:
            return level
        return self.outline + 1 if self.outline < 9 else 0

    def write_math(self, sign: str) -> None:
        """Put a sign before the formula's last part, and brackets around the part if needed."""
        if self.target is None:
            return
        self.target.flush()
        inner = "".join(self.target.parts[self.math_start :]).strip()
        shown = inner if inner.isalnum() or len(inner) == 1 else f"({inner})"
        self.target.parts[self.math_start :] = [f"{sign}{shown}" if inner else ""]
