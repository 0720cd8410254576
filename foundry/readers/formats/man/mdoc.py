"""The semantic macros of mdoc: flags, arguments, names, references."""

from collections.abc import Iterator, Sequence

from foundry.documents.left_out import Omission
from foundry.readers.notes import leave_out

_AROUND = {
    **{"Op": "[]", "Bq": "[]", "Brq": "{}", "Pq": "()", "Aq": "<>", "Dq": "\u201c\u201d"},
    **{"Sq": "\u2018\u2019", "Qq": '""', "Ql": "\u2018\u2019", "In": ("<", ">")},
}
_OPENED = {"Oo": "[", "Bo": "[", "Bro": "{", "Po": "(", "Ao": "<", "Do": "\u201c", "So": "\u2018"}
_CLOSED = {"Oc": "]", "Bc": "]", "Brc": "}", "Pc": ")", "Ac": ">", "Dc": "\u201d", "Sc": "\u2019"}
_NAMED = {"Ux": "UNIX", "Bx": "BSD", "Fx": "FreeBSD", "Nx": "NetBSD", "Ox": "OpenBSD", "At": "AT&T"}
_NAMED |= {"Bsx": "BSD/OS", "Dx": "DragonFly", "Nd": "\u2014"}
_IEEE, _ISO = "IEEE Std {} (\u201cPOSIX.{}\u201d)", "ISO/IEC {} (\u201cISO {}\u201d)"
_STANDARDS = {
    **{f"-p1003.1{each}": _IEEE.format(f"1003.1{each}", 1) for each in ("", "-2001", "-2004")},
    **{f"-p1003.1{each}": _IEEE.format(f"1003.1{each}", 1) for each in ("-2008", "-2024")},
    **{"-p1003.1-90": _IEEE.format("1003.1-1990", 1), "-p1003.2": _IEEE.format("1003.2", 2)},
    **{"-p1003.2-92": _IEEE.format("1003.2-1992", 2)},
    **dict.fromkeys(("-ansiC", "-ansiC-89"), "ANSI X3.159-1989 (\u201cANSI C89\u201d)"),
    **dict.fromkeys(("-isoC", "-isoC-90"), _ISO.format("9899:1990", "C90")),
    **{"-isoC-99": _ISO.format("9899:1999", "C99"), "-isoC-2011": _ISO.format("9899:2011", "C11")},
    **{
        f"-susv{n}": f"Version {n} of the Single UNIX Specification (\u201cSUSv{n}\u201d)"
        for n in (2, 3, 4)
    },
}
"""The names of standards that `.St` prints."""
_PLAIN = frozenset(
    "Ar Pa Ev Cm Li Ic Va Vt Fa Ft Em Sy No Tn An Ad Er Cd Dv Xo Xc Lb St Ms Fd Lk Mt Eo Ec Bk Ek"
    " Xr Nm Fn %A %T %B %J %V %N %D %I %R %O %P %U %Q %C".split()
)
MACROS = frozenset((*_AROUND, *_OPENED, *_CLOSED, *_NAMED, *_PLAIN, "Fl", "Ns", "Ap", "Pf", "Sm"))
_AFTER = frozenset(".,:;)]?!")
_OPENING = frozenset("([")
_BETWEEN = _AFTER | _OPENING | {"|"}


def say(macro: str, given: Sequence[str], name: str) -> str:
    """Return the printed text of a macro with nested ones; `name` is the page's name."""
    parts: list[str] = []
    ends: list[str] = []
    words = [macro, *given]
    is_joined = is_flag = False
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if word in MACROS:
            leave_out(Omission.MACRO, word)
            is_flag = False
        after = words[place] if place < len(words) else ""
        if word == "Ns":
            is_joined = True
            continue
        if word == "Ap":
            _add(parts, "'", is_joined=True)
            is_joined = True
            continue
        if word == "Pf":
            # The next word is joined to what follows.
            _add(parts, after, is_joined=is_joined)
            is_joined = True
            place += 1
            continue
        if word == "Fl" and after and after not in MACROS | _BETWEEN:
            is_flag = True
            continue
        said = _said(word, after, name, ends)
        if is_flag and word not in _BETWEEN:
            # Each argument is a flag: `Fl a , -all` is `-a, --all`.
            said = f"-{word}"
        if word == "Fn" and place < len(words):
            # In `.Fn`, each argument is one parameter, even if it is quoted and has several words.
            rest = range(place, len(words))
            last = next((each for each in rest if words[each] in _AFTER | MACROS), len(words))
            said = f"{words[place]}({', '.join(words[place + 1 : last])})"
            place = last
        if word == "St" and after in _STANDARDS:
            leave_out(Omission.MACRO, after)
            said, place = _STANDARDS[after], place + 1
        if word == "Xr" and place < len(words):
            said, place = _reference(words, place)
        if said is None:
            continue
        _add(parts, said, is_joined=is_joined)
        is_joined = word == after == "Fl"
        is_joined = is_joined or word in _OPENED or word in _AROUND or said in _OPENING
    for end in reversed(ends):
        _add(parts, end, is_joined=True)
    return "".join(parts)


def _said(word: str, after: str, name: str, ends: list[str]) -> str | None:
    """Return the printed text of a word, None if it prints nothing.

    Closing delimiters of the line are added to `ends`.
    """
    if word in _AROUND:
        opening, closing = _AROUND[word]
        ends.append(closing)
        return opening or None
    if word == "Fl":
        return "-"
    if word in _OPENED or word in _CLOSED:
        return (_OPENED | _CLOSED)[word]
    if word in _NAMED:
        return _NAMED[word]
    if word == "Nm" and (not after or after in MACROS or after in _AFTER):
        return name
    if word == "Ar" and (not after or after in _AFTER):
        return "file ..."
    return None if word in _PLAIN or word == "Sm" else word


def _reference(words: Sequence[str], place: int) -> tuple[str, int]:
    number = words[place + 1] if place + 1 < len(words) else ""
    if number[:1].isdigit() or number in {"n", "l"}:
        return f"{words[place]}({number})", place + 2
    return words[place], place + 1


def _add(parts: list[str], said: str, *, is_joined: bool) -> None:
    is_first = not parts or parts[-1].endswith(("(", "["))
    if parts and not (is_joined or is_first or said in _AFTER or said in _CLOSED.values()):
        parts.append(" ")
    parts.append(said)


def split_cells(given: list[str], name: str) -> Iterator[str]:
    """Yield the cells of a row, separated by `Ta`."""
    cell: list[str] = []
    leave_out(Omission.MACRO, " ".join(word for word in given if word == "Ta"))
    for word in [*given, "Ta"]:
        if word == "Ta":
            yield say(cell[0], cell[1:], name) if cell else ""
            cell = []
        else:
            cell.append(word)


def standard_sentence(name: str, named: list[str]) -> str:
    """Return the standard sentence about exit codes (`Ex`) or returned values (`Rv`)."""
    if name == "Ex":
        said = " and ".join(named)
        verb = "utility exits" if len(named) < 2 else "utilities exit"
        return f"The {said} {verb} 0 on success, and >0 if an error occurs."
    said = " and ".join(f"{each}()" for each in named)
    verb = "function returns" if len(named) < 2 else "functions return"
    return (
        f"The {said} {verb} the value 0 if successful; otherwise the value -1 is returned and the"
        " global variable errno is set to indicate the error."
    )
