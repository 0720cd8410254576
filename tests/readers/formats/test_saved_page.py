"""Pages that a browser has saved as one file."""

import pytest

from foundry.readers.contract import UnreadableError
from foundry.readers.formats import saved_page

SAVED = """\
From: <Saved by Blink>
Snapshot-Content-Location: https://example.org/
Subject: =?utf-8?Q?Caf=C3=A9?=
Date: Tue, 5 Mar 2024 10:00:00 -0000
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary="B"

--B
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable

<html><head><meta charset=3D"utf-8"><title>Caf=C3=A9</title></head><h1>Start</h1><p>Words =
split.</p>
--B
Content-Type: text/css

p { color: red }
--B
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: base64
Content-ID: <frame-1@mhtml.blink>

PHA+Z3L8bjwvcD4=
--B--
"""


def test_saved_pages_and_their_frames_are_read() -> None:
    reading = saved_page.read(SAVED.replace("\n", "\r\n").encode())
    assert reading.text == "# Start\n\nWords split.\n\ngrün"
    assert (reading.title, reading.modified) == ("Café", "2024-03-05T10:00:00Z")


def test_files_without_a_page_are_refused() -> None:
    with pytest.raises(UnreadableError):
        saved_page.read(b"Subject: x\n\nwords")
