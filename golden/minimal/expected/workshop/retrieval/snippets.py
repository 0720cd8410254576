"""Snippets: the part of each hit to show, as plain text, with the spans of the query's words.

HTML and JSX tags, link targets, images and Markdown markup are removed; code keeps its lines.
Offsets count characters (code points). Snippets are text, not HTML, and may contain `<` and `&`.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from html import unescape
from itertools import accumulate

from ..index.records import GOES_ON
from ..index.tokens import Tokenizer
from .marks import FindWords, word_finder
from .markup import is_code_file, strip_comments, strip_marks
from .results import Highlights, Hit, SearchResponse, searched_query

MAX_CHARACTERS, MAX_UNCUT_CHARACTERS = 300, 400  # Slightly longer texts are not cut.
MAX_REPEATS = 6  # A word that is more frequent in a text does not help to choose a beginning.
MAX_READ_CHARACTERS = 3_000  # A chunk may be a whole document.
BEGINNINGS = ("\n", ". ", "\u3002")  # Text that may precede a snippet

_FENCE = re.compile(r"\n[ \t]*(`{3,}|~{3,})[^\n]*((?:\n(?![ \t]*\1)[^\n]*)*)(?:\n[^\n]*)?")
_QUOTED = re.compile(rf"{_FENCE.pattern}|(?<=\n)[ \t]*(?:>[ \t]?)+")
# Quotations that stand for closed blocks and tabs begin with these signs.
_CLICKED = re.compile(r"^(?:\u25b8 |\*\*\[(?P<tab>.+)\]\*\*$)", re.MULTILINE)
# A table's header row and delimiter row; longer ones leave no room for data.
_COLUMNS = re.compile(r"^\|[^\n]{1,150}\n\|[ \t]*:?-[-:| \t]*\n", re.MULTILINE)
# A whole rule or MDX import, or the beginning of a line that may contain markup.
_LINE = re.compile(
    r"\n[ \t]*+(?=[-=*_|:+#>i])(?:"
    r"(?P<rule>[-=*_|:+][-=*_|:+ \t]*+(?=\n|\Z)|import [^\n]*['\"];?(?=\n|\Z))"
    r"|\#{1,6}[ \t]+(?P<heading>[^\n]*)|\|(?P<row>[^\n]*)"
    r"|[> \t]*+(?P<item>[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)?)"
)
# A list with its lead-in, such as "No person may sell it unless:", without which an item misleads.
_MARKS = r"[-*+\u2022]", r"\d{1,3}[.)]", r"\(\w{1,5}\)"
_ITEMS = "|".join(rf"(?:(?:{mark})?[ \t]+\S[^\n]*+(?:\n[^\n]+)*+\n*+)++" for mark in _MARKS)
_LIST = re.compile(
    rf"(?:\A|\n)(?P<stem>(?:(?!\#|[ \t]*(?:{_MARKS[0]}|{_MARKS[1]})[ \t])[^\n]++\n){{1,3}}?)"
    rf"(?<=[:\u2014a-z*_]\n)\s*+(?P<items>{_ITEMS})"
)
_IMAGE = re.compile(r"!\[[^\[\]]*\](?:\((?:[^()\n]|\([^()\n]*\))*+\)|\[[^\[\]]*\])")


def add_snippets(response: SearchResponse, tokenizer: Tokenizer) -> None:
    """Add snippets and highlights to the hits of a response; `tokenizer` is the index's."""
    # Highlight the query that was searched for, which may be a corrected or a completed one.
    query = searched_query(response.searched or response.query, response.stages)
    find = word_finder(query, tokenizer)
    # Hits of one document share its title and often headings, so the words found there are cached.
    find_above = cache(find)
    for hit in response.hits:
        for each in (hit, *hit.more):
            _add_snippet(each, find, find_above)


def _add_snippet(hit: Hit, find: FindWords, find_above: FindWords) -> None:
    text = hit.text[:MAX_READ_CHARACTERS]
    is_code = is_code_file(hit.path)
    if not is_code and ("\n>" in text or text[:1] == ">"):
        # Block quotes can contain lists, tables and code.
        text = _QUOTED.sub(lambda one: one[0] if one[1] else "", f"\n{text}")[1:]
        text = _CLICKED.sub(lambda one: f"**{one['tab']}**" if one["tab"] else "", text)
    is_rest_cut = len(hit.text) > MAX_READ_CHARACTERS
    is_long = len(text) > MAX_UNCUT_CHARACTERS
    start, columns = _choose_start(text, find) if is_long else (0, "")
    # Leave room for markup, which is removed later.
    end = _end_of_word(text, start, start + 2 * MAX_CHARACTERS)
    pieces = [(text[start:end].strip("\n"), True)]
    if not is_code:
        # A code block may have begun earlier in this chunk or in the previous one.
        before, whole = (len(re.findall("\n[ \t]*```", "\n" + one)) for one in (text[:start], text))
        is_within = before % 2 or (whole % 2 and text.endswith("\n```"))
        shown = f"\n```\n{text[start:end]}" if is_within else f"\n{columns}{text[start:end]}"
        pieces = _pieces(shown, (hit.title, *hit.section)) or _pieces(shown, ())
    snippet, code = f"{GOES_ON} " if start and not columns else "", []
    for piece, is_kept in pieces:
        code += [(len(snippet), len(snippet) + len(piece))] if is_kept else []
        snippet += f"{piece}\n"
    snippet, is_cut = snippet.rstrip(), is_rest_cut or end < len(text)
    if len(snippet) > MAX_UNCUT_CHARACTERS:
        snippet, is_cut = snippet[: _end_of_word(snippet, 0, MAX_CHARACTERS)].rstrip(), True
    hit.snippet_code = tuple((a, min(b, len(snippet))) for a, b in code if a < len(snippet))
    above = find_above(hit.title), [*map(find_above, hit.section)]
    hit.highlights = Highlights(find(snippet), *above)
    hit.snippet = f"{snippet} {GOES_ON}" if is_cut else snippet


