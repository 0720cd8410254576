"""Removes attributes in Markdown: ids, classes and values of Pandoc, kramdown and MyST."""

import re

from foundry.readers.formats.markdown.edits import Edits
from foundry.readers.formats.markdown.names import ADMONITIONS

_ATTRIBUTE = (
    r"(?:[#.]\w[\w:.-]{0,100}+"
    r"|[\w-]{1,50}+=(?:\"[^\"\n]{0,200}+\"|'[^'\n]{0,200}+'|[^\s\"'{}]{1,200}+))"
)
ATTRIBUTE_LIST = rf"\{{:?[ ]?{_ATTRIBUTE}(?:[ ]{{1,3}}{_ATTRIBUTE}){{0,20}}[ ]?\}}"
"""Ids, classes and values of Pandoc, kramdown and Python-Markdown: `{#id .class a=b}`.

`{#if condition}` does not match: it belongs to a template.
"""
# kramdown attributes on their own line may also be just a name.
_ATTRIBUTES = re.compile(
    rf"{ATTRIBUTE_LIST}[ \t]*+$|\{{:(?<=^\{{:)[ ]?[\w-]{{1,50}}+\}}[ \t]*+$", re.MULTILINE
)
# Just the Docs, a theme of Jekyll, shows a paragraph's class as a label.
_KIND_ABOVE = re.compile(
    r"(?:\A\n?|(?<=\n)\n)\{:(?:[ \t]*\.([a-z]{3,20}+)){1,4}[ \t]*\}[ \t]*(?=\n[^\s{#])"
)
# Attributes of a link, a picture or a word within a line, and the brackets around the word.
_WORD_ATTRIBUTES = re.compile(
    rf"\[(?<![!\]\\]\[)([^\[\]\n]{{1,300}}+)\](?:{ATTRIBUTE_LIST})|{ATTRIBUTE_LIST}"
)


def remove_attributes(edits: Edits) -> None:
    """Remove attributes at the end of a line, or after a word together with its brackets."""
    text = edits.text
    edits.replace_all(_KIND_ABOVE, _kind_above)
    edits.replace_all(_ATTRIBUTES, lambda match: _at_end(match, text))
    edits.replace_all(_WORD_ATTRIBUTES, lambda match: _of_word(match, text))


def _at_end(match: re.Match[str], text: str) -> str | None:
    """Return "" for attributes, which are dropped; None if a heading has no other text."""
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    return None if before.strip("# \t") == "" and "#" in before else ""


def _kind_above(match: re.Match[str]) -> str | None:
    before = "\n" * match[0].startswith("\n")
    return f"{before}{match[1].capitalize()}:" if match[1] in ADMONITIONS else None


def _of_word(match: re.Match[str], text: str) -> str | None:
    """Return the word with these attributes, "" after other markup; None if they stand alone."""
    if match[1]:
        return text[slice(*match.span(1))]
    return "" if text[match.start() - 1 : match.start()] in {")", "]", "`", "*", "_"} else None
