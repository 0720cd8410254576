"""Rich Text Format, as Word, LibreOffice, TextEdit and pandoc write it."""

from document_files import read_document, read_whole

from foundry.documents import Document, RawDocument
from foundry.documents.left_out import Omission
from foundry.readers import read

HEAD = (
    r"{\rtf1\ansi\ansicpg1252\uc1\deff0{\fonttbl{\f0\froman\fcharset0 Times;}"
    r"{\f1\fswiss\fcharset204 Arial CYR;}{\f2\fnil\fcharset128 MS Mincho;}"
    r"{\f3\ftech\fcharset2 Symbol;}{\f4\fnil\fcharset134 SimSun;}}"
    r"{\stylesheet{\ql Normal;}{\s1\outlinelevel0\b Kapitel;}{\s2 heading 2;}}"
)


def read_rtf(body: str) -> Document:
    content = f"{HEAD}{body}}}".encode("latin-1")
    return read_document(content, "a.rtf")


def text_of(body: str) -> str:
    return read_rtf(body).reading.text


def left_out(document: Document) -> dict[Omission, str]:
    return {each.reason: each.text.strip() for each in document.reading.left_out}


def test_fonts_have_their_charset() -> None:
    body = (
        r"Caf\'e9 {\f1 \'d1\'eb\'e8\'e2\'e0} {\f2\'82\'a0\'83A} {\f3 a} {\f4\'d6\'d0} \f1\'e9\par"
    )
    assert text_of(body) == "Café Слива あア \u03b1 中 й"


def test_characters_beyond_a_charset() -> None:
    assert text_of(r"\u-10179?\u-8704? \u233\'e9t\u233 ?{\uc2\u8364\'80\'80.}\par") == "😀 été€."
    assert text_of(r"{\upr{ansi?}{\*\ud{unicode \u8364?}}}\par") == "unicode €"
    assert text_of(r"a\~b\_c\-d\emdash e\{\par").replace("\xa0", " ") == "a b-cd\u2014e{"


def test_headings_lists_and_levels() -> None:
    document = read_rtf(
        r"\pard\s1 One\par\pard\s2 Two\par\pard\plain Text 10{\super 6}\par"
        r"{\listtext\pard\plain 3.\tab}\pard\ls1\ilvl0 third\par"
        r"{\listtext\f3\'b7\tab}\pard\ls1\ilvl1 point\par\pard After\par"
    )
    assert [(each.level, each.text) for each in document.reading.headings] == [
        (1, "One"),
        (2, "Two"),
    ]
    assert document.reading.text.endswith("Text 10^6\n\n3. third\n   - point\n\nAfter")


LISTS = (
    r"{\*\listtable{\list{\listlevel\levelnfc0\levelstartat3{\leveltext\'02\'00.;}{\levelnumbers\'01;}}"
    r"{\listlevel\levelnfc4\levelstartat1{\leveltext\'04\'00.\'01);}}{\listname ;}\listid7}"
    r"{\list{\listlevel\levelnfc23{\leveltext\'01\u8226 ?;}}\listid8}}"
    r"{\*\listoverridetable{\listoverride\listid7\listoverridecount0\ls1}"
    r"{\listoverride\listid8\listoverridecount0\ls2}}"
)


def test_items_without_a_stored_number_are_numbered_by_their_list() -> None:
    items = (
        r"\pard\ls1\ilvl0 third\par fourth\par\pard\ls1\ilvl1 inside\par also inside\par"
        r"\pard\ls1 fifth\par\pard Between\par\pard\ls2 point\par\pard\ls1 sixth\par"
    )
    assert text_of(LISTS + items) == (
        "3. third\n4. fourth\n   4.a) inside\n   4.b) also inside\n5. fifth\n\nBetween\n\n"
        "- point\n6. sixth"
    )


def test_old_lists_are_numbered() -> None:
    number = r"\pard{\*\pn\pnlvlbody\pndec\pnstart1{\pntxtb (}{\pntxta )}}"
    bullet = r"\pard{\*\pn\pnlvlblt{\pntxtb\'b7}}"
    items = (
        rf"{number}one\par two\par{number}three\par\pard And\par{number}new\par{bullet}point\par"
    )
    assert text_of(items) == "(1) one\n(2) two\n(3) three\n\nAnd\n\n(1) new\n- point"


def test_numbers_written_as_text_make_items() -> None:
    items = (
        r"{\pard\fi-360\li360 1.\tx360\tab one\par}{\pard\fi-360\li720 \bullet\tab inside\par}"
        r"{\pard\fi-360\li360 2.\tab two\par}{\pard 3.\par}{\pard a\tab b\par}"
    )
    assert text_of(items) == "1. one\n   - inside\n2. two\n\n3.\n\na\tb"


def test_items_in_cells_have_their_number() -> None:
    cells = r"\trowd\cellx1000\cellx2000\pard\intbl A\cell B\cell\row\trowd\cellx1000\cellx2000"
    items = r"{\listtext 1.\tab}sow\par{\listtext 2.\tab}reap\cell x\cell\row\pard After\par"
    assert "| 1. sow 2. reap | x |" in text_of(cells + r"\pard\intbl" + items)


