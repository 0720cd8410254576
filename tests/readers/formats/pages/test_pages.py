"""Pages as generators and people write them: no word, number or line of code is lost."""

import pytest

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.formats import html
from foundry.readers.notes import taking_notes


def read(body: str) -> Reading:
    page = f"<!doctype html><html><head><title>T</title></head><body><main>{body}</main></body>"
    return html.read(page)


def text_of(body: str) -> str:
    return read(body).text


def headings(body: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read(body).headings]


@pytest.mark.parametrize(
    ("markup", "heading"),
    [
        ("<h2>Pears<a class='headerlink' href='#p'>¶</a></h2>", "Pears"),
        ("<h2><a class='doc-anchor' href='#p'>§</a>Pears</h2>", "Pears"),
        ("<h2>Pears<a class='hash-link' href='#p'>#</a></h2>", "Pears"),
        ("<h2>Pears <a class='anchor' href='#p'>Copy link</a></h2>", "Pears"),
        ("<h2><a class='anchor' href='#p'>Pears</a></h2>", "Pears"),
        ("<h2><a href='#p'>Pears</a></h2>", "Pears"),
        (
            "<h2><span class=permalink><a href='#p'>&#9670;&#160;</a></span>Pears</h2>",
            "Pears",
        ),
        ("<h2>Pears<span class='mw-editsection'>[edit]</span></h2>", "Pears"),
        ("<h2><button aria-expanded='false'>Pears</button></h2>", "Pears"),
        ("<h2><button data-bs-toggle='collapse'>Pears</button></h2>", "Pears"),
        ("<div role=heading aria-level=2>Pears</div>", "Pears"),
        ("<span role=heading>Pears</span>", "Pears"),
        ("<header><h2>Pears</h2><p>In March.</p></header>", "Pears"),
        ("<h2>The <b>P</b>ear&shy;s</h2>", "The Pears"),
        ("<h2>vector&lt;T&gt; *x*</h2>", "vector<T> *x*"),
        (
            "<dl><dt class=sig>Pears(<em>a</em>)<a href='#p'>¶</a></dt><dd>x</dd></dl>",
            "Pears(a)",
        ),
    ],
)
def test_headings_have_the_text_that_is_shown(markup: str, heading: str) -> None:
    found = headings(f"<p>Before.</p>{markup}<p>After.</p>")
    assert [text for _, text in found if text] == [heading]


@pytest.mark.parametrize(
    "markup",
    [
        "<aside class='admonition'><p>Kept words.</p></aside>",
        "<aside><p>Kept words.</p></aside>",
        "<section><header><p>Kept words.</p></header></section>",
        "<blockquote>x<footer>Kept words.</footer></blockquote>",
        "<div hidden='until-found'>Kept words.</div>",
        "<details><summary>More</summary>Kept words.</details>",
        "<button role=tab>A</button><div role=tabpanel hidden>Kept words.</div>",
        "<button aria-controls=a>A</button><div id=a hidden>Kept words.</div>",
        "<div class='tab-pane' style='display:none'>Kept words.</div>",
        "<template shadowrootmode=open><p>Kept words.</p></template>",
        "<a href=x><div>Kept words.</div></a>",
        "<custom-card><p>Kept words.</p></custom-card>",
        "<picture><source><img alt='Kept words.'></picture>",
        "<object data=x.pdf>Kept words.</object>",
        "<svg><title>Icon</title><text>Kept words.</text></svg>",
        "<table><caption>Kept words.</caption><tr><td>x</table>",
        "<ul><b>Kept words.</b><li>x</ul>",
    ],
)
def test_shown_and_expandable_content_is_read(markup: str) -> None:
    assert text_of(f"<p>Before.</p>{markup}<p>After.</p>").count("Kept words.") == 1


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        ("<nav>Lost words</nav>", Omission.NAVIGATION),
        ("<aside><ul><li><a href=1>Lost words</a></ul></aside>", Omission.NAVIGATION),
        ("<p hidden>Lost words</p>", Omission.HIDDEN),
        ("<dialog>Lost words</dialog>", Omission.HIDDEN),
        ("<button>Lost words</button>", Omission.FORM),
        ("<select><option>Lost words</select>", Omission.FORM),
        ("<script>Lost words</script>", Omission.SCRIPT),
    ],
)
def test_left_out_text_is_reported(markup: str, reason: Omission) -> None:
    with taking_notes() as notes:
        assert "Lost" not in text_of(f"<p>Before.</p>{markup}")
    assert [(each.reason, each.text.strip()) for each in notes.left_out] == [(reason, "Lost words")]


