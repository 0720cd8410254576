"""Reads manual pages (man and mdoc): the printed text, with sections as their outline."""

import re

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.accounting.containers import roff_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader
from foundry.readers.dates import normalise_date
from foundry.readers.formats import plain
from foundry.readers.formats.man.escapes import arguments, unescape
from foundry.readers.formats.man.flow import Flow
from foundry.readers.formats.man.mdoc import MACROS, say, split_cells, standard_sentence
from foundry.readers.formats.man.tables import ALTERNATING, FONTS, REQUEST, read_rows
from foundry.readers.notes import leave_out

_END = "\ue000"
"""Placeholder for a line break that is printed."""
_IS_PAGE = re.compile(r"(?m)^[.'][ \t]*(?:TH|Dd|SH|Sh)\b")
_PARAGRAPHS = {"PP", "P", "LP", "HP", "Pp", "sp", "RS", "RE"}
_SILENT = frozenset(
    "ad hy nh ne nr in ti ta ft PD DT UC AT EQ EN Os fam ll pl ps vs na ce rs ns mk rt tr lf"
    " cc hw it YS Bk Ek Bf Ef Sm ev cs ss pc pn bp hc so mso nx tm rm rn rr als"
    " INDENT UNINDENT PDFPIC".split()
)
_FILLED = (["-filled"], ["-ragged"], ["-centered"])


