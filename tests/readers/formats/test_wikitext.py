"""MediaWiki markup: prose, tables and code are kept; templates and footnotes keep their text."""

from collections.abc import Iterator

import pytest

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers import contract, read
from foundry.readers.sandbox.processes import Limits, Sandbox
from foundry.readers.sandbox.reading import read_apart


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(memory=900_000_000, cpu=3, wall=60)) as shared:
        yield shared


def try_page(text: str, sandbox: Sandbox, path: str = "page.wiki") -> Document | Skipped:
    return read_apart(RawDocument("s", path, path, text.encode()), sandbox)


def read_page(text: str, sandbox: Sandbox, path: str = "page.wiki") -> Document:
    document = try_page(text, sandbox, path)
    assert isinstance(document, Document), document
    return document


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("The '''D40''' is ''rotary''.", "The D40 is rotary."),
        ("A [[Rotary pump|rotary]] [[pump]]s.", "A rotary pumps."),
        ("See [[:Category:Seals]] and [[Help:Oil_can]].", "See Category:Seals and Help:Oil can."),
        ("Words.\n[[Category:Pumps]] [[de:Pumpe]]", "Words."),
        ("By [https://a.b/c its maker].", "By [its maker](https://a.b/c)."),
        ("[[File:d.jpg|thumb|left|The [[seal]]]]\nof", "The seal\n\nof"),
        ("[[File:d.jpg|thumb|200px]] Words", "Words"),
        (
            "One<ref>A.</ref>two.<ref>B.</ref>Three<ref>C.</ref>.",
            "One two. Three.\n\n- A.\n- B.\n- C.",
        ),
        ("A{{anchor|a}} word {{reflist}}", "A word"),
        ("{{Note|Replace the seal.}}", "Note: Replace the seal."),
        ("{{nowrap|1=so a=b}} {{nowrap|2=is|1=it}}", "so a=b is it"),
        ("in {{lang|de|Köln}}", "in Köln"),
        ("{{convert|40|l}} a minute", "40 l a minute"),
        ("Late.{{citation needed|date=May 2020}}", "Late."),
        ("{{quote|text=So it is.|author=J}}", "So it is. J"),
        ("{{step|body=Turn the wheel twice.|style=a: b c d}}", "Turn the wheel twice."),
        ("{{formatnum:1234567}} trees, {{lc:ABC}}", "1234567 trees, ABC"),
        ("{{val|1.5|e=6|u=m}}, {{val|3|0.2|u=kg}}", "1.5\u00d710^6 m, 3 \u00b1 0.2 kg"),
        ("{{convert|10|to|20|km|mi}}, {{cvt|5|ft|m}}", "10 to 20 km, 5 ft"),
        (
            '{| class="a"\n! A !! B !! C\n|-\n| Pear || {{yes}} || {{No|Not yet}}\n|}',
            "| A | B | C |\n| --- | --- | --- |\n| Pear | yes | Not yet |",
        ),
        ("{{#if:{{{1|}}}|yes}} {{{arg|default}}}", "yes default"),
        ("{{outer|{{inner|deep}}}}", "deep"),
        (
            "{{Infobox pump\n| name = D40\n| made_by = [[Doe|J. Doe]]\n| year = 1987\n| no =\n}}",
            "name: D40\nmade by: J. Doe\nyear: 1987",
        ),
        ("{{Infobox pump|name=D40}}", "name: D40"),
        ("Oil.<ref>By hand.</ref> Seal.<ref name='a'/>", "Oil. Seal.\n\n- By hand."),
        (
            "A.<ref>{{cite web|url=http://x|title=Pumps|last=Doe|date=2020}}</ref>",
            "A.\n\n- Doe. Pumps",
        ),
        ("* a\n** b\n# c\n; d : e", "- a\n  - b\n1. c\n- d : e"),
        ("# a<br>b\n#* c\n# d\ne\n# f", "1. a\nb\n  - c\n2. d\ne\n1. f"),
        ("x {{plainlist|\n* a\n* b\n}} y", "x \n- a\n- b\n y"),
        ("{{frac|1|2}} {{abbr|kg|kilogram}} {{Start date|2024|5|3}}", "1/2 kg (kilogram) 2024-5-3"),
        ("<code><nowiki>{{x}}</nowiki></code>", "`{{x}}`"),
        ("10<sup>6</sup> m<sup>2</sup>, x<sub>1</sub>, 10{{sup|9}}", "10^6 m^2, x_1, 10^9"),
        ("<nowiki>{{raw}}</nowiki> &mdash; <!-- no -->x", "{{raw}} — x"),
        ("E <math>mc^2</math>, H<sub>2</sub>O, <code>a|b</code>", "E $mc^2$, H2O, `a|b`"),
        ('<syntaxhighlight lang="c">\nint {{x}};\n</syntaxhighlight>', "```c\nint {{x}};\n```"),
        ("<pre>\n```\nx\n```\n</pre>", "````\n```\nx\n```\n````"),
        ("<gallery>\na.jpg|One\nb.jpg\n</gallery>", "One"),
        ("__NOTOC__\n<div class='x'>In it.</div>", "In it."),
        ("broken {{open [[and", "broken {{open [[and"),
    ],
)
def test_text_is_kept_without_markup(written: str, expected: str, sandbox: Sandbox) -> None:
    assert read_page(written, sandbox).reading.text.strip() == expected


