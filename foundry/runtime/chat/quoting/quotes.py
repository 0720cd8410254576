"""Quotes units of a passage, with their context.

An item is quoted below the sentence that introduces the list, a row below the column names, and a
sentence or an item with the code that follows it. Omissions are marked. Otherwise the text is only
stripped of the markup of links, emphasis and footnotes. A short answer, or a "No", is quoted with
its question.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ...index.records import GOES_ON, shorten
from ..text import MIN_SENTENCE, keep_plain
from .announcing import ends_with_colon
from .lines import row_of
from .unit import Unit
from .units import IS_NEEDED, MAX_UNIT

_POLAR = re.compile(r"(?:yes|no|ja|nein|oui|non|s[i\u00ed])\b", re.IGNORECASE)
_OTHERWISE = re.compile(r"(?:otherwise|if not|else|sonst|andernfalls|ansonsten)\b", re.IGNORECASE)
_NAME = re.compile(r"`[^`\s]{3,}`")
# Limits for the text after a sentence
MAX_CODE_LINES, MAX_MEMBERS, MAX_STEPS = 10, 5, 10


@dataclass(frozen=True, slots=True)
class Quote:
    """A quotation: its first sentence, if it has one, and the blocks that belong to it.

    `above` is the heading, label or question above it. `label` is that of the tab around it, or a
    heading that is a code.
    """

    lead: str
    rest: tuple[str, ...]
    above: str = ""
    label: str = ""

    def cite(self, mark: str) -> str:
        """Return the quotation with a citation after its first sentence."""
        label = (keep_plain(self.label),) if self.label else ()
        first = (f"{self.lead} {mark}",) if self.lead else ()
        return "\n\n".join([*label, *first, *self.rest, *(() if first else (mark,))])


def quote_units(
    units: Sequence[Unit], chosen: Sequence[Unit], worth: Callable[[str], float]
) -> Iterator[Quote]:
    """Yield quotations of the `chosen` units of a passage, with their context.

    Among several code blocks below a sentence, those with the highest `worth` are shown.
    """
    quoting = _Quoting(units, chosen, worth)
    for place, unit in enumerate(units):
        if unit in chosen and unit not in quoting.shown:
            yield quoting.quote(unit, units[place + 1 :])


class _Quoting:
    """Quotes each unit once."""

    def __init__(
        self, units: Sequence[Unit], chosen: Sequence[Unit], worth: Callable[[str], float]
    ) -> None:
        self.shown: set[Unit] = set()
        self._units = units
        self._worth = worth
        self._labelled = ""  # The last heading that was shown as a label
        self._wanted = set(chosen)
        for unit in chosen:
            while before := unit.stem or unit.before:
                unit = before
                self._wanted.add(unit)

    def quote(self, unit: Unit, following: Sequence[Unit]) -> Quote:
        """Return the quotation of a unit, together with the unit to which it refers back."""
        before = unit.before
        quote = self._quote(unit, following)
        if before is None or before in self.shown:
            return quote
        first = self._quote(before, ())
        if not first.rest and len(first.lead) + len(quote.lead) < MAX_UNIT:
            lead = keep_plain(f"{_cut(before.text)} {_cut(unit.text)}")
            return replace(quote, lead=lead)
        return replace(quote, lead=first.lead, rest=(*first.rest, quote.lead, *quote.rest))

    def _quote(self, unit: Unit, following: Sequence[Unit]) -> Quote:
        while unit.stem:
            unit = unit.stem
        label = unit.tab
        if not label and unit.above != self._labelled and IS_NEEDED.fullmatch(unit.above):
            label = self._labelled = unit.above
        if unit.kind == "row":
            rows = [one for one in self._units if one.block == unit.block and one.kind == "row"]
            shown = [one for one in rows if one in self._wanted] if unit.names else [unit]
            self.shown.update(shown)
            if not unit.names:
                return Quote(keep_plain(_cut(unit.text)), (), label=label)
            return Quote("", (_table(rows, shown),), label=label)
        said, unit = self._up_to_block(unit, following)
        if unit.is_answer and (len(said) < MIN_SENTENCE or _POLAR.match(said)):
            said = f"{unit.question} {said}"
        rest = (*self._rest(unit), *self._use_of_names(unit))
        above = f"{unit.above} {unit.tab} {unit.question}"
        return Quote(keep_plain(_cut(said)), rest, above, label)

    def _up_to_block(self, unit: Unit, following: Sequence[Unit]) -> tuple[str, Unit]:
        """Return the text of a sentence, and the unit with which the text ends.

        Up to two sentences of its paragraph are added if the last has code or a list below, and the
        next one if it tells the other case: "Otherwise, ...".
        """
        said = unit.text
        other = next(iter(following), None)
        if other and other.before is unit and _OTHERWISE.match(other.text):
            self.shown.update((unit, other))
            return f"{said} {other.text}", other
        if not (unit.code or unit.members or unit.next):
            for place, other in enumerate(following[:2], start=1):
                if other.kind != "sentence" or other.block != unit.block:
                    break
                said += f" {other.text}"
                if (other.code or other.members) and len(said) <= MAX_UNIT:
                    self.shown.update((unit, *following[:place]))
                    return said, other
        self.shown.add(unit)
        return unit.text, unit

    def _use_of_names(self, unit: Unit) -> Iterator[str]:
        """Yield the next paragraph with its code, if the code has a name from the sentence.

        "First install `x`." may be followed by "Activate the environment, and run:".
        """
        place = self._units.index(unit) + 1
        if unit.kind != "sentence" or unit.code or unit.members or unit.next or unit.details:
            return
        _, group = next(groupby(self._units[place:], lambda one: one.block), (0, iter(())))
        paragraph = [*group]
        if not paragraph or paragraph[0].block == unit.block:
            return
        last = paragraph[-1]
        is_near = last.kind == "sentence" and (last.above, last.tab) == (unit.above, unit.tab)
        names = (name[1:-1] for name in _NAME.findall(unit.text))
        if is_near and ends_with_colon(last.text) and any(name in last.code_text for name in names):
            self.shown.update(paragraph)
            yield keep_plain(_cut(" ".join(one.text for one in paragraph)))
            yield from self._rest(last)

    def _rest(self, unit: Unit) -> Iterator[str]:
        """Yield the blocks that belong to a unit; if none follow its colon, a sign of omission."""
        belonging = [*self._belonging(unit)]
        # The announced text may be in the next passage.
        yield from belonging or ([GOES_ON] if ends_with_colon(unit.text) else [])

    def _belonging(self, unit: Unit) -> Iterator[str]:
        self.shown.add(unit)
        yield from self._code(unit)
        if unit.members:
            yield from _tab_label(unit.members[0], unit)
            yield from self._members(unit.members)
        elif unit.next and not unit.code:
            above = unit
            for _, group in groupby(unit.next, lambda one: one.block):
                *begun, last = group
                self.shown.update((*begun, last))
                yield from _tab_label(last, above)
                above = last
                yield keep_plain(_cut(" ".join(one.text for one in (*begun, last))))
                yield from self._rest(last)
        yield from self._details(unit)

    def _details(self, item: Unit) -> Iterator[str]:
        """Yield the wanted sentences of an item, with those before them or a sign of omission."""
        skipped: list[Unit] = []
        above = item
        for unit in item.details:
            is_told = unit.is_question or unit.is_answer or unit.code or unit.members
            if unit not in self._wanted and not is_told:
                skipped.append(unit)
                continue
            if sum(len(one.text) for one in skipped) > MAX_UNIT:
                yield GOES_ON
                skipped = []
            for one in (*skipped, unit):
                yield from _tab_label(one, above)
                above = one
                yield keep_plain(_cut(one.text))
                yield from self._rest(one)
            skipped = []

    def _members(self, members: Sequence[Unit]) -> Iterator[str]:
        wanted = [one for one in members if one in self._wanted]
        is_steps = members[0].mark[:1].isdigit()
        if not wanted or (is_steps and len(members) <= MAX_MEMBERS):
            wanted = [*members[: MAX_STEPS if is_steps else MAX_MEMBERS]]
        if members[0].kind == "row":
            self.shown.update(wanted)
            yield _table(members, wanted)
            return
        lines: list[str] = []
        before = -1
        for place, item in enumerate(members):
            if item not in wanted:
                continue
            if place > before + 1:
                yield from _joined(lines)
                lines = []
                yield GOES_ON
            before = place
            # Markdown has no lists with markers such as `(a)`, nor lists of terms.
            is_list = item.mark[0] not in "(:"
            mark = "" if item.mark == ":" else f"{item.mark} "
            lines.append(f"{mark}{keep_plain(_cut(item.text))}" + ("" if is_list else "\n"))
            for block in self._rest(item):
                lines[-1] += "\n\n" + (_indent(block) if is_list else block)
        yield from _joined(lines)
        if before + 1 < len(members):
            yield GOES_ON

    def _code(self, unit: Unit) -> Iterator[str]:
        blocks = unit.code
        worths = [self._worth("\n".join([label, *code.lines])) for label, code in blocks]
        left, is_cut = MAX_CODE_LINES, False
        for worth, (label, code) in zip(worths, blocks, strict=True):
            if worth < max(worths) or left <= 0:
                is_cut = True
                continue
            if is_cut:
                yield GOES_ON
            lines = "\n".join(code.lines).strip("\n").split("\n")
            if label and label != unit.tab:
                yield keep_plain(label)
            yield _fenced(code.info, "\n".join(lines[:left]).rstrip())
            is_cut = len(lines) > left
            left -= len(lines)
        if is_cut:
            yield GOES_ON


def _joined(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield "\n".join(lines).rstrip("\n")


def _tab_label(unit: Unit, above: Unit) -> Iterator[str]:
    """Yield the label of the tab that begins between two units, if one does."""
    if unit.tab and unit.tab != above.tab:
        yield keep_plain(unit.tab)


def _indent(block: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in block.split("\n"))


def _fenced(info: str, text: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    name = re.match(r"[\w+#.-]*", info)
    return f"{fence}{name[0] if name else ''}\n{text}\n{fence}"


def _table(rows: Sequence[Unit], shown: Sequence[Unit]) -> str:
    """Return a table of some rows, with marks where others are omitted."""
    names = rows[0].names
    lines = [row_of(names), f"|{'---|' * len(names)}"]
    for is_shown, group in groupby(rows, lambda row: row in shown):
        lines += [row.text for row in group] if is_shown else [row_of([GOES_ON])]
    return "\n".join(lines)


def _cut(text: str) -> str:
    return shorten(text, MAX_UNIT)
