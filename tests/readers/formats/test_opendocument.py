"""OpenDocument, as LibreOffice, Google and pandoc write it."""

from document_files import pack, read_document, read_whole

from foundry.documents import Document
from foundry.documents.left_out import Omission

URN = "urn:oasis:names:tc:opendocument:xmlns"
SPACES = " ".join(
    f'xmlns:{name}="{URN}:{value}:1.0"'
    for name, value in {
        **{name: name for name in ("office", "text", "table", "style", "presentation", "chart")},
        **{"draw": "drawing", "svg": "svg-compatible"},
    }.items()
)
NAMES = f'{SPACES} xmlns:xlink="http://www.w3.org/1999/xlink"'
META = f'xmlns:meta="{URN}:meta:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
KIND = "application/vnd.oasis.opendocument"


def odf(kind: str, body: str, styles: str = "", **members: str) -> bytes:
    content = f"<office:document-content {NAMES}><office:automatic-styles>{styles}"
    content += f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}>"
    content += "</office:body></office:document-content>"
    made = {"mimetype": f"{KIND}.{kind}", "content.xml": content, **members}
    return pack(made, stored=["mimetype"])


def read_odf(content: bytes, path: str = "a.odt") -> Document:
    return read_document(content, path)


def text_of(body: str, styles: str = "", kind: str = "text", **members: str) -> str:
    return read_odf(odf(kind, body, styles, **members)).reading.text


