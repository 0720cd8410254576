"""Reads MediaWiki markup with mwparserfromhell: single pages, and XML dumps.

Templates are not expanded, since they are rarely available: the text of their arguments is kept.
The parser takes quadratic time on hostile text, so it only runs in sandboxed workers.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import needs_extra
from foundry.readers.accounting.containers import wiki_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import decode, normalise
from foundry.readers.formats.office.scripts import ScriptedText
from foundry.readers.formats.pages.numbers import ListNumbers
from foundry.readers.formats.pages.tables import Cell, lay_out
from foundry.readers.formats.wikitext.templates import SIGNS, template
from foundry.readers.notes import leave_out

MAX_DEPTH = 40
"""Maximum nesting depth of markup; deeper text is left out."""
_ARTICLES = {"0", "4", "12"}
"""Namespaces with prose: articles, project, help. Custom ones begin at 100."""
_FORGOTTEN = frozenset("references ref templatestyles style script imagemap hr".split())
_CODE = frozenset(("pre", "source", "syntaxhighlight"))
_RAW = _CODE | {"nowiki", "math", "code", "tt", "poem"}
_MARKS = {"li": "*", "dd": ":", "dt": ";"}
_SCRIPTS = {"sup": "super", "sub": "sub", **dict.fromkeys(("s", "del", "strike"), "struck")}
_BREAK = "\u2028"  # A line break within a list item
_APART = "\ue001"  # The place of a note, which separates words
_OPTION = re.compile(
    r"thumb(?:nail)?|frame(?:d|less)?|border|left|right|center|none|upright.*|\d*x?\d*px|alt=.*|link=.*"
)
_ITEM = re.compile(r"([*#:;]+)[ \t]*")
_NOTED = re.compile(rf"(?<=\w){_APART}+(?=\w)|(?<=[.,;:!?]){_APART}+(?=\w)")
_NOWIKI = re.compile(r"</?nowiki\s*/?>")
_LISTED = re.compile(r"^[*#]", re.MULTILINE)
_SWITCH = re.compile(r"__[A-Z]{3,30}__")
_LANGUAGE_PREFIX = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,10})?:(?=\S)")


def read(content: bytes) -> Reading:
    """Read a page, with its sections as headings."""
    composer = Composer()
    _add_page(composer, decode(content)[0])
    return composer.finish()


def read_dump(root: Element) -> Reading:
    """Read the output of `Special:Export`: a section for the last revision of each page.

    Redirects, discussions, and pages about users, files and templates are left out. Raises
    UnreadableError if the parser is not installed.
    """
    if not READER.is_installed():
        raise UnreadableError(needs_extra(READER.extra))
    composer, dates = Composer(), []
    for page in root.iterfind("{*}page"):
        namespace = page.findtext("{*}ns", "0")
        is_own = namespace.isdecimal() and int(namespace) >= 100 and int(namespace) % 2 == 0
        revisions = page.findall("{*}revision")
        if not revisions or page.find("{*}redirect") is not None:
            continue
        is_text = revisions[-1].findtext("{*}model", "wikitext") == "wikitext"
        if is_text and (namespace in _ARTICLES or is_own):
            composer.heading(1, page.findtext("{*}title", ""))
            _add_page(composer, revisions[-1].findtext("{*}text", ""))
            dates.append(normalise_date(revisions[-1].findtext("{*}timestamp", "")) or "")
    title = root.findtext("{*}siteinfo/{*}sitename")
    return composer.finish(title=title, modified=max(dates, default="") or None)


def _add_page(composer: Composer, text: str) -> None:
    import mwparserfromhell

    notes: list[str] = []
    written = ScriptedText()

    def flush() -> None:
        composer.text(_tidy(str(written)))
        written.parts.clear()

    code: Any = mwparserfromhell.parse(text)
    for node in code.nodes:
        kind, tag = _kind(node)
        if kind == "Heading":
            flush()
            composer.heading(node.level, _tidy(_text(node.title, notes, 0)))
        elif tag == "table":
            flush()
            cells = [*_rows(node, notes, 0)]
            rows = lay_out(cells, 0) or [[cell.text for cell in row] for row in cells]
            captions = (each.contents for each in _inner(node, "td") if _is_caption(each))
            composer.text("\n".join(_tidy(_text(each, notes, 0)).lstrip("+ ") for each in captions))
            # A table with one column is used for layout.
            if max(map(len, cells), default=0) > 1:
                composer.table(rows)
            else:
                composer.text("\n\n".join(cell.text for row in cells for cell in row))
        elif tag in _CODE:
            flush()
            language = str(node.get("lang").value) if node.has("lang") else ""
            composer.code(str(node.contents).strip("\n"), language)
        else:
            written.put(_write(node, notes, 0), _script(node))
    flush()
    composer.text("\n".join(f"- {note}" for note in dict.fromkeys(notes)))


def _text(code: Any, notes: list[str], depth: int) -> str:
    """Return the text of nodes; texts of footnotes are added to `notes`."""
    if code is None or depth > MAX_DEPTH:
        return ""
    written = ScriptedText()
    for node in code.nodes:
        written.put(_write(node, notes, depth + 1), _script(node))
    return str(written)


def _script(node: Any) -> str:
    """Return `super`, `sub` or `struck` for superscript, subscript or struck text, else ""."""
    kind, tag = _kind(node)
    return _SCRIPTS.get(str(node.name).strip().casefold() if kind == "Template" else tag, "")


def _write(node: Any, notes: list[str], depth: int) -> str:
    kind, tag = _kind(node)
    if kind == "Text":
        return str(node.value)
    if kind == "Template":
        return _write_template(node, notes, depth)
    if kind == "Wikilink":
        return _write_link(node, notes, depth)
    if kind == "ExternalLink":
        shown = _text(node.title, notes, depth).strip()
        return f"[{shown}]({node.url})" if shown else str(node.url)
    if kind == "HTMLEntity":
        return str(node.normalize())
    if kind == "Argument":
        return _text(node.default, notes, depth)
    if kind == "Heading":
        return _text(node.title, notes, depth)
    return _write_tag(node, tag, notes, depth) if kind == "Tag" else ""


def _write_tag(node: Any, tag: str, notes: list[str], depth: int) -> str:
    if tag in _MARKS:
        return str(node.wiki_markup or f"\n{_MARKS[tag]} {_text(node.contents, notes, depth)}")
    if tag == "br":
        return _BREAK
    if tag == "ref":
        note = " ".join(_text(node.contents, notes, depth).split())
        notes += [note] if note else []
    if tag in _FORGOTTEN:
        # Text that follows a note without a space is not part of the word before the note.
        return _APART if tag == "ref" else ""
    if tag == "table":
        rows = _rows(node, notes, depth)
        return "\n".join(", ".join(filter(None, (cell.text for cell in row))) for row in rows)
    if tag == "gallery":
        pictures = _text(node.contents, notes, depth).split("\n")
        return "\n".join(each.partition("|")[2] for each in pictures)
    if tag == "ol":
        numbers = ListNumbers({str(each.name): str(each.value) for each in node.attributes}, 0)
        items = (_text(each.contents, notes, depth).strip() for each in _inner(node, "li"))
        return "".join(f"\n{numbers.next({})} {item}" for item in items) + "\n"
    if tag not in _RAW:
        inner = _text(node.contents, notes, depth)
        return f"\n{inner}\n" if tag in {"p", "div", "blockquote"} else inner
    raw = _NOWIKI.sub("", str(node.contents or ""))
    return {"math": f"${raw}$", "nowiki": raw, "poem": raw}.get(tag, f"`{raw}`" if raw else "")


def _write_template(node: Any, notes: list[str], depth: int) -> str:
    name = _text(node.name, notes, depth).strip()
    values = [(str(each.name).strip(), _text(each.value, notes, depth)) for each in node.params]
    lists = [bool(_LISTED.search(str(each))) for each in node.params]
    if values and all(lists):
        return "\n" + "\n".join(value.strip() for _, value in values) + "\n"
    return template(name, values)


def _write_link(node: Any, notes: list[str], depth: int) -> str:
    target = str(node.title).strip()
    shown = _text(node.text, notes, depth)
    space = target.partition(":")[0].strip().casefold() if ":" in target else ""
    if space in {"file", "image"}:
        said = shown.rpartition("|")[2].strip()
        return "" if _OPTION.fullmatch(said) else f"\n{said}\n"
    if space == "category" or (shown == "" and _LANGUAGE_PREFIX.match(target)):
        leave_out(Omission.METADATA, f"{target} {shown}")
        return ""
    return shown or target.lstrip(":").replace("_", " ")


def _rows(table: Any, notes: list[str], depth: int) -> Iterator[list[Cell]]:
    """Yield the rows of a table that have text."""
    # The first row may lack a row mark.
    for row in (table, *_inner(table, "tr")):
        found = (each for each in _inner(row, "td", "th") if not _is_caption(each))
        cells = [
            Cell(
                _tidy(_text(cell.contents, notes, depth)) or _names(cell.contents),
                is_head=_kind(cell)[1] == "th",
                columns=max(_span(cell, "colspan"), 1),
                rows=_span(cell, "rowspan"),
            )
            for cell in found
        ]
        if any(cell.text for cell in cells):
            yield cells


def _names(code: Any) -> str:
    """Return the names of the templates in a cell without other text, such as `yes`."""
    names = [str(each.name).strip() for each in code.nodes if _kind(each)[0] == "Template"]
    return " ".join(each for each in names if each.casefold() not in SIGNS)


def _span(cell: Any, name: str) -> int:
    """Return how many rows or columns a cell spans; 0 means all remaining rows."""
    written = str(cell.get(name).value).strip() if cell.has(name) else ""
    return int(written) if written.isdecimal() and len(written) < 5 else 1


def _is_caption(cell: Any) -> bool:
    # The parser treats `|+` as a cell.
    return str(cell.contents).startswith("+")


def _inner(node: Any, *tags: str) -> Iterable[Any]:
    return [each for each in node.contents.nodes if _kind(each)[1] in tags]


def _kind(node: Any) -> tuple[str, str]:
    kind = type(node).__name__
    return kind, str(node.tag).strip().casefold() if kind == "Tag" else ""


def _tidy(text: str) -> str:
    """Convert lists to Markdown, and drop behaviour switches."""
    lines = _number(_SWITCH.sub("", text).split("\n"))
    text = _NOTED.sub(" ", "\n".join(lines)).replace(_APART, "").replace(_BREAK, "\n")
    return re.sub(r"\n{3,}", "\n\n", normalise(text)).strip("\n ")


def _number(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, with numbers or dashes for lists; any other line ends a list."""
    numbers: dict[str, int] = {}
    for line in lines:
        item = _ITEM.match(line)
        marks = item[1] if item else ""
        numbers = {each: number for each, number in numbers.items() if marks.startswith(each)}
        if item:
            mark = "-"
            if marks.endswith("#"):
                numbers[marks] = numbers.get(marks, 0) + 1
                mark = f"{numbers[marks]}."
            line = f"{'  ' * (len(marks) - 1)}{mark} {line[item.end() :]}"
        yield line


_TYPES = dict.fromkeys((".wiki", ".mediawiki", ".wikitext"), "text/x-wiki")
READER = FileReader("wikitext/9", {}, _TYPES, read, ("mwparserfromhell",), "wiki", texts=wiki_texts)
