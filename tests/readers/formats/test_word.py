"""Word: files by python-docx and by Word itself, and the parts that a reader must not lose."""

import io

import docx as python_docx
import openpyxl
import pytest
from document_files import WORD, docx, pack, paragraph, read_document
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from PIL import Image

from foundry.documents import Document, RawDocument, Skipped
from foundry.documents.left_out import Omission
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart

W = f'xmlns:w="{WORD}"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def read_file(content: bytes, sandbox: Sandbox) -> Document:
    return read_document(content, "a.docx", sandbox)


def text_of(content: bytes, sandbox: Sandbox) -> str:
    return read_file(content, sandbox).reading.text


def outline(document: Document) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in document.reading.headings]


def left_out(document: Document) -> dict[Omission, str]:
    found: dict[Omission, str] = {}
    for each in document.reading.left_out:
        found[each.reason] = " ".join([found.get(each.reason, ""), each.text.strip()]).strip()
    return found


def saved(document: "python_docx.document.Document") -> bytes:
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def png() -> io.BytesIO:
    stored = io.BytesIO()
    Image.new("RGB", (3, 3)).save(stored, "PNG")
    return stored


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def line(*parts: str) -> str:
    return f"<w:p>{''.join(parts)}</w:p>"


def relations(kind: str, target: str) -> dict[str, str]:
    """Return the relationships of a document that points to one other part."""
    names = "http://schemas.openxmlformats.org/package/2006/relationships"
    relation = f'<Relationship Id="x" Type="{RELATIONS}/{kind}" Target="{target}"/>'
    written = f'<Relationships xmlns="{names}">{relation}</Relationships>'
    return {"word/_rels/document.xml.rels": written}


def mark(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def field(instruction: str, *results: str) -> str:
    told = f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
    return mark("begin") + told + mark("separate") + "".join(results) + mark("end")


def test_fields_have_their_results_not_their_instructions(sandbox: Sandbox) -> None:
    nested = mark("begin") + "<w:r><w:instrText> IF </w:instrText></w:r>"
    nested += field(" MERGEFIELD sex ", run("male")) + "<w:r><w:instrText> = m</w:instrText></w:r>"
    nested += mark("separate") + run("Mr.") + mark("end")
    document = read_file(
        docx(
            line(run("For "), f'<w:fldSimple w:instr=" AUTHOR ">{run("Ann")}</w:fldSimple>')
            + line(nested, run(" Plum"))
            + line(field(' HYPERLINK "https://example.org/a" ', run("the "), run("site")))
            + line(mark("begin"), "<w:r><w:instrText> SYMBOL 97 \\f Symbol</w:instrText></w:r>")
            + line(run("The end"), field(" EQ \\f(1,2) "))
        ),
        sandbox,
    )
    text = document.reading.text
    assert text == "For Ann\n\nMr. Plum\n\n[the site](https://example.org/a)\n\nThe end1/2"
    assert document.reading.links[0].target == "https://example.org/a"
    assert "MERGEFIELD sex" in left_out(document)[Omission.MACRO]
    assert "male" in left_out(document)[Omission.MACRO]


def test_tables_of_contents_are_left_out(sandbox: Sandbox) -> None:
    begin = mark("begin") + "<w:r><w:instrText>TOC \\o</w:instrText></w:r>" + mark("separate")
    entries = line(begin, run("Plums 1")) + line(run("Figs 2"), mark("end"))
    document = read_file(docx(entries + paragraph("Plums", "Heading1")), sandbox)
    assert document.reading.text == "# Plums"
    assert left_out(document)[Omission.DUPLICATE] == "Plums 1 Figs 2"


def test_forms_have_the_chosen_values(sandbox: Sandbox) -> None:
    def form(data: str, name: str) -> str:
        begin = (
            f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        )
        return begin + f"<w:r><w:instrText>{name}</w:instrText></w:r>" + mark("end")

    entries = "".join(f'<w:listEntry w:val="{name}"/>' for name in ("plum", "fig"))
    ticked = form('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>', "FORMCHECKBOX")
    chosen = form(f'<w:ddList><w:result w:val="1"/>{entries}</w:ddList>', "FORMDROPDOWN")
    prompt = (
        f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run('Click')}</w:sdtContent>"
    )
    date = f"<w:sdt><w:sdtPr><w:date/></w:sdtPr><w:sdtContent>{run('3 May')}</w:sdtContent></w:sdt>"
    document = read_file(docx(line(ticked, run(" "), chosen, prompt, "</w:sdt>", date)), sandbox)
    assert document.reading.text == "☒ fig3 May"
    assert left_out(document)[Omission.FORM] == "Click plum\nfig"


