"""Reads reStructuredText with docutils, and converts its tree to Markdown.

Included files are not opened. Directives and roles of Sphinx and others become the text that pages
show; text with errors is read as written.
"""

from functools import cache
from typing import Any

from foundry.documents import Reading
from foundry.readers.accounting.containers import rst_texts
from foundry.readers.contract import FileReader
from foundry.readers.decoding import decode

MAX_LINE_CHARS = 100_000
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": True,
    "_disable_config": True,
    # Messages stay in the tree, since they contain source text that is nowhere else.
    "report_level": 2,
    "halt_level": 5,
    "warning_stream": False,
    # Otherwise docutils would treat a single section as the document's title.
    "doctitle_xform": False,
    "docinfo_xform": False,
    "syntax_highlight": "none",
    "line_length_limit": MAX_LINE_CHARS,
    "toc_backlinks": False,
    "smart_quotes": False,
}


def read(content: bytes) -> Reading:
    """Read a document; its title is its first heading."""
    from docutils.core import publish_doctree

    from foundry.readers.formats.rst.writer import write

    _know_sphinx()
    text, _ = decode(content)
    return write(publish_doctree(text, settings_overrides=_SETTINGS))


@cache
def _know_sphinx() -> None:
    """Make docutils accept every name of a directive or role."""
    from docutils.parsers.rst import directives, roles

    from foundry.readers.formats.rst.directives import find_directive
    from foundry.readers.formats.rst.roles import read_default, read_role

    known_directive, known_role = directives.directive, roles.role

    def directive(name: str, language: Any, document: Any) -> Any:
        found, messages = known_directive(name, language, document)
        return find_directive(name, found), messages if found else []  # type: ignore[arg-type]

    def role(name: str, language: Any, line: int, reporter: Any) -> Any:
        if not name:
            return read_default, []
        found, messages = known_role(name, language, line, reporter)
        return (found, messages) if found else (read_role, [])

    directives.directive = directive  # type: ignore[assignment]
    roles.role = role  # type: ignore[assignment]


READER = FileReader(
    "rst/7",
    {},
    {".rst": "text/x-rst", ".rest": "text/x-rst"},
    read,
    ("docutils",),
    "rst",
    texts=rst_texts,
    with_targets=True,
)