def test_text_around_the_content_is_reported() -> None:
    page = "<body><header>Site</header><main><p>Words.</p></main><footer>Legal</footer></body>"
    with taking_notes() as notes:
        assert html.read(page).text == "Words."
    assert [each.text for each in notes.left_out] == ["Site", "Legal"]


TABS = "> **[npm]**\n>\n> npm i\n\n> **[yarn]**\n>\n> yarn add"


def test_tabs_name_their_panels() -> None:
    tabs = (
        "<ul role=tablist><li role=tab>npm</li><li role=tab>yarn</li></ul>"
        "<div><div role=tabpanel>npm i</div><div role=tabpanel hidden>yarn add</div></div>"
    )
    assert text_of(tabs) == TABS


def test_tabs_name_panels_without_a_role() -> None:
    tabs = (
        "<ul><li><a role=tab href='#a'>npm</a></li><li><a role=tab href='#b'>yarn</a></li></ul>"
        "<div class=tab-pane id=a>npm i</div><div class=tab-pane id=b>yarn add</div>"
    )
    assert text_of(tabs) == TABS


def test_sphinx_tabs_are_labels_before_their_content() -> None:
    for kind in ("tab-", "sd-tab-"):
        tabs = "".join(
            f"<input type=radio><label class={kind}label>{label}</label>"
            f"<div class={kind}content><p>{text}</div>"
            for label, text in (("npm", "npm i"), ("yarn", "yarn add"))
        )
        assert text_of(f"<div class={kind}set>{tabs}</div>") == TABS


def test_disclosures_are_quotations_unless_they_have_headings() -> None:
    closed = "<details><summary>Why?</summary><p>So.</p><pre>a\nb</pre></details>"
    assert text_of(closed) == "> \u25b8 **Why?**\n>\n> So.\n>\n> ```\n> a\n> b\n> ```"
    opened = closed.replace("<details>", "<details open>")
    assert text_of(opened).startswith("> **Why?**\n>\n> So.")
    with_heading = closed.replace("<p>", "<h2>Part</h2><p>")
    assert text_of(with_heading).startswith("\u25b8 **Why?**\n\n## Part\n\nSo.")


def test_checkboxes_in_lists_are_kept() -> None:
    boxes = (
        "<ul><li><input type=checkbox checked disabled> Done<li><label><input type=checkbox>"
        "</label> To do<ul><li>a</ul><li>Plain <input type=checkbox></ul>"
    )
    assert text_of(boxes) == "- [x] Done\n- [ ] To do\n  - a\n- Plain"


def test_footnotes_become_markdown_footnotes() -> None:
    notes = (
        "<p>One<sup><a class=footnote-ref href='#fn:1'>1</a></sup> and"
        " two<a class='footnote-reference brackets' href='#id2'>[2]</a>.</p>"
        "<aside class=footnote id=id2><span class=label>[<a href='#id1'>2</a>]</span><p>B.</aside>"
        "<ol><li id='fn:1'><p>A.</p><p>More. <a href='#r' class=back>\u21a9</a></p></ol>"
    )
    assert text_of(notes) == "One[^1] and two[^2].\n\n[^2]: B.\n\n[^1]: A.\n\n    More."


def test_custom_elements_separate_words() -> None:
    assert text_of("<x-tab>one</x-tab><x-panel>two</x-panel>") == "one two"


