"""Rewrites reStructuredText in MyST's ```` ```{eval-rst} ```` blocks as MyST.

docutils only runs in worker processes, so the lines are translated: directives, roles, links,
labels, comments and literal blocks.
"""

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent

from foundry.documents.left_out import Omission
from foundry.readers.composing import fence
from foundry.readers.formats.rst.names import CODE
from foundry.readers.notes import leave_out

MAX_DEPTH = 9
"""Directives that are nested deeper stay as written."""
_OPENING = re.compile(r"[ \t]*(`{3,}|~{3,}|:{3,})\{eval-rst\}[ \t]*$")
_DIRECTIVE = re.compile(r"\.\.[ ]+([\w:+.-]{1,60})::(?:[ ]+(.*))?$")
_LABEL = re.compile(r"\.\.[ ]+_`?([\w:./ -]{1,100})`?:[ ]*$")
_COMMENT = re.compile(r"\.\.(?:[ ]+(.*))?$")
_ROLE = re.compile(r"(?<![\w`:]):([a-z][\w:+.-]{0,30}):(?=`[^`\n]+`)")
_LINK = re.compile(r"`([^`<>\n]{1,300}?)\s*<([^`<>\s]{1,500})>`__?(?!\w)")


def rewrite_rst(text: str) -> str:
    """Replace the lines of `eval-rst` blocks; a block may become longer."""
    if "{eval-rst}" not in text:
        return text
    written: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        opening = _OPENING.match(line)
        if opening is None:
            written.append(line)
            continue
        leave_out(Omission.MACRO, "eval-rst")
        inner = []
        for each in lines:
            if each.strip().startswith(opening[1]) and not each.strip(opening[1][0] + " \t"):
                break
            inner.append(each)
        written += ["", *_rewrite(dedent("\n".join(inner)).split("\n"), 0), ""]
    return "\n".join(written)


def _rewrite(lines: Sequence[str], depth: int) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        end = place
        while end < len(lines) and (not lines[end].strip() or lines[end][0] == " "):
            end += 1
        body = dedent("\n".join(lines[place:end])).strip("\n").split("\n")
        mark = "`" * (3 + MAX_DEPTH - depth)
        if label := _LABEL.match(line):
            yield f"({label[1]})="
        elif (found := _DIRECTIVE.match(line)) and depth < MAX_DEPTH:
            name, argument = found[1], found[2] or ""
            if name.startswith("auto"):
                # Sphinx shows the name, and a description from code.
                leave_out(Omission.MACRO, name)
                name = f"py:{name.removeprefix('auto')}"
            is_code = name.rpartition(":")[2] in CODE | {"math", "raw"}
            yield f"{mark}{{{name}}} {argument}".rstrip()
            yield from body if is_code else _rewrite(body, depth + 1)
            yield from (mark, "")
            place = end
        elif comment := _COMMENT.match(line):
            yield f"% {comment[1] or ''}"
            yield from (f"% {each}" for each in body if each.strip())
            place = end
        elif line.endswith("::") and end > place and any(body):
            said = line[:-2]
            yield _inline(said.rstrip() if said.endswith(" ") or not said else f"{said}:")
            yield from fence("\n".join(body)).split("\n")
            place = end
        else:
            yield _inline(line)


def _inline(line: str) -> str:
    return _ROLE.sub(r"{\1}", _LINK.sub(r"[\1](\2)", line))
