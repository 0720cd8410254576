"""Reads Jupyter notebooks: Markdown cells with their outline, code cells with their output."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.accounting.containers import SOURCES, notebook_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader, UnreadableError
from foundry.readers.decoding import normalise, remove_terminal_codes
from foundry.readers.formats import front_matter, html
from foundry.readers.formats.charts import chart_titles
from foundry.readers.formats.markdown import reader as markdown
from foundry.readers.formats.pages.blocks import picture
from foundry.readers.notes import leave_out
from foundry.runtime.web.notebooks import PICTURES

MAX_OUTPUT_CHARS = 50_000
# Text before a carriage return is overwritten, as by progress bars.
_OVERWRITTEN = re.compile(r"(?m)^[^\n]*\r(?!\n|$)")
# Python's default representation of objects that have a richer display.
_PLACEHOLDER = re.compile(
    r"\s*<[\w.]+[^<>\n]*>\s*$|\s*[\w.]*(?:Figure|Chart|Plot|Map)\w*\(.*\)\s*$"
)
# Cells of Markdown in notebooks of Databricks, and IPython's.
_MARKDOWN = re.compile(r"%md(?:-sandbox)?\b[ \t]*\n?|%%markdown\b[ \t]*\n?")
_SVG_TEXT = re.compile(r"<(?:text|tspan|title)\b[^<>]*>([^<>]+)")
_SHOWN = (
    *("text/markdown", "text/html", "text/latex", "application/json", "image/svg+xml"),
    *("image/png", "image/jpeg", "image/gif", "text/plain"),
)
"""Types of output that are read, best first, in nbconvert's order."""


def read(text: str) -> Reading:
    """Read a notebook's cells in order; for each output, the richest form that shows something.

    Pictures get names with the number of their cell: `cell-3/output-1.png`, `cell-4/image.png`.
    Title and date come from Quarto's front matter. Raises UnreadableError for anything but a
    notebook.
    """
    try:
        notebook = json.loads(text)
        sheets = notebook.get("worksheets") or [notebook]
        details = notebook.get("metadata", {})
        named = (details.get("kernelspec", {}), details.get("language_info", {}))
        language = str(named[0].get("language") or named[1].get("name") or "")
        composer = Composer()
        stated: Mapping[str, Any] = {}
        for number, cell in enumerate((each for sheet in sheets for each in sheet["cells"]), 1):
            written = next((cell[name] for name in SOURCES if name in cell), "")
            source = normalise(_joined(written)).strip("\n")
            length, values = (
                front_matter.read_front_matter(source + "\n") if number == 1 else (0, None)
            )
            if values is not None and cell["cell_type"] in {"raw", "markdown"}:
                stated, source = values, source[length:]
            _add_cell(composer, cell, number, source, language)
        title = front_matter.find_title(stated) or details.get("title")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(Reason.DAMAGED, f"no notebook: {type(error).__name__}") from None
    return composer.finish(
        title=title if isinstance(title, str) else None,
        modified=front_matter.describe(stated)["modified"],
    )


def _add_cell(
    composer: Composer, cell: Mapping[str, Any], number: int, source: str, language: str
) -> None:
    match cell["cell_type"]:
        case "markdown":
            if cell.get("attachments"):
                source = source.replace("](attachment:", f"](cell-{number}/")
            composer.include(markdown.read(source))
        case "heading":
            composer.heading(int(cell.get("level", 1)), source)
        case "code":
            if magic := _MARKDOWN.match(source):
                leave_out(Omission.MACRO, magic[0])
                composer.include(markdown.read(source[magic.end() :]))
            elif source.strip():
                composer.code(source, language)
            for place, output in enumerate(cell.get("outputs", ()), 1):
                _add_output(composer, output, f"cell-{number}/output-{place}")
        case "raw":
            metadata = cell.get("metadata", {})
            kind = str(metadata.get("raw_mimetype") or metadata.get("format") or "")
            _add_shown(composer, kind, source)
        case _:
            composer.text(source)