def test_headings_in_summaries_are_headings() -> None:
    assert headings("<details><summary><h3>More</h3></summary>x</details>") == [(3, "More")]


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ("10<sup>6</sup> units", "10^6 units"),
        ("2<sup>64</sup>", "2^64"),
        ("10<sup>-6</sup>", "10^-6"),
        ("x<sub>1</sub>", "x_1"),
        ("e<sup>i x</sup>", "e^(i x)"),
        ("H<sub>2</sub>O", "H2O"),
        ("CO<sub>2</sub>", "CO2"),
        ("log<sub>2</sub> n", "log_2 n"),
        ("log<sub>10</sub>x", "log_10 x"),
        ("1<sup>st</sup>", "1st"),
        ("<sup>1</sup>/<sub>2</sub>", "1/2"),
        ("Old<sup><a href='#fn1'>1</a></sup>.", "Old [1]."),
        ("Old<a href='#n' role='doc-noteref'>1</a>.", "Old [1]."),
        ("harvest<sup>3</sup> was", "harvest [3] was"),
        ("the end.<sup>12</sup>", "the end. [12]"),
    ],
)
def test_superscripts_and_subscripts_do_not_join_numbers(markup: str, said: str) -> None:
    assert text_of(f"<p>{markup}</p>") == said


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ("un<b>believ</b>able", "unbelievable"),
        ("<i>W</i>ord", "Word"),
        ("<b>W</b><i>ord</i>", "Word"),
        ("super<wbr>mar&shy;ket", "supermarket"),
        ("one<b> two</b> three", "one **two** three"),
        ("<a href=x><b>M</b>edlar</a>", "[Medlar](x)"),
        ("a <em>whole</em>, word", "a *whole*, word"),
    ],
)
def test_markup_within_a_word_does_not_divide_it(markup: str, said: str) -> None:
    assert text_of(f"<p>{markup}</p>") == said


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ("<ol start=5><li>a<li>b</ol>", "5. a\n6. b"),
        ("<ol><li>a<li value=7>b<li>c</ol>", "1. a\n7. b\n8. c"),
        ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
        ("<ol type=a><li>a<li>b</ol>", "a. a\nb. b"),
        ("<ol type=I start=9><li>a<li>b</ol>", "IX. a\nX. b"),
        ("<ol class='lowerroman simple'><li>a<li>b</ol>", "i. a\nii. b"),
        ("<ul><li>a<ol><li>b</ol><li>c</ul>", "- a\n  1. b\n- c"),
    ],
)
def test_items_keep_their_numbers(markup: str, said: str) -> None:
    assert text_of(markup) == said


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        (
            "<dl><dt>Pear</dt><dd>A fruit.</dd><dt>Plum</dt><dt>Sloe</dt>"
            "<dd><p>One.</p><p>Two.</p></dd></dl>",
            "Pear\n: A fruit.\n\nPlum\nSloe\n: One.\n\n  Two.",
        ),
        ("<dl><div><dt>Pear</dt><dd>A fruit.</dd></div></dl>", "Pear\n: A fruit."),
        ("<dl><dt>Pear</dt></dl>", "Pear"),
        (
            "<div class='admonition note'><p class='admonition-title'>Note</p><p>Ripe.</p>"
            "<ul><li>a</li></ul></div>",
            "> **Note**\n>\n> Ripe.\n>\n> - a",
        ),
        ("<aside class='callout'><p>Ripe.</p></aside>", "> Ripe."),
        ("<p><img src='img/a.png' alt='A pear'></p>", "![A pear](img/a.png)"),
        ("<p><img src='https://a.example/a.png' alt='A pear'></p>", "A pear"),
        ("<p><img src='img/a.png' alt=''>Ripe.</p>", "Ripe."),
        ("<h2>Ripe <img src='a.png' alt='pear'></h2>", "## Ripe pear"),
    ],
)
def test_definitions_admonitions_and_pictures(markup: str, said: str) -> None:
    assert said in text_of(f"<p>Before.</p>{markup}<p>After.</p>")


def test_merged_cells_are_filled() -> None:
    table = (
        "<table><thead><tr><th rowspan=2>Fruit<th colspan=2>Price<tr><th>Net<th>Gross</thead>"
        "<tr><td rowspan=2>Plum<td>1<td>2<tr><td>3<td>4<tr><td colspan=3>none</table>"
    )
    assert text_of(table) == (
        "| Fruit | Price Net | Price Gross |\n| --- | --- | --- |\n"
        "| Plum | 1 | 2 |\n| Plum | 3 | 4 |\n| none | none | none |"
    )


