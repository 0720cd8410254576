"""Prose in XML: DocBook, JATS, DITA, FictionBook and OPML."""

import pytest
from document_files import read_whole

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart


def outline(document: Document) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in document.reading.headings]


DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN"'
    ' "http://www.oasis-open.org/docbook/xml/4.5/docbookx.dtd">'
)
DOCBOOK = f"""<?xml version="1.0"?>
{DOCTYPE}
<article><articleinfo><title>Pruning&nbsp;trees</title>
<author><firstname>Ida</firstname><surname>Fox</surname></author></articleinfo>
<para>With <emphasis>care</emphasis><footnote><para>Said so.</para></footnote>, see
<ulink url="https://e.org">this</ulink>; 10<superscript>6</superscript>.</para>
<section><title>Tools</title><note><para>Keep them dry.</para></note>
<orderedlist><listitem><para>Saw</para></listitem><listitem><para>Knife</para></listitem>
</orderedlist><variablelist><varlistentry><term>--force</term>
<listitem><para>Cut anyway.</para></listitem></varlistentry></variablelist>
<programlisting language="c">int x = 1 &lt;&lt; 2;</programlisting>
<table><title>Prices</title><tgroup cols="3"><colspec colname="c1"/><colspec colname="c2"/>
<colspec colname="c3"/><thead><row><entry>Area</entry><entry namest="c2" nameend="c3">Sold</entry>
</row></thead><tbody><row><entry morerows="1">North</entry><entry>Plum</entry><entry>1</entry>
</row><row><entry>Fig</entry><entry>2</entry></row></tbody></tgroup></table>
<section><title>Deeper</title><para>Deep words.</para></section></section></article>
"""


def test_docbook(sandbox: Sandbox) -> None:
    document = read_whole(DOCBOOK, "a.xml", sandbox)
    assert outline(document) == [(1, "Pruning trees"), (2, "Tools"), (3, "Deeper")]
    assert document.title == "Pruning trees"
    text = document.reading.text
    for said in (
        *("Ida Fox", "(Said so.)", "[this](https://e.org)", "10^6", "Note:", "Keep them dry."),
        *("1. Saw\n2. Knife", "--force", "```c\nint x = 1 << 2;\n```", "| North | Fig | 2 |"),
        "| Area | Sold | Sold |",
    ):
        assert said in text, said


def test_dita(sandbox: Sandbox) -> None:
    task = (
        '<?xml version="1.0"?><!DOCTYPE task PUBLIC "-//OASIS//DTD DITA Task//EN" "task.dtd">'
        "<task id='t'><title>Oil the pump</title><shortdesc>Once a year.</shortdesc>"
        "<prolog><metadata><keywords><keyword>oil</keyword></keywords></metadata></prolog>"
        "<taskbody><steps><step><cmd>Open the <uicontrol>lid</uicontrol>.</cmd></step>"
        "<step><cmd>Fill.</cmd></step></steps>"
        "<result>It runs.<note type='warning'>Never shake.</note></result></taskbody></task>"
    )
    document = read_whole(task, "a.dita", sandbox)
    assert outline(document) == [(1, "Oil the pump")]
    assert "1. Open the **lid**.\n2. Fill." in document.reading.text
    assert "Warning:\n\nNever shake." in document.reading.text
    assert [each.reason for each in document.reading.left_out] == ["metadata"]


def test_jats(sandbox: Sandbox) -> None:
    article = (
        '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) v1.2//EN" "JATS.dtd">'
        '<article xmlns:mml="http://www.w3.org/1998/Math/MathML"><front><article-meta><title-group>'
        "<article-title>Bees in <italic>May</italic></article-title></title-group><contrib-group>"
        "<contrib><name><surname>Oak</surname><given-names>Ed</given-names></name></contrib>"
        "</contrib-group></article-meta></front><body><sec><title>Results</title>"
        '<p>So <xref rid="b1">1</xref>: <inline-formula><mml:math><mml:mfrac><mml:mi>a</mml:mi>'
        "<mml:mi>b</mml:mi></mml:mfrac></mml:math></inline-formula></p></sec></body>"
        "<back><ref-list><title>References</title><ref><mixed-citation>Ash, 1999."
        "</mixed-citation></ref></ref-list></back></article>"
    )
    document = read_whole(article, "a.nxml", sandbox)
    assert outline(document) == [(1, "Bees in May"), (2, "Results"), (2, "References")]
    assert "Oak Ed" in document.reading.text
    assert "So 1: a/b" in document.reading.text


