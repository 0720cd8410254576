"""Dates as PDF writes them: `D:20240131095959+01'00'` (ISO 32000-1, 7.9.4)."""

import re

from foundry.readers.dates import normalise_date

_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:([+-])(\d{2})'?(\d{2})?|Z)?"
)


def read_pdf_date(written: str) -> str | None:
    """Return an ISO 8601 date or UTC date-time; None for what is no date."""
    match = _DATE.match(written.strip())
    if match is None:
        return normalise_date(written)
    year, month, day, hour, minute, second, sign, hours, minutes = match.groups()
    date = f"{year}-{month or '01'}-{day or '01'}"
    if hour is None:
        return normalise_date(date)
    offset = f"{sign}{hours}:{minutes or '00'}" if sign else "+00:00"
    return normalise_date(f"{date}T{hour}:{minute or '00'}:{second or '00'}{offset}")
