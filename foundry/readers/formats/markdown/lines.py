"""Rewrites block markers on lines of their own in more common forms.

Blocks of Python-Markdown, `/// tip | Title`, become `::: tip Title`; code between shortcodes, as in
Hugo and Jekyll (`{{< highlight go >}}`, `{% highlight go %}`), gets a fence.
"""

import re

from foundry.documents.left_out import Omission
from foundry.readers.formats.markdown.directives import FENCE, fence_after
from foundry.readers.formats.markdown.included import link_to_file
from foundry.readers.notes import leave_out

_SLASHES = re.compile(r"([ \t>]*)/{3,}[ \t]*(?:([a-z][\w-]{0,30}+)[ \t]*(?:\|[ \t]*(.*))?)?$")
_OPTION = re.compile(r"[ \t>]{4,}[\w-]{1,30}:[ \t]")
_OPENING = re.compile(
    r"([ \t>]*)\{(?:\{[<%]|%)-?[ ]*(highlight|code-toggle)\b[ ]*([\w+#-]{0,30}+)"
    r"[^{}]*\}{1,2}[ \t]*$"
)
_CLOSING = re.compile(
    r"[ \t>]*\{(?:\{[<%]|%)-?[ ]*(?:/[ ]*|end)(?:highlight|code-toggle)[ ]*-?[>%]?\}{1,2}[ \t]*$"
)
MAX_SNIPPETS = 50
# Lines between such marks are names of files that a page includes.
_SNIPPETS = re.compile(r"[ \t>]*-{1,2}8<-{1,2}[ \t]*$")
# An object that mkdocstrings documents; its options are indented.
_OBJECT = re.compile(r"([ \t>]*):::[ \t]+\w{1,80}(?:[.:]{1,2}\w{1,80}){1,20}[ \t]*$")
_SIGNS = ("/// ", "highlight", "code-toggle", "8<-", "::: ")


def rewrite_lines(text: str) -> str:
    """Return a text with these markers rewritten, except in code. No line is added."""
    if not any(sign in text for sign in _SIGNS):
        return text
    lines, fence, blocks, in_options, in_code = text.split("\n"), "", 0, False, False
    margin: str | None = None
    marks = [n for n, line in enumerate(lines) if _SNIPPETS.match(line)]
    snippets = set[int]()
    for begin, end in zip(marks[::2], marks[1::2], strict=False):
        snippets.update(range(begin, end + 1) if end - begin <= MAX_SNIPPETS else ())
    last = max((n for n, line in enumerate(lines) if _CLOSING.match(line)), default=-1)
    for number, line in enumerate(lines):
        if in_code:
            if _CLOSING.match(line):
                leave_out(Omission.ATTRIBUTE, line)
                lines[number], in_code = f"{line[: len(line) - len(line.lstrip())]}```", False
            continue
        if mark := FENCE.match(line):
            fence = fence_after(mark, fence)
        if fence:
            continue
        is_option = margin is not None and line.startswith(f"{margin}    ")
        if number in snippets or is_option:
            leave_out(Omission.ATTRIBUTE, line)
            is_file = number in snippets and not _SNIPPETS.match(line)
            lines[number] = link_to_file(line) if is_file else ""
            continue
        if line.strip():
            documented = _OBJECT.match(line)
            margin = documented[1] if documented else None
        if in_options and _OPTION.match(line):
            leave_out(Omission.ATTRIBUTE, line)
            lines[number] = ""
            continue
        in_options = False
        if (block := _SLASHES.match(line)) and (block[2] or blocks):
            blocks += 1 if block[2] else -1
            in_options = bool(block[2])
            lines[number] = f"{block[1]}::: {block[2] or ''} {block[3] or ''}".rstrip()
        elif opening := _OPENING.match(line):
            in_code = number < last
            if in_code:
                leave_out(Omission.ATTRIBUTE, line)
                lines[number] = (
                    f"{opening[1]}```{opening[3] if opening[2] == 'highlight' else 'toml'}"
                )
    return "\n".join(lines)
