"""The search page of a server that understands queries, in Chromium."""

from collections.abc import Iterator
from urllib.parse import quote_plus

import pytest
from browsers import Visit, browser, playwright, visit
from conftest import CONFIG, write_project
from servers import in_checkout, serving

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once")]

STAGES = "[search.operators]\n[search.correction]\n[search.suggestions]\n[search.facets]\n"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    files = {
        "ventilation.md": "# Ventilation\n\nVentilation is checked on every shift.\n",
        "plans.md": "# Ventilation plans\n\nA plan names every ventilator.\n",
        "lamps.md": "# Lamps\n\nA lamp burns for ten hours.\n",
    }
    root = tmp_path_factory.mktemp("project")
    project = write_project(root, files, f"{CONFIG}\n{STAGES}", built=True)
    served = serving(in_checkout(project.export()))
    with browser() as running, served as address, visit(running, address) as visited:
        yield visited


def test_suggestions_are_chosen_by_keyboard(tab: Visit) -> None:
    tab.go("/")
    field, options = tab.page.locator("#query"), tab.page.locator("#suggestions li")
    keys = tab.page.keyboard
    assert field.get_attribute("role") == "combobox"
    field.focus()
    keys.type("ventil")
    # Earlier suggestions look the same, so wait for the last ones.
    tab.settle()
    tab.see("#suggestions", "Ventilation plans")
    playwright.expect(field).to_have_attribute("aria-expanded", "true")
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    chosen = tab.page.locator("#suggestions [aria-selected=true]")
    playwright.expect(chosen).to_have_count(1)
    text = chosen.inner_text()
    playwright.expect(field).to_have_attribute("aria-activedescendant", "suggestion-1")
    tab.focused("#query")
    keys.press("Enter")
    tab.at(f"/?q={quote_plus(text)}")
    playwright.expect(options).to_have_count(0)
    playwright.expect(field).to_have_value(text)
    playwright.expect(field).to_have_attribute("aria-expanded", "false")
    tab.see("#status", " ms")


def test_the_list_closes_before_the_search(tab: Visit) -> None:
    tab.go("/")
    tab.page.locator("#query").focus()
    tab.page.keyboard.type("lam")
    tab.settle()
    tab.see("#suggestions", "Lamps")
    tab.page.keyboard.press("Escape")
    tab.count("#suggestions li", 0)
    tab.holds("#query", "lam")
    tab.page.keyboard.press("Escape")
    tab.holds("#query", "")
    tab.page.keyboard.type("lam")
    tab.page.click("#suggestions >> text=Lamps")
    tab.at("/?q=Lamps")
    tab.holds("#query", "Lamps")
    tab.see("#results h2", "Lamps")


def test_corrections_are_shown_and_the_original_is_offered(tab: Visit) -> None:
    tab.go("/?q=ventilaton+shift")
    tab.see("#notice", "Showing results for: ventilation shift")
    tab.see("#results h2", "Ventilation")
    tab.page.click('text=Search instead for: "ventilaton" shift')
    playwright.expect(tab.page.locator("#query")).to_have_value('"ventilaton" shift')
    tab.see("#status", "Nothing found")


def test_operators_are_explained(tab: Visit) -> None:
    tab.go("/?q=ventilation+-shift&mode=keyword")
    tab.count("#results > li", 1)
    tab.page.click("#explanation summary")
    tab.see("#explained", "No passages with “shift”.")
    assert tab.complaints == []