def test_words_and_numbers_are_not_joined_or_divided(sandbox: Sandbox) -> None:
    above, below = ('<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>')
    ruby = "<w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>"
    lines = [
        line(run("P", "<w:b/>"), run("ersimmon")),
        line(run("10"), run("1", above), run("2", above), run(" m")),
        line(
            run("1"), run("st", above), run(" and H"), run("2", below), run("O, x"), run("1", below)
        ),
        line(run("Donau"), "<w:r><w:softHyphen/></w:r>", run("dampf")),
        line(run("e"), "<w:r><w:noBreakHyphen/></w:r>", run("mail")),
        line(ruby.format(run("かん"), run("漢")) + ruby.format(run("じ"), run("字")), run("です")),
        line(f"<w:bdo>{run('turned')}</w:bdo><w:smartTag>{run(' Paris')}</w:smartTag>"),
        line('<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r>', run("\uf0fc", _wingdings())),
    ]
    assert text_of(docx("".join(lines)), sandbox).split("\n\n") == [
        *("Persimmon", "10^12 m", "1st and H2O, x_1", "Donaudampf", "e-mail", "漢字(かんじ)です"),
        *("turned Paris", "\u03b1✓"),
    ]


def _wingdings() -> str:
    return '<w:rFonts w:ascii="Wingdings"/>'


def test_revisions_comments_and_hidden_text(sandbox: Sandbox) -> None:
    body = line(
        run("Kept "),
        f"<w:ins>{run('added ')}</w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>",
        run("veiled", "<w:vanish/>"),
        run("shown", '<w:vanish w:val="0"/>'),
    )
    comments = f"<w:comments {W}><w:comment>{line(run('Really?'))}</w:comment></w:comments>"
    document = read_file(
        docx(body, **relations("comments", "comments.xml"), **{"word/comments.xml": comments}),
        sandbox,
    )
    assert document.reading.text == "Kept added shown"
    assert left_out(document) == {Omission.HIDDEN: "goneveiled", Omission.COMMENT: "Really?"}


def test_text_boxes_are_read_once_after_their_paragraph(sandbox: Sandbox) -> None:
    box = f"<w:txbxContent>{line(run('In the box'))}</w:txbxContent>"
    drawing = f'<w:drawing><wps:txbx xmlns:wps="urn:x">{box}</wps:txbx></w:drawing>'
    picture = (
        f'<w:pict><v:textbox xmlns:v="urn:schemas-microsoft-com:vml">{box}</v:textbox></w:pict>'
    )
    both = f"<mc:AlternateContent {MC}><mc:Choice>{drawing}</mc:Choice><mc:Fallback>{picture}"
    both += "</mc:Fallback></mc:AlternateContent>"
    document = read_file(docx(line(run("Anchor"), f"<w:r>{both}</w:r>", run(" ends"))), sandbox)
    assert document.reading.text == "Anchor ends\n\nIn the box"
    assert left_out(document) == {Omission.DUPLICATE: "In the box"}
    assert text_of(docx(line(f"<w:r>{picture}</w:r>")), sandbox) == "In the box"