def _end_of_word(text: str, start: int, end: int) -> int:
    """Return where to cut a text longer than `end`: after a word in its second half, if any."""
    if end >= len(text):
        return len(text)
    cut = max(text.rfind(space, (start + end) // 2, end) for space in " \n")
    return cut if cut > 0 else end


def _choose_start(text: str, find: FindWords) -> tuple[int, str]:
    """Return the offset from which a snippet shows the most query words, and what to put before it.

    If the snippet starts inside a table or a list, this is the table's header or the list's
    introduction. Longer and rarer words count more. Headers do not count, because they are shown
    with every row.
    """
    tables = [table.span() for table in _COLUMNS.finditer(text)] if "|\n|" in text else []
    words = find(_COLUMNS.sub(lambda names: " " * len(names[0]), text) if tables else text)
    said = [text[a:b].lower() for a, b in words]
    counts = Counter(said)
    weights = [MAX_REPEATS // counts[word] * len(word) for word in said]
    found = [first for (first, _), weight in zip(words, weights, strict=True) if weight] or [0]
    sums = [0, *accumulate([*filter(None, weights)] or [0])]
    near = MAX_CHARACTERS * 2 // 3
    shown = [sums[bisect_left(found, first + near, i)] - sums[i] for i, first in enumerate(found)]
    start = min(found[shown.index(max(shown))], len(text) - MAX_CHARACTERS)
    start = 0 if start < MAX_CHARACTERS / 3 else start
    fence = text.find("\n```", start + near)
    if start + near < fence < start + 2 * MAX_CHARACTERS and not text.count("\n```", 0, fence) % 2:
        # Code belongs to the sentence before it.
        sentence = max(text.rfind(mark, start, fence - 2) + len(mark) for mark in BEGINNINGS)
        worth = sums[bisect_left(found, fence)] - sums[bisect_left(found, sentence)]
        start = sentence if sentence > start and 2 * worth >= max(shown) else start
    if start == 0:
        return 0, ""
    begun = max(text.rfind(mark, start - 120, start) + len(mark) for mark in BEGINNINGS)
    start = begun if begun > 2 else text.find(" ", start - 40, start) + 1 or start
    a, b = next((span for span in reversed(tables) if span[1] <= start), (0, 0))
    is_row = text[start] == "|" and "\n\n" not in text[b:start]
    if stem := [one["stem"] for one in _LIST.finditer(text, 0, start) if one.end() == start]:
        return start, f"{stem[0].rpartition('. ')[2][-MAX_CHARACTERS // 2 :]}{GOES_ON}\n"
    return start, f"{text[a:b]}{GOES_ON}\n" if is_row else ""


def _pieces(text: str, headings: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the pieces of a text, without markup, each with whether it is code."""
    text = strip_comments(text)
    parts = _FENCE.split(text) if "```" in text or "~~~" in text else [text]
    parts[2::3] = [code.strip("\n") for code in parts[2::3]]
    parts[::3] = [_plain(prose, headings) for prose in parts[::3]]
    return [(part, place % 3 == 2) for place, part in enumerate(parts) if place % 3 != 1 and part]


def _plain(text: str, headings: Sequence[str]) -> str:
    """Return Markdown as one line of text, without headings that are shown above it."""
    # A trailing backslash is a line break.
    text = _IMAGE.sub("", _LINE.sub(partial(_begin_line, headings), text.replace("\\\n", "\n")))
    return " ".join(unescape(strip_marks(text)).split()).strip("\u2022\u00b7 ")


def _begin_line(headings: Sequence[str], line: re.Match[str]) -> str:
    kind = line.lastgroup
    if kind == "heading":
        said = strip_marks(line[kind].rstrip(" \t#"))
        return "\n" if said in headings else f"\n{said} \u00b7 "
    if kind == "row":
        cells = map(str.strip, re.split(r"(?<!\\)\|", line[kind]))
        return "\n\u2022 " + " \u00b7 ".join(filter(None, cells))
    return "\n\u2022 " if kind == "item" else "\n"