def test_nested_tables_are_read_once() -> None:
    layout = "<table><tr><td>outer<table><tr><td>in1<td>in2</table></td><td>side</td></tr></table>"
    assert text_of(layout).split() == ["outer", *"| in1 | in2 | | --- | --- |".split(), "side"]
    data = "<table><tr><th>A<th>B<tr><td>x<td><table><tr><td>in1<td>in2</table></table>"
    assert "| x | in1 in2 |" in text_of(data)


@pytest.mark.parametrize(
    "markup",
    [
        "<pre>a = 1\n  b = 2</pre>",
        "<pre><span class=linenos>1</span>a = 1\n<span class=linenos>2</span>  b = 2</pre>",
        "<pre><code><span class=line>a = 1</span><span class=line>  b = 2</span></code></pre>",
        "<pre><code><span class=line>a = 1</span>\n<span class=line>  b = 2</span></code></pre>",
        "<pre>a = 1<br>  b = 2</pre>",
        "<pre><ol><li>a = 1</li><li>  b = 2</li></ol></pre>",
        "<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre></td>"
        "<td class=code><pre>a = 1\n  b = 2</pre></td></tr></table>",
        "<table><tr><td class=blob-num></td><td>a = 1</td></tr>"
        "<tr><td class=blob-num></td><td>  b = 2</td></tr></table>",
        # Hugo and Hexo.
        "<table><tr><td><pre><code><span>1\n</span><span>2\n</span></code></pre></td>"
        "<td><pre><code>a = 1\n  b = 2</code></pre></td></tr></table>",
        "<pre><span class=line>a = 1</span><br><span class=line>  b = 2</span><br></pre>",
    ],
)
def test_code_keeps_its_lines_without_line_numbers(markup: str) -> None:
    reading = read(markup)
    assert reading.text == "```\na = 1\n  b = 2\n```"
    assert [(block.start, block.end) for block in reading.blocks] == [(0, len(reading.text))]


def test_code_in_list_items_stays_whole() -> None:
    reading = read("<ol><li>Run:<pre>a\nb</pre></li><li>Then <code>c</code></li></ol>")
    assert reading.text == "1. Run:\n\n   ```\n   a\n   b\n   ```\n2. Then `c`"
    (block,) = reading.blocks
    assert reading.text[block.start : block.end] == "   ```\n   a\n   b\n   ```"


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ("<mfrac><mn>1</mn><mi>x</mi></mfrac>", "1/x"),
        ("<msqrt><mi>y</mi><mo>+</mo><mn>1</mn></msqrt>", "√(y + 1)"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "∛(x)"),
        ("<msup><mn>10</mn><mn>6</mn></msup>", "10^6"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi>"
            "</munderover><mi>i</mi>",
            "∑_(i = 1)^n i",
        ),
        (
            "<semantics><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation>"
            "</semantics>",
            "$x^2$",
        ),
    ],
)
def test_equations(markup: str, said: str) -> None:
    assert text_of(f"<p><math>{markup}</math></p>") == said


@pytest.mark.parametrize(
    "markup",
    [
        "<span class=katex><span class=katex-mathml><math><mi>Q</mi></math></span>"
        "<span class=katex-html aria-hidden=true>Q</span></span>",
        "<mjx-container><mjx-math aria-hidden=true>Q</mjx-math><mjx-assistive-mml><math><mi>Q</mi>"
        "</math></mjx-assistive-mml></mjx-container>",
        "<span class=MathJax><nobr aria-hidden=true>Q</nobr><span><math><mi>Q</mi></math></span>"
        "</span><script type='math/tex'>Q</script>",
        "<script type='math/tex'>Q</script>",
    ],
)
def test_equations_are_read_once(markup: str) -> None:
    assert text_of(f"<p>It is {markup} here.</p>").count("Q") == 1


