"""LaTeX algorithms: pseudocode of algorithmicx, algorithmic and algorithm2e."""

from abc import ABC

from foundry.documents.left_out import Omission
from foundry.readers.composing import fence
from foundry.readers.formats.latex.definitions import Definitions, Macro
from foundry.readers.notes import leave_out

ALGORITHMS = frozenset("algorithm algorithmic algorithm2e procedure function".split())
"""Environments with pseudocode. In algorithmicx, an `algorithm` contains an `algorithmic`."""
INDENT = "\ue000"
_HEADS = {
    "if": "if {} then",
    "eif": "if {} then",
    "elsif": "else if {} then",
    "elseif": "else if {} then",
    "else": "else",
    "for": "for {} do",
    "forall": "for all {} do",
    "foreach": "for each {} do",
    "while": "while {} do",
    "loop": "loop",
    "repeat": "repeat",
    "until": "until {}",
    "procedure": "procedure {}({})",
    "function": "function {}({})",
}
_LINES = {
    "state": "",
    "statex": "",
    "require": "Require:",
    "ensure": "Ensure:",
    "kwdata": "Data:",
    "kwresult": "Result:",
    "kwin": "Input:",
    "kwout": "Output:",
}
_WORDS = {
    "return": "return",
    "kwret": "return",
    "kwto": " to ",
    "to": " to ",
    "and": " and ",
    "or": " or ",
    "not": "not ",
    "true": "true",
    "false": "false",
    "print": "print",
}
_NOTES = frozenset(("comment", "tcp", "tcc"))
_NAMES = frozenset("SetKwInOut SetKwInput SetKw SetKwData SetKwFunction".split())


class Algorithms(Definitions, ABC):
    """Writes each statement on a line of its own, indented by the blocks around it."""

    def algorithm(self, name: str) -> bool:
        """Write a command of pseudocode; return False for other commands."""
        # Algorithmic's commands are in capitals; algorithm2e puts a letter before some of them.
        key = name.lower()
        key = key[1:] if key[:1] in "ul" and key[1:] in _HEADS else key
        if key in _HEADS:
            self._block_of(key)
        elif key.startswith("end") and key[3:] in _HEADS:
            self._indent(-1)
            self._line(f"end {key[3:]}")
        elif key in _LINES or name == "RETURN":
            self._line(_LINES.get(key, "return"))
            if key.startswith("kw"):
                self.parts.append(f" {self.argument()}")
                self._line("")
        elif key in _WORDS:
            self.parts.append(_WORDS[key])
        elif key == "call":
            self.parts.append(f"{self.argument()}({self.argument()})")
        elif key in _NOTES:
            leave_out(Omission.ATTRIBUTE, self.option("(", ")"))
            self.parts.append(f" // {self.argument()}")
            if key != "comment":
                self._line("")
        elif name in _NAMES:
            self._name(name)
        else:
            return False
        self.parts.append(" ")
        return True

    def pseudocode(self) -> str:
        """Take the pending parts, and return their lines as a block of code."""
        lines = (" ".join(line.split()) for line in "".join(self.parts).split("\n"))
        self.parts.clear()
        code = "\n".join(line.replace(f"{INDENT} ", INDENT) for line in lines if line.strip(INDENT))
        return fence(code.replace(INDENT, "  "), "") if code else ""

    def new_statement(self) -> None:
        """Begin a line."""
        self._line("")

    def _block_of(self, key: str) -> None:
        is_until_after = key == "repeat" and self._has_body()
        until = self.argument() if is_until_after else ""
        head = _HEADS[key]
        arguments = [self.argument() for _ in range(head.count("{}"))]
        continues = key in {"elsif", "elseif", "else", "until"}
        has_body = self._has_body()
        if continues and not has_body:
            self._indent(-1)
        self._line(head.format(*arguments))
        if not has_body:
            self._indent(key != "until")
            return
        self._body()
        if key == "eif":
            self._line("else")
            self._body()
        if is_until_after:
            self._line(f"until {until}")
        self._line("")

    def _body(self) -> None:
        self._indent(1)
        self._line("")
        self.parts.append(self.argument())
        self._indent(-1)

    def _has_body(self) -> bool:
        self.skip_space()
        return self.is_open()

    def _indent(self, by: int) -> None:
        self.state.indent = max(0, self.state.indent + by)

    def _line(self, text: str) -> None:
        self.parts.append(f"\n{INDENT * self.state.indent}{text}")

    def _name(self, name: str) -> None:
        """Define a word of the author's own, such as the name of a function."""
        command, printed = self.source(), self.source()
        leave_out(Omission.MACRO, command)
        if name == "SetKwFunction":
            self.state.macros[command] = Macro(1, f"{printed}(#1)")
        elif name.startswith("SetKwIn"):
            self.state.macros[command] = Macro(1, rf"{printed}: #1\;")
        else:
            self.state.macros[command] = Macro(0, printed)
