"""reStructuredText with Sphinx's directives and roles; unknown or invalid markup keeps its text."""

import pytest

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.formats.rst import reader
from foundry.readers.notes import taking_notes


def read(text: str) -> Reading:
    return reader.read(f"Page\n====\n\n{text}\n".encode())


def body(text: str) -> str:
    return read(text).text.removeprefix("# Page").strip()


def outline(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read(text).headings[1:]]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (".. note:: Never shake.", "> **Note:** Never shake."),
        (".. warning::\n   :collapsible:\n\n   Hot.", "> **Warning:** Hot."),
        (".. admonition:: Own\n\n   Words.", "> **Own:** Words."),
        (".. topic:: Topic\n\n   Words.", "> **Topic:** Words."),
        (".. sidebar:: Side\n\n   Words.", "> **Side:** Words."),
        (".. seealso:: The manual.", "> **See also:** The manual."),
        (".. versionadded:: 3.1", "Added in version 3.1"),
        (".. versionadded:: 3.1\n   Some *words*.", "Added in version 3.1: Some *words*."),
        (".. versionchanged:: 3.1 Faster.", "Changed in version 3.1: Faster."),
        (".. deprecated:: 4.0\n\n   Use *that*.", "Deprecated since version 4.0: Use *that*."),
        (".. only:: html\n\n   Words.", "Words."),
        (".. tab-item:: Linux\n   :sync: a\n\n   Words.", "> **[Linux]**\n>\n> Words."),
        (".. code-tab:: sh Linux *x*\n\n   ls", "> **[Linux x]**\n>\n> ```sh\n> ls\n> ```"),
        (".. dropdown:: More\n\n   Words.", "> \u25b8 **More**\n>\n> Words."),
        (".. dropdown:: More\n   :open:\n\n   Words.", "> **More**\n>\n> Words."),
        (".. grid:: 1 2 2 4\n\n   Words.", "Words."),
        (".. card:: Title\n\n   Words.\n   +++\n   Foot.", "Title\n\nWords.\n\nFoot."),
        (".. rubric:: Words", "**Words**"),
        (".. button-ref:: a-label\n   :color: primary\n\n   Words", "Words"),
        (".. centered:: Words", "Words"),
        (".. nobody-knows:: it\n   :a: b\n   :title: T\n\n   Words.", "it\n\nT\n\nWords."),
        (".. figure:: a.png\n   :figclass: x\n\n   Words.", "![](a.png)\n\nWords."),
        (".. image:: a.png\n   :bogus: 1\n   :alt: Words", "![Words](a.png)"),
        (".. raw:: html\n\n   <p>Some <b>words</b></p>", "Some **words**"),
        ("| one\n| two", "one  \ntwo"),
    ],
)
def test_words_of_directives_are_read(written: str, said: str) -> None:
    assert body(written) == said


@pytest.mark.parametrize(
    "written",
    [
        ".. code-block:: python\n   :linenos:\n   :nobody-knows: 1\n\n   a = *b",
        ".. code:: python\n   :number-lines:\n\n   a = *b",
        ".. testcode::\n\n   a = *b",
    ],
)
def test_code_stays_code_with_any_options(written: str) -> None:
    assert body(written) == "```python\na = *b\n```"


def test_captions_of_code_are_read() -> None:
    assert body(".. code-block:: c\n   :caption: a.c\n\n   f();") == "a.c\n\n```c\nf();\n```"
    assert body(".. prompt:: bash $\n\n   ls") == "bash $\n\n```\nls\n```"


def test_equations_keep_their_labels() -> None:
    assert body(".. math::\n   :label: eq\n\n   a = b^2") == "$$a = b^2$$ (eq)"
    assert body("Of :math:`a^2` and :eq:`eq`.") == "Of $a^2$ and (eq)."


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("`!Name` and `~a.Name`", "Name and a.Name"),
        (":py:func:`~os.path.join`", "os.path.join"),
        (":nobody:`the text <target>`", "the text"),
        (":doc:`the page <../b>`", "[the page](../b.rst)"),
        (":doc:`/b`", "[/b](/b.rst)"),
        (":menuselection:`File --> Open`", "File > Open"),
        (":samp:`rm {file}`", "`rm file`"),
        ("10\\ :sup:`6`", "10^6"),
        ("H\\ :sub:`2`\\ O", "H2O"),
        ("un\\ **believ**\\ able", "unbelievable"),
        ("a **bold** word", "a **bold** word"),
        ("``a_b``", "`a_b`"),
        ("|version|", "|version|"),
        ("`text <https://a.example>`_", "[text](https://a.example)"),
    ],
)
def test_inline_markup(written: str, said: str) -> None:
    assert body(written) == said