def test_pictures_are_named_except_those_of_headings_and_headers(sandbox: Sandbox) -> None:
    document = python_docx.Document()
    document.sections[0].header.paragraphs[0].add_run("Acme").add_picture(png())
    document.add_heading("Pump", 1).add_run().add_picture(png())
    shown = document.add_paragraph("Before ").add_run().add_picture(png())
    assert text_of(saved(document), sandbox) == "Acme\n\n# Pump\n\nBefore ![](image1.png)"
    shown._inline.docPr.set("descr", "The\npump [3]")
    assert text_of(saved(document), sandbox) == "Acme\n\n# Pump\n\nBefore The\npump [3]"
    shown._inline.docPr.set("descr", "The\npump")
    assert text_of(saved(document), sandbox).endswith("Before ![The pump](image1.png)")


def test_documents_of_only_pictures_are_skipped(sandbox: Sandbox) -> None:
    document = python_docx.Document()
    document.add_paragraph().add_run().add_picture(png())
    result = read_apart(RawDocument("s", "a.docx", "a.docx", saved(document)), sandbox)
    assert isinstance(result, Skipped)


def test_headings_by_derived_styles_and_outline_levels(sandbox: Sandbox) -> None:
    document = python_docx.Document()
    style = document.styles.add_style("Acme", WD_STYLE_TYPE.PARAGRAPH)
    style.base_style = document.styles["Heading 2"]
    document.add_paragraph("Report", style="Title")
    document.add_paragraph("Derived", style="Acme")
    levelled = document.add_paragraph("Levelled")
    levelled._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {W} w:val="2"/>'))
    document.add_paragraph("Text")
    assert outline(read_file(saved(document), sandbox)) == [
        *((1, "Report"), (2, "Derived"), (3, "Levelled"))
    ]


LEVEL = (
    '<w:lvl w:ilvl="{}"><w:start w:val="1"/><w:numFmt w:val="{}"/><w:lvlText w:val="{}"/></w:lvl>'
)


def numbered(body: str, *levels: tuple[str, str], nums: str = "") -> bytes:
    made = "".join(LEVEL.format(number, *level) for number, level in enumerate(levels))
    numbering = f'<w:numbering {W}><w:abstractNum w:abstractNumId="7">{made}</w:abstractNum>'
    numbering += '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>' + nums + "</w:numbering>"
    more = {"word/numbering.xml": numbering}
    return docx(body, **relations("numbering", "numbering.xml"), **more)


def item(text: str, level: int = 0, num: int = 1, more: str = "") -> str:
    placed = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{num}"/></w:numPr>'
    return f"<w:p><w:pPr>{placed}{more}</w:pPr>{run(text)}</w:p>"


def test_lists_have_the_numbers_shown_by_word(sandbox: Sandbox) -> None:
    again = (
        '<w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0">'
        '<w:startOverride w:val="5"/></w:lvlOverride></w:num>'
    )
    body = item("a") + item("b", 1) + item("c", 1) + item("d") + paragraph("Between.")
    body += item("e") + item("f", 1) + paragraph("Anew:") + item("g", num=2) + item("h", num=2)
    content = numbered(body, ("decimal", "%1."), ("lowerRoman", "(%1.%2)"), nums=again)
    assert text_of(content, sandbox) == (
        "1. a\n   (1.i) b\n   (1.ii) c\n2. d\n\nBetween.\n\n3. e\n   (3.i) f\n\nAnew:\n\n5. g\n6. h"
    )


def test_bullets_and_numbers_of_headings(sandbox: Sandbox) -> None:
    title = '<w:outlineLvl w:val="{}"/>'
    body = item("One", more=title.format(0)) + item("Two", 1, more=title.format(1))
    content = numbered(body, ("decimal", "%1"), ("decimal", "%1.%2"))
    assert outline(read_file(content, sandbox)) == [(1, "1 One"), (2, "1.1 Two")]
    assert text_of(numbered(item("x") + item("y"), ("bullet", "\uf0b7")), sandbox) == "- x\n- y"


