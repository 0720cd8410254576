"""Convert dates as documents write them to ISO 8601."""

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

_NAMED_MONTH = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}$")


def normalise_date(written: str | None) -> str | None:
    """Return an ISO 8601 date, or a UTC date-time to the second; None for anything else.

    A time without offset counts as UTC. Numeric dates that are not year first are ambiguous
    between countries, and dropped.
    """
    value = (written or "").strip()
    if not 8 <= len(value) <= 60:
        return None
    try:
        if _ISO_DATE.match(value.replace("/", "-")):
            return date.fromisoformat(value.replace("/", "-")).isoformat()
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


def _to_utc(moment: datetime) -> str:
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")
