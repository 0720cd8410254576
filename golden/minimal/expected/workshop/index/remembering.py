"""Caches functions of words, within bounds."""

from collections.abc import Callable
from typing import TypeVar

MAX_REMEMBERED_LENGTH = 64  # Limits the memory that long query words can take.

Value = TypeVar("Value")


class _Remembered(dict[str, Value]):
    """A cache from words to values; a dict lookup is faster than any function call."""

    def __init__(self, function: Callable[[str], Value], entries: int) -> None:
        super().__init__()
        self._function, self._entries = function, entries

    def __missing__(self, word: str) -> Value:
        value = self._function(word)
        if len(word) <= MAX_REMEMBERED_LENGTH:
            if len(self) >= self._entries:
                self.clear()
            self[word] = value
        return value


def remember(function: Callable[[str], Value], entries: int = 8_192) -> Callable[[str], Value]:
    """Return a function of words with a cache of `entries` values; long words are not cached."""
    return _Remembered(function, entries).__getitem__
