"""Formats dates and times like a spreadsheet, by their number format."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

_MIDNIGHT = re.compile(r"^(\d{4}-\d{2}-\d{2})[ T]0?0:00(?::00)?$")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LAST_DAY = 2_958_466
"""The first day number that is not a date, 10000-01-01."""
_SILENT = frozenset({"@", "General"})


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a format: `text`, `digits`, `date`, `elapsed`, `ampm` or a single sign."""

    kind: str
    text: str


def show_moment(
    value: float, tokens: Sequence[Token], *, is_1904: bool, is_foreign: bool
) -> str | None:
    """Format days since 1900, or 1904; return None if the value is not a date.

    If month names would have to be in a language other than English, the result is in ISO 8601.
    """
    has_elapsed = any(token.kind == "elapsed" for token in tokens)
    seconds = round(abs(value) * 86_400, 3 if any(t.kind == "fraction" for t in tokens) else 0)
    days = seconds / 86_400
    if days + 1_462 * is_1904 >= _LAST_DAY or (value < 0 and not has_elapsed):
        return None
    # 1900 was not a leap year, but spreadsheets count day 60 as its 29th of February.
    first = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 31 if 1 <= days < 60 else 30)
    moment = first + timedelta(seconds=seconds)
    dates = [token.text for token in tokens if token.kind == "date"]
    if is_foreign and any(text[:3] in {"mmm", "ddd"} for text in dates):
        has_day = any(text in {"d", "dd"} for text in dates)
        return moment.date().isoformat()[: 10 if has_day else 7]
    has_noon = any(token.kind == "ampm" for token in tokens)
    written = [
        _show_piece(token, _is_minute(tokens, place), moment, seconds, has_noon)
        for place, token in enumerate(tokens)
    ]
    return _MIDNIGHT.sub(r"\1", ("-" if value < 0 else "") + "".join(written).strip())


def _is_minute(tokens: Sequence[Token], place: int) -> bool:
    """Return whether an `m` means minutes: after hours, or before seconds."""
    token = tokens[place]
    if token.kind != "date" or token.text not in {"m", "mm"}:
        return False
    others = [t for t in tokens[:place] if t.kind in {"date", "elapsed"}]
    following = [t for t in tokens[place + 1 :] if t.kind in {"date", "elapsed"}]
    return bool(others and others[-1].text[0] == "h") or bool(
        following and following[0].text[0] == "s"
    )


def _show_piece(
    token: Token, is_minute: bool, moment: datetime, seconds: float, has_noon: bool
) -> str:
    text = token.text
    if token.kind == "elapsed":
        unit = {"h": 3_600, "m": 60, "s": 1}[text[0]]
        return str(int(seconds // unit)).rjust(len(text), "0")
    if token.kind == "ampm":
        noon = "PM" if moment.hour >= 12 else "AM"
        return noon if len(text) > 3 else noon[0]
    if token.kind == "fraction":
        return f"{moment.microsecond / 1e6:.{len(text) - 1}f}"[1:]
    if token.kind != "date":
        return "" if token.kind in _SILENT else text
    hour = (moment.hour % 12 or 12) if has_noon else moment.hour
    match text[0], len(text):
        case ("y" | "e", size):
            return f"{moment.year:04}" if size > 2 or text[0] == "e" else f"{moment.year % 100:02}"
        case ("b", size):
            return f"{moment.year + 543:04}"[-4 if size > 2 else -2 :]
        case ("m", size) if is_minute:
            return str(moment.minute).rjust(size, "0")
        case ("m", 1 | 2 as size):
            return str(moment.month).rjust(size, "0")
        case ("m", size):
            name = _MONTHS[moment.month - 1]
            return name[:3] if size == 3 else name[0] if size == 5 else name
        case ("d", 1 | 2 as size):
            return str(moment.day).rjust(size, "0")
        case ("d", size):
            name = _DAYS[moment.weekday()]
            return name[:3] if size == 3 else name
        case ("h", size):
            return str(hour).rjust(min(size, 2), "0")
        case (_, size):
            return str(moment.second).rjust(min(size, 2), "0")
