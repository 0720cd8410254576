"""AsciiDoc as Asciidoctor reads it: titles, blocks, tables, conditions, and omissions."""

import re

import pytest
from document_files import read_document

from foundry.documents import Document


def read_text(source: str) -> Document:
    return read_document(source, "a.adoc")


def text_of(source: str) -> str:
    return read_text(source).reading.text


def outline(source: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read_text(source).reading.headings]


def test_titles_may_be_underlined() -> None:
    source = (
        "press(1)\n========\n\nNAME\n----\npress - it\n\nMore\n~~~~\n\n[[a]]\nDeep\n^^^^\nEnd.\n"
    )
    assert outline(source) == [(1, "press(1)"), (2, "NAME"), (3, "More"), (4, "Deep")]
    assert "```" not in text_of(source)


def test_listings_below_a_shorter_line_are_not_titles() -> None:
    source = "= T\n\nRun this command:\n----\nx = 1\n----\n\nThe end\n"
    assert outline(source) == [(1, "T")]
    assert "```\nx = 1\n```" in text_of(source)


def test_titles_in_the_outline_have_no_markup() -> None:
    source = "= The *big* `press`\n\n== Run _it_\n\nText.\n"
    assert outline(source) == [(1, "The big press"), (2, "Run it")]
    assert read_text(source).title == "The big press"
    assert "# The *big* `press`" in text_of(source)


def test_headings_may_end_with_their_marks() -> None:
    assert outline("= T\n\n== Two ==\n\nText.\n") == [(1, "T"), (2, "Two")]


def test_indented_text_is_literal_except_in_lists() -> None:
    source = "= T\n\nFor example:\n\n    $ press x\n      y\n\nDone.\n\n--flag::\n\tWhat it does.\n"
    assert text_of(source).split("\n\n", 2)[2] == (
        "```\n$ press x\n  y\n```\n\nDone.\n\n--flag\n: What it does."
    )
    assert "```" not in text_of("= T\n\nterm::\n\n  Its text after a gap.\n")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (":a: https://e.org\n:b: {a}/x\n\nlink:{b}/y[the page^]", "[the page](https://e.org/x/y)"),
        ("{a}\n\n:a: late", "{a}"),
        ("xref:mod:page.adoc#part[Part, window=_blank]", "[Part](mod:page.adoc#part)"),
        ("https://e.org[one, role=external] two", "[one](https://e.org) two"),
        ("10^6^ bytes of H~2~O, the 4^th^ x^2^", "10^6 bytes of H2O, the 4th x^2"),
        ("[.lead]#Roles# and [#id.big]*bold* #mark#", "Roles and *bold* mark"),
        ("**O**rchard b__i__g **bold**", "Orchard big **bold**"),
        ('Donau&shy;dampf &#169; x~1~ "`so`"', 'Donaudampf © x_1 "so"'),
        ("`+a_b+` is `C++`", "`a_b` is `C++`"),
        ("linkgit:git-log[1] shows", "git-log(1) shows"),
        ("a ((visible)) b (((hidden, term))) c", "a visible b  c"),
        ("C{plus}{plus} and {startsb}x{endsb}", "C++ and [x]"),
        ("line one +\nline two", "line one  \nline two"),
        ("`link:no[code]` stays", "`link:no[code]` stays"),
        ("arrays a[0] and b[5-20] stay", "arrays a[0] and b[5-20] stay"),
        ('image::x.png["A map, drawn",300]', "![A map, drawn](x.png)"),
        (":imagesdir: img\n\nimage::x.png[] image:y.png[]", "![](img/x.png)"),
        ("see {unset-1}/b.html[the page], {url}[`b`] {unset}", "see the page, `b` {unset}"),
    ],
)
def test_text(written: str, expected: str) -> None:
    assert text_of(f"{written}\n") == expected


