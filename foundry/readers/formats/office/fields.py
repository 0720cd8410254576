"""Fields of Word and RTF that show something without a result: signs, quotes, equations."""

import re

from foundry.readers.formats.office.equations import fraction, root, scripts
from foundry.readers.formats.office.symbols import symbol

MAX_EQUATION_DEPTH = 30
_ARGUMENT = re.compile(r'"([^"]*)"|(\S+)')
_CODE = re.compile(r"0x[\da-f]{1,5}|[1-9]\d{0,5}", re.IGNORECASE)
# Switches of an equation; options follow without brackets: `\s\up8(`, `\a\al\co2(`.
_SWITCH = re.compile(r"\\([a-zA-Z]+)\s*(-?\d+)?\s*")
# A general formatting switch: `\* MERGEFORMAT`, `\* "Font:Arial"`.
_FORMAT = re.compile(r'\\\*\s*(?:"[^"]*"|[\w.]*)')
_SIGN_FOLLOWS = frozenset({"bc", "lc", "rc", "fc", "vc"})
_SIGNS = {"su": "∑", "pr": "∏"}
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def arguments_of(instruction: str) -> list[str]:
    """Return the words of an instruction after its name, without quotes."""
    return [match[1] or match[2] or "" for match in _ARGUMENT.finditer(instruction)][1:]


def shown_by(instruction: str) -> str:
    """Return what a field without a stored result displays; "" if that is unknown."""
    instruction = _FORMAT.sub(" ", instruction)
    name, rest = [*instruction.split(None, 1), "", ""][:2]
    arguments = arguments_of(instruction)
    match name.upper():
        case "SYMBOL" if arguments:
            code = int(arguments[0], 0) if _CODE.fullmatch(arguments[0]) else 0
            font = arguments[arguments.index("\\f") + 1 :][:1] if "\\f" in arguments else []
            if font and code:
                return symbol(code, font[0])
            return chr(code) if 31 < code < 0xD800 or 0xE000 <= code < 0x11_0000 else ""
        case "MACROBUTTON" | "GOTOBUTTON":
            return " ".join(arguments[1:])
        case "QUOTE":
            return " ".join(each for each in arguments if not each.startswith("\\"))
        case "EQ":
            return " ".join(_Equation(rest).read(0).split())
        case _:
            return ""


class _Equation:
    r"""The equation in an EQ field: `\f(1,2)` is 1/2, `\r(3,x)` the cube root of x."""

    def __init__(self, written: str) -> None:
        self._written = written
        self._place = 0

    def read(self, depth: int, *, ends: str = "") -> str:
        """Return the text up to one of these signs, or to the end."""
        parts: list[str] = []
        while self._place < len(self._written):
            sign = self._written[self._place]
            if sign in ends:
                break
            if sign == "(" and ends and depth < MAX_EQUATION_DEPTH:
                self._place += 1
                parts.append(f"({self.read(depth + 1, ends=')')})")
                self._place += 1
            elif sign == "\\" and depth < MAX_EQUATION_DEPTH:
                parts.append(self._switch(depth + 1))
            else:
                parts.append(sign)
                self._place += 1
        return "".join(parts)

    def _switch(self, depth: int) -> str:
        options: list[str] = []
        signs: dict[str, str] = {}
        while found := _SWITCH.match(self._written, self._place):
            self._place = found.end()
            options.append(found[1].lower())
            if options[-1] in _SIGN_FOLLOWS:
                self._place += self._written.startswith("\\", self._place)
                signs[options[-1]] = self._written[self._place : self._place + 1]
                self._place += 1
        if not options:
            self._place += 2
            return self._written[self._place - 1 : self._place]
        if not self._written.startswith("(", self._place):
            return ""
        return self._spell(options, signs, self._arguments(depth))

    def _arguments(self, depth: int) -> list[str]:
        parts = []
        while self._place < len(self._written) and self._written[self._place] != ")":
            self._place += 1
            parts.append(self.read(depth, ends=",;)").strip())
        self._place += 1
        return parts

    def _spell(self, options: list[str], signs: dict[str, str], parts: list[str]) -> str:
        first, *others = [*parts, ""] if parts else ["", ""]
        match options[0]:
            case "f":
                return fraction(first, others[0])
            case "r":
                return root(others[0], first) if len(parts) > 1 else root(first)
            case "s" | "up" | "do" if {"up", "do"} & {*options}:
                return scripts("", "", first) if "up" in options else scripts("", first)
            case "b":
                both = signs.get("bc", "" if signs else "(")
                inner = ", ".join(parts)
                opening, closing = signs.get("lc", both), signs.get("rc", _BRACKETS.get(both, both))
                return f"{opening}{inner}{closing}"
            case "i" if len(parts) > 2:
                sign = next((_SIGNS[each] for each in options if each in _SIGNS), "∫")
                return f"{scripts(sign, first, parts[1])} {parts[2]}"
            case "d":
                return ""
            case "o" if first.startswith("^") and others[0]:
                # Japanese text has its reading printed above it (ruby).
                return f"{others[0]}({first.strip('^()')})"
            case "o":
                return " ".join(filter(None, parts))
            case _:
                return ", ".join(filter(None, parts))