def test_merged_cells_are_filled(sandbox: Sandbox) -> None:
    document = python_docx.Document()
    table = document.add_table(rows=4, cols=3)
    rows = [["Fruit", "Price", ""], ["", "Net", "Gross"], ["plum", "1", "2"], ["", "3", "4"]]
    for row, values in zip(table.rows, rows, strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    for first, last in (((0, 1), (0, 2)), ((0, 0), (1, 0)), ((2, 0), (3, 0))):
        table.cell(*first).merge(table.cell(*last))
    assert text_of(saved(document), sandbox) == (
        "| Fruit | Price Net | Price Gross |\n| --- | --- | --- |\n"
        "| plum | 1 | 2 |\n| plum | 3 | 4 |"
    )


def test_nested_tables_and_layout_tables(sandbox: Sandbox) -> None:
    def cell(*blocks: str) -> str:
        return f"<w:tc>{''.join(blocks)}</w:tc>"

    inner = f"<w:tbl><w:tr>{cell(line(run('p')))}{cell(line(run('q')))}</w:tr></w:tbl>"
    rows = f"<w:tr>{cell(line(run('A')))}{cell(line(run('B')))}</w:tr>"
    rows += f"<w:tr>{cell(line(run('x')))}{cell(line(run('y')), inner, line(run('z')))}</w:tr>"
    assert text_of(docx(f"<w:tbl>{rows}</w:tbl>"), sandbox).endswith("| x | y p, q; z |")
    layout = cell(paragraph("Title", "Heading1"), line(run("Words")))
    assert text_of(docx(f"<w:tbl><w:tr>{layout}</w:tr></w:tbl>"), sandbox) == "# Title\n\nWords"


def test_headers_and_footers_are_read_once(sandbox: Sandbox) -> None:
    document = python_docx.Document()
    document.add_paragraph("Body.")
    section = document.sections[0]
    section.header.paragraphs[0].text = "Contract QX-7\tRoyal Plums"
    number = f'<w:p {W}>{run("Page ")}<w:fldSimple w:instr="PAGE">{run("1")}</w:fldSimple></w:p>'
    section.footer._element.append(parse_xml(number))
    section.footer.paragraphs[0].text = "Royal Plums"
    read = read_file(saved(document), sandbox)
    assert read.reading.text == "Contract QX-7\nRoyal Plums\n\nBody."
    assert "Page" in left_out(read)[Omission.RUNNING_LINE]


@pytest.mark.parametrize(
    ("before", "between", "after", "shown"),
    [
        ("Contract QX-7, page ", " of ", "", "Contract QX-7"),
        ("", " / ", " | Royal Plums", "Royal Plums"),
        ("Royal Plums | Seite ", " von ", " | Stand 2024", "Royal Plums Stand 2024"),
        ("- ", None, " -", ""),
        ("Page ", None, " of 12", ""),
        ("第 ", " 页 / 共 ", " 页", ""),
    ],
)
def test_words_beside_a_page_number_in_a_header_are_read(
    before: str, between: str | None, after: str, shown: str, sandbox: Sandbox
) -> None:
    def field(name: str) -> str:
        return f'<w:fldSimple w:instr="{name}">{run("1")}</w:fldSimple>'

    document = python_docx.Document()
    document.add_paragraph("Body.")
    total = "" if between is None else run(between) + field("NUMPAGES")
    header = parse_xml(f"<w:p {W}>{run(before)}{field('PAGE')}{total}{run(after)}</w:p>")
    document.sections[0].header._element.append(header)
    read = read_file(saved(document), sandbox)
    assert read.reading.text == "\n\n".join(filter(None, (shown, "Body.")))
    assert read.reading.unaccounted == ()


def test_notes_follow_their_paragraph(sandbox: Sandbox) -> None:
    notes = (
        f'<w:footnotes {W}><w:footnote w:type="separator" w:id="0">{line(run("---"))}</w:footnote>'
    )
    notes += f'<w:footnote w:id="4">{line(run("By monks."))}</w:footnote></w:footnotes>'
    body = line(run("Planted"), '<w:r><w:footnoteReference w:id="4"/></w:r>', run(" early."))
    members = {**relations("footnotes", "footnotes.xml"), "word/footnotes.xml": notes}
    text = text_of(docx(body + paragraph("Next."), **members), sandbox)
    assert text == "Planted[1] early.\n\n[1] By monks.\n\nNext."


def test_code_keeps_its_lines(sandbox: Sandbox) -> None:
    style = '<w:style w:type="paragraph" w:styleId="Src"><w:name w:val="Source Code"/></w:style>'
    more = {"word/styles.xml": f"<w:styles {W}>{style}</w:styles>"}
    lines = run("def f():") + "<w:r><w:br/></w:r>" + run("    return '```'")
    content = docx(
        f'<w:p><w:pPr><w:pStyle w:val="Src"/></w:pPr>{lines}</w:p>',
        **relations("styles", "styles.xml"),
        **more,
    )
    assert text_of(content, sandbox) == "````\ndef f():\n    return '```'\n````"


def test_strict_documents_and_imported_pages(sandbox: Sandbox) -> None:
    relation = (
        '<Relationship Id="r1" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/'
        'officeDocument" Target="/word/document2.xml"/>'
    )
    names = "http://schemas.openxmlformats.org/package/2006/relationships"
    body = line(run("Strictly said.")) + f'<w:altChunk r:id="h" {R.replace(RELATIONS, STRICT)}/>'
    page = f'<Relationship Id="h" Type="{RELATIONS}/aFChunk" Target="page.html"/>'
    content = pack(
        {
            "_rels/.rels": f'<Relationships xmlns="{names}">{relation}</Relationships>',
            "word/document2.xml": '<w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml'
            f'/main"><w:body>{body}</w:body></w:document>',
            "word/_rels/document2.xml.rels": (
                f'<Relationships xmlns="{names}">{page}</Relationships>'
            ),
            "word/page.html": "<html><body><h1>Imported</h1><p>Page words.</p></body></html>",
        }
    )
    assert text_of(content, sandbox).split() == "Strictly said. # Imported Page words.".split()


@pytest.mark.parametrize(
    ("name", "content", "text", "damaged"),
    [
        ("a.docx", docx(paragraph("Chapter", "Heading1") + paragraph("Inner.")), "Inner.", ()),
        ("a.dat", b"Inner.", "Inner.", ()),
        ("a.bin", bytes(range(32)) * 9, "", ("word/a.bin",)),
        ("gone.docx", None, "", ("word/gone.docx",)),
    ],
)
def test_imported_documents_are_read_or_reported(
    name: str, content: bytes | None, text: str, damaged: tuple[str, ...], sandbox: Sandbox
) -> None:
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="i" Type="{RELATIONS}/aFChunk" Target="{name}"/></Relationships>'
    )
    more: dict[str, str | bytes] = {"word/_rels/document.xml.rels": relations}
    if content is not None:
        more[f"word/{name}"] = content
    read = read_file(docx(f'{paragraph("Outer.")}<w:altChunk r:id="i" {R}/>', **more), sandbox)
    assert read.reading.text.startswith("Outer.") and read.reading.text.endswith(text)
    assert [each.text for each in read.reading.headings] == ["Chapter"] * (name == "a.docx")
    assert read.reading.damaged == damaged


