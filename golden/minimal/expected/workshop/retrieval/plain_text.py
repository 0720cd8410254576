"""Notes that this server treats operators in a query as plain words."""

import re

from .journal import Journal

_OPERATOR = re.compile(
    r"(?<!\S)(?:[-+]?[\"\u201c\u201e][^\"\u201c-\u201e\s]+\s[^\"\u201c-\u201e]+[\"\u201c\u201d]"
    r"|(?<=\s)[-+][^\W\d_]{2,}|(?:source|tags?|path|media_type|site|filetype):[\"\w/]\S*)"
    r"(?=[.,;:!?)\]]*(?!\S))"
)


def note_plain_operators(journal: Journal) -> None:
    """Note the first part of a query that looks like an operator."""
    if found := _OPERATOR.search(journal.query):
        notice = f"Operators are disabled: {found[0][:100]} was searched for as plain words."
        journal.note("operators", notice=notice)
