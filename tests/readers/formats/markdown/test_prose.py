"""Prose is kept, tags and directives are removed, and code stays verbatim."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.documents import Document, RawDocument, Reading
from foundry.readers import read


def read_text(text: str, path: str = "a.md") -> Reading:
    document = read(RawDocument(source="s", key=path, path=path, content=text.encode()))
    assert isinstance(document, Document)
    return document.reading


def prose(text: str, path: str = "a.md") -> list[str]:
    """Return the lines of a text that are not empty."""
    return [
        " ".join(line.split()) for line in read_text(text, path).text.split("\n") if line.strip()
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a <b>bold</b> word", "a bold word"),
        ("H<sub>2</sub>O", "H2O"),
        ("one<br>two<br />three", "one two three"),
        ("<div>one</div><div>two</div>", "one two"),
        ('see <a href="b.md" target=_blank>the page</a>.', "see [the page](b.md)."),
        ('<a name="here"></a>Text <a href="#here">up</a>', "Text up"),
        ('<a href="x"><img src="y.png"></a>Text', "![](y.png)Text"),
        ('<img src="https://a.example/y.png" alt="Far">Text', "FarText"),
        ('<img src="data:image/png;base64,AA" alt="Here">', "Here"),
        ('<img src="x.png" alt="A pump">', "![A pump](x.png)"),
        ("press <kbd>Ctrl</kbd> in <code>vim</code>", "press `Ctrl` in `vim`"),
        ("a&nbsp;b &mdash; c &lt;d&gt;", "a b \u2014 c &lt;d&gt;"),
        ("text <!-- a comment\nof two lines --> more", "text"),
        ("a %%kept\nto myself%% b", "a"),
        ("is %%hidden%% not, 100%% of it %%time", "is not, 100%% of it %%time"),
        ("<details><summary>More</summary>inside</details>", "▸ **More** inside"),
        ("<details><summary>*More*</summary>inside</details>", "*More* inside"),
        ("[text][Ref] and [ref]\n\n[ref]: https://e.org/a_(b)", None),
        ("A note.[^1]\n\n[^1]: word", "A note.[^1]"),
        ("## Title {#anchor}", "## Title"),
        ("text {: .wide }", "text"),
        ("[TOC]\n\ntext", "text"),
        ("<script>let a = '<b>words</b>';</script>text", "text"),
        ("<h1 align='center'>The name</h1>\n\ntext", "# The name"),
    ],
)
def test_html_in_markdown(written: str, expected: str | None) -> None:
    wanted = expected or "[text](https://e.org/a_(b)) and [ref](https://e.org/a_(b))"
    assert prose(written)[0] == wanted


@pytest.mark.parametrize(
    "text",
    [
        "set `<b>` and ``<a href='`'>`` here",
        "```html\n<div title='x'>{{< tab >}}</div>\n:::note\n```",
        "    <indented code='x'></indented>",
        "std::vector<int> and List<String> or Map<K, V>",
        "use <your-key> and <name>",
        "a < b and c > d; x<y>z",
        "<https://example.org> and <me@example.org>",
        r"\<b>escaped\</b>",
        "if $a<b>c$ then $$x<i>y</i>$$ and \\(a<b>c\\)",
        "{{ page.title | upcase }} and {{ x }} and { y }",
        "!!! but no admonition",
        "Title\n=====\n\ntext === more",
        "- [ ] task [!important",
    ],
)
def test_text_without_markup_is_unchanged(text: str) -> None:
    assert read_text(text).text == text


def test_html_headings_may_have_several_lines() -> None:
    text = (
        '<h1 align="center">\n  <img src="a.png" alt="Logo"><br>\n  <b>Pr</b>ess\n</h1>\n\nWords.\n'
    )
    reading = read_text(text)
    assert [(each.level, each.text) for each in reading.headings] == [(1, "Logo Press")]
    assert reading.text.split("\n")[5] == "Words."


def test_pictures_are_references() -> None:
    text = (
        "[![Build][b]][l] ![Alt][b] ![b] [![In](x.png)][l] ![no] [![b]](y) `![b]`\n\n"
        "[b]: b.svg\n[l]: https://a.example/\n"
    )
    assert read_text(text).text.strip() == (
        "[![Build](b.svg)](https://a.example/) ![Alt](b.svg) ![b](b.svg)"
        " [![In](x.png)](https://a.example/) ![no] [![b](b.svg)](y) `![b]`"
    )


def test_html_code_becomes_a_fence() -> None:
    reading = read_text(
        "before\n<pre><code>if a &lt; b:\n\n    # not a heading\n</code></pre>\nafter"
    )
    assert "```\nif a < b:\n\n    # not a heading\n```" in reading.text
    assert reading.headings == ()


def test_html_tables_become_markdown_tables() -> None:
    table = (
        "<table>\n<tr><th>Month</th><th>Gross</th></tr>\n\n"
        "<tr><td>May</td><td><b>$12</b></td></tr>\n</table>"
    )
    found = [re.sub(r"(?<=---)-+|\*\*", "", line) for line in prose(f"words\n\n{table}\n\nmore")]
    assert found == ["words", "| Month | Gross |", "| --- | --- |", "| May | $12 |", "more"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            '!!! warning "The gap"\n\n    Text.\n\nAfter',
            ["> Warning: The gap", ">", "> Text.", "After"],
        ),
        ("??? note\n    Text\n\n    # Heading", ["> ▸ Note:", "> Text", ">", "> # Heading"]),
        (
            '=== "Linux"\n\n    ```sh\n    ls\n    ```\n\n=== "Windows"\n\n    dir',
            ["> **[Linux]**", ">", "> ```sh", "> ls", "> ```", "> **[Windows]**", ">", "> dir"],
        ),
        ("1. item\n\n    !!! tip\n        Inner", ["1. item", "> Tip:", "> Inner"]),
        (":::note[Title *here*]\ntext\n:::", ["> Note: Title *here*", "> text"]),
        ("::: warning Careful now\ntext\n:::", ["> Warning: Careful now", "> text"]),
        ('::: {.callout-note title="Mind it"}\ntext\n:::', ["> Note: Mind it", "> text"]),
        ("::: {#a .warning}\ntext\n:::", ["> Warning:", "> text"]),
        ("::: callout-tip\ntext\n:::", ["> Tip:", "> text"]),
        ("::::note\n:::tip\na\n:::\nb\n::::\nc", ["> Note:", "> > Tip:", "> > a", ">", "> b", "c"]),
        ("- a\n  :::note\n  b\n\n  c\n  :::", ["- a", "> Note:", "> b", ">", "> c"]),
        ("```\n:::note\n```\n:::note\na", ["```", ":::note", "```", "Note:", "a"]),
        (":::details Click\na\n:::", ["> ▸ **Click**", "> a"]),
        (
            "!!! note\n    ??? tip\n        a\n\n    b",
            ["> Note:", "> > ▸ Tip:", "> > a", ">", "> b"],
        ),
        (
            "!!! note\n    ```\n    a\n\n      b\n    ```",
            ["> Note:", "> ```", "> a", ">", "> b", "> ```"],
        ),
        (
            '````\n=== "A"\n\n    ```\n    a\n    ```\n````\n=== "B"',
            ["````", '=== "A"', "```", "a", "```", "````", "> **[B]**"],
        ),
        (
            '```\n=== "A"\n\n    ```\n    :::note\n    ```\n```\n=== "B"',
            ["```", '=== "A"', "```", ":::note", "```", "```", "> **[B]**"],
        ),
        ('=== "One"\n    !!! note\n        a', ["> **[One]**", "> > Note:", "> > a"]),
        ('!!! custom "Title"\n    a', ["> **Title**", "> a"]),
        (":::{tab-item} npm\ntext\n:::", ["> **[npm]**", "> text"]),
        (':::image type="content" source="a.png" alt-text="A pump":::', ["A pump"]),
        (':::moniker range=">=1"\ntext\n:::moniker-end', ["text"]),
        ("> [!WARNING]\n> Hot.", ["> Warning:", "> Hot."]),
        ("```{tip} Title\nText of it\n```\nafter", ["> Tip: Title", "> Text of it", "after"]),
        ("```{r}\nx <- 1\n```", ["```{r}", "x <- 1", "```"]),
        ('=== "A"\n\n    # Part\n\n    a', ["**[A]**", "# Part", "a"]),
        (
            '=== "A"\n\n    ```\n    ```py\n    # a\n    ```',
            ["> **[A]**", ">", "> ```", "> ```py", "> # a", "> ```"],
        ),
        (
            "<details>\n<summary>More</summary>\n\n```\na\n```\n</details>\nb",
            [">", "> ▸ **More**", ">", "> ```", "> a", "> ```", "b"],
        ),
        ("<details><summary>A</summary>\n\n## B\n\nc\n</details>", ["▸ **A**", "## B", "c"]),
        ("> [!tip]- Title\n> a", ["> ▸ Tip: Title", "> a"]),
        ("/// tip | Use *it*\na\n///\nb", ["> Tip: Use *it*", "> a", "b"]),
        ("/// tab | A\n    new: true\n\na\n///", ["> **[A]**", ">", ">", "> a"]),
        ("```rust\n/// tip\n///\n```", ["```rust", "/// tip", "///", "```"]),
        (
            "{% highlight sh %}\n# a\n{% endhighlight %}\n{{< code-toggle file=b >}}\n[c]\n"
            "{{< /code-toggle >}}\n{% highlight go %}",
            ["```sh", "# a", "```", "```toml", "[c]", "```"],
        ),
        ("A :warning: :nosuch: 1:30:20 `:x:`", ["A ⚠️ :nosuch: 1:30:20 `:x:`"]),
        (":material-cube: a :octocat: b `:material-x:`", ["a b `:material-x:`"]),
        ('{% tabs %}\n{% tab title="Node" %}\ntext\n{% endtab %}', ["> **[Node]**", "> text"]),
        ('{{< tab "macOS" >}}\ntext\n{{% /tab %}}', ["> **[macOS]**", "> text"]),
        ("{{< note >}}\ntext\n{{< /note >}}", ["> Note:", "> text"]),
        ('{% hint style="info" %}\ntext\n{% endhint %}', ["> Info:", "> text"]),
        ("{{% hint warning %}}\ntext\n{{% /hint %}}", ["> Warning:", "> text"]),
        ('{{% alert title="A" %}}\ntext\n{{% /alert %}}', ["> Note: A", "> text"]),
        ('{{< alert title="Tip" color="tip" >}}\nx\n{{< /alert >}}', ["> Tip:", "> x"]),
        ("::: details\ntext\n:::", ["> \u25b8 **Details**", "> text"]),
        ("::::{accordion} More\ntext\n::::", ["> ▸ **More**", "> text"]),
        ('<Details title="More">\ntext\n</Details>', ["> ▸ **More**", "> text"]),
        (":::expand More\ntext\n:::", ["> ▸ **More**", "> text"]),
        ("!!! deprecated\n    Gone.", ["> **Deprecated**", "> Gone."]),
        ("!!! not one", ["!!! not one"]),
        ("{{% notice warning %}}\nx\n{{% /notice %}}", ["> Warning:", "> x"]),
        (
            '{{< admonition type=danger title="A" >}}\nx\n{{< /admonition >}}',
            ["> Danger: A", "> x"],
        ),
        ('{{< collapse "More" >}}\nx\n{{< /collapse >}}', ["> ▸ **More**", "> x"]),
        ("{{Infobox|name = Pump 3|The large one}}", ["name: Pump 3; The large one"]),
    ],
)
def test_directives(written: str, expected: list[str]) -> None:
    assert prose(written) == expected


def test_prose_in_attributes_of_components_is_kept() -> None:
    text = (
        "import { Card } from '/snippets/card.mdx'\n\n"
        '<Card title="Discord" icon="discord" href="https://d.gg/x" style={{ width: "1px" }}>\n'
        "  Talk to us.\n</Card>\n\n"
        '<ParamField body="name" type="str | None" default="x" required>\n  The name.\n'
        '</ParamField>\n\n<Tabs>\n  <Tab title={"macOS"}>\n    ```sh server.sh\n'
        '    <run a="b">\n    ```\n  </Tab>\n</Tabs>\n'
        '<Warning>\nHot.\n</Warning>\n{/* nobody reads\nthis */}\n<>{"said"}</>\n'
        '<VersionBadge version="2.1" />\n<Icon icon="x" onClick={() => { a > b }} />\n'
    )
    assert prose(text, "a.mdx") == [
        "[Discord](https://d.gg/x)",
        "Talk to us.",
        "name: str | None, default x, required",
        "The name.",
        "> **[macOS]**",
        "> ```sh server.sh",
        '> <run a="b">',
        "> ```",
        "> Warning:",
        "> Hot.",
        "said",
        "version 2.1",
    ]


def test_mdx_exports_are_code() -> None:
    text = "export const A = ({ b }) => {\n  return <p>{b}</p>;\n};\n\n<A b='1' />\nText\n"
    assert prose(text, "a.mdx")[:5] == [
        "```jsx",
        "export const A = ({ b }) => {",
        "return <p>{b}</p>;",
        "};",
        "```",
    ]


def test_exports_without_brackets_end_at_a_blank_line() -> None:
    text = "export const version = '2'\n\n# Title {version}\n\nText\n"
    assert [each.text for each in read_text(text, "a.mdx").headings] == ["Title {version}"]


def test_line_numbers_are_kept() -> None:
    text = "<div\n  class='x'>\n\n<!--\n\n-->\n[a]\n\n[a]: b.md\n\n# Heading\n"
    assert read_text(text).text.split("\n").index("# Heading") == 10


_PIECES = [
    *("<", ">", "</", "<a href='", "<b", "{", "}", "{{", "%}", "<!--", "-->", ":::", "!!! tip "),
    *('"', "'", "`", "```", "\n", " ", "x", "$", "\\(", "[a]", "[a]: b\n", "<pre>", "</pre>", "| "),
    *("<table>", "export const ", "import ", "    "),
]


@given(
    st.lists(st.sampled_from(_PIECES), max_size=40).map("".join), st.sampled_from([".md", ".mdx"])
)
def test_any_text_is_read(text: str, suffix: str) -> None:
    document = read(RawDocument(source="s", key="a", path="a" + suffix, content=text.encode()))
    if isinstance(document, Document):
        reading = document.reading
        assert all(0 <= span.start <= span.end <= len(reading.text) for span in reading.blocks)


_REPEATED = [
    *"<!-- {/* <pre> <table> <table><tr><td> </a> \\( $$a ::: {{< {{a|".split(),
    *"[a][b] &a {#a <h1> a-b".split(),
    *("<a b={", "<a href='x'>", "!!! tip ", "{% ", "[a]: b\n", "import \n", "import {"),
    *("export const a = {\n", '=== "', "> ", " ", "{: a", '<a b="'),
    *("<x-y a='1' ", "!!! tip\n    ", "```{tip}\n"),
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", _REPEATED)
def test_time_is_linear(piece: str) -> None:
    def seconds(path: str) -> float:
        started = time.process_time()
        read(RawDocument("s", "a", path, (piece * (60_000 // len(piece)) + "x").encode()))
        return time.process_time() - started

    for path in ("a.md", "a.mdx"):
        assert any(seconds(path) < 5 for _ in range(3)), path


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("The **O**rchard **K**eepers", "The Orchard Keepers"),
        ("un**believ**able, end**ing**", "unbelievable, ending"),
        ("<b>M</b>edlar", "Medlar"),
        ("a **whole** *word* a*b*c", "a **whole** *word* a*b*c"),
        ("`**a**b` 2*3*4 \\**a**b", "`**a**b` 2*3*4 \\**a**b"),
        ("10<sup>6</sup> H<sub>2</sub>O x<sub>1</sub>", "10^6 H2O x_1"),
        ("word<sup>[1](#a)</sup>", "word [1](#a)"),
        ("Donau&shy;dampf caf&#233; &lt;b>", "Donaudampf café &lt;b>"),
        ("The marker %% begins and %% ends.", "The marker %% begins and %% ends."),
        ("[`a`] and [the\nb][c]\n\n[`a`]: x\n[c]: y", "[`a`](x) and [the\nb](y)"),
    ],
)
def test_words_and_numbers_stay_whole(written: str, expected: str) -> None:
    assert read_text(written).text.rstrip() == expected


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("## Pears {#pears}", "Pears"),
        ("## Pears {: #pears .x lang=de}", "Pears"),
        ("## {#if condition}", "{#if condition}"),
        ("## {#if}", "{#if}"),
        ("## {:else if ready}", "{:else if ready}"),
        ("## Use {#await promise}", "Use {#await promise}"),
    ],
)
def test_only_attributes_are_left_out_of_headings(line: str, heading: str) -> None:
    assert [each.text for each in read_text(f"{line}\n\nx").headings] == [heading]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("H~2~O, CH~3~CH~2~OH and x~i~ of ~~old~~", "H2O, CH3CH2OH and x_i of ~~old~~"),
        ("<del>one</del><ins>two</ins>", "~~one~~ two"),
        (
            "So:\n\n{* ../../docs_src/a.py hl[9] *}\n\n> {!> a.py!}",
            "So:\n\n[../../docs_src/a.py](../../docs_src/a.py)\n\n> [a.py](a.py)",
        ),
        (
            'So:\n\n--8<-- "a.md"\n\n<<< @/a.js{2}\n\n{{#include a.rs:2}}',
            "So:\n\n[a.md](a.md)\n\n[/a.js](/a.js)\n\n[a.rs](a.rs)",
        ),
        (
            "```py\n{!> a.py!}\n```\n\nSay {* this *}, 1 <<< 2.",
            "```py\n{!> a.py!}\n```\n\nSay {* this *}, 1 <<< 2.",
        ),
        ("<mark>one</mark> <mark>a = b</mark>", "==one== a = b"),
        ("<div>\n  <p>\n    one\n  </p>\n\n      code\n</div>", "one\n\n\n      code"),
        ("1. a\n\n   <p>\n       b\n   </p>", "1. a\n\n   \n   b"),
        ("See [it]:\n\n- [it]\n\n[it]: a.md", "See [it](a.md):\n\n- [it](a.md)"),
        (":::{dropdown} The *one*\ntwo\n:::", "> ▸ The *one*\n> two"),
        ("Press {{< kbd Ctrl-C >}}.", "Press Ctrl-C."),
        ('So {{< highlight go "hl=true" >}}f(x){{< /highlight >}}.', "So f(x)."),
        ('In{{< ref "a.md" >}}b', "In a.md b"),
        ('{{< button href="/a" >}}Go{{< /button >}}', "[Go](/a)"),
        ('{{< figure src="a.png" alt="Alt" caption="Cap" >}}', "![Alt](a.png) Cap"),
        ("Of {{< katex >}}x_1{{< /katex >}}.", "Of $x_1$."),
        ("Of {{< katex display=true >}}x^{2}{{< /katex >}}.", "Of $$x^{2}$$."),
        ("See [it][s].\n\n[s]: <{{% eturl highlight %}}>", "See it."),
        ('# Head <Badge type="info" text="new" />', "# Head new"),
        ('{% include note.html content="Never freeze." %}', "Note: Never freeze."),
        ('{% include alert.html type="danger" content="Hot." %}', "Danger: Hot."),
        (
            'So{% include-markdown "../a.md" %}.\n\n{{% readfile "a.md" %}}',
            "So[../a.md](../a.md).\n\n[a.md](a.md)",
        ),
        ("See [it]({% link _posts/a.md %}).", "See [it](_posts/a.md)."),
        ('A {{< glossary_tooltip term_id="node-pool" >}} runs.', "A node pool runs."),
        ('{{< card title="A" subtitle="B" >}}', "A B"),
        ('{{< quote author="Marta" >}}Wait.{{< /quote >}}', "Quote: Marta Wait."),
        ('{{< tabs "uid" >}}\nx', "x"),
        ("Write {{</* note */>}}.", "Write {{< note >}}."),
        ("a{% comment %}b{% endcomment %} c{{/* d */}} e{::comment}f{:/comment}", "a c e"),
        ("\n{: .warning }\nHot.\n\nCold.\n{: .note }", "Warning:\nHot.\n\nCold."),
        (
            "::: shop.pumps.Pump\n    options:\n      a: b\n\nEnd.",
            "**shop.pumps.Pump**\n\n\n\nEnd.",
        ),
        (
            "<Tabs values={[{label: 'Red apple', value: 'a'}]}>\n<TabItem value=\"a\">\n\nRipe.\n\n"
            "</TabItem>\n</Tabs>",
            "> **[Red apple]**\n>\n> Ripe.\n>",
        ),
        ('{% swagger method="get" path="/plums" summary="List" %}', "GET /plums List"),
        ('{% embed url="https://a.org/b" %}', "[https://a.org/b](https://a.org/b)"),
        ("--8<--\na.md\n--8<--\nEnd.", "[a.md](a.md)\n\nEnd."),
        ("[a](b.md){target=_blank} `c`{.d} *e*{.f} [g]{.h} i.", "[a](b.md) `c` *e* g i."),
        ("10^6^ m, 19^th^, E=mc^2^ and a^b^c, 2^3^4", "10^6 m, 19th, E=mc^2 and a^b^c, 2^3^4"),
        ("word^[A note\nof [it](a.md).] not ^[a-z]", "word (A note\nof [it](a.md).) not ^[a-z]"),
        ("++ctrl+c++ ^^new words^^ but C++ or D++, ++i", "ctrl+c new words but C++ or D++, ++i"),
        ("{--50--}{++40++} {~~a~>b~~} {==c==}{>>d<<}", "~~50~~ 40 ~~a~~ b ==c=="),
        ("<template #title>\nTeam\n</template>", "Team"),
        (
            '<Tabs>\n<TabItem value="apple">\n\nRed.\n\n</TabItem>\n</Tabs>',
            "> **[apple]**\n>\n> Red.\n>",
        ),
    ],
)
def test_markup_of_generators_is_read_as_shown(written: str, shown: str) -> None:
    reading = read_text(f"{written}\n")
    assert reading.text.strip() == shown
    assert reading.words is not None and reading.words.unaccounted == 0


def test_modifiers_of_admonitions_are_left_out() -> None:
    reading = read_text("!!! tip inline end\n    Words.\n")
    assert reading.text.strip() == "> Tip:\n> Words."
    assert reading.words is not None and reading.words.unaccounted == 0


def test_icons_that_say_yes_or_no_are_signs() -> None:
    table = "| Plum | Fig |\n|---|---|\n| :material-check: | :fontawesome-solid-xmark: |\n"
    assert "| \u2713 | \u2717 |" in read_text(table).text


def test_tags_in_animated_terminals_are_left_out() -> None:
    code = '```console\n$ <font color="#4E9A06">pick</font> <u>plums.py</u>\n```\n'
    assert "$ pick plums.py\n" in read_text(f'<div class="termy">\n\n{code}\n</div>\n').text
    assert "$ <font" in read_text(code).text