def _add_output(composer: Composer, output: Mapping[str, Any], name: str) -> None:
    kind = output.get("output_type")
    if kind in {"error", "pyerr"}:
        trace = remove_terminal_codes("\n".join(map(str, output.get("traceback", ()))))
        value = str(output.get("evalue", ""))
        said = "" if trace.strip() and value in trace else f"{output.get('ename', '')}: {value}"
        _add_shown(composer, "", f"{trace}\n{said}")
        return
    if kind == "stream":
        _add_shown(composer, "", _joined(output.get("text", "")))
        return
    data = output.get("data") or _old_data(output)
    composer.text("\n\n".join(title for kind in data for title in chart_titles(kind, data[kind])))
    forms = [(kind, _form(kind, data[kind])) for kind in _SHOWN if data.get(kind)]
    for place, (kind, text) in enumerate(forms):
        is_placeholder = kind == "text/plain" and _PLACEHOLDER.match(text) and len(data) > 1
        described = ""
        if kind in PICTURES:
            described = _words_of(kind, text) or _description(data)
            _add_picture(composer, described, f"{name}.{PICTURES[kind]}")
        elif is_placeholder or not _add_shown(composer, kind, text):
            leave_out(Omission.DUPLICATE, text if is_placeholder else "")
            continue
        for other, said in forms[place + 1 :]:
            if said.strip() != described:
                leave_out(Omission.DUPLICATE, _words_of(other, said))
        return


def _description(data: Mapping[str, Any]) -> str:
    """Return the plain form of a picture, unless it only names a type."""
    said = _form("text/plain", data.get("text/plain", "")).strip()
    return "" if _PLACEHOLDER.match(said) else said


def _add_picture(composer: Composer, description: str, name: str) -> None:
    shown = picture(description, name)
    composer.text(shown or f"{description}\n\n![]({name})")


def _add_shown(composer: Composer, kind: str, text: str) -> bool:
    """Add the output of a cell; return False if it has no words."""
    text = normalise(remove_terminal_codes(_left_at_the_end(text))).strip("\n")
    text, rest = text[:MAX_OUTPUT_CHARS], text[MAX_OUTPUT_CHARS:]
    leave_out(Omission.TOO_LONG, rest)
    if kind == "text/html":
        try:
            reading = html.read(text)
        except UnreadableError:
            return False
    elif kind == "text/markdown":
        reading = markdown.read(text)
    elif kind in {"text/latex", "text/restructuredtext", "text/x-rst"}:
        reading = Reading(text=text)
    else:
        if text.strip():
            composer.code(text)
        return bool(text.strip())
    composer.include(reading)
    return bool(reading.text.strip())


def _left_at_the_end(text: str) -> str:
    """Return the final text of an output that overwrites itself, as progress bars do."""
    text = text.replace("\r\n", "\n")
    if "\b" in text:
        shown, erased = list[str](), list[str]()
        for sign in text:
            if sign != "\b":
                shown.append(sign)
            elif shown and shown[-1] != "\n":
                erased.append(shown.pop())
        leave_out(Omission.HIDDEN, "".join(reversed(erased)))
        text = "".join(shown)
    for each in _OVERWRITTEN.finditer(text):
        leave_out(Omission.HIDDEN, remove_terminal_codes(each[0]))
    return _OVERWRITTEN.sub("", text)


def _form(kind: str, written: Any) -> str:
    if kind == "application/json":
        return json.dumps(written, indent=1, ensure_ascii=False)
    return _joined(written)


def _words_of(kind: str, text: str) -> str:
    if kind == "image/svg+xml":
        return "\n".join(_SVG_TEXT.findall(text))
    return "" if kind in PICTURES else text


def _old_data(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output's data by type in format 3, which uses short type names."""
    names = {"text": "text/plain", "html": "text/html", "latex": "text/latex"}
    names |= {"svg": "image/svg+xml", "png": "image/png", "jpeg": "image/jpeg"}
    return {names[name]: value for name, value in output.items() if name in names}


def _joined(written: str | Sequence[str]) -> str:
    return written if isinstance(written, str) else "".join(written)


READER = Reader("notebook/8", {".ipynb": "application/x-ipynb+json"}, read, texts=notebook_texts)
