"""Pages in Confluence's storage format, as files of HTML or XML."""

import pytest

from foundry.documents import Document, RawDocument
from foundry.readers import read

PAGE = """<h1>Deploying</h1>
<p>See <ac:link><ri:page ri:content-title="Release Notes"/><ac:plain-text-link-body>\
<![CDATA[the notes]]></ac:plain-text-link-body></ac:link>&nbsp;and \
<ac:link><ri:page ri:content-title="Costs"/></ac:link>, \
<time datetime="2024-05-03"/> <ac:emoticon ac:name="tick"/>.</p>
<ac:structured-macro ac:name="code" ac:macro-id="f">\
<ac:parameter ac:name="language">bash</ac:parameter>\
<ac:parameter ac:name="title">deploy.sh</ac:parameter>\
<ac:plain-text-body><![CDATA[if [ $a -lt 3 ]; then
  echo "<tag> && more"
fi]]></ac:plain-text-body></ac:structured-macro>
<ac:structured-macro ac:name="warning"><ac:parameter ac:name="title">Careful</ac:parameter>\
<ac:rich-text-body><p>Never on Friday.</p></ac:rich-text-body></ac:structured-macro>
<ac:structured-macro ac:name="expand"><ac:parameter ac:name="title">Why</ac:parameter>\
<ac:rich-text-body><ac:structured-macro ac:name="note"><ac:rich-text-body><p>Inner words.</p>\
</ac:rich-text-body></ac:structured-macro></ac:rich-text-body></ac:structured-macro>
<p><ac:image ac:alt="Flow"><ri:attachment ri:filename="flow.png"/></ac:image> \
<ac:structured-macro ac:name="status"><ac:parameter ac:name="colour">Green</ac:parameter>\
<ac:parameter ac:name="title">DONE</ac:parameter></ac:structured-macro> \
<ac:structured-macro ac:name="jira"><ac:parameter ac:name="key">ABC-7</ac:parameter>\
</ac:structured-macro></p>
<ac:structured-macro ac:name="toc"><ac:parameter ac:name="maxLevel">3</ac:parameter>\
</ac:structured-macro>
<ac:task-list><ac:task><ac:task-id>4</ac:task-id><ac:task-status>complete</ac:task-status>\
<ac:task-body>Write plan</ac:task-body></ac:task></ac:task-list>
<ac:layout><ac:layout-section ac:type="single"><ac:layout-cell><h2>Left</h2>\
<p>Last words.</p></ac:layout-cell></ac:layout-section></ac:layout>
"""


@pytest.mark.parametrize("name", ["page.html", "page.xml"])
def test_macros_are_read_as_shown(name: str) -> None:
    document = read(RawDocument("s", name, name, PAGE.encode()), is_worker=True)

    assert isinstance(document, Document)
    text = document.reading.text
    assert "See [the notes](Release%20Notes) and [Costs](Costs), 2024-05-03 \u2714." in text
    code = 'if [ $a -lt 3 ]; then\n  echo "<tag> && more"\nfi'
    assert f"**deploy.sh**\n\n```bash\n{code}\n```" in text
    assert "> **Warning:** Careful\n>\n> Never on Friday." in text
    assert "> \u25b8 **Why**" in text and "**Note:** Inner words." in text
    assert "![Flow](flow.png) DONE ABC-7" in text
    assert "- [x] Write plan" in text
    assert "Green" not in text and "3\n\n- [x]" not in text
    assert [heading.text for heading in document.reading.headings] == ["Deploying", "Left"]


@pytest.mark.parametrize("name", ["page.html", "page.xml"])
def test_every_word_of_a_storage_page_is_accounted_for(name: str) -> None:
    document = read(RawDocument("s", name, name, PAGE.encode()), is_worker=True)

    assert isinstance(document, Document) and document.reading.words is not None
    assert document.reading.unaccounted == ()
    assert document.reading.words.source > 30


@pytest.mark.parametrize("page", ["<p>One</p><ac:link>" * 90, "<ac:macro>x " * 900 + "last"])
def test_unclosed_macros_lose_no_words(page: str) -> None:
    document = read(RawDocument("s", "a.html", "a.html", page.encode()))

    assert isinstance(document, Document) and document.reading.unaccounted == ()
