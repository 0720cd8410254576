"""MyST: roles, labels and directives become Markdown, and no word is lost silently."""

import pytest
from document_files import read_whole

from foundry.documents import Document, RawDocument
from foundry.readers import read


def text_of(source: str) -> str:
    return read_whole(source, "a.md").reading.text


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("See {doc}`the guide <guide/start>` and {ref}`intro`.", "See the guide and intro."),
        ("By {cite:p}`solow1956` in {math}`a^2`.", "By [solow1956] in $a^2$."),
        ("Use {kbd}`Ctrl+C`, {py:func}`~os.path.join`.", "Use `Ctrl+C`, `os.path.join`."),
        ("See [](#top) and {ref}`top` and [](#none).", "See [T](#t) and [T](#t) and [](#none)."),
        ("By {rfc}`2119`, {pep}`8`.", "By RFC 2119, PEP 8."),
        ("10{sup}`6` and {abbr}`HTML (markup)`", "10^6 and HTML (markup)"),
        ("`{doc}` is a role, `{ref}`x", "`{doc}` is a role, `{ref}`x"),
    ],
)
def test_roles(written: str, expected: str) -> None:
    assert text_of(f"(top)=\n# T\n\n{written}\n").strip() == f"# T\n\n{expected}"


def test_code_keeps_its_lines_but_not_its_options() -> None:
    source = "```{code-cell} ipython3\n:tags: [hide]\n\nx = {ref}`no`\n```\n\nAfter.\n"
    assert "```ipython3\nx = {ref}`no`\n```" in text_of(source).replace(
        "ipython3\n\n", "ipython3\n"
    )


def test_formulas_figures_and_exercises() -> None:
    source = (
        "```{math}\n:label: eq\nk = s\n```\n\n```{figure} a.png\n---\nname: f\n---\nThe caption.\n"
        "```\n\n````{prf:theorem} Euler\nWords.\n```{note}\nInside.\n```\n````\n"
    )
    text = text_of(source)
    for said in ("$$\nk = s\n$$", "The caption.", "Theorem Euler:", "Words.", "Note:", "Inside."):
        assert said in text
    assert "![](a.png)" in text


def test_pictures_keep_their_description() -> None:
    source = (
        "```{image} a.png\n:width: 3\n:alt: A plum\n```\n\n"
        ":::{figure} /b.png\n:alt: A tree\n\nText\n:::\n"
    )
    assert text_of(source).split() == "![A plum](a.png) ![A tree](/b.png) Text".split()


def test_list_tables() -> None:
    source = "```{list-table} Prices\n:header-rows: 1\n* - Fruit\n  - Kg\n* - Plum\n  - 17\n```\n"
    assert "| Fruit | Kg |\n| --- | --- |\n| Plum | 17 |" in text_of(source)


def test_instructions_to_the_builder_are_left_out() -> None:
    source = "(a-label)=\n# T\n\n% a comment\n\n```{toctree}\n:hidden:\nother\n```\n\n+++\n\nEnd.\n"
    assert text_of(source).split() == ["#", "T", "End."]


def test_executable_code_stays_code() -> None:
    source = "# T\n\n{ref}`x`\n\n```{r}\nplot(x)\n```\n"
    assert "```{r}\nplot(x)\n```" in text_of(source)


def test_line_numbers_are_kept() -> None:
    source = "(a)=\n# T\n\n:::{warning} Step\n:class: big\nHot.\n:::\n\nLine nine.\n"
    assert text_of(source).split("\n")[8] == "Line nine."


def test_braces_in_code_are_not_roles() -> None:
    said = "Read `/items/{item_id}` with `x`, and `/a/{b}`\nor `\\begin{verbatim}` or `y`."
    assert text_of(f"{{ref}}`top`\n\n{said}\n").strip() == f"top\n\n{said}"


