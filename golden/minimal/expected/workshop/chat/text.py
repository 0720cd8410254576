"""The text of answers: sentence boundaries, and escaping of Markdown."""

import re
from collections.abc import Iterator

MIN_SENTENCE = 20  # Minimum length in characters

_CLOSING = "\"')\\]\u00bb\u2019\u201d\u300b\u300d\u300f\u3011\uff09"
# Full stops with the space after them, Chinese and Japanese full stops, ends of paragraphs, items
_END = re.compile(
    rf"(?P<stop>(?<=[.!?\u2026\u061f\u0964\u0965\u06d4\u1362])[{_CLOSING}]*\s+)"
    rf"|(?<=[\u3002\uff01\uff1f\uff61])[{_CLOSING}]*\s*"
    r"|[ \t]*\n(?:[ \t]*\n)+"
    r"|[ \t]*\n(?=[ \t]*(?:[-*+\u2022]|[0-9]{1,3}[.)])[ \t])"
)
_NO_END = re.compile(
    r"(?:^|[\s(\[])(?:[A-Za-z]|e\.g|i\.e|a\.m|p\.m|cf|ca|etc|vs|no|nos|fig|figs|eq|sec|art|approx"
    r"|dr|mr|mrs|ms|prof|st|p|pp|vol|ch|ed|eds|inc|ltd|co|al|jan|feb|mar|apr|jun|jul|aug|sep|sept"
    r"|oct|nov|dec|abs|nr|buchst|ziff|bzw|ggf|usw|vgl|evtl|inkl|zzgl|bspw|sog|gem|abb|rn|bd"
    r"|d\.h|z\.b|u\.a|sr|sra|p\u00e1g|n\u00fam)\.$|(?:^|\n)[ \t>]*[0-9]{1,3}\.$"
    # German ordinals: `des 18. Lebensjahres`
    r"|\b(?:de[rsmn]|die|das|zu[mr]|beim|im|ab|bis|seit|(?<!\bi )am)\s[0-9]{1,3}\.$",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"(?:Januar|Februar|M\u00e4rz|April|Mai|Juni|Juli|August|(?:Septem|Okto|Novem|Dezem)ber)\b"
)
# Dots that stand for omitted words, or in a command for more arguments: `CREATE TYPE ... AS`,
# `[<path>...] [--all]`
_OMITTED = re.compile(r"(?:(?<![\w\"')\]\u2019\u201d])(?:\.\.\.|\u2026)|(?:\.\.\.|\u2026)\])\s+\Z")
_CODE_SPAN = re.compile(r"`[^`\n]{1,300}`")

# Lines that Markdown would format, or that read like a citation.
_BEGINS_BLOCK = re.compile(r"(?:#{1,6}|[-+*]|\d{1,9}[.)])(?:\s|\Z)|>|`{3}|~{3}|(?:=+|-+)\Z")
_CHANGED = re.compile(
    r"\](?=[(:])|!(?=\[)|<(?=[A-Za-z/!?])|\[\d{1,3}\]|\\(?=[!-/:-@\[-`{-~])"
    r"|\*(?=\S)[^\n]*(?<=\S)\*|(?<!\w)_(?=\S)[^\n]*(?<=\S)_(?!\w)|~~"
)
_MAY_CHANGE = re.compile(
    r"\](?=[(:])|!(?=\[)|<(?=[A-Za-z/!?])|\[\d{1,3}\]|\\(?=[!-/:-@\[-`{-~])|\*|(?<!\w)_|_(?!\w)|~~"
)
# A tag or placeholder may contain spaces: `<a name>`.
_WORD = re.compile(r"[\"'(]*(?P<core>(?:<[A-Za-z/!?][^<>\n]*>|[^\s<]|<)+?)[\"'.,;:!?]*(?=\s|\Z)")
_TICKS = re.compile(r"\\[!-/:-@\[-`{-~]|`+")

MARKS = re.compile(r"\](?=[(:])|!(?=\[)|<(?=[A-Za-z/!?])")


def find_sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets at which a new sentence begins within `text[start:end]`, in order."""
    spans = _CODE_SPAN.finditer(text, start, end)
    code = next(spans, None)
    for match in _END.finditer(text, start, end):
        while code is not None and code.end() <= match.start():
            code = next(spans, None)
        is_within_code = code is not None and code.start() < match.start()
        if start < match.end() < end and not is_within_code and not _goes_on(text, start, match):
            yield match.end()


def _goes_on(text: str, start: int, match: re.Match[str]) -> bool:
    if match["stop"] is None or match[0].count("\n") > 1:
        return False
    # A mark between spaces is one of several characters: `# . ! [`. French has a space before `!`.
    if text[match.start() - 2 : match.start() - 1].isspace() and (
        text[match.start() - 1] == "." or not text[match.end()].isalpha()
    ):
        return True
    if _OMITTED.search(text, max(start, match.start() - 3), match.end()):
        return True
    before = max(start, match.start() - 10)  # The longest abbreviation, with the character before
    if _NO_END.search(text, before, match.start()) or text[match.end() : match.end() + 1].islower():
        return True
    is_number = text[match.start() - 2 : match.start() - 1].isdigit()
    return is_number and _MONTH.match(text, match.end()) is not None


def keep_plain(text: str) -> str:
    """Return one line of Markdown that is displayed literally, except for its code.

    Words that Markdown would format, or that readers would take for a citation, become code, such
    as `<name>`. If that is not enough, the whole line becomes code.
    """
    if not _BEGINS_BLOCK.match(text):
        if not _CHANGED.search(_blank_spans(text)):
            return text
        by_words = _mark_words(text)
        if by_words and not _CHANGED.search(_blank_spans(by_words)):
            return by_words
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}"


def _mark_words(text: str) -> str | None:
    """Turn words that Markdown may change into code; return None if one of them contains code."""
    kept, at = "", 0
    for word in _WORD.finditer(_blank_spans(text)):
        if not _MAY_CHANGE.search(word[0]):
            continue
        start, end = word.span("core")
        # The bracket in `(see *args)` is not code; that in `f(*args)` is.
        end -= text[end - 1] == ")" and text.count("(", start, end) < text.count(")", start, end)
        if "`" in text[start:end]:
            return None
        kept += f"{text[at:start]}`{text[start:end]}`"
        at = end
    return kept + text[at:]


def _blank_spans(text: str) -> str:
    """Blank out the code spans of a paragraph, according to CommonMark 0.31, section 6.1."""
    kept, at = "", 0
    while found := _TICKS.search(text, at):
        ticks = found[0]
        closing = re.compile(f"(?<!`){ticks}(?!`)") if ticks[0] == "`" else None
        end = closing.search(text, found.end()) if closing else None
        kept += text[at : found.start()]
        kept += "x" * (end.end() - found.start()) if end else ticks
        at = end.end() if end else found.end()
    return kept + text[at:]