STRICT = "http://purl.oclc.org/ooxml/officeDocument/relationships"


def test_unclosed_fields_keep_their_text(sandbox: Sandbox) -> None:
    begun = line(mark("begin"), "<w:r><w:instrText>TOC</w:instrText></w:r>", mark("separate"))
    opened = line(mark("begin"), mark("separate"), run("x")) * 200
    text = text_of(docx(begun + paragraph("Plums", "Heading1") + opened), sandbox)
    assert text.startswith("# Plums\n\nx\n\nx") and text.count("x") == 200


def test_indices_in_equations_are_separate(sandbox: Sandbox) -> None:
    index = f"<m:sSub><m:e>{math('a')}</m:e><m:sub>{math('n')}</m:sub></m:sSub>"
    choice = (
        f'<m:d><m:e><m:f><m:fPr><m:type m:val="noBar"/></m:fPr><m:num>{math("n")}</m:num>'
        f"<m:den>{math('k')}</m:den></m:f></m:e></m:d>"
    )
    braces = '<m:d><m:dPr><m:begChr m:val="{{"/><m:endChr m:val=""/></m:dPr><m:e>{}</m:e></m:d>'
    equation = index + math("cos x ") + choice + math(" ") + braces.format(math("y"))
    text = text_of(docx(line(f"<m:oMath {M}>{equation}</m:oMath>")), sandbox)
    assert text == "a_n cos x (n over k) {y"