def test_tables_have_a_grid() -> None:
    rows = (
        r"\trowd\cellx1000\cellx2000\cellx3000\pard\intbl A\cell B\cell C\cell\row"
        r"\trowd\clvmgf\cellx1000\cellx3000\pard\intbl two\cell wide\cell\row"
        r"\trowd\clvmrg\cellx1000\cellx2000\cellx3000\pard\intbl\cell y\cell z\par zz\cell\row"
    )
    assert text_of(rows + r"\pard After\par") == (
        "| A | B | C |\n| --- | --- | --- |\n| two | wide |  |\n| two | y | z zz |\n\nAfter"
    )


def test_notes_boxes_and_links() -> None:
    for star in ("", r"\*"):
        note = rf"Planted{{\super\chftn{{{star}\footnote\chftn  By {{\i monks}}.}}}} early.\par"
        assert text_of(note) == "Planted[1] early.\n\n[1] By monks."
    box = (
        r"{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt\pard Box\par}}{\shprslt{\*\do Box}}}Text\par"
    )
    assert text_of(box) == "Text\n\nBox"
    link = r'{\field{\*\fldinst{ HYPERLINK "https://example.org/a" }}{\fldrslt {\ul the site}}}\par'
    assert read_rtf(link).reading.links[0].target == "https://example.org/a"
    fraction = r"{\*\mf{\*\mnum{\*\mr a}}{\*\mden{\*\mr b+c}}}"
    assert text_of(rf"{{\mmath{{\*\moMath{fraction}}}}}\par") == "a/(b+c)"


def test_boxes_before_items_are_shown() -> None:
    assert text_of(r"{\listtext\u9745?\tab}paid\par{\listtext\'b7\tab}other\par") == (
        "- \u2611 paid\n- other"
    )


def test_left_out_text_is_reported() -> None:
    document = read_rtf(
        r"{\info{\title Plums}{\author Ann}{\keywords stone fruit; harvest}}"
        r"{\header\pard Contract 7, page "
        r"{\field{\*\fldinst PAGE}{\fldrslt 3}}\par}{\*\unknown junk}{\pict\pngblip 8950}"
        r"Shown{\v veiled }{\deleted gone}\chatn{\*\annotation{\*\atndate 1}Really?}"
        r"{\xe stones}\par"
    )
    assert (document.title, document.tags) == ("Plums", ("harvest", "stone fruit"))
    assert document.reading.text == "Contract 7\n\nShown"
    assert left_out(document) == {
        Omission.METADATA: "Ann",
        Omission.RUNNING_LINE: ", page",
        Omission.COMMENT: "Really?",
        Omission.HIDDEN: "veiled gone",
        Omission.MACRO: "stones",
    }


def test_text_without_a_font_has_the_charset_of_the_default_font() -> None:
    fonts = r"{\rtf1\ansi\deff1{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset238 B;}{\f2\fcharset204 C;}}"
    body = r"\pard \'9cliwka {\f0 caf\'e9} {\f2 \'d1\plain \'9c}\par}"
    assert read_whole(f"{fonts}{body}".encode(), "a.rtf").reading.text == "śliwka café Сś"


def test_bytes_outside_escapes_are_in_the_code_page_or_utf_8() -> None:
    head = b"{\\rtf1\\ansi\\ansicpg1251 "
    for charset in ("cp1251", "utf-8"):
        content = head + "Слива\\par}".encode(charset)
        assert read_whole(content, "a.rtf").reading.text == "Слива"


def test_column_breaks_separate_words() -> None:
    assert text_of(r"left\column right\par") == "left\nright"


def test_unclosed_groups_are_read() -> None:
    assert text_of(r"{\b Open {\i words") == "Open words"
    deep = read(RawDocument("s", "a.rtf", "a", b"{\\rtf1" + b"{" * 100_000), is_worker=True)
    assert not isinstance(deep, Document)


def test_shifted_text_is_superscript_or_subscript() -> None:
    body = r"\pard 10{\up6\fs16 6} units, H{\dn4\fs16 2}O, 5{\up0 0}\par"
    assert text_of(body) == "10^6 units, H2O, 50"


def test_styles_are_derived_from_headings() -> None:
    body = (
        r"{\stylesheet{\s8\sbasedon2 Own;}{\s9\sbasedon2\outlinelevel9 Plain;}}"
        r"\pard\s8 Derived\par\pard\s9 Text\par{{\NeXTGraphic a.png \width9}}End.\par"
    )
    document = read_rtf(body)
    assert document.reading.text == "## Derived\n\nText\n\nEnd."


def test_descriptions_of_pictures_are_read() -> None:
    described = r"{\*\picprop{\sp{\sn wzDescription}{\sv A ripe plum}}}\pngblip 8950"
    source = r"Before {\*\shppict{\pict" + described + r"}}{\nonshppict{\pict"
    assert text_of(source + described + r"}} after.\par") == "Before A ripe plum after."
