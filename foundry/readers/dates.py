"""Converts dates in documents to ISO 8601."""

import re
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

_NAMED_MONTH = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y")
_ISO = re.compile(
    # A YAML 1.1 timestamp, as in Jekyll, Hugo and Hexo: parts may have one digit.
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"
    r"(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"
    r"[ \t]*(Z|UTC|GMT|[-+]\d{1,2}(?::?\d{2})?)?)?$"
)
_ZONE = re.compile(r"([-+])(\d{1,2}):?(\d{2})?$")


def normalise_date(written: str | None) -> str | None:
    """Return an ISO 8601 date, or a UTC date-time to the second; None for anything else.

    A time without offset counts as UTC. Numeric dates that do not begin with the year are ambiguous
    and dropped.
    """
    value = (written or "").strip()
    if not 8 <= len(value) <= 60:
        return None
    try:
        if found := _ISO.match(value):
            return _read_timestamp(found)
        return _to_utc(datetime.fromisoformat(value))
    except (ValueError, OverflowError):
        pass
    for layout in _NAMED_MONTH:
        try:
            return datetime.strptime(value, layout).date().isoformat()
        except ValueError:
            continue
    try:
        return _to_utc(parsedate_to_datetime(value))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _read_timestamp(written: re.Match[str]) -> str:
    day = date(int(written[1]), int(written[2]), int(written[3]))
    if written[4] is None:
        return day.isoformat()
    moment = datetime(
        *(day.year, day.month, day.day, int(written[4]), int(written[5]), int(written[6] or 0)),
        tzinfo=UTC,
    )
    if zone := _ZONE.match(written[8] or ""):
        offset = timedelta(hours=int(zone[2]), minutes=int(zone[3] or 0))
        moment -= -offset if zone[1] == "-" else offset
    return _to_utc(moment)


def _to_utc(moment: datetime) -> str:
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")