def test_all_conditional_text_is_kept() -> None:
    source = "= T\n\nifdef::x[One line.]\nifndef::y,z[]\nA block.\nendif::y,z[]\n"
    document = read_text(source)
    assert "One line.\nA block." in document.reading.text
    assert "ifdef::x[" in {each.text for each in document.reading.left_out}


def test_admonitions_have_their_kind_and_quotations_their_author() -> None:
    source = (
        "[WARNING]\n====\nHot.\n====\n\n[TIP]\nCool it.\n\nNOTE: Dry.\n\n"
        "[quote, Ada Fox, Letters]\n____\nSo it was.\n____\n\n[verse,Bo]\nOh\nno\n"
    )
    said = [part for part in text_of(source).split("\n") if part]
    assert said == [
        *("> Warning:", ">", "> Hot.", "> Tip: Cool it.", "> Note: Dry.", "So it was."),
        *("\u2014 Ada Fox, Letters", "Oh", "no", "\u2014 Bo"),
    ]


def test_tabs_and_collapsible_blocks_become_quotations() -> None:
    source = (
        "[tabs]\n======\nMaven::\n+\n[source,xml]\n----\n<a/>\n----\n\nGradle::\n+\n--\n* b\n--\n"
        "======\n\n.More\n[%collapsible]\n====\nc\n====\n\n.Careful\n[NOTE]\nd\n\n"
        "* e\n+\nTIP: f\n* g\n\n[%collapsible]\n====\nh"
    )
    assert re.split(r"\n{2,}", text_of(source)) == [
        "> **[Maven]**\n>\n> ```xml\n> <a/>\n> ```",
        "> **[Gradle]**\n>\n> - b",
        "> \u25b8 **More**\n>\n> c",
        "> Note: Careful\n>\n> d",
        *("- e", "> Tip: f", "- g"),
        "> \u25b8 **Details**\n>\n> h",
    ]


def rows(source: str) -> list[str]:
    return [line for line in text_of(source).split("\n") if line.startswith("|")][2:]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            '[cols="1,1,1"]\n|===\n|A|B|C\n\n.2+|x|y|1\n|z|2\n2+|wide|3\n|===\n',
            ["| x | y | 1 |", "| x | z | 2 |", "| wide | wide | 3 |"],
        ),
        ("[cols=2*]\n|===\n|A|B\n3*|same|last\n|===\n", ["| same | same |", "| same | last |"]),
        ('[%header,format=csv]\n|===\na,b\n"1, 2",3\n|===\n', ["| 1, 2 | 3 |"]),
        (",===\na,b\n1,2\n,===\n", ["| 1 | 2 |"]),
        ("[format=dsv]\n|===\na:b\n1:2\n|===\n", ["| 1 | 2 |"]),
        ("[separator=¦]\n|===\n¦a¦b\n¦x \\| y¦2\n|===\n", ["| x \\\\| y | 2 |"]),
        ("|=====\n|a|b\n\n|1\n|2\n|=====\n", ["| 1 | 2 |"]),
        (
            '[cols="1a,1"]\n|===\n|a|b\n\na|\n* item\n* other\n|2\n|===\n',
            ["| item other | 2 |"],
        ),
        (
            "|===\n|a|b\n\n|x\n|[source,sh]\n----\nls -l\n----\n+\nend\n|===\n",
            ["| x | `ls -l` end |"],
        ),
        (
            "|===\n|a|b\n\n|x\na|\n[WARNING]\n====\nHot.\n====\n|===\n",
            ["| x | Warning: Hot. |"],
        ),
    ],
)
def test_tables(source: str, expected: list[str]) -> None:
    assert rows(source) == expected


def test_author_and_date_below_the_title() -> None:
    document = read_text("= T\nAda Fox <ada@e.org>\nv2.1, 2024-05-03\n\nText.\n")
    assert "Ada Fox" in document.reading.text
    assert document.modified == "2024-05-03"


