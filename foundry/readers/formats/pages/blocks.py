"""Blocks of Markdown, and functions that join and nest them."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from foundry.documents import Link, Reading, Span
from foundry.readers.composing import Composer, fence
from foundry.readers.decoding import normalise

_MARKER = re.compile(r"(?:[-+*>]|#{1,6})(?=\s|$)|(?=```|~~~)")
"""Text at the start of a paragraph that would start another block."""
# A local path: no other site, and no embedded data.
_LOCAL = re.compile(r"(?![A-Za-z][\w+.-]*:|//)[^\s()<>\\]{1,500}")
_TICKS = re.compile("`+")

CLOSED_SIGN = "\u25b8"
TAB, CLOSED = "**[{}]**", f"{CLOSED_SIGN} **{{}}**"
"""Forms of the titles of tabs and collapsed blocks, which the document page recognises."""


class Block(NamedTuple):
    """A part of a page: Markdown, and spans that stay whole; a heading has a level.

    A heading without text ends the sections of its level.
    """

    text: str
    level: int = 0
    spans: tuple[Span, ...] = ()


def paragraph(text: str) -> str:
    """Return the lines of a paragraph with Markdown line breaks; two breaks separate paragraphs."""
    if "\n" not in text:
        text = " ".join(text.split())
        return f"\\{text}" if _MARKER.match(text) else text
    lines = (" ".join(line.split()) for line in text.strip(" \n").split("\n"))
    return re.sub(r"\n{2,}", "\0", "\n".join(lines)).replace("\n", "  \n").replace("\0", "\n\n")


def add_to(composer: Composer, blocks: Iterable[Block], links: tuple[Link, ...] = ()) -> None:
    """Add blocks with these links to a document."""
    for block in blocks:
        if block.level and block.text:
            composer.heading(block.level, block.text)
        elif block.level:
            composer.end_section(block.level)
        else:
            composer.include(Reading(block.text, blocks=block.spans, links=links))


def unsplit(text: str) -> list[Block]:
    """Return a text as a block that stays whole; nothing for an empty text."""
    return [Block(text, 0, (Span(0, len(text)),))] if text else []


def fenced(code: str, language: str) -> list[Block]:
    """Return code in a fence longer than any fence inside it; nothing for empty code."""
    return unsplit(fence(code.strip("\n"), language) if code.strip() else "")


def code_span(text: str) -> str:
    """Return a line of code between more backticks than it contains."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {text} {ticks}" if longest else f"`{text}`"


def flat(block: Block) -> str:
    """Return a block as part of a table cell: on one line, with code as a span."""
    if block.spans and block.text.startswith("```"):
        lines = [line.strip() for line in block.text.split("\n")[1:-1]]
        return code_span(" ".join(filter(None, lines)))
    if block.spans and block.text.startswith("|"):
        rows = [line.strip("| ") for line in block.text.split("\n")]
        return "; ".join(" ".join(row.split(" | ")) for row in rows if row.strip("-| "))
    said = (line.strip() for line in block.text.split("\n"))
    return " ".join(re.sub(r"^[-*] (?=\S)", "", line) for line in said if line)


def joined(blocks: Sequence[Block], joint: str = "\n") -> list[Block]:
    """Join blocks into one, each on a new line, and shift their spans."""
    if not blocks:
        return []
    starts = accumulate((len(block.text) + len(joint) for block in blocks), initial=0)
    spans = tuple(
        Span(start + span.start, start + span.end)
        for start, block in zip(starts, blocks, strict=False)
        for span in block.spans
    )
    return [Block(joint.join(block.text for block in blocks), 0, spans)]


def picture(alternative: str, source: str) -> str | None:
    """Return a picture as Markdown, without a target if its file is elsewhere.

    None if Markdown cannot express it, or if nothing would be left of it.
    """
    words = " ".join(normalise(alternative).split())
    target = source if _LOCAL.fullmatch(source) else ""
    if not (words or target) or any(sign in words for sign in "[]"):
        return None
    return f"![{words}]({target})"


def nested(
    blocks: Sequence[Block], first: str, others: str, *, is_item: bool = False
) -> list[Block]:
    """Return blocks as one, with line prefixes for a quotation or a list item."""
    blocks = [block for block in blocks if block.text]
    if not blocks:
        return []
    written = [
        block._replace(text=f"{'#' * block.level} {block.text}", level=0) if block.level else block
        for block in blocks
    ]
    # A nested list follows its item without a blank line.
    is_tight = is_item and len(written) == 2 and re.match(r"(?:[-*]|\w{1,9}\.) ", written[1].text)
    (whole,) = joined(written, "\n" if is_tight else "\n\n")
    lines = whole.text.split("\n")
    marked = [
        (
            (first if place == 0 else others) + line
            if line
            else (first if place == 0 else others).rstrip()
        )
        for place, line in enumerate(lines)
    ]
    old = [0, *accumulate(len(line) + 1 for line in lines)]
    new = [0, *accumulate(len(line) + 1 for line in marked)]

    def moved(span: Span) -> Span:
        begin = next(place for place, start in enumerate(old) if start >= span.start)
        end = next(place for place, start in enumerate(old) if start > span.end - 1)
        return Span(new[begin], new[end] - 1)

    return [Block("\n".join(marked), 0, tuple(map(moved, whole.spans)))]


def emphasised(text: str, sign: str, before: str, after: str) -> str:
    """Return the text between emphasis marks, unless these would split a word."""
    said = text.strip()
    if not said or "\n" in said or said[0] in "*~=" or said[-1] in "*~=":
        return text
    begins_inside = _is_letter(before[-1:]) and text[0] == said[0] and _is_letter(said[0])
    ends_inside = _is_letter(after) and text[-1] == said[-1] and _is_letter(said[-1])
    if begins_inside or ends_inside:
        return text
    lead = " " if text[0].isspace() else ""
    tail = " " if text[-1].isspace() else ""
    return f"{lead}{sign}{said}{sign}{tail}"


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


def link(text: str, target: str) -> str:
    """Return a link, with the text's outer spaces outside."""
    lead = " " if text[:1].isspace() else ""
    tail = " " if text[-1:].isspace() else ""
    if re.search(r"[\s()<>]", target):
        target = " ".join(target.replace("<", "%3C").replace(">", "%3E").split())
        target = f"<{target}>"
    return f"{lead}[{' '.join(text.split())}]({target}){tail}"


def anchor_of(title: str) -> str:
    """Return the anchor of the section with this title on a document's page."""
    return re.sub(r"[\W_]+", "-", title.lower()).strip("-")


def panel(title: str, blocks: Sequence[Block], sign: str) -> list[Block]:
    """Return a box, or content that is shown after a click, as a quotation below its title.

    Content with headings follows its title instead, because headings in quotations are not part of
    the outline. `sign` is the form of the title, such as TAB or CLOSED.
    """
    whole = [Block(sign.format(title)), *blocks]
    has_headings = any(block.level for block in blocks)
    return whole if has_headings else nested(whole, "> ", "> ")


def labelled(label: str, blocks: Sequence[Block]) -> list[Block]:
    """Return the content of a labelled block, such as a note, starting on the label's line."""
    if not label:
        return list(blocks)
    if blocks and not blocks[0].level and not blocks[0].spans and "\n" not in blocks[0].text:
        return [Block(f"**{label}:** {blocks[0].text}"), *blocks[1:]]
    return [Block(f"**{label}**"), *blocks]
