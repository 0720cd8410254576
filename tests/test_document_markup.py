# ruff: noqa: RUF001
"""How the document page renders Markdown, formulas and code; without a server."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import browser

PAGE = Path(__file__).parents[1] / "foundry" / "runtime" / "page"
SCRIPTS = "page inline text panels blocks symbols maths code places links highlight parts".split()
MADE = """
text => {
  const record = { path: "notes/a.md", source: "s", url: null };
  const url = "ftp://b.example";
  const place = { document_id: "d1", source: "s", path: "notes/b.md", title: "B", url };
  const link = makeLinker(record, [place]);
  const inline = madeOf({ id: "c1" }, link, { reader: "markdown/5" });
  const made = { ...inline, embed: (target) => element("i", {}, target) };
  return element("div", {}, ...markdownNodes(text, made, 0)).innerHTML;
}
"""


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser() as running:
        page = running.new_page()
        for name in SCRIPTS:
            page.add_script_tag(path=PAGE / f"{name}.js")
        yield page


def shown(page: Any, text: str) -> str:
    return str(page.evaluate(MADE, text))


BOX = '<li class="task"><input type="checkbox" disabled=""'
DONE = f'{BOX} checked="" aria-label="Done">'
TO_DO = f'{BOX} aria-label="To do">'
LISTS = {
    "- [x] done\n- [ ] open\n  - [X] inner": f"<ul>{DONE} done</li>{TO_DO} open<ul>{DONE} inner"
    "</li></ul></li></ul>",
    "1. One\n\n   More.\n\n2. Two\n3. Three": "<ol><li><p>One</p><p>More.</p></li><li>Two</li>"
    "<li>Three</li></ol>",
    "3) Three\n   goes on\nand on": '<ol start="3"><li>Three\ngoes on\nand on</li></ol>',
    "- a\n    - b\n        - c\n- d": "<ul><li>a<ul><li>b<ul><li>c</li></ul>"
    "</li></ul></li><li>d</li></ul>",
    "- a\n\n  > q\n\n- b\n* c": "<ul><li>a<blockquote><p>q</p></blockquote></li>"
    "<li>b</li></ul><ul><li>c</li></ul>",
    "text\n1990. A year\n- a": "<p>text\n1990. A year</p><ul><li>a</li></ul>",
    "Term\nOther\n: One *def*\n\n: Two\n\n  More\n\nText": "<dl><dt>Term</dt><dt>Other</dt>"
    "<dd>One <em>def</em></dd><dd><p>Two</p><p>More</p></dd></dl><p>Text</p>",
    "a) one\n\n   more\n\nb) two": '<ol type="a"><li><p>one</p><p>more</p></li><li>two</li></ol>',
    "1. x\n\n   iii. y\n   iv. z": '<ol><li>x<ol type="i" start="3"><li>y</li><li>z</li></ol>'
    "</li></ol>",
    "(C) one\n(D) two": '<ol type="A" start="3"><li>one</li><li>two</li></ol>',
    "A. Smith wrote\nthis": "<p>A. Smith wrote\nthis</p>",
    "  the rest of an item\n\n  more\n\n- next": "<p>the rest of an item</p><p>more</p>"
    "<ul><li>next</li></ul>",
}


PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhg"
    "GAWjR9awAAAABJRU5ErkJggg=="
)
SHOW_PICTURE = """
async content => {
  ask = () => fetch(content);
  document.body.replaceChildren(pictureNode("c1", "plan.png", "A plan", "20"));
  while (!document.querySelector("img")) await new Promise(requestAnimationFrame);
  const { src, alt, width } = document.querySelector("img");
  return [alt, width, await fetch(src).then(() => "kept", () => "freed")];
}
"""


def test_pictures_free_their_data_once_shown(page: Any) -> None:
    page.add_script_tag(path=PAGE / "originals.js")
    assert page.evaluate(SHOW_PICTURE, PIXEL) == ["A plan", 20, "freed"]


@pytest.mark.parametrize("text", LISTS)
def test_list_items_contain_what_is_indented_further(page: Any, text: str) -> None:
    assert shown(page, text) == LISTS[text]


QUOTES = {
    "> Note:\n> Text.\n>\n> - a": ("note", "Note", "<p>Text.</p><ul><li>a</li></ul>"),
    "> Warning: Own title\n> Text.": ("warning", "Own title", "<p>Text.</p>"),
    "> Danger: Text in one line.": ("danger", "Danger", "<p>Text in one line.</p>"),
    "> **Python**\n>\n> Text.": (None, "Python", "<p>Text.</p>"),
    "> **Note:** Text.\n>\n> - a": ("note", "Note", "<p>Text.</p><ul><li>a</li></ul>"),
    "Tip:\nText.": ("tip", "Tip", "<p>Text.</p>"),
    "> Tip: Outer\n> > Bug:\n> > Inner.": (
        "tip",
        "Outer",
        '<blockquote class="callout" data-kind="danger"><p class="callout-title">'
        "<strong>Bug</strong></p><p>Inner.</p></blockquote>",
    ),
}


@pytest.mark.parametrize("text", QUOTES)
def test_quotations_of_a_kind_are_callouts(page: Any, text: str) -> None:
    kind, title, body = QUOTES[text]
    said = f' data-kind="{kind}"' if kind else ""
    assert shown(page, text) == (
        f'<blockquote class="callout"{said}><p class="callout-title"><strong>{title}</strong></p>'
        f"{body}</blockquote>"
    )


def test_quotations_with_labels_are_tabs(page: Any) -> None:
    html = shown(page, "> **[`pip`]**\n> a\n>\n> **[uv]**\n\n> **[conda]**\n>\n> > q\n\nend")
    assert html.count('role="tablist"') == 1
    assert re.findall(r'aria-selected="(\w+)" tabindex="(-?\d)">(.*?)</button>', html) == [
        ("true", "0", "<code>pip</code>"),
        ("false", "-1", "uv"),
        ("false", "-1", "conda"),
    ]
    assert html.count('hidden="until-found"') == 2
    assert html.endswith("<blockquote><p>q</p></blockquote></div></div><p>end</p>")
    twice = shown(page, "> **[a]**\n> b\n\n> **[c]**\n\n> **[a]**\n> b\n\n> **[c]**")
    assert twice.count('role="tablist"') == 2
    assert "tablist" not in shown(page, "> **[a]**\n> b")
    assert shown(page, "**[a]**\n\n## b") == '<p class="tab-title">a</p><h2>b</h2>'


def test_successive_code_with_labels_is_tabs(page: Any) -> None:
    html = shown(page, "```js [a.js]\na\n```\n\n```ts [b.ts]\nb\n```\n\n```ts\nc\n```")
    assert re.findall(r'role="tab" .*?>([^<]+)</button>', html) == ["a.js", "b.ts"]
    assert "code-title" not in html


def test_a_sign_marks_closed_blocks(page: Any) -> None:
    shut = '<details class="closed"><summary>Why <em>so</em></summary><p>a</p></details>'
    assert shown(page, ">\n> ▸ **Why *so***\n> a") == shut
    html = shown(page, "> ▸ Warning: Title\n> a\n\n> ▸ Tip:\n> b")
    assert '<details class="closed" data-kind="warning"><summary>Title</summary>' in html
    assert '<details class="closed" data-kind="tip"><summary>Tip</summary>' in html
    assert shown(page, "▸ **a**\n\n## b") == '<p class="tab-title">a</p><h2>b</h2>'


def test_a_quotation_is_not_a_callout(page: Any) -> None:
    for text in ("He said:\nyes", "Reader: yes\nno", "A time: then"):
        quoted = "\n".join(f"> {line}" for line in text.split("\n"))
        assert shown(page, text) == f"<p>{text}</p>"
        assert "data-kind" not in shown(page, quoted)


PICTURE = '<span class="picture"><span class="picture-sign">Picture</span>'
INLINE = {
    "~~gone~~ and ~5~": "<del>gone</del> and ~5~",
    "==this== a == b": '<span class="highlighted">this</span> a == b',
    "H~2~O, x^2^, 10^6 and a^b": "H<sub>2</sub>O, x<sup>2</sup>, 10<sup>6</sup> and a^b",
    "one  \ntwo\\\nthree\nfour": "one<br>two<br>three\nfour",
    "^^new^^ ++ctrl+page-up++, i++ and ++j": "<ins>new</ins> <kbd>Ctrl</kbd>+<kbd>Page up</kbd>,"
    " i++ and ++j",
    "&mdash; &#167; &#x20ac; &nosuch;": "— § € &amp;nosuch;",
    "![[note#Part]] and ![[note]]": "<i>note#Part</i> and <i>note</i>",
    "![A plan](img/plan.png)": f"{PICTURE} A plan</span>",
    "![](img/a%20b.png)": f"{PICTURE} a b.png</span>",
    "![[plan.svg|100]]": f"{PICTURE} plan.svg</span>",
    "![[no.md|it]] [[no|said]] [[no]]": "<i>no.md</i> said no",
    "[](b.md) [](#a) [](no%20where)": '<a href="/d/d1">B</a> <a href="#a">a</a> no%20where',
    "[[b#Part|it]]": '<a href="/d/d1#Part">it</a>',
    "$5 and $6, `$x$`, a$b$c": "$5 and $6, <code>$x$</code>, a$b$c",
    r"\[14\] \(no\)": "[14] (no)",
    "(` ``` `) `` {a}`b` ``": "(<code>```</code>) <code>{a}`b`</code>",
}


@pytest.mark.parametrize("text", INLINE)
def test_inline_markup_of_documents(page: Any, text: str) -> None:
    # A page without a URL is at a path that is not a folder.
    assert shown(page, text).replace("blankd/", "/d/") == f"<p>{INLINE[text]}</p>"


def test_pictures_have_the_given_width(page: Any) -> None:
    asked = """text => {
      const asked = [];
      inlineNodes(text, { picture: (...given) => String(asked.push(given)) });
      return asked;
    }"""
    text = (
        "![[a.png|100]] ![[b.jpg#x|wide]] ![200](c.png) ![A plan|300x200](d.png) ![In 1999](e.png)"
    )
    assert page.evaluate(asked, text) == [
        ["a.png", "", "100"],
        ["b.jpg#x", "wide", None],
        ["c.png", "", "200"],
        ["d.png", "A plan", "300"],
        ["e.png", "In 1999", None],
    ]


def goes_on(page: Any, before: str, after: str) -> str:
    """The second of two passages, as it is shown below the first."""
    return str(
        page.evaluate(
            """([before, after]) => {
      const passage = (...nodes) => element("div", {}, element("div", { class: "text" }, ...nodes));
      const first = passage(...markdownNodes(before, {}, 0));
      const nodes = markdownNodes(after, {}, 0);
      goOn(nodes, first);
      const second = passage(...nodes);
      return `${first.innerHTML}\\n${second.firstChild.innerHTML}`;
    }""",
            [before, after],
        )
    )


def test_boxes_continue_in_the_next_passage(page: Any) -> None:
    rest = "> b\n\n> c"
    callout = goes_on(page, "> Tip:\n> a", rest).split("\n")[-1]
    assert callout == (
        '<blockquote class="callout" data-kind="tip"><p>b</p></blockquote>'
        "<blockquote><p>c</p></blockquote>"
    )
    closed = goes_on(page, "> ▸ Tip: More\n> a", rest).split("\n")[-1]
    assert '<details class="closed" data-kind="tip"><summary>More, continued</summary>' in closed
    tabs, second = goes_on(page, "> **[x]**\n> a\n\n> **[y]**\n> a", rest).split("\n")
    own = re.search(r'<div class="tab-panel" id="([\w-]+)" role="tabpanel"', second)
    assert own and re.search(rf'role="tab" aria-controls="[\w-]+ {own[1]}"', tabs)
    assert 'hidden="until-found"' in second
    tabs, second = goes_on(page, "> **[x]**\n> a", "> **[y]**\n> b").split("\n")
    assert tabs.count('role="tab"') == 2 and 'role="tab"' not in second


def test_footnotes_link_there_and_back(page: Any) -> None:
    html = shown(page, "One[^a] and two[^b c].\n\n[^a]: First.\n\n    More.\n[^x]: Other.")
    assert (
        '<sup><a href="#note-a" role="doc-noteref" aria-label="Footnote 1" id="note-of-a">1</a>'
        in html
    )
    assert "two[^b c]" in html
    assert '<div class="note" id="note-a" tabindex="-1"><span class="note-number">1.</span>' in html
    assert (
        '<p>More. <a href="#note-of-a" role="doc-backlink" aria-label="Back to the text">↩</a>'
        in html
    )
    assert '<span class="note-number">2.</span><div><p>Other. <a' in html


def test_headings_keep_their_level_and_tables_their_alignment(page: Any) -> None:
    assert shown(page, "## A\n### B ##\nC\n-") == "<h2>A</h2><h3>B</h3><h2>C</h2>"
    html = shown(page, "| a | b |\n|:-:|--:|\n| 1 | 2 | 3 |")
    assert html.count("<td") == 2
    assert '<th style="text-align: center;">a</th><th style="text-align: right;">b</th>' in html
    assert shown(page, "| 1 | 2 |\n| 3 | 4 |").count("<tr>") == 2


def test_code_keeps_its_lines_and_has_colours(page: Any) -> None:
    html = shown(page, "```python title='a.py'\ndef f(x):\n    return '# x'  # why\n```")
    assert (
        '<span class="code-word">def</span> f(x):\n    <span class="code-word">return</span>'
        in html
    )
    assert '<span class="code-text">\'# x\'</span>  <span class="code-comment"># why</span>' in html
    assert "<code>a  b</code>" in shown(page, "```nonesuch\na  b\n```")
    assert "<code>a\n\n  b</code>" in shown(page, "text\n\n    a\n\n      b\n\nend")
    assert "<code>a\n  b</code>" in shown(page, "    a\n      b\n\nend")
    told = shown(page, "```none\n\na() // [!code ++]\nb <!-- [!code focus:2] -->\n```")
    assert "<code>a()\nb</code>" in told
    for language in ("c", "go", "html", "java", "js", "json", "ruby", "rust", "sh", "sql", "yaml"):
        code = "x = \"a\" # b\n/* c */ // d -- e\n<!-- f --> `g` 'h' 0x1F 1.5e3 if true"
        text = page.evaluate(
            "([code, language]) => codeNode(code, language).textContent", [code, language]
        )
        assert text == f"{code}Copy", language


def test_code_has_the_given_title(page: Any) -> None:
    for fence, title in (
        ('py title="a.py" hl_lines="1"', "a.py"),
        ("ts [b.ts]", "b.ts"),
        ("mermaid", "Source of a diagram (Mermaid)"),
    ):
        assert f'<p class="code-title">{title}</p>' in shown(page, f"```{fence}\na\n```")
    assert "code-title" not in shown(page, "```py\na[b]\n```")


def test_code_continues_in_the_next_passage(page: Any) -> None:
    opened = "text => openFence(text)"
    assert page.evaluate(opened, "a\n```py x\nb") == "```py x"
    assert page.evaluate(opened, "```\na\n```\n~~~~\nb\n~~~") == "~~~~"
    assert page.evaluate(opened, "```\na\n    ```\n") == "```"
    assert page.evaluate(opened, "```\na\n```\n") == ""
    assert page.evaluate("text => openFence(text, '```py')", "a\n```\nb") == ""


FORMULAS = {
    "E = mc^2": "<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>",
    r"{a \over bc}": "<mfrac><mi>a</mi><mrow><mi>b</mi><mi>c</mi></mrow></mfrac>",
    r"\frac{a}{b}": "<mfrac><mi>a</mi><mi>b</mi></mfrac>",
    r"\sqrt[3]{x}": "<mroot><mi>x</mi><mn>3</mn></mroot>",
    "x_1^{12}": "<msubsup><mi>x</mi><mn>1</mn><mn>12</mn></msubsup>",
    "x^12": "<msup><mi>x</mi><mn>1</mn></msup><mn>2</mn>",
    "f'": "<msup><mi>f</mi><mo>′</mo></msup>",
    r"\mathbb{R}^n": "<msup><mi>ℝ</mi><mi>n</mi></msup>",
    r"\text{if } x": "<mtext>if\u00a0</mtext><mi>x</mi>".replace("\u00a0", "&nbsp;"),
    r"\lim_{x \to 0}": "<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder>",
    r"\hat x": '<mover accent="true"><mi>x</mi><mo>^</mo></mover>',
    r"\begin{matrix} a & b \\ c & d \end{matrix}": '<mtable class=""><mtr><mtd><mi>a</mi></mtd>'
    "<mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable>",
    "1,000.5 - a": "<mn>1,000.5</mn><mo>−</mo><mi>a</mi>",
}


@pytest.mark.parametrize("source", FORMULAS)
def test_formulas_are_rendered(page: Any, source: str) -> None:
    html = page.evaluate("source => mathNode(source, true).outerHTML", source)
    begin = '<math display="block"><semantics><mrow>'
    assert html.startswith(f"{begin}{FORMULAS[source]}</mrow><annotation")
    assert 'encoding="application/x-tex"' in html


@pytest.mark.parametrize(
    "source",
    [r"\nosuch x", r"\frac{a}", "{", "a}", r"\left( x", r"\begin{nosuch}\end{nosuch}", "x" * 5_000],
)
def test_other_text_with_dollar_signs_does_not_change(page: Any, source: str) -> None:
    assert page.evaluate("source => mathNode(source, false)", source) is None
    assert '<code class="formula">' in shown(page, f"$${source}$$") or len(source) > 4_000


def test_formulas_are_found_in_lines_and_in_text(page: Any) -> None:
    for text in ("a $x^2$ b", r"a \(x^2\) b", "a $$x^2$$ b"):
        assert "<msup><mi>x</mi><mn>2</mn></msup>" in shown(page, text), text
    for text in ("$$\nx^2\n$$", "$$x^2$$", r"\[ x^2 \]", "\\[\nx^2\n\\]", "```math\nx^2\n```"):
        html = shown(page, f"a\n\n{text}\n\nb")
        assert html.startswith(
            '<p>a</p><div class="formula" tabindex="0"><math display="block">'
        ), text
        assert html.endswith("</math></div><p>b</p>"), text


@pytest.mark.parametrize(
    "part",
    [
        "> " * 40 + "x\n",
        "- a\n",
        "  - a\n",
        "$" * 50 + "\n",
        "![[",
        "**a _b ",
        ": x\n",
        "[^a]: \n",
        "|-",
    ],
)
def test_long_texts_are_rendered_completely(page: Any, part: str) -> None:
    text = (part * 99_000)[:99_000]
    assert page.evaluate(
        "text => markdownNodes(text, madeOf({ id: 'c' }, () => null, {}), 0).length",
        text,
    )