def math(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def test_drop_caps_begin_their_word(sandbox: Sandbox) -> None:
    drop = '<w:pPr><w:framePr w:dropCap="drop" w:lines="3" w:wrap="around"/></w:pPr>'
    body = line(drop, run("P")) + line(run("lums ripen late.")) + line(run("Figs do not."))
    assert text_of(docx(body), sandbox) == "Plums ripen late.\n\nFigs do not."
    framed = line('<w:pPr><w:framePr w:w="20"/></w:pPr>', run("Beside")) + line(run("the text"))
    assert text_of(docx(framed), sandbox) == "Beside\n\nthe text"
    assert text_of(docx(line(run("Figs")) + line(drop, run("P"))), sandbox) == "Figs\n\nP"


def test_author_and_date_are_not_headings(sandbox: Sandbox) -> None:
    document = python_docx.Document()
    for name in ("Author", "Part Title"):
        document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH).base_style = document.styles[
            "Title"
        ]
    document.add_paragraph("The book", style="Title")
    document.add_paragraph("Jane Doe", style="Author")
    document.add_paragraph("First part", style="Part Title")
    document.add_paragraph("Words.")
    read = read_file(saved(document), sandbox)
    assert outline(read) == [(1, "The book"), (1, "First part")]


def test_blank_bullets_are_left_out(sandbox: Sandbox) -> None:
    body = item("one") + item("still one", num=2)
    nums = '<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/>'
    nums += '<w:lvlText w:val=" "/></w:lvl></w:abstractNum>'
    nums += '<w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>'
    assert text_of(numbered(body, ("decimal", "%1."), nums=nums), sandbox) == "1. one\n\nstill one"


def test_boxes_and_ticks_before_items_are_shown(sandbox: Sandbox) -> None:
    nums = "".join(
        f'<w:abstractNum w:abstractNumId="{num}"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/>'
        f'<w:lvlText w:val="{sign}"/>{fonts}</w:lvl></w:abstractNum>'
        f'<w:num w:numId="{num}"><w:abstractNumId w:val="{num}"/></w:num>'
        for num, sign, fonts in (
            (2, "\u2612", ""),
            (3, "\uf0a8", '<w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr>'),
            (4, "\uf0d8", '<w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr>'),
        )
    )
    body = item("paid", num=2) + item("sent", num=3) + item("other", num=4)
    text = text_of(numbered(body, ("decimal", "%1."), nums=nums), sandbox)
    assert text == "- \u2612 paid\n- \u2610 sent\n- other"


def test_items_in_the_styles_of_deeper_lists_are_indented(sandbox: Sandbox) -> None:
    document = python_docx.Document()
    for text, style in (("one", ""), ("inside", " 2"), ("deeper", " 3"), ("two", "")):
        document.add_paragraph(text, style=f"List Bullet{style}")
    assert text_of(saved(document), sandbox) == "- one\n   - inside\n      - deeper\n- two"


def test_options_of_controls_and_properties_are_reported(sandbox: Sandbox) -> None:
    options = '<w:listItem w:displayText="Crimson" w:value="1"/><w:listItem w:displayText="Ochre"/>'
    control = (
        f"<w:p><w:sdt><w:sdtPr><w:dropDownList>{options}</w:dropDownList></w:sdtPr><w:sdtContent>"
        f"{run('Crimson')}</w:sdtContent></w:sdt></w:p>"
    )
    core = (
        '<cp:coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:cp="http://schemas.'
        'openxmlformats.org/package/2006/metadata/core-properties"><dc:subject>Orchard</dc:subject>'
        "<cp:keywords>quince, medlar</cp:keywords></cp:coreProperties>"
    )
    document = read_file(docx(control, **{"docProps/core.xml": core}), sandbox)
    assert document.reading.text == "Crimson"
    assert document.tags == ("medlar", "quince")
    assert left_out(document) == {Omission.FORM: "Crimson\nOchre", Omission.METADATA: "Orchard"}
    words = document.reading.words
    assert words is not None
    assert (words.left_out, words.unaccounted) == ({Omission.FORM: 2, Omission.METADATA: 1}, 0)


