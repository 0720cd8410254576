"""Formats numbers like a spreadsheet (ECMA-376 part 1, 18.8.30 and 31)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isfinite

from foundry.readers.formats.office.moments import Token, show_moment

BUILT_IN = {
    **{1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00"},
    **{12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy"},
    **{18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm"},
    **{37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)"},
    **{40: "#,##0.00;(#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0"},
    **{49: "@", **dict.fromkeys((27, 30, 36, 50, 57), "yyyy-mm-dd")},
}
"""Built-in formats, to which files refer by number. Dates that vary by country are in ISO 8601."""

_TOKEN = re.compile(
    r'"([^"]*)"?|\\(.)|_.|\*.|\[\$([^\]-]*)(?:-([^\]]*))?\]|\[(h+|m+|s+)\]|\[([<>=]+)(-?[\d.]+)\]'
    r"|\[[^\]]*\]|(AM/PM|A/P|General|E[+-])|(y+|m+|d+|h+|s+|e+|b+)|(\.0+)|([0#?]+|[.,%/@;])|(.)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a format, with the condition for its numbers, if any."""

    tokens: tuple[Token, ...]
    condition: tuple[str, float] | None = None
    is_foreign: bool = False

    @property
    def is_date(self) -> bool:
        """Whether the section formats a date or a time."""
        return any(token.kind in {"date", "elapsed", "ampm"} for token in self.tokens)


def show_number(value: float, code: str, *, is_1904: bool = False) -> str:
    """Format a number; dates are in days since 1900, or 1904."""
    if not isfinite(value):
        return str(value)
    section, is_signed = _choose(parse(code), value)
    if section is None or not section.tokens:
        return "" if section is not None and code.strip() else show_general(value)
    if section.is_date:
        shown = show_moment(value, section.tokens, is_1904=is_1904, is_foreign=section.is_foreign)
        return show_general(value) if shown is None else shown
    return _show_plain(value, section, is_signed).strip()


def show_text(text: str, code: str) -> str:
    """Format a text with a format such as `"No. "@`."""
    sections = parse(code)
    section = sections[3] if len(sections) > 3 else sections[-1]
    if not any(token.kind == "@" for token in section.tokens):
        return text
    return "".join(text if token.kind == "@" else token.text for token in section.tokens)


def show_general(value: float) -> str:
    """Format a number with the fifteen digits that spreadsheets show."""
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return f"{value:.15g}"


@lru_cache(maxsize=4_096)
def parse(code: str) -> tuple[Section, ...]:
    """Return the sections of a format."""
    sections: list[Section] = []
    tokens: list[Token] = []
    condition: tuple[str, float] | None = None
    is_foreign = False
    for match in _TOKEN.finditer(code[:1_000]):
        quoted, escaped, currency, locale, elapsed, sign, limit, word, date, part, mark, other = (
            match.groups()
        )
        if quoted is not None or escaped is not None:
            tokens.append(Token("text", quoted if quoted is not None else escaped))
        elif currency is not None:
            tokens.append(Token("text", currency))
            is_foreign = is_foreign or (locale or "").lower()[-2:] not in _ENGLISH
        elif elapsed:
            tokens.append(Token("elapsed", elapsed.lower()))
        elif sign:
            condition = (sign, float(limit)) if re.fullmatch(r"-?\d+\.?\d*", limit) else None
        elif word:
            kind = "ampm" if "/" in word else word.upper() if word[0] in "Ee" else "General"
            tokens.append(Token(kind, word))
        elif date:
            tokens.append(Token("date", date.lower()))
        elif part:
            is_second = bool(tokens) and any(t.kind in {"date", "elapsed"} for t in tokens)
            tokens += (
                [Token("fraction", part)]
                if is_second
                else [Token(".", "."), Token("digits", part[1:])]
            )
        elif mark == ";":
            sections.append(Section(tuple(tokens), condition, is_foreign))
            tokens, condition = [], None
        elif mark:
            tokens.append(Token("digits" if mark[0] in "0#?" else mark, mark))
        elif other:
            tokens.append(Token("text", other))
    return (*sections, Section(tuple(tokens), condition, is_foreign))


_ENGLISH = frozenset({"", "09", "00"})
"""Endings of locale codes for which months are in English: English, none, and the system's."""


def _choose(sections: Sequence[Section], value: float) -> tuple[Section | None, bool]:
    """Return the section for a number, if any fits, and whether its sign must be written."""
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _holds(section.condition, value):
                return section, value < 0
        return None, True
    if value < 0 and len(sections) > 1:
        return sections[1], False
    if value == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], value < 0


def _holds(condition: tuple[str, float], value: float) -> bool:
    sign, limit = condition
    return {
        ">": value > limit,
        ">=": value >= limit,
        "<": value < limit,
        "<=": value <= limit,
        "=": value == limit,
        "<>": value != limit,
    }.get(sign, False)


