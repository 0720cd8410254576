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
        "## Dr. Jo\u00e3o Ferrer\n\nOrganization: Plums, Inc., Sales\nTelephone (work): +351 123\n"
        "Address: Rua 1, Porto\nNote: Grows plums.\nAsk him.\n\n"
        "## Fox, Ada\n\nNote: caf\u00e9 at noon\ndaily"
    )
    assert document.reading.unaccounted == ()


def test_numbers_and_addresses_have_their_kind() -> None:
    lines = (
        *("BEGIN:VCARD", "VERSION:2.1"),
        "N;CHARSET=KOI8-R;ENCODING=QUOTED-PRINTABLE:=F3=CC=C9=D7=C1",
        *("TEL;WORK;FAX:555-1", "TEL;TYPE=CELL,VOICE:555-2", "EMAIL;type=HOME;type=pref:a@e.org"),
        *("item1.TEL;VALUE=uri:tel:555-3", "item1.X-ABLabel:_$!<Main>!$_"),
        *("ANNIVERSARY:2009-08-08", "X-SOCIALPROFILE;TYPE=x:https://example.org/a", "END:VCARD"),
    )
    document = read(RawDocument("s", "a.vcf", "a.vcf", "\r\n".join(lines).encode()))
    assert isinstance(document, Document)
    assert document.reading.text == (
        "## Слива\n\nTelephone (work, fax): 555-1\nTelephone (cell): 555-2\n"
        "E-mail (home): a@e.org\nTelephone (Main): 555-3\nAnniversary: 2009-08-08\n"
        "Profile: https://example.org/a"
    )


def test_other_text_is_not_a_contact() -> None:
    assert isinstance(read(RawDocument("s", "a.vcf", "a.vcf", b"just words")), Skipped)