def test_fictionbook(sandbox: Sandbox) -> None:
    book = (
        '<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info>'
        "<author><first-name>Ann</first-name><last-name>Lee</last-name></author>"
        "<book-title>The Quarry</book-title></title-info></description><body><section><title>"
        "<p>One</p></title><p>Stone by <strong>stone</strong>.</p></section></body>"
        '<binary id="x">QUJD</binary></FictionBook>'
    )
    document = read_whole(book, "a.fb2", sandbox)
    assert document.title == "The Quarry"
    assert (2, "One") in outline(document)
    assert "Ann Lee" in document.reading.text
    assert "QUJD" not in document.reading.text


def test_opml_outlines(sandbox: Sandbox) -> None:
    outlines = (
        "<opml version='2.0'><head><title>Plans</title></head><body><outline text='Garden'>"
        "<outline text='Prune' _note='in May'/><outline text='Blog' htmlUrl='https://e.org'/>"
        "</outline></body></opml>"
    )
    text = read_whole(outlines, "a.opml", sandbox).reading.text
    assert text == "# Plans\n\n- Garden\n  - Prune in May\n  - [Blog](https://e.org)"


@pytest.mark.parametrize(
    "declared",
    ['<!ENTITY a "b">', '<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;', "<!ELEMENT a ANY>"],
)
def test_document_types_with_declarations_are_refused(declared: str, sandbox: Sandbox) -> None:
    content = f"<!DOCTYPE article [{declared}]><article><para>&a;</para></article>"
    result = read_apart(RawDocument("s", "a.xml", "a.xml", content.encode()), sandbox)
    assert isinstance(result, Skipped)
    assert result.reason == "holds a DTD"


def test_deep_elements_are_read_or_skipped(sandbox: Sandbox) -> None:
    content = "<article>" + "<para>" * 2_000 + "deep" + "</para>" * 2_000 + "</article>"
    result = read_apart(RawDocument("s", "a.xml", "a.xml", content.encode()), sandbox)
    assert isinstance(result, Skipped) or "deep" in result.reading.text


def test_docbook_terms_menus_and_keys(sandbox: Sandbox) -> None:
    entry = (
        "<varlistentry><term>one</term><term>uno</term><listitem><para>The first.</para></listitem>"
        "</varlistentry>"
    )
    keys = "<keycombo><keycap>Ctrl</keycap><keycap>S</keycap></keycombo>"
    menu = "<menuchoice><guimenu>File</guimenu><guimenuitem>Save</guimenuitem></menuchoice>"
    source = (
        f"<article><title>T</title><para>Press {keys} or {menu}.</para><variablelist>{entry}"
        "</variablelist><programlisting>run</programlisting></article>"
    )
    text = read_whole(source, "a.xml", sandbox).reading.text
    assert "Press Ctrl+S or File > Save." in text
    assert "one\nuno\n: The first." in text and "```\nrun\n```" in text


def test_fields_of_records_are_separate_words(sandbox: Sandbox) -> None:
    article = (
        "<article><front><article-meta><pub-date><day>3</day><month>5</month><year>2024</year>"
        "</pub-date><kwd-group><kwd>pear</kwd><kwd>plum</kwd></kwd-group></article-meta></front>"
        "<body><p>Med<italic>l</italic>ar; <bold>q</bold><italic>uince</italic></p>"
        "<p><italic>a</italic><sup>2</sup></p></body>"
        "<back><ref-list><ref><element-citation><source>Fruit</source><year>1999</year>"
        "<volume>2</volume></element-citation></ref></ref-list></back></article>"
    )
    text = read_whole(article, "a.nxml", sandbox).reading.text
    for said in ("3 5 2024", "pear plum", "Fruit 1999 2", "Medlar; quince", "a^2"):
        assert said in text, text


