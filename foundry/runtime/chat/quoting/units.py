"""Splits a passage into units: sentences, list items and table rows."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...index.records import shorten
from ..text import MIN_SENTENCE, find_sentence_ends
from .announcing import announces, ends_with_colon, goes_on
from .blocks import (
    Block,
    Code,
    Heading,
    Item,
    Listing,
    Paragraph,
    Tab,
    Table,
    introduces,
    read_blocks,
)
from .lines import inline, row_of, without_notes
from .unit import Unit

MAX_UNIT, MAX_LABEL, MAX_HEAD = 400, 40, 100  # Characters

_QUESTION = re.compile(r"[?\uff1f\u061f][\s\"'*_)\u201d\u2019]*\Z")
_DENIAL = re.compile(r"No\.(?=\s+\D)")
_PICTURE = re.compile(r"\s*!\[[^\[\]]*\]\([^()\s]*\)\s*")
_STOPPED = re.compile(r"[.!?:;,\u061f\u06d4\u0964\u3002\uff01\uff1a\uff1f][\s*_]*\Z")
# A heading without which the text below it says little, or the opposite: `28` above "The operation
# timed out", `Removed` above "Support for Python 3.8"
IS_NEEDED = re.compile(
    r"(?!(?:chapter|section|part|step|appendix|figure|table|page|kapitel|abschnitt|teil|schritt)\b)"
    r"[^\W\d]*\W*\d[\d.x-]*"
    r"|(?:(?:and|or|bug|breaking|deprecations?|changes?) )*(?:removed|removals?|deleted|dropped"
    r"|deprecated|deprecations?|unsupported|not \w+|fixed|(?:bug ?)?fixes|known \w+|limitations"
    r"|don['\u2019]?ts?|incorrect|wrong|entfernt|veraltet|nicht \w+|behoben)(?: (?:and|or|&) \w+)*",
    re.IGNORECASE,
)
_CALLOUT_NAME = re.compile(r"[A-Za-z]+:")
_ENTRY = re.compile(r"\s*(\*\*|__)(?!\s)(?:(?!\1).)+\1:?[ \t]+\w")  # `**Speed** 30 feet`
_PANEL = re.compile(r"\u25b8 (.*[^?\uff1f\u061f])")  # The title of a closed block
_STEP = re.compile(r"(?:\w+ )?\d{1,2}[.:)]\s|[\u2460-\u2473]")
# Sentences that say nothing without the one before them, or without the code above them
_REFERS_BACK = re.compile(
    r"(?:this|that|these|those|doing so)\b|[^.,]{0,40}\babove\b"
    r"|the (?:previous|preceding) (?:code|command|example|line|query|statement|step)\b"
    r"|(?:(?:for|por|par|zum) )?(?:example|instance|ejemplo|exemple|beispiel):"
    r"|(?:otherwise|if not|else|sonst|andernfalls|ansonsten|sinon|si no)\b",
    re.IGNORECASE,
)


def read_units(text: str, heading: str = "") -> list[Unit]:
    """Return the units of a passage, in order; `heading` is above the passage."""
    reader = _Reader(heading if _QUESTION.search(heading) else "")
    reader.above = heading if IS_NEEDED.fullmatch(heading) else ""
    reader.read(read_blocks(text), None)
    return reader.units


class _Reader:
    """Turns blocks into units."""

    def __init__(self, question: str) -> None:
        self.units: list[Unit] = []
        self.above, self.tab, self.question = "", "", question
        # A question applies only to the text directly below it; a heading applies to everything
        # below it.
        self.is_answer = self._is_heading = bool(question)
        self._block = 0

    def read(self, blocks: Sequence[Block], item: Unit | None) -> None:
        """Add the units of blocks; `item` is the item that they belong to."""
        last, label = item, ""
        opener: Unit | None = None
        is_announced = False
        for place, block in enumerate(blocks):
            self._block += 1
            if not (self._is_heading or self.is_answer):
                self.question = ""  # The previous block answered it.
            match block:
                case Heading():
                    self._look_up(block.text)
                    last = opener = None
                case Tab():
                    self.tab = block.label
                    if last and last.tab not in ("", self.tab):
                        # What another tab has says nothing about this one.
                        last, opener, is_announced = None, None, False
                case Paragraph():
                    following = blocks[place + 1] if place + 1 < len(blocks) else None
                    if _PICTURE.fullmatch(block.text):
                        continue
                    text = inline(block.text)
                    if isinstance(following, Paragraph) and _CALLOUT_NAME.fullmatch(text):
                        continue
                    if panel := _PANEL.fullmatch(text):
                        self.above = panel[1]
                        continue
                    if _is_label(text, following) and not _ENTRY.match(block.text):
                        label = text
                        if not (isinstance(following, Code) and last):
                            self.above = text
                        continue
                    made = self._sentences(without_notes(text), last, item)
                    if is_announced and last and made and not last.code:
                        opener = last
                        opener.next += made
                    elif opener and made and _is_step(made[0]) and _is_step(opener.next[0]):
                        opener.next += made
                    last = made[-1] if made else last
                    is_announced = bool(made) and goes_on(made[-1].text, following)
                case Code():
                    last = last or self._add(Unit("", "code"))
                    last.code.append((label or self.tab, block))
                    is_announced = False
                case Listing():
                    above = None if last is None or last.code else last
                    stem = above if above and announces(above.text, introduces) else None
                    if any(map(_is_short, block.items)):
                        stem = above or self._add(Unit("", "code"))
                    self._items(block, stem)
                    last, opener, is_announced = None, None, False
                case Table():
                    stem = last if last and announces(last.text, ends_with_colon) else None
                    self._rows(block, stem)
                    last, opener, is_announced = None, None, False
            label = ""

    def _look_up(self, heading: str) -> None:
        heading = inline(heading)
        is_question = _QUESTION.search(heading) is not None
        self.above, self.question = ("", heading) if is_question else (heading, "")
        self.is_answer = self._is_heading = is_question

    def _add(self, unit: Unit) -> Unit:
        unit.block, unit.above, unit.question = self._block, self.above, self.question
        unit.tab = self.tab
        unit.words = unit.words or unit.text
        if unit.kind != "row" and _QUESTION.search(unit.text):
            unit.is_question = True
            self.question, self.is_answer, self._is_heading = unit.text, True, False
        else:
            unit.is_answer, self.is_answer = self.is_answer, False
        self.units.append(unit)
        return unit

    def _sentences(self, text: str, last: Unit | None, item: Unit | None) -> list[Unit]:
        """Add the sentences of a paragraph, which follow the unit `last`; return their units."""
        made: list[Unit] = []
        ends = [0, *find_sentence_ends(text, 0, len(text)), len(text)]
        for said in (text[start:end].strip() for start, end in pairwise(ends)):
            # Elsewhere, "No." may mean "number".
            denial = _DENIAL.match(said) if self.is_answer else None
            parts = [said[: denial.end()], said[denial.end() :]] if denial else [said]
            for part in (each.strip().removeprefix(": ") for each in parts):
                if not any(map(str.isalnum, part)):
                    continue
                if item and not item.is_question:
                    words = f"{shorten(item.words, MAX_HEAD)} {part}"
                    unit = Unit(part, words=words, stem=item)
                    item.details.append(unit)
                else:
                    is_apart = last is None or (last.above, last.tab) != (self.above, self.tab)
                    # A sentence may go on below its code.
                    refers = _REFERS_BACK.match(part) or (last and last.code and part[0].islower())
                    unit = Unit(part, before=last if refers and not is_apart else None)
                last = self._add(unit)
                made.append(last)
        return made

    def _ask(self, item: str) -> str:
        """Return an item without a question at its beginning, which the rest then answers."""
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
            text = without_notes(inline(first.text)) if isinstance(first, Paragraph) else ""
            text = self._ask(text).removeprefix(": ")
            if not any(map(str.isalnum, text)):
                self.read(blocks, None)
                continue
            mark = item.mark if item.mark[0] not in "*+\u2022" else "-"
            end = len(text)
            if end > MAX_UNIT:
                end = next(find_sentence_ends(text, 0, end), end)
            begun = text[:end].strip()
            said = f"{mark} {begun}" if mark[0] == "(" else begun
            words = f"{stem.words} {said}" if stem else said
            unit = self._add(Unit(begun, "item", words, mark=mark, stem=stem))
            if stem:
                stem.members.append(unit)
            self._sentences(text[end:], unit, unit)
            self.read(blocks[1:], unit)
        self._block += 1

    def _rows(self, table: Table, stem: Unit | None) -> None:
        names = tuple(map(inline, table.names))
        for row in table.rows:
            cells = [inline(cell) for cell in row]
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


def _is_step(unit: Unit) -> bool:
    """Return whether a sentence begins with a number: `Step 2: wait`."""
    return _STEP.match(unit.text) is not None


def _is_short(item: Item) -> bool:
    """Return whether an item is too short to be quoted without what introduces the list."""
    match item.blocks:
        case [Paragraph(text)]:
            return len(text) < MIN_SENTENCE
    return False


def _is_label(text: str, following: Block | None) -> bool:
    """Return whether a paragraph is a label for the block below it, such as the name of a tab."""
    most = MAX_LABEL if isinstance(following, Code) else MIN_SENTENCE - 1
    return len(text) <= most and text[:1] not in "$[" and not _STOPPED.search(text)


def sentences(text: str) -> Iterator[str]:
    """Yield the texts of units, cut to MAX_UNIT; short ones and introductions are skipped."""
    for unit in read_units(text):
        said = shorten(unit.words, MAX_UNIT)
        if len(said) >= MIN_SENTENCE and not unit.members:
            yield said
