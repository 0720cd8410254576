"""reStructuredText: turned into HTML by docutils, and read as that.

Includes and raw markup are off. Directives and roles that docutils does not know (Sphinx has many)
keep their text.
"""

from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import Any

from foundry.material import Reading
from foundry.readers.contract import FileReader
from foundry.readers.decoding import decode, normalise
from foundry.readers.formats import html

MAX_LINE_CHARS = 100_000
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "embed_stylesheet": False,
    # Else the only section below a title would be no section.
    "doctitle_xform": False,
    "initial_header_level": 1,
    "stylesheet_path": "",
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "line_length_limit": MAX_LINE_CHARS,
    "toc_backlinks": False,
    "section_self_link": False,
}
_WITHOUT_TEXT = frozenset(
    "toctree index highlight module currentmodule py:module py:currentmodule only tabularcolumns"
    " automodule autoclass autofunction literalinclude testsetup testcleanup".split()
)


def read(content: bytes) -> Reading:
    """Read a document; its title is the only heading of the highest level, if it begins with it."""
    from docutils.core import publish_parts

    _keep_what_is_unknown()
    text, _ = decode(content)
    parts = publish_parts(text, writer="html5", settings_overrides=_SETTINGS)
    reading = html.read(f"<html><body>{normalise(parts['html_body'])}</body></html>")
    first = reading.headings[0].text if reading.headings else None
    return replace(reading, title=reading.title or first)


@cache
def _keep_what_is_unknown() -> None:
    """Let docutils find something for every name of a directive or a role."""
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives, roles

    # Empty, it would permit no option at all.
    any_option: Any = defaultdict(lambda: directives.unchanged, name=directives.unchanged)

    class Unknown(Directive):
        has_content = True
        optional_arguments = 1
        final_argument_whitespace = True
        option_spec = any_option

        def run(self) -> list[Any]:
            if self.name in _WITHOUT_TEXT:
                return []
            found = nodes.container()
            for argument in self.arguments:
                found += nodes.paragraph(argument, argument)
            self.state.nested_parse(self.content, self.content_offset, found)
            return [found]

    def unknown_role(
        _name: str, rawtext: str, text: str, *_: Any, **__: Any
    ) -> tuple[list[Any], list[Any]]:
        title = text.partition("<")[0].strip() if text.endswith(">") else ""
        return [nodes.inline(rawtext, title or text.lstrip("~!"))], []

    known_directive = directives.directive
    known_role = roles.role

    def directive(name: str, language: Any, document: Any) -> Any:
        found, messages = known_directive(name, language, document)
        return (found, messages) if found else (Unknown, [])

    def role(name: str, language: Any, line: int, reporter: Any) -> Any:
        found, messages = known_role(name, language, line, reporter)
        return (found, messages) if found else (unknown_role, [])

    directives.directive = directive  # type: ignore[assignment]
    roles.role = role  # type: ignore[assignment]


READER = FileReader(
    "rst/2", {}, {".rst": "text/x-rst", ".rest": "text/x-rst"}, read, ("docutils",), "rst"
)
