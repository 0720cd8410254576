"""Texts of DrawingML: paragraphs with links, exponents, equations and numbers; tables."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.alternatives import choose
from foundry.readers.formats.office.equations import MATH, spell
from foundry.readers.formats.office.links import write_link
from foundry.readers.formats.office.merging import Merged, unmerge
from foundry.readers.formats.office.numerals import numeral
from foundry.readers.formats.office.parts import (
    ALTERNATIVES,
    RELATIONSHIPS,
    Relation,
    number,
)
from foundry.readers.formats.office.scripts import ScriptedText
from foundry.readers.formats.office.symbols import saying

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MAX_SPAN = 1_000
_RUNS = frozenset({f"{A}r", f"{A}fld"})
_NUMERALS = {
    **{"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman"},
    **{"romanUc": "upperRoman", "arabic": "decimal"},
}
_FORMS = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}"}

Relations = dict[str, Relation]


def lines_of(body: Element, relations: Relations, part: str) -> Iterator[str]:
    """Yield the paragraphs of a text body, indented by level, with their numbers."""
    counts: dict[int, int] = {}
    for paragraph in body.iter(f"{A}p"):
        text = paragraph_text(paragraph, relations, part).strip()
        properties = paragraph.find(f"{A}pPr")
        level = 0 if properties is None else number(properties.get("lvl"))
        numbered = None if properties is None else properties.find(f"{A}buAutoNum")
        if not text:
            continue
        counts = {deep: count for deep, count in counts.items() if deep <= level}
        label = ""
        if numbered is None:
            counts.pop(level, None)
            label = _bullet(properties)
        else:
            counts[level] = counts.get(level, number(numbered.get("startAt"), 1) - 1) + 1
            label = _label(numbered.get("type", "arabicPeriod"), counts[level]) + " "
        yield "  " * min(level, 8) + label + text


def _bullet(properties: Element | None) -> str:
    """Return a box or tick that stands before a paragraph, with a space; "" for other bullets."""
    if properties is None or (sign := properties.find(f"{A}buChar")) is None:
        return ""
    font = properties.find(f"{A}buFont")
    said = saying(sign.get("char", ""), "" if font is None else font.get("typeface", ""))
    return said and f"{said} "


def paragraph_text(paragraph: Element, relations: Relations, part: str) -> str:
    """Return a paragraph's text."""
    line = ScriptedText()
    _write(line, paragraph, relations, part)
    return str(line)


def table_rows(table: Element, relations: Relations, part: str) -> list[list[str]]:
    """Return a table's rows, header first, with merged cells filled."""
    rows: list[list[str]] = []
    merged: list[Merged] = []
    for line, row in enumerate(table.findall(f"{A}tr")):
        texts: list[str] = []
        for column, cell in enumerate(row.findall(f"{A}tc")):
            spans = (number(cell.get(name), 1) for name in ("gridSpan", "rowSpan"))
            across, down = (min(span, MAX_SPAN) for span in spans)
            if across > 1 or down > 1:
                merged.append((range(line, line + down), range(column, column + across)))
            texts.append(" ".join(lines_of(cell, relations, part)))
        rows.append(texts)
    return unmerge(rows, merged)


def _write(line: ScriptedText, parent: Element, relations: Relations, part: str) -> None:
    for element in parent:
        tag = element.tag
        if tag in _RUNS:
            _write_run(line, element, relations)
        elif tag == f"{A}br":
            line.put("\n")
        elif tag == ALTERNATIVES:
            _write(line, choose(element, part), relations, part)
        elif tag in {f"{MATH}oMath", f"{MATH}oMathPara"}:
            line.put(spell(element))
        elif not tag.endswith("Pr"):
            _write(line, element, relations, part)


def _write_run(line: ScriptedText, run: Element, relations: Relations) -> None:
    text = "".join(each.text or "" for each in run.findall(f"{A}t")).replace("\v", "\n")
    properties = run.find(f"{A}rPr")
    script = ""
    if properties is not None:
        rise = properties.get("baseline", "0")
        is_raised = rise.rstrip("%") not in {"", "0"}
        is_struck = properties.get("strike", "noStrike") != "noStrike"
        script = "struck" if is_struck else ""
        if is_raised:
            script = "sub" if rise.startswith("-") else "super"
        link = properties.find(f"{A}hlinkClick")
        relation = None if link is None else relations.get(link.get(f"{RELATIONSHIPS}id", ""))
        if relation and relation.is_external:
            text = write_link(text, relation.target)
    line.put(text, script)


def _label(kind: str, count: int) -> str:
    for name, shown in _NUMERALS.items():
        if kind.startswith(name):
            return _FORMS.get(kind.removeprefix(name), "{}.").format(numeral(count, shown))
    return f"{count}."
