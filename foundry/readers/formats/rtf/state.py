"""Properties of an RTF group, until its closing brace."""

from dataclasses import dataclass, field

from foundry.readers.formats.office.scripts import ScriptedText
from foundry.readers.formats.rtf.numbering import Level


@dataclass(slots=True)
class Field:
    """A field: its instruction, and the position of its result in the line.

    `choices` are the options of a form field, and `chosen` is the position of the selected one;
    `is_shown` is whether the result has any text.
    """

    instruction: ScriptedText = field(default_factory=ScriptedText)
    line: ScriptedText | None = None
    start: int = 0
    choices: list[str] = field(default_factory=list)
    chosen: int = 0
    is_shown: bool = False


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
