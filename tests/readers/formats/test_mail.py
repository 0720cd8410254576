"""E-mail as Apple Mail, Thunderbird, Mailman and Outlook write it."""

from email.message import EmailMessage
from email.mime.application import MIMEApplication
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest
from document_files import read_document, read_whole

from foundry.documents import Document
from foundry.documents.left_out import Omission
from foundry.readers.formats.mail.parts import MAX_DEPTH

HEAD = b"From: ann@example.org\nSubject: Plums\nMIME-Version: 1.0\n"


def read_mail(content: bytes, path: str = "a.eml") -> Document:
    return read_document(content, path)


def body_of(content: bytes, path: str = "a.eml") -> str:
    """Return the text without the headers of the message."""
    return read_mail(content, path).reading.text.partition("\n\n")[2]


def mixed(*parts: MIMEBase | EmailMessage, kind: str = "mixed") -> bytes:
    message = MIMEMultipart(kind)
    message["From"], message["Subject"] = "ann@example.org", "Plums"
    for part in parts:
        message.attach(part)
    return message.as_bytes()


def test_all_shown_parts_are_read_in_order() -> None:
    plan = MIMEApplication(b"x", "pdf")
    plan.add_header("Content-Disposition", "inline", filename="plan.pdf")
    log = MIMEText("secret log")
    log.add_header("Content-Disposition", "attachment", filename="log.txt")
    content = mixed(MIMEText("First."), plan, MIMEText("<p>Second.</p>", "html"), log)
    assert body_of(content) == "First.\n\nSecond.\n\nAttachments: plan.pdf, log.txt"


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("The plain one.", "The plain one."),
        (" \n", "The page."),
        ("This message requires a mail reader that supports HTML.", "The page."),
    ],
)
def test_only_one_alternative_is_read(plain: str, expected: str) -> None:
    content = mixed(MIMEText(plain), MIMEText("<p>The page.</p>", "html"), kind="alternative")
    document = read_mail(content)
    assert document.reading.text.endswith(f"\n\n{expected}")
    other = [each for each in document.reading.left_out if each.reason is Omission.DUPLICATE]
    assert [each.text.strip() for each in other] == [
        text for text in ("The page." if expected == plain else plain.strip(),) if text
    ]


def test_plain_parts_that_are_only_excerpts_are_not_read() -> None:
    rows = "".join(f"<tr><td>Plum {n}</td><td>{n}.50</td></tr>" for n in range(9))
    page = MIMEText(f"<p>The prices of May.</p><table>{rows}</table>", "html")
    for plain in ("The prices of May.", "View this message in your browser: https://e.org/1"):
        assert "| Plum 8 | 8.50 |" in body_of(mixed(MIMEText(plain), page, kind="alternative"))
    same = "The prices of May.\n" + "".join(f"Plum {n}: {n}.50\n" for n in range(9))
    text = body_of(mixed(MIMEText(same), page, kind="alternative"))
    assert text == same.rstrip()


def test_html_parts_may_declare_their_charset() -> None:
    page = '<meta charset="iso-8859-2"><p>gruszka, śliwka</p>'.encode("iso-8859-2")
    content = HEAD + b"Content-Type: text/html\n\n" + page
    assert read_whole(content, "a.eml").reading.text.endswith("gruszka, śliwka")
    content = HEAD + b"Content-Type: text/plain; charset=utf-7\n\nS+APwA3w- plums\n"
    assert read_whole(content, "a.eml").reading.text.endswith("Süß plums")
    damaged = read_whole(content + b"+AAA figs \xff\n", "a.eml")
    assert damaged.reading.text.endswith("figs \ufffd")


@pytest.mark.parametrize("kind", ["global", "news"])
def test_nested_messages_of_other_types_are_read(kind: str) -> None:
    inner = b"Subject: Figs\nFrom: bob@example.org\n\nInner words.\n"
    content = HEAD + b"Content-Type: multipart/mixed; boundary=B\n\n--B\n"
    content += f"Content-Type: message/{kind}\n\n".encode() + inner + b"--B--\n"
    document = read_whole(content, "a.eml")
    assert [each.text for each in document.reading.headings] == ["Figs"]
    assert "Inner words." in document.reading.text


def test_fields_of_receipts_are_read() -> None:
    fields = b"Final-Recipient: rfc822;ann@example.org\nDisposition: displayed\n"
    content = HEAD + b"Content-Type: message/disposition-notification\n\n" + fields
    assert "Disposition: displayed" in body_of(content)


def test_messages_without_their_boundaries_are_text() -> None:
    content = HEAD + b"Content-Type: multipart/mixed; boundary=B\n\nOnly words.\n"
    assert body_of(content) == "Only words."


def test_too_deeply_nested_messages_are_named() -> None:
    message = EmailMessage()
    message.set_content("Innermost.")
    for depth in range(MAX_DEPTH + 1):
        outer = EmailMessage()
        outer["Subject"] = f"Level {depth}"
        outer.add_attachment(message)
        message = outer
    text = body_of(message.as_bytes())
    assert "Attachments: message/rfc822" in text
    assert "Innermost." not in text