def test_sections_and_tables_are_found(sandbox: Sandbox) -> None:
    page = (
        "Intro.\n== Parts ==\n{| class='wikitable'\n|+ What it is made of\n! Part !! Price\n|-\n"
        "| style='x' | [[Oil|Machine oil]] || 4 <ref>about</ref>\n|}\n=== ''Use'' ===\nWords.\n"
    )
    reading = read_page(page, sandbox).reading
    assert [(each.level, each.text) for each in reading.headings] == [(2, "Parts"), (3, "Use")]
    table = "| Part | Price |\n| --- | --- |\n| Machine oil | 4 |"
    assert [reading.text[each.start : each.end] for each in reading.blocks] == [table]
    assert "What it is made of" in reading.text and "- about" in reading.text


def dump(*pages: str) -> str:
    return (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">'
        f"<siteinfo><sitename>Pump Wiki</sitename></siteinfo>{''.join(pages)}</mediawiki>"
    )


def wiki_page(title: str, *texts: str, ns: int = 0, more: str = "", model: str = "wikitext") -> str:
    revisions = "".join(
        f"<revision><timestamp>2024-0{number}-01T00:00:00Z</timestamp><model>{model}</model>"
        f"<text>{text}</text></revision>"
        for number, text in enumerate(texts, 1)
    )
    return f"<page><title>{title}</title><ns>{ns}</ns>{more}{revisions}</page>"


def test_merged_cells_are_filled_and_rows_of_headers_joined(sandbox: Sandbox) -> None:
    page = """{| class="wikitable"
! rowspan="2" | Fruit !! colspan=2 | Price
|-
! Net !! Gross
|-
| rowspan="2" | Plum || 1 || 2
|-
| 3 || 4
|}"""
    assert read_page(page, sandbox).reading.text.splitlines() == [
        "| Fruit | Price Net | Price Gross |",
        "| --- | --- | --- |",
        "| Plum | 1 | 2 |",
        "| Plum | 3 | 4 |",
    ]


def test_dumps_are_read_page_by_page(sandbox: Sandbox) -> None:
    content = dump(
        wiki_page("Seal", "old", "A '''seal'''.\n== Use ==\nYearly."),
        wiki_page("Oil", "An [[oil]]."),
        wiki_page("Seals", "#REDIRECT [[Seal]]", more='<redirect title="Seal"/>'),
        wiki_page("Talk:Seal", "chatter", ns=1),
        wiki_page("Template:Note", "template", ns=10),
        wiki_page("Module:A", "return 1", ns=828, model="Scribunto"),
        wiki_page("Manual:Start", "Press it.", ns=100),
    )
    document = read_page(content, sandbox, "export.xml")
    assert (document.title, document.modified) == ("Pump Wiki", "2024-02-01T00:00:00Z")
    assert document.reading.text.strip() == (
        "# Seal\n\nA seal.\n\n## Use\n\nYearly.\n\n# Oil\n\nAn oil.\n\n# Manual:Start\n\nPress it."
    )
    assert document.reading.language in {None, "en"}


def test_missing_extra_is_named_for_pages_and_dumps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "_is_importable", lambda module: module != "mwparserfromhell")
    for path, text in (("a.wiki", "words"), ("a.xml", dump(wiki_page("A", "words")))):
        skipped = read(RawDocument("s", path, path, text.encode()), is_worker=True)
        assert isinstance(skipped, Skipped)
        assert skipped.reason == "to be read with pip install 'rag-foundry[wiki]'"


@pytest.mark.parametrize(
    "text",
    [
        *("{{a|" * 2_000, "[[a|" * 2_000, "<ref>" * 5_000, "{|\n|" * 1_000, "'" * 50_000),
        *("{{a|" * 500 + "}}" * 500, "<div>" * 500 + "x" + "</div>" * 500, "=" * 50_000),
        *("*" * 20_000, "{{{" * 2_000, "[http://a " * 1_500, "&#x110000;" * 3_000, ":{|\n" * 500),
        *("<!--" * 4_000, "__A" * 9_000, "{{#if:" * 3_000 + "}}" * 3_000),
    ],
    ids=lambda text: f"{text[:6]!r} {len(text)}",
)
def test_hostile_pages_take_bounded_time(text: str, sandbox: Sandbox) -> None:
    result = try_page(text + "\nwords", sandbox)
    reasons = {"over a limit of its reader", "damaged", "reader crashed"}
    assert isinstance(result, Document) or result.reason in reasons


def test_words_after_a_table_are_counted(sandbox: Sandbox) -> None:
    page = "Before it\n{| class='wide'\n! Head\n|-\n| Cell\n|}\nAfter it {{ship|type=old tub}}"
    document = read_page(page, sandbox)
    assert document.reading.words is not None
    assert document.reading.words.source == 8
    assert [each.text for each in document.reading.left_out] == ["old tub"]
    assert document.reading.unaccounted == ()


def test_html_lists_keep_their_numbers(sandbox: Sandbox) -> None:
    page = '<ol start="5" style="margin: 0"><li>five</li><li>six</li></ol>\n'
    page += '<ol type="a"><li>x</li></ol>'
    assert read_page(page, sandbox).reading.text == "5. five\n6. six\n\na. x"


def test_boxes_keep_their_labels(sandbox: Sandbox) -> None:
    page = (
        "{{Warning|Never shake it.}}\n\n{{tip|text=Pick in May.}}\n\nA{{note|a}} {{hatnote|See b}}."
    )
    assert read_page(page, sandbox).reading.text.split("\n\n") == [
        *("Warning: Never shake it.", "Tip: Pick in May.", "Aa See b.")
    ]
