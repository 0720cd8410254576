"""Texts that mails carry in forms of their own: flowed lines and invitations."""

import re

_CALENDAR_LINE = re.compile(
    r"^(SUMMARY|DTSTART|DTEND|LOCATION|DESCRIPTION|ORGANIZER|ATTENDEE)((?:;[^:\n]*)?):(.*)$",
    re.MULTILINE | re.IGNORECASE,
)
_CALENDAR_NAME = re.compile(r";CN=\"?([^\";:]+)", re.IGNORECASE)
_CALENDAR_TIME = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})\d{2}(Z?))?$")
_ESCAPES = re.compile(r"\\([\\;,nN])")


def unfold(text: str, *, drops_space: bool) -> str:
    """Return flowed text with its lines joined into paragraphs (RFC 3676)."""
    lines: list[str] = []
    goes_on = False
    depth_before = 0
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(">"))
        content = line[depth:].removeprefix(" ")
        if goes_on and depth == depth_before and content != "-- ":
            lines[-1] += content
        else:
            lines.append(f"{'>' * depth} {content}" if depth else content)
        goes_on = content.endswith(" ") and content != "-- "
        if goes_on and drops_space:
            lines[-1] = lines[-1][:-1]
        depth_before = depth
    return "\n".join(lines)


def spell_calendar(text: str) -> str:
    """Return what an invitation says: what, when, where and who."""
    lines: list[str] = []
    # Long lines are folded; alarms and time zones come between and after what is asked.
    unfolded = re.sub(r"\r?\n[ \t]", "", text)
    for event in re.findall(r"BEGIN:(?:VEVENT|VTODO)\b(.*?)END:V", unfolded, re.DOTALL):
        for name, parameters, value in _CALENDAR_LINE.findall(event):
            shown = _ESCAPES.sub(lambda found: "\n" if found[1] in "nN" else found[1], value)
            if moment := _CALENDAR_TIME.match(shown.strip()):
                day = "-".join(moment.groups()[:3])
                shown = f"{day} {moment[4]}:{moment[5]}{moment[6]}" if moment[4] else day
            elif person := _CALENDAR_NAME.search(parameters):
                shown = f"{person[1]} <{shown.strip().removeprefix('mailto:')}>"
            lines.append(f"{_CALENDAR_NAMES[name.upper()]}: {shown.strip()}")
    return "\n".join(lines)


_CALENDAR_NAMES = {
    **{"SUMMARY": "Event", "DTSTART": "Begins", "DTEND": "Ends", "LOCATION": "Where"},
    **{"DESCRIPTION": "About", "ORGANIZER": "Organizer", "ATTENDEE": "Attendee"},
}
