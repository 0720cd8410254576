"""The pages of an exported server in Chromium, used like a person would."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from browsers import PATIENCE_MS, Visit, browser, playwright, visit
from conftest import write_project
from language_models import Call, Reply, answer, language_model
from servers import get, in_checkout, serving

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once")]

TOKEN = "a-token-of-at-least-32-characters"
HOSTILE = (
    "<img src='http://evil.example/i.png' onerror=\"fetch('http://evil.example')\">"
    "<script>document.title = 'taken'</script>"
)
LANES = {"meaning": "semantic", "words": "keyword"}
BIDI = "invoice\u202efdp.exe"
CONFIG = """
[project]
name = "handbook"
title = "Hand<b>book</b>"
description = "What is known & what is not."

[[sources]]
name = "pages"
type = "folder"
path = "sources"

[[sources]]
name = "table"
type = "records"
path = "table.jsonl"
id = "id"
title = "title"
text = "text"
url = "url"
text_format = "markdown"

[server]
language_model = true
"""
VENTILATION = """---
tags: [air, safety]
date: 2024-03-04
---
# Ventilation

Fresh air has to reach every working face.

## Fans

The main fan is *never* stopped while people are below. See [the rule](https://rules.example/).

| fan | cfm |
|---|---|
| main | 9000 |

```python
speed = "fast"  # <b>not bold</b>
```
"""
LAMPS = "---\ntags: [light]\ndate: 2021-01-01\n---\n# Lamps\n\nA lamp burns for nine hours.\n"
LONG = "# Ledger\n\n" + "\n\n".join(
    f"## Entry {number}\n\nAccount zq{number} of the ledger was settled." for number in range(150)
)
RECEIPT = "It has to be paid from an account."
LINKS = """# Links

Of [lamps](lamps.md), [[Lamps]] and [the fans](ventilation.md#fans), as [below](#below) told.

Away: ![no](x.png) [![picture](y.png)](https://away.example/a_(b)?c=d#e),
<https://away.example/auto>, and https://away.example/bare.

None: [a script](javascript:alert(1)), [mail](mailto:a@b.example) and [gone](gone.md), [[nowhere]],
`[code](lamps.md)`. But **[in bold](./lamps.md)**.

## Below

> [!WARNING]
> It is hot.

```
Account = 1
```

So are callouts.
"""
RECORDS = [
    {
        "id": "evil/../1",
        "title": f"Parrot {HOSTILE}",
        "text": f"A parrot says {HOSTILE} and ![x](http://evil.example/p.png) and"
        f" [here](javascript:alert(1)) and {BIDI}.",
        "url": "https://evil.example/" + BIDI,
    },
    {"id": "cave", "title": "Cave", "text": "The cave is dark.", "url": "https://cave.example/x"},
]


@dataclass(frozen=True)
class Served:
    """An exported server, and a browser."""

    export: Path
    running: Any
    address: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    files = {
        **{"ventilation.md": VENTILATION, "lamps.md": LAMPS, "links.md": LINKS, "ledger.md": LONG},
        **{f"receipt{number}.md": f"# Receipt {number}\n\n{RECEIPT}\n" for number in range(24)},
        "./table.jsonl": "\n".join(map(json.dumps, RECORDS)),
    }
    root = tmp_path_factory.mktemp("project")
    export = write_project(root, files, CONFIG, built=True).export()
    with browser() as running, serving(in_checkout(export)) as address:
        yield Served(export, running, address)


@pytest.fixture
def tab(served: Served) -> Iterator[Visit]:
    with visit(served.running, served.address) as visited:
        yield visited


@pytest.fixture
def lone_tab(served: Served) -> Iterator[Visit]:
    """A tab in its own window, so that its clock can be set."""
    with visit(served.running, served.address, alone=True) as visited:
        yield visited


def ask(tab: Visit, question: str) -> None:
    """Ask in the chat, and wait for the end of the answer."""
    tab.page.fill("#question", question)
    tab.page.keyboard.press("Enter")
    playwright.expect(tab.page.locator("#send")).to_be_visible()


def test_search_as_you_type(lone_tab: Visit) -> None:
    tab = lone_tab
    tab.page.clock.install(time=0)
    tab.go("/")
    tab.see("#title", "Hand<b>book</b>")
    tab.see("#description", "What is known & what is not.")
    tab.see("#counts", "30 documents")
    tab.page.clock.pause_at(3_600)
    tab.page.type("#query", "how do fans ventilate")
    tab.page.clock.resume()
    tab.at("/?q=how+do+fans+ventilate")
    tab.see("#status", "results in")
    tab.see("#results > li mark", "Ventilation")
    tab.hidden("#start")
    first = tab.page.locator("#results > li").first
    tab.hidden("#results .scores")
    tab.page.click("#explanation summary")
    playwright.expect(first.locator(".scores")).to_be_visible()
    shown = first.locator(".scores dd:last-child").all_text_contents()
    scores, ranks = zip(*(text.partition(", rank ")[::2] for text in shown), strict=True)
    answer = get(f"{tab.address}/search?q=how+do+fans+ventilate")["results"][0]
    lanes = answer["scores"]
    expected = (answer["score"], lanes["semantic"], lanes["keyword"])
    assert list(scores) == [f"{score:.2f}" for score in expected]
    assert list(ranks[1:]) == [str(answer["ranks"][lane]) for lane in ("semantic", "keyword")]
    tab.see("#explained", "By meaning and words: their scores were combined")
    width = first.locator(".bar .semantic").evaluate("bar => bar.style.width")
    assert float(width.rstrip("%")) == pytest.approx(100 * lanes["semantic"], abs=0.1)
    # There is one request while the query is typed, and one after a pause.
    assert 1 <= sum("/search" in url for url in tab.requests) <= 2
    tab.page.fill("#query", "")
    tab.at("/")
    tab.count("#results > li", 0)
    playwright.expect(tab.page.locator("#start")).to_be_visible()


@pytest.mark.parametrize("end", ["Enter", "Space", None])
def test_unfinished_queries_get_no_message_about_missing_words(
    lone_tab: Visit, end: str | None
) -> None:
    tab = lone_tab
    tab.page.clock.install(time=0)
    tab.go("/")
    tab.see("#counts", "30 documents")
    tab.page.clock.pause_at(3_600)
    # This is the beginning of an identifier that is in no document.
    tab.page.type("#query", "fans XV-7731")
    tab.page.clock.run_for(1_000)
    tab.see("#results > li", "")
    tab.see("#status", "results in")
    tab.hidden("#notice")
    tab.hidden("#offers")
    if end:
        tab.page.keyboard.press(end)
    tab.page.clock.run_for(2_000 if end is None else 200)
    tab.see("#notice", "“XV-7731” occurs nowhere in these documents.")


def test_last_word_counts_as_unfinished_until_space_or_enter(tab: Visit) -> None:
    tab.go("/")
    tab.see("#counts", "30 documents")
    for key, begun in (("m", True), (" ", False), ("p", True), ("Enter", False)):
        with tab.page.expect_request("**/search") as asked:
            tab.page.locator("#query").press(key)
        assert asked.value.post_data_json.get("prefix", False) is begun


def test_submitted_searches_are_in_the_history(tab: Visit) -> None:
    def submit(query: str) -> None:
        tab.page.fill("#query", query)
        tab.page.keyboard.press("Enter")
        tab.at(f"/?q={query}")

    tab.go("/")
    submit("fans")
    submit("lamps")
    tab.page.check("[value=keyword]")
    tab.at("/?q=lamps&mode=keyword")
    tab.page.go_back()
    tab.at("/?q=lamps")
    tab.page.go_back()
    tab.at("/?q=fans")
    tab.holds("#query", "fans")
    tab.see("#results > li", "Ventilation")
    tab.page.go_forward()
    tab.at("/?q=lamps")
    tab.see("#results > li", "Lamps")
    # Typing replaces the URL of earlier typing, so `led` is not in the history.
    tab.page.fill("#query", "led")
    tab.at("/?q=led")
    tab.page.fill("#query", "ledger")
    tab.at("/?q=ledger")
    tab.page.go_back()
    tab.at("/?q=lamps")


def test_going_back_restores_the_position_among_results(tab: Visit) -> None:
    tab.page.set_viewport_size({"width": 390, "height": 300})
    tab.go("/?q=the")
    last = tab.page.locator("#results > li a.hit").last
    last.scroll_into_view_if_needed()
    place = tab.page.evaluate("scrollY")
    assert place > 0
    last.click()
    tab.see("#heading", "")
    tab.page.go_back()
    tab.at("/?q=the")
    tab.page.wait_for_function(f"scrollY === {place}")
    # The same holds for a search that was submitted on the page.
    tab.page.fill("#query", "lamps")
    tab.page.keyboard.press("Enter")
    tab.at("/?q=lamps")
    tab.page.go_back()
    tab.at("/?q=the")


KANA = """(field) => {
  for (const type of ["compositionstart", "compositionend"]) {
    field.dispatchEvent(new CompositionEvent(type, { bubbles: true, data: field.value }));
  }
  field.dispatchEvent(new KeyboardEvent("keydown", {
    key: "Enter", keyCode: 229, isComposing: false, bubbles: true, cancelable: true,
  }));
}"""


def test_enter_that_ends_a_composition_sends_nothing(tab: Visit) -> None:
    tab.go("/chat")
    tab.page.fill("#question", "ポンプ")
    tab.page.locator("#question").evaluate(KANA)
    tab.holds("#question", "ポンプ")
    tab.count("#turns > *", 0)
    tab.page.keyboard.press("Enter")
    tab.count("#turns > *", 1)


def test_only_the_last_answer_is_shown(tab: Visit) -> None:
    held: list[Any] = []

    def hold_the_first(route: Any) -> None:
        if "ledger" in route.request.post_data:
            held.append(route)
        else:
            route.continue_()

    tab.go("/")
    tab.page.route("**/search", hold_the_first)
    tab.page.fill("#query", "ledger")
    tab.see("#status", "Searching")
    tab.page.fill("#query", "lamp burns")
    tab.see("#results h2", "Lamps")
    body = json.dumps(get(f"{tab.address}/search?q=ledger"))
    held[0].fulfill(body=body, content_type="application/json")
    tab.page.wait_for_timeout(200)
    tab.see("#results h2", "Lamps")


def test_filters_and_address(tab: Visit) -> None:
    tab.go("/?q=the")
    tab.page.click("summary")
    tab.page.select_option("#source", "table")
    tab.at("/?q=the&source=table")
    tab.count("#results .where bdi:text-is('table')", 2)
    tab.page.select_option("#source", "")
    tab.page.fill("#tag", "light")
    tab.page.keyboard.press("Enter")
    tab.at("/?q=the&tag=light")
    tab.count("#results > li", 1)
    tab.see("#results h2", "Lamps")
    tab.see("#filter-count", "(1)")
    tab.page.fill("#after", "2023-01-01")
    tab.see("#status", "Nothing found for “the” with these filters.")
    tab.page.reload()
    tab.see("#status", "Nothing found")
    tab.holds("#after", "2023-01-01")
    for field in ("#tag", "#after", "#source"):
        tab.page.press(field, "Escape")
    tab.holds("#query", "the")
    tab.holds("#after", "2023-01-01")
    tab.page.click("#clear-filters")
    tab.at("/?q=the")
    tab.see("#results > li", "Ledger")
    tab.go("/?q=lamp")
    tab.page.click("#results .tag >> nth=0")
    tab.at("/?q=lamp&tag=light")
    tab.see("#filter-count", "(1)")


def test_modes_are_marked(tab: Visit) -> None:
    tab.go("/?q=fresh+air&mode=keyword")
    assert tab.page.is_checked("[value=keyword]")
    tab.see("#results dl", "\N{EN DASH}")
    tab.page.check("[value=semantic]")
    tab.at("/?q=fresh+air&mode=semantic")
    tab.page.fill("#query", "zq17")
    tab.page.check("[value=hybrid]")
    tab.see("#status", "the query is an identifier, so words alone decide")


def test_search_that_finds_nothing_offers_another(tab: Visit) -> None:
    tab.go("/?q=lantern&mode=keyword")
    tab.see("#status", "Nothing found for “lantern”.")
    tab.page.click("text=Search by meaning and words")
    tab.at("/?q=lantern")
    tab.see("#results > li", "")
    tab.hidden("#offers")
    tab.go("/?q=lamp&tag=nowhere")
    tab.page.click("text=Search without the filters")
    tab.at("/?q=lamp")
    tab.see("#results h2", "Lamps")


def test_doubtful_match_is_reported(tab: Visit) -> None:
    hedges = {
        "does+the+fan+love+music": "The documents may not answer this",
        "what+is+the+capital+of+france": "Nothing in the documents matches well",
    }
    for query, hedge in hedges.items():
        tab.go(f"/?q={query}")
        tab.see("main", f"{hedge}; these passages are the closest.")
    tab.go("/?q=how+long+does+a+lamp+burn")
    playwright.expect(tab.page.locator("main")).not_to_contain_text("passages are the closest")


def test_first_result_is_explained(tab: Visit) -> None:
    tab.go("/?q=how+long+does+a+lamp+burn")
    tab.page.click("#explanation summary")
    hit = get(f"{tab.address}/search?q=how+long+does+a+lamp+burn")["results"][0]
    lanes = [f"the best by {name} ({hit['scores'][lane]:.2f})" for name, lane in LANES.items()]
    tab.see("#explained", f"“Lamps” comes first: it is {lanes[0]} and {lanes[1]}.")
    tab.page.check("[value=keyword]")
    tab.see("#explained", "“Lamps” comes first: it is the best by words (")


def test_a_document_is_one_result_with_its_best_passages(tab: Visit) -> None:
    tab.go("/?q=ledger+account")
    answer = get(f"{tab.address}/search?q=ledger+account&group=document")
    first = answer["results"][0]
    assert (first["title"], len(first["more"])) == ("Ledger", 2)
    tab.count("#results > li", 10)
    tab.count("#results h2:has-text('Ledger')", 1)
    tab.count("#results > li:first-child .more > li", 2)
    for place, hit in enumerate(first["more"]):
        further = tab.page.locator("#results > li:first-child .more > li").nth(place)
        playwright.expect(further.locator("a")).to_have_text(hit["section"][-1])
        playwright.expect(further.locator("mark").first).to_be_visible()
    further.locator("a").click()
    tab.at(f"/d/{first['document_id']}#{hit['id']}")
    tab.see(".passage[aria-current]", hit["section"][-1])


def test_more_results(tab: Visit) -> None:
    tab.go("/?q=ledger+account+settled")
    tab.count("#results > li", 10)
    tab.page.click("#more")
    tab.at("/?q=ledger+account+settled&top=20")
    tab.count("#results > li", 20)
    tab.focused("#results > li:nth-child(11) h2 a")


def test_path_and_date_come_first(tab: Visit) -> None:
    tab.go("/?q=how+long+does+a+lamp+burn")
    where = tab.page.locator("#results .where").first
    assert where.inner_text().split(" · ")[:3] == ["lamps.md", "2021-01-01", "pages"]


def test_links_are_copied(tab: Visit) -> None:
    path = "/?q=lamp&mode=keyword&tag=light&filter=path%3Dla"
    tab.go(path)
    tab.page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    tab.page.click("text=Copy a link to this search")
    tab.see("#share", "Copied")
    assert tab.page.evaluate("copied") == tab.address + path
    tab.page.click("#results >> text=Copy link")
    tab.see("#results .where", "Copied")
    place = tab.page.locator("#results h2 a").first.get_attribute("href")
    assert tab.page.evaluate("copied") == tab.address + place
    # The URL shows the same results in another tab.
    tab.go(path)
    assert tab.page.is_checked("[value=keyword]")
    tab.count("#results > li", 1)
    tab.see("#filter-count", "(2)")


def test_search_opens_by_key_on_every_page(tab: Visit) -> None:
    document = get(f"{tab.address}/search?q=fans")["results"][0]["document_id"]
    for path in ("/chat", "/docs", f"/d/{document}"):
        tab.go(path)
        tab.page.keyboard.press("Control+k")
        tab.at("/")
        tab.focused("#query")
    tab.go("/?q=lamp")
    tab.page.locator("#results h2 a").first.focus()
    tab.page.keyboard.press("Meta+k")
    tab.focused("#query")
    assert tab.page.evaluate("getSelection().toString()") == "lamp"


def test_shortcuts_work_with_caps_lock(tab: Visit) -> None:
    tab.go("/?q=ledger+account")
    titles = tab.page.locator("#results h2 a")
    titles.nth(0).focus()
    keys = tab.page.keyboard
    keys.press("J")
    playwright.expect(titles.nth(1)).to_be_focused()
    keys.press("Control+K")
    tab.focused("#query")
    keys.press("ArrowDown")
    keys.press("Enter")
    tab.see("#stepper", "of 15")
    before = tab.page.locator(".passage[aria-current]").inner_text()
    keys.press("J")
    playwright.expect(tab.page.locator(".passage[aria-current]")).not_to_have_text(before)


def test_keyboard_alone(tab: Visit) -> None:
    tab.go("/")
    keys = tab.page.keyboard
    tab.page.evaluate("document.activeElement.blur()")
    keys.press("/")
    tab.focused("#query")
    keys.type("ledger account")
    tab.at("/?q=ledger+account")
    tab.count("#results > li", 10)
    keys.press("ArrowDown")
    titles = tab.page.locator("#results h2 a")
    playwright.expect(titles.nth(0)).to_be_focused()
    keys.press("j")
    playwright.expect(titles.nth(1)).to_be_focused()
    keys.press("k")
    keys.press("k")
    tab.focused("#query")
    keys.press("ArrowDown")
    playwright.expect(titles.nth(0)).to_be_focused()
    place = titles.nth(0).get_attribute("href")
    keys.press("Enter")
    tab.at(place)
    tab.see("#stepper", "of 15")
    before = tab.page.locator(".passage[aria-current]").inner_text()
    keys.press("j")
    playwright.expect(tab.page.locator(".passage[aria-current]")).not_to_have_text(before)
    tab.page.go_back()
    tab.at("/?q=ledger+account")
    tab.count("#results > li", 10)
    tab.holds("#query", "ledger account")
    keys.press("Escape")
    tab.at("/")
    tab.count("#results > li", 0)


def test_a_result_is_one_tab_stop(tab: Visit) -> None:
    tab.go("/?q=ledger+account+settled")
    titles = tab.page.locator("#results h2 a")
    keys = tab.page.keyboard
    titles.nth(0).focus()
    keys.press("Tab")
    playwright.expect(titles.nth(1)).to_be_focused()
    first = tab.page.locator("#results > li").nth(0)
    keys.press("Shift+Tab")
    controls = [one for one in first.locator("a, button, summary").all() if one.is_visible()]
    assert len(controls) > 1
    for control in controls[1:]:
        keys.press("ArrowRight")
        playwright.expect(control).to_be_focused()
    keys.press("Tab")
    playwright.expect(titles.nth(1)).to_be_focused()
    keys.press("ArrowUp")
    keys.press("ArrowRight")
    keys.press("ArrowLeft")
    playwright.expect(titles.nth(0)).to_be_focused()


def test_focus_stays_when_results_are_replaced(tab: Visit) -> None:
    tab.go("/?q=ledger+account+settled")
    titles = tab.page.locator("#results h2 a")
    titles.nth(2).focus()
    before = titles.nth(2).get_attribute("href")
    tab.page.evaluate("query.value = 'parrot'; searchNow()")
    tab.at("/?q=parrot")
    playwright.expect(titles.nth(2)).to_be_focused()
    assert titles.nth(2).get_attribute("href") != before


def test_cited_passage_is_shown_in_place(tab: Visit) -> None:
    hit = get(f"{tab.address}/search?q=zq77&mode=keyword")["results"][0]
    tab.go(f"/d/{hit['document_id']}#{hit['id']}")
    cited = tab.page.locator(".passage[aria-current]")
    playwright.expect(cited).to_contain_text("zq77")
    playwright.expect(cited).to_be_in_viewport()
    tab.see("#heading", "Ledger")
    shown = tab.page.locator(".passage").count()
    assert shown < 150
    tab.page.locator("#earlier").scroll_into_view_if_needed()
    read = tab.page.query_selector(".passage")
    top = read.bounding_box()["y"]
    tab.page.click("#earlier")
    playwright.expect(tab.page.locator(".passage")).to_have_count(shown + 40)
    assert read.bounding_box()["y"] == pytest.approx(top, abs=2)
    tab.page.click("#earlier")
    playwright.expect(tab.page.locator("#earlier")).to_be_hidden()
    tab.see(".passage >> nth=0", "Account zq0 ")
    passages = tab.page.locator(".passage")
    while (shown := passages.count()) < 150:
        tab.page.keyboard.press("End")
        playwright.expect(passages).not_to_have_count(shown)
    playwright.expect(tab.page.locator("#later")).to_be_hidden()
    texts = tab.page.locator(".passage .text p").all_inner_texts()
    assert texts == [f"Account zq{number} of the ledger was settled." for number in range(150)]


MARKUP = {
    "***Plate***. **_Both_**, _slanted_ __very dark__": "<strong><em>Plate</em></strong>. "
    "<strong><em>Both</em></strong>, <em>slanted</em> <strong>very dark</strong>",
    "__init__ a_b_c /_d_/ 2*3*4 `_e_`": "__init__ a_b_c /_d_/ 2*3*4 <code>_e_</code>",
    "[page](https://a.example/B_(c)) [`title`](d 'T') [e](<f g>)": "page <code>title</code> e",
    '![picture](p.png "P") <https://a.example/>': "picture https://a.example/",
    "[[Page|it]]": "[[Page|it]]",
    "14[\\[14\\]](#cite_note-a-14), [[15]](#note), [a [b] c](d)": "14[14], [15], a [b] c",
    "[![badge](b.svg)](https://a.example/) https://a.example/x.": "badge https://a.example/x.",
    "&lt;b&gt; &amp; \\*stars\\* &copy;": "&lt;b&gt; &amp; *stars* &amp;copy;",
}


def test_inline_markup_is_shown_as_meant(tab: Visit) -> None:
    tab.go("/")
    shown = "text => element('p', {}, ...inlineNodes(text, cite)).innerHTML"
    for text, html in MARKUP.items():
        assert tab.page.evaluate(shown.replace(", cite", ""), text) == html
    # Brackets that a model escapes are not a citation.
    cite = "{ cite: (number) => element('b', {}, String(number)) }"
    answered = tab.page.evaluate(shown.replace("cite", cite), "One [1], \\[9\\] &lt;")
    assert answered == "One <b>1</b>, \\[9\\] &amp;lt;"
    blocks = "text => element('p', {}, ...markdownNodes(text, {}, 0)).innerHTML"
    text = "Over\nlines\n====\n\n| a |\n|---|\n| b \\| c |\n\n---"
    html = tab.page.evaluate(blocks, text)
    assert html.startswith("<h2>Over\nlines</h2>") and html.endswith("<hr>")
    assert html.count("<td>") == 1 and "<td>b | c</td>" in html


def test_document_is_shown_as_text_and_saved(tab: Visit) -> None:
    hit = get(f"{tab.address}/search?q=main+fan&mode=keyword")["results"][0]
    tab.go(f"/d/{hit['document_id']}")
    tab.see(".text table", "9000")
    tab.see(".text pre", 'speed = "fast"  # <b>not bold</b>')
    tab.see(".text em", "never")
    playwright.expect(tab.page.locator("#passages")).to_contain_text("See the rule.")
    with tab.page.expect_download() as download:
        tab.page.click("#save")
    assert download.value.suggested_filename == "ventilation.md"
    text = download.value.path().read_text(encoding="utf-8")
    assert text.startswith("# Ventilation\n\nFresh air has to reach every working face.\n\n## Fans")
    assert "[the rule](https://rules.example/)" in text


def links_of(tab: Visit) -> dict[str, str | None]:
    return {
        link.inner_text(): link.get_attribute("href") for link in tab.page.locator(".text a").all()
    }


def test_links_of_a_document_open_their_targets(tab: Visit) -> None:
    documents = get(f"{tab.address}/documents")["documents"]
    ids = {document["path"]: document["id"] for document in documents}
    lamps, ventilation = f"/d/{ids['lamps.md']}", f"/d/{ids['ventilation.md']}"
    tab.go(f"/d/{ids['links.md']}")
    assert links_of(tab) == {
        "lamps": lamps,
        "Lamps": lamps,
        "the fans": f"{ventilation}#fans",
        "below": "#below",
        "PICTURE picture": "https://away.example/a_(b)?c=d#e",
        "https://away.example/auto": "https://away.example/auto",
        "https://away.example/bare": "https://away.example/bare",
        "in bold": lamps,
    }
    away = tab.page.locator(".text a[rel]")
    assert {link.get_attribute("rel") for link in away.all()} == {"noreferrer nofollow"}
    assert away.count() == 3
    shown = tab.page.locator("#passages")
    for text in ("a script, mail and gone", "nowhere", "[code](lamps.md)"):
        playwright.expect(shown).to_contain_text(text)
    tab.page.click("text=the fans")
    tab.see("#heading", "Ventilation")
    playwright.expect(tab.page.locator(".passage[aria-current]")).to_contain_text("main fan")
    chunks = get(f"{tab.address}/chunks?document={ids['ventilation.md']}")["chunks"]
    [fans] = [chunk["id"] for chunk in chunks if chunk["section"][-1] == "Fans"]
    tab.at(f"{ventilation}#{fans}")
    tab.hidden("#notice")


def test_code_is_copied_and_callouts_have_their_label(tab: Visit) -> None:
    hit = get(f"{tab.address}/search?q=callouts&mode=keyword")["results"][0]
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.go(f"/d/{hit['document_id']}")
    assert tab.page.locator(".callout strong").all_inner_texts() == ["Warning"]
    assert tab.page.locator(".callout").inner_text().split() == ["Warning", "It", "is", "hot."]
    tab.page.locator(".code-block").hover()
    tab.page.click("text=Copy")
    tab.see(".copy", "Copied")
    assert tab.page.evaluate("navigator.clipboard.readText()") == "Account = 1"


def test_words_of_the_search_are_marked_in_the_document(tab: Visit) -> None:
    tab.go("/?q=settled+accounts&mode=keyword")
    tab.page.click("#results h2 a")
    tab.see("#heading", "Ledger")
    cited = tab.page.locator(".passage[aria-current]")
    assert cited.locator("mark").all_inner_texts() == ["Account", "settled"]
    tab.see("#marked", f"{tab.page.locator('#passages mark').count()} words found")
    tab.page.keyboard.press("n")
    current = cited.locator("mark[aria-current]")
    playwright.expect(current).to_have_text("Account")
    tab.page.keyboard.press("n")
    playwright.expect(current).to_have_text("settled")
    playwright.expect(current).to_be_in_viewport()
    tab.page.click("#mark-before")
    playwright.expect(current).to_have_text("Account")
    lamps = get(f"{tab.address}/search?q=lamp")["results"][0]["document_id"]
    tab.go(f"/d/{lamps}")
    tab.hidden("#marks")


def test_document_links_to_its_parts_and_back(tab: Visit) -> None:
    tab.go("/?q=zq3&mode=keyword")
    tab.page.click("#results h2 a")
    tab.see("#heading", "Ledger")
    tab.count("#contents li", 150)
    tab.page.click("#contents >> text=Entry 149")
    playwright.expect(tab.page.locator(".passage[aria-current]")).to_contain_text("zq149")
    tab.page.click("text=Back to the results for “zq3”")
    tab.at("/?q=zq3&mode=keyword")
    tab.see("#results h2", "Ledger")
    lamps = get(f"{tab.address}/search?q=lamp")["results"][0]["document_id"]
    tab.go(f"/d/{lamps}")
    tab.hidden("#contents")


def test_missing_document_has_a_page(tab: Visit) -> None:
    tab.go("/d/nowhere")
    tab.see("[role=alert]", "There is no document with this id.")
    tab.page.get_by_label("Search the documents").fill("lamp")
    tab.page.keyboard.press("Enter")
    tab.at("/?q=lamp")
    tab.see("#results h2", "Lamps")
    hit = get(f"{tab.address}/search?q=cave")["results"][0]
    tab.go(f"/d/{hit['document_id']}.md#nowhere")
    tab.see("#heading", "Cave")
    tab.see("#notice", "not in the document any more")
    tab.see("#facts", "https://cave.example/x")
    link = tab.page.locator("#original")
    assert link.get_attribute("href") == "https://cave.example/x"
    assert link.get_attribute("rel") == "noreferrer"


def test_hostile_document_is_only_text(tab: Visit) -> None:
    tab.go("/?q=parrot")
    first = tab.page.locator("#results > li").first
    playwright.expect(first.locator("h2")).to_contain_text(f"Parrot {HOSTILE}")
    # Builds remove such controls. Pages isolate them from the surrounding text.
    assert BIDI not in first.locator(".snippet").text_content()
    turned = get(f"{tab.address}/search?q=parrot")
    turned["query"] = "a parrot"
    turned["results"][0] |= {"title": BIDI, "path": BIDI}
    tab.page.route("**/search", lambda route: route.fulfill(json=turned))
    tab.page.fill("#query", "a parrot")
    playwright.expect(first.locator("h2 a > bdi")).to_have_text(BIDI)
    tab.page.unroute("**/search")
    tab.page.fill("#query", "the parrot")
    playwright.expect(first.locator("h2 a > bdi")).not_to_have_text(BIDI)
    first.locator("h2 a").click()
    playwright.expect(tab.page.locator("#heading")).to_have_text(f"Parrot {HOSTILE}")
    tab.see(".text", "A parrot says")
    assert tab.page.locator("main img, main script, .text a, iframe").count() == 0
    assert tab.page.title().startswith("Parrot <img")
    tab.go("/chat")
    ask(tab, "What does the parrot say?")
    tab.see(".turn", "A parrot says")
    assert tab.page.locator("main img, main script, .text a:not(.cite)").count() == 0


def test_urls_of_other_schemes_are_not_links(tab: Visit) -> None:
    answer = get(f"{tab.address}/search?q=cave")
    found = get(f"{tab.address}/chunks?document={answer['results'][0]['document_id']}")
    tab.page.route("**/search", lambda route: route.fulfill(json=answer))
    tab.page.route("**/chunks*", lambda route: route.fulfill(json=found))
    for url in ("javascript:alert(1)", "data:text/html,x", "//evil.example", "x"):
        answer["results"] = [{**answer["results"][0], "url": url}]
        found["document"]["url"] = url
        tab.go("/?q=cave")
        tab.see("#results h2", "Cave")
        assert tab.page.locator("#results a").count() == 1, url
        tab.page.click("#results h2 a")
        tab.see("#facts", url)
        tab.hidden("#original")


def test_failures_are_reported_and_can_be_retried(tab: Visit) -> None:
    tab.go("/")
    tab.page.route("**/search", lambda route: route.abort())
    tab.page.fill("#query", "lamp")
    tab.see("[role=alert]", "The server cannot be reached.")
    tab.page.unroute("**/search")
    tab.page.click("text=Try again")
    tab.see("#results h2", "Lamps")
    tab.hidden("[role=alert]")
    degraded = {**get(f"{tab.address}/search?q=lamp"), "degraded": True, "reason": "no_vectors"}
    tab.page.route("**/search", lambda route: route.fulfill(json=degraded))
    tab.page.fill("#query", "lamps")
    tab.see("#notice", "Found by words alone")
    tab.page.unroute("**/search")
    tab.page.fill("#query", "XY-99 and lamp")
    tab.see("#notice", "“XY-99” occurs nowhere in these documents.")
    tab.page.fill("#query", "lamp")
    tab.hidden("#notice")
    tab.page.route("**/openapi.json", lambda route: route.abort())
    tab.go("/docs")
    tab.see("[role=alert]", "The server cannot be reached.")
    playwright.expect(tab.page.locator("#title")).not_to_be_empty()
    tab.page.unroute("**/openapi.json")
    tab.page.click("text=Try again")
    tab.see(".operation >> nth=0", "/")
    assert tab.page.title().count(" · ") == 1


def test_chat_without_a_model(tab: Visit) -> None:
    tab.go("/")
    tab.page.click("nav >> text=Chat")
    tab.at("/chat")
    ask(tab, "How long does a lamp burn?")
    tab.see(".turn .text", "A lamp burns for nine hours.")
    tab.see(".turn .about", "Extracted from the documents.")
    tab.page.click(".turn .text .cite")
    playwright.expect(tab.page.locator(".passage[aria-current]")).to_contain_text("nine hours")
    tab.page.go_back()
    tab.see(".turn .text", "A lamp burns for nine hours.")
    tab.page.click("text=New conversation")
    tab.count(".turn", 0)


def test_conversation_is_kept_and_copied(tab: Visit) -> None:
    tab.go("/chat")
    ask(tab, "How long does a lamp burn?")
    tab.see(".turn .text", "A lamp burns for nine hours.")
    tab.page.reload()
    tab.see(".turn .text", "A lamp burns for nine hours.")
    tab.page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    tab.page.click("text=Copy the conversation")
    tab.see("#copied", "Copied.")
    copied = tab.page.evaluate("copied")
    assert copied.startswith("## How long does a lamp burn?\n\nA lamp burns for nine hours. [1]")
    assert f"[1] Lamps, lamps.md, 2021-01-01: {tab.address}/d/" in copied
    tab.see(".turn .sources .muted", "lamps.md · 2021-01-01")
    tab.page.click(".turn .text .cite")
    tab.page.click("text=Back to the conversation")
    tab.see(".turn .text", "A lamp burns for nine hours.")
    # A question interrupted by a reload can be asked again.
    held: list[Any] = []
    tab.page.route(
        "**/chat",
        lambda route: held.append(route) if route.request.post_data else route.continue_(),
    )
    tab.page.fill("#question", "Why?")
    tab.page.keyboard.press("Enter")
    tab.see(".turn:last-child", "Searching")
    tab.page.reload()
    tab.see(".turn:last-child", "The answer broke off.")


def test_follow_up_shows_the_query_that_was_searched(tab: Visit) -> None:
    tab.go("/chat")
    ask(tab, "How long does a lamp burn?")
    tab.see(".turn .text", "A lamp burns for nine hours.")
    tab.count(".searched", 0)
    tab.page.fill("#question", "explain that more simply")
    with tab.page.expect_request("**/chat") as sent:
        tab.page.keyboard.press("Enter")
    tab.see(".turn:last-child .searched", "Searched for: How long does a lamp burn?")
    tab.see(".turn:last-child .text", "A lamp burns for nine hours.")
    playwright.expect(tab.page.locator("#send")).to_be_visible()
    said = sent.value.post_data_json["messages"]
    assert [turn["role"] for turn in said] == ["user", "assistant", "user"]
    assert len(said[1]["cited"]) >= 1


def test_chat_streams_and_stops(served: Served) -> None:
    seen = threading.Event()

    def hesitant(_call: Call, reply: Reply) -> None:
        reply.begin()
        reply.text("Fans ", "**move** air [1]. ")
        seen.wait(PATIENCE_MS / 1000)
        reply.text(f"{HOSTILE} ![i](http://evil.example/i) ", "[9] done")
        reply.finish()

    def endless(_call: Call, reply: Reply) -> None:
        reply.begin()
        while True:
            reply.text("more ")
            reply.wait(0.02)

    with (
        language_model(hesitant) as model,
        serving(in_checkout(served.export), LLM_BASE_URL=model.base_url, LLM_MODEL="m") as address,
        visit(served.running, address) as tab,
    ):
        tab.go("/chat")
        tab.page.fill("#question", "What do fans do?")
        tab.page.keyboard.press("Enter")
        tab.see(".turn .text strong", "move")
        assert "done" not in tab.page.inner_text(".turn .text")
        assert tab.page.locator("#stop").is_visible()
        seen.set()
        tab.see(".turn .text", "done")
        playwright.expect(tab.page.locator("#send")).to_be_visible()
        tab.see("#status", "The answer is complete.")
        # Tags are not indexed, so no passage contains the addresses.
        disarmed = HOSTILE.replace("<", "< ").replace("://", "[:]//")
        disarmed = disarmed.replace("evil.example", "evil[.]example").replace("i.png", "i[.]png")
        tab.see(".turn .text", disarmed)
        # The mark of an unsupported sentence stands between the two texts.
        tab.see(".turn .text", "[i] (http[:]//evil[.]example/i)")
        assert tab.page.locator("main img, main script, .text a:not(.cite)").count() == 0
        assert tab.page.locator(".text .cite").count() == 1
        model.script = endless
        tab.page.fill("#question", "And then?")
        tab.page.keyboard.press("Enter")
        tab.see(".turn:nth-child(2) .text", "more more")
        tab.page.click("#stop")
        tab.see(".turn:nth-child(2)", "Stopped.")
        assert model.calls[-1].gone.wait(PATIENCE_MS / 1000)
        model.script = answer("Better.")
        tab.page.click("text=Ask again")
        tab.see(".turn:nth-child(2) .text", "Better.")
        assert "And then?" in model.calls[-1].text
        playwright.expect(tab.page.locator("#send")).to_be_visible()
        model.script = endless
        tab.page.fill("#question", "What else?")
        tab.page.keyboard.press("Enter")
        tab.see(".turn:nth-child(3) .text", "more more")
        tab.page.click("#stop")
        tab.page.fill("#question", "And now?")
        tab.page.keyboard.press("Enter")
        tab.see(".turn:nth-child(4) .text", "more more")
        # Two answers at once would mix up their states.
        playwright.expect(tab.page.locator("text=Ask again")).to_be_disabled()
        tab.page.click("text=New conversation")
        tab.count(".turn", 0)
        playwright.expect(tab.page.locator("#send")).to_be_visible()
        playwright.expect(tab.page.locator("#stop")).to_be_hidden()


def test_sentences_that_no_passage_supports_are_marked(served: Served) -> None:
    said = "Fresh air has to reach every face. [1]\n\n- Fans are **painted in 1931**. [1]\n"
    with (
        language_model(answer(said)) as model,
        serving(in_checkout(served.export), LLM_BASE_URL=model.base_url, LLM_MODEL="m") as address,
        visit(served.running, address) as tab,
    ):
        tab.go("/chat")
        ask(tab, "What does fresh air have to reach?")
        playwright.expect(tab.page.locator("#send")).to_be_visible()
        marked = tab.page.locator(".turn .text mark.unsupported")
        assert "".join(marked.all_inner_texts()).split() == "Fans are painted in 1931.".split()
        shown = "Fans are painted in 1931. 1 (not found in the sources: 1931)"
        tab.see(".turn .text li", shown)
        assert tab.page.locator(".turn .text strong mark").inner_text() == "painted in 1931"
        tab.count(".turn .text p .doubt", 0)
        tab.see(".turn .about", "The passages do not support a sentence of this answer.")
        tab.page.evaluate(
            "navigator.clipboard.writeText = async (text) => { window.copied = text }"
        )
        tab.page.click("text=Copy the conversation")
        tab.see("#copied", "Copied.")
        copied = "Fans are **painted in 1931**. [1] (not found in the sources: 1931)"
        assert copied in tab.page.evaluate("copied")
        tab.page.reload()
        tab.see(".turn .text li", shown)


def test_token_is_asked_for_and_kept(served: Served) -> None:
    with (
        serving(in_checkout(served.export), API_TOKENS=TOKEN) as address,
        visit(served.running, address) as tab,
    ):
        tab.go("/?q=lamp")
        dialog = tab.page.locator("dialog")
        playwright.expect(dialog).to_contain_text("This server requires a token")
        tab.focused("#token")
        assert "book" not in tab.page.inner_text("header")
        for wrong in ("wrong", "w\u00f6\u2192"):
            tab.page.fill("#token", wrong)
            tab.page.keyboard.press("Enter")
            playwright.expect(dialog).to_contain_text("did not accept this token")
        tab.page.fill("#token", TOKEN)
        tab.page.keyboard.press("Enter")
        tab.see("#results h2", "Lamps")
        playwright.expect(dialog).to_have_count(0)
        tab.page.click("#results h2 a")
        playwright.expect(tab.page.locator(".passage[aria-current]")).to_contain_text("lamp")
        tab.page.click("nav >> text=Chat")
        tab.at("/chat")
        ask(tab, "How long does a lamp burn?")
        tab.see(".turn .text", "nine hours")
        assert not [url for url in tab.requests if TOKEN in url]
        tab.page.click("text=Forget the token")
        playwright.expect(dialog).to_be_visible()
        tab.page.keyboard.press("Escape")
        tab.see("[role=alert]", "This server requires a token.")
        assert tab.page.evaluate("sessionStorage.length") == 0


def test_operations_can_be_read_and_tried_out(tab: Visit) -> None:
    tab.go("/docs")
    names = tab.page.locator(".operation > summary > code").all_inner_texts()
    paths = get(f"{tab.address}/openapi.json")["paths"]
    assert sorted(set(names)) == sorted(paths)
    operation = tab.page.locator(".operation", has_text="Rank passages").first
    operation.locator("summary").click()
    fields = operation.locator(".fields").first
    playwright.expect(fields).to_contain_text("1 to 2000 characters, required")
    operation.locator("textarea").fill('{"query": "lamp\'s"}')
    playwright.expect(operation.locator(".curl")).to_contain_text("lamp'\\''s")
    operation.locator("text=Send").click()
    playwright.expect(operation.locator(".reply")).to_contain_text('"degraded": false')
    playwright.expect(operation.locator("[role=status]")).to_contain_text("200, application/json")
    operation.locator("textarea").fill('{"query": ""}')
    operation.locator("text=Send").click()
    playwright.expect(operation.locator("[role=status]")).to_contain_text("query: ")


def test_narrow_pages_do_not_scroll_sideways(served: Served) -> None:
    document = get(f"{served.address}/search?q=parrot")["results"][0]["document_id"]
    options = {"viewport": {"width": 320, "height": 600}}
    with visit(served.running, served.address, **options) as tab:
        for path in ("/", "/?q=parrot", "/chat", f"/d/{document}", "/docs"):
            tab.go(path)
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= 320, path


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_pages_have_no_violation_found_by_axe(served: Served, scheme: str, width: int) -> None:
    document = get(f"{served.address}/search?q=fans")["results"][0]["document_id"]
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    paths = ["/", "/?q=fans", "/?q=zzzqx", "/chat", "/docs", f"/d/{document}", "/d/nowhere"]
    with visit(served.running, served.address, **options) as tab:
        for path in paths:
            tab.go(path)
            assert tab.violations() == [], path
        tab.go("/chat")
        ask(tab, "What stops the main fan?")
        tab.see("main", "Extracted from the documents.")
        assert tab.violations() == []


def test_words_of_tables_are_not_broken(served: Served) -> None:
    document = get(f"{served.address}/search?q=main+fan+cfm")["results"][0]["document_id"]
    with visit(served.running, served.address, viewport={"width": 390, "height": 600}) as tab:
        found = get(f"{served.address}/chunks?document={document}")
        word = "self-contained-self-rescuer".replace("-", "")
        row = "| " + " | ".join([word] * 6) + " |"
        found["chunks"][-1]["text"] = f"{row}\n|---|---|---|---|---|---|\n{row}"
        tab.page.route("**/chunks*", lambda route: route.fulfill(json=found))
        tab.go(f"/d/{document}")
        cells = tab.page.locator(".text th, .text td")
        heights = cells.evaluate_all("cells => cells.map((cell) => cell.clientHeight)")
        assert len(heights) == 12 and max(heights) < 40
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_original_is_opened_at_the_page_of_the_passage(tab: Visit) -> None:
    hit = get(f"{tab.address}/search?q=cave")["results"][0]
    found = get(f"{tab.address}/chunks?document={hit['document_id']}")
    found["document"] |= {"url": "https://cave.example/map.pdf", "path": "map.pdf"}
    found["chunks"][0]["position"] |= {"page": 7, "page_label": "iii"}
    tab.page.route("**/chunks*", lambda route: route.fulfill(json=found))
    tab.go(f"/d/{hit['document_id']}")
    link = tab.page.locator("#original")
    playwright.expect(link).to_have_text("Open the original")
    tab.go(f"/d/{hit['document_id']}#{hit['id']}")
    tab.page.reload()
    playwright.expect(link).to_have_text("Open the original, page 7 (printed iii)")
    assert link.get_attribute("href") == "https://cave.example/map.pdf#page=7"
