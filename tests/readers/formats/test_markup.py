"""Mail, XML, reStructuredText, AsciiDoc, LaTeX, notebooks, subtitles, JSON, YAML and TOML."""

import json

import pytest

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers import read
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart


def read_file(content: str | bytes, path: str, sandbox: Sandbox | None = None) -> Document:
    raw = content.encode() if isinstance(content, str) else content
    document = RawDocument("s", path, path, raw)
    result = read(document) if sandbox is None else read_apart(document, sandbox)
    assert isinstance(result, Document), result
    return result


def outline(document: Document) -> list[tuple[int, str]]:
    text = document.reading.text
    for heading in document.reading.headings:
        assert text[heading.start : heading.end].strip(), heading
    return [(heading.level, heading.text) for heading in document.reading.headings]


MESSAGE = """\
From: Ann <ann@example.org>
To: bob@example.org
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Date: Tue, 05 Mar 2024 10:00:00 +0200
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Sch=F6ne Reise!
--X
Content-Type: application/pdf; name="../../etc/plan.pdf"
Content-Disposition: attachment; filename="../../etc/plan.pdf"

%PDF-1.4 never opened
--X--
"""


def test_message(sandbox: Sandbox) -> None:
    document = read_file(MESSAGE, "a.eml", sandbox)
    assert document.reading.text == (
        "From: Ann <ann@example.org>\nTo: bob@example.org\nDate: Tue, 05 Mar 2024 10:00:00 +0200"
        "\n\nSchöne Reise!\n\nAttachments: ../../etc/plan.pdf"
    )
    assert (document.title, document.modified) == ("Grüße", "2024-03-05T08:00:00Z")


def test_message_with_only_html(sandbox: Sandbox) -> None:
    message = (
        "Subject: S\nContent-Type: text/html; charset=utf-8\n\n<h1>Hi</h1><script>x</script><p>All"
    )
    assert read_file(message, "a.eml", sandbox).reading.text.split() == ["#", "Hi", "All"]


def test_mailboxes_have_a_section_for_each_message(sandbox: Sandbox) -> None:
    begin = "From ann@example.org Tue Mar  5 10:00:00 2024\n"
    box = begin + "Subject: One\n\nFirst words.\n\n" + begin + "Subject: Two\n\nFrom here on.\n"
    document = read_file(box, "a.mbox", sandbox)
    assert document.reading.text == "# One\n\nFirst words.\n\n# Two\n\nFrom here on."
    assert outline(document) == [(1, "One"), (1, "Two")]


def test_other_files_are_not_messages(sandbox: Sandbox) -> None:
    result = read_apart(RawDocument("s", "a.eml", "a.eml", b"just some words"), sandbox)
    assert isinstance(result, Skipped)
    assert result.reason == "not a message"


def test_text_around_images_in_restructured_text_is_kept(sandbox: Sandbox) -> None:
    figure = ".. figure:: a.png\n   :scale: 50%\n\n   A caption.\n\n"
    text = f"T\n=\n\n{figure}The |b| end.\n\n.. |b| image:: b.svg\n"
    document = read_file(text, "a.rst", sandbox)
    assert "A caption." in document.reading.text and "end." in document.reading.text


def test_xml_sections_have_their_own_names(sandbox: Sandbox) -> None:
    feed = (
        '<?xml version="1.0"?><rss><channel><title>News</title><item><title>First</title>'
        "<description>&lt;p&gt;Some &lt;b&gt;bold&lt;/b&gt; words&lt;/p&gt;</description></item>"
        "<item><title>Second</title><author><name>Ann</name></author></item></channel></rss>"
    )
    document = read_file(feed, "a.xml", sandbox)
    assert outline(document) == [(1, "News"), (2, "First"), (2, "Second")]
    assert "title: First\ndescription: Some bold words" in document.reading.text
    assert "title: Second\nauthor.name: Ann" in document.reading.text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<a>Words.</a>", "Words."),
        ("<a>Some <b>bold</b> words.</a>", "Some bold words."),
        ("<a>First.<b>Second.</b><b>Third.</b></a>", "First.\nb: Second.\nb: Third."),
        (
            "<a>First.<b>Second.<c>Third.</c></b>Last.</a>",
            "First.\n\n# b\n\nSecond.\nc: Third.\n\nLast.",
        ),
        (
            "<a><b><c><d>First.<e>Second.</e></d></c></b></a>",
            "# b\n\n## c\n\nd: First.\nd.e: Second.",
        ),
    ],
)
def test_xml_text_beside_elements_is_kept(content: str, text: str, sandbox: Sandbox) -> None:
    assert read_file(content, "a.xml", sandbox).reading.text == text