def p(text: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def style(name: str, properties: str, family: str = "text", parent: str = "") -> str:
    return (
        f'<style:style style:name="{name}" style:family="{family}" '
        f'style:parent-style-name="{parent}">{properties}</style:style>'
    )


def row(*cells: str, more: str = "") -> str:
    made = "".join(f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
    return f"<table:table-row {more}>{made}</table:table-row>"


def test_spans_notes_links_and_comments() -> None:
    styles = style("up", '<style:text-properties style:text-position="super 58%"/>')
    styles += style("no", '<style:text-properties text:display="none"/>')
    note = "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
    note += p("By monks.") + "</text:note-body></text:note>"
    body = p(
        '10<text:span text:style-name="up">6</text:span> plums'
        f'{note} at <text:a xlink:href="https://example.org/a">the site</text:a>'
        '<text:span text:style-name="no">veiled</text:span>'
        f"<office:annotation>{p('Really?')}</office:annotation>"
    )
    document = read_odf(odf("text", body, styles))
    assert document.reading.text == (
        "10^6 plums[1] at [the site](https://example.org/a)\n\n[1] By monks."
    )
    assert {each.reason: each.text for each in document.reading.left_out} == {
        Omission.HIDDEN: "veiled",
        Omission.COMMENT: "Really?",
    }


def test_lists_are_numbered_by_their_styles() -> None:
    levels = (
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" '
        'style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" '
        'style:num-format="a" style:num-suffix=")" text:start-value="2"/></text:list-style>'
    )
    inner = f"<text:list><text:list-item>{p('b')}</text:list-item></text:list>"
    body = (
        f'<text:list text:style-name="L"><text:list-header>{p("Head:")}</text:list-header>'
        f"<text:list-item>{p('one')}{inner}</text:list-item></text:list>{p('Between.')}"
        f'<text:list text:style-name="L" text:continue-numbering="true">'
        f"<text:list-item>{p('two')}</text:list-item></text:list>"
    )
    assert text_of(body, levels) == "Head:\n1. one\n   b) b\n\nBetween.\n\n2. two"


def test_boxes_before_items_are_shown() -> None:
    levels = "".join(
        f'<text:list-style style:name="{name}"><text:list-level-style-bullet text:level="1" '
        f'text:bullet-char="{sign}"/></text:list-style>'
        for name, sign in (("A", "\u2611"), ("B", "\u2022"))
    )
    body = "".join(
        f'<text:list text:style-name="{name}"><text:list-item>{item}</text:list-item></text:list>'
        for name, item in (("A", p("paid")), ("B", p("other")))
    )
    assert text_of(body, levels) == "- \u2611 paid\n\n- other"


def test_headings_in_lists_and_by_styles() -> None:
    heading = '<text:h text:outline-level="1">Chapter</text:h>'
    body = p("Report", "T") + f"<text:list><text:list-item>{heading}</text:list-item></text:list>"
    document = read_odf(odf("text", body, style("T", "", "paragraph", "Title")))
    assert [each.text for each in document.reading.headings] == ["Report", "Chapter"]


def test_tables_in_texts() -> None:
    merged = '<table:table-cell table:number-rows-spanned="2">' + p("plum") + "</table:table-cell>"
    covered = "<table:covered-table-cell/>"
    inner = f"<table:table>{row(p('i'), p('j'))}</table:table>"
    body = (
        f"<table:table><table:table-header-rows>{row(p('Fruit'), p('Note'))}"
        f"</table:table-header-rows><table:table-row>{merged}<table:table-cell>{p('a')}"
        f"</table:table-cell></table:table-row><table:table-row>{covered}<table:table-cell>"
        f"{inner}</table:table-cell></table:table-row></table:table>"
    )
    assert text_of(body) == "| Fruit | Note |\n| --- | --- |\n| plum | a |\n| plum | i, j |"


def test_boxes_formulas_and_pictures() -> None:
    def frame(inner: str) -> str:
        return f"<draw:frame>{inner}</draw:frame>"

    inner = p(frame(f"<draw:text-box>{p('Inner')}</draw:text-box>"))
    boxes = frame(f"<draw:text-box>{p('Outer')}{inner}</draw:text-box>")
    assert text_of(p("Anchor" + boxes)) == "Anchor\n\nOuter\n\nInner"
    formula = frame('<draw:object xlink:href="./Object 1"/>')
    mathml = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mfrac><mi>a</mi><mrow>'
        "<mi>b</mi><mo>+</mo><mn>2</mn></mrow></mfrac><annotation>a over</annotation></semantics>"
        "</math>"
    )
    more = {"Object 1/content.xml": mathml}
    assert text_of(p(f"So {formula} holds."), **more) == "So a/(b + 2) holds."
    picture = frame('<draw:image xlink:href="a.png"/><svg:desc>A plum tree</svg:desc>')
    assert text_of(p(picture)) == "![A plum tree](a.png)"


def test_changes_and_contents_are_left_out() -> None:
    body = f"<text:tracked-changes>{p('gone')}</text:tracked-changes>"
    body += f"<text:table-of-content>{p('Plums 1')}</text:table-of-content>" + p("Kept.")
    document = read_odf(odf("text", body))
    assert document.reading.text == "Kept."
    assert [each.reason for each in document.reading.left_out] == [
        *(Omission.HIDDEN, Omission.DUPLICATE)
    ]


def test_slides_have_titles_and_notes() -> None:
    def frame(text: str, kind: str = "outline") -> str:
        return (
            f'<draw:frame presentation:class="{kind}"><draw:text-box>{p(text)}</draw:text-box>'
            "</draw:frame>"
        )

    notes = f"<presentation:notes>{frame('Say hello.', 'notes')}</presentation:notes>"
    hidden = style(
        "h",
        '<style:drawing-page-properties presentation:visibility="hidden"/>',
        "drawing-page",
    )
    slides = f"<draw:page>{frame('Pears are green.')}{frame('About pears', 'title')}{notes}"
    slides += f'</draw:page><draw:page draw:style-name="h">{frame("Secret")}</draw:page>'
    document = read_odf(odf("presentation", slides, hidden), "a.odp")
    assert document.reading.text == "## About pears\n\nPears are green.\n\nNotes: Say hello."
    assert document.reading.left_out[0].text == "Secret"


def placed(text: str, left: float, top: float, more: str = "") -> str:
    return (
        f'<draw:frame svg:x="{left}cm" svg:y="{top}cm" {more}><draw:text-box>{p(text)}'
        "</draw:text-box></draw:frame>"
    )


def test_shapes_of_slides_are_read_by_position() -> None:
    group = f"<draw:g>{placed('Third', 9, 8)}{placed('Second', 2, 8.1)}</draw:g>"
    slide = placed("Last", 1, 12) + group + placed("First", 7, 2)
    assert text_of(f"<draw:page>{slide}</draw:page>", kind="presentation") == (
        "First\n\nSecond\n\nThird\n\nLast"
    )
    unplaced = f"<draw:frame><draw:text-box>{p('Somewhere')}</draw:text-box></draw:frame>"
    assert text_of(f"<draw:page>{slide}{unplaced}</draw:page>", kind="presentation").startswith(
        "Last"
    )


def test_repeated_texts_of_slides_are_read_once() -> None:
    title = 'presentation:class="title"'
    master = f"{placed('Slogan', 1, 18)}{placed('Click to edit', 1, 1, title)}"
    styles = f"<office:document-styles {NAMES}><office:master-styles><style:master-page"
    styles += f' style:name="M">{master}</style:master-page></office:master-styles>'
    styles += "</office:document-styles>"
    footer = 'presentation:class="footer"'
    slides = '<presentation:footer-decl presentation:name="f">Quince Ltd</presentation:footer-decl>'
    for number in (1, 2):
        slides += (
            '<draw:page presentation:use-footer-name="f" draw:master-page-name="M">'
            f"{placed(f'Words {number}', 1, 4)}{placed('Own', 1, 17, footer)}</draw:page>"
        )
    content = odf("presentation", slides, **{"styles.xml": styles})
    text = read_whole(content, "a.odp").reading.text
    assert text == "Words 1\n\nOwn\n\nQuince Ltd\n\nSlogan\n\nWords 2"


CHART = (
    f"<office:document-content {NAMES}><office:body><office:chart><chart:chart><chart:title>"
    f"{p('Yield')}</chart:title><table:table>{row('', p('Tons'))}{row(p('Q1'), p('7'))}"
    "</table:table></chart:chart></office:chart></office:body></office:document-content>"
)


def test_charts_boxes_and_pictures_in_cells_are_read() -> None:
    chart = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    box = f"<draw:frame><draw:text-box>{p('Box')}</draw:text-box></draw:frame>"
    shown = '<draw:frame><draw:image xlink:href="Pictures/a.png"/><svg:desc>Map</svg:desc>'
    sheet = row(p("A"), p("B")) + row(p("1") + box, chart) + row(p("2"), f"{shown}</draw:frame>")
    content = odf(
        "spreadsheet",
        f'<table:table table:name="S">{sheet}</table:table>',
        **{"Object 1/content.xml": CHART},
    )
    text = read_whole(content, "a.ods").reading.text
    assert text.startswith("## S\n\n| A | B |\n| --- | --- |\n| 1 |  |\n| 2 | ![Map](a.png) |")
    assert text.endswith("Box\n\nYield\n\n|  | Tons |\n| --- | --- |\n| Q1 | 7 |")


def test_charts_and_notes_of_slides_are_read_or_told() -> None:
    chart = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    notes = "".join(
        f"<draw:frame{kind}><draw:text-box>{p(text)}</draw:text-box></draw:frame>"
        for kind, text in (
            (' presentation:class="notes"', "Speak slowly."),
            ("", "Drawn beside the notes."),
            (' presentation:class="page-number"', "7"),
        )
    )
    slides = (
        f"<draw:page>{p('Shown')}<presentation:notes>{notes}</presentation:notes></draw:page>"
        f'<draw:page draw:style-name="H">{p("Veiled")}{chart}</draw:page>'
    )
    hidden = '<style:drawing-page-properties presentation:visibility="hidden"/>'
    styles = style("H", hidden, "drawing-page")
    content = odf("presentation", slides, styles, **{"Object 1/content.xml": CHART})
    reading = read_whole(content, "a.odp").reading
    assert "Notes: Speak slowly.\n\nNotes: Drawn beside the notes." in reading.text
    assert [(each.reason, each.text) for each in reading.left_out] == [
        (Omission.RUNNING_LINE, "7"),
        (Omission.HIDDEN, "Veiled Yield Tons Q1 7"),
    ]
    assert not reading.unaccounted


def test_named_ranges_are_tables() -> None:
    rows = row(p("Fruit"), p("Price")) + row(p("Plum"), p("3"), more='table:visibility="collapse"')
    rows += row(p("Fig"), p("4")) + row(p("Warden"), p("Phone")) + row(p("Orla"), p("5551"))
    areas = ("$'a, b'.$A$1:.B3", "'a, b'.A4:'a, b'.B5", "other.A1:other.B5", "broken")
    for written in (areas, areas[:1] + areas[2:]):
        named = "".join(
            f'<table:database-range table:target-range-address="{area}"/>' for area in written
        )
        body = f'<table:table table:name="a, b">{rows}</table:table>'
        body += f"<table:database-ranges>{named}</table:database-ranges>"
        assert text_of(body, kind="spreadsheet") == (
            "## a, b\n\n| Fruit | Price |\n| --- | --- |\n| Fig | 4 |\n\n"
            "| Warden | Phone |\n| --- | --- |\n| Orla | 5551 |"
        )


def test_values_without_text_are_formatted() -> None:
    cells = (
        'office:value-type="percentage" office:value="0.075"',
        'office:value-type="currency" office:currency="EUR" office:value="3.5"',
        'table:formula="of:=SUM([.A1:.B1])"',
    )
    made = "".join(f"<table:table-cell {each}/>" for each in cells)
    rows = row(p("a"), p("b"), p("c")) + f"<table:table-row>{made}</table:table-row>"
    text = text_of(f"<table:table>{rows}</table:table>", kind="spreadsheet")
    assert text.endswith("| 7.5% | 3.5 EUR | =SUM([.A1:.B1]) |")


def test_old_values_and_error_messages_of_sheets_are_reported() -> None:
    body = f"<table:tracked-changes><table:previous>{p('old')}</table:previous>"
    body += "</table:tracked-changes><table:content-validations>"
    body += '<table:content-validation table:name="v1" table:condition="of:cell-content-is-in-list'
    body += '(&quot;Open&quot;;&quot;Closed&quot;)"><table:help-message table:title="State">'
    body += f"{p('Pick one')}</table:help-message>"
    body += f'<table:error-message table:title="Wrong">{p("No such state")}'
    body += "</table:error-message></table:content-validation></table:content-validations>"
    asked = '<table:table-cell table:content-validation-name="v1"><text:p>Open</text:p>'
    body += f'<table:table table:name="Bills">{row(p("State"), p("No"))}<table:table-row>{asked}'
    body += f"</table:table-cell><table:table-cell>{p('7')}</table:table-cell></table:table-row>"
    body += f"</table:table><table:table>{row(p('A'), p('B'))}</table:table>"
    properties = "<office:meta><dc:subject>Orchard</dc:subject><meta:keyword>plum</meta:keyword>"
    meta = f"<office:document-meta {NAMES} {META}>{properties}</office:meta></office:document-meta>"
    document = read_whole(odf("spreadsheet", body, **{"meta.xml": meta}), "a.ods")
    text = document.reading.text
    assert "| Open | 7 |\n\nState: Pick one (Open, Closed)" in text
    assert text.count("Pick one") == 1
    told = {each.reason: each.text for each in document.reading.left_out}
    assert told == {
        Omission.HIDDEN: "old",
        Omission.FORM: "Wrong No such state",
        Omission.METADATA: "Orchard",
    }
    assert document.tags == ("plum",)


def test_times_are_read_as_shown() -> None:
    shown = f'<table:table-cell office:time-value="PT36H00M00S">{p("36:00")}</table:table-cell>'
    bare = '<table:table-cell office:time-value="PT26H05M00S"/>'
    body = (
        f'<table:table table:name="Times">{row(p("Report"))}'
        f'<table:table-row table:number-rows-repeated="1000000"/>{row(p("What"), p("Time"))}'
        f"<table:table-row><table:table-cell>{p('shift')}</table:table-cell>{shown}"
        f'</table:table-row><table:table-row><table:table-cell table:number-columns-repeated="1">'
        f"{p('trip')}</table:table-cell>{bare}</table:table-row></table:table>"
    )
    document = read_odf(odf("spreadsheet", body), "a.ods")
    assert document.reading.text == (
        "## Times\n\nReport\n\n| What | Time |\n| --- | --- |\n| shift | 36:00 |\n"
        "| trip | 26:05:00 |"
    )


def test_hidden_rows_and_columns_are_reported() -> None:
    hidden = "table:visibility='collapse'"
    columns = (
        "<table:table-column/><table:table-column-group><table:table-column"
        f" table:number-columns-repeated='2' {hidden}/></table:table-column-group>"
    )
    written = [
        ("Fruit", "Code", "Shelf", "Kg"),
        ("Plum", "x1", "s1", "3"),
        ("Fig", "x2", "s2", "4"),
    ]
    lines = [row(*map(p, cells)) for cells in written]
    filtered = row(*map(p, ("Sloe", "x3", "s3", "5")), more=' table:visibility="filter"')
    body = f"<table:table table:name='One'>{columns}{''.join(lines)}{filtered}</table:table>"
    document = read_odf(odf("spreadsheet", body), "a.ods")
    assert "| Fruit | Kg |\n| --- | --- |\n| Plum | 3 |\n| Fig | 4 |" in document.reading.text
    told = " ".join(each.text for each in document.reading.left_out)
    assert sorted(told.split()) == sorted("5 Code Shelf Sloe s1 s2 s3 x1 x2 x3".split())
    assert document.reading.words is not None and not document.reading.words.unaccounted


def test_flat_and_unusual_packages_are_read() -> None:
    flat = (
        f'<?xml version="1.0"?><office:document {NAMES} office:mimetype="{KIND}.text"><office:body>'
        f"<office:text>{p('Flat words.')}</office:text></office:body></office:document>"
    )
    assert read_odf(flat.encode(), "a.fodt").reading.text == "Flat words."
    content = f"<office:document-content {NAMES}><office:body><office:text>{p('Again.')}"
    content += "</office:text></office:body></office:document-content>"
    basic = '<!DOCTYPE library:library PUBLIC "-//X" "library.dtd"><library xmlns="urn:x"/>'
    members = {"content.xml": content, "META-INF/manifest.xml": "<m/>", "Basic/a.xml": basic}
    assert read_odf(pack({**members, "mimetype": f"{KIND}.text"})).reading.text == "Again."


def test_formulas_have_any_name_and_missing_ones_are_counted() -> None:
    mathml = '<math xmlns="http://www.w3.org/1998/Math/MathML"><msup><mi>speed</mi><mn>2</mn></msup></math>'
    link = '<draw:frame><draw:object xlink:href="{}"/></draw:frame>'
    packed = odf("text", p(f"So {link.format('Formula-0/')}."), **{"Formula-0/content.xml": mathml})
    assert read_odf(packed).reading.text == "So speed^2."
    lost = odf("text", p(f"So {link.format('Other/')}."), **{"Formula-0/content.xml": mathml})
    assert "speed" in read_odf(lost).reading.unaccounted


def test_form_controls_are_read_in_place() -> None:
    names = f'xmlns:form="{URN}:form:1.0"'
    choices = '<form:option form:label="Plum" form:current-selected="true"/>'
    controls = (
        '<form:text form:id="a" form:current-value="Ann Fox"/>'
        '<form:checkbox form:id="b" form:label="Ripe" form:current-state="checked"/>'
        f'<form:listbox form:id="c">{choices}<form:option form:label="Fig"/></form:listbox>'
        '<form:button form:id="d" form:label="Send"/>'
    )
    shown = "".join(p(f'Of: <draw:control draw:control="{name}"/>') for name in "abcd")
    forms = f"<office:forms {names}><form:form>{controls}</form:form></office:forms>"
    assert text_of(forms + shown) == "Of: Ann Fox\n\nOf: ☒ Ripe\n\nOf: Plum\n\nOf:"


def test_descriptions_of_shapes_and_groups_are_read() -> None:
    shape = f"<draw:custom-shape><svg:title>A plum</svg:title>{p('Ripe')}</draw:custom-shape>"
    group = f"<draw:g><svg:title>Fruit</svg:title>{shape}</draw:g>"
    assert text_of(p(group)) == "![Fruit]()\n\n![A plum]()\n\nRipe"
