"""Splits a passage into units: sentences, list items and table rows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import pairwise
from typing import Literal

from ...retrieval.markup import strip_marks
from ..text import MIN_SENTENCE, find_sentence_ends, keep_plain, shorten
from .blocks import Block, Code, Heading, Listing, Paragraph, Table, introduces, read_blocks

MAX_UNIT, MAX_LABEL = 400, 40  # Characters per unit.

_CODE = r"(?<!`)(?P<code>`+)(?!`).{1,400}?(?<!`)(?P=code)(?!`)"
_ENTITY_OR_SPACE = re.compile(rf"{_CODE}|&#?\w{{1,31}};|[^\S ]| {{2,}}")
# Text that looks like a citation can be a footnote mark: `It stood.[1] So they say. [2] The wall`.
# If there is one such mark, `the wall [3] is old` contains another.
_MARKS = r"\[\d{1,3}\](?: ?\[\d{1,3}\])*"
_SURE_NOTE = re.compile(rf"{_CODE}|(?<=[.,;:!?]){_MARKS}|(?<=[.!?]) {_MARKS}(?= [^\Wa-z\d_]|\Z)")
_NOTE = re.compile(rf"{_CODE}|(?<=\w) {_MARKS}(?=[.,;:!?]| (?!(?:and|or|to)\b)|\Z)")
_QUESTION = re.compile(r"[?\uff1f\u061f][\s\"'*_)\u201d\u2019]*\Z")
_DENIAL = re.compile(r"No\.(?=\s+\D)")
_STOPPED = re.compile(r"[.!?:;,\u3002\uff1a][\s*_]*\Z")
_CALLOUT = re.compile(r"\[![A-Za-z]+\][-+]?[ \t]*")
_CALLOUT_NAME = re.compile(r"[A-Za-z]+:")
_PANEL = re.compile(r"\u25b8 (.*[^?\uff1f\u061f])")  # The title of a closed block
_TASK = re.compile(r"\[[ xX]\][ \t]+(?=\S)")


Kind = Literal["sentence", "item", "row"]


@dataclass(slots=True, eq=False)
class Unit:
    """A sentence, list item or table row, as one line of Markdown.

    Of inline markup, only code is kept.

    `words` is its text with the sentence or the column names that introduce it. `stem` is that
    sentence; `block` distinguishes lists and tables. `above` is the heading or label above the
    unit, `question` a question before it, and `is_answer` means that the question is directly
    before it.
    """

    text: str
    kind: Kind = "sentence"
    words: str = ""
    block: int = 0
    mark: str = ""
    names: tuple[str, ...] = ()
    stem: "Unit | None" = None
    above: str = ""
    question: str = ""
    is_question: bool = False
    is_answer: bool = False
    # Blocks of code, each with its label
    code: list[tuple[str, Code]] = field(default_factory=list)
    members: "list[Unit]" = field(default_factory=list)  # Items or rows that the unit introduces
    # The next sentence, if the unit ends with a colon but introduces no code, items or rows
    next: "Unit | None" = None

    @property
    def is_quotable(self) -> bool:
        """Whether the unit is informative by itself, or together with its context."""
        has_more = self.is_answer or self.code or self.members or self.next
        return not self.is_question and (bool(has_more) or len(self.words) >= MIN_SENTENCE)

    @property
    def code_text(self) -> str:
        """The code that follows, with its labels."""
        return "\n".join("\n".join([label, *code.lines]) for label, code in self.code)


def read_units(text: str, asked_above: str = "") -> list[Unit]:
    """Return the units of a passage, in order; a question in `asked_above` is its heading."""
    reader = _Reader(asked_above if _QUESTION.search(asked_above) else "")
    reader.read(read_blocks(text), None)
    return reader.units


class _Reader:
    """Turns blocks into units."""

    def __init__(self, question: str) -> None:
        self.units: list[Unit] = []
        self.above, self.question = "", question
        # A question applies only to the text directly below it; a heading applies to everything
        # below it.
        self.is_answer = self._is_heading = bool(question)
        self._block = 0

    def read(self, blocks: Sequence[Block], before: Unit | None) -> None:
        """Add the units of blocks; `before` is the unit that they belong to."""
        last, label = before, ""
        is_announced = False
        for place, block in enumerate(blocks):
            self._block += 1
            if not (self._is_heading or self.is_answer):
                self.question = ""  # The previous block answered it.
            match block:
                case Heading():
                    self._look_up(block.text)
                    last = None
                case Paragraph():
                    following = blocks[place + 1] if place + 1 < len(blocks) else None
                    text = _inline(block.text)
                    if isinstance(following, Paragraph) and _CALLOUT_NAME.fullmatch(text):
                        continue
                    if panel := _PANEL.fullmatch(text):
                        self.above = panel[1]
                        continue
                    if _is_label(text, following):
                        label = text
                        if not (isinstance(following, Code) and last):
                            self.above = text
                        continue
                    made = self._sentences(text)
                    if is_announced and last and made and not last.code:
                        last.next = made[0]
                    last = made[-1] if made else last
                    is_announced = bool(made) and made[-1].text.endswith((":", "\uff1a"))
                case Code():
                    if last:
                        last.code.append((label, block))
                    is_announced = False
                case Listing():
                    stem = last if last and introduces(last.text) and not last.code else None
                    self._items(block, stem)
                    last, is_announced = None, False
                case Table():
                    stem = last if last and last.text.endswith((":", "\uff1a")) else None
                    self._rows(block, stem)
                    last, is_announced = None, False
            label = ""

    def _look_up(self, heading: str) -> None:
        heading = _inline(heading)
        is_question = _QUESTION.search(heading) is not None
        self.above, self.question = ("", heading) if is_question else (heading, "")
        self.is_answer = self._is_heading = is_question

    def _add(self, unit: Unit) -> Unit:
        unit.block, unit.above, unit.question = self._block, self.above, self.question
        unit.words = unit.words or unit.text
        if unit.kind != "row" and _QUESTION.search(unit.text):
            unit.is_question = True
            self.question, self.is_answer, self._is_heading = unit.text, True, False
        else:
            unit.is_answer, self.is_answer = self.is_answer, False
        self.units.append(unit)
        return unit

    def _sentences(self, text: str) -> list[Unit]:
        text, made = _without_notes(text), []
        ends = [0, *find_sentence_ends(text, 0, len(text)), len(text)]
        for said in (text[start:end].strip() for start, end in pairwise(ends)):
            # Elsewhere, "No." may mean "number".
            denial = _DENIAL.match(said) if self.is_answer else None
            parts = [said[: denial.end()], said[denial.end() :]] if denial else [said]
            for part in parts:
                if any(map(str.isalnum, part)):
                    made.append(self._add(Unit(part.strip())))
        return made

    def _ask(self, item: str) -> str:
        """Remove a question from the beginning of an item; the rest of the item answers it."""
        end = next(find_sentence_ends(item, 0, len(item)), 0)
        if end and _QUESTION.search(item[:end]):
            self.question, self.is_answer, self._is_heading = item[:end].strip(), True, False
            return item[end:]
        return item

    def _items(self, listing: Listing, stem: Unit | None) -> None:
        number = self._block
        for item in listing.items:
            self._block = number
            blocks = [*item.blocks]
            first = blocks[0] if blocks else None
            text = _without_notes(_inline(first.text)) if isinstance(first, Paragraph) else ""
            text = self._ask(text)
            if not any(map(str.isalnum, text)):
                self.read(blocks, None)
                continue
            mark = item.mark if item.mark[0] not in "*+\u2022" else "-"
            said = f"{mark} {text}" if mark[0] == "(" else text
            words = f"{stem.words} {said}" if stem else said
            unit = self._add(Unit(text, "item", words, mark=mark, stem=stem))
            if stem:
                stem.members.append(unit)
            self.read(blocks[1:], unit)
        self._block += 1

    def _rows(self, table: Table, stem: Unit | None) -> None:
        names = tuple(map(_inline, table.names))
        for row in table.rows:
            cells = [_inline(cell) for cell in row]
            # A hostile table can have many names and short rows, so names without cells are
            # ignored.
            pairs = [*zip(names, cells, strict=False)]
            named = [f"{name}: {cell}" if name else cell for name, cell in pairs if cell]
            named += filter(None, cells[len(names) :])
            if not named:
                continue
            words = ("; " if names else ", ").join(named)
            unit = self._add(Unit(row_of(cells), "row", words, names=names, stem=stem))
            if stem:
                stem.members.append(unit)


def _inline(text: str) -> str:
    """Return a paragraph, item or cell as one line, without markup other than code."""
    text = _TASK.sub("", _CALLOUT.sub("", text.replace("\\\n", "\n"), count=1), count=1)
    lines = strip_marks(text, keeps_code=True).split("\n")
    plain = " ".join(line.strip() for line in lines)
    return _ENTITY_OR_SPACE.sub(_read_entity, plain).strip()


def _read_entity(found: re.Match[str]) -> str:
    if found["code"]:
        return found[0]
    return unescape(found[0]) if found[0][0] == "&" else " "


def _without_notes(text: str) -> str:
    """Return a line without footnote marks."""
    less = _SURE_NOTE.sub(_keep_code, text)
    return text if less == text else _NOTE.sub(_keep_code, less)


def _keep_code(found: re.Match[str]) -> str:
    return found[0] if found["code"] else ""


def _is_label(text: str, following: Block | None) -> bool:
    """Return whether a paragraph is a label for the block below it, such as the name of a tab."""
    most = MAX_LABEL if isinstance(following, Code) else MIN_SENTENCE - 1
    return len(text) <= most and not _STOPPED.search(text)


def sentences(text: str) -> Iterator[str]:
    """Yield the text of each unit of a passage, cut to MAX_UNIT."""
    for unit in read_units(text):
        said = shorten(unit.words, MAX_UNIT)
        if len(said) >= MIN_SENTENCE and not unit.members:
            yield said


def row_of(cells: Sequence[str]) -> str:
    """Return cells as a Markdown table row."""
    escaped = (re.sub(r"(?<!\\)\|", r"\\|", keep_plain(cell)) for cell in cells)
    return f"| {' | '.join(escaped)} |"
