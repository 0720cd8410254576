"""Strips inline markup of Markdown, HTML and JSX, but not text that looks like it.

`argv[0][1]`, `[A-Z][a-z]`, `map["k"](1)`, `vector<int>` and `#include <vector>` are text, even
outside code.
"""

import re
from functools import partial

# In files with these suffixes, `#` starts a comment, and `<` is not a tag. All others are read as
# Markdown.
_CODE_SUFFIXES = frozenset(
    "bash c cc cfg conf cpp cs css go gradle h hpp ini java js json jsonl jsx kt lua mjs php pl"
    " proto ps1 py pyi r rb rs scala scss sh sql swift tf toml ts tsx vue yaml yml".split()
)

_TAGS = frozenset(
    "a abbr article aside b bdi bdo big blockquote body br button caption center cite code col dd"
    " del details dfn dialog div dl dt em figcaption figure font footer form h1 h2 h3 h4 h5 h6 head"
    " header hr html i iframe img input ins kbd label legend li link main mark meta nav noscript"
    " ol option p picture pre q s samp script section select small source span strike strong style"
    " sub summary sup svg table tbody td textarea tfoot th thead title tr tt u ul var video"
    " wbr".split()
)
_EMPTY_TAGS = frozenset("br col hr img input link meta source wbr".split())

_APART = frozenset("br dd div dt hr li p td th tr".split())  # Tags that divide words

# A link's target, which may contain balanced parentheses, and its title.
_TARGET = r"(?:<[^<>\n]*>|[^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+)(?:\s+(?:\"[^\"]*\"|'[^']*'))?"
_LABEL = r"(?:[^\[\]\\]|\\.)"  # One character of a link's text
# Underscores in `__init__` and in URLs are not emphasis.
_INLINE = re.compile(
    r"[`\[<*_\\!=](?:"
    r"(?<=`)(?<!``)(?P<code>[^`]+)`(?!`)"
    r"|(?<=`)(?<!``)(?P<ticks>`{1,2}+)(?P<coded>(?:[^`]|`(?!(?P=ticks))){1,300})`(?P=ticks)(?!`)"
    r"|(?<=\[)\[(?=\d{4}-|[^\[\]]*[^\W\d_])(?:[^\[\]|]*\|)?(?P<page>[^\[\]|]+)\]\](?!\()"
    r"|(?<=\[)\^(?P<note>[\w-]{1,40})\](?![(+*{?])"
    rf"|(?<=\[)(?P<label>(?:{_LABEL}|\[{_LABEL}*+\])*+)\]"
    rf"(?:\((?P<target>{_TARGET})\)|\[(?P<reference>[^\[\]]*)\])"
    rf"|(?<=!)\[(?P<picture>[^\[\]]*)\]\({_TARGET}\)"
    r"|(?<=<)(?P<address>[a-z]{2,8}:[^<>\s]+)>"
    r"|(?<=<)/?(?P<tag>[A-Za-z][\w.:-]*)(?P<rest>(?:=>|[^<>])*)>"
    r"|(?<=<)(?P<fragment>/|(?<=\n<)(?=>\n))>"
    r"|(?<=\*)\*(?P<strong>\*?(?!\s)[^*]++(?:\*[^*]++)*+\*?)(?<!\s)\*\*"
    r"|(?<![\w*]\*)(?<=\*)(?P<emphasis>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|(?<![\w/]_)(?<=_)_(?=\S)(?=[^_]*\s)(?P<underscored_strong>[^_]+)(?<=\S)__(?![\w/])"
    r"|(?<![\w/]_)(?<=_)(?P<underscored>[^\s_](?:[^_]*[^\s_])?)_(?![\w/])"
    r"|(?<![\w=]=)(?<==)=(?P<highlighted>[^\s=](?:[^=\n]*[^\s=])?)==(?![\w=])"
    r"|(?<=\\)(?P<escaped>[!-/:-@\[-`{-~])"
    r")"
)