def test_mixed_xml_content_is_joined(sandbox: Sandbox) -> None:
    text = read_file(
        "<a><p>One <b>bold</b> word.</p><!-- no --></a>", "a.xml", sandbox
    ).reading.text
    assert text == "p: One bold word."


RST = """\
Title
=====

See :py:func:`~os.path.join` and :ref:`the guide <guide>`.

.. toctree::

   other

.. include:: /etc/hostname

.. raw:: html

   <script>bad</script>

.. function:: load(path)

   Loads it.

Second
------

.. code-block:: python

   x = 1
"""


def test_restructured_text(sandbox: Sandbox) -> None:
    document = read_file(RST, "a.rst", sandbox)
    assert outline(document) == [(1, "Title"), (2, "load(path)"), (2, "Second")]
    assert document.title == "Title"
    text = document.reading.text
    assert "See os.path.join and the guide." in text
    assert "load(path)\n\nLoads it." in text
    assert "```python\nx = 1\n```" in text
    assert not {"other", "bad"} & set(text.split())


def test_single_top_section_of_restructured_text_is_kept(sandbox: Sandbox) -> None:
    text = "Runbook\n=======\n\nDisk full\n---------\n\nSteps\n~~~~~\n\nRun it.\n"
    document = read_file(text, "a.rst", sandbox)
    assert outline(document) == [(1, "Runbook"), (2, "Disk full"), (3, "Steps")]
    assert document.title == "Runbook"


def test_asciidoc() -> None:
    source = (
        "= Guide\n:revdate: 2024-03-05\n\nSee link:a.adoc[here].\n\n== One\n\n----\n== no\n----\n"
    )
    document = read_file(source, "a.adoc")
    assert outline(document) == [(1, "Guide"), (2, "One")]
    assert (document.title, document.modified) == ("Guide", "2024-03-05")
    assert [(link.target, link.text) for link in document.reading.links] == [("a.adoc", "here")]
    assert [document.reading.text[b.start : b.end] for b in document.reading.blocks] == [
        "```\n== no\n```"
    ]


ASCIIDOC = """\
= Queues
:toc:
:broker: RabbitMQ
// for us
////
for us too
////

[[why]]
We use {broker}, not {other}; see https://r.example/docs[the docs^], <<how,How>> and <<why>>.
image::map.png[A map,300] Press kbd:[Ctrl+C] or menu:File[Quit].footnote:[On Linux.]

.Steps
* One
** Two
. First
+
Queue:: what waits
[source,bash]
.run.sh
----
echo "[x]" # not. a == heading
----
====
Within a box.
====
[cols="1,2",options="header"]
|===
|Queue |Days
2+|none
|a \\| b
and c
|7
|===
"""


def test_asciidoc_markup_becomes_markdown() -> None:
    assert read_file(ASCIIDOC, "a.adoc").reading.text == (
        "# Queues\n\n"
        "We use RabbitMQ, not {other}; see [the docs](https://r.example/docs), How and why.\n"
        "![A map](map.png) Press Ctrl+C or File > Quit. (On Linux.)\n\n"
        "Steps\n- One\n  - Two\n    1. First\n\nQueue\n: what waits\n\nrun.sh\n\n"
        '```bash\necho "[x]" # not. a == heading\n```\n\n'
        "Within a box.\n\n"
        "| Queue | Days |\n| --- | --- |\n| none | none |\n| a \\| b and c | 7 |"
    )


