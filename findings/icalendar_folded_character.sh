#!/usr/bin/env bash
# icalendar 7.3.2 and vobject 0.9.9: a line that is folded within a character.
# Expected: RFC 5545, section 3.1, allows a line to be folded after any octet, "in the middle of a UTF-8
#   multi-octet sequence" too, and says that implementations must restore the sequence when they unfold.
# Seen: icalendar decodes the bytes first, and replaces both halves: "Große" comes back as "Gro", two
#   replacement characters and "e", without an error. vobject takes no bytes of such a calendar, only text,
#   in which the character is already lost. Unfolded as bytes, the same calendar is read correctly.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet icalendar==7.3.2 vobject==0.9.9
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import re
from importlib.metadata import version

import icalendar
import vobject

lines = ("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "UID:1")
lines += ("DTSTAMP:20240101T000000Z", "SUMMARY:Große Pumpe", "END:VEVENT", "END:VCALENDAR", "")
whole = "\r\n".join(lines).encode()
folded = whole.replace("ß".encode(), b"\xc3\r\n \x9f")


def summary(content: bytes) -> str:
    return str(icalendar.Calendar.from_ical(content).walk("VEVENT")[0]["SUMMARY"])


print("icalendar", version("icalendar"), "vobject", version("vobject"))
print("folded:  ", ascii(summary(folded)))
print("unfolded:", ascii(summary(re.sub(rb"\r\n[ \t]", b"", folded))))
text = folded.decode("utf-8", "replace")
print("vobject: ", ascii(next(vobject.readComponents(text)).vevent.summary.value))
assert summary(folded) == "Gro\ufffd\ufffde Pumpe"
assert summary(re.sub(rb"\r\n[ \t]", b"", folded)) == "Große Pumpe"
try:
    next(vobject.readComponents(folded))
except TypeError as error:
    print("vobject, bytes:", error)
else:
    raise SystemExit("vobject takes bytes now")
PYTHON