def test_nested_messages_are_read() -> None:
    inner = EmailMessage()
    inner["Subject"], inner["From"] = "Inner subject", "bob@example.org"
    inner.set_content("Inner body.")
    outer = EmailMessage()
    outer["Subject"], outer["From"] = "Fwd", "ann@example.org"
    outer.set_content("See below.")
    outer.add_attachment(inner)
    document = read_mail(outer.as_bytes())
    assert [each.text for each in document.reading.headings] == ["Inner subject"]
    assert document.reading.text.endswith("From: bob@example.org\n\nInner body.")


def test_flowed_lines_are_joined() -> None:
    kind = b"Content-Type: text/plain; charset=utf-8; format=flowed"
    text = b"One line \nof text.\n> A quoted \n> line.\nEnd.\n-- \nAnn\n"
    flowed = body_of(HEAD + kind + b"\n\n" + text)
    assert flowed == "One line of text.\n> A quoted line.\nEnd.\n-- \nAnn"
    assert body_of(HEAD + kind + b"; delsp=yes\n\nA sen \ntence.\n") == "A sentence."


def test_mailman_mailboxes_and_quoted_separators() -> None:
    head = b"From ann at example.org  Fri May  3 10:00:00 2024\nFrom: ann at example.org (Ann)\n"
    box = head + b"Subject: One\n\n>From the garden.\nFrom here on it rained, Mon and Tue.\n\n"
    box += b"From bob@example.org Sat May  4 10:00:00 2024\nSubject: Two\n\nFigs.\n"
    document = read_mail(box, "list.mbox")
    assert [each.text for each in document.reading.headings] == ["One", "Two"]
    assert "\n\nFrom the garden.\nFrom here on it rained" in document.reading.text


def test_mailboxes_with_iso_dates_are_split() -> None:
    box = b"From a@e.org 2024-05-03T10:00:00Z\nSubject: One\n\nPlums.\n\n"
    box += b"From b@e.org 2024-05-04 10:00:00\nSubject: Two\n\nFigs.\n"
    headings = read_whole(box, "list.mbox").reading.headings
    assert [each.text for each in headings] == ["One", "Two"]


def test_apple_mail_lengths_and_properties_are_not_text() -> None:
    message = HEAD + b"\nRipe plums.\n"
    content = b"%d      \n" % len(message) + message + b"<?xml version='1.0'?><plist>flags</plist>"
    document = read_whole(content, "1.emlx")
    assert document.title == "Plums"
    assert document.reading.text.endswith("\n\nRipe plums.")


def test_commands_of_enriched_text_are_removed() -> None:
    enriched = b"<bold>Ripe</bold> <color><param>red</param>plums</color> at << 5 EUR"
    kind = b"Content-Type: text/enriched\n\n"
    assert body_of(HEAD + kind + enriched) == "Ripe plums at < 5 EUR"


def test_invitations_have_event_time_and_place() -> None:
    event = (
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Plum\\, pruning\r\nDTSTART;TZID=X:20240503T1000"
        "00\r\nLOCATION:The far\r\n  orchard\r\nORGANIZER;CN=Ann:mailto:ann@example.org\r\n"
        "END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    content = mixed(MIMEText("Come."), MIMEText(event, "calendar"), kind="alternative")
    assert body_of(content) == (
        "Come.\n\nEvent: Plum, pruning\nBegins: 2024-05-03 10:00 (X)\nWhere: The far orchard\n"
        "Organizer: Ann <ann@example.org>"
    )


def test_attachments_of_unread_alternatives_are_named() -> None:
    rich = MIMEMultipart("mixed")
    rich.attach(MIMEText("<p>Rich.</p>", "html"))
    plan = MIMEApplication(b"x", "pdf")
    plan.add_header("Content-Disposition", "attachment", filename="plan.pdf")
    rich.attach(plan)
    content = mixed(MIMEText("Plain."), rich, kind="alternative")
    assert body_of(content) == "Plain.\n\nAttachments: plan.pdf"


def test_obscured_authors_and_undeclared_charsets_in_headers_are_decoded() -> None:
    author = (
        b"From ann at e.org  Fri May  3 10:00:00 2024\nFrom: ann at e.org (=?utf-8?q?=C3=84nn?=)\n"
    )
    assert "From: ann at e.org (Änn)" in body_of(author + b"\nWords.\n", "a.mbox")
    latin = "From: a@example.org\nSubject: Pfläumen\n\nWords.\n".encode("latin-1")
    assert read_mail(latin).title == "Pfläumen"


def test_headers_of_returned_messages_are_read() -> None:
    returned = MIMEText("Subject: Figs\nTo: bob@example.org\n", "rfc822-headers")
    content = mixed(MIMEText("It was not delivered."), returned, kind="report")
    assert body_of(content) == "It was not delivered.\n\nSubject: Figs\nTo: bob@example.org"
    assert read_mail(content).reading.unaccounted == ()
