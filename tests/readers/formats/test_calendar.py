"""Calendars: each event is a section that says what, when, where and who."""

import pytest

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers import read

EVENT = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-WR-CALNAME:Pump house\r\n"
    "BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nEND:VTIMEZONE\r\n"
    "BEGIN:VEVENT\r\nUID:1@example.com\r\nSUMMARY:Change of\r\n  seals\r\n"
    'ATTENDEE;CN="Berg; Anna";ROLE=CHAIR:mailto:anna@example.com\r\n'
    "DTSTART;TZID=Europe/Berlin:20261130T100000\r\nDTEND:20261130T113000Z\r\n"
    "BEGIN:VALARM\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\n"
    "LOCATION:Room 5\\, cellar\r\nDESCRIPTION:Bring the\\nplans\\; and pens: two\r\nEND:VEVENT\r\n"
    "BEGIN:VTODO\r\nSUMMARY:Order seals\r\nDUE;VALUE=DATE:20261201\r\nEND:VTODO\r\n"
    "END:VCALENDAR\r\n"
)


def read_calendar(text: str) -> Document | Skipped:
    return read(RawDocument("s", "a.ics", "a.ics", text.encode()))


def test_events_are_sections() -> None:
    document = read_calendar(EVENT)
    assert isinstance(document, Document)
    assert (document.title, document.media_type) == ("Pump house", "text/calendar")
    assert document.reading.text == (
        "## Change of seals\n\nAttendee: Berg; Anna <anna@example.com>\n"
        "Begins: 2026-11-30 10:00 (Europe/Berlin)\nEnds: 2026-11-30 11:30Z\nWhere: Room 5, cellar\n"
        "About: Bring the\nplans; and pens: two\n\n## Order seals\n\nDue: 2026-12-01"
    )


def test_all_words_are_accounted_for() -> None:
    document = read_calendar(EVENT)
    assert isinstance(document, Document)
    words = document.reading.words
    assert words is not None
    assert (words.unaccounted, document.reading.unaccounted) == (0, ())
    left_out = " ".join(each.text for each in document.reading.left_out)
    assert "Reminder" in left_out
    assert "Bring" not in left_out


def event(*lines: str) -> str:
    inner = "".join(f"{line}\r\n" for line in lines)
    whole = f"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n{inner}END:VEVENT\r\nEND:VCALENDAR\r\n"
    document = read_calendar(whole)
    assert isinstance(document, Document)
    assert document.reading.unaccounted == ()
    return document.reading.text


@pytest.mark.parametrize(
    ("last", "shown"), [("20240504", "03"), ("20240506", "05"), ("20240503", "03")]
)
def test_whole_days_end_before_the_written_day(last: str, shown: str) -> None:
    text = event("SUMMARY:Fair", "DTSTART;VALUE=DATE:20240503", f"DTEND;VALUE=DATE:{last}")
    assert text == f"## Fair\n\nBegins: 2024-05-03\nEnds: 2024-05-{shown}"


def test_events_have_duration_exceptions_and_attachments() -> None:
    text = event(
        *("SUMMARY:Fair", "DTSTART:20240503T100000Z", "DURATION:P1DT1H30M", "STATUS:CANCELLED"),
        *("RRULE:FREQ=WEEKLY", "EXDATE;TZID=CET:20240510T120000,20240517T120000"),
        *("RECURRENCE-ID:20240502T100000Z", "ATTACH:https://example.org/a.pdf"),
        *("ATTACH;ENCODING=BASE64;VALUE=BINARY:AAAA", "CONTACT:Jim\\, ABC"),
    )
    assert text == (
        "## Fair\n\nBegins: 2024-05-03 10:00Z\nLasts: 1 d 1 h 30 min\nStatus: CANCELLED\n"
        "Repeats: FREQ=WEEKLY\nNot on: 2024-05-10 12:00, 2024-05-17 12:00 (CET)\n"
        "Instead of: 2024-05-02 10:00Z\nAttached: https://example.org/a.pdf\nContact: Jim, ABC"
    )


def test_events_without_a_title_have_their_own_section() -> None:
    assert event("DESCRIPTION:Bring pens.", "STATUS:CONFIRMED") == "## Event\n\nAbout: Bring pens."


def test_lines_may_be_folded_within_a_character() -> None:
    content = EVENT.replace("seals", "größte").encode().replace(b"\xc3\xb6", b"\xc3\r\n \xb6")
    document = read(RawDocument("s", "a.ics", "a.ics", content))
    assert isinstance(document, Document)
    assert "Change of größte" in document.reading.text
    assert document.reading.words is not None
    assert document.reading.words.unaccounted == 0


def test_other_text_is_not_a_calendar() -> None:
    result = read_calendar("The calendar of the pump house.")
    assert isinstance(result, Skipped)
    assert result.reason == "content does not match its name"
