"""Additions to the pages by optional stages and richer sources, in Chromium."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from browsers import Visit, browser, playwright, visit
from conftest import write_project
from pptx import Presentation
from servers import get, in_checkout, serving
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once")]

TIMES = "\N{MULTIPLICATION SIGN}"
ENDLESS = "W" * 90
HOSTILE = "<img src='http://evil.example/i.png'>"
CONFIG = """
[project]
name = "station"
title = "Station"

[[sources]]
name = "notes"
type = "folder"
path = "notes"
metadata = ["team"]

[[sources]]
name = "archive"
type = "folder"
path = "archive"

[chunking]
strategy = "parent"
max_chars = 120

[search]
filterable = ["team"]

[search.recency]
kind = "decay"
half_life_days = 90

[search.near_duplicates]
similarity = 0.5

[search.minimum_score]
semantic = 0.99
keyword = 0.01

[search.understanding]
rewrite = true

[[search.pinned.answers]]
query = "slides"
document = "course.pptx"

[server]
question_log = true
"""
PRIMING = (
    "The pump in the lower hall is primed by hand before the first shift begins. Whoever primes it"
    " writes the time and the pressure into the log beside the door. A pump that loses pressure"
    " twice in a week is taken out of service."
)
NOTES = {
    "pumps.md": f"---\nteam: north\ndate: 2026-01-01\n---\n# Pumps\n\n## Priming\n\n{PRIMING}\n",
    "pumps-copy.md": f"---\nteam: {json.dumps(HOSTILE)}\ntags: [{ENDLESS}]\n---\n"
    f"# Old pumps {HOSTILE}{ENDLESS}\n\n## Priming\n\n{PRIMING.replace('door', 'gate')}\n",
    "lamps.md": "# Lamps\n\nA lamp burns for nine hours.\n",
}


@dataclass(frozen=True)
class Served:
    """An exported server, and a browser."""

    running: Any
    address: str
    log: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    files = {f"notes/{name}": text for name, text in NOTES.items()}
    files["archive/old-lamps.md"] = NOTES["lamps.md"]
    root = tmp_path_factory.mktemp("project")
    project = write_project(root, files, CONFIG)
    write_slides(root / "notes" / "course.pptx", ["Welcome", "The gauge shows bar", "Questions"])
    project.succeed("build", "--quiet")
    log, export = root / "questions.jsonl", in_checkout(project.export())
    with browser() as running, serving(export, QUESTION_LOG=str(log)) as address:
        yield Served(running, address, log)


@pytest.fixture
def tab(served: Served) -> Iterator[Visit]:
    with visit(served.running, served.address) as visited:
        yield visited


def write_slides(path: Path, titles: list[str]) -> None:
    presentation = Presentation()
    for title in titles:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = f"What is said about {title.lower()} stands here."
    presentation.save(path)


def test_result_shows_its_passage_and_merged_ones(tab: Visit) -> None:
    tab.go("/?q=who+primes+the+pump&mode=keyword")
    hit = get(f"{tab.address}/search?q=who+primes+the+pump&mode=keyword")["results"][0]
    assert len(hit["text"]) < len(hit["passage"]["text"])
    result = tab.page.locator("#results > li").first
    playwright.expect(result.locator(".snippet")).not_to_contain_text("Priming")
    tab.page.click("text=Whole passage")
    playwright.expect(result.locator(".passage")).to_contain_text("taken out of service.")
    playwright.expect(result.locator(".passage mark").first).to_have_text("pump")
    (place,) = hit["also_at"]
    tab.page.click("text=Also in 1 other place")
    copy = result.locator(".places a")
    playwright.expect(copy).to_have_text(place["title"])
    playwright.expect(result.locator(".places")).to_contain_text(place["path"])
    copy.click()
    tab.page.wait_for_url(f"**/d/{place['document_id']}")
    tab.see("#heading", "umps")
    tab.settle()
    assert tab.page.locator("main img").count() == 0


def test_pinned_results_come_first_and_are_marked(tab: Visit) -> None:
    tab.go("/?q=Slides")
    result = tab.page.locator("#results > li").first
    playwright.expect(result.locator(".where")).to_contain_text("course.pptx")
    playwright.expect(result.locator(".where")).to_contain_text("pinned by the owner")
    tab.page.click("#explanation summary")
    tab.see("#explained", "comes first: the owner pinned it to this query.")
    tab.see("#explained", "The owner pinned 1 document to this query.")


def test_thumbs_are_logged_for_the_owner(served: Served, tab: Visit) -> None:
    tab.go("/?q=who+primes+the+pump&mode=keyword")
    result = tab.page.locator("#results > li").first
    up, down = (
        result.get_by_role("button", name=name, exact=True) for name in ("Helpful", "Not helpful")
    )
    for button, other in ((up, down), (down, up)):
        button.click()
        playwright.expect(button).to_have_attribute("aria-pressed", "true")
        playwright.expect(other).to_have_attribute("aria-pressed", "false")
    tab.see(".thumbs", "Noted for the owner.")
    answer = get(f"{tab.address}/search?q=who+primes+the+pump&mode=keyword")
    wait_until(lambda: served.log.read_text().count("thumb") == 2)
    lines = [json.loads(line) for line in served.log.read_text().splitlines() if "thumb" in line]
    assert [line["thumb"] for line in lines] == ["up", "down"]
    document = answer["results"][0]["document_id"]
    assert {(line["query"], line["document"]) for line in lines} == {
        ("who primes the pump", document)
    }


def test_thumbs_in_the_chat_rate_its_sources(served: Served, tab: Visit) -> None:
    kept = served.log.read_text().count("thumb") if served.log.exists() else 0
    tab.go("/chat")
    tab.page.fill("#question", "Who primes the pump?")
    tab.page.click("#send")
    source = tab.page.locator(".turn .sources > li").first
    down = source.get_by_role("button", name="Not helpful", exact=True)
    down.click()
    playwright.expect(down).to_have_attribute("aria-pressed", "true")
    tab.see(".sources .thumbs", "Noted for the owner.")
    wait_until(lambda: served.log.read_text().count("thumb") == kept + 1)
    lines = [json.loads(line) for line in served.log.read_text().splitlines()]
    (line,) = [line for line in lines if "thumb" in line][kept:]
    answer = get(f"{tab.address}/search?q=Who+primes+the+pump%3F")
    assert (line["query"], line["thumb"]) == ("Who primes the pump?", "down")
    assert line["document"] in {hit["document_id"] for hit in answer["results"]}


def test_factors_and_stages_are_shown(tab: Visit) -> None:
    tab.go("/?q=who+primes+the+pump&mode=keyword")
    answer = get(f"{tab.address}/search?q=who+primes+the+pump&mode=keyword")
    (factor,) = {hit["boosts"]["recency"] for hit in answer["results"]}
    tab.see(".scores .factor", "Recency")
    tab.see(".scores .factor", f"{TIMES} {factor:.2f}")
    tab.see("#status", "Understanding: No language model is configured.")
    tab.page.click("#explanation summary")
    tab.see("#explained", "By words: you chose this mode.")
    tab.see("#explained", "into similar passages")
    tab.see("#explained", f"A factor marked {TIMES}")
    tab.page.fill("#query", "zebra")
    tab.page.check("[value=semantic]")
    tab.see("#status", "below the minimum score; the best has 0.")


def test_stages_are_described_in_their_own_words(tab: Visit) -> None:
    answer = get(f"{tab.address}/search?q=lamp")
    answer["stages"] = {"links": {"documents": 2}, "links_of_mine": {"failed": "It is Sunday."}}
    answer["explanation"] = [f"A language model rewrote the query as “{HOSTILE}”.", "2 documents."]
    tab.page.route("**/search", lambda route: route.fulfill(json=answer))
    tab.go("/?q=lamp")
    tab.see("#status", "Links of mine: It is Sunday.")
    tab.page.click("#explanation summary")
    said = tab.page.locator("#explained li").all_inner_texts()
    assert f"A language model rewrote the query as “{HOSTILE}”." in said
    assert "2 documents." in said


def test_slides_and_other_places(tab: Visit) -> None:
    tab.go("/?q=gauge+bar&mode=keyword")
    tab.see("#results .where", "slide 2")
    tab.page.click("#results h2 a")
    playwright.expect(tab.page.locator(".passage[aria-current] .part")).to_have_text("slide 2")
    tab.see("#facts", "PowerPoint")
    tab.settle()
    assert tab.page.locator(".part").all_text_contents() == ["slide 1", "slide 2", "slide 3"]
    tab.go("/?q=lamp+burns&mode=keyword")
    tab.page.click("text=Also in 1 other place")
    tab.see("#results .places", "old-lamps.md")
    tab.page.click("#results h2 a")
    tab.page.wait_for_url("**/d/**")
    tab.page.click("text=Also in 1 other place")
    tab.see("#further .places", "archive")


def test_answers_cite_slides(tab: Visit) -> None:
    tab.go("/chat")
    tab.page.fill("#question", "What is said about the gauge?")
    tab.page.keyboard.press("Enter")
    tab.see(".turn .sources", "slide 2")
    name = tab.page.locator(".turn .text .cite").first.get_attribute("aria-label")
    assert name is not None and "slide" in name


def test_filters_of_this_server_are_offered(tab: Visit) -> None:
    tab.go("/?q=pump")
    tab.page.click("#filters summary")
    for name in ("Kind", "Team", "Path begins with"):
        assert tab.page.get_by_label(name).count() == 1
    assert HOSTILE in tab.page.get_by_label("Team").locator("option").all_text_contents()
    tab.page.get_by_label("Team").select_option("north")
    tab.at("/?q=pump&filter=team%3Dnorth")
    tab.count("#results > li", 1)
    tab.see("#results", "pumps.md")
    tab.page.get_by_label("Kind").select_option(label="PowerPoint")
    tab.see("#status", "Nothing found")
    tab.page.click("#clear-filters")
    tab.page.get_by_label("Path begins with").fill("pumps-")
    tab.page.keyboard.press("Tab")
    tab.see("#results", "pumps-copy.md")
    tab.page.reload()
    tab.see("#filter-count", "(1)")
    assert tab.page.get_by_label("Path begins with").input_value() == "pumps-"
    tab.page.click("#results h2 a")
    tab.page.click("text=Metadata")
    tab.see("#further dd a", HOSTILE)
    tab.page.click("#further dd a")
    tab.see("#filter-count", "(1)")
    assert tab.page.get_by_label("Team").input_value() == HOSTILE


@pytest.mark.parametrize(
    "path", ["/?q=who+primes+the+pump", "/?q=old+pumps&tag=" + ENDLESS, "/d/{id}"]
)
def test_nothing_scrolls_sideways_with_everything_open(served: Served, path: str) -> None:
    found = get(f"{served.address}/search?q=old+pumps&source=notes")["results"]
    document = next(hit["document_id"] for hit in found if "Old" in hit["title"])
    options = {"viewport": {"width": 320, "height": 600}}
    with visit(served.running, served.address, **options) as tab:
        tab.go(path.replace("{id}", document))
        for opened in tab.page.locator("main summary:visible").all():
            opened.click()
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 320