def test_latex() -> None:
    source = (
        "\\documentclass{article} % class\n\\title{My \\emph{Paper}}\n"
        "\\begin{document}\n\\maketitle\n"
        "\\section{Aims \\& ends}\\label{a}\nA \\textbf{bold \\emph{claim}}~\\cite{x}: 50\\%, "
        "\\SI{12}{h}.\n"
        "\\begin{itemize}\\item One\\end{itemize}\n\\subsection{More}\n"
        "\\begin{equation}\na_1 = b % c\n\\end{equation}\n\\end{document} rest"
    )
    document = read_file(source, "a.tex")
    assert outline(document) == [(1, "My Paper"), (2, "Aims & ends"), (3, "More")]
    text = document.reading.text
    assert "A bold claim [x]: 50%, 12 h." in text
    assert "- One" in text
    assert "\\begin{equation}\na_1 = b" in text
    assert "rest" not in text
    assert "article" not in text


def test_notebook() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Study\n", "Text with $x$."]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo"}},
            ],
        },
    ]
    details = {"kernelspec": {"language": "python"}}
    notebook = json.dumps({"cells": cells, "metadata": details, "nbformat": 4})
    document = read_file(notebook, "a.ipynb")
    assert document.reading.text == (
        "# Study\nText with $x$.\n\n```python\nprint(1)\n```\n\n```\n1\n```\n\n"
        "![](cell-2/output-2.png)"
    )
    assert outline(document) == [(1, "Study")]
    assert document.title == "Study"
    assert len(document.reading.blocks) == 2


def test_subtitles() -> None:
    srt = (
        "1\n00:00:01,000 --> 00:00:02,500\n<i>Good</i> morning,\n\n"
        "2\n00:00:02,500 --> 00:00:04,000\nmorning,\neverybody.\n\n"
        "3\n01:00:10,000 --> 01:00:12,000\nLater.\n"
    )
    expected = "[00:00:01] Good morning, morning, everybody.\n\n[01:00:10] Later."
    assert read_file(srt, "a.srt").reading.text == expected
    vtt = "WEBVTT\n\nNOTE no\n\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hello\n"
    assert read_file(vtt, "a.vtt").reading.text == "[00:00:01] Ann: Hello"
    sbv = "0:00:01.000,0:00:03.500\nGood\nmorning\n\n1:00:10.000,1:00:12.250\nat 1:00,2:00\n"
    assert read_file(sbv, "a.sbv").reading.text == (
        "[00:00:01] Good morning\n\n[01:00:10] at 1:00,2:00"
    )


def test_subtitles_have_speakers_and_decoded_characters() -> None:
    vtt = (
        "WEBVTT - The talk\n\nSTYLE\n::cue { color: red }\n\n1\n00:01.000 --> 00:03.000\n"
        "<v.loud Orla>The budget is &lt; 500.</v>\n<v Pim>I disagree.</v>\n\n"
        "00:03.000 --> 00:04.000\n<v Pim>Word <00:03.500><c>by</c> word.\n\n"
        "NOTE a remark\n\n00:04.000 --> 00:05.000\n\n"
    )
    document = read_file(vtt, "a.vtt")
    assert document.reading.text == (
        "The talk\n\n[00:00:01] Orla: The budget is < 500. Pim: I disagree. Word by word."
    )
    assert {each.text for each in document.reading.left_out} == {
        *("STYLE\n::cue { color: red }", "NOTE a remark")
    }


def test_substation_alpha_subtitles() -> None:
    ass = (
        "[Script Info]\nTitle: The talk\n\n[V4+ Styles]\nFormat: Name\nStyle: A,Arial\n\n"
        "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect,"
        " Text\n"
        "Dialogue: 0,0:00:03.50,0:00:05.00,A,Pim,0,0,0,,Then {\\i1}I{\\i0} do, too.\n"
        "Dialogue: 0,0:00:01.00,0:00:03.00,A,Orla,0,0,0,,I agree\\Nwith {sic} you.\n"
        "Comment: 0,0:00:01.00,0:00:03.00,A,,0,0,0,,check\n"
        "Dialogue: 0,0:00:06.00,0:00:07.00,A,,0,0,0,,{\\an7\\p1}m 0 0 l 9 9{\\p0}\n"
    )
    document = read_file(ass, "a.ass")
    assert document.reading.text == (
        "The talk\n\n[00:00:01] Orla: I agree with you. Pim: Then I do, too."
    )
    told = {each.text for each in document.reading.left_out}
    assert {"sic", "m 0 0 l 9 9"} <= told and document.reading.unaccounted == ()


