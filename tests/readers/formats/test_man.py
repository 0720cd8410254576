"""Manual pages of man and mdoc: all printed text is read."""

import pytest
from document_files import read_whole

from foundry.documents import Document
from foundry.readers.formats.man.escapes import arguments, unescape


def read_page(source: str, path: str = "press.1") -> Document:
    return read_whole(source, path)


MAN = r""".\" A comment.
.TH PRESS 1 2024-05-03 "press 2.0" "User Commands"
.SH NAME
press \- make juice
.SH "SYNOPSIS"
.B press
.RB [ \-v ]
.I fruit
.SH DESCRIPTION
Presses
.BR fruit (5)
with \(lqcare\(rq.
.PP
Second paragraph.
.SH OPTIONS
.TP
.BR \-f ", " \-\-force
Unripe ones too.
.IP \(bu 2
One mark.
.SS Example
.nf
$ press \-f plum
  done
.fi
.TS
tab(;);
l l.
Fruit;Litres
Plum;T{
about
two
T}
.TE
"""


def test_man() -> None:
    document = read_page(MAN)
    outline = [(heading.level, heading.text) for heading in document.reading.headings]
    assert outline == [
        *((1, "press(1)"), (2, "NAME"), (2, "SYNOPSIS"), (2, "DESCRIPTION"), (2, "OPTIONS")),
        (3, "Example"),
    ]
    assert (document.title, document.modified) == ("press(1)", "2024-05-03")
    parts = document.reading.text.split("\n\n")
    for said in (
        "press - make juice",
        "press [-v] fruit",
        "Presses fruit(5) with \u201ccare\u201d.",
        "Second paragraph.",
        "-f, --force:\nUnripe ones too.",
        "- One mark.",
        "```\n$ press -f plum\n  done\n```",
        "| Fruit | Litres |\n| --- | --- |\n| Plum | about two |",
    ):
        assert said in parts


MDOC = r""".Dd May 3, 2024
.Dt PRESS 1
.Os
.Sh NAME
.Nm press
.Nd make juice
.Sh SYNOPSIS
.Nm
.Op Fl v
.Op Fl o Ar file
.Ar fruit ...
.Sh DESCRIPTION
The
.Nm
utility presses, see
.Xr fruit 5 .
.Bl -tag -width Ds
.It Fl f , Fl -force
Unripe ones too.
.El
.Dl $ press plum
.Sh EXIT STATUS
.Ex -std
"""


def test_mdoc() -> None:
    document = read_page(MDOC, "press.mdoc")
    parts = document.reading.text.split("\n\n")
    for said in (
        "press \u2014 make juice",
        "press [-v] [-o file] fruit ...",
        "The press utility presses, see fruit(5).",
        "-f, --force:\nUnripe ones too.",
        "```\n$ press plum\n```",
    ):
        assert said in parts, (said, parts)
    assert document.title == "press(1)"


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (r"\fBbold\fP and \f(CWcode\fR, \f[I]it\f[]", "bold and code, it"),
        (r"a\-b \(em c\(co \[u00E9] \['e] x\&.", "a-b \u2014 c© é é x."),
        (r"\s-2small\s0 \*(lqquoted\*(rq\c", "small \u201cquoted\u201d"),
        (r"back\eslash and \\ \(aq", "back\\slash and \\ '"),
        (r"text \" comment", "text "),
        (r"10\u6\d pumps of H\d2\uO", "10^6 pumps of H2O"),
    ],
)
def test_escapes(written: str, printed: str) -> None:
    assert unescape(written) == printed


def test_arguments_may_be_quoted() -> None:
    assert arguments('one "two ""three""" four\\ five \\" no') == [
        *("one", 'two "three"', "four\\ five"),
    ]


def test_other_files_are_text() -> None:
    log = "12:00 started\n.hidden files"
    assert read_page(log + "\n", "log.1").reading.text.strip() == log