def test_references_show_the_titles_of_labels() -> None:
    text = ".. _use:\n\nThe *use*\n---------\n\nSee :ref:`use`, :ref:`it <use>`, :ref:`other`."
    assert body(text).endswith("See [The use](#the-use), [it](#the-use), other.")


def test_references_to_labels_are_links() -> None:
    (link,) = read("See :ref:`the guide <usage>`.").links
    assert (link.target, link.text, link.kind) == ("usage", "the guide", "wikilink")


def test_footnotes_and_citations_are_separate_from_words() -> None:
    text = "Old [#a]_ tree [B]_.\n\n.. [#a] By monks.\n.. [B] A book."
    assert body(text) == "Old [^1] tree [B].\n\n[^1]: By monks.\n\n[B] A book."


DOCUMENTED = """\
.. autoclass:: Cursor
   :members:

   A cursor.

   .. automethod:: execute(query, *, binary=None) -> Cursor

      :param query: What to do.

   .. attribute:: closed
      :type: bool

      Whether.

.. option:: -f FILE, --file FILE

   A file.

.. c:function:: int Py_Bar(PyObject *o)

   Words.

.. http:get:: /users/(int:id)

   Words.
"""


def test_documented_objects_have_sections_named_by_their_signatures() -> None:
    assert outline(DOCUMENTED) == [
        (2, "Cursor"),
        (3, "Cursor.execute(query, *, binary=None) -> Cursor"),
        (3, "Cursor.closed: bool"),
        (2, "-f FILE, --file FILE"),
        (2, "int Py_Bar(PyObject *o)"),
        (2, "GET /users/(int:id)"),
    ]
    assert "param query: What to do." in body(DOCUMENTED)


def test_names_of_callables_have_brackets() -> None:
    text = ".. class:: Cursor\n\n   .. automethod:: close\n   .. autoattribute:: closed\n"
    assert outline(text) == [(2, "Cursor"), (3, "Cursor.close()"), (3, "Cursor.closed")]


def test_content_of_notes_belongs_to_them() -> None:
    text = ".. note::\n\n   Words.\n\n   .. code-block:: sh\n\n      ls\n\nMore."
    assert body(text) == "> **Note:** Words.\n>\n> ```sh\n> ls\n> ```\n\nMore."


def test_pictures_among_the_sources_are_linked() -> None:
    image = ".. image:: {}\n   :alt: A plan\n\n"
    text = f"{image.format('img/plan.png')}Text.\n\n{image.format('https://a.example/b.png')}End."
    assert body(text) == "![A plan](img/plan.png)\n\nText.\n\n![A plan]()\n\nEnd."


def test_glossary_terms_may_share_a_definition() -> None:
    text = ".. glossary::\n\n   one\n   two\n      Words.\n\n   .. no\n\n   three\n      More."
    assert body(text) == "one  \ntwo\n: Words.\n\nthree\n: More."


def test_tables() -> None:
    assert body("+---+---+\n| a | b |\n+   +---+\n|   | c |\n+---+---+") == (
        "| a | b |\n| --- | --- |\n| a | c |"
    )
    options = ":header-rows: 1\n   :nobody: x"
    listed = f".. list-table:: T\n   {options}\n\n   * - A\n     - B\n   * - 1\n     - 2"
    assert body(listed) == "**T**\n\n| A | B |\n| --- | --- |\n| 1 | 2 |"


def test_lists_keep_their_numbers() -> None:
    assert body("c. third\nd. fourth") == "c. third\nd. fourth"
    assert body("(3) third\n(4) fourth") == "(3) third\n(4) fourth"


def test_sections_under_conditions_are_sections() -> None:
    assert outline(".. only:: html\n\n   Inner\n   -----\n\n   Words.") == [(2, "Inner")]


def test_unparsable_text_is_read_as_written() -> None:
    assert "kiwi" in body(".. list-table::\n   :header-rows: 9\n\n   * - kiwi")
    assert "kiwi" in body("=====  =====\nkiwi   b\n=====")