def test_timed_text_has_speakers_and_lines(sandbox: Sandbox) -> None:
    ttml = (
        '<?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml"'
        ' xmlns:m="http://www.w3.org/ns/ttml#metadata"><head><metadata><m:title>The talk</m:title>'
        '<m:agent xml:id="o"><m:name>Orla Kay</m:name></m:agent></metadata></head><body>'
        '<div m:agent="o"><p begin="00:00:01.000" end="00:00:03.000">I <span>ag</span>ree<br/>'
        'with you.</p></div><div><p begin="70s" dur="2s"><span m:agent="pim">I do.</span></p>'
        '<p><span begin="1200ms">So</span></p></div></body></tt>'
    )
    document = read_file(ttml, "a.ttml", sandbox)
    assert document.reading.text == (
        "The talk\n\n[00:00:01] Orla Kay: I agree with you. So\n\n[00:01:10] pim: I do."
    )
    assert document.reading.unaccounted == ()
    other = RawDocument("s", "b.ttml", "b.ttml", b"<plums/>")
    assert isinstance(read_apart(other, sandbox), Skipped)


def test_empty_lines_in_subtitles() -> None:
    srt = (
        "1\n00:00:01,000 --> 00:00:02,000\n\nOne\n\ntwo\n\n2\n00:00:02,000 --> 00:00:03,000\n1984\n"
    )
    document = read_file(srt, "a.srt")
    assert document.reading.text == "[00:00:01] One two 1984"
    sbv = "0:00:01.000,0:00:02.000\nIn\n1984\n\n0:00:02.000,0:00:03.000\nit was.\n"
    assert read_file(sbv, "a.sbv").reading.text == "[00:00:01] In 1984 it was."
    vtt = "WEBVTT\nKind: captions\nLanguage: en\n\n00:01.000 --> 00:02.000\nHello\n"
    document = read_file(vtt, "a.vtt")
    assert document.reading.text == "[00:00:01] Hello"
    assert document.reading.unaccounted == ()


def test_rolling_captions_are_read_once() -> None:
    lines = [("one",), ("one", "two"), ("two", "three"), ("three",)]
    srt = "".join(
        f"{n}\n00:00:0{n},000 --> 00:00:0{n + 1},000\n" + "\n".join(shown) + "\n"
        for n, shown in enumerate(lines, start=1)
    )
    assert read_file(srt, "a.srt").reading.text == "[00:00:01] one two three"


YAML = """\
# Services of the shop.
services:
  web:
    image: nginx
  db: postgres
version: 3
flow: {a: {b: 1}}
list:
  - name: x
"""


def test_yaml_keys_are_the_outline() -> None:
    document = read_file(YAML, "compose.yaml")
    assert document.reading.text == YAML
    assert outline(document) == [
        *((1, "services"), (2, "web"), (2, "db"), (1, "version"), (1, "flow"), (1, "list")),
    ]
    assert document.title == "compose.yaml"


def test_json_escapes_are_decoded() -> None:
    written = (
        '{"title": "M\\u00fcller \\ud83d\\ude00 \\\\u00fc \\n \\u0022", "u": "https:\\/\\/e.org"}'
    )
    text = read_file(written, "a.json").reading.text
    assert text == '{"title": "Müller 😀 \\\\u00fc \\n \\u0022", "u": "https://e.org"}'


def test_json_and_toml_keys_are_the_outline() -> None:
    written = (
        '{\n  "name": "x",\n  "scripts": {\n    "test": {"a": 1}\n  },\n  "license": "MIT"\n}\n'
    )
    document = read_file(written, "package.json")
    assert document.reading.text == written
    assert outline(document) == [(1, "scripts"), (1, "license")]
    long = json.dumps({"paths": {"/a": {"get": "x " * 600}}})
    assert outline(read_file(long, "a.json")) == [(1, "paths"), (2, "/a")]
    toml = 'title = "x"\n[tool.ruff] # lint\nline = 1\n[[package]]\nname = "[y]"\n'
    assert outline(read_file(toml, "a.toml")) == [(1, "tool.ruff"), (1, "package")]


