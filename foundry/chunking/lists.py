"""Keeps each list together with its stem, the sentence before it; splits repeat the stem.

In "No person may sell ... unless: (1) ...; (2) ...", an item alone would mean the opposite. Items
begin with a Markdown list mark or, as in regulations, with `(a)`, `(1)`, `(i)` or `(A)`; the order
of the marks shows the nesting.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from foundry.chunking.packing import capacity_of, join
from foundry.chunking.repeating import insert
from foundry.config.file import ChunkingSection
from foundry.documents import Document, Reading, Span, is_data
from foundry.runtime.chat.text import find_sentence_ends

MAX_STEM_CHARS = 400
STEM_SHARE = 0.4
"""If stems exceed this share of a chunk, some are dropped, beginning with the outermost."""

_ITEM = re.compile(
    r"[ \t>]*(?:(?P<bullet>[-*+\u2022])|(?P<number>\d{1,3})[.)]"
    r"|\((?P<label>\d{1,3}|[A-Za-z]{1,5})\))[ \t]+\S"
)
_OPEN = re.compile(r"(?:[:\u2014\u2013]|\b[a-z]+,?)[*_]{0,3}\s*$")
"""The end of a text that a list continues: a colon, a dash, or no final punctuation."""
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(slots=True)
class _Node:
    """A paragraph or an item without its nested items; `stems` introduce it, outermost first."""

    start: int
    end: int
    indent: int
    mark: re.Match[str] | None = None
    stems: tuple[Span, ...] = ()


@dataclass(slots=True)
class _Level:
    """An open list: indentation of its items, kind and number of the last one, the list's stem."""

    indent: int
    kind: str
    number: int
    stem: Span | None


def repeat_stems(document: Document, options: ChunkingSection) -> Document:
    """Return the document with lists marked, and with stems repeated where lists will be split."""
    if options.strategy == "none" or is_data(document) or document.reader.startswith("code"):
        return document
    reading = document.reading
    limit = capacity_of(options)
    lists, texts = list[Span](), dict[int, str]()
    for nodes in _find_lists(reading):
        whole = Span(nodes[0].start, nodes[-1].end)
        lists.append(whole)
        if whole.end - whole.start > limit:
            texts |= _cut(nodes, reading.text, limit)
    if not lists:
        return document
    reading = replace(reading, lists=tuple(lists))
    return replace(document, reading=insert(reading, texts) if texts else reading)


def _cut(nodes: Sequence[_Node], text: str, limit: int) -> Iterator[tuple[int, str]]:
    """Yield the offsets and texts of stems to insert, so that parts have about equal sizes."""
    above = {node.start: _stems_of(node, text, int(STEM_SHARE * limit)) for node in nodes}
    ends = [*(node.start for node in nodes[1:]), nodes[-1].end]
    spans = [Span(node.start, end) for node, end in zip(nodes, ends, strict=True)]
    before = {after.start: node.end for node, after in pairwise(nodes)}
    for part in join(spans, limit - max(map(len, above.values())))[1:]:
        if above[part.start]:
            gap = text[before[part.start] : part.start]
            opening = "" if gap.count("\n") > 1 else "\n"
            yield part.start, f"{opening}{above[part.start]}{gap}"


def _stems_of(node: _Node, text: str, limit: int) -> str:
    stems = [text[stem.start : stem.end].strip() for stem in node.stems]
    while stems and len("\n\n".join(stems)) > limit:
        del stems[0]
    return "\n\n".join(stems)


def _find_lists(reading: Reading) -> Iterator[list[_Node]]:
    """Yield the nodes of each list with a stem: the stem's paragraph or item, then the items."""
    found: list[_Node] = []
    for node in _with_stems(reading):
        if node is not None and node.stems:
            found.append(node)
            continue
        if len(found) > 1:
            yield found
        found = [] if node is None else [node]
    if len(found) > 1:
        yield found