def test_docbook_lists_tables_and_names(sandbox: Sandbox) -> None:
    book = (
        "<article><title>T</title><orderedlist><listitem><para>a</para></listitem></orderedlist>"
        "<orderedlist continuation='continues'><listitem><para>b</para></listitem></orderedlist>"
        "<orderedlist startingnumber='7'><listitem><para>c</para></listitem></orderedlist>"
        "<segmentedlist><segtitle>State</segtitle><segtitle>Capital</segtitle><seglistitem>"
        "<seg>Alaska</seg><seg>Juneau</seg></seglistitem></segmentedlist>"
        "<para><citerefentry><refentrytitle>ls</refentrytitle><manvolnum>1</manvolnum>"
        "</citerefentry></para><cmdsynopsis><command>tool</command><arg>-x</arg></cmdsynopsis>"
        "<bridgehead>Bridge</bridgehead><para>Below.</para>"
        "<informaltable><tfoot><tr><td>Sum</td></tr></tfoot><tbody><tr><td>Head</td></tr>"
        "<tr><td>One</td></tr></tbody></informaltable></article>"
    )
    document = read_whole(book, "a.xml", sandbox)
    text = document.reading.text
    for said in (
        *("1. a", "2. b", "7. c", "| State | Capital |\n| --- | --- |\n| Alaska | Juneau |"),
        *("ls(1)", "tool [-x]", "| One |\n| Sum |"),
    ):
        assert said in text, text
    assert (2, "Bridge") in outline(document)


def test_one_form_of_an_equation_is_read(sandbox: Sandbox) -> None:
    both = (
        "<article><title>T</title><disp-formula><alternatives><math><mfrac><mi>a</mi><mi>b</mi>"
        "</mfrac></math><tex-math>\\frac{a}{b}</tex-math></alternatives></disp-formula>"
        "<p><tex-math>\\documentclass{x}\\begin{document}$y^2$\\end{document}</tex-math></p></article>"
    )
    document = read_whole(both, "a.nxml", sandbox)
    assert document.reading.text == "# T\n\na/b\n\n$y^2$"


def test_references_lists_and_synopses(sandbox: Sandbox) -> None:
    book = (
        "<article><title>T</title><para>See <xref linkend='a'/>, <optional>x</optional>.</para>"
        "<orderedlist numeration='loweralpha'><listitem><para>b</para></listitem></orderedlist>"
        "<funcsynopsis><funcprototype><funcdef>int <function>f</function></funcdef><paramdef>int "
        "<parameter>n</parameter></paramdef><paramdef>char c</paramdef></funcprototype>"
        "</funcsynopsis>"
        "<cmdsynopsis><command>t</command><arg choice='req' rep='repeat'>a</arg><group><arg "
        "choice='plain'>-b</arg><arg choice='plain'>-c</arg></group></cmdsynopsis>"
        "<section id='a'><title>The use</title><para>Words.</para></section></article>"
    )
    text = read_whole(book, "a.xml", sandbox).reading.text
    for said in ("See The use, [x].", "a. b", "int f(int n, char c)", "t {a}... [-b | -c]"):
        assert said in text, text


def test_jats_citations_are_one_paragraph_and_lists_are_numbered(sandbox: Sandbox) -> None:
    paper = (
        "<article><body><sec><title>S</title><list list-type='order'><list-item><p>one</p>"
        "</list-item></list></sec></body><back><ref-list><ref><element-citation><name>"
        "<surname>Fox</surname></name><article-title>Trees</article-title><year>2020</year></element-citation></ref></ref-list>"
        "</back></article>"
    )
    text = read_whole(paper, "a.xml", sandbox).reading.text
    assert "1. one" in text and "Fox Trees 2020" in text
