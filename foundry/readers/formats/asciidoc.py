"""AsciiDoc: its text as Markdown, with its sections as outline.

Files that a document includes are not read, and conditions (`ifdef::`) are not evaluated.
"""

import re
from collections.abc import Iterator

from foundry.material import Reading
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader
from foundry.readers.dates import normalise_date

MAX_CELLS = 1_000_000  # A larger table is kept as it was written.
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|```|\|===)([\w+-]*)[ \t]*$")
_DROPPED = re.compile(
    r"//(?!/)|(?:={4,}|\*{4,}|_{4,}|--|\+|'''|<<<)[ \t]*$"
    r"|(?:include|toc|ifdef|ifndef|ifeval|endif)::"
)
_BLOCK = re.compile(r"\[(?:\[[^\[\]]*\]|[^\[\]]*)\][ \t]*$")
_ATTRIBUTE = re.compile(r":([\w-]{1,60}):(?:[ \t]+(.*))?$")
_SOURCE = re.compile(r"\[(?:source|,)[^\]]{0,20}?,[ \t]*([\w+-]{1,20})")
_COLUMNS = re.compile(r"\bcols=\"?([^\"\]]{1,500})")
_TITLE = re.compile(r"\.(?=[^\s.])(.*)")
_ITEM = re.compile(r"^[ \t]*(?:(\*{1,5}|-)|(\.{1,5}))[ \t]+(?=\S)")
_TERM = re.compile(r"^[ \t]*(\S[^\n:]{0,200}):{2,4}(?=[ \t]|$)")
# How a cell is set may be told before it, as in `2+^s|`.
_CELL = re.compile(
    r"(?:(?:^|(?<=\s))(?:([1-9])?(?:\.[0-9]{1,3})?[+*])?[<^>.]{0,4}[adehlmsv]?)?(?<!\\)\|"
)
_INLINE = re.compile(
    r"\b(?:link|xref):(?P<target>[^\s\[\]]{1,500}+)\[(?P<label>[^\]\n]{0,300}+)\]"
    r"|(?P<url>https?://[^\s\[\]]{1,500}+)\[(?P<named>[^\]\n]{0,300}+)\]"
    r"|<<(?P<place>[^<>,]{1,200}+)(?:,(?P<reference>[^<>]{1,300}))?>>"
    r"|\b(?:image|icon)::?[^\s\[\]:]{1,300}+\[(?P<alt>[^\[\],\n]{0,300}+)[^\[\]\n]{0,300}+\]"
    r"|\bfootnote:[\w-]{0,50}\[(?P<note>[^\[\]\n]{0,2000}+)\]"
    r"|\b(?:kbd|btn|pass|stem|menu):(?P<menu>[^\s\[\]]{0,100}+)\[(?P<keys>[^\]\n]{0,300}+)\]"
    r"|\[\[[^\[\]\n]{1,200}\]\]|\[[.#][\w.#-]{1,60}\](?=#)"
    r"|\{(?P<attribute>[\w-]{1,60})\}"
)


def read(text: str) -> Reading:
    """Read a document; a listing or a table stays whole if it fits into a chunk."""
    composer, attributes, held = Composer(), dict[str, str](), list[str]()

    def inline(line: str) -> str:
        return _INLINE.sub(lambda match: _unwrap(match, attributes), line)

    def flush() -> None:
        composer.text(inline("\n".join(held)))
        held.clear()

    block = ""  # What the lines above say of a block.
    lines = iter(text.split("\n"))
    for line in lines:
        if fence := _FENCE.match(line):
            flush()
            content = _until(lines, fence[0].rstrip())
            if fence[1] == "|===" and sum(row.count("|") for row in content) <= MAX_CELLS:
                composer.table([[*map(inline, row)] for row in _rows(content, block)])
            elif not fence[1].startswith("/"):
                language = _SOURCE.match(block)
                name = fence[2] or (language[1] if language else "")
                mark = "````" if any(each.startswith("```") for each in content) else "```"
                composer.text("\n".join([mark + name, *content, mark]), is_block=True)
        elif heading := _HEADING.match(line):
            flush()
            composer.heading(len(heading[1]), inline(heading[2]))
        elif attribute := _ATTRIBUTE.match(line):
            attributes[attribute[1]] = (attribute[2] or "").strip()
        elif _BLOCK.match(line):
            block += line
            continue
        elif titled := _TITLE.match(line):
            held.append(titled[1])
            continue
        elif not _DROPPED.match(line):
            held.append(_TERM.sub(r"\1:", _ITEM.sub(_mark_item, line, count=1), count=1))
        block = ""
    flush()
    return composer.finish(
        modified=normalise_date(attributes.get("revdate") or attributes.get("docdate")),
        language=attributes.get("lang"),
    )


def _mark_item(item: re.Match[str]) -> str:
    return "  " * (len(item[1] or item[2]) - 1) + ("- " if item[1] else "1. ")


def _until(lines: Iterator[str], fence: str) -> list[str]:
    content = []
    for line in lines:
        if line.rstrip() == fence:
            break
        content.append(line)
    return content


def _rows(lines: list[str], block: str) -> list[list[str]]:
    """Return the rows of a table; the first line says how many columns there are, if no `cols`."""
    filled = [line for line in lines if line.strip()]
    cells: list[str] = []
    width = 0
    for line in filled:
        before, *begun = _CELL.split(line)
        if cells and before.strip():
            cells[-1] += f" {before.strip()}"
        for span, cell in zip(begun[::2], begun[1::2], strict=True):
            cells += [cell.strip().replace("\\|", "|"), *[""] * (int(span or 1) - 1)]
        width = width or len(cells)
    if columns := _COLUMNS.search(block):
        repeated = re.match(r"(\d{1,3})\*", columns[1])
        width = int(repeated[1]) if repeated else len(re.split("[,;]", columns[1]))
    width = max(1, width)
    return [cells[place : place + width] for place in range(0, len(cells), width)]


def _unwrap(match: re.Match[str], attributes: dict[str, str]) -> str:
    if target := match["target"] or match["url"]:
        label = match["label"] or match["named"] or target
        return f"[{label.rstrip('^')}]({target})"
    if name := match["attribute"]:
        return attributes.get(name, match[0])
    if note := match["note"]:
        return f" ({note})"
    if menu := match["menu"]:
        return f"{menu} > {match['keys']}" if match["keys"] else menu
    return match["reference"] or match["place"] or match["alt"] or match["keys"] or ""


READER = Reader("asciidoc/2", dict.fromkeys((".adoc", ".asciidoc"), "text/asciidoc"), read)
