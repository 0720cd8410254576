"""Fields of RTF: links, form fields, and others with an instruction and a result."""

import re
from dataclasses import dataclass, field

from foundry.readers.formats.office.links import write_link
from foundry.readers.formats.office.scripts import ScriptedText

_INSTRUCTION = re.compile(r'\s*(\w+)(?:\s+(?:"([^"]*)"|([^\s\\]+)))?')
_DEFAULT = 25
"""The number of a result that was not changed from its default."""


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

    def name_and_argument(self) -> tuple[str, str]:
        """Return the name of the instruction, and its first argument."""
        found = _INSTRUCTION.match(str(self.instruction))
        return (found[1].upper(), found[2] or found[3] or "") if found else ("", "")

    def choose(self, number: int, *, is_default: bool) -> None:
        """Select an option by number; a result of _DEFAULT keeps the default."""
        if is_default or number != _DEFAULT:
            self.chosen = number

    def open_result(self, line: ScriptedText) -> None:
        """Begin the result at the end of a line."""
        line.flush()
        self.start = len(line.parts)
        self.line = line

    def close_result(self, line: ScriptedText) -> None:
        """Write the result as a link or a form field if it is one and began in this line."""
        if self.line is not line:
            return
        line.flush()
        name, argument = self.name_and_argument()
        text = "".join(line.parts[self.start :])
        self.is_shown = bool(text.strip())
        if name == "HYPERLINK":
            line.parts[self.start :] = [write_link(text, argument)]
        elif name == "FORMCHECKBOX" and not text.strip():
            line.put("☒" if self.chosen else "☐")
        elif name == "FORMDROPDOWN" and not text.strip() and 0 <= self.chosen < len(self.choices):
            line.put(self.choices[self.chosen])