@pytest.mark.parametrize("name", ["script", "iframe", "nav", "object", "title", "textarea", "b"])
def test_empty_xhtml_elements_have_no_content(name: str) -> None:
    page = (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>'
        f"<p>First.</p><{name} class='a/b>c'/><p>Last <![CDATA[a < b]]>.</p></body></html>"
    )
    assert html.read(page).text == "First.\n\nLast a < b."


def test_text_that_is_only_in_noscript_is_read() -> None:
    page = "<div id=root></div><script></script><noscript>{}</noscript>"
    words = "These words are all there is of the page. " * 5
    assert html.read(page.format(words)).text == words.strip()


def test_styles_make_superscripts_and_subscripts() -> None:
    power = "10<span style='font-size:8px; vertical-align: super'>6</span>"
    atoms = "H<span style='vertical-align:sub'>2</span>O"
    assert text_of(f"<p>{power} of {atoms}</p>") == "10^6 of H2O"


def test_asciidoctor_admonitions_have_their_kind() -> None:
    icon = "<td class='icon'><i class='fa icon-note' title='Note'></i></td>"
    markup = f"<table><tr>{icon}<td class='content'><p>Words.</p></td></tr></table>"
    assert text_of(markup) == "Note\n\nWords."


def test_sphinx_footnotes_have_one_mark() -> None:
    bracket = "<span class='fn-bracket'>{}</span>"
    mark = "<a role='doc-backlink' href='#id1'>1</a>"
    label = f"<span class='label'>{bracket.format('[')}{mark}{bracket.format(']')}</span>"
    assert text_of(f"<aside role='doc-footnote'>{label}<p>Note.</p></aside>") == "[1]\n\nNote."


def test_table_footers_are_the_last_rows() -> None:
    rows = (
        "<thead><tr><th>Kg<th>EUR</thead><tfoot><tr><td>7<td>9</tfoot><tr><td>3<td>4<tr><td>4<td>5"
    )
    assert text_of(f"<table>{rows}</table>").endswith("| 3 | 4 |\n| 4 | 5 |\n| 7 | 9 |")


def test_open_dialogs_are_read() -> None:
    assert text_of("<p>Before<dialog open><p>Press it twice</dialog>") == "Before\n\nPress it twice"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<p><del>10</del><ins>8</ins> or <s>10</s>8</p>", "~~10~~ 8 or ~~10~~ 8"),
        ("<p>5.3<sup>a</sup> and 3<sup>a</sup></p>", "5.3^a and 3a"),
        (
            "<p><math><mrow><mo>(</mo><mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>"
            "<mo>)</mo></mrow></math></p>",
            "(n over k)",
        ),
    ],
)
def test_replaced_numbers_notes_and_fractions_stay_apart(written: str, shown: str) -> None:
    assert text_of(written) == shown


def test_text_after_a_signature_belongs_to_the_enclosing_section() -> None:
    page = "<h2>S</h2><dl><dt class=sig>f()</dt><dd><p>Of f.</p></dd></dl><p>Of S.</p>"
    assert headings(page) == [(2, "S"), (3, "f()"), (3, "")]
    listed = f"<ul><li>x{page}</li></ul><p>End.</p>"
    assert headings(listed) == []


WIKI_EQUATION = (
    "<p>So <span class=mwe-math-element><span class='mwe-math-mathml-inline mwe-a11y'"
    " style='display: none'><math><semantics><mi>E</mi><annotation encoding='application/x-tex'>"
    "{\\displaystyle E=mc^{2}}</annotation></semantics></math></span><img src=x aria-hidden=true"
    " class=mwe-math-fallback-image-inline alt='{\\displaystyle E=mc^{2}}'></span> it is."
)


@pytest.mark.parametrize("hidden", ["aria-hidden=true", ""])
def test_mediawiki_equations_are_read_once(hidden: str) -> None:
    written = WIKI_EQUATION.replace("aria-hidden=true", hidden)
    assert text_of(written) == "So $E=mc^{2}$ it is."


def test_buttons_beside_headings_are_left_out() -> None:
    assert headings("<h1>Struct <b>Pump</b><button>Copy item path</button></h1>") == [
        (1, "Struct Pump")
    ]
    assert headings("<h2><button>Why?</button></h2>") == [(2, "Why?")]