def _show_plain(value: float, section: Section, is_signed: bool) -> str:
    tokens = section.tokens
    if any(token.kind == "General" for token in tokens):
        shown = show_general(abs(value))
        text = "".join(shown if token.kind == "General" else _literal(token) for token in tokens)
        return f"-{text}" if is_signed else text
    if not any(token.kind == "digits" for token in tokens):
        return "".join(show_general(value) if t.kind == "@" else _literal(t) for t in tokens)
    if any(token.kind == "/" for token in tokens):
        text = _show_fraction(abs(value), tokens)
    else:
        text = _show_decimal(abs(value), tokens)
    return f"-{text}" if is_signed and any(sign in "123456789" for sign in text) else text


def _literal(token: Token) -> str:
    return token.text if token.kind in {"text", "%", "/", ",", "."} else ""


def _show_decimal(value: float, tokens: Sequence[Token]) -> str:
    """Return a number without its sign, with digits at the format's places."""
    kinds = [token.kind for token in tokens]
    places = [place for place, kind in enumerate(kinds) if kind == "digits"]
    end = next((place for place, kind in enumerate(kinds) if kind[0] == "E"), len(tokens))
    point = kinds.index(".") if "." in kinds[:end] else end
    whole_places = [place for place in places if place < point]
    final = whole_places[-1] if whole_places else places[0]
    commas = [place for place, kind in enumerate(kinds[:end]) if kind == ","]
    has_groups = any(places[0] < place < final for place in commas)
    # A comma after the last digit divides by a thousand.
    scaling = sum(final < place < point or place > places[-1] for place in commas)
    number = Decimal(f"{value:.15g}") * Decimal(100) ** kinds.count("%") / Decimal(1000) ** scaling
    before = "".join(tokens[place].text for place in whole_places)
    behind = "".join(tokens[place].text for place in places if point < place < end)
    exponent = 0
    if end < len(tokens) and number:
        step = max(len(before), 1)
        exponent = number.adjusted() // step * step
        number = number.scaleb(-exponent)
    number = number.quantize(Decimal(1).scaleb(-len(behind)), ROUND_HALF_UP)
    whole, _, rest = f"{number:f}".partition(".")
    shown = _fill_whole(tokens[:point], whole.lstrip("0"), has_groups=has_groups)
    return shown + _fill_rest(tokens[point:], _trim(rest, behind), exponent)


def _trim(rest: str, places: str) -> str:
    """Drop trailing zeros of decimals for which the format has no `0`."""
    while rest and rest[-1] == "0" and places[len(rest) - 1] != "0":
        rest = rest[:-1]
    return rest


def _fill_whole(tokens: Sequence[Token], whole: str, *, has_groups: bool) -> str:
    """Return the integer part, with digits filled in from the right."""
    digits, count = list(whole), 0
    backwards: list[str] = []
    first = next((place for place, token in enumerate(tokens) if token.kind == "digits"), -1)
    for place in range(len(tokens) - 1, -1, -1):
        token = tokens[place]
        if token.kind != "digits":
            backwards.append(token.text if token.kind in {"text", "%"} else "")
            continue
        # Digits in excess of the places precede the first.
        wanted = token.text[::-1] + "#" * (len(digits) if place == first else 0)
        for sign in wanted:
            if digits or sign == "0":
                backwards.append("," if has_groups and count and count % 3 == 0 else "")
                backwards.append(digits.pop() if digits else "0")
                count += 1
    return "".join(reversed(backwards))


def _fill_rest(tokens: Sequence[Token], rest: str, exponent: int) -> str:
    """Return the part after the integer: decimals, exponent, units."""
    written: list[str] = []
    has_power = False
    for token in tokens:
        if token.kind == "digits" and has_power:
            written.append(str(abs(exponent)).rjust(len(token.text), "0"))
        elif token.kind == "digits":
            written.append(rest[: len(token.text)])
            rest = rest[len(token.text) :]
        elif token.kind[0] == "E":
            has_power = True
            sign = "-" if exponent < 0 else "+" if token.text.endswith("+") else ""
            written.append(f"E{sign}")
        elif token.kind == ".":
            written.append("." if rest else "")
        elif token.kind in {"text", "%"}:
            written.append(token.text)
    return "".join(written)


def _show_fraction(value: float, tokens: Sequence[Token]) -> str:
    groups = [token.text for token in tokens if token.kind == "digits"]
    slash = next(place for place, token in enumerate(tokens) if token.kind == "/")
    below = "".join(t.text for t in tokens[slash + 1 :] if t.kind in {"digits", "text"}).strip()
    has_whole = len(groups) > 2 or (len(groups) == 2 and below.isdigit() and below.strip("0") != "")
    fixed = int(below) if below.isdigit() and below.strip("0") else 0
    number = Fraction(f"{value:.15g}")
    whole = int(number) if has_whole else 0
    part = number - whole
    if fixed:
        upper, lower = int(part * fixed + Fraction(1, 2)), fixed
    else:
        near = part.limit_denominator(10 ** min(max(len(below), 1), 5) - 1)
        upper, lower = near.numerator, near.denominator
    if upper == lower and has_whole:
        whole, upper = whole + 1, 0
    if not upper:
        return str(whole)
    return f"{whole} {upper}/{lower}" if whole else f"{upper}/{lower}"
