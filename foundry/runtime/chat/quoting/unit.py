"""A sentence, list item or table row that may be quoted, with its context."""

import re
from dataclasses import dataclass, field
from typing import Literal

from ..text import MIN_SENTENCE
from .blocks import Code

MIN_SPACES = 2  # Between the words of a sentence that is shorter than MIN_SENTENCE

_POINTER = re.compile(
    r"(?:for (?:further|more) (?:details|information),? )?(?:see|refer to)\b.{0,80}\Z"
    r"|see also:",
    re.IGNORECASE,
)

Kind = Literal["sentence", "item", "row", "code"]


@dataclass(slots=True, eq=False)
class Unit:
    """A sentence, list item or table row, as one line of Markdown.

    Of inline markup, only code is kept.

    `words` is its text with the sentence or the column names that introduce it. `stem` is that
    sentence; `block` distinguishes lists and tables. `above` is the heading or label above the
    unit, `question` a question before it, and `is_answer` means that the question is directly
    before it. A unit without text holds code, or a list, that no sentence introduces.
    """

    text: str
    kind: Kind = "sentence"
    words: str = ""
    block: int = 0
    mark: str = ""
    names: tuple[str, ...] = ()
    stem: "Unit | None" = None
    above: str = ""
    tab: str = ""  # The label of the tab that the unit is in: `[Windows]`
    question: str = ""
    is_question: bool = False
    is_answer: bool = False
    # Blocks of code, each with its label
    code: list[tuple[str, Code]] = field(default_factory=list)
    members: "list[Unit]" = field(default_factory=list)  # Items or rows that the unit introduces
    # The sentences below, if the unit ends with a colon, or the formula in which it goes on; empty
    # if it introduces code, items or rows
    next: "list[Unit]" = field(default_factory=list)
    before: "Unit | None" = None  # The unit to which a sentence refers back
    details: "list[Unit]" = field(default_factory=list)  # Further sentences of an item

    @property
    def is_quotable(self) -> bool:
        """Whether the unit is informative by itself, or together with its context."""
        has_more = self.is_answer or self.code or self.members or self.next
        is_listed = self.stem is not None and not self.stem.text
        # Bytes, since a few characters of some scripts say as much as many letters of others.
        is_long = len(self.words.encode()) >= MIN_SENTENCE or self.words.count(" ") >= MIN_SPACES
        is_more = is_long and (self.kind != "sentence" or not _POINTER.match(self.text))
        return not self.is_question and (bool(has_more) or is_listed or is_more)

    @property
    def code_text(self) -> str:
        """The code that follows, with its labels; for a unit without text, also its list."""
        items = [] if self.text else [one.text for one in self.members]
        code = ("\n".join([label, *code.lines]) for label, code in self.code)
        return "\n".join([*code, *items])