# The id of a paragraph in Obsidian, to which links point.
_BLOCK_ID = re.compile(r"(?:^|(?<=\s))\^[A-Za-z0-9][\w-]{1,40}[ \t]*$", re.MULTILINE)
_NOTE = re.compile(r"^[ \t]*\[\^[\w-]{1,40}\]:[ \t]*", re.MULTILINE)
_COMMENT = re.compile(
    r"(?P<code>^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n(?![ \t]*(?P=fence))[^\n]*)*(?:\n[^\n]*)?"
    r"|`[^`\n]+`)|<!--(?s:.*?)(?:-->|\Z)|\{/\*(?s:.*?)(?:\*/\}|\Z)",
    re.MULTILINE,
)
_ATTRIBUTES = re.compile(r"\s[^=]*=|.*[/{]\Z", re.DOTALL)
_NAME = re.compile(r"<(/?[A-Za-z][\w.:-]*)")
_BEFORE_TAGS = " \t>|-*+"  # Prefixes of quotations, tables and lists


def is_code_file(path: str) -> bool:
    """Return whether a file has no markup, by its suffix."""
    return path.rpartition(".")[2].lower() in _CODE_SUFFIXES


def strip_comments(text: str) -> str:
    """Return a text without HTML and MDX comments, except in code."""
    if "<!--" not in text and "{/*" not in text:
        return text
    return _COMMENT.sub(lambda found: found["code"] or "", text)


def strip_marks(text: str, *, keeps_code: bool = False) -> str:
    """Return a text without the markup of links, emphasis, footnotes and tags, keeping the words.

    The backticks around code are removed too, unless `keeps_code`.
    """
    if "^" in text:
        text = _BLOCK_ID.sub("", _NOTE.sub("", text))
    if "</" not in text and not keeps_code:
        return _INLINE.sub(_PLAIN, text)
    names = frozenset(_NAME.findall(text))
    return _INLINE.sub(partial(_unwrap, names, keeps_code), text)


def _unwrap(names: frozenset[str], keeps_code: bool, mark: re.Match[str]) -> str:
    kind = mark.lastgroup or ""  # The last group that matched
    if kind == "code" or kind == "coded":
        return mark[0] if keeps_code else mark[kind]
    if kind in ("address", "escaped", "picture"):
        return mark[kind]
    if kind == "rest":
        apart = " " if mark["tag"].lower() in _APART else ""
        return apart if _is_tag(mark, names) else mark[0]
    if kind in ("note", "fragment"):
        return ""
    if kind in ("target", "reference"):
        if not _is_link(mark):
            return mark[0]
        kind = "label"
    return _INLINE.sub(partial(_unwrap, names, keeps_code), mark[kind])


_PLAIN = partial(_unwrap, frozenset[str](), False)


def _is_link(mark: re.Match[str]) -> bool:
    """Return whether square brackets hold a link's text, not an index or a range."""
    before = mark.string[mark.start() - 1 : mark.start()]
    is_glued = before.isalnum() or before in ("_", "]", ")") if before else False
    if mark["target"] is None:
        names = mark["reference"] or mark["label"]
        return not is_glued and re.search(r"[^\W\d_]{3}", names) is not None
    return not is_glued or re.search(r"[/#.:]", mark["target"]) is not None


def _is_tag(mark: re.Match[str], names: frozenset[str]) -> bool:
    """Return whether angle brackets hold a tag, not a type or a placeholder."""
    name, rest = mark["tag"], mark["rest"]
    if rest.strip():
        return _ATTRIBUTES.match(rest) is not None
    if name.lower() in _EMPTY_TAGS or (name in names and f"/{name}" in names):
        return True
    start, end = mark.span()
    before = mark.string[mark.string.rfind("\n", 0, start) + 1 : start]
    after = mark.string[end:].partition("\n")[0]
    if name.lower() in _TAGS:
        # A tag between words that has no partner is only mentioned, as in "the <table> element",
        # or is a placeholder, as in `--config=<var> <value>`.
        may_end = mark[0][1] == "/" or name.lower() in _APART
        ends = may_end and after.strip()[:1] in ("", "<")
        return not before.strip(_BEFORE_TAGS) or before[-1] == ">" or ends
    return not before and not after and name[0].isupper()