def test_values_of_json_on_one_line_are_unchanged() -> None:
    words = "x " * 600
    written = f'{{"a":[1.50,-0,1E400,[],{{}}],"b":"{{,:\\"}}","b":1.10,"c":"{words}"}}'
    shown = (
        '{\n  "a": [\n    1.50,\n    -0,\n    1E400,\n    [],\n    {}\n  ],\n'
        f'  "b": "{{,:\\"}}",\n  "b": 1.10,\n  "c": "{words}"\n}}'
    )
    assert read_file(written, "a.json").reading.text == shown


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ('{"a": 1, // comment\n}', "tsconfig.json"),
        ('{"a": ' + "7" * 5_000 + "}", "a.json"),
        ("a: [1\nb: }", "a.yaml"),
        ("a: &a [x]\nb: !!python/object:os.system [x]\nc: *a\nd: *missing", "a.yaml"),
        ("a: b\n\tc: d", "a.yaml"),
    ],
)
def test_invalid_files_are_read_as_text(content: str, path: str) -> None:
    assert read_file(content, path).reading.text == content


def test_escapes_in_json_lines_are_decoded() -> None:
    text = read_file(
        '{"a": "\\u00fc\\u00ad\\/"}\n{"a": "\\ud83d\\ude00 \\\\u00fc"}\n', "a.jsonl"
    ).reading.text
    assert text == '{"a": "ü/"}\n{"a": "😀 \\\\u00fc"}\n'


@pytest.mark.parametrize(
    ("content", "path", "expected"),
    [
        (
            r'a = "Gr\u00fc\u00dfe \U0001F600 so\u00adft \\u00fc \UFFFFFFFF \u0022"'
            "\nb = '\\u00fc'\n",
            "a.toml",
            r'a = "Grüße 😀 soft \\u00fc \UFFFFFFFF \u0022"' "\nb = '\\u00fc'\n",
        ),
        ("title=M\\u00fcller \\ud83d\\ude00\n", "messages.properties", "title=Müller 😀\n"),
    ],
)
def test_escapes_in_toml_and_properties_are_decoded(content: str, path: str, expected: str) -> None:
    reading = read_file(content, path).reading
    assert reading.text == expected
    if path.endswith(".properties"):
        assert reading.words is not None and reading.words.unaccounted == 0


def test_html_templates_do_not_count_as_lost() -> None:
    page = "<h1>Pumps</h1><p>Seals.</p><template><p>Row of a table</p></template>"
    reading = read_file(f"<main>{page}</main>", "a.html").reading
    assert "Row" not in reading.text
    assert reading.words is not None and reading.words.unaccounted == 0


def test_xml_attributes_are_read(sandbox: Sandbox) -> None:
    parts = (
        "<parts supplier='Acme' version='2.0'><part number='D40' price='3.50'/>"
        "<part number='D41'>spare</part></parts>"
    )
    assert read_file(parts, "a.xml", sandbox).reading.text == (
        "supplier = Acme\n\npart (number = D40, price = 3.50)\npart (number = D41): spare"
    )
    project = (
        "<project xmlns:x='http://www.w3.org/2001/XMLSchema-instance' x:noNamespaceSchemaLocation="
        "'a.xsd'><target name='all' depends='compile'><copy file='b'/></target>"
        "<p>Some <b class='k'>mixed</b> text</p></project>"
    )
    reading = read_file(project, "a.xml", sandbox).reading
    assert reading.text == (
        "# all\n\nname = all, depends = compile\n\ncopy (file = b)\n\np: Some mixed text"
    )
    assert [one.text for one in reading.left_out] == ["a.xsd", "k"]


@pytest.mark.parametrize("path", ["a.log", "a.txt", "a.md", "a.toml"])
def test_terminal_codes_are_removed(path: str) -> None:
    written = "\x1b[1;31merror\x1b[0m: \x1b]0;title\x07N\bNA\bAME _\bf_\bi\n"
    assert read_file(written, path).reading.text.strip() == "error: NAME fi"
