"""Converts tabs, disclosures and admonitions between tags or shortcodes to quotations.

Each tag is on its own line, such as Docusaurus' `<TabItem label="npm">`, HTML's `<details>`,
GitBook's `{% tab title="npm" %}` and Hugo's `{{< tab "npm" >}}`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foundry.readers.formats.markdown.directives import FENCE, HEADING, fence_after
from foundry.readers.formats.markdown.names import BOXES, QUOTED

_COMPONENT = re.compile(
    r"[ \t]*<(?P<name>[A-Z][\w.]{0,60}|details)(?:\s(?:[^<>]|=>){0,1000}+)?(?<!/)>"
    r"[ \t]*(?:<summary\b[^<>]{0,200}+>.{0,1000}</summary>[ \t]*)?$"
)
_SHORTCODE = re.compile(
    r"[ \t]*(?:\{\{[<%]|\{%)-?\s*(?P<name>[a-z][\w-]{0,60})\b[^{}]{0,1000}\}{1,2}[ \t]*$"
)
_CLOSING = re.compile(
    r"[ \t]*(?:</(?P<tag>[A-Za-z][\w.]{0,60})>"
    r"|\{(?:\{[<%]|%)-?\s*(?:/\s*|end)(?P<code>[\w-]+)[^{}]*\}\}?)[ \t]*$"
)
_SIGNS = ("<", "{%", "{{")
_STRING = r"([\"'])([^\"'\n]{1,200})[\"']"
# Older pages of Docusaurus name the tabs before them: `values={[{label: 'Linux', value: 'l'}]}`.
_NAMED_TAB = re.compile(
    rf"\{{\s*(?:label:\s*{_STRING},\s*value:\s*{_STRING}|value:\s*{_STRING},\s*label:\s*{_STRING})"
    rf"|<TabItem\s+value={_STRING}\s*>"
)


@dataclass(slots=True)
class _Panel:
    """A panel's name, its lines from `begin` to `end`, and the column of its tag.

    `shift` is how far MDX indents its content beyond that; None until the first line of content.
    """

    name: str
    begin: int
    end: int = -1
    is_quoted: bool = False
    column: int = 0
    shift: int | None = 0


def quote_panels(text: str, *, is_mdx: bool) -> str:
    """Put `> ` before each line of a panel without headings. No line is added.

    In MDX, indented text in a component is not code, so its indentation is removed.
    """
    if not any(sign in text for sign in _SIGNS):
        return text
    if "values={" in text:
        text = _label_tabs(text)
    lines = text.split("\n")
    panels = {panel.begin: panel for panel in _find_panels(lines)}
    if not panels:
        return text
    made, opened = list[str](), list[_Panel]()
    for number, line in enumerate(lines):
        while opened and opened[-1].end <= number:
            opened.pop()
        indent = len(line) - len(line.lstrip(" \t"))
        around = opened[-1] if opened else None
        if around and around.shift is None and line.strip():
            # The first line inside a component shows how far its content is indented.
            outer = sum(panel.shift or 0 for panel in opened[:-1])
            around.shift = max(indent - outer - around.column, 0)
        line = line[min(indent, sum(panel.shift or 0 for panel in opened)) :]
        if panel := panels.get(number):
            panel.column = len(line) - len(line.lstrip(" \t"))
            panel.shift = None if is_mdx else 0
            opened.append(panel)
        for panel in reversed(opened):
            if panel.is_quoted:
                place = min(panel.column, len(line) - len(line.lstrip(" \t")))
                line = f"{line[:place]}> {line[place:]}".rstrip()
        made.append(line)
    return "\n".join(made)


def _label_tabs(text: str) -> str:
    """Return a text in which tabs have the labels that were listed before them."""
    labels = dict[str, str]()

    def label(found: re.Match[str]) -> str:
        if found[2]:
            labels[found[4]] = found[2]
        elif found[6]:
            labels[found[6]] = found[8]
        elif shown := labels.get(found[10]):
            return f'<TabItem value="{found[10]}" label="{shown}">'
        return found[0]

    return _NAMED_TAB.sub(label, text)


def _find_panels(lines: Sequence[str]) -> Iterator[_Panel]:
    """Yield the components and shortcodes that have an end."""
    opened, fence, headings = list[_Panel](), "", list[int]()
    for number, line in enumerate(lines):
        if mark := FENCE.match(line):
            fence = fence_after(mark, fence)
        elif fence or not line.strip():
            continue
        elif HEADING.match(line.lstrip(" \t")):
            headings.append(number)
        elif closing := _CLOSING.match(line):
            name = (closing["tag"] or closing["code"]).lower()
            place = next((n for n in range(len(opened) - 1, -1, -1) if opened[n].name == name), -1)
            if place >= 0:
                panel = opened[place]
                del opened[place:]
                panel.end = number
                has_headings = bool(headings) and headings[-1] > panel.begin
                is_box = panel.name in BOXES and "{" in line
                panel.is_quoted = (panel.name in QUOTED or is_box) and not has_headings
                yield panel
        elif found := _COMPONENT.match(line) or _SHORTCODE.match(line):
            opened.append(_Panel(found["name"].lower(), number))