def test_conditions_are_decided_as_on_terminals() -> None:
    page = ".TH A 1\n.SH NAME\n.ie t \\{\\\nprinted\n.\\}\n.el \\{\\\nshown\n.\\}\n.if n also\n"
    document = read_page(page)
    assert "shown also" in document.reading.text
    assert "printed" not in document.reading.text


def test_mdoc_lists_columns_and_sentences() -> None:
    source = (
        ".Dd May 3, 2024\n.Dt PICK 3\n.Sh NAME\n.Nm pick\n.Bl -enum\n.It\nfirst\n.It\nsecond\n"
        ".El\n.Bl -column a b\n.It Em A Ta Em B\n.It a1 Ta b1 b2\n.El\n"
        '.Fn pick "int a" "char *b" .\n.Pp\n.Rv -std pick\n'
    )
    text = read_page(source, "pick.3").reading.text
    for said in (
        "1. first\n\n2. second",
        "| A | B |\n| --- | --- |\n| a1 | b1 b2 |",
        "pick(int a, char *b).",
        "The pick() function returns the value 0 if successful; otherwise the value -1",
    ):
        assert said in text, text


def test_items_keep_their_numbers() -> None:
    source = ".TH A 1\n.SH B\n.IP 1. 4\nOne\n.RS\nInner\n.RE\n.IP (b)\nTwo\n"
    assert "1. One\n\nInner\n\n(b) Two" in read_page(source).reading.text


def test_mdoc_flags_and_declarations() -> None:
    source = (
        ".Dd May 3, 2024\n.Dt PICK 3\n.Sh NAME\n.Nm pick\n.Nd pick it\n.Sh SYNOPSIS\n"
        '.In pick.h\n.Ft "void *"\n.Fo pick_all\n.Fa "size_t n"\n.Fa "int flags"\n.Fc\n'
        ".Sh DESCRIPTION\n.Bk -words\n.Fl a , -all\n.Ek\n.Op Fl Fl long\n.Brq Fl x | y\n"
        ".Fl -set Ns = Ns Ar value\n.Pf ( Ar file )\n.Fl\n.In other.h\n"
    )
    text = read_page(source, "pick.3").reading.text
    synopsis = "#include <pick.h>\nvoid * pick_all(size_t n, int flags)"
    assert text.endswith(
        f"## SYNOPSIS\n\n{synopsis}\n\n## DESCRIPTION\n\n"
        "-a, --all [--long] {-x | -y} --set=value (file) - <other.h>"
    )


def test_man_links() -> None:
    page = (
        ".TH A 1\n.SH B\nSee\n.UR https://example.org\nthe\nsite\n.UE ,\nor ask\n.MT a@b.example\n"
    )
    text = read_page(f"{page}.ME .\n").reading.text
    assert text.endswith("See [the site](https://example.org), or ask a@b.example.")


def test_references_to_other_pages_have_name_and_section() -> None:
    text = read_page(".TH A 1\n.SH B\nSee\n.MR git-log 1 ,\n.MR ls 1\nand more.\n").reading.text
    assert text.endswith("See git-log(1), ls(1) and more.")


POD = r""".de Sp
.if t .sp .5v
.if n .sp
..
.de Vb
.ft CW
.nf
.ne \\$1
..
.de Ve
.ft R
.fi
..
.de IX
..
.de Say
Said \\$1.
..
.rr rF
.rm #[ #] #H
.TH PRESS 1
.SH NAME
.IX Header "NAME"
press \- it
.Vb 2
\&  press \-f
\&    done
.Ve
More.
.Sp
.Say twice
See
.URL https://e.org "the site" ,
or
.MTO a@e.org "the author" .
"""


def test_defined_macros_are_expanded() -> None:
    parts = read_page(POD).reading.text.split("\n\n")
    assert parts == [
        *("# press(1)", "## NAME", "press - it", "```\n  press -f\n    done\n```", "More."),
        "Said twice. See [the site](https://e.org), or [the author](mailto:a@e.org).",
    ]


def test_recursive_macros_end() -> None:
    text = read_page(".de A\n.A\n.A\nword\n..\n.TH P 1\n.SH X\nBegin.\n.A\n").reading.text
    assert text.startswith("# p(1)\n\n## X\n\nBegin.")