def _with_stems(reading: Reading) -> Iterator[_Node | None]:
    """Yield paragraphs and items with their stems; None for text that ends all lists."""
    levels: list[_Level] = []
    last: _Node | None = None
    for node in _nodes(reading):
        if node is None:
            levels, last = [], None
        elif node.mark is None:
            if levels and node.indent <= levels[0].indent:
                levels = []
        else:
            _open_level(levels, node, last, reading.text)
        if node is not None:
            node.stems = tuple(level.stem for level in levels if level.stem is not None)
            last = node
        yield node


def _open_level(levels: list[_Level], node: _Node, last: _Node | None, text: str) -> None:
    """Close the lists that an item ends, and open the list that it begins."""
    assert node.mark is not None
    meanings, is_label = _meanings(node.mark), node.mark["label"] is not None
    first = next((one for one in meanings if one[1] == 1 or not is_label), None)
    for place in range(len(levels) - 1, -1, -1):
        level = levels[place]
        numbers = [number for kind, number in meanings if kind == level.kind]
        is_next = level.number + 1 in numbers if first else max(numbers, default=0) > level.number
        if numbers and (is_next if is_label else level.indent == node.indent):
            level.number = max(numbers)
            del levels[place + 1 :]
            return
    if first is None:
        return
    while levels and _ends(levels, first[0], node.indent):
        levels.pop()
    is_fresh = not levels and last is not None and last.mark is not None
    stem = None if last is None or is_fresh else _stem_in(last, text)
    levels.append(_Level(node.indent, *first, stem))


def _ends(levels: Sequence[_Level], kind: str, indent: int) -> bool:
    """Return whether a new list ends the innermost open one."""
    if kind.startswith("("):
        return kind in [level.kind for level in levels]
    return levels[-1].indent >= indent and not levels[-1].kind.startswith("(")


def _meanings(mark: re.Match[str]) -> list[tuple[str, int]]:
    """Return the possible kinds and numbers of a mark: `(i)` is a letter or a Roman numeral."""
    if mark["bullet"]:
        return [("bullet", 1)]
    if mark["number"]:
        return [("number", int(mark["number"]))]
    label = mark["label"]
    if label.isdigit():
        return [("(1)", int(label))]
    case = "A" if label.isupper() else "a"
    lower = label.lower()
    meanings = []
    if len({*lower}) == 1:
        meanings.append((f"({case})", ord(lower[0]) - ord("a") + 1 + 26 * (len(lower) - 1)))
    if {*lower} <= _ROMAN.keys():
        digits = [_ROMAN[letter] for letter in lower]
        after = [*digits[1:], 0]
        number = sum(-one if one < two else one for one, two in zip(digits, after, strict=True))
        meanings.append((f"({case}: Roman)", number))
    return meanings


def _stem_in(node: _Node, text: str) -> Span | None:
    """Return the last sentence of a node if a list continues it."""
    if not _OPEN.search(text, max(node.start, node.end - 60), node.end):
        return None
    start = max([node.start, *find_sentence_ends(text, node.start, node.end)])
    return Span(start, node.end) if node.end - start <= MAX_STEM_CHARS else None


def _nodes(reading: Reading) -> Iterator[_Node | None]:
    """Yield paragraphs and items in order; None for headings and unindented blocks."""
    headings = [(heading.start, heading.end) for heading in reading.headings]
    others = sorted([*headings, *((block.start, block.end) for block in reading.blocks)])
    text, place, number = reading.text, reading.body_start, 0
    node: _Node | None = None
    while place < len(text):
        while number < len(others) and others[number][1] <= place:
            number += 1
        end = text.find("\n", place) + 1 or len(text)
        line = text[place:end].rstrip()
        indent = len(line) - len(line.lstrip(" \t>"))
        is_other = number < len(others) and others[number][0] < end
        mark = None if is_other else _ITEM.match(text, place, end)
        if node is not None and (is_other or mark or not line.strip(" \t>")):
            yield node
            node = None
        if is_other:
            end = max(end, others[number][1])
            yield _Node(place, end, indent) if indent else None
        elif mark or (node is None and line.strip(" \t>")):
            node = _Node(place, place + len(line), indent, mark)
        elif node is not None:
            node.end = place + len(line)
        place = end
    if node is not None:
        yield node
