"""The lines of a manual page in the order in which roff reads them, with macros and conditions."""

import re
from abc import ABC, abstractmethod

from foundry.documents.left_out import Omission
from foundry.readers.notes import leave_out

MAX_CALLS, MAX_CALLED_LINES = 5, 100_000
"""Maximum depth of nested calls of a page's own macros, and number of lines that they yield."""
# In macros, a second backslash defers the replacement of arguments to the call.
_GIVEN = re.compile(r"\\{1,2}\$([1-9*@])")
_CONTINUED = re.compile(r"(?<!\\)\\\Z")
_CONDITION = re.compile(r"(?:if|ie)[ \t]+(!?[ntoe](?!\w)|!?'[^']*'[^']*'|\S+)[ \t]*(.*)")
_EQUAL = re.compile(r"(!?)'([^']*)'([^']*)'")
_NUMBER = re.compile(r"(\d{1,9})(?:([-+<>=])(\d{1,9}))?")
_COUNTED = re.compile(r"\\{1,2}n(?:\(\.\$|\[\.\$\])")


class Flow(ABC):
    """Takes the lines of a page, and reads the macros that it defines."""

    def __init__(self, text: str) -> None:
        self.macros: dict[str, list[str]] = {}
        self._lines = text.split("\n")
        self._next = 0
        self._depth = self._called = 0
        self._was_true = True

    @abstractmethod
    def read_line(self, line: str) -> None:
        """Read a line of text or a request."""

    def take(self) -> str | None:
        """Return the next line, joined with those that continue it; None at the end."""
        if self._next >= len(self._lines):
            return None
        parts = [self._lines[self._next]]
        self._next += 1
        # A backslash at the end continues a line.
        while _CONTINUED.search(parts[-1]) and self._next < len(self._lines):
            parts[-1] = parts[-1][:-1]
            parts.append(self._lines[self._next])
            self._next += 1
        return "".join(parts)

    def call(self, body: list[str], given: list[str]) -> None:
        """Read the lines of a macro that the page defines, with the arguments of a call."""

        def fill_in(match: re.Match[str]) -> str:
            if match[1] in "*@":
                return " ".join(given)
            return given[int(match[1]) - 1] if int(match[1]) <= len(given) else ""

        used = {name for line in body for name in _GIVEN.findall(line)}
        if not used & {"*", "@"}:
            unused = (each for number, each in enumerate(given, 1) if str(number) not in used)
            leave_out(Omission.MACRO, " ".join(unused))
        self._called += len(body)
        if self._depth < MAX_CALLS and self._called < MAX_CALLED_LINES:
            self._depth += 1
            for line in body:
                counted = _COUNTED.sub(str(len(given)), line)
                self.read_line(_GIVEN.sub(fill_in, counted))
            self._depth -= 1

    def definition(self, ending: str) -> list[str]:
        """Take and return the lines of a macro or of an ignored block."""
        passed = []
        while (line := self.take()) is not None and line.strip() != f".{ending or '.'}":
            passed.append(line)
        leave_out(Omission.MACRO, "\n".join(passed))
        return passed

    def conditional(self, name: str, rest: str) -> None:
        """Read the branch for terminals."""
        if name == "el":
            holds, body = not self._was_true, rest
        else:
            found = _CONDITION.match(f"{name} {rest}")
            tested, body = (found[1], found[2]) if found else ("", "")
            leave_out(Omission.MACRO, tested)
            holds = _holds(tested)
            self._was_true = holds
        first = body.removeprefix("\\{")
        lines = ["" if first == "\\" else first]
        if body.startswith("\\{"):
            depth = 1 - body.count("\\}")
            while depth > 0 and (line := self.take()) is not None:
                depth += line.count("\\{") - line.count("\\}")
                lines.append(line.replace("\\}", "").removesuffix("\\"))
        if holds:
            for line in filter(str.strip, lines):
                self.read_line(line)
        else:
            leave_out(Omission.MACRO, "\n".join(lines))


def _holds(tested: str) -> bool:
    """Return whether a condition holds on a terminal; registers are unknown."""
    if found := _EQUAL.fullmatch(tested):
        return (found[2] == found[3]) is not bool(found[1])
    if found := _NUMBER.fullmatch(tested):
        left, right = int(found[1]), int(found[3] or 0)
        comparison = {"<": left < right, ">": left > right, "=": left == right, "+": True}
        return comparison.get(found[2], left > right)
    return tested in {"n", "!t", "o"}
