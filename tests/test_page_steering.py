"""Narrowing, sorting and browsing on the pages, in Chromium."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from browsers import Visit, browser, playwright, visit
from conftest import write_project
from servers import get, in_checkout, serving

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once")]

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

[search]
filterable = ["team"]

[search.facets]
choices = 3

[server]
folders = true
"""
NOTES = {
    "guide/pumps.md": "---\ntags: [water]\nteam: north\ndate: 2024-05-01\n---\n# Pumps\n\nA pump.",
    "guide/seals/rubber.md": "---\ntags: [water, seal]\nteam: south\n---\n# Rubber\n\nOf a pump.",
    "guide/seals/steel.html": "<h1>Steel</h1><p>A steel seal for a pump.</p>",
    "logs/monday.md": "---\ntags: [log]\ndate: 2025-01-01\n---\n# Monday\n\nThe pump stood still.",
    "logs/friday.md": f"---\ntags: [{json.dumps(HOSTILE)}, {'W' * 90}]\ndate: 2023-01-01\n---\n"
    "# Friday\n\nThe pump ran, the pump ran.",
}


@dataclass(frozen=True)
class Served:
    """An exported server, and a browser."""

    running: Any
    address: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    files = {f"notes/{path}": text + "\n" for path, text in NOTES.items()}
    files["archive/old.md"] = "# Old\n\nAn old pump.\n"
    project = write_project(tmp_path_factory.mktemp("project"), files, CONFIG, built=True)
    with browser() as running, serving(in_checkout(project.export())) as address:
        yield Served(running, address)


@pytest.fixture
def tab(served: Served) -> Iterator[Visit]:
    with visit(served.running, served.address) as visited:
        yield visited


def choices(tab: Visit) -> dict[str, list[str]]:
    """Return the choices of each facet, with their counts."""
    rows = tab.page.locator(".facets > div").all()
    return {
        row.locator("> span").inner_text(): [
            " ".join(text.split()) for text in row.locator("li").all_inner_texts()
        ]
        for row in rows
    }


def test_choices_are_counted_and_can_be_made_and_undone(tab: Visit) -> None:
    tab.go("/?q=pump&mode=keyword")
    assert choices(tab) == {
        "Source": ["notes 5", "archive 1"],
        "Folder": ["guide/ 3", "logs/ 2"],
        "Tag": ["water 2", f"{HOSTILE} 1", f"{'W' * 90} 1", "and 2 others"],
        "Kind": ["Markdown 5", "HTML 1"],
        "Team": ["north 1", "south 1"],
    }
    tab.see("#facets summary", "Narrow down, by the 6 best passages")
    tab.page.click("#facets >> text=guide/")
    tab.at("/?q=pump&mode=keyword&filter=path%3Dguide%2F")
    tab.count("#results > li", 3)
    # Values that all results share are not offered; a folder leads to its subfolders.
    assert choices(tab) == {
        "Folder": ["guide/", "guide/seals/ 2"],
        "Tag": ["water 2", "seal 1"],
        "Kind": ["Markdown 2", "HTML 1"],
        "Team": ["north 1", "south 1"],
    }
    pressed = tab.page.locator("#facets [aria-pressed=true]")
    playwright.expect(pressed).to_have_text("guide/")
    playwright.expect(pressed).to_be_focused()
    tab.page.click("#facets >> text=HTML")
    tab.at("/?q=pump&mode=keyword&filter=path%3Dguide%2F&filter=media_type%3Dtext%2Fhtml")
    tab.see("#results h2", "Steel")
    tab.page.reload()
    tab.count("#facets [aria-pressed=true]", 2)
    tab.page.click("#facets [aria-pressed=true] >> text=guide/")
    tab.page.click("#facets [aria-pressed=true] >> text=HTML")
    tab.at("/?q=pump&mode=keyword")
    tab.page.click("#facets >> text=archive")
    tab.at("/?q=pump&mode=keyword&source=archive")
    assert choices(tab) == {"Source": ["archive 1"]}
    tab.page.click("#facets [aria-pressed=true]")
    tab.at("/?q=pump&mode=keyword")


def test_tags_are_chosen_together(tab: Visit) -> None:
    tab.go("/?q=pump&mode=keyword")
    tab.page.click("#facets >> text=water")
    tab.page.click("#facets >> text=seal >> nth=-1")
    tab.at("/?q=pump&mode=keyword&tag=water&tag=seal")
    tab.see("#results h2", "Rubber")
    assert choices(tab) == {"Tag": ["water 1", "seal 1"]}
    # If nothing is found, filters can still be removed.
    tab.page.fill("#query", "nothingness")
    tab.see("#status", "Nothing found")
    assert choices(tab) == {"Tag": ["water", "seal"]}
    tab.page.fill("#query", "")
    tab.hidden("#facets")


