"""What holds in a group of an RTF document until its brace closes."""

from dataclasses import dataclass, field

from foundry.readers.formats.office.scripts import ScriptedText


@dataclass(slots=True)
class Field:
    """A field: what it is told to show, and the place in a line where its result begins.

    `choices` are what a form offers, of which `chosen` is the place of one.
    """

    instruction: ScriptedText = field(default_factory=ScriptedText)
    line: ScriptedText | None = None
    start: int = 0
    choices: list[str] = field(default_factory=list)
    chosen: int = 0


@dataclass(slots=True)
class State:
    """Formatting and destination; a group begins with those of the group around it.

    `target` is where text goes, or None where it is passed over; `closes` names what ends with the
    group.
    """

    target: ScriptedText | None
    charset: str
    unicode_skip: int = 1
    is_hidden: bool = False
    is_deleted: bool = False
    script: str = ""
    style: int = 0
    outline: int | None = None
    is_in_table: bool = False
    closes: str = ""
    field: Field | None = None
    label: str = ""
    math_start: int = 0
    is_first: bool = True
