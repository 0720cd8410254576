"""Reads iCalendar (RFC 5545), in files and in mail: title, time, place and people of each event."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.accounting.messages import calendar_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader, UnreadableError
from foundry.readers.notes import leave_out

_FOLD = re.compile(r"\r?\n[ \t]")
# A name, parameters whose values may be quoted, and a value.
_LINE = re.compile(r"([A-Za-z0-9-]+)((?:;[^:;\"=\n]+=(?:\"[^\"\n]*\"|[^:;\"\n]*))*):(.*)")
_PERSON = re.compile(r";CN=(?:\"([^\"]*)\"|([^;:]+))", re.IGNORECASE)
_TIME = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})\d{2}(Z?))?$")
_ZONE = re.compile(r";TZID=(?:\"([^\"]*)\"|([^;:]+))", re.IGNORECASE)
_DURATION = re.compile(r"(\d+)([WDHMS])")
_UNITS = {"W": "w", "D": "d", "H": "h", "M": "min", "S": "s"}
_ESCAPED = re.compile(r"\\([\\;,nN])")
_ENTRIES = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Journal entry"}
_KIND = "BEGIN"
_LABELS = {
    "SUMMARY": "Event",
    "DTSTART": "Begins",
    "DTEND": "Ends",
    "DURATION": "Lasts",
    "DUE": "Due",
    "COMPLETED": "Completed",
    "STATUS": "Status",
    "RRULE": "Repeats",
    "RDATE": "Also on",
    "EXDATE": "Not on",
    "RECURRENCE-ID": "Instead of",
    "LOCATION": "Where",
    "DESCRIPTION": "About",
    "COMMENT": "Comment",
    "CATEGORIES": "Categories",
    "URL": "Page",
    "ATTACH": "Attached",
    "CONFERENCE": "Conference",
    "CONTACT": "Contact",
    "RESOURCES": "Resources",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
}

Entry = dict[str, list[str]]
"""The kind of an event, task or journal, and its properties for people, by name."""


def spell_calendar(text: str) -> str:
    """Return the text of an invitation: title, time, place, people, description and so on."""
    _, entries = _parse(text)
    return "\n".join(line for entry in entries for line in _lines(entry))


def read(text: str) -> Reading:
    """Read a calendar: a section for each event, task and journal, in order.

    Raises UnreadableError for other text.
    """
    if "BEGIN:VCALENDAR" not in text[:1_000].upper():
        raise UnreadableError(Reason.NOT_AS_NAMED)
    title, entries = _parse(text)
    composer = Composer()
    for entry in entries:
        composer.heading(2, " ".join(entry.pop("SUMMARY", [])) or entry[_KIND][0])
        composer.text("\n".join(_lines(entry)), is_block=True)
    return composer.finish(title=title or None)


def _parse(text: str) -> tuple[str, list[Entry]]:
    """Return the name of a calendar and its entries, without values for programs."""
    title, entries = "", list[Entry]()
    inside: list[str] = []
    for line in _FOLD.sub("", text).splitlines():
        match = _LINE.fullmatch(line)
        name, value = (match[1].upper(), match[3]) if match else ("", line)
        if name == "BEGIN":
            inside.append(value.strip().upper())
            if inside[-1] in _ENTRIES:
                entries.append({_KIND: [_ENTRIES[inside[-1]]]})
        elif name == "END":
            del inside[-1:]
        elif match and inside and inside[-1] in _ENTRIES and name in _LABELS:
            shown, is_changed = _show(name, value, match[2])
            if name == "DTEND":
                shown = max(shown, *entries[-1].get("DTSTART", ("",)))
            if shown:
                entries[-1].setdefault(name, []).append(shown)
            if shown and not is_changed:
                line = f"{match[1]}{match[2]} {'mailto' if 'mailto:' in value else ''}"
        elif name in ("X-WR-CALNAME", "NAME") and not title:
            title, line = _unescape(value), name
        leave_out(Omission.ATTRIBUTE, line)
    return title, entries


def _lines(entry: Entry) -> Iterator[str]:
    for name, values in entry.items():
        if name != _KIND:
            yield from (f"{_LABELS[name]}: {value}" for value in values)


def _show(name: str, value: str, parameters: str) -> tuple[str, bool]:
    """Return the text shown for a value, "" for none, and whether its words differ from it."""
    shown = _unescape(value)
    if times := [*filter(None, map(_TIME.match, shown.split(",")))]:
        written = ", ".join(_moment(time, is_end=name == "DTEND") for time in times)
        zone = _ZONE.search(parameters)
        return f"{written} ({zone[1] or zone[2]})" if zone else written, True
    if name == "DURATION":
        spelled = (f"{number} {_UNITS[unit]}" for number, unit in _DURATION.findall(shown))
        return " ".join(spelled) or shown, True
    if (name == "STATUS" and shown == "CONFIRMED") or (name == "ATTACH" and "://" not in shown):
        return "", True
    if person := _PERSON.search(parameters):
        return f"{person[1] or person[2]} <{shown.removeprefix('mailto:')}>", False
    return shown, False


def _moment(time: re.Match[str], *, is_end: bool) -> str:
    """Return a time in ISO 8601; for an end without a time of day, the last day of the event."""
    day = "-".join(time.groups()[:3])
    if time[4]:
        return f"{day} {time[4]}:{time[5]}{time[6]}"
    with suppress(ValueError, OverflowError):
        return str(date.fromisoformat(day) - timedelta(days=is_end))
    return day


def _unescape(value: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], value).strip()


READER = Reader("calendar/3", {".ics": "text/calendar"}, read, texts=calendar_texts)