def test_mdoc_standards_heads_and_displays() -> None:
    source = (
        ".Dd May 3, 2024\n.Dt PRESS 1\n.Sh NAME\n.Nm press\n.Nd it\n.Sh OPTIONS\n.Bl -tag\n"
        ".It Xo\n.Fl p\n.Ar port\n.Xc\nWords.\n.El\n.Bd -filled\nFilled\nwords.\n.Ed\n"
        ".Sm off\n.Ar a\n.Sm on\n.Bf -emphasis\nLoud.\n.Ef\nBy\n.St -p1003.1-2008 .\n"
    )
    assert read_page(source).reading.text.split("\n\n")[3:] == [
        *("## OPTIONS", "-p port:\nWords."),
        "Filled words. a Loud. By IEEE Std 1003.1-2008 (\u201cPOSIX.1\u201d).",
    ]


@pytest.mark.parametrize("path", ["press.1", "press.1ssl", "press.3x", "press.n"])
def test_section_suffixes_may_name_a_package(path: str) -> None:
    document = read_page('.TH PRESS 1\n.SH "THE NAME"\n\\fBpress\\fR it\n', path)
    assert document.reading.text == "# press(1)\n\n## THE NAME\n\npress it"


def test_words_of_items_are_not_reported_as_left_out() -> None:
    page = (
        ".Dd May 3, 2024\n.Dt PICK 1\n.Os\n.Sh OPTIONS\n.Bl -tag -width Ds\n"
        ".It Fl f Ar ripe quince\nPicks.\n.El\n.Bl -column a b\n.It Plum Ta Fig\n.El\n"
    )
    document = read_page(page)
    told = " ".join(each.text for each in document.reading.left_out).split()
    assert document.reading.unaccounted == ()
    assert not {"ripe", "quince", "Plum", "Fig"} & {*told}


def test_printed_macro_arguments_are_not_reported_as_left_out() -> None:
    page = ".TH PICK 1\n.de XX\nSee \\\\$1.\n..\n.SH NAME\npick\n.XX quince medlar\n"
    document = read_page(page)
    assert "See quince." in document.reading.text
    told = " ".join(each.text for each in document.reading.left_out)
    assert "medlar" in told and "quince" not in told


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        # bash: the font of the next line, which has a font of its own
        ("see\n.SM\n.B INVOCATION\nbelow", "see INVOCATION below"),
        (".SS\n.B Pears\nRipe.", "### Pears\n\nRipe."),
        # DocBook: a bullet in the branch for terminals
        (
            ".ie n \\{\\\n\\h'-04'\\(bu\\h'+03'\\c\n.\\}\n.el \\{\\\n.sp -1\n.\\}\nPears",
            "\u2022 Pears",
        ),
        # PostgreSQL: a trap
        ("Pears\n.it 1 an-trap\n.nr an-no-space-flag 1\nripen", "Pears ripen"),
        # strace: comparisons, and macros that depend on the number of arguments
        (".if 'a'a' Pears\n.if ''a' Plums\n.if !'a'b' ripen", "Pears ripen"),
        (
            '.de OM\n.  ie \\\\n(.$-1 \\\n.    RI "[\\\\$1" "\\ \\\\$2" ]\n.  el \\\n'
            ".    RB [ \\\\$1 ]\n..\n.OM \\-e expr\n.OM \\-q",
            "[-e expr] [-q]",
        ),
        # systemd: other formats for the rows that follow
        (
            ".TS\ntab(:);\nlB lB.\nFruit:Kg\n.T&\nl l\nl l.\nPlum:1\n.TE",
            "| Fruit | Kg |\n| --- | --- |\n| Plum | 1 |",
        ),
    ],
)
def test_requests_of_generated_pages(source: str, shown: str) -> None:
    text = read_page(f".TH PICK 1\n.SH NAME\n{source}\n").reading.text
    assert text == f"# pick(1)\n\n## NAME\n\n{shown}"