def test_left_out_text_is_reported() -> None:
    source = ":x: secret\n// aside\n////\nlong aside\n////\ninclude::other.adoc[]\n\nText {x}.\n"
    told = {(each.reason.value, each.text) for each in read_text(source).reading.left_out}
    assert told == {
        ("metadata", "x: secret"),
        ("comment", " aside"),
        ("comment", "long aside"),
        ("attribute", "include::other.adoc[]"),
        ("macro", "x"),
    }


def test_nested_attributes_are_limited() -> None:
    lines = [f":a{n + 1}: {{a{n}}}{{a{n}}}{{a{n}}}" for n in range(60)]
    assert len(text_of("\n".join([":a0: xx", *lines, "", "{a60} end", ""]))) < 100_000


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (". a\n. b\n.. c\n+\nmore\n. d", "1. a\n2. b\n  1. c\n\n    more\n3. d"),
        (". a\n\nText.\n\n. b", "1. a\n\nText.\n\n1. b"),
        ("[start=4]\n. a\n. b", "4. a\n5. b"),
        ("* a\n. b\n* c\n. d", "- a\n  1. b\n- c\n  1. d"),
        ("<1> a\n<2> b\n\nText.\n\n<.> c\n<.> d", "1. a\n2. b\n\nText.\n\n1. c\n2. d"),
        ("a:: b\nc:: d\ne::\n\n* f", "a\n: b\n\nc\n: d\n\ne:\n\n- f"),
    ],
)
def test_items_have_the_numbers_shown(written: str, expected: str) -> None:
    assert text_of(written) == expected


def test_named_footnotes_are_read() -> None:
    for macro in ("footnoteref:[dry,Dry ones.]", "footnote:dry[Dry ones.]", "footnote:[Dry ones.]"):
        assert text_of(f"Plums{macro}") == "Plums (Dry ones.)"
    linked = "Plums footnote:[See https://e.org[the `plum` *site*], or image:a.png[].] ripen."
    assert " ".join(text_of(linked).split()) == (
        "Plums (See [the `plum` *site*](https://e.org), or .) ripen."
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('xref:a.adoc["`OAuth2`" section], see', '["OAuth2" section](a.adoc), see'),
        ('link:a["Q, \\"r\\"",role=ext]', '[Q, "r"](a)'),
        ("Use +a*b*+ and 1+1+1.", "Use a*b* and 1+1+1."),
        ("icon:heart[2x,role=red] Love", " Love"),
        ('image:a.png[Alt,300,title="Title of it"]', "![Alt](a.png) Title of it"),
        ("[[[pp]]] Hunt. [[[k,Knuth]]] Art.", "[pp] Hunt. [Knuth] Art."),
    ],
)
def test_words_of_links_and_pictures_are_kept(written: str, shown: str) -> None:
    document = read_text(f"= T\n\n{written}\n")
    assert document.reading.text == f"# T\n\n{shown}".rstrip()
    assert document.reading.words is not None and document.reading.words.unaccounted == 0


def test_attributes_for_characters_are_not_markup() -> None:
    source = 'C{plus}{plus} writes "{plus}" (or "{plus}"), {asterisk}not bold{asterisk}.\n'
    assert text_of(source) == 'C++ writes "+" (or "+"), *not bold*.'


def test_paragraphs_may_be_listings() -> None:
    source = "[synopsis]\ngit x [-v]\n      [<path>...]\n\n[source,ruby]\n= 1\n\nText.\n"
    assert text_of(source) == (
        "```\ngit x [-v]\n      [<path>...]\n```\n\n```ruby\n= 1\n```\n\nText."
    )
    titled = "[source,bash]\n.run.sh\n----\nls\n----\n\n[source]\n.a.txt\nx\ny\n\nText.\n"
    assert text_of(titled) == "run.sh\n\n```bash\nls\n```\n\na.txt\n\n```\nx\ny\n```\n\nText."