def test_pictures_have_a_title_and_a_description(sandbox: Sandbox) -> None:
    drawing = (
        '<w:p><w:r><w:drawing xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/'
        'wordprocessingDrawing"><wp:inline><wp:docPr id="1" name="P" title="Harvest"{}/>'
        "</wp:inline></w:drawing></w:r></w:p>"
    )
    body = drawing.format(' descr="Two men in a tree"') + drawing.format("")
    assert text_of(docx(paragraph("Words") + body), sandbox) == (
        "Words\n\n![Harvest Two men in a tree]()\n\n![Harvest]()"
    )


def holding(inner: bytes, text: str) -> bytes:
    """Return a document with this text and this document embedded."""
    names = 'xmlns:o="urn:schemas-microsoft-com:office:office"'
    body = f'{paragraph(text)}<w:p {names} {R}><w:r><w:object><o:OLEObject r:id="x"/>'
    body += "</w:object></w:r></w:p>"
    target = "embeddings/inner.docx"
    return docx(body, **relations("package", target), **{f"word/{target}": inner})


def test_depth_and_count_of_embedded_files_are_limited(sandbox: Sandbox) -> None:
    content = docx(paragraph("level0 words"))
    for level in range(1, 7):
        content = holding(content, f"level{level} words")
    reading = read_file(content, sandbox).reading
    assert reading.text == "\n\n".join(f"level{level} words" for level in (6, 5, 4, 3))
    assert [(each.reason, each.text.strip()) for each in reading.left_out] == [
        (Omission.TOO_LONG, "level2 words")
    ]
    assert reading.words is not None
    assert (reading.words.source, reading.words.read) == (10, 8)


def test_embedded_workbooks_and_descriptions_of_tables_and_boxes_are_read(
    sandbox: Sandbox,
) -> None:
    stored = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["Plum", "Persimmon"])
    book.save(stored)
    names = (
        'xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:v="urn:schemas-microsoft-com:vml"'
    )
    table = (
        '<w:tbl><w:tblPr><w:tblCaption w:val="Fruit of May"/></w:tblPr>'
        f"<w:tr><w:tc>{paragraph('Cherry')}</w:tc><w:tc>{paragraph('3')}</w:tc></w:tr></w:tbl>"
    )
    box = (
        '<v:shape alt="A yellow note"><v:textbox><w:txbxContent>'
        f"{paragraph('Ripe.')}</w:txbxContent></v:textbox></v:shape>"
    )
    body = (
        f'{paragraph("Before")}<w:p {names} {R}><w:r><w:object><v:shape alt="Two fruits"/>'
        f'<o:OLEObject r:id="x"/></w:object></w:r></w:p>{paragraph("After")}{table}'
        f"<w:p {names}><w:r><w:pict>{box}</w:pict></w:r></w:p>"
    )
    caption = paragraph("Fruit of May")
    assert text_of(docx(caption + table), sandbox).count("Fruit of May") == 1
    target = "embeddings/book.xlsx"
    more = {**relations("package", target), f"word/{target}": stored.getvalue()}
    document = read_file(docx(body, **more), sandbox)
    assert document.reading.text == (
        "Before\n\n![Two fruits]()\n\nSheet:  \n\nPlum, Persimmon\n\nAfter\n\n"
        "Fruit of May\n\n| Cherry | 3 |\n| --- | --- |\n\n![A yellow note]()\n\nRipe."
    )
    assert not document.reading.headings
