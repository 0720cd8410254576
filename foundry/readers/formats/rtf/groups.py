"""Parses the groups of RTF, and decodes text with the charset of its font."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from foundry.documents.reasons import Reason
from foundry.readers.contract import UnreadableError
from foundry.readers.formats.office.scripts import ScriptedText
from foundry.readers.formats.office.symbols import from_private_use, symbol
from foundry.readers.formats.rtf.charsets import SYMBOL, charset_of_font, charset_of_page
from foundry.readers.formats.rtf.state import State
from foundry.readers.formats.rtf.words import SYMBOLS

MAX_DEPTH = 2_000
_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])"
    r"|([^\\{}\r\n]+)|[\r\n]+"
)

Act = Callable[[str, int | None], None]
"""Handler of a control word, called with the word and its number."""


class Groups(ABC):
    """Reads braces, control words and text; `words` has the handlers."""

    def __init__(self, target: ScriptedText) -> None:
        self.words: dict[str, Act] = {
            **dict.fromkeys(("ansi", "mac", "pc", "pca", "ansicpg"), self._set_charset),
            **dict.fromkeys(("super", "sub", "nosupersub", "up", "dn"), self._set_script),
            **dict.fromkeys(("strike", "striked"), self._strike),
            "u": self._unicode,
            "uc": lambda _, n: self.set(unicode_skip=max(n or 0, 0)),
            "f": self._set_font,
            "fcharset": self._declare_font,
            "deff": self._set_default_font,
            "plain": self._set_plain,
            "v": lambda _, n: self.set(is_hidden=n != 0),
            "deleted": lambda _, n: self.set(is_deleted=n != 0),
        }
        self.states = [State(target, "cp1252")]
        self.dropped: list[str] = []
        self.is_optional = False
        self._document_charset = "cp1252"
        self._charsets: dict[int, str] = {}
        self._font = self._default_font = 0
        self._waiting = bytearray()
        self._to_skip = 0

    @abstractmethod
    def end_paragraph(self) -> None:
        """End a paragraph."""

    @abstractmethod
    def close(self, state: State) -> None:
        """Handle the text of a finished group according to its destination."""

    def run(self, source: str) -> None:
        """Read the whole document."""
        place = 0
        match = _TOKEN.match
        while token := match(source, place):
            place = token.end()
            word, number, code, sign, brace, text = token.groups()
            if text is not None:
                self._read_text(text)
            elif word is not None:
                if word == "bin":
                    place += max(int(number or 0), 0)
                else:
                    self._read_word(word, None if number is None else int(number))
            elif code is not None:
                self._read_code(int(code, 16))
            elif brace == "{":
                self._open_group()
            elif brace == "}":
                self._close_group()
            elif sign is not None:
                self._read_sign(sign)
        self._flush()
        while len(self.states) > 1:
            self._close_group()
        self.end_paragraph()

    def _read_text(self, text: str) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(text))
            self._to_skip -= skipped
            text = text[skipped:]
        state = self.states[-1]
        state.is_first = False
        if state.target is not None:
            self._waiting += text.encode("latin-1")

    def _read_code(self, code: int) -> None:
        if self._to_skip:
            self._to_skip -= 1
        elif self.states[-1].target is not None:
            self._waiting.append(code)

    def _read_word(self, word: str, number: int | None) -> None:
        if self._to_skip and word != "u":
            self._to_skip -= 1
            return
        read = self.words.get(word)
        state = self.states[-1]
        if read is not None:
            self._flush()
            read(word, number)
        elif self.is_optional and state.is_first:
            # `\*` marks destinations that readers may ignore if they do not know them.
            self._flush()
            state.target = None
        self.is_optional = False
        state.is_first = False

    def _read_sign(self, sign: str) -> None:
        if sign == "*":
            self.is_optional = True
        elif self._to_skip:
            self._to_skip -= 1
        elif sign in "\r\n":
            self._flush()
            self.end_paragraph()
        elif shown := SYMBOLS.get(sign):
            self._flush()
            self.put(shown)

    def _flush(self) -> None:
        """Decode pending bytes, which are all in one font."""
        if not self._waiting:
            return
        raw, self._waiting = bytes(self._waiting), bytearray()
        charset = self.states[-1].charset
        if charset == SYMBOL:
            self.put("".join(chr(c) if c < 0x20 else symbol(c, "Symbol") for c in raw))
        else:
            self.put(raw.decode(charset, "replace"))

    def put(self, text: str) -> None:
        """Add text to the group's destination, unless it is hidden."""
        state = self.states[-1]
        if state.target is None:
            return
        if state.is_hidden or state.is_deleted:
            self.dropped.append(text)
        else:
            state.target.put(text, state.script)

    def _unicode(self, _: str, number: int | None) -> None:
        code = (number or 0) % 0x10000
        text = chr(code)
        self.put(from_private_use(text, "Symbol") if 0xF020 <= code <= 0xF0FF else text)
        self._to_skip = self.states[-1].unicode_skip

    def set(self, **values: object) -> None:
        """Set properties until the group ends."""
        state = self.states[-1]
        for name, value in values.items():
            setattr(state, name, value)

    def _set_script(self, word: str, number: int | None) -> None:
        kind = {"up": "super", "dn": "sub", "nosupersub": ""}.get(word, word)
        self.set(script="" if number == 0 else kind)

    def _strike(self, _: str, number: int | None) -> None:
        script = self.states[-1].script
        self.set(script=(script or "struck") if number != 0 else script.replace("struck", ""))

    def _set_charset(self, word: str, number: int | None) -> None:
        if word == "ansicpg":
            self._document_charset = charset_of_page(number or 1252)
        else:
            named = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
            self._document_charset = named.get(word, self._document_charset)
        self.set(charset=self._document_charset)

    def _set_default_font(self, _: str, number: int | None) -> None:
        self._default_font = number or 0

    def _set_plain(self, _: str = "", __: int | None = None) -> None:
        self.set(is_hidden=False, script="", is_deleted=False)
        self.use_default_font()

    def use_default_font(self) -> None:
        """Decode the following text with the charset of the document's default font."""
        self.set(charset=self._charsets.get(self._default_font, self._document_charset))

    def _set_font(self, _: str, number: int | None) -> None:
        self._font = number or 0
        self.set(charset=self._charsets.get(self._font, self._document_charset))

    def _declare_font(self, _: str, number: int | None) -> None:
        charset = charset_of_font(number or 0, self._document_charset)
        self._charsets.setdefault(self._font, charset)

    def _open_group(self) -> None:
        self._flush()
        if len(self.states) > MAX_DEPTH:
            raise UnreadableError(Reason.ELEMENTS_TOO_DEEP)
        state = self.states[-1]
        closes = "style" if state.closes == "stylesheet" else ""
        target = ScriptedText() if closes else state.target
        self.states.append(replace(state, closes=closes, target=target, is_first=True))
        self.is_optional = False
        self._to_skip = 0

    def _close_group(self) -> None:
        self._flush()
        self._to_skip = 0
        if len(self.states) > 1:
            state = self.states.pop()
            if state.closes:
                self.close(state)
