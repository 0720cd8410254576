"""The sentences of a passage, as plain text without marks of Markdown."""

import re
from itertools import pairwise

from .sentence_ends import find_sentence_ends

MIN_CHARACTERS = 20
MAX_CHARACTERS = 400

_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-+|\*(?:\s*\*)+|_(?:\s*_)+)\s*")
_TABLE_RULE = re.compile(r"[\s|:+-]*\|[\s|:+-]*")
_ITEM = re.compile(r"\s*(?:[-*+]|[0-9]{1,3}[.)])\s+|\s*>\s?")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_NUMBER = re.compile(r"\[([0-9 ,;\u2013-]+)\]")
# Bounded, or a text of many marks that are never closed would take quadratic time.
_EMPHASIS = re.compile(
    r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1|(?<![*\w])\*(?=\S)([^*]{1,200}?)(?<=\S)\*(?![*\w])"
)


def sentences(text: str) -> list[str]:
    """Sentences and list items in order, of 20 to 400 characters; longer ones are cut.

    Headings, code blocks and rules are left out; a row of a table is one sentence. Links stand as
    their text, and a number in square brackets in round ones: nothing looks like a citation.
    """
    return [
        sentence
        for block in _blocks(text)
        for sentence in _split(_plain(block))
        if len(sentence) >= MIN_CHARACTERS
    ]


def _blocks(text: str) -> list[str]:
    blocks: list[list[str]] = [[]]
    in_code = False
    for line in text.splitlines():
        if _FENCE.match(line):
            in_code = not in_code
            blocks.append([])
        elif in_code:
            continue
        elif not line.strip() or _HEADING.match(line) or _is_rule(line):
            blocks.append([])
        elif line.lstrip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            blocks.append([", ".join(cell for cell in cells if cell)])
        elif item := _ITEM.match(line):
            blocks.append([line[item.end() :]])
        else:
            blocks[-1].append(line)
    return [" ".join(" ".join(block).split()) for block in blocks if block]


def _is_rule(line: str) -> bool:
    return bool(_UNDERLINE.fullmatch(line) or _TABLE_RULE.fullmatch(line))


def _plain(block: str) -> str:
    block = _LINK.sub(r"\1", _WIKILINK.sub(r"\1", block))
    block = _EMPHASIS.sub(lambda match: match[2] or match[3], block)
    return _NUMBER.sub(r"(\1)", block)


def _split(block: str) -> list[str]:
    cuts = [0, *find_sentence_ends(block, 0, len(block)), len(block)]
    return [_cut(block[start:end].strip()) for start, end in pairwise(cuts)]


def _cut(sentence: str) -> str:
    if len(sentence) <= MAX_CHARACTERS:
        return sentence
    return sentence[: sentence.rfind(" ", 0, MAX_CHARACTERS - 3)].rstrip() + " ..."
