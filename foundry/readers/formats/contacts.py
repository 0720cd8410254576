"""Reads contacts (vCard 2.1 to 4.0, RFC 6350): a section for each person or organisation."""

import quopri
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.accounting.messages import contact_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader, UnreadableError
from foundry.readers.decoding import decode
from foundry.readers.notes import leave_out

_FOLD = re.compile(r"\n[ \t]")
_SOFT_BREAK = re.compile(r"(?mi)(^[^\n:]*QUOTED-PRINTABLE[^\n]*)=\n")
_LINE = re.compile(r"(?:([\w-]+)\.)?([A-Za-z0-9-]+)((?:;(?:\"[^\"\n]*\"|[^:\"\n])*)?):(.*)")
_ESCAPED = re.compile(r"\\([\\;,nN])")
_KIND = re.compile(r"[;,=\"](home|work|cell|fax|pager|video|text|car)(?=[;,\"]|$)", re.IGNORECASE)
_CHARSET = re.compile(r";CHARSET=\"?([\w.:-]{1,40})", re.IGNORECASE)
# Apple encloses its own labels: `_$!<Mobile>!$_`.
_OWN_LABEL, _OWN_SIGNS = "X-ABLABEL", "_$!<>"
_LABELS = {
    **{"ORG": "Organization", "TITLE": "Title", "ROLE": "Role", "NICKNAME": "Nickname"},
    **{"TEL": "Telephone", "EMAIL": "E-mail", "ADR": "Address", "LABEL": "Address", "URL": "Page"},
    **{"BDAY": "Birthday", "CATEGORIES": "Categories", "NOTE": "Note", "IMPP": "Chat"},
    **{"ANNIVERSARY": "Anniversary", "RELATED": "Related", "X-SOCIALPROFILE": "Profile"},
}


def read(text: str) -> Reading:
    """Read the contacts of a file. Raises UnreadableError for other text."""
    if "BEGIN:VCARD" not in text[:1_000].upper():
        raise UnreadableError(Reason.NOT_AS_NAMED)
    composer = Composer()
    for named, lines in _contacts(_unfold(text)):
        composer.heading(2, named)
        composer.text("\n".join(lines), is_block=True)
    return composer.finish()


def _unfold(text: str) -> str:
    while (joined := _SOFT_BREAK.sub(r"\1", text)) != text:
        text = joined
    return _FOLD.sub("", text)


def _contacts(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield names and lines, without the properties that only programs use."""
    names: dict[str, str] = {}
    lines: list[_Line] = []
    labels: dict[str, str] = {}
    for line in map(str.strip, text.split("\n")):
        match = _LINE.fullmatch(line)
        name, given, value = (match[2].upper(), match[3], match[4]) if match else ("", "", "")
        if "QUOTED-PRINTABLE" in given.upper():
            charset = _CHARSET.search(given)
            raw = quopri.decodestring(value.encode())
            value = decode(raw, charset[1] if charset else None)[0]
        is_read = bool(value.strip(";"))
        if name in {"FN", "N"} and is_read:
            names[name] = _show(value)
        elif name in _LABELS and is_read:
            kinds = dict.fromkeys(kind.lower() for kind in _KIND.findall(given))
            lines.append(_Line(match[1] if match else "", name, [*kinds], _show(value)))
        else:
            is_read = False
        if name == _OWN_LABEL and match:
            labels[match[1]] = value.strip(_OWN_SIGNS)
        leave_out(Omission.ATTRIBUTE, line[: match.start(4)] if match and is_read else line)
        if name == "END" and (names or lines):
            if "FN" in names:
                leave_out(Omission.DUPLICATE, names.get("N", ""))
            shown = [each.labelled(labels) for each in lines]
            yield names.get("FN") or names.get("N") or "Contact", shown
            names, lines, labels = {}, [], {}


class _Line(NamedTuple):
    """A property: its group, its name, its kinds, such as `work` and `fax`, and its value."""

    group: str | None
    name: str
    kinds: list[str]
    value: str

    def labelled(self, labels: Mapping[str, str]) -> str:
        """Return the property as a line, with the label of its group or else with its kinds."""
        own = labels.get(self.group or "", "")
        kind = ", ".join([own] if own else self.kinds)
        return f"{_LABELS[self.name]}{f' ({kind})' if kind else ''}: {self.value}"


def _show(value: str) -> str:
    parts = re.split(r"(?<!\\);", re.sub(r"^(?:tel|mailto):", "", value))
    shown = ", ".join(filter(None, map(str.strip, parts)))
    return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], shown)


READER = Reader("contacts/2", {".vcf": "text/vcard"}, read, texts=contact_texts)