def test_long_terms_have_a_definition() -> None:
    term = "`push " + "[--option] " * 40 + "`"
    assert text_of(f"{term}::\n\n\tSave it.\n") == f"{term}\n: Save it."


def test_terms_may_share_a_definition() -> None:
    source = "`-t`::\n`--trees`::\n\tShow trees.\n\n`-z`::\n\n`--null`:: End with it.\n"
    assert text_of(source) == "`-t`\n`--trees`\n: Show trees.\n\n`-z`\n`--null`\n: End with it."


def test_references_to_sections_are_links() -> None:
    source = "[[one]]\n== First `part`\n\n[#two.x]\n== Second\n\n<<one>>, <<_second>>, <<two,it>>, "
    assert text_of(f"{source}xref:one[], <<First part>>, <<nowhere>>").endswith(
        "\n\n[First part](#first-part), [Second](#second), [it](#second), "
        "[First part](#first-part), [First part](#first-part), nowhere"
    )


def test_block_titles_are_next_to_their_block() -> None:
    assert text_of(".A map\nimage::map.png[Map]") == "![Map](map.png)\n\nA map"
    assert text_of(".Care\nWARNING: Hot.") == "> Warning: Care\n>\n> Hot."
    assert text_of("====\nTIP: Cold.\n====") == "> Tip: Cold."
    assert text_of("[%hardbreaks]\nRubies\nTopazes") == "Rubies  \nTopazes"


def test_listings_have_titles_values_and_links_to_included_files() -> None:
    source = (
        ':v: 3.1\n\n[source,xml,title="pom.xml",subs="attributes+"]\n----\n<a>{v}</a>\n----\n\n'
        "[source]\n----\n{v}\ninclude::example$a.rb[tag=b]\n----\n\n----\ninclude::c.rb[]\n----\n"
    )
    assert text_of(source) == (
        "pom.xml\n\n```xml\n<a>3.1</a>\n```\n\n```\n{v}\n```\n\n"
        "[example$a.rb](example$a.rb)\n\n[c.rb](c.rb)"
    )
    assert any("c.rb" in each.text for each in read_text(source).reading.left_out)


def test_passthroughs_are_formulas_or_html() -> None:
    source = "[stem]\n++++\nx^2\n++++\n\n++++\n<p>Some <b>words</b></p>\n++++\n"
    assert text_of(source) == "$$\nx^2\n$$\n\nSome **words**"


def test_anchors_in_titles_name_sections() -> None:
    assert text_of("== The use [[use]]\n\nSee <<use>>.").endswith("See [The use](#the-use).")


def test_adjacent_macros_are_separate_words() -> None:
    said = text_of("label:new[Since 2025.12]label:top[Enterprise] it")
    assert said == "new Since 2025.12 top Enterprise it"


def test_indented_lines_attached_to_a_term_are_literal() -> None:
    text = text_of("Debian::\n+\n $ apt install\n   quince\n\nFedora::\nUse dnf.\n")
    assert text == "Debian:\n\n```\n$ apt install\n  quince\n```\n\nFedora\n: Use dnf."


def test_a_backslash_before_what_it_escapes_is_not_shown() -> None:
    source = (
        "A \\{name}, `\\{code}`, \\https://e.org[x], \\<<place>>.\n\\include::b.adoc[]\n\n"
        "----\n\\ifdef::plum[]\nprintf \\{x}\n----\n"
    )
    text = text_of(f":name: quince\n\n{source}")
    assert text.startswith("A {name}, `{code}`, https://e.org[x], <<place>>.\ninclude::b.adoc[]")
    assert "```\nifdef::plum[]\nprintf \\{x}\n```" in text


def test_roles_and_ids_of_notes_are_told() -> None:
    document = read_text("Old [.line-through]#price#.footnote:fn[Since May.] End.footnote:fn[]")
    assert document.reading.unaccounted == ()
    assert document.reading.text == "Old ~~price~~. (Since May.) End."
