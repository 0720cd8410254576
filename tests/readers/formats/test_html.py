"""HTML: main content, structure, hidden text, and pages that stress a parser."""

import time

import pytest
from document_files import read_document

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers import read


def read_page(page: str | bytes) -> Document:
    return read_document(page, "a.html")


def test_the_main_content_becomes_markdown() -> None:
    document = read_page(
        "<html><head><title>Guide</title></head><body><nav>Menu</nav><header>Site</header>"
        "<main><header><h1>Start</h1></header><p>Read <a href='b.html'>this</a>.</p>"
        "<pre><code>x = 1\ny = 2</code></pre><table><tr><th>a</th></tr><tr><td>1</td></tr></table>"
        "</main><aside>Ad</aside><footer>Legal</footer></body></html>"
    )
    reading = document.reading
    assert document.title == "Guide"
    assert [(heading.level, heading.text) for heading in reading.headings] == [(1, "Start")]
    assert [(link.target, link.text) for link in reading.links] == [("b.html", "this")]
    assert "x = 1\ny = 2" in reading.text
    assert len(reading.blocks) == 2
    for word in ("Menu", "Site", "Ad", "Legal"):
        assert word not in reading.text


@pytest.mark.parametrize(
    "element",
    [
        "<style>.secret{}</style>",
        "<p aria-hidden='true'>secret</p>",
        "<p style='color:red; DISPLAY : none'>secret</p>",
        "<template><p>secret</p></template>",
        "<!-- secret -->",
    ],
)
def test_hidden_elements_are_left_out(element: str) -> None:
    assert "secret" not in read_page(f"<body><p>shown</p>{element}</body>").reading.text


def test_all_articles_are_kept() -> None:
    text = read_page("<body><article>first</article><article>second</article></body>").reading.text
    assert "first" in text
    assert "second" in text


def test_titles() -> None:
    assert read_page("<body><h1>One <b>two</b></h1>x").title == "One two"
    assert read_page("<head><meta property='og:title' content='Og'></head><p>x").title == "Og"


def test_descriptions_of_images_are_kept() -> None:
    page = "<p>see <img src='data:image/png;base64,AAAA' alt='a chart'> and <img src='x.png'></p>"
    assert read_page(page).reading.text.strip() == "see ![a chart]() and"


def test_declared_charset() -> None:
    page = "<html><meta charset='iso-8859-2'><p>Příliš žluťoučký</html>".encode("iso-8859-2")
    assert "Příliš žluťoučký" in read_page(page).reading.text
    utf8 = "<html><meta charset='iso-8859-1'><p>é</html>".encode()
    assert "é" in read_page(utf8).reading.text


def test_date_of_change_is_read_from_the_page() -> None:
    page = "<meta property='article:modified_time' content='2024-05-06T07:08:09Z'><p>x"
    assert read_page(page).modified == "2024-05-06T07:08:09Z"


@pytest.mark.parametrize("tag", ["div", "b", "blockquote", "ul", "table", "span", "h1", "font"])
def test_deep_pages_are_skipped_at_once(tag: str) -> None:
    begin = time.process_time()
    result = read(RawDocument("s", "a.html", "a.html", f"<{tag}>".encode() * 1_000_000))
    assert isinstance(result, Skipped)
    assert result.reason == "elements are nested too deeply"
    assert time.process_time() - begin < 30


def test_closed_elements_do_not_count_as_nesting() -> None:
    assert read_page("<div><p>x</p></div>" * 2_000).reading.text.count("x") == 2_000
    assert read_page("<ul>" + "<li>x" * 2_000 + "</ul>").reading.text.count("x") == 2_000
    scripted = "<script>" + "'<div>';" * 2_000 + "</script><p>x"
    assert read_page(scripted).reading.text.strip() == "x"


@pytest.mark.parametrize(
    "page",
    [
        "<p>x" + "<!--" * 100_000,
        "<p>x<a " + "y" * 5_000_000,
        "<p>x<a " + "y=1 " * 100_000 + ">z</a>",
        "<p>x" + "<script>" * 100_000,
        "<p>x<select>" + "<option>y" * 50_000,
        "<p>x" + "&amp;" * 100_000,
        "<p>x" + "<template shadowrootmode=open>" * 200,
        '<?xml version="1.0"?><html><p>x' + "<![CDATA[" * 50_000,
        "<p>x<svg/>" + "<math>" * 200,
    ],
)
def test_unterminated_and_giant_tags_are_read(page: str) -> None:
    begin = time.process_time()
    assert "x" in read_page(page).reading.text
    assert time.process_time() - begin < 30


@pytest.mark.parametrize(
    "body",
    [
        "<div id=root></div><script src=a.js></script>",
        "<app-root>Loading...</app-root><script>x</script>",
        "<p>Loading</p><noscript>Please enable JavaScript.</noscript><script src=a.js></script>",
    ],
)
def test_pages_filled_by_scripts_need_a_browser(body: str) -> None:
    skipped = read(
        RawDocument(source="s", key="a", path="a.html", content=f"<title>T</title>{body}".encode())
    )
    assert isinstance(skipped, Skipped)
    said = "the page is filled by JavaScript"
    assert (skipped.reason, skipped.detail) == ("needs a browser", said)


def test_pages_with_words_need_no_browser() -> None:
    words = "<p>" + "These words are there without a script. " * 5
    page = f"<div id=root>{words}</div><script></script><noscript>JavaScript?</noscript>"
    document = read(RawDocument(source="s", key="a", path="a.html", content=page.encode()))
    assert isinstance(document, Document)


def test_pages_in_frames_are_read_in_place() -> None:
    page = (
        "<main><p>Before.</p><iframe width=9 srcdoc='<p>Plums &amp;amp; figs</p>' title=x></iframe>"
        '<iframe srcdoc="&lt;h2&gt;Inner&lt;/h2&gt;&lt;script&gt;x()&lt;/script&gt;">old</iframe>'
        '<iframe hidden srcdoc="secret"></iframe><p>After.</p></main>'
    )
    assert read_page(page).reading.text == "Before.\n\nPlums & figs\n\n## Inner\n\nAfter."


def test_unclosed_frames_take_linear_time() -> None:
    begun = time.process_time()
    read(RawDocument("s", "a.html", "a.html", b"<iframe srcdoc='" * 100_000 + b"<p>Words."))
    read(RawDocument("s", "b.html", "b.html", b"<p>Words." + b"<iframe srcdoc=''>" * 50_000))
    assert time.process_time() - begun < 20