def test_tabs_do_not_name_a_shared_panel() -> None:
    tabs = "".join(f"<button role=tab aria-controls=p id=t{n}>Kind {n}</button>" for n in "12")
    text = text_of(f"<div>{tabs}</div><div role=tabpanel id=p aria-labelledby=t1>Words.</div>")
    assert text.split("\n\n")[-1] == "Words."


@pytest.mark.parametrize(
    "markup",
    [
        "<div class='summary-table two-column'><div class='table-header col-first'>Type</div>"
        "<div class='table-header col-last'>Method</div><div class=col-first>void</div>"
        "<div class=col-last>start</div></div>",
        "<div role=table><div><div role=row><div role=columnheader>Type</div>"
        "<div role=columnheader>Method</div></div></div><div role=row><div role=cell>void</div>"
        "<div role=cell>start</div></div></div>",
    ],
)
def test_tables_of_other_elements_are_read(markup: str) -> None:
    assert text_of(markup) == "| Type | Method |\n| --- | --- |\n| void | start |"


def test_doxygen_pages() -> None:
    page = (
        "<body><div id=top>Orchard 1.0</div><div class=header><div class=headertitle>"
        "<div class=title>Pump Class</div></div></div><div class=contents><table class=memberdecls>"
        "<tr><td colspan=2><h2>Functions</h2><tr><td>void&#160;<td>start (int)</table>"
        "<div class=fragment><div class=line><span class=lineno>1</span>int x;</div>"
        "<div class=line>  y();</div></div></div><address class=footer>Generated</address></body>"
    )
    assert html.read(page).text == (
        "# Pump Class\n\n## Functions\n\nvoid start (int)\n\n```\nint x;\n  y();\n```"
    )


def test_confluence_boxes_and_tasks() -> None:
    box = (
        "<div class='confluence-information-macro confluence-information-macro-warning'>"
        "<div class=confluence-information-macro-body><p>Hot.</div></div>"
    )
    assert text_of(box) == "> **Warning:** Hot."
    tasks = "<ul><li class=checked data-inline-task-id=1>One<li data-inline-task-id=2>Two</ul>"
    assert text_of(tasks) == "- [x] One\n- [ ] Two"
    crumbs = "<div id=breadcrumb-section><ol><li><a href=a>Home</a></ol></div><p>Words."
    assert text_of(crumbs) == "Words."


def test_gitbook_code_lines() -> None:
    lines = "".join(f"<span class=highlight-line>run {name}</span>" for name in ("one", "two"))
    assert text_of(f"<pre><code>{lines}</code></pre>") == "```\nrun one\nrun two\n```"


STEPS = (
    'Next: <a {0} href="b.html">Plums</a>, Up: <a href="i.html">Fruit</a>'
    ' [<a href="i.html">Index</a>]'
)


@pytest.mark.parametrize(
    "line",
    [
        f"<div class='header'><p>{STEPS.format('rel=next')}</p></div>",
        f"<table><tr><td>{STEPS.format('accesskey=n')}</td></tr></table>",
        '<div><a href="a.html"><img alt="Prev"></a><a href="b.html"><img alt="Next"></a></div>',
        "<div class='navheader'>1.2. Plums <a href='b.html'>Next</a></div>",
    ],
)
def test_lines_that_lead_to_other_pages_are_left_out(line: str) -> None:
    # Texinfo repeats the line without its marks.
    repeated = line.replace("rel=next ", "")
    with taking_notes() as notes:
        text = text_of(f"{line}<h1>Quince</h1><p>Words, <a href='b.html'>Plums</a>.</p>{repeated}")
    assert text == "# Quince\n\nWords, [Plums](b.html)."
    assert {each.reason for each in notes.left_out} <= {Omission.NAVIGATION}


