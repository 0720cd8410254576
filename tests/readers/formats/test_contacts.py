"""Contacts as phones, Outlook and address books write them."""

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers import read

CONTACTS = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Ferrer;Jo\u00e3o;;Dr.;\r\nFN:Dr. Jo\u00e3o Ferrer\r\n"
    'ORG:Plums\\, Inc.;Sales\r\nitem1.TEL;TYPE="work,voice":+351 123\r\nADR:;;Rua 1;Porto;;;\r\n'
    "NOTE:Grows plu\r\n ms.\\nAsk him.\r\nPHOTO;ENCODING=b:AAAA\r\n BBBB\r\nEND:VCARD\r\n"
    "BEGIN:VCARD\nVERSION:2.1\nN:Fox;Ada\n"
    "NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:caf=C3=A9 at=\n noon=0A=\ndaily\nEND:VCARD\n"
)


def test_contacts() -> None:
    document = read(RawDocument("s", "a.vcf", "a.vcf", CONTACTS.encode()))
    assert isinstance(document, Document)
    assert document.reading.text == (
        "## Dr. Jo\u00e3o Ferrer\n\nOrganization: Plums, Inc., Sales\nTelephone: +351 123\n"
        "Address: Rua 1, Porto\nNote: Grows plums.\nAsk him.\n\n"
        "## Fox, Ada\n\nNote: caf\u00e9 at noon\ndaily"
    )
    assert document.reading.unaccounted == ()


def test_other_text_is_no_contact() -> None:
    assert isinstance(read(RawDocument("s", "a.vcf", "a.vcf", b"just words")), Skipped)
