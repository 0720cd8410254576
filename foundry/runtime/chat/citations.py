"""Citations in an answer: numbers in square brackets, each checked against the passages given."""

import re

_GROUP = re.compile(r"[ \t]*\[ ?(?P<numbers>[0-9]{1,3}(?: ?[,;\u2013-] ?[0-9]{1,3}){0,20}) ?\]")
_UNFINISHED = re.compile(r"[ \t]+$|[ \t]*\[[0-9 ,;\u2013-]{0,120}$")
_SPAN = re.compile(r"([0-9]+) ?[\u2013-] ?([0-9]+)")


class CitationFilter:
    """Passes a streamed text on, without the citations of passages that do not exist.

    `[2]`, `[1, 3]` and `[1-3]` are citations; they come out as `[2]`, `[1][3]` and `[1][2][3]`. A
    citation that may still grow is held back until it is whole. A number of four digits or more,
    such as a year, is no citation.
    """

    def __init__(self, passage_count: int) -> None:
        self.cited: list[int] = []
        """The numbers that were cited, in the order of their first citation."""
        self._passage_count = passage_count
        self._held = ""

    def feed(self, text: str) -> str:
        """Take the next piece; returns what can be passed on."""
        text = self._held + text
        unfinished = _UNFINISHED.search(text)
        end = unfinished.start() if unfinished else len(text)
        self._held = text[end:]
        return _GROUP.sub(self._check, text[:end])

    def finish(self) -> str:
        """What was held back until the end of the text."""
        rest, self._held = self._held, ""
        return rest.rstrip(" \t")

    def _check(self, group: re.Match[str]) -> str:
        known = [number for number in _numbers(group["numbers"]) if self._exists(number)]
        self.cited += [number for number in known if number not in self.cited]
        space = group[0][: group[0].index("[")]
        return space + "".join(f"[{number}]" for number in known) if known else ""

    def _exists(self, number: int) -> bool:
        return 1 <= number <= self._passage_count


def _numbers(written: str) -> list[int]:
    numbers: list[int] = []
    for part in re.split("[,;]", written):
        span = _SPAN.search(part)
        first, last = (int(span[1]), int(span[2])) if span else (int(part), int(part))
        numbers += range(first, last + 1)
    return list(dict.fromkeys(numbers))
