"""Three-way merging of lines.

Both sides are matched with the base. Where both match it, all three agree. In between, if only one
side differs from the base, that side is used. (S. Khanna, K. Kunal, B. C. Pierce, "A Formal
Investigation of Diff3", FSTTCS 2007.)
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

OPENING, MIDDLE, CLOSING = "<<<<<<< yours\n", "=======\n", ">>>>>>> generated\n"


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged text; `conflicts` counts the places where both sides are kept, with markers."""

    text: str
    conflicts: int


def merge(base: str, yours: str, generated: str) -> Merged:
    """Merge the changes from `base` to `generated` into `yours`.

    The result has the line endings of `yours`.
    """
    carriage = "\r\n" in yours and "\n" not in yours.replace("\r\n", "")
    if carriage:
        yours = yours.replace("\r\n", "\n")
    lines: list[str] = []
    conflicts = 0
    for old, left, right in _stretches(_split(base), _split(yours), _split(generated)):
        if right == old or left == right:
            lines += left
        elif left == old:
            lines += right
        else:
            conflicts += 1
            lines += [OPENING, *_ended(left), MIDDLE, *_ended(right), CLOSING]
    text = "".join(lines)
    return Merged(text.replace("\n", "\r\n") if carriage else text, conflicts)


Stretch = tuple[Sequence[str], Sequence[str], Sequence[str]]


def _stretches(base: Sequence[str], left: Sequence[str], right: Sequence[str]) -> Iterator[Stretch]:
    """Yield matching sections of the three texts; every other one is equal in all of them."""
    in_left, in_right = _matches(base, left), _matches(base, right)
    place = at_left = at_right = 0
    for number in sorted(in_left.keys() & in_right.keys()):
        yield base[place:number], left[at_left : in_left[number]], right[
            at_right : in_right[number]
        ]
        yield base[number : number + 1], base[number : number + 1], base[number : number + 1]
        place, at_left, at_right = number + 1, in_left[number] + 1, in_right[number] + 1
    yield base[place:], left[at_left:], right[at_right:]


def _matches(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Map lines of the base to equal lines of the other text, both ascending."""
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {
        first + number: second + number for first, second, size in blocks for number in range(size)
    }


def _split(text: str) -> list[str]:
    # `splitlines` would also split at characters that do not end a line in a file.
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _ended(lines: Sequence[str]) -> list[str]:
    """Return the lines, the last one with a line ending."""
    if lines and not lines[-1].endswith("\n"):
        return [*lines[:-1], f"{lines[-1]}\n"]
    return list(lines)
