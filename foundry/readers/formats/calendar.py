"""Reads iCalendar (RFC 5545), in files and in mail: what, when and where each event is, and who."""

import re
from collections.abc import Iterator

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
_ESCAPED = re.compile(r"\\([\\;,nN])")
_ENTRIES = frozenset(("VEVENT", "VTODO", "VJOURNAL"))
_LABELS = {
    "SUMMARY": "Event",
    "DTSTART": "Begins",
    "DTEND": "Ends",
    "DUE": "Due",
    "RRULE": "Repeats",
    "LOCATION": "Where",
    "DESCRIPTION": "About",
    "COMMENT": "Comment",
    "CATEGORIES": "Categories",
    "URL": "Page",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
}

Entry = dict[str, list[str]]
"""Properties of an event, task or journal that are for people, by name."""


def spell_calendar(text: str) -> str:
    """Return the text of an invitation: title, time, place, people, description and so on."""
    _, entries = _parse(text)
    return "\n".join(line for entry in entries for line in _lines(entry))


def read(text: str) -> Reading:
    """Read a calendar: a section for each event, task and journal, in order."""
    if "BEGIN:VCALENDAR" not in text[:1_000].upper():
        raise UnreadableError(Reason.NOT_AS_NAMED)
    title, entries = _parse(text)
    composer = Composer()
    for entry in entries:
        composer.heading(2, " ".join(entry.pop("SUMMARY", [])))
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
                entries.append({})
        elif name == "END":
            del inside[-1:]
        elif match and inside and inside[-1] in _ENTRIES and name in _LABELS:
            shown = _show(value, match[2])
            entries[-1].setdefault(name, []).append(shown)
            # Times are shown in a different form from the one they are written in.
            if not _TIME.match(value.strip()):
                line = f"{match[1]}{match[2]} {'mailto' if 'mailto:' in value else ''}"
        elif name in ("X-WR-CALNAME", "NAME") and not title:
            title, line = _show(value, ""), name
        leave_out(Omission.ATTRIBUTE, line)
    return title, entries


def _lines(entry: Entry) -> Iterator[str]:
    for name, values in entry.items():
        yield from (f"{_LABELS[name]}: {value}" for value in values)


def _show(value: str, parameters: str) -> str:
    shown = _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], value).strip()
    if moment := _TIME.match(shown):
        day = "-".join(moment.groups()[:3])
        return f"{day} {moment[4]}:{moment[5]}{moment[6]}" if moment[4] else day
    if person := _PERSON.search(parameters):
        return f"{person[1] or person[2]} <{shown.removeprefix('mailto:')}>"
    return shown


READER = Reader("calendar/2", {".ics": "text/calendar"}, read, texts=calendar_texts)
