"""Files that MkDocs, mdBook, VitePress and GitBook put into a page.

They are not read, so a link to the file stands in their place.
"""

import re

from foundry.readers.formats.markdown.edits import Edits
from foundry.readers.formats.pages.blocks import link

_INCLUDE = re.compile(
    r"^([ \t>]*)(?:\{\*[ \t][^{}\n]{1,300}\*\}|\{!>?[^{}\n]{1,300}!\}"
    r"|--8<--[ \t]+[\"'][^\n]{1,300}|<<<[ \t]+@?[\w./~-]{1,300}[^\n]{0,100}"
    r"|\{\{#(?:rustdoc_)?include[ \t][^{}\n]{1,300}\}\})[ \t]*$",
    re.MULTILINE,
)
_INCLUDES = re.compile(r"\{\*|\{!|--8<--|<<<|\{\{#")
_PATH = re.compile(
    r"(?:--8<--|<<<[ \t]+@?|\{\{#(?:rustdoc_)?include|\{\*|\{!>?)?[ \t\"']*"
    r"((?:https?://)?[\w./~-]{0,300}\w)"
)
TEXT_FILE = re.compile(r"[ \t]*[\"']?[\w./~-]{1,200}\.(?!html\b|liquid\b)\w")
"""An argument of a Liquid or Hugo tag that names a text file, not a template."""


def link_included(edits: Edits) -> None:
    """Replace directives on their own lines by links to the files that they include."""
    if _INCLUDES.search(edits.text):
        edits.replace_all(_INCLUDE, lambda m: m[1] + link_to_file(m[0][len(m[1]) :]))


def link_to_file(written: str) -> str:
    """Return a link to the file that a directive includes; "" if it names none."""
    found = _PATH.match(written)
    return link(found[1], found[1]) if found else ""