def test_a_short_page_that_has_its_content_needs_no_browser() -> None:
    page = (
        "<html><body><script>load()</script><noscript>JavaScript is disabled</noscript>"
        "<main><h1>Uses of Quince</h1>No usage of Quince</main></body></html>"
    )
    assert html.read(page).text == "# Uses of Quince\n\nNo usage of Quince"


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        # Notion, in a property of a page
        ("<p><span class='selected-value c'>Ripe</span><span class='selected-value'>Red</span></p>",
         "Ripe Red"),
        # numpydoc with Sphinx, and docutils, which writes the colon
        ("<dl><dt>depth<span class='classifier'>int</span></dt><dd>x</dd></dl>", "depth : int"),
        ("<dl><dt>depth<span>:</span> <span class='classifier'>int</span></dt><dd>x</dd></dl>",
         "depth: int"),
        # TypeDoc
        ("<h3><code class='tsd-tag'>Optional</code><code class='tsd-tag'>Readonly</code>"
         "<span>depth</span></h3>", "Optional Readonly depth"),
        # JSDoc
        ("<h4>pick(depth, force<span class='signature-attributes'>opt</span>)</h4>",
         "pick(depth, force opt)"),
        ("<p>Orchard<span class='badge'>new</span>, old</p>", "Orchard new, old"),
        ("<p><span class='go-Chip'>package</span><span class='go-Chip'>pick</span></p>",
         "package pick"),
        # Node
        ("<div><span>Added in: v0.3.8</span><span>Deprecated since: v14</span></div>",
         "Added in: v0.3.8 Deprecated since: v14"),
    ],
)  # fmt: skip
def test_labels_are_apart_from_the_words_beside_them(markup: str, shown: str) -> None:
    assert shown in text_of(markup)


def test_emoji_drawn_as_pictures_are_characters() -> None:
    assert text_of("<p><img class='twemoji' alt='🍐' src='x.svg'> Pears.</p>") == "🍐 Pears."


def test_drawn_checkboxes_have_their_state() -> None:
    text = text_of(
        "<ul class='to-do-list'><li><div class='checkbox checkbox-on'></div><span>Plant</span></li>"
        "<li><div class='checkbox checkbox-off'></div><span>Prune</span></li></ul>"
        "<table><thead><tr><th>Tree</th><th>Ripe</th></tr></thead>"
        "<tr><td>Pear</td><td><div class='checkbox checkbox-on'></div></td></tr>"
        "<tr><td>Fig</td><td><input type=checkbox disabled></td></tr></table>"
    )
    assert "- [x] Plant" in text
    assert "- [ ] Prune" in text
    assert "| Pear | [x] |" in text
    assert "| Fig | [ ] |" in text


def test_links_within_a_manual_are_no_footnotes() -> None:
    shown = text_of(
        "<dl><dt class=sig>pick() → <a class='reference internal' href='t.html#tree'>Tree</a>"
        "<a class='reference internal' href='s.html#l1'>"
        "<span class='viewcode-link'>[source]</span></a>"
        "<a class='headerlink' href='#p'>¶</a></dt><dd>Picks.</dd></dl>"
        "<p>Words<a id='DOCF1' href='#FOOT1'><sup>1</sup></a> go on.</p>"
    )
    assert shown.startswith("# pick() → Tree\n")
    assert "Words [1] go on." in shown


def test_links_to_the_source_of_a_name_are_navigation() -> None:
    shown = text_of("<section><a class='src' href='s.html'>Source</a><h4>fn pick()</h4></section>")
    assert shown == "#### fn pick()"
    shown = text_of("<h1><a href='s' class='icon-action'><i></i>View Source</a>Pick</h1>")
    assert shown == "# Pick"


def test_added_and_removed_lines_of_code_have_their_signs() -> None:
    shown = text_of(
        "<div class='language-js'><span class=lang>js</span><pre><code>"
        "<span class='line'>a()</span>\n<span class='line diff remove'>b()</span>\n"
        "<span class='line diff add'>c()</span></code></pre></div>"
    )
    assert shown == "```js\na()\n-b()\n+c()\n```"


def test_the_file_of_numbered_code_is_not_its_first_line() -> None:
    shown = text_of(
        "<table><tr><th colspan=2 class=filename><span>pick.py</span></th></tr>"
        "<tr><td class=linenos><pre>1</pre></td><td class=code><pre>pick()</pre></td></tr></table>"
    )
    assert shown == "pick.py\n\n```\npick()\n```"