def test_choices_work_by_keyboard(tab: Visit) -> None:
    tab.go("/?q=pump&mode=keyword")
    tab.page.locator("#facets summary").focus()
    keys = tab.page.keyboard
    keys.press("Tab")
    keys.press("Enter")
    tab.at("/?q=pump&mode=keyword&source=notes")
    tab.focused("#facets [aria-pressed=true]")
    keys.press("Enter")
    tab.at("/?q=pump&mode=keyword")


def test_documents_are_browsed_by_folder(tab: Visit) -> None:
    contents = tab.page.locator("#contents > li")
    tab.go("/")
    tab.page.click("nav >> text=Documents")
    tab.at("/browse")
    assert [" ".join(text.split()) for text in contents.all_inner_texts()] == [
        "guide/ 3 documents",
        "logs/ 2 documents",
        "Old old.md · archive",
    ]
    tab.page.click("#contents >> text=guide/")
    tab.at("/browse?path=guide%2F")
    assert [" ".join(text.split()) for text in contents.all_inner_texts()] == [
        "seals/ 2 documents",
        "Pumps pumps.md · 2024-05-01 · notes",
    ]
    tab.page.click("text=Search this folder")
    tab.at("/?filter=path%3Dguide%2F")
    tab.page.go_back()
    tab.page.click("text=seals/")
    tab.at("/browse?path=guide%2Fseals%2F")
    tab.see("#place [aria-current=page]", "seals")
    tab.page.click("#place >> text=guide")
    tab.at("/browse?path=guide%2F")
    tab.page.click("#contents >> text=Pumps")
    tab.see("#heading", "Pumps")
    tab.go("/browse?path=nowhere%2F")
    tab.see("#status", "There are no documents here.")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_choices_have_no_violation_found_by_axe(served: Served, scheme: str, width: int) -> None:
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with visit(served.running, served.address, **options) as tab:
        tab.go("/?q=pump&tag=water")
        shown = tab.page.locator(".facets")
        if width == 390:
            playwright.expect(shown).not_to_be_visible()
            tab.page.click("#facets summary")
        playwright.expect(shown).to_be_visible()
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.violations() == []
        for path in ("/browse", "/browse?path=guide%2Fseals%2F"):
            tab.go(path)
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
            assert tab.violations() == []


def test_facets_are_returned_only_on_request(served: Served) -> None:
    assert "facets" not in get(f"{served.address}/search?q=pump")
    facets = get(f"{served.address}/search?q=pump&mode=keyword&facets=true")["facets"]
    assert facets["counted"] == 6
    assert facets["filters"][1] == {
        "filter": "path",
        "values": [{"value": "guide/", "count": 3}, {"value": "logs/", "count": 2}],
    }


def test_the_newest_of_the_best_come_first(tab: Visit) -> None:
    paths = tab.page.locator("#results .where > bdi:first-child")
    tab.go("/?q=pump&mode=keyword")
    tab.count("#results > li", 6)
    best = [hit["path"] for hit in get(f"{tab.address}/search?q=pump&mode=keyword")["results"]]
    assert paths.all_inner_texts() == best
    tab.page.check("#newest")
    tab.at("/?q=pump&mode=keyword&sort=date")
    dated = ["logs/monday.md", "guide/pumps.md", "logs/friday.md"]
    newest = [*dated, *(path for path in best if path not in dated)]
    playwright.expect(paths.first).to_have_text("logs/monday.md")
    assert paths.all_inner_texts() == newest
    tab.see("#status", "the newest first")
    tab.page.click("#explanation summary")
    tab.see("#explained", "newest first")
    tab.page.reload()
    playwright.expect(paths.first).to_have_text("logs/monday.md")
    assert tab.page.is_checked("#newest")
    tab.page.uncheck("#newest")
    tab.at("/?q=pump&mode=keyword")
    playwright.expect(paths.first).to_have_text(best[0])


def test_only_the_best_results_are_sorted(served: Served) -> None:
    asked = f"{served.address}/search?q=pump&mode=keyword&top_k=2"
    best = [hit["id"] for hit in get(asked)["results"]]
    assert sorted(best) == sorted(hit["id"] for hit in get(f"{asked}&sort=date")["results"])
    assert get(f"{asked}&sort=score")["results"] == get(asked)["results"]