class _Writer(Flow):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.composer = Composer()
        self.title: str | None = None
        self.date: str | None = None
        self._held: list[str] = []
        self._code: list[str] | None = None
        self._strings: dict[str, str] = {}
        self._name = ""
        self._awaits_term = False
        self._mdoc_lists: list[str] = []
        self._items = 0
        self._columns: list[list[str]] = []
        self._is_synopsis = False
        self._function: list[str] | None = None
        self._target = ("", 0)

    def write(self) -> None:
        """Convert every line."""
        while (line := self.take()) is not None:
            self.read_line(line)
        self._end_code()
        self.flush()

    def flush(self) -> None:
        """End the pending paragraph."""
        # Text is filled into lines, except where a request breaks a line.
        text = " ".join(self._held).replace(f" {_END} ", "\n").replace(_END, "")
        self.composer.text(text.replace(f" {_END}", "").strip())
        self._held.clear()

    def read_line(self, line: str) -> None:
        request = REQUEST.match(line)
        if request is None:
            if line[:1] in ".'" and len(line.strip()) < 2:
                return
            self._text(unescape(line.removeprefix("\\&"), self._strings))
        elif request[1].startswith('\\"'):
            leave_out(Omission.COMMENT, request[2])
        else:
            self._request(request[1], request[2])

    def _text(self, text: str) -> None:
        if self._code is not None:
            self._code.append(text)
        elif not text.strip():
            self.flush()
        elif self._awaits_term:
            self._awaits_term = False
            self._held += [f"{text.strip()}:", _END]
        else:
            self._held.append(text.strip())

    def _request(self, name: str, rest: str) -> None:
        given = [unescape(each, self._strings) for each in arguments(rest)]
        if name in {"TH", "Dt", "Dd"}:
            self._head(name, given)
        elif name in {"SH", "SS", "Sh", "Ss"}:
            self._heading(2 if name[1] in "Hh" else 3, " ".join(given))
        elif name in FONTS:
            # Without arguments, the font applies to the next line, which may be a request.
            if given:
                self._text(" ".join(given))
        elif name in ALTERNATING:
            self._text("".join(given))
        elif name in _PARAGRAPHS:
            self._text("")
        elif name in {"TP", "TQ", "IP", "It"}:
            self._item(name, given)
        elif name in {"nf", "EX", "Bd"}:
            self.flush()
            leave_out(Omission.ATTRIBUTE, rest)
            if name != "Bd" or given[:1] not in _FILLED:
                self._code = [] if self._code is None else self._code
        elif name in {"fi", "EE", "Ed"}:
            self._end_code()
        elif name in {"Dl", "D1"}:
            self.flush()
            self.composer.code(say(given[0], given[1:], self._name) if given else "")
        elif name == "TS":
            self._table()
        else:
            self._special(name, given, rest)

    def _special(self, name: str, given: list[str], rest: str) -> None:
        if name in {"UR", "MT"}:
            self._target = " ".join(given), len(self._held)
        elif name in {"UE", "ME"}:
            self._link("".join(given))
        elif name in {"URL", "MTO"} and given:
            address = given[0] if name == "URL" else f"mailto:{given[0]}"
            said = f"[{given[1]}]({address})" if "".join(given[1:2]) else given[0]
            self._text(said + "".join(given[2:]))
        elif name in {"SY", "OP"}:
            self._text(f"[{' '.join(given)}]" if name == "OP" else " ".join(given))
        elif name == "MR":
            self._text(say("Xr", given, self._name))
        elif name == "ds" and given:
            self._strings[given[0]] = " ".join(given[1:])
            leave_out(Omission.MACRO, rest)
        elif name in {"de", "de1", "am", "am1"}:
            leave_out(Omission.MACRO, rest)
            self.macros[given[0] if given else ""] = self.definition("".join(given[1:2]))
        elif name == "ig":
            self.definition("".join(given[:1]))
        elif name in {"if", "ie", "el"}:
            self.conditional(name, rest)
        elif name == "br":
            self._held.append(_END)
        elif name == "Nm" and given and not self._name:
            self._name = given[0]
            self._text(say(name, given, self._name))
        elif name in {"Ex", "Rv"}:
            leave_out(Omission.MACRO, rest)
            self._text(standard_sentence(name, given[1:] or [self._name]))
        elif name in {"Bl", "El", "Rs", "Re"}:
            self.flush()
            leave_out(Omission.ATTRIBUTE, rest)
            self._list(name, given[0] if given else "")
        elif name in _SILENT:
            leave_out(Omission.MACRO, rest)
        elif name in {"Fo", "Fc"} or (name == "Fa" and self._function is not None):
            self._declare(name, given)
        elif name in {"In", "Ft"} and self._is_synopsis:
            self._held.append(_END)
            said = say(name, given, self._name)
            self._text(f"#include {said}" if name == "In" else said)
        elif name in MACROS:
            self._text(say(name, given, self._name))
        elif name in self.macros:
            self.call(self.macros[name], given)
        else:
            # A macro of another package; its arguments are words.
            self._text(" ".join(given))

    def _link(self, after: str) -> None:
        """End a link: the text since its beginning, or its target if there is none."""
        target, begin = self._target
        shown = " ".join(self._held[begin:])
        self._held[begin:] = []
        link = f"[{shown}]({target})" if shown and target else shown or target
        self._text(link + after)

    def _declare(self, name: str, given: list[str]) -> None:
        """Print a function whose arguments are on lines of their own."""
        if name == "Fo":
            self._function = given[:1]
        elif name == "Fa" and self._function is not None:
            self._function += given
        elif self._function:
            function, *arguments = self._function
            self._text(f"{function}({', '.join(arguments)})")
            self._function = None

    def _head(self, name: str, given: list[str]) -> None:
        if name == "Dd":
            self.date = " ".join(given)
            leave_out(Omission.METADATA, self.date)
            return
        named = [each for each in given[:2] if each]
        self.title = f"{named[0].lower()}({named[1]})" if len(named) == 2 else "".join(named)
        self._name = self._name or (named[0].lower() if named and name == "Dt" else "")
        if name == "TH" and len(given) > 2:
            self.date = given[2]
        leave_out(Omission.METADATA, " ".join(given))
        self.composer.heading(1, self.title)

    def _heading(self, level: int, title: str) -> None:
        self._end_code()
        self.flush()
        self._awaits_term = False
        if not title:
            # The title is the next line, which may have a font.
            line = self.take() or ""
            request = REQUEST.match(line)
            joint = "" if request and request[1] in ALTERNATING else " "
            words = joint.join(arguments(request[2])) if request else line
            title = unescape(words, self._strings)
        self._is_synopsis = title.upper() == "SYNOPSIS"
        self.composer.heading(level, title)

    def _item(self, name: str, given: list[str]) -> None:
        if self._code is not None:
            self._text(" ".join(given))
            return
        if given[-1:] == ["Xo"]:
            given = [*given[:-1], *self._extended()]
        if name != "TQ":
            self.flush()
        # These arguments only set the indentation of the text that follows.
        if name != "It":
            leave_out(Omission.ATTRIBUTE, " ".join(given[1:] if name == "IP" else given))
        if name in {"TP", "TQ"}:
            self._awaits_term = True
        elif name == "It" and self._mdoc_lists[-1:] == ["-enum"]:
            self._items += 1
            self._held.append(f"{self._items}.")
            leave_out(Omission.ATTRIBUTE, " ".join(given))
        elif name == "It" and self._mdoc_lists[-1:] == ["-column"]:
            self._columns.append([*split_cells(given, self._name)])
        elif name == "It":
            said = say(given[0], given[1:], self._name) if given else ""
            self._held += [f"{said}:", _END] if said else ["-"]
        elif given and re.fullmatch(r"\(?[\da-z]{1,3}[.)]", given[0].strip()):
            self._held.append(given[0].strip())
        elif given and given[0]:
            is_mark = given[0].strip() in {"\u2022", "-", "*", "o", "+"}
            self._held += ["-"] if is_mark else [f"{given[0]}:", _END]

    def _extended(self) -> list[str]:
        """Take the lines up to `.Xc`, which belong to the head of an item; return their words."""
        words: list[str] = []
        leave_out(Omission.MACRO, "Xo Xc")
        while (line := self.take()) is not None:
            request = REQUEST.match(line)
            name, rest = (request[1], request[2]) if request else ("", line)
            words += [name] if name not in {"", "Xc"} else []
            words += [unescape(each, self._strings) for each in arguments(rest)]
            if name == "Xc" or name in {"It", "El", "Sh"}:
                break
        return words

    def _list(self, name: str, kind: str) -> None:
        """Begin or end a list of mdoc."""
        if name == "Bl":
            self._mdoc_lists.append(kind)
            self._items = 0
        elif name == "El" and self._mdoc_lists:
            self._mdoc_lists.pop()
            self.composer.table(self._columns)
            self._columns = []

    def _end_code(self) -> None:
        if self._code is not None:
            content = "\n".join(self._code).strip("\n")
            self._code = None
            if content.strip():
                self.composer.code(content)

    def _table(self) -> None:
        """Read a tbl table: formats up to a line that ends with a dot, then rows."""
        self.flush()
        content: list[str] = []
        while (line := self.take()) is not None and not line.startswith(".TE"):
            content.append(line)
        self.composer.table(read_rows(content, self._strings))


def read(text: str) -> Reading:
    """Read a manual page; other text is left unchanged."""
    if not _IS_PAGE.search(text):
        return plain.READER.read(text)
    writer = _Writer(text)
    writer.write()
    return writer.composer.finish(title=writer.title, modified=normalise_date(writer.date))


# Many packages add their name to the number of the section: `ls.1p`, `openssl.1ssl`.
_SUFFIXES = (
    "",
    *"p pm perl posix ssl x t tcl am type const edit head bsd ncurses readline".split(),
)
_SECTIONS = [
    *(f".{number}{suffix}" for number in range(1, 10) for suffix in _SUFFIXES),
    *(".n", ".man", ".mdoc"),
]
READER = Reader("man/8", dict.fromkeys(_SECTIONS, "text/troff"), read, texts=roff_texts)