def test_left_out_text_is_reported() -> None:
    text = ".. toctree::\n\n   Other <b>\n\n.. index:: pears\n\n.. a remark\n\n.. currentmodule:: m"
    with taking_notes() as notes:
        assert body(text) == ""
    told = [(each.reason, each.text.strip()) for each in notes.left_out]
    assert told == [
        (Omission.NAVIGATION, "Other <b>"),
        (Omission.ATTRIBUTE, "pears"),
        (Omission.MACRO, "m"),
        (Omission.COMMENT, "a remark"),
    ]


def test_text_after_an_object_belongs_to_the_enclosing_section() -> None:
    reading = read(
        "First.\n\nSub\n---\n\n.. class:: K\n\n   .. method:: m()\n\n      Of m.\n\n"
        "   Of K.\n\nOf the section.\n\n.. function:: f()\n\n   Of f.\n"
    )
    told = [
        (each.level, each.text, reading.text[each.end :].lstrip("\n").split("\n")[0])
        for each in reading.headings
    ]
    assert told == [
        (1, "Page", "First."),
        (2, "Sub", "### K"),
        (3, "K", "#### K.m()"),
        (4, "K.m()", "Of m."),
        (4, "", "Of K."),
        (3, "", "Of the section."),
        (3, "f()", "Of f."),
    ]


def test_left_out_tags_and_arguments_are_reported() -> None:
    source = (
        '.. meta::\n   :description: Fruit\n\n.. raw:: html\n\n   <p class="big">Raw</p>\n\n'
        ".. container:: boxed\n\n   Inside.\n\n.. glossary::\n\n   pear : fruit\n      Green.\n"
    )
    with taking_notes() as notes:
        text = body(source)
    assert text == "Raw\n\nInside.\n\npear\n: Green."
    told = " ".join(each.text for each in notes.left_out)
    assert all(word in told for word in ("Fruit", 'class="big"', "boxed", "fruit"))


def test_links_within_a_document_lead_to_sections() -> None:
    text = "See it_, `Part two`_ and here__.\n\n__ it_\n\nPart two\n--------\n\n.. _it:\n\nWords."
    assert body(text).startswith(
        "See [it](#part-two), [Part two](#part-two) and [here](#part-two).\n"
    )


def test_linked_pictures_and_rules_are_shown() -> None:
    text = ".. image:: a.png\n   :target: it_\n\n----\n\n.. _it: https://e.org\n\nWords."
    assert body(text) == "[![](a.png)](https://e.org)\n\n---\n\nWords."


def test_metadata_is_not_shown() -> None:
    text = ".. meta::\n   :keywords: a, b\n   :description lang=en: c\n\nWords."
    assert body(text) == "Words."


def test_included_files_are_named_in_place() -> None:
    text = ".. literalinclude:: src/plum.py\n   :caption: Picking\n\n.. include:: a/note.inc\n\n"
    table = ".. csv-table:: Prices *now*\n   :file: prices.csv\n   :header-rows: 1\n"
    assert body(text + table).split("\n\n") == [
        *("Picking", "src/plum.py", "a/note.inc", "Prices *now*", "prices.csv")
    ]


def test_references_to_figures_tables_and_code_show_their_captions() -> None:
    things = (
        ".. _fig:\n\n.. figure:: a.png\n\n   A quince\n\n"
        ".. _tab:\n\n.. table:: Prices\n\n   == ==\n   1  2\n   == ==\n\n"
        ".. _code:\n\n.. code-block:: python\n   :caption: pick.py\n\n   pick()\n\n"
        ".. figure:: b.png\n   :name: own\n\n   A plum\n"
    )
    said = ":ref:`fig`, :ref:`tab`, :ref:`code`, :ref:`own`"
    numbers = ":numref:`fig`, :numref:`Figure %s <fig>`, :numref:`See {name} <tab>`"
    elsewhere = ":numref:`Table %s <far>`, :numref:`far`"
    first = body(f"{said}; {numbers}; {elsewhere}\n\n{things}").split("\n")[0]
    assert first == (
        "A quince, Prices, pick.py, A plum; A quince, Figure (A quince), See Prices; Table, far"
    )


def test_labels_are_link_targets_for_other_files() -> None:
    assert read(".. _the-label:\n\nTitle\n=====\n\n.. _e: https://e.org\n").aliases == (
        "the-label",
    )
