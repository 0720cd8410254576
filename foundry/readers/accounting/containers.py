"""Extracts the words of containers, independently of their readers.

Each function extracts the texts of a format, deliberately coarsely, and without the library that
reads the format. Names in markup do not count as text; content for people does.
"""

import html
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from xml.parsers import expat

from foundry.readers.decoding import decode

MAX_BYTES = 200_000_000
"""Maximum bytes of unpacked XML that are examined."""

# Tags are written in lower case or in capitals; ignoring case would take twice as long.
_UNSEEN_NAMES = r"script|style|svg|math|template(?![^<>]*\sshadowrootmode)"
_UNSEEN = re.compile(
    r"<(?:!--.*?(?:-->|\Z)|!\[CDATA\[|[?!][^<>]*+>"
    # Only scripts show a template, unless it is the shadow tree of an element.
    rf"|({_UNSEEN_NAMES}|SCRIPT|STYLE|SVG|MATH|TEMPLATE)\b"
    r"[^<]*+(?:<(?!/(?i:\1)\s*>)[^<]*+)*+(?:</(?i:\1)\s*>)?)",
    re.DOTALL,
)
_INLINE_NAMES = (
    "a|abbr|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small|span|strike"
    "|strong|tt|u|var|wbr"
)
_INLINE = re.compile(
    rf"</?(?=[abcdefikmnqstuvwA-W])(?:{_INLINE_NAMES}|{_INLINE_NAMES.upper()})(?:\s[^<>]*+)?/?>"
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*+>")
# A line number is no part of the first word of its line.
_LINE_NUMBER = re.compile(r"<span[^<>]*\blinenos?\b[^<>]*>(?:[^<>]++|</?a\b[^<>]*>)*+</span>")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\.")


def html_texts(source: str) -> list[str]:
    """Return a page's text between its tags, without scripts, styles, drawings and templates."""
    text = _UNSEEN.sub(" ", source).replace("]]>", " ")
    if "lineno" in text:
        text = _LINE_NUMBER.sub(r"\g<0> ", text)
    return [html.unescape(_TAG.sub(" ", _INLINE.sub("", text)))]


def xml_texts(content: bytes, skipped: Callable[[str], bool] | None = None) -> list[str]:
    """Return the character data of XML, without elements for which `skipped` is true.

    XML that is not well-formed is examined like a page or, with `skipped`, up to the error.
    """
    parts: list[str] = []
    depth = 0

    def start(name: str, _: object) -> None:
        nonlocal depth
        if depth or (skipped and skipped(name)):
            depth += 1
        elif parts and parts[-1] is not _GAP and not name.endswith(_RUNS):
            parts.append(_GAP)

    def end(_: str) -> None:
        nonlocal depth
        depth = max(depth - 1, 0)

    def data(text: str) -> None:
        if not depth:
            parts.append(text)

    parser = expat.ParserCreate(namespace_separator=None)
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = data
    # Entities and external resources are never opened.
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    try:
        parser.Parse(content[:MAX_BYTES], True)
    except (expat.ExpatError, ValueError, LookupError):
        if skipped is None:
            return html_texts(decode(content[:MAX_BYTES])[0])
    text = "".join(parts)
    # Feeds contain pages in HTML.
    return html_texts(text) if "<" in text else [text]


_GAP = " "
# Elements that do not end a word: runs in Word, slides and OpenDocument.
_RUNS = (":r", ":t", ":rPr", ":span", ":a", ":hyperlink", ":proofErr", ":bookmarkStart")


_COMMAND = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}|\\[A-Za-z@]+\*?")
_ACCENT = re.compile(
    r"\\(?:(?P<sign>[\"'`^~=.])(?:\{(?P<braced>\\?[A-Za-z])\}|(?P<bare>\\?[A-Za-z](?![A-Za-z]*\{)))"
    r"|(?P<name>[cvHukr])\{(?P<letter>[A-Za-z])\})"
)
_MARKS = {
    **{'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304"},
    **{".": "\u0307", "c": "\u0327", "v": "\u030c", "H": "\u030b", "u": "\u0306"},
    **{"k": "\u0328", "r": "\u030a"},
}


def latex_texts(source: str) -> list[str]:
    """Return LaTeX source without the names of commands, and with accents on their letters."""

    def accented(found: re.Match[str]) -> str:
        letter = found["braced"] or found["bare"] or found["letter"]
        return letter.strip("\\") + _MARKS[found["sign"] or found["name"]]

    return [_COMMAND.sub(" ", _ACCENT.sub(accented, source))]


_DIRECTIVE = re.compile(
    r"(?m)^([ \t]*)\.\.[ \t]+(?:\|[^|\n]*\|[ \t]*)?(?:(?:code|code-block|sourcecode|highlight"
    r"|image|figure|include|literalinclude|(?:py:)?(?:current)?module)::.*|[\w:+.-]+::)"
)
# Labels, link targets, and names of targets.
_LABEL = re.compile(r"(?m)^[ \t]*(?:\.\.[ \t]+_(?:`[^`\n]*`|(?:\\.|[^:\\\n])*):|__[ \t]).*")
_TARGET = re.compile(r"\s<[^<>`]*>(?=`)|(?<![\w`]):(?:ref|doc|numref|eq|download):`[^`<>]*`")
_NUMBERED = re.compile(r"\[#[^\[\]\s]*\]")
_OPTION = re.compile(
    r"(?m)^[ \t]+:(?:(?:class|name|align|width|height|scale|target|figclass|language|lines|widths"
    r"|emphasize-lines|start-after|end-before|pyobject|depth|maxdepth):.*|[\w-]+:(?=[ \t]|$))"
)
_ROLE = re.compile(r":[\w:+.-]+:(?=`)")


def rst_texts(content: bytes) -> list[str]:
    """Return the source of reStructuredText without the names in its markup."""
    text, _ = decode(content)
    for names in (_LABEL, _TARGET, _NUMBERED, _OPTION, _ROLE):
        text = names.sub(" ", text)
    return [_DIRECTIVE.sub(r"\1", text)]


# Escapes within words, and then requests and escapes that separate words, such as named characters.
_ROFF_INSIDE = re.compile(
    r"\\(?:f(?:\(..|\[[^\]\n]{0,40}\]|.)|s(?:\[[^\]\n]{0,40}\]|[-+]?\d)|[&%:/,^|c])"
)
_ROFF = re.compile(
    r"(?m)^[.'][ \t]*[A-Za-z%][A-Za-z0-9]*|T[{}]"
    r"|\\(?:e|\(..|[*nF]?\[[^\]\n]{0,40}\]|[*n](?:\(..|.)|[hvw]'[^'\n]{0,100}'|[ud](?=[\d\s-]|\Z))"
)


def roff_texts(source: str) -> list[str]:
    """Return the source of a manual page without the names of requests, fonts and characters."""
    return [_ROFF.sub(" ", _ROFF_INSIDE.sub("", source))]


# Targets and options of links, names of templates and their arguments, table attributes.
_WIKI = re.compile(
    r"<!--.*?-->|\[\[(?:File|Image|Media):[^|\[\]]*|\[\[[^|\[\]]*\|(?=[^|\[\]]*\]\])"
    r"|\|?\s*(?:style|class|colspan|rowspan|align|scope|width)\s*=\s*(?:\"[^\"]*\"|\w+)"
    r"|\{\{[^{}|]*|\|\s*[^=|{}\[\]\n]{1,60}=|\[https?://\S*|__[A-Z]+__|(?m:^(?:\{\||\|-)[^\n]*)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTES = re.compile("'{2,5}")


def wiki_texts(content: bytes) -> list[str]:
    """Return MediaWiki source without the names in its markup: templates, options, targets."""
    text, _ = decode(content)
    return html_texts(_QUOTES.sub("", _WIKI.sub(" ", text)))


# The line before a cue's times may be a name; notes are comments.
_CUE = re.compile(
    r"(?m)\AWEBVTT.*|^(?:[^\n]+\n)?[^\n]*-->.*|^(?:NOTE|STYLE|REGION)\b(?:.*\n)(?:.+\n)*"
    r"|^[ \t]*\d+:\d\d:\d\d\.\d{3},\d+:\d\d:\d\d\.\d{3}[ \t]*$"
)
# Tags may be times; SubStation writes tags in braces.
_CUE_TAG = re.compile(r"</?[A-Za-z0-9][^<>]*>|\{\\[^{}\n]*\}")
# The tenth field of SubStation Alpha's events is the text; braces hold formats.
_DIALOGUE = re.compile(r"(?m)^Dialogue:(?:[^,\n]*,){9}(.*)$")
_OVERRIDE = re.compile(r"\{[^{}]*\}")


def subtitle_texts(source: str) -> list[str]:
    """Return the words of subtitles, without numbers, times and tags."""
    if "[Events]" in source:
        shown = "\n".join(_DIALOGUE.findall(source))
        return [_OVERRIDE.sub("", re.sub(r"\\[Nnh]", " ", shown))]
    return [html.unescape(_CUE_TAG.sub(" ", _CUE.sub("", source)))]


_CODES = re.compile(r"(?<!\\)(?:\\u[0-9a-fA-F]{4})+")


def json_texts(source: str) -> list[str]:
    """Return JSON with escaped characters decoded."""

    def character(found: re.Match[str]) -> str:
        units = bytes.fromhex(found[0].replace("\\u", ""))
        return units.decode("utf-16-be", "replace")

    return [_CODES.sub(character, source)]


def escaped_texts(source: str) -> list[str]:
    """Return TOML or Java properties with escaped characters decoded."""

    def character(found: re.Match[str]) -> str:
        number = int(found[1] or found[2] or "0", 16)
        return chr(number) if 0 < number <= sys.maxunicode else found[0]

    # A surrogate pair becomes one character, as in UTF-16.
    text = _ESCAPED.sub(character, source)
    return [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")]


# Colours and other terminal control codes.
_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


SOURCES = ("source", "input", "code", "text")
"""Names of a cell's source in formats 4 and 3, 2, and 1 of notebooks."""


def notebook_texts(source: str) -> Iterator[str]:
    """Yield the sources and printed outputs of a notebook's cells."""
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        notebook = json.loads(source)
        for sheet in notebook.get("worksheets") or [notebook]:
            for cell in sheet["cells"]:
                yield "".join(next((cell[name] for name in SOURCES if name in cell), ""))
                for output in cell.get("outputs", ()):
                    data = output.get("data", {})
                    trace = _TERMINAL.sub("", "\n".join(output.get("traceback", ())))
                    yield trace
                    if (value := output.get("evalue", "")) not in trace:
                        yield value
                    said = output.get("text") or data.get("text/plain") or ()
                    yield _TERMINAL.sub("", "".join(said))
                    if not said:
                        yield "".join(data.get("text/markdown", ()))
                        yield from html_texts("".join(data.get("text/html", ())))


def own_text(source: str) -> Iterable[str]:
    """Return the source itself, since all of its words are for people."""
    return (source,)
