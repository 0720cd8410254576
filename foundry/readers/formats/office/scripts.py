"""Superscript, subscript and struck text on a line, so that numbers keep their value: `10^6`."""

from foundry.readers.formats.pages.numbers import lowered, raised


class ScriptedText:
    """Text composed of pieces, some of them superscript, subscript, struck out or ruby.

    Adjacent pieces of the same kind are joined, however many runs the document splits them into.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._script = ""
        self._pending: list[str] = []
        self._is_apart = False

    def put(self, text: str, script: str = "") -> None:
        """Add text; `script` is "", super, sub, struck or ruby."""
        if script != self._script:
            self.flush()
            self._script = script
        if self._is_apart and not script and text:
            # A space separates a power or a struck number from the number after it.
            self.parts.append(" " if text[0].isalnum() else "")
            self._is_apart = False
        (self._pending if script else self.parts).append(text)

    def put_ruby(self, base: str, reading: str) -> None:
        """Add a base with its ruby reading; the readings of a word follow its last base."""
        readings = self._pending if self._script == "ruby" else []
        if readings:
            self._script, self._pending = "", []
        self.put(base)
        self._script, self._pending = "ruby", [*readings, reading]

    def flush(self) -> None:
        """Write the pending piece."""
        text, script = "".join(self._pending), self._script
        self._pending, self._script = [], ""
        if script == "ruby":
            self.parts.append(f"({text})" if text else "")
        elif script == "struck":
            self.parts.append(struck(text))
            self._is_apart = text[-1:].isalnum()
        elif script:
            before = "".join(self.parts[-8:])
            inner = text.strip()
            shown = (raised if script == "super" else lowered)(inner, before) if inner else ""
            written = text.replace(inner, shown, 1) if inner else text
            self.parts.append(written)
            self._is_apart = (written != text or not before[-1:].strip()) and text[-1:].isalnum()

    def __str__(self) -> str:
        self.flush()
        return "".join(self.parts)


def struck(text: str, following: str = "") -> str:
    """Return struck text with `~~` inside its outer spaces, and a space if a word follows."""
    said = text.strip()
    marked = text.replace(said, f"~~{said}~~", 1) if any(map(str.isalnum, said)) else text
    return marked + " " * following[:1].isalnum()