def test_roles_may_span_lines() -> None:
    source = "(a)=\n# T\n\nSee {ref}`the long\nlabel <a>`, {u}`under`.\n\n{doc}`x\n\ny`\n"
    assert "See the long\nlabel, under.\n\n{doc}`x\n\ny`" in text_of(source)


def test_fences_in_cells_of_a_list_table() -> None:
    source = """\
````{list-table} Codes
:header-rows: 1

* - Name
  - Code
* - one
  - ```python
    fill(pump)
    * - 2
    ```
    Then wait.
* - two
  - ~~~
    stop `now`
    ~~~
* - ```{note}
    Careful {kbd}`Ctrl`.
    ```
  - :::{tip}
    Rest
    :::
````
"""
    expected = [
        "Codes",
        "| Name | Code |",
        "| --- | --- |",
        "| one | `fill(pump)` `* - 2` Then wait. |",
        "| two | `` stop `now` `` |",
        "| Careful `Ctrl`. | Rest |",
    ]
    assert [line for line in text_of(source).split("\n") if line] == expected


def test_documented_objects_are_prose_below_their_signatures() -> None:
    source = (
        "````{py:class} Tree(name)\n:module: a\n\nA *tree*.\n\n"
        "```{py:method} grow(cm)\nGrow.\n```\n````\n"
        ":::{confval} depth\n:type: int\n\nDepth.\n:::\n```{option} --force\nForce.\n```\n"
        "```{prf:theorem} Euler\nWords.\n```\n```{autoclass} Tree\n```\n"
    )
    lines = [line for line in text_of(source).split("\n") if line]
    assert lines == [
        *("**Tree(name)**", "A *tree*.", "**grow(cm)**", "Grow.", "**depth**", "type: int"),
        *("Depth.", "**--force**", "Force.", "Theorem Euler:", "Words."),
        *("```{autoclass} Tree", "```"),
    ]


def test_csv_tables() -> None:
    source = (
        '```{csv-table} Prices\n:header: Fruit, Kg\n:widths: 1, 2\n\nPlum, 17\n"Fig, dry", 4\n```\n'
    )
    assert "| Fruit | Kg |\n| --- | --- |\n| Plum | 17 |\n| Fig, dry | 4 |" in text_of(source)


def test_captions_of_toctrees_are_left_out() -> None:
    assert text_of("# T\n\n```{toctree}\n:caption: Guides\na\n```\n").split() == ["#", "T"]


def test_included_files_are_linked() -> None:
    source = "```{include} ../a_b.md\n```\n\n```{literalinclude} c.py\n:lines: 2\n```\n"
    assert text_of(source).rstrip() == "[../a_b.md](../a_b.md)\n\n\n[c.py](c.py)"


def test_eval_rst_blocks_are_read() -> None:
    source = (
        "# T\n\n```{eval-rst}\n.. _place:\n\n.. warning:: Hot\n\n   Never touch it.\n\n"
        "   .. code-block:: python\n\n      def f():\n          return 1\n\n"
        ".. autofunction:: a.pick\n\nSee :ref:`the place <place>` and `Docs <https://e.org>`_::\n\n"
        "    plain\n      code\n\n.. A comment\n   of two lines.\n\n.. list-table::\n\n"
        "   * - Fruit\n     - Kg\n   * - Plum\n     - 17\n```\n\nAfter.\n"
    )
    document = read(RawDocument("s", "a.md", "a.md", source.encode()))
    assert isinstance(document, Document) and document.reading.unaccounted == ()
    text = document.reading.text
    assert "> Warning: Hot" in text and "> Never touch it." in text
    assert "> ```python\n> def f():\n>     return 1\n> ```" in text
    assert "**a.pick**" in text
    assert "See the place and [Docs](https://e.org):\n```\nplain\n  code\n```" in text
    assert "| Fruit | Kg |\n| --- | --- |\n| Plum | 17 |" in text
    assert "comment" not in text and ".." not in text