def test_code_groups_of_vitepress_have_their_labels() -> None:
    shown = text_of(
        "<div class='vp-code-group'><div class=tabs><input type=radio id=a checked>"
        "<label for=a>npm</label><input type=radio id=b><label for=b>yarn</label></div>"
        "<div class=blocks><div class='language-sh active'><pre>npm i</pre></div>"
        "<div class='language-sh'><pre>yarn</pre></div></div></div>"
    )
    assert "> **[npm]**\n>\n> ```sh\n> npm i" in shown
    assert "> **[yarn]**\n>\n> ```sh\n> yarn" in shown


@pytest.mark.parametrize(
    "body",
    [
        # JSDoc
        "<div><h1>Class</h1><section><header><h2>A</h2>Picks quinces.</header>"
        "<article><h3>Methods</h3><p>Plants them.</p></article></section></div>",
        # One card of a page, and a first screen
        "<p>Picks quinces all day and all night.</p><article><p>Plants them.</p></article>",
        "<main><p>Plants them.</p></main><section><p>Picks quinces all day long.</p></section>",
    ],
)
def test_content_outside_an_article_is_read(body: str) -> None:
    reading = html.read(f"<body><nav><a href=x>Home</a></nav>{body}</body>")
    assert "Picks quinces" in reading.text
    assert "Plants them." in reading.text
    assert "Home" not in reading.text


def test_text_for_printing_is_left_out() -> None:
    with taking_notes() as notes:
        assert "Contents" not in text_of("<div class='onlyprint'><h2>Contents</h2></div><p>x</p>")
    assert [each.reason for each in notes.left_out] == [Omission.HIDDEN]


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ("<div class='highlight highlight-source-shell'><pre>ls</pre></div>", "shell"),
        (
            "<div class='sourceCode'><pre class='sourceCode numberSource bash'>ls</pre></div>",
            "bash",
        ),
        ("<pre data-syntaxhighlighter-params='brush: py; gutter: false'>ls</pre>", "py"),
    ],
)
def test_languages_of_code(markup: str, language: str) -> None:
    assert text_of(markup) == f"```{language}\nls\n```"


def test_tags_in_animated_terminals_are_left_out() -> None:
    shown = '$ &lt;font color="#4E9A06"&gt;pick&lt;/font&gt; plums\n'
    page = f"<div class=termy><div class='language-console'><pre>{shown}</pre></div></div>"
    assert text_of(page) == "```console\n$ pick plums\n```"


def test_footnotes_of_mdbook_are_notes() -> None:
    shown = text_of(
        "<p>Pears<sup class='footnote-reference'><a href='#p'>1</a></sup></p>"
        "<div class='footnote-definition' id='p'><sup class='footnote-definition-label'>1</sup>"
        "<p>In March.</p></div>"
    )
    assert shown == "Pears[^1]\n\n[^1]: In March."


def test_code_in_text_fields_is_read() -> None:
    code = "func main() {\n\tpick()\n}"
    assert text_of(f"<p>Example</p><textarea spellcheck=false>{code}\n</textarea>") == (
        f"Example\n\n```\n{code}\n```"
    )
    assert text_of("<p>Comment:</p><textarea>Your words</textarea>") == "Comment:"


def test_line_numbers_of_rustdoc_are_left_out() -> None:
    shown = text_of(
        "<pre class=rust><code><a href=#1 id=1 data-nosnippet>1</a><span>fn pick() {\n"
        "</span><a href=#2 id=2 data-nosnippet>2</a>    1 }</code></pre>"
    )
    assert shown == "```\nfn pick() {\n    1 }\n```"


def test_programs_in_one_block_are_apart() -> None:
    page = "<pre><code class='language-js'>a();</code><code class='language-js'>b();</code></pre>"
    assert text_of(page) == "```js\na();\n\nb();\n```"


def test_subscripts_of_several_words_are_in_brackets() -> None:
    assert text_of("<p>Name<sub>except reserved words</sub></p>") == "Name (except reserved words)"
